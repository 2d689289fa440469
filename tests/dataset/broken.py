"""A folder of crops and negatives of which a tenth is broken in a dozen ways.

    python -m tests.dataset.broken 10000      makes one, checks it, and says what that took
"""

import os
import resource
import struct
import sys
import tempfile
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np

from cascade.dataset import load
from cascade.dataset.images import hush
from cascade.dataset.preflight import check
from tests.dataset.pictures import encoded

MOST_MEMORY = 1 << 29  # bytes; a PNG bomb alone asks for five times that


def _bomb(rows: int) -> bytes:
    """A PNG of 30000 x 30000 black pixels, or the first rows of it; whole, it has a hundred kilobytes."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    packer = zlib.compressobj(9)
    pixels = b"".join(packer.compress(bytes(30001)) for _ in range(rows)) + packer.flush()
    head = struct.pack(">IIBBBBB", 30000, 30000, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def _damaged(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 0xFF]) + data[middle + 1 :]


def _zero_tail(data: bytes) -> bytes:
    return data[: len(data) // 2] + bytes(len(data) - len(data) // 2)


# What becomes of a sound JPEG and a sound PNG, and under which ending.
WAYS: dict[str, tuple[str, Callable[[bytes, bytes], bytes]]] = {
    "cut to a tenth": (".jpg", lambda jpeg, png: jpeg[: len(jpeg) // 10]),
    "cut in the middle": (".jpg", lambda jpeg, png: jpeg[: len(jpeg) // 2]),
    "end missing": (".jpg", lambda jpeg, png: jpeg[:-2]),
    "second half zero": (".jpg", lambda jpeg, png: _zero_tail(jpeg)),
    "cut PNG": (".png", lambda jpeg, png: png[: len(png) // 2]),
    "damaged PNG": (".png", lambda jpeg, png: _damaged(png)),
    "empty": (".jpg", lambda jpeg, png: b""),
    "zero bytes": (".png", lambda jpeg, png: bytes(1000)),
    "wrong ending": (".jpg", lambda jpeg, png: png),
    "text": (".jpg", lambda jpeg, png: b"this is not a picture\n"),
    "error page": (".png", lambda jpeg, png: b"<!DOCTYPE html><html>404</html>"),
    "cut PGM": (".pgm", lambda jpeg, png: b"P5\n40 40\n255\n" + bytes(1000)),
    "GIF": (".gif", lambda jpeg, png: b"GIF89a\1\0\1\0\0\0\0,\0\0\0\0\1\0\1\0\0\2\2D\1\0;"),
}
OTHERS = ("bomb", "folder", "loop", "nowhere", "pipe")


def make_folder(root: Path, count: int, rows: int = 10) -> tuple[set[str], set[str]]:
    """Write so many pictures, bombs with so many rows; the names of the sound and of the broken ones."""
    random = np.random.default_rng(0)
    bomb = _bomb(rows)
    sound, broken = set(), set()
    for kind in ("pos", "neg"):
        (root / kind).mkdir(parents=True)
    ways = [*WAYS, *OTHERS]
    for i in range(count):
        image = random.integers(0, 256, (32, 32, 3), dtype=np.uint8)
        stem = f"{'pos' if i % 3 else 'neg'}/{i:05}"
        if i % 10 != 7:
            suffix = (".jpg", ".png", ".bmp", ".ppm", ".webp")[i % 5]
            (root / f"{stem}{suffix}").write_bytes(encoded(suffix, image))
            sound.add(f"{stem}{suffix}")
            continue
        way = ways[i // 10 % len(ways)]
        suffix = WAYS[way][0] if way in WAYS else ".png"
        path = root / f"{stem}{suffix}"
        broken.add(f"{stem}{suffix}")
        if way in WAYS:
            path.write_bytes(WAYS[way][1](encoded(".jpg", image), encoded(".png", image)))
        else:
            _strange(way, path, bomb)
    return sound, broken


def _strange(way: str, path: Path, bomb: bytes) -> None:
    if way == "bomb":
        path.write_bytes(bomb)
    elif way == "folder":
        path.mkdir()
    elif way == "loop":
        path.symlink_to(path.name)
    elif way == "nowhere":
        path.symlink_to("not-there.png")
    else:
        os.mkfifo(path)


def main(count: int) -> int:
    hush()
    with tempfile.TemporaryDirectory() as name:
        root = Path(name) / "data"
        sound, broken = make_folder(root, count, rows=30000)
        started = time.perf_counter()
        report = check(load(root))
        seconds = time.perf_counter() - started
        named = {path.relative_to(root).as_posix() for path, _ in report.unreadable}
        used = {sample.path.relative_to(root).as_posix() for sample in report.usable.samples}
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(f"{len(broken)} of {count} pictures are broken; {len(broken & named)} of those are named,")
    print(f"and {len(sound & named)} others; {seconds:.1f} s, {memory >> 20} MB at most")
    return 0 if named == broken and used == sound and memory < MOST_MEMORY else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
