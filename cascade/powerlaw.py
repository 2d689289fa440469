"""How planes change with the scale of their image [Dollar 2014].

The mean of a plane of gradients grows as its image shrinks, by scale to the power of -lambda: an edge stays
an edge, while what is smooth around it gets less. With that, the scales between octaves need not be computed.
"""

from collections.abc import Iterable

import numpy as np

from cascade.channels import Channels, Image, resize

UNIT = 65536  # exponents are in 1/65536
STEPS = 8  # scales of an octave that are looked at
LEAST = 16  # cells a side of an image that says something
USUAL = (0, 7209, 7209)  # 0.11, what photos have


def exponents(images: Iterable[Image], channels: Channels) -> tuple[int, int, int]:
    """Those of intensity, magnitude and orientations over all images; the usual ones if none is large enough.

    Least squares of log2 of how much brighter planes get, against the octaves that their image shrinks by.
    """
    totals = np.zeros((STEPS + 1, 3))
    for image in images:
        if min(image.shape[1:]) >= LEAST * channels.cell:
            totals += [_means(image, channels, step) for step in range(STEPS + 1)]
    if (totals <= 0).any():
        return USUAL
    octaves = np.arange(1, STEPS + 1) / STEPS
    growth = np.log2(totals[1:] / totals[0])
    slopes = octaves @ growth / (octaves @ octaves)
    first, second, third = (int(np.rint(UNIT * slope)) for slope in slopes)
    return first, second, third


def _means(image: Image, channels: Channels, step: int) -> list[float]:
    """Mean intensity, magnitude and orientations of an image scaled down by some steps of an octave."""
    ratio = 2.0 ** (-step / STEPS)
    height, width = (round(side * ratio) for side in image.shape[1:])
    planes = channels.planes(resize(image, width, height))
    means = planes.mean(axis=(1, 2))
    return [float(means[0]), float(means[channels.count - 7]), float(means[-6:].mean())]
