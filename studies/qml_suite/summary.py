"""Our rows beside the published ones: ``python -m studies.qml_suite.summary`` prints the tables of the README."""

from pathlib import Path

from mcquack.bench import ranking
from mcquack.bench.ranking import CellScores, Standing
from mcquack.bench.store import Store

HERE = Path(__file__).parent


def main() -> None:
    """Average ranks over all datasets, then the accuracies of ours and of the best published models."""
    with Store.open(HERE / "rows.sqlite") as store:
        own = ranking.cell_scores(store)
    datasets = {cell.dataset for cell in own}
    cells = (*own, *(cell for cell in ranking.published_scores() if cell.dataset in datasets))
    standings = ranking.standings(ranking.score_table(cells))
    print(f"{_ranks(standings)}\n\n{_scores(cells, standings)}")  # noqa: T201


def _ranks(standings: tuple[Standing, ...]) -> str:
    lines = ["| model | average rank (95 % interval) | datasets | mean test accuracy |", "|---|---:|---:|---:|"]
    for each in standings:
        interval = "–" if each.interval is None else f"{each.interval.low:.2f} … {each.interval.high:.2f}"
        name = f"{each.contender.title}{' (published)' if each.contender.is_published else ''}"
        lines.append(f"| {name} | {each.average_rank:.3f} ({interval}) | {each.n_datasets} | {each.mean_score:.3f} |")
    return "\n".join(lines)


def _scores(cells: tuple[CellScores, ...], standings: tuple[Standing, ...]) -> str:
    shown = [each.contender for each in standings]
    means = {(cell.dataset, cell.model, cell.source): cell.mean("test", "accuracy") for cell in cells}
    titles = (f"{one.title}{' (published)' if one.is_published else ''}" for one in shown)
    lines = ["| dataset | " + " | ".join(titles) + " |", "|---|" + "---:|" * len(shown)]
    ordered = sorted(cells, key=lambda cell: (cell.family, cell.size or 0))
    for dataset in dict.fromkeys(cell.dataset for cell in ordered):
        found = (means.get((dataset, one.model, one.source)) for one in shown)
        lines.append(f"| {dataset} | " + " | ".join("–" if mean is None else f"{mean:.3f}" for mean in found) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
