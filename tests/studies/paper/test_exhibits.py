"""Our side of every item is what the rows say, calculated here another way."""

import csv
import io
import statistics

import pytest

from mcquack.bench.ranking import CellScores
from mcquack.bench.store import Store
from studies.paper import hardware, past, qml_suite, real_world, trainability
from studies.paper.items import ITEMS, real_world_scores, values
from studies.paper.sources import CUT_OFF, NOT_RUN, Sources
from studies.paper.stores import Stores
from tests.report.benchmark.fakes import published_cells
from tests.report.fakes import known
from tests.report.trainability.fakes import observations, study_of
from tests.studies.paper.fakes import QML, REAL_WORLD


def read(exhibit, name):
    """A table of an exhibit, as its file has it."""
    (table,) = (table for table in exhibit.all_tables if table.name == name)
    return list(csv.DictReader(io.StringIO(table.csv)))


def test_scores_on_real_data_are_the_means_of_the_rows(exhibits, stores):
    found: dict[tuple[str, str], list[float]] = {}
    with Store.open(stores.path("real_world")) as store:
        for outcome in store.outcomes(phase="final"):
            found.setdefault((outcome.task.dataset, outcome.task.model), []).append(outcome.scores["test"]["auc"])
    table = {row["dataset"].lower(): row for row in read(exhibits["real_world_auc"], "real_world_auc_auc")}
    titles = {cell.model: cell.title for cell in real_world_scores()}
    paper = {(cell.dataset, cell.model): cell.mean("test", "auc") for cell in real_world_scores()}
    assert len(table) == 20
    for (dataset, model), scores in found.items():
        row = table[dataset]
        assert float(row[titles[model]]) == pytest.approx(statistics.fmean(scores))
        assert float(row[f"{titles[model]}, paper"]) == paper[dataset, model]
    assert table["mnist"]["McQuack"] == ""  # which our rows do not have
    assert table["mnist"]["McQuack, paper"] == "0.92"


def test_only_what_both_have_is_compared(exhibits):
    verdict = exhibits["real_world_auc"].verdict
    assert verdict.n_checks == len(REAL_WORLD) * 5
    assert exhibits["real_world_others"].verdict.n_checks == 4 * verdict.n_checks


def test_the_papers_own_scores_are_the_same_as_the_papers():
    theirs = real_world_scores()
    own = [_as_ours(cell) for cell in theirs]
    for item, metrics in (("real_world_auc", ("auc",)), ("real_world_others", real_world.OTHERS)):
        found = real_world.score_exhibit(item, own, metrics)
        assert found.verdict.kind == "same"
        assert found.verdict.n_held == 100 * len(metrics)
    assert real_world.parameter_exhibit(own).verdict.kind == "same"


def _as_ours(cell):
    values = {key: (mean,) for key, (mean, _) in cell.reported.items()}
    kept = {"dataset": cell.dataset, "family": cell.family, "model": cell.model, "title": cell.title}
    return CellScores(values=values, n_parameters=cell.n_parameters, **kept)


def test_models_that_the_paper_does_not_have_change_none_of_its_ranks():
    own = [_as_ours(cell) for cell in real_world_scores()]
    other = [CellScores(dataset=cell.dataset, family="", model="mlp", title="MLP", values=cell.values) for cell in own]
    assert real_world.paper_models([*own, *other]) == tuple(own)


def test_ranks_on_real_data_are_from_zero_for_the_best():
    own = [_as_ours(cell) for cell in real_world_scores() if cell.dataset == "mnist"]
    by_model = {line.contender.model: line.average_rank for line in real_world.unit_standings(own, "auc")}
    scores = {cell.model: cell.mean("test", "auc") for cell in own}
    ordered = sorted(scores, key=lambda model: known(scores[model]), reverse=True)
    assert [by_model[model] for model in ordered] == [0.0, 0.25, 0.5, 0.75, 1.0]


def test_the_claims_of_an_order_follow_from_the_ranks(exhibits):
    exhibit = exhibits["real_world_ranking"]
    ranks = {(row["metric"], row["model"]): float(row["average rank"]) for row in read(exhibit, "real_world_ranks")}
    checks = {check.what: check for check in exhibit.checks}
    expected = ranks["AUC", "McQuack"] < ranks["AUC", "VC"]
    assert checks["McQuack before VC by AUC"].holds is expected
    assert checks["NN before SVC by balanced accuracy"].holds is (
        ranks["Balanced accuracy", "NN"] < ranks["Balanced accuracy", "SVC"]
    )


