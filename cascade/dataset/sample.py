"""Sample: one picture and the objects in it, whatever format it came in."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cascade.dataset.images import read_image
from cascade.dataset.vec import read_frame

PARTS = ("train", "valid", "test")
UNNAMED = "object"  # the class of objects that nobody gave a name


@dataclass(frozen=True)
class Box:
    """Where an object is, in pixels of the upright picture; it may reach out of the picture.

    Only who cuts pixels out clips it (sampling, drawing). Matching takes it whole: its size and middle are
    those of the object, not of the part that the camera saw.
    """

    x: float
    y: float
    width: float
    height: float
    label: str = ""
    ignore: bool = False  # neither to be found nor a mistake to find: crowds, difficult ones


@dataclass(frozen=True)
class Sample:
    """A picture; without boxes it shows no object."""

    path: Path
    boxes: tuple[Box, ...] = ()
    part: str = "train"  # train, valid or test
    crop: bool = False  # one object cut out tightly; its box is the whole picture
    frame: int = 0  # number within a file of many pictures

    @property
    def name(self) -> str:
        """What to call it in a sentence."""
        return f"{self.path}#{self.frame}" if self.in_vec else str(self.path)

    @property
    def in_vec(self) -> bool:
        return self.path.suffix.lower() == ".vec"

    def read(self) -> NDArray[np.uint8]:
        """The pixels, (h, w) grey or (h, w, 3) BGR; ImageError if they cannot be had."""
        if self.in_vec:  # the file does not say how wide its pictures are; the box does
            box = self.boxes[0]
            return read_frame(self.path, self.frame, int(box.width), int(box.height))
        return read_image(self.path)
