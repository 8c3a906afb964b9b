"""Files that are written whole or not at all, that are files indeed when read, and do nothing where they are opened."""

import contextlib
import os
import re
import secrets
import stat
import time
from pathlib import Path
from typing import Any, BinaryIO

from mcquack.errors import InvalidInputError

try:
    import fcntl
except ImportError:  # Windows has no such locks, and does not let go of files that are open
    fcntl = None  # type: ignore[assignment]

# What a save that was killed leaves behind. Those of version 0.1 were not locked while they were written.
_OURS = re.compile(r"\.mcquack-(?P<locked>save-)?[0-9a-f]{16}\.tmp")
_ABANDONED_AFTER = 24 * 3600.0  # in seconds, where no lock tells
_FORMULA_STARTS = "=+-@\t\n＝＋－＠"


def inert_cell(value: Any) -> Any:
    """A cell of a CSV that people open: a text that a spreadsheet would take for a formula begins with an apostrophe.

    Numbers stay as they are, also those that are written as text. A carriage return becomes a line break, which is
    quoted: what follows would be the first cell of a line of its own.

    >>> inert_cell("=1+1"), inert_cell("-0.5"), inert_cell(-0.5), inert_cell("svc")
    ("'=1+1", '-0.5', -0.5, 'svc')
    """
    if not isinstance(value, str):
        return value
    text = value.replace("\r\n", "\n").replace("\r", "\n")
    if not text.startswith(tuple(_FORMULA_STARTS)):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text


def replace_file(path: Path, content: bytes) -> None:
    """Puts ``content`` at ``path`` in one step: whatever happens, a reader finds the old file or the new one.

    The new file may be read and written by those who might use the old one, and never by more on the way. What a
    process that was killed here has left in the folder is removed. An OSError names ``path``.
    """
    try:
        _remove_abandoned(path.parent)
        temporary, stream = _created_beside(path)
        try:
            with stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
                if path.exists():
                    temporary.chmod(stat.S_IMODE(path.stat().st_mode))
                if fcntl is not None:  # before the lock is given back
                    temporary.replace(path)
            if fcntl is None:
                temporary.replace(path)
        except BaseException:  # also when the user interrupts
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        if error.errno is not None:  # nobody has heard of the temporary file
            error.filename = str(path)
            if error.filename2 is not None:
                del error.filename2
        raise
    _sync_folder(path.parent)


_ORDINARY = "give the path of an ordinary file."
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a disk",
    stat.S_IFSOCK: "a socket",
}


def regular_file(
    path: Path,
    *,
    what: str,
    error: type[Exception] = InvalidInputError,
    hint: str = _ORDINARY,
) -> BinaryIO:
    """Opens a file for reading, if it is a regular one; the rest raises ``error``.

    Folders, pipes and devices, which may have no end or wait for somebody, are refused without reading from them. The
    message says that ``what`` was expected, as "a table", and ends with ``hint``, which tells what to give instead.
    What the system refuses stays an OSError.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "a").write_bytes(b"four")
    ...     with regular_file(Path(folder) / "a", what="a word") as stream:
    ...         stream.read()
    b'four'
    >>> regular_file(Path("/dev/zero"), what="a table")
    Traceback (most recent call last):
    mcquack.errors.InvalidInputError: /dev/zero is a device, where a table was expected; give the path of ...
    """
    check_regular(path, what=what, error=error, hint=hint)
    # Another file may have come to this place meanwhile, and a pipe would wait for its writer.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    stream = os.fdopen(descriptor, "rb")
    try:
        _check(path, os.fstat(descriptor), what, error, hint)
    except BaseException:
        stream.close()
        raise
    return stream


def check_regular(
    path: Path,
    *,
    what: str,
    error: type[Exception] = InvalidInputError,
    hint: str = _ORDINARY,
) -> int:
    """The size of a regular file; like :func:`regular_file`, for those who open it by other means."""
    return _check(path, path.stat(), what, error, hint)


def _check(path: Path, status: os.stat_result, what: str, error: type[Exception], hint: str) -> int:
    if not stat.S_ISREG(status.st_mode):
        kind = _KINDS.get(stat.S_IFMT(status.st_mode), "no file")
        raise error(f"{path} is {kind}, where {what} was expected; {hint}")
    return status.st_size


def plain_text(path: Path, *, what: str, most_bytes: int = 1 << 20) -> str:
    """The text of a plain file that a person has written; InvalidInputError if it is large, binary or no file."""
    with regular_file(path, what=what) as stream:
        content = stream.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise InvalidInputError(f"{path} has more than {most_bytes:,} bytes, where {what} was expected.")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InvalidInputError(
            f"{path} is not UTF-8 (byte {content[error.start]:#04x} in line {line}), where {what} was expected; save "
            "it again with that encoding."
        ) from error


def _created_beside(path: Path) -> tuple[Path, BinaryIO]:
    """A new file in the folder of ``path``, locked as long as its stream is open.

    Beside the target, since only within one file system is a rename a single step.
    """
    while True:
        temporary = path.with_name(f".mcquack-save-{secrets.token_hex(8)}.tmp")
        # The owner's alone where a file is replaced, until it gets the mode of that; others get what the user's mask
        # lets them have.
        mode = 0o600 if path.exists() else 0o666
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
        stream = os.fdopen(descriptor, "wb")
        _locked(descriptor, wait=True)
        if fcntl is None or os.fstat(descriptor).st_nlink:
            return temporary, stream
        stream.close()  # somebody took it for an abandoned one before it was locked


def _remove_abandoned(folder: Path) -> None:
    """Removes what saves that were killed have left, and nothing that anybody may still be writing."""
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            if found := _OURS.fullmatch(path.name):
                with contextlib.suppress(OSError):
                    _remove_if_abandoned(path, is_locked_by_writers=found["locked"] is not None)


def _remove_if_abandoned(path: Path, *, is_locked_by_writers: bool) -> None:
    descriptor = os.open(path, os.O_RDWR | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0))
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return
        locked = _locked(descriptor, wait=False)
        is_old = time.time() - status.st_mtime > _ABANDONED_AFTER
        if (locked and is_locked_by_writers) or (locked is not False and is_old):
            path.unlink()
    finally:
        os.close(descriptor)


def _locked(descriptor: int, *, wait: bool) -> bool | None:
    """Whether the lock of an open file could be had, which ends when it is closed; None where there are no locks."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError:  # some network disks have none
        return None
    return True


def _sync_folder(folder: Path) -> None:
    """Lets the new name survive a power cut, on systems that offer it; the content is on disk already."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
