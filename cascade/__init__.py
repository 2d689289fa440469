"""cascade: train, run and ship real-time object detectors on plain CPUs and microcontrollers."""

from cascade.version import VERSION as __version__

__all__ = ["__version__"]
