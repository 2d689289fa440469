from typing import Any

import numpy as np
from numpy.typing import NDArray

def node_error(criterion: int, totals: NDArray[np.int64]) -> int: ...

# Each of these is indexed by the type of a cell first: first_subset["int32_t"](...).
histograms: Any
first_subset: Any
sibling_subsets: Any
finish: Any
