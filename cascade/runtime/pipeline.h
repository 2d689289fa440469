/* pipeline.h: from a camera's frame to boxes, on top of cascade.h.
 *
 * As there: C99 and integers, no malloc, no globals, no recursion; memcpy, memmove and memset are all it takes from
 * a library. The same levels, windows, scores, boxes and order as the Python detector's, bit for bit.
 *
 *   frame -> image of each octave -> its planes -> each level between two octaves, band by band -> boxes
 *
 * Only one octave's planes are in memory, and of a level that is resampled from them, CASCADE_BAND rows of windows
 * at a time.
 */
#ifndef CASCADE_PIPELINE_H
#define CASCADE_PIPELINE_H

#include <limits.h>

#include "cascade.h"

#if INT_MAX < 2147483647
#error "cascade needs an int of 32 bits"
#endif

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#define CASCADE_APART __attribute__((noinline)) /* its own frame on the stack, and once in the program */
#else
#define CASCADE_APART
#endif

/* Rows of windows that a band holds: more take more memory and fewer copies; 32767 keeps whole levels. The same in
 * all that is linked together. */
#ifndef CASCADE_BAND
#define CASCADE_BAND 4
#endif

/* What cascade_find takes of a Cortex-M at most: of flash for code with -Os, library and tables aside, and of stack
 * with any -O. */
#define CASCADE_CODE_BYTES 8192
#define CASCADE_STACK_BYTES 1024

#define CASCADE_WIDEST 8192 /* pixels a side of a frame, and of the first octave's image */
#define CASCADE_LISTED 3    /* the deepest trees of cells that are run for a row of windows at once */

/* Pixels of a frame, without gaps between its rows: grey levels; blue, green, red; or 5, 6 and 5 bits of red, green
 * and blue in two bytes, of which the low one comes first, or the high one as many cameras have it. */
enum { CASCADE_GREY, CASCADE_BGR, CASCADE_RGB565, CASCADE_RGB565_SWAPPED };

/* What cascade_find returns. */
enum { CASCADE_DONE, CASCADE_BAD_FRAME, CASCADE_BAD_MEMORY };

/* A size between two octaves. */
typedef struct {
    uint32_t ratio;    /* in 1/65536 of the octave's */
    int16_t gains[3];  /* of intensity, magnitude and orientations, in 1/128 */
} cascade_scale;

/* Where to look, and what to make of it. */
typedef struct {
    int32_t x, y, width, height;  /* the object in the window, in 1/256 of a cell */
    int32_t up, down;             /* the first octave's image is the frame times up / down */
    int32_t max_size;             /* pixels of the shorter side of the largest object; 0: any */
    int32_t least;                /* the lowest score that counts */
    uint16_t candidates;          /* how many windows there is room for; the best are kept */
    uint16_t overlap;             /* boxes that overlap a better one by so many 1/256 are dropped */
    uint8_t smaller;              /* 1: of the smaller box; 0: of the union of both */
    uint8_t stride;               /* cells from window to window */
    uint8_t per_octave;
    uint8_t border;               /* how far beyond the frame to look, in 1/256 of its shorter side */
    const cascade_scale *scales;  /* per_octave, falling from 65536 */
} cascade_search;

typedef struct {
    cascade_box box; /* pixels of the frame */
    int32_t score;
} cascade_object;

typedef struct {
    const cascade_object *objects; /* best first; they lie in the caller's memory */
    int count;
    uint32_t candidates;           /* windows that passed; if there was no room for all, the best were kept */
    uint64_t visits;               /* nodes looked at */
} cascade_found;

/* ---- Memory -------------------------------------------------------------------------------------------- */

#define CASCADE_LARGER(a, b) ((a) > (b) ? (a) : (b))
#define CASCADE_ALIGNED(bytes) (((size_t)(bytes) + 3) / 4 * 4)

