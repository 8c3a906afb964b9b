"""A fitted estimator as a model file, and back; ``Archived`` is what every estimator needs for it."""

import os
import platform
import re
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import asdict
from importlib.metadata import version
from types import MappingProxyType
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.validation import check_is_fitted

from mcquack.circuits.circuit import Circuit
from mcquack.constraints import check_settings
from mcquack.errors import InvalidInputError, ModelFileError
from mcquack.kernels.losses import LOSSES, Alignment, CrossEntropy, Loss
from mcquack.models.features import FEATURES, MAX_BOUND, Features
from mcquack.models.model_file import (
    FORMAT_VERSION,
    LATEST_VERSION,
    ModelFile,
    read_model,
    require_field,
    require_tensor,
    require_that,
    write_model,
)
from mcquack.simulators.choice import ENGINES, EngineChoice, engine_of
from mcquack.simulators.engine import Engine
from mcquack.simulators.shots import SampledEngine, Shots
from mcquack.training.state import TrainingState

_LIBRARIES = ("mcquack", "numpy", "numba", "scikit-learn")
_LABEL_TYPE = re.compile(r"[<>|=]?(b1|[iu][1248]|f[248]|U[0-9]{1,7}|O)")
_LABEL_BYTES = 1 << 26
_MOST_FEATURES = 1 << 24
_MOST_LETTERS = 700
_COMMON_FIELDS = {
    "format", "format_version", "kind", "settings", "classes", "n_features", "feature_names", "versions", "extra",
    "scaled_to", "features",
}  # fmt: skip
_SCALER_TENSORS = ("scaler_minimum", "scaler_maximum")
_FIRST_MAPS = ("paper", "device")
_SCALAR_KINDS = {"bool": bool, "int": int, "float": float, "str": str}

STATE = "state."  # before the names of tensors that only training needs

Shape = tuple[int | None, ...]


