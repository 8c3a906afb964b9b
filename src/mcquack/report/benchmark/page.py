"""The report of a benchmark as a folder: its page, all tables as CSV and LaTeX, and the main figures as SVG.

Figures, leaderboards and the numbers behind them are written into the page here, once for each view that a reader may
choose: a metric, on all datasets or on those of a family. The first view stands in the page as it is; the others lie
in it compressed, as the tasks of every cell do, and the scripts unpack what somebody looks at.
"""

import base64
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, get_args

from markupsafe import Markup
from matplotlib.figure import Figure

from mcquack.bench.plan import Trial
from mcquack.bench.ranking import CellScores, Contender, Scale, SizeCurve
from mcquack.bench.store import Store
from mcquack.bench.task import Metric, Outcome
from mcquack.checks import require
from mcquack.datasets.registry import descriptions, draw_of
from mcquack.report import ranking
from mcquack.report.benchmark.analysis import ALL, PARTS, Analysis, View, analyse
from mcquack.report.benchmark.contents import Cell, Contents, read_contents
from mcquack.report.benchmark.tables import tables, view_tables
from mcquack.report.document import Table, file_name, table
from mcquack.report.drawing import Drawing
from mcquack.report.pages import PAGE, Folder, Links, encoded, environment, page_text, replace_files
from mcquack.report.ranking import METRIC_TITLES
from mcquack.report.style import counted

SCRIPTS = ("dom", "views", "scores", "datasets", "task", "task_charts", "theme", "sections", "main")
"""In this order: a script uses what those before it define."""


def write_report(
    store: Store | str | PathLike[str],
    out: str | PathLike[str],
    *,
    published: Sequence[CellScores] = (),
    title: str | None = None,
    rank_scale: Scale = "share",
) -> Path:
    """Write the report of a benchmark into a folder, in place of an earlier one.

    Parameters
    ----------
    store : the results, as ``mcquack bench run`` leaves them: an open store, or the path of its file.
    out : the folder; it is made if it does not exist. Files that are not of an earlier report are left alone.
    published : scores of others, which are ranked beside those of the store on the datasets that the store has, and
        marked.
    title : what stands above the page; by default the title of the suite.
    rank_scale : average ranks are means of rank / models ("share", as in the QML benchmark suite) or of
        (rank - 1) / (models - 1) ("unit", as in the paper: 0 for a model that is always first, 1 for one that is last).

    Returns
    -------
    The page, ``index.html`` in the folder. It needs no other file and no internet.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder, Store.open(Path(folder, "results.sqlite"), create=True) as store:
    ...     write_report(store, Path(folder, "report"), title="Nothing yet").name
    'index.html'
    """
    require(rank_scale in get_args(Scale), "rank_scale", "share or unit", rank_scale)
    if isinstance(store, Store):
        contents = read_contents(store, published=published, title=title)
    else:
        with Store.open(store) as opened:
            contents = read_contents(opened, published=published, title=title)
    replace_files(Path(out), _files(contents, rank_scale=rank_scale))
    return Path(out, PAGE)


def _files(contents: Contents, *, rank_scale: Scale) -> dict[str, bytes]:
    analysis, folder = analyse(contents, rank_scale=rank_scale), Folder()
    for each in tables(contents, analysis):
        folder.add_table(each)
    for kind, metric, figure in _figures(analysis):
        folder.add_figure(file_name(kind.removesuffix(" figure"), metric), figure, kind=kind, metric=metric)
    return {**folder.contents, PAGE: encoded(page(contents, analysis, links=folder.links))}


def _figures(analysis: Analysis) -> Iterator[tuple[str, Metric, Figure]]:
    """The charts of the first view and the ranks by AUC, with the kind of each in the list of files."""
    if (view := analysis.main) is None:
        return
    for place, drawing in _drawings(view).items():
        yield _CHARTS[place].file, view.metric, drawing.plot()
    if view.metric != "auc" and "auc" in analysis.views:
        yield _CHARTS["ranking"].file, "auc", _drawings(analysis.views["auc"][ALL])["ranking"].plot()
    if curves := analysis.curves["test", view.metric]:
        yield "Scores by size figure", view.metric, ranking.plot_scores_by_size(curves)


