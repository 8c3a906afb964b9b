"""From a problem to what is seen of it: gradients and states of the start, then the training."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from mcquack.studies.trainability.kernel_subject import KernelSubject
from mcquack.studies.trainability.observation import Observation
from mcquack.studies.trainability.state_facts import state_facts
from mcquack.studies.trainability.subject import Problem, Row, Subject
from mcquack.studies.trainability.variational_subject import VariationalSubject

_NOT_OF_THE_TRACE = ("epoch", "seconds")
_NOT_OF_A_DESIGN = ("model", "n_entries", "landscape")


def new_subject(problem: Problem) -> Subject:
    """The model of the problem, before its first step."""
    return VariationalSubject(problem) if problem.settings.is_variational else KernelSubject(problem)


def observed(subject: Subject, problem: Problem) -> Observation:
    """All that there is to see; afterwards the subject is trained."""
    first_batch_loss, gradients = subject.loss_gradients()
    entries = subject.entry_gradients()
    kernel = {**state_facts(*subject.embedding(), seed=problem.seed), **subject.device_facts()}
    rows = list(_watched(subject, problem.settings.epochs))
    losses = [row["loss"] for row in rows if row["loss"] is not None]
    final = {"final_loss": float(losses[-1]), "best_loss": float(min(losses))} if losses else {}
    return Observation(
        model=problem.settings.model,
        seed=problem.seed,
        settings=observed_settings(problem),
        gradients=gradients,
        fidelity_gradients=entries,
        step_losses=_step_losses(rows, problem),
        trace=_trace(rows),
        kernel=kernel,
        scores={"first_batch_loss": first_batch_loss, **final},
        landscapes=subject.landscapes(),
    )


def observed_settings(problem: Problem) -> dict[str, Any]:
    """Those that decided what was seen, with the sizes that the data gave them."""
    asked = {name: value for name, value in asdict(problem.settings).items() if name not in _NOT_OF_A_DESIGN}
    feature_map = problem.feature_map
    return {
        **asked,
        "n_layers": feature_map.n_layers,
        "n_features": feature_map.n_features,
        "n_train": len(problem.data.X),
        "engine": problem.settings.runs_on,
    }


def _watched(subject: Subject, n_epochs: int) -> Iterator[Row]:
    """The rows of all epochs, or of those until training diverged."""
    if not n_epochs:
        return
    for number, row in enumerate(subject.epochs(), start=1):
        yield row
        if number == n_epochs or row["loss"] is None:
            return


def _trace(rows: Sequence[Row]) -> Mapping[str, tuple[float | None, ...]]:
    """Numbers by name; names without any number are left out."""
    names = [name for name in rows[0] if name not in _NOT_OF_THE_TRACE] if rows else []
    columns = {name: tuple(row[name] for row in rows) for name in names}
    return {name: values for name, values in columns.items() if any(value is not None for value in values)}


def _step_losses(rows: Sequence[Row], problem: Problem) -> tuple[float, ...]:
    """The losses of KAO step by step, which only epochs of a single step tell: others tell their means."""
    if math.ceil(len(problem.data.X) / problem.settings.batch_size) > 1:
        return ()
    return tuple(float(loss) for row in rows if (loss := row.get("loss_kao", row.get("step_loss"))) is not None)
