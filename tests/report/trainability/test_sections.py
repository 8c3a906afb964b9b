"""Text and tables follow from numbers: other numbers, other words."""

from dataclasses import replace

import pytest

from mcquack.bench.ranking import Interval
from mcquack.report.document import file_name
from mcquack.report.style import listed
from mcquack.report.trainability.sections import (
    about,
    all_sections,
    complete_rows,
    importance_section,
    importances,
    means,
    scaling_section,
    shot_section,
    span,
    training_section,
    with_interval,
)
from mcquack.studies.trainability.observation import GradientStatistics, Observation
from tests.report.trainability.fakes import observation, observations, step_observations, study_of, wide_observations


def rows_of(table):
    return [dict(zip((column.title for column in table.columns), row, strict=True)) for row in table.rows]


@pytest.fixture(scope="module")
def by_id(study):
    return {section.id: section for section in all_sections(study)}


def test_a_study_has_a_section_for_all_that_was_measured(by_id):
    assert list(by_id) == ["gradients", "scaling", "training", "importance", "kernel", "shots"]
    assert all(section.lead for section in by_id.values())
    assert all(section.tables for section in by_id.values())


def test_verdicts_of_decays_stand_in_the_text_and_in_the_table(by_id):
    section = by_id["scaling"]
    lead, what = " ".join(section.lead), "mean square of the weight gradients of"
    assert f"all ones, wx + b = 0, regularised, {what} the loss: from 2 to 7 qubits it decays" in lead
    assert f"{what} a single kernel entry: from 2 to 7 qubits it decays exponentially" in lead
    wide = [
        row
        for row in rows_of(section.tables[0])
        if (row["series"], row["start"], row["group"], row["of"])
        == ("shallow_2", "small and normal", "weights", "loss")
    ]
    assert [row["verdict"] for row in wide] == ["power"]
    assert wide[0]["power"] == pytest.approx(2, abs=0.1)


def scaled(exponent, *, sizes=(2, 4, 6, 8, 10, 13)):
    """The grid with gradients of a known size, without scatter."""
    found = []
    for each in observations(sizes=sizes, n_seeds=1, epochs=4):
        size = exponent(each.settings["n_qubits"]) * (1 + 1e-3 * each.settings["regularised"])
        statistics = GradientStatistics(mean=0.0, std=size, mean_abs=size, norm=size * 10, n=100)
        found.append(Observation(**{**vars(each), "gradients": {"weights": statistics}}))
    return {"paper": found}


@pytest.mark.parametrize(
    ("law", "kind"),
    [(lambda n: 2.0**-n, "exponential"), (lambda n: n**-2.0, "power"), (lambda n: n**1.5, "growth")],
)
def test_the_verdict_on_plateaus_is_that_of_the_fits_and_has_a_number(law, kind):
    rows = [row for row in rows_of(scaling_section(scaled(law)).tables[0]) if row["of"] == "loss"]
    assert [row["verdict"] for row in rows] == [kind] * 8
    if kind == "exponential":
        assert all(row["halvings per qubit"] == pytest.approx(2, abs=1e-3) for row in rows)


def test_variational_classifiers_have_no_kernel_entries():
    given = [
        Observation(
            **{
                **vars(each),
                "model": "vc",
                "kernel": {name: x for name, x in each.kernel.items() if "shots" not in name},
            }
        )
        for each in wide_observations(n_seeds=1)
    ]
    found = {section.id: section for section in all_sections(study_of(given))}
    titles = [picture.title for picture in found["scaling"].pictures]
    assert titles == [f"Gradients of {each}, grid shallow 2" for each in ("the loss", "a single expectation value")]
    assert "shots" not in found


def test_oscillation_is_told_for_either_start(study, by_id):
    lead = by_id["training"].lead
    assert [sentence.partition(":")[0] for sentence in lead] == ["Small and normal", "All ones"]
    assert all("of the way of the loss leads uphill" in sentence for sentence in lead)
    small, ones = means(study.series["paper"], ("init_small",), "way uphill")
    assert small.settings["init_small"] is True
    assert small.mean < ones.mean


def test_runs_that_diverged_are_left_out_and_counted():
    broken = Observation(**{**vars(observation(3)), "trace": {"loss": (0.5, 0.4, None)}})
    lead = training_section({"paper": [observation(2), broken]}).lead
    assert lead[-1].startswith("Left out: 1 run with a loss that is no number")


