"""``python -m studies.paper``: the site with every table and figure of the paper, from stores or from nothing."""

from pathlib import Path
from typing import Annotated

import typer

from mcquack.bench.store import Store
from mcquack.bench.suite import Suite
from mcquack.cli import console as exit_codes
from mcquack.cli.app import main
from mcquack.cli.bench import Workers, run_to_the_end
from mcquack.cli.console import say, tell
from mcquack.cli.options import DataDir, DryRun, Jobs, Verb, flag, option
from mcquack.cli.trainability import run_study
from mcquack.errors import InvalidInputError
from studies.paper.page import write_paper_site
from studies.paper.stores import COMMAND, RUNS, RunStep, Stores

_QUICK = "Run a small part of everything anew, in some minutes, with its rows in OUT/stores; the pages are marked."
_QUICK_STORES = "stores"  # a folder beside the pages

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode="markdown",  # joins the lines of a docstring into paragraphs
)


@app.command(cls=Verb)
def paper(
    context: typer.Context,
    studies: Annotated[
        Path, option("The folder of stores, real_world/rows.sqlite and so on; a missing one is made there.", "FOLDER")
    ] = Path("studies"),
    out: Annotated[Path, option("The folder to write to; it is made if it does not exist.", "FOLDER")] = Path(
        "paper-site"
    ),
    quick: Annotated[bool, flag("--quick", _QUICK)] = False,
    no_run: Annotated[bool, flag("--no-run", "Run nothing: pages say what is not run yet.")] = False,
    dry_run: DryRun = False,
    jobs: Jobs = None,
    data_dir: DataDir = None,
) -> None:
    """Write a site with every table and figure of the paper, ours beside the paper's, and run what is missing for it.

    A store that is there is read and never run again; one that is missing is made, which takes hours, may be
    interrupted at any moment, and goes on with the same command. OUT/index.html needs no internet and can be sent to
    others with its folder. Each item says by a stated rule whether ours is the same as the paper's.

    Examples: python -m studies.paper --out paper-site, or python -m studies.paper --quick --out quick-site
    """
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
        if names := [study for study, steps in missing.items() if steps]:
            time = "some minutes" if quick else "hours; --quick takes minutes, and --no-run runs nothing"
            tell(f"Running {', '.join(names)} into {stores.folder}, which takes {time}.")
        for study, steps in missing.items():
            for step in steps:
                code = max(code, _run(step, stores.path(study), workers=workers, command=context.obj))
    tell(f"The site is in {write_paper_site(stores, out, data_dir=data_dir)}")
    if code != exit_codes.DONE:
        raise typer.Exit(code)


def _run(step: RunStep, path: Path, *, workers: Workers, command: str) -> int:
    """Run a step into its store and return the exit code; failed tasks are rows like others, and do not stop it."""
    chosen = step.chosen()
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        if not isinstance(chosen, Suite):
            run_study(chosen, path, workers=workers, command=command)
            return exit_codes.DONE
        cells = chosen.cells()
        workers.fetch_missing(cells)
        with Store.open(path, write=True, create=True) as store:
            run_to_the_end(cells, store, workers=workers, command=command, suite=chosen.to_json())
    except typer.Exit as stop:
        if stop.exit_code != exit_codes.SOME_TASKS_FAILED:
            raise
        return stop.exit_code
    return exit_codes.DONE


if __name__ == "__main__":
    main(app, name=COMMAND)
