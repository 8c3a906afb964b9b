"""A benchmark whose scores are made up: model a is best nearly everywhere, the last worst."""

from io import BytesIO

import numpy as np
from matplotlib.figure import Figure

from mcquack.bench.ranking import CellScores

MODELS = ("Alpha", "Beta", "Gamma", "Delta")
FAMILIES = ("curves", "planes")
SIZES = (2, 5, 9)


def benchmark(models=MODELS, *, families=FAMILIES, published=("Beta",), seed=0) -> tuple[CellScores, ...]:
    """Train and test accuracies over three seeds on datasets of three sizes for each family."""
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


def is_drawn(figure: Figure) -> bool:
    """Warnings are errors, so a figure whose parts find no room is not."""
    picture = BytesIO()
    figure.savefig(picture, dpi=30)
    return picture.getvalue().startswith(b"\x89PNG")