/* Rows of cells that a band of a level of `height` rows holds. */
#define CASCADE_BAND_ROWS(window_height, height) \
    ((height) < (window_height) - 1 + CASCADE_BAND ? (height) : (window_height) - 1 + CASCADE_BAND)

/* Bytes of a band, and before it of where its rows and columns come from. */
#define CASCADE_BAND_BYTES(kind, planes, window_height, cells, width, height) \
    (CASCADE_ALIGNED(2 * CASCADE_PLACES(cells, width, height)) + \
     ((kind) == CASCADE_CELL \
          ? (size_t)(planes) * (size_t)(width) * (size_t)CASCADE_BAND_ROWS(window_height, height) \
          : (size_t)(width) + 4 * ((size_t)(planes) + ((kind) == CASCADE_HAAR)) * ((size_t)(width) + 1) * \
                                  ((size_t)CASCADE_BAND_ROWS(window_height, height) + 1)))

/* The same for the widest level that needs a band: one next to the octave, or the octave itself. */
#define CASCADE_WORK_BYTES(kind, planes, window_height, ratio, across, down) \
    ((kind) == CASCADE_CELL ? CASCADE_BAND_BYTES(kind, planes, window_height, across, \
                                                 (int)((uint32_t)(across) * (uint32_t)(ratio) >> 16), \
                                                 (int)((uint32_t)(down) * (uint32_t)(ratio) >> 16)) \
                            : CASCADE_BAND_BYTES(kind, planes, window_height, across, across, down))

/* Bytes of images beside the frame. `plain`: the frame is what the model looks at, and is not copied. */
#define CASCADE_IMAGE_BYTES(colours, plain, width, height, base_width, base_height) \
    ((size_t)(colours) * \
     (((plain) ? (size_t)((width) / 2) * (size_t)((height) / 2) : (size_t)(width) * (size_t)(height)) + \
      ((width) == (base_width) && (height) == (base_height) ? 0 : (size_t)(base_width) * (size_t)(base_height))))

/* Bytes of a row of windows: scores and columns. */
#define CASCADE_LIST_BYTES(kind, across) \
    ((kind) == CASCADE_CELL ? CASCADE_ALIGNED((sizeof(int32_t) + sizeof(uint16_t)) * (size_t)(across)) : 0)

/* Bytes that cascade_find needs beside the frame. `ratio` is that of the second scale, 0 if there is only one. */
#define CASCADE_ROOM(kind, cell, planes, window_height, ratio, candidates, plain, width, height, base_width, \
                     base_height) \
    ((size_t)(candidates) * sizeof(cascade_object) + CASCADE_LIST_BYTES(kind, (base_width) / (cell)) + \
     CASCADE_ALIGNED(CASCADE_LARGER( \
         CASCADE_LARGER(CASCADE_SCRATCH(base_width), 2 * CASCADE_PLACES(width, base_width, base_height)), \
         CASCADE_WORK_BYTES(kind, planes, window_height, ratio, (base_width) / (cell), (base_height) / (cell)))) + \
     CASCADE_ALIGNED((size_t)(planes) * (size_t)((base_width) / (cell)) * (size_t)((base_height) / (cell))) + \
     CASCADE_ALIGNED(CASCADE_IMAGE_BYTES((planes) == 10 ? 3 : 1, plain, width, height, base_width, base_height)))

/* ---- Work in progress ---------------------------------------------------------------------------------- */

typedef struct {
    const cascade_model *model;
    const cascade_search *search;
    int edge;                /* pixels by which the frame's edges go on */
    int width, height;       /* of the frame with them */
    int base_width, base_height;
    uint8_t *work;           /* scratch while planes are made, then a band */
    uint8_t *planes;         /* of the octave */
    uint8_t *image;          /* of the octave, unless that is the frame */
    cascade_object *objects; /* a heap with the worst on top */
    int count;
    int32_t *scores;         /* of a row of windows */
    uint16_t *columns;       /* where they begin */
    uint32_t candidates;
    uint64_t visits;
} cascade_job;

