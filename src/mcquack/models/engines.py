"""Which engine runs the circuits of a model."""

from typing import Any, Literal, get_args

from mcquack.checks import require
from mcquack.circuits.feature_map import FeatureMap
from mcquack.simulators.engine import Engine
from mcquack.simulators.ring import RingEngine
from mcquack.simulators.ring.engine import check_qubits as check_ring_qubits
from mcquack.simulators.statevector import StatevectorEngine
from mcquack.simulators.statevector.engine import MAX_QUBITS
from mcquack.simulators.statevector.engine import check_qubits as check_statevector_qubits

EngineName = Literal["auto", "statevector", "ring"]


def chosen_engine(name: EngineName, n_qubits: int) -> Literal["statevector", "ring"]:
    """What "auto" means: statevectors as long as they fit."""
    if name == "auto":
        return "statevector" if n_qubits <= MAX_QUBITS else "ring"
    return name


def check_engine(name: Any, n_qubits: int) -> None:
    """Refuses an engine that nobody knows, and more qubits than it takes."""
    require(name in get_args(EngineName), "engine", " or ".join(map(repr, get_args(EngineName))), name)
    check = check_statevector_qubits if chosen_engine(name, n_qubits) == "statevector" else check_ring_qubits
    check(n_qubits)


def new_engine(name: EngineName, feature_map: FeatureMap, *, dtype: str, n_threads: int | None) -> Engine[Any]:
    """The engine of this name for a circuit."""
    if chosen_engine(name, feature_map.n_qubits) == "ring":
        return RingEngine(feature_map, n_threads=n_threads)
    return StatevectorEngine(feature_map, dtype=dtype, n_threads=n_threads)
