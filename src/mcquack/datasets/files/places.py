"""The order in which a file is looked for: the user's folder, the cache, a server."""

import contextlib
import hashlib
import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from mcquack.datasets.files.data_file import DataFile, Search, Source, flaw_unless_known
from mcquack.datasets.files.download import Patience, download
from mcquack.errors import DataFileError, DownloadError, InvalidInputError, MissingDataError

Place = Literal["local", "cache"]
Status = Literal["built in", "local", "cached", "download", "by hand"]

_log = logging.getLogger("mcquack")


@dataclass(frozen=True, kw_only=True)
class Found:
    """A source whose files are all on this machine, verified."""

    source: Source
    paths: tuple[Path, ...]
    place: Place

    def read(self) -> Any:
        """What the source's reader makes of the files."""
        try:
            return self.source.read(*self.paths)
        except DataFileError as error:
            if any(str(path) in str(error) for path in self.paths):
                raise
            # A reader of what is inside an archive does not know whose it is.
            raise DataFileError(f"{' and '.join(map(str, self.paths))}: {error}") from error

    @property
    def unproven_in_cache(self) -> tuple[Path, ...]:
        """Files that came from a server and that no checksum proves."""
        files = zip(self.source.files, self.paths, strict=True)
        return tuple(path for file, path in files if file.checksum is None and self.place == "cache")


@dataclass(frozen=True, kw_only=True)
class Places:
    """Where to look, and whether a server may be asked."""

    data_dir: Path | None
    cache_dir: Path
    download: bool
    patience: Patience = field(default_factory=Patience)

    def find(self, sources: Sequence[Source], *, wanted_for: str) -> Found:
        """The first source that is in the folder, else the first in the cache, else the first that can be downloaded.

        Every file is verified whenever it is found. A wrong one where the user's folder should have it is refused,
        never passed over.
        """
        if not sources:
            raise InvalidInputError(f"{wanted_for} has no files to look for; it needs none.")
        if found := self._found_local(sources) or self._found_cached(sources):
            return found
        failures = []
        for source in sources:
            if self.download and source.is_downloadable:
                try:
                    return self._downloaded(source)
                except (DataFileError, DownloadError) as failure:
                    failures.append(str(failure))
        search = self._search(sources, wanted_for=wanted_for, failures=failures)
        raise MissingDataError(search.text, reason=search.reason)

    def read(self, sources: Sequence[Source], *, wanted_for: str) -> tuple[Found, Any]:
        """What ``find`` gives, and what the reader makes of it.

        A file in the cache that no checksum proves, and that turns out to be broken, is fetched once more.
        """
        found = self.find(sources, wanted_for=wanted_for)
        try:
            return found, found.read()
        except DataFileError as error:
            unproven = found.unproven_in_cache
            if not unproven:
                raise
            for path in unproven:
                _log.warning("%s is broken, so it is removed: %s", path, error)
                with contextlib.suppress(OSError):  # then it is found, and refused, once more
                    path.unlink()
        found = self.find(sources, wanted_for=wanted_for)
        return found, found.read()

    def status(self, sources: Sequence[Source]) -> Status:
        """Where ``find`` would take the files from; an allowance to download is not asked.

        Files are opened only where no folder of their own tells whose they are.
        """
        if not sources:
            return "built in"
        if _first_whole(sources, self._local_path):
            return "local"
        if _first_whole(sources, self._cached_path):
            return "cached"
        return "download" if any(source.is_downloadable for source in sources) else "by hand"

    def _found_local(self, sources: Sequence[Source]) -> Found | None:
        if (whole := _first_whole(sources, self._local_path)) is None:
            return None
        source, paths = whole
        for file, path in zip(source.files, paths, strict=True):
            if (problem := self._flaw(path, file)) is not None:
                raise DataFileError(
                    f"{path} is not the {file.name} that was expected: {problem}. Replace it by the right one, or move "
                    "it out of that folder to have it looked for elsewhere."
                )
        return Found(source=source, paths=paths, place="local")

    def _found_cached(self, sources: Sequence[Source]) -> Found | None:
        if (whole := _first_whole(sources, self._cached_path)) is None:
            return None
        source, paths = whole
        for file, path in zip(source.files, paths, strict=True):
            if (problem := self._flaw(path, file)) is not None:
                if self.download and source.is_downloadable:
                    return None  # the download replaces it
                raise DataFileError(f"{path} is broken: {problem}. Delete it and allow the download to get a new one.")
        return Found(source=source, paths=paths, place="cache")

    def _flaw(self, path: Path, file: DataFile) -> str | None:
        return flaw_unless_known(path, file, notes=self.cache_dir / "verified")

    def _downloaded(self, source: Source) -> Found:
        paths = tuple(self._path_in_cache(file) for file in source.files)
        for file, path in zip(source.files, paths, strict=True):
            download(file, to=path, patience=self.patience)
        return Found(source=source, paths=paths, place="cache")

    def _local_path(self, file: DataFile) -> Path | None:
        if self.data_dir is None:
            return None
        own, top = self.data_dir / file.path, self.data_dir / file.name
        if own.is_file():
            return own
        # Many datasets have files of the same names: at the top only the content tells whose a file is.
        return top if top.is_file() and self._flaw(top, file) is None else None

    def _passed_over(self, sources: Sequence[Source]) -> list[str]:
        tops = [] if self.data_dir is None else [(self.data_dir / file.name, file) for s in sources for file in s.files]
        flaws = {path: self._flaw(path, file) for path, file in tops if path.is_file()}
        return [f"{path}: {problem}" for path, problem in flaws.items() if problem is not None]

    def _cached_path(self, file: DataFile) -> Path | None:
        path = self._path_in_cache(file)
        # What no checksum proves was never known to be right, so a flaw in it is no reason to stop.
        is_refuse = file.checksum is None and self._flaw(path, file) is not None
        return path if path.is_file() and not is_refuse else None

    def _path_in_cache(self, file: DataFile) -> Path:
        # Many files of many datasets are named train.csv; only what proves a file, or its address, is its own.
        key = hashlib.sha256((file.checksum or file.url or "").encode()).hexdigest()[:12]
        return self.cache_dir / file.folder / key / file.name

    def _search(self, sources: Sequence[Source], *, wanted_for: str, failures: Sequence[str]) -> Search:
        offline = _offline()
        return Search(
            sources=sources,
            wanted_for=wanted_for,
            data_dir=self.data_dir,
            cache_dir=self.cache_dir,
            passed_over=self._passed_over(sources),
            forbidden_by="" if self.download else f"MCQUACK_OFFLINE={offline}" if offline else "download=False",
            failures=failures,
        )


