"""Our scores beside the paper's: ``python -m studies.real_world.compare`` puts the tables into the README."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from mcquack.bench import ranking
from mcquack.bench.ranking import CellScores
from mcquack.bench.store import Store
from mcquack.bench.task import Metric
from mcquack.datasets import describe
from studies.tables import rows_file, table, write_tables

HERE = Path(__file__).parent
README = HERE / "README.md"
METRICS: dict[Metric, str] = {"balanced_accuracy": "balanced accuracy", "auc": "AUC"}
MODELS = ("mcquack", "vc", "svc", "nystroem_svm", "nn")
DEFAULTS = "mcquack/defaults"

Cells = tuple[CellScores, ...]


def tables() -> dict[str, str]:
    """For each metric: every dataset, the mean, and average normalised ranks."""
    paper = ranking.read_published(HERE / "paper.csv")
    return {title: _table(scores(), paper, metric) for metric, title in METRICS.items()}


@cache
def scores() -> Cells:
    """Of all models on all datasets, with the paper's settings and with the defaults."""
    with Store.open(rows_file(HERE / "rows.sqlite")) as store:
        return ranking.cell_scores(store)


def main() -> None:
    """Writes the tables into the README."""
    write_tables(README, tables())


def _table(own: Cells, paper: Cells, metric: Metric) -> str:
    titles = {cell.model: cell.title for cell in own}
    columns = (*MODELS, DEFAULTS)
    lines = []
    cells = {(cell.dataset, cell.model): cell for cell in own}
    published = {(cell.dataset, cell.model): cell for cell in paper}
    for dataset in dict.fromkeys(cell.dataset for cell in paper):
        texts = (_cell(cells[dataset, model], published.get((dataset, model)), metric) for model in columns)
        lines.append([describe(dataset).title, *texts])
    means = [(mean(own, model, metric), mean(paper, model, metric)) for model in columns]
    lines.append(["mean", *(_beside(*pair, digits=3) for pair in means)])
    ranks, theirs = (_ranks([cell for cell in cells if cell.model in MODELS], metric) for cells in (own, paper))
    lines.append(["rank of five", *(_beside(ranks.get(m), theirs.get(m), digits=2) for m in columns)])
    with_defaults = _ranks(own, metric)
    lines.append(["rank of six", *(_beside(with_defaults[m], None, digits=2) for m in columns)])
    return table(["dataset", *(titles[model] for model in columns)], lines)


def _cell(ours: CellScores, theirs: CellScores | None, metric: Metric) -> str:
    text = f"{ours.mean('test', metric):.3f} ± {ours.spread('test', metric):.3f}"
    return text if theirs is None else f"{text} ({theirs.mean('test', metric):.2f})"


def _beside(ours: float | None, theirs: float | None, *, digits: int) -> str:
    if ours is None:
        return ""
    return f"{ours:.{digits}f}" if theirs is None else f"{ours:.{digits}f} ({theirs:.{digits}f})"


def mean(cells: Cells, model: str, metric: Metric) -> float | None:
    """Over all datasets, None for a model without scores."""
    found = [cell.mean("test", metric) or 0.0 for cell in cells if cell.model == model]
    return sum(found) / len(found) if found else None


def _ranks(cells: Sequence[CellScores], metric: Metric) -> dict[str, float]:
    """As the paper has them: 0 for a model that is always first, 1 for one that is always last."""
    scores = ranking.score_table(cells, metric=metric)
    averages = ranking.average_ranks(scores, scale="unit")
    return {contender.model: float(rank) for contender, rank in zip(scores.contenders, averages, strict=True)}


if __name__ == "__main__":
    main()