class _Chart(NamedTuple):
    """What a chart is called among the files and to those who do not see it, and the table behind it."""

    file: str
    label: str
    numbers: str


_CHARTS = {
    "ranking": _Chart("Ranking figure", "Ranks of each model", "Rank counts"),
    "critical-difference": _Chart("Critical difference figure", "Average ranks and critical differences", "p values"),
    "wins": _Chart("Wins figure", "Wins, ties and losses of each pair", "Wins"),
}
"""The charts of a view by their place on the page."""


def _drawings(view: View) -> dict[str, Drawing]:
    """The charts of a view that there is enough to draw of, by place."""
    made = {"ranking": ranking.ranking_drawing(view.standings, title=f"{view.title}: average normalised rank")}
    if view.comparison is not None:
        made["critical-difference"] = ranking.difference_drawing(view.comparison, title=f"{view.title}: average rank")
    if len(view.standings) > 1:
        made["wins"] = ranking.wins_drawing(view.wins, title=f"{view.title}: wins – ties – losses")
    return made


def page(contents: Contents, analysis: Analysis, *, links: Links) -> str:
    """The text of index.html; the same contents give the same text."""
    views = [view for by_family in analysis.views.values() for view in by_family.values()]
    panels = _size_panels(analysis)
    parts = [_view_parts(view, analysis, panels) for view in views]
    main = analysis.main
    return page_text(
        "benchmark.html.j2",
        scripts=SCRIPTS,
        contents=contents,
        data=_json_in_html(_page_data(contents, analysis, views)),
        view=parts[views.index(main)] if main else {},
        view_chunks=[_packed(each) for each in parts],
        cell_chunks=[_packed(_cell_data(contents, cell)) for cell in contents.cells],
        n_published=sum(each.is_published for each in analysis.contenders),
        has_sizes=any(analysis.curves.values()),
        lead=main.standings[:3] if main else (),
        rank_formula=main.rank_formula if main else "",
        links=links,
        publications=publications(contents),
        numerics=sorted({each.task.numerics for cell in contents.cells for each in cell.outcomes} - {None}),
        searches=searches(contents),
        n_own=sum(not each.is_published for each in analysis.contenders),
    )


def searches(contents: Contents) -> Table:
    """How settings were found, with one row for each model and kind of search over all datasets."""
    counts: dict[tuple[str, str, Metric], list[tuple[int, int]]] = {}
    for cell in contents.cells:
        if (choice := cell.choice) is not None:
            key = cell.contender.title, choice.search, choice.metric
            counts.setdefault(key, []).append((choice.n_settings, choice.n_failed))
    rows = (
        (
            title,
            search,
            "–" if search == "none" else ranking.metric_phrase(metric),
            len(found),
            *map(sum, zip(*found, strict=True)),
        )
        for (title, search, metric), found in sorted(counts.items())
    )
    heads = ("Model", "Search", "Chosen by", "Datasets", "Settings tried", "Failed")
    return table("Searches", "Searches", heads, rows)


class Publication(NamedTuple):
    """What was taken from others, with the datasets by what has to be said of them."""

    source: str
    models: tuple[str, ...]
    notes: Mapping[str, Sequence[str]]


def publications(contents: Contents) -> tuple[Publication, ...]:
    """The sources of published scores, with the models of each and the notes on single scores."""
    found = []
    for source in dict.fromkeys(cell.source for cell in contents.scores if cell.is_published):
        cells = [cell for cell in contents.scores if cell.source == source]
        notes: dict[str, list[str]] = {}
        for cell in cells:
            if cell.note:
                notes.setdefault(cell.note, []).append(f"{cell.title} on {cell.dataset}")
        found.append(Publication(source, tuple(dict.fromkeys(cell.title for cell in cells)), notes))
    return tuple(found)