class Archived(BaseEstimator):
    """An estimator whose learned numbers are arrays, so that its file holds no code."""

    classes_: NDArray[Any]
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    scaler_: Any = None  # a MinMaxScaler, or None
    features_: Features | None = None
    extra_: dict[str, Any]
    versions_: dict[str, str]

    # Settings that were added without a new format version, with what a file without them means. A new setting of an
    # estimator belongs here; where its meaning depends on others, the format gets a new version and an upgrade.
    _added_settings: ClassVar[Mapping[str, Any]] = MappingProxyType(
        {
            "steps": "alternating",
            "schedule": "exponential",
            "input_noise": 0.0,
            "feature_drop": 0.0,
            "n_starts": 1,
            "transformer": None,
            "n_components": None,
            "warm_start": False,
            "verbose": 0,
        }
    )

    def save(self, path: str | os.PathLike[str], *, extra: dict[str, Any] | None = None) -> None:
        """Writes a file that can be loaded without running code; ``extra``, any JSON object, is then in ``extra_``."""
        check_is_fitted(self)
        self._write(path, self._saved_fields(), self._saved_tensors(), extra)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, max_bytes: int | None = None) -> Self:
        """The model in that file; anything wrong with it, as more than ``max_bytes``, raises ModelFileError.

        None is what the variable MCQUACK_MODEL_BYTES says, or else 1 GiB.
        """
        return load({cls.__name__: lambda: cls}, path, max_bytes=max_bytes)

    def _write(
        self,
        path: str | os.PathLike[str],
        fields: Mapping[str, Any],
        tensors: Mapping[str, NDArray[Any]],
        extra: Mapping[str, Any] | None,
    ) -> None:
        """Write what all estimators have in common, and the fields and tensors of this kind."""
        feature_names = getattr(self, "feature_names_in_", None)
        header: dict[str, Any] = {
            "kind": type(self).__name__,
            "settings": plain_settings(self),
            "classes": _plain_classes(self.classes_),
            "n_features": int(self.n_features_in_),
            "feature_names": None if feature_names is None else [str(name) for name in feature_names],
            "versions": {"python": platform.python_version(), **{name: version(name) for name in _LIBRARIES}},
            "extra": dict(extra or {}),
            "scaled_to": None if self.scaler_ is None else [float(bound) for bound in self.scaler_.feature_range],
            **fields,
        }
        arrays = dict(tensors)
        if self.features_ is not None:
            made = self.features_.to_file()
            if names := [name.removeprefix(FEATURES) for name in made if name.startswith(FEATURES)]:
                header["features"] = names
            arrays |= made
        if self.scaler_ is not None:
            arrays |= dict(zip(_SCALER_TENSORS, (self.scaler_.data_min_, self.scaler_.data_max_), strict=True))
        write_model(path, header=header, tensors=arrays, format_version=_format_version(header))

    @property
    def _n_inputs(self) -> int:
        """How many numbers of a sample the model itself takes, behind what is made of its features."""
        return self.n_features_in_ if self.features_ is None else self.features_.n_outputs

    def _check_settings(self) -> None:
        """Raise InvalidInputError on the first setting that cannot be used."""
        check_settings(self)

    def _saved_settings(self) -> dict[str, Any]:
        settings: dict[str, Any] = self.get_params(deep=False)
        return settings

    def _saved_fields(self) -> dict[str, Any]:
        """Fields of the header that only this kind has."""
        return {}

    def _shapes(self) -> dict[str, Shape]:
        """The learned arrays, each an attribute with an underscore after its name; None stands for any length."""
        return {}

    def _saved_tensors(self) -> dict[str, NDArray[Any]]:
        return {name: getattr(self, f"{name}_") for name in self._shapes()}

    def _restore(self, file: ModelFile) -> None:
        """Takes what was learned out of the file; settings, classes, features and scaler are there already."""
        self._restore_arrays(file, np.float64)

    def _restore_arrays(self, file: ModelFile, dtype: DTypeLike) -> None:
        for name, shape in self._shapes().items():
            setattr(self, f"{name}_", require_tensor(file, name, shape=shape, dtype=dtype))


class Trained(Archived):
    """An estimator with a history of its training and the seed of its random numbers."""

    history_: list[dict[str, Any]]
    n_iter_: int
    _seed: int
    _columns: ClassVar[Set[str]]  # of the history
    _seed_bound: ClassVar[int] = 2**31

    def _saved_fields(self) -> dict[str, Any]:
        return {**super()._saved_fields(), "history": list(self.history_), "seed": self._seed}

    def _restore(self, file: ModelFile) -> None:
        self.history_ = restored_history(file.header, columns=self._columns)
        self.n_iter_ = len(self.history_)
        self._seed = require_field(file.header, "seed", int)
        require_that(0 <= self._seed < self._seed_bound, "its seed is none that training can have had.")


class Resumable(Archived):
    """An estimator whose file may also hold the state of its training, to go on from there."""

    training_state_: Any
    _fingerprint: str

    def save(
        self, path: str | os.PathLike[str], *, resumable: bool = False, extra: dict[str, Any] | None = None
    ) -> None:
        """Saves as all models do; ``resumable`` adds what training needs to go on, ``extra`` is any JSON object."""
        check_is_fitted(self)
        if resumable and not hasattr(self, "training_state_"):
            raise InvalidInputError(
                "this model was loaded from a file without resumable=True; train it again to resume it."
            )
        kept = self._saved_tensors()
        tensors = {name: kept[name] for name in kept if resumable or not name.startswith(STATE)}
        self._write(path, {**self._saved_fields(), "resumable": resumable}, tensors, extra)

    def _saved_fields(self) -> dict[str, Any]:
        return {"fingerprint": self._fingerprint, "resumable": hasattr(self, "training_state_")}


M = TypeVar("M", bound=Archived)


