"""From the contents of a report to its page: one HTML file with all styles, scripts and data inside."""

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from mcquack.bench.outcome import Metric, Outcome
from mcquack.bench.ranking import Contender
from mcquack.report.benchmark.contents import Contents
from mcquack.report.benchmark.records import PageData
from mcquack.report.benchmark.summary import Summary
from mcquack.report.benchmark.views import family_title
from mcquack.report.ranking import METRIC_TITLES, metric_phrase
from mcquack.report.style import counted, duration, moment

# What the pages of all reports are put together from: templates, styles and scripts of a package.

Kind = Literal["styles", "scripts"]
_ENDINGS: dict[Kind, str] = {"styles": "css", "scripts": "js"}


def environment(*packages: str) -> Environment:
    """Finds a template in the first of the packages that has one of its name."""
    made = Environment(
        loader=ChoiceLoader([PackageLoader(package, "templates") for package in packages]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {"counted": counted, "duration": duration, "moment": moment}
    return made


@cache
def joined(package: str, kind: Kind, names: Sequence[str]) -> str:
    """The files of these names one after the other."""
    home = files(package).joinpath("templates", kind)
    return "\n".join(home.joinpath(f"{name}.{_ENDINGS[kind]}").read_text(encoding="utf-8") for name in names)


def enclosed(scripts: str) -> str:
    """Scripts that share their names with each other and with nobody else."""
    return f'"use strict";\n(() => {{\n{scripts}}})();\n'


def source_hash(script: str) -> str:
    """By which the page tells the browser to run this script and no other."""
    return f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode('ascii')}"


# Where the numbers of a report come from.


@dataclass(frozen=True, kw_only=True)
class SearchUse:
    """How the settings of a model were found."""

    model: str
    search: str
    metric: str
    n_cells: int
    n_settings: int
    n_failed: int


@dataclass(frozen=True, kw_only=True)
class Publication:
    """What was taken from others."""

    source: str
    models: tuple[str, ...]
    notes: Mapping[str, tuple[str, ...]]  # the datasets by what has to be said of them


def searches(contents: Contents) -> tuple[SearchUse, ...]:
    """One line for each model and kind of search, over all datasets."""
    groups: dict[tuple[Contender, str, str], list[tuple[int, int]]] = {}
    for cell in contents.cells:
        if (choice := cell.choice) is not None:
            key = cell.contender, choice.search, choice.metric
            groups.setdefault(key, []).append((choice.n_settings, choice.n_failed))
    ordered = sorted(groups.items(), key=lambda group: (group[0][0].title, *group[0][1:]))
    return tuple(
        SearchUse(
            model=contender.title,
            search=search,
            metric=metric,
            n_cells=len(counts),
            n_settings=sum(n_settings for n_settings, _ in counts),
            n_failed=sum(n_failed for _, n_failed in counts),
        )
        for (contender, search, metric), counts in ordered
    )


def publications(contents: Contents) -> tuple[Publication, ...]:
    """By source, with the models it tells of and the notes on single scores."""
    sources = dict.fromkeys(cell.source for cell in contents.scores if cell.is_published)
    return tuple(_publication(contents, source) for source in sources)


def _publication(contents: Contents, source: str) -> Publication:
    cells = [cell for cell in contents.scores if cell.source == source]
    notes: dict[str, dict[str, None]] = {}
    for cell in cells:
        if cell.note:
            notes.setdefault(cell.note, {})[f"{cell.title} on {cell.dataset}"] = None
    return Publication(
        source=source,
        models=tuple(dict.fromkeys(cell.title for cell in cells)),
        notes={note: tuple(where) for note, where in notes.items()},
    )


def data_prints(contents: Contents) -> Mapping[str, tuple[str, ...]]:
    """The fingerprints of each dataset; several where the final tasks were not all measured on the same numbers."""
    found: dict[str, dict[str, None]] = {dataset.name: {} for dataset in contents.datasets}
    for cell in contents.cells:
        found[cell.dataset] |= {outcome.fingerprint: None for outcome in cell.finals if outcome.fingerprint}
    return {dataset: tuple(prints) for dataset, prints in found.items() if prints}


# Tasks that failed, together with those that failed in the same way.

MOST_FAILURES = 200
"""Different tracebacks on the page; there are more only if something is wrong with all tasks."""


@dataclass(frozen=True, kw_only=True)
class FailureGroup:
    """Tasks that failed in the same way."""

    error: str
    outcomes: tuple[Outcome, ...]

    @property
    def reason(self) -> str:
        """The last line of the traceback."""
        return self.outcomes[0].reason


def failure_groups(failures: Sequence[Outcome]) -> tuple[FailureGroup, ...]:
    """Those with the same traceback together, the most frequent first."""
    groups: dict[str, list[Outcome]] = {}
    for outcome in failures:
        groups.setdefault((outcome.error or "").strip(), []).append(outcome)
    found = [FailureGroup(error=error, outcomes=tuple(outcomes)) for error, outcomes in groups.items()]
    return tuple(sorted(found, key=lambda group: -len(group.outcomes)))


PACKAGE = "mcquack.report.benchmark"

STYLES = ("tokens", "base", "layout", "tables", "charts", "task", "print")
SCRIPTS = (
    "dom",
    "format",
    "state",
    "sorting",
    "leaderboard",
    "ranking_bars",
    "critical_difference",
    "wins",
    "plots",
    "sizes",
    "datasets",
    "task",
    "task_history",
    "task_matrices",
    "task_search",
    "theme",
    "sections",
    "main",
)
"""In this order: a script uses what those before it define."""


@dataclass(frozen=True, kw_only=True)
class Link:
    """A file beside the page."""

    title: str
    form: str  # as "CSV"
    path: str


Links = Mapping[str, Mapping[Metric | None, Sequence[Link]]]
"""By kind and metric, or None for what is of no single metric."""


def page(contents: Contents, summary: Summary, *, links: Links) -> str:
    """The text of index.html; the same contents give the same text."""
    data = PageData(contents, summary)
    script = enclosed(joined(PACKAGE, "scripts", SCRIPTS))
    return (
        _environment()
        .get_template("page.html.j2")
        .render(
            contents=contents,
            data=_json_in_html(data.page()),
            chunks=data.chunks(),
            contenders=data.contenders,
            environments=data.environments,
            numerics=sorted({each.task.numerics for cell in contents.cells for each in cell.outcomes} - {None}),
            family_sizes={family: _n_datasets(contents, family) for family in contents.families},
            failures=failure_groups(contents.failures),
            most_failures=MOST_FAILURES,
            has_sizes=summary.has_curves,
            lead=() if summary.main_view is None else summary.main_view.standings[:3],
            links=links,
            publications=publications(contents),
            prints=data_prints(contents),
            searches=searches(contents),
            style=Markup(joined(PACKAGE, "styles", STYLES)),
            script=Markup(script),
            script_hash=source_hash(script),
        )
    )


@cache
def _environment() -> Environment:
    made = environment(PACKAGE)
    made.filters |= {
        "family_title": family_title,
        "metric_phrase": metric_phrase,
        "metric_title": METRIC_TITLES.__getitem__,
    }
    return made


def _n_datasets(contents: Contents, family: str) -> int:
    return sum(dataset.family == family for dataset in contents.datasets)


_HARMFUL = {character: f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


def _json_in_html(value: Any) -> Markup:
    """JSON that no name within can break out of: a script element ends at the first "</script"."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    for character, escape in _HARMFUL.items():  # a few passes are much quicker than a look at each character
        text = text.replace(character, escape)
    return Markup(text)
