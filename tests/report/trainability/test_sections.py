"""Text follows from numbers: other numbers, other words."""

import pytest

from mcquack.report.trainability.sections.importance import importance_section
from mcquack.report.trainability.sections.kernels import kernel_section
from mcquack.report.trainability.sections.paper import comparisons
from mcquack.report.trainability.sections.scaling import all_decays, scaling_section, shown_decays
from mcquack.report.trainability.sections.section import file_name
from mcquack.report.trainability.sections.shares import complete_rows, importances
from mcquack.report.trainability.sections.shots import shot_section
from mcquack.report.trainability.sections.training import means, training_section
from mcquack.report.trainability.sections.words import listed, span, spent
from mcquack.report.trainability.study import Study
from mcquack.studies.trainability.observation import GradientStatistics, Observation
from tests.report.trainability.fakes import observation, observations, rate_observations


def study_of(found):
    return Study(
        title="x", runs=(), observations=tuple(found), failures=(), environments=(), prints={}, n_done=0, seconds=0.0
    )


def test_series_begin_with_the_papers_and_then_grow(study):
    assert list(study.series) == ["paper", "rates", "shallow_2"]
    assert list(study.starts) == ["paper", "shallow_2"]  # rates change nothing before the first step
    assert sum(map(len, study.series.values())) == len(study.observations)
    assert study.n_seeds == 2


def test_observations_with_landscapes_stand_for_themselves():
    kept = {"random": {"first": [0.0], "second": [0.0], "losses": [[1.0]], "path": []}}
    shown = Observation(**{**vars(observation(4, series="landscape")), "landscapes": kept})
    assert list(study_of([observation(4), shown]).series) == ["paper"]
    assert list(study_of([shown]).series) == ["landscape"]


def test_a_study_of_rates_alone_still_tells_its_start():
    assert list(study_of(rate_observations(n_seeds=1)).starts) == ["rates"]


@pytest.fixture(scope="module")
def decays(study):
    return all_decays(study)


def test_verdicts_of_decays_stand_in_the_text(study, decays):
    lead = " ".join(scaling_section(study, decays).lead)
    assert "Paper, all ones: from 2 to 7 qubits it decays" in lead
    assert "Shallow 2, small and normal: from 8 to 1000 qubits it decays polynomially, as n^(-2." in lead


def test_shown_decays_are_those_of_the_slice_under_their_short_names(study, decays):
    shown = shown_decays(study.series["paper"], decays["paper", "gradients"])
    assert {each.line.label for each in shown} == {"small and normal", "all ones"}
    assert len(shown) == 6


def test_oscillation_is_told_for_either_start(study):
    lead = training_section(study).lead
    assert [sentence.partition(":")[0] for sentence in lead] == ["Small and normal", "All ones"]
    assert all("of the way leads uphill" in sentence for sentence in lead)
    small, ones = means(study.series["paper"], ("init_small",), "way uphill")
    assert small.settings["init_small"] is True
    assert small.mean < ones.mean


@pytest.fixture(scope="module")
def decisive(study):
    found, faults = importances(study)
    assert not faults
    return found


def test_the_setting_that_was_made_to_decide_decides(decisive):
    accuracy = next(each for each in decisive if (each.series, each.target) == ("paper", "test accuracy"))
    assert accuracy.anova.share("init_small") > 0.9
    assert max(accuracy.forest.normalised, key=accuracy.forest.normalised.get) == "init_small"


def test_without_optuna_the_exact_shares_remain(study, monkeypatch):
    from mcquack.extras import OPTUNA
    from mcquack.report.trainability.sections import shares

    def missing(*_, **__):
        raise OPTUNA.needed(what="fANOVA")

    monkeypatch.setattr(shares, "forest_importances", missing)
    found, _ = shares.importances(study)
    assert all(each.forest is None for each in found)
    section = importance_section(found, ())
    assert any("mcquack[optuna]" in note for note in section.notes)
    assert not any("fANOVA" in sentence for sentence in section.lead)


def test_only_sizes_with_all_combinations_are_kept():
    rows = [({"n_qubits": n, "a": a}, 0.0) for n in (2, 3) for a in (0, 1)][:-1]
    kept, left_out = complete_rows(rows, ("a", "n_qubits"))
    assert ([settings["n_qubits"] for settings, _ in kept], left_out) == ([2, 2], [3])
    assert complete_rows(rows, ("a",)) == (rows, [])


def scaled(exponent):
    """The grid with gradients of a known size, without scatter."""
    found = []
    for each in observations(sizes=(2, 3, 4, 5, 6, 7), n_seeds=1, epochs=4):
        size = exponent(each.settings["n_qubits"]) * (1 + 1e-3 * each.settings["regularised"])
        statistics = GradientStatistics(mean=0.0, std=size, mean_abs=size, norm=size * 10, n=100)
        found.append(Observation(**{**vars(each), "gradients": {"weights": statistics}}))
    return study_of(found)


@pytest.mark.parametrize(
    ("law", "agrees", "told"),
    [
        (lambda n: 2.0**-n, False, "4 decaying exponentially"),
        (lambda n: n**-2.0, True, "4 decaying as a power"),
        (lambda n: n**1.5, True, "4 growing"),
    ],
)
def test_the_verdict_on_plateaus_is_that_of_the_fits(law, agrees, told):
    study = scaled(law)
    found = [each for each in comparisons(study, all_decays(study), ()) if "plateaus" in each.statement]
    assert [each.agrees for each in found] == [agrees, agrees]
    assert all(told in each.measured for each in found)


def test_the_verdict_on_oscillation_turns_with_the_numbers(study):
    def verdict(of):
        return next(each.agrees for each in comparisons(of, {}, ()) if "oscillate" in each.statement)

    assert verdict(study) is True
    turned = [
        Observation(**{**vars(each), "settings": {**each.settings, "init_small": not each.settings["init_small"]}})
        for each in study.observations
    ]
    assert verdict(study_of(turned)) is False
    same = [
        Observation(**{**vars(observation(4, seed=seed)), "settings": observation(4, small=small).settings})
        for small in (True, False)
        for seed in (0, 1, 2)
    ]
    assert verdict(study_of(same)) is None


def test_the_verdict_on_importance_is_that_of_the_thresholds(study, decisive):
    verdicts = [each for each in comparisons(study, {}, decisive) if "fANOVA" in each.statement]
    assert {each.agrees for each in verdicts} <= {True, False}
    assert verdicts[0].agrees is True
    assert verdicts[0].verdict == "agrees"


def test_kernels_and_shots_are_told_for_every_series(study):
    assert any("Shallow 2, all ones, variance of the kernel’s entries" in each for each in kernel_section(study).lead)
    assert any("shots at 1,000 qubits" in each or "shot at 1,000 qubits" in each for each in shot_section(study).lead)


def test_words():
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert span([13, 2]) == "2 to 13 qubits"
    assert span([1]) == "1 qubit"
    assert spent([observation(2), observation(3)]) == (
        "100 samples in the first batch, 180 training samples, 83 to 124 layers"
    )
    assert file_name("../Evil name", "", "x$") == "___evil_name_x_"
