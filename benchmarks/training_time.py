"""Seconds to train a quantum-kernel classifier, against the number of samples and of qubits: ours and other libraries.

Each library is used as its own tutorials use it, with its own fidelity kernel and scikit-learn's support vector
machine. A library's curve ends where a fit takes longer than the limit. Fits run one at a time, each in a process of
its own; what has been measured is kept in the file of rows, so that the same command continues an interrupted run.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from sklearn.datasets import make_classification
from sklearn.preprocessing import MinMaxScaler

from benchmarks.machine import description, machine, versions
from benchmarks.tables import Table, write_markdown
from benchmarks.worker import resident_megabytes

Data = tuple[NDArray[np.float64], NDArray[np.int64]]

SAMPLES = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
QUBITS = (2, 4, 6, 8, 10, 12, 14, 16, 18, 20)
N_QUBITS = 6
"""Qubits, and features, while the number of samples grows."""
N_SAMPLES = 300
"""Samples while the number of qubits grows."""


@dataclass(frozen=True, kw_only=True)
class Contender:
    """A library, what it needs installed, and a function that trains on some data."""

    title: str
    packages: tuple[str, ...]
    fit: Callable[[Data], object]
    prepare: Callable[[Data], object] | None = None
    """What is done once before the clock starts, such as loading compiled code."""


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """Seconds and peak memory of a fit, or why there are none."""

    contender: str
    n_samples: int
    n_qubits: int
    seconds: float | None = None
    megabytes: float | None = None
    note: str = ""


def data(n_samples: int, n_qubits: int) -> Data:
    """Return two classes with as many features as qubits, scaled to [0, 1]."""
    X, y = make_classification(
        n_samples,
        n_features=n_qubits,
        n_informative=n_qubits,
        n_redundant=0,
        n_clusters_per_class=1,
        class_sep=0.8,
        random_state=0,
    )
    return MinMaxScaler().fit_transform(X), y


# --- the libraries ---------------------------------------------------------------------------------------------------


def fit_mcquack(train: Data) -> object:
    """Train the circuit and the centroids of the default classifier."""
    from mcquack import McQuackClassifier

    X, y = train
    return McQuackClassifier(n_qubits=X.shape[1], random_state=0).fit(X, y)


def load_mcquack(train: Data) -> object:
    """Compile the trainer, or load it from disk, with one short fit."""
    from mcquack import McQuackClassifier

    X, y = train
    return McQuackClassifier(n_qubits=X.shape[1], epochs=1, random_state=0).fit(X[:100], y[:100])


def fit_mcquack_svc(train: Data) -> object:
    """Train a support vector machine on the fidelity kernel of the untrained ZZ map."""
    from sklearn.svm import SVC

    from mcquack.circuits import library
    from mcquack.kernels import QuantumKernel

    X, y = train
    return SVC(kernel=QuantumKernel(library.zz(X.shape[1], X.shape[1]))).fit(X, y)


def fit_qiskit_circuits(train: Data) -> object:
    """Qiskit Machine Learning's QSVC with its default kernel, a circuit for each pair."""
    from qiskit.circuit.library import zz_feature_map
    from qiskit_machine_learning.algorithms import QSVC
    from qiskit_machine_learning.kernels import FidelityQuantumKernel

    X, y = train
    return QSVC(quantum_kernel=FidelityQuantumKernel(feature_map=zz_feature_map(X.shape[1]))).fit(X, y)


def fit_qiskit_states(train: Data) -> object:
    """Qiskit Machine Learning's QSVC with its kernel for simulation, a state for each sample."""
    from qiskit.circuit.library import zz_feature_map
    from qiskit_machine_learning.algorithms import QSVC
    from qiskit_machine_learning.kernels import FidelityStatevectorKernel

    X, y = train
    return QSVC(quantum_kernel=FidelityStatevectorKernel(feature_map=zz_feature_map(X.shape[1]))).fit(X, y)


def fit_squlearn(train: Data) -> object:
    """Train sQUlearn's QSVC with the circuit of its tutorial and its default executor."""
    from squlearn import Executor
    from squlearn.encoding_circuit import HubregtsenEncodingCircuit
    from squlearn.kernel import QSVC, FidelityKernel

    X, y = train
    circuit = HubregtsenEncodingCircuit(num_qubits=X.shape[1], num_features=X.shape[1], num_layers=2)
    return QSVC(FidelityKernel(circuit, Executor())).fit(X, y)


