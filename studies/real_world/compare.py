"""Our scores beside the paper's: ``python -m studies.real_world.compare`` prints the tables of the README."""

from pathlib import Path

from mcquack.bench import ranking
from mcquack.bench.outcome import Metric
from mcquack.bench.ranking import CellScores
from mcquack.bench.store import Store
from mcquack.datasets import describe

HERE = Path(__file__).parent
METRICS: dict[Metric, str] = {"balanced_accuracy": "Balanced accuracy", "auc": "AUC"}
MODELS = ("mcquack", "vc", "svc", "nystroem_svm", "nn")


def main() -> None:
    """For each metric: every dataset, then average normalised ranks."""
    with Store.open(HERE / "rows.sqlite") as store:
        own = ranking.cell_scores(store)
    paper = ranking.read_published(HERE / "paper.csv")
    for metric, title in METRICS.items():
        print(f"{title}, ours and in brackets the paper's:\n\n{_table(own, paper, metric)}\n")  # noqa: T201


def _table(own: tuple[CellScores, ...], paper: tuple[CellScores, ...], metric: Metric) -> str:
    titles = {cell.model: cell.title for cell in own}
    lines = ["| dataset | " + " | ".join(titles[model] for model in MODELS) + " |", "|---|" + "---:|" * len(MODELS)]
    cells = [{(cell.dataset, cell.model): cell for cell in given} for given in (own, paper)]
    for dataset in dict.fromkeys(cell.dataset for cell in paper):
        pairs = ((mine[dataset, model] for mine in cells) for model in MODELS)
        lines.append(f"| {describe(dataset).title} | " + " | ".join(_pair(*pair, metric) for pair in pairs) + " |")
    means = [[_mean(given, model, metric) for given in (own, paper)] for model in MODELS]
    lines.append("| mean | " + " | ".join(f"{ours:.3f} ({theirs:.3f})" for ours, theirs in means) + " |")
    ranks = [_ranks(given, metric) for given in (own, paper)]
    lines.append(
        "| average rank | " + " | ".join(f"{ranks[0][model]:.2f} ({ranks[1][model]:.2f})" for model in MODELS) + " |"
    )
    return "\n".join(lines)


def _pair(ours: CellScores, theirs: CellScores, metric: Metric) -> str:
    mean, spread = ours.mean("test", metric), ours.spread("test", metric)
    published = theirs.mean("test", metric)
    return f"{mean:.3f} ± {spread:.3f} ({published:.2f})"


def _mean(cells: tuple[CellScores, ...], model: str, metric: Metric) -> float:
    found = [cell.mean("test", metric) or 0.0 for cell in cells if cell.model == model]
    return sum(found) / len(found)


def _ranks(cells: tuple[CellScores, ...], metric: Metric) -> dict[str, float]:
    """As the paper has them: 0 for a model that is always first, 1 for one that is always last."""
    table = ranking.score_table(cells, metric=metric)
    averages = ranking.average_ranks(table, scale="unit")
    return {contender.model: float(rank) for contender, rank in zip(table.contenders, averages, strict=True)}


if __name__ == "__main__":
    main()
