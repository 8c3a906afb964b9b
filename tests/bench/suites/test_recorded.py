import pytest

from mcquack.bench.rows import RunRecord
from mcquack.bench.suites import Suite, recorded_cells
from mcquack.bench.task import TableSource
from mcquack.errors import InvalidInputError


def run(**fields):
    suite = Suite(**{"name": "mine", "datasets": ("iris3",), "models": ("svc",), **fields})
    return RunRecord(command="mcquack bench run mine.toml", suite=suite.to_json())


def test_the_last_run_that_asked_for_a_cell_decides():
    runs = (run(models=("svc", "nn"), seeds=1), run(seeds=3), run(datasets=("two_curves_2",), seeds=4))
    wanted = {("iris3", "svc"), ("iris3", "nn"), ("iris3", "vc")}
    cells = recorded_cells(runs, wanted)
    assert {pair: cell.n_seeds for pair, cell in cells.items()} == {("iris3", "svc"): 3, ("iris3", "nn"): 1}


def test_a_record_that_is_no_suite_asks_for_nothing():
    assert recorded_cells((RunRecord(command="", suite={}),), {("iris3", "svc")}) == {}


def test_only_tables_that_are_wanted_must_be_there(tmp_path):
    path = tmp_path / "flowers.csv"
    path.write_text("a,kind\n1,x\n2,y\n")
    tables = {"flowers": TableSource.of(path, target="kind")}
    runs = (run(datasets=("iris3", "flowers"), tables=tables),)
    path.unlink()
    assert recorded_cells(runs, {("iris3", "svc")}).keys() == {("iris3", "svc")}
    with pytest.raises(InvalidInputError, match=r"^the stored suite: there is no file .*flowers\.csv"):
        recorded_cells(runs, {("flowers", "svc")})