def fit_pennylane(train: Data) -> object:
    """Train a support vector machine on PennyLane's kernel matrix, a circuit on Lightning for each pair."""
    import pennylane as qml
    from sklearn.svm import SVC

    X, y = train
    qubits = range(X.shape[1])

    @qml.qnode(qml.device("lightning.qubit", wires=qubits))
    def probabilities(left: NDArray[np.float64], right: NDArray[np.float64]) -> Any:
        qml.IQPEmbedding(left, wires=qubits, n_repeats=2)
        qml.adjoint(qml.IQPEmbedding)(right, wires=qubits, n_repeats=2)
        return qml.probs(wires=qubits)

    matrix = qml.kernels.square_kernel_matrix(
        X, lambda left, right: probabilities(left, right)[0], assume_normalized_kernel=True
    )
    return SVC(kernel="precomputed").fit(matrix, y)


CONTENDERS = {
    "mcquack": Contender(
        title="McQuackClassifier, circuit trained", packages=("mcquack",), fit=fit_mcquack, prepare=load_mcquack
    ),
    "mcquack-svc": Contender(
        title="SVC with mcquack's ZZ kernel",
        packages=("mcquack",),
        fit=fit_mcquack_svc,
        prepare=lambda train: fit_mcquack_svc((train[0][:50], train[1][:50])),
    ),
    "qiskit-states": Contender(
        title="Qiskit ML, QSVC on statevectors", packages=("qiskit_machine_learning",), fit=fit_qiskit_states
    ),
    "squlearn": Contender(title="sQUlearn, QSVC", packages=("squlearn",), fit=fit_squlearn),
    "pennylane": Contender(
        title="PennyLane, kernel matrix and SVC", packages=("pennylane", "pennylane_lightning"), fit=fit_pennylane
    ),
    "qiskit": Contender(
        title="Qiskit ML, QSVC as it comes", packages=("qiskit_machine_learning",), fit=fit_qiskit_circuits
    ),
}


# --- measuring -------------------------------------------------------------------------------------------------------


def measured_here(name: str, n_samples: int, n_qubits: int) -> dict[str, float]:
    """Return seconds and peak memory of one fit in this process."""
    contender, train = CONTENDERS[name], data(n_samples, n_qubits)
    if contender.prepare is not None:
        contender.prepare(train)
    start = time.perf_counter()
    contender.fit(train)
    return {"seconds": time.perf_counter() - start, "megabytes": resident_megabytes("VmHWM")}


def measured(name: str, n_samples: int, n_qubits: int, *, limit: float) -> Measurement:
    """Return the measurement of one fit in a process of its own, ended after the limit."""
    size = {"contender": name, "n_samples": n_samples, "n_qubits": n_qubits}
    missing = [package for package in CONTENDERS[name].packages if find_spec(package) is None]
    if missing:
        return Measurement(**size, note=f"{', '.join(missing)} not installed")
    command = [sys.executable, "-m", "benchmarks.training_time", "--one", name, str(n_samples), str(n_qubits)]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return Measurement(**size, note=f"> {limit:g} s")
    if ended.returncode:
        last = ended.stderr.strip().splitlines()[-1:] or [f"exit code {ended.returncode}"]
        return Measurement(**size, note=last[0][:80])
    return Measurement(**size, **json.loads(ended.stdout.splitlines()[-1]))


def sizes() -> list[list[tuple[int, int]]]:
    """Return two series of (samples, qubits): one grows in samples, the other in qubits."""
    return [[(n_samples, N_QUBITS) for n_samples in SAMPLES], [(N_SAMPLES, n_qubits) for n_qubits in QUBITS]]


def measurements(names: Sequence[str], known: Sequence[Measurement], *, limit: float) -> Iterator[Measurement]:
    """Yield what is not yet known; a series ends with the first fit that fails or takes too long."""
    found = {(each.contender, each.n_samples, each.n_qubits): each for each in known}
    for name in names:
        for series in sizes():
            for size in series:
                if (name, *size) not in found:
                    found[name, *size] = measured(name, *size, limit=limit)
                    yield found[name, *size]
                if found[name, *size].seconds is None:
                    break


# --- results ---------------------------------------------------------------------------------------------------------