/* One level: its size in cells, and pixels of the frame per cell as fractions. */
typedef struct {
    int across, down;        /* of the octave that it is made from */
    int width, height;
    int64_t x_up, x_down, y_up, y_down;
} cascade_place;

static int cascade_colours(const cascade_model *model) { return model->planes == 10 ? 3 : 1; }

/* The first octave's side for a side of the frame. */
static int cascade_base(const cascade_search *search, int side) {
    return (int)((int64_t)side * search->up / search->down);
}

/* By how many pixels the frame's edges go on. */
static int cascade_edge(const cascade_search *search, int width, int height) {
    return cascade_least(width, height) * search->border >> 8;
}

/* Whether a frame can be of this format and size. */
static int cascade_possible(const cascade_search *search, int format, int width, int height) {
    if (format < CASCADE_GREY || format > CASCADE_RGB565_SWAPPED || width < 0 || height < 0 ||
        width > CASCADE_WIDEST || height > CASCADE_WIDEST)
        return 0;
    const int most = cascade_most(width, height) + 2 * cascade_edge(search, width, height);
    return most <= CASCADE_WIDEST && cascade_base(search, most) <= CASCADE_WIDEST;
}

/* Whether the frame is what the model looks at, so that it need not be copied. */
static int cascade_plain(const cascade_model *model, const cascade_search *search, int format) {
    return format == CASCADE_GREY && cascade_colours(model) == 1 && !search->border;
}

/* Bytes that cascade_find needs beside a frame of this size. */
static size_t cascade_room(const cascade_model *model, const cascade_search *search, int format, int width,
                           int height) {
    const int edge = cascade_edge(search, width, height), wide = width + 2 * edge, tall = height + 2 * edge;
    const uint32_t ratio = search->per_octave > 1 ? search->scales[1].ratio : 0;
    return CASCADE_ROOM(model->kind, model->cell, model->planes, model->window_height, ratio, search->candidates,
                        cascade_plain(model, search, format), wide, tall, cascade_base(search, wide),
                        cascade_base(search, tall));
}

/* ---- Objects ------------------------------------------------------------------------------------------- */

static int cascade_better(const cascade_object *a, const cascade_object *b) {
    return cascade_before(&a->box, a->score, &b->box, b->score);
}

/* Put an object into the heap of n objects at place `at` or below. */
static void cascade_sink(cascade_object *objects, int n, int at, cascade_object object) {
    for (int child = 2 * at + 1; child < n; child = 2 * at + 1) {
        if (child + 1 < n && cascade_better(objects + child, objects + child + 1)) child++;
        if (!cascade_better(&object, objects + child)) break;
        objects[at] = objects[child];
        at = child;
    }
    objects[at] = object;
}

/* Keep an object, in place of the worst one if there is no room. */
static void cascade_keep(cascade_job *job, cascade_object object) {
    cascade_object *objects = job->objects;
    job->candidates++;
    if (job->count == job->search->candidates) {
        if (cascade_better(&object, objects)) cascade_sink(objects, job->count, 0, object);
        return;
    }
    int at = job->count++;
    for (; at > 0 && cascade_better(objects + (at - 1) / 2, &object); at = (at - 1) / 2)
        objects[at] = objects[(at - 1) / 2];
    objects[at] = object;
}

/* From a heap to a list, best first, without those that overlap a better one; returns how many are left. */
static int cascade_pick(const cascade_search *search, cascade_object *objects, int n) {
    int kept = 0;
    for (int last = n - 1; last > 0; last--) {
        const cascade_object object = objects[last];
        objects[last] = objects[0];
        cascade_sink(objects, last, 0, object);
    }
    for (int i = 0; i < n; i++) {
        int better = 0;
        while (better < kept &&
               !cascade_overlap(&objects[better].box, &objects[i].box, search->overlap, search->smaller))
            better++;
        if (better == kept) objects[kept++] = objects[i];
    }
    return kept;
}

