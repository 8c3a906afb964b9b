"""What tests with real processes share."""

import os
import time

_SECONDS_TO_WAIT = 120


def until(condition):
    """Waits for what happens elsewhere; a test that waits for ever is a test that fails."""
    deadline = time.monotonic() + _SECONDS_TO_WAIT
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def is_alive(pid):
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    return True
