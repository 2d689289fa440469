/* The loops that training spends its time in: fill a histogram, and find its best threshold.
 *
 * Histograms come in groups of LANES features, interleaved: cell (bin, lane) is hist[bin * LANES + lane].
 * Filling then runs LANES independent chains of additions, and one pass over the bins takes the running
 * sums of all lanes side by side in vector registers instead of one serial chain of 256 a feature.
 *
 * A cell is an int32 signed weight (criterion `error`, which needs no more), or an int64 pair
 * (weight << 32) + target for the other criteria. Sums of integers are exact in any order.
 */
#ifndef CASCADE_HISTOGRAM_H
#define CASCADE_HISTOGRAM_H

#include <stdint.h>

#include "portable.h"

enum { LANES = 8, BINS = 256 };
enum { CRITERION_ERROR, CRITERION_IMPURITY, CRITERION_ENTROPY };

/* What the samples of a subset add up to; `mass` is Z_m of [Appel 3.3] in units of the criterion. */
typedef struct {
    int64_t weight, target, mass;
} subset_t;

#define DEFINE_FILL(NAME, CELL)                                                                    \
    static void NAME##_group(CELL *restrict hist, const uint8_t *const *rows,                      \
                             const int32_t *restrict columns, const CELL *restrict values,         \
                             int64_t n) {                                                          \
        const uint8_t *r0 = rows[0], *r1 = rows[1], *r2 = rows[2], *r3 = rows[3];                  \
        const uint8_t *r4 = rows[4], *r5 = rows[5], *r6 = rows[6], *r7 = rows[7];                  \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const int64_t c = columns[i];                                                          \
            const CELL v = values[i];                                                              \
            hist[r0[c] * LANES + 0] += v;                                                          \
            hist[r1[c] * LANES + 1] += v;                                                          \
            hist[r2[c] * LANES + 2] += v;                                                          \
            hist[r3[c] * LANES + 3] += v;                                                          \
            hist[r4[c] * LANES + 4] += v;                                                          \
            hist[r5[c] * LANES + 5] += v;                                                          \
            hist[r6[c] * LANES + 6] += v;                                                          \
            hist[r7[c] * LANES + 7] += v;                                                          \
        }                                                                                          \
    }                                                                                              \
    static void NAME##_lane(CELL *restrict hist, int lane, const uint8_t *row,                     \
                            const int32_t *restrict columns, const CELL *restrict values,          \
                            int64_t n) {                                                           \
        for (int64_t i = 0; i < n; i++) hist[row[columns[i]] * LANES + lane] += values[i];         \
    }

DEFINE_FILL(fill32, int32_t)
DEFINE_FILL(fill64, int64_t)

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* Criterion `error` [Appel 3.1]: with S the running sum of signed weights, a threshold errs by N + S in
 * one polarity and P - S in the other, so the extremes of S tell the best of all thresholds. */
VECTOR_CLONES static void error_group(const int32_t *restrict hist, const subset_t *subset,
                                      int64_t *restrict errors) {
    int32_t sum[LANES] = {0}, low[LANES] = {0}, high[LANES] = {0};
    for (int bin = 0; bin < BINS; bin++)
        for (int lane = 0; lane < LANES; lane++) {
            const int32_t s = sum[lane] + hist[bin * LANES + lane];
            sum[lane] = s;
            low[lane] = s < low[lane] ? s : low[lane];
            high[lane] = s > high[lane] ? s : high[lane];
        }
    const int64_t positive = (subset->weight + subset->target) / 2;
    const int64_t negative = subset->weight - positive;
    for (int lane = 0; lane < LANES; lane++)
        errors[lane] = least(negative + low[lane], positive - high[lane]);
}

/* The lowest threshold that attains `error` in one lane. */
static int error_threshold(const int32_t *hist, int lane, const subset_t *subset, int64_t error) {
    const int64_t positive = (subset->weight + subset->target) / 2;
    const int64_t negative = subset->weight - positive;
    int64_t sum = 0;
    for (int bin = 0; bin < BINS; bin++) {
        sum += hist[bin * LANES + lane];
        if (negative + sum == error || positive - sum == error) return bin;
    }
    return BINS - 1;
}

/* floor(target^2 / weight): what a leaf takes off the impurity, whether Gini or variance [Appel 7.2].
 * Rounding down keeps the bound of [Appel 3.2] exact, for a sample adds a whole number to the mass. */
static int64_t purity(int64_t weight, int64_t target) {
    return weight > 0 ? (int64_t)((uint64_t)(target * target) / (uint64_t)weight) : 0;
}

/* log2(1 + i / 2048) in units of 2^-26. */
static int64_t log2_table[2049];

static void build_log2_table(void) {
    const double unit = 67108864.0 / portable_log(2.0);
    for (int i = 0; i <= 2048; i++)
        log2_table[i] = (int64_t)(portable_log(1.0 + i / 2048.0) * unit + 0.5);
}

/* x log2(x) in units of 2^-26, x < 2^31, within 4 x of the true value. */
static int64_t x_log2_x(int64_t x) {
    if (x <= 0) return 0;
    const int power = log2_floor((uint64_t)x);
    const int64_t fraction = (x << (30 - power)) - ((int64_t)1 << 30);
    const int64_t i = fraction >> 19, rest = fraction & ((1 << 19) - 1);
    const int64_t step = log2_table[i + 1] - log2_table[i];
    return x * (((int64_t)power << 26) + log2_table[i] + ((step * rest) >> 19));
}

static int64_t entropy(int64_t weight, int64_t target) {
    const int64_t positive = (weight + target) / 2;
    return x_log2_x(weight) - x_log2_x(positive) - x_log2_x(weight - positive);
}

/* The error of a node as a whole, unsplit. */
static int64_t node_error(int criterion, const subset_t *node) {
    const int64_t positive = (node->weight + node->target) / 2;
    if (criterion == CRITERION_ERROR) return least(positive, node->weight - positive);
    if (criterion == CRITERION_IMPURITY) return node->mass - purity(node->weight, node->target);
    return entropy(node->weight, node->target);
}

/* The least error of one lane of pairs, and the lowest threshold that attains it. */
static int64_t pair_lane(int criterion, const int64_t *hist, int lane, const subset_t *subset,
                         int *threshold) {
    int64_t best = node_error(criterion, subset), sum = 0;
    *threshold = BINS - 1;
    for (int bin = 0; bin < BINS - 1; bin++) {
        const int64_t cell = hist[bin * LANES + lane];
        if (!cell) continue; /* the same split as one bin before */
        sum += cell;
        const int64_t target = (int32_t)(uint32_t)(uint64_t)sum;
        const int64_t weight = (sum - target) >> 32;
        const int64_t other = subset->weight - weight, other_target = subset->target - target;
        const int64_t error =
            criterion == CRITERION_IMPURITY
                ? subset->mass - purity(weight, target) - purity(other, other_target)
                : entropy(weight, target) + entropy(other, other_target);
        if (error < best) {
            best = error;
            *threshold = bin;
        }
    }
    return best;
}

#endif
