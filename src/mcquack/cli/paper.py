"""``mcquack paper``: every table and figure of the paper, ours beside the paper's, from stores or from nothing."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from mcquack import bench as laboratory
from mcquack.cli import console as exit_codes
from mcquack.cli.bench import Workers, run_to_the_end
from mcquack.cli.console import described, say, tell
from mcquack.cli.datasets import DataDir
from mcquack.cli.trainability import run_study
from mcquack.errors import InvalidInputError

if TYPE_CHECKING:
    from mcquack.studies.paper import RunStep, Stores

_QUICK_STORES = "stores"  # a folder beside the pages


@described("mcquack")
def paper(
    context: typer.Context,
    studies: Path = Path("studies"),
    out: Path = Path("paper-site"),
    quick: bool = False,
    no_run: bool = False,
    dry_run: bool = False,
    jobs: int | None = None,
    data_dir: DataDir = None,
) -> None:
    """Write a site with every table and figure of the paper, ours beside the paper's, and run what is missing for it.

    A store that is there is read and never run again; one that is missing is made, which takes hours, may be
    interrupted at any moment, and goes on with the same command. OUT/index.html needs no internet and can be sent to
    others with its folder. Each item says by a stated rule whether ours is the same as the paper's.

    Examples: mcquack paper --studies studies --out paper-site, or mcquack paper --quick --out quick-site
    """
    from mcquack.studies.paper import RUNS, Stores  # not above: they would delay every --help

    if out.exists() and not out.is_dir():
        raise InvalidInputError(f"{out} is a file; name a folder with --out.")
    stores = Stores(folder=out / _QUICK_STORES if quick else studies, quick=quick)
    missing = {study: stores.missing_steps(study) for study in RUNS}
    if dry_run:
        for study, steps in missing.items():
            say(f"{stores.path(study)}: {'to be run' if steps else 'is there'}")
            for step in steps:
                say(f"  {step.command(stores.path(study))}")
        return
    code = exit_codes.DONE
    if not no_run:
        workers = Workers(jobs=jobs, data_dir=data_dir)
        _tell_missing([study for study, steps in missing.items() if steps], stores)
        for study, steps in missing.items():
            for step in steps:
                code = max(code, _run(step, stores, study, workers=workers, context=context))

    from mcquack.report.paper import write_paper_site

    tell(f"The site is in {write_paper_site(stores, out, data_dir=data_dir)}")
    if code != exit_codes.DONE:
        raise typer.Exit(code)


def _tell_missing(studies: Sequence[str], stores: "Stores") -> None:
    if studies:
        time = "some minutes" if stores.quick else "hours; --quick takes minutes, and --no-run runs nothing"
        tell(f"Running {', '.join(studies)} into {stores.folder}, which takes {time}.")


def _run(step: "RunStep", stores: "Stores", study: str, *, workers: Workers, context: typer.Context) -> int:
    """Runs a step into its store; failed tasks are rows like others, and no reason to write no site."""
    from mcquack.bench.suite import Suite

    path, chosen = stores.path(study), step.chosen()
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        if not isinstance(chosen, Suite):
            run_study(chosen, path, workers=workers, arguments=context.obj)
            return exit_codes.DONE
        cells = chosen.cells()
        workers.fetch_missing(cells)
        with laboratory.Store.open(path, write=True, create=True) as store:
            run_to_the_end(cells, store, workers=workers, arguments=context.obj, suite=chosen.to_json())
    except typer.Exit as stop:
        if stop.exit_code != exit_codes.SOME_TASKS_FAILED:
            raise
        return stop.exit_code
    return exit_codes.DONE
