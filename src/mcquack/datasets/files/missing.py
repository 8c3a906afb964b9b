"""What to tell whoever lacks the files of a dataset."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from mcquack.datasets.files.data_file import Source


def missing_text(
    sources: Sequence[Source],
    *,
    wanted_for: str,
    data_dir: Path | None,
    cache_dir: Path,
    forbidden_by: str = "",
    failures: Sequence[str] = (),
) -> str:
    """Which files would do, where they were looked for, and the ways to get them.

    ``forbidden_by`` names the setting that forbids a download, if one does; ``failures`` tell why downloads failed.
    """
    looked_in = " and ".join(str(place) for place in (data_dir, cache_dir) if place is not None)
    lines = [f"{wanted_for} needs files that are not on this machine{':' if len(sources) == 1 else ', one of:'}"]
    lines += _listing(sources)
    lines += [f"They were looked for in {looked_in}."]
    lines += ["The download failed:", *(f"  {failure}" for failure in dict.fromkeys(failures))] if failures else []
    lines += ["What helps:", f"  {_by_hand(data_dir)}"]
    if any(source.is_downloadable for source in sources):
        lines += [f"  or {f'allow the download, which {forbidden_by} forbids' if forbidden_by else 'try again later'}"]
    return "\n".join(lines)


def _listing(sources: Sequence[Source]) -> Iterator[str]:
    for source in sources:
        yield f"  {source.title}"
        yield from (f"    {file.path}, {source.way_to(file)}" for file in source.files)


def _by_hand(data_dir: Path | None) -> str:
    if data_dir is not None:
        return f"put them into {data_dir}, as listed or all at its top"
    return (
        "put them into a folder, as listed or all at its top, and name it: MCQUACK_DATA=<folder>, --data-dir <folder>"
        " or load(…, data_dir=<folder>)"
    )
