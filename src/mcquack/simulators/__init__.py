"""How circuits are run here: exact statevectors, exact rings of a hundred qubits and more, shots and noise.

``StatevectorEngine``, ``GateEngine``, ``JaxEngine`` and ``RingEngine`` are exact; ``SimulatedSampler`` and
``NoisySampler`` count as a device would.
Whatever subclasses ``Engine`` runs in their place.
"""

from mcquack.simulators.choice import ENGINES, EngineChoice, EngineName, engine_of
from mcquack.simulators.compiled.team import limited_threads
from mcquack.simulators.engine import Encoded, Engine, Gradient, Measured, Wrt
from mcquack.simulators.gates import GateEngine
from mcquack.simulators.jax import JaxEngine
from mcquack.simulators.noise import AACHEN, NOISELESS, PITTSBURGH, DeviceCalibration
from mcquack.simulators.ring import RingEngine
from mcquack.simulators.samplers import NoisySampler, SimulatedSampler
from mcquack.simulators.shots import SampledEngine, Shots, TolerantEngine
from mcquack.simulators.statevector import StateEngine, StatevectorEngine

__all__ = [
    "AACHEN",
    "ENGINES",
    "NOISELESS",
    "PITTSBURGH",
    "DeviceCalibration",
    "Encoded",
    "Engine",
    "EngineChoice",
    "EngineName",
    "GateEngine",
    "Gradient",
    "JaxEngine",
    "Measured",
    "NoisySampler",
    "RingEngine",
    "SampledEngine",
    "Shots",
    "SimulatedSampler",
    "StateEngine",
    "StatevectorEngine",
    "TolerantEngine",
    "Wrt",
    "engine_of",
    "limited_threads",
]
