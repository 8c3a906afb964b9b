"""How circuits are run here: exact statevectors, exact rings of a hundred qubits and more, shots and noise.

``StatevectorEngine``, ``GateEngine``, ``JaxEngine`` and ``RingEngine`` are exact. ``Shots`` reads one of them through a
number of shots. ``SampledEngine`` makes an engine of whatever counts, such as ``SimulatedSampler``, ``NoisySampler`` or
a device. Whatever subclasses ``Engine`` runs in their place.
"""

from typing import TYPE_CHECKING

from mcquack.lazy import lazy_exports
from mcquack.simulators.choice import ENGINES, EngineChoice, EngineName, engine_of
from mcquack.simulators.compiled.team import limited_threads
from mcquack.simulators.engine import (
    AngleRows,
    Cost,
    Encoded,
    Engine,
    Gradient,
    Measured,
    MeasuringEngine,
    Wrt,
    angle_rows,
)
from mcquack.simulators.hamming import CountsOnes
from mcquack.simulators.shots import SampledEngine, Shots, TolerantEngine
from mcquack.simulators.statevector import StateEngine, StatevectorEngine

if TYPE_CHECKING:
    from mcquack.simulators.gates import GateEngine
    from mcquack.simulators.jax import JaxEngine
    from mcquack.simulators.noise import AACHEN, NOISELESS, PITTSBURGH, DeviceCalibration
    from mcquack.simulators.ring import RingEngine
    from mcquack.simulators.samplers import NoisySampler, SimulatedSampler

__all__ = [
    "AACHEN",
    "ENGINES",
    "NOISELESS",
    "PITTSBURGH",
    "AngleRows",
    "Cost",
    "CountsOnes",
    "DeviceCalibration",
    "Encoded",
    "Engine",
    "EngineChoice",
    "EngineName",
    "GateEngine",
    "Gradient",
    "JaxEngine",
    "Measured",
    "MeasuringEngine",
    "NoisySampler",
    "RingEngine",
    "SampledEngine",
    "Shots",
    "SimulatedSampler",
    "StateEngine",
    "StatevectorEngine",
    "TolerantEngine",
    "Wrt",
    "angle_rows",
    "engine_of",
    "limited_threads",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    __all__,
    {
        "mcquack.simulators.gates": ("GateEngine",),
        "mcquack.simulators.jax": ("JaxEngine",),
        "mcquack.simulators.noise": ("AACHEN", "DeviceCalibration", "NOISELESS", "PITTSBURGH"),
        "mcquack.simulators.ring": ("RingEngine",),
        "mcquack.simulators.samplers": ("NoisySampler", "SimulatedSampler"),
    },
)
