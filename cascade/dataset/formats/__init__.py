"""Label formats, one file each: `recognise(folder)` says why it fits, `read(folder)` gives its samples."""

from types import ModuleType

from cascade.dataset.formats import crops, csv, negatives, voc

# In the order in which they are tried: annotations count more than the names of folders.
FORMATS: dict[str, ModuleType] = {"voc": voc, "csv": csv, "crops": crops, "negatives": negatives}
