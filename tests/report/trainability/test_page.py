"""The report of a study as a folder: its files, its page, and what it refuses."""

import csv
import io
import re

import pytest

from mcquack.bench.store import Store
from mcquack.bench.task import Outcome, Task
from mcquack.errors import InvalidInputError, StoreError
from mcquack.report.pages import typeset
from mcquack.report.trainability import write_trainability_report
from mcquack.report.trainability.study import read_study
from mcquack.studies.trainability.observation import Observation
from tests.report.benchmark.fakes import fake_store as fake_benchmark
from tests.report.fakes import files_of
from tests.report.trainability.fakes import ENVIRONMENT, fake_store, observation, observations

FEW = observations(sizes=(2, 3, 4, 5, 6, 7), n_seeds=2, epochs=8)
N_FAILED = 2
"""The first of them, both seeds of one start at the smallest size."""

TINY = [observation(n, seed=seed, epochs=0) for n in (2, 3) for seed in (0, 1)]


def rows_of(folder, name):
    return list(csv.DictReader(io.StringIO((folder / "tables" / name).read_text(encoding="utf-8"))))


@pytest.fixture(scope="module")
def store_path(tmp_path_factory):
    return fake_store(tmp_path_factory.mktemp("few") / "few.sqlite", FEW, n_failed=N_FAILED)


