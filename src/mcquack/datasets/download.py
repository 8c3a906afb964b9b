"""Files from a server into the cache: verified, whole or not at all, and each only once.

What has arrived of a file grows beside its final place (``Partial``), so that an interrupted transfer goes on where it
stopped, in spite of servers and networks that fail.
"""

import csv
import io
import json
import logging
import re
import shutil
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mcquack.datasets.data_file import DataFile, flaw
from mcquack.errors import DataFileError, DownloadError
from mcquack.files import replace_file

if TYPE_CHECKING:
    from requests import Response

Shown = Callable[[int, int | None], None]
"""Is told how many bytes have arrived, and of how many if that is known."""

OPENML = "https://www.openml.org"

_CHUNK_BYTES = 1 << 16
_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")
_PASSING_STATUS = (408, 416, 425, 429)  # and all from 500
_HEADERS = {"Accept-Encoding": "identity", "User-Agent": "mcquack"}  # .gz files shall arrive as they are

_log = logging.getLogger("mcquack")


@dataclass(frozen=True, kw_only=True)
class Patience:
    """How long a server may keep silent, the pauses before each further attempt, and when it is enough.

    ``most_seconds`` is for all attempts at a file together: a server that sends a byte now and then is never silent.
    ``most_bytes`` is how large a file may be of which nobody knows the size.
    """

    connect_seconds: float = 10.0
    read_seconds: float = 30.0
    pauses: tuple[float, ...] = (1.0, 2.0, 4.0)
    most_seconds: float = 4 * 3600.0
    most_bytes: int = 1 << 32