def _format_version(header: Mapping[str, Any]) -> int:
    """That of circuits of any gates for these and for maps by new names; all else is as earlier releases read it."""
    described = [header["settings"].get("feature_map", "paper"), header.get("feature_map", "paper")]
    known = all("n_layers" in each if isinstance(each, Mapping) else each in _FIRST_MAPS for each in described)
    return FORMAT_VERSION if known else LATEST_VERSION


def load(
    kinds: Mapping[str, Callable[[], type[M]]], path: str | os.PathLike[str], *, max_bytes: int | None = None
) -> M:
    """Return the estimator that the file holds, if its kind is one of these, each with what returns its class."""
    file = read_model(path, max_bytes=max_bytes)
    try:
        return _model(kinds, file)
    except ModelFileError as error:
        raise ModelFileError(f"{path} is no usable model file: {_in_a_line(error)}") from error
    except (TypeError, ValueError, ArithmeticError, MemoryError) as error:
        told = _in_a_line(error)
        raise ModelFileError(f"{path} is no usable model file: its parts do not go together ({told}).") from error


def _in_a_line(error: Exception) -> str:
    """What an error says about a file, without what a value of the file would do to a terminal or a log."""
    text = "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in str(error))
    return text if len(text) <= _MOST_LETTERS else f"{text[: _MOST_LETTERS // 2]} … {text[-_MOST_LETTERS // 2 :]}"


def _model(kinds: Mapping[str, Callable[[], type[M]]], file: ModelFile) -> M:
    header = file.header
    name = require_field(header, "kind", str)
    if name not in kinds:
        raise ModelFileError(
            f"it holds a {name[:80]}, not a {' or '.join(kinds)}; load it as that, or upgrade mcquack."
        )
    kind = kinds[name]()
    model = kind(**_settings(require_field(header, "settings", dict), kind, header["format_version"]))
    model._check_settings()
    model.classes_ = _classes(require_field(header, "classes", dict))
    model.n_features_in_ = require_field(header, "n_features", int)
    require_that(1 <= model.n_features_in_ <= _MOST_FEATURES, "its number of features is not a count.")
    model.features_ = Features.from_file(file, model.n_features_in_)
    model.scaler_ = _scaler(file, model._n_inputs)
    names = header.get("feature_names", "missing")
    if names is not None:
        fit = isinstance(names, list) and len(names) == model.n_features_in_ and _are(names, str)
        require_that(fit, f"its feature names are not {model.n_features_in_} texts.")
        model.feature_names_in_ = np.array(names, dtype=object)
    model.extra_ = require_field(header, "extra", dict)
    model.versions_ = require_field(header, "versions", dict)
    known = model.versions_.keys() == {"python", *_LIBRARIES} and _are(model.versions_.values(), str)
    require_that(known, "its list of library versions is not one of names and texts.")
    model._restore(file)
    # What no reader asks for may be a later version's; better to refuse than to drop it.
    scaling = set(_SCALER_TENSORS) if model.scaler_ is not None else set()
    made = set() if model.features_ is None else model.features_.to_file().keys()
    unknown = file.tensors.keys() - model._saved_tensors().keys() - scaling - made
    unknown |= header.keys() - model._saved_fields().keys() - _COMMON_FIELDS
    parts = ", ".join(sorted(unknown))[:200]
    require_that(not unknown, f"it has parts that this mcquack does not know ({parts}); upgrade it.")
    return model


def _are(values: Iterable[Any], kind: type) -> bool:
    return all(type(value) is kind for value in values)


