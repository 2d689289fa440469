"""Fill histograms of many features and find each one's least error [Appel 3.3, 3.4].

Every function takes a range of feature groups, so that a caller can keep each call short, and is given
the feature as a row of `table`. IN views are read-only, OUT views are only written.
"""

from cython.parallel cimport prange
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy, memset

cdef extern from "histogram.h" nogil:
    enum: LANES, BINS, CRITERION_ERROR
    ctypedef struct subset_t:
        int64_t weight, target, mass
    void fill32_group(int32_t*, const uint8_t**, const int32_t*, const int32_t*, int64_t)
    void fill64_group(int64_t*, const uint8_t**, const int32_t*, const int64_t*, int64_t)
    void fill32_lane(int32_t*, int, const uint8_t*, const int32_t*, const int32_t*, int64_t)
    void fill64_lane(int64_t*, int, const uint8_t*, const int32_t*, const int64_t*, int64_t)
    void error_group(const int32_t*, const subset_t*, int64_t*)
    int error_threshold(const int32_t*, int, const subset_t*, int64_t)
    int64_t pair_lane(int, const int64_t*, int, const subset_t*, int*)
    int64_t c_node_error "node_error"(int, const subset_t*)
    void build_log2_table()

build_log2_table()

ctypedef fused cell_t:
    int32_t
    int64_t


cdef subset_t subset(const int64_t* row) noexcept nogil:
    cdef subset_t result
    result.weight, result.target, result.mass = row[0], row[1], row[2]
    return result


def node_error(int criterion, const int64_t[::1] totals):
    """The error of a node that is not split; `totals` is its (weight, target, mass)."""
    cdef subset_t node = subset(&totals[0])
    return c_node_error(criterion, &node)


cdef void fill(cell_t* hist, const uint8_t** rows, uint8_t alive, const int32_t* columns,
               const cell_t* values, int64_t n) noexcept nogil:
    """Add the samples to those lanes whose bit is set in `alive`."""
    cdef int lane
    if alive == 0xff:
        if cell_t is int32_t:
            fill32_group(hist, rows, columns, values, n)
        else:
            fill64_group(hist, rows, columns, values, n)
        return
    for lane in range(LANES):
        if alive >> lane & 1:
            if cell_t is int32_t:
                fill32_lane(hist, lane, rows[lane], columns, values, n)
            else:
                fill64_lane(hist, lane, rows[lane], columns, values, n)


cdef void scan(int criterion, const cell_t* hist, uint8_t alive, const subset_t* node,
               int64_t* errors, int32_t* thresholds) noexcept nogil:
    """The least error of each lane; `thresholds` may be NULL where only the error is wanted."""
    cdef int lane, threshold = BINS - 1
    if cell_t is int32_t:
        error_group(hist, node, errors)
        if thresholds != NULL:
            for lane in range(LANES):
                if alive >> lane & 1:
                    thresholds[lane] = error_threshold(hist, lane, node, errors[lane])
    else:
        for lane in range(LANES):
            if alive >> lane & 1:
                errors[lane] = pair_lane(criterion, hist, lane, node, &threshold)
                if thresholds != NULL:
                    thresholds[lane] = threshold


cdef uint8_t group_rows(const uint8_t[:, ::1] table, const int32_t[::1] features, Py_ssize_t group,
                        const uint8_t** rows) noexcept nogil:
    """Point `rows` at the group's features; returns the bits of the lanes in use."""
    cdef Py_ssize_t first = group * LANES
    cdef int lane, n = <int>min(<Py_ssize_t>LANES, features.shape[0] - first)
    for lane in range(n):
        rows[lane] = &table[features[first + lane], 0]
    return <uint8_t>((1 << n) - 1)


def histograms(
    const uint8_t[:, ::1] table,   # IN
    const int32_t[::1] features,   # IN
    const int32_t[::1] columns,    # IN
    const cell_t[::1] values,      # IN  what each column adds to its cell
    cell_t[:, :, ::1] hist,        # OUT (groups, BINS, LANES)
    int threads,
):
    """Fill the histograms of all features, for criteria that this module does not know."""
    cdef Py_ssize_t group
    for group in prange(hist.shape[0], schedule="static", num_threads=threads, nogil=True):
        fill_group(table, features, group, columns, values, &hist[group, 0, 0])


cdef uint8_t fill_group(const uint8_t[:, ::1] table, const int32_t[::1] features, Py_ssize_t group,
                        const int32_t[::1] columns, const cell_t[::1] values,
                        cell_t* hist) noexcept nogil:
    """A fresh histogram of one group; returns the bits of the lanes in use."""
    cdef const uint8_t* rows[LANES]
    cdef uint8_t alive = group_rows(table, features, group, rows)
    memset(hist, 0, BINS * LANES * sizeof(cell_t))
    if columns.shape[0] > 0:
        fill(hist, rows, alive, &columns[0], &values[0], columns.shape[0])
    return alive


cdef void first_group(const uint8_t[:, ::1] table, const int32_t[::1] features, Py_ssize_t group,
                      const int32_t[::1] columns, const cell_t[::1] values, int criterion,
                      const int64_t[::1] totals, cell_t* hist, int64_t[::1] errors) noexcept nogil:
    cdef int64_t found[LANES]
    cdef subset_t node = subset(&totals[0])
    cdef uint8_t alive = fill_group(table, features, group, columns, values, hist)
    cdef Py_ssize_t first = group * LANES
    scan(criterion, <const cell_t*>hist, alive, &node, found, NULL)
    memcpy(&errors[first], found, min(<Py_ssize_t>LANES, features.shape[0] - first) * sizeof(int64_t))


