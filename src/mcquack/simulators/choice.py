"""Which engine a name means, and which one runs circuits of a given width where none is asked for."""

from typing import Any, Literal, TypeAlias

from mcquack.checks import require
from mcquack.simulators.engine import Engine
from mcquack.simulators.ring.engine import RingEngine
from mcquack.simulators.statevector.engine import StatevectorEngine

EngineName = Literal["auto", "statevector", "ring"]
EngineChoice: TypeAlias = EngineName | Engine[Any]
# In the order in which "auto" prefers them.
ENGINES: dict[str, type[Engine[Any]]] = {"statevector": StatevectorEngine, "ring": RingEngine}


def engine_of(choice: EngineChoice, n_qubits: int) -> Engine[Any]:
    """The engine that a name stands for, or the engine itself.

    Parameters
    ----------
    choice : "auto", "statevector", "ring" or Engine
        "auto" takes statevectors as long as the qubits allow it, else the ring.
    n_qubits : int
        Width of the circuits to run.

    Examples
    --------
    >>> engine_of("auto", 6).name, engine_of("auto", 124).name
    ('statevector', 'ring')
    """
    if isinstance(choice, Engine):
        return choice.for_qubits(n_qubits)
    expected = f"{' or '.join(map(repr, ('auto', *ENGINES)))}, or an engine"
    require(isinstance(choice, str) and choice in ("auto", *ENGINES), "engine", expected, choice)
    if choice != "auto":
        return ENGINES[choice]()
    *first, last = ENGINES.values()
    return next((kind for kind in first if n_qubits <= (kind.most_qubits or n_qubits)), last)()
