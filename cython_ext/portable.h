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

/* Vector code for newer processors beside the portable one, chosen when the kernel is loaded. */
#if defined(__x86_64__) && defined(__linux__) && defined(__GLIBC__) && defined(__GNUC__) && \
    !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define VECTOR_CLONES __attribute__((target_clones("avx2", "default")))
#define WHOLE_CLONES __attribute__((target_clones("avx2", "default"), flatten)) /* and all it calls */
#else
#define VECTOR_CLONES
#define WHOLE_CLONES
#endif

static int log2_floor(uint64_t x) { /* x > 0 */
#if defined(__GNUC__)
    return 63 - __builtin_clzll(x);
#else
    int power = 0;
    while (x >>= 1) power++;
    return power;
#endif
}

/* Without branches, so that a loop over it becomes vector code. */
static inline double portable_exp(double x) {
    const double magic = 6755399441055744.0; /* 1.5 * 2^52: adding it rounds to a whole number */
    const double inside = x < -708.0 ? -708.0 : x > 709.0 ? 709.0 : x;
    const double shifted = inside * 1.4426950408889634 + magic, k = shifted - magic;
    const double r = (inside - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10;
    double sum = 1.0; /* Taylor, |r| <= ln(2) / 2: the 14th term is below 1e-17 */
    sum = 1.0 + r * sum * (1.0 / 14.0);
    sum = 1.0 + r * sum * (1.0 / 13.0);
    sum = 1.0 + r * sum * (1.0 / 12.0);
    sum = 1.0 + r * sum * (1.0 / 11.0);
    sum = 1.0 + r * sum * (1.0 / 10.0);
    sum = 1.0 + r * sum * (1.0 / 9.0);
    sum = 1.0 + r * sum * (1.0 / 8.0);
    sum = 1.0 + r * sum * (1.0 / 7.0);
    sum = 1.0 + r * sum * (1.0 / 6.0);
    sum = 1.0 + r * sum * (1.0 / 5.0);
    sum = 1.0 + r * sum * (1.0 / 4.0);
    sum = 1.0 + r * sum * (1.0 / 3.0);
    sum = 1.0 + r * sum * (1.0 / 2.0);
    sum = 1.0 + r * sum;
    uint64_t bits; /* the low bits of `shifted` are k: make them the exponent of 2^k */
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return x < -708.0 ? 0.0 : sum * power; /* a weight this small is no weight */
}

/* x[i] = exp(x[i]); the wider vectors do the same arithmetic, so the bits are the same. */
VECTOR_CLONES static void portable_exp_all(double *x, int64_t n) {
    for (int64_t i = 0; i < n; i++) x[i] = portable_exp(x[i]);
}

static inline double portable_log(double x) { /* x > 0 and normal */
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
