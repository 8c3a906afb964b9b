import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from mcquack import datasets
from mcquack.bench import samples as samples_module
from mcquack.bench.evaluation import outcome
from mcquack.bench.plan import Cell, SearchMethod, listed_settings, plan
from mcquack.bench.suite import read_suite
from mcquack.bench.task import Outcome, Split, Task, current_environment
from mcquack.errors import InvalidInputError, MissingDependencyError
from mcquack.models.catalog import SearchSpace
from tests.known import known

SPACE = SearchSpace.of({"a": list(range(6)), "b": [0.1, 0.2, 0.3], "c": "kept"})
FOLDS = tuple(Split(kind="fold", fold=fold, n_folds=5) for fold in range(5))


def cell(method="grid", **fields):
    usual = {
        "dataset": "hidden_manifold_4",
        "model": "svc",
        "space": SPACE,
        "splits": FOLDS,
        "metric": "accuracy",
        "n_seeds": 3,
    }
    return Cell(**{**usual, **fields, "method": SearchMethod.parse(method)})


def hilly(task):
    """A score with one summit, at a = 4 and b = 0.2, and a little noise of the fold."""
    settings = dict(task.settings)
    fold = task.split.fold or 0
    score = 0.9 - 0.05 * abs(settings["a"] - 4) - abs(settings["b"] - 0.2) + 0.001 * fold
    part = "test" if task.phase == "final" else "validation"
    return Outcome(task=task, environment=current_environment(), scores={part: {"accuracy": score}})  # type: ignore[dict-item]


def failed(task):
    return Outcome(task=task, environment=current_environment(), error="Traceback\nValueError: no")


def walked(cell, answer=hilly):
    """All tasks in the order of the steps, and the choice."""
    tasks: list[Task] = []
    steps, choice = plan(cell), None
    step = next(steps)
    while True:
        tasks.extend(step.tasks)
        choice = step.choice or choice
        try:
            step = steps.send({task.id: answer(task) for task in step.tasks})
        except StopIteration:
            return tasks, choice


@pytest.mark.parametrize("method", ["grid", "random:9", "optuna:12"])
def test_first_the_search_then_the_seeds_of_what_it_chose(method):
    tasks, choice = walked(cell(method))
    phases = [task.phase for task in tasks]
    assert phases == sorted(phases, reverse=True)  # "search" comes before "final"
    final = [task for task in tasks if task.phase == "final"]
    assert [task.seed for task in final] == [0, 1, 2]
    assert {task.settings for task in final} == {tuple(sorted(choice.settings.items()))}
    assert choice.final_ids == tuple(task.id for task in final)
    assert set(choice.task_ids) == {task.id for task in tasks if task.phase == "search"}
    assert len(tasks) <= cell(method).most_tasks


def test_the_grid_finds_the_summit():
    _, choice = walked(cell())
    assert choice.settings == {"a": 4, "b": 0.2, "c": "kept"}
    assert choice.score == pytest.approx(0.902)
    assert choice.n_settings == len(SPACE)


def test_the_grid_chooses_what_scikit_learn_chooses():
    space = SearchSpace.of({"C": [0.1, 1.0, 10.0], "gamma": [0.01, 0.1, 1.0], "scale": False})
    _, choice = walked(cell(space=space, dataset="two_curves_5"), answer=outcome)
    grid = {name: list(values) for name, values in space.searched.items()}
    search = GridSearchCV(SVC(), grid, cv=StratifiedKFold(5), scoring="accuracy").fit(
        *datasets.load("two_curves_5").train
    )
    assert {name: choice.settings[name] for name in grid} == search.best_params_
    assert choice.score == pytest.approx(search.best_score_, abs=1e-7)


