"""Scores that others published, from a tidy table of yours."""

import csv
import io
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar, get_args

from mcquack.bench.outcome import METRICS, Part
from mcquack.bench.ranking.cell_scores import CellScores, Key
from mcquack.bench.ranking.naming import family_and_size, model_titles
from mcquack.checks import did_you_mean
from mcquack.errors import InvalidTableError

COLUMNS = ("dataset", "model", "part", "metric", "mean", "std", "n_parameters", "source")
PARTS: tuple[Part, ...] = get_args(Part)

Name = TypeVar("Name", bound=str)


@dataclass(frozen=True, kw_only=True)
class _Line:
    """One score, checked."""

    dataset: str
    model: str
    source: str
    key: Key
    mean: float
    std: float
    n_parameters: int | None


def read_published(path: str | Path) -> tuple[CellScores, ...]:
    """The scores of a CSV file with a line for each dataset, model, part and metric, and the columns of ``COLUMNS``.

    ``mean`` is from 0 to 1, ``std`` the standard deviation over the seeds, ``n_parameters`` may be empty, and
    ``source`` names the publication. What is known here, dataset or model, is best called by its name here.
    """
    cells: dict[tuple[str, str, str], dict[Key, _Line]] = {}
    for number, line in _lines(Path(path)):
        scores = cells.setdefault((line.dataset, line.model, line.source), {})
        if line.key in scores:
            what = f"{line.model} on {line.dataset} ({' '.join(line.key)})"
            raise InvalidTableError(f"{path}, line {number}: {what} was there before; keep one of the two.")
        scores[line.key] = line
    models: dict[str, list[str]] = {}
    for _, model, source in cells:
        models.setdefault(source, []).append(model)
    titles = {source: model_titles(names) for source, names in models.items()}
    return tuple(_cell(scores, title=titles[source][model]) for (_, model, source), scores in cells.items())


def _cell(scores: Mapping[Key, _Line], *, title: str) -> CellScores:
    first = next(iter(scores.values()))
    family, size = family_and_size(first.dataset)
    return CellScores(
        dataset=first.dataset,
        family=family,
        size=size,
        model=first.model,
        title=title,
        source=first.source,
        reported={key: (line.mean, line.std) for key, line in scores.items()},
        n_parameters=next((line.n_parameters for line in scores.values() if line.n_parameters is not None), None),
    )


def _lines(path: Path) -> Iterator[tuple[int, _Line]]:
    """Every line with its number in the file."""
    try:
        # A byte order mark, as spreadsheets write it, is no part of the first name.
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InvalidTableError(f"{path} cannot be read: {error.strerror}; name a CSV file.") from error
    except UnicodeDecodeError as error:
        raise InvalidTableError(f"{path} is not UTF-8; save it as CSV in that encoding.") from error
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = _checked_header([name.strip() for name in next(reader, [])])
        for cells in reader:
            if cells:  # a blank line is none
                yield reader.line_num, _line(dict(zip(header, cells, strict=False)))
    except (ValueError, csv.Error) as error:
        raise InvalidTableError(f"{path}, line {reader.line_num}: {error}") from error


def _checked_header(names: list[str]) -> list[str]:
    missing = [name for name in COLUMNS if name not in names]
    if missing:
        raise ValueError(f"there is no column {' and '.join(missing)}; the first line must name {', '.join(COLUMNS)}.")
    return names


def _line(cells: Mapping[str, str]) -> _Line:
    texts = {name: cells.get(name, "").strip() for name in COLUMNS}
    return _Line(
        dataset=_filled(texts, "dataset"),
        model=_filled(texts, "model"),
        source=_filled(texts, "source"),
        key=(_one_of(PARTS, texts, "part"), _one_of(METRICS, texts, "metric")),
        mean=_share(texts, "mean"),
        std=_share(texts, "std"),
        n_parameters=_count(texts, "n_parameters"),
    )


def _filled(texts: Mapping[str, str], column: str) -> str:
    if not texts[column]:
        raise ValueError(f"{column} is empty; every line needs one.")
    return texts[column]


def _one_of(known: tuple[Name, ...], texts: Mapping[str, str], column: str) -> Name:
    for name in known:
        if name == texts[column]:
            return name
    hint = did_you_mean(texts[column], known, otherwise=f"there are {', '.join(known)}.")
    raise ValueError(f"no {column} is named {texts[column]!r}; {hint}")


def _share(texts: Mapping[str, str], column: str) -> float:
    """All metrics lie from 0 to 1, and so do their standard deviations."""
    try:
        number = float(texts[column])
    except ValueError:
        number = math.nan
    if not 0 <= number <= 1:
        raise ValueError(f"{column} must be a number from 0 to 1, got {texts[column]!r}.")
    return number


def _count(texts: Mapping[str, str], column: str) -> int | None:
    if not texts[column]:
        return None
    if not texts[column].isdecimal():
        raise ValueError(f"{column} must be a whole number or empty, got {texts[column]!r}.")
    return int(texts[column])
