/* Many windows at once: what the host does instead of cascade_classify, to the same scores and rejections.
 *
 * Neighbouring windows read neighbouring bytes, so the first trees are compared for rows of windows at a time,
 * which compilers turn into vector code. Once few windows are left, they go on one by one.
 */
#ifndef CASCADE_WINDOWS_H
#define CASCADE_WINDOWS_H

#include <math.h>
#include <stdlib.h>

#include "../cascade/runtime/cascade.h"
#include "portable.h"

enum { WINDOWS_BLOCK = 512 }; /* windows that are looked at together: what they read fits into a cache */
enum { WINDOWS_LANES = 16 };  /* rows are padded to a multiple of this, so that vector code has no rest to do */
enum { WINDOWS_FEW = 16 };    /* one in so many left: they go on as a list */

/* A node on one level: what to add to a window's first cell, and the threshold. */
typedef struct {
    int32_t offset;
    uint8_t threshold;
} spot_t;

static void windows_spots(const cascade_model *model, int width, int height, spot_t *spots) {
    const int count = model->trees * ((1 << model->depth) - 1);
    for (int i = 0; i < count; i++) {
        const cascade_node *node = model->nodes + i;
        spots[i].offset = (node->plane * height + node->y) * width + node->x;
        spots[i].threshold = node->threshold;
    }
}

/* What a score of 16 bits must exceed. */
static int16_t windows_reject(int32_t limit) {
    return (int16_t)(limit < -32768 ? -32768 : limit > 32767 ? 32767 : limit);
}

/* ---- Cells, row by row --------------------------------------------------------------------------------- */

/* One tree of depth 2 for n windows side by side, n being a multiple of WINDOWS_LANES: adds its leaves, clears
 * those it rejects, and returns how many are left. */
VECTOR_CLONES static int windows_tree_2(const uint8_t *restrict row, const spot_t *spots, const int16_t *leaves,
                                        int16_t reject, int16_t *restrict score, int16_t *restrict alive, int n) {
    const uint8_t *a = row + spots[0].offset, *b = row + spots[1].offset;
    const uint8_t *c = row + spots[2].offset;
    const int16_t ta = spots[0].threshold, tb = spots[1].threshold, tc = spots[2].threshold;
    const int16_t l0 = leaves[0], l1 = leaves[1], l2 = leaves[2], l3 = leaves[3];
    int16_t left = 0;
    n &= -WINDOWS_LANES; /* tells the compiler */
    for (int i = 0; i < n; i++) {
        const int16_t low = (int16_t)b[i] > tb ? l1 : l0, high = (int16_t)c[i] > tc ? l3 : l2;
        const int16_t sum = (int16_t)(score[i] + ((int16_t)a[i] > ta ? high : low));
        const int16_t still = (int16_t)(alive[i] & -(sum > reject));
        score[i] = sum;
        alive[i] = still;
        left = (int16_t)(left - still);
    }
    return left;
}

/* The same for depth 3. */
VECTOR_CLONES static int windows_tree_3(const uint8_t *restrict row, const spot_t *spots, const int16_t *leaves,
                                        int16_t reject, int16_t *restrict score, int16_t *restrict alive, int n) {
    const uint8_t *a = row + spots[0].offset, *b = row + spots[1].offset;
    const uint8_t *c = row + spots[2].offset, *d = row + spots[3].offset;
    const uint8_t *e = row + spots[4].offset, *f = row + spots[5].offset;
    const uint8_t *g = row + spots[6].offset;
    const int16_t ta = spots[0].threshold, tb = spots[1].threshold, tc = spots[2].threshold;
    const int16_t td = spots[3].threshold, te = spots[4].threshold, tf = spots[5].threshold;
    const int16_t tg = spots[6].threshold;
    const int16_t v0 = leaves[0], v1 = leaves[1], v2 = leaves[2], v3 = leaves[3];
    const int16_t v4 = leaves[4], v5 = leaves[5], v6 = leaves[6], v7 = leaves[7];
    int16_t left = 0;
    n &= -WINDOWS_LANES; /* tells the compiler */
    for (int i = 0; i < n; i++) {
        const int16_t l0 = (int16_t)d[i] > td ? v1 : v0, l1 = (int16_t)e[i] > te ? v3 : v2;
        const int16_t l2 = (int16_t)f[i] > tf ? v5 : v4, l3 = (int16_t)g[i] > tg ? v7 : v6;
        const int16_t low = (int16_t)b[i] > tb ? l1 : l0, high = (int16_t)c[i] > tc ? l3 : l2;
        const int16_t sum = (int16_t)(score[i] + ((int16_t)a[i] > ta ? high : low));
        const int16_t still = (int16_t)(alive[i] & -(sum > reject));
        score[i] = sum;
        alive[i] = still;
        left = (int16_t)(left - still);
    }
    return left;
}

