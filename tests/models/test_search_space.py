import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import ParameterGrid

from mcquack.errors import InvalidInputError
from mcquack.models.catalog import SearchSpace

NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.integers() | st.text(max_size=3)
VALUES = NUMBERS | st.lists(st.integers(), max_size=3).map(tuple)
TABLES = st.dictionaries(
    st.text("abC_", min_size=1, max_size=3), st.lists(VALUES, min_size=1, max_size=3, unique=True), max_size=4
)


@given(table=TABLES)
def test_it_is_the_grid_of_scikit_learn_in_its_order(table):
    space = SearchSpace.of(table)
    grid = list(ParameterGrid(space.values))
    assert list(space) == grid
    assert len(space) == len(grid)
    assert [space[number] for number in range(len(space))] == grid


@given(table=TABLES)
def test_positions_choose_what_numbers_choose(table):
    space = SearchSpace.of(table)
    for settings in space:
        positions = {name: values.index(settings[name]) for name, values in space.searched.items()}
        assert space.at(positions) == settings
    assert space.at({}) == space[0]


@given(table=TABLES)
def test_every_setting_is_either_searched_or_fixed(table):
    space = SearchSpace.of(table)
    assert sorted([*space.searched, *space.fixed]) == sorted(table)
    assert all(settings.items() >= space.fixed.items() for settings in space)


def test_it_is_a_value():
    space = SearchSpace.of({"sizes": [[100], [10, 10]], "lr": 0.1})
    assert space.values == {"lr": (0.1,), "sizes": ((100,), (10, 10))}
    twin = SearchSpace.of({"lr": [0.1], "sizes": [(100,), (10, 10)]})
    assert space == twin == pickle.loads(pickle.dumps(space))
    assert hash(space) == hash(twin)
    next(iter(space))["lr"] = 1.0
    space.values["lr"] = ()
    assert space == twin


@pytest.mark.parametrize("number", [-1, 6])
def test_numbers_beyond_its_end_are_refused(number):
    with pytest.raises(IndexError, match="from 0 to 5"):
        SearchSpace.of({"a": [1, 2, 3], "b": [1, 2]})[number]


def test_positions_of_strangers_are_refused():
    with pytest.raises(InvalidInputError, match=r"\['b'\] .*\['a'\]"):
        SearchSpace.of({"a": [1, 2]}).at({"b": 1})


@pytest.mark.parametrize(
    ("given_values", "message"),
    [
        ([], "lr .*no values"),
        ([0.1, 0.1], "lr .*twice"),
        ([1, True], "lr .*twice"),
        ({"low": 0.1}, "lr .*numbers"),
        ([0.1, {}], "lr .*numbers"),
        ([[0.1, [0.2]]], "lr .*numbers"),
        (float("nan"), "lr .*numbers"),
        (None, "lr .*numbers"),
    ],
)
def test_what_cannot_be_searched_is_refused_by_name(given_values, message):
    with pytest.raises(InvalidInputError, match=message):
        SearchSpace.of({"lr": given_values})
