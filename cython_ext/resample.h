/* cascade_resample with the processor's byte shuffles: pairs of neighbours are picked sixteen at a time.
 *
 * Where there are none, and for planes of another scale than those between octaves, the core does it.
 */
#ifndef CASCADE_RESAMPLE_H
#define CASCADE_RESAMPLE_H

#include "../cascade/runtime/cascade.h"

#if (defined(__x86_64__) || defined(__i386__)) && defined(__GNUC__)
#include <immintrin.h>

enum { RESAMPLE_LANES = 16, RESAMPLE_REACH = 31, RESAMPLE_WIDEST = 4096 };

typedef struct {
    int base;                           /* the first byte of a row that sixteen outputs need */
    uint8_t low[RESAMPLE_LANES];        /* for each, where its left byte is in the 16 from there, or 128 */
    uint8_t high[RESAMPLE_LANES];       /* likewise in the 16 after those */
} resample_pick;

/* Fill in the picks of all full blocks; 0 if some block needs more than 32 bytes of a row. */
static int resample_picks(const uint16_t *left, int to_width, resample_pick *picks) {
    for (int block = 0; block < to_width / RESAMPLE_LANES; block++, left += RESAMPLE_LANES) {
        if (left[RESAMPLE_LANES - 1] - left[0] > RESAMPLE_REACH) return 0;
        picks[block].base = left[0];
        for (int i = 0; i < RESAMPLE_LANES; i++) {
            const int place = left[i] - left[0];
            picks[block].low[i] = (uint8_t)(place < 16 ? place : 128);
            picks[block].high[i] = (uint8_t)(place < 16 ? 128 : place - 16);
        }
    }
    return 1;
}

/* Neighbours as cascade_mix wants them. Reads up to 33 bytes from the base of a block on. */
__attribute__((target("ssse3"))) static void resample_pairs(const uint8_t *row, const resample_pick *picks, int blocks,
                                                            uint16_t *pairs) {
    for (int block = 0; block < blocks; block++, pairs += RESAMPLE_LANES) {
        const uint8_t *from = row + picks[block].base;
        const __m128i low = _mm_loadu_si128((const __m128i *)picks[block].low);
        const __m128i high = _mm_loadu_si128((const __m128i *)picks[block].high);
        const __m128i left = _mm_or_si128(_mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)from), low),
                                          _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(from + 16)), high));
        const __m128i right = _mm_or_si128(_mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(from + 1)), low),
                                           _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(from + 17)), high));
        _mm_storeu_si128((__m128i *)pairs, _mm_unpacklo_epi8(left, right));
        _mm_storeu_si128((__m128i *)(pairs + 8), _mm_unpackhi_epi8(left, right));
    }
}

/* As cascade_resample, after cascade_plan, for planes whose picks are known. */
static void resample_plane(const uint8_t *from, int width, int height, uint8_t *to, int to_width, int to_height,
                           int gain, uint16_t *scratch, const resample_pick *picks) {
    uint8_t row[RESAMPLE_WIDEST + 64];
    uint16_t *pairs = scratch + width + 1;
    const uint16_t *left = pairs + to_width, *part = left + to_width;
    const uint16_t *top = part + to_width, *below = top + to_height;
    const int blocks = to_width / RESAMPLE_LANES;
    memset(row + width, 0, 64);
    for (int y = 0; y < to_height; y++, to += to_width) {
        const uint8_t *upper = from + (size_t)top[y] * (size_t)width;
        const uint8_t *lower = upper + (top[y] + 1 < height ? width : 0);
        const int low = (below[y] * gain) >> 7;
        cascade_between(upper, lower, gain - low, low, width, row);
        row[width] = row[width - 1];
        resample_pairs(row, picks, blocks, pairs);
        for (int x = blocks * RESAMPLE_LANES; x < to_width; x++)
            pairs[x] = (uint16_t)(row[left[x]] | row[left[x] + 1] << 8);
        cascade_mix(pairs, part, to_width, to);
    }
}

/* All planes of a level; the core does what shuffles cannot. */
static void resample_planes(const uint8_t *from, int width, int height, uint8_t *to, int to_width, int to_height,
                            int planes, const int *gains, uint16_t *scratch) {
    const size_t size = (size_t)width * (size_t)height, to_size = (size_t)to_width * (size_t)to_height;
    resample_pick picks[RESAMPLE_WIDEST / RESAMPLE_LANES];
    cascade_plan(width, height, to_width, to_height, scratch);
    const int fast = width <= RESAMPLE_WIDEST && to_width <= RESAMPLE_WIDEST && __builtin_cpu_supports("ssse3") &&
                     resample_picks(scratch + width + 1 + to_width, to_width, picks);
    for (int plane = 0; plane < planes; plane++, from += size, to += to_size)
        if (fast)
            resample_plane(from, width, height, to, to_width, to_height, gains[plane], scratch, picks);
        else
            cascade_resample(from, width, height, to, to_width, to_height, gains[plane], scratch);
}

#else

static void resample_planes(const uint8_t *from, int width, int height, uint8_t *to, int to_width, int to_height,
                            int planes, const int *gains, uint16_t *scratch) {
    const size_t size = (size_t)width * (size_t)height, to_size = (size_t)to_width * (size_t)to_height;
    cascade_plan(width, height, to_width, to_height, scratch);
    for (int plane = 0; plane < planes; plane++, from += size, to += to_size)
        cascade_resample(from, width, height, to, to_width, to_height, gains[plane], scratch);
}

#endif
#endif
