"""Pages of studies say what their rows say: every table follows from them, and they are of the present numerics."""

import csv
import re
from importlib import import_module
from pathlib import Path

import pytest

from mcquack.bench.store import Store
from mcquack.numerics import NUMERICS

STUDIES = Path(__file__).parents[2] / "studies"
if not STUDIES.is_dir():
    pytest.skip("a source archive has no results", allow_module_level=True)

from studies.reports import FIGURES, PAGES, REPORT, write  # noqa: E402
from studies.tables import rows_file, rows_files  # noqa: E402

# Each has ``tables()``, and main() writes these into the page.
MODULES = (
    "calibration.summary",
    "centroids_per_class.summary",
    "defaults.summary",
    "feature_maps.summary",
    "fixed_kernels.summary",
    "hardware.summary",
    "hardware_twin.summary",
    "qml_suite.race",
    "qml_suite.rivals",
    "qml_suite.summary",
    "real_world.compare",
    "real_world.race",
    "robustness.summary",
)
# What these show comes with a report or a site, or from benchmarks whose numbers other tests compare.
OTHERS = {"paper", "speed", "trainability"}


def name_of(path):
    return f"{path.parent.name}/{path.stem}"


def pages(module):
    return getattr(module, "PAGES", None) or [module.README]


@pytest.mark.parametrize("name", MODULES)
def test_every_table_of_a_page_follows_from_its_rows(name):
    from studies.tables import with_tables

    module = import_module(f"studies.{name}")
    for page in pages(module):
        told = page.read_text(encoding="utf-8")
        assert with_tables(told, module.tables()) == told


def test_every_study_is_held_to_its_rows():
    found = {path.parent.name for path in STUDIES.glob("*/README.md")}
    assert found == {name.partition(".")[0] for name in MODULES} | OTHERS


FILES = [*sorted(STUDIES.glob("*/rows.csv")), STUDIES / "hardware" / "training.csv"]


def stores():
    found = []
    for folder in sorted(STUDIES.iterdir()):
        if folder.name != "hardware":  # its files are ledgers
            found += rows_files(folder)
    return found


@pytest.mark.parametrize("path", stores(), ids=name_of)
def test_all_rows_of_a_store_are_of_the_present_numerics(path):
    with Store.open(path) as store:
        assert set(store.numerics()) == {NUMERICS}


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_all_rows_of_a_file_are_of_the_present_numerics(path):
    from studies.tables import stored_rows

    assert {row["numerics"] for row in stored_rows(path)} == {str(NUMERICS)}


@pytest.mark.parametrize("study", PAGES)
def test_a_readme_shows_the_figures_that_are_copied_beside_it_and_links_to_its_page(study):
    told = (STUDIES / study / "README.md").read_text(encoding="utf-8")
    shown = re.findall(r"!\[[^]]*\]\((?:report/figures/)?(\w+)\.svg\)", told)
    assert sorted(shown) == sorted(FIGURES[study])
    assert f"({REPORT}/index.html)" in told
    assert rows_file(STUDIES / study / "rows.sqlite").is_file()


def test_a_page_is_made_from_rows(tmp_path):
    page = write("feature_maps", tmp_path)
    assert page == tmp_path / "index.html"
    with (tmp_path / "tables" / "leaderboard_balanced_accuracy.csv").open(encoding="utf-8") as stream:
        means = {line["model"]: float(line["mean score"]) for line in csv.DictReader(stream)}
    told = (STUDIES / "feature_maps" / "README.md").read_text(encoding="utf-8")
    for model, mean in means.items():
        assert f"| `{model.rpartition(' ')[2]}` | {mean:.3f} |" in told
    assert all((tmp_path / "figures" / f"{figure}.svg").is_file() for figure in FIGURES["feature_maps"])


def test_rows_are_read_compressed_unless_they_are_being_written(tmp_path):
    for name in ("b.sqlite", "a.sqlite.gz", "c.sqlite", "c.sqlite.gz", "c.sqlite.lock", "rows.csv"):
        (tmp_path / name).touch()
    assert rows_files(tmp_path) == [tmp_path / name for name in ("a.sqlite.gz", "b.sqlite", "c.sqlite")]
    assert rows_file(tmp_path / "a.sqlite") == tmp_path / "a.sqlite.gz"
    assert rows_file(tmp_path / "new.sqlite") == tmp_path / "new.sqlite"


def test_a_page_without_a_place_for_a_table_is_refused():
    from studies.tables import with_tables

    assert with_tables("<!-- a -->\nold\nold\n\nend\n", {"a": "new"}) == "<!-- a -->\nnew\n\nend\n"
    with pytest.raises(LookupError, match="has no place <!-- b -->"):
        with_tables("<!-- a -->\n", {"b": "new"})


def test_rows_grow_by_what_they_lack(tmp_path):
    from studies.tables import growing_rows, stored_rows

    path = tmp_path / "rows.csv"
    assert stored_rows(path) == []
    for seeds in ((0, 1), (1, 2)):
        with growing_rows(path, ("name", "seed", "score"), keys=("name", "seed")) as rows:
            for seed in seeds:
                if ("a", seed) not in rows:
                    rows.add({"name": "a", "seed": seed, "score": seeds[0]})
    assert [(row["seed"], row["score"]) for row in stored_rows(path)] == [("0", "0"), ("1", "0"), ("2", "1")]
