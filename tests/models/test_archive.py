"""A saved model comes back as it was; a file that was tampered with gives one typed error and runs nothing."""

import copy
import io
import itertools
import json
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

import mcquack
from mcquack import McQuackClassifier, QuackClassifier
from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import InvalidInputError, McQuackError, ModelFileError
from mcquack.kernels import Alignment, CrossEntropy, Shots
from mcquack.models.model_file import ModelFile, read_model, write_model
from mcquack.simulators.ring import RingEngine
from mcquack.simulators.statevector import StatevectorEngine
from tests.models.sameness import assert_same_model, assert_same_state, assert_same_training

IRIS_X, IRIS_Y = load_iris(return_X_y=True)
COLUMNS = ["sepal length", "sepal width", "petal length", "Breite"]
PREDICTIONS = ("predict", "predict_proba", "decision_function", "transform", "statevectors")


def small(**changed: Any) -> McQuackClassifier:
    """An estimator that trains in milliseconds."""
    return McQuackClassifier(**{"n_qubits": 2, "n_repetitions": 2, "epochs": 4, "random_state": 0, **changed})


def reloaded(model: McQuackClassifier, folder: Path, **how: Any) -> McQuackClassifier:
    model.save(folder / "model.mcq", **how)
    return type(model).load(folder / "model.mcq")


def assert_same_predictions(left: McQuackClassifier, right: McQuackClassifier, X: Any = IRIS_X) -> None:
    for method in PREDICTIONS:
        assert_array_equal(getattr(left, method)(X), getattr(right, method)(X), strict=True)


# Round trips

LABELS = {
    "numbers": np.array([0, 1, 2]),
    "negative numbers": np.array([-5, -1, 3]),
    "small numbers": np.array([1, 2, 3], np.uint8),
    "huge numbers": np.array([0, 1, 2], np.uint64) + np.uint64(2**63),
    "numbers of the other byte order": np.array([0, 1, 2], ">i4"),
    "truth": np.array([False, True, True]),
    "whole floats": np.array([-1.0, 0.0, 7.0]),
    "whole single floats": np.array([-1, 0, 7], np.float32),
    "text": np.array(["", "Käse", "日本"]),
    "objects": np.array(["a", "b\0", "c " * 50], object),
    "long text": np.array(["a", "b", "c" * 20_000]),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_come_back_in_value_and_type(kind: str, tmp_path: Path) -> None:
    model = small().fit(IRIS_X, LABELS[kind][IRIS_Y])
    loaded = reloaded(model, tmp_path)
    assert loaded.classes_.dtype == model.classes_.dtype
    assert [type(label) for label in loaded.classes_] == [type(label) for label in model.classes_]
    assert_same_model(loaded, model)
    assert_same_predictions(loaded, model)


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"engine": StatevectorEngine(dtype="float64")},
        {"engine": RingEngine(n_threads=2), "n_repetitions": None},
        {"engine": StatevectorEngine(), "n_repetitions": None},
        {"engine": Shots(20, tolerance=1)},
        {"loss": "cross_entropy"},
        {"loss": CrossEntropy(3.0)},
        {"feature_map": FeatureMap(n_qubits=3, n_features=4, n_layers=1)},
        {"feature_map": FeatureMap(n_qubits=3, n_features=4, n_layers=2, features_per_gate=3)},
        {"scale": False},
        {"scale": (-1.5, 2.0)},
        {"feature_map": "device"},
        {"class_weight": {0: 1.0, 2: 3.5}},
        {"class_weight": {np.int64(0): np.float32(0.5)}},
        {"class_weight": "balanced", "validation_fraction": 0.2, "patience": None},
        {
            "optimizer": "sgd",
            "lr_ka": np.float64(0.1),
            "batch_size": np.int64(20),
            "engine": StatevectorEngine(n_threads=1),
        },
        {"steps": "joint", "batch_size": 20},
        {"n_qubits": 4, "n_repetitions": 1},
        {"n_centroids_per_class": 2, "loss": Alignment("sum")},
        {"random_state": None},
    ],
    ids=str,
)
@pytest.mark.parametrize("resumable", [False, True])
def test_models_come_back_with_all_settings(changed: dict[str, Any], resumable: bool, tmp_path: Path) -> None:
    model = small(**changed).fit(IRIS_X, IRIS_Y)
    loaded = reloaded(model, tmp_path, resumable=resumable)
    assert loaded.get_params() == model.get_params()
    assert_same_predictions(loaded, model)
    assert (loaded.history_, loaded.n_iter_) == (model.history_, model.n_iter_)
    assert (loaded.best_epoch_, loaded.n_parameters_) == (model.best_epoch_, model.n_parameters_)
    assert loaded.n_features_in_ == 4
    assert not hasattr(loaded, "feature_names_in_")
    if resumable:
        assert_same_training(loaded, model)
    else:
        assert_same_model(loaded, model)


