"""How robust models of equal accuracy are: ``python -m studies.robustness.measure`` adds the rows that are missing.

A row is one number about one model on one dataset with one seed: what it scores under an attack or noise of some size,
or how far its nearest adversarial examples are.
"""

import copy
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from mcquack import McQuackClassifier
from mcquack.models import MatchedNeuralNetwork, SupportVectorClassifier, VariationalEnsembleClassifier
from mcquack.models.robustness import adversarial_radius, certified_radius, fgsm, pgd
from mcquack.simulators import StatevectorEngine
from studies.robustness.data import DATASETS, Split, split
from studies.tables import growing_rows

ROWS = Path(__file__).with_name("rows.csv")
FIELDS = ("dataset", "seed", "model", "measure", "source", "size", "value")
SEEDS = (0, 1, 2, 3, 4)
SIZES = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3)
TRANSFERRED = 0.1
BOX = (0.0, 1.0)
N_DRAWS = 5  # of noise
N_STARTS = 5  # drawn in the ball, beside the sample itself, to see what an attack misses by where it begins

# Each model climbs a ladder, from much restraint to little, and stops where its accuracy is that of the others.
EPOCHS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200)
NETWORK_EPOCHS = (3, 5, 7, 10, 15, 20, 30, 50, 100, 200, 400)
COSTS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 3.0, 10.0, 30.0, 100.0)
Rung = tuple[float, Any]


def _common(seed: int) -> dict[str, Any]:
    return {"scale": False, "random_state": seed, "engine": StatevectorEngine(n_threads=1)}


def _epoch_ladder(model: Any, data: Split, epochs: tuple[int, ...]) -> Iterator[Rung]:
    """The model after so many epochs of one training, and at the end of it."""
    number = 0
    for number, _ in enumerate(model.fit_iter(data.X, data.y), start=1):
        if number in epochs:
            yield number, copy.deepcopy(model)
    if number not in epochs:
        yield number, model


def _mcquack(data: Split, seed: int, **settings: Any) -> Iterator[Rung]:
    given = {"loss": "alignment", "steps": "alternating", **settings}
    return _epoch_ladder(McQuackClassifier(**_common(seed), **given), data, EPOCHS)


def _regularised(data: Split, seed: int) -> Iterator[Rung]:
    return _mcquack(data, seed, reg_param_weights=1e-3)


def _cross_entropy(data: Split, seed: int) -> Iterator[Rung]:
    return _mcquack(data, seed, loss="cross_entropy")


def _variational(data: Split, seed: int) -> Iterator[Rung]:
    return _epoch_ladder(VariationalEnsembleClassifier(epochs=100, **_common(seed)), data, EPOCHS)


def _network(data: Split, seed: int) -> Iterator[Rung]:
    like = McQuackClassifier(epochs=0, **_common(seed)).fit(data.X, data.y)
    for epochs in NETWORK_EPOCHS:
        network = MatchedNeuralNetwork(epochs=epochs, scale=False, random_state=seed, n_parameters=like.n_parameters_)
        yield epochs, network.fit(data.X, data.y)


def _machine(data: Split, seed: int) -> Iterator[Rung]:
    for cost in COSTS:
        yield cost, SupportVectorClassifier(cost, scale=False, random_state=seed).fit(data.X, data.y)


LADDERS: dict[str, Callable[[Split, int], Iterator[Rung]]] = {
    "McQuack, alignment": _mcquack,
    "McQuack, λ = 0.001": _regularised,
    "McQuack, cross entropy": _cross_entropy,
    "VC": _variational,
    "NN": _network,
    "SVC": _machine,
}


class Chosen(NamedTuple):
    """Two rungs of a ladder: where validation accuracy is that of the other models, and where it is best."""

    matched: Rung
    best: Rung
    validation: float  # accuracy of the first


