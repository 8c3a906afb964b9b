"""Labels from a device in one call, with the cost before it is spent, and the tolerance that suits the device.

``label(model, X, backend="ibm_…")`` sends nothing yet. What it gives tells the cost, sends the jobs, and has the
labels; every circuit is measured once, whatever is asked of it.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mcquack.arrays import FloatArray, IntArray
from mcquack.checks import required_count
from mcquack.circuits.circuit import Circuit
from mcquack.circuits.feature_map import FeatureMap
from mcquack.circuits.overlap import OverlapCircuits, Sampler
from mcquack.errors import InvalidInputError
from mcquack.hardware.devices import open_sampler
from mcquack.hardware.jobs.service import Estimate, estimate, job_ranges
from mcquack.hardware.sampler import DeviceSampler
from mcquack.kernels.bitflip import (
    Calibration,
    accuracies_by_tolerance,
    calibrate,
    checked_tolerance,
    mean_hamming,
    tolerant_kernel,
    training_tolerance,
)
from mcquack.simulators.choice import EngineChoice
from mcquack.simulators.engine import Measured
from mcquack.simulators.shots import SampledEngine


class CentroidClassifier(Protocol):
    """What is asked of a classifier: its circuit and centroids, labels from a kernel, and the size of its training."""

    feature_map_: Circuit
    weights_: FloatArray
    bias_: FloatArray
    centroids_: FloatArray
    classes_: NDArray[Any]
    epochs: int
    epochs_ka: int
    epochs_co: int
    batch_size: int

    @property
    def engine(self) -> EngineChoice: ...

    @property
    def steps(self) -> str: ...

    def scaled(self, X: ArrayLike) -> FloatArray: ...

    def overlap_circuits(self, X: ArrayLike | None = None) -> OverlapCircuits: ...

    def labels_of(self, measured: Measured) -> NDArray[Any]: ...

    def shares_of(self, measured: Measured) -> FloatArray: ...

    def epoch_shots(self, X: ArrayLike, y: ArrayLike) -> int: ...


def label(
    model: CentroidClassifier,
    X: ArrayLike,
    *,
    backend: str | Sampler,
    shots: int = 100,
    tolerance: int | None = None,
    seed: int = 0,
    **arguments: Any,
) -> Labelling:
    """Labels of samples by a kernel that a device measures; nothing is sent before they are asked for.

    Parameters
    ----------
    model : A fitted model.
    X : array (N, d). The samples to label.
    backend : Where to run, as in :func:`mcquack.hardware.devices.open_sampler`, or what is open already.
    shots : Measurements of every circuit.
    tolerance : Outcomes with at most so many ones count as zeros; by default that of the model's engine, else the one
        that a calibration on the device finds, by the kernel between the centroids.
    seed, **arguments : Of simulations and of the calibration's bootstrap; all others of ``open_sampler``, such as
        ``ledger``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mcquack import McQuackClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = McQuackClassifier(4, 1, epochs=50, feature_map="device", random_state=0).fit(X, y)
    >>> found = label(model, X[[0, 50]], backend="twin:pittsburgh", shots=200, tolerance=0)
    >>> found.estimate().executions
    1200
    >>> found.labels.tolist()
    [0, 1]
    """
    if isinstance(backend, str):
        backend = open_sampler(backend, model.feature_map_, seed=seed, **arguments)
    return Labelling(model, X, sampler=backend, shots=shots, tolerance=tolerance, seed=seed)


class Labelling:
    """What :func:`label` gives: cost, jobs and labels of some samples on one device, of which the sampler is open."""

    def __init__(
        self,
        model: CentroidClassifier,
        X: ArrayLike,
        *,
        sampler: Sampler,
        shots: int = 100,
        tolerance: int | None = None,
        seed: int = 0,
    ) -> None:
        self.model = model
        self.sampler = sampler
        self.shots = required_count("shots", shots)
        self.seed = seed
        given = known_tolerance(model) if tolerance is None else tolerance
        self.given_tolerance = None if given is None else checked_tolerance(given, model.feature_map_.n_qubits)
        self._engine = SampledEngine(sampler, model.feature_map_, shots=self.shots)
        encoded = (model.scaled(X), model.centroids_)
        self._rows, self._centroids = (self._engine.encode(some, model.weights_, model.bias_) for some in encoded)

    @property
    def circuits(self) -> list[OverlapCircuits]:
        """All that is measured, call by call: what the calibration takes, if there is one, and then the samples."""
        calibrating = [] if self.given_tolerance is not None else [self.model.overlap_circuits()]
        return [*calibrating, *self._engine.calls(self._rows, self._centroids)]

    def estimate(self) -> Estimate:
        """What is yet to be sent, and the time that it takes on the device; what a ledger has costs nothing."""
        return cost_of(self.circuits, sampler=self.sampler, shots=self.shots)

    def submit(self) -> None:
        """Sends the jobs and does not wait for them; a device alone has jobs."""
        if not isinstance(self.sampler, DeviceSampler):
            raise InvalidInputError(f"{self.sampler!r} runs at once and has no jobs; take the labels.")
        self.sampler.submit(self.circuits, shots=self.shots)

    @cached_property
    def calibration(self) -> Calibration | None:
        """How the tolerance was found; None where it was given. Measures the kernel between the centroids."""
        if self.given_tolerance is not None:
            return None
        return centroid_calibration(self.model, self.sampler, shots=self.shots, seed=self.seed)

    @property
    def tolerance(self) -> int:
        """How many ones count as zeros: as given, or as calibrated."""
        return self.given_tolerance if self.calibration is None else self.calibration.tolerance  # type: ignore[return-value]

    @cached_property
    def hamming_counts(self) -> IntArray:
        """How many shots found k ones for every sample and centroid, (N, M·k, n + 1). Measures them, once."""
        return self._engine.hamming_counts(self._rows, self._centroids)

    @property
    def measured(self) -> Measured:
        """The kernel, and what decides between equal shares of shots."""
        counts = self.hamming_counts
        return Measured(tolerant_kernel(counts, self.tolerance), -mean_hamming(counts))

    @property
    def labels(self) -> NDArray[Any]:
        return self.model.labels_of(self.measured)

    @property
    def shares(self) -> FloatArray:
        """The share of every class, as ``predict_proba`` has it."""
        return self.model.shares_of(self.measured)


def cost_of(circuits: list[OverlapCircuits], *, sampler: Sampler, shots: int) -> Estimate:
    """What measuring these circuits takes of a device, without what its ledger has already; nothing is sent."""
    if isinstance(sampler, DeviceSampler):
        return sampler.estimate(circuits, shots=shots)
    n_circuits = sum(some.shape[0] * some.shape[1] for some in circuits)
    circuit = circuits[0].circuit if circuits else FeatureMap.of_angles(n_qubits=1, n_layers=1)  # none cost nothing
    return estimate(n_circuits, shots, circuit=circuit)


def known_tolerance(model: CentroidClassifier) -> int | None:
    """How many bit flips the model's own engine tolerates, if it says so."""
    return getattr(model.engine, "tolerance", None)