@pytest.mark.parametrize(
    ("labels", "weights"),
    [
        (np.array([0, 1, 2]), {0: 1.0, 1: 2.0, 2: 0.5}),
        (np.array(["a", "b", "c"]), {"b": 2.0}),
        (np.array([False, True, True]), {True: 3.0}),
        (np.array([-1.0, 0.0, 1.0]), {-1.0: 2.0, 0.0: 1.0}),
    ],
)
def test_class_weights_keep_their_labels(labels: np.ndarray, weights: dict[Any, float], tmp_path: Path) -> None:
    model = small(class_weight=weights).fit(IRIS_X, labels[IRIS_Y])
    loaded = reloaded(model, tmp_path)
    assert loaded.class_weight == weights
    assert [type(label) for label in loaded.class_weight] == [type(label) for label in weights]
    assert_same_training(loaded.fit(IRIS_X, labels[IRIS_Y]), model)


def test_feature_names_come_back_and_are_checked(tmp_path: Path) -> None:
    frame = pd.DataFrame(IRIS_X, columns=COLUMNS)
    model = small().fit(frame, IRIS_Y)
    loaded = reloaded(model, tmp_path)
    assert_array_equal(loaded.feature_names_in_, model.feature_names_in_, strict=True)
    assert_same_predictions(loaded, model, frame)
    with pytest.raises(ValueError, match="same order"):
        loaded.predict(frame[COLUMNS[::-1]])
    with pytest.raises(ValueError, match="Breite"):
        loaded.predict(frame[COLUMNS[:3]])


def test_a_constant_feature_and_extreme_scales_come_back(tmp_path: Path) -> None:
    X = np.column_stack([IRIS_X, np.full(150, 3.0)]) * [1e-300, 1e-8, 1, 1e300, 1]
    model = small().fit(X, IRIS_Y)
    assert_same_predictions(reloaded(model, tmp_path), model, X)


def test_a_generator_is_not_kept_as_a_seed(tmp_path: Path) -> None:
    model = small(random_state=np.random.RandomState(3)).fit(IRIS_X, IRIS_Y)
    loaded = reloaded(model, tmp_path)
    assert loaded.random_state is None
    assert_same_predictions(loaded, model)


def test_saving_again_gives_the_same_file(tmp_path: Path) -> None:
    model = small().fit(pd.DataFrame(IRIS_X, columns=COLUMNS), np.array(["a", "b", "c"])[IRIS_Y])
    loaded = reloaded(model, tmp_path, resumable=True, extra={"a": 1})
    loaded.save(tmp_path / "again.mcq", resumable=True, extra=loaded.extra_)
    assert (tmp_path / "again.mcq").read_bytes() == (tmp_path / "model.mcq").read_bytes()


def test_anything_json_can_travel_along(tmp_path: Path) -> None:
    extra = {"columns": [{"name": "ä", "levels": ["x", None]}], "n": 3, "share": 0.1, "flag": True, "nothing": None}
    model = small().fit(IRIS_X, IRIS_Y)
    assert reloaded(model, tmp_path, extra=extra).extra_ == extra
    assert reloaded(model, tmp_path).extra_ == {}
    unusable: list[Any] = [{"a": {1, 2}}, {"a": b"bytes"}, {"a": np.nan}, {1: "a"}]
    for unfit in unusable:
        with pytest.raises(InvalidInputError):
            model.save(tmp_path / "other.mcq", extra=unfit)
    assert not (tmp_path / "other.mcq").exists()


