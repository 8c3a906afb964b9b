from dataclasses import replace

import pytest

from mcquack.bench.store import Store
from mcquack.report.benchmark.analysis import analyse
from mcquack.report.benchmark.contents import read_contents
from mcquack.report.benchmark.page import page, searches
from tests.report.benchmark.fakes import DATASETS, fake_store, published_cells, reversed_copy


def contents_of(path, **given):
    with Store.open(path) as store:
        return read_contents(store, **given)


def test_every_task_of_the_store_is_in_one_cell(contents, store_path):
    with Store.open(store_path) as store:
        ids = store.finished_ids() | store.failed_ids()
    found = [outcome.task.id for cell in contents.cells for outcome in cell.outcomes]
    assert len(found) == len(ids)
    assert set(found) == ids


def test_details_are_those_of_final_tasks(contents):
    assert all(outcome.details for cell in contents.cells for outcome in cell.finals if not outcome.failed)


def test_a_search_is_read_as_settings_with_their_scores(contents):
    for cell in contents.cells:
        assert len(cell.trials) == cell.choice.n_settings
        best = max(cell.trials, key=lambda trial: trial.score("accuracy"))
        assert best.score("accuracy") == pytest.approx(cell.choice.score)
        assert best.settings == cell.choice.settings


def test_the_order_does_not_depend_on_which_task_ended_first(store_path, contents, tmp_path):
    assert contents_of(reversed_copy(store_path, tmp_path / "s.sqlite"), published=published_cells()) == contents


def test_datasets_come_as_the_suite_has_them_family_by_family(tmp_path):
    mixed = ("two_curves_8", "linearly_separable_2", "two_curves_2")
    contents = contents_of(fake_store(tmp_path / "s.sqlite", datasets=mixed, models=["svc"], n_seeds=1, n_settings=0))
    assert [dataset.name for dataset in contents.datasets] == ["two_curves_8", "two_curves_2", "linearly_separable_2"]
    assert [dataset.size for dataset in contents.datasets] == [8, 2, 2]


def test_published_scores_on_other_datasets_are_left_out(store_path):
    theirs = published_cells(("two_curves_3", *DATASETS))
    contents = contents_of(store_path, published=theirs)
    assert {cell.dataset for cell in contents.scores} <= set(DATASETS)
    assert any(cell.is_published for cell in contents.scores)


def test_the_metric_shown_first_is_the_one_that_settings_were_chosen_by(contents):
    assert contents.metric == "accuracy"
    by_auc = tuple(replace(cell, choice=replace(cell.choice, metric="auc")) for cell in contents.cells)
    assert replace(contents, cells=by_auc).metric == "auc"


def test_a_cell_whose_every_seed_failed_has_no_scores_but_is_told_of(contents):
    assert not any(cell.dataset == DATASETS[0] and cell.model == "vc" for cell in contents.scores)
    assert any(cell.dataset == DATASETS[0] and cell.contender.model == "vc" for cell in contents.cells)
    assert len(contents.failures) == 6


def test_models_of_the_same_title_are_told_apart_also_where_one_has_no_scores(tmp_path):
    models = ("svc", "sklearn.svm:SVC")
    path = fake_store(
        tmp_path / "s.sqlite", datasets=DATASETS[:1], models=models, failing={(DATASETS[0], "svc"): range(5)}
    )
    contents = contents_of(path)
    assert {cell.contender.title for cell in contents.cells} == set(models)
    assert [cell.contender for cell in contents.scores] == [
        cell.contender for cell in contents.cells if cell.contender.model == "sklearn.svm:SVC"
    ]
    assert [(model, n_datasets) for model, _, _, n_datasets, *_ in searches(contents).rows] == [
        ("sklearn.svm:SVC", 1),
        ("svc", 1),
    ]


def test_scores_of_which_seeds_are_missing_say_so(store_path, tmp_path):
    with Store.open(store_path) as old, Store.open(tmp_path / "cut.sqlite", create=True) as new:
        for choice in old.choices().values():
            new.choose(choice)
        for outcome in old.outcomes():
            if outcome.task.phase == "search" or outcome.task.seed < 2:
                new.add(outcome)
        assert {cell.note for cell in read_contents(new).scores} == {"2 of 5 seeds done"}


def test_the_title_is_the_users_or_the_suites_or_the_name_of_the_store(store_path, tmp_path):
    assert contents_of(store_path, title="Mine").title == "Mine"
    assert contents_of(store_path).title == "A fake benchmark"
    with Store.open(tmp_path / "bare.sqlite", create=True) as store:
        assert read_contents(store).title == "bare"


@pytest.mark.parametrize("n_left", [0, 1, 5])
def test_a_cell_without_all_its_final_tasks_is_unfinished_and_not_failed(contents, n_left):
    cell = contents.cells[-1]
    cut = replace(contents, cells=(*contents.cells[:-1], replace(cell, finals=cell.finals[n_left:])))
    assert cut.cells[-1].state == ("done" if n_left == 0 else "unfinished")
    assert cut.n_unfinished == (n_left > 0)


def test_a_cell_that_nobody_began_is_unfinished(contents):
    assert replace(contents, cells=contents.cells[2:]).n_unfinished == 2


def test_a_search_without_a_choice_has_failed_only_if_all_settings_have(contents):
    cell = replace(contents.cells[0], choice=None, finals=(), is_over=False)
    assert cell.state == "unfinished"
    trials = tuple(replace(trial, outcomes=contents.failures[:1]) for trial in cell.trials)
    assert replace(cell, trials=trials).state == "failed"


@pytest.mark.parametrize(
    ("how", "command", "state"),
    [
        ("done", "mcquack bench run fake.toml", "nothing could be chosen"),
        ("interrupted", "mcquack bench run fake.toml", "unfinished"),
        (None, "mcquack bench run fake.toml", "unfinished"),
        ("done", "mcquack bench retry s.sqlite --failed --models vc", "unfinished"),  # of this cell it says nothing
    ],
)
def test_a_search_that_is_over_without_a_choice_is_told_from_one_that_goes_on(
    store_path, tmp_path, how, command, state
):
    with Store.open(store_path) as old, Store.open(tmp_path / "s.sqlite", create=True) as new:
        new.begin_run(replace(old.runs()[0], command=command, how=how))
        new.add(next(old.outcomes(phase="search")))
        contents = read_contents(new)
    assert contents.cells[0].state == state
    assert contents.n_without_choice == (state == "nothing could be chosen")
    text = page(contents, analyse(contents), links={})
    assert ("No settings could be chosen for 1 pair of a model and a dataset" in text) == contents.n_without_choice
