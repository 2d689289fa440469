"""Pictures of rings on a wavy ground: objects that a detector learns in a second."""

from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from cascade.dataset import Box, Dataset, Sample

QUICK = {"side": 12, "stages": (16, 32), "positives": 400, "negatives": 400, "per_image": 20, "context": 0.2}


def ground(random, width, height):
    """Blurred noise, with squares as large as the rings in it."""
    image = cv2.GaussianBlur(random.integers(0, 256, (height, width)).astype(np.float32), (0, 0), 3)
    image = 128 + 6 * (image - image.mean())
    for _ in range(6):
        x, y, side = (int(number) for number in random.integers((0, 0, 10), (width - 30, height - 30, 30)))
        image[y : y + side, x : x + side] += random.uniform(-60, 60)
    return image


def ring(image, box):
    centre = (int(box.x + box.width / 2), int(box.y + box.height / 2))
    cv2.circle(image, centre, int(box.width / 2 - 2), 255.0, 3)
    cv2.circle(image, centre, int(box.width / 4), 0.0, -1)


def picture(random, boxes, width=160, height=120):
    image = ground(random, width, height)
    for box in boxes:
        ring(image, box)
    return np.clip(image, 0, 255).astype(np.uint8)


def place(random, width=160, height=120):
    side = int(random.integers(18, 40))
    x, y = int(random.integers(4, width - side - 4)), int(random.integers(4, height - side - 4))
    return Box(float(x), float(y), float(side), float(side), "ring")


def rings(folder: Path, pictures: int = 24, seed: int = 0) -> Dataset:
    """Half of the pictures show a ring; a third of all are for validation."""
    random = np.random.default_rng(seed)
    samples = []
    for i in range(pictures):
        boxes = (place(random),) if i % 2 else ()
        path = folder / f"{i:03}.png"
        cv2.imwrite(str(path), picture(random, boxes))
        samples.append(Sample(path, boxes, "valid" if i % 3 == 2 else "train"))
    return Dataset(folder, tuple(samples))


@dataclass(frozen=True)
class Shown:
    """A sample that is already in memory."""

    pixels: np.ndarray
    boxes: tuple[Box, ...] = ()
    crop: bool = False
    part: str = "train"

    def read(self):
        return self.pixels