def places(data_dir: str | Path | None = None, *, download: bool | None = None) -> Places:
    """The places that the arguments name, or else the variables MCQUACK_DATA, MCQUACK_CACHE and MCQUACK_OFFLINE."""
    return Places(
        data_dir=_data_dir(data_dir),
        cache_dir=_cache_dir(),
        download=not _offline() if download is None else download,
    )


def _data_dir(given: str | Path | None) -> Path | None:
    name = "MCQUACK_DATA" if given is None else "data_dir"
    named = os.environ.get("MCQUACK_DATA", "") if given is None else given
    if named == "":
        return None
    folder = _expanded(named, name=name)
    if folder.exists() and not folder.is_dir():
        raise InvalidInputError(f"{name} names {folder}, which is a file; name the folder that it is in.")
    if not folder.is_dir():
        raise InvalidInputError(f"{name} names the folder {folder}, which does not exist; make it or leave {name} out.")
    return folder


def _expanded(named: str | Path, *, name: str) -> Path:
    try:
        return Path(named).expanduser().absolute()
    except RuntimeError as error:
        raise InvalidInputError(
            f"{name} names the folder {named}, but there is no such home; write out the whole path."
        ) from error


def _cache_dir() -> Path:
    if named := os.environ.get("MCQUACK_CACHE"):
        return _expanded(named, name="MCQUACK_CACHE")
    from pooch import os_cache

    return Path(os_cache("mcquack"))


def _offline() -> str:
    """What MCQUACK_OFFLINE says, if it forbids downloads."""
    said = os.environ.get("MCQUACK_OFFLINE", "")
    return "" if said.strip().lower() in ("", "0", "false", "no") else said


def _first_whole(
    sources: Sequence[Source], path_of: Callable[[DataFile], Path | None]
) -> tuple[Source, tuple[Path, ...]] | None:
    """The first source of which every file is there, and where."""
    for source in sources:
        paths = tuple(path for file in source.files if (path := path_of(file)) is not None)
        if len(paths) == len(source.files):
            return source, paths
    return None
