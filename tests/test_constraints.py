"""Settings are declared by their classes and checked by one function."""

from typing import Any, ClassVar

import numpy as np
import pytest

from mcquack import models
from mcquack.constraints import (
    CLASS_WEIGHT,
    POSITIVE,
    RANDOM_STATE,
    VERBOSE,
    Boolean,
    Constraint,
    Constraints,
    Custom,
    Number,
    OneOf,
    Optional,
    Whole,
    check_settings,
    constraints_of,
)
from mcquack.errors import InvalidInputError

NAN, INFINITY = float("nan"), float("inf")
EVEN = Custom("an even number", lambda value: value % 2 == 0)
CASES: list[tuple[Constraint, str, list[Any], list[Any]]] = [
    (Whole(1), "a whole number of at least 1", [1, np.int8(3), 2**63 - 1], [0, -1, 1.0, True, "1", None, NAN, [1]]),
    (Whole(0, most=2000), "a whole number from 0 to 2,000", [0, 2000], [-1, 0.5]),
    (POSITIVE, "a positive number", [1, 1e-300, np.float32(2)], [0, -1, NAN, INFINITY, True, 10**400, "1", None]),
    (Number(0), "a number of at least 0", [0, 0.0, 5], [-1e-9, INFINITY]),
    (Number(0, 1), "a number from 0 to below 1", [0, 0.5], [1, -0.1]),
    (Number(0, 1, closed="neither"), "a number between 0 and 1", [0.5], [0, 1]),
    (Number(0, 1, closed="both"), "a number from 0 to 1", [0, 1], [1.1]),
    (Number(0, 1, closed="right"), "a number above 0 and at most 1", [1], [0]),
    (OneOf("adam"), '"adam"', ["adam"], ["sgd", None, ["adam"], np.array(["adam", "adam"])]),
    (OneOf("a", "b", "c"), '"a", "b" or "c"', ["a", "c"], ["d"]),
    (Boolean(), "True or False", [True, np.False_], [0, 1, None, "True"]),
    (Optional(Whole(1)), "None or a whole number of at least 1", [None, 1], [0, "None"]),
    (EVEN, "an even number", [0, 2], [3]),
    (RANDOM_STATE, "None, a whole number from 0", [None, 0, np.random.RandomState(0)], [-1, 2**32, 0.5, "0"]),
    (CLASS_WEIGHT, 'None, "balanced" or a dict', [None, "balanced", {0: 1.5}], ["heavy", {0: -1}, {0: "1"}, [1]]),
    (VERBOSE, "0 for silence", [0, 1, True, 2], [-1, None, "1"]),
]


@pytest.mark.parametrize(("constraint", "expected", "possible", "impossible"), CASES, ids=[case[1] for case in CASES])
def test_what_is_not_accepted_is_named_with_what_was_expected(
    constraint: Constraint, expected: str, possible: list[Any], impossible: list[Any]
) -> None:
    assert constraint.expected.startswith(expected)
    for value in possible:
        assert constraint.accepts(value)
        constraint.check("name", value)
    for value in impossible:
        assert not constraint.accepts(value)
        with pytest.raises(InvalidInputError) as refusal:
            constraint.check("name", value)
        assert str(refusal.value).startswith(f"name must be {expected}")


@pytest.mark.parametrize("constraint", [Whole(1, most=20), Optional(Whole(1, most=20))])
def test_a_number_that_is_too_large_is_told_the_bound(constraint: Constraint) -> None:
    with pytest.raises(InvalidInputError, match=r"^n .* 20, got 21\.$"):
        constraint.check("n", 21)


class Parent:
    _constraints: ClassVar[Constraints] = {"n": Whole(1), "of_some": Boolean()}

    def __init__(self, **settings: Any) -> None:
        vars(self).update(settings)


class Child(Parent):
    _constraints: ClassVar[Constraints] = {"n": Whole(5), "m": Whole(0)}


def test_subclasses_add_to_what_they_inherit() -> None:
    assert constraints_of(Parent) == {"n": Whole(1), "of_some": Parent._constraints["of_some"]}
    assert constraints_of(Child).keys() == {"n", "m", "of_some"}
    check_settings(Parent(n=1))
    check_settings(Child(n=5, m=0))
    with pytest.raises(InvalidInputError, match=r"n .* 5, got 1"):
        check_settings(Child(n=1, m=0))
    with pytest.raises(InvalidInputError, match=r"of_some .* 1"):
        check_settings(Child(n=5, m=0, of_some=1))


# Circuits are made, and scikit-learn asked, when there are samples.
ASKED_LATER = {"feature_map", "cv", "scoring"}
ESTIMATORS = [kind for name in dir(models) if hasattr(kind := getattr(models, name), "get_params")]


@pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
def test_every_setting_of_every_estimator_is_declared(kind: Any) -> None:
    assert set(kind().get_params(deep=False)) - ASKED_LATER <= constraints_of(kind).keys()
