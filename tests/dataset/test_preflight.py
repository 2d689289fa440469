"""Preflight: what is broken is named, what is sound is not; copies, windows, splits; `cascade check`."""

import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cascade.__main__ import main
from cascade.dataset import Box, Sample, load, split
from cascade.dataset.preflight import check
from cascade.dataset.window import propose_window
from tests.dataset.broken import OTHERS, WAYS, make_folder
from tests.dataset.pictures import text, write


@pytest.fixture
def broken(tmp_path):
    return tmp_path / "data", *make_folder(tmp_path / "data", 10 * len([*WAYS, *OTHERS]) + 20)


def test_every_broken_picture_is_named_and_no_other(broken):
    root, sound, expected = broken
    report = check(load(root))
    named = {path.relative_to(root).as_posix(): sentence for path, sentence in report.unreadable}
    assert set(named) == expected
    assert all(len(sentence) > 10 for sentence in named.values())
    assert {sample.path.relative_to(root).as_posix() for sample in report.usable.samples} == sound
    assert not report.problems


def test_the_sound_ones_alone_give_the_same(broken, tmp_path):
    """So that training on the broken folder trains on the same pictures."""
    root, sound, _ = broken
    report = check(load(root))
    for name in sound:
        (tmp_path / "sound" / name).parent.mkdir(parents=True, exist_ok=True)
        os.link(root / name, tmp_path / "sound" / name)
    alone = check(load(tmp_path / "sound"))
    assert alone.usable.digest() == report.usable.digest()
    assert alone.digests == report.digests
    assert (alone.window, alone.counts, alone.sizes) == (report.window, report.counts, report.sizes)

    def parts(one):
        return [sample.part for sample in split(one.usable.samples, digests=one.digests)]

    assert parts(alone) == parts(report)


@pytest.mark.parametrize("threads", [1, 3])
def test_threads_change_nothing(threads, broken):
    assert check(load(broken[0]), threads).to_json() == check(load(broken[0]), 2).to_json()