def _view_parts(view: View, analysis: Analysis, panels: Mapping[Metric, Mapping[str, Markup]]) -> dict[str, str]:
    write: Any = environment().get_template("view.html.j2").module
    numbers = {each.kind: each for each in view_tables(view)}
    shown = [panel for family, panel in panels[view.metric].items() if view.family in (ALL, family)]
    curves = [curve for curve in analysis.curves["test", view.metric] if view.family in (ALL, curve.family)]
    parts = {
        "leaderboard": write.leaderboard(view, {each: index for index, each in enumerate(analysis.contenders)}),
        "reading": Markup.escape(view.reading),
        "sizes": write.sizes(shown, _legend(curves, view, analysis)),
    }
    drawn = _drawings(view)
    for place, (_, label, kind) in _CHARTS.items():
        found = place in drawn
        parts[place] = write.chart(
            drawn[place].svg(label=label) if found else "", numbers[kind] if found else None, label
        )
    return {name: str(part) for name, part in parts.items()}


def _size_panels(analysis: Analysis) -> dict[Metric, dict[str, Markup]]:
    """Scores against size by metric and family; training scores are drawn as well, and shown to those who ask."""
    found: dict[Metric, dict[str, Markup]] = {}
    for metric in analysis.views:
        curves: dict[str, list[SizeCurve]] = {}
        for curve in (curve for part in PARTS for curve in analysis.curves[part, metric]):
            curves.setdefault(curve.family, []).append(curve)
        phrase = ranking.metric_phrase(metric)
        found[metric] = {
            family: ranking.sizes_svg(
                of_family,
                contenders=analysis.contenders,
                metric=phrase,
                name=f"sizes-{number}",
                label=f"{phrase} against size in {family.replace('_', ' ')}",
            )
            for number, (family, of_family) in enumerate(curves.items())
        }
    return found


_MOST_CURVES, _MOST_PUBLISHED = 8, 3


def _legend(curves: Sequence[SizeCurve], view: View, analysis: Analysis) -> list[tuple[int, Contender, bool]]:
    """Number, contender, and whether it is shown at first: of many, published ones are but for the best few not."""
    published = [line.contender for line in view.standings if line.contender.is_published]
    crowd = published[_MOST_PUBLISHED:] if len(analysis.contenders) > _MOST_CURVES else []
    there = {curve.contender for curve in curves}
    return [(index, each, each not in crowd) for index, each in enumerate(analysis.contenders) if each in there]


# What the scripts read, with models and datasets as numbers in their lists

Json = dict[str, Any]

_MARKS = ("", "best", "second")
_DIGITS = 6
_LEVEL = 3  # higher levels shrink a page by a tenth, and take more than twice as long


def _page_data(contents: Contents, analysis: Analysis, views: Sequence[View]) -> Json:
    models = {contender: index for index, contender in enumerate(analysis.contenders)}
    places = {dataset.name: index for index, dataset in enumerate(contents.datasets)}
    shown: dict[str, dict[str, Json]] = {}
    for number, view in enumerate(views):
        order = [models[line.contender] for line in view.standings]
        lines = view.standings
        shown.setdefault(view.metric, {})[view.family] = {
            "chunk": number,
            "models": order,
            "means": [_rounded(line.mean_score) for line in lines],
            "seconds": [_rounded(view.fit_seconds.get(line.contender)) for line in lines],
            "parameters": [view.n_parameters.get(line.contender) for line in lines],
        }
    scores: dict[str, dict[str, list[list[Any]]]] = {}
    for (part, metric), grid in analysis.grids.items():
        rows: list[list[Any]] = [[None] * len(models) for _ in places]
        for (dataset, contender), score in grid.items():
            entry = [_rounded(score.mean), _rounded(score.spread), _MARKS.index(score.mark)]
            rows[places[dataset]][models[contender]] = entry
        scores.setdefault(part, {})[metric] = rows
    notes: dict[int, dict[int, str]] = {}
    for scored in contents.scores:
        if scored.note:
            notes.setdefault(places[scored.dataset], {})[models[scored.contender]] = scored.note
    chunks: dict[int, dict[int, int]] = {}
    for number, cell in enumerate(contents.cells):
        chunks.setdefault(places[cell.dataset], {})[models[cell.contender]] = number
    sizes = dataset_sizes(contents)
    return {
        "title": contents.title,
        "metric": contents.metric,
        "metrics": [
            {"name": name, "title": METRIC_TITLES[name], "phrase": ranking.metric_phrase(name)}
            for name in contents.metrics
        ],
        "models": [{"title": each.title, "source": each.source} for each in models],
        "datasets": [
            {"name": each.name, "family": each.family, "size": sizes[each.name]} for each in contents.datasets
        ],
        "views": shown,
        "scores": scores,
        "notes": notes,
        "chunks": chunks,
        "states": [cell.state for cell in contents.cells],
        "taskIds": [" ".join(outcome.task.id for outcome in cell.outcomes) for cell in contents.cells],
        "environments": [dict(environment.facts) for environment in contents.environments],
    }


