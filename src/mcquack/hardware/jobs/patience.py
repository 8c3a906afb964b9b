"""How long a device is waited for, and how often it is asked."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from mcquack.checks import require, require_positive, required_count

_SHORTEST_OF_POLLS = 1 / 50
_GROWTH = 1.5
_FIRST_RETRY_SECONDS = 1.0
_LONGEST_RETRY_SECONDS = 60.0


@dataclass(frozen=True, kw_only=True)
class Patience:
    """``attempts`` are the jobs sent for a part within one call before it is given up.

    States are asked for every ``poll_seconds``, and more often after something has happened. ``wait_seconds`` is for
    all jobs together, None to wait as long as it takes; ``offline_seconds`` for a service that cannot be reached.
    """

    poll_seconds: float = 5.0
    wait_seconds: float | None = None
    offline_seconds: float = 600.0
    attempts: int = 3
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        require_positive("poll_seconds", self.poll_seconds)
        require_positive("offline_seconds", self.offline_seconds)
        required_count("attempts", self.attempts)
        if self.wait_seconds is not None:
            require(self.wait_seconds >= 0, "wait_seconds", "None or a number of at least 0", self.wait_seconds)

    def polls(self) -> Iterator[float]:
        """Growing pauses, so that what is done at once is not waited for."""
        pause = self.poll_seconds * _SHORTEST_OF_POLLS
        while True:
            yield pause
            pause = min(pause * _GROWTH, self.poll_seconds)

    def retries(self) -> Iterator[float]:
        """Doubling pauses, until the service was out of reach for too long."""
        pause, left = _FIRST_RETRY_SECONDS, self.offline_seconds
        while left > 0:
            yield min(pause, left)
            left -= pause
            pause = min(2 * pause, _LONGEST_RETRY_SECONDS)
