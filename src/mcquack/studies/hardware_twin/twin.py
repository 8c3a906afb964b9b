"""The experiment's model as a scikit-learn classifier, and the paper's strongest rival of it."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from functools import lru_cache
from itertools import product
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold
from sklearn.svm import SVC
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from mcquack.checks import required_count
from mcquack.circuits.feature_map import FeatureMap
from mcquack.kernels.bitflip import Calibration, calibrate, mean_hamming, tolerant_kernel, training_tolerance
from mcquack.models.mcquack import McQuackClassifier
from mcquack.simulators.ring import RingEngine
from mcquack.simulators.shots import Shots
from mcquack.studies import ScoredClassifier
from mcquack.studies.hardware_twin.measuring import Arrays, Reading, TwinCircuit, View
from mcquack.training.state import class_means

Learning = Literal["none", "fidelity", "tolerance"]
HistoryRow = dict[str, float | int | None]
EPOCHS: Mapping[Learning, int] = {"fidelity": 100, "tolerance": 10}  # about 20 and 50 seconds on one core


@lru_cache(maxsize=4)  # for each way to read it the model is the same
def _fitted(
    samples: Arrays, learning: Learning, n_qubits: int, epochs: int, n_threads: int | None
) -> McQuackClassifier:
    X, labels = samples.values
    by_tolerance = learning == "tolerance"
    engine = Shots(training_tolerance=n_qubits // 4 if by_tolerance else None, engine=RingEngine(n_threads=n_threads))
    return McQuackClassifier(
        n_qubits,
        epochs=epochs,
        loss="alignment",
        steps="alternating",
        init_small=not by_tolerance,  # small parameters rotate no bit so often that k^b would notice
        scale=False,
        feature_map="device",
        engine=engine,
        random_state=0,
    ).fit(X, labels)


Rule = Literal["fidelity", "paper", "argmax", "accuracy", "mean", "fixed"]
PAPER_TOLERANCE, PAPER_QUBITS = 45, 124  # the b that the paper found on Pittsburgh and took on both devices
_NEVER_A_STEP = 1e9  # exact kernels differ by more than one in so many


@dataclass(eq=False, repr=False)
class TwinClassifier(ScoredClassifier):
    """McQuack on 124 qubits, as one of several views sees it; subclasses say which.

    ``learning`` is "none" (weights and biases one, class means as centroids) or what training aligned, exactly:
    "fidelity", or "tolerance" for k^b with b = n/4. ``view`` is "exact", "shots" (without noise), "pittsburgh" or
    "aachen". ``rule`` is "fidelity" (exact, no tolerance), or how weights are read: with the b that the paper's rule
    finds between the centroids ("paper"; "argmax" if equal shares of shots go to the first class), with the b of the
    best accuracy on the training part ("accuracy"), with the paper's own b = 45 ("fixed"; the same share of
    other numbers of qubits), or by the smaller mean weight, which needs no b ("mean").

    Parameters
    ----------
    n_qubits : of the ring. shots : for every circuit. epochs : of training, at most; None for 100, or 10 with k^b.
    random_state : of shots and noise alone; training has its own, so that runs differ as runs on a device do.

    Attributes
    ----------
    circuit_ : feature map, parameters and centroids. tolerance_ : b, or None. calibration_ : its curve, or None.
    """

    learning: ClassVar[Learning] = "none"
    view: ClassVar[View] = "exact"
    rule: ClassVar[Rule] = "fidelity"

    n_qubits: int = 124
    _: KW_ONLY
    shots: int = 100
    epochs: int | None = None
    n_threads: int | None = None
    random_state: int | np.random.RandomState | None = None

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learns the centroids, the parameters if it is to be trained, and how to read the weights."""
        required_count("shots", self.shots)
        rows, targets = validate_data(self, X, y, dtype=np.float64)
        self.classes_, labels = np.unique(targets, return_inverse=True)
        self._seed = int(check_random_state(self.random_state).randint(2**31))
        self.circuit_, self.history_ = self._learned(rows, labels)
        self.calibration_: Calibration | None = None
        self.tolerance_: int | None = None
        if self.rule in ("paper", "argmax"):
            self.calibration_ = calibrate(
                self._hamming(self.circuit_.parameters.values[2], "calibration"), seed=self._seed
            )
            self.tolerance_ = self.calibration_.tolerance
        elif self.rule == "accuracy":
            self.tolerance_ = training_tolerance(self._hamming(rows, "training"), labels)
        elif self.rule == "fixed":
            self.tolerance_ = round(PAPER_TOLERANCE * self.n_qubits / PAPER_QUBITS)
        if self.tolerance_ is not None:  # where rows of a benchmark keep it
            self.history_ = [*self.history_[:-1], {**self.history_[-1], "tolerance": self.tolerance_}]
        return self

    def _learned(self, X: NDArray[Any], labels: NDArray[np.int64]) -> tuple[TwinCircuit, list[HistoryRow]]:
        if self.learning == "none":
            feature_map = FeatureMap.with_repetitions(
                n_qubits=self.n_qubits, n_features=X.shape[1], final_entangler=False
            )
            ones = np.ones(feature_map.parameter_shape)
            centroids = class_means(X, labels, int(labels.max()) + 1, np.ones(len(X)))
            return TwinCircuit(feature_map=feature_map, parameters=Arrays((ones, ones, centroids))), [{"epoch": 0}]
        epochs = self.epochs or EPOCHS[self.learning]
        model = _fitted(Arrays((X, labels)), self.learning, self.n_qubits, epochs, self.n_threads)
        parameters = Arrays((model.weights_, model.bias_, model.centroids_))
        return TwinCircuit(feature_map=model.feature_map_, parameters=parameters), list(model.history_)

    def _hamming(self, X: NDArray[Any], purpose: str) -> NDArray[Any]:
        reading = Reading(view=self.view, shots=int(self.shots), seed=self._seed, purpose=purpose)
        return reading.hamming(X, self.circuit_, n_threads=self.n_threads)

    def _scores(self, X: ArrayLike) -> NDArray[np.floating]:
        """Larger for likelier classes, (N, M); equal k^b are told apart by their mean weights, unless by nothing."""
        check_is_fitted(self, "circuit_")
        rows = validate_data(self, X, dtype=np.float64, reset=False)
        if self.rule == "fidelity":
            engine, *encoded = self.circuit_.run(rows, n_threads=self.n_threads)
            return engine.log_fidelities(*encoded)
        ones = self._hamming(rows, "use")
        if self.tolerance_ is None:
            return -mean_hamming(ones)
        kernel = tolerant_kernel(ones, self.tolerance_)
        if self.rule == "argmax":
            return kernel
        # Means differ by at most n, so that this is less than one shot.
        steps = _NEVER_A_STEP if self.view == "exact" else 2 * self.shots
        return kernel - mean_hamming(ones) / (self.n_qubits * steps)

    @property
    def n_parameters_(self) -> int:
        return sum(array.size for array in self.circuit_.parameters.values)


