/* cascade.h: find objects in a frame with boosted trees on byte channels.
 *
 * C99 and integers only: no malloc, no globals, no floating point, no library but <stdint.h> and <string.h>.
 * The caller owns every buffer. The Python detector runs these functions, and an exported model ships them, so
 * both give the same boxes and scores, bit for bit.
 *
 *   frame -> grey levels -> planes of byte cells -> windows -> score, tree by tree -> boxes
 *
 * A level is a scaled copy of the frame. Each octave's planes are computed from pixels; the scales in between
 * are resampled from them and multiplied by a gain that follows a power law of the scale [Dollar 2014].
 */
#ifndef CASCADE_H
#define CASCADE_H

#include <stdint.h>
#include <string.h>

#define CASCADE_PLANES_GREY 8 /* intensity, gradient magnitude, 6 orientations */
#define CASCADE_NO_CHECK (-32768)
#define CASCADE_NO_ACCEPT 32767

typedef struct {
    uint8_t x, y, plane, threshold;
} cascade_node;

typedef struct {
    uint8_t cell;                         /* pixels a side: 2 or 4 */
    uint8_t smooth;                       /* 1: cells are smoothed with 1 2 1 */
    uint8_t normalise;                    /* 0: off; else what is added to the mean gradient */
    uint8_t planes;
    uint8_t window_width, window_height;  /* in cells */
    uint8_t depth;
    uint8_t reject_shift;
    uint16_t trees;
    const cascade_node *nodes;            /* trees x (2^depth - 1), heaps */
    const int16_t *leaves;                /* trees x 2^depth */
    const int16_t *reject;                /* out when score <= reject << shift, checked after each tree */
    const int16_t *accept;                /* in when score >= accept << shift; may be NULL */
} cascade_model;

static int cascade_least(int a, int b) { return a < b ? a : b; }
static int cascade_most(int a, int b) { return a > b ? a : b; }
static uint8_t cascade_byte(int value) { return (uint8_t)(value > 255 ? 255 : value); }

/* ---- Pixels -------------------------------------------------------------------------------------------- */

/* Half the size: means of 2 x 2 pixels. */
static void cascade_halve(const uint8_t *from, int width, int height, uint8_t *to) {
    for (int y = 0; y < height / 2; y++) {
        const uint8_t *upper = from + (size_t)(2 * y) * (size_t)width, *lower = upper + width;
        for (int x = 0; x < width / 2; x++)
            to[x] = (uint8_t)((upper[2 * x] + upper[2 * x + 1] + lower[2 * x] + lower[2 * x + 1] + 2) >> 2);
        to += width / 2;
    }
}

/* For each of `to` pixels, the one of `from` pixels to the left of its centre and how far to the next, in 1/128. */
static void cascade_places(int from, int to, uint16_t *left, uint16_t *part) {
    const int32_t step = (int32_t)(((int64_t)from << 16) / to);
    int32_t place = (int32_t)(((int64_t)from << 15) / to - 32768);
    for (int i = 0; i < to; i++, place += step) {
        const int32_t inside = place < 0 ? 0 : place;
        left[i] = (uint16_t)cascade_least(inside >> 16, from - 1);
        part[i] = (uint16_t)(inside >> 9 & 127);
    }
}

/* Words of scratch that cascade_resample needs. */
#define CASCADE_PLACES(width, to_width, to_height) \
    ((size_t)(width) + 1 + 3 * (size_t)(to_width) + 2 * (size_t)(to_height))

/* Where rows and columns of a resampled plane come from; the same for all planes of a level. */
static void cascade_plan(int width, int height, int to_width, int to_height, uint16_t *scratch) {
    uint16_t *columns = scratch + width + 1 + to_width, *rows = columns + 2 * (size_t)to_width;
    cascade_places(width, to_width, columns, columns + to_width);
    cascade_places(height, to_height, rows, rows + to_height);
}

/* One row between two others, times gain / 128. */
static void cascade_between(const uint8_t *restrict upper, const uint8_t *restrict lower, int high, int low,
                            int width, uint8_t *restrict out) {
    const uint16_t a = (uint16_t)high, b = (uint16_t)low;
    for (int x = 0; x < width; x++) {
        const uint16_t value = (uint16_t)((uint16_t)(upper[x] * a + lower[x] * b + 64) >> 7);
        out[x] = (uint8_t)(value > 255 ? 255 : value);
    }
}

