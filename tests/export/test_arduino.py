"""The Arduino library: what three tool chains look for, and a sketch in C++ that finds the same."""

import io
import json
import shutil
import subprocess
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from cascade.export import arduino
from tests.export import device

ARDUINO = """
#include <cstdio>
static struct {
    void begin(long) {}
    void print(char text) { std::putchar(text); }
    void print(const char *text) { std::fputs(text, stdout); }
    void print(int number) { std::printf("%d", number); }
    void print(long number) { std::printf("%ld", number); }
    void println(long number) { std::printf("%ld\\n", number); }
} Serial;
"""
MAIN = """
#include <fstream>
int main() {
    std::ifstream("frame.raw", std::ios::binary).read(reinterpret_cast<char *>(frame), sizeof frame);
    setup();
    loop();
    return device_selftest();
}
"""


@pytest.fixture
def unpacked(tmp_path):
    exported = device.models()[0]
    model = replace(exported.model, name="Device")
    data = arduino.archive(model, arduino.library(model, exported.search))
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        assert file.testzip() is None
        file.extractall(tmp_path)
    return tmp_path / "cascade_device", model, exported.search


def test_layout(unpacked):
    folder, _, _ = unpacked
    properties = dict(line.split("=", 1) for line in (folder / "library.properties").read_text().splitlines())
    needed = "name version author maintainer sentence paragraph category url architectures"
    assert set(needed.split()) <= set(properties)
    assert (folder / "src" / properties["includes"]).is_file()
    facts = json.loads((folder / "library.json").read_text())
    assert facts["name"] == properties["name"] == folder.name
    for source in (folder / "CMakeLists.txt").read_text().split('"')[1:-2:2]:
        assert (folder / source).is_file()
    assert (folder / "idf_component.yml").read_text().startswith('version: "')


def test_the_sketch_finds_the_same(unpacked):
    if shutil.which("g++") is None:
        pytest.skip("needs g++")
    folder, model, search = unpacked
    frame = device.photo(120, 160, 5)
    (folder / "frame.raw").write_bytes(frame.tobytes())
    (folder / "Arduino.h").write_text(ARDUINO)
    sketch = (folder / "examples" / "device_find" / "device_find.ino").read_text()
    (folder / "sketch.cpp").write_text('#include "Arduino.h"\n' + sketch + MAIN)
    sources = ["src/device.c", "src/device_selftest.c"]
    commands = [
        ["gcc", *device.STRICT, "-O1", "-c", *sources],
        ["g++", "-Wall", "-Wextra", "-Isrc", "sketch.cpp", "device.o", "device_selftest.o", "-o", "sketch"],
    ]
    for command in commands:
        ran = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr[:2000]
    ran = subprocess.run(["./sketch"], cwd=folder, capture_output=True, text=True)
    assert ran.returncode == 0
    found = search.detector(model).detect(frame)[:10]
    rows = np.column_stack([found.xyxy.astype(int), found.score]).tolist()
    assert rows
    assert ran.stdout.splitlines() == [f"{a} {b} {c} {d} score {score}" for a, b, c, d, score in rows]


def test_same_model_same_bytes():
    one, *_ = device.models()
    first, second = (arduino.archive(one.model, arduino.library(one.model, one.search)) for _ in range(2))
    assert first == second
