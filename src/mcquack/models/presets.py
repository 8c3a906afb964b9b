"""Named settings of :class:`McQuackClassifier`, as data."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from mcquack.errors import InvalidInputError

# Appendix C, "search space of McQuack for the real-world datasets", with the first value of each list.
PAPER: Mapping[str, Any] = MappingProxyType(
    {
        "n_qubits": 6,
        "n_repetitions": 1,
        "epochs": 200,
        "epochs_ka": 1,
        "epochs_co": 1,
        "lr_ka": 1e-3,
        "lr_co": 1e-3,
        "decay_rate": 0.99,
        "reg_param_weights": 1e-3,
        "reg_param_bias": 1e-3,
        "reg_param_co": 1e-3,
        "batch_size": 100,
        "patience": 5,
        "init_strategy": "default",
        "init_small": True,
    }
)

# Appendix C, "search space of McQuack for the QML Benchmark suite", with a middle value of each list.
QML_SUITE: Mapping[str, Any] = MappingProxyType(
    {
        "n_qubits": 6,
        "n_repetitions": 5,
        "epochs": 500,
        "epochs_ka": 1,
        "epochs_co": 1,
        "lr_ka": 1e-2,
        "lr_co": 1e-2,
        "decay_rate": 1.0,
        "reg_param_weights": 0.0,
        "reg_param_bias": 0.0,
        "reg_param_co": 1e-3,
        "batch_size": 32,
        "patience": 50,
        "init_strategy": "wx+b=0",
        "init_small": True,
    }
)

# Appendix B, "Hardware Experiments": untrained, all weights and biases one, no ring after the last rotations.
DEVICE: Mapping[str, Any] = MappingProxyType(
    {
        "n_qubits": 124,
        "n_repetitions": 1,
        "epochs": 0,
        "init_small": False,
        "feature_map": "device",
        "scale": (-1.0, 1.0),
    }
)

PRESETS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {"default": MappingProxyType({}), "paper": PAPER, "qml": QML_SUITE, "device": DEVICE}
)


def preset(name: str) -> dict[str, Any]:
    """Settings of that name: ``McQuackClassifier(**preset("paper"))``."""
    if name not in PRESETS:
        raise InvalidInputError(f"there is no preset {name!r}; choose one of {', '.join(PRESETS)}.")
    return dict(PRESETS[name])
