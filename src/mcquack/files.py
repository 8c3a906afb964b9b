"""Files that are written whole or not at all."""

import contextlib
import os
import secrets
import stat
from pathlib import Path


def replace_file(path: Path, content: bytes) -> None:
    """Puts ``content`` at ``path`` in one step: whatever happens, a reader finds the old file or the new one."""
    # Beside the target, since only within one file system is a rename a single step.
    temporary = path.with_name(f".mcquack-{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        if path.exists():
            temporary.chmod(stat.S_IMODE(path.stat().st_mode))
        temporary.replace(path)
    except BaseException:  # also when the user interrupts
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Lets the new name survive a power cut, on systems that offer it; the content is on disk already."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
