"""Devices have names, and names that nobody has are answered with those that are close."""

import pytest

from mcquack.errors import InvalidInputError
from mcquack.hardware.services.account import Device, is_local, local_devices, snapshot
from mcquack.hardware.services.opening import open_service


def test_every_device_of_the_list_can_be_had_by_its_name():
    devices = local_devices()
    assert devices[0] == Device(name="aer", kind="simulator")
    assert len({device.name for device in devices}) == len(devices) > 50
    assert all(is_local(device.name) for device in devices)
    # The largest first, for these are the ones that rings of a hundred qubits fit on.
    sizes = [device.n_qubits for device in devices[1:]]
    assert sizes == sorted(sizes, reverse=True)
    assert snapshot(devices[-1].name).num_qubits == sizes[-1]


def test_a_snapshot_tells_what_its_cost_is_estimated_from():
    known = {device.name: device for device in local_devices()}
    assert known["fake_pittsburgh"] == Device(
        name="fake_pittsburgh",
        kind="snapshot",
        n_qubits=156,
        processor="Heron r3",
        two_qubit_gate="cz",
        clops=330_000,
        rep_delay_us=pytest.approx(250),
    )
    assert known["fake_nighthawk"].clops is None


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("fake_pitsburgh", "did you mean fake_pittsburgh"),
        ("Pittsburgh", "did you mean fake_pittsburgh"),
        ("aers", "did you mean aer"),
        ("leastbusy", "did you mean least_busy"),
        ("zzzzzz", "list_backends shows all"),
        (7, "list_backends shows all"),
    ],
)
def test_unknown_names_are_answered_with_close_ones(name, hint):
    with pytest.raises(InvalidInputError, match=hint):
        open_service(name, n_qubits=2, n_layers=2)
