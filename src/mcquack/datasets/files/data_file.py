"""What is known of a file before it is there."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from mcquack.checks import require
from mcquack.extras import Extra

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
