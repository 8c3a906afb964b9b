"""Which law a quantity falls by, as a statement with numbers: the question of barren plateaus."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from mcquack.studies.trainability.analysis.decay import LAWS, DecayFit, Law, fit_decay
from mcquack.studies.trainability.analysis.size_means import SizeMeans

Kind = Literal["none", "growth", "exponential", "power", "undecided"]
DECIDED = 6.0
"""Difference of AICc from which one law counts as favoured: the other is 20 times less likely."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Scaling:
    """The three laws fitted to the same means, and what follows from comparing them."""

    means: SizeMeans
    fits: Mapping[Law, DecayFit]

    @property
    def delta_aicc(self) -> dict[Law, float]:
        """How much worse than the best law each is, 0 for the best."""
        least = min(fit.aicc for fit in self.fits.values())
        return {law: fit.aicc - least for law, fit in self.fits.items()}

    @property
    def weights(self) -> dict[Law, float]:
        """Akaike weights: how likely each law is the closest of the three; they sum to 1."""
        likelihoods = {law: math.exp(-delta / 2) for law, delta in self.delta_aicc.items()}
        total = sum(likelihoods.values())
        return {law: each / total for law, each in likelihoods.items()}

    @property
    def best(self) -> Law:
        """The law with the lowest AICc."""
        return min(self.fits, key=lambda law: self.fits[law].aicc)

    @property
    def advantage(self) -> float:
        """AICc of the power law minus that of the exponential law: positive where the exponential one fits better."""
        return self.fits["power"].aicc - self.fits["exponential"].aicc

    @property
    def evidence_ratio(self) -> float:
        """How many times likelier the better of the exponential and the power law is than the other."""
        return math.exp(min(abs(self.advantage) / 2, 700.0))

    @property
    def favoured(self) -> Literal["exponential", "power"] | None:
        """The exponential or the power law, where the other is clearly worse."""
        if abs(self.advantage) < DECIDED:
            return None
        return "exponential" if self.advantage > 0 else "power"

    @property
    def kind(self) -> Kind:
        """What may be said at all: "none" where no change with the size can be told from scatter."""
        rate = self.fits["exponential" if self.advantage > 0 else "power"].rate_interval
        if rate.low <= 0 <= rate.high:
            return "none"
        if rate.high < 0:
            return "growth"
        return "undecided" if self.favoured is None else self.favoured

    @property
    def sentence(self) -> str:
        """The verdict in words, with its numbers."""
        low, high = self.means.sizes[0], self.means.sizes[-1]
        return f"From {low:g} to {high:g} qubits it {self._change()}{self._comparison()}{self._roughness()}."

    def _change(self) -> str:
        exponential = self.fits["exponential"]
        percent = f"{100 * exponential.rate_interval.level:g} % interval of the exponent"
        halvings, ends = exponential.halvings_per_qubit, exponential.halvings_interval
        per_qubit = f"2^({-halvings:.2f}) per qubit ({percent} {-ends.high:.2f} to {-ends.low:.2f})"
        power = self.fits["power"]
        by_power = (
            f"n^({-power.rate:.2f}) ({percent} {-power.rate_interval.high:.2f} to {-power.rate_interval.low:.2f})"
        )
        if self.kind == "none":
            return f"shows no change that could be told from scatter; an exponential law would have {per_qubit}"
        if self.kind == "growth":
            return f"does not decay but grows, as {per_qubit if self.advantage > 0 else by_power}"
        if self.kind == "exponential":
            return f"decays exponentially, by a factor of {per_qubit}"
        if self.kind == "power":
            return f"decays polynomially, as {by_power}"
        return f"decays, by a factor of {per_qubit} or as {by_power}"

    def _comparison(self) -> str:
        better, worse = ("exponential", "power") if self.advantage > 0 else ("power", "exponential")
        if self.kind == "none":
            return ""
        told = f"ΔAICc = {abs(self.advantage):.1f}"
        if self.favoured is None:
            return f"; the sizes do not tell which (the {better} law is ahead by only {told})"
        ratio = f"evidence ratio {self.evidence_ratio:.2g}" if self.evidence_ratio < 1e6 else "evidence ratio above 10⁶"
        return f"; the {better} law is favoured over the {worse} law by {told} ({ratio})"

    def _roughness(self) -> str:
        fit = self.fits[self.best]
        if fit.misfit < 2:
            return ""
        return f"; no law is close: means miss even the best by a factor of {fit.misfit:.1f}"


def scaling(means: SizeMeans, *, level: float = 0.95, n_resamples: int = 2000, seed: int = 0) -> Scaling:
    """Fits an exponential law, a power law and a constant to the means."""
    fits = {law: fit_decay(means, law=law, level=level, n_resamples=n_resamples, seed=seed) for law in LAWS}
    return Scaling(means=means, fits=fits)
