/* The host's way through a level: first trees for a whole row of windows at once, the rest for who is left.
 *
 * Neighbouring windows read neighbouring bytes, so a tree of depth 2 is three comparisons of byte rows, which
 * compilers turn into vector code. Scores, and who is rejected where, are those of cascade_classify.
 */
#ifndef CASCADE_SCAN_H
#define CASCADE_SCAN_H

#include <math.h>
#include <stdlib.h>

#include "../cascade/runtime/cascade.h"
#include "pool.h"
#include "portable.h"

enum { SCAN_FEW = 10 };      /* one in so many windows left: they go on one by one */
enum { SCAN_ROW = 4096 };   /* windows of a row that are looked at together */
enum { SCAN_WIDTH = 16384 }; /* the widest image */

typedef struct {
    int width, height;         /* of the level's planes, in cells */
    int source;                /* the level whose planes it is resampled from, or -1 if it has its own */
    int gains[3];              /* for intensity, magnitude, orientations, in 1/128 */
    int step;                  /* cells from window to window */
    int64_t planes;            /* where its planes begin */
    int64_t windows;           /* where its results begin */
} level_t;

/* A node on one level: what to add to a window's first cell, and the threshold. */
typedef struct {
    int32_t offset;
    uint8_t threshold;
} spot_t;

typedef struct {
    const cascade_model *model;
    const level_t *levels;
    uint8_t *planes;
    const uint8_t *const *images; /* of the levels that have their own planes, else NULL */
    const int32_t *image_sizes;   /* width and height of each */
    spot_t *spots;             /* scratch: the nodes on every level; NULL if they would be too many */
    int batch;                 /* trees that may be done in 16 bits for a whole row */
    int32_t *found;            /* OUT window number and score, in pairs */
    int64_t *counts;           /* OUT pairs of each level */
    int64_t *visits;           /* OUT trees looked at in each level */
} detect_t;

/* One tree of depth 2 for n windows side by side: adds its leaves, and clears those it rejects. */
VECTOR_CLONES static void scan_tree(const uint8_t *restrict a, const uint8_t *restrict b,
                                    const uint8_t *restrict c, const cascade_node *nodes,
                                    const int16_t *leaves, int16_t reject, int16_t *restrict score,
                                    int16_t *restrict alive, int n) {
    const int16_t ta = nodes[0].threshold, tb = nodes[1].threshold, tc = nodes[2].threshold;
    const int16_t l0 = leaves[0], l1 = leaves[1], l2 = leaves[2], l3 = leaves[3];
    for (int i = 0; i < n; i++) {
        const int16_t left = (int16_t)b[i] > tb ? l1 : l0, right = (int16_t)c[i] > tc ? l3 : l2;
        const int16_t sum = (int16_t)(score[i] + ((int16_t)a[i] > ta ? right : left));
        score[i] = sum;
        alive[i] = (int16_t)(alive[i] & -(sum > reject));
    }
}

static int scan_alive(const int16_t *alive, int n) {
    int count = 0;
    for (int i = 0; i < n; i++) count -= alive[i];
    return count;
}

static void scan_spots(const cascade_model *model, const level_t *level, spot_t *spots) {
    const int count = model->trees * ((1 << model->depth) - 1);
    for (int i = 0; i < count; i++) {
        const cascade_node *node = model->nodes + i;
        spots[i].offset = (node->plane * level->height + node->y) * level->width + node->x;
        spots[i].threshold = node->threshold;
    }
}

static int16_t scan_reject(const cascade_model *model, int tree) {
    const int32_t reject = (int32_t)model->reject[tree] * (1 << model->reject_shift);
    if (model->reject[tree] == CASCADE_NO_CHECK || reject < -32768) return -32768;
    return (int16_t)(reject > 32767 ? 32767 : reject);
}

