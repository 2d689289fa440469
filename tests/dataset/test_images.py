"""Pictures: every kind is read as it was written, whatever is cut or too large is refused with a sentence."""

import os
import struct
import time
import zlib
from contextlib import suppress

import cv2
import numpy as np
import pytest

from cascade.dataset.images import MOST_PIXELS, ImageError, image_size, read_image
from tests.dataset.pictures import COLOUR, GREY, encoded, exif, with_exif

ALPHA = np.dstack([COLOUR, GREY])
DEEP = GREY.astype(np.uint16) << 8 | 200
BITS = (GREY > 100).astype(np.uint8) * 255
TEXT = (cv2.IMWRITE_PXM_BINARY, 0)
LOSSLESS = {
    "grey.png": (GREY, GREY), "colour.png": (COLOUR, COLOUR), "alpha.png": (ALPHA, COLOUR),
    "deep.png": (DEEP, GREY),
    "grey.bmp": (GREY, GREY), "colour.bmp": (COLOUR, COLOUR), "alpha.bmp": (ALPHA, COLOUR),
    "grey.pgm": (GREY, GREY), "text.pgm": (GREY, GREY, *TEXT), "deep.pgm": (DEEP, GREY),
    "colour.ppm": (COLOUR, COLOUR), "text.ppm": (COLOUR, COLOUR, *TEXT),
    "bits.pbm": (BITS, BITS), "text.pbm": (BITS, BITS, *TEXT),
    "grey.tif": (GREY, GREY), "colour.tiff": (COLOUR, COLOUR), "deep.tif": (DEEP, GREY),
    "plain.tif": (COLOUR, COLOUR, cv2.IMWRITE_TIFF_COMPRESSION, 1),
    "colour.webp": (COLOUR, COLOUR, cv2.IMWRITE_WEBP_QUALITY, 101),
}  # fmt: skip
LOSSY = {
    "grey.jpg": (GREY,), "colour.jpeg": (COLOUR,),
    "progressive.jpg": (COLOUR, cv2.IMWRITE_JPEG_PROGRESSIVE, 1),
    "restart.jpg": (COLOUR, cv2.IMWRITE_JPEG_RST_INTERVAL, 1),
    "lossy.webp": (COLOUR, cv2.IMWRITE_WEBP_QUALITY, 90),
}  # fmt: skip


def file_of(folder, name):
    image, *options = LOSSY[name] if name in LOSSY else (LOSSLESS[name][0], *LOSSLESS[name][2:])
    path = folder / name
    path.write_bytes(encoded(path.suffix, image, *options))
    return path


def sentence(path):
    with pytest.raises(ImageError) as error:
        read_image(path)
    assert str(path) in str(error.value)
    assert error.value.path == path
    return error.value.sentence


@pytest.mark.parametrize("name", LOSSLESS)
def test_read_as_written(name, tmp_path):
    path = file_of(tmp_path, name)
    image = read_image(path)
    assert image.dtype == np.uint8
    np.testing.assert_array_equal(image, LOSSLESS[name][1])
    assert image_size(path) == (13, 9)


@pytest.mark.parametrize("name", LOSSY)
def test_lossy_kinds_are_as_the_decoder_has_them(name, tmp_path):
    path = file_of(tmp_path, name)
    image = read_image(path)
    np.testing.assert_array_equal(image, cv2.imread(str(path), cv2.IMREAD_ANYCOLOR))
    assert image.shape[:2] == (9, 13)
    assert image_size(path) == (13, 9)


@pytest.mark.parametrize("name", [*LOSSLESS, *LOSSY])
def test_cut_anywhere_is_found(name, tmp_path):
    """Or nothing of the picture was cut off: the last line end of a text, tags behind the pixels."""
    path = file_of(tmp_path, name)
    data, whole = path.read_bytes(), read_image(path)
    accepted = 0
    step = 1 + len(data) // 100
    for length in {*range(0, len(data), step), *range(len(data) - 10, len(data))}:
        path.write_bytes(data[:length])
        try:
            image = read_image(path)
        except ImageError:
            continue
        accepted += 1
        if not name.startswith("text"):
            np.testing.assert_array_equal(image, whole)
    assert accepted <= 4


