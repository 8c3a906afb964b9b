"""Compiled functions that Python calls, each version kept on disk between runs where there is a disk to keep it on.

No fault of that disk stops a computation: what cannot be read is compiled, and what cannot be kept runs all the same.
"""

import gc
import hashlib
import pickle
import re
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache, update_wrapper
from multiprocessing import current_process
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba import config, njit
from platformdirs import user_cache_path

from mcquack.errors import CompiledCodeWarning
from mcquack.files import replace_file
from mcquack.simulators.compiled.inner import IS_QUICK, accepted
from mcquack.simulators.compiled.lanes import processor

NOTICE = "mcquack: compiling the simulator, 10 to 15 s; the code is kept, and the next process finds it."

_PACKAGE = __name__.partition(".")[0]
_IMPORT = re.compile(rf"^\s*from\s+({_PACKAGE}(?:\.\w+)*)\s+import\b".encode(), re.MULTILINE)
_DIGEST_BYTES = 32
_compiling = threading.RLock()  # Numba compiles one function at a time, too


class Entry:
    """A compiled function for Python: one version of machine code for each combination of types of its arguments.

    Numba's own dispatcher takes a millisecond to find the types of a hundred arrays; here a version is found by what
    distinguishes these types.
    """

    def __init__(self, function: Callable[..., Any], options: Mapping[str, Any], *, keep: bool = True) -> None:
        update_wrapper(self, function)
        self.py_func = function
        self.n_loaded = 0
        self.folder: Path | None = None
        """Where the latest version was read from or written to."""
        self._options = accepted(options)
        self._keeps = keep and Path(function.__code__.co_filename).is_file()
        self._by_key: dict[tuple[Any, ...], Callable[..., Any]] = {}
        self._by_types: dict[tuple[Any, ...], Callable[..., Any]] = {}

    def __call__(self, *arguments: Any) -> Any:
        return self.version(*arguments)(*arguments)

    def version(self, *arguments: Any) -> Callable[..., Any]:
        """Return the machine code for arguments of these types, which must not be called with others."""
        key = tuple(map(_type_key, arguments))
        found = self._by_key.get(key)
        if found is None:
            types = tuple(numba.typeof(argument) for argument in arguments)
            with _compiling, _without_garbage_collection():
                if types not in self._by_types:
                    self._by_types[types] = self._loaded_or_compiled(types)
            found = self._by_key[key] = self._by_types[types]
        return found

    @property
    def signatures(self) -> list[tuple[Any, ...]]:
        """The types of the arguments of all versions that this process has loaded or compiled."""
        return list(self._by_types)

    def _loaded_or_compiled(self, types: tuple[Any, ...]) -> Callable[..., Any]:
        if not self._keeps:
            note_compiling()
            return _machine_code(njit(**self._options)(self.py_func), types)
        name, folders = self._file_name(types), _folders(self.py_func)
        for folder in folders:
            if kept := _read(folder / name):
                with suppress(Exception):  # Numba may raise anything for files of another kind of machine
                    run, files = _compiled_with(self.py_func, self._options, types, kept)
                    if not files:
                        self.folder, self.n_loaded = folder, self.n_loaded + 1
                        if config.CACHE_DIR and folder != folders[0]:  # an image may be built from that folder alone
                            self.folder = _write(folders[:1], name, kept) or folder
                        return run
        note_compiling()
        run, files = _compiled_with(self.py_func, self._options, types, {})
        if files:
            self.folder = _write(folders, name, files)
        return run

    def _file_name(self, types: tuple[Any, ...]) -> str:
        """A name for all that the machine code depends on: types, sources, versions and the processor."""
        function = self.py_func
        settings = numba.__version__, sys.implementation.cache_tag, IS_QUICK, sorted(self._options.items())
        digest = hashlib.sha256(repr((types, settings, processor())).encode())
        for module in _sources(function.__module__):
            digest.update(_source(module))
        return f"{function.__module__}.{function.__qualname__}-{digest.hexdigest()[:24]}.nbc"


def entry(function: Callable[..., Any]) -> Entry:
    """Compile a function that runs without Python's global lock, and keep the code on disk if possible."""
    return Entry(function, {"nogil": True})


def borrowing_entry(function: Callable[..., Any], *, keep: bool = True) -> Entry:
    """Compile a function that makes no arrays and counts no references to those that it is given.

    Where arrays are many, that spares much code around a call.
    """
    return Entry(function, {"nogil": True, "no_cfunc_wrapper": True, "_nrt": False}, keep=keep)


def _type_key(argument: Any) -> Any:
    """Return what decides which type Numba gives to an argument: of an array dtype, dimensions and layout."""
    if isinstance(argument, np.ndarray):
        return argument.dtype, argument.ndim, argument.flags.num  # of layout, alignment and whether it is writable
    if isinstance(argument, tuple):
        return type(argument), *map(_type_key, argument)
    return type(argument)


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Disable the cyclic garbage collector, which would look through all objects of the compiler again and again.

    That is a tenth of the time to compile, for some 100 MB that are freed soon after.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


