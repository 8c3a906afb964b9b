"""What classifiers on a trainable feature map share: the circuit, its engine, and features as the circuit sees them."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Callable, Generator
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import validate_data

from mcquack.arrays import FloatArray, IntArray
from mcquack.checks import MOST, did_you_mean, is_whole_number
from mcquack.circuits.circuit import Circuit
from mcquack.circuits.feature_map import FeatureMap
from mcquack.circuits.library import MAPS, circuit_named, paper
from mcquack.constraints import Boolean, Constraints, Number, OneOf, Optional, Whole
from mcquack.errors import InvalidInputError, Setting
from mcquack.models.archive import Shape, Trained, restored_circuit, restored_range
from mcquack.models.base import HistoryRow, TrainedClassifier, ValidationData, drawn_seed
from mcquack.models.features import SCALE, Features, Scale, learned_features, scaling_range
from mcquack.models.model_file import ModelFile, require_field, require_that
from mcquack.models.preparation import (
    ClassWeight,
    Prepared,
    check_reach,
    fingerprint,
    fitted_scaler,
    merged_repeats,
    scaled,
)
from mcquack.simulators.choice import ENGINE, EngineChoice, engine_of
from mcquack.simulators.compiled.memory import require_bytes
from mcquack.simulators.engine import Engine
from mcquack.training.endings import Ending, Patience, Progress
from mcquack.training.settings import AnyOptimizer
from mcquack.training.state import InitStrategy, TrainingData, initial_embedding

if TYPE_CHECKING:
    from mcquack.kernels.quantum import QuantumKernel

FeatureMapChoice: TypeAlias = str | Circuit | Callable[[int], Circuit]
_MOST_RANGE = 1e14  # of features in a file
OWN_MAPS = ("paper", "device")  # whose layers may depend on the engine


@dataclass(eq=False, repr=False)
class CircuitModel(Trained):
    """A model with a trained circuit: the engine that runs it, samples as it takes them, and its part of a file."""

    _constraints: ClassVar[Constraints] = {
        "n_qubits": Whole(1),
        "n_repetitions": Optional(Whole(1, most=MOST["n_repetitions"])),
        "epochs": Whole(1),
        "patience": Optional(Whole(1)),
        "init_strategy": OneOf(*get_args(InitStrategy)),
        "init_small": Boolean(),
        "n_components": Optional(Whole(1)),
        "scale": SCALE,
        "validation_fraction": Optional(Number(0, 1)),
        "engine": ENGINE,
    }

    n_qubits: int = 6
    n_repetitions: int | None = None
    _: KW_ONLY
    epochs: int = 200
    decay_rate: float = 0.99
    reg_param_weights: float = 0.0
    reg_param_bias: float = 0.0
    batch_size: int = 100
    patience: int | None = 20
    init_strategy: InitStrategy = "default"
    init_small: bool = True
    optimizer: AnyOptimizer = "adam"
    n_components: int | None = None
    scale: Scale = True
    class_weight: ClassWeight = None
    validation_fraction: float | None = None
    feature_map: FeatureMapChoice = "paper"
    engine: EngineChoice = "auto"
    random_state: int | np.random.RandomState | None = None
    verbose: int = 0

    _features_per_gate: ClassVar[Literal[1, 3]] = 1

    def _circuit_and_engine(self, n_features: int) -> tuple[Circuit, Engine[Any]]:
        """Return the circuit for so many features, and the engine that runs it."""
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
        """Return the circuit that was given, that a function makes for so many features, or of that name."""
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
            Setting("feature_map"),
            f" must be one of {', '.join(map(repr, MAPS))}, a Circuit, or a function that makes one of the number of "
            f"features, got {reprlib.repr(given)}. {hint}".rstrip(),
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
        """The seed of a fitted model's shots: ``random_state`` as it is now, or as it was if it is no number."""
        if not is_whole_number(self.random_state):
            return self._seed
        return drawn_seed(self.random_state)

    def scaled(self, X: ArrayLike) -> FloatArray:
        """Return samples as the circuit takes them: checked, scaled, and in the engine's type."""
        rows = validate_data(self, X, dtype=np.float64, reset=False)
        if self.features_ is not None:
            rows = self.features_(rows)
        return scaled(rows, self.scaler_, engine_of(self.engine, self.feature_map_).dtype, self.feature_map_)

    def _saved_fields(self) -> dict[str, Any]:
        circuit = {"feature_map": self.feature_map_.to_json(), "feature_range": list(self.feature_range_)}
        return {**circuit, **super()._saved_fields()}

    def _shapes(self) -> dict[str, Shape]:
        return {"weights": self.feature_map_.weights_shape, "bias": self.feature_map_.bias_shape}

    def _restore(self, file: ModelFile) -> None:
        header, circuit = file.header, restored_circuit(require_field(file.header, "feature_map", dict))
        if isinstance(self.feature_map, str) and self.feature_map in OWN_MAPS:  # others may have any gates
            own = isinstance(circuit, FeatureMap) and circuit.features_per_gate == self._features_per_gate
            require_that(own, f"its circuit is not one of {type(self).__name__}.")
        sizes = f"its circuit takes {circuit.n_features} features, its samples have {self._n_inputs}."
        require_that(circuit.n_features == self._n_inputs, sizes)
        self.feature_map_ = circuit
        # A file of version 1 has the range among its settings.
        pair = header["settings"].get("feature_range") if header["format_version"] == 1 else None
        pair = require_field(header, "feature_range", list) if pair is None else pair
        self.feature_range_ = restored_range(pair, "the range of its features", most=_MOST_RANGE)
        weights = file.tensors.get("weights", np.zeros(0, np.int64))
        require_that(weights.dtype.kind == "f", "the array 'weights' is missing, or not one of floating-point numbers.")
        self._restore_arrays(file, weights.dtype)
        super()._restore(file)


