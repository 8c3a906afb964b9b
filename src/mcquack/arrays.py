"""What arrays are called in signatures; each name is defined here and nowhere else."""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.floating]
IntArray = NDArray[np.int64]