@pytest.fixture(scope="module")
def report(store_path, tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    assert write_trainability_report(store_path, folder) == folder / "index.html"
    return folder


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A store with gradients alone, and its report."""
    folder = tmp_path_factory.mktemp("tiny")
    path = fake_store(folder / "s.sqlite", TINY)
    write_trainability_report(path, folder / "report", title="Mine & <yours>")
    return path, folder / "report"


def test_the_same_store_gives_the_same_bytes(tiny, tmp_path):
    path, first = tiny
    with Store.open(path) as store:
        write_trainability_report(store, tmp_path / "again", title="Mine & <yours>")
    assert files_of(tmp_path / "again") == files_of(first)


def test_the_page_links_to_every_file_and_to_no_other(report):
    text = (report / "index.html").read_text(encoding="utf-8")
    names = files_of(report).keys() - {"index.html", "SHA256SUMS"}
    linked = {part.partition('"')[0] for part in text.split(' href="')[1:]}
    assert {name for name in linked if "/" in name and not name.startswith("data:")} == names
    for name in ("gradients_paper", "scaling_paper", "losses_paper", "importance_paper_test_accuracy", "shots_paper"):
        assert f"figures/{name}.svg" in names


def test_tables_with_a_row_for_each_run_are_for_programs_alone(report):
    names = {name.removeprefix("tables/") for name in files_of(report) if name.startswith("tables/")}
    assert {name for name in names if name.replace(".csv", ".tex") not in names} == {"observations.csv"}


def test_numbers_have_true_signs_and_raised_exponents(report):
    text = (report / "index.html").read_text(encoding="utf-8")
    shown = re.sub(r"<(style|script|code|pre)\b.*?</\1>|<[^>]*>", " ", text, flags=re.DOTALL)
    assert "−" in shown
    assert re.findall(r"(?<![\w.)])-[0-9.]+", shown) == []
    assert re.findall(r"[0-9]e[-+]?[0-9]+|\^", shown) == []
    assert "n<sup>−" in text


def test_what_is_typeset_stays_text():
    assert typeset("<b>x^(-2)</b> & -3 to 4-5") == "&lt;b&gt;x<sup>−2</sup>&lt;/b&gt; &amp; −3 to 4-5"
    assert "<i>" not in typeset("n^(<i>-2</i>)")


def test_ids_on_the_page_are_unique(report):
    text = (report / "index.html").read_text(encoding="utf-8")
    ids = re.findall(r'\bid="([^"]*)"', text)
    assert len(ids) == len(set(ids))


def test_every_run_is_a_row_with_its_numbers(report):
    rows = rows_of(report, "observations.csv")
    assert len(rows) == len(FEW) - N_FAILED
    row = next(
        row
        for row in rows
        if (row["n_qubits"], row["init_small"], row["init_strategy"], row["regularised"], row["seed"])
        == ("4", "False", "default", "True", "1")
    )
    wanted = observation(4, small=False, strategy="default", regularised=True, seed=1, epochs=8)
    assert float(row["loss weights mean"]) == wanted.gradients["weights"].mean
    assert float(row["entry bias rms"]) == wanted.fidelity_gradients["bias"].mean_square ** 0.5
    assert float(row["test_accuracy"]) == wanted.scores["test_accuracy"]


def test_shares_of_importance_sum_to_one(report):
    rows = rows_of(report, "importance_grid_paper_test_accuracy.csv")
    assert sum(float(row["exact share"]) for row in rows) == pytest.approx(1)
    assert rows[0]["setting"] == "init_small"


def test_the_known_decay_is_found(report):
    rows = [row for row in rows_of(report, "scaling.csv") if row["group"] == "weights" and row["of"] == "loss"]
    assert len(rows) == 8
    for row in rows:
        low, high = float(row["low"]), float(row["high"])
        assert low < float(row["halvings per qubit"]) < high
        if "all ones" in row["start"]:
            assert abs(float(row["halvings per qubit"]) - 0.505) < 0.1  # DECAY / log 2


def test_runs_that_failed_leave_a_size_out_of_the_exact_shares_and_the_page_says_so(report):
    text = (report / "index.html").read_text(encoding="utf-8")
    assert "without the sizes 2, where runs are missing" in text
    assert "2 tasks failed, in 1 way" in text
    assert "FloatingPointError: loss is &lt;nan&gt;" in text


def test_gradients_alone_are_a_report_too(tiny):
    text = (tiny[1] / "index.html").read_text(encoding="utf-8")
    assert "<h1><bdi>Mine &amp; &lt;yours&gt;</bdi></h1>" in text
    assert 'id="gradients"' in text
    assert 'id="training"' not in text
    assert 'id="importance"' not in text


def test_one_run_of_one_size_is_a_report_too(tmp_path):
    bare = Observation(model="vc", seed=0, settings={"n_qubits": 3, "series": ""}, scores={"test_accuracy": 0.5})
    for name, each in {"full": observation(3), "bare": bare}.items():
        page = write_trainability_report(fake_store(tmp_path / f"{name}.sqlite", [each]), tmp_path / name)
        assert "1 size" in page.read_text(encoding="utf-8")


def test_names_of_series_cannot_lead_out_of_the_folder_nor_be_markup(tmp_path):
    evil = "../<script>alert(1)</script>$"
    found = [observation(n, series=evil, epochs=0) for n in (2, 3)]
    folder = tmp_path / "deep" / "report"
    write_trainability_report(fake_store(tmp_path / "s.sqlite", found), folder)
    assert {path.name for path in (tmp_path / "deep").iterdir()} == {"report"}
    assert "<script>alert" not in (folder / "index.html").read_text(encoding="utf-8")


def test_series_whose_files_would_be_the_same_are_refused(tmp_path):
    found = [observation(2, series=series, epochs=0) for series in ("a b", "a_b")]
    with pytest.raises(InvalidInputError, match=r"\.svg"):
        write_trainability_report(fake_store(tmp_path / "s.sqlite", found), tmp_path / "report")
    assert not (tmp_path / "report").exists()


def test_a_store_of_something_else_is_refused(tmp_path):
    benchmark = fake_benchmark(
        tmp_path / "b.sqlite", datasets=["two_curves_2"], models=["svc"], n_seeds=1, n_settings=0
    )
    with pytest.raises(InvalidInputError, match="mcquack trainability run"):
        write_trainability_report(benchmark, tmp_path / "report")
    with pytest.raises(StoreError):
        write_trainability_report(tmp_path / "nowhere.sqlite", tmp_path / "report")
    assert not (tmp_path / "report").exists()


def test_a_benchmark_in_the_same_store_is_no_part_of_the_study(tmp_path):
    path = fake_store(tmp_path / "both.sqlite", TINY)
    with Store.open(path, write=True) as store:
        store.add(Outcome(task=Task.of("iris3", "svc", {}), environment=ENVIRONMENT, error="ValueError: no"))
        study = read_study(store)
    assert (study.n_done, study.failures) == (len(TINY), ())
