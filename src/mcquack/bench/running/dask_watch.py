"""An eye on the workers of a Dask cluster, which come and go."""

import contextlib
import threading
import time
from collections.abc import Callable
from typing import Any

_MOST_SECONDS_BETWEEN_COUNTS = 2.0


class Watch:
    """Counts the workers again and again, and calls ``give_up`` once there was none for ``patience`` seconds.

    Dask itself would wait for ever.
    """

    def __init__(self, client: Any, *, patience: float, give_up: Callable[[], None]) -> None:
        self.n_workers = len(client.nthreads())
        self._client = client
        self._patience = patience
        self._give_up = give_up
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._count, name="dask-watch", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """No more is counted after that."""
        self._ended.set()
        self._thread.join()

    def _count(self) -> None:
        seen_at = time.monotonic()
        while not self._ended.wait(min(_MOST_SECONDS_BETWEEN_COUNTS, self._patience / 4)):
            with contextlib.suppress(OSError):  # a lost scheduler is noticed by others
                self.n_workers = len(self._client.nthreads())
            if self.n_workers:
                seen_at = time.monotonic()
            elif time.monotonic() - seen_at > self._patience:
                self._give_up()
                return
