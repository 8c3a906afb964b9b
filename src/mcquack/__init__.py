"""Trainable multiclass quantum kernels with one centroid per class.

``import mcquack`` is enough to reach everything: the classifiers and the feature map are here, and each subpackage is
imported when it is first asked for, as in ``mcquack.datasets.load("iris3")``.

>>> import mcquack
>>> iris = mcquack.datasets.load("iris3")
>>> model = mcquack.McQuackClassifier(n_qubits=2, epochs=5, random_state=0).fit(*iris.train)
>>> model.predict(iris.test.X).shape == iris.test.y.shape
True
"""

from typing import Any

from mcquack.lazy import lazy_exports

# Found when first asked for: Numba and scikit-learn take seconds to import, and `mcquack --help` needs neither.
_exported, __dir__, __all__ = lazy_exports(__name__, __file__)
__all__.append("__version__")


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version  # it takes longer to import than all of this

        return version("mcquack")
    return _exported(name)
