"""A fitted estimator as a model file, and back."""

import os
import platform
import re
from collections.abc import Mapping
from dataclasses import fields
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import MinMaxScaler

from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import InvalidInputError, ModelFileError
from mcquack.models.model_file import ModelFile, read_model, require_field, require_tensor, write_model
from mcquack.models.setting_checks import MAX_BOUND
from mcquack.simulators.statevector.engine import check_qubits
from mcquack.training.state import EpochReport, TrainingState

if TYPE_CHECKING:
    from mcquack.models.mcquack import McQuackClassifier

M = TypeVar("M", bound="McQuackClassifier")

_LIBRARIES = ("mcquack", "numpy", "numba", "scikit-learn")
_STATE = "state."
_KEPT_ROWS = 10_000  # of the history; a stream's could outgrow the header
_LABEL_TYPE = re.compile(r"[<>|=]?(b1|[iu][1248]|f[248]|U[0-9]{1,7}|O)")
_LABEL_BYTES = 1 << 26
_STATE_NAMES = {"steps", "epoch"} | {
    name + part for name in ("weights", "bias", "centroids") for part in ("", "_mean", "_square")
}
_HEADER_FIELDS = {
    "format", "format_version", "kind", "settings", "classes", "feature_names", "feature_map", "best_epoch",
    "best_loss", "history", "n_iter", "seen", "seed", "fingerprint", "versions", "extra", "resumable", "scaled_to",
}  # fmt: skip
_HISTORY_FIELDS = {field.name for field in fields(EpochReport)} | {"loss"}
_SCALAR_KINDS = {"bool": bool, "int": int, "float": float, "str": str}


def save(
    model: "McQuackClassifier", path: str | os.PathLike[str], *, resumable: bool, extra: Mapping[str, Any] | None
) -> None:
    """Writes the model, and if it is to be resumable the state of its training."""
    if resumable and not hasattr(model, "training_state_"):
        raise InvalidInputError(
            "this model was loaded from a file without resumable=True; train it again to resume it."
        )
    names = getattr(model, "feature_names_in_", None)
    header: dict[str, Any] = {
        "kind": type(model).__name__,
        "settings": _plain_settings({**model.get_params(deep=False), "dtype": model.weights_.dtype}),
        "classes": _plain_classes(model.classes_),
        "feature_names": None if names is None else [str(name) for name in names],
        "feature_map": dict(vars(model.feature_map_)),
        "best_epoch": model.best_epoch_,
        "history": list(model.history_[-_KEPT_ROWS:]),
        "n_iter": model.n_iter_,
        "seen": np.broadcast_to(model._seen, model.classes_.shape).tolist(),
        "seed": model._seed,
        "fingerprint": model._fingerprint,
        "versions": {"python": platform.python_version(), **{name: version(name) for name in _LIBRARIES}},
        "extra": dict(extra or {}),
        "resumable": resumable,
        "best_loss": model._best_loss,
        "scaled_to": None if model.scaler_ is None else [float(bound) for bound in model.scaler_.feature_range],
    }
    tensors: dict[str, NDArray[Any]] = {"weights": model.weights_, "bias": model.bias_, "centroids": model.centroids_}
    if model.scaler_ is not None:
        tensors |= {"scaler_minimum": model.scaler_.data_min_, "scaler_maximum": model.scaler_.data_max_}
    if resumable:
        tensors |= {_STATE + name: tensor for name, tensor in model.training_state_.to_tensors().items()}
    write_model(path, header=header, tensors={name: np.ascontiguousarray(array) for name, array in tensors.items()})


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
    model.feature_map_ = _feature_map(require_field(header, "feature_map", dict), kind)
    model.classes_ = _classes(require_field(header, "classes", dict))
    shape, n_features = model.feature_map_.parameter_shape, model.feature_map_.n_features
    model.weights_ = require_tensor(file, "weights", shape=shape, dtype=model.dtype)
    model.bias_ = require_tensor(file, "bias", shape=shape, dtype=model.dtype)
    model.centroids_ = require_tensor(file, "centroids", shape=(len(model.classes_), n_features), dtype=model.dtype)
    model.n_features_in_ = n_features
    model.scaler_ = _scaler(file, n_features)
    _set_names(model, header, n_features)
    _set_training(model, header)
    model.extra_ = require_field(header, "extra", dict)
    model.versions_ = _versions(require_field(header, "versions", dict))
    resumable = require_field(header, "resumable", bool)
    if resumable:
        model.training_state_ = _training_state(model, file)
    _check_nothing_else(file, scaled=model.scaler_ is not None, resumable=resumable)
    return model


def _check_nothing_else(file: ModelFile, *, scaled: bool, resumable: bool) -> None:
    """What no reader asks for may be a later version's; better to refuse than to drop it."""
    names = {"weights", "bias", "centroids"}
    names |= {"scaler_minimum", "scaler_maximum"} if scaled else set()
    names |= {_STATE + name for name in _STATE_NAMES} if resumable else set()
    unknown = (file.tensors.keys() - names) | (file.header.keys() - _HEADER_FIELDS)
    if unknown:
        raise ModelFileError(
            f"it has parts that this mcquack does not know ({', '.join(sorted(unknown))[:200]}); upgrade it."
        )


