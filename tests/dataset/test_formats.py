"""Each label format: small folders made here, real ones if there are, and globox as an independent reader."""

import json
import re
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from globox import AnnotationSet

from cascade.dataset import Box, DatasetError, Sample, load
from cascade.dataset.datayaml import parse
from tests.dataset.pictures import encoded, exif, text, vec, voc, with_exif, write


def boxes_of(data) -> dict[str, list[Box]]:
    return {sample.path.name: list(sample.boxes) for sample in data.samples}


def parts_of(data) -> dict[str, str]:
    return {sample.path.name: sample.part for sample in data.samples}


def counts(data) -> Counter:
    return Counter((sample.part, sample.crop, bool(sample.boxes)) for sample in data.samples)


def same_as_globox(data, other) -> int:
    """The number of boxes, which are equal to a hundredth of a pixel."""
    rows = {
        sample.path.name: sorted(
            (box.label, *np.round([box.x, box.y, box.x + box.width, box.y + box.height], 2))
            for box in sample.boxes
        )
        for sample in data.samples
    }
    theirs = {
        Path(one.image_id).name: sorted((str(box.label), *np.round(box.ltrb, 2)) for box in one.boxes)
        for one in other
    }
    assert rows == theirs
    return sum(map(len, rows.values()))


# Crops


def test_crops_in_folders(tmp_path):
    for i in range(3):
        write(tmp_path / f"pos/{i}.png", i, (20, 10))
        write(tmp_path / f"neg/deeper/{i}.jpg", i)
    data = load(tmp_path)
    assert data.format == "crops"
    assert counts(data) == {("train", True, True): 3, ("train", False, False): 3}
    assert data.samples[-1] == Sample(tmp_path / "pos/2.png", (Box(0, 0, 20, 10, "object"),), crop=True)
    assert data.classes == ("object",)


@pytest.mark.parametrize(
    ("positive", "negative", "label"),
    [
        ("train_faces/a.png", "nonface_scenes/a.png", "faces"),
        ("cars/a.png", "background/a.png", "cars"),
        ("PositiveImages/a.png", "NegativeImages/a.png", "object"),
        ("pos-1.png", "neg-1.png", "object"),
        ("train/pos/a.png", "train/neg/a.png", "object"),
        ("all/pos_1.png", "all/neg_1.png", "object"),
        ("stop signs/a.png", "no stop signs/a.png", "stop signs"),
    ],
)
def test_roles_by_name(positive, negative, label, tmp_path):
    write(tmp_path / positive, 1)
    write(tmp_path / negative, 2)
    data = load(tmp_path)
    assert {sample.path.relative_to(tmp_path).as_posix(): sample.crop for sample in data.samples} == {
        positive: True,
        negative: False,
    }
    assert data.classes == (label,)


def test_parts_of_crops(tmp_path):
    for i, part in enumerate(("train", "valid", "test")):
        write(tmp_path / f"{part}/pos/{part}.png", i)
    write(tmp_path / "neg/other.png", 9)
    assert parts_of(load(tmp_path)) == {
        "train.png": "train", "valid.png": "valid", "test.png": "test", "other.png": "train",
    }  # fmt: skip


def test_pictures_alone_are_not_guessed(tmp_path):
    write(tmp_path / "holiday/a.png")
    with pytest.raises(DatasetError, match="no labels of a known format"):
        load(tmp_path)
    assert load(tmp_path, "negatives").samples == (Sample(tmp_path / "holiday/a.png"),)


def test_real_crops(real):
    data = load(real("uiuc_cars"))
    assert counts(data) == {
        ("train", True, True): 550, ("train", False, False): 500, ("test", False, True): 170,
    }  # fmt: skip
    assert sum(len(sample.boxes) for sample in data.part("test")) == 200
    assert not data.problems
    assert {sample.read().shape for sample in data.part("train")[::50]} == {(40, 100)}
    faces = load(real("faces_caltech36"))
    assert counts(faces) == {
        ("train", True, True): 5394, ("valid", True, True): 1349, ("train", False, False): 274,
    }  # fmt: skip


