"""Which engine runs the circuits of a model: a simulator by its name, or whatever a sampler stands for."""

from typing import Any, Literal, TypeAlias, TypeGuard, get_args

from mcquack.checks import require
from mcquack.circuits.feature_map import FeatureMap
from mcquack.circuits.overlap import Sampler
from mcquack.kernels.sampled import SampledEngine
from mcquack.simulators.engine import Engine
from mcquack.simulators.ring import RingEngine
from mcquack.simulators.ring.engine import check_qubits as check_ring_qubits
from mcquack.simulators.statevector import StatevectorEngine
from mcquack.simulators.statevector.engine import MAX_QUBITS
from mcquack.simulators.statevector.engine import check_qubits as check_statevector_qubits

EngineName = Literal["auto", "statevector", "ring"]
EngineChoice: TypeAlias = EngineName | Sampler
RunsOn = Literal["statevector", "ring", "sampler"]


def is_sampler(choice: Any) -> TypeGuard[Sampler]:
    """Whether this is an object that counts, and not the name of an engine."""
    return not isinstance(choice, type) and callable(getattr(choice, "weight_counts", None))


def chosen_engine(choice: EngineChoice, n_qubits: int) -> RunsOn:
    """What "auto" means: statevectors as long as they fit."""
    if is_sampler(choice):
        return "sampler"
    if choice == "auto":
        return "statevector" if n_qubits <= MAX_QUBITS else "ring"
    return "ring" if choice == "ring" else "statevector"


def check_engine(choice: Any, n_qubits: int) -> None:
    """Refuses an engine that nobody knows, and more qubits than it takes; a sampler says itself how many it has."""
    if is_sampler(choice):
        return
    expected = f"{' or '.join(map(repr, get_args(EngineName)))}, or a sampler"
    require(isinstance(choice, str) and choice in get_args(EngineName), "engine", expected, choice)
    check = check_statevector_qubits if chosen_engine(choice, n_qubits) == "statevector" else check_ring_qubits
    check(n_qubits)


def new_engine(
    choice: EngineChoice,
    feature_map: FeatureMap,
    *,
    dtype: str,
    n_threads: int | None,
    shots: int | None = None,
    tolerance: int | None = None,
) -> Engine[Any]:
    """The engine of this name for a circuit; shots and tolerance are those of a sampler, which has no exact values."""
    if is_sampler(choice):
        return SampledEngine(choice, feature_map, shots=shots, tolerance=tolerance or 0)  # type: ignore[arg-type]
    if chosen_engine(choice, feature_map.n_qubits) == "ring":
        return RingEngine(feature_map, n_threads=n_threads)
    return StatevectorEngine(feature_map, dtype=dtype, n_threads=n_threads)
