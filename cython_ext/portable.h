/* Small numeric building blocks: exp and log from additions, multiplications and divisions alone.
 *
 * The C library's differ in their last bits between systems, and with them would the weights, and in the
 * end the trees. These give the same bits wherever doubles are IEEE 754 and nothing is contracted
 * (-ffp-contract=off); they are within two units in the last place of the true value.
 */
#ifndef CASCADE_PORTABLE_H
#define CASCADE_PORTABLE_H

#include <stdint.h>
#include <string.h>

static int log2_floor(uint64_t x) { /* x > 0 */
#if defined(__GNUC__)
    return 63 - __builtin_clzll(x);
#else
    int power = 0;
    while (x >>= 1) power++;
    return power;
#endif
}

static double power_of_two(int n) { /* -1022 <= n <= 1023 */
    const uint64_t bits = (uint64_t)(n + 1023) << 52;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static double portable_exp(double x) {
    if (x < -708.0) return 0.0; /* a weight this small is no weight */
    if (x > 709.0) x = 709.0;
    const double k = (double)(int)(x * 1.4426950408889634 + (x < 0 ? -0.5 : 0.5));
    const double r = (x - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10;
    double sum = 1.0; /* Taylor, |r| <= ln(2) / 2: the 14th term is below 1e-17 */
    for (int i = 14; i > 0; i--) sum = 1.0 + r * sum * (1.0 / (double)i);
    return sum * power_of_two((int)k);
}

static double portable_log(double x) { /* x > 0 and normal */
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int exponent = (int)(bits >> 52) - 1023;
    bits = (bits & 0xfffffffffffffULL) | 0x3ff0000000000000ULL;
    double m;
    memcpy(&m, &bits, sizeof m);
    if (m > 1.4142135623730951) {
        m *= 0.5;
        exponent++;
    }
    const double s = (m - 1.0) / (m + 1.0), s2 = s * s;
    double sum = 0.0; /* log m = 2 artanh s, |s| < 0.172: the 13th term is below 1e-19 */
    for (int i = 25; i > 0; i -= 2) sum = sum * s2 + 1.0 / (double)i;
    return 2.0 * s * sum + (double)exponent * 0.69314718055994531;
}

#endif
