from itertools import islice, pairwise

import pytest

from mcquack.errors import InvalidInputError
from mcquack.hardware.jobs.running import Patience


def test_pauses_between_questions_grow_to_the_one_that_was_asked_for_and_stay_there():
    pauses = list(islice(Patience(poll_seconds=5).polls(), 30))
    assert pauses[0] == pytest.approx(0.1)
    assert all(first < second or first == second == 5 for first, second in pairwise(pauses))
    assert pauses[-1] == 5


@pytest.mark.parametrize("seconds", [0.5, 1.0, 7.5, 600.0])
def test_retries_double_up_to_a_minute_and_last_as_long_as_was_asked_for(seconds):
    pauses = list(Patience(offline_seconds=seconds).retries())
    assert sum(pauses) == pytest.approx(seconds)
    assert max(pauses) <= 60
    assert all(second in (min(2 * first, 60), pauses[-1]) for first, second in pairwise(pauses))


@pytest.mark.parametrize(
    "settings", [{"poll_seconds": 0}, {"offline_seconds": -1}, {"attempts": 0}, {"wait_seconds": -1.0}]
)
def test_impossible_settings_are_refused(settings):
    with pytest.raises(InvalidInputError, match=next(iter(settings))):
        Patience(**settings)
