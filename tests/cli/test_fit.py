"""``mcquack fit`` makes the model that the estimator would, from tables and datasets, and survives what may happen."""

import json
import os
import signal
from contextlib import contextmanager
from itertools import islice

import numpy as np
import pytest

from mcquack import load as load_model
from mcquack.cli import fit as fit_module
from mcquack.cli.console import Checkpoints
from mcquack.datasets import Description, from_arrays, load, register, registry
from mcquack.models import McQuackClassifier, catalog
from mcquack.randomness import held_out
from tests.cli.stepping import Stepping
from tests.cli.tables import two_classes


@pytest.fixture
def interrupted_after(monkeypatch):
    """Within ``with interrupted_after(3):`` the user presses Ctrl-C after three epochs."""

    @contextmanager
    def patched(n_epochs):
        def shown(epochs, **_):
            yield from islice(epochs, n_epochs)
            os.kill(os.getpid(), signal.SIGINT)
            yield from epochs

        with monkeypatch.context() as patch:
            patch.setattr(fit_module, "shown", shown)
            yield

    return patched


def test_a_table_is_learned_and_new_rows_are_labelled(fitted, mcquack, table):
    model, outcome = fitted(two_classes())
    assert outcome.code == 0
    assert "recall of high" in outcome.out
    assert "validation (2 rows)" in outcome.out
    assert "epoch 2/2" in outcome.err
    predicted = mcquack("predict", model, table("label,colour,x\n?,blue,5.2\n?,red,0.1\n"))
    assert predicted.code == 0
    assert [(row["row"], row["prediction"], row["reason"]) for row in predicted.rows] == [
        ("2", "high", ""),
        ("3", "low", ""),
    ]
    assert predicted.err == ""


def test_the_model_is_the_one_the_estimator_would_make(fitted, mcquack, table):
    content = two_classes()
    model, _ = fitted(content, "--validation", 0, "--seed", 3)
    first = mcquack("predict", model, table(content), "--proba").rows
    model.unlink()
    again, _ = fitted(content, "--validation", 0, "--seed", 3)
    assert mcquack("predict", again, table(content), "--proba").rows == first
    estimator = McQuackClassifier.load(again)
    X = [[float(row.split(",")[0]), row.split(",")[1] == "red"] for row in content.splitlines()[1:]]
    assert [row["prediction"] for row in first] == estimator.predict(X).tolist()
    for row, shares in zip(first, estimator.predict_proba(X), strict=True):
        assert float(row["probability_low"]) == pytest.approx(shares[list(estimator.classes_).index("low")], rel=1e-4)


HOLES = two_classes() + "inf,red,low\n,red,low\n5.5,,high\n"


def test_missing_values_are_refused_by_column_and_row(fitted):
    model, outcome = fitted(HOLES)
    assert outcome.code == 1
    assert "column 'x' is missing in 1 row (15) and infinite in 1 row (14)" in outcome.err
    assert "column 'colour' is missing in 1 row (16)" in outcome.err
    assert not model.exists()


@pytest.mark.parametrize("missing", ["mean", "median", "most_frequent"])
def test_missing_values_are_filled_in_training_and_later(fitted, mcquack, table, missing):
    model, outcome = fitted(HOLES, "--missing", missing)
    assert outcome.code == 0
    predicted = mcquack("predict", model, table("x,colour\n,red\n-inf,blue\n"))
    assert predicted.code == 0
    assert all(row["prediction"] for row in predicted.rows)


def test_rows_with_missing_values_are_dropped_when_asked(fitted):
    _, outcome = fitted(HOLES, "--missing", "drop")
    assert outcome.code == 0
    assert "3 rows with missing or infinite values were dropped" in outcome.err


