"""What all classifiers on the trainable feature map share: from what a user passes to what training sees."""

from __future__ import annotations

import copy
import math
import reprlib
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeAlias, TypeVar, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from mcquack.arrays import FloatArray
from mcquack.checks import MOST, did_you_mean, is_whole_number
from mcquack.circuits.circuit import Circuit
from mcquack.circuits.feature_map import FeatureMap
from mcquack.circuits.library import MAPS, circuit_named, paper
from mcquack.constraints import (
    CLASS_WEIGHT,
    RANDOM_STATE,
    VERBOSE,
    Boolean,
    Constraints,
    Number,
    OneOf,
    Optional,
    Whole,
)
from mcquack.errors import InvalidInputError
from mcquack.models.archive import (
    Archived,
    restored_dtype,
    restored_feature_map,
    restored_history,
    restored_range,
    restored_seed,
)
from mcquack.models.features import SCALE, Features, Scale, learned_features, scaling_range
from mcquack.models.model_file import ModelFile
from mcquack.models.preparation import (
    ClassWeight,
    Prepared,
    check_reach,
    checked_sample_weight,
    class_factors,
    class_numbers,
    fitted_scaler,
    merged_repeats,
    scaled,
)
from mcquack.randomness import held_out
from mcquack.simulators.choice import ENGINE, EngineChoice, engine_of
from mcquack.simulators.compiled.memory import require_bytes
from mcquack.simulators.compiled.notice import noted_compiling
from mcquack.simulators.engine import Engine
from mcquack.training.state import InitStrategy, TrainingData

if TYPE_CHECKING:
    from mcquack.kernels.quantum import QuantumKernel

HistoryRow = dict[str, float | int | None]
ValidationData = tuple[ArrayLike, ArrayLike]
FeatureMapChoice: TypeAlias = str | Circuit | Callable[[int], Circuit]
OWN_MAPS = ("paper", "device")  # whose layers may depend on the engine


