from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from mcquack.bench.plan import Choice
from mcquack.bench.ranking import cell_scores, over_draws, score_table
from mcquack.bench.ranking.scores import model_titles
from mcquack.bench.store import Store
from mcquack.bench.task import Environment, Outcome, TableSource, Task
from mcquack.errors import InvalidInputError
from tests.bench.ranking.cells import cell, cells_of, score_matrices


@given(means=score_matrices())
def test_a_table_holds_the_mean_of_every_cell_and_nothing_else(means):
    table = score_table(cells_of(means))
    for row, dataset in enumerate(table.datasets):
        for column, contender in enumerate(table.contenders):
            given_mean = means[int(dataset[1:]), ord(contender.model) - ord("a")]
            assert_array_equal(table.means[row, column], given_mean)
    assert table.is_there.sum() == np.sum(~np.isnan(means))
    assert table.is_there.any(axis=0).all()
    assert table.is_there.any(axis=1).all()


def test_the_mean_is_over_the_seeds_of_the_asked_part_and_metric():
    cells = [
        cell("d", "a", 0.5, 0.7, 0.9),
        cell("d", "b", 0.1, part="train"),
        cell("d", "c", 0.2, metric="auc"),
    ]
    table = score_table(cells)
    assert [contender.model for contender in table.contenders] == ["a"]
    assert table.means == pytest.approx(0.7)
    assert [contender.model for contender in score_table(cells, metric="auc").contenders] == ["c"]
    assert [contender.model for contender in score_table(cells, part="train").contenders] == ["b"]


def test_reported_means_count_like_those_of_seeds():
    reported = cell("d", "b", values={}, reported={("test", "accuracy"): (0.6, 0.1)}, source="paper")
    assert_array_equal(score_table([cell("d", "a", 0.5), reported]).means, [[0.5, 0.6]])


def test_the_same_model_here_and_published_are_two_contenders():
    table = score_table([cell("d", "a", 0.5), cell("d", "a", 0.6, source="paper"), cell("d", "a", 0.7, source="other")])
    assert [contender.label for contender in table.contenders] == ["A", "A †", "A †"]
    assert [contender.is_published for contender in table.contenders] == [False, True, True]
    assert [contender.source for contender in table.contenders] == ["", "paper", "other"]


def test_a_cell_that_is_given_twice_is_refused():
    with pytest.raises(InvalidInputError, match=r"a \(paper\) on d .*twice"):
        score_table([cell("d", "a", 0.5, source="paper")] * 2)


@pytest.mark.parametrize("score", [np.nan, np.inf])
def test_a_score_that_is_no_number_is_refused(score):
    with pytest.raises(InvalidInputError, match=r"a on d .*(nan|inf)"):
        score_table([cell("d", "a", score)])


def test_no_cells_make_an_empty_table():
    table = score_table([])
    assert table.means.shape == (0, 0)
    assert table.complete(least_share=0.5).datasets == table.of_family("family").datasets == ()


def test_a_table_of_a_family_has_its_datasets_and_whoever_has_scores_there():
    cells = [cell("d1", "a", 0.1, family="x"), cell("d2", "a", 0.2, family="y"), cell("d2", "b", 0.3, family="y")]
    table = score_table(cells)
    only = table.of_family("x")
    assert (only.datasets, only.families, len(only.contenders)) == (("d1",), ("x",), 1)
    assert len(table.of_family("y").contenders) == 2
    assert table.of_family("z").datasets == ()


@given(means=score_matrices())
def test_a_complete_table_has_no_gap(means):
    table = score_table(cells_of(means))
    complete = table.complete()
    assert complete.is_there.all()
    assert set(complete.datasets) == {
        dataset for dataset, there in zip(table.datasets, table.is_there, strict=True) if there.all()
    }


