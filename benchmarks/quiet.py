"""Whether the machine was quiet during a run: what others computed meanwhile, and whether all cores gave their all."""

import os
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks import sgemm
from benchmarks.machine import n_cores
from benchmarks.worker import seconds_per_step

MOST_OTHERS = 0.1
"""Cores that other processes, and other guests of the same host, may keep busy on average in a quiet run."""

LEAST_SCALING = 0.9
"""What sgemm must reach on all cores in a quiet run, as a share of cores times one core."""


@dataclass(frozen=True, kw_only=True)
class Quietness:
    """What was seen of others; both numbers are 0 and 1 on a machine that is ours alone."""

    others_cores: float
    sgemm_scaling: float

    @property
    def is_quiet(self) -> bool:
        return self.others_cores <= MOST_OTHERS and self.sgemm_scaling >= LEAST_SCALING

    def record(self) -> dict[str, object]:
        """Numbers, thresholds and verdict as JSON."""
        limits = {"most_others_cores": MOST_OTHERS, "least_sgemm_scaling": LEAST_SCALING}
        return {"quiet": self.is_quiet, **asdict(self), **limits}

    def __str__(self) -> str:
        seen = (
            f"others kept {self.others_cores:.2f} cores busy, "
            f"sgemm on all cores {self.sgemm_scaling:.0%} of {n_cores()} times one core"
        )
        return f"{'Quiet' if self.is_quiet else 'Not quiet'} ({seen})"


def quietness(sgemm_scaling: float | None = None) -> Quietness:
    """Of the run so far. A race tells how its own sgemm scaled; without, it is measured now."""
    scaling = _scaling_now() if sgemm_scaling is None else sgemm_scaling
    return Quietness(others_cores=_others_cores(), sgemm_scaling=scaling)


def scaling(*, one_core: float, all_cores: float) -> float:
    """The rate on all cores as a share of cores times one, from the seconds that a product takes on each."""
    return one_core / (n_cores() * all_cores)


def _scaling_now() -> float:
    from threadpoolctl import threadpool_limits

    product, best = sgemm.build_all_cores(), {}
    for threads in (1, n_cores()):
        with threadpool_limits(limits=threads):
            best[threads] = min(seconds_per_step(product, budget=0.5))
    return scaling(one_core=best[1], all_cores=best[n_cores()])


def _others_cores() -> float:
    seconds, (busy, own) = time.monotonic() - _STARTED, _ticks()
    foreign = (busy - _START_TICKS[0]) - (own - _START_TICKS[1])
    return max(0.0, foreign / os.sysconf("SC_CLK_TCK") / seconds)


def _ticks() -> tuple[int, int]:
    """Of all cores while not idle, the time that the host gave to others included, and of this process and its tree."""
    status = Path("/proc/stat")
    if not status.exists():  # only Linux tells
        return 0, 0
    user, nice, system, _, _, *interrupts_and_stolen = map(int, status.read_text().split()[1:9])
    return user + nice + system + sum(interrupts_and_stolen), sum(_tree_ticks())


def _tree_ticks() -> Iterator[int]:
    """Of each process in our tree, with those children of it that have ended."""
    parents, ticks = {}, {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = file.read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        process = int(file.parent.name)
        parents[process], ticks[process] = int(fields[1]), sum(map(int, fields[11:15]))
    for process, own in ticks.items():
        ancestor = process
        while ancestor and ancestor != os.getpid():
            ancestor = parents.get(ancestor, 0)
        if ancestor:
            yield own


_STARTED, _START_TICKS = time.monotonic(), _ticks()