class CircuitClassifier(CircuitModel, TrainedClassifier):
    """A classifier that trains a feature map by passes over the samples, until patience is used up."""

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        validation_data: ValidationData | None = None,
    ) -> Self:
        """Train as :meth:`fit_iter` does, until ``epochs`` or ``patience`` is used up.

        An interrupt (Ctrl-C) keeps the best model so far, which can be used and saved, and is raised again: so it also
        stops a cross validation or a search around it.
        """
        return self._run_through(self.fit_iter(X, y, sample_weight, validation_data=validation_data))

    def fit_iter(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        validation_data: ValidationData | None = None,
    ) -> Generator[HistoryRow, None, None]:
        """Train, and yield each epoch's row of the history; after any of them the model can be used.

        Parameters
        ----------
        X, y, sample_weight : Samples (N, d), labels of any type, and how much each sample counts.
        validation_data : pair (X, y), optional. What ``patience`` watches, in the place of a share of the samples.
        """
        return self._training_rows(X, y, sample_weight, validation_data=validation_data)

    def _learned_features(self, data: TrainingData) -> Features | None:
        settings = self.get_params(deep=False)
        asked = {name: settings[name] for name in ("n_components", "transformer", "scale") if name in settings}
        return learned_features(data.X, data.labels, data.row_weights, **asked)

    def _as_inputs(self, prepared: Prepared, *, going_on: bool) -> Prepared:
        training, validation = prepared.training, prepared.validation
        if (made := prepared.features) is not None:
            training = replace(training, X=made(training.X))
            validation = validation and replace(validation, X=made(validation.X))
        feature_map, engine = self._circuit_and_engine(training.X.shape[1])
        if going_on and feature_map != self.feature_map_:
            raise InvalidInputError(
                "the settings now ask for another circuit than that of the trained parameters; "
                "put n_qubits, n_repetitions and feature_map back, or set warm_start=False to fit anew."
            )
        scaling = scaling_range(self.scale)
        scaler = self.scaler_
        if not going_on:
            scaler = None if scaling is None else fitted_scaler(training.X, scaling)
        if scaler is None:
            check_reach(training.X, engine.dtype, feature_map)

        def as_angles(data: TrainingData) -> TrainingData:
            return replace(data, X=scaled(data.X, scaler, engine.dtype, feature_map))

        inputs = as_angles(training)
        prepared = replace(
            prepared,
            scaler=scaler,
            feature_range=self.feature_range_ if going_on else scaling or _extent(inputs.X),
            engine=engine.on(feature_map, seed=prepared.seed),
            training=merged_repeats(inputs, self.batch_size),
            validation=validation and as_angles(validation),
        )
        return replace(prepared, fingerprint=fingerprint(prepared.training, prepared.validation))

    def _initial_embedding(self, prepared: Prepared, rows: IntArray, *, seed: int) -> tuple[FloatArray, FloatArray]:
        """Return the first weights and biases of the circuit; these rows are its first batch."""
        return initial_embedding(
            prepared.engine.feature_map,
            prepared.training.X[rows],
            row_weights=prepared.training.row_weights[rows],
            init_small=self.init_small,
            init_strategy=self.init_strategy,
            seed=seed,
            dtype=prepared.engine.dtype,
        )

    @property
    def _ending(self) -> Ending:
        return Patience(self.patience, int(self.epochs))

    def _set_fitted(self, asked: Any, prepared: Prepared, progress: Progress) -> None:
        super()._set_fitted(asked, prepared, progress)
        self.scaler_ = prepared.scaler
        self.feature_map_ = prepared.engine.feature_map
        self.feature_range_ = prepared.feature_range


def trained_kernel(model: Any, *, on_scaled: bool = False, number: int = 0) -> QuantumKernel:
    """Return the kernel of a fitted model's circuit, on features as users pass them or as they are scaled already.

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


def _extent(X: FloatArray) -> tuple[float, float]:
    """Return the range of all features, which centroids should keep to; a single point gets a range around it."""
    low, high = float(X.min()), float(X.max())
    return (low, high) if low < high else (low - 0.5, high + 0.5)
