import json
import re
import sys
from typing import Any, get_type_hints

import pytest

from mcquack import datasets
from mcquack.bench.plan import plan
from mcquack.bench.samples import estimator_class
from mcquack.bench.store import RunRecord
from mcquack.bench.suite import (
    BUILT_IN,
    Suite,
    modules_to_import,
    names_in_suite,
    read_suite,
    recorded_cells,
    suite_from_json,
    suite_from_text,
)
from mcquack.bench.task import VALIDATION, TableSource
from mcquack.datasets.own import TableOptions
from mcquack.datasets.registry import draw_of
from mcquack.errors import InvalidInputError
from tests.bench.published import written
from tests.known import known

MINE = """
name = "mine"
datasets = ["iris3", "two_curves_[23]", "flowers"]
models = [
    "svc",
    "sklearn.neighbors:KNeighborsClassifier",
]
seeds = 2

[spaces."sklearn.neighbors:KNeighborsClassifier"]
n_neighbors = [1, 3]

[settings.svc]
scale = false

[tables.flowers]
path = "flowers.csv"
target = "kind"
validation = 0.2
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "flowers.csv").write_text("a,kind\n1,x\n2,y\n")
    return tmp_path


def mine(folder, text=MINE):
    return suite_from_text(text, called="mine.toml", folder=folder)


def test_the_paper_s_suites_are_whole():
    real, qml = map(read_suite, ("real-world", "qml"))
    assert real.datasets == datasets.names("real-world")
    assert qml.datasets == datasets.names("qml")
    assert (len(real.datasets), len(qml.datasets)) == (20, 133)
    assert real.models == ("mcquack", "vc", "svc", "nystroem_svm", "nn")
    assert qml.cell("two_curves_3", "mcquack").most_tasks == 432 * 5 + 5
    assert real.cell("mnist10", "mcquack").most_tasks == 4 + 5


def test_settings_are_chosen_on_the_validation_part_unless_that_is_the_test_part():
    real, qml = map(read_suite, ("real-world", "qml"))
    folded = {name for name in real.datasets if real.cell(name, "svc").splits != (VALIDATION,)}
    assert folded == {"iris3", "pm2", "pm4"}
    assert all(len(qml.cell(name, "svc").splits) == 5 for name in qml.datasets)


def test_only_the_folds_of_mnist_are_cut():
    qml = read_suite("qml")
    cuts = {name: qml.cell(name, "svc").splits[0].n_train for name in qml.datasets}
    assert {name for name, cut in cuts.items() if cut == 500} == {f"mnist_pca_{size}" for size in range(2, 21)}
    assert set(cuts.values()) == {None, 500}


def test_a_suite_of_one_s_own(folder):
    suite = mine(folder)
    assert suite.datasets == ("iris3", "two_curves_2", "two_curves_3", "flowers")
    neighbours = suite.cell("iris3", "sklearn.neighbors:KNeighborsClassifier")
    assert [each["n_neighbors"] for each in neighbours.space] == [1, 3]
    assert suite.cell("iris3", "svc").space.fixed["scale"] is False
    assert suite.cell("flowers", "svc").splits == (VALIDATION,)
    assert suite.cell("flowers", "svc").table.target == "kind"
    assert len(suite.cells()) == 8


def test_a_suite_is_what_was_stored_of_it(folder):
    for suite in (mine(folder), *map(read_suite, BUILT_IN)):
        back = suite_from_json(json.loads(json.dumps(suite.to_json())), named=suite.models)
        assert back == suite
        assert [cell.task({}, split=VALIDATION).id for cell in back.cells()] == [
            cell.task({}, split=VALIDATION).id for cell in suite.cells()
        ]


def test_a_model_without_a_space_for_the_suite_takes_one_that_it_has():
    qml = read_suite("qml").with_(models=["vc", "sklearn.svm:SVC"])
    assert len(qml.cell("two_curves_2", "vc").space) == 2
    assert len(qml.cell("two_curves_2", "sklearn.svm:SVC").space) == 1


def test_without_a_search_a_model_has_its_defaults(folder):
    suite = mine(folder).with_(search="none")
    assert suite.cell("iris3", "svc").space[0] == {"scale": False}


# Settings that others have found.


@pytest.fixture
def published(tmp_path, monkeypatch):
    """Two models on two datasets, of which one was not published, ready to be run."""
    suite = read_suite("qml").with_(datasets=["two_curves_[23]"], models=["svc", "mlp", "vc"], search="published")
    return suite.with_published(written(tmp_path, monkeypatch))


def test_published_settings_are_taken_and_not_searched(published):
    assert published.pairs == (("two_curves_2", "svc"), ("two_curves_3", "svc"), ("two_curves_3", "mlp"))
    cells = published.cells()
    assert tuple((cell.dataset, cell.model) for cell in cells) == published.pairs
    assert [cell.most_tasks for cell in cells] == [5, 5, 5]
    # What the suite keeps fixed in a search is kept here too.
    assert cells[0].space[0] == {"C": 10.0, "gamma": 1.0, "scale": False}
    assert cells[2].space.fixed["hidden_layer_sizes"] == (5, 4)
    assert cells[2].space.fixed["max_iter"] == 3000
    (step,) = plan(cells[0])
    choice = known(step.choice)
    assert (choice.search, choice.score, choice.n_settings) == ("published", None, 0)
    assert [dict(task.settings) for task in step.tasks] == [cells[0].space[0]] * 5


def test_published_settings_come_back_from_a_store_without_their_file(published):
    back = suite_from_json(json.loads(json.dumps(published.to_json())))
    assert back == published
    assert back.cells() == published.cells()
    record = RunRecord(command="", suite=published.to_json())
    assert record.pairs == published.pairs
    assert recorded_cells((record,), {("two_curves_3", "mlp"), ("two_curves_2", "vc")}) == {
        ("two_curves_3", "mlp"): published.cell("two_curves_3", "mlp")
    }


def test_settings_of_the_suite_and_labels_hold_beside_the_published_ones(tmp_path, monkeypatch):
    suite = Suite(
        name="mine",
        datasets=("two_curves_2",),
        models=("svc", "svc/scaled"),
        search="published",
        settings={"svc/scaled": {"scale": True}},
    ).with_published(written(tmp_path, monkeypatch))
    assert [cell.space.fixed["scale"] for cell in suite.cells()] == [False, True]
    assert {cell.space.fixed["C"] for cell in suite.cells()} == {10.0}


OWN = """
name = "mine"
datasets = ["iris3", "two_curves_2"]
models = ["svc"]
search = "published"

