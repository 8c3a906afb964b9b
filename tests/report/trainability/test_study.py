"""Observations in series and lines, and what their settings are called."""

import json

import pytest

from mcquack.errors import InvalidInputError
from mcquack.report.style import number_text, power_of_ten
from mcquack.report.trainability.sections import shots_text
from mcquack.report.trainability.study import (
    factors,
    lines,
    observed_landscapes,
    paper_slice,
    read_landscape,
    setting_text,
    slice_text,
    value_place,
    varied_settings,
    with_settings,
)
from mcquack.studies.trainability import Observation
from tests.report.trainability.fakes import observation, observations, rate_observations, study_of


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (1.0, "1.00"),
        (-0.001234, "−0.00123"),
        (123456.0, "123,000"),
        (1.5e-7, "1.50 · 10⁻⁷"),
        (-2e12, "−2.00 · 10¹²"),
        (0.99999, "1.00"),
    ],
)
def test_numbers_have_three_digits(value, text):
    assert number_text(value) == text


def test_settings_are_told_in_words():
    assert setting_text("init_small", True) == "small and normal"
    assert setting_text("init_small", False) == "all ones"
    assert setting_text("lr", 0.01) == "learning rate 0.01"
    assert setting_text("n_layers", 1) == "layers 1"  # and not what True would be
    assert setting_text("some_thing", "else") == "some thing else"


def test_powers_and_shots():
    assert power_of_ten(-12) == "10⁻¹²"
    assert shots_text(0) == "1 shot"
    assert shots_text(3) == "1,000 shots"
    assert shots_text(189.2) == "about 10¹⁸⁹ shots"


GRID = observations(sizes=(2, 3), n_seeds=2)


def test_a_line_is_a_start_at_all_sizes_with_all_seeds():
    found = lines(GRID)
    assert len(found) == 8
    assert sum(len(line.observations) for line in found) == len(GRID)
    for line in found:
        assert tuple(line.by_qubits) == (2, 3)
        assert [len(group) for group in line.by_qubits.values()] == [2, 2]
        assert [each.seed for each in line.by_qubits[2]] == [0, 1]


def test_labels_tell_lines_apart_and_name_nothing_that_all_share():
    labels = [line.label for line in lines(GRID)]
    assert len(set(labels)) == 8
    assert labels[0] == "small and normal, default strategy, regularised"
    assert [line.label for line in lines(paper_slice(GRID))] == ["small and normal", "all ones"]
    assert [line.label for line in lines([observation(2)])] == ["mcquack"]


def test_the_order_of_observations_does_not_matter():
    assert [line.label for line in lines(reversed(GRID))] == [line.label for line in lines(GRID)]


def test_depths_are_a_factor_only_where_one_size_has_several():
    assert "n_layers" not in factors(GRID)
    shallow = [observation(n, n_layers=n_layers) for n in (2, 3) for n_layers in (1, 2)]
    assert factors(shallow) == ("n_layers",)
    assert [line.label for line in lines(shallow)] == ["layers 1", "layers 2"]


def test_budgets_and_draws_of_the_data_do_not_split_a_line():
    found = [observation(n, batch_size=200 // n, data_seed=seed, seed=seed) for n in (2, 4) for seed in (0, 1)]
    assert "batch_size" in varied_settings(found)
    assert len(lines(found)) == 1


def test_a_setting_may_be_kept_from_telling_lines_apart():
    rates = rate_observations(n_seeds=1)
    assert len(lines(rates)) == 6
    assert [line.label for line in lines(rates, apart_from=("lr",))] == ["small and normal", "all ones"]


def test_the_slice_of_the_paper_is_as_narrow_as_the_observations_allow():
    assert {each.settings["init_strategy"] for each in paper_slice(GRID)} == {"wx+b=0"}
    assert {each.settings["regularised"] for each in paper_slice(GRID)} == {True}
    plain = with_settings(GRID, regularised=False)
    assert {each.settings["init_strategy"] for each in paper_slice(plain)} == {"wx+b=0"}
    assert len(paper_slice(plain)) == len(plain) / 2
    assert slice_text(GRID) == " (regularised, wx + b = 0)"
    assert slice_text(plain) == " (wx + b = 0)"
    assert slice_text(paper_slice(GRID)) == ""


def test_true_comes_first_then_numbers_by_size_then_names():
    assert sorted([False, "b", 3, True, "a", 0.5], key=value_place) == [True, False, 0.5, 3, "a", "b"]


def test_models_tell_lines_apart():
    both = [*GRID, *(type(each)(**{**vars(each), "model": "quack"}) for each in GRID)]
    found = lines(with_settings(both, init_small=True, regularised=True, init_strategy="default"))
    assert [line.label for line in found] == ["mcquack", "quack"]


def test_series_begin_with_the_papers_and_then_grow(study):
    assert list(study.series) == ["paper", "rates", "shallow_2"]
    assert list(study.starts) == ["paper", "shallow_2"]  # rates change nothing before the first step
    assert list(study.trained) == ["paper", "rates"]
    assert sum(map(len, study.series.values())) == len(study.observations)


def test_observations_with_landscapes_stand_for_themselves():
    kept = {"random": {"first": [0.0], "second": [0.0], "losses": [[1.0]], "path": []}}
    shown = Observation(**{**vars(observation(4, series="landscape")), "landscapes": kept})
    assert list(study_of([observation(4), shown]).series) == ["paper"]
    assert list(study_of([shown]).series) == ["landscape"]


def test_a_study_of_rates_alone_still_tells_its_start():
    assert list(study_of(rate_observations(n_seeds=1)).starts) == ["rates"]


def test_landscapes_of_a_study_are_those_of_the_first_seeds_along_paths_first():
    steps = [-1.0, 0.0, 1.0]
    found = []
    for seed in (1, 0):
        fields = {"first": steps, "second": steps, "losses": [[seed + 1.0] * 3] * 3}
        kept = {"random": {**fields, "path": []}, "path": {**fields, "path": [[1, 1], [0, 0]]}}
        found.append(Observation.from_json({**observation(4, seed=seed).to_json(), "landscapes": kept}))
    path, random = observed_landscapes(found)
    assert path.title == "small and normal, 4 qubits, main directions of training"
    assert (path.path, random.path) == (((1.0, 1.0), (0.0, 0.0)), ())
    assert path.losses.centre == random.losses.centre == 1.0


def test_a_landscape_comes_from_a_file(tmp_path):
    steps = [-1.0, 0.0, 1.0]
    fields = {"first": steps, "second": steps, "losses": [[1, 1, 1], [1, 0, 1], [1, 1, 1]], "path": [[1, 1], [0, 0]]}
    path = tmp_path / "small_start.json"
    path.write_text(json.dumps(fields))
    read = read_landscape(path)
    assert (read.title, read.losses.centre, read.path) == ("small start", 0.0, ((1.0, 1.0), (0.0, 0.0)))
    for wrong in ("[]", "{", json.dumps({**fields, "losses": [[1]]}), json.dumps({"first": steps})):
        path.write_text(wrong)
        with pytest.raises(InvalidInputError, match=r"small_start\.json.*LossSlice\.to_json"):
            read_landscape(path)
