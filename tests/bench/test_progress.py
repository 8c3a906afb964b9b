from dataclasses import replace
from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcquack.bench.plan import SearchMethod
from mcquack.bench.progress import Progress, store_facts
from mcquack.bench.runner import Event
from mcquack.bench.store import Store
from tests.bench.events import cell, chosen, done, failed, final_task, finished, known, over, search_task, started

SVC, MLP = cell(model="svc"), cell(model="mlp")


def after(events, cells=(SVC, MLP), **fields):
    return reduce(Progress.after, events, Progress(cells=Progress.before(cells).cells, **fields))


def outcomes_of(of):
    tasks = [*(search_task(of, number) for number in range(2)), *(final_task(of, seed) for seed in range(2))]
    return [done(task, score=0.25 * number, seconds=number + 1.0) for number, task in enumerate(tasks)]


@given(
    order=st.permutations([finished(of, outcome) for of in (SVC, MLP) for outcome in outcomes_of(of)]),
    n_events=st.integers(0, 8),
)
def test_every_task_is_done_or_left(order, n_events):
    progress = after(order[:n_events])
    assert progress.n_ended == progress.n_done == progress.n_run == n_events
    assert progress.n_most == 8
    assert sum(each.n_left for each in progress.cells.values()) == 8 - n_events


@given(order=st.permutations([finished(of, outcome) for of in (SVC, MLP) for outcome in outcomes_of(of)]))
def test_the_order_in_which_tasks_end_is_of_no_matter(order):
    progress, other = after(order), after(sorted(order, key=lambda event: event.outcome.task.id))
    assert progress.best() == other.best()
    assert progress.seconds_left == other.seconds_left == 0
    assert progress.n_failed == 0


def test_a_search_that_stops_early_leaves_less_to_do():
    progress = after([finished(SVC, done(search_task(SVC))), over(SVC)], cells=[SVC])
    assert (progress.n_ended, progress.n_most) == (1, 1)


def test_a_choice_tells_how_many_tasks_are_left():
    optuna = replace(SVC, method=SearchMethod.parse("optuna:2"))
    progress = Progress.before([optuna])
    assert (progress.n_most, progress.is_exact) == (4, False)
    progress = progress.after(finished(optuna, done(search_task(optuna))))
    assert (progress.n_most, progress.is_exact) == (4, False)
    progress = progress.after(chosen(optuna))  # after one of the two that it might have tried
    assert (progress.n_ended, progress.n_most, progress.is_exact) == (1, 3, True)
    for event in (*(finished(optuna, done(final_task(optuna, seed))) for seed in range(2)), over(optuna)):
        progress = progress.after(event)
    assert (progress.n_ended, progress.n_most) == (3, 3)


def test_a_grid_has_as_many_tasks_as_it_says():
    assert after([]).is_exact
    assert Progress.before([replace(SVC, method=SearchMethod.parse("random:2"))]).is_exact
    gone = replace(SVC, method=SearchMethod.parse("optuna:2"))
    assert Progress.before([gone]).after(over(gone)).is_exact


def test_modules_are_left_out_of_names_where_that_leaves_no_doubt():
    progress = Progress.before([cell("mine.data:moons", "mine.models:Tree/deep"), cell("iris3", "a:svc"), SVC])
    assert [progress.told_cell(cell(*key)) for key in progress.cells] == [
        "Tree/deep on moons",
        "a:svc on iris3",
        "svc on iris3",
    ]
    task = final_task(cell("mine.data:moons", "mine.models:Tree/deep"))
    assert progress.told_task(task) == "Tree/deep on moons (test, seed 0; C=1)"
    assert str(task) == "mine.models:Tree/deep on mine.data:moons (test, seed 0; C=1)"


def test_what_was_known_before_is_done_but_was_not_run():
    progress = after([known(SVC, outcome) for outcome in outcomes_of(SVC)])
    assert (progress.n_ended, progress.n_run, progress.n_known_done) == (4, 0, 4)


def test_failures_known_before_are_not_counted_as_done():
    progress = after([known(SVC, failed(search_task(SVC))), known(SVC, done(search_task(SVC, 1)))])
    assert (progress.n_done, progress.n_known_done, progress.n_known_failed, progress.n_run) == (1, 1, 1, 0)


def test_a_search_without_a_choice_is_counted():
    progress = after([Event(kind="not_chosen", cell=SVC, reason="all 2 settings failed"), over(SVC)])
    assert progress.n_without_choice == 1
    assert after([over(SVC)]).n_without_choice == 0


