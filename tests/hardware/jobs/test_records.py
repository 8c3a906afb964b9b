import numpy as np
import pytest

from mcquack.circuits.overlap import OverlapCircuits
from mcquack.errors import InvalidInputError
from mcquack.hardware.jobs.records import Measurement
from tests.hardware.doubles import circuits_of


def measurement(**changes):
    return Measurement(
        **{"circuits": circuits_of(2, 2), "shots": 10, "service": {"device": "a", "ring": [0, 1]}} | changes
    )


def test_whatever_decides_what_is_measured_decides_the_id_and_nothing_else():
    same = [
        measurement(),
        measurement(circuits=circuits_of(2, 2)),
        measurement(service={"ring": (0, 1), "device": "a"}),
        measurement(shots=np.int64(10)),
        measurement(created_at="2020-01-01"),
    ]
    assert len({one.id for one in same}) == 1
    others = [
        measurement(circuits=circuits_of(2, 2, seed=1)),
        measurement(shots=11),
        measurement(service={"device": "b", "ring": [0, 1]}),
        measurement(service={"device": "a", "ring": [1, 0]}),
        measurement(label="again"),
    ]
    assert len({one.id for one in [*others, same[0]]}) == 6


def test_an_id_is_the_same_on_every_machine_and_in_every_version():
    angles = np.arange(12).reshape(1, 2, 2, 3) / 8
    circuits = OverlapCircuits(samples=angles, centroids=-angles)
    assert measurement(circuits=circuits, label="α").id == "d7d1e87a9962a925"


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"shots": 0}, "shots"),
        ({"shots": 1.5}, "shots"),
        ({"label": "two\nlines"}, "label"),
        ({"label": None}, "label"),
        ({"service": {"error": float("nan")}}, "description"),
        ({"service": {"device": object()}}, "description"),
    ],
)
def test_what_cannot_be_kept_is_refused(changes, name):
    with pytest.raises(InvalidInputError, match=name):
        measurement(**changes)
