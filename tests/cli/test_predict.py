"""``mcquack predict`` labels what rows it can and tells of the others, and ``mcquack info`` tells all about a model."""

import csv
import gzip
import io
import json
import os
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mcquack.datasets import load_parquet
from mcquack.errors import ModelFileError, printable
from mcquack.models import McQuackClassifier, SupportVectorClassifier, load
from mcquack.models.model_file import read_model, write_model
from mcquack.models.tables import table_extra
from tests.cli.tables import two_classes

BOM = b"\xef\xbb\xbf"


def quoted(*cells):
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\r\n").writerow(cells)
    return text.getvalue()


def test_probabilities_come_per_class_and_sum_to_one(fitted, mcquack, table):
    model, _ = fitted(two_classes(labels=("a,b", "c\nd")))
    rows = mcquack("predict", model, table("x,colour\n0,red\n5,blue\n"), "--proba").rows
    assert list(rows[0]) == ["row", "prediction", "probability_a,b", "probability_c\nd", "reason"]
    assert [row["prediction"] for row in rows] == ["a,b", "c\nd"]
    for row in rows:
        assert float(row["probability_a,b"]) + float(row["probability_c\nd"]) == pytest.approx(1, abs=1e-5)


LABELS = [("1", "2"), ("01", "1"), ("1.0", "2.0"), ("True", "False"), ("9" * 20, "8" * 20), ("-1", "1")]


@pytest.mark.parametrize("labels", [*LABELS, ("Ä ö", "猫"), ("[red]", ":cat:")])
def test_labels_come_out_as_they_went_in(fitted, mcquack, table, labels):
    model, outcome = fitted(two_classes(labels=labels))
    assert outcome.code == 0
    rows = mcquack("predict", model, table("x,colour\n0.1,red\n5.1,blue\n")).rows
    assert [row["prediction"] for row in rows] == list(labels)
    assert all(f"recall of {label}" in outcome.out for label in labels)


def test_awkward_but_sound_csv(fitted, mcquack, table):
    lines = [quoted("x 1", "free, text", "label")]
    for index in range(6):
        lines.append(quoted(index / 10, 'says "hi"\nand more', "yes; no"))
        lines.append(quoted(5 + index / 10, "tab\there", "Ünï|çode"))
    model, outcome = fitted(BOM + "".join(lines).encode())
    assert outcome.code == 0
    new = BOM + (lines[0] + lines[1] + "\r\n" + lines[2]).encode()
    assert [(row["row"], row["prediction"]) for row in mcquack("predict", model, table(new)).rows] == [
        ("2", "yes; no"),
        ("4", "Ünï|çode"),
    ]


def test_semicolons_and_decimal_commas(fitted, mcquack, table):
    model, outcome = fitted(two_classes(delimiter=";").replace(".", ","))
    assert outcome.code == 0
    assert mcquack("predict", model, table("x,colour\n0.1,red\n")).rows[0]["prediction"] == "low"
    assert mcquack("predict", model, table("colour|x\nblue|5.1\n")).rows[0]["prediction"] == "high"


def test_parquet_and_gzip(mcquack, table, tmp_path):
    data, model = tmp_path / "t.parquet", tmp_path / "p.mcq"
    x, flag = [0.0, 0.1, 0.2, 5.0, 5.1, 5.2], [True] * 3 + [False] * 3
    pq.write_table(pa.table({"x": x * 2, "flag": flag * 2, "label": [2, 2, 2, 1, 1, 1] * 2}), data)
    assert mcquack("fit", data, "--target", "label", "--out", model, "--epochs", 2, "--qubits", 2).code == 0
    pq.write_table(pa.table({"x": [5.1, None, 0.1], "flag": [False, True, True]}), tmp_path / "new.parquet")
    predicted = mcquack("predict", model, tmp_path / "new.parquet")
    assert predicted.code == 3
    assert [(row["row"], row["prediction"]) for row in predicted.rows] == [("1", "1"), ("2", ""), ("3", "2")]
    zipped = table(gzip.compress(b"flag,x\nfalse,5.1\nTRUE,0.1\n", mtime=0), "new.csv.gz")
    assert [row["prediction"] for row in mcquack("predict", model, zipped).rows] == ["1", "2"]


