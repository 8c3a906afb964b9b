"""What is told of a training changes nothing of it, goes to stderr alone, and is a bar only where one can be drawn."""

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from rich.console import Console
from sklearn.datasets import load_iris

from mcquack import McQuackClassifier, McQuackClassifierCV, load
from mcquack.errors import InvalidInputError
from mcquack.models import KernelAlignmentClassifier, VariationalEnsembleClassifier, catalog
from mcquack.models import cross_validated as searching
from mcquack.models.model_file import read_model
from mcquack.models.progress import row_text, shown

X, Y = load_iris(return_X_y=True)
QUICK = {"n_qubits": 2, "epochs": 4, "random_state": 0}
ROWS = [{"epoch": n, "loss": 1 / n, "accuracy": 1 - 1 / n} for n in range(1, 26)]


def told(rows: list[dict[str, Any]], *, terminal: bool = False, **settings: Any) -> str:
    console = Console(file=io.StringIO(), force_terminal=terminal, width=100)
    assert list(shown(rows, console=console, **settings)) == rows
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


def test_a_terminal_gets_a_bar_and_a_file_some_ten_lines() -> None:
    assert "━" in told(ROWS, n_most=25, terminal=True)
    lines = told(ROWS, n_most=25).splitlines()
    assert 8 <= len(lines) <= 14
    assert lines[0] == "epoch 1/25: loss 1.0000, accuracy 0.000"
    assert lines[-1].startswith("epoch 25/25: ")


def test_where_training_ended_early_is_told() -> None:
    assert told(ROWS[:13], n_most=200).splitlines()[-1].startswith("epoch 13/200: ")


def test_steps_are_counted_in_hundreds_up_to_the_most() -> None:
    lines = told(ROWS[:3], n_most=250, unit="step", per_row=100).splitlines()
    assert [line.partition(":")[0] for line in lines] == ["step 100/250", "step 200/250", "step 250/250"]


def test_a_notebook_without_widgets_gets_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    console = Console(file=io.StringIO(), force_jupyter=True)
    monkeypatch.setattr("mcquack.models.progress.find_spec", lambda name: None)
    monkeypatch.setattr(Console, "print", lambda self, line, **_: self.file.write(f"{line}\n"))
    assert list(shown(ROWS, n_most=25, console=console)) == ROWS
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
    assert "epoch 8/8: " in capsys.readouterr().err


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
    assert [line.partition(":")[0] for line in capsys.readouterr().err.splitlines()] == ["step 100/150", "step 150/150"]


def test_a_search_tells_its_rungs_and_then_the_training(capsys: pytest.CaptureFixture[str]) -> None:
    space = {"n_qubits": [2, 3], "epochs": 4}
    McQuackClassifierCV(space, rungs=2, random_state=0, verbose=1).fit(X, Y)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("rung 1/2: 2 settings, best 0.")
    assert lines[1].startswith("rung 2/2: 1 settings, best 0.")
    assert lines[2].startswith("epoch 1/4: ")


def test_a_search_that_is_interrupted_while_the_best_trains_keeps_it(monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted(McQuackClassifier):
        def fit(self, X: Any, y: Any, sample_weight: Any = None, **_: Any) -> Any:
            def two() -> Iterator[Any]:
                epochs = self.fit_iter(X, y, sample_weight)
                yield from (next(epochs), next(epochs))
                raise KeyboardInterrupt

            return self._run_through(two())

    monkeypatch.setattr(searching, "McQuackClassifier", Interrupted)
    model = McQuackClassifierCV({"n_qubits": [2, 3], "epochs": 4}, rungs=1, random_state=0)
    with pytest.raises(KeyboardInterrupt, match="after 2 epochs"):
        model.fit(X, Y)
    assert model.best_estimator_.n_iter_ == 2
    assert model.predict(X).shape == (150,)


@pytest.mark.parametrize("level", [-1, 1.5, "yes", None])
def test_a_level_that_says_nothing_is_refused(level: Any) -> None:
    for model in (McQuackClassifier(verbose=level), McQuackClassifierCV(verbose=level), catalog.entry("dressed").new()):
        model.set_params(verbose=level)
        with pytest.raises(InvalidInputError, match="verbose must be 0"):
            model.fit(X, Y)


def test_columns_of_a_frame_are_the_classes() -> None:
    pytest.importorskip("pandas")
    names = np.array(["setosa", "versicolor", "virginica"])
    model = McQuackClassifier(**QUICK).set_output(transform="pandas").fit(X, names[Y])
    assert list(model.transform(X).columns) == ["mcquack_setosa", "mcquack_versicolor", "mcquack_virginica"]
