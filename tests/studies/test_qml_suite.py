"""The README of the study says what its rows say, of the suite's own models as of all others."""

from pathlib import Path

import pytest

from mcquack.bench import ranking
from mcquack.bench.store import Store

STUDY = Path(__file__).parents[2] / "studies" / "qml_suite"

pytestmark = pytest.mark.skipif(not STUDY.is_dir(), reason="a source archive has no results")


def test_the_table_of_published_and_own_scores_follows_from_the_rows():
    from studies.qml_suite import rivals

    pairs = rivals.read_pairs()
    with Store.open(rivals.ROWS) as store:
        done = [outcome for outcome in store.outcomes(details=False) if not outcome.failed]
        own = {(cell.model, cell.dataset): cell.mean("test", "accuracy") for cell in ranking.cell_scores(store)}
    assert len({(pair.model, pair.dataset) for pair in pairs}) == len(pairs)
    for pair in pairs:
        assert own[pair.model, pair.dataset] == pytest.approx(pair.ours, abs=1e-5)
    told = (STUDY / "README.md").read_text(encoding="utf-8")
    minutes = sum(outcome.seconds["fit"] for outcome in done) / 60
    assert f"The {len(done):,} fits took {minutes:.0f} minutes of" in told
    n_equal, n_met = sum(pair.equal_seeds == 5 for pair in pairs), sum(pair.is_met for pair in pairs)
    results = " ".join((STUDY.parents[1] / "docs" / "laboratory.md").read_text(encoding="utf-8").split())
    assert f"on {len(pairs)} pairs of model and dataset: on {n_equal} of them" in results
    assert f"and {n_met} means are met" in results


def test_repeats_of_the_embedding_decide_whether_seeds_agree():
    from studies.qml_suite import rivals

    pairs = [pair for pair in rivals.read_pairs() if pair.model == "iqp_variational"]
    with Store.open(rivals.ROWS) as store:
        choices = store.choices()
    once = [pair for pair in pairs if choices[pair.dataset, pair.model].settings["repeats"] == 1]
    often = [pair for pair in pairs if pair not in once]
    told = " ".join((STUDY / "README.md").read_text(encoding="utf-8").split())
    equal = [sum(pair.equal_seeds == 5 for pair in some) for some in (once, often)]
    assert f"on {equal[0]} of {len(once)} datasets where the embedding is used once" in told
    assert f"they do on {equal[1]} of {len(often)}" in told
    better = sum(pair.published - pair.ours for pair in often) / len(often)
    assert f"by {better:.2f} on average" in told


def test_every_model_meets_the_published_mean_on_twenty_datasets_or_nearly_all_that_were_published():
    from studies.qml_suite import rivals

    met = {model: sum(pair.is_met for pair in rivals.read_pairs() if pair.model == model) for model in rivals.MODELS}
    assert met.pop("boltzmann") >= 19  # of 21; seven qubits take minutes a fit
    assert min(met.values()) >= 20


def test_the_rows_are_final_and_few():
    from studies.qml_suite import rivals
    from studies.tables import rows_files

    with Store.open(rivals.ROWS) as store:
        assert store.counts(phase="search").total == 0
    assert sum(path.stat().st_size for path in rows_files(STUDY)) < 15e6
