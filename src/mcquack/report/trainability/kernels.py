"""How fidelities concentrate with the number of qubits, and what the states are like."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mcquack.errors import InvalidInputError
from mcquack.report.style import FAINT, MUTED, SMALL, class_marker
from mcquack.report.trainability.figures import (
    Line,
    draw_medians,
    finish,
    legend_below,
    line_colours,
    log10_axis,
    panels,
    qubit_axis,
)
from mcquack.studies.trainability.analysis.states import haar_entanglement, haar_log_moments
from mcquack.studies.trainability.design import VARIATIONAL
from mcquack.studies.trainability.observation import Observation

Measure = Callable[[Observation], float | None]


def log10_of(name: str) -> Measure:
    """The decimal logarithm of a positive value of the kernel, which may itself be kept as a natural logarithm."""

    def measure(observation: Observation) -> float | None:
        if (log := observation.kernel.get(f"log_{name}")) is not None:
            return log / math.log(10) if math.isfinite(log) else None
        value = observation.kernel.get(name)
        return math.log10(value) if value is not None and value > 0 else None

    return measure


def plain(name: str) -> Measure:
    """A value of the kernel as it is."""
    return lambda observation: observation.kernel.get(name)


def values_by_qubits(line: Line, measure: Measure) -> Mapping[int, tuple[float, ...]]:
    """Of all seeds that have a value."""
    found = {
        n_qubits: tuple(value for each in group if (value := measure(each)) is not None)
        for n_qubits, group in line.by_qubits.items()
    }
    return {n_qubits: values for n_qubits, values in found.items() if values}


def haar_log10(n_qubits: int, *, moment: int) -> float:
    """Of the mean (0) or variance (1) of the fidelities of states by chance."""
    return haar_log_moments(n_qubits)[moment] / math.log(10)


CONCENTRATION: Mapping[str, tuple[Measure, Callable[[int], float]]] = {
    "Mean fidelity": (log10_of("mean"), partial(haar_log10, moment=0)),
    "Variance of fidelities": (log10_of("variance"), partial(haar_log10, moment=1)),
}


def has_kernels(observations: Sequence[Observation]) -> bool:
    """Whether any fidelities were measured."""
    return any(log10_of("variance")(each) is not None for each in observations)


def plot_concentration(given: Sequence[Line]) -> Figure:
    """Mean and variance of the fidelities of different samples, beside those of states by chance."""
    if not has_kernels([each for line in given for each in line.observations]):
        raise InvalidInputError("no observation has fidelities; run a study that measures the kernel.")
    return _plot(given, {title: measure for title, (measure, _) in CONCENTRATION.items()}, finishing=_with_haar)


def _with_haar(ax: Axes, title: str, sizes: Sequence[int]) -> None:
    _, haar = CONCENTRATION[title]
    low, high = ax.get_ylim()
    known = np.unique(np.geomspace(min(sizes), max(sizes), 60).round().astype(int)).tolist()
    by_chance = [haar(n) for n in known]
    ax.plot(known, by_chance, color=MUTED, linewidth=1.0, linestyle="--", label="states by chance (Haar)")
    # Far below all that was measured, the line of chance would only press the others together.
    ax.set_ylim(max(min(low, *by_chance), low - 0.5 * max(high - low, 2)), max(high, 0.0))
    log10_axis(ax)


ENTANGLING, EXPRESSING = "Entangling power", "Distance from all states"
STATES: Mapping[str, Measure] = {ENTANGLING: plain("entanglement"), EXPRESSING: plain("expressibility")}
"""Meyer and Wallach's measure, and the divergence of the fidelities of random parameters from those of chance."""


def has_states(observations: Sequence[Observation]) -> bool:
    """Whether any states were looked at."""
    return any(measure(each) is not None for each in observations for measure in STATES.values())


def plot_states(given: Sequence[Line]) -> Figure:
    """Entangling power of the states and, if it was measured, how far circuits are from reaching all states alike."""
    known = [each for line in given for each in line.observations]
    if not has_states(known):
        raise InvalidInputError("no observation has measures of states; run a study that takes them.")
    taken = {title: measure for title, measure in STATES.items() if any(measure(each) is not None for each in known)}
    return _plot(given, taken, finishing=_beside_haar_states)


def _beside_haar_states(ax: Axes, title: str, sizes: Sequence[int]) -> None:
    if title == ENTANGLING:
        by_chance = [haar_entanglement(n) for n in sizes]
        ax.plot(sizes, by_chance, color=MUTED, linewidth=1.0, linestyle="--", label="states by chance (Haar)")
        ax.set_ylim(0, 1.02)
    else:
        ax.axhline(0, color=FAINT, linewidth=0.9, zorder=0)


