"""The suite's own quantum models, run here with its settings, beside its published scores, seed by seed.

``python -m studies.qml_suite.rivals`` writes ``published.csv`` from ``rivals.sqlite`` and the published scores, which
are looked for in the folder that MCQUACK_DATA names, and puts the tables into the README.
"""

import csv
import math
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Literal, Self

from scipy.stats import spearmanr

from mcquack.bench import ranking
from mcquack.bench.ranking import CellScores
from mcquack.bench.store import Store
from mcquack.models import catalog
from studies.tables import rows_file, stored_rows, table, write_tables

HERE = Path(__file__).parent
ROWS, TABLE, README = rows_file(HERE / "rivals.sqlite"), HERE / "published.csv", HERE / "README.md"
MODELS = ("dressed", "boltzmann", "reuploading", "iqp_variational", "metric_learner", "circuit_centric", "tree_tensor")
_PARTS = (("train", "accuracy"), ("test", "accuracy"))


@dataclass(frozen=True)
class Pair:
    """A model on a dataset: mean test accuracy over the seeds 0 to 4, here and as published."""

    model: str
    dataset: str
    ours: float
    published: float
    published_error: float  # standard error of the published mean over its seeds
    equal_seeds: int  # of the five, with the same accuracy on the training and on the test part

    @property
    def is_met(self) -> bool:
        """Whether the means differ by at most twice the standard error of the published one."""
        return abs(self.ours - self.published) <= 2 * self.published_error + 1e-9

    @classmethod
    def of(cls, ours: CellScores, published: CellScores) -> Self:
        seeds = zip(*(cell.values[key] for cell in (ours, published) for key in _PARTS), strict=True)  # type: ignore[index]
        equal = [math.isclose(a, c, abs_tol=6e-5) and math.isclose(b, d, abs_tol=6e-5) for a, b, c, d in seeds]
        there = published.values["test", "accuracy"]
        return cls(
            model=ours.model,
            dataset=ours.dataset,
            ours=round(statistics.fmean(ours.values["test", "accuracy"]), 5),
            published=round(statistics.fmean(there), 5),
            published_error=round(statistics.stdev(there) / math.sqrt(len(there)), 5),
            equal_seeds=sum(equal),
        )


def compared(own: Iterable[CellScores], published: Iterable[CellScores]) -> Iterator[Pair]:
    """All pairs that have five seeds on both sides."""
    names = {entry.class_name: entry.name for entry in catalog.entries()}
    there = {(names[cell.model], cell.dataset): cell for cell in published if names.get(cell.model) in MODELS}
    ordered = sorted(own, key=lambda cell: (MODELS.index(cell.model), cell.family, cell.size or 0))
    for cell in ordered:
        other = there.get((cell.model, cell.dataset))
        if other is not None and len(cell.values["test", "accuracy"]) == 5:
            yield Pair.of(cell, other)


def read_pairs(path: Path = TABLE) -> list[Pair]:
    """What :func:`write_pairs` wrote."""
    return [
        Pair(
            model=line["model"],
            dataset=line["dataset"],
            ours=float(line["ours"]),
            published=float(line["published"]),
            published_error=float(line["published_error"]),
            equal_seeds=int(line["equal_seeds"]),
        )
        for line in stored_rows(path)
    ]


def write_pairs(pairs: Sequence[Pair], path: Path = TABLE) -> None:
    """Writes a line for each pair."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Pair)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(pair) for pair in pairs)


def summary(pairs: Sequence[Pair]) -> str:
    """A line for each model: on how many datasets it was run, on how many its scores are the published ones."""
    lines = []
    for model in MODELS:
        own = [pair for pair in pairs if pair.model == model]
        if not own:
            continue
        n_all = sum(pair.equal_seeds == 5 for pair in own)
        n_seeds = sum(pair.equal_seeds for pair in own)
        n_met = sum(pair.is_met for pair in own)
        ours, there = [pair.ours for pair in own], [pair.published for pair in own]
        means = (f"{statistics.fmean(each):.3f}" for each in (ours, there))
        counts = (str(len(own)), str(n_all), f"{n_seeds} of {5 * len(own)}", str(n_met))
        lines.append([f"`{model}`", *counts, *means, f"{spearmanr(ours, there).statistic:.3f}"])
    header = ["datasets", "all seeds equal", "seeds equal", "mean met", "ours", "published", "rank correlation"]
    return table(["model", *header], lines)


def average_ranks(pairs: Sequence[Pair], side: Literal["ours", "published"]) -> dict[str, float]:
    """The suite's average rank of each model among the seven: rank divided by the number of models on a dataset."""
    scores = ranking.score_table(
        CellScores(
            dataset=pair.dataset,
            family="",
            model=pair.model,
            title=pair.model,
            values={("test", "accuracy"): (getattr(pair, side),)},
        )
        for pair in pairs
    )
    averages = ranking.average_ranks(scores, scale="share")
    return {each.model: float(rank) for each, rank in zip(scores.contenders, averages, strict=True)}


def rank_table(pairs: Sequence[Pair]) -> str:
    """The average ranks of the seven models among themselves, by our scores and by the published ones."""
    ours, there = average_ranks(pairs, "ours"), average_ranks(pairs, "published")
    lines = [
        [f"`{model}`", f"{ours[model]:.3f}", f"{there[model]:.3f}"] for model in sorted(ours, key=ours.__getitem__)
    ]
    return table(["model", "average rank, ours", "published"], lines)


def tables() -> dict[str, str]:
    """What the README has from ``published.csv``, by the names of the places."""
    pairs = read_pairs()
    return {"rivals": summary(pairs), "rivals ranks": rank_table(pairs)}


def main() -> None:
    """Compares what was run so far."""
    with Store.open(ROWS) as store:
        own = [cell for cell in ranking.cell_scores(store) if cell.model in MODELS]
    pairs = list(compared(own, ranking.published_scores(corrected=False)))
    write_pairs(pairs)
    write_tables(README, tables())


if __name__ == "__main__":
    main()
