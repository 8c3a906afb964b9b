import io
import re
from dataclasses import replace
from itertools import count
from types import SimpleNamespace

import pytest
from rich.console import Console

from mcquack.bench.plan import SearchMethod
from mcquack.bench.progress import CellProgress, Progress
from mcquack.bench.runner import Event
from mcquack.cli import bench_progress as view
from mcquack.cli.bench_progress import counted, duration, score_text
from mcquack.cli.console import SafeConsole
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

SVC = cell()


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
    states = list(view.shown(events, Progress.before(cells), executor=Workers(), clock=clock(step)))
    return states, capsys.readouterr().err.splitlines()


def test_every_cell_that_ends_is_a_line(capsys):
    others = [cell(dataset) for dataset in ("iris3", "wine")]
    states, told = lines(capsys, [event for each in others for event in events_of(each)], cells=others)
    assert told == [f"svc on {each.dataset}: test accuracy 0.700 ± 0.100; 4 tasks done, 4 s" for each in others]
    assert states[-1].n_ended == states[-1].n_most == 8
    assert states[-1].n_workers == Workers().n_workers


def test_lines_in_between_come_a_few_seconds_apart(capsys):
    slow = [event for event in events_of(SVC) if event.kind != "cell_done"]
    _, told = lines(capsys, slow, step=2.0)
    assert 1 < len(told) < len(slow)
    assert told[0].startswith("1 of 4 tasks, 0 failed, ")
    assert all(text.endswith(" left") for text in told)
    assert lines(capsys, slow, step=0.1)[1] == []


def test_nobody_knows_how_long_a_model_takes_that_has_not_run(capsys):
    _, told = lines(capsys, [started(SVC, search_task(SVC))] * 3, step=10.0)
    assert told[0] == "0 of 4 tasks, 0 failed, 1 running, – per second, 20 s so far, – left"


def test_what_was_done_before_is_told_apart(capsys):
    before = [known(SVC, done(search_task(SVC))), known(SVC, failed(search_task(SVC, 1)))]
    _, told = lines(capsys, [*before, finished(SVC, done(final_task(SVC)))], step=10.0)
    assert told[0].startswith("1 of 4 tasks (1 before this run), 0 failed, 0 running, – per second, ")
    assert told[1].startswith("2 of 4 tasks (2 before this run), 1 failed (1 before this run), ")
    assert told[2].startswith("3 of 4 tasks (2 before this run), 1 failed (1 before this run), ")


def test_a_search_that_may_end_early_says_so_until_it_has(capsys):
    optuna = replace(SVC, method=SearchMethod.parse("optuna:2"))
    events = [finished(optuna, done(search_task(optuna))), chosen(optuna)]
    _, told = lines(capsys, events, cells=[optuna], step=10.0)
    assert told[0].startswith("1 of at most 4 tasks, ")
    assert told[1].startswith("1 of 3 tasks, ")


def test_classes_are_named_without_their_modules(capsys):
    forest = cell(model="mcquack.studies.races:Forest")
    _, told = lines(capsys, [finished(forest, failed(search_task(forest))), over(forest)], cells=[SVC, forest])
    assert told == [
        "Forest on iris3 failed: RuntimeError: not today",
        "Forest on iris3: no scores; 0 tasks done, 1 failed, 0 s",
    ]
    progress = Progress.before([SVC, forest]).after(chosen(forest)).after(started(forest, final_task(forest)))
    *_, running, _, leader = rendered(progress, width=80, height=24)
    assert running == "Forest on iris3 (test, seed 0; C=1)"
    assert leader.split() == ["iris3", "Forest", "0.750", "validation"]


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
    shown = rendered(progress, width=width, height=height)
    assert max(map(len, shown)) <= width
    if width >= 60:  # else the two lines of numbers take more
        assert len(shown) <= max(height, 8)


def rendered(progress, *, width, height):
    console = Console(file=io.StringIO(), width=width, height=height, markup=False, emoji=False, highlight=False)
    console.print(view.live_view(progress, elapsed=3.0, height=height))
    return console.file.getvalue().splitlines()


def test_the_live_view_tells_what_runs_and_who_leads():
    progress = Progress(cells=Progress.before([SVC]).cells, n_workers=1)
    for event in [*events_of(SVC)][:-2]:
        progress = progress.after(event)
    progress = progress.after(started(SVC, final_task(SVC, 1)))
    bar, counts, times, running, titles, leader = rendered(progress, width=80, height=24)
    assert bar.strip()
    assert counts == "3 of 4 tasks · 0 failed · 1 running"
    assert times == "1 per second · 3 s so far · about 1 s left"
    assert running == str(final_task(SVC, 1))
    assert titles.split() == ["dataset", "best", "so", "far", "accuracy", "on"]
    assert leader.split() == ["iris3", "svc", "0.600", "test,", "1", "seed"]


def test_on_a_terminal_notes_stay_above_the_live_view(monkeypatch):
    file = io.StringIO()
    options = {"markup": False, "emoji": False, "highlight": False}
    terminal = SafeConsole(file=file, force_terminal=True, width=80, height=24, **options)
    monkeypatch.setattr(view, "plain_console", lambda **_: terminal)
    events = [finished(SVC, failed(search_task(SVC), "E: [bold]x \x9b2J")), *list(events_of(SVC))[2:]]
    states = list(view.shown(events, Progress.before([SVC]), executor=Workers()))
    assert states[-1].n_failed == 1
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", file.getvalue())
    assert r"svc on iris3 failed: E: [bold]x \x9b2J" in text
    assert "4 of 4 tasks · 1 failed · 0 running" in text
    assert file.getvalue().count("\x1b[?25l") == file.getvalue().count("\x1b[?25h")  # the cursor is back


def test_the_view_ends_with_the_events_also_when_they_break():
    def broken():
        yield started(SVC, search_task(SVC))
        raise KeyboardInterrupt

    shown = view.shown(broken(), Progress.before([SVC]), executor=SimpleNamespace(n_workers=1))
    next(shown)
    with pytest.raises(KeyboardInterrupt):
        next(shown)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "–"),
        (0.0, "0 s"),
        (99.4, "99 s"),
        (99.6, "2 min"),
        (5400.0, "90 min"),
        (6000.0, "1 h 40 min"),
        (86_400.0, "24 h 00 min"),
    ],
)
def test_durations(seconds, text):
    assert duration(seconds) == text


def test_one_is_not_many():
    assert [counted(count, "task") for count in (0, 1, 1200)] == ["0 tasks", "1 task", "1,200 tasks"]


def test_scores_on_the_test_part_come_before_those_of_the_search():
    cell = CellProgress(n_most=3, metric="balanced_accuracy")
    assert score_text(cell) == "no scores"
    cell = CellProgress(n_most=3, metric="balanced_accuracy", validation=0.9)
    assert score_text(cell) == "validation balanced accuracy 0.900"
    cell = CellProgress(n_most=3, metric="balanced_accuracy", validation=0.9, test=(0.5,))
    assert score_text(cell) == "test balanced accuracy 0.500"
    cell = CellProgress(n_most=3, metric="balanced_accuracy", validation=0.9, test=(0.5, 0.7))
    assert score_text(cell) == "test balanced accuracy 0.600 ± 0.100"
