"""McQuack and its binary predecessor Quack as scikit-learn classifiers."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Generator
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from mcquack.arrays import FloatArray
from mcquack.checks import MOST, is_whole_number
from mcquack.circuits.circuit import Circuit
from mcquack.circuits.feature_map import FeatureMap
from mcquack.circuits.overlap import OverlapCircuits
from mcquack.constraints import Boolean, Constraints, Custom, OneOf, Whole, constraints_of
from mcquack.errors import InvalidInputError, LayoutWarning, Setting
from mcquack.kernels.fidelity import ClassScore, class_scores, winning_classes, with_winner_first
from mcquack.kernels.losses import LOSS, Alignment, CrossEntropy, Loss, LossChoice, class_shares, is_learned, loss_of
from mcquack.models import archive
from mcquack.models.archive import STATE, Shape, restored_state
from mcquack.models.base import HistoryRow, Trainer, ValidationData
from mcquack.models.catalog import preset
from mcquack.models.circuit_classifier import OWN_MAPS, CircuitClassifier, trained_kernel
from mcquack.models.features import TRANSFORMER
from mcquack.models.model_file import ModelFile, require_field, require_that
from mcquack.models.preparation import Prepared
from mcquack.models.starts import SeveralStarts, mean_measured
from mcquack.simulators.engine import Engine, Measured
from mcquack.simulators.statevector import StatevectorEngine
from mcquack.training.batches import epoch_orders
from mcquack.training.endings import Progress, TrainedEpoch
from mcquack.training.loop import affords, epoch_shots, require_affordable, train, training_engine
from mcquack.training.settings import Schedule, Steps, TrainingSettings, check_passes
from mcquack.training.state import (
    EpochReport,
    Parameters,
    TrainingState,
    initial_centroids,
    initial_log_beta,
)

if TYPE_CHECKING:
    from mcquack.kernels.quantum import QuantumKernel

AUTO: Final = "auto"
_FEW_QUBITS = 20  # on more, fidelities may be so small that only the alignment, which knows no unit, tells them apart
_WORST_LOSS = 2.0  # of an untrained model: one minus the worst alignment
_KEPT_ROWS = 10_000  # of the history; a stream's could outgrow the header


@dataclass(eq=False, repr=False, kw_only=True)
class McQuackClassifier(ClassNamePrefixFeaturesOutMixin, TransformerMixin, CircuitClassifier, SeveralStarts):
    """Multiclass quantum kernel classifier with one trainable centroid per class, or several.

    Samples and centroids pass through a trainable quantum feature map; a sample belongs to the class whose centroid it
    has the highest fidelity with. Every step of training moves the map and the centroids, or steps alternate, as in
    the paper, between kernel alignment (KAO), which moves the map, and centroid optimisation (CO). Cost and memory are
    linear in samples and in classes.

    Parameters
    ----------
    n_qubits : Width of the circuit: 1 to 20, or any number for circuits of few layers. A circuit that is given, or made
        by a function, has its own.
    n_repetitions : How often every feature is encoded; the circuit has ``n_repetitions * ceil(d / n_qubits)`` layers.
        None takes as many as make at least 20 layers: few features need the depth, many bring it along. On engines
        whose cost or noise grows with the layers, such as the ring and devices, None is 1. Maps of the library have
        numbers of their own for None; circuits that are given, or made by a function, know none.
    epochs : Epochs at most; each has ``epochs_ka`` passes of KAO and ``epochs_co`` passes of CO. 0 leaves the model
        untrained, with its initial parameters and the class means as centroids, or as it was before a warm start.
    epochs_ka : Passes of KAO over the samples in an epoch.
    epochs_co : Passes of CO over the samples in an epoch.
    lr_ka : Learning rate of KAO.
    lr_co : Learning rate of CO.
    decay_rate : What both learning rates are multiplied by after each epoch.
    reg_param_weights : λ of the penalty λ‖w‖² of KAO.
    reg_param_bias : λ of the penalty λ‖b‖² of KAO.
    reg_param_co : λ of the penalty of CO on centroids outside the range of the features.
    batch_size : Samples in a mini-batch. On a device small ones, such as 10, make much more of the same shots.
    patience : Epochs without a better loss (on the validation part if there is one, else on the training part) after
        which training ends; None never ends early. The best parameters are kept in any case.
    init_strategy : "default" or "wx+b=0". The latter starts with biases that make the first batch's angles vanish on
        average, where angles have both features and a bias.
    init_small : Starts with normal parameters around those that the circuit says, 0 for the paper's, of the variance
        one over the number of trained angles, 3nL for the paper's; False sets them all to one.
    n_centroids_per_class : k; the paper's method is k = 1. With more they start at the clusters of k-means within the
        class; a class of k distinct samples or fewer starts at these and, for the rest, close to its mean.
    loss : "auto", "alignment", "cross_entropy", "log_cross_entropy" or Loss. What training makes small. "alignment" is
        the paper's; "auto" is "cross_entropy", but "alignment" on more than 20 qubits, where fidelities may be tiny,
        and on engines that count shots.
        ``Alignment(class_score="sum")`` also says how several centroids of a class make one score, and
        ``CrossEntropy(beta=…, smoothing=…, learned=…)`` more of its own; any object with the same call is a loss.
    optimizer : "adam", "sgd" or "adamw". The second with momentum 0.9; with the third the penalties on w and b act
        beside Adam, as each step takes the share 2·λ·lr_ka off w and b.
    schedule : "exponential" or "cosine". By the latter learning rates also fall to zero as the first half of a cosine
        does within ``epochs``; more epochs, after a warm start, begin such a round anew.
    input_noise : Normal noise that samples are moved by in training, anew in every pass, in widths of the features'
        range. It keeps a model from learning few samples by heart.
    feature_drop : The chance by which a feature of a sample is replaced by its mean in training, anew in every pass.
    steps : "auto", "alternating" or "joint". Passes of KAO and then of CO, as in the paper, or ``epochs_ka`` passes in
        which every step moves both the feature map and the centroids, from one encoding; ``epochs_co`` is then not
        used. "auto" is "joint" wherever a loss of "auto" is the cross entropy, unless ``epochs_ka`` or ``epochs_co`` is
        changed, and else "alternating".
    n_starts : How many models are trained, from different starts, whose kernels are averaged: a little better and
        steadier than one, for as many times the cost. ``starts_`` are the models.
    transformer : None or a transformer of scikit-learn. What becomes of features first, fitted on the training part;
        one that is affine, as most are, is in the model file too, as a matrix.
    n_components : None or int. Principal components, of the training part, that take the place of features where
        there are more than so many.
    scale : bool, pair of float, "common", "standard" or "quantile". The range that each feature, or component, is
        scaled to, fitted on the training part: True is (0, 1), and False takes them as they are. "common" centres them
        and divides all by the same number, so that the farthest is at ±1/2 and small components stay small; "standard"
        gives each mean 0 and variance 1; "quantile" takes the share of training samples below a value.
    class_weight : None, "balanced" or dict. As in scikit-learn.
    validation_fraction : Share of the samples held out for ``patience``; None holds out none.
    feature_map : str, Circuit or callable. The circuit: "paper", the default; "device", which leaves out the last ring
        of CNOTs, as the paper does on a device, and warns of numbers of qubits that no heavy-hex device has a ring of;
        the name of another map of the library, such as "iqp", "zz",
        "hardware_efficient" or "reuploading", see :mod:`mcquack.circuits.library`; a Circuit, or a function that makes
        one of the number of features, both taken as they are. A model file has the circuit in the place of a function.
    engine : "auto", "statevector", "ring", "gates" or Engine. What runs the circuits. "statevector" takes up to 20
        qubits, "ring" up to 4 layers on any number of qubits, both the circuits of the paper alone; "gates" takes any
        circuit of up to 20 qubits. "auto" is the first of them that takes the circuit.
        ``StatevectorEngine(dtype="float64")`` and the like say more; ``Shots(100, tolerance=20)`` measures the kernel
        when the model is used, and a device, opened by ``open_device``, measures it always. A model file has "auto" in
        the place of a device.
    random_state : Where random numbers come from; the same number gives the same model.
    warm_start : True lets ``fit`` go on from the parameters of the last fit, for ``epochs`` more epochs; False starts
        anew.
    verbose : 0 or 1. 1 shows on stderr how far ``fit`` is, by a bar in a terminal or notebook and by a few lines
        elsewhere. It changes no result, and is not in a model file.

    Attributes
    ----------
    weights_, bias_ : Parameters of the circuit, as arrays of its ``weights_shape`` and ``bias_shape``: (L, n, 3) for
        the paper's, one row of numbers for any other, which may be empty.
    centroids_ : array (M·k, d). In scaled features; those of class m are the rows from m·k on.
    classes_, n_features_in_, feature_names_in_ : As in scikit-learn.
    feature_map_ : The circuit.
    kernel_ : The trained kernel as a QuantumKernel, on features as they are passed to ``fit``.
    n_parameters_ : Count of trainable parameters.
    features_ : What is made of features before they are scaled to a range, as a function of rows, or None.
    scaler_ : The MinMaxScaler of the features, or None.
    loss_ : The loss that it was trained by.
    steps_ : "joint" or "alternating", the steps that it was trained in.
    beta_ : The β of a loss that has one, as it was learned if it is.
    starts_ : With several starts, the models that are averaged. All other attributes are then those of the first,
        except for ``history_``, ``n_iter_`` and ``shots_``, which are those of all together.
    history_ : One row of numbers for each epoch.
    n_iter_, best_epoch_ : How many epochs were run, and which one was kept.
    shots_ : How many shots training took from a device.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = McQuackClassifier(n_qubits=3, epochs=20, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.9
    True
    >>> model.transform(X).shape
    (150, 3)
    """

    _constraints: ClassVar[Constraints] = {
        **constraints_of(TrainingSettings),
        "loss": Custom(f'"{AUTO}", {LOSS.expected}', lambda value: LOSS.accepts(value) or OneOf(AUTO).accepts(value)),
        "steps": OneOf(*get_args(Steps), AUTO),
        "n_starts": Whole(1, most=MOST["n_starts"]),
        "transformer": TRANSFORMER,
        "warm_start": Boolean(),
    }
    _columns = EpochReport.__dataclass_fields__.keys()
    _learning_rates = "lr_ka and lr_co"

    epochs_ka: int = 1
    epochs_co: int = 1
    lr_ka: float = 3e-2
    lr_co: float = 3e-2
    reg_param_co: float = 1e-3
    n_centroids_per_class: int = 1
    loss: LossChoice | Literal["auto"] = "auto"
    schedule: Schedule = "exponential"
    input_noise: float = 0.0
    feature_drop: float = 0.0
    steps: Steps | Literal["auto"] = "auto"
    n_starts: int = 1
    transformer: Any = None
    warm_start: bool = False

    @classmethod
    def from_preset(cls, name: str, **settings: Any) -> Self:
        """An estimator with the settings of that name, some of them changed.

        Parameters
        ----------
        name : "default"; "paper" and "qml", the paper's settings for real data and for the QML benchmark suite;
            "device", its untrained model of 124 qubits; "device-12" and "device-20", two layers on rings that heavy-hex
            devices have, for up to 12 and 20 features, to be trained here and used there.
        **settings : What is to be otherwise.

        Examples
        --------
        >>> McQuackClassifier.from_preset("device-12", epochs=50).n_qubits
        12
        """
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

        Parameters
        ----------
        X, y, sample_weight : Samples (N, d), labels of any type, and how much each sample counts. Within one batch a
            sample of weight two is a sample given twice.
        validation_data : pair (X, y), optional. What ``patience`` watches, in the place of a share of the samples.
        resume : Go on after the last epoch of a model that was saved with ``resumable=True``: given the same data, the
            outcome is the same as without the break, to the last bit. A device is then set again as the engine, and
            asked for the same circuits as it would have been.
        """
        if self.n_starts > 1:
            self._check_ready(resume=resume)
            given = {"sample_weight": sample_weight, "validation_data": validation_data}
            return self._epochs_of_starts(lambda start, **how: start.fit_iter(X, y, **given, **how), resume=resume)
        return self._training_rows(X, y, sample_weight, resume=resume, validation_data=validation_data)

    def _as_inputs(self, prepared: Prepared, *, going_on: bool) -> Prepared:
        prepared = super()._as_inputs(prepared, going_on=going_on)
        return replace(prepared, settings=self._settings(prepared))

    def _first_progress(self, prepared: Prepared, *, going_on: bool) -> Progress:
        if going_on:
            progress = Progress.start([self._kept_state()])
        else:
            self._warn_without_ring(prepared.engine.feature_map)
            progress = super()._first_progress(prepared, going_on=False)
        if self.epochs:
            self._check_budget(prepared, progress)
        return progress

    def _check_budget(self, prepared: Prepared, progress: Progress) -> None:
        engine = training_engine(prepared.engine, seed=prepared.seed, spent=progress.shots)
        require_affordable(engine, self._shots_per_epoch(prepared, engine))

    def _warn_without_ring(self, circuit: Circuit) -> None:
        """Warn if a device's circuit is asked for, and heavy-hex devices have no ring of its qubits."""
        asked = isinstance(self.feature_map, str) and self.feature_map == "device"
        # One layer has no CNOTs, so that any qubits do.
        if not asked or not isinstance(circuit, FeatureMap) or circuit.n_layers == 1:
            return
        from mcquack.hardware.layout.ring import fits_heavy_hex, nearest_lengths  # who wants no device waits for none

        n = circuit.n_qubits
        if not fits_heavy_hex(n):
            nearest, *others = nearest_lengths(n, filter(fits_heavy_hex, range(3, n + 12)))
            warning = LayoutWarning(
                f"heavy-hex devices have no ring of {n} qubits, which the CNOTs of this circuit run around; the "
                "nearest that fit are ",
                Setting("n_qubits", nearest),
                *(f" or {other}" for other in others),
                ". Simulators, and devices with other couplers, may take it.",
            )
            warnings.warn(warning, stacklevel=5)

    def _trainer(self, prepared: Prepared, progress: Progress, *, shown_on: Any) -> Trainer:
        engine = training_engine(prepared.engine, seed=prepared.seed, spent=progress.shots)
        per_epoch = self._shots_per_epoch(prepared, engine)
        epochs = train(
            engine, prepared.training, progress.states[0], settings=prepared.settings, validation=prepared.validation
        )

        def trained(*_: Any) -> TrainedEpoch | None:
            if not affords(engine, per_epoch):
                return None
            state, report = next(epochs)
            return TrainedEpoch([state], report.as_row(), [report.loss], engine.spent)

        return trained

    def _resumed(self) -> Progress:
        return Progress.start(
            [self.training_state_],
            kept=[self._kept_parameters],
            best_epochs=[self.best_epoch_],
            best_losses=[self._best_loss],
            history=self.history_,
            n_epochs=self.n_iter_,  # a file may have fewer rows
            shots=self.shots_,
        )

    @property
    def _kept_parameters(self) -> Parameters:
        return Parameters(self.weights_, self.bias_, self.centroids_, self._log_beta)

    def _kept_state(self) -> TrainingState:
        """Return the state of the kept parameters, with the optimizer's memory if they are also the last."""
        last: TrainingState | None = getattr(self, "training_state_", None)
        if last is not None and last.epoch == self.best_epoch_:
            return last
        return replace(TrainingState.start(self._kept_parameters), epoch=self.best_epoch_)

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
            self._check_unchanged()
        if self.n_starts > 1:
            starts = self._own_starts([] if first_call else self.starts_)
            self._keep_starts([start.partial_fit(X, y, classes, sample_weight) for start in starts])
            return self
        # A stream has no last epoch, so the rates do not decay.
        one_more = copy.copy(self).set_params(decay_rate=1.0, schedule="exponential", patience=None)
        one_more.epochs = 1 if first_call else self.n_iter_ + 1
        prepared = one_more._prepared(X, y, sample_weight, going_on=not first_call, classes=classes)
        if first_call:
            progress = super()._first_progress(prepared, going_on=False)
        else:
            known = {"history": self.history_, "n_epochs": self.n_iter_, "shots": self.shots_}
            progress = Progress.start([self._with_new_classes(prepared, self._kept_state())], **known)
        self._check_budget(prepared, progress)
        for _ in self._rows(one_more, prepared, progress):
            pass
        return self

    def _with_new_classes(self, prepared: Prepared, state: TrainingState) -> TrainingState:
        """Return the state with the centroids of new classes at the means, or clusters, of their samples."""
        new = np.repeat(prepared.seen & ~self._seen, self.n_centroids_per_class)
        if not new.any():
            return state
        fresh = initial_centroids(prepared.training, prepared.settings).astype(prepared.engine.dtype)
        centroids = np.where(new[:, None], fresh, state.parameters.centroids)
        return replace(state, parameters=replace(state.parameters, centroids=centroids))

    def _check_settings(self) -> None:
        super()._check_settings()
        check_passes(self)
        if self.n_starts > 1 and self.n_centroids_per_class > 1:
            raise InvalidInputError(
                "the centroids of a class are others in every start, so that kernels with several of them cannot be "
                "averaged; set n_starts or n_centroids_per_class to 1."
            )
        if self.n_starts > 1 and getattr(self.engine, "budget", None) is not None:
            raise InvalidInputError("a budget of shots is that of one start; set n_starts=1, or no budget.")

    def epoch_shots(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        validation_data: ValidationData | None = None,
    ) -> int:
        """How many shots each epoch of ``fit`` would take from a device with these data; nothing is sent."""
        self._check_settings()
        looking = copy.copy(self)
        if not is_whole_number(self.random_state):
            looking.random_state = 0  # a generator is left for fit to draw from
        prepared = looking._prepared(
            X, y, sample_weight, validation_data=validation_data, hold_out=self.validation_fraction
        )
        engine = training_engine(prepared.engine, seed=prepared.seed)
        return self.n_starts * looking._shots_per_epoch(prepared, engine)

    def _shots_per_epoch(self, prepared: Prepared, engine: Engine[Any]) -> int:
        return epoch_shots(
            engine,
            n_samples=len(prepared.training.X),
            n_centroids=len(prepared.classes) * prepared.settings.n_centroids_per_class,
            epochs_ka=prepared.settings.epochs_ka,
            epochs_co=prepared.settings.epochs_co,
            steps=prepared.settings.steps,
            n_validation=0 if prepared.validation is None else len(prepared.validation.X),
        )

    def _check_unchanged(self) -> None:
        asked, trained = self.n_centroids_per_class, self._trained_centroids_per_class
        if asked != trained:
            raise InvalidInputError(
                f"n_centroids_per_class is now {asked}, but {trained} were trained; "
                "put it back, or set warm_start=False to fit anew."
            )

    def _settings(self, prepared: Prepared) -> TrainingSettings:
        """Return the settings of the training loop on these data; they are made once in a fit."""
        names = {field.name for field in fields(TrainingSettings)}
        given = {name: value for name, value in self.get_params(deep=False).items() if name in names}
        given |= {"seed": prepared.seed, "feature_range": prepared.feature_range}
        given |= {"steps": self._steps_on(prepared.engine), "loss": self._loss_on(prepared.engine)}
        return TrainingSettings(**given)

    def _steps_on(self, engine: Engine[Any]) -> Steps:
        if self.steps != AUTO:
            return self.steps
        one_each = self.epochs_ka == self.epochs_co == 1  # else passes of their own are asked for
        return "joint" if one_each and _compares_differences(engine) else "alternating"

    def _loss_on(self, engine: Engine[Any]) -> Loss:
        if isinstance(self.loss, str) and self.loss == AUTO:
            return CrossEntropy() if _compares_differences(engine) else Alignment()
        return loss_of(self.loss)

    def _first_parameters(self, prepared: Prepared) -> list[Parameters]:
        data, settings = prepared.training, prepared.settings
        kao_orders, co_order = epoch_orders(len(data.X), 0, settings)
        first_batch = (kao_orders[0] if len(kao_orders) else co_order)[: self.batch_size]
        weights, bias = self._initial_embedding(prepared, first_batch, seed=prepared.seed)
        dtype = prepared.engine.dtype
        log_beta = initial_log_beta(settings.loss, dtype)
        return [Parameters(weights, bias, initial_centroids(data, settings).astype(dtype), log_beta)]

    def _set_fitted(self, asked: Any, prepared: Prepared, progress: Progress) -> None:
        super()._set_fitted(asked, prepared, progress)
        self.__dict__.pop("starts_", None)
        best = progress.kept[0]
        self.weights_, self.bias_, self.centroids_, self.log_beta_ = (
            best.weights, best.bias, best.centroids, best.log_beta
        )  # fmt: skip
        self.best_epoch_ = progress.best_epochs[0]
        self._best_loss = progress.best_losses[0] if progress.n_epochs else _WORST_LOSS
        self.loss_: Loss = prepared.settings.loss
        self.training_state_ = progress.states[0]
        self.shots_ = progress.shots

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []  # the kernel has the engine's type
        return tags

    def _measured(self, X: ArrayLike) -> Measured:
        check_is_fitted(self, "centroids_")
        if hasattr(self, "starts_"):
            return mean_measured([start._measured(X) for start in self._starts_in_use()])
        rows, engine = self.scaled(X), self._fitted_engine
        return engine.measured(rows, self.centroids_, weights=self.weights_, bias=self.bias_)

    @property
    def _class_score(self) -> ClassScore:
        return self.loss_.class_score

    @property
    def _log_beta(self) -> FloatArray:
        return getattr(self, "log_beta_", np.zeros(0, self.weights_.dtype))

    @property
    def _trained_loss(self) -> Loss:
        """The loss with the β that was learned, if it was: of several starts the geometric mean."""
        loss, logs = self.loss_, [start._log_beta for start in getattr(self, "starts_", [self])]
        if not is_learned(loss) or not logs[0].size:
            return loss
        return replace(self._kept_parameters, log_beta=np.mean(logs, axis=0)).loss(loss)

    @property
    def beta_(self) -> float:
        check_is_fitted(self, "centroids_")
        loss = self._trained_loss
        if not hasattr(loss, "beta"):
            raise AttributeError(f"the loss {loss!r} has no beta.")
        return float(loss.beta)

    @property
    def steps_(self) -> Steps:
        check_is_fitted(self)
        return self._steps_on(self._fitted_engine)

    def transform(self, X: ArrayLike) -> FloatArray:
        """K (N, M·k): fidelity of every sample with every centroid, each in [0, 1], as measured."""
        return self._measured(X).kernel

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """The class scores S (N, M), fidelities if k = 1; for two classes the difference of their shares, p₁ - p₀.

        Of equal scores that of the predicted class is the largest, by a few units in the last digit.
        """
        measured = self._measured(X)
        if len(self.classes_) > 2:
            return with_winner_first(self._winners(measured), self._scores_of(measured))
        of_both = self.shares_of(measured)
        return of_both[:, 1] - of_both[:, 0]

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """What the loss makes of class scores: their softmax for a cross entropy, else scores divided by their sum.

        Only the former is trained to be a probability. Of equal shares that of the predicted class is the largest, by a
        few units in the last digit.
        """
        return self.shares_of(self._measured(X))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Class of the highest score: that of the centroid with the highest fidelity, unless the loss sums them.

        Equal shares of shots are told apart by their mean number of ones; other ties go to the first class.
        """
        return self.labels_of(self._measured(X))

    def shares_of(self, measured: Measured) -> FloatArray:
        """What ``predict_proba`` makes of a kernel that was measured already."""
        return with_winner_first(self._winners(measured), class_shares(self._scores_of(measured), self._trained_loss))

    def labels_of(self, measured: Measured) -> NDArray[Any]:
        """What ``predict`` makes of a kernel that was measured already."""
        predicted: NDArray[Any] = self.classes_[self._winners(measured)]
        return predicted

    def _scores_of(self, measured: Measured) -> FloatArray:
        return class_scores(measured.kernel, len(self.classes_), class_score=self._class_score)

    def _winners(self, measured: Measured) -> NDArray[np.intp]:
        return winning_classes(measured, len(self.classes_), class_score=self._class_score)

    def overlap_circuits(self, X: ArrayLike | None = None) -> OverlapCircuits:
        """The circuits whose zeros a device counts for samples and centroids, or for the centroids among themselves."""
        self._single()
        rows = self.centroids_ if X is None else self.scaled(X)
        return OverlapCircuits.of(self.feature_map_, rows, self.centroids_, weights=self.weights_, bias=self.bias_)

    def statevectors(self, X: ArrayLike | None = None) -> NDArray[np.complexfloating[Any, Any]]:
        """Amplitudes (N, 2**n) of samples, or of the centroids if none are given, up to a common phase of each."""
        from mcquack.simulators.gates import GateEngine

        self._single()
        rows = self.centroids_ if X is None else self.scaled(X)
        kind: type[Any] = StatevectorEngine if isinstance(self.feature_map_, FeatureMap) else GateEngine
        engine = kind(self.feature_map_, dtype=self.weights_.dtype)
        found: NDArray[Any] = engine.statevectors(engine.encode(rows, self.weights_, self.bias_))
        return found

    @property
    def kernel_(self) -> QuantumKernel:
        """The trained kernel between any two samples, which scales features as the model does: ``SVC(kernel=…)``."""
        return trained_kernel(self._single())

    @property
    def n_parameters_(self) -> int:
        check_is_fitted(self, "centroids_")
        of_one = self.feature_map_.n_parameters(len(self.centroids_)) + self._log_beta.size
        return of_one * len(getattr(self, "starts_", [self]))

    @property
    def _n_features_out(self) -> int:
        return len(self.centroids_)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        """Names of what ``transform`` gives: ``mcquack_setosa`` for a class, or its centroids ``mcquack_setosa_0``, ….

        Parameters
        ----------
        input_features : None or the names of the features, which are compared with those that ``fit`` has seen.

        Examples
        --------
        >>> model = McQuackClassifier(n_qubits=2, epochs=1, random_state=0).fit([[0.0], [1.0]], ["cat", "dog"])
        >>> model.get_feature_names_out().tolist()
        ['mcquack_cat', 'mcquack_dog']
        """
        check_is_fitted(self, "centroids_")
        super().get_feature_names_out(input_features)  # refuses names of other features
        prefix, k = type(self).__name__.lower().removesuffix("classifier"), self._trained_centroids_per_class
        numbers = [f"_{number}" for number in range(k)] if k > 1 else [""]
        return np.array([f"{prefix}_{label}{number}" for label in self.classes_ for number in numbers], dtype=object)

    @property
    def _trained_centroids_per_class(self) -> int:
        return len(self.centroids_) // len(self.classes_)

    # Files

    def _saved_settings(self) -> dict[str, Any]:
        # As they were when it was trained, whatever they have been set to since.
        settings = {**super()._saved_settings(), "n_centroids_per_class": self._trained_centroids_per_class}
        circuit, own = self.feature_map_, self.feature_map in OWN_MAPS
        if own and isinstance(circuit, FeatureMap) and not archive.stays_in_file(self.engine):
            # Without it None might mean another circuit.
            once = -(-self._n_inputs // (self._features_per_gate * circuit.n_qubits))
            settings |= {"n_repetitions": circuit.n_layers // once}
        return settings

    def _saved_fields(self) -> dict[str, Any]:
        return {
            **super()._saved_fields(),
            **self._fields_of_starts(),
            "history": list(self.history_[-_KEPT_ROWS:]),
            "best_epoch": self.best_epoch_,
            "best_loss": self._best_loss,
            "n_iter": self.n_iter_,
            "shots": self.shots_,
            "seen": np.broadcast_to(self._seen, self.classes_.shape).tolist(),
            "trained_by": archive.plain_loss(self.loss_),
        }

    def _shapes(self) -> dict[str, Shape]:
        n_centroids = len(self.classes_) * int(self.n_centroids_per_class)
        learned: dict[str, Shape] = {"log_beta": (1,)} if is_learned(self.loss_) else {}
        return {**super()._shapes(), "centroids": (n_centroids, self._n_inputs), **learned}

    def _saved_tensors(self) -> dict[str, NDArray[Any]]:
        if hasattr(self, "starts_"):
            return self._tensors_of_starts()
        state = self.training_state_.to_tensors() if hasattr(self, "training_state_") else {}
        return super()._saved_tensors() | {STATE + name: tensor for name, tensor in state.items()}

    def _restore(self, file: ModelFile) -> None:
        header = file.header
        # Files from before there was "auto" have the loss among their settings alone.
        trained_by = header["trained_by"] if "trained_by" in header else archive.plain_loss(self.loss)
        self.loss_ = loss_of(archive.restored_loss(trained_by))  # type: ignore[arg-type]
        if "starts" in header:
            self._restore_starts(file)
            return
        super()._restore(file)
        self.n_iter_ = require_field(header, "n_iter", int)
        self.shots_ = require_field(header, "shots", int)
        self.best_epoch_ = require_field(header, "best_epoch", int)
        self._best_loss = require_field(header, "best_loss", float)
        seen = require_field(header, "seen", list)
        fit = len(seen) == len(self.classes_) and all(isinstance(flag, bool) for flag in seen)
        require_that(fit, "its list of classes that have had samples does not fit its classes.")
        self._seen = np.array(seen)
        self._fingerprint = require_field(header, "fingerprint", str)
        require_that(self._best_loss >= 0, "its best loss is not one that training can have had.")
        require_that(self.shots_ >= 0, "its number of shots is not a count.")
        last = int(self.history_[-1]["epoch"] or 0) if self.history_ else 0
        first = min(1, self.n_iter_)  # an untrained model has had no epoch
        agree = first <= self.best_epoch_ <= last and self.n_iter_ >= len(self.history_)
        require_that(agree, "its numbers of epochs contradict its history.")
        if require_field(header, "resumable", bool):
            self.training_state_ = restored_state(
                file, shapes=self._shapes(), dtype=self.weights_.dtype, joint=self.steps_ == "joint"
            )


def _compares_differences(engine: Engine[Any]) -> bool:
    """Return whether the fidelities are exact, and large enough to compare their differences."""
    return engine.feature_map.n_qubits <= _FEW_QUBITS and not engine.shots_per_entry


class QuackClassifier(McQuackClassifier):
    """Two classes, and successive features in the three angles of each gate, where McQuack repeats one feature.

    Parameters, attributes and training are those of :class:`McQuackClassifier`.
    """

    _features_per_gate: ClassVar[Literal[1, 3]] = 3

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
