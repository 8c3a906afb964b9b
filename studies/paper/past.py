"""What was run beside the paper's experiments: further stores in the folders of its benchmarks, ranked."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from mcquack.bench.ranking import CellScores, Standing, cell_scores, compare, over_draws, score_table, standings
from mcquack.bench.ranking.ranks import Scale
from mcquack.bench.store import Store
from mcquack.bench.task import Metric
from mcquack.errors import InvalidInputError, McQuackError
from mcquack.report.document import Picture, Table, file_name
from mcquack.report.ranking import METRIC_TITLES, metric_phrase, plot_ranking
from mcquack.report.style import counted, listed
from studies.paper.exhibit import Exhibit, table
from studies.paper.items import SECTIONS, Item, Section
from studies.paper.sources import Sources
from studies.tables import rows_name

METRICS: Mapping[Section, tuple[Metric, ...]] = {"real_world": ("balanced_accuracy", "auc"), "qml_suite": ("accuracy",)}
"""What the benchmarks of the paper are ranked by."""

SCALES: Mapping[Section, Scale] = {"real_world": "unit", "qml_suite": "share"}

TITLES = {
    "race": "The race: tuned models",
    "defaults": "McQuack with the package's defaults, without a search",
    "rivals": "The suite's own quantum models, run here",
    "draws": "Other draws of the samples",
}
"""What people call the stores that are known; others are called as their files are."""

Cells = Sequence[CellScores]


def exhibits(sources: Sources) -> Iterator[Exhibit]:
    """An exhibit for each further store of the two benchmarks, in the order of their names."""
    seen: Counter[str] = Counter()
    for study in METRICS:
        for path in sources.stores.further(study):
            name = file_name("past", study, rows_name(path))
            seen[name] += 1
            # Names of files may differ in signs alone.
            yield store_exhibit(sources, study, path, name=name if seen[name] == 1 else f"{name}_{seen[name]}")


def store_exhibit(sources: Sources, study: Section, path: Path, *, name: str) -> Exhibit:
    """The ranks of the models in a store; with one model alone, among those of the paper's benchmark."""
    item = Item(
        id=name,
        section="past",
        place=SECTIONS[study],
        labels=(),
        title=TITLES.get(rows_name(path), rows_name(path)),
        says="The paper has no such experiment.",
        rule="Nothing is compared with the paper. A model is told apart from another if Nemenyi's test does so at 5 %.",
    )
    try:
        with Store.open(path) as store:
            own, runs = over_draws(cell_scores(store)), store.runs()
    except McQuackError as error:
        return Exhibit(item=item, rows=path, missing=f"The store cannot be read: {' '.join(str(error).split())}")
    if not own:
        return Exhibit(item=item, rows=path, runs=runs, missing="The store has no finished row of a benchmark.")
    cells = pooled(sources, study, own, name=rows_name(path))
    pictures: list[Picture] = []
    tables: list[Table] = []
    sentences: list[str] = []
    for metric in METRICS[study]:
        scores = score_table(cells, metric=metric)
        lines = standings(scores, scale=SCALES[study])
        if not lines:
            continue
        file = f"{name}_{metric}"
        title = f"{METRIC_TITLES[metric]}: average normalised rank"
        phrase = metric_phrase(metric)
        caption = f"On how many of {counted(len(scores.datasets), 'dataset')} each model has each rank by {phrase}."
        figure = plot_ranking(lines, title=title)
        pictures.append(Picture(file, f"{item.title}, {phrase}", caption, figure, folded=bool(pictures)))
        tables.append(_leaderboard(lines, metric, name=file))
        sentences.append(_conclusion(cells, lines, metric))
    if not sentences:
        return Exhibit(
            item=item, rows=path, runs=runs, missing="The store has no score of the metrics that are ranked."
        )
    return Exhibit(
        item=item,
        conclusion=sentences[0],
        findings=tuple(sentences[1:]),
        pictures=tuple(pictures),
        tables=tuple(tables),
        rows=path,
        runs=runs,
    )


def pooled(sources: Sources, study: Section, own: Cells, *, name: str) -> Cells:
    """The cells of a store among those they are ranked with, on the same datasets.

    These are the published ones of the QML suite, and for a single model the rows of the paper's benchmark. Models of
    the store then bear its name, so that two of the same name are told apart.
    """
    datasets = {cell.dataset for cell in own}
    others = [cell for cell in sources.published[0] if study == "qml_suite" and cell.dataset in datasets]
    if len({cell.model for cell in own}) == 1:
        own = [replace(cell, model=f"{cell.model}/{name}", title=f"{cell.title}, {name}") for cell in own]
        others += [cell for cell in sources.cells.get(study, ()) if cell.dataset in datasets]
    return (*own, *others)


def _leaderboard(lines: Sequence[Standing], metric: Metric, *, name: str) -> Table:
    rows = tuple(
        (
            line.contender.label,
            line.average_rank,
            "–" if line.interval is None else f"{line.interval.low:.2f} to {line.interval.high:.2f}",
            line.n_datasets,
            line.mean_score,
        )
        for line in lines
    )
    heads = ("model", "average rank", "95 % interval", "datasets", f"mean {metric_phrase(metric)}")
    return table(name, f"Average ranks by {metric_phrase(metric)}", heads, rows)


def _conclusion(cells: Cells, lines: Sequence[Standing], metric: Metric) -> str:
    first, of_all = lines[0], counted(len(lines), "model")
    by, rank = metric_phrase(metric), f"{first.average_rank:.2f}"
    told = f"By {by}, {first.contender.label} is first of {of_all}, with an average rank of {rank}"
    try:
        # A model with few scores would take the datasets from all others.
        found = compare(score_table(cells, metric=metric), least_share=0.9)
    except InvalidInputError:
        return f"{told}; there are too few datasets for a test."
    place = {contender: index for index, contender in enumerate(found.contenders)}
    if first.contender not in place:
        return f"{told}, on fewer datasets than a test asks for."
    row = found.p_values[place[first.contender]]
    behind = [each.label for each, p in zip(found.contenders, row, strict=True) if p < found.alpha]
    alike = [each.label for each in found.contenders if each.label not in behind and each != first.contender]
    if not alike:
        return f"{told}; it is told apart from all {len(behind)} that have enough scores for a test."
    return f"{told}; it is told apart from {len(behind)} of {len(behind) + len(alike)}, and not from {listed(alike)}."