/* A place in a level, in 1/256 of a cell, as a pixel of the frame: to the nearest, halves up. */
static int32_t cascade_pixel(int32_t place, int64_t up, int64_t down) {
    const int64_t above = 2 * place * up + 256 * down, below = 512 * down;
    const int64_t pixel = above / below;
    return (int32_t)(pixel - (above % below < 0));
}

/* ---- Levels -------------------------------------------------------------------------------------------- */

/* A pixel beside the edges as one of the frame; where there are edges, of what the frame shows. */
static int32_t cascade_shown(const cascade_job *job, int32_t pixel, int side) {
    if (!job->edge) return pixel;
    return cascade_most(0, cascade_least(pixel - job->edge, side - 2 * job->edge));
}

/* A window that passed: the one at cell (x, y) of a level. */
static void cascade_report(cascade_job *job, const cascade_place *place, int x, int y, int32_t score) {
    const cascade_search *search = job->search;
    const int32_t left = 256 * x + search->x, top = 256 * y + search->y;
    cascade_object object = {{0, 0, 0, 0}, score};
    if (score < search->least) return;
    object.box.left = cascade_shown(job, cascade_pixel(left, place->x_up, place->x_down), job->width);
    object.box.top = cascade_shown(job, cascade_pixel(top, place->y_up, place->y_down), job->height);
    object.box.right = cascade_shown(job, cascade_pixel(left + search->width, place->x_up, place->x_down), job->width);
    object.box.bottom = cascade_shown(job, cascade_pixel(top + search->height, place->y_up, place->y_down), job->height);
    cascade_keep(job, object);
}

/* One tree for the n windows of a list, which begin at columns `x` of row y; leaves those that it does not reject,
 * and returns how many. */
static int cascade_tree(const cascade_model *model, const cascade_level *level, int y, int tree, int depth,
                        uint16_t *x, int32_t *scores, int n) {
    const int nodes = (1 << depth) - 1;
    const cascade_node *node = model->nodes + (size_t)tree * (size_t)nodes;
    const int16_t *leaves = model->leaves + ((size_t)tree << depth);
    const uint8_t *cells[(1 << CASCADE_LISTED) - 1];
    uint8_t thresholds[(1 << CASCADE_LISTED) - 1];
    const int16_t reject = model->reject[tree];
    const int32_t limit = reject == CASCADE_NO_CHECK ? INT32_MIN : (int32_t)reject * (1 << model->reject_shift);
    int left = 0;
    for (int i = 0; i < nodes; i++) {
        const size_t row = (size_t)node[i].plane * (size_t)level->height + (size_t)(y + node[i].y);
        cells[i] = level->planes + row * (size_t)level->width + node[i].x;
        thresholds[i] = node[i].threshold;
    }
    for (int i = 0; i < n; i++) {
        const uint16_t column = x[i];
        int at = 0;
        for (int k = 0; k < depth; k++) at = 2 * at + 1 + (cells[at][column] > thresholds[at]);
        const int32_t score = scores[i] + leaves[at - nodes];
        x[left] = column;
        scores[left] = score;
        left += score > limit;
    }
    return left;
}

/* Take the windows that a tree accepts off the list: they are in. */
static int cascade_accept(cascade_job *job, const cascade_place *place, int y, int tree, uint16_t *x, int32_t *scores,
                          int n) {
    const int16_t accept = job->model->accept[tree];
    int left = 0;
    for (int i = 0; i < n; i++) {
        if (accept != CASCADE_NO_ACCEPT && scores[i] >= (int32_t)accept * (1 << job->model->reject_shift)) {
            cascade_report(job, place, x[i], y, scores[i]);
            continue;
        }
        x[left] = x[i];
        scores[left++] = scores[i];
    }
    return left;
}

/* A row of windows of cells, in row `top` of what is in memory and in row y of the level, tree by tree: what a tree
 * looks at is found out once for all of them. To the same scores as cascade_classify. */
