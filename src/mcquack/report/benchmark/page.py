"""From the contents of a report to its page: one HTML file with all styles, scripts and data inside."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from mcquack.bench.outcome import Metric
from mcquack.report.assets import enclosed, environment, joined, source_hash
from mcquack.report.benchmark.contents import Contents
from mcquack.report.benchmark.failures import MOST_FAILURES, failure_groups
from mcquack.report.benchmark.provenance import data_prints, publications, searches
from mcquack.report.benchmark.records import PageData
from mcquack.report.benchmark.summary import Summary
from mcquack.report.benchmark.words import family_title
from mcquack.report.ranking.metrics import METRIC_TITLES, metric_phrase

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
