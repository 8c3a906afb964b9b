"""Which engine a name means, and which one runs circuits of a given width where none is asked for."""

import copy
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, Literal, TypeAlias

from mcquack.circuits.circuit import Circuit
from mcquack.circuits.feature_map import FeatureMap
from mcquack.constraints import Custom
from mcquack.simulators.engine import Engine
from mcquack.simulators.statevector.engine import StatevectorEngine

EngineName = Literal["auto", "statevector", "ring", "gates", "jax"]
EngineChoice: TypeAlias = EngineName | Engine[Any]


_CLASSES = {"statevector": "StatevectorEngine", "ring": "RingEngine", "gates": "GateEngine", "jax": "JaxEngine"}


class _Engines(Mapping[str, type[Engine[Any]]]):
    """The classes of engines by name, each imported when it is taken out."""

    def __getitem__(self, name: str) -> type[Engine[Any]]:
        class_name = _CLASSES[name]
        return getattr(import_module(f"mcquack.simulators.{name}"), class_name)

    def __iter__(self) -> Iterator[str]:
        return iter(_CLASSES)

    def __len__(self) -> int:
        return len(_CLASSES)


ENGINES: Mapping[str, type[Engine[Any]]] = _Engines()
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
        return _resolved(choice, circuit)
    ENGINE.check("engine", choice)
    if choice != "auto":
        return ENGINES[choice]()
    if isinstance(circuit, Circuit) and not isinstance(circuit, FeatureMap):
        return ENGINES["gates"]()
    n_qubits = circuit.n_qubits if isinstance(circuit, Circuit) else circuit
    return StatevectorEngine() if n_qubits <= StatevectorEngine.most_qubits else ENGINES["ring"]()


def _resolved(engine: Engine[Any], circuit: Circuit | int) -> Engine[Any]:
    """The engine; one around another that is given by its name, as in ``Shots(engine="auto")``, gets that engine."""
    if not isinstance(engine.engine, str):
        return engine
    found = copy.copy(engine)
    found.engine = engine_of(engine.engine, circuit)  # type: ignore[arg-type]
    return found
