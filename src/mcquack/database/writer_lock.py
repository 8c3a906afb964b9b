"""Keeps a second writer away from a file."""

from pathlib import Path
from typing import TYPE_CHECKING

from mcquack.database.kind import FileKind
from mcquack.errors import StoreBusyError, StoreError

if TYPE_CHECKING:
    from filelock import BaseFileLock


def acquired_lock(kind: FileKind, path: Path) -> "BaseFileLock":
    """The lock of the file at ``path``, in another one beside it; it ends with the process, however that ends."""
    from filelock import FileLock, Timeout

    # One file, one lock, whichever link leads to it. Whoever closes the file may be another thread.
    place = path.resolve()
    lock = FileLock(place.with_name(f"{place.name}.lock"), thread_local=False)
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise StoreBusyError(
            f"another process is {kind.writing} the {kind.noun} {path}; wait for it to end or {kind.stopping}, or use "
            f"another {kind.noun}. Reading is possible meanwhile."
        ) from error
    except (OSError, NotImplementedError) as error:
        raise StoreError(
            f"the {kind.noun} {path} cannot be written, as no lock can be made beside it ({error}): allow writing to "
            f"its folder, or use a {kind.noun} elsewhere. {kind.safe}."
        ) from error
    return lock
