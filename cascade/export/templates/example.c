/* Find objects in a grey frame of 160 x 120 pixels, read from standard input: the least that a program needs.
 *
 *   cc -std=c99 -O2 example.c -o example && ./example < frame.raw
 */
#include <stdio.h>

#include "@name@.h"

#define WIDTH 160
#define HEIGHT 120

static uint8_t frame[WIDTH * HEIGHT];
static uint32_t memory[@NAME@_RAM_BYTES(WIDTH, HEIGHT) / 4];

int main(void) {
    cascade_found found;
    if (fread(frame, 1, sizeof frame, stdin) != sizeof frame) return 1; /* on a device: take it from the camera */
    if (cascade_find(&@name@_model, &@name@_search, frame, CASCADE_GREY, WIDTH, HEIGHT, memory, sizeof memory,
                     &found) != CASCADE_DONE)
        return 2;
    for (int i = 0; i < found.count; i++) {
        const cascade_box box = found.objects[i].box;
        printf("%ld %ld %ld %ld score %ld\n", (long)box.left, (long)box.top, (long)box.right, (long)box.bottom,
               (long)found.objects[i].score);
    }
    return 0;
}