@pytest.mark.parametrize("name", [*LOSSLESS, *LOSSY])
def test_cut_is_found_without_the_decoder(name, tmp_path, monkeypatch):
    """Some releases of the decoder take whatever there is."""
    blank = np.zeros((9, 13), np.uint8)
    monkeypatch.setattr("cascade.dataset.images._decoded", lambda data, head: blank)
    path = file_of(tmp_path, name)
    data = path.read_bytes()
    for length in {len(data) * tenths // 10 for tenths in range(10)} | {len(data) - 10}:
        path.write_bytes(data[:length])
        sentence(path)


@pytest.mark.parametrize("name", ["grey.png", "colour.png", "deep.png"])
def test_damaged_png_is_found(name, tmp_path):
    path = file_of(tmp_path, name)
    data = path.read_bytes()
    for place in range(0, len(data), 3):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        sentence(path)


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("order", ["<", ">"])
def test_turned_as_exif_says(orientation, order, tmp_path):
    path = tmp_path / "turned.jpg"
    path.write_bytes(with_exif(encoded(".jpg"), exif(orientation, order)))
    image = read_image(path)
    np.testing.assert_array_equal(image, cv2.imread(str(path)))  # which turns JPEG too
    assert image_size(path) == image.shape[1::-1]
    assert image.shape[:2] == ((13, 9) if orientation > 4 else (9, 13))


def test_exif_in_png_and_webp(tmp_path):
    note = exif(6)
    chunk = struct.pack(">I4s", len(note), b"eXIf") + note + struct.pack(">I", zlib.crc32(b"eXIf" + note))
    data = encoded(".png")
    (tmp_path / "a.png").write_bytes(data[:33] + chunk + data[33:])  # behind the head
    lossless = encoded(".webp", COLOUR, cv2.IMWRITE_WEBP_QUALITY, 101)[12:]
    head = struct.pack("<4sIB3x3s3s", b"VP8X", 10, 8, (12).to_bytes(3, "little"), (8).to_bytes(3, "little"))
    body = b"WEBP" + head + lossless + struct.pack("<4sI", b"EXIF", len(note)) + note
    (tmp_path / "a.webp").write_bytes(b"RIFF" + struct.pack("<I", len(body)) + body)
    for name in ("a.png", "a.webp"):
        np.testing.assert_array_equal(read_image(tmp_path / name), np.rot90(COLOUR, -1))
        assert image_size(tmp_path / name) == (9, 13)


@pytest.mark.parametrize("note", [b"", b"II*\0", exif(9), exif(0), b"II*\0" + b"\xff" * 30, exif(6)[:-8]])
def test_a_broken_note_does_not_turn_the_picture(note, tmp_path):
    path = tmp_path / "a.jpg"
    path.write_bytes(with_exif(encoded(".jpg"), note))
    assert read_image(path).shape == (9, 13, 3)


def png_of(width, height):
    head = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunk = struct.pack(">I", 13) + head + struct.pack(">I", zlib.crc32(head))
    return b"\x89PNG\r\n\x1a\n" + chunk + b"\0\0\0\0IEND\xaeB`\x82"


BOMBS = {
    "bomb.png": png_of(30000, 30000),
    "bomb.jpg": b"\xff\xd8\xff\xc0\x00\x11\x08\xff\xff\xff\xff\x03" + bytes(20),
    "bomb.bmp": b"BM" + struct.pack("<IIIIiiHHI", 0, 0, 54, 40, 30000, -30000, 1, 24, 0) + bytes(20),
    "bomb.pgm": b"P5 30000 30000 255 ",
    "bomb.tif": b"II*\0" + struct.pack("<IHHHIIHHII", 8, 2, 256, 4, 1, 30000, 257, 4, 1, 30000) + bytes(4),
    "bomb.webp": b"RIFF\xff\xff\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0" + b"\xff\xff\xff" * 2 + bytes(20),
}


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_are_refused_before_decoding(name, tmp_path, monkeypatch):
    monkeypatch.setattr(cv2, "imdecode", lambda *_: pytest.fail("decoded"))
    path = tmp_path / name
    path.write_bytes(BOMBS[name])
    assert "at most 100 million are read" in sentence(path)
    assert MOST_PIXELS == 100_000_000


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("a.jpg", b"", "empty"),
        ("a.jpg", bytes(500), "zero bytes"),
        ("a.jpg", b"hello, I am a picture", "but text"),
        ("a.jpg", b"<html><body>404", "HTML"),
        ("a.jpg", b"GIF89a" + bytes(50), "GIF"),
        ("a.jpg", b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
        ("a.png", encoded(".jpg"), "holds a JPEG picture, but its name ends in .png: rename it to .jpg"),
        ("a.png", png_of(0, 5), "0 x 5"),
        ("a.png", png_of(5, 5), "without a picture"),
        ("a.jpg", b"\xff\xd8\xff\xd9", "without a picture"),
        ("a.pgm", b"P5 4 4 70000 " + bytes(50), "70000"),
        ("a.tif", encoded(".tif", GREY.astype(np.float32)), "float32"),
        ("a.bmp", b"BM" + struct.pack("<IIIIiiHHI", 0, 0, 54, 40, 4, 4, 1, 77, 0) + bytes(500), "decoded"),
    ],
)
def test_what_is_no_picture_is_named(name, data, says, tmp_path):
    path = tmp_path / name
    path.write_bytes(data)
    assert says in sentence(path)


