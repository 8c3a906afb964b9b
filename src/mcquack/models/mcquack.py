"""McQuack as a scikit-learn classifier."""

import copy
import os
from collections.abc import Generator
from dataclasses import fields, replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from mcquack.arrays import FloatArray
from mcquack.checks import is_whole_number
from mcquack.circuits.overlap import OverlapCircuits
from mcquack.errors import InvalidInputError, ModelFileError
from mcquack.kernels.fidelity import ClassScore, class_scores
from mcquack.models import archive
from mcquack.models.archive import (
    STATE,
    STATE_NAMES,
    restored_feature_map,
    restored_history,
    restored_seed,
    restored_seen,
    restored_state,
)
from mcquack.models.base import CircuitClassifier, HistoryRow, ValidationData
from mcquack.models.engines import (
    EngineChoice,
    Measurement,
    RunsOn,
    check_measurement,
    chosen_engine,
    is_sampler,
    new_engine,
)
from mcquack.models.gradients import GradientName, TrainingRun, check_gradient, training_run
from mcquack.models.model_file import ModelFile, require_field, require_tensor
from mcquack.models.preparation import ClassWeight, Plan, check_settings
from mcquack.models.presets import preset
from mcquack.training.loop import train
from mcquack.training.settings import Optimizer, TrainingSettings, epoch_orders
from mcquack.training.state import (
    EpochReport,
    InitStrategy,
    Parameters,
    TrainingState,
    initial_centroids,
    initial_embedding,
)

_WORST_LOSS = 2.0  # one minus an alignment
_KEPT_ROWS = 10_000  # of the history; a stream's could outgrow the header
_HISTORY_COLUMNS = {field.name for field in fields(EpochReport)} | {"loss"}


