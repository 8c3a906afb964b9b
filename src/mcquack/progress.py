"""Show how far something is: a bar in a terminal or a notebook, and a few lines elsewhere."""

import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from importlib.util import find_spec
from threading import Lock
from typing import Any, TypeVar

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.segment import Segment
from rich.table import Column, Table
from rich.text import Text

from mcquack.errors import printable

Row = Mapping[str, Any]
AnyRow = TypeVar("AnyRow", bound=Row)
Step = TypeVar("Step")
Clock = Callable[[], float]

_SECONDS_BETWEEN_LINES = 5.0
_LINES = 10
_NAMED_CLASSES = 3  # more would leave no room for the loss
_PREPARING = "preparing (the first run compiles)"
_REFRESHES_PER_SECOND = 4
_WIDEST_BAR = 40
_ROOM_FOR_TEXT = 90  # and for the numbers
_ROWS_ABOVE_LINES = 5  # bar, two lines of facts, and two to spare
_FEWEST_LINES = 3


# Consoles and words


class SafeConsole(Console):
    """A rich console that prints text as it is: no markup, and escapes in the place of control characters."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"markup": False, "emoji": False, "highlight": False, **options})

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        for segment in super().render(renderable, options):
            is_text = segment.control is None
            yield Segment(printable(segment.text, keep="\n"), segment.style) if is_text else segment


def can_draw(console: Console) -> bool:
    """Return whether a bar can be drawn on a console."""
    # In a notebook rich draws by ipywidgets, and without them it shows nothing at all.
    return find_spec("ipywidgets") is not None if console.is_jupyter else console.is_interactive


def tell(line: str, console: Console | None = None) -> None:
    """Print one line on a console, by default on stderr."""
    (console or SafeConsole(stderr=True)).print(line, markup=False, highlight=False, emoji=False, soft_wrap=True)


def counted(count: int, noun: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "task"), counted(1200, "task")
    ('1 task', '1,200 tasks')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def duration(seconds: float) -> str:
    """Return seconds as people read them.

    >>> duration(7), duration(600), duration(86_400)
    ('7 s', '10 min', '24 h 00 min')
    """
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60:02d} min"


def seconds_left(seconds: float, *, done: float, left: float) -> float | None:
    """Return how long the rest takes if it goes on as fast as before; None if nothing is done.

    >>> seconds_left(6.0, done=3, left=5)
    10.0
    """
    return seconds / done * left if done else None


def row_text(row: Row) -> str:
    """Return the loss of one row of a history, and its accuracies if it has any.

    >>> row_text({"loss": 0.5, "accuracy": 0.8, "validation_accuracy": None})
    'loss 0.5000, accuracy 0.800'
    """
    text = f"loss {row['loss']:.4f}"
    for name in ("accuracy", "validation_accuracy"):
        if row.get(name) is not None:
            text += f", {name.replace('_', ' ')} {row[name]:.3f}"
    return text


# Bars and lines


@dataclass(frozen=True, kw_only=True)
class View:
    """What is shown of something that runs.

    A bar shows ``unit``, ``n_done`` and ``n_most`` (None if unknown), with ``text`` beside it, and below it ``facts``
    and as many ``lines`` as there is room for. A log gets text and facts in one line. ``is_exact`` says that there will
    be ``n_most``, rather than at most so many.
    """

    unit: str
    n_done: int
    n_most: int | None
    is_exact: bool = False
    is_over: bool = False
    seconds_left: float | None = None
    text: str = ""
    facts: Sequence[str] = ()
    lines: Sequence[str] = ()

    @property
    def left_text(self) -> str:
        """How long it will take, empty if that is unknown or nothing is left."""
        is_known = self.seconds_left is not None and self.seconds_left >= 0.5
        return f"{'about' if self.is_exact else 'at most'} {duration(self.seconds_left or 0)} left" if is_known else ""

    def line(self, elapsed: float) -> str:
        """Return the line for a log; only what takes long says how long."""
        count = f"{self.n_done:,}" if self.n_most is None else f"{self.n_done:,}/{self.n_most:,}"
        times = (f"{duration(elapsed)} so far", self.left_text) if elapsed >= _SECONDS_BETWEEN_LINES else ()
        return f"{self.unit} {count}: {_joined(self.text, *self.facts, *times)}"

    def drawn(self, elapsed: float, *, width: int, height: int) -> RenderableType:
        """Return the bar and what is below it, for a terminal of this size."""
        most = "?" if self.n_most is None else f"{self.n_most:,}"
        total = self.n_done if self.is_over else self.n_most
        length = min(max(width - _ROOM_FOR_TEXT, 10), _WIDEST_BAR)
        columns = (Column(no_wrap=True, ratio=ratio) for ratio in (None, None, None, None, 1))  # the text gets the rest
        bar = Table.grid(*columns, padding=(0, 1), expand=True)
        bar.add_row(
            self.unit,
            f"{self.n_done:{len(most)},}/{most}",
            ProgressBar(total=total, completed=self.n_done, width=length),
            str(timedelta(seconds=int(elapsed))),
            _joined(self.left_text, self.text),
        )
        facts = [" · ".join(self.facts)] if self.facts else []
        lines = self.lines[: max(height - _ROWS_ABOVE_LINES, _FEWEST_LINES)]
        return Group(bar, *facts, *(Text(line, style="dim", no_wrap=True, overflow="ellipsis") for line in lines))


def _joined(*texts: str) -> str:
    return ", ".join(filter(None, texts))


def displayed(
    steps: Iterable[Step],
    view: Callable[[float], View],
    *,
    console: Console,
    milestone: Callable[[float], Hashable] = lambda elapsed: elapsed // _SECONDS_BETWEEN_LINES,
    clock: Clock = time.monotonic,
) -> Iterator[Step]:
    """Yield the steps, and show what ``view`` returns for the seconds so far.

    Where no bar can be drawn, a line is written after each step that has changed what ``milestone`` returns for these
    seconds, by default every few seconds.
    """
    started = clock()
    if can_draw(console):
        with _live(view, console, lambda: clock() - started):
            yield from steps
        return
    last, last_line = milestone(0.0), ""

    def write() -> None:
        nonlocal last, last_line
        elapsed = clock() - started
        before, last = last, milestone(elapsed)
        if last != before and (line := view(elapsed).line(elapsed)) != last_line:
            tell(line, console)
            last_line = line

    for step in steps:
        write()
        yield step
    write()


@contextmanager
def _live(view: Callable[[float], View], console: Console, elapsed: Clock) -> Iterator[None]:
    """Draw the view again and again, from another thread: minutes may pass between two steps."""

    def drawn() -> RenderableType:
        seconds = elapsed()
        return view(seconds).drawn(seconds, width=console.width, height=console.height)

    with Live(get_renderable=drawn, console=console, refresh_per_second=_REFRESHES_PER_SECOND) as live:
        live.refresh()
        yield


@contextmanager
def counted_on_bar(unit: str, n_most: int, console: Console) -> Iterator[Callable[[str], None]]:
    """Yield a function that counts one more, with a text, from any thread; without a bar, nothing is shown.

    >>> with counted_on_bar("training", 2, SafeConsole(force_terminal=False)) as count:
    ...     count("best 0.9")
    """
    view, lock, started = View(unit=unit, n_done=0, n_most=n_most, text=_PREPARING), Lock(), time.monotonic()

    def count(text: str) -> None:
        nonlocal view
        with lock:
            view = replace(view, n_done=view.n_done + 1, text=text)

    if not can_draw(console):
        yield count
        return
    with _live(lambda _: view, console, lambda: time.monotonic() - started):
        yield count


# Trainings of models


@dataclass(frozen=True)
class Stage:
    """How far a training is: epochs or steps done, the most that there can be if known, and what trains now."""

    n_done: int
    n_most: int | None
    part: str = ""


def unit_of(model: Any) -> str:
    """Return what a model counts its training in: "step" if it has ``max_steps``, else "epoch"."""
    return "step" if hasattr(model, "max_steps") else "epoch"


def stage(model: Any, names: Mapping[Any, str] | None = None, *, anew: bool = False) -> Stage:
    """Return how far the training of a model is.

    Starts that have ended count with the epochs that they had, and those to come with as many as they may have. Where
    shots have a budget, there are no more epochs than it pays for. ``names`` are those of the classes, by their labels;
    ``anew`` says that training begins, whatever the model has learned before.

    >>> from types import SimpleNamespace
    >>> ended, now = SimpleNamespace(n_iter_=8), SimpleNamespace(n_iter_=5)
    >>> stage(SimpleNamespace(epochs=20, n_starts=3, starts_=[ended, now]))
    Stage(n_done=13, n_most=48, part='start 2 of 3')
    """
    n_most, n_starts = _most(model, anew=anew), getattr(model, "n_starts", 1)
    if n_starts == 1 if anew else not hasattr(model, "starts_"):
        n_done = 0 if anew else model.n_iter_
        is_over = n_most is not None and n_done >= n_most
        return Stage(n_done, n_most, "" if anew or is_over else _classes_text(model, names or {}))
    starts = [] if anew else model.starts_
    number = 0 if anew else getattr(model, "_start_at", len(starts) - 1)
    n_before = sum(start.n_iter_ for start in starts[:number])
    n_now = 0 if anew else starts[number].n_iter_
    most = None if n_most is None else n_before + (n_starts - number) * n_most
    return Stage(n_before + n_now, most, f"start {number + 1} of {n_starts}")


def _most(model: Any, *, anew: bool) -> int | None:
    """Return the most epochs or steps of one start, as a budget of shots allows; None if only convergence ends it."""
    most: int | None = getattr(model, "max_steps", getattr(model, "epochs", None))
    budget = getattr(getattr(model, "engine", None), "budget", None)
    if most is None or budget is None or anew or not model.n_iter_ or not model.shots_:
        return most
    return min(most, int(model.n_iter_ + (budget - model.shots_) * model.n_iter_ // model.shots_))


def _classes_text(model: Any, names: Mapping[Any, str]) -> str:
    """Return which circuits go on training, for a model with one for each class; empty if all do."""
    going: list[Any] = getattr(model, "_classes_going", [])
    if not going:
        return ""
    if len(going) == len(model.classes_):
        return f"{len(going)} classes in turn" if hasattr(model, "n_steps_") else ""
    some = f"{len(going)} of {len(model.classes_)} classes"
    few = ", ".join(_class_name(each, names) for each in going) if len(going) <= _NAMED_CLASSES else some
    return f"only {few} still {'trains' if len(going) == 1 else 'train'}"


def _class_now(model: Any, names: Mapping[Any, str]) -> str:
    """Return the class whose circuit is trained at this moment, for a model with one for each class."""
    if (now := getattr(model, "_class_at", None)) is None:
        return ""
    label, number, n_classes = now
    return f"class {_class_name(label, names)} ({number + 1} of {n_classes})"


def _class_name(label: Any, names: Mapping[Any, str]) -> str:
    plain = label.item() if hasattr(label, "item") else label
    return printable(names.get(plain, plain))


def shown(
    rows: Iterable[AnyRow],
    *,
    of: Any,
    going_on: bool = False,
    names: Mapping[Any, str] | None = None,
    console: Console | None = None,
    clock: Clock = time.monotonic,
) -> Iterator[AnyRow]:
    """Yield the rows of a history as training makes them, and show each on stderr.

    Parameters
    ----------
    rows : What ``fit_iter`` yields.
    of : The model that it trains.
    going_on : Whether an earlier training of the model is continued, and its epochs counted.
    names : What to call the classes, in the place of their labels.
    console : Where to show them, in the place of stderr.
    clock : What gives the seconds.

    Examples
    --------
    >>> import sys
    >>> from types import SimpleNamespace
    >>> model = SimpleNamespace(epochs=2)
    >>> def fit_iter():
    ...     for model.n_iter_ in (1, 2):
    ...         yield {"loss": 1 / model.n_iter_, "accuracy": 0.5 + model.n_iter_ / 5}
    >>> for row in shown(fit_iter(), of=model, console=SafeConsole(file=sys.stdout, force_terminal=False)):
    ...     pass
    epoch 1/2: loss 1.0000, accuracy 0.700
    epoch 2/2: loss 0.5000, accuracy 0.900
    """
    training = _Training(of, names or {}, stage(of, names, anew=not going_on), clock)
    where = console or SafeConsole(stderr=True)
    return displayed(training.after(rows), training.view, milestone=training.milestone, console=where, clock=clock)


class _Training:
    """The training of a model, as far as its rows have come."""

    def __init__(self, model: Any, names: Mapping[Any, str], begun: Stage, clock: Clock) -> None:
        self._model, self._names, self._clock = model, names, clock
        self._reached, self._text, self._is_over = begun, _PREPARING, False
        self._times: list[tuple[float, int]] = []  # when the first row and the last came, and their epochs

    def after(self, rows: Iterable[AnyRow]) -> Iterator[AnyRow]:
        """Yield the rows, each after it was counted."""
        for row in rows:
            self._reached, self._text = stage(self._model, self._names), row_text(row)
            self._times[1:] = [(self._clock(), self._reached.n_done)]
            yield row
        self._is_over = bool(self._times)
        self._text = self._text if self._times else ""  # there was nothing to train

    def view(self, _elapsed: float) -> View:
        """Return what is shown now; between two rows, the class that trains changes."""
        n_done, n_most, part = self._reached.n_done, self._reached.n_most, self._reached.part
        part = _class_now(self._model, self._names) or part
        if self._is_over and n_most is not None and n_done < n_most:
            part = "ended early"
        left = None
        if self._times and n_most is not None and not self._is_over:
            (first, n_first), (last, n_last) = self._times[0], self._times[-1]  # before the first, code may compile
            left = seconds_left(last - first, done=n_last - n_first, left=n_most - n_last)
        return View(
            unit=unit_of(self._model),
            n_done=n_done,
            n_most=n_most,
            is_over=self._is_over,
            seconds_left=left,
            text=_joined(part, self._text),
        )

    def milestone(self, _elapsed: float) -> Hashable:
        """Return what a new line is written for: a tenth of the epochs, or twice as many if there is no known end."""
        n_done, n_most = self._reached.n_done, self._reached.n_most
        number = n_done.bit_length() if n_most is None else n_done // max(n_most // _LINES, 1)
        return (self._reached.part, number, self._is_over) if self._times else None
