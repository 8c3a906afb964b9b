import hashlib
import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcquack.bench.task import TEST, VALIDATION, Split, TableSource, Task, short_names
from mcquack.errors import InvalidInputError
from mcquack.numerics import NUMERICS

VALUES = st.one_of(
    st.booleans(),
    st.integers(-(10**6), 10**6),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
    st.lists(st.integers(0, 9), max_size=3).map(tuple),
)
SETTINGS = st.dictionaries(st.text(min_size=1, max_size=8), VALUES, max_size=5)
SPLITS = st.one_of(
    st.just(TEST),
    st.just(VALIDATION),
    st.integers(2, 9).flatmap(
        lambda n: st.builds(
            Split,
            kind=st.just("fold"),
            fold=st.integers(0, n - 1),
            n_folds=st.just(n),
            n_train=st.none() | st.integers(1, 999),
        )
    ),
)
TABLE = TableSource(path=Path("a.csv"), digest="0" * 64, target="y")


def task(**fields):
    return Task(**{"dataset": "iris3", "model": "svc", **fields})


@given(settings=SETTINGS, split=SPLITS, seed=st.integers(0, 99))
def test_a_task_is_what_was_written_of_it(settings, split, seed):
    made = Task.of("iris3", "svc", settings, split=split, seed=seed, table=TABLE)
    back = Task.from_json(json.loads(json.dumps(made.to_json())))
    assert back == made
    assert back.id == made.id
    assert pickle.loads(pickle.dumps(made)).id == made.id


@given(settings=SETTINGS)
def test_the_order_of_settings_does_not_matter(settings):
    turned = dict(reversed(settings.items()))
    assert Task.of("iris3", "svc", settings).id == Task.of("iris3", "svc", turned).id


def test_every_field_counts():
    tasks = [
        task(),
        task(dataset="url"),
        task(model="nn"),
        task(seed=1),
        task(data_seed=1),
        task(settings=(("C", 1.0),)),
        task(settings=(("C", 2.0),)),
        task(split=VALIDATION),
        task(split=Split(kind="fold", fold=0, n_folds=5)),
        task(split=Split(kind="fold", fold=1, n_folds=5)),
        task(split=Split(kind="fold", fold=0, n_folds=5, n_train=500, n_validation=250)),
        task(table=TABLE),
        task(table=replace(TABLE, ignore=("id",))),
        task(table=replace(TABLE, missing="median")),
        task(table=replace(TABLE, missing_target="error")),
        task(table=replace(TABLE, numeric=("id",))),
        task(table=replace(TABLE, categorical=("id",))),
        task(table=replace(TABLE, one_hot=("id",))),
        task(table=replace(TABLE, one_hot=True)),
        task(table=replace(TABLE, decimal=",")),
        task(table=replace(TABLE, decimal=",", thousands=".")),
        task(table=replace(TABLE, date_format="%d.%m.%Y")),
        task(auc_scores="normalised"),
        task(scaled=True),
    ]
    assert len({made.id for made in tasks}) == len(tasks)


def test_where_a_table_lies_does_not_matter_but_its_bytes_do(tmp_path):
    first, second, other = (tmp_path / name for name in ("a.csv", "b.csv", "c.csv"))
    first.write_text("x,y\n1,a\n")
    second.write_text("x,y\n1,a\n")
    other.write_text("x,y\n2,a\n")
    ids = [task(table=TableSource.of(path, target="y")).id for path in (first, second, other)]
    assert ids[0] == ids[1] != ids[2]


def test_an_id_stays_what_it_was_in_stores_that_exist():
    made = Task.of("iris3", "svc", {"gamma": 0.1, "C": 100.0}, split=Split(kind="fold", fold=2, n_folds=5), seed=3)
    assert made.id == "d2733d3f25cc73dd"
    assert task(table=TABLE).id == "78d599c944edf80c"
    assert task(model="sklearn.svm:SVC").id == "c2e2648b4a4f513b"


def test_options_of_a_table_are_written_where_they_are_not_the_default():
    assert set(task(table=TABLE).to_json()["table"]) == {"path", "digest", "target", "validation", "test"}
    made = task(table=replace(TABLE, ignore=("b", "a", "b"), missing="drop"))
    assert made.to_json()["table"]["ignore"] == ["a", "b"]
    assert made.id == task(table=replace(TABLE, ignore=("a", "b"), missing="drop")).id
    assert Task.from_json(json.loads(json.dumps(made.to_json()))) == made
    with pytest.raises(InvalidInputError, match=r"missing .*mean"):
        replace(TABLE, missing="guess")  # type: ignore[arg-type]


