"""Arrays in NumPy's zip archives."""

import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcquack.errors import DataFileError


def npz_arrays(path: Path, *names: str) -> tuple[NDArray[Any], ...]:
    """Arrays of an npz file by name; nothing in it is executed."""
    try:
        # Opened here, since NumPy would leave a broken archive open.
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            return tuple(file[name] for name in names)
    except (KeyError, ValueError, TypeError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise DataFileError(f"{path} cannot be read ({error}); replace it by the original file.") from error
