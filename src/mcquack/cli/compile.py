"""``mcquack compile``: what the first run would compile is compiled now, as for an image or an installation."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import typer

from mcquack.checks import did_you_mean
from mcquack.cli.console import described, tell


def _used(model: Any) -> None:
    """Trains, labels and scores as ``fit`` and ``predict`` do; the kinds of the arrays decide what is compiled."""
    generator = np.random.default_rng(0)
    X, y = generator.random((300, 5)), np.arange(300) % 3
    options = {"validation_data": (X[:60], y[:60])}
    for _ in model.fit_iter(X, y, **options):
        pass
    model.predict(X)
    model.predict_proba(X)


def _default() -> None:
    from mcquack.models import McQuackClassifier

    _used(McQuackClassifier(epochs=2, random_state=0))


def _circuits() -> None:
    from mcquack.models import McQuackClassifier

    _used(McQuackClassifier(n_qubits=3, epochs=2, feature_map="iqp", random_state=0))


def _ring() -> None:
    from mcquack.models import McQuackClassifier

    _used(McQuackClassifier(n_qubits=24, epochs=2, feature_map="device", random_state=0))


def _variational() -> None:
    from mcquack.models import catalog

    _used(catalog.entry("vc").new(epochs=2, random_state=0))


_ALL = "all"
_PARTS: dict[str, tuple[str, Callable[[], None]]] = {
    "default": ("fit and predict with the defaults", _default),
    "circuits": ("circuits other than the paper's", _circuits),
    "ring": ("more than 20 qubits", _ring),
    "variational": ("variational classifiers", _variational),
}


@described("mcquack")
def compile_code(parts: list[str] | None = None) -> None:
    """Compile now what the first fit and predict would compile, which takes ten to fifteen seconds.

    The code is kept beside the package, or in the folder that NUMBA_CACHE_DIR names, for all later processes on the
    same kind of processor. Whoever builds an image runs this once, so that nobody waits and nothing must be written.

    Examples: mcquack compile, or NUMBA_CACHE_DIR=/opt/mcquack-code mcquack compile all
    """
    wanted = dict.fromkeys(parts or ["default"])
    for name in wanted:
        if name not in (*_PARTS, _ALL):
            hint = did_you_mean(name, (*_PARTS, _ALL), otherwise=f"there are {', '.join((*_PARTS, _ALL))}.")
            raise typer.BadParameter(f"there is no part {name!r}; {hint}", param_hint="PART")
    chosen = list(_PARTS) if _ALL in wanted else list(wanted)
    for number, name in enumerate(chosen, start=1):
        what, run = _PARTS[name]
        tell(f"{number} of {len(chosen)}: {what} …")
        run()
    tell(f"Compiled; the code is kept in {_kept_in()}.")


def _kept_in() -> str:
    from numba.core import config

    import mcquack
    from mcquack.training.embeddings import PlainCircuit
    from mcquack.training.readouts.centroids import Centroids
    from mcquack.training.step import run_epoch

    if config.CACHE_DIR:
        return f"{config.CACHE_DIR}, where NUMBA_CACHE_DIR says"
    folder = Path(run_epoch(PlainCircuit, Centroids).stats.cache_path or "")
    package = Path(mcquack.__file__).parent
    return f"the folders __pycache__ of {package}" if folder.is_relative_to(package) else str(folder)
