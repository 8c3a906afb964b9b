"""A study that nobody ran: observations by formula, with a decay, an oscillation and importances that are known."""

import math
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np

from mcquack.bench.store import RunRecord, Store
from mcquack.bench.task import Environment, Outcome, Task
from mcquack.report.trainability.study import Study
from mcquack.studies.trainability.design import PROBE
from mcquack.studies.trainability.observation import GROUPS, GradientStatistics, Observation

ENVIRONMENT = Environment({"python": "3.12.1", "mcquack": "0.1.0", "commit": "0123456789ab", "cores": "2"})
SIZES = tuple(range(2, 14))
STRATEGIES = ("default", "wx+b=0")
DECAY = 0.35
"""Of the mean square of gradients for each qubit, where all parameters start with one."""


def observation(n_qubits, *, small=True, strategy="wx+b=0", regularised=True, seed=0, epochs=30, **settings):
    rng = np.random.default_rng([n_qubits, small, STRATEGIES.index(strategy), regularised, seed])
    n_layers = settings.pop("n_layers", math.ceil(248 / n_qubits))
    scale = 0.02 / n_qubits if small else 0.08 * math.exp(-DECAY / 2 * min(n_qubits, 300))
    gradients = {group: _statistics(rng, scale * factor) for group, factor in zip(GROUPS, (1, 0.6, 2), strict=True)}
    single = {group: _statistics(rng, scale * 2.0 ** -min(n_qubits, 300)) for group in GROUPS}
    steps = np.arange(1, epochs + 1)
    swing = 0.004 if small else 0.09
    fall = np.exp(-steps / (8 if small else 25))
    losses = 0.3 + 0.4 * fall + 0.005 * n_qubits + swing * rng.standard_normal(epochs)
    alone = {"loss": losses, "alignment": 1 - losses, "accuracy": 0.95 - 0.3 * fall}
    accuracy = 0.9 - (0.0 if small else 0.2) - (0.01 if strategy == "default" else 0) + 0.01 * rng.standard_normal()
    return Observation(
        model="mcquack",
        seed=seed,
        settings={
            "n_qubits": n_qubits,
            "n_layers": n_layers,
            "init_small": small,
            "init_strategy": strategy,
            "regularised": regularised,
            "series": "paper",
            "epochs": epochs,
            "batch_size": 100,
            "n_train": 180,
            **settings,
        },
        gradients=gradients,
        fidelity_gradients=single,
        trace={name: tuple(values.round(6).tolist()) for name, values in alone.items()} if epochs else {},
        kernel=_kernel(rng, n_qubits, small),
        scores={"train_accuracy": accuracy + 0.02, "test_accuracy": accuracy, "final_loss": float(losses[-1])}
        if epochs
        else {},
    )


def _kernel(rng, n_qubits, small):
    log_mean = math.log(0.3 + 0.6 / n_qubits) if small else -0.9 * n_qubits * math.log(2)
    row = {"log_mean": log_mean, "log_variance": 2 * log_mean - 1 + 0.1 * rng.standard_normal()}
    row |= {f"log10_shots_{name}": 2 - log_mean / math.log(10) for name in ("prediction", "alignment", "entry")}
    if n_qubits <= 14:
        row |= {"entanglement": min(0.9, 0.1 * n_qubits) * (0.5 if small else 1), "entanglement_haar": 0.9}
    return row


def wide_observations(*, n_seeds=3):
    """Shallow circuits, gradients alone."""
    return [
        observation(n, small=small, seed=seed, epochs=0, n_layers=2, series="shallow_2")
        for n in (8, 16, 32, 64, 124, 250, 500, 1000)
        for small in (True, False)
        for seed in range(n_seeds)
    ]


def rate_observations(*, n_seeds=3):
    """Several learning rates at one size."""
    return [
        observation(6, small=small, seed=seed, lr=lr, series="rates")
        for lr in (1e-3, 1e-2, 1e-1)
        for small in (True, False)
        for seed in range(n_seeds)
    ]


def step_observations(*, rates=(1e-2, 1e-1), sizes=(4, 6), n_seeds=2):
    """One value for each step of the whole sample; ones oscillate at the largest rate alone."""
    found = []
    for n, lr, small, seed in product(sizes, rates, (True, False), range(n_seeds)):
        each = observation(n, small=small, seed=seed, lr=lr, series="steps", batch_size=180)
        falling = 1 / np.arange(1.0, 31.0)
        swing = 0.0 if small or lr < max(rates) else 0.2 + 0.01 * seed
        losses = tuple((falling + swing * (np.arange(30) % 2)).tolist())
        trace = {**each.trace, "loss": losses, "loss_kao": losses}
        found.append(replace(each, trace=trace, step_losses=losses))
    return found


def observations(*, sizes=SIZES, n_seeds=3, epochs=30):
    """The complete grid of the paper."""
    grid = product(sizes, (True, False), STRATEGIES, (True, False), range(n_seeds))
    return [
        observation(n, small=small, strategy=strategy, regularised=regularised, seed=seed, epochs=epochs)
        for n, small, strategy, regularised, seed in grid
    ]


def study_of(found):
    """A study of these observations, without a store."""
    return Study(
        title="x", runs=(), observations=tuple(found), failures=(), environments=(), prints={}, n_done=0, seconds=0.0
    )


def fake_store(path: Path, found=None, *, n_failed=0, title="A fake study") -> Path:
    """A store with these observations."""
    with Store.open(path, create=True) as store:
        store.begin_run(
            RunRecord(
                command="mcquack trainability run paper",
                suite={"name": "paper", "title": title},
                environment=ENVIRONMENT,
                started="2025-01-02T03:04:05+00:00",
                ended="2025-01-02T03:24:05+00:00",
                how="done",
            )
        )
        for index, each in enumerate(observations() if found is None else found):
            task = Task.of("manifolds", PROBE, {**each.settings, "model": each.model}, seed=each.seed)
            failed = index < n_failed
            store.add(
                Outcome(
                    task=task,
                    environment=ENVIRONMENT,
                    scores={} if failed else {"test": {"accuracy": each.scores.get("test_accuracy", 0.5)}},
                    seconds={} if failed else {"fit": 1.5},
                    fingerprint="" if failed else "0123abcd",
                    details={} if failed else {"study": each.to_json()},
                    error="Traceback (most recent call last):\nFloatingPointError: loss is <nan>" if failed else None,
                    finished_at="2025-01-02T03:20:05+00:00",
                )
            )
    return path


def _statistics(rng, scale, n=200):
    values = scale * rng.standard_normal(n)
    return GradientStatistics(
        mean=float(values.mean()),
        std=float(values.std()),
        mean_abs=float(np.abs(values).mean()),
        norm=float(np.linalg.norm(values)),
        n=n,
    )