/* What tree `tree` adds to the window at `origin`. */
static inline int32_t scan_leaf(const cascade_model *model, const uint8_t *origin, const spot_t *spots, int tree) {
    if (model->depth == 2) { /* by far the most common */
        const spot_t *spot = spots + 3 * (size_t)tree;
        const int right = origin[spot[0].offset] > spot[0].threshold;
        const spot_t *next = spot + 1 + right;
        return model->leaves[4 * (size_t)tree + (size_t)(2 * right + (origin[next->offset] > next->threshold))];
    }
    const int nodes = (1 << model->depth) - 1;
    const spot_t *spot = spots + (size_t)tree * (size_t)nodes;
    int at = 0;
    for (int depth = 0; depth < model->depth; depth++)
        at = 2 * at + 1 + (origin[spot[at].offset] > spot[at].threshold);
    return model->leaves[(size_t)tree * (size_t)(nodes + 1) + (size_t)(at - nodes)];
}

/* The trees from `tree` on for one window; 1 if it passes them all. Adds the trees looked at to `visits`. */
static int scan_finish(const cascade_model *model, const uint8_t *origin, const spot_t *spots, int tree,
                       int32_t *score, int64_t *visits) {
    const int first = tree, shift = model->reject_shift;
    int32_t sum = *score;
    int passed = 1;
    while (passed && tree < model->trees) {
        sum += scan_leaf(model, origin, spots, tree);
        const int16_t reject = model->reject[tree];
        passed = reject == CASCADE_NO_CHECK || sum > (int32_t)reject * (1 << shift);
        if (model->accept && model->accept[tree] != CASCADE_NO_ACCEPT && passed &&
            sum >= (int32_t)model->accept[tree] * (1 << shift)) {
            tree++;
            break;
        }
        tree++;
    }
    *score = sum;
    *visits += tree - first;
    return passed;
}

/* The same, by the plain core if there are no spots. */
static int scan_rest(const cascade_model *model, const cascade_level *level, const spot_t *spots, int x, int y,
                     int tree, int32_t *score, int64_t *visits) {
    if (spots)
        return scan_finish(model, level->planes + (size_t)y * (size_t)level->width + x, spots, tree, score, visits);
    const int taken = cascade_classify(model, level, x, y, tree, score);
    *visits += (taken < 0 ? -taken : taken) - tree;
    return taken > 0;
}

/* Add the weighted sums over a rectangle in n windows side by side to their responses. */
VECTOR_CLONES static void scan_rect(const uint32_t *restrict top, const uint32_t *restrict low, int width,
                                    int weight, int32_t *restrict response, int n) {
    for (int i = 0; i < n; i++)
        response[i] += weight * (int32_t)(low[i + width] - low[i] - top[i + width] + top[i]);
}

VECTOR_CLONES static void scan_above(const int32_t *restrict response, int32_t threshold, int16_t *restrict right,
                                     int n) {
    for (int i = 0; i < n; i++) right[i] = (int16_t) - (response[i] > threshold);
}

/* cascade_contrast for n windows: `scale` and `factor` are what it multiplies response and spread by. */
VECTOR_CLONES static void scan_contrast(const int32_t *restrict response, const int32_t *restrict spread,
                                        int32_t scale, int32_t factor, int16_t *restrict right, int n) {
    for (int i = 0; i < n; i++)
        right[i] = (int16_t) - ((int64_t)response[i] * scale >= (int64_t)factor * spread[i]);
}

/* Which of the n windows from (x, y) on go right at a node that sums rectangles. */
static void scan_right(const cascade_model *model, const cascade_level *level, int x, int y, size_t node,
                       const int32_t *spread, int32_t *response, int16_t *right, int n) {
    const int rects = model->kind == CASCADE_HAAR ? CASCADE_RECTS : 1;
    const cascade_rect *rect = model->rects + (size_t)rects * model->features[node];
    const size_t stride = (size_t)level->width + 1, plane = stride * ((size_t)level->height + 1);
    const int32_t threshold = model->thresholds[node];
    memset(response, 0, (size_t)n * sizeof *response);
    for (int i = 0; i < rects; i++) {
        if (!rect[i].width) continue;
        const uint32_t *top = level->sums + rect[i].plane * plane + (size_t)(y + rect[i].y) * stride + x + rect[i].x;
        scan_rect(top, top + rect[i].height * stride, rect[i].width, rects == 1 ? 1 : rect[i].weight, response, n);
    }
    if (rects == 1)
        scan_above(response, threshold, right, n);
    else if (threshold >= 255)
        memset(right, 0, (size_t)n * sizeof *right);
    else
        scan_contrast(response, spread, CASCADE_GAIN * model->window_width * model->window_height,
                      (threshold + 1 - CASCADE_ZERO) * rect->width * rect->height, right, n);
}

