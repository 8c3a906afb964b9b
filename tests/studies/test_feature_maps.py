"""The suite runs every map with about the same number of parameters, and its README says what the rows say."""

from pathlib import Path
from typing import Any

import pytest
from numpy.testing import assert_array_equal

from mcquack import McQuackClassifier, datasets
from mcquack.bench.evaluation import outcome
from mcquack.bench.suite import read_suite
from mcquack.bench.task import VALIDATION, model_and_label
from mcquack.circuits.library import MAPS, Sized
from mcquack.studies.feature_maps import CONTENDERS, SizedMcQuack

STUDY = Path(__file__).parents[2] / "studies" / "feature_maps"
MODEL = "mcquack.studies.feature_maps:SizedMcQuack"


def test_the_suite_has_all_maps_that_differ_and_gives_each_its_own():
    suite = read_suite("feature-maps")
    assert suite.models == tuple(f"{MODEL}/{name}" for name in CONTENDERS)
    assert set(MAPS) - set(CONTENDERS) == {"device"}
    spaces = [suite.cell("iris3", model).space.values for model in suite.models]
    assert [space.pop("feature_map") for space in spaces] == [(name,) for name in CONTENDERS]
    assert all(space == spaces[0] for space in spaces)


def test_no_setting_is_chosen_on_a_test_part():
    suite = read_suite("feature-maps")
    folded = {name for name in suite.datasets if suite.cell(name, suite.models[0]).splits != (VALIDATION,)}
    assert folded == {name for name in suite.datasets if name in datasets.names("qml")} | {"iris3"}


def test_all_maps_come_close_to_the_same_size():
    suite = read_suite("feature-maps")
    wanted = suite.cell("iris3", suite.models[0]).space.fixed["n_map_parameters"]
    for dataset in suite.datasets:
        n_features = datasets.describe(dataset).n_features
        for name in CONTENDERS:
            assert Sized(name, wanted)(n_features).n_embedding_parameters == pytest.approx(wanted, rel=0.1)


@pytest.mark.parametrize("name", ["paper", "amplitude"])
def test_the_model_of_the_suite_is_mcquack_on_a_sized_map(name):
    X, y = datasets.load("two_curves_3").train
    settings: dict[str, Any] = {"n_qubits": 2, "epochs": 2, "random_state": 0}
    ours = SizedMcQuack(feature_map=name, n_map_parameters=50, **settings).fit(X, y)
    plain = McQuackClassifier(feature_map=Sized(name, 50, n_qubits=2), **settings).fit(X, y)
    assert ours.feature_map_ == plain.feature_map_
    assert_array_equal(ours.decision_function(X), plain.decision_function(X))


def test_a_task_of_the_suite_can_be_done():
    suite = read_suite("feature-maps")
    cell = suite.cell("two_curves_diff_10", f"{MODEL}/iqp")
    done = outcome(cell.task({**cell.space[0], "epochs": 1, "n_map_parameters": 50}, split=cell.splits[0]))
    assert done.error is None
    assert done.n_parameters == 54 + 2 * 10


@pytest.fixture(scope="module")
def summary():
    if not STUDY.is_dir():
        pytest.skip("studies/ is not part of a source distribution")
    from studies.feature_maps import summary

    return summary


def test_what_the_readme_finds_is_in_the_rows(summary):
    large, small = (summary.stored(path) for path in summary.STORES.values())
    found, fewer = summary.means(large, "balanced_accuracy"), summary.means(small, "balanced_accuracy")
    good = {"hardware_efficient", "amplitude", "quack", "paper", "hubregtsen", "reuploading"}
    assert set(sorted(found, key=found.get)[-6:]) == good
    assert max(found.values()) - min(found[name] for name in good) < 0.01
    assert all(abs(found[name] - fewer[name]) < 0.01 for name in good)
    assert all(0.035 < fewer[name] - found[name] < 0.115 for name in set(CONTENDERS) - good)
    learned = summary.means(large, "balanced_accuracy", "train")
    assert all(learned[name] > max(learned.values()) - 0.01 for name in ("iqp", "chebyshev"))
    assert all(found[name] < min(found[each] for each in good) - 0.035 for name in ("iqp", "chebyshev"))


@pytest.mark.parametrize("size", [720, 180])
def test_the_rows_are_those_of_the_suite(summary, size):
    suite = read_suite("feature-maps" if size == 720 else STUDY / "few_parameters.toml")
    cells = summary.stored(summary.STORES[size])
    assert {(cell.dataset, cell.model) for cell in cells} == {
        (dataset, model) for dataset in suite.datasets for model in suite.models
    }
    assert {len(cell.values["test", "balanced_accuracy"]) for cell in cells} == {5}
    for (dataset, name), count in summary.circuit_parameters(cells).items():
        assert count == Sized(name, size)(datasets.describe(dataset).n_features).n_embedding_parameters
    small, large = read_suite(STUDY / "few_parameters.toml"), read_suite("feature-maps")
    changed = {"n_map_parameters": 180}
    assert {**large.settings[MODEL], **changed} == small.settings[MODEL]
    assert (large.spaces, large.models, large.datasets) == (small.spaces, small.models, small.datasets)
    assert {model_and_label(model)[0] for model in small.models} == {MODEL}
