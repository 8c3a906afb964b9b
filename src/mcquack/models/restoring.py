"""The parts of a trained circuit out of a model file, each checked before it is believed."""

from collections.abc import Collection, Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import ModelFileError
from mcquack.models.model_file import ModelFile, require_field, require_tensor
from mcquack.training.state import TrainingState

STATE = "state."
STATE_NAMES = {"steps", "epoch"} | {
    name + part for name in ("weights", "bias", "centroids") for part in ("", "_mean", "_square")
}


def restored_feature_map(file: ModelFile, *, n_features: int, features_per_gate: int, kind: str) -> FeatureMap:
    """The circuit that the header describes, if this kind of model has such circuits."""
    plain = require_field(file.header, "feature_map", dict)
    if plain.keys() != {field.name for field in fields(FeatureMap)}:
        raise ModelFileError("its circuit is not described by the known fields.")
    if any(isinstance(plain[name], float) for name in plain) or type(plain["final_entangler"]) is not bool:
        raise ModelFileError("its circuit is described by values of the wrong kind.")
    feature_map = FeatureMap(**plain)
    if feature_map.features_per_gate != features_per_gate:
        raise ModelFileError(f"its circuit is not one of {kind}.")
    if feature_map.n_features != n_features:
        raise ModelFileError(f"its circuit takes {feature_map.n_features} features, its samples have {n_features}.")
    return feature_map


def restored_history(header: Mapping[str, Any], *, columns: Collection[str]) -> list[dict[str, Any]]:
    """Rows of numbers with these columns, among them the epoch and its loss."""
    rows = require_field(header, "history", list)
    for row in rows:
        if not isinstance(row, dict) or row.keys() != set(columns):
            raise ModelFileError("its training history is not a list of rows with the known columns.")
        numbers = {name: value for name, value in row.items() if name != "epoch" and value is not None}
        if type(row["epoch"]) is not int or row["loss"] is None or any(type(v) is not float for v in numbers.values()):
            raise ModelFileError("its training history has something else than numbers.")
    return rows


def restored_seed(header: Mapping[str, Any]) -> int:
    """The seed that the random numbers of the training came from."""
    seed = require_field(header, "seed", int)
    if not 0 <= seed < 2**31:
        raise ModelFileError("its seed is none that training can have had.")
    return seed


def restored_seen(header: Mapping[str, Any], *, n_classes: int) -> NDArray[np.bool_]:
    """Which classes have had samples."""
    flags = require_field(header, "seen", list)
    if len(flags) != n_classes or not all(isinstance(flag, bool) for flag in flags):
        raise ModelFileError("its list of classes that have had samples does not fit its classes.")
    return np.array(flags)


def restored_state(file: ModelFile, *, shapes: Mapping[str, tuple[int, ...]], dtype: DTypeLike) -> TrainingState:
    """What training needs to go on."""
    tensors = {
        name + part: require_tensor(file, STATE + name + part, shape=shape, dtype=dtype)
        for name, shape in shapes.items()
        for part in ("", "_mean", "_square")
    }
    tensors["steps"] = require_tensor(file, STATE + "steps", shape=(2,), dtype=np.int64)
    tensors["epoch"] = require_tensor(file, STATE + "epoch", shape=(1,), dtype=np.int64)
    never_negative = [tensors[name] for name in tensors if name in ("steps", "epoch") or name.endswith("_square")]
    if any((tensor < 0).any() for tensor in never_negative):
        raise ModelFileError("its state of training has negative values where there can be none.")
    return TrainingState.from_tensors(tensors)