class CircuitClassifier(ClassifierMixin, Archived):
    """A classifier on samples that pass through a trainable feature map."""

    _constraints: ClassVar[Constraints] = {
        "n_qubits": Whole(1),
        "n_repetitions": Optional(Whole(1, most=MOST["n_repetitions"])),
        "epochs": Whole(1),
        "patience": Optional(Whole(1)),
        "init_strategy": OneOf(*get_args(InitStrategy)),
        "init_small": Boolean(),
        "n_components": Optional(Whole(1)),
        "scale": SCALE,
        "class_weight": CLASS_WEIGHT,
        "validation_fraction": Optional(Number(0, 1)),
        "engine": ENGINE,
        "random_state": RANDOM_STATE,
        "verbose": VERBOSE,
    }

    n_qubits: int
    n_repetitions: int | None
    epochs: int
    batch_size: int
    scale: Scale
    class_weight: ClassWeight
    feature_map: FeatureMapChoice
    engine: EngineChoice
    random_state: int | np.random.RandomState | None
    verbose: int
    feature_map_: Circuit
    feature_range_: tuple[float, float]
    history_: list[HistoryRow]
    n_iter_: int
    _seed: int

    _report: type[Any]  # of an epoch: its fields are the columns of the history
    _learning_rates: str  # the settings by which a training that diverges is slowed down
    _features_per_gate: Literal[1, 3] = 1
    _fingerprint: str = ""  # of the samples that the training state belongs to
    _seen: NDArray[np.bool_] | np.bool_ = np.True_  # which classes have had samples; a loaded model has seen all

    def _run_through(self, epochs: Iterable[HistoryRow]) -> Self:
        with noted_compiling(bool(self.verbose)):
            if self.verbose:
                from mcquack.progress import shown  # not above: it imports rich

                epochs = shown(epochs, of=self)
            run_through(epochs, lambda: f"after {self.n_iter_} epochs; the best of them is kept")
        return self

    def _tell_divergence(self, epoch: int, *, anything_kept: bool) -> None:
        message = f"training diverged in epoch {epoch}; lower {self._learning_rates}"
        if not anything_kept:
            raise InvalidInputError(f"{message}.")
        warnings.warn(f"{message}. The best model so far is kept.", ConvergenceWarning, stacklevel=3)

    def _check_classes(self, classes: NDArray[Any]) -> None:
        if len(classes) < 2:
            raise InvalidInputError(f"training needs at least two classes, got one class: {classes.tolist()}.")

    def _checked_samples(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None, *, anew: bool
    ) -> tuple[FloatArray, NDArray[Any], FloatArray, NDArray[Any] | None]:
        """Validated rows, labels and weights, without samples of weight zero, and the names of the features if any."""
        # Validation notes the features on what it is given: on a copy, so that a fit that fails changes nothing.
        noted = copy.copy(self) if anew else self
        rows, targets = validate_data(noted, X, y, dtype=np.float64, reset=anew)
        check_classification_targets(targets)
        weights = checked_sample_weight(sample_weight, len(rows))
        used = weights > 0
        kept = slice(None) if used.all() else used  # no copy of all the data for nothing
        return rows[kept], targets[kept], weights[kept], getattr(noted, "feature_names_in_", None)

    def _prepared(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        *,
        going_on: bool = False,
        classes: ArrayLike | None = None,
        validation_data: ValidationData | None = None,
        hold_out: float | None = None,
    ) -> Prepared:
        """What is settled before the first step; nothing of the estimator changes yet."""
        rows, y, weights, names = self._checked_samples(X, y, sample_weight, anew=not going_on)
        if going_on:
            known, seed = self.classes_, self._seed
        else:
            known = np.unique(y if classes is None else np.asarray(classes))
            self._check_classes(known)
            seed = _drawn_seed(self.random_state)
        labels = class_numbers(y, known)
        factors = class_factors(self.class_weight, known, labels, weights)
        weights = weights * factors[labels]
        kept_back = None
        if validation_data is not None:
            kept_back = self._checked_validation(validation_data, known, factors, n_features=rows.shape[1], names=names)
        elif hold_out:
            chosen = held_out(labels, fraction=hold_out, seed=seed)
            kept_back = (rows[chosen], labels[chosen], weights[chosen]) if chosen.any() else None
            rows, labels, weights = rows[~chosen], labels[~chosen], weights[~chosen]
        features = self.features_ if going_on else self._learned_features(rows, labels, weights)
        n_features = rows.shape[1]
        if features is not None:
            rows = features(rows)
            kept_back = kept_back and (features(kept_back[0]), *kept_back[1:])
        feature_map, engine = self._circuit_and_engine(rows.shape[1])
        if going_on and feature_map != self.feature_map_:
            raise InvalidInputError(
                "the settings now ask for another circuit than that of the trained parameters; "
                "put n_qubits, n_repetitions and feature_map back, or set warm_start=False to fit anew."
            )
        scaling = scaling_range(self.scale)
        if going_on:
            scaler = self.scaler_
        else:
            scaler = None if scaling is None else fitted_scaler(rows, scaling)
        if scaler is None:
            check_reach(rows, engine.dtype, feature_map)
        data = TrainingData(scaled(rows, scaler, engine.dtype, feature_map), labels, weights, len(known))
        present = np.bincount(labels, minlength=len(known)) > 0
        return Prepared(
            n_features=n_features,
            feature_names=names,
            classes=known,
            seen=present | self._seen if going_on else present,
            seed=seed,
            features=features,
            scaler=scaler,
            feature_range=self.feature_range_ if going_on else scaling or _extent(data.X),
            engine=engine.on(feature_map, seed=seed),
            training=merged_repeats(data, self.batch_size),
            validation=kept_back
            and TrainingData(
                scaled(kept_back[0], scaler, engine.dtype, feature_map), kept_back[1], kept_back[2], len(known)
            ),
        )

    def _learned_features(self, rows: FloatArray, labels: NDArray[np.int64], weights: FloatArray) -> Features | None:
        settings = self.get_params(deep=False)
        asked = {name: settings[name] for name in ("n_components", "transformer", "scale") if name in settings}
        return learned_features(rows, labels, weights, **asked)

    def _checked_validation(
        self,
        validation_data: ValidationData,
        classes: NDArray[Any],
        factors: FloatArray,
        *,
        n_features: int,
        names: NDArray[Any] | None,
    ) -> tuple[FloatArray, NDArray[np.int64], FloatArray]:
        if not isinstance(validation_data, tuple | list) or len(validation_data) != 2:
            raise InvalidInputError("validation_data must be a pair (X, y).")
        noted = copy.copy(self)
        noted.n_features_in_ = n_features
        if names is not None:
            noted.feature_names_in_ = names
        X, y, weights, _ = noted._checked_samples(*validation_data, None, anew=False)
        labels = class_numbers(y, classes)
        return X, labels, weights * factors[labels]

    @property
    def _known_size(self) -> Circuit | int:
        """The circuit if it is given, else its qubits: what is known of it before the samples are."""
        return self.feature_map if isinstance(self.feature_map, Circuit) else int(self.n_qubits)

    def _circuit_and_engine(self, n_features: int) -> tuple[Circuit, Engine[Any]]:
        """The circuit for so many features, and the engine that runs it."""
        if isinstance(self.feature_map, str) and self.feature_map in OWN_MAPS:
            engine = engine_of(self.engine, self.n_qubits)
            return self._own_map(n_features, engine), engine
        circuit = self._given_circuit(n_features)
        if circuit.n_features != n_features:
            raise InvalidInputError(
                f"feature_map takes {circuit.n_features} features, and the samples have {n_features}; make one for as "
                "many, or give its name."
            )
        return circuit, engine_of(self.engine, circuit)

    def _given_circuit(self, n_features: int) -> Circuit:
        """The circuit that was given, that a builder makes for so many features, or that the library has by name."""
        given = self.feature_map
        if isinstance(given, str) and given in MAPS:
            return circuit_named(given, n_features=n_features, n_qubits=self.n_qubits, n_repetitions=self.n_repetitions)
        is_builder = callable(given) and not isinstance(given, type)
        built = given(n_features) if is_builder else given  # type: ignore[operator]
        if isinstance(built, Circuit):
            return built
        if is_builder:
            raise InvalidInputError(
                f"feature_map must make a Circuit of a number of features, and for {n_features} it made "
                f"{reprlib.repr(built)}; return a circuit."
            )
        hint = did_you_mean(given, MAPS, otherwise="") if isinstance(given, str) else ""
        raise InvalidInputError(
            f"feature_map must be one of {', '.join(map(repr, MAPS))}, a Circuit, or a function that makes one of the "
            f"number of features, got {reprlib.repr(given)}. {hint}".rstrip()
        )

    def _own_map(self, n_features: int, engine: Engine[Any]) -> FeatureMap:
        once = self.n_repetitions is None and engine.few_layers
        found = paper(
            n_features,
            self.n_qubits,
            n_repetitions=1 if once else self.n_repetitions,
            final_entangler=self.feature_map == "paper",
            features_per_gate=self._features_per_gate,
        )
        engine.check(found)  # what it does not take is more to the point than that there is no room for it
        # Weights and biases, what the optimizer remembers of them, and the table of their angles.
        require_bytes(12 * 8 * math.prod(found.parameter_shape), f"a circuit of {found.n_layers:,} layers")
        return found

    @property
    def _fitted_engine(self) -> Engine[Any]:
        return engine_of(self.engine, self.feature_map_).on(self.feature_map_, seed=self._seed_in_use)

    @property
    def _seed_in_use(self) -> int:
        """Where a fitted model's shots come from: ``random_state`` as it is now, or as it was if it is no number."""
        if not is_whole_number(self.random_state):
            return self._seed
        return _drawn_seed(self.random_state)

    def _keep_prepared(self, prepared: Prepared) -> None:
        keep_columns(self, prepared.n_features, prepared.feature_names)
        self.classes_ = prepared.classes
        self.features_ = prepared.features
        self.scaler_ = prepared.scaler
        self.feature_map_ = prepared.engine.feature_map
        self.feature_range_ = prepared.feature_range
        self._seed = prepared.seed
        self._fingerprint = prepared.fingerprint
        self._seen = prepared.seen

    def _saved_fields(self) -> dict[str, Any]:
        return {
            "feature_map": self.feature_map_.to_json(),
            "feature_range": list(self.feature_range_),
            "history": list(self.history_),
            "seed": self._seed,
        }

    def _restore(self, file: ModelFile) -> None:
        own = isinstance(self.feature_map, str) and self.feature_map in OWN_MAPS  # else it may have any gates
        self.feature_map_ = restored_feature_map(
            file,
            n_features=self._n_inputs,
            features_per_gate=self._features_per_gate if own else None,
            kind=type(self).__name__,
        )
        self.feature_range_ = restored_range(file.header)
        self._restore_arrays(file, restored_dtype(file))
        self.history_ = restored_history(file.header, columns={field.name for field in fields(self._report)})
        self.n_iter_ = len(self.history_)
        self._seed = restored_seed(file.header)

    def scaled(self, X: ArrayLike) -> FloatArray:
        """Samples as the circuit takes them: checked, scaled, and in the engine's type."""
        rows = validate_data(self, X, dtype=np.float64, reset=False)
        if self.features_ is not None:
            rows = self.features_(rows)
        return scaled(rows, self.scaler_, engine_of(self.engine, self.feature_map_).dtype, self.feature_map_)


