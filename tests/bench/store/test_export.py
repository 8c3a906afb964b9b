import csv
import json
from dataclasses import replace

import pytest
from pyarrow import csv as arrow_csv
from pyarrow import parquet

from mcquack.bench.outcome import METRICS
from mcquack.bench.store import Store, write_csv, write_parquet
from mcquack.bench.task import VALIDATION, Task
from tests.bench.store.values import ENVIRONMENT, choice, done, failed

OUTCOMES = [
    done(0, scores={"train": {"accuracy": 1.0}, "test": {"auc": 1 / 3, "f1": 0.1 + 0.2}}),
    done(1, dataset='a "b", c', model="vc", n_parameters=None),
    done(2, split=VALIDATION),
    failed(3, error="Traceback\nline\nValueError: ü, no\n"),
]


@pytest.fixture
def filled(store):
    for outcome in OUTCOMES:
        store.add(outcome)
    store.choose(choice(0))
    return store


def lines(path):
    return {line["id"]: line for line in parquet.read_table(path).to_pylist()}


def test_parquet_has_a_line_for_each_task_with_all_that_is_known(filled, tmp_path):
    write_parquet(filled, tmp_path / "a.parquet")
    found = lines(tmp_path / "a.parquet")
    assert set(found) == {outcome.task.id for outcome in OUTCOMES}
    for outcome in OUTCOMES:
        line, task = found[outcome.task.id], outcome.task
        assert (line["dataset"], line["model"], line["seed"]) == (task.dataset, task.model, task.seed)
        assert (line["phase"], line["split"]) == (task.phase, str(task.split))
        assert Task.of(task.dataset, task.model, json.loads(line["settings"])).settings == task.settings
        for part in ("train", "validation", "test"):
            assert {metric: line[f"{part}_{metric}"] for metric in METRICS} == {
                metric: outcome.score(part, metric) for metric in METRICS
            }
        assert {stage: line[f"seconds_{stage}"] for stage in ("load", "fit", "score")} == outcome.seconds
        assert (line["n_parameters"], line["fingerprint"]) == (outcome.n_parameters, outcome.fingerprint)
        assert line["failed"] == outcome.failed
        assert line["error"] == (outcome.reason or None)
        assert json.loads(line["versions"]) == ENVIRONMENT.facts
        assert line["chosen"] == (outcome == OUTCOMES[0])


def test_csv_reads_back_to_the_same_values(filled, tmp_path):
    write_parquet(filled, tmp_path / "a.parquet")
    write_csv(filled, tmp_path / "a.csv")
    table = parquet.read_table(tmp_path / "a.parquet")
    options = arrow_csv.ConvertOptions(
        column_types=table.schema, strings_can_be_null=True, quoted_strings_can_be_null=False
    )
    assert arrow_csv.read_csv(tmp_path / "a.csv", convert_options=options).equals(table)
    with (tmp_path / "a.csv").open(encoding="utf-8", newline="") as file:
        assert [row["dataset"] for row in csv.DictReader(file)] == table["dataset"].to_pylist()


@pytest.mark.parametrize("write", [write_csv, write_parquet])
def test_the_order_in_which_tasks_ended_does_not_show(tmp_path, write):
    for name, outcomes in (("a", OUTCOMES), ("b", OUTCOMES[::-1])):
        with Store.open(tmp_path / f"{name}.sqlite", create=True) as store:
            for outcome in outcomes:
                store.add(replace(outcome, details={}))
            write(store, tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize("write", [write_csv, write_parquet])
def test_an_empty_store_gives_a_table_without_lines(store, tmp_path, write):
    write(store, tmp_path / "out")
    read = arrow_csv.read_csv if write is write_csv else parquet.read_table
    table = read(tmp_path / "out")
    assert table.num_rows == 0
    assert {"id", "test_auc", "seconds_fit", "versions"} <= set(table.column_names)


def test_more_lines_than_are_turned_at_once_are_all_written(store, tmp_path, monkeypatch):
    monkeypatch.setattr("mcquack.bench.store._LINES_AT_ONCE", 3)
    for seed in range(10):
        store.add(done(seed))
    write_parquet(store, tmp_path / "a.parquet")
    assert parquet.read_table(tmp_path / "a.parquet")["seed"].to_pylist() == list(range(10))


@pytest.mark.parametrize("write", [write_csv, write_parquet])
def test_an_older_file_stays_if_the_new_one_cannot_be_written(filled, tmp_path, write, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    (tmp_path / "out").write_text("old")
    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write(filled, tmp_path / "out")
    assert (tmp_path / "out").read_text() == "old"
    assert [file.name for file in tmp_path.iterdir() if file.name.endswith(".tmp")] == []
