"""A frame that any machine can compute, and what the detector finds in it: an exported model's self-test."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cascade.export.search import Search
from cascade.model import Model

MOST_BOXES = 8  # that a self-test compares one by one


@dataclass(frozen=True)
class Answer:
    """What a model, cut to its first trees, finds in the golden frame."""

    trees: int
    count: int
    visits: int
    boxes: list[list[int]]  # the best: left, top, right, bottom, score


def size(model: Model, search: Search) -> tuple[int, int]:
    """Width and height of the golden frame: room for a few places and sizes of the window."""
    up, down = search.enlargement(model)
    width, height = (-(-side * model.cell * down // up) for side in model.window)
    return width + width // 2 + 5, height + height // 2 + 3


def frame(width: int, height: int) -> NDArray[np.uint8]:
    """Rings and stripes under noise of a linear congruential generator."""
    y, x = np.mgrid[:height, :width].astype(np.uint32)
    noise = np.empty(width * height, np.uint32)
    state = 1
    for i in range(len(noise)):
        state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
        noise[i] = state >> 27
    pattern = (x * x + 3 * y * y) // 16 + 8 * ((x // 5) ^ (y // 7))
    pixels: NDArray[np.uint8] = ((pattern & 0xFF) * 7 // 8 + noise.reshape(height, width)).astype(np.uint8)
    return pixels


def answers(model: Model, search: Search) -> list[Answer]:
    """Of the whole model and, should it find nothing, of as many of its trees as find something."""
    found = [_answer(model, search, len(model))]
    while not found[-1].count and found[-1].trees > 1:
        trees = found[-1].trees // 2
        found = [found[0], _answer(model, search, trees)]
    return found


def _answer(model: Model, search: Search, trees: int) -> Answer:
    part = replace(
        model, feature=model.feature[:trees], threshold=model.threshold[:trees], leaf=model.leaf[:trees],
        reject=model.reject[:trees], accept=None if model.accept is None else model.accept[:trees],
    )  # fmt: skip
    image = frame(*size(model, search))
    detector = search.detector(part)
    found = detector.detect(
        image, min_size=search.min_size, max_size=search.max_size, threshold=search.threshold
    )
    taken = detector.statistics(image, min_size=search.min_size, max_size=search.max_size).trees
    boxes = np.column_stack([found.xyxy.astype(int), found.score])[:MOST_BOXES]
    return Answer(trees, len(found), taken * model.depth, boxes.tolist())
