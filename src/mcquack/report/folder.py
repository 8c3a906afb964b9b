"""A report as a folder of files, which the next report may replace."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from mcquack.errors import InvalidInputError
from mcquack.files import replace_file

PAGE = "index.html"
SUMS = "SHA256SUMS"
"""Lists the files of a report, so that the next one knows which of them are no longer needed."""


def replace_files(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Writes all files and removes what an earlier report left; files that are nobody's report are never touched."""
    earlier = _listed(folder / SUMS)
    if (folder / PAGE).exists() and PAGE not in earlier:
        raise InvalidInputError(f"{folder} has an {PAGE} that is no report; choose another folder, or remove it.")
    for name in earlier.keys() - contents.keys():
        _remove_if_unchanged(folder / name, digest=earlier[name])
    sums = "".join(f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in contents.items())
    for name, content in {SUMS: sums.encode(), **contents}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, content)


def _listed(path: Path) -> dict[str, str]:
    """Digests by name; names that lead out of the folder are no file of a report."""
    if not path.is_file():
        return {}
    lines = (line.partition("  ") for line in path.read_text(encoding="utf-8", errors="replace").splitlines())
    names = {name: digest for digest, _, name in lines if name}
    return {name: digest for name, digest in names.items() if name == PAGE or name.startswith(("tables/", "figures/"))}


def _remove_if_unchanged(path: Path, *, digest: str) -> None:
    if ".." not in path.parts and path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == digest:
        path.unlink()
