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

#if defined(__GNUC__) /* nobody needs all of these functions */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#endif

#define CASCADE_NO_CHECK (-32768)
#define CASCADE_NO_ACCEPT 32767
#define CASCADE_RECTS 3  /* of a Haar feature, unused ones with weight 0 */
#define CASCADE_GAIN 64  /* bytes for a Haar response of one standard deviation */
#define CASCADE_ZERO 128 /* the byte of no response */
#define CASCADE_FLAT 4   /* grey levels: a flatter window counts as this contrasty, so that noise stays quiet */

/* What a node looks at: a byte of a plane; the sum of a plane over a rectangle; or weighted rectangles of grey
 * pixels in units of the window's contrast. */
enum { CASCADE_CELL, CASCADE_RECT, CASCADE_HAAR };

typedef struct {
    uint8_t x, y, plane, threshold;
} cascade_node;

typedef struct {
    uint8_t plane, x, y, width, height;
    int8_t weight;
} cascade_rect;

typedef struct {
    uint8_t kind;
    uint8_t cell;                         /* pixels a side: 2 or 4, and 1 for CASCADE_HAAR */
    uint8_t smooth;                       /* 1: cells are smoothed with 1 2 1 */
    uint8_t normalise;                    /* 0: off; else what is added to the mean gradient */
    uint8_t planes;                       /* 8 grey, 10 colour, 1 for CASCADE_HAAR */
    uint8_t window_width, window_height;  /* in cells */
    uint8_t depth;
    uint8_t reject_shift;
    uint16_t trees;
    const cascade_node *nodes;            /* CASCADE_CELL: trees x (2^depth - 1), heaps */
    const uint16_t *features;             /* other kinds: as many, and */
    const int32_t *thresholds;
    const cascade_rect *rects;            /* one for each feature, or CASCADE_RECTS for CASCADE_HAAR */
    const int16_t *leaves;                /* trees x 2^depth */
    const int16_t *reject;                /* out when score <= reject << shift, checked after each tree */
    const int16_t *accept;                /* in when score >= accept << shift; may be NULL */
} cascade_model;

/* A scaled copy of the frame, as planes of cells. */
typedef struct {
    int width, height;       /* in cells */
    const uint8_t *planes;   /* one after the other */
    const uint32_t *sums;    /* their integral images, each (width + 1) x (height + 1); not for CASCADE_CELL */
    const uint32_t *squares; /* that of the squares; CASCADE_HAAR only */
} cascade_level;

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

/* Rows `first` to `last` - 1 of a plane that is resampled bilinearly, its values multiplied by gain / 128 (at most
 * 2). The scratch is of cascade_plan. */
static void cascade_resample_rows(const uint8_t *from, int width, int height, uint8_t *to, int to_width,
                                  int to_height, int first, int last, int gain, uint16_t *scratch) {
    uint8_t *row = (uint8_t *)scratch; /* has room for twice as many */
    uint16_t *pairs = scratch + width + 1;
    const uint16_t *left = pairs + to_width, *part = left + to_width;
    const uint16_t *top = part + to_width, *below = top + to_height;
    for (int y = first; y < last; y++, to += to_width) {
        const uint8_t *upper = from + (size_t)top[y] * (size_t)width;
        const uint8_t *lower = upper + (top[y] + 1 < height ? width : 0);
        const int low = (below[y] * gain) >> 7;
        cascade_between(upper, lower, gain - low, low, width, row);
        row[width] = row[width - 1];
        for (int x = 0; x < to_width; x++) pairs[x] = (uint16_t)(row[left[x]] | row[left[x] + 1] << 8);
        cascade_mix(pairs, part, to_width, to);
    }
}

