"""The paper's benchmark on real data: ranks, every score, parameters, datasets, and what is searched."""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from mcquack.bench.ranking import CellScores, Standing, score_table, standings
from mcquack.bench.task import Metric
from mcquack.datasets import describe
from mcquack.errors import UnknownDatasetError
from mcquack.report.document import Picture, Table
from mcquack.report.ranking import METRIC_TITLES, metric_phrase, plot_ranking
from mcquack.report.style import counted
from studies.paper.checks import Check, claim_check, equal_check, rank_check, score_check
from studies.paper.exhibit import Exhibit, Pair, table
from studies.paper.items import ITEMS, real_world_scores, values
from studies.paper.protocol import class_count_exhibit, dataset_exhibit, space_exhibit
from studies.paper.sources import Sources

RANKED: tuple[Metric, ...] = ("auc", "balanced_accuracy")
OTHERS: tuple[Metric, ...] = ("precision", "recall", "f1", "accuracy")
SHOWN_ONLY = ("svc",)  # its dual coefficients are those of the samples that were drawn

Cells = Sequence[CellScores]


def exhibits(sources: Sources) -> Iterator[Exhibit]:
    """All items about real data, in the order of the page."""
    own = paper_models(sources.cells.get("real_world", ()))
    yield sources.exhibit("real_world_ranking", lambda _: ranking_exhibit(own))
    yield sources.exhibit("real_world_auc", lambda _: score_exhibit("real_world_auc", own, ("auc",)))
    yield sources.exhibit(
        "real_world_balanced_accuracy",
        lambda _: score_exhibit("real_world_balanced_accuracy", own, ("balanced_accuracy",)),
    )
    yield sources.exhibit("real_world_others", lambda _: score_exhibit("real_world_others", own, OTHERS))
    yield sources.exhibit("parameters", lambda _: parameter_exhibit(own))
    yield dataset_exhibit()
    yield class_count_exhibit()
    yield space_exhibit("real_world_spaces", [("mcquack", "real-world")])
    spaces = values()["spaces"].items()
    yield space_exhibit(
        "baselines", [(model, suite) for model, suites in spaces if model != "mcquack" for suite in suites]
    )


def paper_models(cells: Cells) -> Cells:
    """The cells of the models and datasets that the paper has a score of; other rows of a store are no part of it."""
    known = {(cell.dataset, cell.model) for cell in real_world_scores()}
    return tuple(cell for cell in cells if (cell.dataset, cell.model) in known)


def unit_standings(cells: Cells, metric: Metric) -> tuple[Standing, ...]:
    """Ranks from 0, for a model that is always first, to 1."""
    return standings(score_table(cells, metric=metric), scale="unit")


def ranking_exhibit(own: Cells) -> Exhibit:
    """Average ranks by both metrics, ours and what follows from the paper's table."""
    checks: list[Check] = []
    pictures: list[Picture] = []
    rows: list[tuple[str, str, Pair]] = []
    told = values()["real_world"]
    for metric in RANKED:
        phrase = metric_phrase(metric)
        ours = {line.contender.model: line for line in unit_standings(own, metric)}
        theirs = {line.contender.model: line for line in unit_standings(real_world_scores(), metric)}
        titles = {model: line.contender.title for model, line in theirs.items()}
        for model, rank in told["ranks"][metric].items():
            line = ours.get(model)
            checks.append(
                rank_check(
                    f"{titles[model]}'s rank by {phrase}",
                    rank,
                    None if line is None else line.average_rank,
                    None if line is None else line.interval,
                )
            )
        for first, second in told["order"][metric]:
            checks.append(order_check(titles[first], titles[second], ours.get(first), ours.get(second), by=phrase))
        for model, line in theirs.items():
            mine = ours.get(model)
            rows.append(
                (
                    METRIC_TITLES[metric],
                    titles[model],
                    Pair(ours=None if mine is None else mine.average_rank, paper=line.average_rank, digits=2),
                )
            )
        title = f"{METRIC_TITLES[metric]}: average normalised rank"
        if ours:
            caption = f"Ours: on how many datasets each model has each rank by {phrase}."
            figure = plot_ranking(tuple(ours.values()), title=f"Ours. {title}")
            pictures.append(Picture(f"real_world_ranking_{metric}_ours", f"Ours, {phrase}", caption, figure))
        caption = "The paper's: the same, from its table of two digits, which has more ties than its unrounded scores."
        figure = plot_ranking(tuple(theirs.values()), title=f"The paper's. {title}")
        pictures.append(Picture(f"real_world_ranking_{metric}_paper", f"The paper's, {phrase}", caption, figure))
    sheet = table(
        "real_world_ranks",
        "Average ranks, ours beside those that follow from the paper's table",
        ("metric", "model", "average rank"),
        rows,
    )
    n_datasets = len({cell.dataset for cell in own})
    findings = (f"Our rows have {counted(n_datasets, 'dataset')} of the paper's {len(values()['datasets'])}.",)
    return Exhibit(
        item=ITEMS["real_world_ranking"],
        checks=tuple(checks),
        findings=findings,
        pictures=tuple(pictures),
        tables=(sheet,),
    )