static void cascade_scan_list(cascade_job *job, const cascade_place *place, const cascade_level *level, int top,
                              int y) {
    const cascade_model *model = job->model;
    int n = 0;
    for (int x = 0; x + model->window_width <= level->width; x += job->search->stride) {
        job->columns[n] = (uint16_t)x;
        job->scores[n++] = 0;
    }
    for (int tree = 0; tree < model->trees && n; tree++) {
        job->visits += (uint64_t)(n * model->depth);
        n = model->depth == 2 ? cascade_tree(model, level, top, tree, 2, job->columns, job->scores, n)
                              : cascade_tree(model, level, top, tree, model->depth, job->columns, job->scores, n);
        if (model->accept) n = cascade_accept(job, place, y, tree, job->columns, job->scores, n);
    }
    for (int i = 0; i < n; i++) cascade_report(job, place, job->columns[i], y, job->scores[i]);
}

/* Scan `rows` rows of windows; the first lies in row 0 of what is in memory and in row y of the level. */
static void cascade_scan(cascade_job *job, const cascade_place *place, const cascade_level *level, int y, int rows) {
    const cascade_model *model = job->model;
    for (int row = 0; row < rows; row++) {
        if ((y + row) % job->search->stride) continue;
        if (model->kind == CASCADE_CELL && model->depth <= CASCADE_LISTED) {
            cascade_scan_list(job, place, level, row, y + row);
            continue;
        }
        for (int x = 0; x + model->window_width <= level->width; x += job->search->stride) {
            int32_t score = 0;
            const int taken = cascade_classify(model, level, x, row, 0, &score);
            job->visits += (uint64_t)((taken < 0 ? -taken : taken) * model->depth);
            if (taken > 0) cascade_report(job, place, x, y + row, score);
        }
    }
}

/* Which gain a plane is multiplied by: that of intensity, magnitude or orientations; chroma has none. */
static int cascade_gain(const cascade_model *model, const cascade_scale *scale, int plane) {
    const int gradient = model->planes - 7;
    if (model->kind == CASCADE_HAAR || plane < gradient) return plane ? 128 : scale->gains[0];
    return scale->gains[plane == gradient ? 1 : 2];
}

/* Rows `first` to `last` - 1 of a band of cells; row 0 is row y of the level. */
static void cascade_fill_cells(const cascade_job *job, const cascade_place *place, const cascade_scale *scale,
                               int rows, int y, int first, int last, uint8_t *band) {
    const size_t source = (size_t)place->across * (size_t)place->down;
    const size_t size = (size_t)place->width * (size_t)rows, at = (size_t)place->width * (size_t)first;
    for (int plane = 0; plane < job->model->planes; plane++)
        cascade_resample_rows(job->planes + (size_t)plane * source, place->across, place->down,
                              band + (size_t)plane * size + at, place->width, place->height, y + first, y + last,
                              cascade_gain(job->model, scale, plane), (uint16_t *)(void *)job->work);
}

/* The same for a band of integral images; the squares' comes last. `line` has room for a row. */
static void cascade_fill_sums(const cascade_job *job, const cascade_place *place, const cascade_scale *scale,
                              int rows, int y, int first, int last, uint32_t *band, uint8_t *line) {
    const size_t stride = (size_t)place->width + 1, size = stride * ((size_t)rows + 1);
    const size_t source = (size_t)place->across * (size_t)place->down;
    for (int plane = 0; plane < job->model->planes; plane++)
        for (int row = first; row < last; row++) {
            const uint8_t *from = job->planes + (size_t)plane * source, *values = line;
            uint32_t *sums = band + (size_t)plane * size + (size_t)row * stride;
            if (scale->ratio == 65536)
                values = from + (size_t)(y + row) * (size_t)place->across;
            else
                cascade_resample_rows(from, place->across, place->down, line, place->width, place->height, y + row,
                                      y + row + 1, cascade_gain(job->model, scale, plane),
                                      (uint16_t *)(void *)job->work);
            cascade_integrate_row(values, place->width, 0, sums, sums + stride);
            if (job->model->kind == CASCADE_HAAR)
                cascade_integrate_row(values, place->width, 1, sums + size, sums + size + stride);
        }
}