# Compiled code on disk. Numba's own files are numbered by an index: two processes that compile for different types at
# once may both call theirs number one, and later code runs on arrays that it was not made for. They also depend on the
# file of the function alone, and not on those that it imports, and a flipped bit in them is not noticed. So Numba keeps
# its files in a temporary folder, and their content is kept here.


def _compiled_with(
    function: Callable[..., Any], options: Mapping[str, Any], types: tuple[Any, ...], kept: Mapping[str, bytes]
) -> tuple[Callable[..., Any], dict[str, bytes]]:
    """Return machine code, and Numba's files of it; no files where those in ``kept`` were all that was needed."""
    dispatcher = None
    try:
        with tempfile.TemporaryDirectory(prefix="mcquack-") as scratch:
            dispatcher = _caching_dispatcher(function, options, scratch)
            folder = Path(dispatcher.stats.cache_path)
            for name, content in kept.items():
                (folder / name).write_bytes(content)
            run = _machine_code(dispatcher, types)
            if dispatcher.stats.cache_hits:
                return run, {}
            return run, {path.name: path.read_bytes() for path in folder.iterdir()}
    except OSError as error:
        _warn_once("temporary files", error, remedy="TMPDIR")
    # Numba has compiled it before it failed to write, or is asked to keep nothing.
    return _machine_code(dispatcher or njit(**options)(function), types), {}


def _caching_dispatcher(function: Callable[..., Any], options: Mapping[str, Any], folder: str) -> Any:
    """Let Numba compile a function and keep its files in a folder."""
    before = config.CACHE_DIR
    config.CACHE_DIR = folder  # Numba reads it while it decorates
    try:
        return njit(cache=True, **options)(function)
    finally:
        config.CACHE_DIR = before


def _machine_code(dispatcher: Any, types: tuple[Any, ...]) -> Callable[..., Any]:
    """Return the version for these types, without the search for types that comes before it in a dispatcher."""
    found = dispatcher.compile(types)
    return found if callable(found) else dispatcher


def _folders(function: Callable[..., Any]) -> list[Path]:
    """Return where code may be kept, the best place first; a folder that can only be read may hold some as well."""
    given = [Path(config.CACHE_DIR) / _PACKAGE] if config.CACHE_DIR else []
    return [*given, Path(function.__code__.co_filename).parent / "__pycache__", user_cache_path(_PACKAGE) / "code"]


def _read(path: Path) -> Mapping[str, bytes]:
    """Return the files that were kept under a name; none where the content is not what was written."""
    try:
        content = path.read_bytes()
    except OSError:
        return {}
    digest, files = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
    # Machine code of which a bit has changed would run.
    return pickle.loads(files) if hashlib.sha256(files).digest() == digest else {}


def _write(folders: list[Path], name: str, files: Mapping[str, bytes]) -> Path | None:
    """Keep the files in the first folder that can be written to, and return it; a reader sees all of them or none."""
    content = pickle.dumps(files)
    errors = []
    for folder in folders:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            replace_file(folder / name, hashlib.sha256(content).digest() + content)
        except OSError as error:
            errors.append(error)
        else:
            return folder
    _warn_once(str(folders[0]), errors[0], remedy="NUMBA_CACHE_DIR")
    return None


@cache
def _source(name: str) -> bytes:
    path = getattr(sys.modules.get(name), "__file__", None)
    return Path(path).read_bytes() if path else b""


@cache
def _imports(name: str) -> tuple[str, ...]:
    # By its lines, as a parser would take longer than all else that is done to load compiled code.
    return tuple(sorted({found.decode() for found in _IMPORT.findall(_source(name))}))


def _sources(name: str) -> list[str]:
    """Return all modules that the code of a function in this module may come from: what it imports, and so on."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            waiting += _imports(module)
    return sorted(found)


# What users see.

said: set[str] = set()
"""What this process has said and need not say again."""
_asked: list[None] = []  # one for each fit whose compiling is to be noted, in whatever thread


def _warn_once(folder: str, error: OSError, *, remedy: str) -> None:
    """Warn that code cannot be kept: once, as a process has dozens of entries, and all of them lack the same folder."""
    if "warning" in said:
        return
    said.add("warning")
    warnings.warn(
        f"compiled code cannot be kept in {folder} ({error.strerror or error}), so every new process compiles it "
        f"again; set {remedy} to a folder that can be written to.",
        CompiledCodeWarning,
        stacklevel=2,
    )


@contextmanager
def noted_compiling(wanted: bool = True) -> Iterator[None]:
    """Note compilations on stderr in this context even where that is no terminal, if that is wanted.

    Examples
    --------
    >>> with noted_compiling():
    ...     pass  # what may have to compile
    """
    if not wanted:
        yield
        return
    _asked.append(None)
    try:
        yield
    finally:
        _asked.pop()


def note_compiling() -> None:
    """Say on stderr that something is compiled: once for a process, if it is the user's own and someone reads along."""
    # Workers of a benchmark compile at once, and each of them would say so.
    if "notice" in said or sys.stderr is None or current_process().name != "MainProcess":
        return
    if _asked or sys.stderr.isatty():
        said.add("notice")
        sys.stderr.write(f"{NOTICE}\n")
        sys.stderr.flush()
