"""What the states of a feature map are like before training, as plain numbers."""

from typing import Any

import numpy as np

from mcquack.simulators.statevector import StatevectorEngine
from mcquack.studies.trainability.analysis.concentration import kernel_concentration, pair_log_fidelities
from mcquack.studies.trainability.analysis.entanglement import entanglement
from mcquack.studies.trainability.analysis.expressibility import expressibility, random_circuit_fidelities
from mcquack.training.parameters import FloatArray

_MOST_SAMPLES = 50  # 1,225 pairs; on a ring each is a contraction of its own
_MOST_EXPRESSED_QUBITS = 10  # with a pass for each of two states in a pair
_N_PAIRS = 400
_MOST_ENTANGLED_QUBITS = 14  # beyond which whole states of so many samples take gigabytes


def state_facts(engine: Any, X: FloatArray, weights: FloatArray, bias: FloatArray, *, seed: int) -> dict[str, float]:
    """How concentrated fidelities of different samples are, and for few qubits how entangled their states.

    For fewer still, also how far the circuit is from reaching all states alike, whatever its parameters.
    """
    rows = X[:_MOST_SAMPLES]
    n_qubits = engine.feature_map.n_qubits
    if len(rows) < 2:
        return {}
    facts = dict(kernel_concentration(pair_log_fidelities(engine, rows, weights, bias), n_qubits).as_row())
    if isinstance(engine, StatevectorEngine) and 2 <= n_qubits <= _MOST_ENTANGLED_QUBITS:
        found = entanglement(engine, rows, weights, bias)
        facts |= {"entanglement": found.mean, "entanglement_haar": found.haar}
    if isinstance(engine, StatevectorEngine) and n_qubits <= _MOST_EXPRESSED_QUBITS:
        pairs = random_circuit_fidelities(engine.feature_map, n_pairs=_N_PAIRS, seed=seed)
        facts["expressibility"] = expressibility(pairs, n_qubits).excess
    return {name: float(value) for name, value in facts.items() if np.isfinite(value)}
