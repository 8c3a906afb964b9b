"""Compiled functions that Python calls, kept on disk between runs where there is a disk to keep them on.

No fault of that disk stops a computation: what cannot be read is compiled, and what cannot be kept runs all the same.
"""

import errno
import gc
import hashlib
import os
import pickle
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba import njit
from numba.core import config
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
from numba.core.serialize import dumps

from mcquack.errors import CompiledCodeWarning
from mcquack.files import replace_file

_PACKAGE = __name__.partition(".")[0]
_IMPORT = re.compile(rf"^\s*from\s+({_PACKAGE}(?:\.\w+)*)\s+import\b".encode(), re.MULTILINE)
_DIGEST_BYTES = 32


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


class _CodeStore:
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
            content = self._path(key).read_bytes()
        except OSError:
            return None
        digest, code = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
        # Machine code of which a bit has changed would run. What is compiled in its place replaces it.
        return pickle.loads(code) if hashlib.sha256(code).digest() == digest else None

    def save(self, key: Any, data: Any) -> None:
        """Keeps the code; a reader sees all of it or nothing."""
        code = dumps(data)
        replace_file(self._path(key), hashlib.sha256(code).digest() + code)

    def flush(self) -> None:
        """Nothing to do: code that no longer fits is never asked for."""


class _ReadOnlyPlace:
    """Where code is looked for when Numba finds no folder that it may write to: it may be there, but no more is kept.

    An image may be built with the code that its users need and are not allowed to change.
    """

    def __init__(self, file: str) -> None:
        self._py_file = file  # Numba names it in its warnings
        given = config.CACHE_DIR
        below = Path(given) / _CacheLocator.get_suitable_cache_subpath(file) if given else None
        self._folder = below or Path(file).parent / "__pycache__"

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> "_ReadOnlyPlace":
        return cls(file)

    def get_cache_path(self) -> str:
        return str(self._folder)

    def ensure_cache_path(self) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(self._folder))

    def get_source_stamp(self) -> str:
        return ""  # of Numba's own files, which are not used here

    def get_disambiguator(self) -> str:
        return ""


class _Places(CompileResultCacheImpl):
    _locator_classes = (*CompileResultCacheImpl._locator_classes, _ReadOnlyPlace)


class _Cache(FunctionCache):
    """Numba's, but that its faults stop nobody."""

    _impl_class = _Places

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # a damaged pickle may raise anything
            with suppress(OSError):
                self.flush()  # what cannot be read would also be in the way of what is compiled now
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except OSError as error:
            _warn_once(self.cache_path, error.strerror or str(error))


_warned: list[str] = []


def _warn_once(folder: str, reason: str) -> None:
    """One warning is enough: a process has dozens of entries, and all of them lack the same folder."""
    if _warned:
        return
    _warned.append(folder)
    warnings.warn(
        f"compiled code cannot be kept in {folder} ({reason}), so every new process compiles it again; set "
        "NUMBA_CACHE_DIR to a folder that can be written to.",
        CompiledCodeWarning,
        stacklevel=2,
    )


@contextmanager
def _collecting_later() -> Iterator[None]:
    """Meanwhile Python looks for no cycles of garbage: it would look through all of the compiler's objects each time.

    That is a tenth of the time to compile, for some 100 MB that are freed soon after.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def entry(function: Callable[..., Any]) -> Any:
    """Compiles a function, without the global lock while it runs, and keeps the code on disk if it can."""
    return _kept(njit(nogil=True)(function), function)


def borrowing_entry(function: Callable[..., Any], *, keep: bool = True) -> Any:
    """An entry that makes no arrays, and counts no references to those that Python gives it and holds meanwhile.

    Where arrays are many, that spares much code around a call.
    """
    dispatcher = njit(nogil=True, no_cfunc_wrapper=True, _nrt=False)(function)
    return _kept(dispatcher, function) if keep else dispatcher


def _kept(dispatcher: Any, function: Callable[..., Any]) -> Any:
    dispatcher.compile = _collecting_later()(dispatcher.compile)
    kept = _Cache(function)
    # Numba has no public place for this. Should a later version move it, its own way of keeping code remains.
    if hasattr(kept, "_cache_file") and hasattr(kept, "_cache_path"):
        kept._cache_file = _CodeStore(Path(kept._cache_path), function)
    dispatcher._cache = kept
    return dispatcher
