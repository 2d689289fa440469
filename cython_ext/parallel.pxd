# The one place that knows about OpenMP. Without it prange runs in one thread, with the same results.
cdef extern from *:
    """
    #ifdef _OPENMP
    #include <omp.h>
    static int processors(void) { return omp_get_num_procs(); }
    #else
    static int processors(void) { return 1; }
    #endif
    """
    int processors() nogil