def dataset_sizes(contents: Contents) -> dict[str, str]:
    """Samples, features and classes of every dataset in words, as far as its name or its rows tell; else empty.

    What ``mcquack.datasets`` has under a name is known without a file. Of a table the confusion matrices tell how many
    samples were tested, and how many classes there are.
    """
    known = {each.name: each for each in descriptions()}
    found: dict[str, str] = {dataset.name: "" for dataset in contents.datasets}
    for cell in contents.cells:
        if found[cell.dataset] or not cell.finals:
            continue
        described = known.get(draw_of(cell.dataset)[0])
        if described is not None and not cell.finals[0].task.table:
            parts = [f"{count:,} {part}" for part, count in described.sizes.items() if part in PARTS]
            n_features, n_classes = [counted(described.n_features, "feature")], described.n_classes
        else:
            counts = next((rows for each in cell.finals if (rows := each.details.get("confusion"))), None)
            if counts is None:
                continue
            parts, n_features, n_classes = [f"{sum(map(sum, counts)):,} test"], [], len(counts)
        classes = f"{n_classes} class{'es' if n_classes != 1 else ''}"
        found[cell.dataset] = " · ".join((" + ".join(parts), *n_features, classes))
    return found


def _cell_data(contents: Contents, cell: Cell) -> Json:
    choice = cell.choice
    metric = contents.metric if choice is None else choice.metric
    return {
        "dataset": cell.dataset,
        "title": cell.contender.title,
        "metric": metric,
        "choice": None if choice is None else {"search": choice.search, "score": choice.score},
        "tasks": [_task_data(each, contents.environments.index(each.environment)) for each in cell.outcomes],
        "trials": [
            {**_trial_data(trial, metric), "isChosen": choice is not None and trial.settings == dict(choice.settings)}
            for trial in cell.trials
        ],
    }


def _task_data(outcome: Outcome, environment: int) -> Json:
    task = outcome.task
    return {
        "id": task.id,
        "phase": task.phase,
        "split": str(task.split),
        "seed": task.seed,
        "settings": dict(task.settings),
        "scores": outcome.scores,
        "seconds": {stage: _rounded(seconds) for stage, seconds in outcome.seconds.items()},
        "parameters": outcome.n_parameters,
        "fingerprint": outcome.fingerprint,
        "environment": environment,
        "finished": outcome.finished_at,
        "error": outcome.error,
        "details": outcome.details,
    }


def _trial_data(trial: Trial, metric: Metric) -> Json:
    return {
        "settings": trial.settings,
        "score": trial.score(metric),
        "failed": trial.failed,
        "seconds": _rounded(sum(outcome.seconds.get("fit", 0.0) for outcome in trial.outcomes)),
        "ids": [outcome.task.id for outcome in trial.outcomes],
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.{_DIGITS}g}")


def _packed(value: Json) -> str:
    text = json.dumps(value, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode(), _LEVEL)).decode("ascii")


def _json_in_html(value: Json) -> Markup:
    """JSON that no name within can break out of: a script element ends at the first "</script"."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    for character in "<>&\u2028\u2029":  # a few passes are much quicker than a look at each character
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)
