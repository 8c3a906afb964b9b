"""What is known of a file before it is there."""

import contextlib
import hashlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from mcquack.checks import Extra, require
from mcquack.files import replace_file

_NAME = re.compile(r"(?!\.{1,2}$)[^/\\]+")
_CHECKSUM = re.compile(r"sha256:[0-9a-f]{64}|md5:[0-9a-f]{32}|git:[0-9a-f]{40}")
_ADDRESS = re.compile(r"https?://\S+|openml:[0-9]+")


@dataclass(frozen=True, kw_only=True)
class DataFile:
    """A file, the checksum that proves it, and its address if anyone may download it.

    ``folder`` is where a local data directory keeps it; at the top of that directory it is found as well.
    ``checksum`` reads ``sha256:…``, ``md5:…`` or ``git:…`` (the id of the file in a git repository); where it is not
    known, ``magic`` may say with which bytes every file of the kind begins. ``url`` is http(s), or ``openml:ID`` for a
    dataset that scikit-learn fetches and that is kept as ``.npz``.
    """

    name: str
    folder: str = ""
    checksum: str | None = None
    n_bytes: int | None = None
    magic: bytes = b""
    url: str | None = None

    def __post_init__(self) -> None:
        require(_NAME.fullmatch(self.name), "name", "a file name without a folder", self.name)
        parts = PurePosixPath(self.folder)
        require(not parts.is_absolute() and ".." not in parts.parts, "folder", "a relative path", self.folder)
        for what, expected, text in (
            ("checksum", "sha256:, md5: or git: and as many lower-case hexadecimal digits as it takes", self.checksum),
            ("url", "an address that begins with http:// or https://, or openml: and a number", self.url),
        ):
            pattern = _CHECKSUM if what == "checksum" else _ADDRESS
            require(text is None or pattern.fullmatch(text), f"the {what} of {self.name}", expected, text)

    @property
    def path(self) -> str:
        """Folder and name in one."""
        return str(PurePosixPath(self.folder) / self.name)

    @property
    def openml_id(self) -> int | None:
        """The number of the dataset at openml.org, if it comes from there."""
        kind, _, number = (self.url or "").partition(":")
        return int(number) if kind == "openml" else None


@dataclass(frozen=True, kw_only=True)
class Source:
    """Files that together give a dataset, and the function that reads them, called with their paths in order.

    ``extra`` is what has to be installed to read them, beyond what mcquack always brings.
    """

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
    def is_downloadable(self) -> bool:
        """Whether a download would be of use: every file has an address, and can be read once it is here."""
        return self.has_addresses and (self.extra is None or self.extra.is_installed)

    def way_to(self, file: DataFile) -> str:
        """How to come by one of the files, as half a sentence."""
        if file.url is None:
            return f"by hand from {self.homepage}" if self.homepage else "if you have it"
        if file.openml_id is not None:
            return f"fetched by scikit-learn from https://www.openml.org/d/{file.openml_id}"
        takes = "" if self.extra is None or self.extra.is_installed else f", once you {self.extra.how_to_install}"
        return f"from {file.url}{takes}"


# Whether a file is the one that was meant.

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


# What to tell whoever lacks the files of a dataset.


@dataclass(frozen=True, kw_only=True)
class Search:
    """What was looked for in vain, where, and what stood in the way.

    ``passed_over`` are files of a right name and a wrong content. ``forbidden_by`` names the setting that forbids a
    download, if one does; ``failures`` tell why downloads failed.
    """

    sources: Sequence[Source]
    wanted_for: str
    data_dir: Path | None
    cache_dir: Path
    passed_over: Sequence[str] = ()
    forbidden_by: str = ""
    failures: Sequence[str] = ()

    @property
    def reason(self) -> str:
        """Why nothing was found, in half a sentence."""
        return "; ".join(self._reasons()) or "they are not on this machine"

    def _reasons(self) -> Iterator[str]:
        if self.failures:
            yield self.failures[0].splitlines()[0]
        elif self.forbidden_by and any(source.has_addresses for source in self.sources):
            yield f"{self.forbidden_by} forbids the download"
        yield from (f"to read a download takes {needs}" for needs in self._to_install())

    def _to_install(self) -> Iterator[str]:
        for source in self.sources:
            if source.has_addresses and source.extra is not None and not source.extra.is_installed:
                yield f"{source.extra.module}, which is not installed: {source.extra.how_to_install}"

    @property
    def text(self) -> str:
        """Which files would do, where they were looked for, and the ways to get them."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"{self.wanted_for} needs files that are not on this machine{', one of' if self.sources[1:] else ''}:"
        for source in self.sources:
            yield f"  {source.title}"
            yield from _listing(source)
        looked_in = " and ".join(str(place) for place in (self.data_dir, self.cache_dir) if place is not None)
        yield f"They were looked for in {looked_in}."
        yield from _titled("Passed over, as they only have the right name:", self.passed_over)
        yield from _titled("The download failed:", self.failures)
        ways = list(self._ways())
        yield from _titled("What helps:", [*ways[:1], *(f"or {way}" for way in ways[1:])])

    def _ways(self) -> Iterator[str]:
        if any(file.openml_id is None for source in self.sources for file in source.files):
            yield self._by_hand()
        yield from (f"install what it takes to read a download, {needs}" for needs in self._to_install())
        if any(source.is_downloadable for source in self.sources):
            allow = f"allow the download, which {self.forbidden_by} forbids"
            yield allow if self.forbidden_by else "try again later"

    def _by_hand(self) -> str:
        if self.data_dir is not None:
            return f"put them into {self.data_dir}, as listed or all at its top"
        return (
            "put them into a folder, as listed or all at its top, and name it: MCQUACK_DATA=<folder>, --data-dir "
            "<folder> or load(…, data_dir=<folder>)"
        )


def _listing(source: Source) -> Iterator[str]:
    for file in source.files:
        # What scikit-learn fetches is no file that anyone could put somewhere.
        yield f"    {'' if file.openml_id is not None else f'{file.path}, '}{source.way_to(file)}"


def _titled(title: str, lines: Sequence[str]) -> list[str]:
    return [title, *(f"  {line}" for line in dict.fromkeys(lines))] if lines else []