def test_rows_that_cannot_be_used_are_told(fitted):
    model, outcome = fitted(two_classes() + "1,red\n2,red,\n")
    assert outcome.code == 3
    assert model.exists()
    assert "row 14: has 2 cells where the header has 3" in outcome.err
    assert "row 15: the target 'label' is missing" in outcome.err
    model.unlink()
    _, refused = fitted(two_classes() + "2,red,\n", "--missing-target", "error")
    assert refused.code == 1
    assert not model.exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("x,label\n", "no rows"),
        ("x,x,label\n1,2,a\n", "'x' comes more than once"),
        ("x,label\n1,a\n", "at least two classes"),
        ("x,label\n1,a\n2,a\n3,a\n", "all 3 usable rows have the label 'a'"),
        ("x,y\n1,a\n", "no column 'label'"),
        ("label\na\nb\n", "no column to learn from"),
        ("x,label\n" + "".join(f"{i},{i + 0.5}\n" for i in range(30)), "names or measures rows"),
        (b"\x00\x01\x02", "binary"),
        ("x,label\n1,ä\n".encode("latin-1"), "UTF-8"),
    ],
)
def test_tables_that_teach_nothing_are_refused_in_one_line(fitted, content, message):
    model, outcome = fitted(content)
    assert outcome.code == 1
    assert message in outcome.err
    assert outcome.err.count("\n") == 1
    assert "Traceback" not in outcome.err
    assert not model.exists()


def test_one_row_of_each_class_is_enough(fitted, mcquack, table):
    model, outcome = fitted("x,label\n0,a\n1,b\n")
    assert outcome.code == 0
    assert "validation" not in outcome.out
    assert mcquack("predict", model, table("x\n0\n")).code == 0


def test_columns_can_be_left_out_or_taken_as_another_kind(fitted, mcquack):
    rows = "".join(f"n{i},{i % 3},{'ab'[i % 2]}\n" for i in range(30))
    model, outcome = fitted("id,code,label\n" + rows)
    assert outcome.code == 0
    assert "leave it out with --ignore 'id'" in outcome.err
    _, outcome = fitted("id,code,label\n" + rows, "--ignore", "id", "--categorical", "code", "--force")
    assert outcome.code == 0
    info = mcquack("info", model).out
    assert "'code' category: '0', '1', '2'" in info
    assert "'id'" not in info


def test_a_model_is_not_overwritten_unless_asked(fitted):
    model, _ = fitted(two_classes())
    before = model.read_bytes()
    _, refused = fitted(two_classes(), "--seed", 1)
    assert refused.code == 1
    assert "--force" in refused.err
    assert model.read_bytes() == before
    _, replaced = fitted(two_classes(), "--seed", 1, "--force")
    assert replaced.code == 0
    assert model.read_bytes() != before


def test_places_that_cannot_be_written_are_refused_before_training(mcquack, table, tmp_path):
    data = table(two_classes())
    for out, message in ((tmp_path, "is a folder"), (tmp_path / "no" / "m.mcq", "does not exist"), (data, "to read")):
        outcome = mcquack("fit", data, "--target", "label", "--out", out, "--force")
        assert outcome.code == 1
        assert message in outcome.err
        assert "epoch" not in outcome.err
    assert data.read_text() == two_classes()


def test_an_interrupt_keeps_the_best_model_so_far(fitted, mcquack, table, interrupted_after):
    with interrupted_after(1):
        model, outcome = fitted(two_classes(), "--epochs", 50)
    assert outcome.code == 130
    assert f"the model so far is in {model}" in outcome.err
    assert mcquack("predict", model, table("x,colour\n0,red\n")).code == 0


def test_an_interrupt_before_the_first_epoch_writes_nothing(fitted, interrupted_after):
    with interrupted_after(0):
        model, outcome = fitted(two_classes())
    assert outcome.code == 130
    assert "nothing was written" in outcome.err
    assert list(model.parent.glob("*.mcq")) == []


def test_a_failing_save_leaves_the_old_model_whole(fitted, monkeypatch):
    model, _ = fitted(two_classes())
    before = model.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    monkeypatch.setattr(os, "replace", full)
    _, outcome = fitted(two_classes(), "--force", "--seed", 1)
    assert outcome.code == 1
    assert "No space left on device" in outcome.err
    assert model.read_bytes() == before
    assert sorted(path.name for path in model.parent.iterdir()) == ["model.mcq", "train.csv"]


@pytest.mark.parametrize("preset", ["default", "paper", "qml", "device"])
def test_presets(fitted, preset):
    _, outcome = fitted(two_classes(), "--preset", preset, "--class-weight", "balanced", "--no-scale")
    assert outcome.code == 0


# Models that are not trained.


