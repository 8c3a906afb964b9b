"""What a user asks for with --search."""

from dataclasses import dataclass
from typing import Literal, Self, get_args

from mcquack.errors import InvalidInputError

Kind = Literal["grid", "random", "optuna", "none"]
_BUDGETED = ("random", "optuna")
_EXPECTED = "a search is grid, none, random:K or optuna:K, as random:30 for thirty settings"


@dataclass(frozen=True)
class SearchMethod:
    """A way to go through a search space, with the number of settings to try where it does not try all."""

    kind: Kind
    budget: int | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """From "grid", "none", "random:30" or "optuna:30"."""
        name, _, budget = text.partition(":")
        kind: Kind | None = next((known for known in get_args(Kind) if known == name), None)
        if kind is None or (kind in _BUDGETED) != bool(budget):
            raise InvalidInputError(f"{_EXPECTED}, got {text!r}.")
        if not budget:
            return cls(kind)
        if not (budget.isascii() and budget.isdigit() and int(budget) > 0):
            raise InvalidInputError(f"{_EXPECTED}, got {text!r}: K must be a whole number of at least 1.")
        return cls(kind, int(budget))

    def most_settings(self, size: int) -> int:
        """How many settings it tries at most in a space of this size; one alone needs no search."""
        if self.kind == "none" or size == 1:
            return 0
        return size if self.budget is None else min(self.budget, size)

    def __str__(self) -> str:
        return self.kind if self.budget is None else f"{self.kind}:{self.budget}"
