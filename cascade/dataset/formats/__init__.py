"""Label formats, one file each: `recognise(folder)` says why it fits, `read(folder)` gives its samples."""

from types import ModuleType

from cascade.dataset.formats import coco, crops, csv, dlib, negatives, opencv, voc, yolo

# In the order in which they are tried: annotations count more than the names of folders.
FORMATS: dict[str, ModuleType] = {
    "yolo": yolo, "coco": coco, "voc": voc, "dlib": dlib, "opencv": opencv, "csv": csv,
    "crops": crops, "negatives": negatives,
}  # fmt: skip
