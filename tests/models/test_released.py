"""Files that earlier releases wrote are read today, and their models answer as they did then."""

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris

import mcquack
from mcquack import McQuackClassifier, load
from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import ModelFileError
from mcquack.kernels import Alignment, CrossEntropy, Shots
from mcquack.kernels.bitflip import tolerant_kernel
from mcquack.models import archive, catalog
from mcquack.models.model_file import FORMAT_VERSION, read_model, write_model
from mcquack.simulators import RingEngine, StatevectorEngine
from mcquack.simulators.choice import engine_of
from mcquack.simulators.samplers import sampled_fidelities, sampled_hamming

FOLDER = Path(__file__).parent / "released"
FILES = sorted(FOLDER.glob("*/*.mcq"))
ANSWERS = ("predict_proba", "decision_function", "transform")
IRIS_X, IRIS_Y = load_iris(return_X_y=True)
every_file = pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")


def precision(model: Any) -> float:
    """How far numbers may lie apart that different processors compute."""
    return 1e-5 if getattr(getattr(model, "weights_", None), "dtype", None) == np.float32 else 1e-10


def counts_shots(path: Path) -> bool:
    engine = getattr(load(path), "engine", None)
    return isinstance(engine, Shots) and engine.shots is not None


@pytest.mark.parametrize(
    "path", [path for path in FILES if not counts_shots(path)], ids=lambda path: f"{path.parent.name}-{path.stem}"
)
def test_a_released_file_answers_as_it_did(path: Path) -> None:
    model, expected = load(path), np.load(path.with_suffix(".npz"))
    assert_array_equal(model.predict(expected["X"]), expected["predict"])
    error = precision(model)
    for name in ANSWERS:
        assert (name in expected) == hasattr(model, name)
        if name in expected:
            assert_allclose(getattr(model, name)(expected["X"]), expected[name], rtol=error, atol=error, err_msg=name)


@pytest.mark.parametrize(
    "path", [path for path in FILES if counts_shots(path)], ids=lambda path: f"{path.parent.name}-{path.stem}"
)
def test_a_released_file_that_counts_shots_has_the_kernel_that_it_had(path: Path) -> None:
    """All calls of a model drew from one stream, which gives the shots of then; those of today are others of it."""
    model, expected = load(path), np.load(path.with_suffix(".npz"))
    X, engine = expected["X"], model.engine
    inner: Any = engine_of(engine.engine, model.feature_map_).on(model.feature_map_)
    rows, centroids = (inner.encode(some, model.weights_, model.bias_) for some in (model.scaled(X), model.centroids_))
    if engine.tolerance is None:
        exact = inner.fidelities(rows, centroids)
        then = sampled_fidelities(exact, shots=engine.shots, seed=model._seed)
    else:
        ones = inner.hamming_distributions(rows, centroids)
        exact = tolerant_kernel(ones, engine.tolerance)
        then = tolerant_kernel(sampled_hamming(ones, shots=engine.shots, seed=model._seed), engine.tolerance)
    assert_allclose(then, expected["transform"], rtol=0, atol=1e-12)
    spread = np.sqrt(exact * np.maximum(1 - exact, 0) / engine.shots)
    assert (np.abs(model.transform(X) - exact) <= 5 * spread + 1 / engine.shots).all()
    assert set(model.predict(X)) <= set(model.classes_)


@every_file
def test_written_anew_it_is_a_file_of_today(path: Path, tmp_path: Path) -> None:
    model, rows = load(path), np.load(path.with_suffix(".npz"))["X"]
    model.save(tmp_path / "again.mcq")
    again = load(tmp_path / "again.mcq")
    assert read_model(tmp_path / "again.mcq").header["format_version"] == FORMAT_VERSION
    assert again.get_params() == model.get_params()
    assert_array_equal(again.predict(rows), model.predict(rows))


def test_the_last_release_has_every_kind_of_model_and_none_has_lost_one() -> None:
    folders = sorted(filter(Path.is_dir, FOLDER.iterdir()), key=lambda path: tuple(map(int, path.name.split("."))))
    kinds = [{read_model(path).header["kind"] for path in folder.glob("*.mcq")} for folder in folders]
    assert kinds[-1] == set(catalog.classes())
    assert all(earlier <= later for earlier, later in pairwise(kinds))
    assert {read_model(path).header["format_version"] for path in FILES} == set(range(1, FORMAT_VERSION + 1))


