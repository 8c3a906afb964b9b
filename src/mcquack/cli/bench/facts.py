"""A store in JSON."""

import statistics
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcquack.bench.choice import Choice
    from mcquack.bench.outcome import Outcome
    from mcquack.bench.store import RunRecord, Store

_SCORE_FACTS = ("search", "settings", "metric", "validation", "n_seeds", "n_seeds_done", "test", "spread")

Facts = dict[str, Any]


def store_facts(store: "Store") -> Facts:
    """All that a store tells of the benchmark in it, but for the details of single tasks."""
    counts, runs = store.counts(), store.runs()
    return {
        "store": str(store.path),
        "n_done": counts.done,
        "n_failed": counts.failed,
        "phases": {phase: {"n_done": each.done, "n_failed": each.failed} for phase, each in counts.by_phase.items()},
        "cells": list(_cells(store, runs[-1].suite if runs else {})),
        "failures": [
            {"id": outcome.task.id, **outcome.task.to_json(), "reason": " ".join(outcome.reason.split())}
            for outcome in store.outcomes(failed=True, details=False)
        ],
        "runs": [_run_facts(run) for run in runs],
    }


def _run_facts(run: "RunRecord") -> Facts:
    return {
        "command": run.command,
        "suite": dict(run.suite),
        "started": run.started,
        "ended": run.ended,
        "how": run.how,
        "environment": dict(run.environment.facts),
    }


def _cells(store: "Store", suite: Mapping[str, Any]) -> Iterator[Facts]:
    """Those of the last run in their order, begun or not, then others that the store has."""
    ended: dict[tuple[str, str], Counter[bool]] = {}
    for outcome in store.outcomes(details=False):
        ended.setdefault((outcome.task.dataset, outcome.task.model), Counter())[outcome.failed] += 1
    choices = store.choices()
    final = {outcome.task.id: outcome for outcome in store.final_outcomes(details=False)}
    asked = [(dataset, model) for dataset in suite.get("datasets", ()) for model in suite.get("models", ())]
    for key in dict.fromkeys((*asked, *sorted(ended))):
        counts = ended.get(key, Counter())
        yield {
            "dataset": key[0],
            "model": key[1],
            "n_done": counts[False],
            "n_failed": counts[True],
            **_scores(choices.get(key), final),
        }


def _scores(choice: "Choice | None", final: "Mapping[str, Outcome]") -> Facts:
    """What the search chose, and how that scored; None where it is not known yet."""
    if choice is None:
        return {**dict.fromkeys(_SCORE_FACTS), "n_seeds_done": 0}
    outcomes = [final[task_id] for task_id in choice.final_ids if task_id in final]
    scores = [score for outcome in outcomes if (score := outcome.score("test", choice.metric)) is not None]
    return {
        "search": choice.search,
        "settings": dict(choice.settings),
        "metric": choice.metric,
        "validation": choice.score,
        "n_seeds": len(choice.final_ids),
        "n_seeds_done": sum(not outcome.failed for outcome in outcomes),
        "test": statistics.fmean(scores) if scores else None,
        "spread": statistics.pstdev(scores) if scores else None,
    }
