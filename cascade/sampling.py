"""Windows of objects and of backgrounds, as the bytes that the detector will look at.

Every window goes the detector's own way: pixels become planes at an octave, and those of the sizes in between
are resampled from them. Windows are uint8 (n, planes, height, width). A window depends on the seed and on the
numbers of its picture, object and draw alone, so any number of threads gives the same ones.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from cascade._ext import detect as kernels
from cascade.channels import Image, halve
from cascade.dataset import Box, Sample
from cascade.detector import channels
from cascade.jitter import Draw
from cascade.recipe import TrainingSettings
from cascade.template import UNIT, Template, completed
from cascade.threads import ordered

PER_OCTAVE = 8
MARGIN = 4  # cells around a window: as far as smoothing and normalisation look
GRADIENTS = (1, 2, 2, 2, 2, 2, 2)  # which of the three gains the last planes take; the others take 0

Windows = NDArray[np.uint8]


@dataclass(frozen=True)
class Rung:
    """One size between two octaves: how many cells a canvas has before and after it is resampled."""

    number: int
    before: tuple[int, int]
    after: tuple[int, int]

    @classmethod
    def of(cls, template: Template, number: int) -> "Rung":
        ratio = round(65536 * 2.0 ** (-number / PER_OCTAVE))
        before = tuple(-(-(side + 2 * MARGIN) * 65536 // ratio) for side in template.window)
        return cls(number, (before[0], before[1]), (before[0] * ratio >> 16, before[1] * ratio >> 16))

    @property
    def zoom(self) -> tuple[float, float]:
        """Pixels of the canvas that make one of the window."""
        return self.before[0] / self.after[0], self.before[1] / self.after[1]


class Sampler:
    """Cuts objects out of pictures."""

    def __init__(self, template: Template, settings: TrainingSettings) -> None:
        self.template, self.settings = template, settings
        self.channels = channels(template.empty())
        self._groups = (0,) * (self.channels.count - len(GRADIENTS)) + GRADIENTS
        self._rungs = [Rung.of(template, number) for number in range(PER_OCTAVE)]
        self._gains = [
            [min(256, round(128 * 2.0 ** (power / 65536 * k / PER_OCTAVE))) for power in template.lambdas]
            for k in range(PER_OCTAVE)
        ]

    def window(
        self, image: Image, box: Box, draw: Draw, rung: int = 0, border: int = cv2.BORDER_REPLICATE
    ) -> Windows:
        """One object of an image, (planes, height, width); `border` is what lies beyond the image."""
        step = self._rungs[rung]
        canvas = draw.light(self._canvas(image, box, draw, step, border), step.zoom[0])
        planes = self.channels.planes(canvas)
        if rung:
            larger, planes = planes, np.empty((len(planes), step.after[1], step.after[0]), np.uint8)
            for plane, out, group in zip(larger, planes, self._groups, strict=True):
                kernels.resample(plane, out, self._gains[rung][group])
        width, height = self.template.window
        return planes[:, MARGIN : MARGIN + height, MARGIN : MARGIN + width]

    def _canvas(self, image: Image, box: Box, draw: Draw, rung: Rung, border: int) -> Image:
        """The surroundings of an object, scaled so that after the rung it has the window's size."""
        t, zoom = self.template, rung.zoom
        scale = zoom[0] * math.sqrt(math.prod(t.object_size) / (box.width * box.height))
        middle = [box.x + box.width / 2, box.y + box.height / 2]
        size = rung.before[0] * t.cell, rung.before[1] * t.cell
        image, middle = _surroundings(image, middle, math.hypot(*size) / scale)
        while scale < 0.5 and min(image.shape[1:]) >= 4:  # as the detector does it: every pixel counts
            image, middle, scale = halve(image), [place / 2 for place in middle], scale * 2
        centre = [
            (MARGIN + (t.box[axis] + t.box[axis + 2] / 2) / UNIT) * zoom[axis] * t.cell for axis in (0, 1)
        ]
        # Pixels are places from their middle on; boxes from their corner on.
        matrix = draw.matrix(
            scale, (middle[0] - 0.5, middle[1] - 0.5), (centre[0] - 0.5, centre[1] - 0.5), zoom[0]
        )
        warped = [cv2.warpAffine(colour, matrix, size, borderMode=border) for colour in image]
        return np.stack(warped).astype(np.uint8, copy=False)


def _surroundings(
    image: Image, middle: list[float], reach: float
) -> tuple[Image, list[float]]:
    """The part of a picture within reach of a place: a large one is not to be halved for each object."""
    left, top = (max(0, math.floor(place - reach)) for place in middle)
    right, bottom = (math.ceil(place + reach) for place in middle)
    part = image[:, top : max(bottom, top + 1), left : max(right, left + 1)]
    if not part.size:  # an object outside the picture
        part, left, top = image, 0, 0
    return np.ascontiguousarray(part), [middle[0] - left, middle[1] - top]


def object_windows(
    template: Template, samples: Sequence[Sample], settings: TrainingSettings, draws: int, *,
    part: int = 0, threads: int = 1,
) -> Iterator[Windows]:  # fmt: skip
    """Windows of all objects, picture by picture: `draws` of each. `part` tells sets of draws apart."""
    sampler = Sampler(template, settings)

    def cut(numbered: tuple[int, Sample]) -> Windows:
        number, sample = numbered
        image = sampler.channels.image(sample.read())
        # Beyond a frame the detector sees its edge go on; beyond a crop there was more of the same.
        border = cv2.BORDER_REFLECT_101 if sample.crop else cv2.BORDER_REPLICATE
        windows = []
        boxes = objects(sample, settings.crop_share)
        if template.border and not sample.crop:
            aspect = template.box[2] / template.box[3]
            whole = (completed(box, (image.shape[2], image.shape[1]), aspect) for box in boxes)
            boxes = [box for box in whole if box is not None]
        for index, box in enumerate(boxes):
            random = np.random.default_rng([settings.seed, part, number, index])
            for _ in range(draws):
                draw, rung = Draw.random(settings, random), int(random.integers(PER_OCTAVE))
                windows.append(sampler.window(image, box, draw, rung, border))
        return np.array(windows, np.uint8).reshape(-1, *template.shape)

    wanted = ((i, sample) for i, sample in enumerate(samples) if sample.boxes)
    return ordered(cut, wanted, threads)


def objects(sample: Sample, crop_share: float) -> list[Box]:
    """The objects to be learned: of a crop, the part in its middle that the object takes."""
    boxes = [box for box in sample.boxes if not box.ignore]
    if not sample.crop or crop_share == 1.0:
        return boxes
    rest = (1 - crop_share) / 2
    return [
        Box(box.x + rest * box.width, box.y + rest * box.height, crop_share * box.width,
            crop_share * box.height, box.label)
        for box in boxes
    ]  # fmt: skip

