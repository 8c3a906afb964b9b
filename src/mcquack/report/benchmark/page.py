"""From the contents of a report to its page: one HTML file with all styles, scripts and data inside."""

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from mcquack.bench.outcome import Metric, Outcome
from mcquack.report.benchmark.contents import Contents
from mcquack.report.benchmark.provenance import data_prints, publications, searches
from mcquack.report.benchmark.records import PageData
from mcquack.report.benchmark.summary import Summary
from mcquack.report.benchmark.words import counted, duration, family_title, moment
from mcquack.report.ranking.metrics import METRIC_TITLES, metric_phrase

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
    "main",
)
"""In this order: a script uses what those before it define."""

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
    script = _script()
    return (
        _environment()
        .get_template("page.html.j2")
        .render(
            contents=contents,
            data=_json_in_html(data.page()),
            chunks=data.chunks(),
            contenders=data.contenders,
            environments=data.environments,
            family_sizes={family: _n_datasets(contents, family) for family in contents.families},
            failures=failure_groups(contents.failures),
            most_failures=MOST_FAILURES,
            has_sizes=summary.has_curves,
            lead=() if summary.main_view is None else summary.main_view.standings[:3],
            links=links,
            publications=publications(contents),
            prints=data_prints(contents),
            searches=searches(contents),
            style=Markup(_joined("styles", STYLES, "css")),
            script=Markup(script),
            script_hash=_source_hash(script),
        )
    )


def failure_groups(failures: Sequence[Outcome]) -> tuple[FailureGroup, ...]:
    """Those with the same traceback together, the most frequent first."""
    groups: dict[str, list[Outcome]] = {}
    for outcome in failures:
        groups.setdefault((outcome.error or "").strip(), []).append(outcome)
    found = [FailureGroup(error=error, outcomes=tuple(outcomes)) for error, outcomes in groups.items()]
    return tuple(sorted(found, key=lambda group: -len(group.outcomes)))


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("mcquack.report.benchmark", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {
        "counted": counted,
        "duration": duration,
        "family_title": family_title,
        "metric_phrase": metric_phrase,
        "metric_title": METRIC_TITLES.__getitem__,
        "moment": moment,
    }
    return made


def _n_datasets(contents: Contents, family: str) -> int:
    return sum(dataset.family == family for dataset in contents.datasets)


@cache
def _joined(folder: str, names: Sequence[str], ending: str) -> str:
    home = files("mcquack.report.benchmark").joinpath("templates", folder)
    return "\n".join(home.joinpath(f"{name}.{ending}").read_text(encoding="utf-8") for name in names)


def _script() -> str:
    return f'"use strict";\n(() => {{\n{_joined("scripts", SCRIPTS, "js")}}})();\n'


def _source_hash(script: str) -> str:
    """By which the page tells the browser to run this script and no other."""
    return f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode('ascii')}"


_HARMFUL = {character: f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


def _json_in_html(value: Any) -> Markup:
    """JSON that no name within can break out of: a script element ends at the first "</script"."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    for character, escape in _HARMFUL.items():  # a few passes are much quicker than a look at each character
        text = text.replace(character, escape)
    return Markup(text)