def test_rare_contenders_cost_no_datasets_if_they_are_left_out():
    table = score_table(cells_of([[0.1, 0.2, 0.3], [0.1, 0.2, np.nan], [0.1, 0.2, np.nan]]))
    assert table.complete().means.shape == (1, 3)
    assert table.complete(least_share=1 / 3).means.shape == (1, 3)
    assert table.complete(least_share=0.5).means.shape == (3, 2)


def test_a_table_cannot_be_changed():
    table = score_table([cell("d", "a", 0.5)])
    with pytest.raises(ValueError, match="read-only"):
        table.means[0, 0] = 1


ENVIRONMENT = Environment({"python": "3.12"})
TABLE = TableSource(path=Path("flowers.csv"), digest="0" * 64, target="kind")


class FakeStore(Store):
    """Gives back what it was made of."""

    def __init__(self, *outcomes, choices=()):
        self.final, self.chosen = outcomes, choices

    def final_outcomes(self, *, details=True):
        assert not details, "details are large, and no score is in them"
        return iter(self.final)

    def choices(self):
        return {(choice.dataset, choice.model): choice for choice in self.chosen}


def outcome(accuracy=None, *, dataset="two_curves_7", model="mcquack", seed=0, table=None, n_parameters=12, **scores):
    done: Any = {"test": {"accuracy": accuracy, **scores}, "train": {"accuracy": 1.0}}
    return Outcome(
        task=Task(dataset=dataset, model=model, seed=seed, table=table),
        environment=ENVIRONMENT,
        scores={} if accuracy is None else done,
        n_parameters=None if accuracy is None else n_parameters,
        error="Traceback\nValueError: no" if accuracy is None else None,
    )


def choice_of(*tasks):
    """One that asked for these final tasks."""
    return Choice(
        dataset=tasks[0].dataset,
        model=tasks[0].model,
        settings={},
        metric="accuracy",
        score=None,
        search="none",
        n_settings=0,
        final_ids=tuple(task.id for task in tasks),
    )


def test_outcomes_of_a_cell_become_its_scores_by_seed():
    store = FakeStore(outcome(0.7, seed=2), outcome(0.9, seed=0), outcome(0.8, seed=1), outcome(0.5, model="svc"))
    first, second = cell_scores(store)
    assert (first.dataset, first.family, first.size) == ("two_curves_7", "two_curves", 7)
    assert (first.model, first.title, first.source, first.note) == ("mcquack", "McQuack", "", "")
    assert first.values == {("train", "accuracy"): (1.0, 1.0, 1.0), ("test", "accuracy"): (0.9, 0.8, 0.7)}
    assert (second.model, second.title) == ("svc", "SVC")
    assert [each.is_published for each in (first, second)] == [False, False]


def test_seeds_that_failed_are_told_and_not_counted():
    (cell,) = cell_scores(FakeStore(outcome(0.7), outcome(seed=1), outcome(0.9, seed=2)))
    assert cell.values["test", "accuracy"] == (0.7, 0.9)
    assert cell.note == "1 of 3 seeds failed"


@pytest.mark.parametrize(
    ("n_asked", "failed", "note"),
    [
        (9, (), ""),
        (20, (), "9 of 20 seeds done"),
        (20, (0, 4), "7 of 20 seeds done, 2 of 20 seeds failed"),
        (9, (0, 4), "2 of 9 seeds failed"),
    ],
)
def test_seeds_that_were_asked_for_and_not_run_are_told(n_asked, failed, note):
    asked = choice_of(*(outcome(seed=seed).task for seed in range(n_asked)))
    outcomes = [outcome(None if seed in failed else 0.7, seed=seed) for seed in range(9)]
    (cell,) = cell_scores(FakeStore(*outcomes, choices=[asked]))
    assert cell.note == note
    assert len(cell.values["test", "accuracy"]) == 9 - len(failed)


def test_a_cell_that_failed_altogether_is_missing():
    assert cell_scores(FakeStore(outcome(), outcome(seed=1), outcome(0.5, model="svc")))[0].model == "svc"
    assert cell_scores(FakeStore()) == ()