def test_the_file_tells_which_versions_wrote_it(tmp_path: Path) -> None:
    versions = reloaded(small().fit(IRIS_X, IRIS_Y), tmp_path).versions_
    assert versions["mcquack"] == mcquack.__version__
    assert versions["numpy"] == np.__version__
    assert {"python", "numba", "scikit-learn"} <= versions.keys()
    assert all(isinstance(version, str) for version in versions.values())


def test_the_right_kind_is_found(tmp_path: Path) -> None:
    small().fit(IRIS_X, IRIS_Y).save(tmp_path / "mcquack.mcq")
    quack = QuackClassifier(n_qubits=2, epochs=2, random_state=0).fit(IRIS_X[:100], IRIS_Y[:100])
    quack.save(tmp_path / "quack.mcq")
    assert type(mcquack.load(tmp_path / "mcquack.mcq")) is McQuackClassifier
    loaded = mcquack.load(tmp_path / "quack.mcq")
    assert type(loaded) is QuackClassifier
    assert_same_predictions(loaded, quack)
    with pytest.raises(ModelFileError, match=r"QuackClassifier, .* McQuackClassifier"):
        McQuackClassifier.load(tmp_path / "quack.mcq")
    with pytest.raises(ModelFileError, match=r"McQuackClassifier, .* QuackClassifier"):
        QuackClassifier.load(tmp_path / "mcquack.mcq")


def test_another_process_predicts_the_same(tmp_path: Path) -> None:
    program = """
import sys
import mcquack, numpy
from sklearn.datasets import load_iris
numpy.save(sys.argv[2], mcquack.load(sys.argv[1]).transform(load_iris().data))
"""
    model = small().fit(IRIS_X, IRIS_Y)
    model.save(tmp_path / "model.mcq")
    subprocess.run([sys.executable, "-c", program, tmp_path / "model.mcq", tmp_path / "kernel.npy"], check=True)
    assert_array_equal(np.load(tmp_path / "kernel.npy"), model.transform(IRIS_X), strict=True)


def test_an_interrupted_stream_goes_on_as_if_it_had_not_been(tmp_path: Path) -> None:
    """Even if a class has had no sample yet when the file is written."""
    model = small().partial_fit(IRIS_X[:100], IRIS_Y[:100], classes=[0, 1, 2])
    loaded = reloaded(model, tmp_path, resumable=True)
    for part in (IRIS_X[100:], IRIS_Y[100:]), (IRIS_X[::2], IRIS_Y[::2]):
        assert_same_training(loaded.partial_fit(*part), model.partial_fit(*part))


def test_a_history_too_long_for_the_file_is_still_counted(tmp_path: Path) -> None:
    """The file keeps the last rows only, and training goes on as if it had all."""
    path = tmp_path / "m.mcq"
    restless = {"lr_ka": 0.6, "lr_co": 0.6, "decay_rate": 1.0, "epochs": 12, "patience": 8}
    for seed in range(5):
        part = small(**restless, random_state=seed)
        for _ in itertools.islice(part.fit_iter(IRIS_X, IRIS_Y), 6):
            pass
        part.save(path, resumable=True)
        header, tensors = read_model(path)
        write_model(path, header={**header, "history": header["history"][-3:]}, tensors=tensors)
        loaded = McQuackClassifier.load(path)
        assert (loaded.n_iter_, loaded.best_epoch_) == (6, part.best_epoch_)
        whole = small(**restless, random_state=seed).fit(IRIS_X, IRIS_Y)
        for _ in loaded.fit_iter(IRIS_X, IRIS_Y, resume=True):
            pass
        assert (loaded.n_iter_, loaded.best_epoch_) == (whole.n_iter_, whole.best_epoch_)
        assert_same_model(loaded, whole)
        assert_same_state(loaded, whole)
    rows = [{**part.history_[-1], "epoch": epoch} for epoch in range(1, 12_001)]
    part.history_, part.n_iter_ = rows, len(rows)
    again = reloaded(part, tmp_path)
    assert (again.history_, again.n_iter_) == (rows[-10_000:], 12_000)


