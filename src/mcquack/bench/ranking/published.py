"""The scores that Bowles, Ahmed and Schuld published for the QML benchmark suite, with their known fault mended."""

import csv
import gzip
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mcquack import datasets
from mcquack.bench.ranking.cell_scores import CellScores, Key
from mcquack.datasets.files import DataFile, Source, places
from mcquack.errors import InvalidInputError

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
