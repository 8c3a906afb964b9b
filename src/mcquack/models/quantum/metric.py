"""An embedding that is trained to keep classes apart, and the nearest class by mean overlap."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from mcquack.arrays import FloatArray, IntArray
from mcquack.circuits.angles import b, x
from mcquack.circuits.circuit import Circuit
from mcquack.constraints import Constraints, OneOf, Optional, Whole
from mcquack.errors import InvalidInputError
from mcquack.kernels.fidelity import shares
from mcquack.models.model_file import ModelFile, require_tensor, require_that
from mcquack.models.preparation import Prepared
from mcquack.models.quantum.base import DrawnClassifier, Precision, Scaler, Shapes, drawn_weights
from mcquack.randomness import stream
from mcquack.simulators.gates import GateEngine
from mcquack.training.drawn import DrawnTraining, PairedCircuit
from mcquack.training.draws import Draws, KeyStream, normal
from mcquack.training.endings import Progress
from mcquack.training.state import TrainingData

_ROWS_AT_ONCE, _EXAMPLES_AT_ONCE = 2048, 8192
_BLOCK_BYTES = 1 << 28  # of examples that are held as states at a time


@dataclass(eq=False, repr=False)
class QuantumMetricLearner(DrawnClassifier):
    """Samples of different classes are embedded to overlap little; a new one goes to the class it overlaps most.

    The embedding of Lloyd and others (arXiv:2001.03622) as the QML benchmark suite (Bowles, Ahmed and Schuld 2024) has
    it: layers of RX(x_i), exp(-i/2 w ZZ) around a ring and RY(w), with one qubit more than features. The loss is the
    mean overlap |⟨a|b⟩|² of samples of two classes, over all pairs of classes; the term within a class that the
    suite's paper has is a constant in its code, as each sample is compared with itself.

    Here a prediction looks at all training samples, and so is the same every time; the suite draws 32 of each class
    for every call, by which accuracies change by some .03. Batches are drawn from each class apart; the suite pairs the
    k-th sample of one class with the k-th of the other, never sees what one class has more, or repeats its last.

    Parameters
    ----------
    n_layers : layers of the embedding.
    pairs : "independent" draws the samples of each class apart; "fixed" pairs them by their order, as the suite does.
    n_examples_predict : how many training samples of each class a prediction looks at, drawn once after training, as
        the suite has 32; None takes all.
    n_components : each feature takes a qubit; more features than this are replaced by as many principal components.
    learning_rate, batch_size, max_steps, convergence_interval, dtype, random_state : as in
        :class:`DressedQuantumCircuitClassifier`; a batch has as many samples of each class.
    scaling : factor on the features, which are scaled to [-π/2, π/2] first.

    Attributes
    ----------
    params_ : weights (L, 2n) for n qubits: angles of ZZ, then of RY; for one feature (L, 3).
    examples_, example_labels_, example_weights_ : The samples that predictions look at. All others are those of
        :class:`DressedQuantumCircuitClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mcquack.models import QuantumMetricLearner
    >>> X, y = load_iris(return_X_y=True)
    >>> model = QuantumMetricLearner(n_layers=1, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    _constraints: ClassVar[Constraints] = {
        "pairs": OneOf("independent", "fixed"),
        "n_examples_predict": Optional(Whole(1)),
        "n_components": Whole(1, most=19),  # and one qubit more
    }
    _scaler: ClassVar[Scaler] = "angles"

    n_layers: int = 3
    _: KW_ONLY
    pairs: Literal["independent", "fixed"] = "independent"
    n_examples_predict: int | None = None
    learning_rate: float = 0.01
    max_steps: int = 50_000
    n_components: int = 11
    dtype: Precision = "float64"

    def _parameter_shapes(self, n_inputs: int, n_classes: int) -> Shapes:
        return {"weights": (self.n_layers, 2 * (n_inputs + 1) if n_inputs > 1 else 3)}

    def _initial_parameters(self, keys: KeyStream, shapes: Shapes) -> dict[str, FloatArray]:
        return {"weights": 0.1 * normal(int(keys.take(1)[0]), shapes["weights"])}

    def _embedding(self, n_inputs: int) -> Circuit:
        n = n_inputs + 1
        ring = [(qubit, (qubit + 1) % n) for qubit in range(n if n > 2 else 1)]
        features = Circuit(n, n_inputs).rx(range(n_inputs), [x[place] for place in range(n_inputs)]).h(n_inputs)
        return (features.rzz(ring, b).ry(range(n), b)).repeated(self.n_layers) + features

    # Training

    def _keys_per_step(self, prepared: Prepared) -> int:
        return 1 if self.pairs == "fixed" else len(prepared.classes)

    def _draws(self, prepared: Prepared) -> Callable[[IntArray], IntArray]:
        of_class, weights = rows_of_classes(prepared.training), drawn_weights(prepared.training)
        if not all(map(len, of_class)):
            raise InvalidInputError("a class has no samples of positive weight; give each at least one.")
        if self.pairs == "fixed":
            if weights is not None:
                raise InvalidInputError(
                    'pairs="fixed" pairs samples by their order, which is lost where some have weights or repeat '
                    'themselves; take pairs="independent".'
                )
            return _drawn_together(of_class, self.batch_size)
        return _drawn_apart(of_class, self.batch_size, weights)

    def _training(self, prepared: Prepared, number: int) -> DrawnTraining:
        circuit, n_classes, data = self._embedding(prepared.n_inputs), len(prepared.classes), prepared.training
        model = PairedCircuit(circuit=circuit, n_parameters=circuit.n_bias, n_classes=n_classes)
        return DrawnTraining(model, data.X, data.labels, batch_size=n_classes * self.batch_size, dtype=self._dtype)

    def _set_fitted(self, asked: Any, prepared: Prepared, progress: Progress) -> None:
        super()._set_fitted(asked, prepared, progress)
        data = prepared.training
        chosen = np.arange(len(data.X))
        if asked.n_examples_predict is not None:
            draws = stream(prepared.seed, "examples")
            drawn = [draws.permutation(rows)[: asked.n_examples_predict] for rows in rows_of_classes(data)]
            chosen = np.sort(np.concatenate(drawn))
        self.examples_, self.example_labels_ = data.X[chosen], data.labels[chosen]
        self.example_weights_ = data.row_weights[chosen]

    def _scores(self, rows: FloatArray) -> FloatArray:
        """The mean overlap with the examples of each class, as shares."""
        engine = GateEngine(self._embedding(self._n_inputs), dtype=self._dtype)
        size = max(1, min(_EXAMPLES_AT_ONCE, _BLOCK_BYTES // (2 * engine.feature_map.dimension * self._dtype.itemsize)))
        n_classes = len(self.classes_)
        of_classes = (self.example_labels_[:, None] == np.arange(n_classes)) * self.example_weights_[:, None]
        of_classes = of_classes / of_classes.sum(axis=0)
        scores = np.zeros((len(rows), n_classes))
        nothing, bias = np.zeros(0, self._dtype), self.parameters_[0]
        for first in range(0, len(self.examples_), size):
            some = slice(first, first + size)
            for part in gen_batches(len(rows), _ROWS_AT_ONCE):
                overlaps = engine.kernel(rows[part], self.examples_[some], weights=nothing, bias=bias)
                scores[part] += overlaps.astype(np.float64) @ of_classes[some]
        return shares(scores)

    # Files

    def _saved_tensors(self) -> dict[str, NDArray[Any]]:
        examples = {name: getattr(self, f"{name}_") for name in ("examples", "example_labels", "example_weights")}
        return {**super()._saved_tensors(), **examples}

    def _restore(self, file: ModelFile) -> None:
        super()._restore(file)
        n_inputs = self._n_inputs
        self.examples_ = require_tensor(file, "examples", shape=(None, n_inputs), dtype=np.float64)
        count = (len(self.examples_),)
        self.example_labels_ = require_tensor(file, "example_labels", shape=count, dtype=np.int64)
        self.example_weights_ = require_tensor(file, "example_weights", shape=count, dtype=np.float64)
        known = np.unique(self.example_labels_).tolist() == list(range(len(self.classes_)))
        require_that(known and (self.example_weights_ > 0).all(), "its examples do not show each of its classes.")


def rows_of_classes(data: TrainingData) -> list[IntArray]:
    """Return the numbers of the rows of each class."""
    return [np.flatnonzero(data.labels == own) for own in range(data.n_classes)]


def _drawn_together(of_class: list[IntArray], batch_size: int) -> Callable[[IntArray], IntArray]:
    """One list of places for all classes, below the size of the first; beyond the end of a class its last stands in."""
    draws = Draws(len(of_class[0]), batch_size)

    def drawn(keys: IntArray) -> IntArray:
        places = draws(keys)
        return np.stack([rows[np.minimum(places, len(rows) - 1)] for rows in of_class], axis=1)

    return drawn


def _drawn_apart(
    of_class: list[IntArray], batch_size: int, weights: FloatArray | None
) -> Callable[[IntArray], IntArray]:
    """A list of places for each class, each drawn from its own keys."""
    draws = [Draws(len(rows), batch_size, None if weights is None else weights[rows]) for rows in of_class]

    def drawn(keys: IntArray) -> IntArray:
        by_class = np.ascontiguousarray(keys.reshape(-1, len(draws)).T)
        return np.stack([rows[draw(own)] for rows, draw, own in zip(of_class, draws, by_class, strict=True)], axis=1)

    return drawn
