"""What the exported face detector takes of a device, and how fast plain C is beside the Python detector."""

import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from cascade.channels import grey
from cascade.export.names import prefix
from cascade.export.search import Search
from cascade.export.sizes import ram_bytes
from cascade.model import Model
from tests.bench.bench_detect import photos
from tests.export import boards, device

TURNS = 9
LEAST = 40  # pixels of a face in a VGA frame
TICK = 40  # instructions
TARGETS = {
    "export_flash_kb_face": (64.0, 32.0),  # at most, all of them
    "export_ram_kb_160x120": (64.0, 60.0),
    "export_vs_python_vga": (3.0, 2.0),
}
TIMED = """
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <time.h>
#include "@name@.h"
enum { WIDTH = 640, HEIGHT = 480, FRAMES = @frames@ };
static uint8_t frames[FRAMES][WIDTH * HEIGHT];
static uint32_t memory[@NAME@_RAM_BYTES(WIDTH, HEIGHT) / 4];
int main(void) {
    FILE *file = fopen("frames.raw", "rb");
    if (!file || fread(frames, 1, sizeof frames, file) != sizeof frames) return 1;
    for (int turn = 0; turn < @turns@; turn++) {
        struct timespec start, end;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
        for (int i = 0; i < FRAMES; i++) {
            cascade_found found;
            if (cascade_find(&@name@_model, &@name@_search, frames[i], CASCADE_GREY, WIDTH, HEIGHT, memory,
                             sizeof memory, &found) != CASCADE_DONE)
                return 2;
        }
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
        printf("%.9f\\n", (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) * 1e-9);
    }
    return 0;
}
"""


def run(pictures: Path) -> dict[str, float]:
    """Every figure of the topic by name; those of a board only where its tool chain is."""
    model = Model.load("face")
    frames = [grey(frame) for frame in photos(640, 480)]
    results = {"export_ram_kb_160x120": ram_bytes(model, Search(), 160, 120) / 1024}
    with tempfile.TemporaryDirectory() as folder:
        results["export_vs_python_vga"] = plain(model, frames, Path(folder)) / python(model, frames)
    if all(map(shutil.which, (f"{boards.ARM}gcc", "qemu-system-arm"))):
        with tempfile.TemporaryDirectory() as folder:
            results |= board(model, frames, Path(folder))
    return results


def plain(model: Model, frames: list[NDArray[np.uint8]], folder: Path) -> float:
    """Seconds of processor time for all frames in C, compiled with -O3: the best turn."""
    device.write(folder, [device.Exported(model, Search(min_size=LEAST))], [])
    (folder / "frames.raw").write_bytes(b"".join(frame.tobytes() for frame in frames))
    name = prefix(model.name)
    words = {"name": name, "NAME": name.upper(), "frames": str(len(frames)), "turns": str(TURNS)}
    (folder / "timed.c").write_text(device.fill(TIMED, words))
    program = device.build(folder, ["cc", "-O3"], "timed", "timed.c")
    ran = subprocess.run([str(program)], cwd=folder, capture_output=True, text=True, check=True)
    return min(map(float, ran.stdout.split()))


def python(model: Model, frames: list[NDArray[np.uint8]]) -> float:
    """The same for the Python detector, on one thread."""
    detector = Search(min_size=LEAST).detector(model)
    times = []
    for _ in range(TURNS):
        started = time.process_time()
        for frame in frames:
            detector.detect(frame, min_size=LEAST)
        times.append(time.process_time() - started)
    return min(times)


def board(model: Model, frames: list[NDArray[np.uint8]], folder: Path) -> dict[str, float]:
    """Flash and instructions of a Cortex-M4, compiled with -Os."""
    one = device.Exported(model, Search())
    m4 = boards.Board("m4")
    flash = sum(m4.flash(folder, one))
    small = [cv2.resize(frame, (160, 120), interpolation=cv2.INTER_AREA) for frame in frames]
    device.write(folder, [one], [device.Frame(0, device.GREY, frame) for frame in small])
    found = device.results(m4.run(folder, m4.build(folder, "-Os"), counting=True))
    ticks = sum(result.ticks for result in found) / len(found)
    return {"export_flash_kb_face": flash / 1024, "export_m4_minstr_160x120": TICK * ticks / 1e6}