def test_what_is_no_file_is_named(tmp_path):
    (tmp_path / "folder.jpg").mkdir()
    os.mkfifo(tmp_path / "pipe.jpg")
    os.symlink(tmp_path / "b.jpg", tmp_path / "a.jpg")
    os.symlink(tmp_path / "a.jpg", tmp_path / "b.jpg")
    os.symlink(tmp_path / "nothing", tmp_path / "c.jpg")
    for name, says in {
        "folder.jpg": "is a folder", "pipe.jpg": "regular", "a.jpg": "circle",
        "c.jpg": "link to a file that is not there", "none.jpg": "is not there",
        "nul\0.jpg": "a name that no file can have", "x" * 300: "cannot be read",
    }.items():  # fmt: skip
        assert says in sentence(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.jpg", b"\xff\xd8" + b"\xff" * 20_000_000),
        ("a.jpg", b"\xff\xd8" + b"\xff\xe0\0\2" * 5_000_000),
        ("a.pgm", b"P5" + b" " * 20_000_000),
        ("a.pgm", b"P5 1" + b"#\n" * 10_000_000),
        ("a.png", b"\x89PNG\r\n\x1a\n" + encoded(".png")[8:33] + b"\0\0\0\0abcd\0\0\0\0" * 1_000_000),
    ],
)
def test_endless_heads_are_left_soon(name, data, tmp_path):
    (tmp_path / name).write_bytes(data)
    started = time.perf_counter()
    sentence(tmp_path / name)
    assert time.perf_counter() - started < 2


def test_too_many_scans(tmp_path):
    data = encoded(".jpg", COLOUR, cv2.IMWRITE_JPEG_PROGRESSIVE, 1)
    scan = data.rindex(b"\xff\xda")
    (tmp_path / "a.jpg").write_bytes(data[:scan] + data[scan:-2] * 300 + data[-2:])
    assert "scans" in sentence(tmp_path / "a.jpg")


@pytest.mark.parametrize("name", ["grey.bmp", "grey.pgm", "grey.tif", "colour.jpeg", "colour.webp"])
def test_damage_never_gets_out(name, tmp_path):
    """Whatever byte is changed, there is a picture of bytes or an ImageError."""
    path = file_of(tmp_path, name)
    data = bytearray(path.read_bytes())
    random = np.random.default_rng(0)
    for _ in range(100):
        changed = data.copy()
        for place in random.integers(0, min(len(data), 200), 3):
            changed[place] = random.integers(256)
        path.write_bytes(changed)
        with suppress(ImageError):
            assert read_image(path).dtype == np.uint8
