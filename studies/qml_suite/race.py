"""McQuack among all models of the QML suite: ``python -m studies.qml_suite.race`` puts the tables into the README.

The published scores are looked for in the folder that MCQUACK_DATA names; ``race.csv`` keeps the mean scores of all, so
that the tables can be made without it.
"""

import csv
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from mcquack.bench import ranking
from mcquack.bench.ranking import CellScores, Contender, ScoreTable, Standing
from mcquack.bench.store import Store
from studies.tables import head_to_head, rows_file, stored_rows, table, write_tables

HERE = Path(__file__).parent
ROWS, MEANS, README = rows_file(HERE / "race.sqlite"), HERE / "race.csv", HERE / "README.md"
FIELDS = ("dataset", "family", "model", "title", "source", "accuracy")


def own_cells() -> tuple[CellScores, ...]:
    """What was run here, on datasets with all five seeds."""
    with Store.open(ROWS) as store:
        return tuple(cell for cell in ranking.cell_scores(store) if len(cell.values["test", "accuracy"]) == 5)


def write_means() -> None:
    """Keeps the mean accuracy of every model on every dataset that McQuack was run on."""
    own = own_cells()
    datasets = {cell.dataset for cell in own if cell.model == "mcquack"}
    published = (cell for cell in ranking.published_scores() if cell.dataset in datasets)
    with MEANS.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(FIELDS)
        for cell in (*own, *published):
            mean = cell.mean("test", "accuracy")
            if mean is not None:
                writer.writerow([cell.dataset, cell.family, cell.model, cell.title, cell.source, round(mean, 5)])


def mean_cells() -> tuple[CellScores, ...]:
    """The mean accuracy of every contender on every dataset, from ``race.csv``."""
    return tuple(
        CellScores(
            dataset=line["dataset"],
            family=line["family"],
            model=line["model"],
            title=line["title"],
            source=line["source"],
            values={("test", "accuracy"): (float(line["accuracy"]),)},
        )
        for line in stored_rows(MEANS)
    )


@cache
def scores() -> ScoreTable:
    """Mean accuracies of all contenders."""
    return ranking.score_table(mean_cells())


def standings() -> tuple[Standing, ...]:
    """All contenders by average rank, best first."""
    return ranking.standings(scores())


def name_of(contender: Contender) -> str:
    """Its title, which says whether its scores were published and not made here."""
    return f"{contender.title}{' (published)' if contender.is_published else ''}"


def rank_table(found: Sequence[Standing]) -> str:
    """Average ranks, as the suite has them, of all contenders."""
    lines = []
    for each in found:
        interval = "–" if each.interval is None else f"{each.interval.low:.3f} … {each.interval.high:.3f}"
        numbers = (
            f"{each.average_rank:.3f} ({interval})",
            str(each.n_datasets),
            f"{each.mean_score:.3f}",
            str(each.n_first),
        )
        lines.append([name_of(each.contender), *numbers])
    return table(["model", "average rank (95 % interval)", "datasets", "mean test accuracy", "first on"], lines)


def by_family() -> str:
    """Average ranks of the foremost contenders on each family of datasets."""
    front = [each.contender for each in standings()[:6]]
    lines = []
    for family in dict.fromkeys(scores().families):
        part = scores().of_family(family)
        averages = ranking.average_ranks(part)
        found = dict(zip(((each.model, each.source) for each in part.contenders), averages, strict=True))
        texts = [f"{found[one.model, one.source]:.3f}" if (one.model, one.source) in found else "–" for one in front]
        lines.append([family, str(len(part.datasets)), *texts])
    return table(["family", "datasets", *(one.label for one in front)], lines)


def record_table(found: ScoreTable) -> str:
    """McQuack against each of the others."""
    own = next(each for each in found.contenders if each.model == "mcquack")
    return table(["McQuack against", "wins", "ties", "losses", "p"], head_to_head(found, own))


def tables() -> dict[str, str]:
    """What the README has from the rows of the race, by the names of the places."""
    return {
        "race ranks": rank_table(standings()),
        "race families": by_family(),
        "race head to head": record_table(scores()),
    }


def main() -> None:
    """Keeps the means and writes the tables into the README."""
    write_means()
    write_tables(README, tables())


if __name__ == "__main__":
    main()
