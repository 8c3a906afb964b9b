"""What is observed: one value for each decision of a run of the study."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, get_args

import numpy as np

from mcquack.checks import is_number, is_whole_number, require
from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import InvalidInputError
from mcquack.models.engines import EngineName, RunsOn, check_engine, chosen_engine
from mcquack.simulators.ring.engine import MAX_LAYERS
from mcquack.training.parameters import InitStrategy

ModelName = Literal["mcquack", "quack", "vc", "shared_vc"]
FEATURES_PER_GATE: Mapping[ModelName, Literal[1, 3]] = MappingProxyType(
    {"mcquack": 1, "quack": 3, "vc": 1, "shared_vc": 1}
)
VARIATIONAL: tuple[ModelName, ...] = ("vc", "shared_vc")


@dataclass(frozen=True, kw_only=True)
class ProbeSettings:
    """Checks itself when made; what the fields mean is told by :class:`TrainabilityProbe`."""

    model: ModelName = "mcquack"
    n_qubits: int = 6
    n_layers: int | None = None
    n_repetitions: int = 1
    n_features: int | None = None
    init_small: bool = True
    init_strategy: InitStrategy = "default"
    regularised: bool = False
    reg_param: float = 1e-3
    epochs: int = 0
    lr: float = 1e-3
    decay_rate: float = 0.99
    batch_size: int = 100
    n_train: int | None = None
    n_entries: int = 8
    feature_range: tuple[float, float] = (-1.0, 1.0)
    final_entangler: bool = True
    engine: EngineName = "auto"
    landscape: int = 0
    series: str = ""

    def __post_init__(self) -> None:
        require(self.model in get_args(ModelName), "model", _either(get_args(ModelName)), self.model)
        for name in ("n_qubits", "n_repetitions", "batch_size"):
            require(_is_count(getattr(self, name)), name, "a whole number of at least 1", getattr(self, name))
        for name in ("n_layers", "n_features", "n_train"):
            value = getattr(self, name)
            require(value is None or _is_count(value), name, "None or a whole number of at least 1", value)
        for name in ("epochs", "n_entries", "landscape"):
            value = getattr(self, name)
            require(is_whole_number(value) and value >= 0, name, "a whole number of at least 0", value)
        for name in ("init_small", "regularised", "final_entangler"):
            require(isinstance(getattr(self, name), bool | np.bool_), name, "True or False", getattr(self, name))
        choices = get_args(InitStrategy)
        require(self.init_strategy in choices, "init_strategy", _either(choices), self.init_strategy)
        for name in ("lr", "decay_rate", "reg_param"):
            value = getattr(self, name)
            require(is_number(value) and math.isfinite(value) and value > 0, name, "a positive number", value)
        bounds = self.feature_range
        pair = isinstance(bounds, tuple | list) and len(bounds) == 2 and all(map(is_number, bounds))
        require(pair and bounds[0] < bounds[1], "feature_range", "an increasing pair of numbers", bounds)
        odd = self.landscape == 0 or (self.landscape >= 3 and self.landscape % 2 == 1)
        require(odd, "landscape", "0, or an odd number of at least 3", self.landscape)
        check_engine(self.engine, self.n_qubits)
        self._check_circuit()

    def _check_circuit(self) -> None:
        if self.is_variational and self.runs_on == "ring":
            raise InvalidInputError(
                f"{self.model} needs whole statevectors, at most 20 qubits, and was asked for {self.n_qubits} on the "
                f"{self.engine} engine; leave out these sizes, or the model."
            )
        require(
            not self.is_variational or self.n_qubits >= 2, "n_qubits", f"at least 2 for {self.model}", self.n_qubits
        )
        no_slice = not (self.is_variational and self.landscape)
        require(no_slice, "landscape", f"0 for {self.model}, whose parameters are of another kind", self.landscape)
        shallow = self.n_layers is None or self.n_layers <= MAX_LAYERS
        require(self.runs_on != "ring" or shallow, "n_layers", f"at most {MAX_LAYERS} on a ring engine", self.n_layers)

    @property
    def is_variational(self) -> bool:
        """Whether circuits measure class scores, where others have kernels."""
        return self.model in VARIATIONAL

    @property
    def runs_on(self) -> RunsOn:
        """What "auto" comes to."""
        return chosen_engine(self.engine, self.n_qubits)

    @property
    def penalty(self) -> float:
        """λ of weights and biases."""
        return self.reg_param if self.regularised else 0.0

    def feature_map(self, n_features: int) -> FeatureMap:
        """The circuit for data of so many features; those that none of its gates would encode are left out."""
        given = n_features if self.n_features is None else min(self.n_features, n_features)
        per_gate = FEATURES_PER_GATE[self.model]
        common: dict[str, Any] = {
            "n_qubits": self.n_qubits,
            "final_entangler": self.final_entangler,
            "features_per_gate": per_gate,
        }
        if self.n_layers is None:
            return FeatureMap.with_repetitions(n_features=given, n_repetitions=self.n_repetitions, **common)
        encoded = min(given, self.n_layers * self.n_qubits * per_gate)
        return FeatureMap(n_features=encoded, n_layers=self.n_layers, **common)


def _is_count(value: Any) -> bool:
    return is_whole_number(value) and bool(value >= 1)


def _either(choices: tuple[str, ...]) -> str:
    return " or ".join(map(repr, choices))
