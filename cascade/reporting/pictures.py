"""Pictures inside a page: as data, with boxes drawn over them."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from cascade.reporting.text import escaped

THUMB = 168  # pixels of the longer side
AROUND = 0.4  # of an object's longer side, what is shown on each side of it
QUALITY = 82

Frame = NDArray[np.uint8]
Corners = Sequence[float]  # x1, y1, x2, y2


@dataclass(frozen=True)
class Outline:
    """A box to draw; `look` is its style on the page: true, found or false."""

    xyxy: Corners
    look: str


def data_uri(image: NDArray[np.uint8], lossless: bool = False) -> str:
    """A picture as an address that holds it: JPEG, or PNG where every byte or transparency counts."""
    if not image.size:
        raise ValueError(f"expected a picture with pixels, got shape {image.shape}")
    kind, options = ("png", []) if lossless else ("jpeg", [int(cv2.IMWRITE_JPEG_QUALITY), QUALITY])
    _, data = cv2.imencode(f".{kind}", image, options)
    return f"data:image/{kind};base64,{base64.b64encode(np.asarray(data).tobytes()).decode()}"


def thumbnail(frame: Frame, about: Corners, outlines: Sequence[Outline], words: str) -> str:
    """A square around a box, with boxes drawn into it; `words` are for those who cannot see it."""
    left, top, side = _square(frame, about)
    part = frame[max(0, top) : top + side, max(0, left) : left + side]
    zoom = THUMB / side
    width, height = (max(1, round(length * zoom)) for length in part.shape[1::-1])
    method = cv2.INTER_AREA if zoom < 1 else cv2.INTER_CUBIC
    small = np.asarray(cv2.resize(part, (width, height), interpolation=method), np.uint8)
    at = f'x="{max(0.0, -left * zoom):.1f}" y="{max(0.0, -top * zoom):.1f}"'
    boxes = "".join(_outline(outline, left, top, zoom) for outline in outlines)
    return (
        f'<svg class="thumb" viewBox="0 0 {THUMB} {THUMB}" role="img" aria-label="{escaped(words)}">'
        f'<image {at} width="{width}" height="{height}" href="{data_uri(small)}"/>{boxes}</svg>'
    )


def _square(frame: Frame, about: Corners) -> tuple[int, int, int]:
    """Left, top and side of what to show: a box in its middle, but for where the frame ends."""
    longer = max(about[2] - about[0], about[3] - about[1])
    side = max(1, min(round((1 + 2 * AROUND) * longer), max(frame.shape[:2])))
    starts = []
    for low, high, length in zip(about[:2], about[2:], frame.shape[1::-1], strict=True):
        start = round((low + high - side) / 2)
        # A frame that is smaller than the square lies in the middle of it.
        starts.append(min(max(start, 0), length - side) if length >= side else (length - side) // 2)
    return starts[0], starts[1], side


def _outline(outline: Outline, left: int, top: int, zoom: float) -> str:
    x1, y1, x2, y2 = ((place - (left, top)[i % 2]) * zoom for i, place in enumerate(outline.xyxy))
    where = f'x="{x1:.1f}" y="{y1:.1f}" width="{max(0.0, x2 - x1):.1f}" height="{max(0.0, y2 - y1):.1f}"'
    return f'<rect class="under" {where}/><rect class="box {outline.look}" {where}/>'