def test_bad_rows_cost_no_others_and_are_told(fitted, mcquack, table):
    model, _ = fitted(two_classes())
    new = table("x,colour,note\n0.1,red,a\nmany,red,a\n5,green,a\n\n1,red\ninf,red,a\n,red,a\n5.1,blue,a\n")
    outcome = mcquack("predict", model, new)
    assert outcome.code == 3
    assert [(row["row"], row["prediction"]) for row in outcome.rows] == [
        ("2", "low"),
        ("3", ""),
        ("4", ""),
        ("6", ""),
        ("7", ""),
        ("8", ""),
        ("9", "high"),
    ]
    assert all((row["prediction"] == "") == (row["reason"] != "") for row in outcome.rows)
    assert "5 rows could not be labelled" in outcome.err
    assert "row 4: column 'colour': 'green' is none of the 2 categories" in outcome.err
    assert "does not use the columns 'note'" in outcome.err
    assert mcquack("predict", model, table("x,colour\n,red\n,blue\n")).rows[1]["prediction"] == ""


def test_unseen_categories_by_option(fitted, mcquack, table):
    model, _ = fitted(two_classes())
    new = table("x,colour\n0.1,green\n")
    filled = mcquack("predict", model, new, "--unknown", "most_frequent")
    assert filled.code == 0
    assert filled.rows[0]["prediction"] in ("low", "high")
    refused = mcquack("predict", model, new, "--unknown", "error")
    assert (refused.code, refused.out) == (1, "")
    assert "'green'" in refused.err


def test_a_lacking_column_is_named(fitted, mcquack, table):
    model, _ = fitted(two_classes())
    outcome = mcquack("predict", model, table("x,shade\n1,red\n"))
    assert outcome.code == 1
    assert "lacks 1 of the 2 columns of the model: 'colour'; it has 'x', 'shade'" in outcome.err


def test_numbers_too_large_for_integers_are_numbers(fitted, mcquack, table):
    low, high = 10**25, 9 * 10**25
    model, outcome = fitted("x,label\n" + "".join(f"{low + i},a\n{high + i},b\n" for i in range(5)))
    assert outcome.code == 0
    rows = mcquack("predict", model, table(f"x\n{low}\n{high}\n")).rows
    assert [row["prediction"] for row in rows] == ["a", "b"]


def test_values_far_outside_the_training_data_are_told(fitted, mcquack, table):
    model, _ = fitted(two_classes())
    outcome = mcquack("predict", model, table("x,colour\n1e300,red\n0.1,red\n-1e20,blue\n50,blue\n"))
    assert outcome.code == 3
    assert [row["row"] for row in outcome.rows if row["prediction"]] == ["3", "5"]
    assert "row 2: column 'x': 1e+300 is too far outside the range of the training data" in outcome.err
    _, refused = fitted("x,label\n1e308,a\n-1e308,b\n", "--force")
    assert refused.code == 1
    assert "column 'x' lie too far apart" in refused.err


def test_predictions_go_to_a_file_whole_or_not_at_all(fitted, mcquack, table, monkeypatch, tmp_path):
    model, _ = fitted(two_classes())
    new, out = table("x,colour\n0.1,red\n5.1,blue\n"), tmp_path / "out.csv"
    printed = mcquack("predict", model, new)
    written = mcquack("predict", model, new, "--out", out)
    assert (written.code, written.out) == (0, "")
    assert f"rows are labelled in {out}." in written.err
    assert out.read_text() == printed.out

    def full(*_):
        raise OSError(28, "No space left on device")

    names = sorted(path.name for path in tmp_path.iterdir())
    monkeypatch.setattr(os, "fsync", full)
    failed = mcquack("predict", model, new, "--out", out, "--proba", "--force")
    assert failed.code == 1
    assert out.read_text() == printed.out
    assert sorted(path.name for path in tmp_path.iterdir()) == names


def test_predictions_replace_neither_table_nor_model_nor_device(fitted, mcquack, table):
    model, _ = fitted(two_classes())
    new = table("x,colour\n0.1,red\n")
    for out in (new, model):
        outcome = mcquack("predict", model, new, "--out", out)
        assert outcome.code == 1
        assert "give another name" in outcome.err
    assert mcquack("predict", model, new, "--out", os.devnull).code == 0
    assert not os.path.isfile(os.devnull)  # noqa: PTH113


def test_predictions_are_replaced_only_by_force(fitted, mcquack, table, tmp_path):
    model, _ = fitted(two_classes())
    new, out = table("x,colour\n0.1,red\n"), tmp_path / "labels.csv"
    out.write_text("mine")
    refused = mcquack("predict", model, new, "--out", out)
    assert refused.code == 1
    assert "--force" in refused.err
    assert out.read_text() == "mine"
    assert mcquack("predict", model, new, "--out", out, "--force").code == 0
    assert out.read_text() == "row,prediction,reason\n2,low,\n"


