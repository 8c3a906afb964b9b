"""Every run of the study in one row, and what failed."""

from itertools import product

from mcquack.report.benchmark.tables import Table
from mcquack.report.trainability.oscillations import trained_run
from mcquack.report.trainability.sections.section import columns
from mcquack.report.trainability.study import Study
from mcquack.studies.trainability.observation import GROUPS, Observation

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
