"""A ledger keeps what was asked for, every job and every bit, whatever happens to its writer."""

import sqlite3
from contextlib import closing

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcquack.bench.store import Store
from mcquack.circuits import Circuit, b, w, x
from mcquack.circuits.overlap import OverlapCircuits, circuit_json
from mcquack.errors import InvalidInputError, StoreBusyError, StoreError
from mcquack.hardware.jobs.ledger import LEDGER, Ledger, Measurement, hamming_histograms, stored_counts
from tests.hardware.doubles import circuits_of
from tests.hardware.overlaps import paper_overlaps


def measurement(*, seed=0, label="", shots=7, n_qubits=3):
    return Measurement(
        circuits=circuits_of(2, 2, seed=seed, n_qubits=n_qubits), shots=shots, service={"device": "a"}, label=label
    )


def send(ledger, one, *, index=0, job_id="id-1"):
    job = ledger.note_attempt(one.id, ledger.parts(one.id)[index])
    ledger.note_sent(job.tag, job_id)
    return job.tag


PARTS = (range(1), range(1, 4))


def test_a_measurement_comes_back_as_it_was_kept(path, ledger):
    one = measurement(label="α")
    ledger.add(one, PARTS)
    ledger.add(measurement(label="α"), (range(4),))  # the same again, in other parts: nothing changes
    ledger.close()
    with Ledger.open(path) as reader:
        found = reader.measurement(one.id)
        assert found.id == one.id
        assert found.created_at == one.created_at
        np.testing.assert_array_equal(found.circuits.samples, one.circuits.samples)
        np.testing.assert_array_equal(found.circuits.centroids, one.circuits.centroids)
        assert [(part.first, part.last, part.job) for part in reader.parts(one.id)] == [(0, 1, None), (1, 4, None)]
        summary = reader.summary(one.id)
        assert (summary.shape, summary.shots, summary.n_qubits, summary.n_layers) == ((2, 2), 7, 3, 2)
        assert (summary.label, summary.service, summary.n_measured) == ("α", {"device": "a"}, 0)
        assert reader.ids() == (one.id,)
        assert one.id in reader
        assert "another" not in reader


def test_measurements_of_the_papers_circuit_have_the_id_that_they_always_had():
    """Ledgers on disk are found again by it."""
    angles = np.arange(12.0).reshape(1, 2, 2, 3) / 8
    circuits = paper_overlaps(angles, angles[:, ::-1])
    one = Measurement(circuits=circuits, shots=10, service={"backend": "aer", "n_qubits": 2, "n_layers": 2}, label="a")
    assert one.id == "bb4eab7abb809e87"


GENERAL = Circuit(2, 2).rx([0, 1], w * x[0] + b).rzz((0, 1), x[0] * x[1])


def general(circuit, told):
    circuits = OverlapCircuits.of(circuit, np.ones((2, 2)), np.zeros((1, 2)), weights=np.ones(2), bias=np.zeros(2))
    return Measurement(circuits=circuits, shots=3, service={"device": "a", "circuit": told})


def test_a_measurement_of_any_circuit_comes_back_with_it(path, ledger):
    one = general(GENERAL, circuit_json(GENERAL))
    ledger.add(one, (range(2),))
    ledger.close()
    with Ledger.open(path) as reader:
        found = reader.measurement(one.id)
        assert found.id == one.id
        assert found.circuits.circuit == GENERAL
        np.testing.assert_array_equal(found.circuits.samples, one.circuits.samples)
        assert reader.summary(one.id).circuit == GENERAL


def test_a_service_runs_the_circuit_that_is_measured():
    with pytest.raises(InvalidInputError, match="another circuit"):
        general(GENERAL, None)
    with pytest.raises(InvalidInputError, match="another circuit"):
        general(Circuit(2, 2).rx([0, 1], w * x[0] + b), circuit_json(GENERAL))
    with pytest.raises(InvalidInputError, match="another circuit"):
        Measurement(circuits=circuits_of(1, 1), shots=3, service={"circuit": circuit_json(GENERAL)})


def test_a_part_tells_of_its_latest_job_and_the_ledger_of_all(ledger):
    one = measurement()
    ledger.add(one, PARTS)
    first = send(ledger, one)
    ledger.note_state(first, "failed", "it broke \udcff")
    second = send(ledger, one, job_id="id-2")
    ledger.note_state(second, "running")
    part, other = ledger.parts(one.id)
    assert (part.job.tag, part.job.attempt, part.job.job_id, part.job.state) == (second, 2, "id-2", "running")
    assert part.is_on_its_way
    assert not other.is_on_its_way
    jobs = ledger.jobs(one.id)
    assert [(job.tag, job.state, job.message) for job in jobs] == [
        (first, "failed", "it broke \\udcff"),
        (second, "running", ""),
    ]
    assert jobs[0].ended_at is not None
    assert jobs[1].ended_at is None


