import csv
import gzip
import io
import os
import signal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mcquack.cli import fit as fit_module
from mcquack.models import McQuackClassifier
from tests.cli.tables import two_classes

BOM = b"\xef\xbb\xbf"


def quoted(*cells):
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\r\n").writerow(cells)
    return text.getvalue()


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


def _interrupted_after(n_epochs):
    def shown(epochs, *, n_epochs_shown=n_epochs, **_):
        for count, epoch in enumerate(epochs, start=1):
            if count > n_epochs_shown:
                os.kill(os.getpid(), signal.SIGINT)
            yield epoch

    return shown


def test_an_interrupt_keeps_the_best_model_so_far(fitted, mcquack, table, monkeypatch):
    monkeypatch.setattr(fit_module, "shown", _interrupted_after(1))
    model, outcome = fitted(two_classes(), "--epochs", 50)
    assert outcome.code == 130
    assert f"the best model so far is in {model}" in outcome.err
    assert mcquack("predict", model, table("x,colour\n0,red\n")).code == 0


def test_an_interrupt_before_the_first_epoch_writes_nothing(fitted, monkeypatch):
    monkeypatch.setattr(fit_module, "shown", _interrupted_after(0))
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


def test_predictions_go_to_a_file_whole_or_not_at_all(fitted, mcquack, table, monkeypatch, tmp_path):
    model, _ = fitted(two_classes())
    new, out = table("x,colour\n0.1,red\n5.1,blue\n"), tmp_path / "out.csv"
    printed = mcquack("predict", model, new)
    written = mcquack("predict", model, new, "--out", out)
    assert (written.code, written.out) == (0, "")
    assert out.read_text() == printed.out

    def full(*_):
        raise OSError(28, "No space left on device")

    names = sorted(path.name for path in tmp_path.iterdir())
    monkeypatch.setattr(os, "fsync", full)
    failed = mcquack("predict", model, new, "--out", out, "--proba")
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
    column = {"name": "x", "kind": "number", "categories": [], "fill": None}
    for columns in ([], [column, {**column, "name": "y"}]):
        header = {"version": 1, "target": "label", "missing": "error", "columns": columns}
        model.save(tmp_path / "m.mcq", extra={"table": header})
        outcome = mcquack("predict", tmp_path / "m.mcq", table("x,y\n1,2\n"))
        assert outcome.code == 1
        assert "broken" in outcome.err
