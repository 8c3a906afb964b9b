"""The pages of the races say what their rows say."""

from pathlib import Path

import pytest

from mcquack.bench import ranking
from mcquack.bench.store import Store
from mcquack.bench.suite import read_suite

STUDIES = Path(__file__).parents[2] / "studies"

pytestmark = pytest.mark.skipif(not STUDIES.is_dir(), reason="a source archive has no results")


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def test_all_models_are_done_on_all_draws_of_the_race() -> None:
    from studies.real_world import race

    with Store.open(race.ROWS) as store:
        assert not store.counts().failed
    once = {"pm2", "pm4"}  # all of their samples are in their parts, so that there is nothing to draw
    assert race.n_draws() == {name: 1 if name in once else 5 for name in read_suite("real-world").datasets}


def test_the_means_of_the_suites_race_follow_from_its_rows() -> None:
    from studies.qml_suite import race

    with Store.open(race.ROWS) as store:
        own = {(cell.dataset, cell.model): cell.mean("test", "accuracy") for cell in ranking.cell_scores(store)}
    table = race.scores()
    for model in ("mcquack", "svc"):
        column = next(number for number, each in enumerate(table.contenders) if each.model == model)
        for dataset, mean in zip(table.datasets, table.means[:, column], strict=True):
            assert own[dataset, model] == pytest.approx(mean, abs=1e-5)


def test_the_first_page_tells_the_places_of_mcquack() -> None:
    from studies.qml_suite import race as qml
    from studies.real_world import compare, race

    first_page = " ".join(text_of(STUDIES.parent / "README.md").split())
    for metric in race.METRICS:
        own = next(each for each in race.standings(metric) if each.contender.model == race.MCQUACK)
        assert f"{own.average_rank:.3f}" in first_page
        assert f"{own.mean_score:.3f}" in first_page
    told = {
        f"(mean balanced accuracy {compare.mean(compare.scores(), 'mcquack', 'balanced_accuracy'):.3f}",
        f"McQuack has {compare.mean(compare.scores(), compare.DEFAULTS, 'balanced_accuracy'):.3f}",
        f"first of six by AUC ({compare.mean(compare.scores(), compare.DEFAULTS, 'auc'):.3f})",
    }
    assert {text for text in told if text not in first_page} == set()
    own = next(each for each in qml.standings() if each.contender.model == "mcquack")
    assert f"{own.average_rank:.3f}" in first_page
