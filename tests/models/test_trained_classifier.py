"""A new kind of model is a few methods: fit, fit_iter, resume, interrupts and files come from the base."""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from numpy.typing import ArrayLike
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted, validate_data

from mcquack.arrays import FloatArray
from mcquack.errors import InvalidInputError
from mcquack.models.archive import STATE, Resumable, Shape, restored_state
from mcquack.models.base import HistoryRow, TrainedClassifier, Trainer
from mcquack.models.features import Features, learned_features
from mcquack.models.model_file import ModelFile, require_field
from mcquack.models.preparation import Prepared, fingerprint
from mcquack.training.endings import Ending, Patience, Progress, TrainedEpoch
from mcquack.training.state import Parameters, TrainingData

X, Y = load_iris(return_X_y=True)


@dataclass(eq=False, repr=False)
class SoftmaxRegression(TrainedClassifier, Resumable):
    """Logits W x + b, trained by plain gradient descent on all samples at once."""

    rate: float = 0.5
    epochs: int = 300
    patience: int | None = 10
    random_state: Any = None
    verbose: int = 0

    _columns = {"epoch", "loss"}  # noqa: RUF012
    _learning_rates = "rate"

    # Training

    def fit_iter(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, *, resume: bool = False
    ) -> Generator[HistoryRow, None, None]:
        return self._training_rows(X, y, sample_weight, resume=resume)

    @property
    def _ending(self) -> Ending:
        return Patience(self.patience, self.epochs)

    def _learned_features(self, data: TrainingData) -> Features | None:
        return learned_features(data.X, data.labels, data.row_weights, scale="standard")

    def _as_inputs(self, prepared: Prepared, *, going_on: bool) -> Prepared:
        data = replace(prepared.training, X=prepared.features(prepared.training.X))  # type: ignore[misc]
        return replace(prepared, training=data, fingerprint=fingerprint(data))

    def _first_parameters(self, prepared: Prepared) -> Sequence[Parameters]:
        n_classes = len(prepared.classes)
        return [Parameters(np.zeros((n_classes, prepared.n_inputs)), np.zeros(n_classes))]

    def _trainer(self, prepared: Prepared, progress: Progress, *, shown_on: Any) -> Trainer:
        data = prepared.training
        wanted = np.eye(data.n_classes)[data.labels]
        weights = data.row_weights[:, None] / data.row_weights.sum()

        def trained(progress: Progress, going: Sequence[bool]) -> TrainedEpoch:
            state = progress.states[0]
            slopes = weights * (_shares(data.X, state.parameters) - wanted)
            moved = Parameters(
                state.parameters.weights - self.rate * slopes.T @ data.X,
                state.parameters.bias - self.rate * slopes.sum(axis=0),
            )
            loss = float(-(weights * wanted * np.log(_shares(data.X, moved) + 1e-300)).sum())
            row: HistoryRow = {"epoch": progress.epoch + 1, "loss": loss if np.isfinite(loss) else None}
            return TrainedEpoch([replace(state, epoch=state.epoch + 1, parameters=moved)], row, [loss])

        return trained

    def _set_fitted(self, asked: Any, prepared: Prepared, progress: Progress) -> None:
        super()._set_fitted(asked, prepared, progress)
        self.weights_, self.bias_ = progress.kept[0].weights, progress.kept[0].bias
        self.best_epoch_, self._best_loss = progress.best_epochs[0], progress.best_losses[0]
        self.training_state_ = progress.states[0]

    def _resumed(self) -> Progress:
        return Progress.start(
            [self.training_state_],
            kept=[Parameters(self.weights_, self.bias_)],
            best_epochs=[self.best_epoch_],
            best_losses=[self._best_loss],
            history=self.history_,
            n_epochs=self.n_iter_,
        )

    # Use and files

    def scaled(self, X: ArrayLike) -> FloatArray:
        return self.features_(validate_data(self, X, dtype=np.float64, reset=False))  # type: ignore[misc]

    def _scored(self, X: ArrayLike) -> FloatArray:
        check_is_fitted(self, "weights_")
        return np.asarray(self.scaled(X) @ self.weights_.T + self.bias_)

    def _shapes(self) -> dict[str, Shape]:
        return {"weights": (len(self.classes_), self._n_inputs), "bias": (len(self.classes_),)}

    def _saved_fields(self) -> dict[str, Any]:
        return {**super()._saved_fields(), "best_epoch": self.best_epoch_, "best_loss": self._best_loss}

    def _saved_tensors(self) -> dict[str, Any]:
        state = self.training_state_.to_tensors() if hasattr(self, "training_state_") else {}
        return super()._saved_tensors() | {STATE + name: tensor for name, tensor in state.items()}

    def _restore(self, file: ModelFile) -> None:
        super()._restore(file)
        self._restore_arrays(file, np.float64)
        self.best_epoch_ = require_field(file.header, "best_epoch", int)
        self._best_loss = require_field(file.header, "best_loss", float)
        self._fingerprint = require_field(file.header, "fingerprint", str)
        if require_field(file.header, "resumable", bool):
            self.training_state_ = restored_state(file, shapes=self._shapes(), dtype=np.float64)


def _shares(rows: FloatArray, parameters: Parameters) -> FloatArray:
    logits = rows @ parameters.weights.T + parameters.bias
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


@parametrize_with_checks([SoftmaxRegression()])
def test_scikit_learns_own_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


def test_it_learns_keeps_its_best_and_ends_by_patience() -> None:
    model = SoftmaxRegression().fit(X, Y)
    assert model.score(X, Y) > 0.9
    assert model.n_iter_ == len(model.history_) <= 300
    wild = SoftmaxRegression(rate=50.0).fit(X, Y)
    assert wild.n_iter_ < 300
    assert wild._best_loss == min(row["loss"] for row in wild.history_)


def test_a_training_that_diverges_names_the_rate() -> None:
    with pytest.raises(InvalidInputError, match="diverged after 0 epochs; lower rate"), np.errstate(all="ignore"):
        SoftmaxRegression(rate=np.inf).fit(X, Y)


def test_it_resumes_from_a_file_to_the_same_model(tmp_path: Path) -> None:
    whole, begun = SoftmaxRegression().fit(X, Y), SoftmaxRegression()
    for _ in islice(begun.fit_iter(X, Y), 7):
        pass
    begun.save(tmp_path / "begun.mcq", resumable=True)
    resumed = SoftmaxRegression.load(tmp_path / "begun.mcq")
    assert_array_equal(resumed.predict(X), begun.predict(X))
    with pytest.raises(InvalidInputError, match="not the samples"):
        resumed.fit_iter(X + 1, Y, resume=True)
    for _ in resumed.fit_iter(X, Y, resume=True):
        pass
    assert_array_equal(resumed.weights_, whole.weights_)
    assert resumed.history_ == whole.history_


class Interrupted(SoftmaxRegression):
    """As if the user lost patience after three epochs."""

    def _trainer(self, prepared: Prepared, progress: Progress, *, shown_on: Any) -> Trainer:
        train = super()._trainer(prepared, progress, shown_on=shown_on)

        def trained(progress: Progress, going: Sequence[bool]) -> TrainedEpoch | None:
            if progress.n_epochs == 3:
                raise KeyboardInterrupt
            return train(progress, going)

        return trained


def test_an_interrupt_keeps_the_model_so_far() -> None:
    model = Interrupted()
    with pytest.raises(KeyboardInterrupt, match="3 epochs"):
        model.fit(X, Y)
    assert model.predict(X).shape == Y.shape
    assert len(model.history_) == 3