def test_failures_are_counted_apart():
    progress = after([finished(SVC, failed(search_task(SVC))), finished(SVC, done(search_task(SVC, 1)))])
    assert (progress.n_done, progress.n_failed, progress.n_ended) == (1, 1, 2)


def test_of_all_that_workers_were_given_only_so_many_run_as_there_are_workers():
    tasks = [search_task(SVC, 0), search_task(SVC, 1), search_task(MLP, 0)]
    progress = after([started(SVC, task) for task in tasks], n_workers=2)
    assert progress.running == (tasks[0], tasks[1])
    progress = progress.after(finished(SVC, done(tasks[0])))
    assert progress.running == (tasks[1], tasks[2])
    progress = progress.after(Event(kind="stopping", tasks=(tasks[1],)))
    assert progress.running == (tasks[1],)


@pytest.mark.parametrize("kind", ["planned", "lost", "stopping"])
def test_other_events_count_nothing(kind):
    assert after([Event(kind=kind, task=search_task(SVC))]).n_ended == 0


def test_the_time_left_is_unknown_until_every_model_that_is_to_run_was_timed():
    assert after([]).seconds_left is None
    timed = [finished(SVC, done(search_task(SVC), seconds=4.0))]
    assert after(timed).seconds_left is None
    assert after(timed, cells=[SVC]).seconds_left == 3 * 4.0
    assert after([*timed, over(MLP)]).seconds_left == 3 * 4.0
    timed.append(finished(MLP, done(search_task(MLP), seconds=2.0)))
    assert after(timed).seconds_left == 3 * 4.0 + 3 * 2.0
    assert after(timed, n_workers=3).seconds_left == (3 * 4.0 + 3 * 2.0) / 3
    assert after(timed, n_workers=0).seconds_left is None


def test_a_dataset_that_was_not_timed_is_expected_to_take_as_long_as_others():
    other = cell("wine", "svc")
    progress = after([finished(SVC, done(search_task(SVC), seconds=4.0))], cells=[SVC, other])
    assert progress.seconds_left == (3 + 4) * 4.0
    progress = progress.after(finished(other, done(search_task(other), seconds=1.0)))
    assert progress.seconds_left == 3 * 4.0 + 3 * 1.0


def test_the_leader_is_the_best_on_the_test_part_and_before_that_by_its_search():
    assert after([]).best() == {}
    events = [chosen(SVC, score=0.9), chosen(MLP, score=0.8)]
    leader = after(events).best()["iris3"]
    assert (leader.model, leader.part, leader.score, leader.n_seeds) == ("svc", "validation", 0.9, 0)
    events += [finished(MLP, done(final_task(MLP, seed), score=score)) for seed, score in enumerate((0.5, 0.75))]
    leader = after(events).best()["iris3"]
    assert (leader.model, leader.part, leader.score, leader.n_seeds) == ("mlp", "test", 0.625, 2)
    events.append(finished(SVC, done(final_task(SVC), score=0.7)))
    assert after(events).best()["iris3"].model == "svc"


def test_a_score_of_a_search_is_none_of_the_test_part():
    progress = after([finished(SVC, done(search_task(SVC), score=1.0))])
    assert progress.cells["iris3", "svc"].test == ()
    assert progress.best() == {}


def test_an_empty_store_has_facts(tmp_path):
    with Store.open(tmp_path / "s.sqlite", create=True) as store:
        facts = store_facts(store)
    assert (facts["n_done"], facts["n_failed"]) == (0, 0)
    assert facts["cells"] == facts["failures"] == facts["runs"] == []


def test_only_seeds_of_the_current_choice_are_scored(tmp_path):
    wine = cell("wine")
    with Store.open(tmp_path / "s.sqlite", create=True) as store:
        store.add(done(search_task(wine), score=1.0))
        store.add(done(final_task(wine, 0), score=0.25))
        store.add(done(final_task(wine, 1), score=0.75))
        store.add(done(wine.task(wine.space[1], split=final_task(wine).split), score=1.0))
        store.add(failed(final_task(wine, 2)))
        store.choose(chosen(wine, final_ids=tuple(final_task(wine, seed).id for seed in range(4))).choice)
        (facts,) = store_facts(store)["cells"]
    assert (facts["n_done"], facts["n_failed"]) == (4, 1)
    assert (facts["n_seeds"], facts["n_seeds_done"]) == (4, 2)
    assert (facts["validation"], facts["test"], facts["spread"]) == (0.75, 0.5, 0.25)
