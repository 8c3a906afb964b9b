from concurrent.futures import Future
from dataclasses import replace
from typing import Any

import pytest

from mcquack.bench.evaluation import outcome
from mcquack.bench.executors import Executor
from mcquack.bench.store import Store
from mcquack.studies.trainability import observations, run_design
from mcquack.studies.trainability.design import design_from_text

DESIGN = design_from_text(
    """
    name = "tiny"
    [grids.trained]
    dataset = "manifold_124"
    seeds = 2
    [grids.trained.vary]
    n_qubits = [2, 3]
    [grids.trained.settings]
    n_features = 5
    epochs = 2
    n_train = 20
    [grids.start]
    dataset = "iris3"
    seeds = 1
    [grids.start.vary]
    init_small = [true, false]
    """,
    called="tiny",
)


class HereAndNow(Executor):
    """Does each task as soon as it is asked for."""

    n_workers = 1
    tasks_per_worker = 1
    n_trials_alone = 1

    def __init__(self):
        self.done = []

    def submit(self, task):
        self.done.append(task)
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()
        future.set_result(outcome(task))
        return future

    def stop(self):
        pass

    def close(self, *, wait):
        pass


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with Store.open(tmp_path_factory.mktemp("study") / "study.sqlite", create=True) as opened:
        events = list(run_design(DESIGN, opened, HereAndNow(), command="mcquack trainability run tiny"))
        assert sum(event.kind == "finished" for event in events) == 6
        yield opened


def test_every_point_is_observed_once(store):
    seen = observations(store)
    assert [(each.settings["series"], each.settings["n_qubits"], each.seed) for each in seen] == [
        ("start", 6, 0),
        ("start", 6, 0),
        ("trained", 2, 0),
        ("trained", 2, 1),
        ("trained", 3, 0),
        ("trained", 3, 1),
    ]
    assert [each.settings["dataset"] for each in seen] == ["iris3"] * 2 + ["manifold_124"] * 4


def test_scores_of_the_row_come_with_the_observation(store):
    for each in observations(store):
        assert 0 <= each.scores["test_accuracy"] <= 1
        assert ("train_accuracy" in each.scores) == bool(each.trace)
        if each.trace:
            assert each.scores["train_accuracy"] == each.trace["accuracy"][-1]


def test_rows_of_earlier_versions_are_read_under_todays_names(store, tmp_path):
    (new,) = [each for each in observations(store) if (each.settings["n_qubits"], each.seed) == (2, 1)]
    assert new.settings["feature_range"] == (-1.0, 1.0)
    with Store.open(tmp_path / "old.sqlite", create=True) as old:
        for row in store.outcomes():
            study = dict(row.details["study"])
            study["scores"] = {("initial_loss" if "first" in name else name): x for name, x in study["scores"].items()}
            study["settings"] = {name: x for name, x in study["settings"].items() if name != "feature_range"}
            assert "initial_loss" in study["scores"]
            old.add(replace(row, details={**row.details, "study": study}))
        assert observations(old) == observations(store)


def test_nothing_is_done_twice(store):
    executor = HereAndNow()
    events = list(run_design(DESIGN, store, executor))
    assert executor.done == []
    assert sum(event.kind == "known" for event in events) == 6


def test_the_store_remembers_the_design_and_how_it_ended(store):
    first = store.runs()[0]
    assert first.command == "mcquack trainability run tiny"
    assert first.how == "done"
    assert first.suite == DESIGN.to_json()


def test_a_run_that_is_left_can_go_on(tmp_path):
    with Store.open(tmp_path / "left.sqlite", create=True) as opened:
        events = run_design(DESIGN, opened, HereAndNow())
        while next(events).kind != "finished":
            pass
        events.close()
        assert opened.runs()[-1].how == "interrupted"
        n_done = opened.counts().done
        assert 1 <= n_done < 6
        rest = HereAndNow()
        list(run_design(DESIGN, opened, rest))
        assert len(rest.done) == 6 - n_done
        assert opened.runs()[-1].how == "done"


def test_the_heaviest_tasks_of_a_dataset_come_first(tmp_path):
    executor = HereAndNow()
    with Store.open(tmp_path / "order.sqlite", create=True) as opened:
        list(run_design(DESIGN, opened, executor))
    sizes = [dict(task.settings)["n_qubits"] for task in executor.done if task.dataset == "manifold_124"]
    assert sizes == [3, 3, 2, 2]
