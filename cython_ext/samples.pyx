"""Linear-time bookkeeping of samples: weigh them, order them into subsets, send them down a split.

Weights are never sorted. A sample's mass falls into one of CLASSES logarithmic classes (8 an octave); heavier
classes come first, and within a class samples stay in the order in which they lie in the table, which is also
the order in which memory likes to be read. That takes one pass over the samples.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t

cdef extern from "pool.h" nogil:
    ctypedef void (*pool_task)(void*, int64_t)
    void pool_run(pool_task, void*, int64_t, int64_t, int)

cdef extern from "portable.h" nogil:
    int log2_floor(unsigned long long)

cdef enum:
    CLASSES_ = 512

CLASSES = CLASSES_


cdef inline int weight_class(int64_t mass) noexcept nogil:
    """Rises with `mass`, 8 steps for every doubling; 0 only for no mass at all."""
    cdef int power
    if mass < 16:
        return <int>mass
    power = log2_floor(mass) - 3
    return 8 * power + <int>(mass >> power)


def classify(
    const int32_t[::1] samples,    # IN
    const int64_t[::1] mass,       # IN  for every sample of the table
    uint16_t[::1] class_of,        # OUT for the given samples, at their place in the table
    int64_t[::1] masses,           # OUT (CLASSES,)
    int64_t[::1] counts,           # OUT (CLASSES,)
):
    """Put samples into classes by their mass."""
    cdef Py_ssize_t i
    cdef int32_t n
    cdef int c
    with nogil:
        masses[:] = 0
        counts[:] = 0
        for i in range(samples.shape[0]):
            n = samples[i]
            c = weight_class(mass[n])
            class_of[n] = <uint16_t>c
            masses[c] += mass[n]
            counts[c] += 1


def order(
    const int32_t[::1] samples,    # IN
    const uint16_t[::1] class_of,  # IN
    const int64_t[::1] masses,     # IN  (CLASSES,) of the samples
    const int64_t[::1] marks,      # IN  rising: subset i ends once the heavier samples hold marks[i]
    const int32_t[::1] position,   # IN  if not empty: who has one goes to subset 0 or 1, others to 2 on
    const int32_t[::1] weight,     # IN
    const int32_t[::1] target,     # IN
    const int64_t[::1] mass,       # IN
    uint8_t[::1] subset_of,        # OUT for the given samples, at their place in the table
    int32_t[::1] columns,          # OUT the samples with mass, subset by subset
    int64_t[::1] bounds,           # OUT (subsets + 1,) where each begins
    int64_t[:, ::1] totals,        # OUT (subsets, 3) weight, target, mass up to and with each subset
):
    """Order samples into subsets from heavy to light; within a class, from first to last.

    Samples without mass are left out.
    """
    cdef int64_t heavier[CLASSES_]  # of each class: the mass of those before its next sample
    cdef Py_ssize_t i, steps = totals.shape[0], step
    cdef int64_t[::1] ends = bounds[1:]
    cdef int32_t n
    cdef int c
    with nogil:
        heavier[CLASSES_ - 1] = 0
        for c in range(CLASSES_ - 1, 0, -1):
            heavier[c - 1] = heavier[c] + masses[c]
        totals[:, :] = 0
        bounds[:] = 0
        for i in range(samples.shape[0]):
            n = samples[i]
            c = class_of[n]
            if c == 0:
                continue
            step = 0
            while step < steps - 1 and heavier[c] >= marks[step]:
                step += 1
            heavier[c] += mass[n]
            if position.shape[0] > 0:
                step = min(step, 1) if position[n] >= 0 else max(step, 2)
            subset_of[n] = <uint8_t>step
            ends[step] += 1
            totals[step, 0] += weight[n]
            totals[step, 1] += target[n]
            totals[step, 2] += mass[n]
        for step in range(1, steps):
            for c in range(3):
                totals[step, c] += totals[step - 1, c]
            ends[step] += ends[step - 1]
        for step in range(steps - 1, 0, -1):
            ends[step] = ends[step - 1]
        ends[0] = 0
        for i in range(samples.shape[0]):
            n = samples[i]
            if class_of[n]:
                step = subset_of[n]
                columns[ends[step]] = n
                ends[step] += 1


def partition(
    const uint8_t[::1] row,        # IN  the split's feature
    int threshold,
    const int32_t[::1] columns,    # IN  the node's samples, subset by subset
    const int64_t[::1] bounds,     # IN
    const int32_t[::1] weight,     # IN
    const int32_t[::1] target,     # IN
    const int64_t[::1] mass,       # IN
    int32_t[:, ::1] parts,         # OUT (2, samples) the samples of the left and of the right child
    int64_t[:, ::1] part_bounds,   # OUT (2, subsets + 1)
    int64_t[:, :, ::1] totals,     # OUT (2, subsets, 3)
):
    """Send the samples of a node down a split; children keep their parent's subsets."""
    cdef int64_t count[2]
    cdef Py_ssize_t i, step, side
    cdef int32_t n
    cdef int c
    with nogil:
        totals[:, :, :] = 0
        count[0] = count[1] = 0
        for step in range(bounds.shape[0] - 1):
            for side in range(2):
                part_bounds[side, step] = count[side]
            for i in range(bounds[step], bounds[step + 1]):
                n = columns[i]
                side = row[n] > threshold
                parts[side, count[side]] = n
                count[side] += 1
                totals[side, step, 0] += weight[n]
                totals[side, step, 1] += target[n]
                totals[side, step, 2] += mass[n]
        for side in range(2):
            part_bounds[side, bounds.shape[0] - 1] = count[side]
            for step in range(1, bounds.shape[0] - 1):
                for c in range(3):
                    totals[side, step, c] += totals[side, step - 1, c]


ctypedef struct copy_t:
    const uint8_t* table
    const int32_t* columns
    uint8_t* out
    int64_t stride, count, out_stride


cdef void gather_task(void* context, int64_t row) noexcept nogil:
    cdef copy_t* job = <copy_t*>context
    cdef const uint8_t* table = job.table + row * job.stride
    cdef uint8_t* out = job.out + row * job.out_stride
    cdef int64_t i
    for i in range(job.count):
        out[i] = table[job.columns[i]]


def gather(
    const uint8_t[:, ::1] table,   # IN
    const int32_t[::1] columns,    # IN
    uint8_t[:, ::1] out,           # OUT out[k, i] = table[k, columns[i]]
    int64_t start, int64_t stop, int threads,
):
    """Copy some columns of the table side by side, rows start..stop."""
    cdef copy_t job
    if columns.shape[0] == 0 or stop <= start:
        return
    job.table, job.columns, job.out = &table[0, 0], &columns[0], &out[0, 0]
    job.stride, job.count, job.out_stride = table.shape[1], columns.shape[0], out.shape[1]
    with nogil:
        pool_run(gather_task, &job, start, stop, threads)
