"""Where the files of a dataset are: in a folder of the user's, in the cache, or still on a server."""

import contextlib
import hashlib
import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from mcquack.checks import HDF5, Extra
from mcquack.datasets.data_file import DataFile, Source, flaw_unless_known
from mcquack.datasets.download import OPENML, Patience, download
from mcquack.errors import DataFileError, DownloadError, InvalidInputError, MissingDataError

__all__ = ["HDF5", "DataFile", "Extra", "Found", "Patience", "Places", "Source", "places"]

Place = Literal["local", "cache"]
Status = Literal["built in", "local", "cached", "download", "by hand"]

_log = logging.getLogger("mcquack")


@dataclass(frozen=True, kw_only=True)
class Found:
    """A source whose files are all on this machine."""

    source: Source
    paths: tuple[Path, ...]
    place: Place

    def read(self) -> Any:
        try:
            return self.source.read(*self.paths)
        except DataFileError as error:
            if any(str(path) in str(error) for path in self.paths):
                raise
            # A reader of what is inside an archive does not know whose it is.
            raise DataFileError(f"{' and '.join(map(str, self.paths))}: {error}") from error


@dataclass(frozen=True, kw_only=True)
class Places:
    """Where files are looked for, and whether a server may be asked."""

    data_dir: Path | None
    cache_dir: Path
    download: bool
    patience: Patience = field(default_factory=Patience)
    openml: str = OPENML

    def find(self, sources: Sequence[Source], *, wanted_for: str) -> Found:
        """The first source that is in the folder, else the first in the cache, else the first that can be downloaded.

        Every file is verified whenever it is found. A wrong one where the user's folder should have it is refused,
        never passed over.
        """
        if not sources:
            raise InvalidInputError(f"{wanted_for} has no files to look for; it needs none.")
        if found := self._verified(sources, "local") or self._verified(sources, "cache"):
            return found
        failures = []
        for source in sources:
            if self.download and source.is_downloadable:
                paths = tuple(map(self._path_in_cache, source.files))
                try:
                    for file, path in zip(source.files, paths, strict=True):
                        download(file, to=path, patience=self.patience, openml=self.openml)
                    return Found(source=source, paths=paths, place="cache")
                except (DataFileError, DownloadError) as failure:
                    failures.append(str(failure))
        raise self._missing(sources, wanted_for=wanted_for, failures=failures)

    def read(self, sources: Sequence[Source], *, wanted_for: str) -> tuple[Found, Any]:
        """What ``find`` gives, read; what is broken in the cache, and proven by no checksum, is fetched once more."""
        found = self.find(sources, wanted_for=wanted_for)
        try:
            return found, found.read()
        except DataFileError as error:
            files = zip(found.source.files, found.paths, strict=True)
            unproven = [path for file, path in files if file.checksum is None and found.place == "cache"]
            if not unproven:
                raise
            for path in unproven:
                _log.warning("%s is broken, so it is removed: %s", path, error)
                with contextlib.suppress(OSError):  # then it is found, and refused, once more
                    path.unlink()
        found = self.find(sources, wanted_for=wanted_for)
        return found, found.read()

    def status(self, sources: Sequence[Source]) -> Status:
        """Where ``find`` would take the files from; an allowance to download is not asked."""
        if not sources:
            return "built in"
        if self._first_whole(sources, "local"):
            return "local"
        if self._first_whole(sources, "cache"):
            return "cached"
        return "download" if any(source.is_downloadable for source in sources) else "by hand"

    def _first_whole(self, sources: Sequence[Source], place: Place) -> Found | None:
        """The first source of which every file is there, not yet verified."""
        path_of = self._local_path if place == "local" else self._cached_path
        for source in sources:
            paths = tuple(path for file in source.files if (path := path_of(file)) is not None)
            if len(paths) == len(source.files):
                return Found(source=source, paths=paths, place=place)
        return None

    def _verified(self, sources: Sequence[Source], place: Place) -> Found | None:
        found = self._first_whole(sources, place)
        if found is None:
            return None
        for file, path in zip(found.source.files, found.paths, strict=True):
            if (problem := self._flaw(path, file)) is None:
                continue
            if place == "local":
                raise DataFileError(
                    f"{path} is not the {file.name} that was expected: {problem}. Replace it by the right one, or move "
                    "it out of that folder to have it looked for elsewhere."
                )
            if self.download and found.source.is_downloadable:
                return None  # the download replaces it
            raise DataFileError(f"{path} is broken: {problem}. Delete it and allow the download to get a new one.")
        return found

    def _flaw(self, path: Path, file: DataFile) -> str | None:
        return flaw_unless_known(path, file, notes=self.cache_dir / "verified")

    def _local_path(self, file: DataFile) -> Path | None:
        if self.data_dir is None:
            return None
        own, top = self.data_dir / file.path, self.data_dir / file.name
        if own.is_file():
            return own
        # Many datasets have files of the same names: at the top only the content tells whose a file is.
        return top if top.is_file() and self._flaw(top, file) is None else None

    def _cached_path(self, file: DataFile) -> Path | None:
        path = self._path_in_cache(file)
        # What no checksum proves was never known to be right, so a flaw in it is no reason to stop.
        is_refuse = file.checksum is None and self._flaw(path, file) is not None
        return path if path.is_file() and not is_refuse else None

    def _path_in_cache(self, file: DataFile) -> Path:
        # Many files of many datasets are named train.csv; only what proves a file, or its address, is its own.
        key = hashlib.sha256((file.checksum or file.url or "").encode()).hexdigest()[:12]
        return self.cache_dir / file.folder / key / file.name

    # What to tell whoever lacks the files of a dataset.

    def _missing(self, sources: Sequence[Source], *, wanted_for: str, failures: Sequence[str]) -> MissingDataError:
        """The error that says which files would do, where they were looked for, and the ways to get them."""
        offline = _offline()
        forbidden_by = "" if self.download else f"MCQUACK_OFFLINE={offline}" if offline else "download=False"
        to_install = [
            f"{extra.module}, which is not installed: {extra.how_to_install}"
            for source in sources
            if source.has_addresses and (extra := source.lacking_extra) is not None
        ]
        ways = [*self._ways(sources, to_install=to_install, forbidden_by=forbidden_by)]
        lines = [f"{wanted_for} needs files that are not on this machine{', one of' if sources[1:] else ''}:"]
        for source in sources:
            # What is made of answers of openml.org is no file that anyone could put somewhere.
            paths = ["" if file.openml_id is not None else f"{file.path}, " for file in source.files]
            ways_to = [f"  {path}{source.way_to(file)}" for path, file in zip(paths, source.files, strict=True)]
            lines += _indented([source.title, *ways_to])
        looked_in = " and ".join(str(place) for place in (self.data_dir, self.cache_dir) if place is not None)
        lines += [f"They were looked for in {looked_in}."]
        for title, told in (
            ("Passed over, as they only have the right name:", self._passed_over(sources)),
            ("The download failed:", failures),
            ("What helps:", [*ways[:1], *(f"or {way}" for way in ways[1:])]),
        ):
            lines += [title, *_indented(dict.fromkeys(told))] if told else []
        reasons = [f"to read a download takes {needs}" for needs in to_install]
        if failures:
            reasons.insert(0, failures[0].splitlines()[0])
        elif forbidden_by and any(source.has_addresses for source in sources):
            reasons.insert(0, f"{forbidden_by} forbids the download")
        return MissingDataError("\n".join(lines), reason="; ".join(reasons) or "they are not on this machine")

    def _ways(self, sources: Sequence[Source], *, to_install: Sequence[str], forbidden_by: str) -> Iterator[str]:
        if any(file.openml_id is None for source in sources for file in source.files):
            yield (
                f"put them into {self.data_dir}, as listed or all at its top"
                if self.data_dir is not None
                else "put them into a folder, as listed or all at its top, and name it: MCQUACK_DATA=<folder>, "
                "--data-dir <folder> or load(…, data_dir=<folder>)"
            )
        yield from (f"install what it takes to read a download, {needs}" for needs in to_install)
        if any(source.is_downloadable for source in sources):
            yield f"allow the download, which {forbidden_by} forbids" if forbidden_by else "try again later"

    def _passed_over(self, sources: Sequence[Source]) -> list[str]:
        """Files at the top of the folder that have a right name and a wrong content."""
        tops = [] if self.data_dir is None else [(self.data_dir / file.name, file) for s in sources for file in s.files]
        flaws = {path: self._flaw(path, file) for path, file in tops if path.is_file()}
        return [f"{path}: {problem}" for path, problem in flaws.items() if problem is not None]


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"  {line}" for line in lines]


