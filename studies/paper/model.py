"""The model itself: its training step by step, and its circuits."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch
from sklearn.datasets import make_blobs

from mcquack.circuits.feature_map import FeatureMap
from mcquack.models.mcquack import McQuackClassifier
from mcquack.report import style
from mcquack.report.circuit import plot_circuit
from mcquack.report.document import Picture
from mcquack.report.model import plot_embedding, plot_kernel
from studies.paper.checks import Check, claim_check, equal_check
from studies.paper.exhibit import Exhibit, table
from studies.paper.items import ITEMS

STEPS = ("first KAO", "first CO", "second KAO", "second CO")
_PASSES = 40  # over the samples in each step: one alone would hardly be seen
_N_QUBITS, _N_FEATURES = 6, 14  # of the circuit that is drawn and counted: the paper's for Census
_NEARLY_ONE = 1e-5


def exhibits() -> Iterator[Exhibit]:
    """Both items about the model."""
    yield overview_exhibit()
    yield circuit_exhibit()


def overview_exhibit() -> Exhibit:
    """A model of two qubits on four clouds of samples, before training and after each of four steps."""
    X, y = _corners()
    model = McQuackClassifier(2, n_repetitions=2, epochs=0, warm_start=True, random_state=0).fit(X, y)
    figure = style.new_figure(12.6, 7.2)
    axes: list[Axes] = list(figure.subplots(2, 3).flat)
    axes.pop().remove()
    rows: list[tuple[str, float, float]] = []
    first_kernel = plot_kernel(model, X, y)
    for ax, step in zip(axes, ("before training", *STEPS), strict=True):
        if step in STEPS:
            passes = (_PASSES, 0) if step.endswith("KAO") else (0, _PASSES)
            model.set_params(epochs=1, epochs_ka=passes[0], epochs_co=passes[1], batch_size=len(X))
            model.fit(X, y)
        plot_embedding(model, X, y, ax=ax)
        if ax is not axes[0] and (legend := ax.get_legend()) is not None:
            legend.remove()
        style.write_title(ax, step if step not in STEPS else f"after the {step}")
        rows.append((step, _alignment(model, X, y), float(model.score(X, y))))
    checks: list[Check] = []
    for before, after in pairwise(rows):
        told = f"{before[1]:.3f} to {after[1]:.3f}"
        checks.append(
            claim_check(f"alignment in the {after[0]}", paper="rises", ours=told, holds=after[1] >= before[1])
        )
    labels = f"{_correct(rows[0][2], len(X))} and {_correct(rows[-1][2], len(X))}"
    better = rows[-1][2] > rows[0][2]
    checks.append(
        claim_check(
            "samples labelled correctly by the first and the last kernel",
            paper="3 of 6 and 6 of 6",
            ours=labels,
            holds=better,
        )
    )
    caption = (
        "Ours: samples and centroids (stars) in the plane of Hilbert space along which the states differ most, which "
        "changes from step to step."
    )
    pictures = (
        Picture("overview_steps", "Samples and centroids, step by step", caption, figure),
        Picture(
            "overview_first_kernel", "First kernel", "Ours: the kernel before training.", first_kernel, folded=True
        ),
        Picture(
            "overview_last_kernel",
            "Last kernel",
            "Ours: the kernel after four steps.",
            plot_kernel(model, X, y),
            folded=True,
        ),
    )
    sheet = table(
        "overview",
        "Alignment and training accuracy after each step",
        ("step", "alignment", "accuracy"),
        rows,
    )
    samples = "Clouds around the corners of a square, opposite ones of one class: 60 samples, two qubits."
    notes = (f"{samples} Every step is {_PASSES} passes over all samples.",)
    return Exhibit(item=ITEMS["overview"], checks=tuple(checks), pictures=pictures, tables=(sheet,), notes=notes)


def _corners() -> tuple[Any, Any]:
    """Clouds around the corners of a square, of which opposite ones are of one class: their means tell nothing."""
    X, corner = make_blobs([15] * 4, centers=[[0, 0], [1, 1], [0, 1], [1, 0]], cluster_std=0.12, random_state=0)
    return X, corner // 2


def _alignment(model: McQuackClassifier, X: Any, y: Any) -> float:
    """The kernel-target alignment (paper, eq. 6) of all samples."""
    kernel = np.asarray(model.transform(X), dtype=float)
    target = np.where(np.asarray(y)[:, None] == model.classes_, 1.0, -1.0)
    return float((kernel * target).sum() / np.sqrt((kernel**2).sum() * (target**2).sum()))


def _correct(accuracy: float, n_samples: int) -> str:
    return f"{round(accuracy * n_samples)} of {n_samples}"


def circuit_exhibit() -> Exhibit:
    """A layer, the whole circuit of a kernel entry, and what can be counted in them."""
    feature_map = FeatureMap.with_repetitions(n_qubits=_N_QUBITS, n_features=_N_FEATURES)
    n_layers = -(-_N_FEATURES // _N_QUBITS)
    ring = [gate.qubits for gate in feature_map.gates if gate.name == "cnot"][:_N_QUBITS]
    turns = [gate for gate in feature_map.gates if gate.name == "rot"]
    encoded = [sorted({name for angle in gate.angles for name in angle.inputs}) for gate in turns]
    wanted = [[("x", place % _N_FEATURES)] for place in range(len(turns))]
    X = np.random.default_rng(0).uniform(size=(8, _N_FEATURES))
    model = McQuackClassifier(_N_QUBITS, n_repetitions=1, epochs=0, random_state=0).fit(X, [0, 1] * 4)
    states = model.statevectors(X)
    self_fidelity = float(np.abs(np.einsum("nd,nd->n", states.conj(), states) ** 2).min())
    pairs = tuple(f"{control}→{target}" for control, target in ring)
    checks = (
        equal_check("layers for 14 features on 6 qubits", n_layers, feature_map.n_layers),
        equal_check("rotations of a layer", _N_QUBITS, len(turns) // feature_map.n_layers),
        equal_check("angles of a rotation", 3, len(turns[0].angles)),
        claim_check(
            "feature of gate q in layer l",
            paper="(l·n + q) mod d, in all three angles",
            ours="the same" if encoded == wanted else "another",
            holds=encoded == wanted,
        ),
        equal_check("ring of CNOTs", tuple(f"{q}→{(q + 1) % _N_QUBITS}" for q in range(_N_QUBITS)), pairs),
        equal_check("weights and biases, 6nL", 6 * _N_QUBITS * n_layers, feature_map.n_embedding_parameters),
        claim_check(
            "fidelity of a sample with itself",
            paper="1",
            ours=f"{self_fidelity:.6f}",
            holds=abs(self_fidelity - 1) < _NEARLY_ONE,
        ),
    )
    layer = FeatureMap(n_qubits=4, n_features=4, n_layers=1)
    pictures = (
        Picture(
            "circuit_layer",
            "One layer",
            "Ours: rotations, then the ring of CNOTs, on four qubits.",
            plot_circuit(layer),
        ),
        Picture(
            "circuit_overlap",
            "The circuit of a kernel entry",
            "Ours: U(x) with L layers, then the inverse of U(c); the entry is the probability of all zeros.",
            plot_overlap(),
        ),
    )
    return Exhibit(item=ITEMS["circuit"], checks=checks, pictures=pictures)


def plot_overlap() -> Figure:
    """Draw the circuit of a kernel entry as blocks: the layers of a sample, and those of a centroid undone."""
    ax = style.new_axes(8.4, 2.5)
    wires = ("|0⟩", "|0⟩", "⋮", "|0⟩")
    blocks = [
        ("U₀(x)", 0),
        ("U₁(x)", 0),
        ("⋯", None),
        ("U_L₋₁(x)", 0),
        ("U†_L₋₁(c)", 1),
        ("⋯", None),
        ("U†₁(c)", 1),
        ("U†₀(c)", 1),
    ]
    right = 1.25 * len(blocks) + 0.4
    for y, name in enumerate(wires):
        ax.text(-0.35, y, name, ha="center", va="center", size=style.FONT_SIZE, color=style.INK)
        if name != "⋮":
            ax.plot([0, right], [y, y], color=style.MUTED, linewidth=0.9, zorder=1)
            ax.text(right + 0.12, y, "= 0 ?", ha="left", va="center", size=style.SMALL, color=style.MUTED)
    for place, (name, side) in enumerate(blocks):
        centre = 1.25 * place + 0.8
        colour = style.PAPER if side is None else style.CLASS_COLOURS[1 if side == 0 else 3]
        look: dict[str, Any] = {"boxstyle": "round,pad=0.02", "zorder": 2, "linewidth": 1.2}
        edge = style.PAPER if side is None else colour
        ax.add_patch(FancyBboxPatch((centre - 0.5, -0.4), 1.0, 3.8, facecolor=style.PAPER, edgecolor=edge, **look))
        ax.text(centre, 1.5, name, ha="center", va="center", size=style.SMALL, color=style.INK, zorder=3)
    ax.set_xlim(-0.8, right + 0.9)
    ax.set_ylim(3.8, -0.9)
    ax.axis("off")
    style.write_title(ax, "Sample x (left), centroid c undone (right)")
    return style.figure_of(ax)
