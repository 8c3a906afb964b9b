"""Our rows beside the published ones: ``python -m studies.qml_suite.summary`` puts the tables into the README.

The published scores are those that ``race.csv`` keeps.
"""

from pathlib import Path

from mcquack.bench import ranking
from mcquack.bench.ranking import CellScores, Standing
from mcquack.bench.store import Store
from studies.qml_suite import race
from studies.tables import rows_file, table, write_tables

README = race.README
ROWS = rows_file(Path(__file__).with_name("rows.sqlite"))


def tables() -> dict[str, str]:
    """Average ranks over all datasets, then the accuracies of ours and of all published models."""
    with Store.open(ROWS) as store:
        own = ranking.cell_scores(store)
    datasets = {cell.dataset for cell in own}
    published = (cell for cell in race.mean_cells() if cell.is_published and cell.dataset in datasets)
    cells = (*own, *published)
    scores = ranking.score_table(cells)
    standings = ranking.standings(scores)
    return {
        "part ranks": race.rank_table(standings),
        "part head to head": race.record_table(scores),
        "part scores": _scores(cells, standings),
    }


def _scores(cells: tuple[CellScores, ...], standings: tuple[Standing, ...]) -> str:
    shown = [each.contender for each in standings]
    means = {(cell.dataset, cell.model, cell.source): cell.mean("test", "accuracy") for cell in cells}
    titles = map(race.name_of, shown)
    lines = []
    ordered = sorted(cells, key=lambda cell: (cell.family, cell.size or 0))
    for dataset in dict.fromkeys(cell.dataset for cell in ordered):
        found = (means.get((dataset, one.model, one.source)) for one in shown)
        lines.append([dataset, *("–" if mean is None else f"{mean:.3f}" for mean in found)])
    return table(["dataset", *titles], lines)


def main() -> None:
    """Writes the tables into the README."""
    write_tables(README, tables())


if __name__ == "__main__":
    main()
