"""Keeps a second writer away from a store."""

from pathlib import Path
from typing import TYPE_CHECKING

from mcquack.errors import StoreBusyError, StoreError

if TYPE_CHECKING:
    from filelock import BaseFileLock


def acquired_lock(path: Path) -> "BaseFileLock":
    """The lock of the store at ``path``, in a file beside it; it ends with the process, however that ends."""
    from filelock import FileLock, Timeout

    # One store, one lock, whichever link leads to it. Whoever closes the store may be another thread.
    place = path.resolve()
    lock = FileLock(place.with_name(f"{place.name}.lock"), thread_local=False)
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise StoreBusyError(
            f"another process is writing the store {path}; wait for it to end or stop it, or use another store. "
            "Reading is possible meanwhile."
        ) from error
    except (OSError, NotImplementedError) as error:
        raise StoreError(
            f"the store {path} cannot be written, as no lock can be made beside it ({error}): allow writing to its "
            "folder, or use a store elsewhere. What it holds is safe."
        ) from error
    return lock