def test_loaded_models_can_be_copied_and_pickled(tmp_path: Path) -> None:
    loaded = reloaded(small().fit(IRIS_X, IRIS_Y), tmp_path, resumable=True)
    for twin in (copy.deepcopy(loaded), pickle.loads(pickle.dumps(loaded))):
        assert_same_training(twin, loaded)
        assert_same_predictions(twin, loaded)


# What cannot be saved


@pytest.mark.parametrize("kind", [McQuackClassifier, QuackClassifier])
def test_there_is_nothing_to_save_before_training(kind: type[McQuackClassifier], tmp_path: Path) -> None:
    with pytest.raises(NotFittedError):
        kind().save(tmp_path / "model.mcq")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "classes",
    [
        np.array([1, "a", 2.5], object),
        np.array([(1,), (2,), (3,)], dtype=[("a", "i4")]),
        np.array(["2020-01-01", "2020-01-02", "2020-01-03"], "M8[D]"),
        np.array([1 + 2j, 2, 3]),
        np.array([b"a", b"b", b"c"]),
        np.array([None, None, None]),
    ],
    ids=str,
)
def test_labels_that_json_does_not_know_are_refused(classes: np.ndarray, tmp_path: Path) -> None:
    model = small().fit(IRIS_X, IRIS_Y)
    model.classes_ = classes
    with pytest.raises(InvalidInputError, match=r"labels of type .* cannot be saved"):
        model.save(tmp_path / "model.mcq")
    assert list(tmp_path.iterdir()) == []


def test_what_was_not_loaded_cannot_be_saved(tmp_path: Path) -> None:
    loaded = reloaded(small().fit(IRIS_X, IRIS_Y), tmp_path)
    with pytest.raises((InvalidInputError, NotFittedError), match="resum"):
        loaded.save(tmp_path / "again.mcq", resumable=True)


def test_changing_a_setting_after_training_does_not_spoil_the_file(tmp_path: Path) -> None:
    model = small().fit(IRIS_X, IRIS_Y)
    kernel = model.transform(IRIS_X)
    for changed in ({"n_qubits": 5}, {"feature_map": "device"}, {"scale": False}, {"loss": CrossEntropy()}):
        loaded = reloaded(copy.deepcopy(model).set_params(**changed), tmp_path, resumable=True)
        assert_array_equal(loaded.transform(IRIS_X), kernel, err_msg=str(changed))


@pytest.mark.parametrize("engine", [StatevectorEngine(dtype="float64"), RingEngine(), Shots(tolerance=0)], ids=str)
def test_another_engine_after_training_is_that_of_the_file(engine: Any, tmp_path: Path) -> None:
    """What was trained knows nothing of engines."""
    model = small(n_qubits=4, n_repetitions=1).fit(IRIS_X, IRIS_Y)
    kernel = model.transform(IRIS_X)
    loaded = reloaded(model.set_params(engine=engine), tmp_path, resumable=True)
    assert loaded.engine == engine
    assert_array_equal(loaded.transform(IRIS_X), model.transform(IRIS_X), strict=True)
    assert_allclose(loaded.transform(IRIS_X), kernel, rtol=0, atol=1e-5)


# Files that were tampered with


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> ModelFile:
    """A resumable model with all that a file can hold."""
    path = tmp_path_factory.mktemp("original") / "model.mcq"
    frame = pd.DataFrame(IRIS_X, columns=COLUMNS)
    model = small(class_weight={"b": 2.0}, validation_fraction=0.2)
    model.fit(frame, np.array(["a", "b", "c"])[IRIS_Y]).save(path, resumable=True, extra={"note": "mine"})
    return read_model(path)


