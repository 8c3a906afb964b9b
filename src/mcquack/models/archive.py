"""A fitted estimator as a model file, and back."""

import os
import platform
import re
from collections.abc import Collection, Mapping
from dataclasses import fields
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray
from sklearn.preprocessing import MinMaxScaler

from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import InvalidInputError, ModelFileError
from mcquack.models.model_file import ModelFile, read_model, require_field, require_tensor, write_model
from mcquack.models.preparation import MAX_BOUND
from mcquack.training.state import TrainingState

if TYPE_CHECKING:
    from mcquack.models.archived import Archived

M = TypeVar("M", bound="Archived")

_LIBRARIES = ("mcquack", "numpy", "numba", "scikit-learn")
_LABEL_TYPE = re.compile(r"[<>|=]?(b1|[iu][1248]|f[248]|U[0-9]{1,7}|O)")
_LABEL_BYTES = 1 << 26
_MOST_FEATURES = 1 << 24
_COMMON_FIELDS = {
    "format", "format_version", "kind", "settings", "classes", "n_features", "feature_names", "versions", "extra",
    "scaled_to",
}  # fmt: skip
_SCALER_TENSORS = ("scaler_minimum", "scaler_maximum")
_SCALAR_KINDS = {"bool": bool, "int": int, "float": float, "str": str}


def save(
    model: "Archived",
    path: str | os.PathLike[str],
    *,
    fields: Mapping[str, Any],
    tensors: Mapping[str, NDArray[Any]],
    extra: Mapping[str, Any] | None,
) -> None:
    """Writes what all estimators have in common, and the fields and tensors of this kind."""
    names = getattr(model, "feature_names_in_", None)
    header: dict[str, Any] = {
        "kind": type(model).__name__,
        "settings": _plain_settings(model._saved_settings()),
        "classes": _plain_classes(model.classes_),
        "n_features": int(model.n_features_in_),
        "feature_names": None if names is None else [str(name) for name in names],
        "versions": {"python": platform.python_version(), **{name: version(name) for name in _LIBRARIES}},
        "extra": dict(extra or {}),
        "scaled_to": None if model.scaler_ is None else [float(bound) for bound in model.scaler_.feature_range],
        **fields,
    }
    arrays = dict(tensors)
    if model.scaler_ is not None:
        arrays |= dict(zip(_SCALER_TENSORS, (model.scaler_.data_min_, model.scaler_.data_max_), strict=True))
    write_model(path, header=header, tensors={name: np.ascontiguousarray(array) for name, array in arrays.items()})


def load(kinds: Mapping[str, type[M]], path: str | os.PathLike[str]) -> M:
    """The estimator that the file holds, if it is one of these."""
    file = read_model(path)
    try:
        return _model(kinds, file)
    except ModelFileError as error:
        raise ModelFileError(f"{path} is no usable model file: {error}") from error
    except (TypeError, ValueError, ArithmeticError, MemoryError) as error:
        raise ModelFileError(f"{path} is no usable model file: its parts do not go together ({error}).") from error


def _model(kinds: Mapping[str, type[M]], file: ModelFile) -> M:
    header = file.header
    name = require_field(header, "kind", str)
    if name not in kinds:
        raise ModelFileError(
            f"it holds a {name[:80]}, not a {' or '.join(kinds)}; load it as that, or upgrade mcquack."
        )
    kind = kinds[name]
    model = kind(**_settings(require_field(header, "settings", dict), kind))
    model._check_settings()
    model.classes_ = _classes(require_field(header, "classes", dict))
    model.n_features_in_ = require_field(header, "n_features", int)
    if not 1 <= model.n_features_in_ <= _MOST_FEATURES:
        raise ModelFileError("its number of features is not a count.")
    model.scaler_ = _scaler(file, model.n_features_in_)
    _set_names(model, header)
    model.extra_ = require_field(header, "extra", dict)
    model.versions_ = _versions(require_field(header, "versions", dict))
    model._restore(file)
    _check_nothing_else(model, file)
    return model


def _check_nothing_else(model: "Archived", file: ModelFile) -> None:
    """What no reader asks for may be a later version's; better to refuse than to drop it."""
    fields, tensors = model._known_parts(file)
    scaling = set(_SCALER_TENSORS) if model.scaler_ is not None else set()
    unknown = (file.tensors.keys() - tensors - scaling) | (file.header.keys() - fields - _COMMON_FIELDS)
    if unknown:
        raise ModelFileError(
            f"it has parts that this mcquack does not know ({', '.join(sorted(unknown))[:200]}); upgrade it."
        )


