/* The host's way through a frame: planes of every level, then its windows block by block. */
#ifndef CASCADE_SCAN_H
#define CASCADE_SCAN_H

#include "pool.h"
#include "resample.h"
#include "windows.h"

enum { SCAN_CHANNELS = 1, SCAN_PYRAMID = 2, SCAN_WINDOWS = 4 }; /* parts of the work, which may be done apart */
enum { SCAN_WIDTH = 16384 }; /* the widest image */
enum { SCAN_BANDS = 8 };     /* in which an image's planes are shared out among threads */

typedef struct {
    int width, height;         /* of the level's planes, in cells */
    int source;                /* the level whose planes it is resampled from, or -1 if it has its own */
    int gains[3];              /* for intensity, magnitude, orientations, in 1/128 */
    int step;                  /* cells from window to window */
    int64_t planes;            /* where its planes begin; WINDOWS_LANES bytes after them may be read, too */
    int64_t windows;           /* where its results begin */
} level_t;

typedef struct {
    const cascade_model *model;
    int parts;                 /* what to do of all that */
    const level_t *levels;
    uint8_t *planes;
    const uint8_t *const *images; /* of the levels that have their own planes, else NULL */
    const int32_t *image_sizes;   /* width and height of each */
    const spot_t *spots;       /* the nodes on every level; NULL if they would be too many */
    const int32_t *limits;     /* what a score must exceed after each tree */
    int batch;                 /* trees that may be done in 16 bits for a whole row */
    int32_t *found;            /* OUT window number and score, in pairs */
    int64_t *counts;           /* OUT pairs of each level */
    int64_t *visits;           /* OUT trees looked at in each level */
} detect_t;

static int scan_lanes(int n) { return (n + WINDOWS_LANES - 1) / WINDOWS_LANES * WINDOWS_LANES; }

/* The trees from `tree` on for a list of n windows by the plain core; returns how many pass. */
static int scan_plain(const cascade_model *model, const cascade_level *level, int tree, int32_t *place,
                      int32_t *score, int n, int64_t *visits) {
    int left = 0;
    for (int i = 0; i < n; i++) {
        int32_t sum = score[i];
        const int taken = cascade_classify(model, level, place[i] % level->width, place[i] / level->width, tree, &sum);
        place[left] = place[i];
        score[left] = sum;
        *visits += (taken < 0 ? -taken : taken) - tree;
        left += taken > 0;
    }
    return left;
}

/* A block of windows: `rows` rows, a step apart, of n windows from (x, y) on. */
static void scan_block(const detect_t *job, const level_t *place, const cascade_level *level, const spot_t *spots,
                       int x, int y, int n, int rows, int64_t *count, int64_t *visits) {
    const cascade_model *model = job->model;
    const int across = level->width - model->window_width + 1, lanes = scan_lanes(n), step = place->step;
    int16_t score[WINDOWS_BLOCK] = {0}, alive[WINDOWS_BLOCK] = {0};
    int32_t spread[WINDOWS_BLOCK], where[WINDOWS_BLOCK], sums[WINDOWS_BLOCK];
    int32_t *found = job->found + 2 * (place->windows + *count);
    int tree = 0, left = 0;
    for (int r = 0; r < rows; r++) {
        int16_t *row = alive + r * lanes;
        for (int i = (step - x % step) % step; i < n; i += step) row[i] = -1;
        left += (n + x + step - 1) / step - (x + step - 1) / step;
        if (model->kind == CASCADE_HAAR && job->batch)
            windows_spread(model, level, x, y + r * step, spread + r * lanes, n);
    }
    for (; tree < job->batch && left * WINDOWS_FEW > n * rows; tree++) {
        const int16_t reject = windows_reject(job->limits[tree]);
        *visits += left;
        left = 0;
        for (int r = 0; r < rows; r++) {
            const int row = y + r * step, at = r * lanes;
            left += model->kind == CASCADE_CELL
                        ? windows_cells(model, level->planes + (size_t)row * (size_t)level->width + x, spots, tree,
                                        reject, score + at, alive + at, lanes)
                        : windows_rects(model, level, x, row, tree, reject, spread + at, score + at, alive + at, n);
        }
    }
    left = 0;
    for (int r = 0; r < rows; r++)
        for (int i = 0; i < n; i++) {
            where[left] = (y + r * step) * level->width + x + i;
            sums[left] = score[r * lanes + i];
            left -= alive[r * lanes + i];
        }
    if (spots && !model->accept)
        left = windows_list(model, level->planes, spots, job->limits, tree, where, sums, left, visits);
    else
        left = scan_plain(model, level, tree, where, sums, left, visits);
    for (int i = 0; i < left; i++) {
        *found++ = where[i] / level->width * across + where[i] % level->width;
        *found++ = sums[i];
    }
    *count += left;
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

/* Compute a band of the raw planes of a level that has its own. */
WHOLE_CLONES static void scan_band(void *context, int64_t index) {
    const detect_t *job = context;
    const int level = (int)(index / SCAN_BANDS), band = (int)(index % SCAN_BANDS);
    const int width = job->image_sizes[2 * level], height = job->image_sizes[2 * level + 1];
    const int rows = height / job->model->cell;
    if (!job->images[level]) return;
    uint16_t scratch[CASCADE_SCRATCH(width) / 2]; /* no larger than need be: compilers probe every page of it */
    cascade_rows(job->model, job->images[level], width, height, rows * band / SCAN_BANDS,
                 rows * (band + 1) / SCAN_BANDS, job->planes + job->levels[level].planes, scratch);
}

/* Normalise and smooth them. */
WHOLE_CLONES static void scan_finish(void *context, int64_t index) {
    const detect_t *job = context;
    const level_t *level = job->levels + index;
    if (!job->images[index]) return;
    uint16_t scratch[CASCADE_SCRATCH(level->width * job->model->cell) / 2];
    cascade_finish(job->model, job->planes + level->planes, level->width, level->height, scratch);
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
    const int planes = job->model->planes;
    int gains[16];
    uint16_t scratch[CASCADE_PLACES(source->width, level->width, level->height)];
    for (int plane = 0; plane < planes; plane++) gains[plane] = scan_gain(job->model, level, plane);
    resample_planes(job->planes + source->planes, source->width, source->height, job->planes + level->planes,
                    level->width, level->height, planes, gains, scratch);
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
    if (place->source >= 0 && job->parts & SCAN_PYRAMID) scan_between(job, place);
    if (!(job->parts & SCAN_WINDOWS)) return;
    if (model->kind != CASCADE_CELL) {
        integrals = scan_integrals(model, &level);
        if (!integrals) {
            job->counts[index] = -1;
            return;
        }
    }
    const spot_t *spots = job->spots;
    if (spots) spots += index * model->trees * ((1 << model->depth) - 1);
    const int most = cascade_most(1, WINDOWS_BLOCK / scan_lanes(across)), step = place->step;
    for (int y = 0; y < down; y += most * step)
        for (int x = 0; x < across; x += WINDOWS_BLOCK)
            scan_block(job, place, &level, spots, x, y, cascade_least(WINDOWS_BLOCK, across - x),
                       cascade_least(most, (down - y + step - 1) / step), &count, &visits);
    free(integrals);
    job->counts[index] = count;
    job->visits[index] = visits;
}

#endif