def training_cost(
    model: CentroidClassifier, X: ArrayLike, y: ArrayLike, *, n_calibrating: int = 0
) -> tuple[int, Estimate]:
    """Shots of one epoch of training on the model's device, and what all its epochs take at most; nothing is sent.

    The budget of the model's SampledEngine ends the training; a calibration measures ``n_calibrating`` circuits before.
    """
    engine, circuit = model.engine, model.feature_map_
    if not isinstance(engine, SampledEngine):
        raise InvalidInputError(f"training costs shots on a device alone, and the engine is {engine!r}.")
    per_epoch = model.epoch_shots(X, y)
    n_epochs = model.epochs if engine.budget is None else min(model.epochs, engine.budget // per_epoch)
    # A step of KAO measures its kernel, and for its derivatives shifted samples and shifted centroids, or both ways of
    # spsa; one of CO shifts centroids alone, which a joint step does with the kernel it has. The loss at the end of an
    # epoch takes another call.
    passes_ka, passes_co, batch_size = int(model.epochs_ka), int(model.epochs_co), int(model.batch_size)
    per_batch = 4 * passes_ka if model.steps == "joint" else 3 * passes_ka + 2 * passes_co
    n_calls = -(-len(np.asarray(y)) // batch_size) * per_batch + 1
    n_circuits = per_epoch // engine.shots
    n_splits, speed = 0, None
    if isinstance(engine.sampler, DeviceSampler):
        service = engine.sampler.service
        n_splits = len(job_ranges(n_circuits, shots=engine.shots, circuit=circuit, limits=service.limits)) - 1
        speed = service.speed
    n_jobs = n_epochs * (n_calls + n_splits) + bool(n_calibrating)
    n_all = n_epochs * n_circuits + n_calibrating
    return per_epoch, estimate(n_all, engine.shots, circuit=circuit, n_jobs=max(n_jobs, 1), speed=speed)


def centroid_calibration(model: CentroidClassifier, sampler: Sampler, *, shots: int, seed: int = 0) -> Calibration:
    """The paper's choice of b on a device, by the kernel between all centroids."""
    n_classes = len(model.classes_)
    if n_classes < 2:
        raise InvalidInputError("calibration compares classes, and this model has only one; name a tolerance.")
    counts = sampler.hamming_counts(model.overlap_circuits(), shots=shots)
    return calibrate(counts, labels=np.repeat(np.arange(n_classes), len(counts) // n_classes), seed=seed)


def accuracy_calibration(
    model: CentroidClassifier, sampler: Sampler, X: ArrayLike, y: ArrayLike, *, shots: int
) -> tuple[int, FloatArray]:
    """The b that labels most of these samples right on a device, and the accuracy of every b from 0 to n."""
    if len(model.centroids_) != len(model.classes_):
        raise InvalidInputError("a tolerance by accuracy takes models with one centroid per class; take the centroids.")
    numbers = {str(name): number for number, name in enumerate(model.classes_)}
    names = [str(name) for name in np.asarray(y).tolist()]
    if unknown := sorted(set(names) - numbers.keys()):
        raise InvalidInputError(
            f"there is the label {unknown[0]!r}, which the model does not know; it knows {', '.join(numbers)}."
        )
    truth = np.array([numbers[name] for name in names])
    counts = sampler.hamming_counts(model.overlap_circuits(X), shots=shots)
    return training_tolerance(counts, truth), accuracies_by_tolerance(counts, truth)