def test_accuracies_on_hardware_are_means_over_draws_and_runs(exhibits):
    rows = {row["model"]: row for row in read(exhibits["hardware_results"], "hardware_results")}
    assert float(rows["McQuack, Pittsburgh"]["accuracy"]) == pytest.approx(
        statistics.fmean([0.80, 0.82, 0.84, 0.84, 0.86, 0.88])
    )
    assert float(rows["McQuack, Pittsburgh"]["accuracy, paper"]) == pytest.approx(0.8333, abs=1e-4)
    check = next(check for check in exhibits["hardware_results"].checks if check.what == "SVC")
    assert check.ours == "0.840 ± 0.020"
    assert check.holds


def test_the_chosen_tolerances_are_those_of_the_rows(exhibits):
    rows = {row["model"]: row for row in read(exhibits["calibration"], "calibration")}
    told = ("median b", "smallest", "largest", "runs")
    assert [int(rows["McQuack, Pittsburgh"][name]) for name in told] == [38, 37, 40, 6]
    verdict = {check.what: check.holds for check in exhibits["calibration"].checks}
    assert verdict == {"b on Pittsburgh": False, "b on Aachen": None}  # the paper's 45 is beyond the largest


def test_what_follows_from_the_package_alone_is_the_papers(exhibits):
    for item in ("overview", "circuit", "device", "hardware_dataset", "shot_cost", "class_counts"):
        assert exhibits[item].verdict.kind == "same", [check for check in exhibits[item].checks if not check.holds]
    for item in ("qml_spaces", "real_world_spaces", "baselines"):
        assert exhibits[item].verdict.kind == "same"
    differing = [check.what for check in exhibits["datasets"].checks if not check.holds]
    assert differing == ["features of DoH"]


def test_the_ring_on_the_device_has_the_papers_size(exhibits):
    pytest.importorskip("qiskit_ibm_runtime")
    assert exhibits["layout"].verdict.sentence == "The same: all 2 comparisons hold."


def test_a_store_whose_last_run_was_cut_off_is_told(exhibits):
    assert CUT_OFF in exhibits["hardware_results"].notes  # as the fake one says
    assert CUT_OFF not in exhibits["real_world_auc"].notes


def test_a_device_that_cannot_be_drawn_is_no_reason_to_stop(monkeypatch):
    monkeypatch.setattr(hardware, "SNAPSHOT", "fake_nowhere")
    found = hardware.layout_exhibit()
    assert found.status == "missing"
    assert found.sentence.startswith("Not drawn: ")


def test_the_suite_is_ranked_without_our_other_models(exhibits):
    models = {row["model"] for row in read(exhibits["qml_ranking"], "qml_ranks")}
    assert models == {"McQuack", "NystroemSVM", "MLP"}  # an MLP of ours where the published one is not there
    assert "could not be read" in exhibits["qml_ranking"].notes[0]


def test_published_models_come_in_on_the_datasets_of_our_rows(stores, monkeypatch):
    sources = Sources(stores=stores)
    published = published_cells((*QML, "two_curves_20"), models=("MLPClassifier", "DressedQuantumCircuitClassifier"))
    monkeypatch.setitem(sources.__dict__, "published", (published, ""))
    cells, note = qml_suite.paper_pool(sources)
    assert note == ""
    assert {cell.dataset for cell in cells} == set(QML)
    assert {cell.model for cell in cells} == {
        "mcquack",
        "nystroem_svm",
        "MLPClassifier",
        "DressedQuantumCircuitClassifier",
    }


def test_places_in_families_follow_from_the_ranks_there(exhibits):
    rows = read(exhibits["qml_families"], "qml_ranks_by_family")
    checks = {check.what: check for check in exhibits["qml_families"].checks}
    ranks = {row["model"]: float(row["two_curves"]) for row in rows}
    better = sum(rank < ranks["McQuack"] for rank in ranks.values())
    assert checks["McQuack in two_curves"].ours == f"place {better + 1} of {len(ranks)}"
    assert checks["McQuack in two_curves"].holds is (better < 3)
    assert checks["McQuack in linearly_separable"].holds is False  # of three models none is fourth, as in the paper
    assert checks["McQuack in mnist_pca"].holds is None


