"""``mcquack compile``: what the first run would compile is compiled now, as for an image or an installation."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from mcquack.checks import did_you_mean
from mcquack.cli.console import tell
from mcquack.cli.options import argument

_WHAT = (
    "What is compiled: default, circuits other than the paper's, ring for more than 20 qubits, variational, or all. "
    "Without it, default."
)
_ALL = "all"
# What each part is, and a model of the catalogue with its settings that needs it.
PARTS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "default": ("fit and predict with the defaults", "mcquack", {}),
    "circuits": ("circuits other than the paper's", "mcquack", {"n_qubits": 3, "feature_map": "iqp"}),
    "ring": ("more than 20 qubits", "mcquack", {"n_qubits": 24, "feature_map": "device"}),
    "variational": ("variational classifiers", "vc", {}),
}


def compile_(
    parts: Annotated[list[str] | None, argument("PART", _WHAT)] = None,
) -> None:
    """Compile now what the first fit and predict would compile, which takes ten to fifteen seconds.

    The code is kept beside the package, or in the folder that NUMBA_CACHE_DIR names, for all later processes on the
    same kind of processor. Whoever builds an image runs this once, so that nobody waits and nothing must be written.

    Examples: mcquack compile, or NUMBA_CACHE_DIR=/opt/mcquack-code mcquack compile all
    """
    wanted = dict.fromkeys(parts or ["default"])
    for name in wanted:
        if name not in (*PARTS, _ALL):
            hint = did_you_mean(name, (*PARTS, _ALL), otherwise=f"there are {', '.join((*PARTS, _ALL))}.")
            raise typer.BadParameter(f"there is no part {name!r}; {hint}", param_hint="PART")
    chosen = list(PARTS) if _ALL in wanted else list(wanted)
    for number, name in enumerate(chosen, start=1):
        tell(f"{number} of {len(chosen)}: {PARTS[name][0]} …")
        compile_part(name)
    tell(f"Compiled; the code is kept in {_kept_in()}.")


def compile_part(name: str) -> None:
    """Train, label and score as ``fit`` and ``predict`` do: the kinds of the arrays decide what is compiled."""
    from mcquack.models import catalog  # not above: compilers and solvers would delay every --help

    _, kind, settings = PARTS[name]
    model: Any = catalog.entry(kind).new(epochs=2, random_state=0, **settings)
    generator = np.random.default_rng(0)
    X, y = generator.random((300, 5)), np.arange(300) % 3
    for _ in model.fit_iter(X, y, validation_data=(X[:60], y[:60])):
        pass
    model.predict(X)
    model.predict_proba(X)


def _kept_in() -> str:
    from numba import config

    import mcquack
    from mcquack.training.embeddings import PlainCircuit
    from mcquack.training.readouts.centroids import Centroids
    from mcquack.training.step import run_epoch

    if config.CACHE_DIR:
        return f"{config.CACHE_DIR}, where NUMBA_CACHE_DIR says"
    folder = run_epoch(PlainCircuit, Centroids).folder or Path()
    package = Path(mcquack.__file__).parent
    return f"the folders __pycache__ of {package}" if folder.is_relative_to(package) else str(folder)
