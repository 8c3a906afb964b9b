import json

import pytest

from tests.report.trainability.fakes import fake_store, observation


@pytest.fixture
def store(tmp_path):
    return fake_store(tmp_path / "s.sqlite", [observation(n, epochs=0) for n in (2, 3)])


def test_a_store_becomes_a_page(mcquack, store, tmp_path):
    steps = [-1.0, 0.0, 1.0]
    losses = tmp_path / "around.json"
    losses.write_text(json.dumps({"first": steps, "second": steps, "losses": [[2, 1, 2], [1, 0, 1], [2, 1, 2]]}))
    page = tmp_path / "page" / "index.html"
    outcome = mcquack("trainability", "report", store, "--out", page.parent, "--title", "Mine", "--landscape", losses)
    assert (outcome.code, outcome.out, outcome.err) == (0, "", f"The report is in {page}\n")
    text = page.read_text(encoding="utf-8")
    assert "<h1>Mine</h1>" in text
    assert "Around: the loss is 0 in the centre" in text


def test_what_cannot_be_reported_is_refused(mcquack, store, tmp_path):
    (tmp_path / "mine").write_text("mine")
    refused = mcquack("trainability", "report", store, "--out", tmp_path / "mine")
    assert refused.code == 1
    assert "is a file; name a folder" in refused.err
    refused = mcquack("trainability", "report", store, "--out", tmp_path / "page", "--landscape", tmp_path / "mine")
    assert refused.code == 1
    assert "no slice of a loss" in refused.err
    assert mcquack("trainability", "report", tmp_path / "no.sqlite", "--out", tmp_path / "page").code == 1
    assert not (tmp_path / "page").exists()


def test_a_report_needs_a_place(mcquack, store):
    assert mcquack("trainability", "report", store).code == 2
    told = mcquack("trainability", "report", "-h")
    assert told.code == 0
    assert "mcquack trainability report" in told.out.split("Example")[1]
