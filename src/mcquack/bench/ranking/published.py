"""The scores that Bowles, Ahmed and Schuld published for the QML benchmark suite, with their known fault mended."""

import csv
import gzip
import io
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar, get_args

from mcquack import datasets
from mcquack.bench.outcome import METRICS, Part
from mcquack.bench.ranking.scores import CellScores, Key, family_and_size, model_titles
from mcquack.checks import did_you_mean
from mcquack.datasets.files import DataFile, Source, places
from mcquack.errors import InvalidInputError, InvalidTableError

SOURCE = "Bowles et al. 2024"

QNN_FAMILY = (
    "MLPClassifier",
    "DressedQuantumCircuitClassifier",
    "DataReuploadingClassifier",
    "QuantumBoltzmannMachine",
    "IQPVariationalClassifier",
    "QuantumMetricLearner",
    "CircuitCentricClassifier",
    "TreeTensorClassifier",
)
"""Their quantum neural networks and the classical network beside them: whom the paper compares McQuack with."""

CORRECTED = "test scores corrected: the published ones are of the training part"
LEFT_OUT = "test scores left out: the published ones are of the training part"

_FOLDER = "qml_benchmarks/scores"
_SCORES = DataFile(
    name="final_scores.csv.gz",
    folder=_FOLDER,
    checksum="sha256:e3b28463b3fdcf118790ba9516541c49c133c58dab3cb90d0085afaee5528fbf",
    n_bytes=59_700,
)
_RERUNS = DataFile(
    name="reruns_two_curves_diff.csv",
    folder=_FOLDER,
    checksum="sha256:342b63fbc4179f53104b57b64712be17cdefe2ad44ca4c7e26f1dd6a74d302ee",
    n_bytes=4_853,
)


@dataclass(frozen=True, kw_only=True)
class _Row:
    """One seed of one model on one dataset."""

    dataset: str
    family: str
    size: int
    model: str
    seed: int
    train: float
    test: float
    test_is_train: bool


_Key = tuple[str, str]
"""A dataset and a model."""

_Cells = Mapping[_Key, Sequence[_Row]]


def published_scores(
    data_dir: str | Path | None = None, *, corrected: bool = True, models: Collection[str] | None = QNN_FAMILY
) -> tuple[CellScores, ...]:
    """Accuracies over five seeds on the 133 datasets of the suite; a cell that was not published is missing.

    Where a published test score is of the training part, ``corrected`` puts that of a rerun in its place, or leaves it
    out where there was none. ``models`` are those to return, None for all 20. The files are looked for where
    ``mcquack.datasets.load`` looks: in ``data_dir``, else in the folder that MCQUACK_DATA names.
    """
    rows, reruns = _read(data_dir)
    known = dict.fromkeys(key[1] for key in rows)
    unknown = sorted(set(models or ()) - set(known))
    if unknown:
        raise InvalidInputError(f"no scores of {', '.join(unknown)} were published; there are {', '.join(known)}.")
    return tuple(
        _corrected_cell(cell, reruns.get(key)) if corrected else _cell(cell)
        for key, cell in rows.items()
        if models is None or key[1] in models
    )


def _read(data_dir: str | Path | None) -> tuple[_Cells, _Cells]:
    """All published rows, and those that were run again."""
    source = Source(title="tidied scores of the QML benchmark suite", files=(_SCORES, _RERUNS), read=_by_cell)
    _, found = places(data_dir).read((source,), wanted_for="a ranking beside the published models")
    scores, reruns = found
    return scores, reruns


def _by_cell(*paths: Path) -> list[_Cells]:
    suite = set(datasets.names(suite="qml"))
    found: list[_Cells] = []
    for path in paths:
        cells: dict[_Key, list[_Row]] = {}
        for row in _rows(path):
            if row.dataset in suite:  # more was published, of which there is no data here
                cells.setdefault((row.dataset, row.model), []).append(row)
        found.append({key: sorted(cell, key=lambda row: row.seed) for key, cell in cells.items()})
    return found


def _rows(path: Path) -> Iterator[_Row]:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            yield _Row(
                dataset=f"{line['family']}_{line['n']}",
                family=line["family"],
                size=int(line["n"]),
                model=line["model"],
                seed=int(line["seed"]),
                train=float(line["train_acc"]),
                test=float(line["test_acc"]),
                test_is_train=line.get("test_is_train") == "1",
            )


def _corrected_cell(rows: Sequence[_Row], rerun: Sequence[_Row] | None) -> CellScores:
    if not any(row.test_is_train for row in rows):
        return _cell(rows)
    # Of a rerun the training scores are taken as well: a cell is of one run.
    return _cell(rerun, note=CORRECTED) if rerun else _cell(rows, note=LEFT_OUT, has_test=False)


def _cell(rows: Sequence[_Row], *, note: str = "", has_test: bool = True) -> CellScores:
    first = rows[0]
    values: dict[Key, tuple[float, ...]] = {("train", "accuracy"): tuple(row.train for row in rows)}
    if has_test:
        values["test", "accuracy"] = tuple(row.test for row in rows)
    return CellScores(
        dataset=first.dataset,
        family=first.family,
        size=first.size,
        model=first.model,
        title=first.model,
        source=SOURCE,
        values=values,
        note=note,
    )


# Scores that others published, from a tidy table of yours.

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
    return tuple(
        _published_table_cell(scores, title=titles[source][model]) for (_, model, source), scores in cells.items()
    )


def _published_table_cell(scores: Mapping[Key, _Line], *, title: str) -> CellScores:
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