@pytest.mark.parametrize(("change", "trend"), [(0.1, "rises"), (-0.1, "falls"), (0.0, "stays")])
def test_trends_follow_from_the_smallest_and_the_largest_size(change, trend):
    def cell(family, n):
        score = 0.8 + (change if n == 20 else 0.0)
        return CellScores(
            dataset=f"{family}_{n}",
            family=family,
            size=n,
            model="mcquack",
            title="McQuack",
            values={("test", "accuracy"): (score, score), ("train", "accuracy"): (score + 0.06,) * 2},
        )

    trends = values()["qml_suite"]["trends"]
    found = qml_suite.size_exhibit([cell(family, n) for family in trends for n in (2, 10, 20)], ())
    held = {check.what: check.holds for check in found.checks}
    for family, expected in trends.items():
        assert held[f"accuracy of McQuack in {family}"] is (expected == trend)
    assert held["McQuack overfits in hidden_manifold"]


def test_gradients_that_fall_exponentially_are_told_apart(exhibits):
    held = {check.what: check.holds for check in exhibits["gradients"].checks}
    assert len(held) == 2
    study = study_of(observations(sizes=range(2, 14), n_seeds=3, epochs=0))
    found = trainability.gradient_exhibit(study)
    verdicts = {check.what.rpartition(", ")[2]: check for check in found.checks}
    assert verdicts["all ones"].ours == "exponential"  # as the fakes are made
    assert not verdicts["all ones"].holds
    assert verdicts["small and normal"].holds


def test_losses_and_importances_follow_from_the_observations(exhibits):
    held = {check.what: check.holds for check in exhibits["losses"].checks}
    assert held["small starts have the higher test accuracy"]
    assert held["ones go a larger share of the way uphill"]
    (small, ones) = read(exhibits["losses"], "losses")
    assert float(small["test accuracy"]) > float(ones["test accuracy"])
    assert any("0.1" in sentence for sentence in exhibits["losses"].findings)
    main = next(check for check in exhibits["importance"].checks if check.what == "init_small for the test accuracy")
    assert main.holds
    assert main.paper == "above 0.7"


def test_a_study_without_training_is_left_open():
    study = study_of(observations(sizes=(2, 3), n_seeds=1, epochs=0))
    assert trainability.loss_exhibit(study).status == "open"
    assert trainability.importance_exhibit(study).status == "open"


def test_further_stores_are_ranked_past_the_paper(exhibits):
    race = exhibits["past_qml_suite_race"]
    assert race.status == "past"
    models = {row["model"] for row in read(race, "past_qml_suite_race_accuracy")}
    assert any("tuned" in model for model in models)
    assert "is first of 3 models" in race.sentence
    alone = exhibits["past_real_world_defaults"]
    assert "McQuack, defaults" in {row["model"] for row in read(alone, "past_real_world_defaults_auc")}
    assert "6 models" in alone.sentence
    assert exhibits["past_real_world_broken"].sentence.startswith("The store cannot be read: ")


def test_stores_whose_names_differ_in_signs_alone_are_two_items(tmp_path):
    (tmp_path / "real_world").mkdir()
    for name in ("a b", "a-b", "auc"):
        (tmp_path / "real_world" / f"{name}.sqlite").touch()
    found = [exhibit.item.id for exhibit in past.exhibits(Sources(stores=Stores(folder=tmp_path)))]
    assert len(set(found) | set(ITEMS)) == len(found) + len(ITEMS) == 3 + len(ITEMS)


def test_missing_stores_are_told_with_their_commands(tmp_path):
    sources = Sources(stores=Stores(folder=tmp_path))
    parts = (qml_suite.exhibits(sources), real_world.exhibits(sources), trainability.exhibits(sources))
    found = [exhibit for part in parts for exhibit in part if exhibit.item.study]
    assert len(found) == sum(item.study != "" and item.section != "hardware" for item in ITEMS.values())
    for exhibit in found:
        assert exhibit.sentence == NOT_RUN
        assert exhibit.status == "missing"
        assert exhibit.commands == sources.stores.commands(exhibit.item.study)
    assert list(past.exhibits(sources)) == []