def download(file: DataFile, *, to: Path, patience: Patience, openml: str = OPENML) -> None:
    """Puts the file at ``to``, unless a right one is there or another process has just put it there."""
    try:
        to.parent.mkdir(parents=True, exist_ok=True)
        with _alone(to):
            if to.is_file() and (problem := flaw(to, file)) is not None:
                _log.warning("%s is broken, so it is downloaded again: %s", to, problem)
                to.unlink()
            if not to.is_file():
                _log.info("downloading %s from %s to %s", file.name, file.url, to)
                if file.openml_id is not None:
                    _download_openml(file.openml_id, to, patience=patience, server=openml)
                else:
                    _complete(file, to, patience=patience)
    except DownloadError:
        raise
    except OSError as error:
        raise DownloadError(
            f"{to} cannot be written ({error.strerror or error}); make room, or let MCQUACK_CACHE name another folder"
        ) from error


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
def progress(name: str) -> Iterator[Shown]:
    """A bar on stderr if that is a terminal, and nothing elsewhere."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _n_bytes, _total: None
        return
    text = TextColumn("{task.description}", markup=False)
    columns = (text, BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as bar:
        task = bar.add_task(name, total=None)
        yield lambda n_bytes, total: bar.update(task, completed=n_bytes, total=total)


@dataclass(frozen=True)
class Partial:
    """The part of a file that has arrived, with a note of which version of which address it is."""

    path: Path

    @property
    def note(self) -> Path:
        return self.path.with_name(f"{self.path.name}.json")

    @property
    def n_bytes(self) -> int:
        return self.path.stat().st_size if self.path.is_file() else 0

    def version(self, url: str) -> str | None:
        """What the server called this version of the file, if it is known and came from this address."""
        try:
            note = json.loads(self.note.read_text(encoding="utf-8"))
            return str(note["version"]) if note["url"] == url and note["version"] else None
        except (OSError, ValueError, LookupError, TypeError):
            return None

    def request_for_the_rest(self, url: str) -> dict[str, str]:
        """Headers that ask for what is missing, or for all if the file has changed; none where all must come."""
        version = self.version(url)
        # Without a version, the rest of another file would be taken for the rest of this one.
        return {"Range": f"bytes={self.n_bytes}-", "If-Range": version} if version and self.n_bytes else {}

    def begin(self, url: str, *, version: str | None) -> None:
        self.discard()
        self.note.write_text(json.dumps({"url": url, "version": version}), encoding="utf-8")

    def discard(self) -> None:
        # The bytes go first: a note without bytes is harmless, bytes with a later note are not.
        self.path.unlink(missing_ok=True)
        self.note.unlink(missing_ok=True)


def _complete(file: DataFile, path: Path, *, patience: Patience) -> None:
    """Completes the file, in as many attempts as patience allows, and refuses it unless it is the right one."""
    partial = Partial(path.with_name(f"{path.name}.partial"))
    is_continued = bool(partial.request_for_the_rest(str(file.url)))
    deadline = time.monotonic() + patience.most_seconds
    with progress(file.name) as shown:
        for pause in (*patience.pauses, None):
            try:
                _attempt(file, partial, patience=patience, deadline=deadline, shown=shown)
                break
            except _PassingError as failure:
                if pause is None:
                    attempts = f"{len(patience.pauses) + 1} attempts"
                    raise DownloadError(f"{file.url} could not be downloaded in {attempts}: {failure}") from failure
                time.sleep(pause)
    if (problem := flaw(partial.path, file)) is None:
        partial.path.replace(path)
        partial.discard()
        return
    partial.discard()
    if not is_continued:  # otherwise the fault may lie in what was here before
        raise _unexpected(file, problem)
    _complete(file, path, patience=patience)


def _unexpected(file: DataFile, problem: str) -> DataFileError:
    return DataFileError(f"the server's file is not the expected one ({file.url}): {problem}")


class _PassingError(Exception):
    """A failure that another attempt may mend."""


def _attempt(file: DataFile, partial: Partial, *, patience: Patience, deadline: float, shown: Shown) -> None:
    """Asks for what is missing once; whatever has arrived is kept if that fails or is interrupted."""
    import requests
    from urllib3.exceptions import HTTPError

    url = str(file.url)
    request = {**_HEADERS, **partial.request_for_the_rest(url)}
    timeout = (patience.connect_seconds, patience.read_seconds)
    try:
        with requests.get(url, headers=request, stream=True, timeout=timeout) as response:
            _check_status(response, url, partial=partial)
            total = _begun(response, url, partial=partial)
            if None not in (total, file.n_bytes) and total != file.n_bytes:  # refused before it is downloaded
                partial.discard()
                raise _unexpected(file, f"it has {total:,} bytes instead of {file.n_bytes:,}")
            expected = total or file.n_bytes
            most_bytes = patience.most_bytes if expected is None else expected
            with closing(_received(response, partial)) as sizes:
                for n_bytes in sizes:
                    shown(n_bytes, expected)
                    if n_bytes > most_bytes:
                        partial.discard()
                        raise _unexpected(file, f"it has more than {most_bytes:,} bytes")
                    if time.monotonic() > deadline:
                        raise DownloadError(
                            f"{url} takes longer to download than it may; {n_bytes:,} bytes are kept, and the same "
                            "again goes on there"
                        )
            if expected is not None and partial.n_bytes < expected:
                raise _PassingError(f"the connection ended after {partial.n_bytes:,} of {expected:,} bytes")
    except (requests.ConnectionError, requests.Timeout, HTTPError) as error:
        raise _PassingError(_reason(error)) from error
    except requests.RequestException as error:
        raise DownloadError(f"{url} could not be downloaded: {error}") from error


def _check_status(response: "Response", url: str, *, partial: Partial) -> None:
    status = response.status_code
    if status in (200, 206):
        return
    answer = f"the server answers {status} {response.reason}"
    if status == 416:  # what has arrived is longer than the server's file: of another version
        partial.discard()
    if status >= 500 or status in _PASSING_STATUS:
        raise _PassingError(answer)
    raise DownloadError(f"{url} could not be downloaded: {answer}")


def _begun(response: "Response", url: str, *, partial: Partial) -> int | None:
    """How large the whole file will be, if the server says so; the partial file is ready for what comes."""
    tag = response.headers.get("ETag", "")
    # A weak tag promises the same meaning only, not the same bytes.
    version = tag if tag and not tag.startswith("W/") else response.headers.get("Last-Modified")
    if response.status_code == 200:
        partial.begin(url, version=version)
        length = response.headers.get("Content-Length", "")
        return int(length) if length.isdecimal() else None
    part = _RANGE.fullmatch(response.headers.get("Content-Range", ""))
    if part is None or int(part[1]) != partial.n_bytes or version not in (None, partial.version(url)):
        partial.discard()
        raise _PassingError("the server sent another part of the file than was asked for")
    return None if part[2] == "*" else int(part[2])


def _received(response: "Response", partial: Partial) -> Generator[int, None, None]:
    """Adds what comes to the partial file, and yields its size after each piece, however small that is."""
    n_bytes = partial.n_bytes
    yield n_bytes
    with partial.path.open("ab") as stream:
        # A read of a whole chunk would wait for it as long as single bytes come in time.
        while chunk := response.raw.read1(_CHUNK_BYTES, decode_content=False):
            stream.write(chunk)
            n_bytes += len(chunk)
            yield n_bytes


def _reason(error: Exception) -> str:
    import requests
    from urllib3.exceptions import TimeoutError as StalledError

    if isinstance(error, requests.Timeout | StalledError):
        return "the server kept silent for too long"
    # Below the words of two libraries about each other lies what happened.
    return str(getattr(error.args[0], "reason", error) if error.args else error)


# Datasets of openml.org, kept as arrays: reading their text format takes long, reading arrays does not.

_ATTRIBUTE = re.compile(r"@attribute\s+('(?:[^'\\]|\\.)*'|\"[^\"]*\"|\S+)\s+(.+)", re.IGNORECASE)
_ARFF: dict[str, Any] = {"quotechar": "'", "escapechar": "\\", "skipinitialspace": True}


def _download_openml(data_id: int, path: Path, *, patience: Patience, server: str) -> None:
    """Writes an ``.npz`` with ``data``, ``target``, ``feature_names`` and ``categories`` (JSON: feature to its values).

    A categorical feature holds the number of its value in ``categories``, and NaN where it is missing.
    """
    # Whole answers of the server that have arrived are kept here until all have.
    home = path.with_name(f"{path.name}.partial")
    home.mkdir(exist_ok=True)
    about, table = home / "about.json", home / "table.arff"
    if not about.is_file():
        _complete(DataFile(name=path.name, url=f"{server}/api/v1/json/data/{data_id}"), about, patience=patience)
    try:
        facts = json.loads(about.read_bytes())["data_set_description"]
        proof = f"md5:{facts['md5_checksum']}"
        _complete(DataFile(name=path.name, url=facts["url"], checksum=proof), table, patience=patience)
        content = _npz_bytes(table, facts)
    except (ValueError, LookupError, TypeError, csv.Error) as error:
        shutil.rmtree(home, ignore_errors=True)
        raise DataFileError(f"the dataset {data_id} of openml.org cannot be used: {error}") from error
    replace_file(path, content)
    shutil.rmtree(home, ignore_errors=True)


def _npz_bytes(table: Path, facts: dict[str, Any]) -> bytes:
    target, unused = facts["default_target_attribute"], set[str]()
    for key in ("ignore_attribute", "row_id_attribute"):
        unused |= {facts[key]} if isinstance(facts.get(key), str) else set(facts.get(key) or ())
    rows, labels = [], []
    with table.open(encoding="utf-8", newline="") as stream:
        attributes = _attributes(stream)
        names = list(attributes)
        features = [name for name in names if name != target and name not in unused]
        numbers = [{"?": "nan", **{text: str(at) for at, text in enumerate(attributes[name])}} for name in features]
        places = [names.index(name) for name in features]
        for cells in csv.reader((line for line in stream if line.strip() and line[0] != "%"), **_ARFF):
            if len(cells) != len(names):
                raise ValueError(f"a row has {len(cells)} cells where there are {len(names)} attributes")
            texts = [cells[place].strip() for place in places]
            row = [number.get(text, text) for number, text in zip(numbers, texts, strict=True)]
            rows.append(np.array(row, dtype=np.float64))
            labels.append(cells[names.index(target)].strip())
    data = np.array(rows)
    with np.errstate(invalid="ignore"):
        narrow = data.astype(np.uint8)  # as in pictures: an eighth of the memory
    content = io.BytesIO()
    np.savez_compressed(
        content,
        data=narrow if np.array_equal(narrow, data) else data,
        target=np.array(labels, dtype=np.str_ if attributes[target] else np.float64),
        feature_names=np.array(features, dtype=np.str_),
        categories=np.array(json.dumps({name: attributes[name] for name in features if attributes[name]})),
    )
    return content.getvalue()


def _attributes(stream: Iterator[str]) -> dict[str, list[str]]:
    """Return the attributes in the header of an ARFF file, each with its categories, of which a number has none."""
    found: dict[str, list[str]] = {}
    for line in stream:
        if line.strip().lower() == "@data":
            return found
        if part := _ATTRIBUTE.match(line.strip()):
            kind = part[2].strip()
            texts = [text.strip() for text in next(csv.reader([kind[1:-1]], **_ARFF))] if kind[0] == "{" else []
            found[part[1].strip("'\"")] = texts
    raise ValueError("its table has no data")