/* Mix pairs of neighbours, the left one in the low byte. */
static void cascade_mix(const uint16_t *restrict pairs, const uint16_t *restrict part, int width,
                        uint8_t *restrict out) {
    for (int x = 0; x < width; x++) {
        const uint16_t left = (uint16_t)(pairs[x] & 255), right = (uint16_t)(pairs[x] >> 8);
        out[x] = (uint8_t)((uint16_t)(left * (uint16_t)(128 - part[x]) + right * part[x] + 64) >> 7);
    }
}

/* Bilinear resampling of one plane, its values multiplied by gain / 128 (at most 2). The scratch is of
 * cascade_plan. */
static void cascade_resample(const uint8_t *from, int width, int height, uint8_t *to, int to_width,
                             int to_height, int gain, uint16_t *scratch) {
    uint8_t *row = (uint8_t *)scratch; /* has room for twice as many */
    uint16_t *pairs = scratch + width + 1;
    const uint16_t *left = pairs + to_width, *part = left + to_width;
    const uint16_t *top = part + to_width, *below = top + to_height;
    for (int y = 0; y < to_height; y++, to += to_width) {
        const uint8_t *upper = from + (size_t)top[y] * (size_t)width;
        const uint8_t *lower = upper + (top[y] + 1 < height ? width : 0);
        const int low = (below[y] * gain) >> 7;
        cascade_between(upper, lower, gain - low, low, width, row);
        row[width] = row[width - 1];
        for (int x = 0; x < to_width; x++) pairs[x] = (uint16_t)(row[left[x]] | row[left[x] + 1] << 8);
        cascade_mix(pairs, part, to_width, to);
    }
}

/* ---- Planes -------------------------------------------------------------------------------------------- */

/* Gradient of one row of pixels: magnitude (max - max/8 + min/2, within 3 % of the root of squares) and one of
 * six orientations, 30 degrees each, 0 to 180. */
static void cascade_gradient(const uint8_t *restrict left, const uint8_t *restrict right,
                             const uint8_t *restrict above, const uint8_t *restrict below, int width,
                             uint8_t *restrict magnitude, uint8_t *restrict orientation) {
    for (int x = 0; x < width; x++) {
        const int16_t dx = (int16_t)(right[x] - left[x]), dy = (int16_t)(below[x] - above[x]);
        const int16_t ax = (int16_t)(dx < 0 ? -dx : dx), ay = (int16_t)(dy < 0 ? -dy : dy);
        const int16_t most = ax > ay ? ax : ay, least = ax > ay ? ay : ax;
        const int16_t sum = (int16_t)(most - (most >> 3) + (least >> 1));
        const int16_t size = sum > most ? sum : most;
        const int16_t steep = (int16_t)(((int16_t)(64 * ay) > (int16_t)(37 * ax)) /* tan 30, tan 60 */
                                        + ((int16_t)(64 * ay) > (int16_t)(111 * ax)));
        magnitude[x] = (uint8_t)(size > 255 ? 255 : size);
        orientation[x] = (uint8_t)((dx ^ dy) < 0 ? 5 - steep : steep);
    }
}

/* The same for a whole row; its ends have a neighbour on one side only. */
static void cascade_gradient_row(const uint8_t *above, const uint8_t *row, const uint8_t *below, int width,
                                 uint8_t *magnitude, uint8_t *orientation) {
    const int last = width - 1;
    cascade_gradient(row, row + (last > 0), above, below, 1, magnitude, orientation);
    if (last < 1) return;
    cascade_gradient(row, row + 2, above + 1, below + 1, width - 2, magnitude + 1, orientation + 1);
    cascade_gradient(row + last - 1, row + last, above + last, below + last, 1, magnitude + last, orientation + last);
}

/* Add the magnitudes of one orientation to a row of sums. */
static void cascade_add_bin(uint16_t *restrict sums, const uint8_t *restrict magnitude,
                            const uint8_t *restrict orientation, uint8_t bin, int width) {
    for (int x = 0; x < width; x++) {
        const uint8_t mask = (uint8_t)-(orientation[x] == bin);
        sums[x] = (uint16_t)(sums[x] + (uint8_t)(magnitude[x] & mask));
    }
}

static void cascade_add(uint16_t *restrict sums, const uint8_t *restrict values, int width) {
    for (int x = 0; x < width; x++) sums[x] = (uint16_t)(sums[x] + values[x]);
}