def test_chosen_columns_are_kept_beside_the_predictions(fitted, mcquack, table):
    model, _ = fitted(two_classes())
    new = table('x,colour,id,note\n0.1,red,007,"a,b"\nodd,red,008,\n1\n5.1,blue,,z\n')
    outcome = mcquack("predict", model, new, "--keep", "note", "--keep", "id")
    assert outcome.code == 3
    assert list(outcome.rows[0]) == ["row", "note", "id", "prediction", "reason"]
    assert [(row["row"], row["id"], row["note"], row["prediction"]) for row in outcome.rows] == [
        ("2", "007", "a,b", "low"),
        ("3", "008", "", ""),
        ("4", "", "", ""),
        ("5", "", "z", "high"),
    ]
    assert "does not use" not in outcome.err
    unknown = mcquack("predict", model, new, "--keep", "ids")
    assert unknown.code == 1
    assert "'id'" in unknown.err
    clash = mcquack("predict", model, table("x,colour,row\n0.1,red,7\n"), "--keep", "row")
    assert clash.code == 1
    assert "of its own" in clash.err


def test_accuracy_is_told_where_labels_are_there(fitted, mcquack, table):
    model, _ = fitted(two_classes())
    outcome = mcquack("predict", model, table("x,colour,label\n0,red,low\n5,blue,low\n5,blue,\n5,blue,high\n"))
    assert outcome.code == 0
    assert "Accuracy on the 3 rows with a label in 'label': 0.667." in outcome.err
    assert "Accuracy" not in mcquack("predict", model, table("x,colour\n0,red\n")).err


def test_a_dataset_by_name_is_labelled(mcquack, tmp_path):
    model = tmp_path / "iris.mcq"
    assert mcquack("fit", "iris3", "--out", model, "--model", "svc").code == 0
    outcome = mcquack("predict", model, "iris3")
    assert outcome.code == 0
    assert "Accuracy on the" in outcome.err
    train = mcquack("predict", model, "iris3", "--part", "train")
    assert len(train.rows) != len(outcome.rows)
    assert mcquack("predict", model, "iris3", "--keep", "x").code == 2
    assert "no file 'iris33'" in mcquack("predict", model, "iris33").err


def test_files_that_are_no_models_or_not_there(mcquack, table, tmp_path):
    new = table("x\n1\n")
    for verb in (["predict", new, new], ["info", new]):
        outcome = mcquack(*verb)
        assert outcome.code == 1
        assert outcome.err.count("\n") == 1
    missing = mcquack("predict", tmp_path / "no.mcq", new)
    assert missing.code == 1
    assert missing.err == f"mcquack: No such file or directory: {tmp_path / 'no.mcq'}\n"


def test_a_model_without_a_table_says_how_to_use_it(mcquack, table, tmp_path):
    McQuackClassifier(n_qubits=2, epochs=1, random_state=0).fit([[0.0], [1.0]], [0, 1]).save(tmp_path / "m.mcq")
    outcome = mcquack("predict", tmp_path / "m.mcq", table("x\n1\n"))
    assert outcome.code == 1
    assert "mcquack.load" in outcome.err
    assert "for arrays in Python" in mcquack("info", tmp_path / "m.mcq").out


def test_a_broken_table_inside_a_model_is_refused(mcquack, table, tmp_path):
    model = McQuackClassifier(n_qubits=2, epochs=1, random_state=0).fit([[0.0], [1.0]], [0, 1])
    column: dict[str, Any] = {"name": "x", "kind": "number", "categories": [], "fill": None}
    for columns in ([], [column, {**column, "name": "y"}]):
        header = {"version": 1, "target": "label", "missing": "error", "columns": columns}
        model.save(tmp_path / "m.mcq", extra={"table": header})
        outcome = mcquack("predict", tmp_path / "m.mcq", table("x,y\n1,2\n"))
        assert outcome.code == 1
        assert "broken" in outcome.err


# What is told about a model.


