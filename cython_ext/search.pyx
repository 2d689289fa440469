"""Fill histograms of many features and find each one's least error [Appel 3.3, 3.4].

Every function takes a range of feature groups, so that a caller can keep each call short, and is given a
feature as a row of `table`. IN views are read-only, OUT views are only written. The work is in search.h.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t

cdef extern from "search.h" nogil:
    ctypedef struct subset_t:
        int64_t weight, target, mass
    ctypedef struct table_t:
        const uint8_t* values
        int64_t stride
    ctypedef struct search_t:
        int wide, criterion
        const int32_t* features
        int64_t feature_count
        table_t first, rest
        const int32_t* columns
        const void* values
        int64_t sample_count
        char* hist
        const subset_t* subsets
        int64_t* errors
        char* small
        int64_t* large_errors
        const int32_t* groups
        const uint8_t* lanes
        const int64_t* bounds
        int64_t steps, first_steps, best, best_feature, slack
        int32_t* thresholds
        int64_t* updates
    ctypedef void (*pool_task)(void*, int64_t)
    void pool_run(pool_task, void*, int64_t, int64_t, int)
    void fill_task(void*, int64_t)
    void first_task(void*, int64_t)
    void sibling_task(void*, int64_t)
    void finish_task(void*, int64_t)
    int64_t c_node_error "node_error"(int, const subset_t*)
    void build_log2_table()

build_log2_table()

ctypedef fused cell_t:
    int32_t
    int64_t


def node_error(int criterion, const int64_t[::1] totals):
    """The error of a node that is not split; `totals` is its (weight, target, mass)."""
    return c_node_error(criterion, <const subset_t*>&totals[0])


cdef table_t rows_of(const uint8_t[:, ::1] table) noexcept:
    cdef table_t rows
    rows.values = &table[0, 0] if table.shape[0] and table.shape[1] else NULL
    rows.stride = table.shape[1]
    return rows


cdef search_t job_of(const uint8_t[:, ::1] table, const int32_t[::1] features,
                     const int32_t[::1] columns, const cell_t[::1] values,
                     const cell_t[:, :, ::1] hist) noexcept:
    cdef search_t job
    job.wide = sizeof(cell_t) == 8
    job.features = &features[0]
    job.feature_count = features.shape[0]
    job.first = job.rest = rows_of(table)
    job.sample_count = columns.shape[0]
    job.columns = &columns[0] if columns.shape[0] else NULL
    job.values = &values[0] if columns.shape[0] else NULL
    job.hist = <char*>&hist[0, 0, 0] if hist.shape[0] else NULL
    return job


def histograms(
    const uint8_t[:, ::1] table,   # IN
    const int32_t[::1] features,   # IN
    const int32_t[::1] columns,    # IN
    const cell_t[::1] values,      # IN  what each column adds to its cell
    cell_t[:, :, ::1] hist,        # OUT (groups, BINS, LANES)
    int threads,
):
    """Fill the histograms of all features, for criteria that this module does not know."""
    cdef search_t job = job_of(table, features, columns, values, hist)
    cdef int64_t groups = hist.shape[0]
    with nogil:
        pool_run(fill_task, &job, 0, groups, threads)


def first_subset(
    const uint8_t[:, ::1] table,   # IN
    const int32_t[::1] features,   # IN
    const int32_t[::1] columns,    # IN  columns of `table` that are in the subset
    const cell_t[::1] values,      # IN  what each adds to its cell
    int criterion,
    const int64_t[::1] totals,     # IN  (weight, target, mass) of the subset
    cell_t[:, :, ::1] hist,        # OUT (groups, BINS, LANES)
    int64_t[::1] errors,           # OUT preliminary error of each feature
    int64_t start, int64_t stop, int threads,
):
    """Histograms and preliminary errors of all features over a first subset, groups start..stop."""
    cdef search_t job = job_of(table, features, columns, values, hist)
    job.criterion = criterion
    job.subsets = <const subset_t*>&totals[0]
    job.errors = &errors[0]
    with nogil:
        pool_run(first_task, &job, start, stop, threads)


def sibling_subsets(
    const uint8_t[:, ::1] table,   # IN
    const int32_t[::1] features,   # IN
    const int32_t[::1] columns,    # IN  columns of the smaller child
    const cell_t[::1] values,      # IN
    int criterion,
    const int64_t[:, ::1] totals,  # IN  (weight, target, mass) of the smaller and of the larger child
    cell_t[:, :, ::1] hist,        # IN and OUT: the parent's, then the larger child's
    cell_t[:, :, ::1] small,       # OUT the smaller child's, or no groups where nobody needs it
    int64_t[:, ::1] errors,        # OUT (2, features)
    int64_t start, int64_t stop, int threads,
):
    """First subsets of two siblings: fill the smaller child's, and get the larger's by subtraction."""
    cdef search_t job = job_of(table, features, columns, values, hist)
    job.criterion = criterion
    job.subsets = <const subset_t*>&totals[0, 0]
    job.errors = &errors[0, 0]
    job.large_errors = &errors[1, 0]
    job.small = <char*>&small[0, 0, 0] if small.shape[0] else NULL
    with nogil:
        pool_run(sibling_task, &job, start, stop, threads)


def finish(
    const uint8_t[:, ::1] table,     # IN
    const uint8_t[:, ::1] compact,   # IN  a copy of some of its columns
    int64_t compact_steps,           # how many of the subsets, from the first, are read from there
    const int32_t[::1] features,     # IN
    const int32_t[::1] groups,       # IN  the groups with features still in the race
    const uint8_t[::1] lanes,        # IN  for every group, the bits of those features
    const cell_t[:, :, ::1] hist,    # IN  histograms so far, or no groups to start from zero
    const int32_t[::1] columns,      # IN  columns of `compact` or `table`
    const cell_t[::1] values,        # IN
    const int64_t[::1] bounds,       # IN  subset i adds columns[bounds[i]:bounds[i + 1]]
    int criterion,
    const int64_t[:, ::1] totals,    # IN  (weight, target, mass) once subset i is in
    int64_t best, int64_t best_feature, int64_t slack,
    int64_t[::1] errors,             # OUT error on all samples, left as it is where pruned
    int32_t[::1] thresholds,         # OUT
    int64_t[::1] updates,            # OUT histogram updates of each of the groups
    int threads,
):
    """Train features to the end unless they underachieve [Appel 3.4].

    A feature is pruned once its preliminary error shows that it cannot beat (best, best_feature).
    `slack` is by how much rounding may lift a preliminary error above the final one.
    """
    cdef search_t job = job_of(table, features, columns, values, hist)
    cdef int64_t count = groups.shape[0]
    job.criterion = criterion
    job.first = rows_of(compact)
    job.first_steps = compact_steps
    job.groups, job.lanes = &groups[0], &lanes[0]
    job.bounds, job.steps = &bounds[0], bounds.shape[0] - 1
    job.subsets = <const subset_t*>&totals[0, 0]
    job.best, job.best_feature, job.slack = best, best_feature, slack
    job.errors, job.thresholds, job.updates = &errors[0], &thresholds[0], &updates[0]
    with nogil:
        pool_run(finish_task, &job, 0, count, threads)