def plain_settings(model: Archived) -> dict[str, Any]:
    """All settings of a fitted model as JSON has them, as its file says them: what it tells while it trains is none."""
    settings = {name: value for name, value in model._saved_settings().items() if name != "verbose"}
    plain = {name: list(value) if isinstance(value, tuple) else value for name, value in settings.items()}
    if isinstance(settings.get("scale"), tuple | list):
        plain["scale"] = [float(bound) for bound in settings["scale"]]
    if isinstance(settings.get("class_weight"), Mapping):
        # A list of pairs: JSON would turn the labels into text.
        plain["class_weight"] = [[label, float(weight)] for label, weight in settings["class_weight"].items()]
    if not isinstance(settings.get("random_state"), int | np.integer | None):
        plain["random_state"] = None
    if settings.get("transformer") is not None:
        plain["transformer"] = None  # what it makes of features is in the file, and no code
    given = settings.get("feature_map", "")
    if not isinstance(given, str):
        # What a function made stands in its place: no file holds code.
        circuit: Circuit = given if isinstance(given, Circuit) else model.feature_map_
        plain["feature_map"] = circuit.to_json()
    if "loss" in plain:
        plain["loss"] = plain_loss(settings["loss"])
    if "engine" in plain:
        plain["engine"] = _plain_engine(plain["engine"], model)
    return plain


def plain_loss(loss: str | Loss) -> str | dict[str, Any]:
    """Losses of this package by name; of another one, whose code no file holds, only how classes are scored remains."""
    if isinstance(loss, str):
        return {"name": loss} if loss in LOSSES and loss != Alignment.name else loss
    known = loss if type(loss) in LOSSES.values() else Alignment(loss.class_score)
    return {"name": known.name, **asdict(known)}  # type: ignore[attr-defined, call-overload]


def stays_in_file(engine: Any) -> bool:
    """Whether a file can name this engine, and who reads it make it again."""
    if type(engine) is Shots:
        return stays_in_file(engine.engine)
    return isinstance(engine, str) or ENGINES.get(getattr(engine, "name", "")) is type(engine)


def _plain_engine(engine: Any, model: Any) -> str | dict[str, Any]:
    """Engines of this package by name; in the place of others, which may hold a connection, what "auto" means."""
    if isinstance(engine, str):
        return engine
    if type(engine) is Shots:
        return {"name": engine.name, **engine.settings(), "engine": _plain_engine(engine.engine, model)}
    if not stays_in_file(engine):
        engine = simulator_of(model)
    return {"name": engine.name, **engine.settings()}


def simulator_of(model: Any) -> Engine[Any]:
    """What stands in a file in the place of a device: the simulator that circuits of this width run on."""
    return type(engine_of("auto", model.feature_map_))(dtype=model.weights_.dtype)


def tolerating(model: Any, tolerance: int | None) -> EngineChoice:
    """The model's engine for a file, with so many bit flips tolerated when the model is used; it trains as before.

    In the place of a device, which no file holds, stands the simulator that circuits of this width run on.
    """
    exact: EngineChoice = model.engine.engine if isinstance(model.engine, Shots) else model.engine
    if isinstance(exact, SampledEngine):
        exact = simulator_of(model)
    shots = model.engine.shots if isinstance(model.engine, Shots) else None
    return exact if tolerance is None and shots is None else Shots(shots, tolerance=tolerance, engine=exact)


def _settings(plain: Mapping[str, Any], kind: type[Archived], version: int) -> dict[str, Any]:
    """The settings of an estimator; those that came after the file was written have the default they came with."""
    try:
        settings = dict(plain) if version > 1 else _from_version_1(plain)
    except KeyError as error:
        raise ModelFileError(f"it lacks the setting {error}; copy it again, or save the model anew.") from error
    known = kind().get_params(deep=False).keys()
    unknown = ", ".join(sorted(settings.keys() - known))[:200]
    require_that(not unknown, f"it has settings that this mcquack does not know ({unknown}); upgrade it.")
    missing = ", ".join(sorted(known - settings.keys() - kind._added_settings.keys()))[:200]
    require_that(not missing, f"it lacks the settings {missing}; copy it again, or save the model anew.")
    settings = {**{name: value for name, value in kind._added_settings.items() if name in known}, **settings}
    settings = {name: tuple(value) if isinstance(value, list) else value for name, value in settings.items()}
    weights = plain.get("class_weight")
    require_that(not isinstance(weights, dict), "its class weights are not a list of pairs.")
    if isinstance(weights, list):
        settings["class_weight"] = dict(weights)
    if isinstance(settings.get("feature_map"), dict):
        settings["feature_map"] = restored_circuit(settings["feature_map"])
    if "loss" in settings:
        settings["loss"] = restored_loss(settings["loss"])
    if "engine" in settings:
        settings["engine"] = _engine(settings["engine"])
    return settings


