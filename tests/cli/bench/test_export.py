import csv

import pyarrow.parquet as pq

from tests.cli.bench.values import N_SMALL


def test_every_task_is_a_line(bench, small_store, tmp_path):
    outcome = bench("export", small_store, "--csv", "t.csv", "--parquet", "t.parquet")
    assert (outcome.code, outcome.out) == (0, "")
    assert outcome.err == f"In t.parquet and t.csv: {N_SMALL} tasks.\n"
    with (tmp_path / "t.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == pq.read_table(tmp_path / "t.parquet").num_rows == N_SMALL
    assert {line["model"] for line in lines} == {"svc", "nystroem_svm"}


def test_nothing_is_replaced_unless_asked(bench, small_store, tmp_path):
    (tmp_path / "t.csv").write_text("mine")
    refused = bench("export", small_store, "--csv", "t.csv")
    assert refused.code == 1
    assert "--force" in refused.err
    assert (tmp_path / "t.csv").read_text() == "mine"
    assert bench("export", small_store, "--csv", "t.csv", "--force").code == 0
    assert (tmp_path / "t.csv").read_text() != "mine"


def test_the_store_is_no_place_to_write_to(bench, small_store):
    refused = bench("export", small_store, "--csv", small_store, "--force")
    assert refused.code == 1
    assert "is one of the files to read" in refused.err
