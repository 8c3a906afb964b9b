"""The page of a report: one HTML file with all styles, scripts, figures and data inside.

Figures, leaderboards and the numbers behind them are written into the page here, once for each view that a reader may
choose: a metric, on all datasets or on those of a family. The first view stands in the page as it is; the others lie
in it compressed, as the tasks of every cell do, and the scripts unpack what somebody looks at.
"""

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Literal, NamedTuple

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from mcquack.bench.plan import Trial
from mcquack.bench.ranking import Contender, SizeCurve
from mcquack.bench.ranking.scores import elided
from mcquack.bench.task import Metric, Outcome
from mcquack.datasets.registry import descriptions, draw_of
from mcquack.report import ranking
from mcquack.report.benchmark.analysis import ALL, PARTS, Analysis, View
from mcquack.report.benchmark.contents import Cell, Contents
from mcquack.report.benchmark.tables import Column, Entry, WinRecord, view_tables
from mcquack.report.ranking import METRIC_TITLES
from mcquack.report.style import counted, duration, moment

PACKAGE = "mcquack.report.benchmark"
STYLES = ("tokens", "base", "layout", "tables", "charts", "task", "print")
SCRIPTS = ("dom", "views", "scores", "datasets", "task", "task_charts", "theme", "sections", "main")
"""In this order: a script uses what those before it define."""

MOST_FAILURES = 200  # different tracebacks on the page; there are more only if something is wrong with all tasks

Link = tuple[str, str, str]  # title, form ("CSV") and path of a file beside the page

Links = Mapping[str, Mapping[Metric | None, Sequence[Link]]]
"""The files beside the page by kind and metric, or None for what is of no single metric."""


def page(contents: Contents, analysis: Analysis, *, links: Links) -> str:
    """The text of index.html; the same contents give the same text."""
    views = [view for by_family in analysis.views.values() for view in by_family.values()]
    panels = _size_panels(analysis)
    parts = [_view_parts(view, analysis, panels) for view in views]
    return rendered(
        _environment().get_template("page.html.j2"),
        contents,
        styles=joined(PACKAGE, "styles", STYLES),
        scripts=joined(PACKAGE, "scripts", SCRIPTS),
        data=_json_in_html(_page_data(contents, analysis, views)),
        view=parts[views.index(analysis.main)] if analysis.main else {},
        view_chunks=[_packed(each) for each in parts],
        cell_chunks=[_packed(_cell_data(contents, cell)) for cell in contents.cells],
        n_published=sum(each.is_published for each in analysis.contenders),
        n_own=sum(not each.is_published for each in analysis.contenders),
        has_sizes=any(analysis.curves.values()),
        lead=analysis.main.standings[:3] if analysis.main else (),
        rank_formula=analysis.main.rank_formula if analysis.main else "",
        links=links,
        publications=publications(contents),
        numerics=sorted({each.task.numerics for cell in contents.cells for each in cell.outcomes} - {None}),
        searches=searches(contents),
    )


# Templates, styles and scripts, which the pages of all reports are put together from

_ENDINGS = {"styles": "css", "scripts": "js"}