# Every way to learn and to read the twin, as a class of its own: a benchmark tells models apart by their names.

_LEARNING: Mapping[Learning, str] = {"none": "Untrained", "fidelity": "Trained", "tolerance": "Tolerant"}


def contender(learning: Learning, view: View, rule: Rule) -> str:
    """Its name, as "UntrainedPittsburghPaper"."""
    start = _LEARNING[learning]
    return f"{start}Fidelity" if rule == "fidelity" else f"{start}{view.title()}{rule.title()}"


def _made(learning: Learning, view: View, rule: Rule) -> type[TwinClassifier]:
    fixed = {"learning": learning, "view": view, "rule": rule}
    told = f"learning: {learning}, view: {view}, rule: {rule}."
    home = __name__.rpartition(".")[0]
    return type(contender(learning, view, rule), (TwinClassifier,), {**fixed, "__doc__": told, "__module__": home})


def _is_wanted(learning: Learning, view: View, rule: Rule) -> bool:
    """Whether there is no other way to the same: the fidelity is exact, and exact values are never equal.

    The paper's b is that of its untrained model.
    """
    return {"fidelity": view == "exact", "argmax": view != "exact", "fixed": learning == "none"}.get(rule, True)


_WAYS = product(get_args(Learning), get_args(View), get_args(Rule))
CONTENDERS: Mapping[str, type[TwinClassifier]] = {contender(*way): _made(*way) for way in _WAYS if _is_wanted(*way)}


# The paper tells what its search found (C = 10, gamma = "scale"), not what was tried. These are the values that it
# tries for the SVC of its benchmark, and "scale".
_TRIED: Mapping[str, tuple[float | str, ...]] = {
    "C": (0.1, 1.0, 10.0, 100.0),
    "gamma": ("scale", 0.001, 0.01, 0.1, 1.0),
}


@dataclass(eq=False, repr=False)
class CrossValidatedSVC(ScoredClassifier):
    """scikit-learn's SVC with the C and γ of the best mean accuracy in repeated cross validation of the training part.

    The paper says "5 folds and 10 runs", which is read as ten random divisions into five folds with a share of each
    class. Of equal settings the first is taken, smaller C and then "scale" before numbers. Features stay as they come.

    Parameters
    ----------
    n_folds, n_runs : into how many folds the training part is divided, and how often anew.
    random_state : decides the divisions.

    Attributes
    ----------
    machine_ : the SVC, fitted on the whole training part. C_, gamma_ : its settings.
    details_ : both, with their mean accuracy in the cross validation.
    n_parameters_ : how many coefficients of support vectors there are.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(-1, size=(20, 3)), rng.normal(1, size=(20, 3))])
    >>> model = CrossValidatedSVC(n_runs=2, random_state=0).fit(X, [0] * 20 + [1] * 20)
    >>> sorted(model.details_)
    ['C', 'cross_validation_accuracy', 'gamma']
    """

    n_folds: int = 5
    _: KW_ONLY
    n_runs: int = 10
    random_state: int | np.random.RandomState | None = None

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Searches the settings, and learns from all samples with the best."""
        required_count("n_runs", self.n_runs)
        rows, targets = validate_data(self, X, y, dtype=np.float64)
        seed = int(check_random_state(self.random_state).randint(2**31))
        folds = RepeatedStratifiedKFold(n_splits=self.n_folds, n_repeats=self.n_runs, random_state=seed)
        search = GridSearchCV(SVC(), {name: list(values) for name, values in _TRIED.items()}, cv=folds)
        search.fit(rows, targets)
        self.machine_: SVC = search.best_estimator_
        self.classes_ = self.machine_.classes_
        self.C_, self.gamma_ = search.best_params_["C"], search.best_params_["gamma"]
        accuracy = float(search.best_score_)
        self.details_ = {"C": self.C_, "gamma": self.gamma_, "cross_validation_accuracy": accuracy}
        return self

    def _scores(self, X: ArrayLike) -> NDArray[np.floating]:
        check_is_fitted(self, "machine_")
        scores: NDArray[Any] = self.machine_.decision_function(validate_data(self, X, dtype=np.float64, reset=False))
        return np.column_stack([-scores, scores]) / 2 if scores.ndim == 1 else scores

    @property
    def n_parameters_(self) -> int:
        return int(self.machine_.dual_coef_.size)
