import numpy as np
import pytest

from mcquack.cli import fit as fit_module
from mcquack.datasets import Description, load, register, registry
from mcquack.datasets.dataset import held_out
from mcquack.datasets.own import from_arrays
from mcquack.models import McQuackClassifier
from tests.cli.tables import two_classes

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


def test_the_model_is_the_one_the_estimator_would_make(fit, requests, tmp_path):
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
def test_training_is_resumed_on_the_same_draw_only(fit, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(fit_module, "shown", _interrupted_after_one)
        assert fit("squares").code == 130
    refused = fit("squares", "--resume", "--seed", 1)
    assert refused.code == 1
    assert "not the samples" in refused.err
    assert fit("squares", "--resume").code == 0


def _interrupted_after_one(epochs, **_):
    yield next(epochs)
    raise KeyboardInterrupt


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
