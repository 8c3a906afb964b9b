"""Both samplers of the vendor get the options that were asked for."""

import pytest
from qiskit_aer import AerSimulator
from qiskit_ibm_runtime.executor_sampler import Sampler

from mcquack.errors import DeviceError
from mcquack.hardware.native import overlap_template, placed
from mcquack.hardware.services import runtime as samplers
from mcquack.hardware.services.plan import Options
from mcquack.hardware.services.ring_device import noiseless_ring
from mcquack.hardware.services.runtime import Program, chosen_api, outcomes_of, sampler_settings, sent
from tests.hardware.circuit.overlaps import some_circuits
from tests.hardware.services.measuring import flat_angles

MAKERS = [samplers._v2_sampler, samplers._executor_sampler]


@pytest.fixture
def device():
    return AerSimulator(target=noiseless_ring(2).target)


@pytest.fixture
def program(device):
    template = overlap_template(2, 2)
    return Program(circuit=placed(template, (0, 1), device), parameters=tuple(template.parameters))


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("sequence", ["XX", "XpXm", "XY4"])
def test_decoupling_reaches_the_sampler(make, sequence, device):
    found = make(device, sampler_settings(Options(decoupling=sequence), shots=100)).options.dynamical_decoupling
    assert (found.enable, found.sequence_type, found.skip_reset_qubits) == (True, sequence, True)


@pytest.mark.parametrize("make", MAKERS)
def test_twirling_reaches_the_sampler_with_just_as_many_shots(make, device):
    found = make(device, sampler_settings(Options(measure_twirling=True), shots=100)).options.twirling
    assert (found.enable_measure, found.enable_gates) == (True, False)
    assert found.num_randomizations * found.shots_per_randomization == 100


@pytest.mark.parametrize("make", MAKERS)
def test_tags_and_seeds_reach_the_sampler(make, device):
    found = make(device, sampler_settings(Options(), shots=1, tag="mcquack-1", seed=7)).options
    assert found.environment.job_tags == ["mcquack-1"]
    assert found.simulator.seed_simulator == 7


@pytest.mark.parametrize("make", MAKERS)
def test_nothing_is_asked_for_unless_an_option_says_so(make, device):
    plain, ours = make(device, {}).options, make(device, sampler_settings(Options(), shots=100)).options
    assert (ours.dynamical_decoupling, ours.twirling) == (plain.dynamical_decoupling, plain.twirling)


@pytest.mark.parametrize("shots", [1, 7, 100, 101])
def test_as_many_shots_come_back_as_were_asked_for(shots, program, device):
    angles = flat_angles(some_circuits(2, 2, n_samples=3, n_centroids=1))
    job = sent(program, angles, shots=shots, options=Options(measure_twirling=True), mode=device, seed=1)
    assert outcomes_of(job.result(), (3, shots)).shape == (3, shots, 1)


def test_decoupling_puts_pulses_into_the_waiting_times(monkeypatch):
    run = []
    monkeypatch.setattr(AerSimulator, "run", lambda self, circuits, **options: run.extend(circuits) or 1 / 0)
    device = AerSimulator(target=noiseless_ring(6).target)
    template = overlap_template(6, 2)
    program = Program(circuit=placed(template, range(6), device), parameters=tuple(template.parameters))
    angles = flat_angles(some_circuits(6, 2, n_samples=1, n_centroids=1))
    for options in (Options(), Options(decoupling="XX")):
        with pytest.raises(ZeroDivisionError):
            sent(program, angles, shots=1, options=options, mode=device).result()
    plain, decoupled = (circuit.count_ops() for circuit in run)
    assert "x" not in plain
    assert decoupled["x"] > 0
    assert decoupled["x"] % 2 == 0
    assert (decoupled["sx"], decoupled["cz"]) == (plain["sx"], plain["cz"])


def test_a_result_of_another_size_is_refused(program, device):
    angles = flat_angles(some_circuits(2, 2, n_samples=2, n_centroids=1))
    result = sent(program, angles, shots=5, options=Options(), mode=device).result()
    with pytest.raises(DeviceError, match="2 circuits with 6 shots"):
        outcomes_of(result, (2, 6))


def test_the_successor_is_chosen_where_there_is_one(monkeypatch):
    assert chosen_api("auto") == "executor"
    assert (chosen_api("v2"), chosen_api("executor")) == ("v2", "executor")
    monkeypatch.setattr(samplers, "find_spec", lambda name: None)
    assert chosen_api("auto") == "v2"


def test_angles_are_not_rounded(device):
    sampler = samplers._executor_sampler(device, {})
    assert isinstance(sampler, Sampler)
    assert sampler.options.simulator.angle_decimals >= 15