[published.svc.iris3]
C = 3.0
"""


def test_tables_of_a_suite_take_the_place_of_the_file(folder):
    suite = mine(folder, OWN)
    assert suite.with_published(folder) is suite
    assert suite.pairs == (("iris3", "svc"),)
    assert suite.cell("iris3", "svc").space.fixed["C"] == 3.0
    with pytest.raises(InvalidInputError, match=r"svc .* two_curves_2"):
        suite.cell("two_curves_2", "svc")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[published.svc.iris3]", "[published.svcc.iris3]", "mine.toml:7: 'svcc' .*svc"),
        ("[published.svc.iris3]", "[published.svc.iris]", "mine.toml:7: 'iris' .*iris3"),
        ("[published.svc.iris3]", "[published.svc]", r"mine.toml:8: published.svc.C .*table.*3\.0"),
        ("[published.svc.iris3]", "[published]", r"mine.toml:8: published.C .*table.*3\.0"),
        ("C = 3.0", "c_ = 3.0", "mine.toml:7: svc .*'c_'"),
    ],
)
def test_whatever_is_wrong_with_them_is_told_with_its_line(folder, old, new, message):
    with pytest.raises(InvalidInputError, match=message):
        mine(folder, OWN.replace(old, new, 1))


def test_where_nothing_was_published_there_is_nothing_to_run(tmp_path, monkeypatch):
    suite = read_suite("qml").with_(models=["vc"], search="published")
    with pytest.raises(InvalidInputError, match="with_published reads them"):
        suite.cells()
    with pytest.raises(InvalidInputError, match=r" of vc .* of svc, mlp"):
        suite.with_published(written(tmp_path, monkeypatch))


def test_other_searches_need_no_file(tmp_path):
    suite = read_suite("qml")
    assert suite.with_published(tmp_path) is suite


LABELLED = """
name = "mine"
datasets = ["iris3"]
models = ["mcquack", "mcquack/iqp", "mcquack/zz", "svc"]

