"""The race on the real-world datasets: ``python -m studies.real_world.race`` puts its tables into the README."""

from collections import Counter
from functools import cache
from pathlib import Path

from mcquack.bench import ranking
from mcquack.bench.outcome import Metric
from mcquack.bench.ranking import CellScores, Comparison, ScoreTable, Standing
from mcquack.bench.store import Store
from mcquack.datasets import describe
from mcquack.datasets.registry import draw_of
from studies.tables import table, write_tables

HERE = Path(__file__).parent
ROWS, README = HERE / "race.sqlite", HERE / "README.md"
METRICS: dict[Metric, str] = {"balanced_accuracy": "balanced accuracy", "auc": "AUC"}
MCQUACK = "mcquack.models:McQuackClassifierCV"
# In the order of the columns.
TITLES = {
    MCQUACK: "McQuack, tuned",
    "svc": "SVC",
    "mcquack.studies.races:Forest": "random forest",
    "mcquack.studies.races:Boosting": "gradient boosting",
    "mcquack.studies.races:Logistic": "logistic regression",
    "vc": "VC",
    "nn": "NN",
    "nystroem_svm": "NystroemSVM",
}


@cache
def _complete() -> tuple[CellScores, ...]:
    """The scores on all draws on which every model is done."""
    with Store.open(ROWS) as store:
        found = ranking.cell_scores(store)
    done: dict[str, set[str]] = {}
    for cell in found:
        done.setdefault(cell.dataset, set()).add(cell.model)
    return tuple(cell for cell in found if done[cell.dataset] == set(TITLES))


def cells() -> tuple[CellScores, ...]:
    """The scores of all models on all datasets, each over the draws on which every model is done."""
    return ranking.over_draws(_complete())


def n_draws() -> Counter[str]:
    """On how many draws of each dataset every model is done."""
    return Counter(draw_of(cell.dataset)[0] for cell in _complete() if cell.model == MCQUACK)


def scores(metric: Metric) -> ScoreTable:
    """Mean scores of all models on all datasets."""
    return ranking.score_table(cells(), metric=metric)


def standings(metric: Metric) -> tuple[Standing, ...]:
    """Best first, by the mean rank from 0, always first, to 1, always last."""
    return ranking.standings(scores(metric), scale="unit")


def by_dataset(metric: Metric) -> str:
    """Mean scores of all models on each dataset, and their mean over all of them."""
    found = {(cell.dataset, cell.model): cell.mean("test", metric) for cell in cells()}
    names = dict.fromkeys(cell.dataset for cell in sorted(cells(), key=lambda cell: describe(cell.dataset).title))
    lines = []
    for name in names:
        values = [found[name, model] for model in TITLES]
        best = max(value for value in values if value is not None)
        texts = [f"**{value:.3f}**" if value == best else f"{value:.3f}" for value in values]
        lines.append([describe(name).title, *texts])
    means = [sum(found[name, model] or 0 for name in names) / len(names) for model in TITLES]
    return table(["dataset", *TITLES.values()], [*lines, ["mean", *(f"{mean:.3f}" for mean in means)]])


def ranks() -> str:
    """Mean ranks with their intervals, for both metrics."""
    lines: dict[str, list[str]] = {model: [] for model in TITLES}
    for metric in METRICS:
        for each in standings(metric):
            interval = "–" if each.interval is None else f"{each.interval.low:.2f} … {each.interval.high:.2f}"
            lines[each.contender.model] += [f"{each.mean_score:.3f}", f"{each.average_rank:.3f} ({interval})"]
    order = [each.contender.model for each in standings("balanced_accuracy")]
    header = ["model", *(f"{kind} {title}" for title in METRICS.values() for kind in ("mean", "rank by"))]
    return table(header, [[TITLES[model], *lines[model]] for model in order])


def compared(metric: Metric) -> Comparison:
    """What tests say of the differences between the models."""
    return ranking.compare(scores(metric))


def verdict(metric: Metric) -> str:
    """What Friedman's and Nemenyi's tests say of McQuack."""
    found = compared(metric)
    own = next(number for number, each in enumerate(found.contenders) if each.model == MCQUACK)
    worse = [
        TITLES[other.model]
        for number, other in enumerate(found.contenders)
        if number > own and found.p_values[own][number] < found.alpha
    ]
    apart = f"Nemenyi's test separates it from {', '.join(worse)}" if worse else "Nemenyi's test separates it from none"
    place = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "last")[own]
    return (
        f"By {METRICS[metric]} McQuack is {place} of {len(found.contenders)} (Friedman's test, Iman and Davenport's F "
        f"{found.friedman.statistic:.1f}, p = {found.friedman.p_value:.0e}); {apart} of those behind it."
    )


def tables() -> dict[str, str]:
    """What the README has from the rows of the race, by the names of the places."""
    draws = n_draws()
    told = f"{sum(draws.values())} draws of {len(draws)} datasets, all eight models on each."
    return {
        "race draws": told,
        "race ranks": ranks(),
        "race verdicts": "\n".join(f"- {verdict(metric)}" for metric in METRICS),
        "race balanced accuracy": by_dataset("balanced_accuracy"),
        "race auc": by_dataset("auc"),
    }


def main() -> None:
    """Writes the tables into the README."""
    write_tables(README, tables())


if __name__ == "__main__":
    main()
