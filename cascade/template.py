"""A model before it has trees: what a window is, and where the object lies in it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cascade.channels import PLANES, Channels, Image
from cascade.dataset import Box, Sample
from cascade.features import CellPool, Pool
from cascade.model import NEVER_REJECT, Model
from cascade.powerlaw import USUAL, exponents
from cascade.recipe import TrainingSettings
from cascade.sigmoid import Sigmoid
from cascade.trees import Trees

UNIT = 256  # boxes inside a window are in 1/256 of a cell
SCORE_UNIT = 1 / 256  # of a decision: what a leaf counts in
LEAST_SIDE, LONGEST = 8, 128  # pixels of an object in its window
LOOKS = 100  # pictures, at least, that are looked at before training
LAWS, MIDDLE = 50, 512  # pictures that tell how planes change with scale, and pixels a side of their middles
COLOURED = 4.0  # grey levels between the channels of a coloured picture, on average
BORDER = 0.25  # how far to look beyond pictures that cut objects off
OFTEN_CUT = 0.05  # of the objects
EDGE = 0.01  # of a picture's side: an object this near its edge may go on beyond it
SMALL = 10.0  # per cent of the objects that may be smaller than the window shows them


@dataclass(frozen=True)
class Look:
    """What a few pictures with objects tell about the others."""

    coloured: float  # the share of the pictures that show colours
    cut: float  # the share of the objects that their picture seems to cut off

    @classmethod
    def at(cls, samples: Sequence[Sample]) -> "Look":
        showing = [sample for sample in samples if sample.boxes]
        coloured, cut = [], []
        for sample in showing[:: max(1, len(showing) // LOOKS)]:
            pixels = sample.read()
            coloured.append(pixels.ndim == 3 and float(np.ptp(pixels[::4, ::4], axis=2).mean()) > COLOURED)
            size = pixels.shape[1], pixels.shape[0]
            cut += [any(cut_sides(box, size)) for box in sample.boxes if not sample.crop]
        return cls(float(np.mean(coloured)), float(np.mean(cut)) if cut else 0.0)


@dataclass(frozen=True)
class Template:
    cell: int
    smooth: int
    normalise: int
    window: tuple[int, int]  # in cells
    box: tuple[int, int, int, int]  # of the object, in 1/256 of a cell
    channels: str = "grey"  # or colour
    lambdas: tuple[int, int, int] = USUAL
    border: int = 0  # how far beyond a picture objects are looked for, in 1/256 of its shorter side

    @classmethod
    def of(cls, samples: Sequence[Sample], settings: TrainingSettings) -> "Template":
        """A window that the objects of some pictures fit into: of their median shape."""
        sizes = object_sizes(samples, settings.crop_share)
        if not len(sizes):
            raise ValueError("expected pictures with objects to train on, got none with a box")
        aspect = math.exp(float(np.median(np.log(sizes[:, 0] / sizes[:, 1]))))
        small = float(np.percentile(sizes.min(axis=1), SMALL))
        side = max(LEAST_SIDE, min(settings.side, round(small)))
        width, height = side * max(aspect, 1.0), side * max(1 / aspect, 1.0)
        shrink = min(1.0, LONGEST / max(width, height))
        look = Look.at(samples)
        channels, border = settings.channels, settings.border
        if channels == "auto":
            channels = "colour" if look.coloured > 0.5 else "grey"
        if border is None:
            border = BORDER if look.cut > OFTEN_CUT else 0.0
        template = cls.around(width * shrink, height * shrink, channels, round(256 * border), settings)
        planes = Channels(channels, template.cell, template.smooth, template.normalise)
        return replace(template, lambdas=power_law(samples, planes))

    @classmethod
    def around(
        cls, width: float, height: float, channels: str, border: int,
        settings: TrainingSettings,
    ) -> "Template":  # fmt: skip
        """A window around an object of so many pixels."""
        cell = settings.cell
        window = tuple(max(4, round(side * (1 + settings.context) / cell)) for side in (width, height))
        sizes = tuple(round(UNIT * side / cell) for side in (width, height))
        places = tuple((UNIT * cells - size) // 2 for cells, size in zip(window, sizes, strict=True))
        return cls(
            cell, settings.smooth, settings.normalise, (window[0], window[1]),
            (places[0], places[1], sizes[0], sizes[1]), channels, border=border,
        )  # fmt: skip

    @classmethod
    def of_model(cls, model: Model) -> "Template":
        """What a model's trees were grown on."""
        if model.kind != "cell":
            raise ValueError(f"expected a model of cell features, got {model.kind}")
        lambdas = model.lambdas[0], model.lambdas[1], model.lambdas[2]
        return cls(model.cell, model.smooth, model.normalise, model.window, model.box, model.channels,
                   lambdas, model.border)  # fmt: skip

    @property
    def pool(self) -> Pool:
        """What a tree may look at in a window."""
        return CellPool(PLANES[self.channels], *self.window)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Planes, height and width of a window, in cells."""
        return PLANES[self.channels], self.window[1], self.window[0]

    @property
    def object_size(self) -> tuple[float, float]:
        """Width and height of the object, in pixels of the window."""
        return self.box[2] * self.cell / UNIT, self.box[3] * self.cell / UNIT

    def empty(self) -> Model:
        """A model that lets every window pass."""
        one = Trees(np.zeros((1, 3), np.int32), np.full((1, 3), 255, np.uint8), np.zeros((1, 4)))
        return self.model(one, np.zeros((1, 4), np.int16), np.full(1, NEVER_REJECT, np.int16))

    def model(
        self, trees: Trees, leaf: NDArray[np.int16], reject: NDArray[np.int16], *, shift: int = 0,
        sigmoid: Sigmoid | None = None, name: str = "untitled", classes: tuple[str, ...] = ("object",),
        metadata: Mapping[str, str] | None = None,
    ) -> Model:  # fmt: skip
        """The model that trees make of this."""
        return Model(
            name=name, channels=self.channels, cell=self.cell, smooth=self.smooth,
            normalise=self.normalise, window=self.window, box=self.box, lambdas=self.lambdas,
            **self.pool.fields(trees), leaf=leaf, reject=reject, reject_shift=shift,
             score_unit=SCORE_UNIT, sigmoid=sigmoid, classes=classes,
            border=self.border, metadata=metadata or {},
        )  # fmt: skip


def object_sizes(samples: Sequence[Sample], crop_share: float) -> NDArray[np.float64]:
    """Widths and heights of the objects that are to be found."""
    rows = [
        (box.width * share, box.height * share)
        for sample in samples
        for share in [crop_share if sample.crop else 1.0]
        for box in sample.boxes
        if not box.ignore
    ]
    return np.array(rows, np.float64).reshape(-1, 2)


def power_law(samples: Sequence[Sample], channels: Channels) -> tuple[int, int, int]:
    """How the planes of some pictures change with scale, from the middles of a few of them."""
    looked_at = samples[:: max(1, len(samples) // LAWS)]
    return exponents((_middle(channels.image(sample.read())) for sample in looked_at), channels)


def _middle(image: Image) -> Image:
    _, height, width = image.shape
    top, left = max(0, (height - MIDDLE) // 2), max(0, (width - MIDDLE) // 2)
    return np.ascontiguousarray(image[:, top : top + MIDDLE, left : left + MIDDLE])


def cut_sides(box: Box, size: tuple[int, int]) -> tuple[bool, bool, bool, bool]:
    """On which sides (left, top, right, bottom) a picture seems to cut an object off."""
    width, height = size
    return (
        box.x <= EDGE * width,
        box.y <= EDGE * height,
        box.x + box.width >= (1 - EDGE) * width,
        box.y + box.height >= (1 - EDGE) * height,
    )


def completed(box: Box, size: tuple[int, int], aspect: float) -> Box | None:
    """An object that a picture cuts off on one side, as large as its other side tells.

    None if it is cut off on more sides than one, or more than half of it is missing: nobody knows where its
    middle is.
    """
    left, top, right, bottom = cut_sides(box, size)
    if not (left or top or right or bottom):
        return box
    if left + top + right + bottom > 1:
        return None
    width = max(box.width, box.height * aspect) if left or right else box.width
    height = max(box.height, box.width / aspect) if top or bottom else box.height
    if width * height > 2 * box.width * box.height:
        return None
    x = box.x + box.width - width if left else box.x
    y = box.y + box.height - height if top else box.y
    return replace(box, x=x, y=y, width=width, height=height)
