"""The site as a folder: an overview, a page for each part of the paper, and all tables and figures as files."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from mcquack import __version__
from mcquack.errors import InvalidInputError
from mcquack.report.benchmark.page import PACKAGE as BENCHMARK
from mcquack.report.benchmark.page import STYLES, environment, joined, rendered
from mcquack.report.style import PAGE, inline_svg, replace_files, svg_bytes
from mcquack.report.trainability.page import PACKAGE as TRAINABILITY
from mcquack.report.trainability.sections import Picture
from mcquack.report.trainability.study import number_text
from studies.paper import hardware, model, past, qml_suite, real_world, trainability
from studies.paper.checks import RULE
from studies.paper.exhibit import Exhibit
from studies.paper.items import SECTIONS, Section
from studies.paper.sources import Sources
from studies.paper.stores import Stores

PACKAGE = "studies.paper"
STATUSES: Mapping[str, str] = {
    "same": "the same",
    "partly": "partly the same",
    "different": "not the same",
    "open": "not compared",
    "missing": "not run",
    "past": "past the paper",
}
"""What the badges of items say, by status."""


@dataclass(frozen=True, kw_only=True)
class Contents:
    """What a page of the site has in its head; it has no failures, machines and fingerprints of its own."""

    title: str
    failures: tuple[Any, ...] = ()
    environments: tuple[Any, ...] = ()
    prints: Mapping[str, Any] = field(default_factory=dict)


def write_paper_site(stores: Stores, out: Path, *, data_dir: Path | None = None) -> Path:
    """Write the site of the paper into a folder, in place of an earlier one, and return the page to open first.

    Nothing is run but what takes seconds; for an item whose store is not there the page says so, with the command that
    makes it. ``data_dir`` is where published scores are looked for, as in ``mcquack.datasets.load``.
    """
    if out.exists() and not out.is_dir():
        raise InvalidInputError(f"{out} is a file; name a folder to write the site to.")
    found = tuple(all_exhibits(Sources(stores=stores, data_dir=data_dir)))
    replace_files(out, site_files(found))
    return out / PAGE


def all_exhibits(sources: Sources) -> Iterator[Exhibit]:
    """Every item of the paper with our side, section by section, and then what is past the paper."""
    yield from chain(
        model.exhibits(),
        hardware.exhibits(sources),
        qml_suite.exhibits(sources),
        real_world.exhibits(sources),
        trainability.exhibits(sources),
        past.exhibits(sources),
    )


def site_files(exhibits: Sequence[Exhibit]) -> dict[str, bytes]:
    """All files of the site by their paths in its folder."""
    found: dict[str, bytes] = {}
    sections = {name: [each for each in exhibits if each.item.section == name] for name in SECTIONS}
    shown = {name: SECTIONS[name] for name, kept in sections.items() if kept}
    for exhibit in exhibits:
        for sheet in exhibit.all_sheets:
            found[f"tables/{sheet.name}.csv"] = sheet.csv.encode("utf-8", "replace")
        for picture in exhibit.pictures:
            found[f"figures/{picture.name}.svg"] = svg_bytes(picture.figure)
    for name in shown:
        found[f"pages/{name}.html"] = _page(
            "section.html.j2",
            title=f"{SECTIONS[name]}: the paper and ours",
            name=name,
            sections=shown,
            exhibits=sections[name],
            home="../",
        )
    counts = Counter(exhibit.status for exhibit in exhibits)
    found[PAGE] = _page(
        "index.html.j2",
        title="The paper and ours",
        name="",
        sections=shown,
        by_section={name: sections[name] for name in shown},
        counts={status: counts[status] for status in STATUSES if counts[status]},
        n_items=sum(exhibit.item.section != "past" for exhibit in exhibits),
        is_quick=any(exhibit.is_quick for exhibit in exhibits),
        home="",
    )
    return found


def _page(template: str, *, title: str, sections: Mapping[Section, str], **others: Any) -> bytes:
    styles = [joined(BENCHMARK, "styles", STYLES), joined(TRAINABILITY, "styles", ("study",))]
    text = rendered(
        _environment().get_template(template),
        Contents(title=title),
        styles="\n".join([*styles, joined(PACKAGE, "styles", ("paper",))]),
        scripts=joined(BENCHMARK, "scripts", ("theme",)) + "\nfollowTheme();\n",
        sections=sections,
        statuses=STATUSES,
        rule=RULE,
        version=__version__,
        **others,
    )
    return text.encode("utf-8", "replace")


@cache
def _environment() -> Environment:
    made = environment(PACKAGE, BENCHMARK)
    made.filters |= {"drawn": _drawn, "entry": _entry, "tied": _tied}
    return made


def _drawn(picture: Picture) -> Markup:
    return inline_svg(picture.figure, name=picture.name, label=f"{picture.title}. {picture.caption}")


def _tied(text: str) -> str:
    """A text in which no percent sign begins a line."""
    return text.replace(" %", "\u00a0%")


def _entry(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}".replace("-", "−")
    return number_text(value, digits=3) if isinstance(value, float) else str(value)