def test_a_metric_that_a_seed_lacks_is_of_the_others():
    (cell,) = cell_scores(FakeStore(outcome(0.7, auc=0.6), outcome(0.9, seed=1)))
    assert cell.values["test", "auc"] == (0.6,)


def test_parameters_are_a_count_that_occurred():
    counts = [30, 10, 20, 40]
    (cell,) = cell_scores(FakeStore(*(outcome(0.5, seed=seed, n_parameters=n) for seed, n in enumerate(counts))))
    assert cell.n_parameters == 20
    (unknown,) = cell_scores(FakeStore(outcome(0.5, n_parameters=None)))
    assert unknown.n_parameters is None


@pytest.mark.parametrize(
    ("dataset", "table", "family", "size"),
    [
        ("iris3", None, "iris", None),
        ("kdd_41", None, "kdd", None),
        ("mnist_pca_10", None, "mnist_pca", 10),
        ("flowers", None, "own", None),
        ("two_curves_7", TABLE, "own", None),
    ],
)
def test_family_and_size_are_those_of_the_dataset(dataset, table, family, size):
    (cell,) = cell_scores(FakeStore(outcome(0.5, dataset=dataset, table=table)))
    assert (cell.family, cell.size) == (family, size)


@pytest.mark.parametrize(
    ("model", "title"), [("sklearn.svm:LinearSVC", "LinearSVC"), ("nystroem_svm", "NystroemSVM"), ("gone", "gone")]
)
def test_models_have_the_title_that_people_know(model, title):
    (cell,) = cell_scores(FakeStore(outcome(0.5, model=model)))
    assert cell.title == title


def test_models_of_the_same_title_have_their_full_names():
    models = ("svc", "sklearn.svm:SVC", "nn")
    cells = cell_scores(FakeStore(*(outcome(0.5, model=model) for model in models)))
    assert [cell.title for cell in cells] == ["svc", "sklearn.svm:SVC", "NN"]


def test_a_model_that_was_chosen_for_and_failed_has_its_title_too():
    failed = outcome(model="svc")
    (cell,) = cell_scores(FakeStore(failed, outcome(0.5, model="sklearn.svm:SVC"), choices=[choice_of(failed.task)]))
    assert cell.title == "sklearn.svm:SVC"


def test_what_was_run_can_be_ranked():
    table = score_table(cell_scores(FakeStore(outcome(0.7), outcome(0.8, model="svc"))))
    assert table.means.tolist() == [[0.7, 0.8]]


NAMES = ("svc", "SVC", "sklearn.svm:SVC", "mine:SVC", "mine:svc", "mine:McQuack", "mcquack", "gone", "mine:gone")


@given(names=st.lists(st.sampled_from(NAMES)))
def test_no_two_models_have_the_same_title(names):
    titles = model_titles(names)
    assert titles.keys() == set(names)
    assert len(set(titles.values())) == len(titles)


def test_a_title_that_is_the_full_name_of_another_is_not_taken():
    assert model_titles(["svc", "sklearn.svm:SVC", "mine:svc"]) == {
        name: name for name in ("svc", "sklearn.svm:SVC", "mine:svc")
    }


def test_a_title_of_one_model_alone_is_kept():
    assert model_titles(["svc", "svc", "mine:Forest"]) == {"svc": "SVC", "mine:Forest": "Forest"}


def test_draws_of_a_dataset_are_one_dataset_with_the_scores_of_all():
    cells = [cell("d@0", "a", 0.5, 0.7), cell("d@1", "a", 0.9), cell("d@0", "b", 0.1), cell("e", "a", 0.3)]
    merged = over_draws(cells)
    assert [(each.dataset, each.model) for each in merged] == [("d", "a"), ("d", "b"), ("e", "a")]
    assert merged[0].values["test", "accuracy"] == (0.5, 0.7, 0.9)
    assert score_table(merged).means[0, 0] == pytest.approx(0.7)
    assert over_draws(merged) == merged
