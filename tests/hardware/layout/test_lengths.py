"""Lengths are told briefly."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcquack.hardware.layout.ring import listed


@pytest.mark.parametrize(
    ("lengths", "text"),
    [
        ((), "none"),
        ((5,), "5"),
        ((1, 2, 12), "1, 2, 12"),
        ((1, 2, 3), "1, 2, 3"),
        ((1, 2, 3, 4), "1 to 4"),
        ((1, 2, 12, 20, 24, 28, 32), "1, 2, 12, 20 to 32 in steps of 4"),
        ((1, 2, 3, 4, 6, 8, 10, 12), "1 to 4, 6 to 12 in steps of 2"),
    ],
)
def test_even_steps_are_told_by_their_ends(lengths, text):
    assert listed(lengths) == text


@given(st.sets(st.integers(1, 40)).map(sorted))
def test_the_text_says_all_and_no_more(lengths):
    said = []
    for part in listed(lengths).split(", ") if lengths else []:
        first, _, rest = part.partition(" to ")
        last, _, step = rest.partition(" in steps of ")
        said += range(int(first), int(last or first) + 1, int(step or 1))
    assert said == lengths
