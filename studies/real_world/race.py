"""The race on the real-world datasets: ``python -m studies.real_world.race`` puts its tables into the README."""

from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any

from mcquack.bench import ranking
from mcquack.bench.ranking import CellScores, Comparison, ScoreTable, Standing
from mcquack.bench.store import Store
from mcquack.bench.suite import read_suite
from mcquack.bench.task import Metric
from mcquack.checks import is_number
from mcquack.datasets import describe
from mcquack.datasets.registry import draw_of
from mcquack.models import catalog
from studies.tables import head_to_head, rows_file, table, write_tables

HERE = Path(__file__).parent
ROWS, README = rows_file(HERE / "race.sqlite"), HERE / "README.md"
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


def cells_without_draw_0() -> tuple[CellScores, ...]:
    """The same without draw 0, whose test parts had been looked at; PM2 and PM4 have no other draw and stay."""
    return ranking.over_draws(cell for cell in _complete() if draw_of(cell.dataset)[1] != 0)


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
        shown = [f"{value:.3f}" for value in values]  # equal numbers are shown as a tie
        texts = [f"**{text}**" if text == max(shown) else text for text in shown]
        lines.append([describe(name).title, *texts])
    means = [sum(found[name, model] or 0 for name in names) / len(names) for model in TITLES]
    return table(["dataset", *TITLES.values()], [*lines, ["mean", *(f"{mean:.3f}" for mean in means)]])


def ranks(found: Sequence[CellScores]) -> str:
    """Mean ranks with their intervals, for both metrics."""
    lines: dict[str, list[str]] = {model: [] for model in TITLES}
    by_metric = {
        metric: ranking.standings(ranking.score_table(found, metric=metric), scale="unit") for metric in METRICS
    }
    for placed in by_metric.values():
        for each in placed:
            interval = "–" if each.interval is None else f"{each.interval.low:.2f} … {each.interval.high:.2f}"
            lines[each.contender.model] += [f"{each.mean_score:.3f}", f"{each.average_rank:.3f} ({interval})"]
    order = [each.contender.model for each in by_metric["balanced_accuracy"]]
    header = ["model", *(f"{kind} {title}" for title in METRICS.values() for kind in ("mean", "rank by"))]
    return table(header, [[TITLES[model], *lines[model]] for model in order])


def own_records(metric: Metric) -> dict[str, list[str]]:
    """Wins, ties and losses of McQuack against each other model, and Wilcoxon's p-value, by the other model's title."""
    table = scores(metric)
    own = next(each for each in table.contenders if each.model == MCQUACK)
    titles = {each.label: TITLES[each.model] for each in table.contenders}
    return {titles[label]: [*numbers] for label, *numbers in head_to_head(table, own)}


def records() -> str:
    """McQuack against each of the others, for both metrics."""
    found = {metric: own_records(metric) for metric in METRICS}
    header = ["McQuack against", *(f"{title}: {kind}" for title in METRICS.values() for kind in ("record", "p"))]
    lines = [
        [title, *(text for metric in METRICS for text in ("/".join(found[metric][title][:3]), found[metric][title][3]))]
        for title in found["balanced_accuracy"]
    ]
    return table(header, lines)


def budgets() -> str:
    """How many settings each model tried, how often the best lay at an end of its grid, and the seconds of a fit."""
    with Store.open(ROWS) as store:
        choices, outcomes = store.choices(), list(store.outcomes(details=False))
    spaces = read_suite("real-world-race").spaces
    lines = []
    for model, title in TITLES.items():
        own = [choice for (_, name), choice in choices.items() if name == model]
        # McQuack searches within its own fit, so that the laboratory sees one setting.
        tried = len(catalog.entry("mcquack").search_space("tuned")) if model == MCQUACK else own[0].n_settings
        grids = {name: values for name, values in spaces[model].items() if _has_open_ends(name, values)}
        ends = [
            f"{name} {end:g}: {n_times}"
            for name, values in grids.items()
            for end in (min(values), max(values))
            if (n_times := sum(choice.settings[name] == end for choice in own))
        ]
        seconds = fmean(each.seconds["fit"] for each in outcomes if each.task.model == model)
        lines.append([title, str(tried), "; ".join(ends) or "–", f"{seconds:.1f}"])
    return table(["model", "settings tried", f"chosen at an end, of {len(own)}", "seconds of the final fit"], lines)


def _has_open_ends(name: str, values: Any) -> bool:
    """Whether a setting is searched over numbers that could go on beyond both ends; all features are a natural end."""
    return (
        name != "n_components" and isinstance(values, list | tuple) and len(values) > 1 and all(map(is_number, values))
    )


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
        f"{found.friedman.f_statistic:.1f}, p = {found.friedman.f_p_value:.0e}); {apart} of those behind it."
    )


def tables() -> dict[str, str]:
    """What the README has from the rows of the race, by the names of the places."""
    draws = n_draws()
    told = f"{sum(draws.values())} draws of {len(draws)} datasets, all eight models on each."
    return {
        "race draws": told,
        "race budgets": budgets(),
        "race ranks": ranks(cells()),
        "race without draw 0": ranks(cells_without_draw_0()),
        "race head to head": records(),
        "race verdicts": "\n".join(f"- {verdict(metric)}" for metric in METRICS),
        "race balanced accuracy": by_dataset("balanced_accuracy"),
        "race auc": by_dataset("auc"),
    }


def main() -> None:
    """Writes the tables into the README."""
    write_tables(README, tables())


if __name__ == "__main__":
    main()
