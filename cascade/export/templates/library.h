/* @title@: finds @class@ in frames of a camera. For C and C++. Written by cascade @version@; do not edit. */
#ifndef @NAME@_LIBRARY_H
#define @NAME@_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Pixels of a frame, without gaps between rows: grey levels; blue, green, red; or 16 bits with the low byte first, or
 * with the high byte first, as the cameras of most ESP32 boards have it. */
enum { @NAME@_GREY, @NAME@_BGR, @NAME@_RGB565, @NAME@_RGB565_SWAPPED };

typedef struct {
    int32_t left, top, right, bottom; /* pixels of the frame */
    int32_t score;
} @name@_object;

/* Bytes of memory beside a grey frame of this size, and beside one of another format. */
@ram@

/* The same for any frame; 0 if it is too large. */
size_t @name@_ram_bytes(int format, int width, int height);

/* Find objects, best first, `most` at most; returns how many. Below 0: -1 the frame is not one, -2 the memory is too
 * small or not aligned for uint32_t. */
int @name@_find(const uint8_t *frame, int format, int width, int height, void *memory, size_t bytes,
                @name@_object *objects, int most);

/* 0 if this build finds what it must, to the last bit; takes @selftest@ bytes of RAM if it is called anywhere. */
int @name@_selftest(void);

#ifdef __cplusplus
}
#endif

#endif
