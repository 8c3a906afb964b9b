"""Whether models train, how smoothly, and how fast."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product

from mcquack.report.benchmark.tables import Table
from mcquack.report.style import counted
from mcquack.report.trainability.figures import (
    GROUP_WORDS,
    TrainedRun,
    factors,
    is_stepwise,
    lines,
    loss_curve,
    minimised_curve,
    norm_curve,
    paper_slice,
    plot_gradient_norms,
    plot_losses,
    plot_oscillations,
    setting_text,
    slice_text,
    trained_run,
    varied_settings,
)
from mcquack.report.trainability.sections.section import (
    Picture,
    Section,
    capital,
    columns,
    file_name,
    listed,
    series_title,
    sizes_of,
    span,
    with_interval,
)
from mcquack.report.trainability.study import Study
from mcquack.studies.trainability.analysis import GroupMean, means_by
from mcquack.studies.trainability.observation import GROUPS, Observation

MEASURES: Mapping[str, Callable[[TrainedRun], float | None]] = {
    "rising steps": lambda run: run.oscillation.rises,
    "way uphill": lambda run: run.oscillation.uphill,
    "way uphill, minimised": lambda run: None if run.minimised is None else run.minimised.uphill,
    "amplitude": lambda run: run.oscillation.amplitude,
    "relapse": lambda run: run.convergence.relapse,
    "epochs to half (from epoch 1)": lambda run: run.convergence.half_epochs,
    "epochs to 90 % (from epoch 1)": lambda run: run.convergence.settled_epochs,
    "last loss": lambda run: run.convergence.last,
}


NOTE = (
    "“Way uphill” is the share of a loss curve’s whole way that leads up: 0 for a curve that only falls, 1/2 for one "
    "that goes nowhere. “Amplitude” is the root mean square distance from the closest curve that never rises, divided "
    "by the range of the losses. “Relapse” is the share of the descent that is lost again in the end. All are of no "
    "unit, and of one loss after each epoch: 1 − A of all training samples, or the cross entropy, without the "
    "regulariser. “Minimised” is of what the steps minimise, with the regulariser, as the mean over an epoch. They do "
    "not see what happens before the first epoch ends, nor from step to step but where the whole sample is one batch "
    "and an epoch is one step. Intervals are Student’s over all runs of a start: sizes, seeds and other settings."
)


def trained_series(study: Study) -> dict[str, tuple[Observation, ...]]:
    """The series with loss curves, without what was not trained."""
    found = {name: tuple(each for each in group if len(loss_curve(each)) > 1) for name, group in study.series.items()}
    return {name: group for name, group in found.items() if group}


def training_section(study: Study) -> Section | None:
    """Loss curves, and their oscillation in numbers; None if nothing was trained."""
    series = trained_series(study)
    if not series:
        return None
    main = next(iter(series))
    return Section(
        id="training",
        title="Training",
        short="Training",
        lead=tuple(_lead(series[main])),
        notes=(NOTE,),
        pictures=tuple(picture for name, found in series.items() for picture in _pictures(name, found, name == main)),
        tables=tuple(_table(name, found) for name, found in series.items()),
    )


def _lead(found: Sequence[Observation]) -> Iterator[str]:
    starts = means(found, ("init_small",), "way uphill") if _knows(found, "init_small") else ()
    amplitudes = means(found, ("init_small",), "amplitude") if starts else ()
    for uphill, amplitude in zip(starts, amplitudes, strict=True):
        start = setting_text("init_small", uphill.settings["init_small"])
        yield (
            f"{capital(start)}: {with_interval(uphill.mean, uphill.interval, digits=2)} of the way leads uphill, "
            f"the amplitude is {with_interval(amplitude.mean, amplitude.interval, digits=2)}, over "
            f"{counted(uphill.n, 'run')} of {span(sizes_of(found))}."
        )
    n_left_out = sum(trained_run(each) is None for each in found)
    if n_left_out:
        verb = "is" if n_left_out == 1 else "are"
        yield f"{counted(n_left_out, 'run')} had a loss that is no number, or too few epochs, and {verb} left out."


def _knows(found: Sequence[Observation], name: str) -> bool:
    return all(name in each.settings for each in found)


def means(found: Sequence[Observation], names: Sequence[str], measure: str) -> tuple[GroupMean, ...]:
    """Of a measure, over the runs that share the named settings, ``True`` first."""
    runs = [(each, trained_run(each)) for each in found]
    rows = [
        ({**each.settings, "model": each.model}, None if run is None else MEASURES[measure](run)) for each, run in runs
    ]
    averages = means_by(rows, names)
    return tuple(sorted(averages, key=lambda each: [str(value) for value in each.settings.values()], reverse=True))


def _pictures(name: str, found: Sequence[Observation], is_main: bool) -> Iterator[Picture]:
    title, shown = series_title(name), slice_text(found)
    some, where = paper_slice(found), f" ({shown})" if shown else ""
    varies_rate, stepwise = "lr" in varied_settings(found), is_stepwise(found)
    if not varies_rate or stepwise:
        each = " after each step of the whole sample" if stepwise else ""
        yield Picture(
            name=file_name("losses", name),
            title=f"Training loss, {title}",
            caption=f"Mean loss{each} over seeds by number of qubits{where}; shaded from the lowest to the highest "
            "seed.",
            figure=plot_losses(some),
            folded=not is_main and not stepwise,
        )
    if len(some) < len(found) and not varies_rate:
        yield Picture(
            name=file_name("losses_all", name),
            title=f"Training loss for all settings, {title}",
            caption="The same for every strategy, with and without regularisation.",
            figure=plot_losses(found),
            folded=True,
        )
    if (not varies_rate or stepwise) and any(len(minimised_curve(each)) > 1 for each in some):
        how = "" if stepwise else ", as the mean over each epoch’s"
        yield Picture(
            name=file_name("minimised", name),
            title=f"Minimised loss, {title}",
            caption=f"The loss that the steps minimise, with the regulariser{how}{where}: "
            "mean over seeds, shaded from the lowest to the highest seed.",
            figure=plot_losses(some, minimised=True),
            folded=True,
        )
    for group in [] if varies_rate else GROUPS:
        if any(len(norm_curve(each, group)) > 1 for each in some):
            word = GROUP_WORDS[group]
            yield Picture(
                name=file_name("gradient_norms", group, name),
                title=f"{capital(word)} gradients along training, {title}",
                caption=f"Norm of the {word} gradients in each epoch, the root mean square over its steps{where}: "
                "geometric means over seeds, shaded from the lowest to the highest seed.",
                figure=plot_gradient_norms(some, group),
                folded=True,
            )
    along = "lr" if varies_rate else "n_qubits"
    drawn = _without(some, "lr") if varies_rate else some
    if along in varied_settings(drawn) and any(trained_run(each) for each in drawn):
        yield Picture(
            name=file_name("oscillation", name),
            title=f"Oscillation, {title}",
            caption=f"Oscillation of the losses against the {'learning rate' if varies_rate else 'number of qubits'}"
            f"{where}: medians over runs, shaded from the lowest to the highest.",
            figure=plot_oscillations(lines(drawn, apart_from=("lr",) if varies_rate else ()), along=along),
            folded=not is_main and not varies_rate,
        )


def _without(observations: Sequence[Observation], name: str) -> tuple[Observation, ...]:
    return tuple(each for each in observations if name in each.settings)


def _table(name: str, found: Sequence[Observation]) -> Table:
    names = ("model", *(name for name in factors(found) if _knows(found, name)))
    by_measure = {measure: means(found, names, measure) for measure in MEASURES}
    keys = dict.fromkeys(tuple(each.settings.values()) for each in by_measure["last loss"])
    known = {(measure, tuple(each.settings.values())): each for measure, group in by_measure.items() for each in group}

    def numbers(key: tuple[object, ...]) -> Iterator[float | int | None]:
        for measure in MEASURES:
            each = known.get((measure, key))
            yield None if each is None else each.mean
        yield known["last loss", key].n

    said = listed([f"{each}" for each in names])
    return Table(
        kind=f"Training, {series_title(name)}",
        title=f"Means over sizes and seeds by {said}",
        columns=columns(*names, *MEASURES, "runs"),
        rows=tuple((*map(str, key), *numbers(key)) for key in keys),
    )


# Every run of the study in one row, and what failed.

Cell = str | int | float | None
ORDER = ("series", "n_qubits", "n_layers", "init_small", "init_strategy", "regularised")
"""Settings that come first."""


def run_tables(study: Study) -> tuple[Table, ...]:
    """What a spreadsheet or another program needs to look at the study in its own way."""
    return _observations(study), _failures(study)


def _observations(study: Study) -> Table:
    names = {name for each in study.observations for name in each.settings}
    settings = [*(name for name in ORDER if name in names), *sorted(names - set(ORDER))]
    kernel = sorted({name for each in study.observations for name in each.kernel})
    scores = sorted({name for each in study.observations for name in each.scores})
    statistics = [" ".join(parts) for parts in product(("loss", "entry"), GROUPS, ("mean", "std", "rms"))]
    return Table(
        kind="Observations",
        title="Every run: settings, first gradients, states and scores",
        columns=columns("model", "seed", *settings, *statistics, *kernel, *scores, "uphill", "amplitude", "relapse"),
        rows=tuple(
            (
                each.model,
                each.seed,
                *(_cell(each.settings.get(name)) for name in settings),
                *_gradients(each),
                *(each.kernel.get(name) for name in kernel),
                *(each.scores.get(name) for name in scores),
                *_training(each),
            )
            for each in study.observations
        ),
    )


def _cell(value: object) -> Cell:
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return value
    return str(value)


def _gradients(observation: Observation) -> tuple[Cell, ...]:
    found: list[Cell] = []
    for kind in (observation.gradients, observation.fidelity_gradients):
        for group in GROUPS:
            each = kind.get(group)
            found += (None, None, None) if each is None else (each.mean, each.std, each.mean_square**0.5)
    return tuple(found)


def _training(observation: Observation) -> tuple[Cell, ...]:
    run = trained_run(observation)
    if run is None:
        return None, None, None
    return run.oscillation.uphill, run.oscillation.amplitude, run.convergence.relapse


def _failures(study: Study) -> Table:
    return Table(
        kind="Failures",
        title="Tasks that failed",
        columns=columns("task", "dataset", "settings", "seed", "reason"),
        rows=tuple(
            (
                each.task.id,
                each.task.dataset,
                ", ".join(f"{name}={value}" for name, value in each.task.settings),
                each.task.seed,
                each.reason,
            )
            for each in study.failures
        ),
    )
