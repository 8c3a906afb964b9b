"""Trainable multiclass quantum kernels with one centroid per class.

``import mcquack`` is enough to reach everything: the classifiers and the feature map are here, and each subpackage is
imported when it is first asked for, as in ``mcquack.datasets.load("iris3")``.

>>> import mcquack
>>> iris = mcquack.datasets.load("iris3")
>>> model = mcquack.McQuackClassifier(n_qubits=2, epochs=5, random_state=0).fit(*iris.train)
>>> model.predict(iris.test.X).shape == iris.test.y.shape
True
"""

from typing import TYPE_CHECKING, Any

from mcquack.lazy import lazy_exports

if TYPE_CHECKING:
    from mcquack import bench, circuits, datasets, hardware, kernels, models, report, simulators, studies, training
    from mcquack.circuits import FeatureMap
    from mcquack.hardware import label, open_device, open_sampler
    from mcquack.models import McQuackClassifier, McQuackClassifierCV, QuackClassifier, load

    __version__: str

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

# Found when first asked for: Numba and scikit-learn take seconds to import, and `mcquack --help` needs neither.
_exported, __dir__ = lazy_exports(
    __name__,
    __all__,
    {
        "mcquack.circuits.feature_map": ("FeatureMap",),
        "mcquack.hardware.devices": ("open_device", "open_sampler"),
        "mcquack.hardware.labelling": ("label",),
        "mcquack.models": ("load",),
        "mcquack.models.cross_validated": ("McQuackClassifierCV",),
        "mcquack.models.mcquack": ("McQuackClassifier", "QuackClassifier"),
    },
)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version  # it takes longer to import than all of this

        return version("mcquack")
    return _exported(name)
