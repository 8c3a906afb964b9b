"""What becomes of jobs, line by line on stderr."""

from typing import TYPE_CHECKING

from mcquack.cli.notes import tell

if TYPE_CHECKING:
    from mcquack.hardware.jobs.events import Event

_TOLD = {
    "sent": "sent",
    "resent": "sent again",
    "found": "found again",
    "held": "held back",
    "waiting": "in the queue",
    "running": "running",
    "done": "measured and kept",
    "failed": "failed",
    "unusable": "failed",
    "lost": "lost",
    "cancelled": "cancelled",
    "offline": "out of reach, trying again",
}


class Jobs:
    """Tells each event once, however often it is repeated."""

    def __init__(self) -> None:
        self._last: dict[int, str] = {}

    def __call__(self, event: "Event") -> None:
        part = event.part
        job = f" ({event.job.job_id})" if event.job.job_id else ""
        why = f": {' '.join(event.message.split())}" if event.message else ""
        line = f"circuits {part.first + 1:,} to {part.last:,}{job}: {_TOLD[event.kind]}{why}"
        if self._last.get(part.first) != line:
            tell(line)
        self._last[part.first] = line
