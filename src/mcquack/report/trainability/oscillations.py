"""How much losses oscillate, and how far they come back up, against the number of qubits or the learning rate."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from matplotlib.figure import Figure

from mcquack.errors import InvalidInputError
from mcquack.report.style import class_marker
from mcquack.report.trainability.axes import (
    draw_medians,
    finish,
    legend_below,
    line_colours,
    panels,
    qubit_axis,
    rate_axis,
)
from mcquack.report.trainability.lines import Line
from mcquack.report.trainability.losses import loss_curve, minimised_curve
from mcquack.report.trainability.names import setting_name
from mcquack.studies.trainability.analysis import Convergence, Oscillation, convergence, oscillation
from mcquack.studies.trainability.observation import Observation


@dataclass(frozen=True, kw_only=True)
class TrainedRun:
    """How the training of one seed went; ``minimised`` is the oscillation of the loss with its regulariser."""

    observation: Observation
    oscillation: Oscillation
    convergence: Convergence
    minimised: Oscillation | None = None


Measure = Callable[[TrainedRun], float | None]
MEASURES: Mapping[str, tuple[str, Measure]] = {
    "Way uphill": ("share of the whole way", lambda run: run.oscillation.uphill),
    "Amplitude": ("of the detrended loss", lambda run: run.oscillation.amplitude),
    "Relapse": ("share of the descent lost again", lambda run: run.convergence.relapse),
}


def trained_run(observation: Observation) -> TrainedRun | None:
    """None if there is no curve, or one that ended in what is no number."""
    curve = loss_curve(observation)
    if len(curve) < 3 or None in curve:
        return None
    regularised = minimised_curve(observation)
    known = len(regularised) > 1 and None not in regularised
    return TrainedRun(
        observation=observation,
        oscillation=_oscillation(curve),
        convergence=convergence(curve),
        minimised=_oscillation(regularised) if known else None,
    )


# Every section, figure and table asks for the same curves again.
_oscillation = lru_cache(maxsize=16_384)(oscillation)


def trained_runs(observations: Sequence[Observation]) -> tuple[TrainedRun, ...]:
    """Of all that have a finite curve."""
    return tuple(run for each in observations if (run := trained_run(each)) is not None)


def plot_oscillations(given: Sequence[Line], *, along: str = "n_qubits") -> Figure:
    """Medians over the runs with the same value of ``along``, shaded between the smallest and the largest."""
    runs = {line.label: trained_runs(line.observations) for line in given}
    runs = {label: found for label, found in runs.items() if found}
    if not runs:
        raise InvalidInputError("no observation has a loss curve; run a study with epochs above 0.")
    colours = line_colours(tuple(runs))
    figure, axes = panels(len(MEASURES), legend_lines=1 + (len(runs) - 1) // 3)
    for ax, (title, (unit, measure)) in zip(axes, MEASURES.items(), strict=True):
        for place, (label, found) in enumerate(runs.items()):
            values = _values(found, along, measure)
            if values:
                draw_medians(ax, values, label=label, colour=colours[label], marker=class_marker(place))
        places = [run.observation.settings[along] for found in runs.values() for run in found]
        qubit_axis(ax, places) if along == "n_qubits" else rate_axis(ax, places)
        ax.set_ylim(bottom=0)
        finish(ax, title=title, ylabel=unit, xlabel=setting_name(along))
    legend_below(figure, axes[0], n_columns=3)
    return figure


def _values(runs: Sequence[TrainedRun], along: str, measure: Measure) -> dict[float, list[float]]:
    found: dict[float, list[float]] = {}
    for run in sorted(runs, key=lambda run: run.observation.settings[along]):
        if (value := measure(run)) is not None:
            found.setdefault(run.observation.settings[along], []).append(value)
    return found