def test_published_locations_of_the_cars(real):
    """The second reader is here: rows of `n: (row,column) ...`."""
    data = load(real("uiuc_cars/boxes_test.csv"))
    found = boxes_of(data)
    for line in real("uiuc_cars/trueLocations.txt").read_text().splitlines():
        number, _, places = line.partition(":")
        pairs = re.findall(r"\((-?\d+),(-?\d+)\)", places)
        expected = [Box(int(x), int(y), 100, 40, "object") for y, x in pairs]
        assert sorted(found[f"test-{number}.pgm"], key=str) == sorted(expected, key=str)


# VOC


def test_voc(tmp_path):
    for i in range(4):
        write(tmp_path / f"JPEGImages/{i}.jpg", i)
    text(tmp_path / "Annotations/0.xml", voc("0.jpg", (1, 2, 31, 22), (-5, 0, 10, 10)))
    text(tmp_path / "Annotations/1.xml", voc("1.jpg", (0, 0, 9, 9), difficult=1, name="dog"))
    text(tmp_path / "Annotations/2.xml", voc("another name.jpg"))
    text(tmp_path / "Annotations/3.xml", voc("3.jpg"))
    text(tmp_path / "ImageSets/Main/train.txt", "0\n2\n")
    text(tmp_path / "ImageSets/Main/val.txt", "1\r\n")
    data = load(tmp_path)
    assert data.format == "voc"
    assert boxes_of(data) == {
        "0.jpg": [Box(1, 2, 30, 20, "cat"), Box(-5, 0, 15, 10, "cat")],
        "1.jpg": [Box(0, 0, 9, 9, "dog", ignore=True)],
        "2.jpg": [],
    }
    assert parts_of(data) == {"0.jpg": "train", "1.jpg": "valid", "2.jpg": "train"}
    assert [problem.sentence for problem in data.problems] == [
        "1 annotated pictures are in none of its lists and are left out"
    ]


def test_voc_side_by_side_and_parts_of_objects(tmp_path):
    write(tmp_path / "a.png")
    inner = "<part><bndbox><xmin>0</xmin><ymin>0</ymin><xmax>5</xmax><ymax>5</ymax></bndbox></part>"
    text(tmp_path / "a.xml", voc("a.png", (1, 2, 31, 22)).replace("</object>", f"{inner}</object>"))
    assert boxes_of(load(tmp_path)) == {"a.png": [Box(1, 2, 30, 20, "cat")]}


def test_voc_as_globox(tmp_path, real):
    data = load(real("bccd"))
    assert counts(data) == {("train", False, True): 205, ("valid", False, True): 87}
    assert data.classes == ("Platelets", "RBC", "WBC")
    empty = [problem.path.stem for problem in data.problems]
    assert empty == ["BloodImage_00338", "BloodImage_00343"]
    assert all("is empty" in problem.sentence for problem in data.problems)
    other = AnnotationSet.from_pascal_voc(real("bccd/BCCD/Annotations"))
    for one in other:
        one.boxes = [box for box in one.boxes if box.area > 0]
    assert same_as_globox(data, other) == 3941


def test_coco_and_yolo_as_globox(tmp_path, real):
    """Written by globox from real annotations, read by both."""
    other = AnnotationSet.from_pascal_voc(real("bccd/BCCD/Annotations"))
    for one in other:
        one.boxes = [box for box in one.boxes if box.area > 0]
    names = ["Platelets", "RBC", "WBC"]
    images = tmp_path / "images"
    shutil.copytree(real("bccd/BCCD/JPEGImages"), images)
    other.save_coco(tmp_path / "annotations.json", auto_ids=True)
    data = load(tmp_path)
    assert data.format == "coco"
    assert same_as_globox(data, AnnotationSet.from_coco(tmp_path / "annotations.json")) == 3941

    other.save_yolo_v5(tmp_path / "labels", label_to_id={name: i for i, name in enumerate(names)})
    text(tmp_path / "data.yaml", f"train: images\nnames: {names}\n")
    data = load(tmp_path)
    assert data.format == "yolo"
    theirs = AnnotationSet.from_yolo_v5(tmp_path / "labels", image_folder=images)
    theirs = theirs.map_labels({str(i): name for i, name in enumerate(names)})
    assert same_as_globox(data, theirs) == 3941