def order_check(first: str, second: str, one: Standing | None, other: Standing | None, *, by: str = "") -> Check:
    """That the first has the smaller average rank of the two."""
    suffix = f" by {by}" if by else ""
    ours, holds = "–", None
    if one is not None and other is not None:
        ours = f"{one.average_rank:.2f} and {other.average_rank:.2f}"
        holds = one.average_rank < other.average_rank
    return claim_check(f"{first} before {second}{suffix}", paper="yes", ours=ours, holds=holds)


def score_exhibit(item: str, own: Cells, metrics: Sequence[Metric]) -> Exhibit:
    """Scores of every model on every dataset, ours with the paper's in brackets, and the means over datasets."""
    found = {(cell.dataset, cell.model): cell for cell in own}
    checks: list[Check] = []
    tables: list[Table] = []
    findings: list[str] = []
    for metric in metrics:
        by_pair: dict[tuple[str, str], Check] = {}
        for theirs in real_world_scores():
            mine = found.get((theirs.dataset, theirs.model))
            by_pair[theirs.dataset, theirs.model] = score_check(
                f"{metric_phrase(metric)} of {theirs.title} on {dataset_title(theirs.dataset)}",
                scored(theirs, metric) or (0.0, 0.0),
                None if mine is None else scored(mine, metric),
                n_test=describe(theirs.dataset).sizes["test"],
            )
        checks += by_pair.values()
        tables.append(_score_table(found, by_pair, metric, name=item, folded=len(metrics) > 1))
        if own:
            findings.append(_mean_text(found, metric))
    return Exhibit(
        item=ITEMS[item],
        checks=tuple(checks),
        findings=tuple(findings),
        tables=tuple(tables),
        notes=("Mean ± standard deviation over the seeds. Where a comparison does not hold, the field is marked.",),
        compared=False,
    )


def scored(cell: CellScores, metric: Metric) -> tuple[float, float] | None:
    """Mean and standard deviation of a cell on the test part."""
    mean = cell.mean("test", metric)
    return None if mean is None else (mean, cell.spread("test", metric) or 0.0)


def dataset_title(name: str) -> str:
    """What people call a dataset; its name where nobody has registered it."""
    try:
        return describe(name).title
    except UnknownDatasetError:
        return name


def _models() -> dict[str, str]:
    return {cell.model: cell.title for cell in real_world_scores()}


def _score_table(
    found: Mapping[tuple[str, str], CellScores],
    checks: Mapping[tuple[str, str], Check],
    metric: Metric,
    *,
    name: str,
    folded: bool,
) -> Table:
    theirs = {(cell.dataset, cell.model): cell for cell in real_world_scores()}
    rows: list[tuple[Any, ...]] = []
    for dataset in dict.fromkeys(dataset for dataset, _ in theirs):
        pairs = []
        for model in _models():
            mine, paper = found.get((dataset, model)), theirs[dataset, model]
            ours = None if mine is None else scored(mine, metric)
            mean, spread = ours or (None, None)
            pairs.append(
                Pair(ours=mean, spread=spread, paper=paper.mean("test", metric), holds=checks[dataset, model].holds)
            )
        rows.append((dataset_title(dataset), *pairs))
    title = f"{METRIC_TITLES[metric]} on the test part, and below it the paper's"
    return table(f"{name}_{metric}", title, ("dataset", *_models().values()), rows, folded=folded)


def _mean_text(found: Mapping[tuple[str, str], CellScores], metric: Metric) -> str:
    """Means over the datasets that both sides have a score of."""
    parts = []
    for model, title in _models().items():
        pairs = [
            (mine, theirs.mean("test", metric))
            for theirs in real_world_scores()
            if theirs.model == model
            and (cell := found.get((theirs.dataset, model))) is not None
            and (mine := cell.mean("test", metric)) is not None
        ]
        if pairs:
            ours, paper = (statistics.fmean(side) for side in zip(*pairs, strict=True))
            parts.append(f"{title} {ours:.3f} ({paper:.3f})")
    return f"Mean {metric_phrase(metric)} over the datasets that both have, ours (the paper's): {', '.join(parts)}."


def parameter_exhibit(own: Cells) -> Exhibit:
    """Numbers of parameters of every model on every dataset."""
    found = {(cell.dataset, cell.model): cell for cell in own}
    checks: list[Check] = []
    rows: dict[str, list[Pair]] = {}
    for theirs in real_world_scores():
        mine = found.get((theirs.dataset, theirs.model))
        count = None if mine is None else mine.n_parameters
        check = equal_check(f"{theirs.title} on {dataset_title(theirs.dataset)}", theirs.n_parameters, count)
        if theirs.model in SHOWN_ONLY:
            check = replace(check, holds=None)
        checks.append(check)
        pair = Pair(ours=count, paper=theirs.n_parameters, digits=0, paper_digits=0, holds=check.holds)
        rows.setdefault(theirs.dataset, []).append(pair)
    sheet = table(
        "parameters",
        "Trained parameters, and below them the paper's",
        ("dataset", *_models().values()),
        rows=tuple((dataset_title(dataset), *pairs) for dataset, pairs in rows.items()),
    )
    return Exhibit(item=ITEMS["parameters"], checks=tuple(checks), tables=(sheet,), compared=False)
