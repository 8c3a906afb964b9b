"""Text follows from numbers: other numbers, other words."""

from dataclasses import replace

import pytest

from mcquack.bench.ranking.ranks import Interval
from mcquack.report.trainability.sections.gradients import all_decays, scaling_section, shown_decays
from mcquack.report.trainability.sections.kernels import kernel_section, shot_section
from mcquack.report.trainability.sections.paper import comparisons
from mcquack.report.trainability.sections.section import file_name, listed, span, spent, with_interval
from mcquack.report.trainability.sections.shares import complete_rows, importance_section, importances
from mcquack.report.trainability.sections.training import means, training_section
from mcquack.report.trainability.study import Study
from mcquack.studies.trainability.observation import GradientStatistics, Observation
from tests.report.trainability.fakes import (
    observation,
    observations,
    rate_observations,
    step_observations,
    wide_observations,
)


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
    what = "mean square of the weight gradients"
    assert f"Grid paper, all ones, {what}: from 2 to 7 qubits it decays" in lead
    assert f"Grid shallow 2, small and normal, {what}: from 8 to 1000 qubits it decays polynomially, as n^(-2." in lead


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
    from mcquack.checks import OPTUNA
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


def scaled(exponent, *, sizes=(2, 4, 6, 8, 10, 13)):
    """The grid with gradients of a known size, without scatter."""
    found = []
    for each in observations(sizes=sizes, n_seeds=1, epochs=4):
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
    found = [each for each in comparisons(study, all_decays(study), ()) if each.statement.endswith("13 qubits")]
    assert [each.agrees for each in found] == [agrees, agrees]
    assert all(told in each.measured for each in found)


def test_fewer_sizes_than_the_papers_do_not_agree_with_it():
    few = scaled(lambda n: n**-2.0, sizes=(2, 3, 4, 5, 6, 7))
    told = [each for each in comparisons(few, all_decays(few), ()) if each.statement.endswith("13 qubits")]
    assert {each.agrees for each in told} == {None}


def test_the_verdict_on_plateaus_has_a_number():
    study = scaled(lambda n: 2.0**-n)
    found = [each for each in comparisons(study, all_decays(study), ()) if each.statement.endswith("13 qubits")]
    assert all("halve the mean square 2.0 to 2.0 times for each qubit" in each.measured for each in found)


def test_what_the_paper_says_is_not_held_against_other_models():
    study = scaled(lambda n: n**-2.0)
    others = [Observation(**{**vars(each), "model": "vc"}) for each in study.observations]
    other = study_of(others)
    assert list(comparisons(other, all_decays(other), ())) == []
    both = study_of([*study.observations, *others])
    found = [each for each in comparisons(both, all_decays(both), ()) if "plateaus" in each.statement]
    assert all("of 4 settings" in each.measured for each in found)
    assert not [each for each in comparisons(both, {}, importances(both)[0]) if "fANOVA" in each.statement]


def test_variational_classifiers_have_no_kernel_entries():
    given = [Observation(**{**vars(each), "model": "vc"}) for each in wide_observations(n_seeds=1)]
    titles = [picture.title for picture in scaling_section(study_of(given), all_decays(study_of(given))).pictures]
    whose = ("loss", "single expectation value")
    assert titles == [f"Gradients of the {each}, grid shallow 2" for each in whose]
    assert shot_section(study_of(given)) is None


def test_the_verdict_on_oscillation_tells_how_was_trained():
    found = study_of([observation(4, small=small, seed=seed, lr=0.01) for small in (True, False) for seed in (0, 1)])
    told = next(each.measured for each in comparisons(found, {}, ()) if "oscillate" in each.statement)
    assert told.endswith("(learning rate 0.01, epochs 30)")


def test_a_loss_with_its_regulariser_may_oscillate_where_the_alignment_does_not():
    def trained(small, seed):
        falling, rising = (0.9, 0.6, 0.5, 0.4), (0.9, 1.2, 1.0, 1.1 + 0.01 * seed)
        trace = {"loss": falling, "loss_kao": falling if small else rising}
        return Observation(**{**vars(observation(4, small=small, seed=seed)), "trace": trace})

    found = study_of([trained(small, seed) for small in (True, False) for seed in (0, 1)])
    after_epochs, minimised = (each for each in comparisons(found, {}, ()) if "oscillate" in each.statement)
    assert (after_epochs.agrees, minimised.agrees) == (None, True)
    assert "1 − A after each epoch" in after_epochs.measured
    assert "minimised loss" in minimised.measured
    pictures = [picture.title for picture in training_section(found).pictures]
    assert "Minimised loss, grid paper" in pictures


def test_thousandths_of_the_way_are_no_oscillation():
    def trained(small, seed):
        trace = {"loss": (0.9, 0.6, 0.601 + 0.0001 * seed if small else 0.59, 0.4)}
        return Observation(**{**vars(observation(4, small=small, seed=seed)), "trace": trace})

    found = study_of([trained(small, seed) for small in (True, False) for seed in (0, 1, 2)])
    (told,) = (each for each in comparisons(found, {}, ()) if "oscillate" in each.statement)
    assert told.agrees is None
    assert "neither oscillates" in told.measured