# COCO


def coco(**changes) -> dict:
    content = {
        "images": [
            {"id": 7, "file_name": "a.png", "width": 60, "height": 40},
            {"id": 8, "file_name": "b.png"},
        ],
        "annotations": [
            {"image_id": 7, "category_id": 3, "bbox": [1, 2.5, 30, 20]},
            {"image_id": 7, "category_id": 3, "bbox": [0, 0, 60, 40], "iscrowd": 1},
        ],
        "categories": [{"id": 3, "name": "cat"}],
    }
    return content | changes


def test_coco(tmp_path):
    write(tmp_path / "a.png", 1)
    write(tmp_path / "b.png", 2)
    text(tmp_path / "_annotations.coco.json", json.dumps(coco()))
    data = load(tmp_path)
    assert boxes_of(data) == {
        "a.png": [Box(1, 2.5, 30, 20, "cat"), Box(0, 0, 60, 40, "cat", ignore=True)],
        "b.png": [],
    }
    assert not data.problems


def test_coco_parts(tmp_path):
    """Roboflow's folders, and COCO's own."""
    for part in ("train", "valid", "test"):
        write(tmp_path / f"one/{part}/{part}.png", hash(part) % 100)
        content = coco(images=[{"id": 7, "file_name": f"{part}.png"}])
        text(tmp_path / f"one/{part}/_annotations.coco.json", json.dumps(content))
    write(tmp_path / "two/val2017/a.png")
    write(tmp_path / "two/train2017/b.png")
    for part, file in (("val", "a.png"), ("train", "b.png")):
        content = coco(images=[{"id": 7, "file_name": file}])
        last = text(tmp_path / f"two/annotations/instances_{part}2017.json", json.dumps(content))
    assert parts_of(load(tmp_path / "one")) == {
        "train.png": "train", "valid.png": "valid", "test.png": "test",
    }  # fmt: skip
    assert parts_of(load(tmp_path / "two")) == {"a.png": "valid", "b.png": "train"}
    assert parts_of(load(last)) == {"b.png": "train"}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"images": [{"id": 7, "file_name": "a.png", "width": 600, "height": 400}]}, "600 x 400"),
        ({"annotations": [{"image_id": 7, "category_id": 4, "bbox": [1, 2, 3, 4]}]}, "category 4"),
        ({"annotations": [{"image_id": 7, "category_id": 3, "bbox": [1, 2, 3]}]}, "four numbers"),
        ({"annotations": [{"image_id": 7, "category_id": 3, "bbox": [1, 2, 3, "x"]}]}, "got 'x'"),
        ({"annotations": [{"image_id": 7, "category_id": 3, "bbox": [1, 2, 3, 1e300]}]}, "1e+300"),
        ({"annotations": [{"image_id": 7, "category_id": 3, "bbox": [61, 2, 3, 3]}]}, "outside the picture"),
        ({"annotations": [{"image_id": 7, "category_id": 3, "bbox": [6, 2, -3, 3]}]}, "is empty"),
        ({"annotations": [{"image_id": 99, "category_id": 3, "bbox": [6, 2, 3, 3]}]}, "does not list"),
        ({"images": [{"id": 7, "file_name": "a.png"}, {"id": 8, "file_name": "c.png"}]}, "'c.png', which is"),
    ],
)
def test_coco_problems(changes, says, tmp_path):
    write(tmp_path / "a.png", 1)
    write(tmp_path / "b.png", 2)
    text(tmp_path / "c.json", json.dumps(coco(**({"annotations": []} | changes))))
    try:
        problems = load(tmp_path, "coco").problems
    except DatasetError as error:
        problems = [(error.path, error.sentence)]
    assert len(problems) == 1
    assert says in problems[0][1]


# YOLO


