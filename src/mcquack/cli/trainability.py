"""The verbs of ``mcquack trainability``: run a study, and make a page of what came of it."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Self

import typer

from mcquack.bench.progress import CellProgress, Progress
from mcquack.bench.task import Outcome, Task
from mcquack.cli import console as exit_codes
from mcquack.cli.bench import Workers, followed, goes_on
from mcquack.cli.console import check_folder, say, tell
from mcquack.cli.options import (
    Dask,
    DataDir,
    DryRun,
    Jobs,
    OutFolder,
    Title,
    argument,
    flag,
    group,
    listed,
    option,
)
from mcquack.cli.results import is_study
from mcquack.errors import InvalidInputError
from mcquack.progress import counted, duration, seconds_left

if TYPE_CHECKING:
    from mcquack.bench.plan import Cell
    from mcquack.studies.trainability import Design

_DESIGNS = "paper, wide, quick, or TOML files of yours; without it, paper and wide."
_MODELS = "These in place of its own: mcquack, quack, vc, shared_vc, separated by commas (may be repeated)."
_LANDSCAPE = "Show a slice of a loss as well, from a JSON file of LossSlice.to_json (may be repeated)."


def run(
    context: typer.Context,
    designs: Annotated[list[str] | None, argument("DESIGN", _DESIGNS)] = None,
    qubits: Annotated[str | None, option("Only these of its sizes, as 2-13 or 4,8,124.", "SIZES")] = None,
    seeds: Annotated[int | None, option("How often each point is run; without it, as the design.", "N", min=1)] = None,
    models: Annotated[list[str] | None, option(_MODELS, "NAMES")] = None,
    store: Annotated[Path, option("The file for the results.", "FILE")] = Path("trainability.sqlite"),
    retry_failed: Annotated[bool, flag("--retry-failed", "Run once more what failed before.")] = False,
    dry_run: DryRun = False,
    jobs: Jobs = None,
    dask: Dask = None,
    data_dir: DataDir = None,
) -> None:
    """Measure gradients, states and training of a model over sizes, starts and seeds.

    Every finished task is a row of the store at once. The same command again goes on from there, whether Ctrl-C, a
    crash or a power cut ended it; with other options it adds to the store what it lacks. Tasks that fail are rows too,
    and the exit code is 3.

    Examples: mcquack trainability run quick, then mcquack trainability report trainability.sqlite --out report, or
    mcquack trainability run paper --qubits 2-10 --models mcquack,vc --seeds 3 --jobs 2
    """
    from mcquack.studies.trainability import Sizes, read_design  # not above: they would delay every --help
    from mcquack.studies.trainability.design import DEFAULT

    workers = Workers(jobs=jobs, dask=dask, data_dir=data_dir)
    design = reduce(add, (read_design(name) for name in dict.fromkeys(designs or DEFAULT))).with_(
        qubits=None if qubits is None else Sizes.parse(qubits), seeds=seeds, models=listed(models)
    )
    if dry_run:
        _tell_size(design, store, jobs=jobs)
        return
    run_study(design, store, workers=workers, command=context.obj, retry_failed=retry_failed)


def run_study(design: "Design", store: Path, *, workers: Workers, command: str, retry_failed: bool = False) -> None:
    """Runs a design into a store and shows how far it is; exits if tasks have failed, or on Ctrl-C."""
    from mcquack.bench.store import Store
    from mcquack.studies.trainability import run_design
    from mcquack.studies.trainability.running import cells, seconds

    workers.fetch_missing(cells(design))  # which say no more here than which datasets are wanted
    tasks = design.tasks()
    tell(f"{design.name}: {counted(len(tasks), 'task')}, results go to {store}.")
    counts = Counter((task.dataset, task.model) for task in tasks)
    progress: Progress = StudyProgress(
        cells={key: CellProgress(n_most=count, metric="accuracy") for key, count in counts.items()},
        expected={task.id: seconds(task) for task in tasks},
    )
    with goes_on(store), Store.open(store, write=True, create=True) as opened, workers.executor() as executor:
        events = run_design(design, opened, executor, command=command, retry_failed=retry_failed)
        progress = followed(events, progress, executor)
    before = f", {progress.n_known_done:,} of them before" if progress.n_known_done else ""
    tell(f"{counted(progress.n_done, 'task')} done{before}.")
    if progress.n_done:
        tell(f"Read what came of it with: mcquack trainability report {store} --out {store.stem}-report")
    if progress.n_failed:
        tell(
            f"{counted(progress.n_failed, 'task')} failed: mcquack bench status {store} tells why, and the same "
            "command with --retry-failed runs them again."
        )
        raise typer.Exit(exit_codes.SOME_TASKS_FAILED)


def report(
    store: Annotated[Path, argument("STORE", "A store that mcquack trainability run has written.")],
    out: OutFolder,
    landscape: Annotated[list[Path] | None, option(_LANDSCAPE, "FILE.json")] = None,
    title: Title = None,
) -> None:
    """Write a page about a study: gradients and how they scale, training, what decides it, kernels, and shots.

    OUT/index.html needs no internet and can be sent to others as it is; beside it are all tables as CSV and LaTeX, and
    the figures. Every sentence and verdict follows from the numbers in the store.

    Example: mcquack trainability report trainability.sqlite --out trainability-report
    """
    from mcquack.bench.store import Store
    from mcquack.report.trainability import read_landscape, write_trainability_report  # matplotlib would delay --help

    check_folder(out)
    with Store.open(store) as opened:
        is_benchmark = opened.counts().total > 0
    if is_benchmark and not is_study(store):
        raise InvalidInputError(f"{store} holds a benchmark; its report is made by: mcquack report {store} --out {out}")
    landscapes = [read_landscape(path) for path in landscape or ()]
    tell(f"The report is in {write_trainability_report(store, out, landscapes=landscapes, title=title)}")


@dataclass(frozen=True, kw_only=True)
class StudyProgress(Progress):
    """How far a study is: its largest circuits come first, so that the mean over what is done would mislead.

    ``expected`` has the seconds that the tasks to come should take, ``expected_so_far`` those of what was timed.
    """

    expected: Mapping[str, float] = field(default_factory=dict)
    expected_so_far: float = 0.0

    has_scores: ClassVar[bool] = False  # its tasks have other settings, not only other seeds

    def task_text(self, task: Task) -> str:
        """Return a task in one line: first the model and the size that are probed."""
        from mcquack.studies.trainability.design import ProbeSettings as Defaults  # loaded by now

        settings, first = dict(task.settings), ("model", "n_qubits", "series")
        model, n_qubits, series = (settings.pop(name, getattr(Defaults, name)) for name in first)
        rest = ", ".join(f"{name}={value!r}" for name, value in settings.items()) or "defaults"
        return f"{model}, {n_qubits} qubits on {self.names[task.dataset]} ({series}, seed {task.seed}; {rest})"

    def cell_text(self, cell: "Cell | Task") -> str:
        """Return the dataset, as all cells of a study have the same probe."""
        return self.names[cell.dataset]

    def _after_outcome(self, outcome: Outcome, *, is_known: bool) -> Self:
        ended = self.expected.get(outcome.task.id, 0.0) if outcome.seconds else 0.0
        rest = {name: seconds for name, seconds in self.expected.items() if name != outcome.task.id}
        after = super()._after_outcome(outcome, is_known=is_known)
        return replace(after, expected=rest, expected_so_far=self.expected_so_far + ended)

    @property
    def seconds_left(self) -> float | None:
        """The seconds expected for the rest, on a machine as fast as it was so far; None before the first task."""
        seconds = sum(cell.seconds for cell in self.cells.values())
        left = seconds_left(seconds, done=self.expected_so_far, left=sum(self.expected.values()))
        return None if left is None or not self.n_workers else left / self.n_workers


def _tell_size(design: "Design", path: Path, *, jobs: int | None) -> None:
    from joblib import cpu_count

    from mcquack.bench.store import Store
    from mcquack.studies.trainability.running import seconds

    n_workers, tasks = jobs or cpu_count(), design.tasks()
    for grid in design.grids:
        own, sizes = tuple(grid.tasks()), grid.values("n_qubits")
        say(
            f"{grid.name} on {grid.dataset}: {counted(len(own), 'task')}, {min(sizes)} to {max(sizes)} qubits, "
            f"{counted(grid.seeds, 'seed')}; about {duration(sum(map(seconds, own)) / n_workers)} with "
            f"{counted(n_workers, 'worker')}."
        )
    left = ""
    if path.exists():
        with Store.open(path) as opened:
            n_known = len({task.id for task in tasks} & opened.finished_ids())
        left = f", {n_known:,} of which are done in {path}"
    about = duration(sum(map(seconds, tasks)) / n_workers)
    say(f"All together: {counted(len(tasks), 'task')}{left}; about {about}, and machines differ.")


def trainability() -> None:
    """Find out whether a model trains and what decides it: gradients, loss curves and states over sizes and starts.

    A study may stop at any moment: the same command goes on where it was.

    Example: mcquack trainability run quick
    """


app = group(trainability, run, report)