@pytest.fixture
def is_refused(original: ModelFile, tmp_path: Path) -> Callable[[Callable[[ModelFile], Any]], bool]:
    """Whether a file with that change, its checksum right, is refused; any other error than the typed one escapes."""

    def refuses(load: Callable[[Path], Any], path: Path) -> bool:
        try:
            load(path)
        except ModelFileError as error:
            message = str(error)
        else:
            return False
        assert str(path) in message
        assert len(message) < 1000
        return True

    def check(change: Callable[[ModelFile], Any]) -> bool:
        changed = ModelFile(copy.deepcopy(original.header), dict(original.tensors))
        change(changed)
        path = tmp_path / "changed.mcq"
        write_model(path, header=changed.header, tensors=changed.tensors)
        return refuses(McQuackClassifier.load, path) and refuses(mcquack.load, path)

    return check


def test_the_original_is_read(original: ModelFile, tmp_path: Path) -> None:
    """So each changed file below is refused for its own change alone."""
    write_model(tmp_path / "m.mcq", header=original.header, tensors=original.tensors)
    assert McQuackClassifier.load(tmp_path / "m.mcq").predict(pd.DataFrame(IRIS_X, columns=COLUMNS)).shape == (150,)


def container(header: dict[str, Any], where: str) -> tuple[Any, Any]:
    """The list or object that holds the value at ``where``, and its key there."""
    *outer, last = where.split(".")
    holder: Any = header
    for key in outer:
        holder = holder[int(key) if isinstance(holder, list) else key]
    return holder, int(last) if isinstance(holder, list) else last


def put(where: str, value: Any) -> Callable[[ModelFile], None]:
    def change(file: ModelFile) -> None:
        holder, key = container(file.header, where)
        holder[key] = value

    return change


def remove(where: str) -> Callable[[ModelFile], None]:
    def change(file: ModelFile) -> None:
        holder, key = container(file.header, where)
        del holder[key]

    return change


def fields(header: dict[str, Any]) -> list[str]:
    """All that the header must have; settings may be added by later versions, and rows of the history are counted."""
    inner = [f"{field}.{name}" for field in ("classes", "feature_map") for name in header[field]]
    return [
        *(field for field in header if field not in ("format", "format_version")),
        *inner,
        "settings.engine",
        "settings.loss",
    ]


def test_every_field_is_needed(original: ModelFile, is_refused: Any) -> None:
    assert [where for where in fields(original.header) if not is_refused(remove(where))] == []


def test_every_field_has_its_type(original: ModelFile, is_refused: Any) -> None:
    may_be_null = ("feature_names", "scaled_to")
    accepted = []
    for where in fields(original.header):
        holder, key = container(original.header, where)
        for value in (None, True, -1, 1.5, "x", ["x"], {"x": 1}):
            if type(value) is not type(holder[key]) and not (value is None and where in may_be_null):
                accepted += [] if is_refused(put(where, value)) else [(where, value)]
    assert accepted == []


def test_a_scaling_without_its_range_is_not_taken_for_none(is_refused: Any) -> None:
    assert is_refused(put("scaled_to", None))


def test_fields_of_the_future_are_no_fields_of_today(is_refused: Any) -> None:
    assert is_refused(put("settings.magic", 1))
    assert is_refused(put("feature_map.magic", 1))