def test_yolo(tmp_path):
    for part, name in (("train", "a"), ("train", "none"), ("val", "b")):
        write(tmp_path / f"images/{part}/{name}.jpg", ord(name[0]))
    text(tmp_path / "labels/train/a.txt", "1 0.5 0.5 0.5 0.25\n0 0.1 0.1 0.4 0.1 0.4 0.6\n")
    text(tmp_path / "labels/val/b.txt", "0 0.5 0.5 1 1\n")
    parts = "path: ../somewhere\ntrain: images/train\nval: ./images/val\nnc: 2\n"
    text(tmp_path / "data.yaml", f"{parts}names:\n  0: 'big cat'\n  1: dog # small\n")
    data = load(tmp_path)
    assert data.format == "yolo"
    assert parts_of(data) == {"a.jpg": "train", "none.jpg": "train", "b.jpg": "valid"}
    assert boxes_of(data)["b.jpg"] == [Box(0, 0, 60, 40, "big cat")]
    assert boxes_of(data)["none.jpg"] == []
    first, second = boxes_of(data)["a.jpg"]
    assert first == Box(15, 15, 30, 10, "dog")
    assert [second.x, second.y, second.width, second.height] == pytest.approx([6, 4, 18, 20])
    assert not data.problems


def test_yolo_without_yaml_and_lists(tmp_path):
    write(tmp_path / "one/a.png")
    text(tmp_path / "one/a.txt", "1 0.5 0.5 1 1")
    text(tmp_path / "one/classes.txt", "cat\ndog\n")
    assert boxes_of(load(tmp_path / "one")) == {"a.png": [Box(0, 0, 60, 40, "dog")]}
    write(tmp_path / "two/images/a.png")
    write(tmp_path / "two/images/b.png", 3)
    text(tmp_path / "two/labels/a.txt", "1 0.5 0.5 1 1")
    text(tmp_path / "two/train.txt", "/elsewhere/two/images/a.png\n")
    text(tmp_path / "two/my.yaml", "train: train.txt\nval: [../images]\nnames: [cat, dog]")
    data = load(tmp_path / "two")
    assert parts_of(data) == {"a.png": "valid", "b.png": "valid"}
    assert "listed in train and in valid" in data.problems[0].sentence


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("0 0.5 0.5 1", "got 3 numbers"),
        ("0 0.5 0.5 1 1 0.9", "got 5 numbers"),
        ("x 0.5 0.5 1 1", "number of a class"),
        ("5 0.5 0.5 1 1", "class 5 is not among the 1 names"),
        ("0 0.5 nan 1 1", "got 'nan'"),
        ("0 30 20 60 40", "shares"),
        ("0 0.5 0.5 0 1", "is empty"),
        ("0 1.5 0.5 0.1 0.1", "outside the picture"),
    ],
)
def test_yolo_problems(row, says, tmp_path):
    write(tmp_path / "images/a.png")
    text(tmp_path / "labels/a.txt", f"0 0.5 0.5 0.5 0.5\n{row}\n")
    text(tmp_path / "data.yaml", "train: images\nnames: [cat]\n")
    data = load(tmp_path)
    assert boxes_of(data) == {"a.png": [Box(15, 10, 30, 20, "cat")]}
    assert [says in problem.sentence for problem in data.problems] == [True]


@pytest.mark.parametrize(
    ("yaml", "expected"),
    [
        ("names: [a, 'b, c', \"d\"]", {"names": ["a", "b, c", "d"]}),
        ("names:\n- a\n- b # two\n\ntrain: x", {"names": ["a", "b"], "train": "x"}),
        ("names: {0: a, 1: b}", {"names": {"0": "a", "1": "b"}}),
        ("names: [a,\n  b]\nnc: 2", {"names": ["a", "b"], "nc": "2"}),
        ("download: |\n  train: x\n  a b c\ntrain: y", {"train": "y"}),
        ("roboflow:\n  url: https://x\n# all\n---\nval: a#b", {"val": "a#b"}),
    ],
)
def test_data_yaml(yaml, expected):
    assert parse(yaml) == expected


