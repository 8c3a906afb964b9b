"""Which settings a search settled on, for one model on one dataset."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mcquack.bench.outcome import Metric


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The best settings of a search, as its search tasks alone decide them.

    ``score`` is their mean over the splits of the search, None where nothing was searched. ``search`` is what the user
    asked for, as "grid" or "random:30". ``task_ids`` are the search tasks it rests on, ``final_ids`` those it asks for.
    """

    dataset: str
    model: str
    settings: Mapping[str, Any]
    metric: Metric
    score: float | None
    search: str
    n_settings: int
    n_failed: int = 0
    task_ids: tuple[str, ...] = ()
    final_ids: tuple[str, ...] = ()