/* Sums over `cell` neighbours of a row of sums, scaled down by `shift`. */
static void cascade_reduce(const uint16_t *restrict sums, int cells, int cell, int shift,
                           uint8_t *restrict out) {
    const uint16_t half = (uint16_t)(shift > 0 ? 1 << (shift - 1) : 0);
    if (cell == 2)
        for (int x = 0; x < cells; x++) {
            const uint16_t sum = (uint16_t)((uint16_t)(sums[2 * x] + sums[2 * x + 1] + half) >> shift);
            out[x] = (uint8_t)(sum > 255 ? 255 : sum);
        }
    else
        for (int x = 0; x < cells; x++) {
            const uint16_t *s = sums + 4 * x;
            const uint16_t sum = (uint16_t)((uint16_t)(s[0] + s[1] + s[2] + s[3] + half) >> shift);
            out[x] = (uint8_t)(sum > 255 ? 255 : sum);
        }
}

/* 1 2 1 over the cells of one plane, in both directions, edges repeated. `rows` has room for two rows. */
static void cascade_smooth(uint8_t *plane, int width, int height, uint8_t *rows) {
    uint8_t *before = rows, *now = rows + width;
    memcpy(before, plane, (size_t)width);
    for (int y = 0; y < height; y++) {
        uint8_t *row = plane + (size_t)y * (size_t)width;
        const uint8_t *below = y + 1 < height ? row + width : row;
        memcpy(now, row, (size_t)width);
        for (int x = 0; x < width; x++) row[x] = (uint8_t)((before[x] + 2 * now[x] + below[x] + 2) >> 2);
        uint8_t *spare = before;
        before = now;
        now = spare;
    }
    for (int y = 0; y < height; y++) {
        uint8_t *row = plane + (size_t)y * (size_t)width;
        memcpy(now, row, (size_t)width);
        for (int x = 1; x + 1 < width; x++) row[x] = (uint8_t)((now[x - 1] + 2 * now[x] + now[x + 1] + 2) >> 2);
        if (width > 1) {
            row[0] = (uint8_t)((3 * now[0] + now[1] + 2) >> 2);
            row[width - 1] = (uint8_t)((3 * now[width - 1] + now[width - 2] + 2) >> 2);
        }
    }
}

/* Means over 7 x 7 cells around row y, edges repeated; `column` has room for the width. */
static void cascade_local_mean(const uint8_t *plane, int width, int height, int y, uint16_t *column,
                               uint8_t *out) {
    for (int x = 0; x < width; x++) column[x] = 0;
    for (int dy = -3; dy <= 3; dy++) {
        const uint8_t *row = plane + (size_t)cascade_most(0, cascade_least(y + dy, height - 1)) * (size_t)width;
        for (int x = 0; x < width; x++) column[x] = (uint16_t)(column[x] + row[x]);
    }
    uint32_t sum = 3u * column[0];
    for (int x = 0; x < 4; x++) sum += column[cascade_least(x, width - 1)];
    for (int x = 0; x < width; x++) {
        out[x] = (uint8_t)((sum * 1337u) >> 16); /* / 49 */
        sum += column[cascade_least(x + 4, width - 1)];
        sum -= column[cascade_most(x - 3, 0)];
    }
}

static void cascade_multiply(uint8_t *restrict to, const uint8_t *restrict from, const uint16_t *restrict factor,
                             int width) {
    for (int x = 0; x < width; x++) {
        const uint32_t value = ((uint32_t)from[x] * factor[x]) >> 8;
        to[x] = (uint8_t)(value > 255 ? 255 : value);
    }
}

/* Divide the gradient planes by the gradient's local mean, so that contrast matters less. `mean` has room for
 * 6 rows of bytes, `column` for one row. */