def _from_version_1(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Version 1 had flat settings for what an engine, a loss, a circuit and the scaling say themselves now."""
    given = dict(settings)
    if "final_entangler" not in given:
        return given  # a classical baseline
    how = {"dtype": given.pop("dtype"), "n_threads": given.pop("n_threads")}
    given["feature_map"] = "paper" if given.pop("final_entangler") else "device"
    scaled_to = given.pop("feature_range")
    given["scale"] = scaled_to if given["scale"] else False
    name = given.pop("engine") if "class_score" in given else "statevector"
    if name == "auto":
        name = engine_of("auto", given["n_qubits"]).name
    exact = {"name": name, **how}
    given["engine"] = exact
    if "class_score" in given:
        given["loss"] = {"name": "alignment", "class_score": given.pop("class_score")}
        given["warm_start"] = given.pop("warm_start")  # the same setting today; KeyError if it is missing
        given.pop("shot_budget")
        gradient = given.pop("gradient")
        use = {
            "shots": given.pop("shots"),
            "tolerance": given.pop("bitflip_tolerance"),
            "training_tolerance": given.pop("training_tolerance"),
            "gradient": "exact" if gradient == "auto" else gradient,
        }
        if use != {"shots": None, "tolerance": None, "training_tolerance": None, "gradient": "exact"}:
            given["engine"] = {"name": "shots", "engine": exact, **use}
    return given


def restored_loss(plain: Any) -> str | Loss:
    """The loss that a file describes, or its name."""
    if plain in (Alignment.name, "auto"):
        return str(plain)
    if plain == CrossEntropy.name:  # alone, and below without "softmax", from before there was one
        return CrossEntropy(softmax=False)
    known = isinstance(plain, dict) and plain.get("name") in LOSSES
    require_that(known, "its loss is none that this mcquack knows; upgrade it.")
    kind: type[Any] = LOSSES[plain["name"]]
    values = {name: value for name, value in plain.items() if name != "name"}
    if not values:
        return str(kind.name)
    before: dict[str, Any] = {"softmax": False} if kind is CrossEntropy else {}
    loss: Loss = kind(**{**before, **values})
    return loss


def _engine(plain: Any, *, inside: bool = False) -> str | Engine[Any]:
    if isinstance(plain, str):
        return plain
    called: Any = plain.get("name") if isinstance(plain, dict) else None
    kind: Any = Shots if called == Shots.name and not inside else ENGINES.get(called)
    require_that(kind is not None, "its engine is none that this mcquack knows; upgrade it.")
    settings = {name: value for name, value in plain.items() if name != "name"}
    known = settings.keys() <= kind().settings().keys()
    require_that(known, "its engine has settings that this mcquack does not know; upgrade it.")
    if "engine" in settings:
        settings["engine"] = _engine(settings["engine"], inside=True)
    made: Engine[Any] = kind(**settings)
    return made


def _plain_classes(classes: NDArray[Any]) -> dict[str, Any]:
    values = classes.tolist()
    kinds = {type(value).__name__ for value in values}
    if len(kinds) != 1 or not kinds <= _SCALAR_KINDS.keys():
        raise InvalidInputError(f"labels of type {', '.join(sorted(kinds))} cannot be saved; use numbers or text.")
    return {"kind": kinds.pop(), "dtype": classes.dtype.str, "values": values}


def _classes(plain: Mapping[str, Any]) -> NDArray[Any]:
    kind = _SCALAR_KINDS.get(require_field(plain, "kind", str))
    values, dtype = require_field(plain, "values", list), require_field(plain, "dtype", str)
    usable = kind is not None and len(values) >= 2 and _are(values, kind)
    require_that(usable, "its class labels are not a list of at least two numbers or texts.")
    require_that(_LABEL_TYPE.fullmatch(dtype), f"its class labels have the impossible type {dtype[:40]!r}.")
    small = np.dtype(dtype).itemsize * len(values) <= _LABEL_BYTES
    require_that(small, "its class labels claim more room than any labels need.")
    classes = np.array(values, dtype=dtype)
    in_order = classes.tolist() == values and sorted(set(values)) == values
    require_that(in_order, "its class labels are not in order, repeat themselves, or do not fit their type.")
    return classes


def _scaler(file: ModelFile, n_features: int) -> MinMaxScaler | None:
    if file.header.get("scaled_to", "missing") is None:
        return None
    pair = restored_range(require_field(file.header, "scaled_to", list), "the range that it scales to", most=MAX_BOUND)
    low, high = (require_tensor(file, name, shape=(n_features,), dtype=np.float64) for name in _SCALER_TENSORS)
    require_that((low <= high).all(), "its scaling has minima above maxima.")
    with np.errstate(over="ignore"):
        require_that(np.isfinite(high - low).all(), "its scaling has extremes that lie too far apart.")
    # A scaler learns nothing but the extremes, so two rows that have them make the same scaler.
    return MinMaxScaler(feature_range=pair).fit(np.stack([low, high]))


def restored_range(pair: Any, what: str, *, most: float) -> tuple[float, float]:
    """Return an increasing pair of numbers, neither of them larger than ``most``."""
    numbers = isinstance(pair, list) and len(pair) == 2 and _are(pair, float)
    require_that(numbers and -most <= pair[0] < pair[1] <= most, f"{what} is not an increasing pair of usable numbers.")
    return pair[0], pair[1]


def restored_circuit(plain: Mapping[str, Any]) -> Circuit:
    """Return the circuit that a file describes."""
    try:
        return Circuit.from_json(plain)
    except InvalidInputError as error:
        raise ModelFileError(f"its circuit cannot be used: {error}") from error


def restored_history(header: Mapping[str, Any], *, columns: Set[str]) -> list[dict[str, Any]]:
    """Rows of numbers with these columns, among them the epoch and its loss."""
    rows = require_field(header, "history", list)
    for row in rows:
        known = isinstance(row, dict) and row.keys() == columns
        require_that(known, "its training history is not a list of rows with the known columns.")
        numbers = [value for name, value in row.items() if name != "epoch" and value is not None]
        right = type(row["epoch"]) is int and row["loss"] is not None and _are(numbers, float)
        require_that(right, "its training history has something else than numbers.")
    return rows


def restored_state(
    file: ModelFile, *, shapes: Mapping[str, Shape], dtype: DTypeLike, joint: bool = False
) -> TrainingState:
    """Return what training needs to go on; ``joint`` says whether it takes joint steps."""
    wanted: dict[str, tuple[Shape, DTypeLike]] = {
        name + part: (shape, dtype) for name, shape in shapes.items() for part in ("", "_mean", "_square")
    }
    wanted |= {"steps": ((2,), np.int64), "epoch": ((1,), np.int64)}
    tensors = {
        name: require_tensor(file, STATE + name, shape=shape, dtype=kind) for name, (shape, kind) in wanted.items()
    }
    never_negative = [tensors[name] for name in tensors if name in ("steps", "epoch") or name.endswith("_square")]
    possible = all((tensor >= 0).all() for tensor in never_negative)
    require_that(possible, "its state of training has negative values where there can be none.")
    return TrainingState.from_tensors(tensors, joint=joint)