def test_tags_are_unique_over_parts_attempts_and_measurements(ledger):
    tags = []
    for label in ("", "again"):
        ledger.add(measurement(label=label), PARTS)
        for _ in range(3):
            for index in range(2):
                tags.append(send(ledger, measurement(label=label), index=index))
                ledger.note_state(tags[-1], "lost")
    assert len(set(tags)) == 12


@given(n_qubits=st.integers(1, 20), shots=st.integers(1, 9), seed=st.integers(0, 99))
def test_bits_come_back_as_they_were_kept(n_qubits, shots, seed):
    one = measurement(shots=shots, n_qubits=n_qubits)
    kept = np.random.default_rng(seed).integers(0, 256, (4, shots, -(-n_qubits // 8)), dtype=np.uint8)
    with closing(Ledger.in_memory()) as ledger:
        ledger.add(one, PARTS)
        for index in (1, 0):
            rows = PARTS[index]
            ledger.keep_bits(send(ledger, one, index=index), kept[rows.start : rows.stop])
        found = list(ledger.bits(one.id))
        assert [rows for rows, _ in found] == list(PARTS)
        np.testing.assert_array_equal(np.concatenate([bits for _, bits in found]), kept)
        assert ledger.summary(one.id).is_complete


def test_the_first_result_of_a_part_stays(ledger):
    one = measurement()
    ledger.add(one, PARTS)
    tag = send(ledger, one)
    ledger.keep_bits(tag, np.full((1, 7, 1), 3, dtype=np.uint8))
    ledger.keep_bits(tag, np.full((1, 7, 1), 5, dtype=np.uint8))
    ((_, bits),) = ledger.bits(one.id)
    assert np.all(bits == 3)


def test_an_unknown_measurement_is_told_with_those_that_are_known(ledger):
    with pytest.raises(StoreError, match=r"measurement x;.* none"):
        ledger.measurement("x")
    ledger.add(measurement(), PARTS)
    with pytest.raises(StoreError, match=measurement().id):
        ledger.summary("x")


def test_a_ledger_that_was_opened_to_read_is_not_written(path, ledger):
    ledger.add(measurement(), PARTS)
    with Ledger.open(path) as reader:
        with pytest.raises(StoreError, match="written"):
            reader.add(measurement(label="again"), PARTS)
        assert reader.ids() == (measurement().id,)


def test_a_second_writer_is_refused_and_readers_are_not(path, ledger):
    ledger.add(measurement(), PARTS)
    with pytest.raises(StoreBusyError, match="jobs go on"):
        Ledger.open(path, write=True)
    with Ledger.open(path) as reader:
        assert measurement().id in reader
    ledger.close()
    with Ledger.open(path, write=True) as next_one:
        assert measurement().id in next_one


def test_a_closed_ledger_is_a_single_file_beside_its_lock(path, ledger):
    ledger.add(measurement(), PARTS)
    ledger.close()
    assert {file.name for file in path.parent.iterdir() if file.is_file()} <= {path.name, f"{path.name}.lock"}


def test_a_full_disk_is_told_and_costs_only_what_had_no_room(ledger):
    one = measurement()
    ledger.add(one, PARTS)
    tag = send(ledger, one)
    ledger._connection.execute("PRAGMA max_page_count = 1")  # SQLite takes the present size for the least one
    bits = np.random.default_rng(0).integers(0, 256, (1, 7, 100_000), dtype=np.uint8)
    with pytest.raises(StoreError, match=r"disk is full.* room.* safe"):
        ledger.keep_bits(tag, bits)
    assert ledger.parts(one.id)[0].job.state == "queued"
    ledger._connection.execute("PRAGMA max_page_count = 100000")
    ledger.keep_bits(tag, bits)
    assert ledger.parts(one.id)[0].is_measured


def test_a_damaged_file_is_told_as_such(path, ledger):
    for seed in range(60):
        ledger.add(measurement(seed=seed), PARTS)
    ledger.close()
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xff" * len(content[4096:])
    path.write_bytes(content)
    with Ledger.open(path) as reader, pytest.raises(StoreError, match=r"is damaged .*\.recover") as told:
        reader.ids()
    assert "safe" not in str(told.value)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE measurements SET samples = zeroblob(length(samples))",
        "UPDATE measurements SET samples = zeroblob(3)",
        "UPDATE measurements SET shots = shots + 1",
        "UPDATE measurements SET service = '{'",
    ],
)
def test_a_measurement_that_is_not_what_it_was_is_refused(path, ledger, damage):
    one = measurement()
    ledger.add(one, PARTS)
    ledger._connection.execute(damage)
    with pytest.raises(StoreError, match="cannot be read"):
        ledger.measurement(one.id)


@pytest.mark.parametrize("told", ["5", '"{"', '"[]"', '{"a": 1}'])
def test_a_damaged_circuit_is_told_as_damage(ledger, told):
    one = general(GENERAL, circuit_json(GENERAL))
    ledger.add(one, (range(2),))
    ledger._connection.execute("UPDATE measurements SET service = json_set(service, '$.circuit', json(?))", [told])
    with pytest.raises(StoreError, match="cannot be read"):
        ledger.measurement(one.id)
    with pytest.raises(StoreError, match="cannot be read"):
        _ = ledger.summary(one.id).circuit


def test_bits_that_are_not_what_they_were_are_refused(ledger):
    one = measurement()
    ledger.add(one, PARTS)
    ledger.keep_bits(send(ledger, one), np.zeros((1, 7, 1), dtype=np.uint8))
    ledger._connection.execute("UPDATE parts SET bits = substr(bits, 1, length(bits) - 1) || x'00'")
    with pytest.raises(StoreError, match="cannot be read"):
        list(ledger.bits(one.id))


def test_files_of_others_are_refused_and_left_as_they_are(path, tmp_path):
    (tmp_path / "text").write_text("not a database, but long enough to be read as one" * 30)
    with closing(sqlite3.connect(tmp_path / "other")) as other:
        other.execute("CREATE TABLE a (b)")
    Store.open(tmp_path / "store", create=True).close()
    for name in ("text", "other", "store"):
        before = (tmp_path / name).read_bytes()
        for write in (False, True):
            with pytest.raises(StoreError, match=r"no SQLite|no ledger"):
                Ledger.open(tmp_path / name, write=write)
        assert (tmp_path / name).read_bytes() == before


def test_a_ledger_of_a_newer_version_is_refused(path, ledger):
    ledger._connection.execute("PRAGMA user_version = 99")
    ledger.close()
    for write in (False, True):
        with pytest.raises(StoreError, match=r"version 99 .*upgrade mcquack"):
            Ledger.open(path, write=write)


def test_every_change_waits_for_the_disk(path, monkeypatch):
    monkeypatch.setattr(Ledger, "_kind", LEDGER)  # as it is before tests turn that off
    with Ledger.open(path, write=True) as ledger:
        assert ledger._connection.execute("PRAGMA synchronous").fetchone()[0] == 2
        assert ledger._connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"


def test_a_missing_ledger_is_told_and_not_made_to_be_read(path):
    with pytest.raises(StoreError, match="no ledger at"):
        Ledger.open(path)
    assert not path.exists()


def asked(**changes):
    return Measurement(
        **{"circuits": circuits_of(2, 2), "shots": 10, "service": {"device": "a", "ring": [0, 1]}} | changes
    )


def test_whatever_decides_what_is_measured_decides_the_id_and_nothing_else():
    same = [
        asked(),
        asked(circuits=circuits_of(2, 2)),
        asked(service={"ring": (0, 1), "device": "a"}),
        asked(shots=np.int64(10)),
        asked(created_at="2020-01-01"),
    ]
    assert len({one.id for one in same}) == 1
    others = [
        asked(circuits=circuits_of(2, 2, seed=1)),
        asked(shots=11),
        asked(service={"device": "b", "ring": [0, 1]}),
        asked(service={"device": "a", "ring": [1, 0]}),
        asked(label="again"),
    ]
    assert len({one.id for one in [*others, same[0]]}) == 6


def test_an_id_is_the_same_on_every_machine_and_in_every_version():
    angles = np.arange(12).reshape(1, 2, 2, 3) / 8
    circuits = paper_overlaps(angles, -angles)
    assert asked(circuits=circuits, label="α").id == "d7d1e87a9962a925"


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
        asked(**changes)


@given(n_qubits=st.integers(1, 40), n_circuits=st.integers(0, 4), shots=st.integers(1, 30), seed=st.integers(0, 99))
def test_histograms_are_those_of_the_ones_before_they_were_packed(n_qubits, n_circuits, shots, seed):
    ones = np.random.default_rng(seed).random((n_circuits, shots, n_qubits)) < 0.5
    packed = np.packbits(np.pad(ones, ((0, 0), (0, 0), (-n_qubits % 8, 0))), axis=-1)
    expected = np.zeros((n_circuits, n_qubits + 1), dtype=np.int64)
    for circuit, weights in enumerate(ones.sum(axis=-1)):
        for weight in weights:
            expected[circuit, weight] += 1
    found = hamming_histograms(packed, n_qubits=n_qubits)
    assert found.dtype == np.int64
    np.testing.assert_array_equal(found, expected)


def test_bits_are_packed_as_qiskit_packs_them():
    primitives = pytest.importorskip("qiskit.primitives")
    shots = ["00000000011", "10000000000", "11111111111"]
    array = primitives.BitArray.from_samples(shots, num_bits=11).array
    np.testing.assert_array_equal(hamming_histograms(array[None], n_qubits=11), [[0, 1, 1, *[0] * 8, 1]])


def test_what_is_not_complete_has_no_counts():
    one = Measurement(circuits=circuits_of(1, 2), shots=3, service={})
    ledger = Ledger.in_memory()
    ledger.add(one, (range(1), range(1, 2)))
    job = ledger.note_attempt(one.id, ledger.parts(one.id)[0])
    ledger.note_sent(job.tag, "id")
    ledger.keep_bits(job.tag, np.zeros((1, 3, 1), dtype=np.uint8))
    with pytest.raises(StoreError, match=r"only 1 of 2 circuits .* resume"):
        stored_counts(ledger, one.id)
    ledger.close()