def test_command(broken, capsys):
    root, _, expected = broken
    assert main(["check", str(root)]) == 0
    shown = capsys.readouterr().out
    assert all(str(root / name) in shown for name in expected)
    assert "window" in shown
    assert main(["check", str(root), "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert len(content["unreadable"]) == len(expected)
    assert main(["check", str(root / "neg")]) == 1
    assert "no labels of a known format" in capsys.readouterr().err


def test_command_shows_no_control_characters(tmp_path, capsys):
    write(tmp_path / "pos/a.png")
    text(tmp_path / "pos/\x1b[31mred.png", "no picture")
    assert main(["check", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert "\\x1b[31mred.png" in shown


def test_copies_between_parts_are_not_trained_on(tmp_path):
    write(tmp_path / "train/pos/a.png", 1)
    write(tmp_path / "train/pos/b.png", 2)
    write(tmp_path / "train/pos/c.bmp", 2)  # the same pixels in another kind of file
    write(tmp_path / "valid/pos/d.png", 1)
    write(tmp_path / "neg/e.png", 3)
    report = check(load(tmp_path))
    names = [tuple(name.rpartition("/")[2] for name in group) for group in report.duplicates]
    assert sorted(names) == [("a.png", "d.png"), ("b.png", "c.bmp")]
    assert report.leaked == (str(tmp_path / "train/pos/a.png"),)
    assert [s.path.name for s in report.usable.samples] == ["e.png", "b.png", "c.bmp", "d.png"]


def test_copies_with_other_labels_are_named(tmp_path):
    write(tmp_path / "pos/a.png", 1)
    write(tmp_path / "neg/a.png", 1)
    (problem,) = check(load(tmp_path)).problems
    assert "only one of them has objects" in problem.sentence


def test_real_copies(real):
    report = check(load(real("faces_caltech36")))
    assert len(report.duplicates) == 68
    across = [group for group in report.duplicates if len({"valid_faces" in name for name in group}) == 2]
    assert len(across) == 14
    assert not set(report.leaked) & {sample.name for sample in report.usable.samples}
    assert not report.unreadable


def test_counts(tmp_path):
    write(tmp_path / "a.png", 1)
    write(tmp_path / "b.png", 2)
    rows = "a.png,-5,2,30,20,0\na.png,1,2,30,20,1\na.png,5,5,0,5,0\na.png,90,5,5,5,0\nb.png,,,,,\n"
    text(tmp_path / "a.csv", f"file,x,y,w,h,ignore\n{rows}")
    report = check(load(tmp_path))
    assert report.counts == {
        "train": {
            "pictures": 2, "crops": 0, "without objects": 1, "objects": 1, "ignored": 1, "reaching out": 1,
        }
    }  # fmt: skip
    assert [("is empty" in p.sentence, "outside" in p.sentence) for p in report.problems] == [
        (True, False),
        (False, True),
    ]
    assert report.sizes["object width"] == [30.0] * 5
    assert any("few" in advice for advice in report.advice)


def test_time_is_told_by_whoever_can(tmp_path):
    write(tmp_path / "pos/a.png", 1)
    data = load(tmp_path)
    assert check(data).seconds is None
    assert check(data, expected_seconds=lambda report: 2.0 * len(report.usable.samples)).seconds == 2.0


@pytest.mark.parametrize(
    ("boxes", "window"),
    [
        ([(100, 40)], (60, 24)),  # the shape is kept
        ([(40, 100)], (24, 60)),
        ([(36, 36)], (24, 24)),
        ([(110, 100)], (22, 20)),  # 1.1 is kept best there
        ([(16, 16)], (16, 16)),  # no larger than the objects
        ([(300, 300)] * 8 + [(17, 17)] * 2, (16, 16)),
        ([(300, 300)] * 99 + [(17, 17)], (24, 24)),  # but for a few
        ([(5, 5)], (12, 12)),
        ([(1e6, 1)], (128, 12)),
        ([], (24, 24)),
    ],
)
def test_window(boxes, window):
    proposed = propose_window([Box(0, 0, *sides) for sides in boxes])
    assert (proposed.width, proposed.height) == window
    assert proposed.why


def made_up(count: int) -> tuple[list[Sample], list[bytes]]:
    """Samples, a quarter without objects, and digests of which every fifth repeats the one before."""
    box = Box(0, 0, 5, 5, "cat")
    found = [Sample(Path(f"{i}.png"), (box,) if i % 20 > 4 else ()) for i in range(count)]
    return found, [b"%d" % (i - (i % 5 == 4)) for i in range(count)]


def test_split_takes_a_share_of_each_kind():
    given, digests = made_up(1000)
    done = split(given, 0.2, digests=digests)
    assert [replace(sample, part="train") for sample in done] == given
    valid = [sample for sample in done if sample.part == "valid"]
    assert 150 <= sum(bool(sample.boxes) for sample in valid) <= 152
    assert 50 <= sum(not sample.boxes for sample in valid) <= 52


def test_split_keeps_copies_together():
    given, digests = made_up(1000)
    parts = {}
    for sample, digest in zip(split(given, 0.3, digests=digests), digests, strict=True):
        assert parts.setdefault(digest, sample.part) == sample.part


def test_split_follows_the_pixels_not_the_order():
    given, digests = made_up(200)
    order = np.random.default_rng(0).permutation(200)
    shuffled = split([given[i] for i in order], digests=[digests[i] for i in order])
    assert {sample.path: sample.part for sample in shuffled} == {
        sample.path: sample.part for sample in split(given, digests=digests)
    }
    assert split(given, digests=digests) != split(given, seed=1, digests=digests)


def test_split_leaves_given_parts_alone():
    given, digests = made_up(50)
    given[3] = replace(given[3], part="valid")
    assert split(given, digests=digests) == given
    tested = [replace(sample, part="test") for sample in given[4:10]]
    assert split(tested, digests=digests[4:10]) == tested


def test_split_leaves_something_to_train_on():
    given, digests = made_up(1)
    assert split(given, 0.9, digests=digests) == given
    with pytest.raises(ValueError, match="share must be between 0 and 1"):
        split(given, 1.5)
    with pytest.raises(ValueError, match="expected 1 digests"):
        split(given, digests=[])


def test_split_reads_pictures_if_it_must(tmp_path):
    for i in range(10):
        write(tmp_path / f"pos/{i}.png", i // 2)
    done = split(load(tmp_path).samples)
    assert [sample.part for sample in done[::2]] == [sample.part for sample in done[1::2]]
    assert sum(sample.part == "valid" for sample in done) == 2
