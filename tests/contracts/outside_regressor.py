"""A new kind of model, written from outside of the package: a regressor with a linear head on fidelities.

It brings no training loop. The trainer gets an embedding (an engine), a readout (fidelities with centroids and a head),
a loss (squared error) and batches (the settings), and yields a state after every epoch.
"""

from dataclasses import dataclass
from itertools import islice
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.cluster import KMeans
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted, validate_data

from mcquack.circuits.library import paper
from mcquack.kernels.losses import SquaredError
from mcquack.simulators import StatevectorEngine
from mcquack.training import Parameters, TrainingData, TrainingSettings, TrainingState, initial_embedding, train
from mcquack.training.reference import epoch_kernel, outputs_of


@dataclass
class CentroidRegressor(RegressorMixin, BaseEstimator):
    """Predicts a linear function of the fidelities with trained centroids."""

    n_qubits: int = 4
    n_centroids: int = 8
    epochs: int = 60
    learning_rate: float = 0.03
    batch_size: int = 32
    random_state: int = 0

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        rows, targets = validate_data(self, X, y, dtype=np.float64, y_numeric=True, multi_output=True)
        self.scaler_ = MinMaxScaler().fit(rows)
        self.target_scaler_ = StandardScaler().fit(targets.reshape(len(targets), -1))
        data = TrainingData.regression(
            self.scaler_.transform(rows).astype(np.float32),
            self.target_scaler_.transform(targets.reshape(len(targets), -1)),
            n_scores=self.n_centroids,
        )
        self.n_targets_ = targets.ndim
        self.engine_ = StatevectorEngine(paper(rows.shape[1], self.n_qubits))
        start = TrainingState.start(self._start(data))
        states = train(self.engine_, data, start, settings=self._settings(data))
        *_, last = islice(states, self.epochs)
        self.parameters_, self.loss_ = last.state.parameters, last.report.loss
        return self

    def _settings(self, data: TrainingData) -> TrainingSettings:
        return TrainingSettings(
            loss=SquaredError(),
            n_outputs=data.labels.shape[1],
            steps="joint",
            lr_ka=self.learning_rate,
            lr_co=self.learning_rate,
            batch_size=self.batch_size,
            seed=self.random_state,
        )

    def _start(self, data: TrainingData) -> Parameters:
        weights, bias = initial_embedding(
            self.engine_.feature_map,
            data.X,
            init_small=True,
            init_strategy="default",
            seed=self.random_state,
            dtype=np.float32,
        )
        clusters = KMeans(self.n_centroids, n_init=1, random_state=self.random_state).fit(data.X)
        head = np.zeros((self.n_centroids + 1, data.labels.shape[1]), np.float32)
        return Parameters(weights, bias, clusters.cluster_centers_.astype(np.float32), head=head)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        check_is_fitted(self)
        rows = validate_data(self, X, dtype=np.float64, reset=False)
        scaled = self.scaler_.transform(rows).astype(np.float32)
        kernel = epoch_kernel(self.engine_, scaled, self.parameters_, SquaredError())
        outputs = outputs_of(kernel, self.parameters_, self.n_centroids, SquaredError())
        found = self.target_scaler_.inverse_transform(outputs)
        return found[:, 0] if self.n_targets_ == 1 else found
