"""Whole fits: seconds beside scikit-learn, and growth in samples and in classes."""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from sklearn.base import ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_blobs, make_moons
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks.machine import description
from benchmarks.tables import Table, add_output_arguments, write_results
from benchmarks.worker import seconds_per_step
from mcquack import McQuackClassifier

Data = tuple[NDArray[np.float64], NDArray[np.int64]]

N_FEATURES = 6
N_QUBITS = 6
EPOCHS = 2
SHORT = 0.2
"""Seconds: what is shorter is done again until they are over."""


@dataclass(frozen=True, kw_only=True)
class Growth:
    """Seconds per fit over a size that grows while all else rests."""

    name: str
    sizes: Sequence[int]
    seconds: Sequence[float]

    @property
    def slope(self) -> float:
        """Exponent p of the least-squares fit seconds ∝ size**p."""
        return float(np.polyfit(np.log(self.sizes), np.log(self.seconds), 1)[0])

    @property
    def last_slope(self) -> float:
        """The exponent between the two largest sizes, where fixed costs weigh least."""
        (size, larger), (seconds, more) = self.sizes[-2:], self.seconds[-2:]
        return float(np.log(more / seconds) / np.log(larger / size))

    def record(self) -> dict[str, object]:
        """The growth as JSON."""
        return {
            "name": self.name,
            "sizes": list(self.sizes),
            "seconds": list(self.seconds),
            "slope": self.slope,
            "last_slope": self.last_slope,
        }


def best_seconds(actions: Sequence[Callable[[], object]], *, rounds: int) -> list[float]:
    """The quickest run of each; they take turns, so that a busy spell of the machine hits all of them."""
    best = [float("inf")] * len(actions)
    for _ in range(rounds):
        for index, action in enumerate(actions):
            best[index] = min(best[index], *seconds_per_step(action, budget=SHORT))
    return best


def blobs(n_samples: int, n_classes: int) -> Data:
    """Gaussian clouds in six dimensions, every class present."""
    X, y = make_blobs(n_samples, n_features=N_FEATURES, centers=n_classes, random_state=0)
    return X, y


def classifier(*, batch_size: int = 100) -> McQuackClassifier:
    """A model whose number of epochs does not depend on how well it does."""
    paper = {"loss": "alignment", "steps": "alternating"}
    return McQuackClassifier(N_QUBITS, epochs=EPOCHS, patience=None, batch_size=batch_size, random_state=0, **paper)


def growth_in_samples(sizes: Sequence[int], *, rounds: int) -> Growth:
    """Two classes, more and more samples."""
    fits = [_fit(blobs(size, 2), batch_size=100) for size in sizes]
    return Growth(name="samples (M = 2, batches of 100)", sizes=sizes, seconds=best_seconds(fits, rounds=rounds))


def growth_in_classes(sizes: Sequence[int], *, n_samples: int, batch_size: int, rounds: int) -> Growth:
    """More and more classes, the number of samples fixed."""
    fits = [_fit(blobs(n_samples, size), batch_size=batch_size) for size in sizes]
    name = f"classes (N = {n_samples:,}, batches of {batch_size})"
    return Growth(name=name, sizes=sizes, seconds=best_seconds(fits, rounds=rounds))


def _fit(data: Data, *, batch_size: int) -> Callable[[], object]:
    return lambda: classifier(batch_size=batch_size).fit(*data)


def growth_table(growth: Growth) -> Table:
    """A column for each size; the slopes stand in the title."""
    return Table(
        title=(
            f"growth in {growth.name}: log-log slope {growth.slope:.2f}, {growth.last_slope:.2f} between the last two"
        ),
        header=[growth.name.partition(" ")[0], *(f"{size:,}" for size in growth.sizes)],
        lines=[["seconds", *(f"{seconds:.3g}" for seconds in growth.seconds)]],
    )


def typical_problems() -> dict[str, Data]:
    """Small and middling problems that come with scikit-learn."""
    return {
        "wine": load_wine(return_X_y=True),
        "breast cancer": load_breast_cancer(return_X_y=True),
        "digits": load_digits(return_X_y=True),
        "moons": make_moons(2_000, noise=0.2, random_state=0),
        "blobs, 10 classes": blobs(10_000, 10),
    }


def models() -> dict[str, ClassifierMixin]:
    """McQuack as it comes, and the two that one would try first."""
    return {
        "McQuack, the paper's steps": McQuackClassifier(loss="alignment", steps="alternating", random_state=0),
        "McQuack": McQuackClassifier(random_state=0),
        "SVC": make_pipeline(StandardScaler(), SVC()),
        "MLP": make_pipeline(StandardScaler(), MLPClassifier(max_iter=1000, random_state=0)),
    }


def typical_rows(*, rounds: int) -> list[dict[str, object]]:
    """Seconds to fit and accuracy on a held-out quarter, by problem and model."""
    rows = []
    for problem, (X, y) in typical_problems().items():
        X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, stratify=y, random_state=0)
        size = {"n_train": len(X_train), "n_features": X.shape[1], "n_classes": len(np.unique(y))}
        fitted = models()
        seconds = best_seconds([partial(model.fit, X_train, y_train) for model in fitted.values()], rounds=rounds)
        for (name, model), best in zip(fitted.items(), seconds, strict=True):
            accuracy = float(model.score(X_test, y_test))
            rows.append({"problem": problem, "model": name, **size, "seconds": best, "accuracy": accuracy})
    return rows


def typical_table(rows: Sequence[dict[str, object]]) -> Table:
    """A line for each problem; a cell holds seconds and accuracy."""
    cells = {(row["problem"], row["model"]): f"{row['seconds']:.2f} s, {row['accuracy']:.3f}" for row in rows}
    sizes = {row["problem"]: f"{row['n_train']:,}, {row['n_features']}, {row['n_classes']}" for row in rows}
    names = list(dict.fromkeys(str(row["model"]) for row in rows))
    return Table(
        title="a fit with default settings: seconds, and accuracy on the held-out quarter",
        header=["problem", "N, d, M", *names],
        lines=[[str(problem), size, *(cells[problem, name] for name in names)] for problem, size in sizes.items()],
    )


def main() -> None:
    arguments = _arguments()
    console = Console()
    console.print(description())
    classifier().fit(*blobs(200, 2))  # loads compiled code, which is not part of a fit

    fits = typical_rows(rounds=arguments.rounds)
    tables = [typical_table(fits)]
    tables[0].print(console)
    growths = []
    for measure in (
        lambda: growth_in_samples(arguments.samples, rounds=arguments.rounds),
        lambda: growth_in_classes((2, 5, 10, 20, 50), n_samples=20_000, batch_size=100, rounds=arguments.rounds),
        lambda: growth_in_classes((50, 100, 200, 400, 800), n_samples=4_000, batch_size=8, rounds=arguments.rounds),
    ):
        growths.append(measure())
        tables.append(growth_table(growths[-1]))
        tables[-1].print(console)
    results = {"fits": fits, "growth": [growth.record() for growth in growths]}
    write_results(tables, results, marker="fit", json_file=arguments.json, markdown_file=arguments.markdown)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fit", description=__doc__)
    parser.add_argument("--samples", type=int, nargs="+", default=[10**3, 10**4, 10**5, 10**6], help="n_train to grow")
    parser.add_argument(
        "--rounds", type=int, default=5, help="how often each fit has its turn (default 5); the best counts"
    )
    add_output_arguments(parser)
    return parser.parse_args()


if __name__ == "__main__":
    main()
