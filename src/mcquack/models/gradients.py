"""How training gets its derivatives, and what it runs on while it spends shots."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from mcquack.checks import is_whole_number, require
from mcquack.errors import InvalidInputError, ShotBudgetError
from mcquack.kernels.measured import TolerantEngine
from mcquack.models.engines import RunsOn, chosen_engine, is_sampler, new_engine
from mcquack.models.preparation import Plan
from mcquack.simulators.engine import Engine
from mcquack.training.budget import MeteredSampler, epoch_shots
from mcquack.training.shifts import FromValues, ParameterShiftEngine, StochasticShiftEngine
from mcquack.training.spsa import SpsaEngine

GradientName = Literal["auto", "exact", "parameter_shift", "stochastic_shift", "spsa"]


def chosen_gradient(name: GradientName, runs_on: RunsOn) -> GradientName:
    """What "auto" means: exact where there are exact derivatives, else what takes the fewest shots."""
    if name == "auto":
        return "spsa" if runs_on == "sampler" else "exact"
    return name


def check_gradient(settings: Mapping[str, Any]) -> None:
    """Refuses ways to derivatives that there are not, or not on this engine, and budgets that are none."""
    name, budget = settings["gradient"], settings["shot_budget"]
    names = get_args(GradientName)
    require(isinstance(name, str) and name in names, "gradient", " or ".join(map(repr, names)), name)
    possible = is_whole_number(budget) and budget >= 1
    require(budget is None or possible, "shot_budget", "None or a whole number of at least 1", budget)
    runs_on = chosen_engine(settings["engine"], int(settings["n_qubits"]))
    if runs_on == "sampler" and name == "exact":
        raise InvalidInputError(
            'a sampler counts and has no exact derivatives; use gradient="spsa", "stochastic_shift" or '
            '"parameter_shift", or "auto" for the first.'
        )
    if (
        settings["training_tolerance"] is not None
        and runs_on == "statevector"
        and chosen_gradient(name, runs_on) == "exact"
    ):
        raise InvalidInputError(
            'training_tolerance needs engine="ring"; leave it None for the statevector engine, or take another '
            "gradient than the exact one."
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainingRun:
    """What a training runs on: an engine with derivatives, and, if a sampler is behind it, the meter of its shots."""

    engine: Engine[Any]
    shots_per_epoch: int = 0
    meter: MeteredSampler | None = None

    @property
    def shots(self) -> int:
        """How many were spent so far; simulators spend none."""
        return 0 if self.meter is None else self.meter.spent

    @property
    def affords_an_epoch(self) -> bool:
        """Whether the budget lasts for another one."""
        return self.meter is None or self.meter.affords(self.shots_per_epoch)

    def require_an_epoch(self) -> None:
        """Refuses, before anything is sent, to begin what the budget does not let come to its end."""
        if self.meter is not None and not self.affords_an_epoch:
            spent = f", of which {self.meter.spent:,} are spent" if self.meter.spent else ""
            raise ShotBudgetError(
                f"one epoch takes {self.shots_per_epoch:,} shots, and shot_budget is {self.meter.budget:,}{spent}; "
                'nothing was sent. Raise the budget, or take fewer samples, fewer shots or gradient="spsa".'
            )


def training_run(settings: Mapping[str, Any], plan: Plan, *, spent: int = 0) -> TrainingRun:
    """For a model with these settings; ``spent`` shots count as used up already."""
    choice, tolerance, meter = settings["engine"], settings["training_tolerance"], None
    if is_sampler(choice):
        choice = meter = MeteredSampler(choice, budget=settings["shot_budget"], spent=spent)
    how = {name: settings[name] for name in ("dtype", "n_threads", "shots")}
    engine = new_engine(choice, plan.feature_map, **how, tolerance=tolerance)
    if meter is None and tolerance is not None:
        engine = TolerantEngine(engine, tolerance=tolerance)
    gradient = chosen_gradient(settings["gradient"], chosen_engine(choice, plan.feature_map.n_qubits))
    if gradient == "exact":
        return TrainingRun(engine=engine)
    measured = _with_gradient(engine, gradient, seed=plan.seed)
    if meter is None:
        return TrainingRun(engine=measured)
    per_epoch = epoch_shots(
        measured,
        n_samples=len(plan.training.X),
        n_centroids=len(plan.classes) * settings["n_centroids_per_class"],
        n_shots=settings["shots"],
        epochs_ka=settings["epochs_ka"],
        epochs_co=settings["epochs_co"],
        n_validation=0 if plan.validation is None else len(plan.validation.X),
    )
    return TrainingRun(engine=measured, shots_per_epoch=per_epoch, meter=meter)


def _with_gradient(engine: Engine[Any], gradient: GradientName, *, seed: int) -> FromValues[Any]:
    if gradient == "parameter_shift":
        return ParameterShiftEngine(engine)
    if gradient == "stochastic_shift":
        return StochasticShiftEngine(engine, seed=seed)
    return SpsaEngine(engine, seed=seed)
