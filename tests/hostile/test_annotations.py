"""Annotation files from strangers: whatever is in them, there is a dataset or a sentence, and that soon.

Each format starts from a small sound folder, whose annotation file is then cut, changed and replaced.
"""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from cascade.dataset import DatasetError, load
from tests.dataset.pictures import text, vec, voc, write

DLIB = "<dataset><image file='{}'><box top='2' left='1' width='30' height='20'/></image></dataset>"
COCO = {
    "images": [{"id": 1, "file_name": "a.png"}],
    "annotations": [{"image_id": 1, "category_id": 1, "bbox": [1, 2, 30, 20]}],
    "categories": [{"id": 1, "name": "cat"}],
}


def coco(file: str) -> str:
    return json.dumps({**COCO, "images": [{"id": 1, "file_name": file}]})


# The annotation file of each format, and its content for a picture of some name.
FORMATS: dict[str, tuple[str, Callable[[str], str]]] = {
    "voc": ("a.xml", lambda file: voc(file, (1, 2, 31, 22))),
    "coco": ("a.json", coco),
    "yolo": ("data.yaml", lambda file: f"train: {file}\nnames: [cat]\n"),
    "dlib": ("list.xml", DLIB.format),
    "opencv": ("info.txt", lambda file: f"{file} 1 1 2 30 20\n"),
    "csv": ("a.csv", lambda file: f"file,x,y,w,h\n{file},1,2,30,20\n"),
}


def outcome(folder: Path, format: str | None) -> str:
    """What came of it, in words; anything but a dataset or a DatasetError fails the test."""
    started = time.perf_counter()
    try:
        data = load(folder, format)
        result = " ".join(f"{path}: {sentence}" for path, sentence in data.problems)
        assert all(os.path.realpath(s.path).startswith(os.path.realpath(folder)) for s in data.samples)
        assert all(np.isfinite([b.x, b.y, b.width, b.height]).all() for s in data.samples for b in s.boxes)
    except DatasetError as error:
        result = str(error)
    assert time.perf_counter() - started < 5
    return result


@pytest.mark.parametrize("format", FORMATS)
def test_cut_anywhere(format, tmp_path):
    write(tmp_path / "a.png")
    name, content = FORMATS[format]
    data = content("." if format == "yolo" else "a.png").encode()
    for length in range(len(data)):
        (tmp_path / name).write_bytes(data[:length])
        outcome(tmp_path, None)
        if length % 10 == 0:
            outcome(tmp_path, format)


@pytest.mark.parametrize("format", FORMATS)
def test_changed_anywhere(format, tmp_path):
    write(tmp_path / "a.png")
    name, content = FORMATS[format]
    data = content("." if format == "yolo" else "a.png").encode()
    random = np.random.default_rng(0)
    for _ in range(150):
        changed = bytearray(data)
        for place in random.integers(0, len(data), 2):
            changed[place] = random.choice([0, 9, 10, 34, 39, 45, 48, 57, 60, 91, 123, 0xE9, 0xFF])
        (tmp_path / name).write_bytes(changed)
        outcome(tmp_path, format)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("number", ["nan", "inf", "-1e999", "1e308", "9" * 5000, "0x10", "", "-", "1_0", "٣"])
def test_strange_numbers(format, number, tmp_path):
    write(tmp_path / "a.png")
    name, content = FORMATS[format]
    if format == "yolo":
        text(tmp_path / "a.txt", f"0 0.5 0.5 {number} 0.5\n")
        text(tmp_path / name, content("."))
    else:
        text(tmp_path / name, content("a.png").replace("30", number).replace("31", number))
    said = outcome(tmp_path, format)
    assert said or number in ("1_0", "٣", "")  # what Python takes for a number may be one


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(
    "path", ["../secret.png", "sub/../../secret.png", "ABSOLUTE", "link.png", "folder/secret.png"]
)
def test_paths_cannot_leave(format, path, tmp_path):
    inside = tmp_path / "data"
    secret = write(tmp_path / "secret.png", 5)
    write(inside / "sub/other.png", 6)
    (inside / "link.png").symlink_to(secret)
    (inside / "folder").symlink_to(tmp_path)
    name, content = FORMATS[format]
    file = str(secret) if path == "ABSOLUTE" else path
    if format == "yolo":
        text(inside / "all.txt", file)
        file = "all.txt"
    text(inside / name, content(file))
    assert outcome(inside, format)  # a sentence


def test_links_in_scanned_folders_cannot_leave(tmp_path):
    write(tmp_path / "secret.png", 5)
    write(tmp_path / "data/pos/a.png", 6)
    (tmp_path / "data/pos/b.png").symlink_to(tmp_path / "secret.png")
    (tmp_path / "data/pos/loop").symlink_to(tmp_path / "data")
    data = load(tmp_path / "data")
    assert [sample.path.name for sample in data.samples] == ["a.png"]
    assert [(p.path.name, p.sentence.partition(":")[0]) for p in data.problems] == [
        ("loop", "is a link to a folder, which is not followed"),
        ("b.png", "is a link that leads out of the data folder"),
    ]