def test_a_model_of_no_epochs_is_written_scored_and_used(fitted, mcquack, table):
    path, outcome = fitted(two_classes(), "--epochs", 0)
    assert outcome.code == 0
    assert "0 epochs" in outcome.out
    assert "epoch 1" not in outcome.err
    outcome = mcquack("predict", path, table("x,colour\n0.1,red\n5,blue\n"))
    assert [row["prediction"] for row in outcome.rows] == load_model(path).predict([[0.1, 1.0], [5.0, 0.0]]).tolist()
    told = json.loads(mcquack("info", path, "--json").out)
    assert told["settings"]["epochs"] == 0


def test_the_paper_s_model_for_devices(fitted):
    path, outcome = fitted(two_classes(), "--preset", "device", "--epochs", 0)
    assert outcome.code == 0
    model = load_model(path)
    assert (model.scale, model.feature_map) == ((-1.0, 1.0), "device")
    np.testing.assert_array_equal(model.weights_, 1)


# Training that is resumed.


def test_an_interrupted_training_goes_on_to_the_same_model(fitted, interrupted_after):
    path, _ = fitted(two_classes(), "--epochs", 8)
    whole = McQuackClassifier.load(path)
    path.unlink()

    with interrupted_after(3):
        _, outcome = fitted(two_classes(), "--epochs", 8)
    assert outcome.code == 130
    assert "--resume" in outcome.err
    _, outcome = fitted(two_classes(), "--epochs", 8, "--resume")
    assert outcome.code == 0

    resumed = McQuackClassifier.load(path)
    assert resumed.n_iter_ == whole.n_iter_
    for name in ("weights_", "bias_", "centroids_"):
        np.testing.assert_array_equal(getattr(resumed, name), getattr(whole, name))


def test_training_is_written_while_it_runs(fitted, monkeypatch):
    saves = []
    monkeypatch.setattr(Checkpoints, "seconds_between", -1.0)
    save = McQuackClassifier.save

    def noted(self, *arguments, **options):
        saves.append(options["resumable"])
        save(self, *arguments, **options)

    monkeypatch.setattr(McQuackClassifier, "save", noted)
    fitted(two_classes(), "--epochs", 3)
    assert saves == [True, True, True, False]


@pytest.fixture
def full_disk(monkeypatch):
    """Makes the saves fail that have these numbers, counted from 1, and collects which epochs were written."""

    def patched(*numbers):
        saves, epochs = [], []
        replace = os.replace

        def perhaps(*places):
            saves.append(places)
            if len(saves) in numbers:
                raise OSError(28, "No space left on device")
            replace(*places)
            epochs.append(len(saves))

        monkeypatch.setattr(Checkpoints, "seconds_between", -1.0)
        monkeypatch.setattr(os, "replace", perhaps)
        return epochs

    return patched


@pytest.mark.filterwarnings("default::mcquack.errors.CheckpointWarning")
def test_training_goes_on_when_a_checkpoint_cannot_be_written_and_tries_again(fitted, full_disk):
    written = full_disk(1, 3)
    model, outcome = fitted(two_classes(), "--epochs", 3)
    assert outcome.code == 0
    assert written == [2, 4]
    told = [line for line in outcome.err.splitlines() if line.startswith(f"mcquack: {model}")]
    for line, epoch, left in zip(told, ("epoch 1", "epoch 3"), ("nothing of", "of epoch 2"), strict=True):
        assert all(word in line for word in (epoch, left, "No space left"))
    assert len(McQuackClassifier.load(model).history_) == 3
    assert sorted(path.name for path in model.parent.iterdir()) == ["model.mcq", "train.csv"]


@pytest.mark.filterwarnings("default::mcquack.errors.CheckpointWarning")
def test_a_last_model_that_cannot_be_written_is_told_with_what_is_there(fitted, full_disk):
    full_disk(3, 4)
    model, outcome = fitted(two_classes(), "--epochs", 3)
    assert outcome.code == 1
    told = outcome.err.splitlines()[-1]
    assert all(word in told for word in (str(model), "No space left", "of epoch 2"))
    assert "balanced accuracy" in outcome.out
    assert len(McQuackClassifier.load(model).history_) == 2
    assert fitted(two_classes(), "--epochs", 3, "--resume")[1].code == 0


