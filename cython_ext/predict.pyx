"""Send samples down trees that are complete binary heaps."""

from libc.stdint cimport int32_t, int64_t, uint8_t

cdef extern from "pool.h" nogil:
    ctypedef void (*pool_task)(void*, int64_t)
    void pool_run(pool_task, void*, int64_t, int64_t, int)

cdef enum:
    BLOCK = 1024  # samples in one task

ctypedef struct trees_t:
    const uint8_t* table
    int64_t stride
    const int32_t* feature
    const uint8_t* threshold
    const double* leaf
    int64_t trees, start, stop
    int depth
    uint8_t* leaf_index  # for one tree: OUT the leaf of each sample
    double* decision     # for all of them: IN and OUT


cdef inline int64_t descend(const trees_t* job, int64_t tree, int64_t n) noexcept nogil:
    """The leaf of a tree that sample n reaches."""
    cdef int64_t nodes = (1 << job.depth) - 1, node = 0
    cdef const int32_t* feature = job.feature + tree * nodes
    cdef const uint8_t* threshold = job.threshold + tree * nodes
    cdef int level
    for level in range(job.depth):
        node = 2 * node + 1 + (job.table[feature[node] * job.stride + n] > threshold[node])
    return node - nodes


cdef void block_task(void* context, int64_t block) noexcept nogil:
    cdef trees_t* job = <trees_t*>context
    cdef int64_t first = job.start + block * BLOCK
    cdef int64_t n, t, leaves = 1 << job.depth
    for n in range(first, min(first + BLOCK, job.stop)):
        if job.leaf_index != NULL:
            job.leaf_index[n] = <uint8_t>descend(job, 0, n)
        else:
            for t in range(job.trees):
                job.decision[n] += job.leaf[t * leaves + descend(job, t, n)]


cdef void run(trees_t* job, int64_t start, int64_t stop, int threads) noexcept nogil:
    job.start, job.stop = start, stop
    pool_run(block_task, job, 0, (stop - start + BLOCK - 1) // BLOCK, threads)


def apply(
    const uint8_t[:, ::1] table,   # IN
    const int32_t[::1] feature,    # IN  one tree
    const uint8_t[::1] threshold,  # IN
    int depth,
    uint8_t[::1] leaf,             # OUT
    int threads,
):
    """Which leaf of one tree each sample reaches."""
    cdef trees_t job
    if leaf.shape[0] == 0:
        return
    job.table, job.stride, job.depth = &table[0, 0], table.shape[1], depth
    job.feature, job.threshold, job.leaf_index = &feature[0], &threshold[0], &leaf[0]
    with nogil:
        run(&job, 0, leaf.shape[0], threads)


def decide(
    const uint8_t[:, ::1] table,       # IN
    const int32_t[:, ::1] feature,     # IN  (trees, nodes)
    const uint8_t[:, ::1] threshold,   # IN
    const double[:, ::1] leaf,         # IN  (trees, leaves)
    int depth,
    double[::1] decision,              # IN and OUT: the leaves reached are added in tree order
    int64_t start, int64_t stop, int threads,
):
    """Add the leaves of all trees to the decisions of samples start..stop."""
    cdef trees_t job
    if feature.shape[0] == 0 or stop <= start:
        return
    job.table, job.stride, job.depth = &table[0, 0], table.shape[1], depth
    job.feature, job.threshold, job.leaf = &feature[0, 0], &threshold[0, 0], &leaf[0, 0]
    job.trees, job.leaf_index, job.decision = feature.shape[0], NULL, &decision[0]
    with nogil:
        run(&job, start, stop, threads)
