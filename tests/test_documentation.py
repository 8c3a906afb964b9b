"""What the documentation shows runs, whatever it names can be imported, and the glossary is in order."""

import json
import re
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from unittest.mock import patch

import pytest
from sklearn.datasets import load_iris

import mcquack
from mcquack.checks import JAX
from mcquack.circuits.gates import GATES
from mcquack.circuits.library import MAPS, circuit_named
from mcquack.errors import MissingDependencyError

ROOT = Path(__file__).parents[1]
WRITTEN = ("*.md", "tutorials/*.md", "howto/*.md", "reference/*.md")  # other pages of the site are generated
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
PAGES += [page for pattern in WRITTEN for page in sorted((ROOT / "docs").glob(pattern))]
# Pages on which everything is shown, from the first import on, at a size that takes no time.
WHOLE = ["docs/start.md", "docs/migration.md"]
WHOLE += [
    f"docs/howto/{page.name}" for page in PAGES if page.parent.name == "howto" and page.stem not in ("index", "cluster")
]
PEERS = ("qiskit_machine_learning", "squlearn")  # others' code is run where they are installed
SIZE = "n_qubits", "n_layers", "n_samples", "n_classes"
ENTRY = re.compile(r"^- \*\*(.+?)\*\*: (.+?)(?=^- \*\*|\Z)", flags=re.DOTALL | re.MULTILINE)


def snippets(page: str, section: str | None) -> list[str]:
    """The Python code of a section, of the beginning of a page, or for None of all of it."""
    text = (ROOT / page).read_text(encoding="utf-8")
    if section is not None:
        text = (text.partition(f"\n## {section}\n")[2] if section else text).partition("\n## ")[0]
    return re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)


# The sections about datasets have tests beside those of the datasets; others need an account or a finished benchmark.
@pytest.mark.parametrize(
    ("page", "section"),
    [
        ("README.md", "Example"),
        ("docs/kernels.md", ""),
        ("docs/kernels.md", "Gaussian processes"),
        ("docs/kernels.md", "The projected kernel"),
        ("docs/kernels.md", "Trained kernels"),
        ("docs/kernels.md", "Use it in scikit-learn"),
        ("docs/models.md", ""),
        ("docs/models.md", "Any circuit"),
        ("docs/models.md", "Calibrated probabilities"),
        ("docs/models.md", "Column names, figures and feature importances"),
        ("docs/robustness.md", ""),
        ("docs/circuits.md", None),
        ("docs/exchange.md", "Export"),
        ("docs/exchange.md", "From Qiskit"),
        ("docs/hundred_qubits.md", ""),
        ("docs/hundred_qubits.md", "Shots and noise"),
        pytest.param("docs/engine.md", "JAX", marks=pytest.mark.skipif(not JAX.is_installed, reason="needs jax")),
    ],
)
def test_every_snippet_runs(page: str, section: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    # One epoch on a few qubits tells as well as many on more whether what is shown can be done.
    quick = partial(mcquack.McQuackClassifier, epochs=1, n_qubits=2)
    monkeypatch.setattr(mcquack, "McQuackClassifier", quick, raising=False)
    X, y = load_iris(return_X_y=True)
    X, y = X[::10], y[::10]
    model = quick(n_repetitions=1, engine="ring").fit(X, y)
    names = {"McQuackClassifier": quick, "model": model, "X": X, "y": y, "X_new": X[:2], "X_train": X, "y_train": y}
    found = snippets(page, section)
    assert found
    with patch.dict(GATES):  # a page adds a gate to it
        for code in found:
            exec(compile(code, page, "exec"), names)


@pytest.mark.filterwarnings("default")  # of others, whose code is shown too
@pytest.mark.parametrize("page", WHOLE)
def test_every_page_that_shows_everything_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    found = snippets(page, None)
    assert found
    for code in found:
        try:
            exec(compile(code, page, "exec"), names)
        except ModuleNotFoundError as error:
            if error.name not in PEERS:
                raise


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}/{page.name}")
def test_addresses_are_whole(page: Path) -> None:
    found = re.findall(r"\]\((\w+://[^)\s]*)\)", page.read_text(encoding="utf-8"))
    assert [address for address in found if not re.fullmatch(r"https://([\w-]+\.)+[a-z]{2,}(/\S*)?", address)] == []


def test_the_table_of_maps_has_their_sizes() -> None:
    text = (ROOT / "docs" / "circuits.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (\d+) \| (\d+) \| (\d+) \|", text, flags=re.MULTILINE)
    circuits = {name: circuit_named(name, n_features=12, n_qubits=6) for name in MAPS}
    sizes = {name: (made.n_gates, made.depth, made.n_embedding_parameters) for name, made in circuits.items()}
    assert {name: tuple(map(int, numbers)) for name, *numbers in rows} == sizes


def named(text: str) -> set[str]:
    """Names such as mcquack.circuits.FeatureMap: in backticks, and in the imports of examples."""
    found = set(re.findall(r"`(mcquack(?:\.\w+)+)(?:\([^`]*\))?`", text))
    for module, names in re.findall(r"^from (mcquack[\w.]*) import ([\w, ]+)$", text, flags=re.MULTILINE):
        found |= {f"{module}.{name.strip()}" for name in names.split(",")}
    return found


def is_there(name: str) -> bool:
    """Whether a dotted name leads from a module to something that it has."""
    parts = name.split(".")
    for n_parts in range(len(parts), 0, -1):
        try:
            found = import_module(".".join(parts[:n_parts]))
        except ModuleNotFoundError:
            continue
        except MissingDependencyError:
            return True  # it is there, and an extra that it takes is not
        for attribute in parts[n_parts:]:
            if not hasattr(found, attribute):
                return not hasattr(found, "__all__") and is_defined_below(found, attribute)
            found = getattr(found, attribute)
        return True
    return False


