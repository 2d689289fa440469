"""The runtime of cascade/runtime/cascade.h for Python, and the host's faster way through it (scan.h)."""

from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t
from libc.stdlib cimport free, malloc

cdef extern from "scan.h" nogil:
    enum: SCAN_WIDTH
    ctypedef struct cascade_node:
        uint8_t x, y, plane, threshold
    ctypedef struct cascade_rect:
        pass
    ctypedef struct cascade_model:
        uint8_t kind, cell, smooth, normalise, planes, window_width, window_height, depth, reject_shift
        uint16_t trees
        const cascade_node* nodes
        const uint16_t* features
        const int32_t* thresholds
        const cascade_rect* rects
        const int16_t* leaves
        const int16_t* reject
        const int16_t* accept
    ctypedef struct cascade_level:
        int width, height
        const uint8_t* planes
        const uint32_t* sums
        const uint32_t* squares
    ctypedef struct level_t:
        int width, height, source
        int gains[3]
        int step
        int64_t planes, windows
    ctypedef struct spot_t:
        pass
    ctypedef struct detect_t:
        const cascade_model* model
        int parts
        const level_t* levels
        uint8_t* planes
        const uint8_t** images
        const int32_t* image_sizes
        const spot_t* spots
        const int32_t* limits
        int batch
        int32_t* found
        int64_t* counts
        int64_t* visits
    ctypedef void (*pool_task)(void*, int64_t)
    void pool_run(pool_task, void*, int64_t, int64_t, int)
    enum: SCAN_BANDS, SCAN_CHANNELS, SCAN_PYRAMID, SCAN_WINDOWS
    void scan_band(void*, int64_t)
    void windows_spots(const cascade_model*, int, int, spot_t*)
    void scan_finish(void*, int64_t)
    void scan_level(void*, int64_t)
    void scan_grey(const uint8_t*, const uint8_t*, const uint8_t*, int64_t, uint8_t*)
    void cascade_halve(const uint8_t*, int, int, uint8_t*)
    void scan_resample(const uint8_t*, int, int, uint8_t*, int, int, int, uint16_t*)
    void cascade_planes(const cascade_model*, const uint8_t*, int, int, uint8_t*, uint16_t*)
    uint32_t* scan_integrals(const cascade_model*, cascade_level*)
    int cascade_classify(const cascade_model*, const cascade_level*, int, int, int, int32_t*)
    ctypedef struct cascade_box:
        pass
    int cascade_suppress(const cascade_box*, const int32_t*, int32_t*, int, int, int)
    enum: CASCADE_CELL, CASCADE_HAAR

cdef enum:
    MOST_SPOTS = 1 << 15  # nodes; a model of more runs on the plain core, slower but in little memory

WIDEST = SCAN_WIDTH
PARTS = {"channels": SCAN_CHANNELS, "pyramid": SCAN_PYRAMID, "scan": SCAN_WINDOWS}


def grey(const uint8_t[:, ::1] blue, const uint8_t[:, ::1] green, const uint8_t[:, ::1] red,
         uint8_t[:, ::1] out):
    """Grey levels of a frame whose colours lie apart."""
    cdef int64_t count = out.shape[0] * out.shape[1]
    if count:
        with nogil:
            scan_grey(&blue[0, 0], &green[0, 0], &red[0, 0], count, &out[0, 0])


def halve(const uint8_t[:, ::1] image, uint8_t[:, ::1] out):
    """Means of 2 x 2 pixels; `out` has half the sides, rounded down."""
    if out.shape[0] and out.shape[1]:
        with nogil:
            cascade_halve(&image[0, 0], <int>image.shape[1], <int>image.shape[0], &out[0, 0])


def resample(const uint8_t[:, ::1] image, uint8_t[:, ::1] out, int gain):
    """Bilinear resampling to the size of `out`, times gain / 128."""
    cdef int width = <int>image.shape[1], height = <int>image.shape[0]
    cdef int to_width = <int>out.shape[1], to_height = <int>out.shape[0]
    cdef uint16_t* scratch
    if to_width == 0 or to_height == 0:
        return
    scratch = <uint16_t*>malloc((width + 1 + 3 * to_width + 2 * to_height) * sizeof(uint16_t))
    if scratch == NULL:
        raise MemoryError
    with nogil:
        scan_resample(&image[0, 0], width, height, &out[0, 0], to_width, to_height, gain, scratch)
    free(scratch)


