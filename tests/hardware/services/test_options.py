"""Options check themselves, and share out shots so that none is lost or added."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcquack.errors import InvalidInputError
from mcquack.hardware.services.plan import Options


@given(shots=st.integers(1, 5_000), most=st.integers(1, 64))
def test_shots_are_split_into_as_many_equal_parts_as_allowed(shots, most):
    ways, each = Options(randomizations=most).split(shots)
    assert ways * each == shots
    assert ways <= most
    assert not any(shots % more == 0 for more in range(ways + 1, min(most, shots) + 1))


def test_a_hundred_shots_stay_a_hundred():
    assert Options().split(100) == (25, 4)
    assert Options().split(101) == (1, 101)


def test_shots_that_can_hardly_be_twirled_are_told_with_some_that_can():
    twirled = Options(measure_twirling=True)
    assert twirled.twirling_note(101) == (
        "101 shots can be twirled in one way only, which is no twirling; take 96 or 128"
    )
    assert twirled.twirling_note(106) == "106 shots can be twirled only in 2 random ways; take 96 or 128"
    for shots in (1, 2, 31, 96, 100, 1000):
        assert twirled.twirling_note(shots) == ""
    assert Options().twirling_note(101) == Options(measure_twirling=True, randomizations=1).twirling_note(101) == ""


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("decoupling", "XYZ"),
        ("decoupling", ["XX"]),
        ("api", "v1"),
        ("mode", "queue"),
        ("noise", "some"),
        ("measure_twirling", 1),
        ("allow_faulty", None),
        ("randomizations", 0),
        ("max_error", 0.0),
        ("max_error", 1.5),
        ("max_error", "low"),
    ],
)
def test_each_option_says_what_it_takes(name, value):
    with pytest.raises(InvalidInputError, match=f"{name} must be .*, got"):
        Options(**{name: value})


@given(
    st.builds(
        Options,
        decoupling=st.sampled_from([None, "XX", "XpXm", "XY4"]),
        measure_twirling=st.booleans(),
        randomizations=st.integers(1, 100),
        api=st.sampled_from(["auto", "v2", "executor"]),
        mode=st.sampled_from(["job", "batch", "session"]),
        max_error=st.floats(1e-6, 1),
        noise=st.sampled_from(["full", "pauli", "none"]),
    )
)
def test_settings_give_the_options_back(options):
    assert Options.of({"backend": "aer", **options.settings}) == options
