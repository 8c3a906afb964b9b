"""Several starts of one model, whose kernels are averaged: one is trained after the other, and all are in one file."""

from __future__ import annotations

import copy
from collections.abc import Callable, Generator, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from mcquack.checks import is_whole_number
from mcquack.errors import InvalidInputError
from mcquack.models.archive import STATE, Resumable
from mcquack.models.base import HistoryRow, changed_at_once
from mcquack.models.model_file import ModelFile, require_field, require_that
from mcquack.simulators.choice import EngineChoice
from mcquack.simulators.engine import Measured

_STARTS = "starts."  # before the names of their tensors in a model file


class SeveralStarts(Resumable):
    """A model that may average several models of one start each, in ``starts_``; one start has no such attribute."""

    n_starts: int
    warm_start: bool
    engine: EngineChoice
    random_state: int | np.random.RandomState | None
    history_: list[HistoryRow]
    n_iter_: int
    shots_: int
    starts_: list[Self]
    _start_at: int  # the number of the one that trains, or did last

    def _epochs_of_starts(
        self, begin: Callable[..., Generator[HistoryRow, None, None]], *, resume: bool
    ) -> Generator[HistoryRow, None, None]:
        """Train one start after the other: go on with those that exist, and begin the others."""
        known = list(getattr(self, "starts_", ())) if self.warm_start or resume else []
        if self.warm_start and not resume and hasattr(self, "history_") and len(known) != self.n_starts:
            raise InvalidInputError(
                f"n_starts is now {self.n_starts}, but {len(known) or 1} were trained; put it back, or fit anew."
            )
        starts = self._own_starts(known)
        how = [{"resume": resume and number < len(known)} for number in range(len(starts))]
        first = begin(starts[0], **how[0])  # what is wrong with the data is told now, and not with the first epoch

        def epochs() -> Generator[HistoryRow, None, None]:
            for number, start in enumerate(starts):
                begun = starts[: max(number + 1, len(known))]
                for row in begin(start, **how[number]) if number else first:
                    self._keep_starts(begun, at=number)
                    yield row
                self._keep_starts(begun, at=number)

        return epochs()

    def _own_starts(self, known: Sequence[Self]) -> list[Self]:
        """Return ``n_starts`` models of one start; the first is what a single one would be."""
        settings = {**self.get_params(deep=False), "n_starts": 1}
        for start in known:
            start.set_params(**{**settings, "random_state": start.random_state})
        seeds = self._seeds_of_starts(self.n_starts)
        return [*known, *(type(self)(**{**settings, "random_state": seed}) for seed in seeds[len(known) :])]

    def _seeds_of_starts(self, n_starts: int) -> list[int]:
        draws = check_random_state(self.random_state)
        seeds = [int(draws.randint(2**31)) for _ in range(n_starts)]
        if is_whole_number(self.random_state):
            seeds[0] = int(self.random_state)  # type: ignore[arg-type]
        return seeds

    def _starts_in_use(self) -> list[Self]:
        """Return the starts with the model's current engine, and with seeds from ``random_state`` if it is a number."""
        found = [copy.copy(start) for start in self.starts_]
        # Without a number each draws from the seed that it was trained with.
        seeds = self._seeds_of_starts(len(found)) if is_whole_number(self.random_state) else [None] * len(found)
        for start, seed in zip(found, seeds, strict=True):
            start.engine, start.random_state = self.engine, seed
        return found

    def _keep_starts(self, starts: list[Self], *, at: int | None = None) -> None:
        """Set these starts as the fitted ones; ``at`` is the number of the one that trains, by default the last."""
        settings = type(self).__dataclass_fields__.keys()
        kept = {name: value for name, value in vars(starts[0]).items() if name not in settings}
        with changed_at_once(self) as whole:
            for name in vars(whole).keys() - kept.keys() - settings:
                delattr(whole, name)
            whole.__dict__.update(kept)
            whole.starts_ = starts
            whole._start_at = len(starts) - 1 if at is None else at
            whole.history_ = [row for start in starts for row in start.history_]
            whole.n_iter_ = sum(start.n_iter_ for start in starts)
            whole.shots_ = sum(start.shots_ for start in starts)

    def _single(self) -> Self:
        """Return the model itself; raise if it is not fitted or has several starts."""
        check_is_fitted(self, "centroids_")
        if hasattr(self, "starts_"):
            raise InvalidInputError(
                f"this model averages {len(self.starts_)} starts, each with parameters of its own; take one of starts_."
            )
        return self

    # Files

    def _fields_of_starts(self) -> dict[str, Any]:
        """Return the header fields of each start, without "resumable", which holds for all."""
        if not hasattr(self, "starts_"):
            return {}
        of_each = [start._saved_fields() for start in self.starts_]
        return {"starts": [{name: fields[name] for name in fields if name != "resumable"} for fields in of_each]}

    def _tensors_of_starts(self) -> dict[str, NDArray[Any]]:
        return {
            _of_start(number, name): tensor
            for number, start in enumerate(self.starts_)
            for name, tensor in start._saved_tensors().items()
        }

    def _restore_starts(self, file: ModelFile) -> None:
        fields = require_field(file.header, "starts", list)
        possible = len(fields) >= 1 and all(isinstance(each, dict) and "starts" not in each for each in fields)
        require_that(possible, "its starts are not a list of what each has learned.")
        starts = self._own_starts([])[: len(fields)]
        require_that(len(starts) == len(fields), "it has more starts than its settings say.")
        common = {name: value for name, value in file.header.items() if name != "starts"}
        for number, start in enumerate(starts):
            start.__dict__.update({name: value for name, value in vars(self).items() if name not in vars(start)})
            own = {
                full.replace(f"{_STARTS}{number}.", "", 1): tensor
                for full, tensor in file.tensors.items()
                if full.removeprefix(STATE).startswith(f"{_STARTS}{number}.")
            }
            start._restore(ModelFile({**common, **fields[number]}, own))
        self._keep_starts(starts)


def _of_start(number: int, name: str) -> str:
    """Return the name of a start's tensor in the file; tensors of a training state keep that prefix in front."""
    state = STATE if name.startswith(STATE) else ""
    return f"{state}{_STARTS}{number}.{name.removeprefix(STATE)}"


def mean_measured(measured: Sequence[Measured]) -> Measured:
    """Return the mean of kernels, and of what decides ties if all have it."""
    kernels = [each.kernel for each in measured]
    mean = np.asarray(np.mean(kernels, axis=0, dtype=np.float64), kernels[0].dtype)
    if any(each.ties is None for each in measured):
        return Measured(mean)
    return Measured(mean, lambda rows: np.mean([each.ties_of(rows) for each in measured], axis=0))  # type: ignore[arg-type]
