"""Datasets of openml.org, kept as arrays: reading their text format takes minutes, reading arrays does not."""

import io
import json
import logging
import shutil
import socket
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcquack.datasets.dataset import one_at_a_time
from mcquack.errors import DataFileError, DownloadError
from mcquack.files import replace_file

_log = logging.getLogger("mcquack")
_alone = threading.Lock()


def write_openml(data_id: int, path: Path, *, read_seconds: float) -> None:
    """Writes an ``.npz`` with ``data``, ``target``, ``feature_names`` and ``categories`` (JSON: feature to its values).

    A categorical feature holds the number of its value in ``categories``, and NaN where it is missing.
    """
    with one_at_a_time:
        from sklearn.datasets import fetch_openml

    # Whole answers of the server that have arrived are kept here until all have.
    home = path.with_name(f"{path.name}.partial")
    try:
        with _patched(read_seconds):
            found = fetch_openml(data_id=data_id, as_frame=False, parser="liac-arff", data_home=str(home))
        content = _npz_bytes(found)
    except (ValueError, LookupError) as error:  # also when the md5 that OpenML states is not that of what came
        raise DataFileError(f"the dataset {data_id} of openml.org cannot be used: {error}") from error
    except (OSError, HTTPException) as error:
        raise DownloadError(f"the dataset {data_id} of openml.org could not be downloaded: {error}") from error
    replace_file(path, content)
    shutil.rmtree(home, ignore_errors=True)


def _npz_bytes(found: Any) -> bytes:
    if not isinstance(found.data, np.ndarray) or found.target is None:
        raise ValueError("it is sparse or has no target")
    target = found.target if found.target.dtype.kind == "f" else found.target.astype(np.str_)
    content = io.BytesIO()
    np.savez_compressed(
        content,
        data=_narrowed(found.data),
        target=target,
        feature_names=np.array(found.feature_names, dtype=np.str_),
        categories=np.array(json.dumps(found.categories)),
    )
    return content.getvalue()


def _narrowed(data: NDArray[np.float64]) -> NDArray[Any]:
    """Bytes where all values are such, as in pictures: an eighth of the memory."""
    with np.errstate(invalid="ignore"):
        narrow = data.astype(np.uint8)
    return narrow if np.array_equal(narrow, data) else data


@contextmanager
def _patched(read_seconds: float) -> Iterator[None]:
    """Lets connections that are opened here end when a server keeps silent, and turns warnings into lines of the log.

    scikit-learn's connections would wait for ever, and it warns of every attempt that fails. Both settings are those of
    the whole process, so one fetches after the other.
    """
    with _alone, warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        before = socket.getdefaulttimeout()
        socket.setdefaulttimeout(read_seconds)
        try:
            yield
        finally:
            socket.setdefaulttimeout(before)
            for warning in told:
                _log.warning("%s", warning.message)
