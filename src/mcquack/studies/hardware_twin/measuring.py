"""Numbers of ones that the twin's circuits give: exact, through shots, or as a noisy device counts them."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mcquack.circuits.circuit import Circuit
from mcquack.datasets import Dataset, Part, describe, load
from mcquack.datasets.dataset import PartName
from mcquack.datasets.registry import Request, register
from mcquack.randomness import stream
from mcquack.simulators.noise import AACHEN, PITTSBURGH, DeviceCalibration, noisy_hamming_counts
from mcquack.simulators.ring import RingEngine
from mcquack.simulators.samplers import sampled_hamming

View = Literal["exact", "shots", "pittsburgh", "aachen"]
DEVICES: Mapping[str, DeviceCalibration] = {"pittsburgh": PITTSBURGH, "aachen": AACHEN}
_KEPT = 24  # of a large test part each is 4 MB


@dataclass(frozen=True, eq=False)
class Arrays:
    """Arrays that a cache knows again by their content."""

    values: tuple[NDArray[Any], ...]

    @cached_property
    def digest(self) -> bytes:
        found = hashlib.sha256()
        for array in self.values:
            found.update(f"{array.dtype.str} {array.shape}".encode())
            found.update(np.ascontiguousarray(array).tobytes())
        return found.digest()

    def __hash__(self) -> int:
        return hash(self.digest)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Arrays) and other.digest == self.digest


@dataclass(frozen=True, kw_only=True)
class TwinCircuit:
    """The feature map with its weights, its biases and the centroids."""

    feature_map: Circuit
    parameters: Arrays

    def run(self, X: NDArray[Any], *, n_threads: int | None) -> tuple[RingEngine, Any, Any]:
        weights, bias, centroids = self.parameters.values
        engine = RingEngine(self.feature_map, n_threads=n_threads)
        return engine, engine.encode(X, weights, bias), engine.encode(centroids, weights, bias)


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Through what the numbers of ones are seen; every ``purpose`` has shots of its own."""

    view: View
    shots: int
    seed: int
    purpose: str

    def hamming(self, X: NDArray[Any], circuit: TwinCircuit, *, n_threads: int | None) -> NDArray[Any]:
        """Probabilities or counts of k ones between every row and every centroid, (N, M, n + 1)."""
        if self.view == "exact":
            return _exact_hamming(Arrays((X,)), circuit, n_threads)
        return _counts(Arrays((X,)), circuit, self, n_threads)


# The rules for b read the same numbers of ones, so each process keeps those it has: they cost all the time there is.


@lru_cache(maxsize=_KEPT)
def _exact_hamming(rows: Arrays, circuit: TwinCircuit, n_threads: int | None) -> NDArray[np.floating]:
    engine, *encoded = circuit.run(rows.values[0], n_threads=n_threads)
    return engine.hamming_distributions(*encoded)


@lru_cache(maxsize=_KEPT)
def _counts(rows: Arrays, circuit: TwinCircuit, reading: Reading, n_threads: int | None) -> NDArray[np.int64]:
    shots, seed = reading.shots, int(stream(reading.seed, "hardware twin", reading.purpose).integers(2**31))
    if reading.view == "shots":
        return sampled_hamming(_exact_hamming(rows, circuit, n_threads), shots=shots, seed=seed)
    run = circuit.run(rows.values[0], n_threads=n_threads)
    return noisy_hamming_counts(*run, calibration=DEVICES[reading.view], shots=shots, seed=seed)


# The experiment's dataset, several times over: "twin_0" … with its 50 test samples, "twin_0_large" … with 2,000.

N_MANIFOLDS = 5
_SOURCE = "manifold_124"
_LARGE: Mapping[PartName, int] = {"train": 100, "test": 2000}


def manifold_name(seed: int, *, large: bool = False) -> str:
    """What the dataset of this seed is called."""
    return f"twin_{seed}_large" if large else f"twin_{seed}"


def _built(_: Request, *, seed: int, large: bool) -> Dataset:
    """Either size has the same training part, and the samples of the small test part are the first of the large one."""
    drawn = load(_SOURCE, seed=seed, sizes=(_LARGE["train"], _LARGE["test"]))
    X, y = drawn.test  # type: ignore[misc]  # of these sizes, it has a test part
    n_few = describe(_SOURCE).sizes["test"] // 2
    few = np.sort(np.concatenate([np.flatnonzero(y == label)[:n_few] for label in np.unique(y)]))
    rows = few if not large else np.concatenate([few, np.setdiff1d(np.arange(len(y)), few)])
    return replace(drawn, test=Part(X[rows], y[rows]))


def _register(seed: int, *, large: bool) -> None:
    source = describe(_SOURCE)
    description = replace(
        source,
        name=manifold_name(seed, large=large),
        title=f"Manifold {seed} of the hardware twin{', many test samples' if large else ''}",
        suite="own",
        sizes=_LARGE if large else source.sizes,
        class_counts=None,
        is_seeded=False,
        notes=(*source.notes, f"Seed {seed}; the 50 test samples are the first of the 2,000."),
    )
    register(description)(partial(_built, seed=seed, large=large))


for _seed in range(N_MANIFOLDS):
    _register(_seed, large=False)
    _register(_seed, large=True)