static void cascade_normalise(uint8_t *magnitude, int width, int height, int constant, uint8_t *mean,
                              uint16_t *column) {
    const size_t row_bytes = (size_t)width, size = row_bytes * (size_t)height;
    uint8_t *strip = mean + 2 * row_bytes; /* rows of the magnitude wait here until none below needs the old */
    for (int y = 0; y < height + 3; y++) {
        if (y < height) {
            uint8_t *row = magnitude + (size_t)y * row_bytes;
            cascade_local_mean(magnitude, width, height, y, column, mean);
            for (int x = 0; x < width; x++) column[x] = (uint16_t)(16384 / (mean[x] + constant));
            cascade_multiply(strip + (size_t)(y & 3) * row_bytes, row, column, width);
            for (int plane = 1; plane < 7; plane++) {
                uint8_t *other = row + (size_t)plane * size;
                memcpy(mean + row_bytes, other, row_bytes);
                cascade_multiply(other, mean + row_bytes, column, width);
            }
        }
        if (y >= 3)
            memcpy(magnitude + (size_t)(y - 3) * row_bytes, strip + (size_t)((y - 3) & 3) * row_bytes, row_bytes);
    }
}

/* Bytes of scratch that cascade_planes needs for an image of this width; aligned for uint16_t. */
#define CASCADE_SCRATCH(width) ((size_t)(width) * 18 + 64)

/* The planes of a grey image, one after the other, each (height / cell) rows of (width / cell) bytes. */
static void cascade_planes(const cascade_model *model, const uint8_t *image, int width, int height,
                           uint8_t *planes, uint16_t *scratch) {
    const int cell = model->cell, cells = width / cell, rows = height / cell;
    const int shift = cell == 2 ? 2 : 4; /* log2 of the pixels in a cell */
    const size_t size = (size_t)cells * (size_t)rows;
    uint8_t *magnitude = (uint8_t *)(scratch + 8 * (size_t)width), *orientation = magnitude + width;
    for (int row = 0; row < rows; row++) {
        memset(scratch, 0, 8 * (size_t)width * sizeof *scratch);
        for (int y = row * cell; y < (row + 1) * cell; y++) {
            const uint8_t *line = image + (size_t)y * (size_t)width;
            const uint8_t *above = y > 0 ? line - width : line;
            const uint8_t *below = y + 1 < height ? line + width : line;
            cascade_gradient_row(above, line, below, width, magnitude, orientation);
            cascade_add(scratch, line, width);
            cascade_add(scratch + width, magnitude, width);
            for (int bin = 0; bin < 6; bin++)
                cascade_add_bin(scratch + (size_t)(bin + 2) * (size_t)width, magnitude, orientation,
                                (uint8_t)bin, width);
        }
        uint8_t *out = planes + (size_t)row * (size_t)cells;
        cascade_reduce(scratch, cells, cell, shift, out);
        cascade_reduce(scratch + width, cells, cell, shift - 1, out + size);
        for (int plane = 2; plane < 8; plane++)
            cascade_reduce(scratch + (size_t)plane * (size_t)width, cells, cell, shift - 2,
                           out + (size_t)plane * size);
    }
    if (model->normalise)
        cascade_normalise(planes + size, cells, rows, model->normalise, (uint8_t *)(scratch + cells), scratch);
    if (model->smooth)
        for (int plane = 0; plane < 8; plane++)
            cascade_smooth(planes + (size_t)plane * size, cells, rows, (uint8_t *)scratch);
}

/* ---- Windows ------------------------------------------------------------------------------------------- */

/* The score of the window whose first cell is `origin`, in planes of `rows` rows of `cells` bytes. Returns the
 * number of trees that it took, negative if the last of them rejected it. */
static int cascade_classify(const cascade_model *model, const uint8_t *origin, int cells, int rows,
                            int32_t *score) {
    const int nodes = (1 << model->depth) - 1;
    const cascade_node *node = model->nodes;
    const int16_t *leaf = model->leaves;
    int32_t sum = 0;
    for (int tree = 0; tree < model->trees; tree++) {
        int at = 0;
        for (int level = 0; level < model->depth; level++) {
            const cascade_node *n = node + at;
            const uint8_t value = origin[((size_t)n->plane * (size_t)rows + n->y) * (size_t)cells + n->x];
            at = 2 * at + 1 + (value > n->threshold);
        }
        sum += leaf[at - nodes];
        node += nodes;
        leaf += nodes + 1;
        *score = sum;
        if (model->reject[tree] != CASCADE_NO_CHECK && sum <= (int32_t)model->reject[tree] * (1 << model->reject_shift))
            return -(tree + 1);
        if (model->accept && model->accept[tree] != CASCADE_NO_ACCEPT &&
            sum >= (int32_t)model->accept[tree] * (1 << model->reject_shift))
            return tree + 1;
    }
    return model->trees;
}

#endif
