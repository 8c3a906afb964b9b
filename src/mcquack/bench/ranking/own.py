"""The scores of a store, cell by cell."""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from mcquack.bench.choice import Choice
from mcquack.bench.outcome import Outcome
from mcquack.bench.ranking.cell_scores import CellScores, Key
from mcquack.bench.ranking.naming import OWN_FAMILY, family_and_size, model_titles


class FinalOutcomes(Protocol):
    """A store, as far as it is read here."""

    def final_outcomes(self, *, details: bool) -> Iterable[Outcome]:
        """Those that were reported for the settings each search settled on."""
        ...

    def choices(self) -> Mapping[tuple[str, str], Choice]:
        """What the searches settled on, by dataset and model."""
        ...


def cell_scores(store: FinalOutcomes, *, titles: Mapping[str, str] | None = None) -> tuple[CellScores, ...]:
    """One value for each model and dataset with at least one finished task, in the order of the store.

    ``titles`` of the models are given where more models are shown than those of the store's choices.
    """
    cells: dict[tuple[str, str], list[Outcome]] = {}
    for outcome in store.final_outcomes(details=False):
        cells.setdefault((outcome.task.dataset, outcome.task.model), []).append(outcome)
    choices = store.choices()
    if titles is None:
        titles = model_titles(model for _, model in (*choices, *cells))
    return tuple(
        _scores(outcomes, choice=choices.get(key), title=titles[key[1]])
        for key, outcomes in cells.items()
        if not all(outcome.failed for outcome in outcomes)
    )


def _scores(outcomes: Sequence[Outcome], *, choice: Choice | None, title: str) -> CellScores:
    """Of the outcomes of one cell, of which at least one did not fail."""
    task = outcomes[0].task
    done = sorted((outcome for outcome in outcomes if not outcome.failed), key=lambda outcome: outcome.task.seed)
    counts = [outcome.n_parameters for outcome in done if outcome.n_parameters is not None]
    # A table of the user's may have the name of a dataset that it is not.
    family, size = family_and_size(task.dataset) if task.table is None else (OWN_FAMILY, None)
    return CellScores(
        dataset=task.dataset,
        family=family,
        size=size,
        model=task.model,
        title=title,
        values=_values(done),
        # A model that keeps samples has another count with every seed: that in the middle is one that occurred.
        n_parameters=statistics.median_low(counts) if counts else None,
        note=_note(len(done), len(outcomes), n_asked=len(choice.final_ids) if choice is not None else 0),
    )


def _note(n_done: int, n_tried: int, *, n_asked: int) -> str:
    """What the scores lack: seeds that were not run, as after Ctrl-C, and those that failed."""
    n_seeds = max(n_tried, n_asked)
    unfinished = f"{n_done} of {n_seeds} seeds done" if n_tried < n_seeds else ""
    failed = f"{n_tried - n_done} of {n_seeds} seeds failed" if n_done < n_tried else ""
    return ", ".join(filter(None, (unfinished, failed)))


def _values(outcomes: Iterable[Outcome]) -> Mapping[Key, tuple[float, ...]]:
    found: dict[Key, list[float]] = {}
    for outcome in outcomes:
        for part, scores in outcome.scores.items():
            for metric, score in scores.items():
                found.setdefault((part, metric), []).append(score)
    return {key: tuple(scores) for key, scores in found.items()}