def keep_columns(model: Any, n_features: int, names: NDArray[Any] | None) -> None:
    """Sets what scikit-learn wants to know of the columns; names of an earlier fit go where there are none now."""
    model.n_features_in_ = n_features
    if names is not None:
        model.feature_names_in_ = names
    elif hasattr(model, "feature_names_in_"):
        del model.feature_names_in_


M = TypeVar("M")


@contextmanager
def changed_at_once(model: M) -> Iterator[M]:
    """Gives a double of the model, and at the end the model what was set there: an interrupt finds all of it, or none.

    >>> from mcquack import McQuackClassifier
    >>> model = McQuackClassifier(epochs=1)
    >>> with changed_at_once(model) as double:
    ...     double.epochs = 2
    ...     model.epochs
    1
    >>> model.epochs
    2
    """
    double = object.__new__(type(model))
    double.__dict__.update(model.__dict__)
    yield double
    model.__dict__ = double.__dict__


def run_through(rows: Iterable[HistoryRow], what_is_kept: Callable[[], str]) -> None:
    """Trains to the end; an interrupt after the first row says what is kept, and is still an interrupt.

    Whoever fits many models, as a cross validation does, is thereby stopped as well.
    """
    row = None
    try:
        for row in rows:  # noqa: B007
            pass
    except KeyboardInterrupt:
        if row is None:
            raise
        raise KeyboardInterrupt(f"training was interrupted {what_is_kept()}.") from None


