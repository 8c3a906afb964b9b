"""The ``mcquack`` command: all verbs together, and what becomes of errors."""

import io
import shlex
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer
import typer.main

from mcquack import __version__
from mcquack.cli import console as exit_codes
from mcquack.cli.bench import app as bench
from mcquack.cli.compile import compile_
from mcquack.cli.console import tell
from mcquack.cli.datasets import app as datasets
from mcquack.cli.demo import demo
from mcquack.cli.fit import fit
from mcquack.cli.hardware import app as hardware
from mcquack.cli.models import app as models
from mcquack.cli.models import info
from mcquack.cli.options import Verb, group
from mcquack.cli.predict import predict, score
from mcquack.cli.results import report
from mcquack.cli.trainability import app as trainability
from mcquack.errors import AccountError, McQuackError, McQuackWarning, MissingDataError, Setting

# The names of settings of models, where options that were given are called otherwise.
_SETTINGS = {"n_qubits": "--qubits", "n_repetitions": "--repetitions", "random_state": "--seed"}
_PANELS: dict[str, tuple[Callable[..., None] | typer.Typer, ...]] = {
    "A model": (demo, fit, predict, score, info, compile_),
    "Comparisons and studies": (report, bench, trainability),
    "Datasets and models by name": (datasets, models),
    "Devices": (hardware,),
}


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"mcquack {__version__}")
        raise typer.Exit


def mcquack(
    show_version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Trainable multiclass quantum kernels: a classifier for tables, simulated here or run on a device.

    Start with `mcquack demo`. Then train on a table of your own with `mcquack fit`, look at the model with
    `mcquack info`, see how good it is with `mcquack score`, and apply it to new rows with `mcquack predict`. Published
    datasets come by name: `mcquack datasets list` shows them, and `mcquack models list` what can be trained on them;
    `mcquack bench run` compares many models on many datasets, and `mcquack report` shows how they rank. `mcquack
    hardware` runs a model on a device, and `mcquack trainability` asks how well models train.
    """


app = group(
    mcquack,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 done, 1 refused or failed, 2 wrong usage, 3 done but some rows were left out or some tasks "
    "failed, 130 interrupted. Add --debug to any command to see where an error comes from.",
)
for panel, verbs in _PANELS.items():
    for verb in verbs:
        if isinstance(verb, typer.Typer):
            app.add_typer(verb, rich_help_panel=panel)
        else:
            app.command(verb.__name__.removesuffix("_"), cls=Verb, rich_help_panel=panel)(verb)


@app.command(hidden=True, context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def paper() -> None:
    """Say what writes the site of the paper: it needs the rows of a clone, which the package does not have."""
    tell(
        "mcquack: the site of the paper is written from the rows in a clone of the repository, which the package does "
        "not have; run there: make paper, or python -m studies.paper with the same options."
    )
    raise typer.Exit(exit_codes.WRONG_USAGE)


def exit_code(arguments: Sequence[str], app: typer.Typer = app, *, name: str = "mcquack") -> int:
    """Run one command line of an app and return its exit code; what goes wrong becomes one line on stderr."""
    words = [argument for argument in arguments if argument != "--debug"]

    def show_warning(message: Warning | str, category: type[Warning], filename: str, lineno: int, *_: Any) -> None:
        if isinstance(message, McQuackWarning):
            text = message.written(_options_of(app, words))
            tell(f"mcquack: {' '.join(text.split())}")
        else:
            tell(warnings.formatwarning(message, category, filename, lineno).rstrip("\n"))

    try:
        with warnings.catch_warnings():
            warnings.showwarning = show_warning  # type: ignore[assignment]  # Python gives no file and no line
            app(words, prog_name=name, obj=f"{name} {shlex.join(words)}")  # which verbs record
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else exit_codes.DONE
    except KeyboardInterrupt:  # before or after the verb, which answers for itself
        typer.echo("mcquack: interrupted.", err=True)
        return exit_codes.INTERRUPTED
    except Exception as error:
        if "--debug" in arguments:
            raise
        tell(f"mcquack: {_error_text(error, _options_of(app, words))}")
        return exit_codes.REFUSED
    return exit_codes.DONE


def _error_text(error: Exception, write: Callable[[Setting], str]) -> str:
    """Return an error in one line, unless it lists what is missing or how to get an account."""
    if isinstance(error, MissingDataError | AccountError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        text = f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    elif isinstance(error, McQuackError):
        text = error.written(write)
    elif isinstance(error, OSError):
        text = str(error)
    else:
        text = f"unexpected {type(error).__name__}: {error} (run again with --debug and report it, please)"
    return " ".join(text.split())


def _options_of(app: typer.Typer, arguments: Sequence[str]) -> Callable[[Setting], str]:
    """Return what writes a setting as an option of the verb that was called, or else as Python does."""
    verb: Any = typer.main.get_command(app)
    for word in arguments:
        if (found := getattr(verb, "commands", {}).get(word)) is None:
            break
        verb = found
    options = {each.name: each.opts[0] for each in verb.params if each.param_type_name == "option"}
    given = {word.partition("=")[0] for word in arguments}
    options |= {name: option for name, option in _SETTINGS.items() if option in given & set(options.values())}

    def written(setting: Setting) -> str:
        value = setting.value[0] if isinstance(setting.value, list) else setting.value
        option = options.get(setting.name, "")
        if not option or value is None or value is True:
            return option or str(setting)
        return f"{option} {value if str(value).isidentifier() else repr(value)}"

    return written


def main(app: typer.Typer = app, *, name: str = "mcquack") -> None:
    """Run the command line of this process; the entry point of the package, and of commands beside it."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a label that the terminal cannot show must not stop anything
            stream.reconfigure(errors="backslashreplace")
    sys.exit(exit_code(sys.argv[1:], app, name=name))
