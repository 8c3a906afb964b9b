"""What is told of a training changes nothing of it, goes to stderr alone, and is a bar only where one can be drawn."""

import io
import re
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from rich.console import Console
from sklearn.datasets import load_iris

from mcquack import McQuackClassifier, McQuackClassifierCV, load, progress
from mcquack.errors import InvalidInputError
from mcquack.models import KernelAlignmentClassifier, VariationalEnsembleClassifier, catalog
from mcquack.models import cross_validated as searching
from mcquack.models.model_file import read_model
from mcquack.progress import (
    SafeConsole,
    View,
    _class_now,
    counted,
    counted_on_bar,
    duration,
    row_text,
    seconds_left,
    shown,
    stage,
)
from mcquack.simulators.compiled import entry

X, Y = load_iris(return_X_y=True)
QUICK: dict[str, Any] = {"n_qubits": 2, "epochs": 4, "random_state": 0}
LONG = [{"epoch": n, "loss": 1 / n, "accuracy": 1 - 1 / n} for n in range(1, 36)]
ROWS = LONG[:25]
SPECIES = load_iris().target_names[Y]


@pytest.fixture(autouse=True)
def _compiled_without_notice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether code is in the cache must not decide what is told."""
    monkeypatch.setattr(entry, "said", {"notice"})


class Trained:
    """As much of a model as its progress is read from: so many epochs, or steps, of which each row has some."""

    def __init__(self, n_most: int | None, *, unit: str = "epochs", per_row: int = 1, n_done: int = 0) -> None:
        setattr(self, unit, n_most)
        self.n_iter_ = n_done
        self._per_row, self._n_most = per_row, n_most

    def rows(self, rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        for row in rows:
            self.n_iter_ = min(self.n_iter_ + self._per_row, self._n_most or sys.maxsize)
            yield row


def told(rows: list[dict[str, Any]], *, terminal: bool = False, going_on: bool = False, **trained: Any) -> str:
    console = SafeConsole(file=io.StringIO(), force_terminal=terminal, width=120)
    model = Trained(**trained)
    assert list(shown(model.rows(rows), of=model, going_on=going_on, console=console)) == rows
    return console.file.getvalue()  # type: ignore[attr-defined]


def counts(text: str) -> list[str]:
    """What comes before the colons."""
    return [line.partition(":")[0] for line in text.splitlines()]


def frames(text: str) -> list[str]:
    """What a terminal shows, one after another, without colours."""
    lines = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text).splitlines()
    return [line.strip() for line in lines if line.strip()]


def last_frame(text: str) -> str:
    """What is left on a terminal."""
    return frames(text)[-1]


def test_a_terminal_gets_a_bar_and_a_file_some_ten_lines() -> None:
    assert "━" in told(ROWS, n_most=25, terminal=True)
    lines = told(ROWS, n_most=25).splitlines()
    assert 8 <= len(lines) <= 14
    assert lines[0] == "epoch 1/25: loss 1.0000, accuracy 0.000"
    assert lines[-1].startswith("epoch 25/25: ")


def test_a_few_epochs_are_lines_and_the_last_is_one() -> None:
    assert counts(told(LONG, n_most=100)) == [f"epoch {count}/100" for count in (1, 10, 20, 30, 35)]


def test_without_a_known_end_the_lines_become_rarer() -> None:
    assert counts(told(LONG, n_most=None)) == [f"epoch {count}" for count in (1, 2, 4, 8, 16, 32, 35)]


@given(n_rows=st.integers(1, 60), n_most=st.integers(1, 60), n_before=st.integers(0, 60))
def test_no_count_is_beyond_its_end_and_the_last_row_is_told(n_rows: int, n_most: int, n_before: int) -> None:
    n_before = min(n_before, n_most - 1)
    rows = LONG[: min(n_rows, n_most - n_before)]
    lines = told(rows, n_most=n_most, n_done=n_before, going_on=True).splitlines()
    numbers = [int(count.split()[1].split("/")[0]) for count in counts("\n".join(lines))]
    assert numbers == sorted(numbers)
    assert numbers[0] == n_before + 1
    assert numbers[-1] == n_before + len(rows) <= n_most
    assert (": ended early, " in lines[-1]) == (numbers[-1] < n_most)


def test_where_training_ended_early_is_told() -> None:
    assert told(ROWS[:13], n_most=200).splitlines()[-1].startswith("epoch 13/200: ended early, loss 0.0769")


def test_a_bar_ends_full_also_if_training_ends_early() -> None:
    assert re.match(r"epoch 25/25 ━+ \d:\d\d:\d\d loss 0.0400", last_frame(told(ROWS, n_most=25, terminal=True)))
    frame = last_frame(told(ROWS[:13], n_most=200, terminal=True))
    assert re.match(r"epoch +13/200 ━+ \d:\d\d:\d\d ended early, loss 0.0769", frame)


@pytest.mark.parametrize(("n_done", "is_over", "length"), [(50, False, 10), (50, True, 40), (200, False, 40)])
def test_what_is_over_has_a_full_bar(n_done: int, is_over: bool, length: int) -> None:
    console = SafeConsole(file=io.StringIO(), force_terminal=False, width=150)  # no colours: only what is done is drawn
    console.print(View(unit="epoch", n_done=n_done, n_most=200, is_over=is_over).drawn(0.0, width=150, height=24))
    assert console.file.getvalue().count("━") == length  # type: ignore[attr-defined]


def test_what_takes_long_says_how_long_and_how_much_is_left() -> None:
    view = View(unit="epoch", n_done=1, n_most=3, seconds_left=200.0, text="loss 0.5000")
    assert view.line(1.0) == "epoch 1/3: loss 0.5000"
    assert view.line(100.0) == "epoch 1/3: loss 0.5000, 2 min so far, at most 3 min left"
    assert replace(view, is_exact=True).left_text == "about 3 min left"
    assert replace(view, seconds_left=None).left_text == ""


def test_a_training_of_no_epochs_is_over_at_once() -> None:
    assert told([], n_most=0) == ""
    assert "preparing" not in last_frame(told([], n_most=0, terminal=True))


def test_a_bar_leaves_its_numbers_to_a_narrow_terminal() -> None:
    console = SafeConsole(file=io.StringIO(), force_terminal=True, width=50)
    model = Trained(25)
    assert list(shown(model.rows(ROWS), of=model, console=console)) == ROWS
    assert re.match(r"epoch 25/25 ━{10} \d:\d\d:\d\d loss", last_frame(console.file.getvalue()))  # type: ignore[attr-defined]


def test_what_does_not_come_to_its_end_is_not_said_to_have_ended() -> None:
    def broken() -> Iterator[dict[str, Any]]:
        yield from model.rows(ROWS[:2])
        raise KeyboardInterrupt

    for terminal in (False, True):
        console, model = SafeConsole(file=io.StringIO(), force_terminal=terminal, width=100), Trained(9)
        with pytest.raises(KeyboardInterrupt):
            list(shown(broken(), of=model, console=console))
        assert "ended" not in console.file.getvalue()  # type: ignore[attr-defined]


def test_steps_are_counted_in_hundreds_up_to_the_most() -> None:
    text = told(ROWS[:3], n_most=250, unit="max_steps", per_row=100)
    assert counts(text) == ["step 100/250", "step 200/250", "step 250/250"]


def test_epochs_that_a_budget_of_shots_does_not_pay_for_are_not_counted() -> None:
    engine = SimpleNamespace(budget=1000)
    assert stage(SimpleNamespace(epochs=200, n_iter_=2, shots_=300, engine=engine)).n_most == 6
    assert stage(SimpleNamespace(epochs=4, n_iter_=2, shots_=300, engine=engine)).n_most == 4


@pytest.mark.parametrize("terminal", [False, True])
def test_names_of_classes_cannot_act_on_a_terminal(terminal: bool) -> None:
    evil = "a\x1b[2J\n\u202eb"
    model = SimpleNamespace(epochs=9, n_iter_=1, classes_=[evil, "c"], _classes_going=[evil])
    console = SafeConsole(file=io.StringIO(), force_terminal=terminal, width=100)
    list(shown([{"loss": 0.5}], of=model, console=console))
    text: str = console.file.getvalue()  # type: ignore[attr-defined]
    assert "\x1b[2J" not in text.replace("\x1b[2K", "")
    assert "\u202e" not in text
    if not terminal:
        assert text.splitlines()[0] == r"epoch 1/9: only a\x1b[2J\n\u202eb still trains, loss 0.5000"


def test_a_notebook_without_widgets_gets_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    console, model = Console(file=io.StringIO(), force_jupyter=True), Trained(25)
    monkeypatch.setattr("mcquack.progress.find_spec", lambda name: None)
    monkeypatch.setattr(Console, "print", lambda self, line, **_: self.file.write(f"{line}\n"))
    assert list(shown(model.rows(ROWS), of=model, console=console)) == ROWS
    assert console.file.getvalue().startswith("epoch 1/25: ")  # type: ignore[attr-defined]


def test_a_row_tells_what_it_has() -> None:
    assert row_text({"loss": 0.5}) == "loss 0.5000"
    row = {"loss": 0.5, "accuracy": 0.25, "validation_accuracy": 0.125}
    assert row_text(row) == "loss 0.5000, accuracy 0.250, validation accuracy 0.125"


def test_telling_changes_neither_the_model_nor_its_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    silent, telling = (McQuackClassifier(**QUICK, verbose=level).fit(X, Y) for level in (0, 1))
    out, err = capsys.readouterr()
    assert not out
    assert err.count("epoch ") == 4
    for name in ("weights_", "bias_", "centroids_"):
        assert_array_equal(getattr(silent, name), getattr(telling, name))
    settings = []
    for number, model in enumerate((silent, telling)):
        path = tmp_path / f"{number}.mcq"
        model.save(path)
        settings.append(read_model(path).header["settings"])
        assert load(path).verbose == 0
    assert settings[0] == settings[1]
    assert "verbose" not in settings[0]


def test_several_starts_are_counted_together(capsys: pytest.CaptureFixture[str]) -> None:
    McQuackClassifier(**QUICK, n_starts=2, verbose=1).fit(X, Y)
    lines = capsys.readouterr().err.splitlines()
    assert counts("\n".join(lines)) == [f"epoch {count}/8" for count in range(1, 9)]
    assert [line.partition(": ")[2].partition(",")[0] for line in lines] == ["start 1 of 2"] * 4 + ["start 2 of 2"] * 4


def test_a_start_that_ends_early_leaves_less_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    model = McQuackClassifier(n_qubits=2, epochs=30, patience=2, n_starts=3, random_state=0, verbose=1).fit(X, Y)
    n_epochs = [start.n_iter_ for start in model.starts_]
    assert n_epochs[0] < 30
    ends = {
        line.partition(": ")[2].partition(",")[0]: int(line.split(":")[0].split("/")[1])
        for line in capsys.readouterr().err.splitlines()
    }
    expected = {f"start {n + 1} of 3": sum(n_epochs[:n]) + 30 * (3 - n) for n in range(3)}
    assert {name: end for name, end in ends.items() if name != "ended early"} == expected


def test_starts_that_are_trained_again_are_counted_anew() -> None:
    model = McQuackClassifier(**QUICK, n_starts=2).fit(X, Y)
    model.set_params(epochs=3, warm_start=True)
    reached = [stage(model) for _ in model.fit_iter(X, Y)]
    assert [(each.n_done, each.n_most) for each in reached] == [(n, 6) for n in range(1, 7)]
    assert [each.part for each in reached] == ["start 1 of 2"] * 3 + ["start 2 of 2"] * 3


def test_a_fit_anew_begins_at_nothing_whatever_was_learned_before() -> None:
    model = McQuackClassifier(**QUICK, n_starts=2).fit(X, Y)
    console = SafeConsole(file=io.StringIO(), force_terminal=True, width=120)
    with closing(model.fit_iter(X, Y)) as epochs:
        begun = shown(epochs, of=model, console=console)
        next(begun)
        begun.close()  # type: ignore[attr-defined]
    assert "epoch 0/8 " in re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", console.file.getvalue())  # type: ignore[attr-defined]


def test_who_iterates_is_told_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(list(McQuackClassifier(**QUICK, verbose=1).fit_iter(X, Y))) == 4
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("kind", [KernelAlignmentClassifier, VariationalEnsembleClassifier])
def test_other_circuits_tell_as_well(kind: type[Any], capsys: pytest.CaptureFixture[str]) -> None:
    kind(**QUICK, verbose=True).fit(X, Y)
    assert len(re.findall(r"^epoch \d/4: loss", capsys.readouterr().err, flags=re.MULTILINE)) == 4


def test_models_that_count_steps_tell_these(capsys: pytest.CaptureFixture[str]) -> None:
    model: Any = catalog.entry("iqp_variational").new(max_steps=150, convergence_interval=None, verbose=1)
    model.fit(X, Y)
    assert counts(capsys.readouterr().err) == ["step 100/150", "step 150/150"]


def test_classes_that_still_train_are_told_by_name() -> None:
    model = VariationalEnsembleClassifier(n_qubits=2, epochs=60, patience=2, random_state=0)
    parts = []
    for _ in model.fit_iter(X, SPECIES):
        going = model.classes_[model.n_iter_ - model.best_epochs_ < 2]
        some = len(going) in (1, 2) and model.n_iter_ < 60
        parts.append(f"only {', '.join(going)} still train{'s' if len(going) == 1 else ''}" if some else "")
        assert stage(model).part == parts[-1]
    assert parts[0] == parts[-1] == ""
    assert len(set(parts)) > 1


def test_circuits_of_classes_are_told_one_by_one_while_they_train(monkeypatch: pytest.MonkeyPatch) -> None:
    model: Any = catalog.entry("circuit_centric").new(max_steps=200, convergence_interval=None)
    told_now, names = [], {"setosa": "bristly", "versicolor": "blue", "virginica": "shrub"}
    original = type(model)._training_class

    @contextmanager
    def noted(self: Any, *which: Any) -> Iterator[None]:
        with original(self, *which):
            told_now.append(_class_now(self, names))
            yield

    monkeypatch.setattr(type(model), "_training_class", noted)
    reached = [stage(model) for _ in model.fit_iter(X, SPECIES)]
    assert told_now == ["class bristly (1 of 3)", "class blue (2 of 3)", "class shrub (3 of 3)"] * 2
    assert [(each.n_done, each.n_most, each.part) for each in reached] == [
        (100, 200, "3 classes in turn"),
        (200, 200, ""),
    ]
    assert not hasattr(model, "_class_at")


def test_a_circuit_that_tells_all_classes_apart_names_none() -> None:
    model: Any = catalog.entry("dressed").new(max_steps=200, convergence_interval=None)
    assert [stage(model).part for _ in model.fit_iter(X, SPECIES)] == ["", ""]


def test_a_search_tells_its_rungs_and_then_the_training(capsys: pytest.CaptureFixture[str]) -> None:
    space = {"n_qubits": [2, 3], "epochs": 4}
    McQuackClassifierCV(space, n_rungs=2, random_state=0, verbose=1).fit(X, Y)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("rung 1/2: 2 settings, best 0.")
    assert lines[1].startswith("rung 2/2: 1 setting, best 0.")
    assert lines[2].startswith("epoch 1/4: ")


@pytest.mark.parametrize(("n_jobs", "n_rungs", "n_trainings"), [(None, 2, 3), (2, 1, 2)])
def test_a_search_counts_its_trainings_on_a_bar(
    n_jobs: int | None, n_rungs: int, n_trainings: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = io.StringIO()
    terminal = SafeConsole(file=file, force_terminal=True, width=120)
    monkeypatch.setattr(progress, "SafeConsole", lambda **_: terminal)
    space = {"n_qubits": [2, 3], "epochs": 4}
    McQuackClassifierCV(space, n_rungs=n_rungs, n_jobs=n_jobs, random_state=0, verbose=1).fit(X, Y)
    counted = rf"training {n_trainings}/{n_trainings} ━+ \d:\d\d:\d\d rung {n_rungs} of {n_rungs}, this one 0"
    assert any(re.match(counted, frame) for frame in frames(file.getvalue()))
    assert f"rung {n_rungs}/{n_rungs}: " in file.getvalue()


def test_nothing_is_counted_where_no_bar_can_be_drawn() -> None:
    console = SafeConsole(file=io.StringIO(), force_terminal=False)
    with counted_on_bar("training", 2, console) as count:
        count("best 0.9")
    assert console.file.getvalue() == ""  # type: ignore[attr-defined]


def test_a_search_that_is_interrupted_while_the_best_trains_keeps_it(monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted(McQuackClassifier):
        def fit(self, X: Any, y: Any, sample_weight: Any = None, **_: Any) -> Any:
            def two() -> Iterator[Any]:
                epochs = self.fit_iter(X, y, sample_weight)
                yield from (next(epochs), next(epochs))
                raise KeyboardInterrupt

            return self._run_through(two())

    monkeypatch.setattr(searching, "McQuackClassifier", Interrupted)
    model = McQuackClassifierCV({"n_qubits": [2, 3], "epochs": 4}, n_rungs=1, random_state=0)
    with pytest.raises(KeyboardInterrupt, match="after 2 epochs"):
        model.fit(X, Y)
    assert model.best_estimator_.n_iter_ == 2
    assert model.predict(X).shape == (150,)


@pytest.mark.parametrize("level", [-1, 1.5, "yes", None])
def test_a_level_that_says_nothing_is_refused(level: Any) -> None:
    for model in (McQuackClassifier(verbose=level), McQuackClassifierCV(verbose=level), catalog.entry("dressed").new()):
        model.set_params(verbose=level)
        with pytest.raises(InvalidInputError) as raised:
            model.fit(X, Y)
        assert raised.value.setting == "verbose"


def test_columns_of_a_frame_are_the_classes() -> None:
    pytest.importorskip("pandas")
    names = np.array(["setosa", "versicolor", "virginica"])
    model = McQuackClassifier(**QUICK).set_output(transform="pandas").fit(X, names[Y])
    assert list(model.transform(X).columns) == ["mcquack_setosa", "mcquack_versicolor", "mcquack_virginica"]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0 s"),
        (99.4, "99 s"),
        (99.6, "2 min"),
        (5400.0, "90 min"),
        (6000.0, "1 h 40 min"),
        (86_400.0, "24 h 00 min"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_one_is_not_many() -> None:
    assert [counted(count, "task") for count in (0, 1, 1200)] == ["0 tasks", "1 task", "1,200 tasks"]


@given(seconds=st.floats(0.1, 1e6), done=st.integers(1, 1000), left=st.integers(0, 1000))
def test_the_rest_takes_as_long_as_what_is_done(seconds: float, done: int, left: int) -> None:
    estimate = seconds_left(seconds, done=done, left=left)
    assert estimate == pytest.approx(seconds * left / done)
    assert seconds_left(seconds, done=0, left=left) is None


def test_a_fit_estimates_by_what_came_after_its_first_row() -> None:
    now = 100.0
    model, console = Trained(10), SafeConsole(file=io.StringIO(), force_terminal=False)

    def rows() -> Iterator[dict[str, Any]]:
        nonlocal now
        for row in model.rows(LONG[:10]):
            now += 60.0 if model.n_iter_ == 1 else 2.0  # code was compiled before the first row
            yield row

    assert list(shown(rows(), of=model, console=console, clock=lambda: now)) == LONG[:10]
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert [line.partition(" so far")[2] for line in lines] == [
        "",
        *(f", at most {2 * (10 - done)} s left" for done in range(2, 10)),
        "",
    ]