/* Move bands of some bytes up by `shift` bytes, of which `kept` are still needed. */
static void cascade_slide(uint8_t *band, int bands, size_t size, size_t shift, size_t kept) {
    for (int i = 0; i < bands; i++, band += size) memmove(band, band + shift, kept);
}

/* Scan a level of cells that is resampled from its octave. */
static void cascade_scan_cells(cascade_job *job, const cascade_place *place, const cascade_scale *scale) {
    const int height = job->model->window_height, rows = CASCADE_BAND_ROWS(height, place->height);
    const size_t width = (size_t)place->width;
    uint8_t *band = job->work + CASCADE_ALIGNED(2 * CASCADE_PLACES(place->across, place->width, place->height));
    const cascade_level level = {place->width, rows, band, NULL, NULL};
    for (int y = 0; y + height <= place->height; y += CASCADE_BAND) {
        if (y)
            cascade_slide(band, job->model->planes, width * (size_t)rows, width * CASCADE_BAND,
                          width * (size_t)(height - 1));
        cascade_fill_cells(job, place, scale, rows, y, y ? height - 1 : 0, cascade_least(rows, place->height - y),
                           band);
        cascade_scan(job, place, &level, y, cascade_least(CASCADE_BAND, place->height - height + 1 - y));
    }
}

/* Scan a level of sums. */
static void cascade_scan_sums(cascade_job *job, const cascade_place *place, const cascade_scale *scale) {
    const int height = job->model->window_height, rows = CASCADE_BAND_ROWS(height, place->height);
    const int haar = job->model->kind == CASCADE_HAAR, bands = job->model->planes + haar;
    const size_t stride = (size_t)place->width + 1, size = stride * ((size_t)rows + 1), word = sizeof(uint32_t);
    uint8_t *start = job->work + CASCADE_ALIGNED(2 * CASCADE_PLACES(place->across, place->width, place->height));
    uint32_t *band = (uint32_t *)(void *)start;
    uint8_t *line = start + (size_t)bands * size * word;
    const cascade_level level = {place->width, rows, NULL, band, haar ? band + size : NULL};
    for (int i = 0; i < bands; i++) memset(band + (size_t)i * size, 0, stride * word);
    for (int y = 0; y + height <= place->height; y += CASCADE_BAND) {
        if (y) cascade_slide(start, bands, size * word, stride * CASCADE_BAND * word, stride * (size_t)height * word);
        cascade_fill_sums(job, place, scale, rows, y, y ? height - 1 : 0, cascade_least(rows, place->height - y),
                          band, line);
        cascade_scan(job, place, &level, y, cascade_least(CASCADE_BAND, place->height - height + 1 - y));
    }
}

/* Whether a level has windows, of objects no larger than asked for. Images have whole pixels, so sizes come out up
 * to a pixel larger. */
static int cascade_fits(const cascade_job *job, const cascade_place *place) {
    const cascade_search *search = job->search;
    const int64_t most = ((int64_t)search->max_size + 1) * 256;
    if (place->width < job->model->window_width || place->height < job->model->window_height) return 0;
    return !search->max_size || search->width * place->x_up < most * place->x_down ||
           search->height * place->y_up < most * place->y_down;
}

/* Scan the levels of an octave whose planes begin `across` x `down` and whose image was halved so often that a pixel
 * is `halved` pixels of the first. Returns 0 if one of them was too small, and so are all that follow. */
