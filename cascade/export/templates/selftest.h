/* Whether this build of the detector finds what it must, to the last bit: a frame is computed and looked at. Damaged
 * tables, a wrong compiler option and a fault of the memory show here. */
#ifndef @NAME@_SELFTEST_H
#define @NAME@_SELFTEST_H

#include "@name@.h"

#define @NAME@_SELFTEST_WIDTH @width@
#define @NAME@_SELFTEST_HEIGHT @height@

static uint8_t @name@_selftest_frame[@NAME@_SELFTEST_WIDTH * @NAME@_SELFTEST_HEIGHT];
static uint32_t @name@_selftest_memory[@NAME@_RAM_BYTES(@NAME@_SELFTEST_WIDTH, @NAME@_SELFTEST_HEIGHT) / 4];

/* What the first trees of the model find. */
typedef struct {
    uint16_t trees;
    int count;
    uint64_t visits;
    int objects;
    cascade_object best[@most@];
} @name@_answer;

static const @name@_answer @name@_answers[@count@] = {
@answers@
};

/* Rings and stripes under noise. */
static void @name@_selftest_draw(void) {
    uint32_t state = 1, at = 0;
    for (uint32_t y = 0; y < @NAME@_SELFTEST_HEIGHT; y++)
        for (uint32_t x = 0; x < @NAME@_SELFTEST_WIDTH; x++) {
            const uint32_t pattern = (x * x + 3u * y * y) / 16u + 8u * ((x / 5u) ^ (y / 7u));
            state = state * 1664525u + 1013904223u;
            @name@_selftest_frame[at++] = (uint8_t)((pattern & 255u) * 7u / 8u + (state >> 27));
        }
}

/* 0 if all is well, else the number of the answer that differs. */
static int @name@_selftest(void) {
    @name@_selftest_draw();
    for (int i = 0; i < @count@; i++) {
        const @name@_answer *answer = @name@_answers + i;
        cascade_model part = @name@_model;
        cascade_found found;
        part.trees = answer->trees;
        if (cascade_find(&part, &@name@_search, @name@_selftest_frame, CASCADE_GREY, @NAME@_SELFTEST_WIDTH,
                         @NAME@_SELFTEST_HEIGHT, @name@_selftest_memory, sizeof @name@_selftest_memory,
                         &found) != CASCADE_DONE)
            return i + 1;
        if (found.count != answer->count || found.visits != answer->visits) return i + 1;
        for (int k = 0; k < answer->objects; k++) {
            const cascade_object *a = found.objects + k, *b = answer->best + k;
            if (cascade_better(a, b) || cascade_better(b, a)) return i + 1;
        }
    }
    return 0;
}

#endif
