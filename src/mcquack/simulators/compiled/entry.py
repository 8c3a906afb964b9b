"""Compiled functions that Python calls, kept on disk between runs."""

import hashlib
import pickle
import re
import secrets
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba import njit
from numba.core.serialize import dumps

_PACKAGE = __name__.partition(".")[0]
_IMPORT = re.compile(rf"^\s*from\s+({_PACKAGE}(?:\.\w+)*)\s+import\b".encode(), re.MULTILINE)


@cache
def _source(name: str) -> bytes:
    path = getattr(sys.modules.get(name), "__file__", None)
    return Path(path).read_bytes() if path else b""


@cache
def _imports(name: str) -> tuple[str, ...]:
    # By its lines, as a parser would take longer than all else that is done to load compiled code.
    return tuple(sorted({found.decode() for found in _IMPORT.findall(_source(name))}))


def _sources(name: str) -> list[str]:
    """Names of all modules that the code of a function in this module may come from: what it imports, and so on."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            waiting += _imports(module)
    return sorted(found)


class _Shelf:
    """One file for each compiled version of a function, named by all that the code depends on.

    Numba's own index numbers these files: two processes that compile for different types at once may each call theirs
    number one, and later code runs on arrays it was not made for. It also knows only the file of the function itself,
    and keeps code whose parts from other files have changed.
    """

    def __init__(self, folder: Path, function: Callable[..., Any]) -> None:
        self.folder = folder
        self.module, self.name = function.__module__, function.__qualname__

    def _path(self, key: Any) -> Path:
        digest = hashlib.sha256(f"{numba.__version__} {key!r}".encode())
        for module in _sources(self.module):
            digest.update(_source(module))
        return self.folder / f"{self.module}.{self.name}-{digest.hexdigest()[:24]}.nbc"

    def load(self, key: Any) -> Any:
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
        kept._cache_file = _Shelf(Path(kept._cache_path), function)
    return dispatcher