HOSTILE: dict[str, list[Any]] = {
    "kind": ["SVC", "os.system", "McQuackClassifier ", ""],
    "settings.n_qubits": ["2", None, 2.5, True, 0],
    "settings.epochs": [-1, "4", None, 1.5],
    "settings.lr_ka": [0, -1.0, "x", None, []],
    "settings.patience": [0, "x"],
    "settings.engine": [
        "mps", None, 3, ["ring"], {}, {"name": "mps"}, {"name": ["ring"]}, {"name": "sampled", "shots": 5},
        {"name": "statevector", "dtype": "float16"}, {"name": "statevector", "dtype": "object"},
        {"name": "statevector", "dtype": None, "n_threads": 0}, {"name": "statevector", "n_threads": -1},
        {"name": "statevector", "n_threads": "x"}, {"name": "ring", "n_threads": 1.5}, {"name": "ring", "magic": 1},
        {"name": "ring", "feature_map": "x"}, {"name": "shots", "shots": 0}, {"name": "shots", "gradient": "os"},
        {"name": "shots", "tolerance": -1}, {"name": "shots", "engine": {"name": "shots"}},
        {"name": "shots", "engine": None},
    ],
    "settings.optimizer": ["os.system", None],
    "settings.init_strategy": ["x", None],
    "settings.n_centroids_per_class": [0, 2, 10**18, "1", True, None],
    "settings.loss": [
        "hinge", None, 3, [], {}, {"name": "hinge"}, {"name": "alignment", "class_score": "mean"},
        {"name": "alignment", "class_score": None}, {"name": "alignment", "beta": 1.0},
        {"name": "cross_entropy", "beta": 0.0}, {"name": "cross_entropy", "beta": "x"}, {"name": ["alignment"]},
    ],
    "settings.scale": [[], [1.0, 0.0], [0.0], [0.0, 1.0, 2.0], ["a", "b"], "ab", None, 2],
    "settings.feature_map": [{}, {"n_qubits": 2}, {"n_qubits": "x"}],
    "feature_range": [[], [1.0, 0.0], [0.0], [0.0, 1.0, 2.0], ["a", "b"], "ab", [-1e308, 1e308], [0, 1], [True, False]],
    "settings.validation_fraction": [2, -1, "x"],
    "settings.class_weight": ["even", 5, [["b"]], [["b", -1.0]], [["b", "x"]], [[["b"], 1.0]], {"b": 1.0}],
    "settings.batch_size": [0, "x", 1.5],
    "settings.random_state": ["x", -1, 1.5, []],
    "feature_map.n_qubits": [0, -1, 3, 21, 64, 10**6, 2**62, 2**100, 2.0, "2"],
    "feature_map.n_layers": [0, -1, 3, 5, 10**9, 2**62, 2**100],
    "feature_map.n_features": [0, -1, 3, 5, 10**9, 2**62, 2**100],
    "feature_map.features_per_gate": [0, 2, 3, 10**9],
    "feature_map.final_entangler": [0, 1, "yes", None],
    "feature_map.entangler": ["linear", None, 1],
    "classes.values": [
        ["c", "b", "a"],
        ["a", "a", "c"],
        ["a", "b"],
        ["a", "b", "c", "d"],
        ["a"],
        [],
        [1, 2, 3],
        ["a", "b", 3],
        ["a", "b", None],
        [["a"], ["b"], ["c"]],
        ["a", "b", "c" * 10],
    ],
    "classes.kind": ["int", "bytes", "type", ""],
    "classes.dtype": [
        "<i8", "|b1", "<f8", "|S1", "a5", "M8[ns]", "m8", "V16", "i4,i4", "<U99999999", "O,O", "x", "",
        "T", "float128", "{'names': ['a'], 'formats': ['O']}", "(3,)i4", ">c16",
    ],
    "scaled_to": [
        [1.0, 0.0], [0.0, 0.0], [0.0], [0.0, 1.0, 2.0], ["a", "b"], [None, None], [[0.0], [1.0]], [True, False],
        [-1e308, 1.0],
    ],
    "feature_names": [["a"], ["a", "b", "c", 4], ["a"] * 5, [None] * 4],
    "history": [
        [1], ["x"], [None], [[]], [{"epoch": "x"}], [{"epoch": [1]}], [{}], [{"loss": True}], [{"accuracy": 1.0}],
    ],
    "best_epoch": [-1, 0, 5, 10**30],
    "seed": [-1],
    "versions": [{"mcquack": 1}, {"numpy": None}],
}  # fmt: skip


