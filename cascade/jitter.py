"""Jitter: an object moved, turned, lit and blurred a little, so that few objects stand for many."""

import math
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from cascade.recipe import TrainingSettings

OFTEN = 0.5  # of the windows are blurred, and of them are noisy
TURNS = 2.5  # standard deviations that an object is turned at most


@dataclass(frozen=True)
class Draw:
    """One variation. All that is random about a window is in here."""

    angle: float = 0.0  # radians
    size: float = 1.0
    shift: tuple[float, float] = (0.0, 0.0)  # pixels of the window
    flip: bool = False
    contrast: float = 1.0
    brightness: float = 0.0
    blur: float = 0.0  # pixels of the window
    noise: float = 0.0
    seed: int = 0  # of the noise

    @classmethod
    def random(cls, settings: TrainingSettings, random: np.random.Generator) -> "Draw":
        """Always takes the same number of random numbers, so that one setting does not stir the others."""
        turn, (size, dx, dy), (flip, contrast, light) = (
            random.standard_normal(), random.uniform(-1, 1, 3), random.uniform(0, 1, 3)
        )  # fmt: skip
        blurred, blur, noisy, noise = random.uniform(0, 1, 4)
        reach = settings.shift * settings.cell
        return cls(
            angle=math.radians(settings.turn) * float(np.clip(turn, -TURNS, TURNS)),
            size=math.exp(settings.stretch * size),
            shift=(reach * dx, reach * dy),
            flip=settings.flip and bool(flip < 0.5),
            contrast=settings.contrast ** (1.0 - 1.25 * contrast),  # sometimes a little more than it has
            brightness=settings.brightness * (2 * light - 1),
            blur=settings.blur * blur if blurred < OFTEN else 0.0,
            noise=settings.noise * noise if noisy < OFTEN else 0.0,
            seed=int(random.integers(2**32)),
        )

    def matrix(self, scale: float, middle: tuple[float, float], to: tuple[float, float],
               zoom: float) -> NDArray[np.float64]:  # fmt: skip
        """From pixels of a picture to pixels of a canvas: `scale` pixels for one, `middle` to `to`.
        `zoom` is how many of them make a pixel of the window."""
        length = scale * self.size
        cos, sin = length * math.cos(self.angle), length * math.sin(self.angle)
        turn = np.array([[-cos if self.flip else cos, -sin], [-sin if self.flip else sin, cos]])
        place = np.array(to) + zoom * np.array(self.shift)
        return np.hstack([turn, (place - turn @ np.array(middle))[:, None]])

    def light(self, pixels: NDArray[np.uint8], zoom: float) -> NDArray[np.uint8]:
        """The pixels in another light, seen through a worse lens."""
        image = pixels.astype(np.float32)
        if self.blur * zoom > 0.1:
            image = np.asarray(cv2.GaussianBlur(image, (0, 0), self.blur * zoom), np.float32)
        mean = float(image.mean())
        image = (image - mean) * np.float32(self.contrast) + np.float32(mean + self.brightness)
        if self.noise:
            random = np.random.default_rng(self.seed)
            image += np.float32(self.noise) * random.standard_normal(image.shape, np.float32)
        return np.asarray(np.rint(image).clip(0, 255), np.uint8)