@pytest.mark.parametrize("release", ["0.1.0", "0.2.0"])
def test_training_goes_on_after_a_release(release: str) -> None:
    resumed = load(FOLDER / release / "resumable.mcq").set_params(epochs=5)
    assert resumed.n_iter_ == 3
    losses = [row["loss"] for row in resumed.history_]
    for _ in resumed.fit_iter(IRIS_X, IRIS_Y, resume=True):
        pass
    assert [row["loss"] for row in resumed.history_[:3]] == losses
    assert resumed.n_iter_ == 5
    of_the_paper: dict[str, Any] = {"loss": "alignment", "steps": "alternating"}
    whole = McQuackClassifier(2, 2, epochs=5, random_state=0, **of_the_paper).fit(IRIS_X, IRIS_Y)
    assert_allclose([row["loss"] for row in resumed.history_], [row["loss"] for row in whole.history_], rtol=1e-5)


# What the settings of the first format are today

DOUBLE: dict[str, Any] = {"dtype": "float64"}
FIRST: dict[str, dict[str, Any]] = {
    "mcquack": {"engine": StatevectorEngine(), "loss": Alignment(), "feature_map": "paper", "scale": (0.0, 1.0)},
    "float64": {"engine": StatevectorEngine(**DOUBLE, n_threads=1), "class_weight": "balanced"},
    "two_centroids": {"loss": Alignment("sum"), "n_centroids_per_class": 2, "validation_fraction": 0.2},
    "two_centroids_max": {"loss": Alignment(), "n_centroids_per_class": 2, "class_weight": {0: 2.0, 2: 0.5}},
    "ring": {"engine": RingEngine(), "feature_map": "device", "scale": (-1.0, 1.0)},
    "ring_float64": {"engine": RingEngine(**DOUBLE)},
    "shots": {"engine": Shots(100, engine=StatevectorEngine())},
    "shots_tolerance": {"engine": Shots(100, tolerance=1, engine=StatevectorEngine(**DOUBLE))},
    "training_tolerance": {"engine": Shots(tolerance=2, training_tolerance=1, engine=RingEngine())},
    "spsa": {"engine": Shots(gradient="spsa", engine=StatevectorEngine())},
    "device": {"engine": Shots(100, tolerance=2, engine=RingEngine()), "scale": (-1.0, 1.0), "init_small": False},
    "unscaled": {"scale": False, "optimizer": "sgd"},
    "vc": {"engine": StatevectorEngine()},
    "shared_vc": {"engine": StatevectorEngine(**DOUBLE)},
}


@pytest.mark.parametrize("name", FIRST)
def test_settings_of_the_first_format_mean_what_they_meant(name: str) -> None:
    model = load(FOLDER / "0.1.0" / f"{name}.mcq")
    params = model.get_params()
    assert {setting: params[setting] for setting in FIRST[name]} == FIRST[name]


def test_the_range_of_unscaled_features_stays_that_of_the_first_format() -> None:
    assert load(FOLDER / "0.1.0" / "unscaled.mcq").feature_range_ == (0.0, 8.0)
    assert load(FOLDER / "0.2.0" / "unscaled.mcq").feature_range_ == pytest.approx((0.1, 7.9))


def test_settings_of_the_second_format_come_back_as_they_were_written() -> None:
    found = {path.stem: load(path).get_params() for path in (FOLDER / "0.2.0").glob("*.mcq")}
    assert found["cross_entropy"]["loss"] == CrossEntropy(5.0, softmax=False)
    assert found["cross_entropy_by_name"]["loss"] == CrossEntropy(softmax=False)
    assert found["mcquack"]["engine"] == "auto"
    assert found["shots_tolerance"]["engine"] == Shots(100, tolerance=1, engine=StatevectorEngine(**DOUBLE))
    assert found["given_circuit"]["feature_map"] == FeatureMap(
        n_qubits=3, n_features=4, n_layers=2, final_entangler=False, features_per_gate=3
    )
    assert found["sampled"]["engine"] == StatevectorEngine()


