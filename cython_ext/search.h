/* What quick and exhaustive search do with one group of features [Appel 3.3, 3.4]; tasks for pool.h.
 *
 * Cells are 32 or 64 bits wide (`wide`), see histogram.h. A job belongs to one node of one tree.
 */
#ifndef CASCADE_SEARCH_H
#define CASCADE_SEARCH_H

#include <string.h>

#include "histogram.h"
#include "pool.h"

#if defined(__GNUC__)
#define PREFETCH(address) __builtin_prefetch(address)
#else
#define PREFETCH(address) ((void)0)
#endif

typedef struct {
    const uint8_t *values;
    int64_t stride; /* from a feature's row to the next */
} table_t;

typedef struct {
    int wide, criterion;
    const int32_t *features;
    int64_t feature_count;
    table_t first, rest;     /* where the first subsets are read from, and where the others */
    const int32_t *columns;  /* of the samples, subset by subset */
    const void *values;      /* what each adds to its cell */
    int64_t sample_count;
    char *hist;              /* (groups, BINS, LANES) or NULL */
    const subset_t *subsets; /* what the samples add up to, subset by subset */
    int64_t *errors;         /* OUT, of every feature */

    /* For two children at once: the samples are those of the smaller one, `hist` is their parent's. */
    char *small; /* OUT the smaller child's histograms, or NULL */
    int64_t *large_errors;

    /* For finishing the race. */
    const int32_t *groups; /* those with features still in it */
    const uint8_t *lanes;  /* of every group, the bits of those features */
    const int64_t *bounds; /* subset i is columns bounds[i] to bounds[i + 1] */
    int64_t steps, first_steps;
    int64_t best, best_feature, slack;
    int32_t *thresholds; /* OUT */
    int64_t *updates;    /* OUT, of every group in the race */
} search_t;

typedef union {
    int32_t narrow[BINS * LANES];
    int64_t wide[BINS * LANES];
} group_t;

static size_t group_bytes(const search_t *job) {
    return BINS * LANES * (job->wide ? sizeof(int64_t) : sizeof(int32_t));
}

static int lanes_of(const search_t *job, int64_t group) {
    return (int)least(LANES, job->feature_count - group * LANES);
}

static void rows_of(const search_t *job, table_t table, int64_t group, const uint8_t **rows) {
    for (int lane = 0; lane < lanes_of(job, group); lane++)
        rows[lane] = table.values + table.stride * job->features[group * LANES + lane];
}

static void fill(const search_t *job, void *hist, const uint8_t **rows, unsigned alive, int64_t from,
                 int64_t to) {
    const int32_t *columns = job->columns + from;
    const int32_t *narrow = (const int32_t *)job->values + from;
    const int64_t *wide = (const int64_t *)job->values + from;
    if (alive == 0xff) {
        if (job->wide)
            fill64_group(hist, rows, columns, wide, to - from);
        else
            fill32_group(hist, rows, columns, narrow, to - from);
        return;
    }
    for (int lane = 0; lane < LANES; lane++)
        if (alive >> lane & 1) {
            if (job->wide)
                fill64_lane(hist, lane, rows[lane], columns, wide, to - from);
            else
                fill32_lane(hist, lane, rows[lane], columns, narrow, to - from);
        }
}

/* The least error of each living lane, and its threshold where that is wanted. */
static void scan(const search_t *job, const void *hist, unsigned alive, const subset_t *subset,
                 int64_t *errors, int32_t *thresholds) {
    if (!job->wide) error_group(hist, subset, errors);
    for (int lane = 0; lane < LANES; lane++) {
        int threshold;
        if (!(alive >> lane & 1)) continue;
        if (job->wide)
            errors[lane] = pair_lane(job->criterion, hist, lane, subset, &threshold);
        else if (thresholds)
            threshold = error_threshold(hist, lane, subset, errors[lane]);
        if (thresholds) thresholds[lane] = threshold;
    }
}

enum { LINE = 64 }; /* bytes that a cache takes in at a time */

/* Samples lie all over a row: taking the whole of it in, in order, is quicker than a miss here and there. */
static void prefetch_rows(table_t table, const uint8_t **rows, unsigned alive) {
    for (int lane = 0; lane < LANES; lane++)
        if (alive >> lane & 1)
            for (int64_t i = 0; i < table.stride; i += LINE) PREFETCH(rows[lane] + i);
}

/* Memory is read twice as fast row by row as from eight rows at once, which filling does. So while a group is
 * filled, the rows of the next one are called into the cache in their order, some with every few samples. */
