"""Small pictures and data folders for the tests of data in."""

import struct
from pathlib import Path

import cv2
import numpy as np

GREY = np.add.outer(7 * np.arange(9), 11 * np.arange(13)).astype(np.uint8)  # 13 wide, 9 high
COLOUR = np.dstack([GREY, GREY[::-1], GREY[:, ::-1]])


def encoded(suffix: str, image=COLOUR, *options: int) -> bytes:
    return cv2.imencode(suffix, image, options)[1].tobytes()


def write(path: Path, seed: int = 0, size: tuple[int, int] = (60, 40)) -> Path:
    """A picture of its own for each seed; the ending of the name says what kind."""
    path.parent.mkdir(parents=True, exist_ok=True)
    width, height = size
    image = np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)
    path.write_bytes(encoded(path.suffix, image))
    return path


def text(path: Path, content: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    return path


def exif(orientation: int, order: str = "<") -> bytes:
    """A note with one tag."""
    start = b"II*\0" if order == "<" else b"MM\0*"
    return start + struct.pack(order + "IHHHIHHI", 8, 1, 274, 3, 1, orientation, 0, 0)


def with_exif(jpeg: bytes, note: bytes) -> bytes:
    body = b"Exif\0\0" + note
    return jpeg[:2] + b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body + jpeg[2:]


def vec(crops: np.ndarray) -> bytes:
    """OpenCV's .vec of crops (n, h, w)."""
    rows = crops.reshape(len(crops), -1).astype("<i2")
    return struct.pack("<iihh", *rows.shape, 0, 0) + b"".join(b"\0" + row.tobytes() for row in rows)


VOC = """<annotation><folder>x</folder><filename>{file}</filename>
<size><width>{width}</width><height>{height}</height><depth>3</depth></size>
{objects}</annotation>"""
VOC_OBJECT = """<object><name>{name}</name><difficult>{difficult}</difficult><bndbox><xmin>{0}</xmin>
<ymin>{1}</ymin><xmax>{2}</xmax><ymax>{3}</ymax></bndbox></object>"""


def voc(file: str, *corners: tuple[float, ...], name="cat", difficult=0, size=(60, 40)) -> str:
    objects = "".join(VOC_OBJECT.format(*one, name=name, difficult=difficult) for one in corners)
    return VOC.format(file=file, width=size[0], height=size[1], objects=objects)