def places(data_dir: str | Path | None = None, *, download: bool | None = None) -> Places:
    """The places that the arguments name, or else the variables MCQUACK_DATA, MCQUACK_CACHE and MCQUACK_OFFLINE."""
    allowed = not _offline() if download is None else download
    return Places(data_dir=_data_dir(data_dir), cache_dir=_cache_dir(), download=allowed)


def _data_dir(given: str | Path | None) -> Path | None:
    name = "MCQUACK_DATA" if given is None else "data_dir"
    named = os.environ.get("MCQUACK_DATA", "") if given is None else given
    if named == "":
        return None
    folder = _expanded(named, name=name)
    if not folder.is_dir():
        problem = "is a file; name the folder that it is in"
        if not folder.exists():
            problem = f"does not exist; make it or leave {name} out"
        raise InvalidInputError(f"{name} names the folder {folder}, which {problem}.")
    return folder


def _cache_dir() -> Path:
    if named := os.environ.get("MCQUACK_CACHE"):
        return _expanded(named, name="MCQUACK_CACHE")
    from platformdirs import user_cache_path

    return user_cache_path("mcquack")


def _expanded(named: str | Path, *, name: str) -> Path:
    try:
        return Path(named).expanduser().absolute()
    except RuntimeError as error:
        raise InvalidInputError(
            f"{name} names the folder {named}, but there is no such home; write out the whole path."
        ) from error


def _offline() -> str:
    """What MCQUACK_OFFLINE says, if it forbids downloads."""
    said = os.environ.get("MCQUACK_OFFLINE", "")
    return "" if said.strip().lower() in ("", "0", "false", "no") else said