def first_subset(
    const uint8_t[:, ::1] table,   # IN
    const int32_t[::1] features,   # IN
    const int32_t[::1] columns,    # IN  columns of `table` that are in the subset
    const cell_t[::1] values,      # IN  what each adds to its cell
    int criterion,
    const int64_t[::1] totals,     # IN  (weight, target, mass) of the subset
    cell_t[:, :, ::1] hist,        # OUT (groups, BINS, LANES)
    int64_t[::1] errors,           # OUT preliminary error of each feature
    Py_ssize_t start, Py_ssize_t stop, int threads,
):
    """Histograms and preliminary errors of all features over the first subset, groups start..stop."""
    cdef Py_ssize_t group
    for group in prange(start, stop, schedule="static", num_threads=threads, nogil=True):
        first_group(table, features, group, columns, values, criterion, totals,
                    &hist[group, 0, 0], errors)


cdef void sibling_group(const uint8_t[:, ::1] table, const int32_t[::1] features, Py_ssize_t group,
                        const int32_t[::1] columns, const cell_t[::1] values, int criterion,
                        const int64_t[:, ::1] totals, cell_t* hist, cell_t* small,
                        int64_t[:, ::1] errors) noexcept nogil:
    cdef cell_t local[BINS * LANES]
    cdef int64_t found[LANES]
    cdef subset_t large = subset(&totals[1, 0])
    cdef Py_ssize_t first = group * LANES
    cdef Py_ssize_t n = min(<Py_ssize_t>LANES, features.shape[0] - first)
    cdef int i
    if small == NULL:
        small = local
    first_group(table, features, group, columns, values, criterion, totals[0], small, errors[0])
    for i in range(BINS * LANES):
        hist[i] -= small[i]
    scan(criterion, <const cell_t*>hist, <uint8_t>((1 << n) - 1), &large, found, NULL)
    memcpy(&errors[1, first], found, n * sizeof(int64_t))


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
    Py_ssize_t start, Py_ssize_t stop, int threads,
):
    """First subsets of two siblings: fill the smaller child's, and get the larger's by subtraction."""
    cdef Py_ssize_t group
    cdef bint keep = small.shape[0] > 0
    for group in prange(start, stop, schedule="static", num_threads=threads, nogil=True):
        sibling_group(table, features, group, columns, values, criterion, totals,
                      &hist[group, 0, 0], &small[group, 0, 0] if keep else NULL, errors)


cdef int64_t finish_group(const uint8_t[:, ::1] table, const uint8_t[:, ::1] compact,
                          Py_ssize_t compact_steps, const int32_t[::1] features, Py_ssize_t group,
                          uint8_t alive, const cell_t* hist, const int32_t[::1] columns,
                          const cell_t[::1] values, const int64_t[::1] bounds, int criterion,
                          const int64_t[:, ::1] totals,
                          int64_t best, int64_t best_feature, int64_t slack,
                          int64_t[::1] errors, int32_t[::1] thresholds) noexcept nogil:
    cdef cell_t local[BINS * LANES]
    cdef const uint8_t* rows[LANES]
    cdef int64_t found[LANES]
    cdef int32_t at[LANES]
    cdef subset_t node
    cdef Py_ssize_t first = group * LANES, step, steps = bounds.shape[0] - 1
    cdef int64_t updates = 0, n
    cdef int lane
    alive &= group_rows(compact if compact_steps > 0 else table, features, group, rows)
    if hist == NULL:
        memset(local, 0, sizeof(local))
    else:
        memcpy(local, hist, sizeof(local))
    for step in range(steps):
        if step == compact_steps > 0:
            group_rows(table, features, group, rows)
        n = bounds[step + 1] - bounds[step]
        if n == 0 and step < steps - 1:
            continue
        if n > 0:
            fill(local, rows, alive, &columns[bounds[step]], &values[bounds[step]], n)
            for lane in range(LANES):
                updates += n * (alive >> lane & 1)
        node = subset(&totals[step, 0])
        scan(criterion, <const cell_t*>local, alive, &node, found,
             at if step == steps - 1 else NULL)
        for lane in range(LANES):
            if alive >> lane & 1 and (
                found[lane] > best + slack
                or slack == 0 and found[lane] == best and features[first + lane] > best_feature
            ):
                alive = alive & ~(1 << lane)
        if not alive:
            return updates
    for lane in range(LANES):
        if alive >> lane & 1:
            errors[first + lane] = found[lane]
            thresholds[first + lane] = at[lane]
    return updates


def finish(
    const uint8_t[:, ::1] table,     # IN
    const uint8_t[:, ::1] compact,   # IN  a copy of some of its columns
    Py_ssize_t compact_steps,        # how many of the subsets, from the first, are read from there
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
    int threads,
):
    """Train features to the end unless they underachieve [Appel 3.4]; returns the histogram updates.

    A feature is pruned once its preliminary error shows that it cannot beat (best, best_feature).
    `slack` is by how much rounding may lift a preliminary error above the final one.
    """
    cdef Py_ssize_t i, group
    cdef int64_t updates = 0
    cdef bint begun = hist.shape[0] > 0
    for i in prange(groups.shape[0], schedule="dynamic", num_threads=threads, nogil=True):
        group = groups[i]
        updates += finish_group(table, compact, compact_steps, features, group, lanes[group],
                                &hist[group, 0, 0] if begun else NULL, columns, values, bounds,
                                criterion, totals, best, best_feature, slack, errors, thresholds)
    return updates
