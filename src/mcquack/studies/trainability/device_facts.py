"""What the start of a training would ask of a device, as plain numbers."""

from dataclasses import replace
from typing import Any

import numpy as np

from mcquack.simulators.statevector import StatevectorEngine
from mcquack.studies.trainability.analysis.shot_noise import (
    alignment_gradient_shots,
    entry_gradient_shots,
    prediction_shots,
)
from mcquack.training.parameters import Parameters
from mcquack.training.state import TrainingData

# Shifting one angle after the other takes dozens of passes, so few samples and few angles stand for all, and whole
# statevectors beyond some qubits are left out.
_MOST_SAMPLES = 16
_N_COMPONENTS = 6
_MOST_QUBITS = 14


def device_facts(engine: Any, batch: TrainingData, parameters: Parameters, *, seed: int) -> dict[str, float]:
    """log₁₀ of the shots per circuit that a prediction, a derivative of the alignment and one of an entry take.

    Those of the alignment are for a batch of 16 samples.
    """
    if isinstance(engine, StatevectorEngine) and engine.feature_map.n_qubits > _MOST_QUBITS:
        return {}
    few = replace(
        batch,
        X=batch.X[:_MOST_SAMPLES],
        labels=batch.labels[:_MOST_SAMPLES],
        row_weights=batch.row_weights[:_MOST_SAMPLES],
    )
    shots = {
        "prediction": prediction_shots(engine, few.X, parameters),
        "alignment": alignment_gradient_shots(engine, few, parameters, n_components=_N_COMPONENTS, seed=seed),
        "entry": entry_gradient_shots(engine, few.X, parameters, n_components=_N_COMPONENTS, seed=seed),
    }
    found = {f"log10_shots_{name}": float(each.log10_per_circuit) for name, each in shots.items()}
    return {name: value for name, value in found.items() if np.isfinite(value)}