[spaces.mcquack]
lr_ka = [0.01, 0.1]

[spaces."mcquack/zz"]
lr_ka = [0.001]

[settings.mcquack]
epochs = 3
n_qubits = 2

[settings."mcquack/iqp"]
feature_map = "iqp"
n_qubits = 4
"""


def test_one_class_can_be_several_models_with_settings_of_their_own(folder):
    suite = mine(folder, LABELLED)
    plain, iqp, zz = (suite.cell("iris3", name).space for name in ("mcquack", "mcquack/iqp", "mcquack/zz"))
    assert plain.values == {"lr_ka": (0.01, 0.1), "epochs": (3,), "n_qubits": (2,)}
    assert iqp.values == {**plain.values, "feature_map": ("iqp",), "n_qubits": (4,)}
    assert zz.values == {**plain.values, "lr_ka": (0.001,)}
    assert len({cell.task({}, split=VALIDATION).id for cell in suite.cells()}) == 4
    # Without tables of its own it is searched as the model that it is.
    assert len(read_suite("qml").with_(models=["mcquack/mine"]).cell("two_curves_2", "mcquack/mine").space) == 432


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"mcquack/iqp",', '"mcquak/iqp",', "mine.toml:4: .*'mcquak'; .* mcquack"),
        ('[settings."mcquack/iqp"]', '[settings."mcquack/ipq"]', "'mcquack/ipq' .* mcquack/iqp"),
        ('feature_map = "iqp"', 'feature_mapp = "iqp"', "mcquack/iqp .*'feature_mapp'"),
    ],
)
def test_what_is_wrong_with_a_labelled_model_is_told(folder, old, new, message):
    with pytest.raises(InvalidInputError, match=message):
        mine(folder, LABELLED.replace(old, new, 1))


def test_parts_of_a_suite_can_be_asked_for():
    part = read_suite("qml").with_(datasets=["*_2", "two_curves_1?"], models=["svc"], search="random:3", seeds=1)
    assert "two_curves_10" in part.datasets
    assert "hyperplanes_diff_2" in part.datasets
    assert len(part.datasets) == 7 + 10
    assert sum(cell.most_tasks for cell in part.cells()) == 17 * (3 * 5 + 1)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"iris3"', '"iris33"', r"mine.toml:3: .*'iris33'; .* iris3"),
        ('"two_curves_[23]"', '"two_corves_[23]"', r"mine.toml:3: no dataset .*two_corves"),
        ('"svc"', '"svcc"', r"mine.toml:5: .*'svcc'"),
        ("neighbors:KN", "neighbours:KN", r"mine.toml:6: .*neighbours"),
        ("seeds = 2", "seeds = 0", r"mine.toml:8: seeds .* 0"),
        ("seeds = 2", "seeds = 2.5", r"mine.toml:8: seeds .* 2\.5"),
        ("seeds = 2", "seeds = true", r"mine.toml:8: seeds .* True"),
        ("seeds = 2", "seedz = 2", r"mine.toml:8: .*'seedz'; .* seeds"),
        ("seeds = 2", 'search = "rand:3"', r"mine.toml:8: .*'rand:3'"),
        ("seeds = 2", 'choose_by = "luck"', r"mine.toml:8: choose_by .*'luck'"),
        ("seeds = 2", 'search_on = "test"', r"mine.toml:8: search_on .*'test'"),
        ("seeds = 2", "n_folds = 1", r"mine.toml:8: n_folds .* 1"),
        ("seeds = 2", "[cut.a]\nn_train = 5", r"mine.toml:8: .*'cut.a.n_validation'"),
        ("n_neighbors = [1, 3]", "n_neighbors = []", r"mine.toml:11: n_neighbors "),
        ('path = "flowers.csv"', 'path = "trees.csv"', r"mine.toml:17: .*trees.csv"),
        ("validation = 0.2", 'validation = "few"', r"mine.toml:19: tables.flowers.validation .*'few'"),
        ('target = "kind"', "", r"mine.toml:16: .*'tables.flowers.target'"),
        ('name = "mine"', "", r"mine.toml:1: .*'name'"),
        ('name = "mine"', "name = mine", r"mine.toml .*TOML.*line 2"),
        ("[settings.svc]", "[settings]", r"mine.toml:14: settings.scale .*table"),
        ("[settings.svc]", "[settings.svcc]", r"mine.toml:13: 'svcc' .* svc"),
        ("scale = false", "skale = false", r"mine.toml:13: svc .*'skale'; .* scale"),
        ("n_neighbors = [1, 3]", "neighbours = [1, 3]", r"mine.toml:10: .*'neighbours'"),
        ("seeds = 2", "[cut.iriss]\nn_train = 5\nn_validation = 5", r"mine.toml:8: .*'iriss'; .* iris"),
        ('target = "kind"', 'target = "kindd"', r"mine.toml:16: .*'kindd'"),
        ("validation = 0.2", "validation = 0.9", r"mine.toml:16: validation \+ test .* 1"),
    ],
)
def test_whatever_is_wrong_is_told_with_its_line(folder, old, new, message):
    assert old in MINE
    with pytest.raises(InvalidInputError, match=message):
        mine(folder, MINE.replace(old, new, 1))


def test_a_suite_that_nobody_knows_is_refused():
    with pytest.raises(InvalidInputError, match="real-world"):
        read_suite("real_world")
    with pytest.raises(FileNotFoundError):
        read_suite("nowhere.toml")


def test_a_model_that_is_listed_twice_is_run_once(folder):
    assert mine(folder, MINE.replace('"svc",', '"svc", "svc",')).models.count("svc") == 1


def test_the_names_of_the_built_in_suites_are_taken(folder):
    (folder / "mine.toml").write_text(MINE.replace('"mine"', '"qml"'))
    with pytest.raises(InvalidInputError, match="'qml'"):
        read_suite(folder / "mine.toml")


def test_a_file_is_read_with_its_tables_beside_it(folder):
    (folder / "mine.toml").write_text(MINE)
    table = known(read_suite(folder / "mine.toml").cell("flowers", "svc").table)
    assert table.path == (folder / "flowers.csv").resolve()


def run(**fields):
    suite = Suite(**{"name": "mine", "datasets": ("iris3",), "models": ("svc",), **fields})
    return RunRecord(command="mcquack bench run mine.toml", suite=suite.to_json())


def test_the_last_run_that_asked_for_a_cell_decides():
    runs = (run(models=("svc", "nn"), seeds=1), run(seeds=3), run(datasets=("two_curves_2",), seeds=4))
    wanted = {("iris3", "svc"), ("iris3", "nn"), ("iris3", "vc")}
    cells = recorded_cells(runs, wanted)
    assert {pair: cell.n_seeds for pair, cell in cells.items()} == {("iris3", "svc"): 3, ("iris3", "nn"): 1}


def test_a_record_that_is_no_suite_asks_for_nothing():
    assert recorded_cells((RunRecord(command="", suite={}),), {("iris3", "svc")}) == {}


def test_only_tables_that_are_wanted_must_be_there(tmp_path):
    path = tmp_path / "flowers.csv"
    path.write_text("a,kind\n1,x\n2,y\n")
    tables = {"flowers": TableSource.of(path, target="kind")}
    runs = (run(datasets=("iris3", "flowers"), tables=tables),)
    path.unlink()
    assert recorded_cells(runs, {("iris3", "svc")}).keys() == {("iris3", "svc")}
    with pytest.raises(InvalidInputError, match=r"^the stored suite: .*flowers\.csv"):
        recorded_cells(runs, {("flowers", "svc")})


def test_a_search_space_names_maps(folder):
    text = MINE.replace("[settings.svc]", '[spaces.mcquack]\nfeature_map = ["paper", "iqp"]\n\n[settings.svc]')
    suite = mine(folder, text.replace('"svc",', '"svc", "mcquack",'))
    space = suite.cell("iris3", "mcquack").space
    assert [settings["feature_map"] for settings in space] == ["paper", "iqp"]


def test_areas_are_of_normalised_scores_where_that_makes_a_difference():
    suite = Suite(name="mine", datasets=("iris3", "two_curves_2"), models=("mcquack", "nn", "svc"), search="none")
    asked = {(cell.dataset, cell.model) for cell in suite.cells() if cell.auc_scores == "normalised"}
    assert asked == {("iris3", "mcquack"), ("iris3", "nn")}
    assert {cell.auc_scores for cell in suite.with_(auc_scores="raw").cells()} == {"raw"}
    tasks = [next(plan(each.cell("iris3", "nn"))).tasks[0] for each in (suite, suite.with_(auc_scores="raw"))]
    assert [task.auc_scores for task in tasks] == ["normalised", "raw"]


def test_a_stored_suite_from_before_there_was_a_choice_asks_for_raw_areas():
    suite = Suite(name="mine", datasets=("iris3",), models=("nn",))
    content = suite.to_json()
    assert suite_from_json(content).cells() == suite.cells()
    del content["auc_scores"]
    assert suite_from_json(content).cell("iris3", "nn").auc_scores == "raw"


def test_how_many_classes_a_table_has_is_not_asked_beforehand(folder):
    suite = mine(folder)
    assert suite.cell("flowers", "sklearn.neighbors:KNeighborsClassifier").auc_scores == "normalised"
    assert suite.cell("flowers", "svc").auc_scores == "raw"


KNN = "sklearn.neighbors:KNeighborsClassifier"


def test_classifiers_of_other_libraries_get_scaled_features_unless_told_otherwise(folder):
    models = (KNN, f"{KNN}/raw", "svc", "mcquack.studies.feature_maps:SizedMcQuack")
    suite = Suite(name="mine", datasets=("iris3",), models=models, search="none", unscaled=(f"{KNN}/raw",))
    assert [cell.scaled for cell in suite.cells()] == [True, False, False, False]
    assert suite_from_json(json.loads(json.dumps(suite.to_json())), named=models).cells() == suite.cells()
    both = Suite(name="mine", datasets=("iris3",), models=models, search="none", unscaled=(KNN,))
    assert not any(cell.scaled for cell in both.cells())
    tasks = [next(plan(suite.cell("iris3", model))).tasks[0] for model in models]
    assert [task.scaled for task in tasks] == [True, False, False, False]


def test_a_stored_suite_from_before_features_were_scaled_scales_none():
    suite = Suite(name="mine", datasets=("iris3",), models=(KNN,), search="none")
    content = suite.to_json()
    del content["unscaled"]
    (cell,) = suite_from_json(content, named=[KNN]).cells()
    assert not cell.scaled


@pytest.mark.parametrize(
    ("unscaled", "message"),
    [
        ("svc", "mine.toml:9: svc "),
        ("sklearn.svm:SVC", "mine.toml:9: 'sklearn.svm:SVC'"),
    ],
)
def test_what_cannot_be_left_unscaled_is_refused(folder, unscaled, message):
    text = MINE.replace("seeds = 2", f'seeds = 2\nunscaled = ["{unscaled}"]')
    with pytest.raises(InvalidInputError, match=re.escape(message)):
        mine(folder, text)


def test_a_table_of_a_suite_takes_all_options_of_load_csv(folder):
    options: dict[str, Any] = dict.fromkeys(("numeric", "ignore"), ("a",)) | dict.fromkeys(
        ("categorical", "one_hot"), ("kind",)
    )
    options |= {"missing": "drop", "missing_target": "error"}
    options |= {"decimal": ",", "thousands": ".", "date_format": "%d.%m.%Y"}
    assert options.keys() | {"validation", "test", "seed", "name"} == get_type_hints(TableOptions).keys()
    lines = "".join(f"{name} = {json.dumps(value)}\n" for name, value in options.items())
    suite = mine(folder, MINE.replace("validation = 0.2\n", "validation = 0.2\n" + lines))
    assert suite.tables["flowers"].options == options
    back = suite_from_json(json.loads(json.dumps(suite.to_json())), named=[KNN])
    assert back.cells() == suite.cells()
    assert "ignore" not in mine(folder).to_json()["tables"]["flowers"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('ignore = ["b"]', "'b'"),
        ('ignore = "a"', "tables.flowers.ignore"),
        ('missing = "guess"', "missing must be one of"),
        ('ignored = ["a"]', "'tables.flowers.ignored'"),
        ('one_hot = ["b"]', "'b'"),
        ("one_hot = 1", "tables.flowers.one_hot"),
        ("decimal = 1", "tables.flowers.decimal"),
        ('decimal = ";"', "decimal must be"),
        ('thousands = "."', "thousands must be"),
        ('date_format = "day"', "date_format must be"),
    ],
)
def test_what_is_wrong_with_the_options_of_a_table_is_told(folder, line, message):
    with pytest.raises(InvalidInputError, match=re.escape(message)):
        mine(folder, MINE + line + "\n")


def test_draws_are_datasets_of_their_own_with_searches_of_their_own():
    suite = Suite(name="drawn", datasets=("iris3", "pm2"), models=("svc",), draws=3, data_seed=2)
    assert suite.datasets == ("iris3@2", "iris3@3", "iris3@4", "pm2")  # of pm2 there is one alone
    assert [cell.dataset for cell in suite.cells()] == list(suite.datasets)
    assert suite.with_(datasets=["*@3"]).datasets == ("iris3@3",)
    assert suite.with_(models=["nn"]).datasets == suite.datasets
    with pytest.raises(InvalidInputError, match="draws"):
        Suite(name="drawn", datasets=("iris3",), models=("svc",), draws=0)


@pytest.fixture
def trap(tmp_path, monkeypatch):
    """A module that leaves a file when it is imported, and the path of that file."""
    (tmp_path / "trap_module.py").write_text(
        "from pathlib import Path\nfrom sklearn.svm import SVC\nPath(__file__).with_name('sprung').touch()\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "trap_module", raising=False)
    yield tmp_path / "sprung"
    sys.modules.pop("trap_module", None)


@pytest.mark.parametrize(
    ("kind", "name"), [("models", "trap_module:SVC"), ("models", "trap_module:SVC/mine"), ("datasets", "trap_module:a")]
)
def test_what_a_store_says_is_not_imported_unless_the_user_says_it_too(trap, kind, name):
    estimator_class.cache_clear()
    stored = {**Suite(name="mine", datasets=("iris3",), models=("svc",)).to_json(), kind: [name]}
    with pytest.raises(InvalidInputError, match=re.escape(repr(name))):
        suite_from_json(stored)
    record = RunRecord(command="", suite=stored)
    with pytest.raises(InvalidInputError, match=re.escape(repr(name))):
        recorded_cells((record,), set(record.pairs))
    assert not trap.exists()
    if kind == "models":
        assert suite_from_json(stored, named=[name]).models == (name,)
        assert trap.exists()


def test_modules_are_told_before_they_are_imported(trap, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('name = "mine"\ndatasets = ["iris3", "trap_module:a"]\nmodels = ["svc", "trap_module:SVC/b"]\n')
    assert modules_to_import(names_in_suite(path)) == ("trap_module",)
    assert names_in_suite("hardware-twin") == ()
    assert not trap.exists()


def test_the_races_are_whole():
    race, qml = read_suite("real-world-race"), read_suite("qml-race")
    assert len(race.datasets) == 18 * 5 + 2  # plus signs are always the same
    assert len({draw_of(name)[0] for name in race.datasets}) == 20
    assert len(qml.datasets) == 133
    for cell in (race.cell("mnist10@4", race.models[0]), qml.cell("two_curves_2", "mcquack")):
        assert cell.task(cell.space[0], split=cell.splits[0]).numerics is not None
    assert len(qml.cell("two_curves_2", "mcquack").space) == 16
