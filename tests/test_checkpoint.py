"""A run that is killed and resumed gives the same bytes; anything else in the file is refused."""

import dataclasses
import errno
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from cascade import checkpoint as checkpoints
from cascade.boosting import boost
from cascade.checkpoint import CheckpointError, write_atomically
from cascade.settings import Settings
from tests.conftest import planted

SETTINGS = Settings(
    rounds=40, depth=2, trim=0.95, feature_fraction=0.6, sample_fraction=0.7, seed=3, patience=30
)
DATA = planted(300, 40, seed=1)
HELD = planted(150, 40, seed=2)


def facts(result):
    rounds = [dataclasses.replace(r, seconds=0.0) for r in result.history]
    return result.trees.tobytes(), repr(rounds), result.stopped


def train(path, **options):
    return boost(*DATA, SETTINGS, validation=HELD, checkpoint=path, **options)


class Stop(Exception):
    pass


def stop_at(number):
    def progress(round_):
        if round_.number == number:
            raise Stop

    return progress


@pytest.mark.parametrize("threads", [1, 3])
def test_resuming_again_and_again_gives_the_same_bytes(tmp_path, threads, compact):
    whole = boost(*DATA, SETTINGS, validation=HELD)
    path = tmp_path / "run.checkpoint"
    for number in (1, 2, 9, 10, 25):
        with pytest.raises(Stop):
            train(path, progress=stop_at(number), threads=threads)
    resumed = train(path)
    assert facts(resumed) == facts(whole)
    assert facts(train(path)) == facts(whole)  # of a finished run, it is the result


@pytest.mark.parametrize("change", ["data", "labels", "weights", "validation", "settings"])
def test_a_checkpoint_of_another_run_is_refused(tmp_path, change):
    path = tmp_path / "run.checkpoint"
    with pytest.raises(Stop):
        train(path, progress=stop_at(2))
    table, labels = DATA[0].copy(), DATA[1].copy()
    held = HELD[0].copy()
    weights, settings = None, SETTINGS
    if change == "data":
        table[5, 7] ^= 1
    elif change == "labels":
        labels[7] *= -1
    elif change == "weights":
        weights = np.linspace(1, 2, len(labels))
    elif change == "validation":
        held[0, 0] ^= 1
    else:
        settings = dataclasses.replace(SETTINGS, seed=4)
    words = "seed was 3, is 4" if change == "settings" else "its data differ"
    with pytest.raises(CheckpointError, match=words):
        boost(table, labels, settings, weights=weights, validation=(held, HELD[1]), checkpoint=path)


def test_every_truncation_and_every_changed_byte_is_refused(tmp_path):
    path = tmp_path / "run.checkpoint"
    checkpoints.save(path, {"a": 1}, {"x": np.arange(3.0)})
    good = path.read_bytes()
    for cut in range(len(good)):
        path.write_bytes(good[:cut])
        with pytest.raises(CheckpointError):
            checkpoints.load(path)
    for at in range(len(good)):
        path.write_bytes(good[:at] + bytes([good[at] ^ 0x41]) + good[at + 1 :])
        with pytest.raises(CheckpointError):
            checkpoints.load(path)
    path.write_bytes(good + b"\0")
    with pytest.raises(CheckpointError):
        checkpoints.load(path)


@pytest.mark.parametrize(
    "arrays",
    [
        '[["x", "|O", [1]]]', '[["x", "<f8", [-1]]]', '[["x", "<f8", [99999999999, 99999999999]]]',
        '[["x", "<f8", [2]]]', "[]", '[["x"]]', "7", '[["x", "<f8", [1.5]]]', '[["x", "<f8", ["1"]]]',
    ],
)  # fmt: skip
def test_a_header_that_lies_is_refused_even_with_a_right_digest(tmp_path, arrays):
    import hashlib
    import struct

    header = f'{{"facts": {{}}, "arrays": {arrays}}}'.encode()
    body = checkpoints.MAGIC + struct.pack("<I", len(header)) + header + bytes(8)
    path = tmp_path / "run.checkpoint"
    path.write_bytes(body + hashlib.sha256(body).digest())
    with pytest.raises(CheckpointError):
        checkpoints.load(path)


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_atomically(path, b"old")

    def fail(*_):
        raise OSError(errno.ENOSPC, "no space")

    for name in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, name, fail)
            with pytest.raises(OSError, match="no space"):
                write_atomically(path, b"new")
        assert path.read_bytes() == b"old"
        assert list(tmp_path.iterdir()) == [path]


TRAINING = """
import sys
sys.path.insert(0, {root!r})
from cascade import boosting
from tests.test_checkpoint import train, facts
import hashlib
boosting.CHECKPOINT_SECONDS = 0.0
def progress(round_):
    print(round_.number, flush=True)
result = train({path!r}, progress=progress)
print(hashlib.sha256(repr(facts(result)).encode()).hexdigest())
"""


def start(path):
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    code = TRAINING.format(root=root, path=str(path))
    return subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def test_killed_at_random_moments(tmp_path):
    """kill -9, ten times, while a checkpoint is written after every round."""
    import hashlib

    path = tmp_path / "run.checkpoint"
    random = np.random.default_rng(0)
    for _ in range(10):
        process = start(path)
        assert process.stdout is not None
        process.stdout.readline()  # at least one more round
        time.sleep(random.uniform(0, 0.02))
        process.kill()
        process.communicate()
        if path.exists():
            checkpoints.load(path)
    out, errors = start(path).communicate()
    assert not errors
    expected = hashlib.sha256(repr(facts(boost(*DATA, SETTINGS, validation=HELD))).encode())
    assert out.split()[-1] == expected.hexdigest()


def test_interrupt_writes_a_checkpoint_and_is_passed_on(tmp_path):
    path = tmp_path / "run.checkpoint"
    process = start(path)
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    assert process.returncode != 0
    assert "KeyboardInterrupt" in errors
    assert 1 <= len(checkpoints.load(path)[1]["leaf"]) <= 40
