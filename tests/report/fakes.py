"""What is drawn in tests: a model with states by construction, and a benchmark whose scores are made up."""

from io import BytesIO
from pathlib import Path as FilePath
from typing import Any, TypeVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.path import Path
from numpy.typing import NDArray

from mcquack.bench.ranking import CellScores

T = TypeVar("T")


class FakeModel:
    """Knows its classes and centroid states; a row of X already is a (complex) state."""

    def __init__(
        self, classes: list[Any], *, k: int = 1, n_qubits: int = 3, n_epochs: int = 5, validated: bool = False
    ) -> None:
        self.classes_: NDArray[Any] = np.array(sorted(classes))
        self.centroid_states = random_states(len(classes) * k, n_qubits, seed=0)
        self.best_epoch_: int | None = None
        self.history_: list[dict[str, Any]] = [
            {
                "epoch": epoch,
                "loss_kao": 1 - 0.1 * epoch,
                "loss_co": 1 - 0.08 * epoch,
                "alignment": 0.1 * epoch,
                "accuracy": 0.5 + 0.1 * epoch,
                "validation_alignment": 0.05 * epoch if validated else None,
                "validation_accuracy": 0.5 + 0.05 * epoch if validated else None,
            }
            for epoch in range(n_epochs)
        ]

    def statevectors(self, X: NDArray[Any], /) -> NDArray[np.complexfloating]:
        return np.asarray(X)

    def transform(self, X: NDArray[Any], /) -> NDArray[np.floating]:
        return np.abs(np.asarray(X) @ self.centroid_states.conj().T) ** 2

    def samples(self, n_samples: int, *, seed: int = 1) -> tuple[NDArray[Any], NDArray[Any]]:
        """States and labels, every class in turn."""
        states = random_states(n_samples, int(np.log2(self.centroid_states.shape[1])), seed=seed)
        return states, self.classes_[np.arange(n_samples) % len(self.classes_)]


def random_states(n_states: int, n_qubits: int, *, seed: int) -> NDArray[np.complex128]:
    """Rows of unit norm in all directions alike."""
    rng = np.random.default_rng(seed)
    states = rng.normal(size=(n_states, 2**n_qubits)) + 1j * rng.normal(size=(n_states, 2**n_qubits))
    return states / np.linalg.norm(states, axis=1, keepdims=True)


MODELS = ("Alpha", "Beta", "Gamma", "Delta")
FAMILIES = ("curves", "planes")
SIZES = (2, 5, 9)


def benchmark(models=MODELS, *, families=FAMILIES, published=("Beta",), seed=0) -> tuple[CellScores, ...]:
    """Train and test accuracies over three seeds on three sizes of each family; the first model is the best."""
    rng = np.random.default_rng(seed)
    return tuple(
        CellScores(
            dataset=f"{family}_{size}",
            family=family,
            size=size,
            model=title.lower(),
            title=title,
            source="Somebody 2024" if title in published else "",
            values={
                (part, "accuracy"): tuple((0.9 - 0.5 * place / len(models) + rng.normal(0, 0.03, 3)).clip(0, 1))
                for part in ("train", "test")
            },
        )
        for place, title in enumerate(models)
        for family in families
        for size in SIZES
    )


def texts(figure: Figure) -> set[str]:
    """All that is written in the axes."""
    return {text.get_text() for ax in figure.axes for text in ax.texts}


def xs(line: Line2D) -> NDArray[np.float64]:
    return np.asarray(line.get_xdata(), dtype=np.float64)


def ys(line: Line2D) -> NDArray[np.float64]:
    return np.asarray(line.get_ydata(), dtype=np.float64)


def lengths(ax: Axes) -> list[float]:
    """The lengths of all bars that lie."""
    return [bar.get_width() for bar in ax.patches if isinstance(bar, Rectangle)]


def corners(path: Path) -> NDArray[np.float64]:
    return np.asarray(path.vertices, dtype=np.float64)


def known(value: T | None) -> T:
    """A value that is there."""
    assert value is not None
    return value


def is_drawn(figure: Figure) -> bool:
    """Warnings are errors, so a figure whose parts find no room is not."""
    picture = BytesIO()
    figure.savefig(picture, dpi=30)
    return picture.getvalue().startswith(b"\x89PNG")


def files_of(folder: FilePath) -> dict[str, bytes]:
    """The contents of all files in a folder by their paths in it."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
