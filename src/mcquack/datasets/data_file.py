"""What is known of a file before it is there: its name, the checksum that proves it, and where it comes from."""

import contextlib
import gzip
import hashlib
import json
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from mcquack.checks import Extra, require
from mcquack.files import replace_file

_NAME = re.compile(r"(?!\.{1,2}$)[^/\\]+")
_FORMS = {
    "checksum": (
        re.compile(r"sha256:[0-9a-f]{64}|md5:[0-9a-f]{32}|git:[0-9a-f]{40}"),
        "sha256:, md5: or git: and as many lower-case hexadecimal digits as it takes",
    ),
    "unpacked": (re.compile(r"sha256:[0-9a-f]{64}"), "sha256: and 64 lower-case hexadecimal digits"),
    "url": (
        re.compile(r"https?://\S+|openml:[0-9]+"),
        "an address that begins with http:// or https://, or openml: and a number",
    ),
}
_PROOFS = {
    "sha256": "sha256",
    "md5": "md5, which can be forged",
    "git": "the SHA-1 of git, which takes great effort to forge",
    "": "nothing",
}
_CHUNK_BYTES, _MOST_UNPACKED = 1 << 20, 1 << 31  # what is larger is not unpacked to its end

LARGE = 64 << 20
"""Bytes; to read more than this takes a good part of a second."""


@dataclass(frozen=True, kw_only=True)
class DataFile:
    """A file, the checksum that proves it, and its address if anyone may download it.

    ``folder`` is where a local data directory keeps it; at the top of that directory it is found as well.
    ``checksum`` reads ``sha256:…``, ``md5:…`` or ``git:…`` (the id of the file in a git repository); where it is not
    known, ``magic`` may say with which bytes every file of the kind begins. ``unpacked`` is the ``sha256:…`` of what a
    gzip file holds, where its publisher tells no more than an md5, which can be forged. ``url`` is http(s), or
    ``openml:ID`` for a dataset of openml.org, which is kept as ``.npz``.
    """

    name: str
    folder: str = ""
    checksum: str | None = None
    unpacked: str | None = None
    n_bytes: int | None = None
    magic: bytes = b""
    url: str | None = None

    def __post_init__(self) -> None:
        require(_NAME.fullmatch(self.name), "name", "a file name without a folder", self.name)
        folder = PurePosixPath(self.folder)
        require(not folder.is_absolute() and ".." not in folder.parts, "folder", "a relative path", self.folder)
        for field_name, (form, expected) in _FORMS.items():
            value = getattr(self, field_name)
            require(value is None or form.fullmatch(value), f"the {field_name} of {self.name}", expected, value)

    @property
    def path(self) -> str:
        return str(PurePosixPath(self.folder) / self.name)

    @property
    def proof(self) -> str:
        """What proves that a file is the one that was meant, and how hard that is to forge."""
        kind = (self.checksum or "").partition(":")[0]
        if self.unpacked is not None and kind != "sha256":
            return f"{kind}, and sha256 of what it holds"
        return _PROOFS[kind] if kind or not self.magic else "nothing but its first bytes"

    @property
    def transport(self) -> str | None:
        """How a download comes: "https", or "http", which anybody on the way can change; None where there is none."""
        if self.url is None:
            return None
        return "https" if self.openml_id is not None else self.url.partition(":")[0]

    @property
    def openml_id(self) -> int | None:
        """The number of the dataset at openml.org, if it comes from there."""
        kind, _, number = (self.url or "").partition(":")
        return int(number) if kind == "openml" else None


@dataclass(frozen=True, kw_only=True)
class Source:
    """Files that together give a dataset, what reads their paths in order, and what to install for it (``extra``)."""

    title: str
    files: tuple[DataFile, ...]
    read: Callable[..., Any] = field(repr=False, compare=False)
    homepage: str = ""
    extra: Extra | None = None

    def __post_init__(self) -> None:
        require(self.files, f"the files of the source {self.title!r}", "at least one", self.files)

    @property
    def has_addresses(self) -> bool:
        """Whether every file has an address; without one, the user brings the file from ``homepage``."""
        return all(file.url is not None for file in self.files)

    @property
    def lacking_extra(self) -> Extra | None:
        """What is still to be installed before the files can be read, if anything."""
        return None if self.extra is None or self.extra.is_installed else self.extra

    @property
    def is_downloadable(self) -> bool:
        """Whether a download would be of use: every file has an address, and can be read once it is here."""
        return self.has_addresses and self.lacking_extra is None

    def way_to(self, file: DataFile) -> str:
        """How to come by one of the files, as half a sentence."""
        if file.url is None:
            return f"by hand from {self.homepage}" if self.homepage else "if you have it"
        if file.openml_id is not None:
            return f"from https://www.openml.org/d/{file.openml_id}"
        lacking = self.lacking_extra
        return f"from {file.url}" + ("" if lacking is None else f", once you {lacking.how_to_install}")

    def file_facts(self) -> list[dict[str, Any]]:
        facts = ("name", "folder", "checksum", "unpacked", "n_bytes", "url", "transport", "proof")
        return [{**{fact: getattr(file, fact) for fact in facts}, "way": self.way_to(file)} for file in self.files]


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
        if found != file.checksum:
            return f"its checksum is {found} instead of {file.checksum}"
        inner = None if file.unpacked is None else _unpacked_checksum(path)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        return f"it is no whole gzip file ({error})"
    except OSError as error:
        return f"it cannot be read ({error.strerror})"
    return None if inner == file.unpacked else f"the checksum of what it holds is {inner} instead of {file.unpacked}"


def _unpacked_checksum(path: Path) -> str:
    found, n_bytes = hashlib.sha256(), 0
    with gzip.open(path, "rb") as stream:
        while n_bytes <= _MOST_UNPACKED and (chunk := stream.read(_CHUNK_BYTES)):
            found.update(chunk)
            n_bytes += len(chunk)
    return f"sha256:{found.hexdigest()}"


def flaw_unless_known(path: Path, file: DataFile, *, notes: Path, large: int = LARGE) -> str | None:
    """As ``flaw``, but a file of ``large`` bytes that was found right, and noted in ``notes``, is not read again."""
    if file.checksum is None or not path.is_file() or path.stat().st_size < large:
        return flaw(path, file)
    note = notes / hashlib.sha256(str(path).encode()).hexdigest()[:16]
    status = path.stat()
    proofs = [file.checksum, *([file.unpacked] if file.unpacked else [])]
    claim = json.dumps([str(path), *proofs, status.st_size, status.st_mtime_ns, status.st_ino]).encode()
    if note.is_file() and note.read_bytes() == claim:
        return None
    problem = flaw(path, file)
    if problem is None:
        with contextlib.suppress(OSError):  # without the note it is only slower
            notes.mkdir(parents=True, exist_ok=True)
            replace_file(note, claim)
    return problem


def checksum(path: Path, *, kind: str) -> str:
    """``sha256:…``, ``md5:…``, or ``git:…``, the name under which git keeps a file of this content."""
    # A checksum here guards against accidents, so systems that forbid md5 for secrets may allow it.
    git = f"blob {path.stat().st_size}\0".encode() if kind == "git" else b""
    new = partial(hashlib.new, "sha1" if git else kind, git, usedforsecurity=False)
    with path.open("rb") as stream:
        return f"{kind}:{hashlib.file_digest(stream, new).hexdigest()}"
