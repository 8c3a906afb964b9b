"""What studies share: files of rows that grow by what they lack, and tables in pages, each below its name."""

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import wilcoxon

from mcquack.bench.ranking import Contender, ScoreTable, win_matrix
from mcquack.bench.ranking.ranks import SCORE_DECIMALS
from mcquack.files import replace_file
from mcquack.numerics import NUMERICS


def rows_file(path: Path) -> Path:
    """A store or ledger of a study: compressed, as the repository keeps it, unless there is one to be written."""
    compressed = path.with_name(f"{path.name}.gz")
    return compressed if compressed.exists() and not path.exists() else path


def rows_name(path: Path) -> str:
    """What a store is called: the name of its file without its endings."""
    return path.name.removesuffix(".gz").removesuffix(".sqlite")


def rows_files(folder: Path) -> list[Path]:
    """All stores and ledgers of a study, by name, each as :func:`rows_file` has it."""
    names = {rows_name(path) for ending in ("sqlite", "sqlite.gz") for path in folder.glob(f"*.{ending}")}
    return [rows_file(folder / f"{name}.sqlite") for name in sorted(names)]


def stored_rows(path: Path) -> list[dict[str, str]]:
    """All rows of a file as they are written; none if it is not there yet."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


class GrowingRows:
    """A file of rows to which runs that it lacks are added one by one; opened by :func:`growing_rows`."""

    def __init__(self, writer: "csv.DictWriter[str]", stream: Any, done: set[tuple[str, ...]]) -> None:
        self._writer, self._stream, self._done = writer, stream, done

    def __contains__(self, key: Sequence[object]) -> bool:
        return tuple(map(str, key)) in self._done

    def add(self, *rows: Mapping[str, object]) -> None:
        """Writes what belongs together, and is then safe from an interrupt."""
        self._writer.writerows({**row, "numerics": NUMERICS} for row in rows)
        self._stream.flush()


@contextmanager
def growing_rows(path: Path, fields: Sequence[str], *, keys: Sequence[str]) -> Iterator[GrowingRows]:
    """The file, open to add rows to it: ``key in rows`` tells whether a row with these values of ``keys`` is there.

    Every row names the numerics that made it, and those of other numerics than the present leave the file.
    """
    kept = [row for row in stored_rows(path) if row.get("numerics") == str(NUMERICS)]
    text = io.StringIO()
    writer = csv.DictWriter(text, [*fields, "numerics"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(kept)
    replace_file(path, text.getvalue().encode())
    with path.open("a", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, [*fields, "numerics"], lineterminator="\n")
        yield GrowingRows(writer, stream, {tuple(row[name] for name in keys) for row in kept})


def table(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table as Markdown has it, its first column text and all others numbers."""
    rule = "|---|" + "---:|" * (len(header) - 1)
    return "\n".join(["| " + " | ".join(header) + " |", rule, *("| " + " | ".join(line) + " |" for line in lines)])


def head_to_head(scores: ScoreTable, own: Contender) -> list[list[str]]:
    """Return, for every other contender, on how many datasets ``own`` wins, ties and loses, and the p-value.

    The p-value is that of Wilcoxon's signed-rank test of equal scores; datasets with a tie, or without a score of both,
    are left out of it.
    """
    records, lines = win_matrix(scores), []
    column = scores.contenders.index(own)
    for number, other in enumerate(scores.contenders):
        if other == own:
            continue
        differences = np.round(scores.means[:, column] - scores.means[:, number], SCORE_DECIMALS)
        decided = differences[np.isfinite(differences) & (differences != 0)]
        counts = records.record(column, number)
        lines.append([other.label, *map(str, counts), f"{wilcoxon(decided).pvalue:.2g}"])
    return sorted(lines, key=lambda line: int(line[1]) - int(line[3]))


def with_tables(text: str, found: Mapping[str, str]) -> str:
    """A page with each of them in the place of the lines below its name, which stands in a comment."""
    for name, lines in found.items():
        place = re.compile(rf"(<!-- {re.escape(name)} -->\n)(?:.+\n)*")
        at = place.search(text)
        if at is None:
            raise LookupError(f"the page has no place <!-- {name} --> for a table; add it where the table belongs.")
        text = f"{text[: at.start()]}{at[1]}{lines}\n{text[at.end() :]}"
    return text


def write_tables(page: Path, found: Mapping[str, str]) -> None:
    """Puts the tables into a page."""
    replace_file(page, with_tables(page.read_text(encoding="utf-8"), found).encode())
