/* The host's way through a level: first trees for a whole row of windows at once, the rest for who is left.
 *
 * Neighbouring windows read neighbouring bytes, so a tree of depth 2 is three comparisons of byte rows, which
 * compilers turn into vector code. Scores, and who is rejected where, are those of cascade_classify.
 */
#ifndef CASCADE_SCAN_H
#define CASCADE_SCAN_H

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
static int scan_rest(const cascade_model *model, const level_t *level, const uint8_t *origin, const spot_t *spots,
                     int tree, int32_t *score, int64_t *visits) {
    if (spots) return scan_finish(model, origin, spots, tree, score, visits);
    const int taken = cascade_classify(model, origin, level->width, level->height, score);
    *visits += taken < 0 ? -taken : taken;
    return taken > 0;
}

/* The n windows from window x of a row on. */
static void scan_windows(const detect_t *job, const level_t *level, const spot_t *spots, const uint8_t *row,
                         int x, int n, int64_t number, int64_t *count, int64_t *visits) {
    const cascade_model *model = job->model;
    int16_t score[SCAN_ROW], alive[SCAN_ROW];
    int32_t *found = job->found + 2 * (level->windows + *count);
    int tree = 0;
    for (int i = 0; i < n; i++) {
        score[i] = 0;
        alive[i] = -1;
    }
    if (level->step > 1)
        for (int i = 0; i < n; i++) alive[i] = (int16_t)-((x + i) % level->step == 0);
    int left = scan_alive(alive, n);
    for (; tree < job->batch && left * SCAN_FEW > n; tree++) {
        const spot_t *spot = spots + (size_t)tree * 3;
        scan_tree(row + spot[0].offset, row + spot[1].offset, row + spot[2].offset,
                  model->nodes + (size_t)tree * 3, model->leaves + (size_t)tree * 4,
                  scan_reject(model, tree), score, alive, n);
        *visits += left;
        left = scan_alive(alive, n);
    }
    for (int i = 0; left > 0 && i < n; i++) {
        int32_t sum = score[i];
        if (!alive[i] || !scan_rest(model, level, row + i, spots, tree, &sum, visits)) continue;
        *found++ = (int32_t)(number + i);
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

/* Resample a level's planes if they are not its own, and scan it. */
WHOLE_CLONES static void scan_level(void *context, int64_t index) {
    const detect_t *job = context;
    const cascade_model *model = job->model;
    const level_t *level = job->levels + index;
    uint8_t *planes = job->planes + level->planes;
    const int across = level->width - model->window_width + 1, down = level->height - model->window_height + 1;
    int64_t count = 0, visits = 0;
    if (level->source >= 0) {
        const level_t *source = job->levels + level->source;
        const size_t from = (size_t)source->width * (size_t)source->height;
        const size_t to = (size_t)level->width * (size_t)level->height;
        uint16_t scratch[CASCADE_PLACES(SCAN_WIDTH, SCAN_WIDTH, SCAN_WIDTH)];
        cascade_plan(source->width, source->height, level->width, level->height, scratch);
        for (int plane = 0; plane < model->planes; plane++) {
            const int kind = plane < model->planes - 7 ? 0 : plane == model->planes - 7 ? 1 : 2;
            cascade_resample(job->planes + source->planes + (size_t)plane * from, source->width, source->height,
                             planes + (size_t)plane * to, level->width, level->height, level->gains[kind], scratch);
        }
    }
    spot_t *spots = job->spots;
    if (spots) {
        spots += index * model->trees * ((1 << model->depth) - 1);
        scan_spots(model, level, spots);
    }
    for (int y = 0; y < down; y += level->step)
        for (int x = 0; x < across; x += SCAN_ROW)
            scan_windows(job, level, spots, planes + (size_t)y * (size_t)level->width + x, x,
                         cascade_least(SCAN_ROW, across - x), (int64_t)y * across + x, &count, &visits);
    job->counts[index] = count;
    job->visits[index] = visits;
}

#endif