def test_of_equal_scores_the_first_setting_wins():
    def flat(task):
        noise = 1e-12 * dict(task.settings)["a"]  # of floats, not of settings
        part = "test" if task.phase == "final" else "validation"
        return replace(hilly(task), scores={part: {"accuracy": 0.5 + noise}})

    for method in ("grid", "random:18", "optuna:18"):
        _, choice = walked(cell(method), answer=flat)
        tried = [dict(task.settings) for task in walked(cell(method), answer=flat)[0] if task.phase == "search"]
        assert choice.settings == min(tried, key=lambda each: (each["a"], each["b"]))


@pytest.mark.parametrize("method", ["grid", "random:9", "optuna:9"])
def test_settings_that_fail_once_are_no_choice(method):
    def breaks(task):
        is_best = dict(task.settings)["a"] == 4 and task.split.fold == 3
        return failed(task) if is_best else hilly(task)

    _, choice = walked(cell(method), answer=breaks)
    assert choice.settings["a"] != 4
    if method == "grid":
        assert choice.n_failed == 3


@pytest.mark.parametrize("method", ["grid", "random:3", "optuna:3"])
def test_a_search_in_which_all_fail_ends_without_a_choice(method):
    tasks, choice = walked(cell(method), answer=failed)
    assert choice is None
    assert {task.phase for task in tasks} == {"search"}


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (failed, "all 18 settings failed"),
        (lambda task: replace(hilly(task), scores={}), "none of 18 settings has a score by accuracy"),
        (
            lambda task: failed(task) if dict(task.settings)["a"] == 4 else replace(hilly(task), scores={}),
            "none of 18 settings has a score by accuracy (3 failed)",
        ),
    ],
)
def test_a_search_without_a_choice_tells_why(answer, why):
    steps = plan(cell())
    last = steps.send({task.id: answer(task) for task in next(steps).tasks})
    assert (last.tasks, last.choice, last.why_no_choice) == ((), None, why)
    with pytest.raises(StopIteration):
        steps.send({})


@pytest.mark.parametrize("method", ["grid", "random:9", "optuna:12"])
def test_a_cell_may_ask_for_whatever_its_plan_asks_for(method):
    given_cell = cell(method)
    tasks, _ = walked(given_cell)
    assert all(given_cell.may_ask_for(task) for task in tasks)
    for others in ({"n_seeds": 2}, {"data_seed": 1}, {"model": "nn"}, {"space": SearchSpace.of({"a": 4})}):
        assert not cell(method, **others).may_ask_for(tasks[-1])
    assert not cell(method, splits=FOLDS[1:]).may_ask_for(tasks[0])


@pytest.mark.parametrize("given_cell", [cell("none"), cell(space=SearchSpace.of({"a": 1}))])
def test_without_anything_to_search_there_are_final_tasks_only(given_cell):
    tasks, choice = walked(given_cell, answer=failed)
    assert {task.phase for task in tasks} == {"final"}
    assert choice.score is None
    assert len(tasks) == given_cell.most_tasks == 3


def test_optuna_asks_the_same_questions_every_time_and_prunes():
    first, second = walked(cell("optuna:12")), walked(cell("optuna:12"))
    assert [task.id for task in first[0]] == [task.id for task in second[0]]
    searched = [task for task in first[0] if task.phase == "search"]
    assert len({task.settings for task in searched}) == 12
    assert len(searched) < 12 * len(FOLDS)  # some were given up
    by_settings = {task.settings: 0 for task in searched}
    for task in searched:
        by_settings[task.settings] += 1
    assert by_settings[tuple(sorted(first[1].settings.items()))] == len(FOLDS)  # but not the one that was chosen


def test_optuna_tries_a_small_space_once_and_stops():
    tasks, _ = walked(cell("optuna:50", space=SearchSpace.of({"a": [1, 4], "b": [0.1, 0.2]})))
    assert len({task.settings for task in tasks}) <= 4


