"""cascade: train, run and ship real-time object detectors on plain CPUs and microcontrollers."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from cascade.version import VERSION as __version__

if TYPE_CHECKING:
    from cascade.boosting import Boosted, boost
    from cascade.boxes import Detections
    from cascade.classifier import BoostedTreesClassifier
    from cascade.detector import Detector
    from cascade.evaluation import evaluate
    from cascade.model import Model, ModelFormatError
    from cascade.settings import Settings
    from cascade.training import train
    from cascade.trees import Trees

# Loaded when first used, so that a program that only detects never pays for the trainer.
_HOME = {
    "Boosted": "cascade.boosting",
    "BoostedTreesClassifier": "cascade.classifier",
    "Detections": "cascade.boxes",
    "Detector": "cascade.detector",
    "Model": "cascade.model",
    "ModelFormatError": "cascade.model",
    "Settings": "cascade.settings",
    "Trees": "cascade.trees",
    "boost": "cascade.boosting",
    "evaluate": "cascade.evaluation",
    "train": "cascade.training",
}

__all__ = [
    "Boosted",
    "BoostedTreesClassifier",
    "Detections",
    "Detector",
    "Model",
    "ModelFormatError",
    "Settings",
    "Trees",
    "__version__",
    "boost",
    "evaluate",
    "train",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'cascade' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return __all__