static int cascade_octave(cascade_job *job, const uint8_t *image, int width, int height, int halved) {
    const cascade_model *model = job->model;
    const int across = width / model->cell, down = height / model->cell;
    for (int k = 0; k < job->search->per_octave; k++) {
        const cascade_scale *scale = job->search->scales + k;
        cascade_place place = {across, down, (int)((uint32_t)across * scale->ratio >> 16),
                               (int)((uint32_t)down * scale->ratio >> 16), 0, 0, 0, 0};
        if (!place.width || !place.height) return 1;
        place.x_up = (int64_t)model->cell * job->width * halved * across;
        place.y_up = (int64_t)model->cell * job->height * halved * down;
        place.x_down = (int64_t)job->base_width * place.width;
        place.y_down = (int64_t)job->base_height * place.height;
        if (!cascade_fits(job, &place)) return 0;
        uint16_t *scratch = (uint16_t *)(void *)job->work;
        if (k == 0) cascade_planes(model, image, width, height, job->planes, scratch);
        if (k) cascade_plan(across, down, place.width, place.height, scratch);
        if (model->kind != CASCADE_CELL) {
            cascade_scan_sums(job, &place, scale);
        } else if (k) {
            cascade_scan_cells(job, &place, scale);
        } else {
            const cascade_level level = {across, down, job->planes, NULL, NULL};
            cascade_scan(job, &place, &level, 0, down - model->window_height + 1);
        }
    }
    return 1;
}

/* ---- Frames -------------------------------------------------------------------------------------------- */

/* Blue, green and red of a pixel. */
static void cascade_colour(const uint8_t *frame, int format, size_t index, uint8_t *colour) {
    if (format == CASCADE_GREY) {
        colour[0] = colour[1] = colour[2] = frame[index];
    } else if (format == CASCADE_BGR) {
        memcpy(colour, frame + 3 * index, 3);
    } else {
        const int swapped = format == CASCADE_RGB565_SWAPPED;
        const int low = frame[2 * index + (size_t)swapped], high = frame[2 * index + (size_t)!swapped];
        const int green = (high & 7) << 3 | low >> 5;
        colour[0] = (uint8_t)((low & 31) << 3 | (low & 31) >> 2);
        colour[1] = (uint8_t)(green << 2 | green >> 4);
        colour[2] = (uint8_t)((high >> 3) << 3 | high >> 5);
    }
}

/* A frame with its edges as grey levels, or as planes of blue, green and red. */
static void cascade_convert(const cascade_job *job, const uint8_t *frame, int format, uint8_t *image) {
    const int width = job->width - 2 * job->edge, height = job->height - 2 * job->edge;
    const int colours = cascade_colours(job->model);
    const size_t count = (size_t)job->width * (size_t)job->height;
    for (int y = 0; y < job->height; y++)
        for (int x = 0; x < job->width; x++, image++) {
            const int row = cascade_most(0, cascade_least(y - job->edge, height - 1));
            const int column = cascade_most(0, cascade_least(x - job->edge, width - 1));
            uint8_t colour[3];
            cascade_colour(frame, format, (size_t)row * (size_t)width + (size_t)column, colour);
            if (colours == 1)
                image[0] = (uint8_t)((29u * colour[0] + 150u * colour[1] + 77u * colour[2] + 128u) >> 8);
            else
                for (int k = 0; k < 3; k++) image[(size_t)k * count] = colour[k];
        }
}

/* Halve all colours; `to` may be `from`. */
static void cascade_halve_all(const uint8_t *from, int *width, int *height, int colours, uint8_t *to) {
    const size_t size = (size_t)*width * (size_t)*height, half = (size_t)(*width / 2) * (size_t)(*height / 2);
    for (int colour = 0; colour < colours; colour++)
        cascade_halve(from + (size_t)colour * size, *width, *height, to + (size_t)colour * half);
    *width /= 2;
    *height /= 2;
}

/* The frame at the first octave's size: halved as often as it takes for every pixel to count, then resampled.
 * Leaves job->image where the next octave's goes. */
