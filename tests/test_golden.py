"""Model files of earlier versions, kept for ever: every later version reads the same values from them.

The files in tests/golden are named after their kind and format version. None is ever changed or deleted. For
a new format version or kind, add its values here and run, once:

    python -c "from tests.test_golden import write; write()"
"""

import hashlib
from pathlib import Path

import numpy as np
import pytest

from cascade.model import Model
from cascade.sigmoid import Sigmoid

FOLDER = Path(__file__).parent / "golden"
GOLDEN = {
    "cell-v1": {
        "name": "golden cell",
        "kind": "cell",
        "channels": "colour",
        "cell": 2,
        "smooth": 1,
        "normalise": 37,
        "window": (20, 24),
        "box": (512, -128, 4096, 5000),
        "lambdas": (-1, 7209, 8000),
        "feature": [[0, 4799, 17], [479, 480, 0], [4320, 1, 2]],
        "threshold": [[0, 254, 255], [128, 7, 255], [255, 255, 255]],
        "reject_shift": 3,
        "leaf": [[-300, 20, -1, 4000], [32767, -32768, 0, 1], [5, 6, 7, 8]],
        "reject": [-32768, -1200, 32767],
        "accept": [32767, -1199, 32767],
        "rectangles": [],
        "score_unit": 0.0009765625,
        "sigmoid": Sigmoid(1.75, -0.0),
        "classes": ("face", "not quite a face", "\u9854"),
        "metadata": {
            "command": "cascade train faces --kind cell",
            "data": "sha256 e3b0c442",
            "date": "2026-01-02T03:04:05Z",
            "metrics": "",
        },
    },
    "rect-v1": {
        "name": "golden rect",
        "kind": "rect",
        "channels": "grey",
        "cell": 4,
        "smooth": 0,
        "normalise": 0,
        "window": (255, 32),
        "box": (0, 0, 65280, 8192),
        "lambdas": (0, 7209, -262144),
        "feature": [[0, 1, 2], [2, 1, 0], [1, 1, 1]],
        "threshold": [[0, 2080800, 2147483647], [-1, 7, 100], [2147483647, -2147483648, 65536]],
        "reject_shift": 15,
        "leaf": [[1, -1, 2, -2], [3, -3, 4, -4], [32767, 32767, -32768, -32768]],
        "reject": [0, 1, -1],
        "accept": None,
        "rectangles": [[0, 0, 0, 255, 32], [7, 254, 31, 1, 1], [3, 10, 5, 20, 7]],
        "score_unit": 1.0,
        "sigmoid": None,
        "classes": ("car",),
        "metadata": {},
    },
    "haar-v1": {
        "name": "golden h\u00e4\u00e4r",
        "kind": "haar",
        "channels": "grey",
        "cell": 1,
        "smooth": 0,
        "normalise": 0,
        "window": (24, 20),
        "box": (-6144, -5120, 18432, 15360),
        "lambdas": (0, 0, 0),
        "feature": [[0, 1, 1], [1, 0, 0], [0, 0, 0]],
        "threshold": [[127, 0, 1], [128, 254, 255], [3, 2, 1]],
        "reject_shift": 0,
        "leaf": [[256, -256, 255, -255], [0, 0, 0, 0], [-1, -1, -1, -1]],
        "reject": [5, -7, -32768],
        "accept": [6, 32767, -32768],
        "rectangles": [
            [[0, 0, 24, 20, -1], [12, 0, 12, 20, 2], [0, 0, 0, 0, 0]],
            [[2, 3, 6, 9, -128], [4, 3, 2, 9, 127], [23, 19, 1, 1, 1]],
        ],
        "score_unit": 3e-05,
        "sigmoid": Sigmoid(0.5, 3.25),
        "classes": ("face",),
        "metadata": {"a": "1", "b_2": "\U0001f600"},
    },
}  # fmt: skip
DIGESTS = {
    "cell-v1": "8b56cb7187fe52adb3be23b99fa80556b6dffaa77034f3f3993de9a4b0469112",
    "rect-v1": "e8ff0e3b8074e31fe638390d7b0e45094df3d8b6de9824a5953f6f8da8805079",
    "haar-v1": "b8eb9dca9bef884d110a45fe8abc7f8598daa6d5cf5d369831259dd339731916",
}


def write(folder: Path = FOLDER) -> None:
    """Write the files that do not exist yet, and print their digests for DIGESTS."""
    for name, values in GOLDEN.items():
        path = folder / f"{name}.cascade"
        if not path.exists():
            Model(**values).save(path)
        print(f'    "{name}": "{hashlib.sha256(path.read_bytes()).hexdigest()}",')


@pytest.mark.parametrize("name", GOLDEN)
def test_values_are_read_as_ever(name):
    model = Model.load(FOLDER / f"{name}.cascade")
    for field, expected in GOLDEN[name].items():
        value = getattr(model, field)
        value = value.tolist() if isinstance(value, np.ndarray) else value
        value = dict(value) if field == "metadata" else value
        assert repr(value) == repr(expected), field  # signs of zeros too


@pytest.mark.parametrize("name", GOLDEN)
def test_bytes_are_written_as_ever(name):
    data = (FOLDER / f"{name}.cascade").read_bytes()
    assert hashlib.sha256(data).hexdigest() == DIGESTS[name]
    assert len(data) < 2048
    assert Model.load(data).to_bytes() == data
    assert Model(**GOLDEN[name]).to_bytes() == data


def test_every_file_is_tested():
    assert {path.stem for path in FOLDER.iterdir()} == set(GOLDEN) == set(DIGESTS)