@pytest.mark.parametrize(
    "yaml",
    ["train: &a x", "names: [a, b", "names: 'a", "just text", "train: |\n  x", "names:\n  a\n", "train: *a",
     "names: !!python/object:os.system x", "names:\n  0: [a]"],
)  # fmt: skip
def test_other_yaml_is_refused(yaml):
    with pytest.raises(ValueError, match=r"^line \d+"):
        parse(yaml)


# dlib, OpenCV, CSV


def test_dlib(tmp_path):
    write(tmp_path / "a.jpg")
    box = "<box top='2' left='1' width='30' height='20'{}>{}</box>"
    body = box.format("", "<label>cat</label><part name='0' x='1' y='2'/>") + box.format(" ignore='1'", "")
    listing = f"<dataset><images><image file='a.jpg'>{body}</image></images></dataset>"
    text(tmp_path / "testing.xml", "<?xml version='1.0' encoding='ISO-8859-1'?>" + listing)
    data = load(tmp_path)
    assert data.samples == (
        Sample(
            tmp_path / "a.jpg",
            (Box(1, 2, 30, 20, "cat"), Box(1, 2, 30, 20, "object", ignore=True)),
            "test",
        ),
    )


def test_real_dlib(real):
    """The tables beside the lists were made from them by another program."""
    data = load(real("faces_dlib"))
    assert data.format == "dlib"
    assert Counter(sample.part for sample in data.samples) == {"train": 4, "test": 5}
    tables = load(real("faces_dlib"), "csv")
    assert data.samples == tables.samples
    assert sum(len(sample.boxes) for sample in data.samples) == 43


def test_opencv_lists(tmp_path):
    write(tmp_path / "img/a 2.jpg", 1)
    write(tmp_path / "img/b.jpg", 2)
    write(tmp_path / "neg/c.jpg", 3)
    write(tmp_path / "neg/d.jpg", 4)
    lines = "# made by hand", "img/a 2.jpg  2  1 2 30 20   0 0 9 9", "", "img\\b.jpg 0", "img/x.jpg 1 2"
    text(tmp_path / "info.dat", "\n".join(lines))
    text(tmp_path / "bg.txt", f"neg/c.jpg\n\n{tmp_path.name}/neg/d.jpg\n")
    (tmp_path / "all.vec").write_bytes(vec(np.zeros((1, 8, 8))))
    data = load(tmp_path)
    assert data.format == "opencv"
    assert boxes_of(data) == {
        "a 2.jpg": [Box(1, 2, 30, 20, "object"), Box(0, 0, 9, 9, "object")],
        "b.jpg": [], "c.jpg": [], "d.jpg": [],
    }  # fmt: skip
    assert len(data.problems) == 1
    assert "line 5: expected a path" in data.problems[0].sentence


@pytest.mark.parametrize("shape", [(10, 10), (10, 25), (24, 12), (16, 16), (40, 10)])
def test_vec(shape, tmp_path):
    """Width and height follow from the pixels."""
    random = np.random.default_rng(1)
    smooth = random.integers(0, 128, (20, 4, 5)).astype(np.uint8)
    rows, columns = np.arange(shape[0]) * 4 // shape[0], np.arange(shape[1]) * 5 // shape[1]
    crops = smooth[:, rows][:, :, columns] + random.integers(0, 30, (20, *shape)).astype(np.uint8)
    (tmp_path / "a.vec").write_bytes(vec(crops))
    write(tmp_path / "negatives/x.png")
    data = load(tmp_path)
    samples = data.samples[:20]
    assert [sample.frame for sample in samples] == list(range(20))
    assert all(sample.crop for sample in samples)
    np.testing.assert_array_equal([sample.read() for sample in samples], crops)
    assert data.samples[20:] == (Sample(tmp_path / "negatives/x.png"),)


def test_vec_of_real_crops(tmp_path, real):
    cars = [sample.read() for sample in load(real("uiuc_cars")).samples if sample.crop]
    (tmp_path / "cars.vec").write_bytes(vec(np.array(cars)))
    data = load(tmp_path)
    np.testing.assert_array_equal(data.samples[123].read(), cars[123])


