#include "@name@.h"

#include "@name@_tables.h"

size_t @name@_ram_bytes(int format, int width, int height) {
    if (!cascade_possible(&@name@_search, format, width, height)) return 0;
    return cascade_room(&@name@_model, &@name@_search, format, width, height);
}

int @name@_find(const uint8_t *frame, int format, int width, int height, void *memory, size_t bytes,
                @name@_object *objects, int most) {
    cascade_found found;
    const int outcome =
        cascade_find(&@name@_model, &@name@_search, frame, format, width, height, memory, bytes, &found);
    if (outcome != CASCADE_DONE) return -outcome;
    const int count = cascade_least(found.count, most);
    for (int i = 0; i < count; i++) {
        const cascade_box box = found.objects[i].box;
        const @name@_object object = {box.left, box.top, box.right, box.bottom, found.objects[i].score};
        objects[i] = object;
    }
    return count;
}