def _versions(plain: Mapping[str, Any]) -> dict[str, str]:
    if plain.keys() != {"python", *_LIBRARIES} or not all(isinstance(text, str) for text in plain.values()):
        raise ModelFileError("its list of library versions is not one of names and texts.")
    return dict(plain)


def _plain_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    plain = {name: list(value) if isinstance(value, tuple) else value for name, value in settings.items()}
    if "feature_range" in plain:
        plain["feature_range"] = [float(bound) for bound in settings["feature_range"]]
    if "dtype" in plain:
        plain["dtype"] = str(np.dtype(settings["dtype"]))
    if isinstance(settings.get("class_weight"), Mapping):
        # A list of pairs: JSON would turn the labels into text.
        plain["class_weight"] = [[label, float(weight)] for label, weight in settings["class_weight"].items()]
    if not isinstance(settings.get("random_state"), int | np.integer | None):
        plain["random_state"] = None
    return plain


def _settings(plain: Mapping[str, Any], kind: type["Archived"]) -> dict[str, Any]:
    if plain.keys() != set(kind._get_param_names()):
        odd = sorted(plain.keys() ^ set(kind._get_param_names()))
        raise ModelFileError(f"its settings are not those of this mcquack ({', '.join(odd)[:200]}); upgrade it.")
    settings = {name: tuple(value) if isinstance(value, list) else value for name, value in plain.items()}
    weights = plain.get("class_weight")
    if isinstance(weights, dict):
        raise ModelFileError("its class weights are not a list of pairs.")
    if isinstance(weights, list):
        settings["class_weight"] = dict(weights)
    return settings


def _plain_classes(classes: NDArray[Any]) -> dict[str, Any]:
    values = classes.tolist()
    kinds = {type(value).__name__ for value in values}
    if len(kinds) != 1 or not kinds <= _SCALAR_KINDS.keys():
        raise InvalidInputError(f"labels of type {', '.join(sorted(kinds))} cannot be saved; use numbers or text.")
    return {"kind": kinds.pop(), "dtype": classes.dtype.str, "values": values}


def _classes(plain: Mapping[str, Any]) -> NDArray[Any]:
    kind = _SCALAR_KINDS.get(require_field(plain, "kind", str))
    values = require_field(plain, "values", list)
    if kind is None or len(values) < 2 or any(type(value) is not kind for value in values):
        raise ModelFileError("its class labels are not a list of at least two numbers or texts.")
    dtype = require_field(plain, "dtype", str)
    if not _LABEL_TYPE.fullmatch(dtype):
        raise ModelFileError(f"its class labels have the impossible type {dtype[:40]!r}.")
    if np.dtype(dtype).itemsize * len(values) > _LABEL_BYTES:
        raise ModelFileError("its class labels claim more room than any labels need.")
    classes = np.array(values, dtype=dtype)
    if classes.tolist() != values or sorted(set(values)) != values:
        raise ModelFileError("its class labels are not in order, repeat themselves, or do not fit their type.")
    return classes


def _scaler(file: ModelFile, n_features: int) -> MinMaxScaler | None:
    if "scaled_to" in file.header and file.header["scaled_to"] is None:
        return None
    pair = require_field(file.header, "scaled_to", list)
    if (
        len(pair) != 2
        or not all(type(bound) is float and abs(bound) <= MAX_BOUND for bound in pair)
        or pair[0] >= pair[1]
    ):
        raise ModelFileError("the range that it scales to is not an increasing pair of numbers.")
    bounds = [
        require_tensor(file, f"scaler_{end}", shape=(n_features,), dtype=np.float64) for end in ("minimum", "maximum")
    ]
    if (bounds[0] > bounds[1]).any():
        raise ModelFileError("its scaling has minima above maxima.")
    with np.errstate(over="ignore"):
        spans = bounds[1] - bounds[0]
    if not np.isfinite(spans).all():
        raise ModelFileError("its scaling has extremes that lie too far apart.")
    # A scaler learns nothing but the extremes, so two rows that have them make the same scaler.
    return MinMaxScaler(feature_range=tuple(pair)).fit(np.stack(bounds))


def _set_names(model: "Archived", header: Mapping[str, Any]) -> None:
    if "feature_names" not in header:
        raise ModelFileError("the header lacks the field 'feature_names'.")
    names, count = header["feature_names"], model.n_features_in_
    if names is None:
        return
    if not isinstance(names, list) or len(names) != count or not all(isinstance(name, str) for name in names):
        raise ModelFileError(f"its feature names are not {count} texts.")
    model.feature_names_in_ = np.array(names, dtype=object)


# The parts of a trained circuit out of a model file, each checked before it is believed.

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