def test_importances_that_seeds_drown_decide_nothing(study, decisive):
    drowned = [replace(each, anova=replace(each.anova, noise=0.6)) for each in decisive]
    assert {each.agrees for each in comparisons(study, {}, drowned) if "fANOVA" in each.statement} == {None}


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
    def verdicts(of):
        return {
            each.measured.split(", normalised")[0]: each.verdict
            for each in comparisons(study, {}, of)
            if "fANOVA" in each.statement
        }

    def with_shares(each, **shares):
        assert each.forest is not None
        return replace(each, anova=replace(each.anova, noise=0.1), forest=replace(each.forest, normalised=shares))

    own = [each for each in decisive if each.series == "paper"]
    assert verdicts(own)["for the test accuracy"] == "agrees"
    for first, second, verdict in ((0.71, 0.19, "agrees"), (0.69, 0.19, "differs"), (0.71, 0.21, "differs")):
        shares = {"init_small": first, "n_qubits": second}
        found = verdicts([with_shares(each, **shares) for each in own])
        assert found == dict.fromkeys((f"for the {each.target}" for each in own), verdict)
    assert verdicts([each for each in decisive if each.series != "paper"]) == {}


def test_an_importance_tells_which_level_is_better(decisive):
    accuracy, loss, _ = (each for each in decisive if each.series == "paper")
    assert accuracy.direction("init_small").startswith("mean 0.89 for small and normal and 0.70 for all ones, where tr")
    assert "memorises" not in accuracy.direction("init_small")
    assert "so that the lowest training loss is that of small and normal" in loss.direction("init_small")
    dip = replace(loss, rows=tuple((settings, abs(settings["n_qubits"] - 4.0)) for settings, _ in loss.rows))
    assert dip.direction("n_qubits").endswith("the lowest training loss is that of qubits 4")  # which is no end
    ends = accuracy.direction("n_qubits")  # six sizes, of which the ends are told
    assert "for qubits 2 and" in ends
    assert "for qubits 7" in ends
    section = importance_section(decisive, ())
    assert f"; {accuracy.direction('init_small')}." in section.lead[0]


def test_a_start_that_only_fits_its_training_samples_memorises(decisive):
    accuracy = decisive[0]
    fitted = [(settings, 0.95 if settings["init_small"] else 1.0) for settings, _ in accuracy.trained]
    told = replace(accuracy, trained=tuple(fitted)).direction("init_small")
    assert told.endswith("where training accuracy is 0.95 and 1.00: with all ones the model memorises")


def test_decays_of_kernel_entries_stand_beside_those_of_the_loss():
    study = scaled(lambda n: n**-2.0)  # the loss: single entries of the fake fall exponentially
    of_loss, of_entries = (
        [each for each in comparisons(study, all_decays(study), ()) if each.statement.endswith(end)]
        for end in ("13 qubits", "what a device measures")
    )
    assert {each.agrees for each in of_loss} == {True}
    assert {each.agrees for each in of_entries} == {False}
    assert all("the loss divides by the kernel’s norm" in each.measured for each in of_entries)


def test_steps_of_the_whole_sample_are_compared_rate_by_rate(found):
    with_steps = study_of([*found, *step_observations()])
    assert list(with_steps.starts) == ["paper", "shallow_2"]
    told = [each for each in comparisons(with_steps, {}, ()) if "the whole sample as one batch" in each.measured]
    assert [(each.agrees, each.measured.split("(")[-1].rstrip(")")) for each in told] == [
        (None, "the whole sample as one batch, learning rate 0.01, epochs 30"),
        (None, "the whole sample as one batch, learning rate 0.01, epochs 30"),
        (True, "the whole sample as one batch, learning rate 0.1, epochs 30"),
        (True, "the whole sample as one batch, learning rate 0.1, epochs 30"),
    ]
    section, without = training_section(with_steps), training_section(study_of(found))
    assert section.lead == without.lead
    new = {picture.name for picture in section.pictures} - {picture.name for picture in without.pictures}
    assert new == {"losses_steps", "minimised_steps", "oscillation_steps"}
    drawn = next(picture.figure for picture in section.pictures if picture.name == "losses_steps")
    assert [ax.get_xlabel() for ax in drawn.axes] == ["step"] * 4


def test_shares_are_never_below_zero():
    assert with_interval(0.01, Interval(low=-0.02, high=0.04, level=0.95), digits=1) == "0.01 (95 % interval 0 to 0.04)"


def test_endless_shots_are_counted():
    measured = {"log10_shots_prediction": 2.0, "log10_shots_alignment": 3.0, "log10_shots_entry": 4.0}
    dark = {name: shots for name, shots in measured.items() if name != "log10_shots_entry"}
    given = [
        replace(observation(n, seed=seed), kernel=measured if seed else dark) for n in (2, 3) for seed in (0, 1, 2)
    ]
    assert any("in 2 of 6 runs, which are left out" in sentence for sentence in shot_section(study_of(given)).lead)
    assert not any("left out" in sentence for sentence in shot_section(study_of(given[1:3])).lead)


def test_kernels_and_shots_are_told_for_every_series(study):
    assert any(
        "Grid shallow 2, all ones, variance of the kernel’s entries" in each for each in kernel_section(study).lead
    )
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