static int windows_cells(const cascade_model *model, const uint8_t *row, const spot_t *spots, int tree,
                         int16_t reject, int16_t *score, int16_t *alive, int n) {
    const int16_t *leaves = model->leaves + ((size_t)tree << model->depth);
    spots += (size_t)tree * (size_t)((1 << model->depth) - 1);
    if (model->depth == 3) return windows_tree_3(row, spots, leaves, reject, score, alive, n);
    if (model->depth == 2) return windows_tree_2(row, spots, leaves, reject, score, alive, n);
    const spot_t same[3] = {spots[0], spots[0], spots[0]}; /* a stump is a tree that asks twice */
    const int16_t twice[4] = {leaves[0], leaves[0], leaves[1], leaves[1]};
    return windows_tree_2(row, same, twice, reject, score, alive, n);
}

/* ---- Rectangles, row by row ---------------------------------------------------------------------------- */

/* Add the weighted sums over a rectangle in n windows side by side to their responses. */
VECTOR_CLONES static void windows_rect(const uint32_t *restrict top, const uint32_t *restrict low, int width,
                                    int weight, int32_t *restrict response, int n) {
    for (int i = 0; i < n; i++)
        response[i] += weight * (int32_t)(low[i + width] - low[i] - top[i + width] + top[i]);
}

VECTOR_CLONES static void windows_above(const int32_t *restrict response, int32_t threshold, int16_t *restrict right,
                                     int n) {
    for (int i = 0; i < n; i++) right[i] = (int16_t) - (response[i] > threshold);
}

/* cascade_contrast for n windows: `scale` and `factor` are what it multiplies response and spread by. */
VECTOR_CLONES static void windows_contrast(const int32_t *restrict response, const int32_t *restrict spread,
                                        int32_t scale, int32_t factor, int16_t *restrict right, int n) {
    for (int i = 0; i < n; i++)
        right[i] = (int16_t) - ((int64_t)response[i] * scale >= (int64_t)factor * spread[i]);
}

/* Which of the n windows from (x, y) on go right at a node that sums rectangles. */
static void windows_right(const cascade_model *model, const cascade_level *level, int x, int y, size_t node,
                       const int32_t *spread, int32_t *response, int16_t *right, int n) {
    const int rects = model->kind == CASCADE_HAAR ? CASCADE_RECTS : 1;
    const cascade_rect *rect = model->rects + (size_t)rects * model->features[node];
    const size_t stride = (size_t)level->width + 1, plane = stride * ((size_t)level->height + 1);
    const int32_t threshold = model->thresholds[node];
    memset(response, 0, (size_t)n * sizeof *response);
    for (int i = 0; i < rects; i++) {
        if (!rect[i].width) continue;
        const uint32_t *top = level->sums + rect[i].plane * plane + (size_t)(y + rect[i].y) * stride + x + rect[i].x;
        windows_rect(top, top + rect[i].height * stride, rect[i].width, rects == 1 ? 1 : rect[i].weight, response, n);
    }
    if (rects == 1)
        windows_above(response, threshold, right, n);
    else if (threshold >= 255)
        memset(right, 0, (size_t)n * sizeof *right);
    else
        windows_contrast(response, spread, CASCADE_GAIN * model->window_width * model->window_height,
                      (threshold + 1 - CASCADE_ZERO) * rect->width * rect->height, right, n);
}

