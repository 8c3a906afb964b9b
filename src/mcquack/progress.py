"""How far a training is, for who waits for it: a bar where one can be drawn, and a few lines elsewhere."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any, NamedTuple, TypeVar

from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeElapsedColumn
from rich.segment import Segment
from rich.table import Column
from rich.text import Text

from mcquack.errors import printable

Row = Mapping[str, Any]
AnyRow = TypeVar("AnyRow", bound=Row)

_LINES = 10
_NAMED_CLASSES = 3  # more would leave no room for the loss
_PREPARING = "preparing (the first run compiles)"
_ENDED_EARLY = "ended early"
_WIDEST_BAR = 40
_ROOM_FOR_TEXT = 90  # and for the numbers


class SafeConsole(Console):
    """One that styles text, and lets no text act by itself: names and labels may come out of any file."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        for segment in super().render(renderable, options):
            is_text = segment.control is None
            yield Segment(printable(segment.text, keep="\n"), segment.style) if is_text else segment


@dataclass(frozen=True)
class Stage:
    """How far a training is: epochs or steps done, how many there are at most if anybody knows, and what trains now."""

    n_done: int
    n_most: int | None
    part: str = ""


def unit_of(model: Any) -> str:
    """What a model counts its training in: "step" if it has ``max_steps``, else "epoch"."""
    return "step" if hasattr(model, "max_steps") else "epoch"


def stage(model: Any, names: Mapping[Any, str] | None = None) -> Stage:
    """How far the training of a model is, by what the model tells of itself.

    Starts that have ended count with the epochs that they had, and those to come with as many as they may have. Where
    shots have a budget, there are no more epochs than it pays for.

    Parameters
    ----------
    model : One that a row of its history has just come from, or that was saved there.
    names : What to call its classes, in the place of their labels.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> ended, now = SimpleNamespace(n_iter_=8), SimpleNamespace(n_iter_=5)
    >>> stage(SimpleNamespace(epochs=20, n_starts=3, starts_=[ended, now]))
    Stage(n_done=13, n_most=48, part='start 2 of 3')
    """
    n_most, n_starts = _affordable(model), getattr(model, "n_starts", 1)
    if not hasattr(model, "starts_"):
        is_over = n_most is not None and model.n_iter_ >= n_most
        return Stage(model.n_iter_, n_most, "" if is_over else _classes_text(model, names or {}))
    number: int = getattr(model, "_start_at", len(model.starts_) - 1)
    n_before = sum(start.n_iter_ for start in model.starts_[:number])
    n_now = model.starts_[number].n_iter_
    return _stage_of_starts(n_before, n_now, n_most, number=number, n_starts=n_starts)


def _first_stage(model: Any) -> Stage:
    """Where a model begins anew, whatever it has learned before."""
    n_most, n_starts = _most(model), getattr(model, "n_starts", 1)
    return Stage(0, n_most) if n_starts == 1 else _stage_of_starts(0, 0, n_most, number=0, n_starts=n_starts)


def _stage_of_starts(n_before: int, n_now: int, n_most: int | None, *, number: int, n_starts: int) -> Stage:
    most = None if n_most is None else n_before + (n_starts - number) * n_most
    return Stage(n_before + n_now, most, f"start {number + 1} of {n_starts}")


def _most(model: Any) -> int | None:
    """Epochs or steps of one start, None if training goes on until it has converged."""
    most: int | None = getattr(model, "max_steps", getattr(model, "epochs", None))
    return most


def _classes_text(model: Any, names: Mapping[Any, str]) -> str:
    """Which circuits of a model with one for each class go on training, if that is worth a word."""
    going: list[Any] = getattr(model, "_classes_going", [])
    if not going:
        return ""
    if len(going) == len(model.classes_):
        return f"{len(going)} classes in turn" if hasattr(model, "n_steps_") else ""
    some = f"{len(going)} of {len(model.classes_)} classes"
    few = ", ".join(_class_name(each, names) for each in going) if len(going) <= _NAMED_CLASSES else some
    return f"only {few} still {'trains' if len(going) == 1 else 'train'}"


def _class_now(model: Any, names: Mapping[Any, str]) -> str:
    """The class whose circuit is trained at this moment, between two rows, if the model has one for each."""
    if (now := getattr(model, "_class_at", None)) is None:
        return ""
    label, number, n_classes = now
    return f"class {_class_name(label, names)} ({number + 1} of {n_classes})"


def _class_name(label: Any, names: Mapping[Any, str]) -> str:
    plain = label.item() if hasattr(label, "item") else label
    return printable(names.get(plain, plain))


def _affordable(model: Any) -> int | None:
    """As many as there may be, or as a budget of shots allows by what those so far have taken."""
    most, budget = _most(model), getattr(getattr(model, "engine", None), "budget", None)
    if most is None or budget is None or not model.n_iter_ or not model.shots_:
        return most
    n_left = (budget - model.shots_) * model.n_iter_ // model.shots_
    return min(most, int(model.n_iter_ + n_left))


class _Training(NamedTuple):
    """What is shown of a training: where it begins, where it is after a row and between two rows, and its unit."""

    begun: Stage
    reached: Callable[[], Stage]
    class_now: Callable[[], str]
    unit: str