def test_info_tells_the_model(fitted, mcquack):
    model, _ = fitted(two_classes(), "--missing", "median", "--repetitions", 2)
    text = mcquack("info", model).out
    for part in ("'high', 'low'", "target      'label'", "'x' number", "'colour' category: 'blue', 'red'", "Rot(x0)"):
        assert part in text
    told = json.loads(mcquack("info", model, "--json").out)
    assert told["classes"] == ["high", "low"]
    assert told["circuit"]["n_qubits"] == 2
    assert told["circuit"]["n_layers"] == 2
    assert told["n_parameters"] == 6 * 2 * 2 + 2 * 2
    assert [column["name"] for column in told["table"]["columns"]] == ["x", "colour"]
    assert told["settings"]["epochs"] == 2
    assert "mcquack" in told["versions"]


# Models of every kind.


RELEASED = sorted((Path(__file__).parents[1] / "models" / "released" / "0.2.0").glob("*.mcq"))


@pytest.mark.parametrize("path", RELEASED, ids=lambda path: path.stem)
def test_the_settings_of_every_released_file_are_told_as_json(mcquack, path):
    facts = json.loads(mcquack("info", path, "--json").out)
    assert facts["settings"]
    assert facts["n_parameters"] > 0


EVIL = "a\x1b[2J\x07\x9b31m\u202eb\nversions    none\tz"


def harmless(text):
    return all(printable(line) == line for line in text.split("\n"))


@pytest.fixture
def evil_model(tmp_path):
    """A model whose classes, features, categories and target are as evil as texts can be."""
    path = tmp_path / "evil.parquet"
    columns = {
        f"x{EVIL}": [0.0, 0.1, 5.0, 5.1],
        f"colour{EVIL}": [f"red{EVIL}", f"red{EVIL}", "blue", "blue"],
        f"label{EVIL}": [EVIL, EVIL, "z", "z"],
    }
    pq.write_table(pa.table(columns), path)
    dataset = load_parquet(path, target=f"label{EVIL}", validation=0)
    model = SupportVectorClassifier().fit(*dataset.train)
    model.save(tmp_path / "evil.mcq", extra=table_extra(dataset))
    return tmp_path / "evil.mcq", path


@pytest.mark.parametrize("is_terminal", [False, True])
def test_what_is_shown_of_a_file_does_not_act(mcquack, evil_model, table, monkeypatch, is_terminal):
    model, rows = evil_model
    assert "\x1b" in str(SupportVectorClassifier.load(model).classes_[0])
    if is_terminal:
        monkeypatch.setattr(type(sys.stdout), "isatty", lambda self: True, raising=False)
    told = mcquack("info", model)
    assert told.code == 0
    assert harmless(told.out + told.err)
    assert len([line for line in told.out.splitlines() if line.startswith("versions")]) == 1
    assert json.loads(mcquack("info", model, "--json").out)["classes"][0] == EVIL
    refused = mcquack("predict", model, table(f'"odd{EVIL}"\n1\n'))
    assert refused.code == 1
    assert harmless(refused.err)
    predicted = mcquack("predict", model, rows)
    assert harmless(predicted.err)
    assert harmless(predicted.out.replace("\t", "")) == is_terminal  # programs get labels as they are


@pytest.mark.parametrize("field", ["kind", "settings", "extra field", "versions"])
def test_what_is_told_of_a_refused_file_does_not_act(mcquack, evil_model, field, tmp_path):
    header, tensors = read_model(evil_model[0])
    changed: Any = {
        "kind": {"kind": EVIL},
        "settings": {"settings": {**header["settings"], EVIL: 1}},
        "extra field": {EVIL: 1},
        "versions": {"versions": {EVIL: EVIL}},
    }[field]
    write_model(tmp_path / "refused.mcq", header={**header, **changed}, tensors=tensors)
    told = mcquack("info", tmp_path / "refused.mcq")
    assert told.code == 1
    assert harmless(told.err)
    with pytest.raises(ModelFileError) as raised:
        load(tmp_path / "refused.mcq")
    assert harmless(str(raised.value))


def test_file_names_do_not_act_either(mcquack, tmp_path):
    told = mcquack("info", tmp_path / f"{EVIL}.mcq")
    assert told.code == 1
    assert harmless(told.err)


def test_how_large_a_model_may_be_says_a_variable(fitted, mcquack, monkeypatch):
    model, _ = fitted(two_classes())
    monkeypatch.setenv("MCQUACK_MODEL_BYTES", "100")
    for command in ("info", "predict", "score"):
        outcome = mcquack(command, model, *["new.csv"][: command != "info"])
        assert outcome.code == 1
        assert "at most 100 are read" in outcome.err
        assert "set the variable MCQUACK_MODEL_BYTES to a larger number" in outcome.err
