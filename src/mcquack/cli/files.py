"""Files that commands write: never half, never over something by accident."""

import errno
import os
from collections.abc import Iterable
from pathlib import Path

from mcquack.errors import InvalidInputError
from mcquack.files import replace_file


def check_can_write(path: Path, *, overwrite: bool, inputs: Iterable[Path] = (), regular: bool = False) -> None:
    """Refuses before the work is done what would fail, or be regretted, after it."""
    if path.is_dir():
        raise InvalidInputError(f"{path} is a folder; give the name of a file.")
    if regular and path.exists() and not path.is_file():
        raise InvalidInputError(f"{path} is a device or a pipe; give the name of a file.")
    if not path.parent.is_dir():
        raise InvalidInputError(f"the folder {path.parent} does not exist; make it first.")
    if path.exists() and any(source.exists() and path.samefile(source) for source in inputs):
        raise InvalidInputError(f"{path} is one of the files to read; give another name to write to.")
    if path.exists() and not overwrite:
        raise InvalidInputError(f"{path} exists already; give another name, or --force to replace it.")
    if not os.access(path.parent, os.W_OK):
        raise PermissionError(errno.EACCES, "no permission to write in the folder", str(path.parent))


def write_whole(path: Path, content: bytes) -> None:
    """All of it or nothing: a reader sees the old file or the new one."""
    path = path.resolve()  # a link stays a link
    if path.exists() and not path.is_file():  # a pipe or a device cannot be replaced
        path.write_bytes(content)
        return
    replace_file(path, content)