/* scan_tree for nodes that are known already. */
VECTOR_CLONES static void scan_chosen(const int16_t *restrict a, const int16_t *restrict b,
                                      const int16_t *restrict c, const int16_t *leaves, int16_t reject,
                                      int16_t *restrict score, int16_t *restrict alive, int n) {
    const int16_t l0 = leaves[0], l1 = leaves[1], l2 = leaves[2], l3 = leaves[3];
    for (int i = 0; i < n; i++) {
        const int16_t left = b[i] ? l1 : l0, right = c[i] ? l3 : l2;
        const int16_t sum = (int16_t)(score[i] + (a[i] ? right : left));
        score[i] = sum;
        alive[i] = (int16_t)(alive[i] & -(sum > reject));
    }
}

/* cascade_spread by the processor's root, which the integers then put right. */
static void scan_spread(const cascade_model *model, const cascade_level *level, int x, int y, int32_t *spread,
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

/* The n windows from (x, y) on. */
static void scan_windows(const detect_t *job, const level_t *place, const cascade_level *level, const spot_t *spots,
                         int x, int y, int n, int64_t *count, int64_t *visits) {
    const cascade_model *model = job->model;
    const int across = level->width - model->window_width + 1;
    int16_t score[SCAN_ROW], alive[SCAN_ROW], right[3][SCAN_ROW];
    int32_t spread[SCAN_ROW], response[SCAN_ROW];
    int32_t *found = job->found + 2 * (place->windows + *count);
    int tree = 0;
    for (int i = 0; i < n; i++) {
        score[i] = 0;
        alive[i] = -1;
    }
    if (place->step > 1)
        for (int i = 0; i < n; i++) alive[i] = (int16_t)-((x + i) % place->step == 0);
    if (model->kind == CASCADE_HAAR && job->batch) scan_spread(model, level, x, y, spread, n);
    int left = scan_alive(alive, n);
    for (; tree < job->batch && left * SCAN_FEW > n; tree++) {
        const size_t node = (size_t)tree * 3;
        const int16_t *leaves = model->leaves + (size_t)tree * 4;
        if (model->kind == CASCADE_CELL) {
            const uint8_t *row = level->planes + (size_t)y * (size_t)level->width + x;
            scan_tree(row + spots[node].offset, row + spots[node + 1].offset, row + spots[node + 2].offset,
                      model->nodes + node, leaves, scan_reject(model, tree), score, alive, n);
        } else {
            for (size_t k = 0; k < 3; k++)
                scan_right(model, level, x, y, node + k, spread, response, right[k], n);
            scan_chosen(right[0], right[1], right[2], leaves, scan_reject(model, tree), score, alive, n);
        }
        *visits += left;
        left = scan_alive(alive, n);
    }
    for (int i = 0; left > 0 && i < n; i++) {
        int32_t sum = score[i];
        if (!alive[i] || !scan_rest(model, level, spots, x + i, y, tree, &sum, visits)) continue;
        *found++ = (int32_t)((int64_t)y * across + x + i);
        *found++ = sum;
        ++*count;
    }
}

/* Grey from colours that lie apart, which is what vector code likes. */
VECTOR_CLONES static void scan_grey(const uint8_t *restrict blue, const uint8_t *restrict green,
                                    const uint8_t *restrict red, int64_t count, uint8_t *restrict to) {
    for (int64_t i = 0; i < count; i++)
        to[i] = (uint8_t)((uint16_t)(29 * (uint16_t)blue[i] + 150 * (uint16_t)green[i] + 77 * (uint16_t)red[i] + 128) >> 8);
}

WHOLE_CLONES static void scan_resample(const uint8_t *from, int width, int height, uint8_t *to, int to_width,
                                       int to_height, int gain, uint16_t *scratch) {
    cascade_plan(width, height, to_width, to_height, scratch);
    cascade_resample(from, width, height, to, to_width, to_height, gain, scratch);
}

/* Compute the planes of a level that has its own. */
WHOLE_CLONES static void scan_planes(void *context, int64_t index) {
    const detect_t *job = context;
    const int width = job->image_sizes[2 * index], height = job->image_sizes[2 * index + 1];
    uint16_t scratch[CASCADE_SCRATCH(SCAN_WIDTH) / 2];
    if (job->images[index])
        cascade_planes(job->model, job->images[index], width, height, job->planes + job->levels[index].planes,
                       scratch);
}

/* Which gain a plane is multiplied by: that of intensity, magnitude or orientations; chroma has none. */
static int scan_gain(const cascade_model *model, const level_t *level, int plane) {
    const int gradient = model->planes - 7;
    if (model->kind == CASCADE_HAAR || plane < gradient) return plane ? 128 : level->gains[0];
    return level->gains[plane == gradient ? 1 : 2];
}

/* Resample a level's planes from another's. */
static void scan_between(const detect_t *job, const level_t *level) {
    const level_t *source = job->levels + level->source;
    const size_t from = (size_t)source->width * (size_t)source->height;
    const size_t to = (size_t)level->width * (size_t)level->height;
    uint16_t scratch[CASCADE_PLACES(SCAN_WIDTH, SCAN_WIDTH, SCAN_WIDTH)];
    cascade_plan(source->width, source->height, level->width, level->height, scratch);
    for (int plane = 0; plane < job->model->planes; plane++)
        cascade_resample(job->planes + source->planes + (size_t)plane * from, source->width, source->height,
                         job->planes + level->planes + (size_t)plane * to, level->width, level->height,
                         scan_gain(job->model, level, plane), scratch);
}

/* Room for a level's integral images, filled; NULL if there is no memory. */
static uint32_t *scan_integrals(const cascade_model *model, cascade_level *level) {
    const size_t cells = (size_t)level->width * (size_t)level->height;
    const size_t size = ((size_t)level->width + 1) * ((size_t)level->height + 1);
    const int haar = model->kind == CASCADE_HAAR;
    uint32_t *sums = malloc((size_t)(model->planes + haar) * size * sizeof *sums);
    if (!sums) return NULL;
    for (int plane = 0; plane < model->planes; plane++)
        cascade_integrate(level->planes + (size_t)plane * cells, level->width, level->height, 0,
                          sums + (size_t)plane * size);
    if (haar) cascade_integrate(level->planes, level->width, level->height, 1, sums + size);
    level->sums = sums;
    level->squares = haar ? sums + size : NULL;
    return sums;
}

/* Make a level's planes if they are not its own, and scan it. A level for which memory ran out counts -1. */
WHOLE_CLONES static void scan_level(void *context, int64_t index) {
    const detect_t *job = context;
    const cascade_model *model = job->model;
    const level_t *place = job->levels + index;
    cascade_level level = {place->width, place->height, job->planes + place->planes, NULL, NULL};
    const int across = level.width - model->window_width + 1, down = level.height - model->window_height + 1;
    int64_t count = 0, visits = 0;
    uint32_t *integrals = NULL;
    if (place->source >= 0) scan_between(job, place);
    if (model->kind != CASCADE_CELL) {
        integrals = scan_integrals(model, &level);
        if (!integrals) {
            job->counts[index] = -1;
            return;
        }
    }
    spot_t *spots = job->spots;
    if (spots) {
        spots += index * model->trees * ((1 << model->depth) - 1);
        scan_spots(model, place, spots);
    }
    for (int y = 0; y < down; y += place->step)
        for (int x = 0; x < across; x += SCAN_ROW)
            scan_windows(job, place, &level, spots, x, y, cascade_least(SCAN_ROW, across - x), &count, &visits);
    free(integrals);
    job->counts[index] = count;
    job->visits[index] = visits;
}

#endif
