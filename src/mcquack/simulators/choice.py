"""Which engine a name means, and which one runs circuits of a given width where none is asked for."""

from typing import Any, Literal, TypeAlias

from mcquack.circuits.circuit import Circuit
from mcquack.circuits.feature_map import FeatureMap
from mcquack.constraints import Custom
from mcquack.simulators.engine import Engine
from mcquack.simulators.gates.engine import GateEngine
from mcquack.simulators.jax.engine import JaxEngine
from mcquack.simulators.ring.engine import RingEngine
from mcquack.simulators.statevector.engine import StatevectorEngine

EngineName = Literal["auto", "statevector", "ring", "gates", "jax"]
EngineChoice: TypeAlias = EngineName | Engine[Any]
ENGINES: dict[str, type[Engine[Any]]] = {
    engine.name: engine for engine in (StatevectorEngine, RingEngine, GateEngine, JaxEngine)
}
ENGINE = Custom(
    f"{' or '.join(map(repr, ('auto', *ENGINES)))}, or an engine",
    lambda value: isinstance(value, Engine) or (isinstance(value, str) and value in ("auto", *ENGINES)),
)


def engine_of(choice: EngineChoice, circuit: Circuit | int) -> Engine[Any]:
    """The engine that a name stands for, or the engine itself.

    Parameters
    ----------
    choice : "auto", "statevector", "ring", "gates", "jax" or Engine
        "auto" runs the feature map of the paper on statevectors as long as its qubits allow it, else on the ring, and
        any other circuit on the gate engine. "jax" takes the extra of that name.
    circuit : Circuit or int
        The circuit to run; a number stands for the feature map of the paper on so many qubits.

    Examples
    --------
    >>> from mcquack.circuits import Circuit
    >>> engine_of("auto", 6).name, engine_of("auto", 124).name, engine_of("auto", Circuit(2, 2).h(0)).name
    ('statevector', 'ring', 'gates')
    """
    if isinstance(choice, Engine):
        return choice.settled(circuit)
    ENGINE.check("engine", choice)
    if choice != "auto":
        return ENGINES[choice]()
    if isinstance(circuit, Circuit) and not isinstance(circuit, FeatureMap):
        return GateEngine()
    n_qubits = circuit.n_qubits if isinstance(circuit, Circuit) else circuit
    return StatevectorEngine() if n_qubits <= StatevectorEngine.most_qubits else RingEngine()