LAUGHS = "".join(f'<!ENTITY l{i + 1} "{f"&l{i};" * 10}">' for i in range(9))
DOCTYPES = [
    f'<!DOCTYPE ROOT [<!ENTITY l0 "ha">{LAUGHS}]>',
    "<!DOCTYPE ROOT>",
    '<!DOCTYPE ROOT SYSTEM "file:///etc/passwd">',
    '<!DOCTYPE ROOT [<!ENTITY l9 SYSTEM "file:///etc/passwd">]>',
    '<!DOCTYPE ROOT [<!ENTITY % x SYSTEM "http://localhost/x.dtd"> %x;]>',
    '<!DOCTYPE ROOT [<!ENTITY l9 "' + "y" * 100_000 + '">]>',
]


@pytest.mark.parametrize("doctype", DOCTYPES)
@pytest.mark.parametrize("format", ["voc", "dlib"])
def test_document_types_are_refused(format, doctype, tmp_path):
    write(tmp_path / "a.png")
    name, content = FORMATS[format]
    root = {"voc": "annotation", "dlib": "dataset"}[format]
    start = content("a.png").replace(f"<{root}>", f"<{root} x='&l9;'>&l9;")
    text(tmp_path / name, doctype.replace("ROOT", root) + start)
    assert "document type" in outcome(tmp_path, None)


@pytest.mark.parametrize(
    "content",
    [
        "[" * 100_000,
        '{"images": ' + "[" * 100_000,
        '{"images":' * 50_000,
        '{"images": 5, "annotations": {}, "file_name": 0}',
        '{"images": [5], "annotations": [], "file_name": 0}',
        '{"images": [{"id": [], "file_name": {}}], "annotations": []}',
        '{"images": [{"id": 1, "file_name": "a.png"}], "annotations": [{"bbox": NaN}]}',
        '{"images": [{"id": ' + "9" * 5000 + ', "file_name": "a.png"}], "annotations": []}',
        '{"images": [{"id": 1, "file_name": "a\\u0000.png"}], "annotations": []}',
        '{"images": [{"id": 1, "file_name": "' + "a" * 100_000 + '"}], "annotations": []}',
        '{"images": [{"id": 1, "file_name": "a.png"}], "annotations": [], "categories": null}',
        '{"images": [{"id": 1, "file_name": "\\ud800.png"}], "annotations": []}',
    ],
)
def test_strange_json(content, tmp_path):
    write(tmp_path / "a.png")
    text(tmp_path / "a.json", content)
    outcome(tmp_path, None)
    assert outcome(tmp_path, "coco")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.xml", "<a>" * 100_000),
        ("b.xml", "<annotation><filename>" + "a" * 1_000_000 + "</filename></annotation>"),
        ("a.xml", "<?xml version='1.0' encoding='no-such'?><annotation/>"),
        ("a.xml", "<?xml version='1.0' encoding='utf-16'?><annotation/>"),
        ("a.xml", "<annotation " + " ".join(f"a{i}='1'" for i in range(50_000)) + "/>"),
        ("a.csv", "file,x,y,w,h\n" + '"' + "a" * 300_000),
        ("a.csv", "file,x,y,w,h\na\0.png,1,2,3,4\n"),
        ("a.csv", "file,x,y,w,h\n" + "," * 200_000),
        ("data.yaml", "train: " + "[" * 100_000),
        ("data.yaml", "names:\n" + "  - 'a\n" * 1000),
        ("data.yaml", "train: x\nnames: [" + "a, " * 100_000),
        ("data.yaml", "names: [" + "'" * 30_000),
        ("data.yaml", "names:\n" + " " * 50_000 + ":\n"),
        ("data.yaml", "names:\n  " + "a" * 50_000 + "\n"),
        ("data.yaml", "names:\n  a" + " " * 100_000 + "b\n"),
        ("info.txt", "a.png " + "1 " * 100_000),
        ("info.txt", "a.png 999999999999999999999 1 2 3 4"),
        ("a.vec", "\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\0\0\0\0"),
        ("a.vec", "short"),
    ],
)
def test_strange_text(name, content, tmp_path):
    write(tmp_path / "a.png")
    text(tmp_path / name, content)
    assert outcome(tmp_path, None)


def test_cut_vec(tmp_path):
    data = vec(np.arange(3 * 64).reshape(3, 8, 8))
    for length in range(0, len(data), 5):
        (tmp_path / "a.vec").write_bytes(data[:length])
        assert outcome(tmp_path, None)
    (tmp_path / "a.vec").write_bytes(data)
    assert not outcome(tmp_path, None)


def test_names_that_are_not_utf8(tmp_path):
    write(tmp_path / "pos/a.png")
    os.rename(tmp_path / "pos/a.png", os.fsencode(tmp_path / "pos") + b"/\xff\x1b[31m.png")
    data = load(tmp_path)
    assert len(data.samples) == 1
    assert data.digest()
    assert data.samples[0].read().shape == (40, 60, 3)


def test_folders_in_folders(tmp_path):
    deep = tmp_path
    for _ in range(60):
        deep = deep / "pos"
    write(deep / "a.png")
    write(tmp_path / "pos/b.png")
    data = load(tmp_path)
    assert [sample.path.name for sample in data.samples] == ["b.png"]
    assert "folders deep" in data.problems[0].sentence
