"""The reference: a page for each package with all names of its ``__all__``, and links from texts to these names."""

import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

# Whatever has an ``__all__`` that is not all in another one, and modules that are public as they are.
PACKAGES = (
    "mcquack",
    "mcquack.models",
    "mcquack.models.catalog",
    "mcquack.models.robustness",
    "mcquack.models.tables",
    "mcquack.circuits",
    "mcquack.circuits.library",
    "mcquack.kernels",
    "mcquack.simulators",
    "mcquack.simulators.noise",
    "mcquack.simulators.statevector",
    "mcquack.simulators.jax.functions",
    "mcquack.training",
    "mcquack.training.ensembles",
    "mcquack.training.drawn",
    "mcquack.training.draws",
    "mcquack.hardware",
    "mcquack.datasets",
    "mcquack.datasets.synthetic",
    "mcquack.datasets.table",
    "mcquack.datasets.files",
    "mcquack.bench",
    "mcquack.bench.ranking",
    "mcquack.studies.trainability",
    "mcquack.studies.trainability.analysis",
    "mcquack.studies.hardware_twin",
    "mcquack.report",
    "mcquack.report.trainability",
    "mcquack.errors",
)
WITH_PAGES = "mcquack.models"  # an estimator has a page of its own
LONGEST_VALUE = 300  # of a constant that is shown, in characters
GENERATED = Path("docs", "reference", "generated")
OPTION = re.compile(r"(?<![`\w-])(--[a-z][\w-]*)(?![\w`-])")
DOTTED = re.compile(r"(mcquack(?:\.\w+)+)(?:\(.*\))?", flags=re.DOTALL)


def exported(module: ModuleType) -> list[str]:
    """The public names of a module: its ``__all__``, or what it defines itself without an underscore."""
    if hasattr(module, "__all__"):
        return [name for name in module.__all__ if not inspect.ismodule(getattr(module, name)) and name[0] != "_"]
    found = vars(module).items()
    return [name for name, value in found if getattr(value, "__module__", "") == module.__name__ and name[0] != "_"]


def origin(module: ModuleType, name: str) -> str:
    """The dotted name under which something is defined, for constants that of the module that has them."""
    value = getattr(module, name)
    if inspect.isclass(value) or inspect.isroutine(value):
        return f"{value.__module__}.{value.__qualname__}"
    return f"{module.__name__}.{name}"


@cache
def homes() -> dict[str, str]:
    """From where each public thing is defined to where it is shown, ``mcquack`` itself only if nowhere else."""
    found: dict[str, str] = {}
    for package in (*PACKAGES[1:], PACKAGES[0]):
        module = import_module(package)
        for name in exported(module):
            found.setdefault(origin(module, name), f"{package}.{name}")
    return found


@cache
def public_names() -> dict[str, str]:
    """All spellings of public names: of each package that exports it, and bare where only one thing is called so."""
    spellings: dict[str, str] = {}
    bare: dict[str, set[str]] = {}
    for package in PACKAGES:
        module = import_module(package)
        for name in exported(module):
            home = homes()[origin(module, name)]
            spellings[f"{package}.{name}"] = spellings[origin(module, name)] = home
            bare.setdefault(name, set()).add(home)
    alone = {name: next(iter(found)) for name, found in bare.items() if len(found) == 1}
    return alone | spellings


def title(text: str, underline: str) -> Iterator[str]:
    """A heading in reStructuredText."""
    yield from (text, underline * len(text), "")


def entry(module: ModuleType, name: str) -> Iterator[str]:
    """The directive that documents one name."""
    value = getattr(module, name)
    dotted = f"{module.__name__}.{name}"
    if inspect.isclass(value):
        yield from (f".. autoclass:: {dotted}", "   :members:", "   :inherited-members:", "")
    elif inspect.isroutine(value):
        yield from (f".. autofunction:: {dotted}", "")
    else:
        shown = isinstance(value, str | int | float | tuple) and len(repr(value)) < LONGEST_VALUE
        yield from (f".. autodata:: {dotted}", *(() if shown else ("   :no-value:",)), "")