/* windows_tree_2 for nodes that are known already. */
VECTOR_CLONES static int windows_chosen(const int16_t *restrict a, const int16_t *restrict b,
                                        const int16_t *restrict c, const int16_t *leaves, int16_t reject,
                                        int16_t *restrict score, int16_t *restrict alive, int n) {
    const int16_t l0 = leaves[0], l1 = leaves[1], l2 = leaves[2], l3 = leaves[3];
    int16_t left = 0;
    for (int i = 0; i < n; i++) {
        const int16_t low = b[i] ? l1 : l0, high = c[i] ? l3 : l2;
        const int16_t sum = (int16_t)(score[i] + (a[i] ? high : low));
        const int16_t still = (int16_t)(alive[i] & -(sum > reject));
        score[i] = sum;
        alive[i] = still;
        left = (int16_t)(left - still);
    }
    return left;
}

/* cascade_spread by the processor's root, which the integers then put right. */
static void windows_spread(const cascade_model *model, const cascade_level *level, int x, int y, int32_t *spread,
                        int n) {
    const int width = model->window_width, height = model->window_height;
    const size_t stride = (size_t)level->width + 1, at = (size_t)y * stride + (size_t)x;
    const uint64_t area = (uint64_t)(width * height);
    for (int i = 0; i < n; i++) {
        const uint64_t sum = cascade_sum(level->sums + at + i, stride, width, height);
        const uint64_t squares = cascade_sum(level->squares + at + i, stride, width, height);
        const uint64_t square = area * squares - sum * sum;
        uint64_t root = (uint64_t)sqrt((double)square);
        root -= root * root > square;
        root += (root + 1) * (root + 1) <= square;
        spread[i] = cascade_most((int)root, CASCADE_FLAT * width * height);
    }
}

/* Trees of depth 2. */
static int windows_rects(const cascade_model *model, const cascade_level *level, int x, int y, int tree,
                         int16_t reject, const int32_t *spread, int16_t *score, int16_t *alive, int n) {
    int16_t right[3][WINDOWS_BLOCK];
    int32_t response[WINDOWS_BLOCK];
    for (size_t k = 0; k < 3; k++)
        windows_right(model, level, x, y, 3 * (size_t)tree + k, spread, response, right[k], n);
    return windows_chosen(right[0], right[1], right[2], model->leaves + (size_t)tree * 4, reject, score, alive, n);
}

/* ---- Whoever is left, as a list ------------------------------------------------------------------------- */

/* What the trees from `tree` on add to a score of the window at `origin`, until one rejects it; returns how many
 * trees that took, negative if the last of them did. */
static inline int windows_alone(const uint8_t *origin, const spot_t *spot, const int16_t *leaf, const int32_t *limit,
                                int depth, int tree, int trees, int32_t *score) {
    const int nodes = (1 << depth) - 1;
    int32_t sum = *score;
    spot += (size_t)tree * (size_t)nodes;
    leaf += (size_t)tree << depth;
    for (; tree < trees; tree++, spot += nodes, leaf += nodes + 1) {
        int at = 0;
        for (int level = 0; level < depth; level++)
            at = 2 * at + 1 + (origin[spot[at].offset] > spot[at].threshold);
        sum += leaf[at - nodes];
        if (sum <= limit[tree]) {
            *score = sum;
            return -(tree + 1);
        }
    }
    *score = sum;
    return trees;
}

/* The trees from `tree` on for a list of n windows of a cell model without acceptance; returns how many pass.
 * One window after the other: a window's bytes lie close together, those of a tree in all windows do not. */
static int windows_list(const cascade_model *model, const uint8_t *planes, const spot_t *spots, const int32_t *limits,
                        int tree, int32_t *place, int32_t *score, int n, int64_t *visits) {
    const int depth = model->depth;
    int left = 0;
    for (int i = 0; i < n; i++) {
        const uint8_t *origin = planes + place[i];
        int32_t sum = score[i];
        const int taken =
            depth == 2 ? windows_alone(origin, spots, model->leaves, limits, 2, tree, model->trees, &sum)
                       : windows_alone(origin, spots, model->leaves, limits, depth, tree, model->trees, &sum);
        *visits += (taken < 0 ? -taken : taken) - tree;
        place[left] = place[i];
        score[left] = sum;
        left += taken > 0;
    }
    return left;
}

#endif
