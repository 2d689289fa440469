"""Data in: any of the label formats that people have becomes a list of Samples.

    data = load("photos")            # the format is recognised; load("photos", "yolo") forces it
    data.samples, data.classes, data.problems
"""

from cascade.dataset.dataset import Dataset, load
from cascade.dataset.folder import DatasetError, Problem
from cascade.dataset.images import ImageError, read_image
from cascade.dataset.sample import Box, Sample
from cascade.dataset.split import split

__all__ = ["Box", "Dataset", "DatasetError", "ImageError", "Problem", "Sample", "load", "read_image", "split"]
