from mcquack.bench.store import Store
from mcquack.cli.bench import store_facts
from tests.cli.bench.values import cell, chosen, done, failed, final_task, search_task


def test_an_empty_store_has_facts(tmp_path):
    with Store.open(tmp_path / "s.sqlite", create=True) as store:
        facts = store_facts(store)
    assert (facts["n_done"], facts["n_failed"]) == (0, 0)
    assert facts["cells"] == facts["failures"] == facts["runs"] == []


def test_only_seeds_of_the_current_choice_are_scored(tmp_path):
    wine = cell("wine")
    with Store.open(tmp_path / "s.sqlite", create=True) as store:
        store.add(done(search_task(wine), score=1.0))
        store.add(done(final_task(wine, 0), score=0.25))
        store.add(done(final_task(wine, 1), score=0.75))
        store.add(done(wine.task(wine.space[1], split=final_task(wine).split), score=1.0))
        store.add(failed(final_task(wine, 2)))
        store.choose(chosen(wine, final_ids=tuple(final_task(wine, seed).id for seed in range(4))).choice)
        (facts,) = store_facts(store)["cells"]
    assert (facts["n_done"], facts["n_failed"]) == (4, 1)
    assert (facts["n_seeds"], facts["n_seeds_done"]) == (4, 2)
    assert (facts["validation"], facts["test"], facts["spread"]) == (0.75, 0.5, 0.25)
