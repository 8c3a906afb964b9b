"""``mcquack compile`` leaves nothing to compile for a fit and a predict that come after it."""

from mcquack.cli import compile as compiling


def test_parts_are_told_with_their_number_and_where_the_code_is(mcquack, monkeypatch):
    ran: list[str] = []
    monkeypatch.setattr(compiling, "compile_part", ran.append)
    outcome = mcquack("compile")
    assert outcome.code == 0, outcome.err
    assert ran == ["default"]
    assert "1 of 1: " in outcome.err
    assert "the code is kept in" in outcome.err
    assert mcquack("compile", "all", "ring").code == 0
    assert ran[1:] == list(compiling.PARTS)
    refused = mcquack("compile", "rings")
    assert refused.code == 2
    assert "did you mean ring" in refused.err


def test_the_default_part_compiles_what_fit_and_predict_run(mcquack, table, fitted):
    from mcquack.training.embeddings import PlainCircuit
    from mcquack.training.readouts.centroids import Centroids
    from mcquack.training.step import run_epoch

    compiling.compile_part("default")
    known = set(run_epoch(PlainCircuit, Centroids).signatures)
    assert known
    content = "x,y,label\n" + "".join(f"{i % 7},{i % 5},{'abc'[i % 3]}\n" for i in range(40))
    model, outcome = fitted(content)
    assert outcome.code == 0
    assert mcquack("predict", model, table(content)).code == 0
    assert set(run_epoch(PlainCircuit, Centroids).signatures) == known
