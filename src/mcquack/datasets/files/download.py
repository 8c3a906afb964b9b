"""Files from a server into the cache: verified, whole or not at all, and each only once."""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mcquack.datasets.files.data_file import DataFile
from mcquack.datasets.files.openml import write_openml
from mcquack.datasets.files.partial import Partial
from mcquack.datasets.files.progress import progress
from mcquack.datasets.files.transfer import Patience, transfer
from mcquack.datasets.files.verification import flaw
from mcquack.errors import DataFileError, DownloadError

_log = logging.getLogger("mcquack")


def download(file: DataFile, *, to: Path, patience: Patience) -> None:
    """Puts the file at ``to``, unless a right one is there or another process has just put it there."""
    try:
        to.parent.mkdir(parents=True, exist_ok=True)
        with _alone(to):
            if to.is_file() and (problem := flaw(to, file)) is not None:
                _log.warning("%s is broken, so it is downloaded again: %s", to, problem)
                to.unlink()
            if not to.is_file():
                _log.info("downloading %s from %s to %s", file.name, file.url, to)
                _fetch(file, to=to, patience=patience)
    except DownloadError:
        raise
    except OSError as error:
        raise DownloadError(
            f"{to} cannot be written ({error.strerror or error}); make room, or let MCQUACK_CACHE name another folder"
        ) from error


def _fetch(file: DataFile, *, to: Path, patience: Patience) -> None:
    if file.openml_id is not None:
        write_openml(file.openml_id, to, read_seconds=patience.read_seconds)
    else:
        _retrieve(file, to=to, patience=patience)


def _retrieve(file: DataFile, *, to: Path, patience: Patience) -> None:
    import pooch

    arriving = Partial(to.with_name(f"{to.name}.partial"))

    def downloader(_url: str, temporary: str, _pooch: object) -> None:
        _complete(arriving, file, patience=patience)
        arriving.path.replace(temporary)
        arriving.discard()

    # Pooch does not know the checksums of git; ours was compared by then.
    known = None if file.checksum is None or file.checksum.startswith("git:") else file.checksum
    with _quiet(pooch.get_logger()):
        pooch.retrieve(file.url, known_hash=known, fname=to.name, path=to.parent, downloader=downloader)


def _complete(arriving: Partial, file: DataFile, *, patience: Patience) -> None:
    """Completes the file and refuses it unless it is the right one."""
    is_continued = bool(arriving.request_for_the_rest(str(file.url)))
    with progress(file.name) as shown:
        transfer(str(file.url), arriving, n_bytes=file.n_bytes, patience=patience, shown=shown)
    problem = flaw(arriving.path, file)
    if problem is None:
        return
    arriving.discard()
    if is_continued:  # then the fault may lie in what was here before
        _complete(arriving, file, patience=patience)
    else:
        raise DataFileError(f"the server's file is not the expected one ({file.url}): {problem}")


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Keeps other threads and processes that want the same file waiting."""
    from filelock import FileLock, Timeout

    lock = FileLock(path.with_name(f"{path.name}.lock"))
    try:
        lock.acquire(timeout=0)
    except Timeout:
        _log.info("waiting for another process that downloads %s", path)
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


@contextmanager
def _quiet(logger: logging.Logger) -> Iterator[None]:
    """Keeps what this thread logs there to itself, since pooch writes to stderr unasked."""
    here = threading.get_ident()

    def is_of_others(record: logging.LogRecord) -> bool:
        return record.thread != here

    logger.addFilter(is_of_others)
    try:
        yield
    finally:
        logger.removeFilter(is_of_others)
