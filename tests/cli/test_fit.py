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
from mcquack.datasets import Description, from_arrays, load, register, registry
from mcquack.datasets.dataset import held_out
from mcquack.models import McQuackClassifier
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
    assert f"the best model so far is in {model}" in outcome.err
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


def test_it_is_finished_and_cannot_be_resumed(fitted):
    fitted(two_classes(), "--epochs", 0)
    _, outcome = fitted(two_classes(), "--resume")
    assert outcome.code == 1
    assert "was finished" in outcome.err


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
    monkeypatch.setattr(fit_module, "_SECONDS_BETWEEN_SAVES", -1.0)
    save = McQuackClassifier.save
    monkeypatch.setattr(
        McQuackClassifier, "save", lambda self, *args, **kw: (saves.append(kw["resumable"]), save(self, *args, **kw))
    )
    fitted(two_classes(), "--epochs", 3)
    assert saves == [True, True, True, False]


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
    monkeypatch.setattr(registry, "_own", {})
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
def test_exported_samples_are_labelled_like_those_in_memory(fit, mcquack):
    assert fit("squares").code == 0
    assert mcquack("datasets", "export", "squares", "--out", "squares").code == 0
    predicted = mcquack("predict", "m.mcq", "squares/test.csv")
    assert (predicted.code, predicted.err) == (0, "")
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
