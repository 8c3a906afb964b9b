"""Trainable multiclass quantum kernels with one centroid per class.

``import mcquack`` is enough to reach everything: the classifiers and the feature map are here, and each subpackage is
imported when it is first asked for, as in ``mcquack.datasets.load("iris3")``.

>>> import mcquack
>>> iris = mcquack.datasets.load("iris3")
>>> model = mcquack.McQuackClassifier(n_qubits=2, epochs=5, random_state=0).fit(*iris.train)
>>> model.predict(iris.test.X).shape == iris.test.y.shape
True
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcquack import bench, circuits, datasets, hardware, kernels, models, report, simulators, studies, training
    from mcquack.circuits import FeatureMap
    from mcquack.hardware.devices import open_device, open_sampler
    from mcquack.hardware.labelling import label
    from mcquack.models import McQuackClassifier, McQuackClassifierCV, QuackClassifier, load

__all__ = [
    "FeatureMap",
    "McQuackClassifier",
    "McQuackClassifierCV",
    "QuackClassifier",
    "__version__",
    "bench",
    "circuits",
    "datasets",
    "hardware",
    "kernels",
    "label",
    "load",
    "models",
    "open_device",
    "open_sampler",
    "report",
    "simulators",
    "studies",
    "training",
]

__version__ = version("mcquack")

# Found when first asked for: Numba and scikit-learn take seconds to import, and `mcquack --help` needs neither.
_HOMES = {
    "FeatureMap": "mcquack.circuits",
    "McQuackClassifier": "mcquack.models",
    "McQuackClassifierCV": "mcquack.models",
    "QuackClassifier": "mcquack.models",
    "label": "mcquack.hardware.labelling",
    "load": "mcquack.models",
    "open_device": "mcquack.hardware.devices",
    "open_sampler": "mcquack.hardware.devices",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in __all__:
        return import_module(f"mcquack.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