def planes(int cell, int smooth, int normalise, const uint8_t[:, :, ::1] image, uint8_t[:, :, ::1] out):
    """The planes of an image (colours, height, width); `out` is (planes, height // cell, width // cell)."""
    cdef cascade_model model
    cdef uint16_t* scratch
    if not out.shape[1] or not out.shape[2]:
        return
    model.kind = CASCADE_HAAR if out.shape[0] == 1 else CASCADE_CELL
    model.cell, model.smooth, model.normalise, model.planes = cell, smooth, normalise, <uint8_t>out.shape[0]
    scratch = <uint16_t*>malloc(24 * <size_t>image.shape[2] + 64)
    if scratch == NULL:
        raise MemoryError
    with nogil:
        cascade_planes(&model, &image[0, 0, 0], <int>image.shape[2], <int>image.shape[1], &out[0, 0, 0], scratch)
    free(scratch)


def suppress(const int32_t[:, ::1] boxes, const int32_t[::1] scores, int32_t[::1] order, int overlap, bint smaller):
    """Greedy suppression; puts the boxes that are kept to the front of `order`, best first: how many."""
    cdef int kept = 0
    if boxes.shape[0]:
        with nogil:
            kept = cascade_suppress(<const cascade_box*>&boxes[0, 0], &scores[0], &order[0], <int>boxes.shape[0],
                                    overlap, smaller)
    return kept