class McQuackClassifier(ClassNamePrefixFeaturesOutMixin, TransformerMixin, CircuitClassifier):
    """Multiclass quantum kernel classifier with one trainable centroid per class, or several.

    Samples and centroids pass through a trainable quantum feature map; a sample belongs to the class whose centroid it
    has the highest fidelity with. Training alternates kernel alignment (KAO), which moves the feature map, and centroid
    optimisation (CO). Cost and memory are linear in samples and in classes.

    Parameters
    ----------
    n_qubits : width of the circuit: 1 to 20, or any number for circuits of few layers.
    n_repetitions : how often every feature is encoded; the circuit has ``n_repetitions * ceil(d / n_qubits)`` layers.
        None takes as many as make at least 20 layers: few features need the depth, many bring it along. With the
        ring engine, whose cost grows with the layers, and with a sampler, whose noise does, None is 1.
    epochs : epochs at most; each has ``epochs_ka`` passes of KAO and ``epochs_co`` passes of CO. 0 leaves the model
        untrained, with its initial parameters and the class means as centroids, or as it was before a warm start.
    lr_ka, lr_co : learning rates of KAO and CO, multiplied by ``decay_rate`` after each epoch.
    reg_param_weights, reg_param_bias : penalties λ‖w‖² and λ‖b‖² of KAO.
    reg_param_co : penalty of CO on centroids outside ``feature_range``.
    batch_size : samples in a mini-batch. With a sampler small ones, such as 10, make much more of the same shots.
    patience : epochs without a better loss (on the validation part if there is one, else on the training part) after
        which training ends; None never ends early. The best parameters are kept in any case.
    init_strategy : "default", or "wx+b=0" for biases that make the first batch's angles vanish on average.
    init_small : normal parameters of variance 1/(3nL); False sets them all to one.
    n_centroids_per_class : k; the paper's method is k = 1. With more they start at the clusters of k-means within the
        class; a class of k distinct samples or fewer starts at these and, for the rest, close to its mean.
    class_score : "max" or "sum" of a sample's fidelities with the centroids of a class. The score takes the place of
        the fidelity in training and prediction.
    optimizer : "adam", or "sgd" with momentum 0.9.
    scale : scale features to ``feature_range``, fitted on the training part.
    class_weight : None, "balanced" or a dict, as in scikit-learn.
    validation_fraction : share of the samples held out for ``patience``; None holds out none.
    final_entangler : False leaves out the last CNOT ring, as on a device.
    engine : "statevector", for up to 20 qubits; "ring", for up to 4 layers on any number of qubits; "auto" takes the
        first as long as the qubits allow it. Or a sampler, such as a device: then every kernel is measured by it. A
        model file has "auto" in its place.
    shots : measurements for each entry of the kernel. A sampler needs a number, in training too. Else they are drawn
        from the exact distribution when the model is used, while training is exact; None takes exact values.
    bitflip_tolerance : b; outcomes with at most b ones count as zeros when the model is used: the paper's k^b. None
        counts zeros alone, which is the fidelity. Equal shares of shots are told apart by their mean number of ones.
    training_tolerance : the b of the kernel that training aligns, likewise; exact derivatives of it are those of the
        ring engine.
    gradient : where training gets its derivatives from. "exact", on a simulator alone; "parameter_shift", exact up to
        shots, and at the cost of two kernels or more for each angle; "stochastic_shift", the same for angles drawn by
        lot; "spsa", two kernels in which all parameters are moved at random; "auto" is "exact" or, with a sampler,
        "spsa".
    shot_budget : how many shots training may take from a sampler; it ends, as if out of patience, before the epoch that
        would exceed them. Simulators spend none. ``epoch_shots`` tells what an epoch takes.
    warm_start : go on from the last fit in place of starting anew.
    dtype : "float32" or "float64".
    n_threads : threads of the engine; None takes all that Numba may use. Does not change results.

    Attributes
    ----------
    weights_, bias_ : parameters of the feature map, (L, n, 3).
    centroids_ : (M·k, d), in scaled features; those of class m are the rows from m·k on.
    classes_, n_features_in_, feature_names_in_ : as in scikit-learn.
    feature_map_ : the circuit. n_parameters_ : count of trainable parameters.
    scaler_ : fitted MinMaxScaler, or None.
    history_ : one row of numbers for each epoch.
    n_iter_ : how many epochs were run. best_epoch_ : the one that was kept.
    shots_ : how many shots training took from a sampler.
    """

    _learning_rates = "lr_ka and lr_co"

    def __init__(
        self,
        n_qubits: int = 6,
        n_repetitions: int | None = None,
        *,
        epochs: int = 200,
        epochs_ka: int = 1,
        epochs_co: int = 1,
        lr_ka: float = 3e-2,
        lr_co: float = 3e-2,
        decay_rate: float = 0.99,
        reg_param_weights: float = 0.0,
        reg_param_bias: float = 0.0,
        reg_param_co: float = 1e-3,
        batch_size: int = 100,
        patience: int | None = 20,
        init_strategy: InitStrategy = "default",
        init_small: bool = True,
        n_centroids_per_class: int = 1,
        class_score: ClassScore = "max",
        optimizer: Optimizer = "adam",
        scale: bool = True,
        feature_range: tuple[float, float] = (0.0, 1.0),
        class_weight: ClassWeight = None,
        validation_fraction: float | None = None,
        final_entangler: bool = True,
        engine: EngineChoice = "auto",
        shots: int | None = None,
        bitflip_tolerance: int | None = None,
        training_tolerance: int | None = None,
        gradient: GradientName = "auto",
        shot_budget: int | None = None,
        warm_start: bool = False,
        dtype: Literal["float32", "float64"] = "float32",
        n_threads: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_qubits = n_qubits
        self.n_repetitions = n_repetitions
        self.epochs = epochs
        self.epochs_ka = epochs_ka
        self.epochs_co = epochs_co
        self.lr_ka = lr_ka
        self.lr_co = lr_co
        self.decay_rate = decay_rate
        self.reg_param_weights = reg_param_weights
        self.reg_param_bias = reg_param_bias
        self.reg_param_co = reg_param_co
        self.batch_size = batch_size
        self.patience = patience
        self.init_strategy = init_strategy
        self.init_small = init_small
        self.n_centroids_per_class = n_centroids_per_class
        self.class_score = class_score
        self.optimizer = optimizer
        self.scale = scale
        self.feature_range = feature_range
        self.class_weight = class_weight
        self.validation_fraction = validation_fraction
        self.final_entangler = final_entangler
        self.engine = engine
        self.shots = shots
        self.bitflip_tolerance = bitflip_tolerance
        self.training_tolerance = training_tolerance
        self.gradient = gradient
        self.shot_budget = shot_budget
        self.warm_start = warm_start
        self.dtype = dtype
        self.n_threads = n_threads
        self.random_state = random_state

    @classmethod
    def from_preset(cls, name: str, **settings: Any) -> Self:
        """An estimator with the settings of that name ("default", "paper", "qml", "device"), some of them changed."""
        return cls(**{**preset(name), **settings})

    # Training

    def fit_iter(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        validation_data: ValidationData | None = None,
        resume: bool = False,
    ) -> Generator[HistoryRow, None, None]:
        """Trains, yielding each epoch's row of the history; after any of them the estimator is fitted and can be used.

        ``resume`` goes on after the last epoch of a model that was saved with ``resumable=True``: given the same data,
        the outcome is the same as without the break, to the last bit. A sampler is then set again as the engine, and
        asked for the same circuits as it would have been.
        """
        self._check_settings()
        if resume and not hasattr(self, "training_state_"):
            raise InvalidInputError("there is no training to resume; load a model that was saved with resumable=True.")
        going_on = resume or (self.warm_start and hasattr(self, "centroids_"))
        if going_on:
            self._check_centroids_kept()
        samples = self._checked_samples(X, y, sample_weight, anew=not going_on)
        plan = self._plan(
            samples, going_on=going_on, validation_data=validation_data, hold_out=self.validation_fraction
        )
        if resume and plan.fingerprint != self._fingerprint:
            raise InvalidInputError(
                "these are not the samples that the saved training ran on; resume with the same data."
            )
        if resume:
            state = self.training_state_
        elif going_on:
            state = self._kept_state()
        else:
            state = TrainingState.start(self._initial_parameters(plan))
        run = self._run(plan, spent=self.shots_ if resume else 0)
        if self.epochs and not resume:
            run.require_an_epoch()
        return self._epochs(plan, run, state, list(self.history_) if resume else [], anew=not going_on)

    def _epochs(
        self, plan: Plan, run: TrainingRun, state: TrainingState, rows: list[HistoryRow], *, anew: bool
    ) -> Generator[HistoryRow, None, None]:
        settings = self._settings(plan.seed)
        loop = train(run.engine, plan.training, state, settings=settings, validation=plan.validation)
        n_done = self.n_iter_ if rows else 0  # a loaded model may have had more epochs than its file has rows
        if self.epochs == 0 and anew:  # what is there already stays as it is
            self._keep(plan, state, loss=_WORST_LOSS, rows=rows, n_done=0, shots=0)
        while n_done < self.epochs and run.affords_an_epoch and not (n_done and self._out_of_patience(state.epoch)):
            epoch = next(loop)
            state, row = epoch.state, epoch.report.as_row()
            if row["loss"] is None:
                self._tell_divergence(state.epoch, anything_kept=n_done > 0)
                return
            better = n_done == 0 or epoch.report.watched_loss < self._best_loss
            n_done += 1
            rows.append(row)
            loss = epoch.report.watched_loss if better else None
            self._keep(plan, state, loss=loss, rows=rows, n_done=n_done, shots=run.shots)
            yield row

    def _kept_state(self) -> TrainingState:
        """Where to go on from the kept parameters: with the optimizer's memory if they are also the last."""
        last: TrainingState | None = getattr(self, "training_state_", None)
        if last is not None and last.epoch == self.best_epoch_:
            return last
        kept = Parameters(self.weights_, self.bias_, self.centroids_)
        return replace(TrainingState.start(kept), epoch=self.best_epoch_)

    def partial_fit(
        self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """One epoch on these samples; a stream of them trains the model.

        The first call needs ``classes``, all that will ever come, unless the model is fitted already. It also fixes the
        scaling. A class starts at the mean, or the clusters, of its first samples. The learning rates do not decay.
        """
        self._check_settings()
        first_call = not hasattr(self, "centroids_")
        if first_call and classes is None:
            raise InvalidInputError("the first call of partial_fit needs classes, the list of all labels to come.")
        if not first_call and classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise InvalidInputError(f"classes must stay {self.classes_.tolist()} in every call of partial_fit.")
        if not first_call:
            self._check_centroids_kept()
        samples = self._checked_samples(X, y, sample_weight, anew=first_call)
        plan = self._plan(samples, going_on=not first_call, classes=classes)
        if first_call:
            state = TrainingState.start(self._initial_parameters(plan))
        else:
            state = self._with_new_classes(plan, self._kept_state())
        # A stream has no end to slow down for.
        settings = replace(self._settings(plan.seed), decay_rate=1.0)
        run = self._run(plan, spent=0 if first_call else self.shots_)
        run.require_an_epoch()
        epoch = next(train(run.engine, plan.training, state, settings=settings))
        row = epoch.report.as_row()
        if row["loss"] is None:
            self._tell_divergence(epoch.state.epoch, anything_kept=not first_call)
            return self
        rows = [] if first_call else self.history_
        rows.append(row)
        n_done = 1 if first_call else self.n_iter_ + 1
        self._keep(plan, epoch.state, loss=epoch.report.watched_loss, rows=rows, n_done=n_done, shots=run.shots)
        return self

    def _with_new_classes(self, plan: Plan, state: TrainingState) -> TrainingState:
        """Puts the centroids of classes that occur for the first time to where their samples are."""
        new = np.repeat(plan.seen & ~self._seen, self.n_centroids_per_class)
        if not new.any():
            return state
        fresh = initial_centroids(plan.training, self._settings(plan.seed)).astype(self.dtype)
        centroids = np.where(new[:, None], fresh, state.parameters.centroids)
        return replace(state, parameters=replace(state.parameters, centroids=centroids))

    def _check_settings(self) -> None:
        check_settings(self.get_params(deep=False), least_epochs=0)
        tolerances = {name: getattr(self, name) for name in ("bitflip_tolerance", "training_tolerance")}
        check_measurement(self.shots, tolerances, n_qubits=int(self.n_qubits), exact=not is_sampler(self.engine))
        check_gradient(self.get_params(deep=False))
        self._settings(seed=0)

    @property
    def _runs_on(self) -> RunsOn:
        return chosen_engine(self.engine, int(self.n_qubits))

    def _run(self, plan: Plan, *, spent: int = 0) -> TrainingRun:
        return training_run(self.get_params(deep=False), plan, spent=spent)

    def epoch_shots(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        validation_data: ValidationData | None = None,
    ) -> int:
        """How many shots each epoch of ``fit`` would take from a sampler with these data; nothing is sent."""
        self._check_settings()
        looking = copy.copy(self)
        if not is_whole_number(self.random_state):
            looking.random_state = 0  # a generator is left for fit to draw from
        samples = looking._checked_samples(X, y, sample_weight, anew=True)
        plan = looking._plan(
            samples, going_on=False, validation_data=validation_data, hold_out=self.validation_fraction
        )
        return looking._run(plan).shots_per_epoch

    def _check_centroids_kept(self) -> None:
        asked, trained = self.n_centroids_per_class, self._trained_centroids_per_class
        if asked != trained:
            raise InvalidInputError(
                f"n_centroids_per_class is now {asked}, but {trained} were trained; "
                "put it back, or fit anew without warm_start."
            )

    def _settings(self, seed: int) -> TrainingSettings:
        names = TrainingSettings.__dataclass_fields__.keys() - {"seed", "feature_range"}
        low, high = self.feature_range
        return TrainingSettings(
            **{name: getattr(self, name) for name in names}, feature_range=(float(low), float(high)), seed=seed
        )

    def _initial_parameters(self, plan: Plan) -> Parameters:
        data, settings = plan.training, self._settings(plan.seed)
        kao_orders, co_order = epoch_orders(len(data.X), 0, settings)
        first_batch = (kao_orders[0] if len(kao_orders) else co_order)[: self.batch_size]
        weights, bias = initial_embedding(
            plan.feature_map,
            data.X[first_batch],
            row_weights=data.row_weights[first_batch],
            init_small=self.init_small,
            init_strategy=self.init_strategy,
            seed=plan.seed,
            dtype=self.dtype,
        )
        return Parameters(weights, bias, initial_centroids(data, settings).astype(self.dtype))

    def _out_of_patience(self, last_epoch: int) -> bool:
        return self.patience is not None and last_epoch - self.best_epoch_ >= self.patience

    def _keep(
        self,
        plan: Plan,
        state: TrainingState,
        *,
        loss: float | None,
        rows: list[HistoryRow],
        n_done: int,
        shots: int,
    ) -> None:
        """Leaves the estimator fitted, with the parameters of this state if they are the best: None is no best loss."""
        self._keep_plan(plan)
        if loss is not None:
            parameters = state.parameters.copy()
            self.weights_, self.bias_, self.centroids_ = parameters.weights, parameters.bias, parameters.centroids
            self.best_epoch_ = state.epoch
            self._best_loss = loss
        self.training_state_ = state
        self.history_ = rows
        self.n_iter_ = n_done
        self.shots_ = shots

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []  # the kernel has the engine's type
        return tags

    # Use

    def _measured(self, X: ArrayLike) -> tuple[FloatArray, FloatArray | None]:
        """The kernel, and what decides between equal entries of a sampled one."""
        rows = self._scaled_rows(X)
        measurement = Measurement(shots=self.shots, tolerance=self.bitflip_tolerance, seed=self._seed)
        parameters = Parameters(self.weights_, self.bias_, self.centroids_)
        engine = new_engine(
            self.engine, self.feature_map_, dtype=self.dtype, n_threads=self.n_threads, shots=self.shots
        )
        return measurement.kernel_and_ties(engine, rows, parameters)

    def _class_scores(self, X: ArrayLike) -> FloatArray:
        return class_scores(self._measured(X)[0], len(self.classes_), class_score=self.class_score)

    def transform(self, X: ArrayLike) -> FloatArray:
        """K (N, M·k): fidelity of every sample with every centroid, each in [0, 1], as measured."""
        check_is_fitted(self, "centroids_")
        return self._measured(X)[0]

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """The class scores S (N, M), fidelities if k = 1; for two classes, as scikit-learn wants it, one number.

        This number is (S₁ - S₀) / (S₁ + S₀).
        """
        check_is_fitted(self, "centroids_")
        if len(self.classes_) > 2:
            return self._class_scores(X)
        shares = self.predict_proba(X)
        return shares[:, 1] - shares[:, 0]

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Class scores divided by their sum: an ordering with the shape of probabilities, not calibrated ones."""
        check_is_fitted(self, "centroids_")
        S = self._class_scores(X).astype(np.float64)
        total = S.sum(axis=1, keepdims=True)
        shares: FloatArray = np.divide(S, total, out=np.full_like(S, 1 / S.shape[1]), where=total > 0)
        return shares

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Class of the highest score: with ``class_score="max"``, that of the centroid with the highest fidelity."""
        check_is_fitted(self, "centroids_")
        kernel, ties = self._measured(X)
        scores = class_scores(kernel, len(self.classes_), class_score=self.class_score)
        if ties is not None:
            if self.class_score == "max":  # between the centroids that are equal, not others of their classes
                ties = np.where(kernel == kernel.max(axis=1, keepdims=True), ties, -np.inf)
            deciding = class_scores(ties, len(self.classes_), class_score="max")
            scores = np.where(scores == scores.max(axis=1, keepdims=True), deciding, -np.inf)
        predicted: NDArray[Any] = self.classes_[scores.argmax(axis=1)]
        return predicted

    def overlap_circuits(self, X: ArrayLike | None = None) -> OverlapCircuits:
        """The circuits whose zeros a device counts for samples and centroids, or for the centroids among themselves."""
        check_is_fitted(self, "centroids_")
        rows = self.centroids_ if X is None else self._scaled_rows(X)
        return OverlapCircuits.of(self.feature_map_, rows, self.centroids_, weights=self.weights_, bias=self.bias_)

    def statevectors(self, X: ArrayLike | None = None) -> NDArray[np.complexfloating[Any, Any]]:
        """Amplitudes (N, 2**n) of samples, or of the centroids if none are given, up to a common phase of each."""
        check_is_fitted(self, "centroids_")
        rows = self.centroids_ if X is None else self._scaled_rows(X)
        engine = self._statevector_engine(self.feature_map_)
        return engine.statevectors(engine.encode(rows, self.weights_, self.bias_))

    @property
    def n_parameters_(self) -> int:
        """Weights, biases and centroid features."""
        check_is_fitted(self, "centroids_")
        return self.feature_map_.n_parameters(len(self.centroids_))

    @property
    def _n_features_out(self) -> int:
        return len(self.centroids_)

    @property
    def _trained_centroids_per_class(self) -> int:
        return len(self.centroids_) // len(self.classes_)

    @property
    def _trained_repetitions(self) -> int:
        once = -(-self.n_features_in_ // (self._features_per_gate * self.feature_map_.n_qubits))
        return self.feature_map_.n_layers // once

    # Files

    def save(
        self, path: str | os.PathLike[str], *, resumable: bool = False, extra: dict[str, Any] | None = None
    ) -> None:
        """Writes the model to a file that can be loaded without running code.

        ``resumable`` adds what training needs to go on; ``extra`` is any JSON object, to be found in ``extra_``.
        """
        check_is_fitted(self, "centroids_")
        if resumable and not hasattr(self, "training_state_"):
            raise InvalidInputError(
                "this model was loaded from a file without resumable=True; train it again to resume it."
            )
        tensors = self._saved_tensors()
        if resumable:
            tensors |= {STATE + name: tensor for name, tensor in self.training_state_.to_tensors().items()}
        archive.save(self, path, fields={**self._saved_fields(), "resumable": resumable}, tensors=tensors, extra=extra)

    def _saved_settings(self) -> dict[str, Any]:
        # As they were when it was trained, whatever they have been set to since.
        trained = {"dtype": self.weights_.dtype, "n_centroids_per_class": self._trained_centroids_per_class}
        if is_sampler(self.engine):
            # It may hold a connection, which no file should. Without it None might mean another circuit.
            trained |= {"engine": "auto", "n_repetitions": self._trained_repetitions}
        return {**super()._saved_settings(), **trained}

    def _saved_fields(self) -> dict[str, Any]:
        return {
            "feature_map": dict(vars(self.feature_map_)),
            "best_epoch": self.best_epoch_,
            "best_loss": self._best_loss,
            "history": list(self.history_[-_KEPT_ROWS:]),
            "n_iter": self.n_iter_,
            "shots": self.shots_,
            "seen": np.broadcast_to(self._seen, self.classes_.shape).tolist(),
            "seed": self._seed,
            "fingerprint": self._fingerprint,
        }

    def _saved_tensors(self) -> dict[str, NDArray[Any]]:
        return {"weights": self.weights_, "bias": self.bias_, "centroids": self.centroids_}

    def _known_parts(self, file: ModelFile) -> tuple[set[str], set[str]]:
        fields, tensors = super()._known_parts(file)
        state = {STATE + name for name in STATE_NAMES} if file.header["resumable"] else set()
        return fields | {"resumable"}, tensors | state

    def _restore(self, file: ModelFile) -> None:
        header = file.header
        self.feature_map_ = restored_feature_map(
            file,
            n_features=self.n_features_in_,
            features_per_gate=self._features_per_gate,
            kind=type(self).__name__,
        )
        shape = self.feature_map_.parameter_shape
        n_centroids = len(self.classes_) * self.n_centroids_per_class
        shapes = {"weights": shape, "bias": shape, "centroids": (n_centroids, self.n_features_in_)}
        self.weights_, self.bias_, self.centroids_ = (
            require_tensor(file, name, shape=expected, dtype=self.dtype) for name, expected in shapes.items()
        )
        self.history_ = restored_history(header, columns=_HISTORY_COLUMNS)
        self.n_iter_ = require_field(header, "n_iter", int)
        self.shots_ = require_field(header, "shots", int)
        self.best_epoch_ = require_field(header, "best_epoch", int)
        self._best_loss = require_field(header, "best_loss", float)
        self._seed = restored_seed(header)
        self._seen = restored_seen(header, n_classes=len(self.classes_))
        self._fingerprint = require_field(header, "fingerprint", str)
        self._check_restored()
        if require_field(header, "resumable", bool):
            self.training_state_ = restored_state(file, shapes=shapes, dtype=self.dtype)

    def _check_restored(self) -> None:
        if not 0 <= self._best_loss <= _WORST_LOSS:
            raise ModelFileError("its best loss is not one minus an alignment.")
        if self.shots_ < 0:
            raise ModelFileError("its number of shots is not a count.")
        last = int(self.history_[-1]["epoch"] or 0) if self.history_ else 0
        first = min(1, self.n_iter_)  # an untrained model has had no epoch
        if not first <= self.best_epoch_ <= last or self.n_iter_ < len(self.history_):
            raise ModelFileError("its numbers of epochs contradict its history.")


# Quack, the binary predecessor of McQuack.


class QuackClassifier(McQuackClassifier):
    """Two classes, and successive features in the three angles of each gate, where McQuack repeats one feature.

    Parameters, attributes and training are those of :class:`McQuackClassifier`.
    """

    _features_per_gate: Literal[1, 3] = 3

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _check_classes(self, classes: NDArray[Any]) -> None:
        super()._check_classes(classes)
        if len(classes) > 2:
            raise InvalidInputError(
                f"Only binary classification is supported by QuackClassifier, got {len(classes)} classes; "
                "use McQuackClassifier."
            )
