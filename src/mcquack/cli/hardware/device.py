"""Where circuits are to run, as the user asked for it, and what that costs."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import typer

from mcquack.cli import exit_codes
from mcquack.cli.hardware.progress import Jobs
from mcquack.cli.notes import tell
from mcquack.hardware.names import is_remote

if TYPE_CHECKING:
    from mcquack.circuits.feature_map import FeatureMap
    from mcquack.circuits.overlap import OverlapCircuits, Sampler
    from mcquack.hardware.cost import Estimate
    from mcquack.hardware.services.options import Options


@dataclass(frozen=True, kw_only=True)
class Device:
    """One backend with all options; ``store`` keeps what is measured there under the name ``run``."""

    backend: str
    shots: int
    store: Path
    run: str
    decoupling: Literal["auto", "none", "XX", "XpXm", "XY4"]
    twirling: bool | None
    api: Literal["auto", "v2", "executor"]
    mode: Literal["job", "batch", "session"]
    noise: Literal["full", "pauli", "none"]
    max_error: float
    allow_faulty: bool
    seed: int
    yes: bool

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> Self:
        """From all arguments of a verb, which typer wants to see one by one in each."""
        return cls(**{field.name: arguments[field.name] for field in fields(cls)})

    @property
    def is_remote(self) -> bool:
        """Whether it costs QPU time."""
        return is_remote(self.backend)

    @property
    def how_to_go_on(self) -> str:
        """What to tell whoever interrupts."""
        if self.keeps_jobs:
            return f"the same command, or mcquack hardware resume {self.store}, goes on"
        return f"{self.backend} keeps nothing, and the same command begins anew"

    @property
    def keeps_jobs(self) -> bool:
        """Whether what it measures goes to the store; our own simulators are asked again instead."""
        from mcquack.models.sampling import is_simulated_here  # not above: it would delay every --help

        return not is_simulated_here(self.backend)

    @property
    def options(self) -> "Options":
        """Those of the service; what is left open suits a device if it is one, and a simulator if not."""
        from mcquack.hardware.services.options import Options

        usual = "XX" if self.is_remote else None
        chosen: Any = {"auto": usual, "none": None}.get(self.decoupling, self.decoupling)
        return Options(
            decoupling=chosen,
            measure_twirling=self.is_remote if self.twirling is None else self.twirling,
            api=self.api,
            mode=self.mode,
            noise=self.noise,
            max_error=self.max_error,
            allow_faulty=self.allow_faulty,
        )

    def sampler(self, feature_map: "FeatureMap") -> "Sampler":
        """Opened, with its ring found and told; nothing is sent yet."""
        from mcquack.models.sampling import open_sampler

        opened = open_sampler(
            self.backend,
            feature_map,
            options=self.options,
            seed=self.seed,
            ledger=self.store,
            run=self.run,
            on_event=Jobs(),
        )
        tell_service(opened)
        if self.keeps_jobs and (note := self.options.twirling_note(self.shots)):
            tell(f"Note: {note}.")
        return opened

    def confirm(self, sampler: "Sampler", asked: "Sequence[OverlapCircuits]") -> None:
        """Tells what the circuits cost that are not in the store already, and asks if it is QPU time."""
        from mcquack.hardware.cost import estimate
        from mcquack.hardware.outstanding import Outstanding, outstanding
        from mcquack.hardware.sampler import DeviceSampler

        if isinstance(sampler, DeviceSampler):
            missing = outstanding(sampler, asked, shots=self.shots)
        else:
            missing = Outstanding(n_circuits=sum(circuits.shape[0] * circuits.shape[1] for circuits in asked))
        if not missing.n_circuits:
            tell(f"All circuits are in {self.store} already, measured or on their way.")
            return
        self._ask(
            estimate(
                missing.n_circuits,
                self.shots,
                n_qubits=asked[0].n_qubits,
                n_layers=asked[0].n_layers,
                n_jobs=max(missing.n_jobs, 1),
                speed=self._speed(sampler),
            )
        )

    def confirm_training(self, sampler: "Sampler", feature_map: "FeatureMap", *, n_shots: int, n_jobs: int) -> None:
        """The same for all shots of a training."""
        from mcquack.hardware.cost import shots_estimate

        self._ask(
            shots_estimate(
                n_shots,
                shots_per_circuit=self.shots,
                n_qubits=feature_map.n_qubits,
                n_layers=feature_map.n_layers,
                n_jobs=n_jobs,
                speed=self._speed(sampler),
            ),
            at_most="at most ",
        )

    def _ask(self, cost: "Estimate", at_most: str = "") -> None:
        if self.is_remote:
            require_agreement(cost, backend=self.backend, store=self.store, yes=self.yes, at_most=at_most)
            return
        circuits = f"{cost.n_circuits:,} circuit{'s' * (cost.n_circuits != 1)}"
        tell(f"On {self.backend}: {at_most}{cost.executions:,} executions of {circuits}.")

    def _speed(self, sampler: Any) -> Any:
        """Of the device, if it is a real one."""
        from mcquack.hardware.opening import device_speed

        return device_speed(sampler.service.description["backend"]) if self.is_remote else None


def require_agreement(cost: "Estimate", *, backend: str, store: Path, yes: bool, at_most: str = "") -> None:
    """Tells what QPU time it is and what that rests on, and leaves unless the user wants to spend it."""
    tell(f"On {backend}: {at_most}{cost}. What is in {store} already costs nothing.")
    for line in cost.basis:
        tell(f"  {line}")
    if not (yes or _agrees()):
        tell("mcquack: nothing was sent; --yes agrees in advance.")
        raise typer.Exit(exit_codes.REFUSED)


def _agrees() -> bool:
    """Asked on stderr to the last blank, as typer's own question is not: stdout may be the file of the labels."""
    typer.echo("Spend it? [y/N]: ", nl=False, err=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def tell_service(sampler: Any) -> None:
    """Which device and qubits, and what the simulation of one replaces."""
    service = getattr(sampler, "service", None)
    if service is None:
        return
    told = service.description
    ring = told["ring"]
    tell(f"{told['backend']}: a ring of {len(ring)} qubits, {', '.join(map(str, ring[:6]))}{' …' * (len(ring) > 6)}.")
    if told.get("notes"):
        tell(f"Note: {told['notes']}.")