def test_only_the_interrupted_training_of_the_same_table_is_resumed(fitted, mcquack, table, interrupted_after):
    _, outcome = fitted(two_classes(), "--resume")
    assert outcome.code == 1
    path, _ = fitted(two_classes())
    _, outcome = fitted(two_classes(), "--resume")
    assert outcome.code == 1
    assert "was finished" in outcome.err
    with interrupted_after(1):
        fitted(two_classes(), "--epochs", 8, "--force")
    before = path.read_bytes()
    _, outcome = fitted(two_classes().replace("red", "pink"), "--resume")
    assert outcome.code == 1
    assert "same table" in outcome.err
    assert path.read_bytes() == before


# Datasets by name.


FAST = ("--epochs", 2, "--qubits", 2)


@pytest.fixture
def fit(mcquack, tmp_path, monkeypatch):
    """Fits a small model to what has this name, in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(data, *options):
        return mcquack("fit", data, "--out", "m.mcq", *FAST, *options)

    return run


def squares(seed):
    """Pictures in three parts."""
    y = np.repeat([0, 1], 20)
    X = np.random.default_rng(0).integers(0, 100, (40, 2, 2)) + 150 * y[:, None, None]
    names = ("dark", "bright")
    return from_arrays(X.astype(np.uint8), y, validation=0.25, test=0.25, seed=seed, class_names=names)


@pytest.fixture
def requests(monkeypatch):
    """Registers the squares for the length of a test, and collects what they are asked for."""
    collected = []
    monkeypatch.setattr(registry, "registered", {})
    description = Description(
        name="squares",
        title="Squares",
        task="bright or dark",
        class_names=("dark", "bright"),
        n_features=4,
        image_shape=(2, 2),
        sizes={"train": 20, "validation": 10, "test": 10},
    )

    @register(description)
    def _(request):
        collected.append(request)
        return squares(request.seed)

    return collected


def test_the_model_of_a_dataset_is_the_one_the_estimator_would_make(fit, requests, tmp_path):
    outcome = fit("squares", "--seed", 5, "--data-dir", ".")
    assert outcome.code == 0
    assert "Training on 20 rows, 10 kept back to validate, 10 to test; 4 features, 2 classes." in outcome.err
    assert "test (10 rows)" in outcome.out
    assert "validation accuracy" in outcome.err
    (request,) = requests
    assert request.places.data_dir.samefile(tmp_path)
    dataset = squares(5)
    expected = McQuackClassifier(n_qubits=2, epochs=2, random_state=5)
    expected.fit(*dataset.train, validation_data=dataset.validation)
    np.testing.assert_array_equal(McQuackClassifier.load("m.mcq").weights_, expected.weights_)


@pytest.mark.usefixtures("requests")
def test_classes_are_shown_by_label_and_name(fit, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    shown = fit("squares").out
    assert "recall of 0 (dark)" in shown
    assert "recall of 1 (bright)" in shown


@pytest.mark.usefixtures("requests")
def test_while_it_trains_classes_have_their_own_names(fit, monkeypatch):
    named = []
    monkeypatch.setattr("mcquack.cli.fit.shown", lambda rows, *, names, **_: named.append(names) or rows)  # type: ignore[func-returns-value]
    assert fit("squares").code == 0
    assert named == [{0: "dark", 1: "bright"}]


@pytest.mark.usefixtures("requests")
def test_exported_samples_are_labelled_like_those_in_memory(fit, mcquack):
    assert fit("squares").code == 0
    assert mcquack("datasets", "export", "squares", "--out", "squares").code == 0
    predicted = mcquack("predict", "m.mcq", "squares/test.csv")
    assert (predicted.code, predicted.err) == (0, "Accuracy on the 10 rows with a label in 'label': 1.000.\n")
    expected = McQuackClassifier.load("m.mcq").predict(squares(0).test.X)
    assert [int(row["prediction"]) for row in predicted.rows] == expected.tolist()


@pytest.mark.usefixtures("requests")
def test_training_is_resumed_on_the_same_draw_only(fit, interrupted_after):
    with interrupted_after(1):
        assert fit("squares").code == 130
    refused = fit("squares", "--resume", "--seed", 1)
    assert refused.code == 1
    assert "not the samples" in refused.err
    assert fit("squares", "--resume").code == 0


@pytest.mark.parametrize(("name", "note"), [("linearly_separable_4", False), ("iris3", True)])
def test_without_a_validation_part_of_its_own_one_is_drawn_from_the_training_part(fit, name, note):
    dataset = load(name)
    assert dataset.test is not None
    n_held = int(held_out(dataset.train.y, fraction=0.4, seed=0).sum())
    outcome = fit(name, "--validation", 0.4)
    assert outcome.code == 0
    assert f"Training on {len(dataset.train.y) - n_held} rows, {n_held} kept back to validate" in outcome.err
    assert ("validates and tests on the same samples" in outcome.err) == note
    outcome = fit(name, "--validation", 0, "--force")
    assert f"Training on {len(dataset.train.y)} rows, {len(dataset.test.y)} to test" in outcome.err
    assert "validation" not in outcome.out


def test_a_fixed_dataset_takes_a_seed_for_the_model(fit):
    assert fit("linearly_separable_4", "--seed", 3).code == 0


def test_a_file_that_exists_wins_and_a_folder_does_not(fit, table, tmp_path):
    (tmp_path / "iris3").mkdir()
    assert fit("iris3").code == 0
    (tmp_path / "iris3").rmdir()
    table(two_classes(), "iris3")
    outcome = fit("iris3", "--target", "label", "--force")
    assert outcome.code == 1
    assert "expected a CSV" in outcome.err


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("irs3", "there is no file 'irs3', and no dataset is named 'irs3'; did you mean iris3"),
        ("iris3.csv", "No such file or directory: iris3.csv"),
        ("./iris3", "expected a CSV"),
    ],
)
def test_what_is_neither_file_nor_dataset_is_told(fit, data, message):
    outcome = fit(data, *([] if data == "irs3" else ["--target", "label"]))
    assert outcome.code == 1
    assert message in outcome.err
    assert outcome.err.count("\n") == 1


@pytest.mark.parametrize(
    "options",
    [
        ["--target", "label"],
        ["--missing", "mean"],
        ["--missing-target", "error"],
        ["--numeric", "x0"],
        ["--categorical", "x0"],
        ["--ignore", "x0"],
    ],
)
def test_options_for_tables_are_wrong_usage_with_a_dataset(fit, options):
    outcome = fit("iris3", *options)
    assert outcome.code == 2
    assert options[0] in outcome.err


@pytest.mark.parametrize("options", [[], ["--target", "label", "--data-dir", "."]])
def test_a_table_needs_a_target_and_no_data_dir(fit, table, options):
    assert fit(table(two_classes()), *options).code == 2


def test_a_map_by_its_name_is_learned_shown_and_used(fitted, mcquack, table):
    content = two_classes()
    model, outcome = fitted(content, "--feature-map", "iqp", "--repetitions", 1)
    assert outcome.code == 0
    assert load_model(model).feature_map_.counts["rzz"] > 0
    assert mcquack("predict", model, table(content)).code == 0
    shown = mcquack("info", model)
    assert "gates; " in shown.out
    assert "feature_map='iqp'" in shown.out
    assert json.loads(mcquack("info", model, "--json").out)["circuit"]["n_layers"] is None


def test_a_map_that_nobody_knows_is_told(fitted):
    _, outcome = fitted(two_classes(), "--feature-map", "iqq")
    assert outcome.code != 0
    assert "did you mean iqp?" in outcome.err


# Models other than McQuack.

QUICK = {"epochs": 2, "max_iter": 2, "max_steps": 100, "n_qubits": 2}


def quick(name):
    """Settings with which a model is fitted in a moment, for the command line."""
    known = catalog.entry(name).defaults()
    return [word for key, value in QUICK.items() if key in known for word in ("--setting", f"{key}={value}")]


@pytest.fixture
def train(mcquack, table, tmp_path):
    """Fits any model to a table and gives the path of the model file and the outcome."""

    def run(model, *options):
        path = tmp_path / "model.mcq"
        data = table(two_classes(), "train.csv")
        return path, mcquack("fit", data, "--target", "label", "--out", path, "--model", model, *options)

    return run


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", catalog.names())
def test_every_model_is_fitted_shown_and_used(train, mcquack, table, name):
    path, outcome = train(name, *quick(name), "--seed", 3)
    assert outcome.code == 0, outcome.err
    assert "recall of high" in outcome.out
    assert "validation (2 rows)" in outcome.out
    model = load_model(path)
    assert type(model) is catalog.entry(name).estimator_class()
    assert model.random_state == 3
    assert f"{model.n_parameters_:,} parameters" in outcome.out
    shown = mcquack("info", path)
    assert shown.code == 0
    assert f"a {type(model).__name__}" in shown.out
    assert f"{model.n_parameters_:,}" in shown.out
    facts = json.loads(mcquack("info", path, "--json").out)
    assert (facts["settings"]["random_state"], facts["n_parameters"]) == (3, model.n_parameters_)
    assert (facts["circuit"] is not None) == hasattr(model, "feature_map_")
    new = table("x,colour\n0.1,red\n5.2,blue\n")
    X = [[0.1, 1.0], [5.2, 0.0]]
    assert [row["prediction"] for row in mcquack("predict", path, new).rows] == model.predict(X).tolist()
    shares = mcquack("predict", path, new, "--proba")
    assert shares.code == (0 if hasattr(model, "predict_proba") else 1)
    assert hasattr(model, "predict_proba") or "--proba" in shares.err


@pytest.mark.parametrize("name", ["svc", "nn", "vc", "kernel_alignment"])
def test_it_is_the_model_that_the_estimator_would_make(train, mcquack, name):
    path, _ = train(name, *quick(name), "--validation", 0, "--seed", 3)
    found, entry = load_model(path), catalog.entry(name)
    X = np.array([[float(row.split(",")[0]), row.split(",")[1] == "red"] for row in two_classes().splitlines()[1:]])
    y = [row.split(",")[2] for row in two_classes().splitlines()[1:]]
    settings = {key: value for key, value in QUICK.items() if key in entry.defaults()}
    expected = entry.new(**settings, random_state=3).fit(X, y)
    assert found.get_params() == expected.get_params()
    np.testing.assert_array_equal(found.decision_function(X), expected.decision_function(X))


def test_validation_data_are_for_models_that_take_them(train):
    _, variational = train("vc", *quick("vc"))
    assert "validation accuracy" in variational.err
    _, aligned = train("kernel_alignment", *quick("kernel_alignment"), "--force")
    assert "validation accuracy" not in aligned.err
    assert "validation (2 rows)" in aligned.out


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("C=10", "C", 10),
        ("C = 0.5", "C", 0.5),
        ("gamma=scale", "gamma", "scale"),
        ('gamma="scale"', "gamma", "scale"),
        ("gamma='scale'", "gamma", "scale"),
        ("scale=false", "scale", False),
        ("scale=False", "scale", False),
        ("hidden_layer_sizes=[5, 4]", "hidden_layer_sizes", (5, 4)),
        ("hidden_layer_sizes=(5, 4)", "hidden_layer_sizes", (5, 4)),
        ("patience=None", "patience", None),
        ("feature_map=iqp", "feature_map", "iqp"),
        ("class_weight={low = 1.0, high = 2.0}", "class_weight", {"low": 1.0, "high": 2.0}),
        ("note=2024-01-01", "note", "2024-01-01"),
        ("note=a=b", "note", "a=b"),
        ("note=1\nother = 2", "note", "1\nother = 2"),
    ],
)
def test_values_are_those_of_toml_or_python_or_plain_texts(text, name, value):
    found = fit_module.named_value(text)
    assert found == (name, value)
    assert type(found[1]) is type(value)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_any_setting_can_be_given(train):
    sizes = "hidden_layer_sizes=[4, 3]"
    path, outcome = train(
        "mlp", "--setting", sizes, "--setting", "max_iter=2", "--setting", "activation=tanh", "--scale"
    )
    assert outcome.code == 0
    model = load_model(path)
    assert (model.hidden_layer_sizes_, model.activation, model.scale) == ((4, 3), "tanh", True)


def test_options_for_settings_are_passed_on_to_models_that_have_them(train):
    options = ("--epochs", 3, "--qubits", 2, "--repetitions", 1, "--class-weight", "balanced", "--no-scale")
    path, outcome = train("vc", *options)
    assert outcome.code == 0
    model = load_model(path)
    found = (model.epochs, model.n_qubits, model.n_repetitions, model.class_weight, model.scale)
    assert found == (3, 2, 1, "balanced", False)


def test_presets_are_for_models_that_have_all_their_settings(train):
    path, outcome = train("quack", "--preset", "qml", "--epochs", 2, "--qubits", 2)
    assert outcome.code == 0
    assert load_model(path).init_strategy == "wx+b=0"
    _, refused = train("vc", "--preset", "qml", "--force")
    assert refused.code == 2
    assert "--preset" in refused.err
    assert "epochs_co" in refused.err


def words(text):
    """What is told in a box, without its lines."""
    return " ".join(text.replace("│", " ").split())


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        ("svc", ["--epochs", "3"], "svc has no setting 'epochs'; mcquack models show svc lists those that it has"),
        ("svc", ["--qubits", "3"], "svc has no setting 'n_qubits'"),
        ("svc", ["--repetitions", "3"], "svc has no setting 'n_repetitions'"),
        ("nn", ["--feature-map", "iqp"], "nn has no setting 'feature_map'"),
        ("svc", ["--class-weight", "balanced"], "svc has no setting 'class_weight'"),
        ("svc", ["--resume"], "the training of svc cannot go on after a break"),
        ("vc", ["--resume"], "the training of vc cannot go on after a break"),
        ("svc", ["--setting", "C"], "write NAME=VALUE, as C=10, in place of 'C'"),
        ("svc", ["--setting", "=3"], "write NAME=VALUE, as C=10, in place of '=3'"),
        ("vc", ["--epochs", "3", "--setting", "epochs=4"], "epochs is given by --epochs already; keep one"),
        ("svc", ["--setting", "C=1", "--setting", "C=2"], "C is given by --setting already"),
        ("svc", ["--seed", "2", "--setting", "random_state=1"], "random_state is given by --seed already"),
    ],
)
def test_options_that_a_model_does_not_have_are_wrong_usage(train, monkeypatch, model, options, message):
    monkeypatch.setenv("COLUMNS", "200")
    path, refused = train(model, *options)
    assert refused.code == 2
    assert message in words(refused.err)
    assert not path.exists()


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        ("scv", [], "no model is named 'scv'; did you mean svc"),
        ("mcquack", ["--setting", "lr_kao=0.1"], "mcquack has no setting 'lr_kao'; did you mean lr_ka or lr_co?"),
        ("svc", ["--setting", "zzz=1"], "svc has no setting 'zzz'; mcquack models show svc lists them."),
        ("svc", ["--setting", "C=-1"], "C must be a positive number, got -1"),
        ("vc", ["--setting", "n_qubits=many"], "n_qubits must be"),
    ],
)
def test_what_a_model_refuses_is_told_in_a_line(train, model, options, message):
    path, refused = train(model, *options)
    assert refused.code == 1
    assert message in refused.err
    assert "Traceback" not in refused.err
    assert not path.exists()


def test_an_interrupted_model_that_cannot_be_resumed_is_kept_all_the_same(train, interrupted_after):
    with interrupted_after(1):
        path, outcome = train("vc", *quick("vc"))
    assert outcome.code == 130
    assert "the model so far is in" in outcome.err
    assert "--resume" not in outcome.err
    assert load_model(path).n_iter_ == 1


def test_an_interrupt_of_what_is_fitted_in_one_go_writes_nothing(train, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(catalog.entry("svc").estimator_class(), "fit", interrupted)
    path, outcome = train("svc")
    assert outcome.code == 130
    assert "interrupted before the training was done; nothing was written" in outcome.err
    assert not path.exists()


def test_another_model_is_not_resumed(train, interrupted_after):
    with interrupted_after(1):
        path, _ = train("quack", "--epochs", 8, "--qubits", 2)
    _, refused = train("mcquack", "--resume")
    assert refused.code == 1
    assert "holds a QuackClassifier, not the McQuackClassifier of --model mcquack" in refused.err
    assert train("quack", "--resume")[1].code == 0
    assert load_model(path).n_iter_ == 8


@pytest.fixture
def stepping(monkeypatch):
    """The name of a model of the catalogue that counts its training in steps."""
    home = "tests.cli.stepping:Stepping"
    entry = catalog.Entry(name="stepping", title="Stepping", kind="quantum", home=home, description="Steps.")
    listed = (*catalog.entries(), entry)
    monkeypatch.setattr(catalog, "_entries", lambda: listed)
    return entry.name


def test_a_model_that_trains_in_steps_is_shown_interrupted_and_resumed(train, mcquack, stepping, interrupted_after):
    path, outcome = train(stepping)
    assert outcome.code == 0
    assert [line.split(":")[0] for line in outcome.err.splitlines() if line.startswith("step")] == [
        f"step {count}/500" for count in (100, 200, 300, 400, 500)
    ]
    assert "500 steps" in outcome.out
    _, refused = train(stepping, "--resume")
    assert "was finished" in refused.err
    with interrupted_after(2):
        _, outcome = train(stepping, "--force")
    assert outcome.code == 130
    assert "The same command with --resume goes on." in outcome.err
    assert load_model(path).training_state_ == 200
    shown = mcquack("info", path)
    assert "training    200 steps" in shown.out
    told = json.loads(mcquack("info", path, "--json").out)
    assert (told["n_steps"], told["n_epochs"]) == (200, None)
    _, outcome = train(stepping, "--resume")
    assert outcome.code == 0
    assert "step 300/500: loss 0.3333" in outcome.err
    assert "step 200/500" not in outcome.err
    assert load_model(path).n_iter_ == 500
    assert not hasattr(load_model(path), "training_state_")


def test_starts_are_counted_together_also_after_a_break(train, interrupted_after):
    options = ("--epochs", 4, "--qubits", 2, "--setting", "n_starts=3", "--setting", "patience=9")
    with interrupted_after(6):
        path, outcome = train("mcquack", *options)
    assert outcome.code == 130
    _, refused = train("mcquack", "--resume", "--epochs", 3)
    assert "has had 4 epochs already" in refused.err
    _, outcome = train("mcquack", *options, "--resume")
    assert outcome.code == 0, outcome.err
    assert [line.split(",")[0] for line in outcome.err.splitlines() if line.startswith("epoch")] == [
        *(f"epoch {count}/12: start 2 of 3" for count in (7, 8)),
        *(f"epoch {count}/12: start 3 of 3" for count in (9, 10, 11, 12)),
    ]
    assert load_model(path).n_iter_ == 12


def test_a_model_that_yields_no_epochs_tells_of_them_all_the_same(train):
    path, outcome = train("kernel_alignment", "--epochs", 2, "--qubits", 2)
    assert outcome.code == 0, outcome.err
    assert [line.split(":")[0] for line in outcome.err.splitlines() if line.startswith("epoch")] == [
        "epoch 1/2",
        "epoch 2/2",
    ]
    assert load_model(path).verbose == 0


def test_its_steps_are_written_while_it_trains(train, stepping, monkeypatch):
    saves = []
    monkeypatch.setattr(Checkpoints, "seconds_between", -1.0)
    monkeypatch.setattr(Stepping, "save", lambda self, path, *, resumable, extra: saves.append(resumable))
    train(stepping, "--setting", "max_steps=200")
    assert saves == [True, True, False]


def test_categories_and_notations_go_with_the_model(fitted, mcquack, table):
    rows = [(f"1.00{index},5", f"0{index}.02.2020", "red", "low") for index in range(1, 7)]
    rows += [(f"9.00{index},5", f"0{index}.03.2021", "blue", "high") for index in range(1, 7)]
    content = "\n".join("\t".join(row) for row in [("x", "day", "colour", "label"), *rows])
    told = ("--decimal", ",", "--thousands", ".", "--date-format", "%d.%m.%Y", "--one-hot")
    model, outcome = fitted(content, *told)
    assert outcome.code == 0, outcome.err
    assert "4 features" in outcome.err
    predicted = mcquack("predict", model, table("colour;day;x\nblue;01.03.2021;9.002,5\nred;2020-02-01;1.002,5\n"))
    assert [row["prediction"] for row in predicted.rows] == ["high", "low"]
    info = mcquack("info", model).out
    assert "3 columns as 4 features" in info
    assert "thousands '.'" in info


@pytest.mark.filterwarnings("default::mcquack.errors.NotationWarning")
def test_what_looks_like_a_number_is_told_with_the_options_of_the_command(mcquack, table, tmp_path):
    content = "x\tlabel\n" + "".join(f"{1 + index % 3}.000,5\t{'ab'[index % 2]}\n" for index in range(12))
    arguments = ["fit", table(content), "--target", "label", "--out", tmp_path / "m.mcq", "--model", "svc"]
    told = mcquack(*arguments)
    assert told.code == 0
    assert "--decimal ',' and --thousands '.'" in told.err
    refused = mcquack(*arguments, "--force", "--decimal", "x")
    assert refused.code == 1
    assert "--decimal must be one of" in refused.err
