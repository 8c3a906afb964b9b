import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier

from mcquack import datasets
from mcquack.bench import samples as module
from mcquack.bench.samples import estimator_class, new_model, samples, title, without_test
from mcquack.bench.task import TEST, VALIDATION, Split, TableSource, Task
from mcquack.errors import InvalidInputError
from tests.known import known

FOLD = Split(kind="fold", fold=1, n_folds=5)


@pytest.fixture(autouse=True)
def _forget_datasets():
    module._development.cache_clear()
    module._test.cache_clear()


def task(dataset="hidden_manifold_4", **fields):
    return Task(dataset=dataset, model="svc", **fields)


def test_folds_are_those_of_the_suite():
    X, y = datasets.load("hidden_manifold_4").train
    inner, outer = list(StratifiedKFold(n_splits=5).split(X, y))[1]
    found = samples(task(split=FOLD))
    np.testing.assert_array_equal(found.train.X, X[inner])
    np.testing.assert_array_equal(found.scored["validation"].y, y[outer])
    assert set(found.scored) == {"train", "validation"}


def test_folds_share_no_sample_and_leave_none_out():
    n_samples = len(datasets.load("hidden_manifold_4").train.y)
    held_out = [samples(task(split=replace(FOLD, fold=fold))).scored["validation"].X for fold in range(5)]
    assert len(np.unique(np.concatenate(held_out), axis=0)) == n_samples


def test_a_cut_fold_has_the_sizes_asked_for_and_the_same_samples_every_time():
    cut = replace(FOLD, n_train=50, n_validation=20)
    first, second = samples(task(split=cut)), samples(task(split=cut))
    assert (len(first.train.y), len(first.scored["validation"].y)) == (50, 20)
    np.testing.assert_array_equal(first.train.X, second.train.X)
    whole = samples(task(split=FOLD))
    assert {tuple(row) for row in first.train.X} <= {tuple(row) for row in whole.train.X}


def test_a_cut_that_is_larger_than_the_fold_changes_nothing():
    whole, cut = samples(task(split=FOLD)), samples(task(split=replace(FOLD, n_train=10**6, n_validation=10**6)))
    np.testing.assert_array_equal(whole.train.X, cut.train.X)


def test_development_has_no_test_part():
    kept = without_test(datasets.load("pm2_generated"))
    assert kept.test is None
    assert set(kept.parts) == {"train", "validation"}


@pytest.mark.parametrize("split", [FOLD, VALIDATION])
def test_no_sample_of_the_test_part_reaches_a_search(split):
    whole = datasets.load("pm2_generated")
    found = samples(task("pm2_generated", split=split))
    seen = {row.tobytes() for part in (found.train, *found.scored.values()) for row in part.X}
    assert not seen & {row.tobytes() for row in known(whole.test).X}
    assert found.stopping is None or not {row.tobytes() for row in found.stopping.X} & {
        row.tobytes() for row in known(whole.test).X
    }


def test_a_validation_part_that_is_the_test_part_is_neither_searched_on_nor_stopped_by():
    with pytest.raises(InvalidInputError, match="search on folds"):
        samples(task("iris3", split=VALIDATION))
    assert samples(task("iris3", split=TEST)).stopping is None


@pytest.mark.parametrize("split", [FOLD, VALIDATION, TEST])
def test_features_are_scaled_by_what_the_task_trains_on_and_nothing_else(split):
    raw, scaled = (samples(task("pm2_generated", split=split, scaled=each)) for each in (False, True))
    low, span = raw.train.X.min(axis=0), np.ptp(raw.train.X, axis=0)
    span[span == 0] = 1
    for part, other in zip((raw.train, *raw.scored.values()), (scaled.train, *scaled.scored.values()), strict=True):
        np.testing.assert_allclose(other.X, (part.X - low) / span, atol=1e-6)
        np.testing.assert_array_equal(other.y, part.y)
    assert (raw.stopping is None) == (scaled.stopping is None)
    if raw.stopping is not None:
        np.testing.assert_allclose(known(scaled.stopping).X, (raw.stopping.X - low) / span, atol=1e-6)
    assert scaled.fingerprint == raw.fingerprint  # the same dataset