static void fill_fresh(const search_t *job, int64_t group, void *hist) {
    enum { STEP = 64 };
    const uint8_t *rows[LANES], *next[LANES];
    const unsigned alive = (1u << lanes_of(job, group)) - 1;
    const int64_t lines = LANES * (job->first.stride / LINE + 1);
    const int64_t pace = lines * STEP / (job->sample_count + STEP) + 1; /* with every STEP samples */
    int lane = 0, lanes = 0;
    int64_t at = 0;
    rows_of(job, job->first, group, rows);
    if ((group + 1) * LANES < job->feature_count) {
        lanes = lanes_of(job, group + 1);
        rows_of(job, job->first, group + 1, next);
    }
    memset(hist, 0, group_bytes(job));
    for (int64_t from = 0; from < job->sample_count; from += STEP) {
        for (int64_t i = 0; i < pace && lane < lanes; i++) {
            PREFETCH(next[lane] + at);
            at += LINE;
            if (at >= job->first.stride) {
                at = 0;
                lane++;
            }
        }
        fill(job, hist, rows, alive, from, least(from + STEP, job->sample_count));
    }
}

static void scan_into(const search_t *job, int64_t group, const void *hist, const subset_t *subset,
                      int64_t *errors) {
    int64_t found[LANES];
    const int lanes = lanes_of(job, group);
    scan(job, hist, (1u << lanes) - 1, subset, found, 0);
    memcpy(errors + group * LANES, found, (size_t)lanes * sizeof *found);
}

/* Histograms alone. */
static void fill_task(void *context, int64_t group) {
    const search_t *job = context;
    fill_fresh(job, group, job->hist + (size_t)group * group_bytes(job));
}

/* Histograms and preliminary errors over the first subset of a root. */
static void first_task(void *context, int64_t group) {
    const search_t *job = context;
    char *hist = job->hist + (size_t)group * group_bytes(job);
    fill_fresh(job, group, hist);
    scan_into(job, group, hist, &job->subsets[0], job->errors);
}

/* The same for two children: fill the smaller one's, and get the larger one's from the parent's. */
static void sibling_task(void *context, int64_t group) {
    const search_t *job = context;
    group_t local;
    char *parent = job->hist + (size_t)group * group_bytes(job);
    void *small = job->small ? (void *)(job->small + (size_t)group * group_bytes(job)) : (void *)&local;
    fill_fresh(job, group, small);
    scan_into(job, group, small, &job->subsets[0], job->errors);
    if (job->wide)
        for (int i = 0; i < BINS * LANES; i++) ((int64_t *)parent)[i] -= ((int64_t *)small)[i];
    else
        for (int i = 0; i < BINS * LANES; i++) ((int32_t *)parent)[i] -= ((int32_t *)small)[i];
    scan_into(job, group, parent, &job->subsets[1], job->large_errors);
}

/* A feature is out once its preliminary error shows that it cannot beat the best [Appel 3.4]. */
static int underachieves(const search_t *job, int64_t error, int32_t feature) {
    return error > job->best + job->slack ||
           (job->slack == 0 && error == job->best && feature > job->best_feature);
}

/* Train the features of a group to the end unless they underachieve. */
static void finish_task(void *context, int64_t index) {
    const search_t *job = context;
    const int64_t group = job->groups[index];
    const int32_t *features = job->features + group * LANES;
    const uint8_t *rows[LANES];
    int64_t found[LANES];
    int32_t thresholds[LANES];
    group_t local;
    unsigned alive = job->lanes[group] & ((1u << lanes_of(job, group)) - 1);
    int64_t updates = 0;
    if (job->hist)
        memcpy(&local, job->hist + (size_t)group * group_bytes(job), group_bytes(job));
    else
        memset(&local, 0, group_bytes(job));
    if (job->first_steps > 0) rows_of(job, job->first, group, rows);
    for (int64_t step = 0; step < job->steps; step++) {
        const int last = step == job->steps - 1;
        const int64_t from = job->bounds[step], to = job->bounds[step + 1];
        if (step == job->first_steps) {
            rows_of(job, job->rest, group, rows);
            prefetch_rows(job->rest, rows, alive);
        }
        if (from == to && !last) continue;
        fill(job, &local, rows, alive, from, to);
        for (int lane = 0; lane < LANES; lane++) updates += (to - from) * (int64_t)(alive >> lane & 1);
        scan(job, &local, alive, &job->subsets[step], found, last ? thresholds : 0);
        for (int lane = 0; lane < LANES; lane++)
            if (alive >> lane & 1 && underachieves(job, found[lane], features[lane]))
                alive &= ~(1u << lane);
        if (!alive) break;
    }
    for (int lane = 0; lane < LANES; lane++)
        if (alive >> lane & 1) {
            job->errors[group * LANES + lane] = found[lane];
            job->thresholds[group * LANES + lane] = thresholds[lane];
        }
    job->updates[index] = updates;
}

#endif
