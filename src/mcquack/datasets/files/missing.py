"""What to tell whoever lacks the files of a dataset."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mcquack.datasets.files.data_file import Source


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
