import io
import re
from dataclasses import replace
from functools import reduce
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcquack.bench.plan import SearchMethod
from mcquack.bench.progress import CellProgress, Progress, Score, shown
from mcquack.bench.runner import Event
from mcquack.bench.store import Store, store_facts
from mcquack.progress import SafeConsole
from tests.bench.events import (
    Workers,
    cell,
    chosen,
    done,
    failed,
    final_task,
    finished,
    known,
    over,
    search_task,
    started,
)

EXECUTOR: Any = Workers()
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
    assert [progress.cell_text(cell(*key)) for key in progress.cells] == [
        "Tree/deep on moons",
        "a:svc on iris3",
        "svc on iris3",
    ]
    task = final_task(cell("mine.data:moons", "mine.models:Tree/deep"))
    assert progress.task_text(task) == "Tree/deep on moons (test, seed 0; C=1)"
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
    assert after(events).best() == {"iris3": ("svc", Score("validation", "accuracy", (0.9,)))}
    events += [finished(MLP, done(final_task(MLP, seed), score=score)) for seed, score in enumerate((0.5, 0.75))]
    assert after(events).best() == {"iris3": ("mlp", Score("test", "accuracy", (0.5, 0.75)))}
    events.append(finished(SVC, done(final_task(SVC), score=0.7)))
    assert after(events).best()["iris3"][0] == "svc"


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


def events_of(of):
    """A whole cell, from the first task to the last."""
    for number in range(2):
        yield started(of, search_task(of, number))
        yield finished(of, done(search_task(of, number)))
    yield chosen(of)
    for seed in range(2):
        yield started(of, final_task(of, seed))
        yield finished(of, done(final_task(of, seed), score=0.6 + 0.2 * seed))
    yield over(of)


def clock(step):
    """A clock that moves on by so many seconds whenever it is read."""
    ticks = count(0.0, step)
    return lambda: next(ticks)


def lines(capsys, events, *, cells=(SVC,), step=0.0):
    """What is told elsewhere than on a terminal."""
    states = list(shown(events, Progress.before(cells), executor=EXECUTOR, clock=clock(step)))
    return states, capsys.readouterr().err.splitlines()


def test_every_cell_that_ends_is_a_line(capsys):
    others = [cell(dataset) for dataset in ("iris3", "wine")]
    states, told = lines(capsys, [event for each in others for event in events_of(each)], cells=others)
    assert told == [
        f"svc on {each.dataset}: test accuracy 0.700 ± 0.100 (2 seeds); 4 tasks done, 4 s" for each in others
    ]
    assert states[-1].n_ended == states[-1].n_most == 8
    assert states[-1].n_workers == Workers().n_workers


def test_lines_in_between_come_a_few_seconds_apart(capsys):
    slow = [event for event in events_of(SVC) if event.kind != "cell_done"]
    _, told = lines(capsys, slow, step=2.0)
    assert 1 < len(told) < len(slow)
    assert told[0].startswith("task 1/4: 0 failed, ")
    assert all(text.endswith(" left") for text in told if not text.startswith("task 4/4"))
    assert lines(capsys, slow, step=0.1)[1] == []


def test_nobody_knows_how_long_a_model_takes_that_has_not_run(capsys):
    _, told = lines(capsys, [started(SVC, search_task(SVC))] * 3, step=10.0)
    assert told[0] == "task 0/4: 0 failed, 1 running, 10 s so far"


def test_what_was_done_before_is_told_apart(capsys):
    before = [known(SVC, done(search_task(SVC))), known(SVC, failed(search_task(SVC, 1)))]
    _, told = lines(capsys, [*before, finished(SVC, done(final_task(SVC)))], step=10.0)
    assert told[0].startswith("task 1/4: 0 failed, 0 running, 1 before this run, ")
    assert told[1].startswith("task 2/4: 1 failed, 0 running, 2 before this run (1 failed), ")
    assert told[2].startswith("task 3/4: 1 failed, 0 running, 2 before this run (1 failed), ")
    assert ["per second" in line for line in told[:3]] == [False, False, True]


def test_a_search_that_may_end_early_says_so_until_it_has(capsys):
    optuna = replace(SVC, method=SearchMethod.parse("optuna:2"))
    events = [finished(optuna, done(search_task(optuna))), chosen(optuna)]
    _, told = lines(capsys, events, cells=[optuna], step=10.0)
    assert [line.partition(":")[0] for line in told[:2]] == ["task 1/4", "task 1/3"]
    assert ["searches may end early" in line and "at most" in line for line in told[:2]] == [True, False]


