"""How a report becomes a folder: pages with everything inside, and tables and figures as files beside them."""

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import ChoiceLoader, Environment, FileSystemLoader, PackageLoader, StrictUndefined
from markupsafe import Markup
from matplotlib.figure import Figure

from mcquack.bench.ranking.scores import elided
from mcquack.bench.task import Metric, Outcome
from mcquack.errors import InvalidInputError
from mcquack.files import replace_file
from mcquack.report import ranking
from mcquack.report.document import Column, Entry, Picture, Several, Table
from mcquack.report.style import counted, duration, inline_svg, moment, number_text, plain_number, svg_bytes

PAGE = "index.html"
MOST_FAILURES = 200  # different tracebacks on a page; there are more only if something is wrong with all tasks
MOST_ROWS = 60  # of a table on a page, where its file has all

Link = tuple[str, str, str]  # title, form ("CSV") and path of a file beside the page
Links = Mapping[str, Mapping[Metric | None, Sequence[Link]]]
"""The files beside a page by kind and metric, or None for what is of no single metric."""


class Folder:
    """The files of a report by their paths, and the links that a page has to them."""

    def __init__(self) -> None:
        self.contents: dict[str, bytes] = {}
        self.links: dict[str, dict[Metric | None, list[Link]]] = {}

    def add_table(self, table: Table, *, latex: bool = True) -> None:
        """Add a table as CSV and, if it is one to print, as LaTeX."""
        forms = {"CSV": ("csv", table.csv)} | ({"LaTeX": ("tex", table.latex)} if latex else {})
        for form, (ending, text) in forms.items():
            path = f"tables/{table.name}.{ending}"
            self._add(path, encoded(text), kind=table.kind, metric=table.metric, title=table.title, form=form)

    def add_figure(self, name: str, figure: Figure, *, kind: str, metric: Metric | None = None) -> None:
        """Add a figure as SVG."""
        self._add(f"figures/{name}.svg", svg_bytes(figure), kind=kind, metric=metric, title=kind, form="SVG")

    def _add(self, path: str, content: bytes, *, kind: str, metric: Metric | None, title: str, form: str) -> None:
        if path in self.contents:
            raise InvalidInputError(
                f"two parts of the report would be the file {path}: their series have names that differ in nothing but "
                "signs; give the grids of the design names that differ in letters or digits."
            )
        self.contents[path] = content
        self.links.setdefault(kind, {}).setdefault(metric, []).append((title, form, path))


def encoded(text: str) -> bytes:
    """A text as a file has it; a name may hold half of a surrogate pair, which no file can."""
    return text.encode("utf-8", "replace")


# Pages


