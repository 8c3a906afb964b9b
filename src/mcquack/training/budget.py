"""How many shots training takes, known before the first is sent, and a limit that no call may pass."""

from typing import Any

from mcquack.arrays import IntArray
from mcquack.checks import is_whole_number, require, required_count
from mcquack.circuits.overlap import OverlapCircuits, Sampler
from mcquack.errors import ShotBudgetError
from mcquack.simulators.engine import Wrt
from mcquack.training.shifts import FromValues


def step_shots(engine: FromValues[Any], *, n_samples: int, n_centroids: int, n_shots: int, wrt: Wrt) -> int:
    """Of one step on a batch: the kernel, and what its derivatives take."""
    return n_samples * n_centroids * n_shots * (1 + engine.kernels_per_pullback(wrt))


def epoch_shots(
    engine: FromValues[Any],
    *,
    n_samples: int,
    n_centroids: int,
    n_shots: int,
    epochs_ka: int = 1,
    epochs_co: int = 1,
    n_validation: int = 0,
) -> int:
    """Of one epoch: its passes of KAO and CO, and the kernel at its end; batches of any size take the same.

    This is what is spent here. The paper's formula is ``total_shots``: it shifts weights and biases one by one, where
    here a shifted angle serves both, and leaves out the kernels that the loss is read from.
    """
    sizes = {"n_samples": n_samples, "n_centroids": n_centroids, "n_shots": n_shots}
    kao = epochs_ka * step_shots(engine, **sizes, wrt="embedding")
    co = epochs_co * step_shots(engine, **sizes, wrt="centroids")
    return kao + co + (n_samples + n_validation) * n_centroids * n_shots


class MeteredSampler:
    """A sampler that counts the shots asked of another one, and refuses a call that would exceed the budget."""

    def __init__(self, sampler: Sampler, *, budget: int | None = None, spent: int = 0) -> None:
        require(is_whole_number(spent) and spent >= 0, "spent", "a whole number of at least 0", spent)
        self.sampler = sampler
        self.budget = None if budget is None else required_count("budget", budget)
        self.spent = int(spent)

    def affords(self, shots: int) -> bool:
        """Whether so many more are within the budget."""
        return self.budget is None or self.spent + shots <= self.budget

    def hamming_counts(self, circuits: OverlapCircuits, *, shots: int) -> IntArray:
        """What the other sampler counts; ShotBudgetError before anything is sent if it would be too much."""
        needed = circuits.shape[0] * circuits.shape[1] * required_count("shots", shots)
        if not self.affords(needed):
            raise ShotBudgetError(
                f"{circuits.shape[0]} × {circuits.shape[1]} circuits with {shots} shots are {needed:,} shots, and of "
                f"the budget of {self.budget:,} only {max(0, (self.budget or 0) - self.spent):,} are left; nothing was "
                "sent. Raise the budget, or ask for fewer circuits or shots."
            )
        counts = self.sampler.hamming_counts(circuits, shots=shots)
        self.spent += needed
        return counts