def test_the_table_of_training_has_the_means_of_what_came_of_it(study, by_id):
    rows = rows_of(by_id["training"].tables[0])
    assert len(rows) == 8
    first = [
        each
        for each in study.series["paper"]
        if (each.settings["init_small"], each.settings["init_strategy"], each.settings["regularised"])
        == (True, "default", True)
    ]
    assert (rows[0]["init_small"], rows[0]["init_strategy"], rows[0]["runs"]) == ("True", "default", len(first))
    accuracy = sum(each.scores["test_accuracy"] for each in first) / len(first)
    assert rows[0]["test accuracy"] == pytest.approx(accuracy)


def test_steps_of_the_whole_sample_are_drawn_and_told_rate_by_rate(study):
    section = training_section({**study.trained, "steps": step_observations()})
    assert [picture.name for picture in section.pictures] == ["losses_paper", "losses_steps"]
    assert [ax.get_xlabel() for ax in section.pictures[1].figure.axes] == ["step"] * 4
    uphill = {(row["init_small"], row["lr"]): row["way uphill"] for row in rows_of(section.tables[-1])}
    assert uphill[("True", "0.1")] == uphill[("False", "0.01")] == 0
    assert uphill[("False", "0.1")] > 0.2


@pytest.fixture(scope="module")
def decisive(study):
    found, faults = importances(study.trained)
    assert not faults
    return found


def test_the_setting_that_was_made_to_decide_decides(decisive):
    accuracy = next(each for each in decisive if (each.series, each.target) == ("paper", "test accuracy"))
    assert accuracy.anova.share("init_small") > 0.9
    assert max(accuracy.forest, key=accuracy.forest.get) == "init_small"
    assert importance_section(decisive, ()).lead[0].startswith("Test accuracy, grid paper: init_small explains 0.9")


def test_an_importance_tells_which_level_is_better(decisive):
    accuracy = decisive[0]
    assert accuracy.levels("init_small") == "mean 0.89 for small and normal and 0.70 for all ones"
    ends = accuracy.levels("n_qubits")  # six sizes, of which the ends are told
    assert "for qubits 2 and" in ends
    assert "for qubits 7" in ends


def test_without_optuna_the_exact_shares_remain(study, monkeypatch):
    from mcquack.checks import OPTUNA

    def missing(*_, **__):
        raise OPTUNA.needed(what="fANOVA")

    monkeypatch.setattr("mcquack.report.trainability.sections.forest_importances", missing)
    found, faults = importances(study.trained)
    assert all(each.forest is None for each in found)
    section = importance_section(found, faults)
    assert ["mcquack[optuna]" in fault for fault in section.faults] == [True]
    assert not any("fANOVA" in sentence for sentence in section.lead)


def test_models_are_a_setting_like_others(study):
    others = [Observation(**{**vars(each), "model": "vc"}) for each in study.series["paper"]]
    found, _ = importances({"paper": [*study.series["paper"], *others]})
    assert all("model" in each.anova.names for each in found)


def test_only_sizes_with_all_combinations_are_kept():
    rows = [({"n_qubits": n, "a": a}, 0.0) for n in (2, 3) for a in (0, 1)][:-1]
    kept, left_out = complete_rows(rows, ("a", "n_qubits"))
    assert ([settings["n_qubits"] for settings, _ in kept], left_out) == ([2, 2], [3])
    assert complete_rows(rows, ("a",)) == (rows, [])


def test_endless_shots_are_left_out_of_the_runs_that_are_counted():
    measured = {"log10_shots_prediction": 2.0, "log10_shots_alignment": 3.0, "log10_shots_entry": 4.0}
    dark = {name: shots for name, shots in measured.items() if name != "log10_shots_entry"}
    given = [replace(observation(2, seed=seed), kernel=measured if seed else dark) for seed in (0, 1, 2)]
    counts = {row["what for"]: row["runs"] for row in rows_of(shot_section({"paper": given}).tables[0])}
    assert list(counts.values()) == [2, 3, 3]


def test_kernels_and_shots_are_told_for_every_series(by_id):
    for name in ("kernel", "shots"):
        assert {row["series"] for row in rows_of(by_id[name].tables[0])} == {"paper", "shallow_2"}
        assert "Grid paper, all ones" in " ".join(by_id[name].lead)


def test_words():
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert span([13, 2]) == "2 to 13 qubits"
    assert span([1]) == "1 qubit"
    assert about([observation(2), observation(3)]) == "2 to 3 qubits, 83 to 124 layers, 100 samples in the first batch"
    assert file_name("../Evil name", "", "x$") == "___evil_name_x_"
    assert with_interval(0.01, Interval(low=-0.02, high=0.04, level=0.95)) == "0.010 (95 % interval 0 to 0.040)"
