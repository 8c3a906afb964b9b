"""The trainability study made visible: figures in the style of the paper, and a page with all of them.

Figures take observations, or lines of them, and give figures of matplotlib:

>>> from mcquack.report.trainability import plot_losses
>>> from mcquack.studies.trainability import Observation
>>> seen = [Observation(model="mcquack", seed=0, settings={"n_qubits": n}, trace={"loss": (0.9, 0.5)}) for n in (2, 3)]
>>> plot_losses(seen).axes[0].get_ylabel()
'loss'
"""

from mcquack.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(__name__, __file__)
