// Find objects in a grey frame of 160 x 120 pixels, and print where they are.
#include <@name@.h>

static uint8_t frame[160 * 120];
static uint32_t memory[@NAME@_RAM_BYTES_160X120 / 4];

void setup() {
  Serial.begin(115200);
  // To be sure of compiler and memory, once: Serial.println(@name@_selftest());
}

void loop() {
  // Put a picture of your camera into `frame` here.
  @name@_object objects[10];
  const int count = @name@_find(frame, @NAME@_GREY, 160, 120, memory, sizeof memory, objects, 10);
  for (int i = 0; i < count; i++) {
    Serial.print(objects[i].left);
    Serial.print(' ');
    Serial.print(objects[i].top);
    Serial.print(' ');
    Serial.print(objects[i].right);
    Serial.print(' ');
    Serial.print(objects[i].bottom);
    Serial.print(" score ");
    Serial.println(objects[i].score);
  }
}
