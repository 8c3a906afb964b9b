import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcquack.bench.search import SearchMethod, listed_settings
from mcquack.errors import InvalidInputError
from mcquack.models.catalog import SearchSpace

SPACE = SearchSpace.of({"a": [1, 2, 3], "b": ["x", "y"], "c": [True, False], "d": 0.5})


@pytest.mark.parametrize("text", ["grid", "none", "random:1", "random:30", "optuna:100"])
def test_a_method_is_what_it_is_called(text):
    assert str(SearchMethod.parse(text)) == text


@pytest.mark.parametrize(
    "text",
    ["", "Grid", "random", "optuna:", "random:0", "random:-3", "random:3.5", "grid:5", "none:1", "tpe:5", "random:²"],
)
def test_anything_else_is_refused_with_an_example(text):
    with pytest.raises(InvalidInputError, match="random:30"):
        SearchMethod.parse(text)


@given(budget=st.integers(1, 40))
def test_a_random_search_draws_different_settings_of_the_space(budget):
    found = listed_settings(SPACE, SearchMethod("random", budget), purpose=("iris3", "svc"))
    assert len(found) == SearchMethod("random", budget).most_settings(len(SPACE)) == min(budget, 12)
    assert len({tuple(each.items()) for each in found}) == len(found)
    assert all(each in list(SPACE) for each in found)


@given(budget=st.integers(1, 11))
def test_a_larger_budget_tries_all_that_a_smaller_one_does(budget):
    small, large = (
        listed_settings(SPACE, SearchMethod("random", size), purpose=("iris3", "svc")) for size in (budget, budget + 1)
    )
    assert all(each in large for each in small)


def test_other_cells_draw_other_settings():
    draws = [listed_settings(SPACE, SearchMethod("random", 4), purpose=(name, "svc")) for name in "abcdef"]
    assert any(draw != draws[0] for draw in draws)


def test_the_grid_is_the_whole_space_in_order():
    assert listed_settings(SPACE, SearchMethod("grid"), purpose=()) == list(SPACE)


def test_one_setting_needs_no_search():
    assert SearchMethod("grid").most_settings(1) == 0
    assert SearchMethod("none").most_settings(100) == 0