def shown(
    rows: Iterable[AnyRow],
    *,
    of: Any,
    going_on: bool = False,
    names: Mapping[Any, str] | None = None,
    console: Console | None = None,
) -> Iterator[AnyRow]:
    """Yields the rows of a history as training makes them, and shows each on stderr.

    Parameters
    ----------
    rows : What ``fit_iter`` yields.
    of : The model that it trains.
    going_on : Whether the training that the model has had is gone on with, and counted.
    names : What to call the classes, in the place of their labels.
    console : Where to show them, in the place of stderr.

    Examples
    --------
    >>> import sys
    >>> from types import SimpleNamespace
    >>> model = SimpleNamespace(epochs=2)
    >>> def fit_iter():
    ...     for model.n_iter_ in (1, 2):
    ...         yield {"loss": 1 / model.n_iter_, "accuracy": 0.5 + model.n_iter_ / 5}
    >>> for row in shown(fit_iter(), of=model, console=Console(file=sys.stdout, force_terminal=False)):
    ...     pass
    epoch 1/2: loss 1.0000, accuracy 0.700
    epoch 2/2: loss 0.5000, accuracy 0.900
    """
    console = console or SafeConsole(stderr=True)
    begun = stage(of, names) if going_on else _first_stage(of)
    training = _Training(begun, lambda: stage(of, names), lambda: _class_now(of, names or {}), unit_of(of))
    return (_with_bar if _can_draw(console) else _with_lines)(rows, training, console)


def _can_draw(console: Console) -> bool:
    # In a notebook rich draws by ipywidgets, and without them it shows nothing at all.
    return find_spec("ipywidgets") is not None if console.is_jupyter else console.is_terminal


def tell(line: str, console: Console | None = None) -> None:
    """Prints one line on stderr, or where the console does, as it is."""
    (console or SafeConsole(stderr=True)).print(line, markup=False, highlight=False, emoji=False, soft_wrap=True)


def row_text(row: Row) -> str:
    """Loss of one row of a history, accuracy if it has one, and that on the validation part if there is one.

    >>> row_text({"loss": 0.5, "accuracy": 0.8, "validation_accuracy": None})
    'loss 0.5000, accuracy 0.800'
    """
    text = f"loss {row['loss']:.4f}"
    for name in ("accuracy", "validation_accuracy"):
        if row.get(name) is not None:
            text += f", {name.replace('_', ' ')} {row[name]:.3f}"
    return text


def _ended_early(reached: Stage) -> bool:
    return reached.n_most is not None and reached.n_done < reached.n_most


def _bar(unit: str, last: ProgressColumn, console: Console) -> Progress:
    width = min(max(console.width - _ROOM_FOR_TEXT, 10), _WIDEST_BAR)
    columns = (TextColumn(unit), MofNCompleteColumn(), BarColumn(width), TimeElapsedColumn(), last)
    return Progress(*columns, console=console, expand=True)


class _Text(ProgressColumn):
    """A text that is read anew at every refresh, for between two rows may be minutes; a narrow terminal cuts it."""

    def __init__(self, now: Callable[[], str]) -> None:
        super().__init__(Column(no_wrap=True, overflow="ellipsis", ratio=1))
        self._now = now

    def render(self, task: Task) -> Text:  # noqa: ARG002 rich fixes the signature
        return Text(self._now())


def _with_bar(rows: Iterable[AnyRow], training: _Training, console: Console) -> Iterator[AnyRow]:
    reached, text = training.begun, _PREPARING

    def line() -> str:
        return ", ".join(filter(None, (training.class_now() or reached.part, text)))

    with _bar(training.unit, _Text(line), console) as progress:
        bar = progress.add_task("", total=reached.n_most, completed=reached.n_done)
        for row in rows:
            reached, text = training.reached(), row_text(row)
            progress.update(bar, completed=reached.n_done, total=reached.n_most)
            yield row
        if text == _PREPARING:  # nothing was to be trained
            text = ""
        elif _ended_early(reached):
            reached = replace(reached, part=f"{_ENDED_EARLY}, of at most {reached.n_most}")
            progress.update(bar, total=reached.n_done)


def _with_lines(rows: Iterable[AnyRow], training: _Training, console: Console) -> Iterator[AnyRow]:
    text = ""
    last = reached = training.begun

    def line() -> str:
        count = f"{reached.n_done}" if reached.n_most is None else f"{reached.n_done}/{reached.n_most}"
        return f"{training.unit} {count}: {', '.join(filter(None, (reached.part, text)))}"

    for row in rows:
        is_first, reached, text = not text, training.reached(), row_text(row)
        if is_first or reached.part not in ("", last.part) or _line(reached) > _line(last):
            tell(line(), console)
            last = reached
        yield row
    if text and _ended_early(reached):
        reached = replace(reached, part=_ENDED_EARLY)
    if reached != last:  # where training ended is worth a line
        tell(line(), console)


def _line(reached: Stage) -> int:
    """The number of the line that a stage is on; without a known end the lines become rarer: the 1st, 2nd, 4th, 8th."""
    if reached.n_most is None:
        return reached.n_done.bit_length()
    return reached.n_done // max(reached.n_most // _LINES, 1)


@contextmanager
def counted_on_bar(unit: str, n_most: int, console: Console) -> Iterator[Callable[[str], None]]:
    """Gives what counts one more, with a text, from any thread: on a bar, or nowhere if none can be drawn.

    >>> with counted_on_bar("training", 2, Console(force_terminal=False)) as count:
    ...     count("best 0.9")
    """
    if not _can_draw(console):
        yield lambda _: None
        return
    texts = [_PREPARING]
    with _bar(unit, _Text(lambda: texts[-1]), console) as progress:
        bar = progress.add_task("", total=n_most)

        def count(text: str) -> None:
            texts[:] = [text]
            progress.advance(bar)

        yield count
