"""When our numbers count as the paper's, and what sentence follows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcquack.bench.ranking import Interval
from studies.paper.checks import (
    Check,
    claim_check,
    equal_check,
    rank_check,
    score_check,
    score_tolerance,
    verdict_of,
)

shares = st.floats(0, 1)
spreads = st.floats(0, 0.5)


def checks(*holds):
    return [Check(what=f"n{index}", paper="1", ours="2", holds=each) for index, each in enumerate(holds)]


@given(st.lists(st.sampled_from([True, False, None]), max_size=250))
def test_the_verdict_follows_from_how_many_comparisons_hold(holds):
    found = verdict_of(checks(*holds))
    decided = [each for each in holds if each is not None]
    assert (found.n_held, found.n_checks) == (sum(decided), len(decided))
    if not decided:
        expected = "open"
    elif all(decided) or (len(decided) >= 100 and sum(decided) / len(decided) >= 0.95):
        expected = "same"
    else:
        expected = "partly" if sum(decided) / len(decided) >= 0.5 else "different"
    assert found.kind == expected
    opening = {"same": "The same", "partly": "Partly the same", "different": "Not the same", "open": "Open"}[expected]
    assert found.sentence.startswith(f"{opening}: ")
    assert found.sentence.endswith(".")


@pytest.mark.parametrize(
    ("holds", "sentence"),
    [
        ([], "Open: there is nothing to compare yet."),
        ([None], "Open: there is nothing to compare yet."),
        ([True], "The same: the one comparison holds."),
        ([True, None, True], "The same: all 2 comparisons hold."),
        ([False], "Not the same: the one comparison, of n0, does not hold."),
        ([False, False], "Not the same: no comparison of 2 holds."),
        ([True, False, False], "Not the same: 1 of 3 comparisons holds; not those of n1; n2."),
        ([True] * 4 + [False], "Partly the same: 4 of 5 comparisons hold; not that of n4."),
        ([True] * 5 + [False] * 5, "Partly the same: 5 of 10 comparisons hold; not those of n5; n6; n7 and 2 more."),
        ([True] * 96 + [False] * 4, "The same: 96 of 100 comparisons hold; not those of n96; n97; n98 and 1 more."),
    ],
)
def test_the_sentence_names_what_does_not_hold(holds, sentence):
    assert verdict_of(checks(*holds)).sentence == sentence


@given(paper=shares, ours=shares, spread=spreads, more=spreads, n_test=st.integers(1, 5000))
def test_a_tolerance_is_the_same_both_ways_and_grows_with_the_spread(paper, ours, spread, more, n_test):
    one, other = (paper, spread), (ours, 0.0)
    tolerance = score_tolerance(one, other, n_test=n_test)
    assert tolerance == pytest.approx(score_tolerance(other, one, n_test=n_test))
    assert tolerance >= 0.005
    assert score_tolerance((paper, spread + more), other, n_test=n_test) >= tolerance - 1e-12
    assert score_tolerance(one, other, n_test=2 * n_test) <= tolerance + 1e-12
    assert score_tolerance(one, other, n_test=n_test, n_parts=1) <= tolerance + 1e-12


def test_scores_agree_up_to_the_tolerance():
    # Perfect scores on both sides leave the last printed digit alone.
    assert score_check("x", (1.0, 0.0), (0.995, 0.0), n_test=10**9).holds
    assert not score_check("x", (1.0, 0.0), (0.99, 0.0), n_test=10**9).holds
    near = score_check("x", (0.85, 0.0), (0.80, 0.0), n_test=400)
    assert (near.holds, near.paper, near.ours) == (True, "0.85 ± 0.00", "0.800 ± 0.000")
    assert not score_check("x", (0.85, 0.0), (0.78, 0.0), n_test=400).holds
    assert score_check("x", (0.85, 0.0), None, n_test=400).holds is None


def test_ranks_agree_within_the_interval_or_without_one_nearly():
    inside = Interval(low=0.204, high=0.3349)
    assert rank_check("x", 0.33, 0.25, inside).holds
    assert rank_check("x", 0.20, 0.25, inside).holds  # as printed
    assert not rank_check("x", 0.34, 0.25, inside).holds
    assert rank_check("x", 0.33, 0.43, None).holds
    assert not rank_check("x", 0.33, 0.44, None).holds
    assert rank_check("x", 0.33, None, None).holds is None


def test_numbers_are_told_with_true_minus_signs_and_groups_of_digits():
    assert equal_check("x", -1.0, -2000).ours == "−2,000"
    assert equal_check("x", -1.0, -1.0).paper == "−1"
    assert equal_check("x", (1, 2), (1, 2)).paper == "1, 2"
    assert equal_check("x", True, None).ours == "–"
    assert equal_check("x", 5, None).holds is None
    assert claim_check("x", paper="yes", ours="no", holds=False).holds is False
