"""From designs to rows of a store, and from rows back to observations."""

from collections.abc import Generator, Mapping
from contextlib import closing
from dataclasses import replace
from typing import Any

from mcquack.bench.executors import Executor
from mcquack.bench.plan import Cell, Plan, SearchMethod, Step
from mcquack.bench.runner import Event, run
from mcquack.bench.samples import describe
from mcquack.bench.store import RunRecord, Store
from mcquack.bench.task import Outcome, Task
from mcquack.models.catalog import SearchSpace
from mcquack.studies.trainability.design import PROBE, Design, ProbeSettings
from mcquack.studies.trainability.observation import Observation


def run_design(
    design: Design, store: Store, executor: Executor, *, command: str = "", retry_failed: bool = False
) -> Generator[Event, None, None]:
    """Runs the tasks of a design that the store lacks, the longest first, and notes how the run ended.

    Run it again after any break, and no task is done twice.

    Parameters
    ----------
    design, store : what is to be run, and where every finished task is a row at once.
    executor : the workers.
    command : what the user has typed, for the record.
    retry_failed : whether tasks that failed before are run once more.
    """
    record = RunRecord(command=command, suite=design.to_json())
    tasks = _by_dataset(design)

    def plan_of(cell: Cell) -> Plan:
        yield Step(tasks=tasks[cell.dataset])

    with (
        store.recorded(record),
        closing(run(cells(design), store, executor, retry_failed=retry_failed, plan_of=plan_of)) as events,
    ):
        yield from events


def cells(design: Design) -> tuple[Cell, ...]:
    """What the runner asks for, dataset by dataset; nothing is searched, as all points of the grids are wanted."""
    return tuple(
        Cell(
            dataset=dataset,
            model=PROBE,
            space=SearchSpace.of({}),
            method=SearchMethod.parse("none"),
            splits=(),
            metric="accuracy",
            n_seeds=len(tasks),
        )
        for dataset, tasks in _by_dataset(design).items()
    )


def observations(store: Store) -> list[Observation]:
    """All observations of a store, in an order that does not depend on that in which they were run.

    To the settings of the probe come "dataset" and "data_seed", to the scores those on the test part as
    "test_accuracy" and so on. "train_accuracy" is that on the samples it was trained on, if it was. "first_batch_loss"
    is the regularised loss of the first batch before any step, "final_loss" that of all samples without the penalty.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Store.open(f"{folder}/empty.sqlite", create=True) as store:
    ...         observations(store)
    []
    """
    found = [
        _observation(outcome)
        for outcome in store.outcomes(phase="final", failed=False)
        if outcome.task.model == PROBE and "study" in outcome.details
    ]
    return sorted(found, key=_place)


def _observation(outcome: Outcome) -> Observation:
    seen = Observation.from_json(outcome.details["study"])
    task = outcome.task
    accuracies = [value for value in seen.trace.get("accuracy", ()) if value is not None]
    # Rows of earlier versions have the old name, and no feature range.
    stored = {"first_batch_loss" if name == "initial_loss" else name: score for name, score in seen.scores.items()}
    asked = dict(task.settings).get("feature_range", ProbeSettings.feature_range)
    scores = stored | ({"train_accuracy": accuracies[-1]} if accuracies else {})
    scores |= {f"test_{metric}": score for metric, score in outcome.scores.get("test", {}).items()}
    settings = {"feature_range": asked, **seen.settings, "dataset": task.dataset, "data_seed": task.data_seed}
    return replace(seen, seed=task.seed, settings=settings, scores=scores)


def _place(seen: Observation) -> tuple[Any, ...]:
    settings = seen.settings
    rest = sorted((name, repr(value)) for name, value in settings.items())
    return settings["series"], seen.model, settings["n_qubits"], rest, seen.seed


# Passes of a sample through the circuit that a step costs: there, and about three times as long back.
_STEP = 4
_ROWS_OF_AN_ENTRY = 20  # two rows, each of which takes a whole block of lanes
_ROWS_OF_FACTS = 1500  # what it takes to tell of shots and of states by chance
_RING_GATE = 350  # what a gate costs in amplitudes on a ring: one sample with one centroid, at one layer
_PER_SECOND = 6e9  # amplitudes times gates, measured on one core of a common machine
_OVERHEAD_SECONDS = 0.15
_CACHED_QUBITS = 14  # states that no cache holds are waited for, this much longer:
_UNCACHED = 3.5


def work(task: Task) -> float:
    """Gates times amplitudes times rows, as a number to compare tasks by."""
    settings = ProbeSettings(**dict(task.settings))
    known = describe(task.dataset)
    feature_map = settings.feature_map(known.n_features)
    n_train = min(settings.n_train or known.sizes["train"], known.sizes["train"])
    batch = min(settings.batch_size, n_train)
    # Gradients are in double precision, which takes twice as long.
    rows = settings.epochs * n_train * (_STEP + 2) + 2 * _STEP * (batch + _ROWS_OF_AN_ENTRY * settings.n_entries)
    rows += 2 * settings.landscape**2 * batch
    rows += _ROWS_OF_FACTS if settings.n_qubits <= _CACHED_QUBITS and not settings.is_variational else 0
    rows += sum(known.sizes.get(part, 0) for part in ("train", "test"))
    n_gates = feature_map.n_layers * feature_map.n_qubits
    if settings.runs_on.few_layers:
        return float(rows * n_gates * _RING_GATE * 4 ** (2 * feature_map.n_layers - 2))
    n_circuits = 2 if settings.is_variational else 1
    waiting = _UNCACHED if feature_map.n_qubits > _CACHED_QUBITS else 1.0
    return rows * waiting * n_circuits * n_gates * float(2**feature_map.n_qubits)


def seconds(task: Task) -> float:
    """About how long a task takes on one core; machines differ by a factor of a few."""
    return _OVERHEAD_SECONDS + work(task) / _PER_SECOND


def _by_dataset(design: Design) -> Mapping[str, tuple[Task, ...]]:
    found: dict[str, list[Task]] = {}
    for task in sorted(design.tasks(), key=work, reverse=True):
        found.setdefault(task.dataset, []).append(task)
    return {dataset: tuple(tasks) for dataset, tasks in found.items()}
