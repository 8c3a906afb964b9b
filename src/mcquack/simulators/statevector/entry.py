"""Compiled functions that Python calls, kept on disk between runs."""

import hashlib
import pickle
import secrets
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba import njit
from numba.core.serialize import dumps

_PACKAGE = Path(__file__).parents[2]


@cache
def _source_digest() -> str:
    """Changes with any file that compiled code may come from."""
    digest = hashlib.sha256(numba.__version__.encode())
    for folder in ("simulators", "kernels", "training"):
        for path in sorted((_PACKAGE / folder).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()


class _Shelf:
    """One file for each compiled version of a function, named by all that the code depends on.

    Numba's own index numbers these files: two processes that compile for different types at once may each call theirs
    number one, and later code runs on arrays it was not made for. It also knows only the file of the function itself,
    and keeps code whose parts from other files have changed.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder
        self.name = name

    def _path(self, key: Any) -> Path:
        version = hashlib.sha256(f"{_source_digest()} {key!r}".encode()).hexdigest()[:24]
        return self.folder / f"{self.name}-{version}.nbc"

    def load(self, key: Any) -> Any:
        """The code for this key, or None."""
        try:
            return pickle.loads(self._path(key).read_bytes())
        except OSError:
            return None

    def save(self, key: Any, data: Any) -> None:
        """Keeps the code; a reader sees all of it or nothing."""
        path = self._path(key)
        temporary = path.with_suffix(f".{secrets.token_hex(8)}")
        temporary.write_bytes(dumps(data))
        temporary.replace(path)

    def flush(self) -> None:
        """Nothing to do: code that no longer fits is never asked for."""


def entry(function: Callable[..., Any]) -> Any:
    """Compiles a function, without the global lock while it runs, and keeps the code on disk."""
    dispatcher = njit(nogil=True, cache=True)(function)
    kept = dispatcher._cache
    # Numba has no public place for this. Should a later version move it, its own way of keeping code remains.
    if hasattr(kept, "_cache_file") and hasattr(kept, "_cache_path"):
        kept._cache_file = _Shelf(Path(kept._cache_path), f"{function.__module__}.{function.__qualname__}")
    return dispatcher
