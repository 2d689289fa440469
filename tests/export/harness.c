/* Run exported models over the frames in frames.bin, and print what they find: for any machine with a C library.
 *
 * frames.bin: u8 model, u8 format, u16 width, u16 height (low byte first), pixels; and again.
 */
#include <stdio.h>
#include <stdlib.h>

@includes@

typedef struct {
    const cascade_model *model;
    const cascade_search *search;
    size_t ram, colour_ram, tables;
    uint64_t visits;
} exported;

static const exported all[] = {
@models@
};

#ifdef BOARD /* an MPS2 board: its timer counts down at 25 MHz, and its stack is ours alone */
#define TICKS ((volatile uint32_t *)0x40000000)
#define SPAN 4096 /* of stack that is looked at */
#define PAINT 0xA5

/* Fill the stack below with paint; then see how much of it is gone. */
typedef volatile uint8_t stack_byte;
static stack_byte *paint(void) {
    stack_byte here = 0, *below = (stack_byte *)((uintptr_t)&here - SPAN - 64); /* this is below us, too */
    for (int i = 0; i < SPAN; i++) below[i] = PAINT;
    return below;
}

static int gone(const stack_byte *below) {
    int left = 0;
    while (left < SPAN && below[left] == PAINT) left++;
    return SPAN - left + 64;
}
#else
static uint32_t TICKS[3];
typedef uint8_t stack_byte;
static stack_byte *paint(void) { return NULL; }
static int gone(const stack_byte *below) { return below != NULL; }
#endif

__attribute__((noinline)) static int find(const exported *one, const uint8_t *frame, int format, int width, int height,
                                          void *memory, size_t bytes, cascade_found *found) {
    return cascade_find(one->model, one->search, frame, format, width, height, memory, bytes, found);
}

static void report(const exported *one, const uint8_t *frame, int format, int width, int height) {
    const size_t bytes = cascade_room(one->model, one->search, format, width, height);
    uint8_t *memory = malloc(bytes + 4);
    cascade_found found;
    if (!memory) exit(3);
    memset(memory, 0x55, bytes + 4);
    if (bytes >= 4 && find(one, frame, format, width, height, memory, bytes - 1, &found) != CASCADE_BAD_MEMORY) exit(4);
    const stack_byte *below = paint();
    const uint32_t before = TICKS[1];
    if (find(one, frame, format, width, height, memory, bytes, &found) != CASCADE_DONE) exit(5);
    const uint32_t ticks = before - TICKS[1];
    const int stack = gone(below);
    for (int i = 0; i < 4; i++)
        if (memory[bytes + (size_t)i] != 0x55) exit(6);
    printf("frame %lu %lu %lu %d %lu\n", (unsigned long)found.candidates, (unsigned long)found.visits,
           (unsigned long)bytes, stack, (unsigned long)ticks);
    for (int i = 0; i < found.count; i++) {
        const cascade_box box = found.objects[i].box;
        printf("%ld %ld %ld %ld %ld\n", (long)box.left, (long)box.top, (long)box.right, (long)box.bottom,
               (long)found.objects[i].score);
    }
    free(memory);
}

int main(void) {
    static const int sizes[] = {1, 3, 2, 2};
    uint8_t head[6];
    FILE *file = fopen("frames.bin", "rb");
    if (!file) return 1;
#ifdef BOARD
    TICKS[2] = 0xFFFFFFFFu;
    TICKS[1] = 0xFFFFFFFFu;
    TICKS[0] = 1;
#endif
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        printf("model %lu %lu %lu %lu\n", (unsigned long)all[i].ram, (unsigned long)all[i].colour_ram,
               (unsigned long)all[i].tables, (unsigned long)all[i].visits);
    while (fread(head, 1, sizeof head, file) == sizeof head) {
        const int width = head[2] | head[3] << 8, height = head[4] | head[5] << 8;
        const size_t bytes = (size_t)width * (size_t)height * (size_t)sizes[head[1]];
        uint8_t *frame = malloc(bytes + 1);
        if (!frame || fread(frame, 1, bytes, file) != bytes) return 2;
        report(all + head[0], frame, head[1], width, height);
        free(frame);
    }
    printf("end\n");
    return 0;
}