static const uint8_t *cascade_first(cascade_job *job, const uint8_t *frame, int format) {
    const int colours = cascade_colours(job->model), plain = cascade_plain(job->model, job->search, format);
    const int to_width = job->base_width, to_height = job->base_height;
    const uint8_t *image = frame;
    int width = job->width, height = job->height;
    uint8_t *resampled = job->image + (size_t)colours * (plain ? (size_t)(width / 2) * (size_t)(height / 2)
                                                               : (size_t)width * (size_t)height);
    if (!plain) {
        cascade_convert(job, frame, format, job->image);
        image = job->image;
    }
    while (width >= 2 * to_width && height >= 2 * to_height) {
        cascade_halve_all(image, &width, &height, colours, job->image);
        image = job->image;
    }
    if (width == to_width && height == to_height) return image;
    uint16_t *scratch = (uint16_t *)(void *)job->work;
    const size_t size = (size_t)width * (size_t)height, to_size = (size_t)to_width * (size_t)to_height;
    cascade_plan(width, height, to_width, to_height, scratch);
    for (int colour = 0; colour < colours; colour++)
        cascade_resample(image + (size_t)colour * size, width, height, resampled + (size_t)colour * to_size, to_width,
                         to_height, 128, scratch);
    job->image = resampled;
    return resampled;
}

/* The octaves of a frame, one after the other. */
static void cascade_run(cascade_job *job, const uint8_t *frame, int format) {
    const int cell = job->model->cell, colours = cascade_colours(job->model);
    int width = job->base_width, height = job->base_height;
    if (cascade_least(width, height) < cell) return;
    const uint8_t *image = cascade_first(job, frame, format);
    for (int halved = 1; cascade_least(width, height) >= cell; halved *= 2) {
        if (!cascade_octave(job, image, width, height, halved)) return;
        cascade_halve_all(image, &width, &height, colours, job->image);
        image = job->image;
    }
}

/* The objects in a frame, best first. `memory` is aligned for uint32_t and has cascade_room(...) bytes or more; it
 * keeps the objects until the next call, and nothing else from call to call. */
CASCADE_APART static int cascade_find(const cascade_model *model, const cascade_search *search, const uint8_t *frame,
                                      int format, int width, int height, void *memory, size_t bytes,
                                      cascade_found *found) {
    memset(found, 0, sizeof *found);
    if (!frame || !cascade_possible(search, format, width, height)) return CASCADE_BAD_FRAME;
    if (!memory || (uintptr_t)memory % sizeof(uint32_t) || bytes < cascade_room(model, search, format, width, height))
        return CASCADE_BAD_MEMORY;
    cascade_job job;
    memset(&job, 0, sizeof job);
    job.model = model;
    job.search = search;
    job.edge = cascade_edge(search, width, height);
    job.width = width + 2 * job.edge;
    job.height = height + 2 * job.edge;
    job.base_width = cascade_base(search, job.width);
    job.base_height = cascade_base(search, job.height);
    job.objects = memory;
    const size_t cells = (size_t)(job.base_width / model->cell) * (size_t)(job.base_height / model->cell);
    const size_t planes = CASCADE_ALIGNED(model->planes * cells);
    const size_t image = CASCADE_ALIGNED(CASCADE_IMAGE_BYTES(
        cascade_colours(model), cascade_plain(model, search, format), job.width, job.height, job.base_width,
        job.base_height));
    /* Objects, a row, work, planes, images: those at the end are told from there, for work is whatever is left. */
    const size_t across = (size_t)(job.base_width / model->cell);
    job.scores = (int32_t *)(void *)(job.objects + search->candidates);
    job.columns = (uint16_t *)(void *)(job.scores + (model->kind == CASCADE_CELL ? across : 0));
    job.work = (uint8_t *)job.scores + CASCADE_LIST_BYTES(model->kind, across);
    job.image = (uint8_t *)memory + cascade_room(model, search, format, width, height) - image;
    job.planes = job.image - planes;
    cascade_run(&job, frame, format);
    found->objects = job.objects;
    found->count = cascade_pick(search, job.objects, job.count);
    found->candidates = job.candidates;
    found->visits = job.visits;
    return CASCADE_DONE;
}

#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#endif
