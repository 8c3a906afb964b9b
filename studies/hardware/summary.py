"""The README's tables: ``python -m studies.hardware.summary`` prints those of the ledgers and writes that of training.

What Aer measured on a snapshot is set beside our noisy twin of the same ring, for the same circuits.
"""

from collections import defaultdict
from collections.abc import Iterator
from copy import copy
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mcquack import McQuackClassifier, datasets
from mcquack.hardware.devices import open_sampler
from mcquack.hardware.jobs.ledger import Ledger, Measurement, hamming_histograms
from mcquack.hardware.sampler import snapshot_properties
from mcquack.hardware.services.options import Options
from mcquack.kernels import SampledEngine
from mcquack.kernels.bitflip import calibrate, classes_by_mean_hamming, mean_hamming, predicted_classes
from mcquack.simulators.noise import DeviceCalibration
from mcquack.simulators.samplers import NoisySampler
from studies.hardware.training import BUDGETS, DATASETS, stored
from studies.tables import rows_files, table, write_tables

README = Path(__file__).with_name("README.md")
LEDGERS = rows_files(Path(__file__).parent)
DATASET = "manifold_124"
N_RUNS = 20
SHOTS = 100


def main() -> None:
    """Prints what follows from measurements and twins, and puts what follows from ``training.csv`` into the page."""
    write_tables(README, tables())
    for line in (*_measured_lines(), *_twin_lines()):
        print(line)  # noqa: T201


def tables() -> dict[str, str]:
    """Mean test accuracies of models that were trained by counts, for each dataset, way and budget."""
    found = defaultdict(list)
    for row in stored():
        found[row.dataset, row.method, row.budget].append(row.test_accuracy)
    columns = {"untrained": ("untrained", 0)}
    for method, title in (("spsa", "SPSA"), ("stochastic_shift", "stochastic shift")):
        columns |= {f"{title}, {budget / 1e6:g} million shots": (method, budget) for budget in BUDGETS}
    columns["exact derivatives, 50 epochs"] = ("exact", 0)
    lines = [[name, *(f"{np.mean(found[name, *key]):.2f}" for key in columns.values())] for name in DATASETS]
    return {"training": table(["dataset", *columns], lines)}


def _measured_lines() -> Iterator[str]:
    for path in LEDGERS:
        with Ledger.open(path) as ledger:
            calibration, labelling = (ledger.measurement(identity) for identity in ledger.ids())
            device = str(calibration.service["backend"])
            counts = _measured_rows(ledger, calibration)
            tolerance = calibrate(counts).tolerance
            yield from _calibration_lines(device, counts, _twin_runs(calibration, len(counts)))
            counts = _measured_rows(ledger, labelling)
            yield from _label_lines(device, counts, _twin_runs(labelling, len(counts)), tolerance=tolerance)