def test_optuna_that_is_not_there_is_asked_for(monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(MissingDependencyError, match=r"mcquack\[optuna\]"):
        next(plan(cell("optuna:3")))


@given(seed=st.integers(0, 10**6))
def test_what_is_chosen_does_not_depend_on_anything_final(seed):
    """Whatever the final scores are, and in whatever order answers come, the choice is that of the search."""
    random = np.random.default_rng(seed)

    def lucky(task):
        found = hilly(task)
        return replace(found, scores={"test": {"accuracy": float(random.random())}}) if task.phase == "final" else found

    assert walked(cell("random:9"), answer=lucky)[1] == walked(cell("random:9"))[1]


@pytest.mark.parametrize("suite", ["real-world", "qml"])
def test_no_choice_ever_depends_on_a_test_part(suite, monkeypatch):
    """The whole search again with a test part of noise: every outcome of it and the choice stay the same."""
    dataset = {"real-world": "pm2_generated", "qml": "hidden_manifold_4"}[suite]
    chosen = read_suite(suite).with_(models=["nystroem_svm", "svc"], search="random:4", seeds=1)
    cells = [replace(chosen, datasets=(dataset,)).cell(dataset, model) for model in chosen.models]
    load = datasets.load

    def searched(noise):
        def poisoned(name, **options):
            found = load(name, **options)
            test = known(found.test)
            X, y = test
            random = np.random.default_rng(noise)
            test = test._replace(X=random.permuted(X, axis=0) + random.normal(size=X.shape), y=random.permuted(y))
            return replace(found, test=test if noise else found.test)

        monkeypatch.setattr(datasets, "load", poisoned)
        samples_module._development.cache_clear()
        samples_module._test.cache_clear()
        outcomes = {}

        def remembered(task):
            outcomes[task.id] = outcome(task)
            return outcomes[task.id]

        choices = [walked(each, answer=remembered)[1] for each in cells]
        searches = {key: found.scores for key, found in outcomes.items() if found.task.phase == "search"}
        finals = [found.scores["test"] for found in outcomes.values() if found.task.phase == "final"]
        return choices, searches, finals

    clean, poisoned = searched(0), searched(1)
    samples_module._development.cache_clear()
    samples_module._test.cache_clear()
    assert clean[:2] == poisoned[:2]
    assert clean[2] != poisoned[2]  # so the noise was there to be seen


GRID = SearchSpace.of({"a": [1, 2, 3], "b": ["x", "y"], "c": [True, False], "d": 0.5})


@pytest.mark.parametrize("text", ["grid", "none", "random:1", "random:30", "optuna:100"])
def test_a_method_is_what_it_is_called(text):
    assert str(SearchMethod.parse(text)) == text


@pytest.mark.parametrize(
    "text",
    ["", "Grid", "random", "optuna:", "random:0", "random:-3", "random:3.5", "grid:5", "none:1", "tpe:5", "random:²"],
)
def test_anything_else_is_refused_with_an_example(text):
    with pytest.raises(InvalidInputError, match="random:30"):
        SearchMethod.parse(text)


@given(budget=st.integers(1, 40))
def test_a_random_search_draws_different_settings_of_the_space(budget):
    found = listed_settings(GRID, SearchMethod("random", budget), purpose=("iris3", "svc"))
    assert len(found) == SearchMethod("random", budget).most_settings(len(GRID)) == min(budget, 12)
    assert len({tuple(each.items()) for each in found}) == len(found)
    assert all(each in list(GRID) for each in found)


@given(budget=st.integers(1, 11))
def test_a_larger_budget_tries_all_that_a_smaller_one_does(budget):
    small, large = (
        listed_settings(GRID, SearchMethod("random", size), purpose=("iris3", "svc")) for size in (budget, budget + 1)
    )
    assert all(each in large for each in small)


def test_other_cells_draw_other_settings():
    draws = [listed_settings(GRID, SearchMethod("random", 4), purpose=(name, "svc")) for name in "abcdef"]
    assert any(draw != draws[0] for draw in draws)


def test_the_grid_is_the_whole_space_in_order():
    assert listed_settings(GRID, SearchMethod("grid"), purpose=()) == list(GRID)


def test_one_setting_needs_no_search():
    assert SearchMethod("grid").most_settings(1) == 0
    assert SearchMethod("none").most_settings(100) == 0
