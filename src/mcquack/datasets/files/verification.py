"""Whether a file is the one that was meant."""

import contextlib
import hashlib
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from mcquack.datasets.files.data_file import DataFile
from mcquack.files import replace_file

LARGE = 64 << 20
"""Bytes; to read more than this takes a good part of a second."""


def flaw_unless_known(path: Path, file: DataFile, *, notes: Path) -> str | None:
    """As ``flaw``, but a large file that has not changed since it was found right is not read again.

    ``notes`` is the folder in which that is written down.
    """
    if file.checksum is None or not path.is_file() or path.stat().st_size < LARGE:
        return flaw(path, file)
    note = notes / hashlib.sha256(str(path).encode()).hexdigest()[:16]
    status = path.stat()
    claim = json.dumps([str(path), file.checksum, status.st_size, status.st_mtime_ns, status.st_ino]).encode()
    if note.is_file() and note.read_bytes() == claim:
        return None
    problem = flaw(path, file)
    if problem is None:
        with contextlib.suppress(OSError):  # without the note it is only slower
            notes.mkdir(parents=True, exist_ok=True)
            replace_file(note, claim)
    return problem


def flaw(path: Path, file: DataFile) -> str | None:
    """What is wrong with the file at ``path``, as half a sentence; None if it is the one that was meant."""
    try:
        n_bytes = path.stat().st_size
        if file.n_bytes not in (None, n_bytes):
            return f"it has {n_bytes:,} bytes instead of {file.n_bytes:,}"
        with path.open("rb") as stream:
            beginning = stream.read(len(file.magic))
        if beginning != file.magic:
            return f"it begins with {beginning!r} instead of {file.magic!r}, so it is of another kind"
        found = None if file.checksum is None else checksum(path, kind=file.checksum.partition(":")[0])
    except OSError as error:
        return f"it cannot be read ({error.strerror})"
    return None if found == file.checksum else f"its checksum is {found} instead of {file.checksum}"


def checksum(path: Path, *, kind: str) -> str:
    """``sha256:…``, ``md5:…``, or ``git:…``, the name under which git keeps a file of this content."""
    with path.open("rb") as stream:
        # A checksum here guards against accidents, so systems that forbid md5 for secrets may allow it.
        new: Callable[[], Any] = partial(hashlib.new, kind, usedforsecurity=False)
        if kind == "git":
            header = f"blob {path.stat().st_size}\0".encode()
            new = partial(hashlib.sha1, header, usedforsecurity=False)
        return f"{kind}:{hashlib.file_digest(stream, new).hexdigest()}"