def test_classes_are_named_without_their_modules(capsys):
    forest = cell(model="mcquack.studies.races:Forest")
    _, told = lines(capsys, [finished(forest, failed(search_task(forest))), over(forest)], cells=[SVC, forest])
    assert told == [
        "Forest on iris3 failed: RuntimeError: not today",
        "Forest on iris3: no scores; 0 tasks done, 1 failed, 0 s",
    ]
    progress = Progress.before([SVC, forest]).after(chosen(forest)).after(started(forest, final_task(forest)))
    *_, running, leader = rendered(progress, width=80, height=24)
    assert running == "Forest on iris3 (test, seed 0; C=1)"
    assert leader == "best on iris3: Forest, validation accuracy 0.750"


def test_the_first_failure_of_a_cell_is_told_at_once(capsys):
    error = "Traceback\nRuntimeError: out\tof  [red]luck[/red]"
    _, told = lines(capsys, [finished(SVC, failed(search_task(SVC, number), error)) for number in range(2)])
    assert told == ["svc on iris3 failed: RuntimeError: out of [red]luck[/red]"]


def test_a_search_without_a_choice_is_told_with_its_reason(capsys):
    _, told = lines(capsys, [Event(kind="not_chosen", cell=SVC, reason="none of 2 settings has a score by auc")])
    assert told == ["svc on iris3: no settings could be chosen: none of 2 settings has a score by auc."]


def test_a_lost_worker_and_a_stop_are_told(capsys):
    task = search_task(SVC)
    _, told = lines(capsys, [Event(kind="lost", cell=SVC, task=task), Event(kind="stopping", tasks=(task,))])
    assert told[0] == f"A worker was lost; to be tried again: {task}."
    assert "Ctrl-C again stops at once" in told[1]


@pytest.mark.parametrize("width", [10, 30, 60, 200])
@pytest.mark.parametrize("height", [1, 8, 24])
def test_no_terminal_is_too_small(width, height):
    cells = [cell(f"dataset [red]{number}", "a:Model[/red]") for number in range(30)]
    progress = Progress.before(cells)
    for each in cells:
        for event in [*events_of(each), started(each, final_task(each))]:
            progress = progress.after(event)
    drawn = rendered(progress, width=width, height=height)
    assert max(map(len, drawn)) <= width
    if width >= 60:  # else the two lines of numbers take more
        assert len(drawn) <= max(height, 8)


def rendered(progress, *, width, height):
    file = io.StringIO()
    console = SafeConsole(file=file, width=width, height=height)
    console.print(progress.view(3.0).drawn(3.0, width=width, height=height))
    return file.getvalue().splitlines()


def test_the_live_view_tells_what_runs_and_who_leads():
    progress = Progress(cells=Progress.before([SVC]).cells, n_workers=1)
    for event in [*events_of(SVC)][:-2]:
        progress = progress.after(event)
    progress = progress.after(started(SVC, final_task(SVC, 1)))
    bar, facts, running, leader = rendered(progress, width=80, height=24)
    assert re.match(r"task 3/4 ━+╸? +0:00:03 about 1 s left", bar)
    assert facts == "0 failed · 1 running · 1 per second"
    assert running == str(final_task(SVC, 1))
    assert leader == "best on iris3: svc, test accuracy 0.600 (1 seed)"


def test_on_a_terminal_notes_stay_above_the_live_view():
    file = io.StringIO()
    terminal = SafeConsole(file=file, force_terminal=True, width=80, height=24)
    events = [finished(SVC, failed(search_task(SVC), "E: [bold]x \x9b2J")), *list(events_of(SVC))[2:]]
    states = list(shown(events, Progress.before([SVC]), executor=EXECUTOR, console=terminal))
    assert states[-1].n_failed == 1
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", file.getvalue())
    assert r"svc on iris3 failed: E: [bold]x \x9b2J" in text
    assert re.search(r"task 4/4 ━+ .*\n1 failed · 0 running", text)
    assert file.getvalue().count("\x1b[?25l") == file.getvalue().count("\x1b[?25h")  # the cursor is back


def test_the_view_ends_with_the_events_also_when_they_break():
    def broken():
        yield started(SVC, search_task(SVC))
        raise KeyboardInterrupt

    states = shown(broken(), Progress.before([SVC]), executor=EXECUTOR)
    next(states)
    with pytest.raises(KeyboardInterrupt):
        next(states)


def test_scores_on_the_test_part_come_before_those_of_the_search():
    cell = CellProgress(n_most=3, metric="balanced_accuracy")
    assert cell.score is None
    cell = replace(cell, validation=0.9)
    assert str(cell.score) == "validation balanced accuracy 0.900"
    cell = replace(cell, test=(0.5, 0.7))
    assert str(cell.score) == "test balanced accuracy 0.600 ± 0.100 (2 seeds)"