def _set_training(model: "McQuackClassifier", header: Mapping[str, Any]) -> None:
    model.history_ = _history(require_field(header, "history", list))
    model.n_iter_ = require_field(header, "n_iter", int)
    model.best_epoch_ = require_field(header, "best_epoch", int)
    model._best_loss = require_field(header, "best_loss", float)
    model._seed = require_field(header, "seed", int)
    model._seen = _seen(require_field(header, "seen", list), len(model.classes_))
    model._fingerprint = require_field(header, "fingerprint", str)
    if not 0 <= model._best_loss <= 2:
        raise ModelFileError("its best loss is not one minus an alignment.")
    last = int(model.history_[-1]["epoch"] or 0) if model.history_ else 0
    if not 1 <= model.best_epoch_ <= last or model.n_iter_ < len(model.history_) or not 0 <= model._seed < 2**31:
        raise ModelFileError("its numbers of epochs, or its seed, contradict its history.")


def _feature_map(plain: Mapping[str, Any], kind: type[M]) -> FeatureMap:
    if plain.keys() != {field.name for field in fields(FeatureMap)}:
        raise ModelFileError("its circuit is not described by the known fields.")
    if any(isinstance(plain[name], float) for name in plain) or type(plain["final_entangler"]) is not bool:
        raise ModelFileError("its circuit is described by values of the wrong kind.")
    feature_map = FeatureMap(**plain)
    if feature_map.features_per_gate != kind._features_per_gate:
        raise ModelFileError(f"its circuit is not one of {kind.__name__}.")
    check_qubits(feature_map.n_qubits)
    return feature_map


def _versions(plain: Mapping[str, Any]) -> dict[str, str]:
    if plain.keys() != {"python", *_LIBRARIES} or not all(isinstance(text, str) for text in plain.values()):
        raise ModelFileError("its list of library versions is not one of names and texts.")
    return dict(plain)


def _plain_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    plain = dict(settings)
    plain["feature_range"] = [float(bound) for bound in settings["feature_range"]]
    plain["dtype"] = str(np.dtype(settings["dtype"]))
    if isinstance(settings["class_weight"], Mapping):
        # A list of pairs: JSON would turn the labels into text.
        plain["class_weight"] = [[label, float(weight)] for label, weight in settings["class_weight"].items()]
    if not isinstance(settings["random_state"], int | np.integer | None):
        plain["random_state"] = None
    return plain


def _settings(plain: Mapping[str, Any], kind: type[M]) -> dict[str, Any]:
    if plain.keys() != set(kind._get_param_names()):
        odd = sorted(plain.keys() ^ set(kind._get_param_names()))
        raise ModelFileError(f"its settings are not those of this mcquack ({', '.join(odd)[:200]}); upgrade it.")
    settings = dict(plain)
    settings["feature_range"] = tuple(require_field(plain, "feature_range", list))
    weights = plain["class_weight"]
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


def _set_names(model: "McQuackClassifier", header: Mapping[str, Any], n_features: int) -> None:
    if "feature_names" not in header:
        raise ModelFileError("the header lacks the field 'feature_names'.")
    names = header["feature_names"]
    if names is None:
        return
    if not isinstance(names, list) or len(names) != n_features or not all(isinstance(name, str) for name in names):
        raise ModelFileError(f"its feature names are not {n_features} texts.")
    model.feature_names_in_ = np.array(names, dtype=object)


def _history(rows: list[Any]) -> list[dict[str, Any]]:
    for row in rows:
        if not isinstance(row, dict) or row.keys() != _HISTORY_FIELDS:
            raise ModelFileError("its training history is not a list of rows with the known columns.")
        numbers = {name: value for name, value in row.items() if name != "epoch" and value is not None}
        if type(row["epoch"]) is not int or row["loss"] is None or any(type(v) is not float for v in numbers.values()):
            raise ModelFileError("its training history has something else than numbers.")
    return rows


def _seen(flags: list[Any], n_classes: int) -> NDArray[np.bool_]:
    if len(flags) != n_classes or not all(isinstance(flag, bool) for flag in flags):
        raise ModelFileError("its list of classes that have had samples does not fit its classes.")
    return np.array(flags)


def _training_state(model: "McQuackClassifier", file: ModelFile) -> TrainingState:
    shapes = {"weights": model.weights_.shape, "bias": model.bias_.shape, "centroids": model.centroids_.shape}
    tensors = {
        name + part: require_tensor(file, _STATE + name + part, shape=shape, dtype=model.dtype)
        for name, shape in shapes.items()
        for part in ("", "_mean", "_square")
    }
    tensors["steps"] = require_tensor(file, _STATE + "steps", shape=(2,), dtype=np.int64)
    tensors["epoch"] = require_tensor(file, _STATE + "epoch", shape=(1,), dtype=np.int64)
    never_negative = [tensors[name] for name in tensors if name in ("steps", "epoch") or name.endswith("_square")]
    if any((tensor < 0).any() for tensor in never_negative):
        raise ModelFileError("its state of training has negative values where there can be none.")
    return TrainingState.from_tensors(tensors)
