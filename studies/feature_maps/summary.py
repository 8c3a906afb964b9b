"""The rows as tables: ``python -m studies.feature_maps.summary`` puts them into the README."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.preprocessing import MinMaxScaler

from mcquack.arrays import FloatArray
from mcquack.bench import ranking
from mcquack.bench.ranking import CellScores
from mcquack.bench.store import Store
from mcquack.bench.task import Metric, Part, model_and_label
from mcquack.circuits.circuit import Circuit
from mcquack.circuits.library import Sized
from mcquack.datasets import describe, load
from mcquack.simulators import engine_of
from mcquack.studies.feature_maps import CONTENDERS
from mcquack.studies.trainability.analysis.states import (
    entanglement,
    expressibility,
    haar_entanglement,
    pair_log_fidelities,
    random_circuit_fidelities,
)
from mcquack.training.state import initial_embedding
from studies.tables import rows_file, table, write_tables

HERE = Path(__file__).parent
README = HERE / "README.md"
# By the size of the circuits.
STORES = {720: rows_file(HERE / "rows.sqlite"), 180: rows_file(HERE / "few_parameters.sqlite")}
METRICS: dict[Metric, str] = {"balanced_accuracy": "balanced accuracy", "auc": "AUC"}
LOOKED_AT = "hidden_manifold_10"  # whose samples the circuits are measured on
N_QUBITS = 6

Cells = tuple[CellScores, ...]


def main() -> None:
    """Writes the tables into the README."""
    write_tables(README, tables())


def tables() -> dict[str, str]:
    """The tables of the README, and the sentences whose numbers follow from the rows, by the names of the places."""
    large, small = (stored(path) for path in STORES.values())
    return {
        "standings": standings(large, minutes(STORES[720])),
        "tests": tests(large),
        "balanced accuracy": scores(large, "balanced_accuracy"),
        "AUC": scores(large, "auc"),
        "parameters": parameters(large),
        "circuits": facts(),
        "sizes": sizes(large, small),
        "tests of few parameters": tests(small),
    }


def stored(path: Path) -> Cells:
    """The scores of a store."""
    with Store.open(path) as store:
        return ranking.cell_scores(store)


def label(model: str) -> str:
    """The map of a model in the suite."""
    return model_and_label(model)[1]


def average_ranks(cells: Cells, metric: Metric) -> dict[str, tuple[float, str]]:
    """Of each map, best first: its mean rank from 1 to the number of maps, and the interval of it as a text."""
    lines = ranking.standings(ranking.score_table(cells, metric=metric), ties="average")
    n_maps, found = len(lines), {}
    for line in lines:
        ends = [] if line.interval is None else [line.interval.low, line.interval.high]
        text = " … ".join(f"{n_maps * end:.1f}" for end in ends)
        found[label(line.contender.model)] = n_maps * line.average_rank, text
    return found


def means(cells: Cells, metric: Metric, part: Part = "test") -> dict[str, float]:
    """The mean of a score over all datasets, by map."""
    found: dict[str, list[float]] = {}
    for cell in cells:
        found.setdefault(label(cell.model), []).append(cell.mean(part, metric) or 0.0)
    return {name: float(np.mean(values)) for name, values in found.items()}


def minutes(path: Path) -> dict[str, float]:
    """How long all fits of a store took, by map."""
    found: dict[str, float] = {}
    with Store.open(path) as store:
        for outcome in store.outcomes(details=False):
            name = label(outcome.task.model)
            found[name] = found.get(name, 0.0) + outcome.seconds["fit"] / 60
    return found


def standings(cells: Cells, cost: Mapping[str, float]) -> str:
    """Mean scores and mean ranks, best balanced accuracy first."""
    ranks = {metric: average_ranks(cells, metric) for metric in METRICS}
    of_all = {metric: means(cells, metric) for metric in METRICS}
    learned = means(cells, "balanced_accuracy", "train")
    titles = [text for title in METRICS.values() for text in (f"mean {title}", "mean rank (95 % interval)")]
    rows = []
    for name in ranks["balanced_accuracy"]:
        texts = [f"`{name}`"]
        for metric in METRICS:
            rank, interval = ranks[metric][name]
            texts += [f"{of_all[metric][name]:.3f}", f"{rank:.2f} ({interval})"]
        rows.append([*texts, f"{learned[name]:.3f}", f"{cost[name]:.1f}"])
    return table(["map", *titles, "balanced accuracy on the training part", "minutes of fits"], rows)


def tests(cells: Cells) -> str:
    """What Friedman's and Nemenyi's tests say, a sentence for each metric."""
    lines = []
    for metric, title in METRICS.items():
        found = ranking.compare(ranking.score_table(cells, metric=metric))
        first = label(found.contenders[0].model)
        behind = [
            f"`{label(other.model)}`"
            for other, p_value in zip(found.contenders, found.p_values[0], strict=True)
            if p_value < found.alpha
        ]
        lines.append(
            f"- By {title}, Friedman's test (Iman and Davenport's F) gives {found.friedman.f_statistic:.1f}, "
            f"p = {found.friedman.f_p_value:.0e}; Nemenyi's critical difference of mean ranks is "
            f"{found.critical_difference:.2f}. It separates `{first}`, the first, from {', '.join(behind) or 'none'}."
        )
    return "\n".join(lines)


def scores(cells: Cells, metric: Metric) -> str:
    """The mean test score of each map on each dataset."""
    found = {(cell.dataset, label(cell.model)): cell.mean("test", metric) for cell in cells}
    rows = [
        [describe(dataset).name, *(f"{found[dataset, name] or 0.0:.3f}" for name in CONTENDERS)]
        for dataset in datasets(cells)
    ]
    last = means(cells, metric)
    return table(
        [METRICS[metric], *_coded(CONTENDERS)], [*rows, ["mean", *(f"{last[name]:.3f}" for name in CONTENDERS)]]
    )


def datasets(cells: Cells) -> tuple[str, ...]:
    """In the order of the suite."""
    return tuple(dict.fromkeys(cell.dataset for cell in cells))


def circuit_parameters(cells: Cells) -> Mapping[tuple[str, str], int]:
    """Weights and biases by dataset and map, as the rows have them: all parameters but those of the centroids."""
    found = {}
    for cell in cells:
        known = describe(cell.dataset)
        found[cell.dataset, label(cell.model)] = (cell.n_parameters or 0) - known.n_features * known.n_classes
    return found


def parameters(cells: Cells) -> str:
    """The weights and biases of each map on each dataset."""
    counts = circuit_parameters(cells)
    rows = []
    for dataset in datasets(cells):
        n_features = describe(dataset).n_features
        rows.append([f"{dataset} ({n_features})", *(str(counts[dataset, name]) for name in CONTENDERS)])
    return table(["dataset (features)", *_coded(CONTENDERS)], rows)


def facts() -> str:
    """Size, expressibility, entangling power and first fidelities of the circuits for ten features."""
    X = MinMaxScaler().fit_transform(load(LOOKED_AT).train.X)[:60]
    large, small = STORES
    rows = []
    for name in CONTENDERS:
        circuit = Sized(name, large, n_qubits=N_QUBITS)(X.shape[1])
        distance = expressibility(random_circuit_fidelities(circuit, n_pairs=500), N_QUBITS)
        entangled, alike = first_states(circuit, X)
        _, alike_if_small = first_states(Sized(name, small, n_qubits=N_QUBITS)(X.shape[1]), X)
        numbers = f"{round(distance, 2) + 0.0:.2f}", f"{entangled:.2f}", f"{alike:.3f}", f"{alike_if_small:.3f}"
        rows.append([f"`{name}`", str(circuit.n_gates), str(circuit.depth), *numbers])
    random = f"{0.5**N_QUBITS:.3f}"
    rows.append(["random states", "", "", "0.00", f"{haar_entanglement(N_QUBITS):.2f}", random, random])
    fidelities = [f"mean fidelity of two samples, {size}" for size in STORES]
    return table(["map", "gates", "depth", "expressibility", "entangling power", *fidelities], rows)


def first_states(circuit: Circuit, X: FloatArray) -> tuple[float, float]:
    """Entangling power and mean fidelity of two samples, with the parameters that training begins with."""
    start = initial_embedding(
        circuit,
        X,
        row_weights=np.ones(len(X)),
        init_small=True,
        init_strategy="default",
        seed=0,
        dtype=np.dtype(np.float64),
    )
    engine: Any = engine_of("auto", circuit).on(circuit)
    alike = np.exp(pair_log_fidelities(engine, X, *start))
    return float(entanglement(engine, X, *start).mean()), float(alike.mean())


def sizes(large: Cells, small: Cells) -> str:
    """Mean balanced accuracy and mean rank of the circuits of either size."""
    ranks = [average_ranks(cells, "balanced_accuracy") for cells in (large, small)]
    of_all = [means(cells, "balanced_accuracy") for cells in (large, small)]
    rows = [
        [f"`{name}`", *(f"{each[name]:.3f}" for each in of_all), *(f"{each[name][0]:.2f}" for each in ranks)]
        for name in ranks[0]
    ]
    titles = [f"{what}, {size}" for what in ("mean balanced accuracy", "mean rank") for size in STORES]
    return table(["map", *titles], rows)


def _coded(names: Iterable[str]) -> list[str]:
    return [f"`{name}`" for name in names]


if __name__ == "__main__":
    main()