def _plot(
    given: Sequence[Line], measures: Mapping[str, Measure], *, finishing: Callable[[Axes, str, Sequence[int]], None]
) -> Figure:
    labels = tuple(line.label for line in given)
    colours = line_colours(labels)
    figure, axes = panels(len(measures), legend_lines=1 + len(labels) // 2)
    for ax, (title, measure) in zip(axes, measures.items(), strict=True):
        sizes: set[int] = set()
        for place, line in enumerate(given):
            found = values_by_qubits(line, measure)
            sizes |= found.keys()
            if found:
                draw_medians(ax, found, label=line.label, colour=colours[line.label], marker=class_marker(place))
        if sizes:
            finishing(ax, title, sorted(sizes))
            qubit_axis(ax, sorted(sizes))
        finish(ax, title=title)
    legend_below(figure, axes[0], n_columns=2)
    return figure


# How many shots a device would need, against the number of qubits.

A_MILLION = 6
"""The decimal logarithm of more shots than one would give a circuit."""


def stored_shots(name: str) -> Measure:
    """As the study measured them on the shifted circuits themselves."""

    def measure(observation: Observation) -> float | None:
        value = observation.kernel.get(f"log10_shots_{name}")
        return None if value is None or not math.isfinite(value) else max(value, 0.0)

    return measure


def were_measured(observation: Observation) -> bool:
    """Whether the study has looked at shifted circuits; what it then has no number for takes endless shots."""
    return any(name.startswith("log10_shots_") for name in observation.kernel)


def entry_shots(observation: Observation) -> float | None:
    """For a typical bias' derivative of a kernel entry: as measured, or else from its size and the mean fidelity.

    The guess is that of ``shots_to_resolve``, F (1 - F) divided by the square of the derivative with F at most 1/2, on
    the scale of logarithms: fidelities of hundreds of qubits are below any number. Variational classifiers measure
    expectation values, of which fidelities of samples tell nothing.
    """
    if observation.model in VARIATIONAL:
        return None
    if (stored := stored_shots("entry")(observation)) is not None or were_measured(observation):
        return stored
    # That of an angle, as the measured ones are: one by a weight is also as small as its feature, and so is its noise.
    found = observation.fidelity_gradients.get("bias")
    log_mean = observation.kernel.get("log_mean")
    if log_mean is None and observation.kernel.get("mean", 0.0) > 0:
        log_mean = math.log(observation.kernel["mean"])
    if found is None or found.norm <= 0 or log_mean is None:
        return None
    log_fidelity = min(log_mean, math.log(0.5))
    log_variance = log_fidelity + math.log1p(-math.exp(log_fidelity))
    log_square = 2 * math.log(found.norm) - math.log(found.n)
    return max((log_variance - log_square) / math.log(10), 0.0)


SHOTS: Mapping[str, Measure] = {
    "To see a kernel entry’s gradient": entry_shots,
    "To see the alignment’s gradient": stored_shots("alignment"),
    "To tell two classes apart": stored_shots("prediction"),
}


def known_shots(observations: Sequence[Observation]) -> dict[str, Measure]:
    """Those of which there is at least one number."""
    return {
        title: measure for title, measure in SHOTS.items() if any(measure(each) is not None for each in observations)
    }


def n_endless(observations: Sequence[Observation]) -> dict[str, int]:
    """For how many no number of shots is enough, because what is to be seen is exactly zero; by what it is."""
    measured = [each for each in observations if were_measured(each)]
    counts = {title: sum(measure(each) is None for each in measured) for title, measure in SHOTS.items()}
    return {title: count for title, count in counts.items() if count}


def plot_shots(given: Sequence[Line]) -> Figure:
    """Shots for each circuit after which the signal is as large as its noise: medians and the range over seeds."""
    taken = known_shots([each for line in given for each in line.observations])
    if not taken:
        raise InvalidInputError("no observation tells shots; run a study that measures gradients of kernel entries.")
    labels = tuple(line.label for line in given)
    colours = line_colours(labels)
    figure, axes = panels(len(taken), legend_lines=1 + (len(labels) - 1) // 2)
    for ax, (title, measure) in zip(axes, taken.items(), strict=True):
        sizes: set[int] = set()
        for place, line in enumerate(given):
            found = values_by_qubits(line, measure)
            sizes |= found.keys()
            if found:
                draw_medians(ax, found, label=line.label, colour=colours[line.label], marker=class_marker(place))
        low, high = ax.get_ylim()
        ax.set_ylim(max(min(low, 0.0), -0.3), max(high, A_MILLION + 0.5))
        ax.axhline(A_MILLION, color=FAINT, linewidth=1.0, zorder=0)
        ax.annotate(
            "a million",
            (1, A_MILLION),
            (-2, 2),
            xycoords=ax.get_yaxis_transform(),
            textcoords="offset points",
            ha="right",
            size=SMALL - 1,
            color=MUTED,
        )
        log10_axis(ax)
        qubit_axis(ax, sorted(sizes))
        finish(ax, title=title, ylabel="shots per circuit" if ax is axes[0] else "")
    legend_below(figure, axes[0], n_columns=2)
    return figure
