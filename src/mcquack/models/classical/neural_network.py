"""Neural networks of a few dense layers."""

import warnings
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from itertools import count, takewhile
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

from mcquack.arrays import FloatArray
from mcquack.checks import MOST, require
from mcquack.circuits.feature_map import FeatureMap
from mcquack.constraints import POSITIVE, Constraints, Custom, Number, OneOf, Optional, Whole
from mcquack.errors import InvalidInputError, Setting
from mcquack.models.classical.base import ClassicalClassifier, Labels, softmax_shares
from mcquack.models.features import Scale
from mcquack.models.model_file import ModelFile, require_tensor, require_that

_MOST_PARAMETERS = 10_000_000  # more would not be a network of a few dense layers, but an accident
_MOST_WIDE = 100_000


def perceptron_parameters(n_features: int, n_outputs: int, hidden: tuple[int, int]) -> int:
    """Weights and biases: (d + 1)·h₁ + (h₁ + 1)·h₂ + (h₂ + 1)·o."""
    first, second = hidden
    return (n_features + 1) * first + (first + 1) * second + (second + 1) * n_outputs


def matched_layers(n_features: int, n_outputs: int, target: int) -> tuple[int, int]:
    """The widths that :class:`MatchedNeuralNetwork` describes; of equally balanced pairs the one with a wider first."""
    d, o = n_features, n_outputs
    narrowest = max(o, 2)
    if perceptron_parameters(d, o, (narrowest, narrowest)) > target:
        narrowest = 1

    def least(first: int) -> tuple[int, int]:
        return first, max(narrowest, -((o + (d + 1) * first - target) // (first + 1 + o)))

    pairs = map(least, range(narrowest, max(narrowest, -(-target // (d + 1))) + 1))
    return min(pairs, key=lambda pair: (perceptron_parameters(d, o, pair), abs(pair[0] - pair[1]), -pair[0]))


Activation = Literal["relu", "tanh", "sigmoid"]
HistoryRow = dict[str, float | int]

_ACTIVATIONS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "relu": lambda x: np.maximum(x, 0),
    "tanh": np.tanh,
    "sigmoid": lambda x: np.exp(-np.logaddexp(0, -x)),
}


class _Perceptron(ClassicalClassifier):
    """Dense layers with an activation between them, trained by Adam on the cross entropy."""

    _constraints: ClassVar[Constraints] = {
        "activation": OneOf(*_ACTIVATIONS),
        "learning_rate": POSITIVE,
        "batch_size": Whole(1),
    }

    activation: Activation
    learning_rate: float
    batch_size: int
    weights_: list[FloatArray]
    biases_: list[FloatArray]
    history_: list[HistoryRow]

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Softmax of the last layer's outputs (N, M)."""
        return softmax_shares(self.decision_function(X))

    @property
    def n_parameters_(self) -> int:
        """Weights and biases; two classes share one output."""
        return sum(array.size for array in (*self.weights_, *self.biases_))

    @property
    def hidden_layer_sizes_(self) -> tuple[int, ...]:
        return tuple(len(bias) for bias in self.biases_[:-1])

    @property
    def n_iter_(self) -> int:
        return len(self.history_)

    def _train(self, X: FloatArray, labels: Labels, **settings: Any) -> None:
        network = MLPClassifier(
            activation="logistic" if self.activation == "sigmoid" else self.activation,
            learning_rate_init=self.learning_rate,
            batch_size=min(self.batch_size, len(X)),
            random_state=self.random_state,
            **settings,
        )
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                losses = np.asarray_chkfinite(network.fit(X, labels).loss_curve_)
        except ValueError as error:  # of numbers that are not finite: all else is checked already
            lower, use = Setting("learning_rate"), Setting("scale", True)
            raise InvalidInputError("training diverged; lower ", lower, ", or use ", use, ".") from error
        self.weights_, self.biases_ = network.coefs_, network.intercepts_
        self._set_history(losses)

    def _set_history(self, losses: FloatArray) -> None:
        numbered = enumerate(losses.tolist(), start=1)
        self.history_ = [{"epoch": epoch, "loss": loss} for epoch, loss in numbered]

    def _scores(self, X: FloatArray) -> FloatArray:
        activate = _ACTIVATIONS[self.activation]
        for weights, bias in zip(self.weights_[:-1], self.biases_[:-1], strict=True):
            X = activate(X @ weights + bias)
        outputs: FloatArray = X @ self.weights_[-1] + self.biases_[-1]
        return outputs if len(self.classes_) > 2 else outputs[:, 0]

    def _saved_tensors(self) -> dict[str, NDArray[Any]]:
        layers = {f"weights_{layer}": array for layer, array in enumerate(self.weights_)}
        layers |= {f"biases_{layer}": array for layer, array in enumerate(self.biases_)}
        return {**layers, "losses": np.array([row["loss"] for row in self.history_])}

    def _restore(self, file: ModelFile) -> None:
        self._set_history(require_tensor(file, "losses", shape=(None,), dtype=np.float64))
        self.weights_, self.biases_ = [], []
        width: int = self._n_inputs
        for layer in takewhile(lambda layer: f"weights_{layer}" in file.tensors, count()):
            weights = require_tensor(file, f"weights_{layer}", shape=(width, None), dtype=np.float64)
            width = weights.shape[1]
            self.weights_.append(weights)
            self.biases_.append(require_tensor(file, f"biases_{layer}", shape=(width,), dtype=np.float64))
        fit = self.weights_ and 0 not in self.hidden_layer_sizes_ and width == _n_outputs(len(self.classes_))
        require_that(fit, "its layers do not lead from its features to its classes.")


@dataclass(eq=False, repr=False)
class MatchedNeuralNetwork(_Perceptron):
    """Two hidden layers, as wide as gives the network McQuack's number of parameters, or as few more as can be.

    McQuack's number is 6nL + M·d, see :class:`~mcquack.circuits.feature_map.FeatureMap`. No layer is narrower than the
    outputs (or than two) if so narrow a network keeps within the target; of pairs with the same count the most balanced
    is taken. Counted is what is trained: for two classes that is one output with a logistic function. The paper counts
    two outputs there, and its networks are up to 284 parameters larger than McQuack.

    Parameters
    ----------
    activation : "tanh", "relu" or "sigmoid"; the paper tries all three. In layers this narrow, those of "relu" may die.
    epochs : passes over the samples; training never ends early.
    learning_rate : of Adam.
    batch_size : samples in a mini-batch, at most all of them.
    n_parameters : how many parameters to match; None takes those of McQuack with the next two settings.
    n_qubits, n_repetitions : of the McQuack to match.
    n_components : principal components that take the place of more features than so many; None keeps features.
    scale : the range that features are scaled to, True for [0, 1], or one of the scales that McQuackClassifier has.
    random_state : decides the first weights and the mini-batches.

    Attributes
    ----------
    weights_, biases_ : one array for each layer, the output included. hidden_layer_sizes_ : their widths.
    n_parameters_ : count of all these numbers.
    history_ : for each epoch a row with its number and its mean loss. n_iter_ : how many epochs were run.
    classes_, n_features_in_, feature_names_in_, scaler_ : as in :class:`~mcquack.models.mcquack.McQuackClassifier`.
    """

    _constraints: ClassVar[Constraints] = {
        "epochs": Whole(1),
        "n_parameters": Optional(Whole(1)),
        "n_qubits": Whole(1),
        "n_repetitions": Whole(1, most=MOST["n_repetitions"]),
    }

    activation: Activation = "tanh"
    _: KW_ONLY
    epochs: int = 400
    learning_rate: float = 1e-3
    batch_size: int = 100
    n_parameters: int | None = None
    n_qubits: int = 6
    n_repetitions: int = 1

    def _learn(self, X: FloatArray, labels: Labels, weights: FloatArray) -> None:
        target = self._target(X.shape[1])
        named = "n_parameters, or that of a circuit with these n_qubits and n_repetitions,"
        require(target <= _MOST_PARAMETERS, named, f"at most {_MOST_PARAMETERS:,}", target)
        sizes = matched_layers(X.shape[1], _n_outputs(len(self.classes_)), target)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the number of epochs is meant
            self._train(
                X, labels, hidden_layer_sizes=sizes, alpha=0.0, max_iter=self.epochs, tol=0.0,
                n_iter_no_change=self.epochs,
            )  # fmt: skip

    def _target(self, n_features: int) -> int:
        if self.n_parameters is not None:
            return self.n_parameters
        circuit = FeatureMap.with_repetitions(
            n_qubits=self.n_qubits, n_features=n_features, n_repetitions=self.n_repetitions
        )
        return circuit.n_parameters(len(self.classes_))


@dataclass(eq=False, repr=False)
class MultilayerPerceptron(_Perceptron):
    """The neural network of the QML benchmark suite, which takes features as they come.

    Parameters
    ----------
    hidden_layer_sizes : width of each hidden layer.
    alpha : penalty α‖w‖² on the weights.
    learning_rate : of Adam.
    max_iter : epochs at most; training ends when ten in a row have not lowered the loss by 1e-4.
    batch_size : samples in a mini-batch, at most all of them.
    activation : "relu", "tanh" or "sigmoid".
    n_components : principal components that take the place of more features than so many; None keeps features.
    scale : the range that features are scaled to, True for [0, 1], or one of the scales that McQuackClassifier has.
    random_state : decides the first weights and the mini-batches.

    Attributes are those of :class:`MatchedNeuralNetwork`.
    """

    _constraints: ClassVar[Constraints] = {
        "hidden_layer_sizes": Custom(
            f"a tuple of whole numbers from 1 to {_MOST_WIDE:,}",
            lambda sizes: isinstance(sizes, tuple | list) and all(map(Whole(1, most=_MOST_WIDE).accepts, sizes)),
        ),
        "alpha": Number(0),
        "max_iter": Whole(1),
    }

    hidden_layer_sizes: tuple[int, ...] = (100,)
    alpha: float = 1e-4
    _: KW_ONLY
    learning_rate: float = 1e-3
    max_iter: int = 3000
    batch_size: int = 32
    activation: Activation = "relu"
    scale: Scale = False

    def _learn(self, X: FloatArray, labels: Labels, weights: FloatArray) -> None:
        self._train(X, labels, hidden_layer_sizes=self.hidden_layer_sizes, alpha=self.alpha, max_iter=self.max_iter)

    def _restore(self, file: ModelFile) -> None:
        super()._restore(file)
        same = self.hidden_layer_sizes_ == tuple(self.hidden_layer_sizes)
        require_that(same, f"its layers are not those of its settings, {self.hidden_layer_sizes}.")


def _n_outputs(n_classes: int) -> int:
    return 1 if n_classes == 2 else n_classes  # a logistic function needs one output for two