def test_a_table_is_read_with_its_options(tmp_path):
    path = tmp_path / "pets.csv"
    rows = [f"{i},{'' if i == 3 else i % 4},{i % 7},{'ab'[i % 2]}" for i in range(40)]
    path.write_text("\n".join(["id,legs,colour,kind", *rows]) + "\n")
    table = TableSource.of(path, target="kind", ignore=["id"], missing="median", categorical=["colour"])
    found = samples(task("pets", table=table)).dataset
    same = datasets.load_csv(path, target="kind", test=0.2, ignore=["id"], missing="median", categorical=["colour"])
    assert found.feature_names == same.feature_names
    assert "id" not in found.feature_names
    np.testing.assert_array_equal(found.train.X, same.train.X)


def test_numbers_and_dates_of_a_table_are_read_as_its_owner_writes_them(tmp_path):
    path = tmp_path / "sales.csv"
    rows = [f"1.0{i:02d},5;{i % 28 + 1:02d}.02.2024;{'abc'[i % 3]};{'pq'[i % 2]}" for i in range(40)]
    path.write_text("\n".join(["price;day;shop;kind", *rows]) + "\n")
    options: dict[str, Any] = {"decimal": ",", "thousands": ".", "date_format": "%d.%m.%Y", "one_hot": True}
    found = samples(task("sales", table=TableSource.of(path, target="kind", **options)))
    same = datasets.load_csv(path, target="kind", test=0.2, name="sales", **options)
    assert found.dataset.feature_names == same.feature_names
    assert len(same.feature_names) == 5
    assert found.fingerprint == same.fingerprint
    np.testing.assert_array_equal(found.train.X, same.train.X)
    plain = TableSource.of(path, target="kind", categorical=["price", "day"])
    assert samples(task("sales", table=plain)).fingerprint != found.fingerprint


def test_the_final_fit_sees_all_parts_in_their_roles():
    whole = datasets.load("pm2_generated")
    found = samples(task("pm2_generated", split=TEST))
    for mine, other in [
        (found.train, whole.train),
        (found.stopping, whole.validation),
        (found.scored["test"], whole.test),
    ]:
        np.testing.assert_array_equal(known(mine).X, known(other).X)
    assert found.fingerprint == whole.fingerprint


def test_the_seed_of_the_data_draws_other_samples():
    first, second = (samples(task("manifold", split=TEST, data_seed=seed)).fingerprint for seed in (0, 1))
    assert first != second


def test_a_fixed_dataset_is_the_same_for_every_seed():
    first, second = (samples(task(split=TEST, data_seed=seed)).fingerprint for seed in (0, 1))
    assert first == second


def test_a_table_is_a_dataset(tmp_path):
    path = tmp_path / "flowers.csv"
    path.write_text("a,b,y\n" + "".join(f"{i},{i % 7},{'pq'[i % 2]}\n" for i in range(40)))
    source = TableSource.of(path, target="y", validation=0.2, test=0.2)
    found = samples(task("flowers", table=source, split=VALIDATION))
    assert len(found.scored["validation"].y) == 8
    path.write_text("a,b,y\n1,2,p\n")
    module._development.cache_clear()
    with pytest.raises(InvalidInputError, match="has changed"):
        samples(task("flowers", table=source, split=VALIDATION))


def test_a_category_of_the_test_part_alone_changes_no_training_sample(tmp_path):
    found = []
    for name, colour in (("plain", "red"), ("odd", "green")):
        path = tmp_path / f"{name}.csv"
        rows = [[str(i % 7), "blue" if i % 3 else "red", "pq"[i % 2]] for i in range(40)]
        tested = set(_rows_of_the_test_part(tmp_path, rows))
        rows[min(tested)][1] = colour
        path.write_text("a,colour,y\n" + "".join(f"{','.join(row)}\n" for row in rows))
        found.append(samples(task(name, table=TableSource.of(path, target="y", test=0.2), split=FOLD)))
    np.testing.assert_array_equal(found[0].train.X, found[1].train.X)


