"""Constants and codes that Python and the kernels share; the C twins are in cython_ext/histogram.h."""

from typing import Final

LANES: Final = 8  # features whose histograms lie interleaved in one group
BINS: Final = 256  # a feature is a byte, so binning it is the identity
MAX_DEPTH: Final = 8
MAX_SAMPLES: Final = 2**31 - 1  # columns are int32
UNSPLIT: Final = 255  # a threshold that no byte exceeds: everything goes left

# Gini impurity is the variance of labels -1/+1 up to a factor of two, so they share a code [Appel 7.2].
CRITERIA: Final = {"error": 0, "gini": 1, "variance": 1, "entropy": 2}
LOSSES: Final = {"adaboost": 0, "logitboost": 1, "l2boost": 2, "vebboost": 3, "ebboost": 3}