def package_page(package: str) -> Iterator[str]:
    """The page of a package: what it is for, and all that it exports."""
    module = import_module(package)
    yield from title(package, "=")
    yield from (f".. automodule:: {package}", "   :no-members:", "")
    names = exported(module)
    here = [name for name in names if homes()[origin(module, name)] == f"{package}.{name}"]
    elsewhere = [homes()[origin(module, name)] for name in names if name not in here]
    if elsewhere:
        yield from title("Found here too", "-")
        yield from (*(f"- :py:obj:`{home}`" for home in elsewhere), "")
    if package == WITH_PAGES:
        apart = [name for name in here if inspect.isclass(getattr(module, name))]
        yield from title("Estimators", "-")
        yield from (".. toctree::", "   :maxdepth: 1", "", *(f"   {package}.{name}" for name in apart), "")
        here = [name for name in here if name not in apart]
    for name in here:
        yield from title(name, "-")
        yield from entry(module, name)


def estimator_page(name: str) -> Iterator[str]:
    """The page of one estimator."""
    yield from title(name, "=")
    yield from entry(import_module(WITH_PAGES), name)


def command_line_page() -> str:
    """What ``mcquack --help`` says of all commands, as one page."""
    asked = ["-m", "typer", "mcquack.cli.app", "utils", "docs", "--name", "mcquack", "--title", "The command line"]
    text = subprocess.run([sys.executable, *asked], capture_output=True, check=True, encoding="utf-8").stdout
    text = re.sub(r"^\* `--help`: .*\n", "", text, flags=re.MULTILINE).replace("```console\n$ ", "```text\n")
    return OPTION.sub(r"`\1`", text)  # as code, since two hyphens in a text become a dash


def write_pages(app: Sphinx) -> None:
    """Writes the generated pages, except for those that have not changed, which Sphinx need not read again."""
    folder = Path(app.srcdir) / GENERATED
    folder.mkdir(exist_ok=True)
    pages = {f"{package}.rst": "\n".join(package_page(package)) for package in PACKAGES}
    models = import_module(WITH_PAGES)
    for name in exported(models):
        if inspect.isclass(getattr(models, name)):
            pages[f"{WITH_PAGES}.{name}.rst"] = "\n".join(estimator_page(name))
    pages["command_line.md"] = command_line_page()
    for path in folder.iterdir():
        if path.name not in pages:
            path.unlink()
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def link_names(app: Sphinx, doctree: nodes.document) -> None:
    """Makes links of public names that stand in a text as code."""
    for literal in list(doctree.findall(nodes.literal)):
        text = literal.astext()
        dotted = DOTTED.fullmatch(text)
        home = public_names().get(dotted[1] if dotted else text)
        if home is None or isinstance(literal.parent, (nodes.reference, pending_xref)) or literal.get("classes"):
            continue
        if dotted is None and not text[0].isupper():
            continue  # a bare word in small letters is more often a variable than a function
        link = pending_xref("", refdomain="py", reftype="obj", reftarget=home, refexplicit=True, refwarn=False)
        link["refdoc"] = app.env.current_document.docname
        literal.replace_self(link)
        link += literal


def is_ours_and_there(target: str) -> bool:
    """Whether a dotted name leads to something of mcquack that is not public."""
    parts = target.split(".")
    for n_parts in range(len(parts), 0, -1):
        try:
            found: object = import_module(".".join(parts[:n_parts]))
        except ImportError:
            continue
        for attribute in parts[n_parts:]:
            if not hasattr(found, attribute):
                return False
            found = getattr(found, attribute)
        return True
    return False


def resolve(app: Sphinx, env: BuildEnvironment, node: pending_xref, content: nodes.Element) -> nodes.Element | None:
    """Leads a name that Sphinx does not find to its public home; what is not public, or not ours, stays text."""
    if node.get("refdomain") != "py":
        return None
    target = node["reftarget"]
    module = node.get("py:module") or ""
    for spelling in (target, f"{module}.{target}"):
        home = public_names().get(spelling)
        if home is not None:
            found = env.domains["py"].resolve_any_xref(env, node["refdoc"], app.builder, home, node, content)
            if found:
                return found[0][1]
    if not target.startswith("mcquack") or is_ours_and_there(target):
        return content
    return None


def setup(app: Sphinx) -> dict[str, bool]:
    """Registers with Sphinx."""
    app.connect("builder-inited", write_pages)
    app.connect("doctree-read", link_names)
    app.connect("missing-reference", resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