def environment(*packages: str) -> Environment:
    """Templates, each found in the first of the packages that has one of its name."""
    made = Environment(
        loader=ChoiceLoader([PackageLoader(package, "templates") for package in packages]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {"counted": counted, "duration": duration, "moment": moment, "theirs": theirs}
    return made


@cache
def _environment() -> Environment:
    made = environment(PACKAGE)
    made.filters |= {"metric_phrase": ranking.metric_phrase, "metric_title": METRIC_TITLES.__getitem__}
    made.filters |= {"breakable": _breakable, "told": _told}
    return made


@cache
def joined(package: str, kind: Literal["styles", "scripts"], names: Sequence[str]) -> str:
    """The styles or scripts of these names one after the other."""
    home = files(package).joinpath("templates", kind)
    return "\n".join(home.joinpath(f"{name}.{_ENDINGS[kind]}").read_text(encoding="utf-8") for name in names)


def rendered(template: Template, contents: Any, *, styles: str, scripts: str, **others: Any) -> str:
    """A page about contents that have failures, environments and fingerprints, with its styles and scripts inside."""
    script = f'"use strict";\n(() => {{\n{scripts}}})();\n'  # they share their names with nobody else
    return template.render(
        contents=contents,
        failures=failure_groups(contents.failures),
        most_failures=MOST_FAILURES,
        environments=contents.environments,
        prints=contents.prints,
        style=Markup(styles),
        script=Markup(script),
        # By its hash, the page tells the browser to run this script and no other.
        script_hash=f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode('ascii')}",
        **others,
    )


class FailureGroup(NamedTuple):
    """Tasks that failed in the same way, with the traceback and its last line."""

    error: str
    reason: str
    outcomes: Sequence[Outcome]


def failure_groups(failures: Sequence[Outcome]) -> list[FailureGroup]:
    """Tasks with the same traceback together, the most frequent first."""
    groups: dict[str, list[Outcome]] = {}
    for outcome in failures:
        groups.setdefault((outcome.error or "").strip(), []).append(outcome)
    found = [FailureGroup(error, outcomes[0].reason, outcomes) for error, outcomes in groups.items()]
    return sorted(found, key=lambda group: -len(group.outcomes))


class SearchUse(NamedTuple):
    """How the settings of a model were found, over all datasets."""

    model: str
    search: str
    metric: Metric
    n_cells: int
    n_settings: int
    n_failed: int


def searches(contents: Contents) -> tuple[SearchUse, ...]:
    """One line for each model and kind of search."""
    counts: dict[tuple[str, str, Metric], list[tuple[int, int]]] = {}
    for cell in contents.cells:
        if (choice := cell.choice) is not None:
            key = cell.contender.title, choice.search, choice.metric
            counts.setdefault(key, []).append((choice.n_settings, choice.n_failed))
    return tuple(
        SearchUse(*key, len(found), *map(sum, zip(*found, strict=True))) for key, found in sorted(counts.items())
    )


class Publication(NamedTuple):
    """What was taken from others, with the datasets by what has to be said of them."""

    source: str
    models: tuple[str, ...]
    notes: Mapping[str, Sequence[str]]


def publications(contents: Contents) -> tuple[Publication, ...]:
    """The sources of published scores, with the models each tells of and the notes on single scores."""
    found = []
    for source in dict.fromkeys(cell.source for cell in contents.scores if cell.is_published):
        cells = [cell for cell in contents.scores if cell.source == source]
        notes: dict[str, list[str]] = {}
        for cell in cells:
            if cell.note:
                notes.setdefault(cell.note, []).append(f"{cell.title} on {cell.dataset}")
        found.append(Publication(source, tuple(dict.fromkeys(cell.title for cell in cells)), notes))
    return tuple(found)


_LABELS = {
    "ranking": "Ranks of each model",
    "critical-difference": "Average ranks and critical differences",
    "wins": "Wins, ties and losses of each pair",
}
_NUMBERS = {"ranking": "Rank counts", "critical-difference": "p values", "wins": "Wins"}  # the tables behind them


def _pictures(view: View) -> dict[str, Markup]:
    """The figures of a view that there is enough to draw of, by their place on the page."""
    made = {"ranking": ranking.ranking_drawing(view.standings, title=f"{view.title}: average normalised rank")}
    if view.comparison is not None:
        made["critical-difference"] = ranking.difference_drawing(view.comparison, title=f"{view.title}: average rank")
    if len(view.standings) > 1:
        made["wins"] = ranking.wins_drawing(view.wins, title=f"{view.title}: wins – ties – losses")
    return {place: drawing.svg(label=_LABELS[place]) for place, drawing in made.items()}


def _view_parts(view: View, analysis: Analysis, panels: Mapping[Metric, Mapping[str, Markup]]) -> dict[str, str]:
    write: Any = _environment().get_template("view.html.j2").module
    numbers = {table.kind: table for table in view_tables(view)}
    shown = [panel for family, panel in panels[view.metric].items() if view.family in (ALL, family)]
    curves = [curve for curve in analysis.curves["test", view.metric] if view.family in (ALL, curve.family)]
    parts = {
        "leaderboard": write.leaderboard(view, {each: index for index, each in enumerate(analysis.contenders)}),
        "reading": Markup.escape(view.reading),
        "sizes": write.sizes(shown, _legend(curves, view, analysis)),
    }
    drawn = _pictures(view)
    for place, label in _LABELS.items():
        parts[place] = write.chart(
            drawn.get(place, ""), numbers.get(_NUMBERS[place]) if place in drawn else None, label
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


_MOST_LETTERS = 80  # of a name on the page; all of a longer one is told where the mouse rests


def theirs(name: object, n_letters: int = _MOST_LETTERS) -> Markup:
    """A text that somebody else chose: whatever it is written in, the text around it keeps its order and its place."""
    return _isolated(str(name), [elided(str(name), n_letters=n_letters)], n_letters=n_letters)


def _breakable(name: str) -> Markup:
    """A name that may, if it is long, be broken before each of the words that it is put together from."""
    shown = elided(name, n_letters=_MOST_LETTERS)
    return _isolated(name, re.split(r"(?<=[a-z0-9])(?=[A-Z])|(?<=_)", shown) if len(name) > 12 else [shown])


def _isolated(name: str, words: Sequence[str], *, n_letters: int = _MOST_LETTERS) -> Markup:
    whole = Markup(' class="elided" title="{}"').format(name) if len(name) > n_letters else Markup("")
    return Markup("<bdi{}>{}</bdi>").format(whole, Markup("<wbr>").join(words))


def _told(entry: Entry, column: Column) -> str:
    match entry:
        case None:
            return "·"
        case WinRecord():
            return "–".join(map(str, entry))
        case float():
            return "< 0.001" if entry < 0.001 else f"{entry:.{column.digits}f}"
        case _:
            return str(entry)


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
