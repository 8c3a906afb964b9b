"""Ctrl-C as a wish, and only when repeated as an order."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from types import FrameType, TracebackType
from typing import Self


class Interrupts:
    """While entered, the first Ctrl-C is only noted, and calls ``on_first``; the next raises KeyboardInterrupt.

    An exception in the middle of a submission or a transaction could lose what was just finished. Where Python does not
    handle Ctrl-C itself (outside the main thread, or with a handler of the host's), nothing changes.
    """

    def __init__(self, on_first: Callable[[], None]) -> None:
        self.noted = False
        self._on_first = on_first
        self._is_ours = False

    def __enter__(self) -> Self:
        in_main_thread = threading.current_thread() is threading.main_thread()
        self._is_ours = in_main_thread and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if self._is_ours:
            signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._is_ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.noted:
            signal.default_int_handler(number, frame)
        self.noted = True
        self._on_first()


@contextmanager
def ctrl_c_kept_from_new_processes() -> Iterator[None]:
    """What is started meanwhile inherits that it is blocked, so that there is no moment in which it could hit."""
    if not hasattr(signal, "pthread_sigmask"):  # on Windows
        yield
        return
    resource_tracker.ensure_running()  # to start it later would unblock what is blocked here
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