@pytest.mark.parametrize(
    ("table", "box"),
    [
        ("file,x,y,w,h\na.png,1,2,30,20\n", Box(1, 2, 30, 20, "object")),
        ("\ufefffile,x,y,w,h,label\r\n\"a.png\",1,2,30,20,\"a, cat\"\r\n", Box(1, 2, 30, 20, "a, cat")),
        ("image;left;top;width;height\na.png;1;2;30;20\n", Box(1, 2, 30, 20, "object")),
        ("filename,width,height,class,xmin,ymin,xmax,ymax\na.png,60,40,a,1,2,31,22", Box(1, 2, 30, 20, "a")),
        ("file,x,y,w,h,label,ignore\na.png,1,2,30,20,cat,1\n", Box(1, 2, 30, 20, "cat", True)),
        ("file,x,y,w,h\na.png,,,,\n", None),
    ],
)  # fmt: skip
def test_csv(table, box, tmp_path):
    write(tmp_path / "a.png")
    (tmp_path / "boxes.csv").write_text(table, newline="")
    data = load(tmp_path)
    assert data.samples == (Sample(tmp_path / "a.png", () if box is None else (box,)),)
    assert not data.problems


def test_csv_parts(tmp_path):
    for i, name in enumerate(("a.png", "b.png", "test/c.png", "d.png")):
        write(tmp_path / name, i)
    rows = "a.png,1,2,3,4,val\nb.png,1,2,3,4,\ntest/c.png,1,2,3,4,\n"
    text(tmp_path / "boxes.csv", f"file,x,y,w,h,split\n{rows}")
    text(tmp_path / "boxes_test.csv", "file,x,y,w,h\nd.png,1,2,3,4\n")
    assert parts_of(load(tmp_path)) == {"a.png": "valid", "b.png": "train", "c.png": "test", "d.png": "test"}


# What all have in common


def test_one_folder_deeper(tmp_path):
    write(tmp_path / "archive/stuff/pos/a.png")
    assert load(tmp_path).format == "crops"


def test_labels_follow_the_upright_picture(tmp_path):
    """13 x 9 as stored, 9 x 13 upright: labels made for the stored one cannot be right."""
    (tmp_path / "a.jpg").write_bytes(with_exif(encoded(".jpg"), exif(6)))
    text(tmp_path / "a.xml", voc("a.jpg", (1, 1, 5, 5), size=(13, 9)))
    with pytest.raises(DatasetError, match="EXIF"):
        load(tmp_path)
    text(tmp_path / "a.xml", voc("a.jpg", (1, 1, 5, 5), size=(9, 13)))
    assert load(tmp_path).samples[0].read().shape == (13, 9, 3)


def test_digest_follows_contents_not_places(tmp_path):
    def folder(name: str, seed: int = 0, width: int = 3) -> str:
        write(tmp_path / name / "a.png", seed)
        text(tmp_path / name / "boxes.csv", f"file,x,y,w,h\na.png,1,2,{width},4\n")
        return load(tmp_path / name).digest()

    first = folder("one")
    assert folder("two") == first
    assert folder("three", seed=1) != first
    assert folder("four", width=5) != first


def test_one_class_of_several(tmp_path):
    write(tmp_path / "a.png")
    text(tmp_path / "b.csv", "file,x,y,w,h,label\na.png,1,2,3,4,cat\na.png,1,2,3,4,dog\n")
    data = load(tmp_path)
    assert [box.label for box in data.of_class("dog").samples[0].boxes] == ["dog"]
    with pytest.raises(DatasetError, match="there is: cat, dog"):
        data.of_class("cow")


def test_forced_format(tmp_path):
    write(tmp_path / "pos/a.png")
    with pytest.raises(DatasetError, match="format must be one of yolo, coco"):
        load(tmp_path, "xyz")
    with pytest.raises(DatasetError, match="no usable picture"):
        load(tmp_path, "csv")
    with pytest.raises(DatasetError, match="no such folder"):
        load(tmp_path / "none")
