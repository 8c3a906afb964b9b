import pytest

from mcquack.report.trainability.figures import (
    factors,
    lines,
    paper_slice,
    setting_values,
    slice_text,
    varied_settings,
    with_settings,
)
from tests.report.trainability.fakes import observation, observations, rate_observations

GRID = observations(sizes=(2, 3), n_seeds=2)


def test_a_line_is_a_start_at_all_sizes_with_all_seeds():
    found = lines(GRID)
    assert len(found) == 8
    assert sum(len(line.observations) for line in found) == len(GRID)
    for line in found:
        assert line.sizes == (2, 3)
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
    assert slice_text(GRID) == "regularised, wx + b = 0"
    assert slice_text(plain) == "wx + b = 0"
    assert slice_text(paper_slice(GRID)) == ""


@pytest.mark.parametrize("name", ["init_small", "regularised"])
def test_true_comes_first(name):
    assert setting_values(GRID, name) == (True, False)


def test_models_tell_lines_apart():
    both = [*GRID, *(type(each)(**{**vars(each), "model": "quack"}) for each in GRID)]
    found = lines(with_settings(both, init_small=True, regularised=True, init_strategy="default"))
    assert [line.label for line in found] == ["mcquack", "quack"]