def trained_kernel(model: Any, *, on_scaled: bool = False, number: int = 0) -> QuantumKernel:
    """The kernel of a fitted model's circuit on features as users pass them, or on features that are scaled already.

    Engines that draw random numbers draw others for every number.
    """
    from mcquack.kernels.quantum import QuantumKernel

    scaler = None if on_scaled else model.scaler_
    return QuantumKernel(
        model.feature_map_,
        model.weights_,
        model.bias_,
        engine=model.engine,
        features=None if on_scaled else model.features_,
        scaling=None if scaler is None else (scaler.scale_, scaler.min_),
        seed=model._seed_in_use + number,
    )


def _drawn_seed(random_state: int | np.random.RandomState | None) -> int:
    if is_whole_number(random_state):
        return _seed_from(int(random_state))  # type: ignore[arg-type]
    return int(check_random_state(random_state).randint(2**31))


@lru_cache(maxsize=256)
def _seed_from(random_state: int) -> int:
    """Return the first draw of the generator with this seed; it is kept, as making the generator takes longest."""
    return int(check_random_state(random_state).randint(2**31))


def _extent(X: FloatArray) -> tuple[float, float]:
    """The range of all features, as centroids should keep to it; a point has a range around it."""
    low, high = float(X.min()), float(X.max())
    return (low, high) if low < high else (low - 0.5, high + 0.5)