def test_no_column_of_categories_is_spread_by_an_empty_list_and_no_text_is_taken_for_names():
    empty: Any = []
    assert replace(TABLE, one_hot=()) == replace(TABLE, one_hot=empty) == TABLE
    made = task(table=replace(TABLE, one_hot=("b", "a", "b"), thousands="'"))
    assert made.table.options == {"one_hot": ("a", "b"), "thousands": "'"}
    assert Task.from_json(json.loads(json.dumps(made.to_json()))) == made
    for name in ("numeric", "categorical", "ignore", "one_hot"):
        with pytest.raises(InvalidInputError, match=f"^{name} "):
            replace(TABLE, **{name: "id"})  # type: ignore[arg-type]
    for wrong in ({"decimal": ";"}, {"thousands": "."}, {"date_format": "day"}):
        with pytest.raises(InvalidInputError, match=f"{next(iter(wrong))} must be"):
            replace(TABLE, **wrong)  # type: ignore[arg-type]


def test_the_numerics_version_is_part_of_a_task_of_a_model_of_mcquack():
    made = [task(model="mcquack", numerics=version) for version in (1, 2, 3)]
    assert len({each.id for each in made}) == 3
    assert [Task.from_json(each.to_json()) for each in made] == made
    assert task(model="mcquack").numerics == task(model="mcquack.studies.x:Y").numerics == NUMERICS
    assert task(model="mcquack/iqp").numerics == NUMERICS
    assert task(model="svc/wide").numerics is None


@pytest.mark.parametrize(
    ("settings", "version"),
    [
        ({"scale": "quantile"}, NUMERICS),
        ({"class_weight": "balanced"}, NUMERICS),
        ({"scale": "quantile", "class_weight": None}, NUMERICS),
        ({"scale": "quantile", "class_weight": "balanced"}, NUMERICS + 1),
    ],
    ids=str,
)
def test_only_weighted_quantiles_have_a_later_numerics_version(settings, version):
    assert Task.of("iris3", "mcquack", settings).numerics == version


def test_a_task_without_a_numerics_version_is_of_the_first_and_has_the_id_it_had():
    content = task(model="mcquack").to_json()
    del content["numerics"]
    before = Task.from_json(content)
    assert before.numerics == 1
    assert before.id == hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


@pytest.mark.parametrize("model", ["svc", "sklearn.svm:SVC", "mcquackish:Model", "unknown"])
def test_models_of_other_libraries_have_no_numerics_version(model):
    assert task(model=model).numerics is task(model=model, numerics=2).numerics is None
    assert "numerics" not in task(model=model).to_json()


def test_a_task_from_before_there_was_a_choice_has_raw_areas_and_the_id_it_had():
    content = task().to_json()
    assert "auc_scores" not in content
    assert Task.from_json(content).auc_scores == "raw"
    asked = task(auc_scores="normalised")
    assert Task.from_json(asked.to_json()) == asked
    with pytest.raises(InvalidInputError, match=r"auc_scores .*softmax"):
        task(auc_scores="softmax")


def test_only_the_test_part_is_final():
    assert TEST.phase == "final"
    assert VALIDATION.phase == Split(kind="fold", fold=0, n_folds=2).phase == "search"


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "train"},
        {"kind": "test", "fold": 0},
        {"kind": "fold"},
        {"kind": "fold", "fold": 0, "n_folds": 1},
        {"kind": "fold", "fold": 5, "n_folds": 5},
        {"kind": "fold", "fold": -1, "n_folds": 5},
    ],
)
def test_a_split_that_means_nothing_is_refused(fields):
    with pytest.raises(InvalidInputError, match="must be"):
        Split(**fields)


def test_what_is_no_task_is_refused():
    with pytest.raises(InvalidInputError, match="another version"):
        Task.from_json({**task().to_json(), "split": {"kind": "test", "shuffled": True}})


_PARTS = st.text("ab", min_size=1, max_size=2)
_NAMES = st.builds(
    lambda module, name, label: f"{module}{name}{label}",
    st.sampled_from(["", "m:", "n.m:"]),
    _PARTS,
    st.sampled_from(["", "/x", "/y"]),
)


@given(names=st.lists(_NAMES, max_size=8, unique=True))
def test_short_names_are_as_many_as_the_names_and_end_them(names):
    short = short_names(names)
    assert list(short) == names
    assert len(set(short.values())) == len(names)
    assert all(name in (called, f"{name.partition(':')[0]}:{called}") for name, called in short.items())
    assert all(":" not in called for called in short_names(["n.m:a/x", "b"]).values())