@pytest.mark.parametrize(
    ("where", "value"),
    [
        pytest.param(where, value, id=f"{where}={json.dumps(value)[:40]}")
        for where, values in HOSTILE.items()
        for value in values
    ],
)
def test_hostile_values_are_refused(where: str, value: Any, is_refused: Any) -> None:
    assert is_refused(put(where, value))


def test_claims_of_size_must_agree_with_the_arrays(is_refused: Any) -> None:
    """All at once, so that no two of them contradict each other."""

    def huge(file: ModelFile) -> None:
        file.header["feature_map"] |= {"n_qubits": 20, "n_features": 10**6, "n_layers": 10**6}
        file.header["settings"]["n_qubits"] = 20

    assert is_refused(huge)


def with_array(name: str, array: np.ndarray) -> Callable[[ModelFile], object]:
    return lambda file: file.tensors.update({name: array})


def without_array(name: str) -> Callable[[ModelFile], object]:
    return lambda file: file.tensors.pop(name)


def test_every_array_is_needed_in_its_shape_and_type(original: ModelFile, is_refused: Any) -> None:
    accepted = []
    for name, array in original.tensors.items():
        other = np.int64 if array.dtype == np.float32 else np.float32
        shapes = [array[None], array.reshape(-1)[:-1], np.concatenate([array, array]), array.astype(other)]
        changes = [without_array(name), *(with_array(name, changed) for changed in shapes)]
        accepted += [(name, place) for place, change in enumerate(changes) if not is_refused(change)]
    assert accepted == []


def test_arrays_that_nobody_asked_for_are_refused(is_refused: Any) -> None:
    assert is_refused(with_array("payload", np.zeros(3)))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("scaler_minimum", 1e9),
        ("scaler_maximum", -1e9),
        ("scaler_maximum", 1e308),
        ("state.steps", -1),
        ("state.epoch", -1),
        ("state.weights_square", -1.0),
    ],
)
def test_values_that_training_cannot_have_left_are_refused(
    name: str, value: float, original: ModelFile, is_refused: Any
) -> None:
    def change(file: ModelFile) -> None:
        file.tensors[name] = np.full_like(original.tensors[name], value)
        if value == 1e308:
            file.tensors["scaler_minimum"] = np.full_like(original.tensors[name], -value)

    assert is_refused(change)


# Whatever is changed

MANY = 2 * settings().max_examples

JUNK = st.sampled_from(
    [
        *(None, True, False, 0, -1, 1, 7, 2**31, 2**63, 2**100, 0.5, -1e308, 1e-320, "", "x", "float64", "<i8"),
        *([], {}, [0], [[1, 2]], ["a", "b", "c"], {"a": 1}, [{"loss": 1.0}]),
    ]
)