@cache
def environment(*folders: Path) -> Environment:
    """The templates of all pages, after those in ``folders``."""
    own = PackageLoader("mcquack.report", "templates")
    made = Environment(
        loader=ChoiceLoader([*map(FileSystemLoader, folders), own]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    own_filters = (counted, duration, moment, theirs, breakable, typeset, tied, drawn, fixed, entry)
    made.filters |= {each.__name__: each for each in own_filters}
    made.filters |= {"metric_phrase": ranking.metric_phrase, "metric_title": ranking.METRIC_TITLES.__getitem__}
    made.globals |= {"most_failures": MOST_FAILURES, "most_rows": MOST_ROWS, "failure_groups": failure_groups}
    return made


@cache
def template_text(name: str) -> str:
    """A style sheet or script as it is."""
    return files("mcquack.report").joinpath("templates", name).read_text(encoding="utf-8")


def page_text(
    template: str, *folders: Path, scripts: Sequence[str], start: str = "", styles: str = "", **has: Any
) -> str:
    """A page with its styles and scripts inside; the same values give the same text.

    Parameters
    ----------
    template : its name, of this package or in one of the ``folders``.
    scripts, start : the names of the scripts, in an order in which each uses those before it, and what starts them.
    styles : what the page adds to the style sheet of all pages.
    has : what the template reads.
    """
    code = "\n".join([*(template_text(f"scripts/{name}.js") for name in scripts), start])
    script = f'"use strict";\n(() => {{\n{code}}})();\n'  # they share their names with nobody else
    return (
        environment(*folders)
        .get_template(template)
        .render(
            style=Markup(template_text("style.css") + styles),
            script=Markup(script),
            # By its hash, the page tells the browser to run this script and no other.
            script_hash=f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode('ascii')}",
            **has,
        )
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


# Texts and values as a page shows them

_MOST_LETTERS = 80  # of a name on the page; the whole of a longer one is shown where the mouse rests
_EXPONENT = re.compile(r"\^(?:\(([^()<>]*)\)|(-?[0-9.]+))")
_HYPHEN = re.compile(r"(?<![\w.)])-(?=[0-9.])")


def theirs(name: object, n_letters: int = _MOST_LETTERS) -> Markup:
    """A text that somebody else chose: whatever it is written in, the text around it keeps its order and its place."""
    return _isolated(str(name), [elided(str(name), n_letters=n_letters)], n_letters=n_letters)


def breakable(name: str) -> Markup:
    """A name that may, if it is long, be broken before each of the words that it is put together from."""
    shown = elided(name, n_letters=_MOST_LETTERS)
    return _isolated(name, re.split(r"(?<=[a-z0-9])(?=[A-Z])|(?<=_)", shown) if len(name) > 12 else [shown])


def _isolated(name: str, words: Sequence[str], *, n_letters: int = _MOST_LETTERS) -> Markup:
    whole = Markup(' class="elided" title="{}"').format(name) if len(name) > n_letters else Markup("")
    return Markup("<bdi{}>{}</bdi>").format(whole, Markup("<wbr>").join(words))


def typeset(text: str) -> Markup:
    """A sentence with raised exponents and true minus signs; whatever else is in it stays text.

    >>> typeset("as n^(-2.08) & more")
    Markup('as n<sup>−2.08</sup> &amp; more')
    """
    signed = _HYPHEN.sub("−", str(Markup.escape(text)))
    return Markup(_EXPONENT.sub(lambda found: f"<sup>{found[1] or found[2]}</sup>", signed))


def tied(text: str) -> str:
    """A text in which no percent sign begins a line."""
    return text.replace(" %", "\u00a0%")


def drawn(picture: Picture) -> Markup:
    """A picture as an element of a page."""
    return inline_svg(picture.figure, name=picture.name, label=f"{picture.title}. {picture.caption}")


def fixed(value: Entry, column: Column) -> str:
    """An entry of a column whose numbers are compared, with as many digits each."""
    match value:
        case None:
            return "·"
        case Several():
            return value.text
        case float():
            return "< 0.001" if value < 0.001 else f"{value:.{column.digits}f}"
        case _:
            return str(value)


def entry(value: Entry) -> str:
    """An entry of a table."""
    match value:
        case None:
            return "–"
        case Several():
            return value.text
        case float():
            return number_text(value)
        case int() if not isinstance(value, bool):
            return f"{value:,}".replace("-", "−")
        case _:
            text = plain_number(str(value))
            # A sentence breaks where the table ends; a word without end is a name, and shown in part.
            return theirs(text) if any(len(word) > _MOST_LETTERS for word in text.split()) else text


# A report as a folder of files, which the next report may replace

SUMS = "SHA256SUMS"  # lists the files of a report, so that the next one knows which of them are no longer needed


def replace_files(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Write all files and remove what an earlier report left; files that are nobody's report are never touched."""
    earlier = _listed(folder / SUMS)
    if (folder / PAGE).exists() and PAGE not in earlier:
        raise InvalidInputError(f"{folder} has an {PAGE} that is no report; choose another folder, or remove it.")
    for name in earlier.keys() - contents.keys():
        path = folder / name
        if ".." not in path.parts and path.is_file() and _digest(path.read_bytes()) == earlier[name]:
            path.unlink()
    sums = "".join(f"{_digest(content)}  {name}\n" for name, content in contents.items())
    for name, content in {SUMS: sums.encode(), **contents}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, content)


def _listed(path: Path) -> dict[str, str]:
    """Digests by name; names that lead out of the folder are no file of a report."""
    if not path.is_file():
        return {}
    lines = (line.partition("  ") for line in path.read_text(encoding="utf-8", errors="replace").splitlines())
    kept = (PAGE, "tables/", "figures/", "pages/")
    return {name: digest for digest, _, name in lines if name == PAGE or name.startswith(kept[1:])}


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