def tables(rows: Sequence[Measurement]) -> list[Table]:
    """Return a table for each series: a line for each library, a column for each size."""
    found = {(row.contender, row.n_samples, row.n_qubits): row for row in rows}
    by_samples, by_qubits = sizes()
    titles = {
        f"seconds to train, {N_QUBITS} qubits, by number of samples": (by_samples, 0),
        f"seconds to train, {N_SAMPLES} samples, by number of qubits": (by_qubits, 1),
    }
    return [
        Table(
            title=title,
            header=["", *(f"{size[axis]:,}" for size in series)],
            lines=[
                [contender.title, *(_cell(found.get((name, *size))) for size in series)]
                for name, contender in CONTENDERS.items()
            ],
        )
        for title, (series, axis) in titles.items()
    ]


def _cell(row: Measurement | None) -> str:
    if row is None:
        return ""
    return row.note if row.seconds is None else f"{row.seconds:.3g}"


def draw(rows: Sequence[Measurement], path: Path, *, limit: float) -> None:
    """Write both series as one figure, which can be read on a light and on a dark page."""
    import matplotlib.pyplot as plt

    grey = "#808080"
    plain = {
        "text.color": grey,
        "axes.labelcolor": grey,
        "xtick.color": grey,
        "ytick.color": grey,
        "axes.edgecolor": grey,
    }
    with plt.rc_context({**plain, "svg.hashsalt": "training time", "font.size": 9}):
        figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
        for ax, series, axis, label in zip(
            axes, sizes(), (0, 1), (f"samples ({N_QUBITS} qubits)", f"qubits ({N_SAMPLES} samples)"), strict=True
        ):
            for number, (name, contender) in enumerate(CONTENDERS.items()):
                found = {(row.n_samples, row.n_qubits): row.seconds for row in rows if row.contender == name}
                points = [(size[axis], found[size]) for size in series if found.get(size) is not None]
                if points:
                    ax.plot(
                        *zip(*points, strict=True), marker="o", markersize=3, color=f"C{number}", label=contender.title
                    )
            ax.axhline(limit, color=grey, linewidth=0.6, linestyle=":")
            ax.set(xlabel=label, yscale="log", **({"xscale": "log"} if axis == 0 else {}))
            ax.spines[["top", "right"]].set_visible(False)
        axes[0].set_ylabel("seconds to train")
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
        figure.savefig(path, transparent=True, metadata={"Date": None})
        plt.close(figure)


def read_rows(path: Path) -> list[Measurement]:
    """Return the rows of an earlier run, or none."""
    return [Measurement(**row) for row in json.loads(path.read_text())["rows"]] if path.exists() else []


def write_rows(path: Path, rows: Sequence[Measurement], *, limit: float) -> None:
    """Write all rows, with the machine and the versions that they were measured with."""
    report = {
        "machine": machine(),
        "versions": versions(),
        "limit_seconds": limit,
        "rows": [asdict(row) for row in rows],
    }
    part = path.with_suffix(".part")
    part.write_text(json.dumps(report, indent=1) + "\n")
    part.replace(path)


def main() -> None:
    arguments = _arguments()
    if arguments.one:
        name, n_samples, n_qubits = arguments.one
        print(json.dumps(measured_here(name, int(n_samples), int(n_qubits))))
        return
    console = Console()
    console.print(description())
    rows = read_rows(arguments.json)
    for row in measurements(arguments.contenders, rows, limit=arguments.limit):
        rows.append(row)
        write_rows(arguments.json, rows, limit=arguments.limit)
        console.print(f"{row.contender}, {row.n_samples:,} samples, {row.n_qubits} qubits: {_cell(row)}")
    for table in tables(rows):
        table.print(console)
    if arguments.chart:
        draw(rows, arguments.chart, limit=arguments.limit)
    if arguments.markdown:
        text = "\n\n".join([description(), *(table.markdown() for table in tables(rows))])
        write_markdown(Path(__file__).with_name("README.md"), marker="training-time", text=text)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.training_time", description=__doc__)
    parser.add_argument("--json", type=Path, default=Path("training_time.json"), help="rows, read first and added to")
    parser.add_argument("--chart", type=Path, metavar="FILE", help="draw the rows into this file (.svg, .pdf, .png)")
    parser.add_argument("--markdown", action="store_true", help="put the tables into benchmarks/README.md")
    parser.add_argument("--limit", type=float, default=600, help="seconds after which a fit is ended (default 600)")
    parser.add_argument("--contenders", nargs="*", choices=CONTENDERS, default=list(CONTENDERS), help="default: all")
    parser.add_argument("--one", nargs=3, metavar=("NAME", "SAMPLES", "QUBITS"), help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
