"""A file over HTTP that goes on where it stopped, in spite of servers and networks that fail."""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcquack.datasets.files.partial import Partial, version_of
from mcquack.errors import DataFileError, DownloadError

if TYPE_CHECKING:
    from requests import Response

Shown = Callable[[int, int | None], None]

_CHUNK_BYTES = 1 << 16
_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")
_PASSING_STATUS = (408, 416, 425, 429)  # and all from 500
_HEADERS = {"Accept-Encoding": "identity", "User-Agent": "mcquack"}  # .gz files shall arrive as they are


@dataclass(frozen=True, kw_only=True)
class Patience:
    """How long a server may keep silent, and the pauses before each further attempt."""

    connect_seconds: float = 10.0
    read_seconds: float = 30.0
    pauses: tuple[float, ...] = (1.0, 2.0, 4.0)


class _PassingError(Exception):
    """A failure that another attempt may mend."""


def transfer(url: str, partial: Partial, *, n_bytes: int | None, patience: Patience, shown: Shown) -> None:
    """Completes the partial file; whatever has arrived is kept if that fails or is interrupted.

    ``shown`` is told how many bytes there are, and of how many if that is known.
    """
    for pause in (*patience.pauses, None):
        try:
            _attempt(url, partial, n_bytes=n_bytes, patience=patience, shown=shown)
        except _PassingError as failure:
            if pause is None:
                attempts = f"{len(patience.pauses) + 1} attempts"
                raise DownloadError(f"{url} could not be downloaded in {attempts}: {failure}") from failure
            time.sleep(pause)
        else:
            return


def _attempt(url: str, partial: Partial, *, n_bytes: int | None, patience: Patience, shown: Shown) -> None:
    import requests
    from urllib3.exceptions import HTTPError

    request = {**_HEADERS, **partial.request_for_the_rest(url)}
    timeout = (patience.connect_seconds, patience.read_seconds)
    try:
        with requests.get(url, headers=request, stream=True, timeout=timeout) as response:
            _check_status(response, url, partial=partial)
            total = _begun(response, url, partial=partial)
            _check_size(url, partial, total=total, expected=n_bytes)
            _receive(response, partial, total=total or n_bytes, shown=shown)
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
    version = version_of(response.headers)
    if response.status_code == 200:
        partial.begin(url, version=version)
        length = response.headers.get("Content-Length", "")
        return int(length) if length.isdecimal() else None
    part = _RANGE.fullmatch(response.headers.get("Content-Range", ""))
    if part is None or int(part[1]) != partial.n_bytes or version not in (None, partial.version(url)):
        partial.discard()
        raise _PassingError("the server sent another part of the file than was asked for")
    return None if part[2] == "*" else int(part[2])


def _check_size(url: str, partial: Partial, *, total: int | None, expected: int | None) -> None:
    """Refuses a wrong file before it is downloaded."""
    if None not in (total, expected) and total != expected:
        partial.discard()
        raise DataFileError(
            f"the server's file is not the expected one ({url}): it has {total:,} bytes instead of {expected:,}"
        )


def _receive(response: "Response", partial: Partial, *, total: int | None, shown: Shown) -> None:
    n_bytes = partial.n_bytes
    shown(n_bytes, total)
    with partial.path.open("ab") as stream:
        for chunk in response.raw.stream(_CHUNK_BYTES, decode_content=False):
            stream.write(chunk)
            n_bytes += len(chunk)
            shown(n_bytes, total)
    if total is not None and n_bytes < total:
        raise _PassingError(f"the connection ended after {n_bytes:,} of {total:,} bytes")


def _reason(error: Exception) -> str:
    import requests
    from urllib3.exceptions import TimeoutError as StalledError

    if isinstance(error, requests.Timeout | StalledError):
        return "the server kept silent for too long"
    # Below the words of two libraries about each other lies what happened.
    return str(getattr(error.args[0], "reason", error) if error.args else error)
