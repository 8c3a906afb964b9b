"""A trained kernel against fixed ones: ``python -m studies.fixed_kernels.measure`` adds the rows that are missing.

A row is one contender on one dataset with one seed, with the settings that did best on the validation part.
"""

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from mcquack import McQuackClassifier
from mcquack.circuits.library import iqp, zz
from mcquack.kernels import QuantumKernel
from mcquack.simulators import GateEngine, StatevectorEngine
from studies.robustness.data import DATASETS, Split, split
from studies.tables import growing_rows

ROWS = Path(__file__).with_name("rows.csv")
KEYS = ("dataset", "seed", "contender")
FIELDS = (*KEYS, "setting", "validation", "accuracy", "alignment", "seconds")
SEEDS = (0, 1, 2, 3, 4)
N_QUBITS = 6
COSTS = (0.1, 1.0, 10.0, 100.0, 1e3, 1e4)
WIDTHS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)  # what features are multiplied by before a fixed circuit takes them
LOSSES = ("alignment", "cross_entropy")
Kernel = Callable[..., NDArray[Any]]


class Tried(NamedTuple):
    """A kernel with a machine on it, or a model with centroids of its own, and how it came out."""

    setting: str
    validation: float
    accuracy: float
    kernel: Kernel
    seconds: float  # of the training of the circuit, the square kernel and the machine


def _trained(data: Split, seed: int, loss: Any) -> tuple[McQuackClassifier, float]:
    started = time.perf_counter()
    engine = StatevectorEngine(n_threads=1)
    model = McQuackClassifier(loss=loss, steps="alternating", scale=False, engine=engine, random_state=seed).fit(
        data.X, data.y
    )
    return model, time.perf_counter() - started


def _mcquack(data: Split, seed: int) -> Iterator[Tried]:
    for loss in LOSSES:
        model, seconds = _trained(data, seed, loss)
        on_validation, on_test = (
            model.score(data.X_validation, data.y_validation),
            model.score(data.X_test, data.y_test),
        )
        yield Tried(loss, on_validation, on_test, model.kernel_, seconds)


def _machines(name: str, kernel: Kernel, data: Split, *, seconds: float = 0.0) -> Iterator[Tried]:
    """A machine for each C on one square kernel."""
    started = time.perf_counter()
    square = kernel(data.X)
    of_kernel = time.perf_counter() - started + seconds
    validation, test = kernel(data.X_validation, data.X), kernel(data.X_test, data.X)
    for cost in COSTS:
        started = time.perf_counter()
        machine = SVC(C=cost, kernel="precomputed").fit(square, data.y)
        spent = time.perf_counter() - started + of_kernel
        scores = machine.score(validation, data.y_validation), machine.score(test, data.y_test)
        yield Tried(f"{name}, C={cost:g}", *scores, kernel, spent)


def _trained_machine(data: Split, seed: int) -> Iterator[Tried]:
    for loss in LOSSES:
        model, seconds = _trained(data, seed, loss)
        yield from _machines(loss, model.kernel_, data, seconds=seconds)


def _fixed(circuit: Any, data: Split, *parameters: Any, engine: Any) -> Iterator[Tried]:
    for width in WIDTHS:
        scaling = np.full(data.X.shape[1], width), np.zeros(data.X.shape[1])
        kernel = QuantumKernel(circuit, *parameters, scaling=scaling, engine=engine)
        yield from _machines(f"width {width:g}", kernel, data)


def _untrained(data: Split, seed: int) -> Iterator[Tried]:
    """The circuit of McQuack with all weights one and random biases: the same gates, but no training."""
    model = McQuackClassifier(epochs=0, scale=False, random_state=seed).fit(data.X, data.y)
    circuit = model.feature_map_
    bias = np.random.default_rng(seed).uniform(-np.pi, np.pi, circuit.bias_shape)
    engine = StatevectorEngine(n_threads=1, dtype="float64")
    return _fixed(circuit, data, np.ones(circuit.weights_shape), bias, engine=engine)


def _published(circuit: Callable[..., Any], data: Split) -> Iterator[Tried]:
    n_features = data.X.shape[1]
    made = circuit(n_features, min(n_features, N_QUBITS), trainable=False)
    return _fixed(made, data, engine=GateEngine(n_threads=1, dtype="float64"))


def _zz(data: Split, seed: int) -> Iterator[Tried]:  # noqa: ARG001 - nothing in it is random
    return _published(zz, data)


def _iqp(data: Split, seed: int) -> Iterator[Tried]:  # noqa: ARG001
    return _published(iqp, data)


def _rbf(data: Split, seed: int) -> Iterator[Tried]:  # noqa: ARG001
    usual = 1 / (data.X.shape[1] * data.X.var())
    for factor in (0.1, 0.3, 1.0, 3.0, 10.0):

        def kernel(X: Any, Y: Any = None, *, gamma: float = factor * usual) -> NDArray[Any]:
            found: NDArray[Any] = rbf_kernel(X, Y, gamma)
            return found

        yield from _machines(f"γ {factor:g} of the usual", kernel, data)


CONTENDERS: dict[str, Callable[[Split, int], Iterator[Tried]]] = {
    "McQuack": _mcquack,
    "SVC on McQuack's trained kernel": _trained_machine,
    "SVC on McQuack's circuit, random": _untrained,
    "SVC on ZZ": _zz,
    "SVC on IQP": _iqp,
    "SVC on RBF": _rbf,
}


def centred_alignment(kernel: NDArray[Any], labels: NDArray[Any]) -> float:
    """The cosine between a square kernel and "of one class or not", both with the mean taken out of rows and columns.

    Without the centring, a kernel whose entries are all alike would have a high alignment too.
    """
    target = (labels[:, None] == labels).astype(float)
    left, right = (M - M.mean(axis=0) - M.mean(axis=1)[:, None] + M.mean() for M in (kernel, target))
    return float((left * right).sum() / np.sqrt((left**2).sum() * (right**2).sum()))


def measured(data: Split, seed: int, contender: str) -> tuple[Any, ...]:
    """Of all settings the one that is best on the validation part; of several the first."""
    best = max(CONTENDERS[contender](data, seed), key=lambda tried: tried.validation)
    alignment = centred_alignment(best.kernel(data.X_test), data.y_test)
    numbers = (best.validation, best.accuracy, alignment, best.seconds)
    return best.setting, *(round(number, 4) for number in numbers)


def main(seeds: tuple[int, ...] = SEEDS) -> None:
    """Appends one line for each missing contender, dataset and seed; interrupt it at will."""
    with growing_rows(ROWS, FIELDS, keys=KEYS) as rows, threadpool_limits(1):
        for seed in seeds:
            for name in DATASETS:
                missing = [contender for contender in CONTENDERS if (name, seed, contender) not in rows]
                data = split(name, seed) if missing else None
                for contender in missing:
                    assert data is not None
                    values = (name, seed, contender, *measured(data, seed, contender))
                    rows.add(dict(zip(FIELDS, values, strict=True)))


if __name__ == "__main__":
    main(tuple(map(int, sys.argv[1:])) or SEEDS)