def _rows_of_the_test_part(folder, rows):
    """Their positions, found by a column that numbers them."""
    path = folder / "numbered.csv"
    path.write_text("n,y\n" + "".join(f"{n},{row[-1]}\n" for n, row in enumerate(rows)))
    whole = datasets.load_csv(path, target="y", test=0.2)
    return known(whole.test).X[:, 0].astype(int).tolist()


def test_a_share_that_leaves_nothing_to_judge_on_is_refused(tmp_path):
    path = tmp_path / "flowers.csv"
    path.write_text("a,y\n1,p\n")
    for shares in ({"test": 0.0}, {"test": 1.0}, {"validation": -0.1}, {"test": 0.5, "validation": 0.5}):
        with pytest.raises(InvalidInputError, match="must be"):
            TableSource.of(path, target="y", **shares)
    assert TableSource.of(path, target="y", validation=0) == TableSource.of(path, target="y", validation=0.0)


def test_a_table_that_is_not_here_and_a_module_that_is_not_there_are_told(tmp_path):
    path = tmp_path / "flowers.csv"
    path.write_text("a,y\n1,p\n")
    gone = TableSource.of(path, target="y")
    path.unlink()
    with pytest.raises(InvalidInputError, match=re.escape(str(path))):
        samples(task("flowers", table=gone, split=TEST))
    with pytest.raises(InvalidInputError, match="PYTHONPATH"):
        samples(task("no_such_module:flowers", split=TEST))


def test_a_module_may_bring_its_own_datasets(tmp_path, monkeypatch):
    (tmp_path / "my_data.py").write_text(
        "import numpy as np\n"
        "from mcquack import datasets\n"
        "X = np.arange(40.0).reshape(20, 2)\n"
        "y = np.arange(20) % 2\n"
        "about = datasets.Description(name='brought', title='B', task='t', class_names=('0', '1'), n_features=2,\n"
        "                             sizes={'train': 20, 'test': 4}, is_seeded=False)\n"
        "@datasets.register(about)\n"
        "def build(request):\n"
        "    return datasets.from_parts((X, y), test=(X[:4] + 0.5, y[:4]))\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert len(samples(task("my_data:brought", split=TEST)).scored["test"].y) == 4


def test_only_few_datasets_are_held_at_a_time():
    for size in range(2, 9):
        samples(task(f"hidden_manifold_{size}", split=FOLD))
    assert module._development.cache_info().currsize <= 2


def test_a_label_changes_the_name_of_a_model_and_nothing_else():
    assert (title("svc"), title("svc/wide"), title("sklearn.svm:SVC/wide")) == ("SVC", "SVC wide", "SVC wide")
    assert estimator_class("svc/wide") is estimator_class("svc")
    assert new_model("svc/wide", {"C": 3.0}, seed=0).get_params() == new_model("svc", {"C": 3.0}, seed=0).get_params()
    assert new_model("sklearn.svm:SVC/wide", {"C": 3.0}, seed=0).C == 3.0


def made_here() -> KNeighborsClassifier:
    return KNeighborsClassifier()


def promised_here() -> int:
    raise AssertionError("it was called")


def called_here():
    raise AssertionError("it was called")


@pytest.mark.parametrize(
    "name",
    [
        "subprocess:Popen",
        "os:system",
        "builtins:exec",
        "sklearn.linear_model:LinearRegression",
        "sklearn.preprocessing:StandardScaler",
        "sklearn:svm",
        f"{__name__}:promised_here",
        f"{__name__}:called_here",
    ],
)
def test_what_is_no_classifier_is_refused_and_never_called(name):
    with pytest.raises(InvalidInputError, match=re.escape(repr(name))):
        new_model(name, {"args": ["true"]}, seed=0)


def test_a_function_may_make_a_classifier_if_it_says_so():
    assert isinstance(new_model(f"{__name__}:made_here", {}, seed=0), KNeighborsClassifier)


@pytest.mark.parametrize("name", [".os:system", ":x", "no\0module:x", "sklearn.svm:"])
def test_names_that_cannot_be_imported_are_refused(name):
    with pytest.raises(InvalidInputError):
        estimator_class(name)