def chosen(data: Split, seed: int) -> dict[str, Chosen]:
    """Of each model the rung whose validation accuracy is nearest to the lowest of the models' best, and its best.

    Of equally good rungs the highest is taken, that of least restraint.
    """
    ladders = {
        name: [(rung, rung[1].score(data.X_validation, data.y_validation)) for rung in ladder(data, seed)][::-1]
        for name, ladder in LADDERS.items()
    }
    target = min(max(score for _, score in rungs) for rungs in ladders.values())
    found = {}
    for name, rungs in ladders.items():
        near, validation = min(rungs, key=lambda rung: abs(rung[1] - target))
        found[name] = Chosen(near, max(rungs, key=lambda rung: rung[1])[0], validation)
    return found


def noisy(X: NDArray[Any], size: float, *, kind: str, random: np.random.Generator) -> NDArray[Any]:
    """Samples with noise, uniform in the ball that attacks have, or Gaussian and as long as the way to its corners."""
    drawn = random.uniform(-size, size, X.shape) if kind == "uniform" else random.normal(0, size, X.shape)
    return np.clip(X + drawn, *BOX)


Row = tuple[str, str, str, float | str, float]


def measured(data: Split, seed: int) -> Iterator[Row]:
    """All rows of a dataset and a seed, without these two."""
    found = chosen(data, seed)
    models = {name: choice.matched[1] for name, choice in found.items()}
    for name, choice in found.items():
        started = time.perf_counter()
        yield name, "rung", "", "", choice.matched[0]
        yield name, "parameters", "", "", models[name].n_parameters_
        yield name, "validation", "", "", choice.validation
        yield from attacked(name, models, data, seed)
        own = list(radii(name, models[name], data))
        yield from own
        yield name, "best rung", "", "", choice.best[0]
        same = choice.best[0] == choice.matched[0]
        for _, measure, source, size, number in own if same else radii(name, choice.best[1], data):
            yield name, f"best {measure}", source, size, number
        yield name, "seconds", "", "", time.perf_counter() - started


def attacked(name: str, models: dict[str, Any], data: Split, seed: int) -> Iterator[Row]:
    """Accuracy under attacks and noise of all sizes; the examples of one size are also shown to the other models."""
    X, y, model, random = data.X_test, data.y_test, models[name], np.random.default_rng(seed)
    for size in SIZES:
        yield name, "fgsm", name, size, model.score(fgsm(model, X, y, eps=size, bounds=BOX), y)
        moved = pgd(model, X, y, eps=size, bounds=BOX)
        yield name, "pgd", name, size, model.score(moved, y)
        if size == TRANSFERRED:
            for other, target in models.items():
                yield other, "transfer", name, size, target.score(moved, y)
            others = [pgd(model, X, y, eps=size, bounds=BOX, seed=start) for start in range(N_STARTS)]
            resists = [model.predict(attack) == y for attack in (moved, *others)]
            yield name, "restarts", name, size, float(np.all(resists, axis=0).mean())
        for kind in ("uniform", "gaussian"):
            draws = [noisy(X, size, kind=kind, random=random) for _ in range(N_DRAWS)]
            yield name, kind, "", size, float(np.mean([model.score(draw, y) for draw in draws]))


def radii(name: str, model: Any, data: Split) -> Iterator[Row]:
    """Accuracy, and how far adversarial examples are from the samples that are predicted rightly, in the median."""
    right = model.predict(data.X_test) == data.y_test
    X, y = data.X_test[right], data.y_test[right]
    certified = certified_radius(model, X, y)
    yield name, "clean", "", "", float(right.mean())
    yield name, "adversarial", "", "", float(np.median(adversarial_radius(model, X, y, bounds=BOX)))
    yield name, "certified", "", "", float(np.median(certified))


def main(seeds: tuple[int, ...] = SEEDS) -> None:
    """Appends all lines of each missing dataset and seed at once; interrupt it at will."""
    with growing_rows(ROWS, FIELDS, keys=("dataset", "seed")) as rows, threadpool_limits(1):
        for seed in seeds:
            for name in DATASETS:
                if (name, seed) in rows:
                    continue
                lines = [(name, seed, *row[:4], round(row[4], 5)) for row in measured(split(name, seed), seed)]
                rows.add(*(dict(zip(FIELDS, line, strict=True)) for line in lines))


if __name__ == "__main__":
    main(tuple(map(int, sys.argv[1:])) or SEEDS)