def _measured_rows(ledger: Ledger, measurement: Measurement) -> NDArray[np.int64]:
    """The weights of the first samples, as many as were measured with all centroids without a gap."""
    n_centroids, n_qubits = measurement.circuits.shape[1], measurement.circuits.n_qubits
    rows: list[NDArray[np.int64]] = []
    for circuits, bits in ledger.bits(measurement.id):
        if circuits.start == sum(map(len, rows)):
            rows.append(hamming_histograms(bits, n_qubits=n_qubits))
    counts = np.concatenate(rows)
    return counts[: len(counts) // n_centroids * n_centroids].reshape(-1, n_centroids, n_qubits + 1)


def _twin_runs(measurement: Measurement, n_rows: int) -> list[NDArray[np.int64]]:
    """The same circuits and shots on our twin of the same ring, some times."""
    told = measurement.service
    properties = snapshot_properties(
        str(told["backend"]), n_qubits=int(told["n_qubits"]), n_layers=int(told["n_layers"]), ring=told["ring"]
    )
    twins = [NoisySampler(DeviceCalibration(**properties.values), seed=seed) for seed in range(N_RUNS)]
    return [twin.hamming_counts(measurement.circuits[:n_rows], shots=measurement.shots) for twin in twins]


def _calibration_lines(device: str, counts: NDArray[np.int64], runs: list[NDArray[np.int64]]) -> Iterator[str]:
    found, all_runs = calibrate(counts), np.sum(runs, axis=0)
    means, twin_means = mean_hamming(counts), mean_hamming(all_runs)
    apart = _apart(counts, all_runs)
    yield f"\n### {device}: calibration\n"
    yield f"| | Aer | twin, {N_RUNS} runs | standard errors apart |\n|---|---|---|---|"
    for i, m in np.ndindex(means.shape):
        yield f"| mean weight, centroids {i}, {m} | {means[i, m]:.1f} | {twin_means[i, m]:.1f} | {apart[i, m]:+.1f} |"
    low, high = found.interval or (0, 0)
    chosen = sorted(calibrate(each).tolerance for each in runs)
    middle = f"{chosen[N_RUNS // 2]} ({chosen[0]} to {chosen[-1]})"
    yield f"| b* | {found.tolerance} ({low} to {high}) | {middle} | |"


def _label_lines(
    device: str, counts: NDArray[np.int64], runs: list[NDArray[np.int64]], *, tolerance: int
) -> Iterator[str]:
    truth = np.unique(datasets.load(DATASET).test.y, return_inverse=True)[1][: len(counts)]
    all_runs = np.sum(runs, axis=0)
    yield f"\n### {device}: the first {len(counts)} test samples, b = {tolerance}\n"
    yield f"| | Aer | twin, mean of {N_RUNS} runs |\n|---|---|---|"
    by_tolerance = [predicted_classes(each, tolerance) for each in (counts, *runs)]
    by_mean = [classes_by_mean_hamming(each) for each in (counts, *runs)]
    for name, (aer, *twins) in {"k^b": by_tolerance, "mean weight": by_mean}.items():
        yield f"| accuracy by {name} | {np.mean(aer == truth):.2f} | {np.mean(np.array(twins) == truth):.2f} |"
    yield f"| same label by k^b | | {np.mean(np.array(by_tolerance[1:]) == by_tolerance[0]):.2f} |"
    yield f"| mean weight | {mean_hamming(counts).mean():.2f} | {mean_hamming(all_runs).mean():.2f} |"
    apart = _apart(counts, all_runs)
    yield f"| χ² of the mean weights of {apart.size} circuits | {np.sum(apart**2):.0f} | |"


def _twin_lines() -> Iterator[str]:
    """The whole experiment on our twin of each snapshot's ring, three runs."""
    data = datasets.load(DATASET)
    model = McQuackClassifier.from_preset("device", random_state=0).fit(*data.train)
    exact = model.score(*data.test)
    yield "\n### All 50 test samples on the twins of the snapshots, three runs\n"
    yield f"Exact fidelities: {exact:.2f}.\n\n| snapshot | b* | accuracy |\n|---|---|---|"
    for device in ("fake_pittsburgh", "fake_aachen"):
        chosen, scores = [], []
        for seed in range(3):
            sampler = open_sampler(f"twin:{device}", model.feature_map_, options=Options(allow_faulty=True), seed=seed)
            chosen.append(calibrate(sampler.hamming_counts(model.overlap_circuits(), shots=SHOTS), seed=seed).tolerance)
            measured = copy(model).set_params(engine=SampledEngine(sampler, shots=SHOTS, tolerance=chosen[-1]))
            scores.append(measured.score(*data.test))
        told = ", ".join(f"{score:.2f}" for score in scores)
        yield f"| {device} | {', '.join(map(str, chosen))} | {np.mean(scores):.2f} ({told}) |"


def _apart(counts: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.floating]:
    """How many standard errors lie between the mean weights."""
    return (mean_hamming(counts) - mean_hamming(others)) / np.hypot(_standard_error(counts), _standard_error(others))


def _standard_error(counts: NDArray[np.int64]) -> NDArray[np.floating]:
    weights, shots = np.arange(counts.shape[-1]), counts.sum(axis=-1)
    squares = (counts * (weights - mean_hamming(counts)[..., None]) ** 2).sum(axis=-1)
    return np.sqrt(squares / shots / (shots - 1))


if __name__ == "__main__":
    main()