def places(value: Any, where: tuple[str, ...] = ()) -> Iterator[str]:
    """Where there is something to change, at any depth."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield ".".join((*where, str(key)))
        yield from places(inner, (*where, str(key)))


def use(model: McQuackClassifier, X: Any, y: Any) -> None:
    """Asks for all that a loaded model offers; it may refuse to train on, but only in so many words."""
    assert set(model.predict(X)) <= set(model.classes_)
    assert np.isfinite(model.predict_proba(X)).all()
    assert model.n_parameters_ > 0
    assert isinstance(repr(model), str)
    try:
        next(model.fit_iter(X, y, resume=True), None)
        model.partial_fit(X[:10], y[:10])
    except McQuackError:
        pass


@settings(max_examples=MANY)
@given(data=st.data())
def test_a_changed_header_is_refused_or_does_no_harm(
    data: st.DataObject, original: ModelFile, tmp_path_factory: pytest.TempPathFactory
) -> None:
    header = copy.deepcopy(original.header)
    where = [place for place in places(header) if place not in ("format", "format_version")]
    for _ in range(data.draw(st.integers(1, 2))):
        holder, key = container(header, data.draw(st.sampled_from(where)))
        if data.draw(st.booleans()) and isinstance(holder, dict):
            holder.pop(key, None)
        else:
            holder[key] = copy.deepcopy(data.draw(JUNK))  # as the next change may be inside of it
        where = [place for place in places(header) if place not in ("format", "format_version")]
    path = tmp_path_factory.getbasetemp() / "changed.mcq"
    write_model(path, header=header, tensors=original.tensors)
    try:
        model = mcquack.load(path)
    except ModelFileError:
        return
    model.set_params(epochs=5, epochs_ka=1, epochs_co=1)  # many are allowed, but nobody would wait for them
    names = getattr(model, "feature_names_in_", None)
    use(model, pd.DataFrame(IRIS_X, columns=names), np.array(["a", "b", "c"])[IRIS_Y])


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("content") / "model.mcq"
    small(n_repetitions=1).fit(IRIS_X, IRIS_Y).save(path, resumable=True)
    return path.read_bytes()


@settings(max_examples=MANY)
@given(data=st.data())
def test_a_changed_byte_is_refused_or_changes_nothing(
    data: st.DataObject, content: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "mutated.mcq"
    path.write_bytes(content)
    kernel = McQuackClassifier.load(path).transform(IRIS_X)
    changed = bytearray(content)
    for _ in range(data.draw(st.integers(1, 4))):
        if not changed:
            break
        place = data.draw(st.integers(0, len(changed) - 1))
        match data.draw(st.sampled_from(["set", "flip", "insert", "delete", "cut", "double"])):
            case "set":
                changed[place] = data.draw(st.integers(0, 255))
            case "flip":
                changed[place] ^= 1 << data.draw(st.integers(0, 7))
            case "insert":
                changed[place:place] = data.draw(st.binary(min_size=1, max_size=8))
            case "delete":
                del changed[place : place + data.draw(st.integers(1, 8))]
            case "cut":
                del changed[place + 1 :]
            case "double":
                changed += changed[place:]
    path.write_bytes(changed)
    try:
        model = mcquack.load(path)
    except ModelFileError:
        return
    assert_array_equal(model.transform(IRIS_X), kernel)


# Loading runs no code


class Bomb:
    """Leaves a trace if anyone unpickles it."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> Any:
        return Path.touch, (self.trace,)


def test_pickles_are_not_opened(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    bomb = pickle.dumps(Bomb(trace))
    pickle.loads(bomb)
    assert trace.exists()
    trace.unlink()
    zipped = io.BytesIO()
    np.savez(zipped, bomb=np.array([Bomb(trace)], dtype=object))
    for dangerous in (bomb, pickle.dumps(small().fit(IRIS_X, IRIS_Y)), zipped.getvalue()):
        (tmp_path / "model.mcq").write_bytes(dangerous)
        for load in (mcquack.load, McQuackClassifier.load):
            with pytest.raises(ModelFileError):
                load(tmp_path / "model.mcq")
    assert not trace.exists()


def test_a_pickle_inside_a_model_is_text_or_numbers(original: ModelFile, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    bomb = pickle.dumps(Bomb(trace), protocol=0)
    header = {**original.header, "extra": {"bomb": bomb.decode("latin-1")}}
    write_model(tmp_path / "model.mcq", header=header, tensors=original.tensors)
    assert mcquack.load(tmp_path / "model.mcq").extra_["bomb"] == bomb.decode("latin-1")
    header = {**original.header, "classes": {"kind": "str", "dtype": "O", "values": ["a", "b", bomb.decode("latin-1")]}}
    write_model(tmp_path / "model.mcq", header=header, tensors=original.tensors)
    mcquack.load(tmp_path / "model.mcq")
    assert not trace.exists()


def test_a_file_of_another_kind_says_what_to_do(tmp_path: Path) -> None:
    write_model(tmp_path / "other.mcq", header={"kind": "Encoder"}, tensors={})
    for load in (mcquack.load, McQuackClassifier.load):
        with pytest.raises(ModelFileError, match="Encoder"):
            load(tmp_path / "other.mcq")
    with pytest.raises(FileNotFoundError):
        mcquack.load(tmp_path / "missing.mcq")