cdef class Runtime:
    """A model as the runtime wants it. It never changes, so threads may share it."""

    cdef cascade_model model
    cdef const uint8_t[:, ::1] nodes
    cdef const uint16_t[:, ::1] feature
    cdef const int32_t[:, ::1] threshold
    cdef const uint8_t[:, ::1] rects
    cdef const int16_t[:, ::1] leaves
    cdef const int16_t[::1] reject
    cdef const int16_t[::1] accept
    cdef const int32_t[::1] limits
    cdef int batch

    def __init__(
        self, int kind, int cell, int smooth, int normalise, int planes, tuple window, int depth, int reject_shift,
        const uint8_t[:, ::1] nodes,      # of cells: x, y, plane, threshold of every node; else empty
        const uint16_t[:, ::1] feature,   # of other kinds, and
        const int32_t[:, ::1] threshold,
        const uint8_t[:, ::1] rects,      # plane, x, y, width, height, weight
        const int16_t[:, ::1] leaves,
        const int16_t[::1] reject,
        const int16_t[::1] accept,        # empty if there is none
        const int32_t[::1] limits,        # what a score must exceed after each tree
    ):
        cdef int reach = 0, tree, i, largest
        self.nodes, self.leaves, self.reject, self.accept = nodes, leaves, reject, accept
        self.feature, self.threshold, self.rects, self.limits = feature, threshold, rects, limits
        self.model.kind, self.model.cell = kind, cell
        self.model.smooth, self.model.normalise = smooth, normalise
        self.model.planes = planes
        self.model.window_width, self.model.window_height = window
        self.model.depth, self.model.reject_shift = depth, reject_shift
        self.model.trees = <uint16_t>leaves.shape[0]
        if kind == CASCADE_CELL:
            self.model.nodes = <const cascade_node*>&nodes[0, 0]
        else:
            self.model.features, self.model.thresholds = &feature[0, 0], &threshold[0, 0]
            self.model.rects = <const cascade_rect*>&rects[0, 0]
        self.model.leaves, self.model.reject = &leaves[0, 0], &reject[0]
        self.model.accept = &accept[0] if accept.shape[0] else NULL
        self.batch = 0
        if depth <= (3 if kind == CASCADE_CELL else 2) and depth > (kind != CASCADE_CELL) and not accept.shape[0]:
            for tree in range(leaves.shape[0]):  # as many trees as surely fit into 16 bits
                largest = 0
                for i in range(leaves.shape[1]):
                    largest = max(largest, abs(<int>leaves[tree, i]))
                reach += largest
                if reach >= 32767:
                    break
                self.batch += 1

    @property
    def spots_a_level(self):
        """How many numbers `place` writes for a level: none where that would take too much memory."""
        return self.nodes.shape[0] if self.nodes.shape[0] <= MOST_SPOTS else 0

    def place(self, const int64_t[:, ::1] levels, int64_t[::1] spots):
        """Where every node looks on every level, for `detect`."""
        cdef Py_ssize_t nodes = self.nodes.shape[0], i
        if spots.shape[0]:
            for i in range(levels.shape[0]):
                windows_spots(&self.model, <int>levels[i, 0], <int>levels[i, 1], <spot_t*>&spots[i * nodes])

    cdef uint32_t* level(self, const uint8_t[:, :, ::1] planes, cascade_level* level) except? NULL:
        """Describe some planes; returns their integral images, for the caller to free."""
        cdef uint32_t* integrals
        level.planes, level.width, level.height = &planes[0, 0, 0], <int>planes.shape[2], <int>planes.shape[1]
        if self.model.kind == CASCADE_CELL:
            return NULL
        integrals = scan_integrals(&self.model, level)
        if integrals == NULL:
            raise MemoryError
        return integrals

    def classify(self, const uint8_t[:, :, ::1] planes, int32_t[:, ::1] scores, int32_t[:, ::1] trees):
        """Every window of some planes by the plain core: its score, and the trees it took, below 0 if out."""
        cdef cascade_level level
        cdef uint32_t* integrals = self.level(planes, &level)
        cdef Py_ssize_t x, y
        with nogil:
            for y in range(scores.shape[0]):
                for x in range(scores.shape[1]):
                    scores[y, x] = 0
                    trees[y, x] = cascade_classify(&self.model, &level, <int>x, <int>y, 0, &scores[y, x])
        free(integrals)

    def trace(self, const uint8_t[:, :, ::1] planes, int32_t[::1] scores):
        """The first window of some planes, tree by tree: scores after each; returns the trees it took,
        below 0 if the last of them rejected it."""
        cdef cascade_level level
        cdef cascade_model part = self.model
        cdef uint32_t* integrals = self.level(planes, &level)
        cdef int32_t score = 0
        cdef int taken = cascade_classify(&self.model, &level, 0, 0, 0, &score), tree
        score = 0
        for tree in range(abs(taken)):
            part.trees = <uint16_t>(tree + 1)
            cascade_classify(&part, &level, 0, 0, tree, &score)
            scores[tree] = score
        free(integrals)
        return taken

    def detect(
        self,
        list images,                   # IN  image of each level that has its own planes, else None
        const int64_t[:, ::1] levels,  # IN  width, height, source, three gains, step, planes, windows
        const int64_t[::1] spots,      # IN  of these levels
        uint8_t[::1] planes,           # scratch for the planes of all levels
        int32_t[::1] found,            # OUT window number and score of every find, in pairs
        int64_t[::1] counts,           # OUT finds of each level
        int64_t[::1] visits,           # OUT trees looked at in each level
        int threads,
        int parts=SCAN_CHANNELS | SCAN_PYRAMID | SCAN_WINDOWS,  # what to do, to see what takes how long
    ):
        """Scan all levels."""
        cdef Py_ssize_t count = levels.shape[0], i
        cdef const uint8_t[:, :, ::1] image
        cdef level_t* level = <level_t*>malloc(count * sizeof(level_t))
        cdef const uint8_t** pixels = <const uint8_t**>malloc(count * sizeof(void*))
        cdef int32_t* sizes = <int32_t*>malloc(2 * count * sizeof(int32_t))
        cdef detect_t job
        try:
            if level == NULL or pixels == NULL or sizes == NULL:
                raise MemoryError
            for i in range(count):
                level[i].width, level[i].height = <int>levels[i, 0], <int>levels[i, 1]
                level[i].source = <int>levels[i, 2]
                level[i].gains[0] = <int>levels[i, 3]
                level[i].gains[1] = <int>levels[i, 4]
                level[i].gains[2] = <int>levels[i, 5]
                level[i].step = <int>levels[i, 6]
                level[i].planes, level[i].windows = levels[i, 7], levels[i, 8]
                pixels[i] = NULL
                sizes[2 * i] = sizes[2 * i + 1] = 0
                if images[i] is not None:
                    image = images[i]
                    pixels[i] = &image[0, 0, 0]
                    sizes[2 * i], sizes[2 * i + 1] = <int32_t>image.shape[2], <int32_t>image.shape[1]
            job.model, job.levels, job.planes, job.parts = &self.model, level, &planes[0], parts
            job.images, job.image_sizes, job.limits = pixels, sizes, &self.limits[0]
            job.spots = <const spot_t*>&spots[0] if spots.shape[0] else NULL
            job.batch = 0 if job.spots == NULL and self.model.kind == CASCADE_CELL else self.batch
            job.found, job.counts, job.visits = &found[0], &counts[0], &visits[0]
            with nogil:
                if parts & SCAN_CHANNELS:
                    pool_run(scan_band, &job, 0, SCAN_BANDS * count, threads)
                    pool_run(scan_finish, &job, 0, count, threads)
                if parts & (SCAN_PYRAMID | SCAN_WINDOWS):
                    pool_run(scan_level, &job, 0, count, threads)
            for i in range(count if parts & SCAN_WINDOWS else 0):
                if counts[i] < 0:
                    raise MemoryError
        finally:
            free(level)
            free(pixels)
            free(sizes)
