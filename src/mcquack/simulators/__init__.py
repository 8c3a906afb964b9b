"""How circuits are run here: exact statevectors, exact rings of a hundred qubits and more, shots and noise.

``StatevectorEngine``, ``GateEngine``, ``JaxEngine`` and ``RingEngine`` are exact. ``Shots`` reads one of them through a
number of shots. ``SampledEngine`` makes an engine of whatever counts, such as ``SimulatedSampler``, ``NoisySampler`` or
a device. Whatever subclasses ``Engine`` runs in their place.
"""

from mcquack.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(__name__, __file__)
