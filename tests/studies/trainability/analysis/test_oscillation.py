import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from mcquack.errors import InvalidInputError
from mcquack.studies.trainability.analysis import oscillation

curves = st.lists(st.integers(-1000, 1000).map(lambda k: k / 64), min_size=2, max_size=40)


def numbers(found):
    return [found.rises, found.uphill, -1.0 if found.detour is None else found.detour, found.turns, found.amplitude]


@given(curve=curves)
def test_a_curve_that_never_rises_does_not_oscillate(curve):
    falling = sorted(curve, reverse=True)
    found = oscillation(falling)
    assert [found.rises, found.uphill, found.turns] == [0, 0, 0]
    assert found.amplitude == pytest.approx(0, abs=1e-12)
    assert found.detour == (None if falling[0] == falling[-1] else pytest.approx(1))


@given(curve=curves, scale=st.sampled_from([0.25, 2.0, 64.0]), offset=st.sampled_from([-8.0, 0.0, 3.0]))
def test_neither_scale_nor_offset_of_the_loss_matter(curve, scale, offset):
    moved = [scale * loss + offset for loss in curve]
    assert_allclose(numbers(oscillation(moved)), numbers(oscillation(curve)), rtol=1e-9, atol=1e-9)


@given(curve=curves)
def test_shares_are_shares(curve):
    found = oscillation(curve)
    assert all(0 <= share <= 1 for share in (found.rises, found.uphill, found.turns, found.amplitude))
    assert (found.detour is None) == (curve[-1] >= curve[0])
    assert found.detour is None or found.detour >= 1 - 1e-12


@given(curve=curves)
def test_backwards_every_rise_is_a_descent(curve):
    there, back = oscillation(curve), oscillation(curve[::-1])
    if any(one != two for one, two in itertools.pairwise(curve)):
        assert there.uphill + back.uphill == pytest.approx(1)
    assert there.turns == back.turns


def test_a_zigzag_turns_everywhere_and_goes_nowhere():
    found = oscillation([0.0, 1.0] * 10 + [0.0])
    assert found.turns == 1
    assert found.uphill == found.rises == pytest.approx(0.5)
    assert found.detour is None
    assert found.amplitude == pytest.approx(0.5, abs=0.03)


def test_more_oscillation_on_the_same_descent_is_measured_as_more():
    epochs = np.arange(60)
    trend = np.exp(-epochs / 15)
    found = [oscillation(trend + size * np.sin(epochs)) for size in (0.0, 0.02, 0.1, 0.4)]
    for earlier, later in itertools.pairwise(found):
        assert later.uphill > earlier.uphill
        assert later.amplitude > earlier.amplitude
        assert later.rises >= earlier.rises


def test_noise_turns_at_two_of_three_points():
    assert oscillation(np.random.default_rng(0).normal(size=5000)).turns == pytest.approx(2 / 3, abs=0.02)


@pytest.mark.parametrize("losses", [[], [1.0], [1.0, None], [1.0, float("nan")], [[1.0, 2.0]]])
def test_what_is_no_curve_is_refused(losses):
    with pytest.raises(InvalidInputError):
        oscillation(losses)
