"""Frames of every small size, and detectors made of strange but valid models: never more than no boxes.

`make sanitize` runs this under AddressSanitizer and UBSan.
"""

from collections import Counter

import numpy as np
import pytest

from cascade.detector import Detector
from cascade.model import Model, ModelFormatError
from tests.hostile.test_model_bytes import TINY, with_checksum
from tests.test_detector import KINDS, coloured, photo, random_model
from tests.test_model import KINDS as MODEL_KINDS

SIDES = range(71)


@pytest.mark.parametrize(("kind", "mode"), KINDS)
def test_every_size_from_0_to_70(kind, mode):
    """A fifth of the sizes for each kind, in grey, in colour, upsampled and exact."""
    common = {"kind": kind, "channels": mode, "window": (6, 5), "prune": "much"}
    detectors = [
        Detector(random_model(depth, depth=depth, **common), exact=exact)
        for depth, exact in ((2, False), (2, True), (3, False))
    ]
    random = np.random.default_rng(0)
    found = Counter()
    for height in SIDES:
        for width in range((height + KINDS.index((kind, mode))) % len(KINDS), 71, len(KINDS)):
            frame = random.integers(0, 256, (height, width, 3), np.uint8)
            frame = frame if (height + width) % 2 else frame[:, :, 0]
            detector = detectors[(height * 71 + width) % 3]
            for min_size in (None, 3) if height * width < 900 else (None,):
                found[len(detector.detect(frame, min_size=min_size)) > 0] += 1
    assert found[True] > 20
    assert found[False] > 20


@pytest.mark.parametrize("kind", MODEL_KINDS)
def test_models_with_any_byte_changed_can_be_run(kind):
    """Those that are still valid find what they find, and nothing breaks."""
    good = TINY[kind]
    data = bytearray(good)
    frames = [photo(30, 40), coloured(30, 40), photo(3, 500)]
    ran = 0
    for at in range(len(data) - 4):
        for value in (*range(0, 256, 17), good[at] ^ 1, good[at] ^ 128):
            data[at] = value
            try:
                model = Model.from_bytes(with_checksum(bytes(data)))
            except ModelFormatError:
                continue
            Detector(model, per_octave=2).detect(frames[ran % 3], max_size=60)
            ran += 1
        data[at] = good[at]
    assert ran > 100
