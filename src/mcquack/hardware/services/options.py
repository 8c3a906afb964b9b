"""How a service is to run circuits, apart from which."""

from dataclasses import dataclass, fields
from typing import Any, Literal, Self, get_args

from mcquack.checks import is_number, require, required_count

Decoupling = Literal["XX", "XpXm", "XY4"]
Api = Literal["auto", "v2", "executor"]
Mode = Literal["job", "batch", "session"]
Noise = Literal["full", "pauli", "none"]

# Where the vendor stops to add randomisations of its own accord.
MOST_RANDOMIZATIONS = 32
# With fewer, an error of reading that prefers ones is hardly evened out.
_FEW_RANDOMIZATIONS = 8


@dataclass(frozen=True, kw_only=True)
class Options:
    """What decides, besides the circuits and their place, how they are run.

    ``decoupling`` is the sequence of pulses on qubits that wait, ``measure_twirling`` flips random bits before they are
    read and back afterwards, in ``randomizations`` ways or somewhat fewer. ``api`` is the sampler of the vendor: the
    successor runs before and after a job on this computer, and auto takes it. ``mode`` groups jobs.

    ``max_error`` and ``allow_faulty`` guide the choice of a ring. ``noise`` is that of devices that are simulated here:
    full is Aer's own model, pauli the same errors as Pauli channels, which 124 qubits can afford.
    """

    decoupling: Decoupling | None = None
    measure_twirling: bool = False
    randomizations: int = MOST_RANDOMIZATIONS
    api: Api = "auto"
    mode: Mode = "job"
    max_error: float = 0.5
    allow_faulty: bool = False
    noise: Noise = "pauli"

    def __post_init__(self) -> None:
        _require_one_of("decoupling", self.decoupling, (None, *get_args(Decoupling)))
        _require_one_of("api", self.api, get_args(Api))
        _require_one_of("mode", self.mode, get_args(Mode))
        _require_one_of("noise", self.noise, get_args(Noise))
        for name in ("measure_twirling", "allow_faulty"):
            require(isinstance(getattr(self, name), bool), name, "True or False", getattr(self, name))
        object.__setattr__(self, "randomizations", required_count("randomizations", self.randomizations))
        above_zero = is_number(self.max_error) and 0 < self.max_error <= 1
        require(above_zero, "max_error", "a number above 0 and at most 1", self.max_error)
        object.__setattr__(self, "max_error", float(self.max_error))

    @property
    def settings(self) -> dict[str, str | int | float | bool | None]:
        """As plain JSON."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def of(cls, description: dict[str, Any]) -> Self:
        """Those that a service described itself with."""
        return cls(**{field.name: description[field.name] for field in fields(cls) if field.name in description})

    def split(self, shots: int) -> tuple[int, int]:
        """In how many random ways a circuit is run, and how often in each, so that just as many shots come back."""
        ways = max(ways for ways in range(1, min(self.randomizations, shots) + 1) if shots % ways == 0)
        return ways, shots // ways

    def twirling_note(self, shots: int) -> str:
        """What to know about twirling so many shots, and which numbers suit better; "" if there is nothing."""
        ways, _ = self.split(shots)
        if not self.measure_twirling or ways >= min(_FEW_RANDOMIZATIONS, self.randomizations, shots):
            return ""
        fewer = shots - shots % self.randomizations
        poor = f"only in {ways} random ways" if ways > 1 else "in one way only, which is no twirling"
        return f"{shots} shots can be twirled {poor}; take {fewer} or {fewer + self.randomizations}"


def _require_one_of(name: str, value: object, known: tuple[object, ...]) -> None:
    # A list, say, cannot be looked up in a set.
    require(any(value == one for one in known), name, f"one of {', '.join(map(repr, known))}", value)
