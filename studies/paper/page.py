"""The site as a folder: an overview, a page for each part of the paper, and all tables and figures as files."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from mcquack import __version__
from mcquack.errors import InvalidInputError
from mcquack.report.pages import PAGE, Folder, encoded, page_text, replace_files
from studies.paper import hardware, model, past, qml_suite, real_world, trainability
from studies.paper.checks import RULE
from studies.paper.exhibit import Exhibit
from studies.paper.items import SECTIONS
from studies.paper.sources import Sources
from studies.paper.stores import Stores

TEMPLATES = Path(__file__).parent / "templates"
STATUSES: Mapping[str, str] = {
    "same": "the same",
    "partly": "partly the same",
    "different": "not the same",
    "open": "not compared",
    "missing": "not run",
    "past": "past the paper",
}
"""What the badges of items say, by status."""


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
    folder = Folder()
    for exhibit in exhibits:
        for table in exhibit.all_tables:
            folder.add_table(table, latex=False)
        for picture in exhibit.pictures:
            folder.add_figure(picture.name, picture.figure, kind=picture.title)
    by_section: dict[str, list[Exhibit]] = {
        name: [each for each in exhibits if each.item.section == name] for name in SECTIONS
    }
    shown: dict[str, str] = {name: title for name, title in SECTIONS.items() if by_section[name]}
    counts = Counter(exhibit.status for exhibit in exhibits)
    found = folder.contents
    for name in ("", *shown):
        text = page_text(
            "section.html.j2" if name else "index.html.j2",
            TEMPLATES,
            scripts=("theme",),
            start="followTheme();\n",
            styles=(TEMPLATES / "paper.css").read_text(encoding="utf-8"),
            contents={"title": f"{shown[name]}: the paper and ours" if name else "The paper and ours"},
            name=name,
            sections=shown,
            by_section=by_section,
            counts={status: counts[status] for status in STATUSES if counts[status]},
            n_items=sum(exhibit.item.section != "past" for exhibit in exhibits),
            is_quick=any(exhibit.is_quick for exhibit in exhibits),
            home="../" if name else "",
            statuses=STATUSES,
            rule=RULE,
            version=__version__,
        )
        found[f"pages/{name}.html" if name else PAGE] = encoded(text)
    return found
