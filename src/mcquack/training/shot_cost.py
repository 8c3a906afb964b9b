"""What an engine trains with: where its derivatives come from, and what they cost in shots."""

from typing import Any

from mcquack.errors import ShotBudgetError
from mcquack.simulators.engine import Engine, Wrt
from mcquack.training.settings import Steps


def training_engine(engine: Engine[Any], *, seed: int = 0, spent: int = 0) -> Engine[Any]:
    """The engine that training runs on: with derivatives, whether exact or from values.

    Parameters
    ----------
    engine : Engine
        What a model runs on, on its circuit.
    seed : int
        Where random directions and random angles come from.
    spent : int
        How many shots of the engine's budget are used up already.

    Examples
    --------
    >>> from mcquack import FeatureMap
    >>> from mcquack.simulators import RingEngine, SampledEngine, SimulatedSampler
    >>> circuit = FeatureMap(n_qubits=2, n_features=2, n_layers=1)
    >>> type(training_engine(RingEngine(circuit))).__name__
    'RingEngine'
    >>> type(training_engine(SampledEngine(SimulatedSampler(), circuit, shots=10))).__name__
    'SpsaEngine'
    """
    aligned = engine.for_training(spent=spent)
    if engine.gradient == "exact":
        return aligned
    from mcquack.training.shifts import ParameterShiftEngine, SpsaEngine, StochasticShiftEngine  # simulators need none

    if engine.gradient == "parameter_shift":
        return ParameterShiftEngine(aligned)
    return (SpsaEngine if engine.gradient == "spsa" else StochasticShiftEngine)(aligned, seed=seed)


def step_shots(engine: Engine[Any], *, n_samples: int, n_centroids: int, wrt: Wrt) -> int:
    """Shots of one step on a batch: the kernel, and what its derivatives take."""
    cost = engine.cost(wrt)
    return n_samples * n_centroids * cost.shots_per_entry * (1 + cost.kernels_per_pullback)


def epoch_shots(
    engine: Engine[Any],
    *,
    n_samples: int,
    n_centroids: int,
    epochs_ka: int = 1,
    epochs_co: int = 1,
    steps: Steps = "alternating",
    n_validation: int = 0,
) -> int:
    """Shots of one epoch: its passes of KAO and CO, and the kernel at its end; batches of any size take the same.

    This is what is spent here. The paper's formula is :func:`total_shots`: it shifts weights and biases one by one,
    where here a shifted angle serves both, and leaves out the kernels that the loss is read from.

    Parameters
    ----------
    engine : Engine
        What training runs on, see :func:`training_engine`; simulators spend no shots.
    n_samples, n_centroids, n_validation : int
        Numbers of training samples, of all centroids, and of validation samples.
    epochs_ka, epochs_co : int
        Passes of KAO and CO in an epoch.
    steps : "alternating" or "joint"
        In joint steps one kernel serves the derivatives by the embedding and by the centroids.
    """
    sizes = {"n_samples": n_samples, "n_centroids": n_centroids}
    kao = epochs_ka * step_shots(engine, **sizes, wrt="embedding")
    if steps == "joint":
        cost = engine.cost("centroids")
        co = epochs_ka * n_samples * n_centroids * cost.shots_per_entry * cost.kernels_per_pullback
    else:
        co = epochs_co * step_shots(engine, **sizes, wrt="centroids") if epochs_co else 0
    return kao + co + (n_samples + n_validation) * n_centroids * engine.shots_per_entry


def affords(engine: Engine[Any], shots: int) -> bool:
    """Whether so many more shots are within the engine's budget."""
    return engine.budget is None or engine.spent + shots <= engine.budget


def require_affordable(engine: Engine[Any], per_epoch: int) -> None:
    """Refuses, before anything is sent, to begin an epoch that the budget does not let come to its end."""
    if not affords(engine, per_epoch):
        spent = f", of which {engine.spent:,} are spent" if engine.spent else ""
        raise ShotBudgetError(
            f"one epoch takes {per_epoch:,} shots, and the budget is {engine.budget:,}{spent}; nothing was sent. Raise "
            'the budget, or take fewer samples, fewer shots or gradient="spsa".'
        )
