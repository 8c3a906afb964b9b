"""Ctrl-C that waits for a good moment."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interrupts_noted(on_first: Callable[[], None] = lambda: None) -> Iterator[list[int]]:
    """Meanwhile the first Ctrl-C is only noted in the list, and calls ``on_first``; the next is a KeyboardInterrupt.

    An exception in the middle of a submission or a transaction could lose what was just finished, and one in a function
    that a library calls back is swallowed there. Where Python does not handle Ctrl-C itself (outside the main thread,
    or with a handler of the host's), nothing changes.
    """
    noted: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        if noted:
            signal.default_int_handler(number, frame)
        noted.append(number)
        on_first()

    in_main_thread = threading.current_thread() is threading.main_thread()
    is_ours = in_main_thread and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_ours:
        signal.signal(signal.SIGINT, note)
    try:
        yield noted
    finally:
        if is_ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)
