"""Send samples down trees that are complete binary heaps."""

from cython.parallel cimport prange
from libc.stdint cimport int32_t, uint8_t


cdef inline Py_ssize_t descend(const uint8_t[:, ::1] table, const int32_t* feature,
                               const uint8_t* threshold, int depth, Py_ssize_t n) noexcept nogil:
    """The leaf that sample n reaches."""
    cdef Py_ssize_t node = 0
    cdef int level
    for level in range(depth):
        node = 2 * node + 1 + (table[feature[node], n] > threshold[node])
    return node - ((1 << depth) - 1)


def apply(
    const uint8_t[:, ::1] table,   # IN
    const int32_t[::1] feature,    # IN  one tree
    const uint8_t[::1] threshold,  # IN
    int depth,
    uint8_t[::1] leaf,             # OUT
    int threads,
):
    """Which leaf of one tree each sample reaches."""
    cdef Py_ssize_t n
    for n in prange(leaf.shape[0], schedule="static", num_threads=threads, nogil=True):
        leaf[n] = <uint8_t>descend(table, &feature[0], &threshold[0], depth, n)


def decide(
    const uint8_t[:, ::1] table,       # IN
    const int32_t[:, ::1] feature,     # IN  (trees, nodes)
    const uint8_t[:, ::1] threshold,   # IN
    const double[:, ::1] leaf,         # IN  (trees, leaves)
    int depth,
    double[::1] decision,              # IN and OUT: the leaves reached are added in tree order
    Py_ssize_t start, Py_ssize_t stop, int threads,
):
    """Add the leaves of all trees to the decisions of samples start..stop."""
    cdef Py_ssize_t n, t
    for n in prange(start, stop, schedule="static", num_threads=threads, nogil=True):
        for t in range(feature.shape[0]):
            decision[n] += leaf[t, descend(table, &feature[t, 0], &threshold[t, 0], depth, n)]