/* The whole plane. */
static void cascade_resample(const uint8_t *from, int width, int height, uint8_t *to, int to_width,
                             int to_height, int gain, uint16_t *scratch) {
    cascade_resample_rows(from, width, height, to, to_width, to_height, 0, to_height, gain, scratch);
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

/* Keep the stronger of two gradients, pixel by pixel; of equals, the first. */
static void cascade_stronger(uint8_t *restrict magnitude, uint8_t *restrict orientation,
                             const uint8_t *restrict other, const uint8_t *restrict other_orientation, int width) {
    for (int x = 0; x < width; x++) {
        const uint8_t mask = (uint8_t)-(other[x] > magnitude[x]);
        orientation[x] = (uint8_t)((orientation[x] & ~mask) | (other_orientation[x] & mask));
        magnitude[x] = other[x] > magnitude[x] ? other[x] : magnitude[x];
    }
}

/* Blue, green and red become luma and two chroma, 128 for no colour (JPEG's, in 1/256). */
static void cascade_chroma(uint8_t *restrict first, uint8_t *restrict second, uint8_t *restrict third, int width) {
    for (int x = 0; x < width; x++) {
        const int blue = first[x], green = second[x], red = third[x];
        first[x] = (uint8_t)((29 * blue + 150 * green + 77 * red + 128) >> 8);
        second[x] = cascade_byte((32896 + 128 * blue - 85 * green - 43 * red) >> 8);
        third[x] = cascade_byte((32896 + 128 * red - 107 * green - 21 * blue) >> 8);
    }
}

/* Bytes of scratch that cascade_planes needs for an image of this width; aligned for uint16_t. */
#define CASCADE_SCRATCH(width) ((size_t)(width) * 24 + 64)

/* The gradient of one row: of a grey image, or the strongest of the colours, which lie `size` apart. */
static void cascade_strongest_row(const uint8_t *above, const uint8_t *row, const uint8_t *below, size_t size,
                                  int colours, int width, uint8_t *magnitude) {
    uint8_t *orientation = magnitude + width, *other = orientation + width;
    cascade_gradient_row(above, row, below, width, magnitude, orientation);
    for (int colour = 1; colour < colours; colour++) {
        const size_t at = (size_t)colour * size;
        cascade_gradient_row(above + at, row + at, below + at, width, other, other + width);
        cascade_stronger(magnitude, orientation, other, other + width, width);
    }
}

/* Rows `first` to `last` - 1 of the raw planes of an image; see cascade_planes. */
static void cascade_rows(const cascade_model *model, const uint8_t *image, int width, int height, int first, int last,
                         uint8_t *planes, uint16_t *scratch) {
    const int cell = model->cell, cells = width / cell;
    const int colours = model->planes == 10 ? 3 : 1, sums = colours + 7;
    const int shift = cell == 2 ? 2 : 4; /* log2 of the pixels in a cell */
    const size_t size = (size_t)cells * (size_t)(height / cell), pixels = (size_t)width * (size_t)height;
    const size_t step = (size_t)width;
    uint8_t *magnitude = (uint8_t *)(scratch + (size_t)sums * step), *orientation = magnitude + width;
    if (model->kind == CASCADE_HAAR)
        memcpy(planes + (size_t)first * step, image + (size_t)first * step, (size_t)(last - first) * step);
    for (int row = first; row < last && model->kind != CASCADE_HAAR; row++) {
        memset(scratch, 0, (size_t)sums * step * sizeof *scratch);
        for (int y = row * cell; y < (row + 1) * cell; y++) {
            const uint8_t *line = image + (size_t)y * step;
            cascade_strongest_row(y > 0 ? line - width : line, line, y + 1 < height ? line + width : line, pixels,
                                  colours, width, magnitude);
            for (int colour = 0; colour < colours; colour++)
                cascade_add(scratch + (size_t)colour * step, line + (size_t)colour * pixels, width);
            cascade_add(scratch + (size_t)colours * step, magnitude, width);
            for (int bin = 0; bin < 6; bin++)
                cascade_add_bin(scratch + (size_t)(colours + 1 + bin) * step, magnitude, orientation,
                                (uint8_t)bin, width);
        }
        uint8_t *out = planes + (size_t)row * (size_t)cells;
        for (int plane = 0; plane < sums; plane++) {
            const int less = plane < colours ? 0 : plane == colours ? 1 : 2;
            cascade_reduce(scratch + (size_t)plane * step, cells, cell, shift - less, out + (size_t)plane * size);
        }
        if (colours == 3) cascade_chroma(out, out + size, out + 2 * size, cells);
    }
}

/* Normalise and smooth raw planes of `rows` rows of `cells` bytes, as the model wants them. */
static void cascade_finish(const cascade_model *model, uint8_t *planes, int cells, int rows, uint16_t *scratch) {
    const size_t size = (size_t)cells * (size_t)rows;
    if (model->normalise)
        cascade_normalise(planes + (size_t)(model->planes - 7) * size, cells, rows, model->normalise,
                          (uint8_t *)(scratch + cells), scratch);
    if (model->smooth)
        for (int plane = 0; plane < model->planes; plane++)
            cascade_smooth(planes + (size_t)plane * size, cells, rows, (uint8_t *)scratch);
}

/* The planes of an image (grey, or blue, green and red one after the other), each (height / cell) rows of
 * (width / cell) bytes: intensity, or luma and two chroma; gradient magnitude; six orientations. For
 * CASCADE_HAAR, the pixels. */
static void cascade_planes(const cascade_model *model, const uint8_t *image, int width, int height,
                           uint8_t *planes, uint16_t *scratch) {
    const int rows = height / model->cell;
    cascade_rows(model, image, width, height, 0, rows, planes, scratch);
    cascade_finish(model, planes, width / model->cell, rows, scratch);
}

/* One more row of an integral image, below the row `above`. */
static void cascade_integrate_row(const uint8_t *row, int width, int squared, const uint32_t *above, uint32_t *sums) {
    uint32_t sum = 0;
    sums[0] = 0;
    for (int x = 0; x < width; x++) {
        sum += squared ? (uint32_t)row[x] * row[x] : row[x];
        sums[x + 1] = above[x + 1] + sum;
    }
}

/* The integral image of a plane or of its squares: entry (x, y) is the sum above and left of it. Sums wrap
 * around in large planes, yet those of windows come out right. */
static void cascade_integrate(const uint8_t *plane, int width, int height, int squared, uint32_t *sums) {
    const size_t stride = (size_t)width + 1;
    memset(sums, 0, stride * sizeof *sums);
    for (int y = 0; y < height; y++, plane += width, sums += stride)
        cascade_integrate_row(plane, width, squared, sums, sums + stride);
}

/* ---- Windows ------------------------------------------------------------------------------------------- */

/* The sum over a rectangle at some entry of an integral image. */
static uint32_t cascade_sum(const uint32_t *at, size_t stride, int width, int height) {
    const uint32_t *low = at + (size_t)height * stride;
    return low[width] - low[0] - at[width] + at[0];
}

/* The root of a number, rounded down. */
static uint32_t cascade_root(uint64_t square) {
    uint64_t root = 0;
    for (uint64_t bit = (uint64_t)1 << 62; bit; bit >>= 2) {
        const uint64_t trial = root + bit;
        root >>= 1;
        if (square >= trial) {
            square -= trial;
            root += bit;
        }
    }
    return (uint32_t)root;
}

/* n times the standard deviation of the n pixels of a window, but for flat ones. */
static int32_t cascade_spread(const cascade_model *model, const cascade_level *level, int x, int y) {
    const int width = model->window_width, height = model->window_height;
    const size_t stride = (size_t)level->width + 1, at = (size_t)y * stride + (size_t)x;
    const uint64_t sum = cascade_sum(level->sums + at, stride, width, height);
    const uint64_t squares = cascade_sum(level->squares + at, stride, width, height), n = (uint64_t)(width * height);
    return cascade_most((int)cascade_root(n * squares - sum * sum), CASCADE_FLAT * width * height);
}

/* Whether CASCADE_ZERO + floor(CASCADE_GAIN response n / (area spread)), cut to a byte, is > threshold; without
 * a division. */
static int cascade_contrast(int32_t response, int32_t n, int32_t threshold, int32_t area, int32_t spread) {
    return threshold < 255 &&
           (int64_t)response * (CASCADE_GAIN * n) >= (int64_t)((threshold + 1 - CASCADE_ZERO) * area) * spread;
}

/* Whether the window at cell (x, y) goes right at a node. */
static int cascade_right(const cascade_model *model, const cascade_level *level, int x, int y, size_t node,
                         int32_t spread) {
    const size_t stride = (size_t)level->width + 1, plane = stride * ((size_t)level->height + 1);
    if (model->kind == CASCADE_CELL) {
        const cascade_node *n = model->nodes + node;
        const size_t row = (size_t)n->plane * (size_t)level->height + (size_t)(y + n->y);
        return level->planes[row * (size_t)level->width + (size_t)(x + n->x)] > n->threshold;
    }
    const int32_t threshold = model->thresholds[node];
    const uint32_t *sums = level->sums + (size_t)y * stride + (size_t)x;
    if (model->kind == CASCADE_RECT) {
        const cascade_rect *r = model->rects + model->features[node];
        return (int32_t)cascade_sum(sums + r->plane * plane + r->y * stride + r->x, stride, r->width, r->height) >
               threshold;
    }
    const cascade_rect *r = model->rects + (size_t)CASCADE_RECTS * model->features[node];
    int32_t response = 0;
    for (int i = 0; i < CASCADE_RECTS; i++)
        response += r[i].weight * (int32_t)cascade_sum(sums + r[i].y * stride + r[i].x, stride, r[i].width, r[i].height);
    return cascade_contrast(response, model->window_width * model->window_height, threshold,
                            r->width * r->height, spread);
}

/* Add the trees from `tree` on to the score of the window whose first cell is (x, y). Returns the number of trees
 * that were looked at since the first, negative if the last of them rejected it. */
static int cascade_classify(const cascade_model *model, const cascade_level *level, int x, int y, int tree,
                            int32_t *score) {
    const int nodes = (1 << model->depth) - 1, shift = model->reject_shift;
    const int32_t spread = model->kind == CASCADE_HAAR ? cascade_spread(model, level, x, y) : 0;
    for (; tree < model->trees; tree++) {
        const size_t first = (size_t)tree * (size_t)nodes;
        int at = 0;
        for (int depth = 0; depth < model->depth; depth++)
            at = 2 * at + 1 + cascade_right(model, level, x, y, first + (size_t)at, spread);
        *score += model->leaves[first + (size_t)tree + (size_t)(at - nodes)];
        if (model->reject[tree] != CASCADE_NO_CHECK && *score <= (int32_t)model->reject[tree] * (1 << shift))
            return -(tree + 1);
        if (model->accept && model->accept[tree] != CASCADE_NO_ACCEPT &&
            *score >= (int32_t)model->accept[tree] * (1 << shift))
            return tree + 1;
    }
    return model->trees;
}

/* ---- Boxes --------------------------------------------------------------------------------------------- */

typedef struct {
    int32_t left, top, right, bottom; /* within +/- 2^25, so that products of areas fit */
} cascade_box;

static int64_t cascade_area(const cascade_box *box) {
    return (int64_t)(box->right - box->left) * (box->bottom - box->top);
}

/* Whether two boxes share at least overlap / 256 of their union, or of the smaller one; nothing shares nothing. */
static int cascade_overlap(const cascade_box *a, const cascade_box *b, int overlap, int smaller) {
    const int32_t width = (a->right < b->right ? a->right : b->right) - (a->left > b->left ? a->left : b->left);
    const int32_t height = (a->bottom < b->bottom ? a->bottom : b->bottom) - (a->top > b->top ? a->top : b->top);
    if (width <= 0 || height <= 0) return 0;
    const int64_t shared = (int64_t)width * height, first = cascade_area(a), second = cascade_area(b);
    const int64_t whole = smaller ? (first < second ? first : second) : first + second - shared;
    return 256 * shared >= overlap * whole;
}

/* Whether box a comes before box b: the higher score, then the topmost, leftmost, narrowest, flattest. */
static int cascade_before(const cascade_box *a, int32_t score_a, const cascade_box *b, int32_t score_b) {
    if (score_a != score_b) return score_a > score_b;
    if (a->top != b->top) return a->top < b->top;
    if (a->left != b->left) return a->left < b->left;
    if (a->right != b->right) return a->right < b->right;
    return a->bottom < b->bottom;
}

/* Greedy non-maximum suppression. `order` holds the numbers of n boxes, rising; returns how many are kept, and puts
 * their numbers first, best first. */
static int cascade_suppress(const cascade_box *boxes, const int32_t *scores, int32_t *order, int n, int overlap,
                            int smaller) {
    int kept = 0, best = 0;
    for (int i = 1; i < n; i++)
        if (cascade_before(boxes + order[i], scores[order[i]], boxes + order[best], scores[order[best]])) best = i;
    while (kept < n) {
        const int32_t chosen = order[best];
        int left = kept + 1;
        for (int i = best; i > kept; i--) order[i] = order[i - 1]; /* the others stay in order */
        order[kept++] = chosen;
        best = left;
        for (int i = left; i < n; i++) {
            const int32_t other = order[i];
            if (cascade_overlap(boxes + chosen, boxes + other, overlap, smaller)) continue;
            order[left] = other;
            if (left > best && cascade_before(boxes + other, scores[other], boxes + order[best], scores[order[best]]))
                best = left;
            left++;
        }
        n = left;
    }
    return kept;
}

#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#endif