def is_defined_below(package: ModuleType, name: str) -> bool:
    """Whether a file of a package that does not say what it exports defines the name."""
    definition = re.compile(rf"^(class |def |){name}\b", flags=re.MULTILINE)
    files = (path for folder in getattr(package, "__path__", ()) for path in Path(folder).rglob("*.py"))
    return any(definition.search(path.read_text(encoding="utf-8")) for path in files)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}/{page.name}")
def test_every_name_on_a_page_can_be_imported(page: Path) -> None:
    assert [name for name in sorted(named(page.read_text(encoding="utf-8"))) if not is_there(name)] == []


def test_the_glossary_explains_each_word_once_in_two_sentences_and_by_a_name() -> None:
    entries = ENTRY.findall((ROOT / "docs" / "glossary.md").read_text(encoding="utf-8"))
    words = [word.lower() for word, _ in entries]
    assert len(words) > 40
    assert words == sorted(set(words))
    for word, meaning in entries:
        *_, name = meaning.split()
        assert named(name), f"{word} ends without a Python name"
        assert len(re.findall(r"\.\s", meaning)) <= 2, f"{word} takes more than two sentences"


def fastest_peers(timings: dict[str, dict[str, float]]) -> dict[str, float]:
    """How many of our steps fit into one of each library, of several versions into the fastest."""
    ratios = {name: timing["best_ms"] / timings["ours"]["best_ms"] for name, timing in timings.items()}
    return {
        "JAX": ratios["jax"],
        "PyTorch": min(ratios["torch"], ratios["torch-fused"]),
        "PennyLane + JAX": ratios["pennylane-jax"],
        "TensorCircuit": ratios["tensorcircuit"],
    }


def section_with_table(page: str, heading: str) -> tuple[str, list[list[str]]]:
    """Return a section of a page, and the cells of its table row by row."""
    section = (ROOT / page).read_text(encoding="utf-8").partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return section, [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("|")]


@pytest.mark.skipif(not (ROOT / "studies").is_dir(), reason="a source archive has no results")
def test_the_speeds_of_the_readme_are_those_of_the_last_run() -> None:
    section, (header, _, ratios) = section_with_table("README.md", "Speed")
    rows = json.loads((ROOT / "studies/speed/step.json").read_text())["rows"]
    steps = [row["timings"]["ours"]["best_ms"] for row in rows]
    qubits = [row["problem"]["n_qubits"] for row in rows]
    text = " ".join(section.split())
    assert len(rows) == 6
    assert f"takes {min(steps):.3f} to {max(steps):.0f} ms for it in six problems" in text
    assert f"with {min(qubits)} to {max(qubits)} qubits" in text
    for library, ratio in zip(header, ratios, strict=True):
        found = [fastest_peers(row["timings"])[library] for row in rows]
        assert ratio == f"{min(found):.0f} to {max(found):.0f}"


@pytest.mark.skipif(not (ROOT / "studies").is_dir(), reason="a source archive has no results")
def test_the_summary_of_speeds_is_that_of_the_last_run() -> None:
    section, (header, _, *lines) = section_with_table("benchmarks/README.md", "Summary")
    runs = {name: json.loads((ROOT / f"studies/speed/{name}.json").read_text()) for name in ("step", "step_avx2")}
    measured = {
        name: {tuple(row["problem"][key] for key in SIZE): row for row in run["rows"]} for name, run in runs.items()
    }
    on_avx2 = re.search(r"the rows read ([\d, ]+) % of the sgemm rate, and ([\d, ]+) times", section)
    assert on_avx2 is not None
    shares, ratios = (text.split(", ") for text in on_avx2.groups())
    for place, (size, _, share, *peers) in enumerate(lines):
        key = tuple(map(int, size.partition(" (")[0].split(", ")))
        row = measured["step"][key]
        assert share == f"{row['share_of_best_sgemm']['sgemm'] * 100:.0f} %"
        assert peers == [f"{fastest_peers(row['timings'])[name]:.0f}×" for name in header[3:]]
        row = measured["step_avx2"][key]
        assert shares[place] == f"{row['share_of_best_sgemm']['sgemm'] * 100:.0f}"
        assert ratios[place] == f"{min(fastest_peers(row['timings']).values()):.0f}"
    assert len(lines) == len(measured["step"])
    large = json.loads((ROOT / "studies/speed/step_large.json").read_text())["rows"]
    least = min(
        row["timings"][name]["best_ms"] / row["timings"]["ours"]["best_ms"]
        for row in large
        for name in ("torch-fused", "jax", "lightning")
    )
    assert f"takes {least:.1f} times as long or longer" in section
    rivals = json.loads((ROOT / "studies/speed/rivals.json").read_text())["rows"]
    ratios = {
        kind: [
            f"{row['peers'][peer]['fit_ratio']:.0f}"
            for row in sorted(rivals, key=lambda row: row["peers"][peer]["fit_ratio"] if peer in row["peers"] else 0)
            if peer in row["peers"]
        ]
        for kind, peer in (("circuits", "peer"), ("machines", "expm"))
    }
    circuits, machines = ratios["circuits"], ratios["machines"]
    assert f"take {circuits[0]} to {circuits[-1]} times as long in PennyLane" in section
    assert f"Boltzmann machine {machines[0]} to {machines[-1]} times" in section
