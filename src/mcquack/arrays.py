"""Names for arrays in signatures, so that each is defined once."""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.floating]
IntArray = NDArray[np.int64]
ComplexArray = NDArray[np.complex128]
