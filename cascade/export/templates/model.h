/* @title@: finds @class@. Written by cascade @version@; do not edit.
 *
 * @kind@, @trees@ trees of depth @depth@, window of @window@ pixels.
 *
 * Flash: @tables@ bytes of tables (@NAME@_TABLE_BYTES) where pointers take 4, and CASCADE_CODE_BYTES of code.
 * Stack: CASCADE_STACK_BYTES. For a grey frame of @frame@, with CASCADE_BAND as it comes:
 * RAM: @ram@ bytes beside the frame (@NAME@_RAM_BYTES(width, height)).
 * Work: at most @visits@ nodes looked at (@NAME@_MOST_VISITS(width, height)).
 */
#ifndef @NAME@_H
#define @NAME@_H

#include "pipeline.h"

static const char @name@_name[] = @name_text@;
static const char @name@_class[] = @class_text@;

@arrays@

/* Bytes of memory beside a grey frame, and beside one of another format. */
#define @NAME@_BASE(side) ((int)((int64_t)(side) * @up@ / @down@))
#define @NAME@_WIDE(side, width, height) \
    ((side) + 2 * (((width) < (height) ? (width) : (height)) * @border@ >> 8))
#define @NAME@_ROOM(plain, width, height) \
    CASCADE_ROOM(@room@, plain, @NAME@_WIDE(width, width, height), \
                 @NAME@_WIDE(height, width, height), @NAME@_BASE(@NAME@_WIDE(width, width, height)), \
                 @NAME@_BASE(@NAME@_WIDE(height, width, height)))
#define @NAME@_RAM_BYTES(width, height) @NAME@_ROOM(@plain@, width, height)
#define @NAME@_COLOUR_RAM_BYTES(width, height) @NAME@_ROOM(0, width, height)
#ifndef CASCADE_RAM_BYTES /* of the first model that a program includes */
#define CASCADE_RAM_BYTES(width, height) @NAME@_RAM_BYTES(width, height)
#endif

/* Bytes of the tables above. */
#define @NAME@_TABLE_BYTES \
    (@sizes@)

/* The most nodes that are looked at in a frame: all of every window of every level. */
#define @NAME@_SPAN(cells, ratio, window) \
    (((uint64_t)(cells) * (ratio) >> 16) < (window) \
         ? 0 \
         : (((uint64_t)(cells) * (ratio) >> 16) - (window)) / @stride@ + 1)
#define @NAME@_OCTAVE(across, down) \
    (@levels@)
#define @NAME@_HALVED(times, width, height) \
    @NAME@_OCTAVE((@NAME@_BASE(@NAME@_WIDE(width, width, height)) >> (times)) / @cell@, \
                  (@NAME@_BASE(@NAME@_WIDE(height, width, height)) >> (times)) / @cell@)
#define @NAME@_MOST_VISITS(width, height) \
    (@per_window@u * \
     (@octaves@))

#endif
