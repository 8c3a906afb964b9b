"""A fit checks each setting once, makes the settings of its training once, and settles its engine once."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from mcquack import McQuackClassifier, models
from mcquack.constraints import Constraint, constraints_of
from mcquack.simulators import StatevectorEngine
from mcquack.training import TrainingSettings
from mcquack.training.ensembles import VariationalSettings

X, Y = make_blobs(20, n_features=3, centers=2, random_state=0)
SMALL: dict[str, Any] = {"n_qubits": 2, "n_repetitions": 1, "epochs": 2, "random_state": 0}
KINDS: dict[type, dict[str, Any]] = {
    McQuackClassifier: SMALL,
    models.QuackClassifier: SMALL,
    models.KernelAlignmentClassifier: SMALL,
    models.VariationalEnsembleClassifier: SMALL,
    models.SharedVariationalClassifier: SMALL,
    models.DressedQuantumCircuitClassifier: {"max_steps": 5},
    models.TreeTensorClassifier: {"max_steps": 5},
    models.SupportVectorClassifier: {},
    models.MultilayerPerceptron: {"hidden_layer_sizes": (2,)},
    models.McQuackClassifierCV: {"space": SMALL | {"n_qubits": [1, 2]}},
}


class Counted(Constraint):
    """Counts how often a constraint is asked."""

    def __init__(self, inner: Constraint) -> None:
        self.inner, self.count = inner, 0

    @property
    def expected(self) -> str:
        return self.inner.expected

    def accepts(self, value: Any) -> bool:
        self.count += 1
        return self.inner.accepts(value)


def counting(kind: Any) -> Any:
    counted = {name: Counted(constraint) for name, constraint in constraints_of(kind).items()}
    return type(kind.__name__, (kind,), {"_constraints": counted})


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_fit_checks_each_setting_once(kind: Any) -> None:
    counted = counting(kind)
    model = counted(**KINDS[kind])
    declared = {name: each for name, each in counted._constraints.items() if name in model.get_params(deep=False)}
    assert declared
    for n_fits in (1, 2):
        model.fit(X, Y)
        assert {name: each.count for name, each in declared.items()} == dict.fromkeys(declared, n_fits)


def test_a_step_of_a_stream_checks_each_setting_once() -> None:
    counted = counting(McQuackClassifier)
    model = counted(**SMALL)
    for n_steps in (1, 2):
        model.partial_fit(X, Y, classes=[0, 1])
        assert counted._constraints["batch_size"].count == counted._constraints["loss"].count == n_steps


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often settings of a training were made, and so checked themselves."""
    found: Counter[str] = Counter()

    def count(kind: Any) -> None:
        checked = kind.__post_init__

        def counted(self: Any) -> None:
            found[kind.__name__] += 1
            checked(self)

        monkeypatch.setattr(kind, "__post_init__", counted)

    count(TrainingSettings)
    count(VariationalSettings)
    return found


class CountingEngine(StatevectorEngine):
    """Counts how often an estimator asks for this engine on a circuit."""

    n_bound = 0

    def on(self, feature_map: Any, **options: Any) -> Any:  # type: ignore[misc]  # it is final
        type(self).n_bound += 1
        return super().on(feature_map, **options)


def test_a_fit_makes_its_training_settings_and_its_engine_once(
    made: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CountingEngine, "n_bound", 0)
    model = McQuackClassifier(**SMALL, engine=CountingEngine())
    for n_fits, verb in enumerate(("fit", "fit", "partial_fit"), start=1):
        getattr(model, verb)(X, Y)
        assert made == {"TrainingSettings": n_fits}
        assert CountingEngine.n_bound == n_fits
    assert np.isfinite(model.transform(X)).all()


@pytest.mark.parametrize("kind", [models.VariationalEnsembleClassifier, models.SharedVariationalClassifier])
def test_an_ensemble_makes_its_training_settings_once(kind: Any, made: Counter[str]) -> None:
    kind(**SMALL).fit(X, Y)
    assert made == {"VariationalSettings": 1}