def first_format(folder: Path, **changed: Any) -> Any:
    """Load what a file of the first format would be with other settings, written into this folder."""
    header, tensors = read_model(FOLDER / "0.1.0" / "shots.mcq")
    settings = {name: value for name, value in {**header["settings"], **changed}.items() if value is not ...}
    write_model(folder / "first.mcq", header={**header, "settings": settings}, tensors=tensors, format_version=1)
    return mcquack.load(folder / "first.mcq")


def test_the_first_format_is_checked_as_ever(tmp_path: Path) -> None:
    assert first_format(tmp_path).engine == Shots(100, engine=StatevectorEngine())
    settings = read_model(FOLDER / "0.1.0" / "shots.mcq").header["settings"]
    for name in settings:
        with pytest.raises(ModelFileError, match="setting"):
            first_format(tmp_path, **{name: ...})
    with pytest.raises(ModelFileError, match="magic"):
        first_format(tmp_path, magic=1)
    hostile: dict[str, list[Any]] = {
        "engine": ["mps", None, 3, ["ring"]],
        "dtype": ["float16", "object", 3],
        "n_threads": [0, -1, "x", 1.5],
        "shots": [0, "x", 1.5],
        "bitflip_tolerance": [-1, "x"],
        "training_tolerance": [-1, "x"],
        "gradient": ["os.system", None, []],
        "class_score": ["mean", None],
        "feature_range": [[], [1.0, 0.0], [0.0], ["a", "b"], "ab", None],
        "n_qubits": ["2", None, 0],
        "warm_start": [None, 1, "yes"],
    }
    for name, values in hostile.items():
        for value in values:
            with pytest.raises(ModelFileError):
                first_format(tmp_path, **{name: value})


# Settings that are added later


@dataclass(eq=False, repr=False, kw_only=True)
class Later(McQuackClassifier):
    """As a later release may have it, with a setting more."""

    magic: str = "new"


class Upgrading(Later):
    """The same, as it is when the release says what a file without the setting means."""

    _added_settings: ClassVar = {**McQuackClassifier._added_settings, "magic": "as before", "another": 1}


@pytest.fixture
def of_today(tmp_path: Path) -> Path:
    path = tmp_path / "model.mcq"
    McQuackClassifier(2, 1, epochs=1, random_state=0).fit(IRIS_X, IRIS_Y).save(path)
    return path


@pytest.mark.parametrize("release", ["today", "0.2.0", "0.1.0"])
def test_a_file_without_a_later_setting_has_the_default_it_came_with(release: str, of_today: Path) -> None:
    path = of_today if release == "today" else FOLDER / release / "mcquack.mcq"
    with pytest.raises(ModelFileError, match="magic"):
        archive.load({"McQuackClassifier": lambda: Later}, path)
    model = archive.load({"McQuackClassifier": lambda: Upgrading}, path)
    assert model.magic == "as before"
    assert model.get_params() == {**load(path).get_params(), "magic": "as before"}


def test_a_file_with_it_has_its_own(of_today: Path) -> None:
    header, tensors = read_model(of_today)
    settings = {**header["settings"], "magic": "told"}
    write_model(of_today, header={**header, "settings": settings}, tensors=tensors)
    assert archive.load({"McQuackClassifier": lambda: Upgrading}, of_today).magic == "told"
    with pytest.raises(ModelFileError, match="magic"):
        load(of_today)


@pytest.mark.parametrize("release", ["0.1.0", "0.2.0"])
def test_models_of_earlier_releases_start_anew(release: str) -> None:
    assert load(FOLDER / release / "mcquack.mcq").warm_start is False


def test_defaults_of_added_settings_are_settings_of_models() -> None:
    known = {name for kind in catalog.classes().values() for name in kind()().get_params(deep=False)}
    assert archive.Archived._added_settings.keys() <= known


@pytest.mark.parametrize("release", ["0.1.0", "0.2.0"])
@pytest.mark.parametrize("name", ["mcquack", "float64", "two_centroids"])
def test_what_a_release_trained_is_trained_today(release: str, name: str) -> None:
    """Up to rounding: the settings in the file are those that it was trained by."""
    model, anew = (load(FOLDER / release / f"{name}.mcq") for _ in range(2))
    anew.fit(IRIS_X, model.classes_[IRIS_Y])
    assert_allclose(anew.transform(IRIS_X), model.transform(IRIS_X), rtol=0, atol=1e-3)
    assert anew.get_params() == model.get_params()
