"""The report as plain JSON values, which is how its page carries it."""

import base64
import json
import zlib
from collections.abc import Mapping
from typing import Any

from mcquack.bench.outcome import Environment, Metric, Outcome, Part
from mcquack.bench.plan import Trial
from mcquack.bench.ranking import Contender
from mcquack.report.benchmark.contents import Contents, WorkedCell
from mcquack.report.benchmark.summary import PARTS, Summary
from mcquack.report.benchmark.views import View, family_title
from mcquack.report.ranking import METRIC_TITLES, metric_phrase

Json = dict[str, Any]

_MARKS = ("", "best", "second")
_DIGITS = 6
_LEVEL = 3  # higher levels shrink a page by a tenth, and take more than twice as long


class PageData:
    """Everything the scripts of the page read, with models and datasets as numbers in their lists."""

    def __init__(self, contents: Contents, summary: Summary) -> None:
        self.contents = contents
        self.summary = summary
        self.contenders = ordered_contenders(contents, summary)
        self.environments = tuple(
            dict.fromkeys(outcome.environment for cell in contents.cells for outcome in cell.outcomes)
        )
        self._contender_numbers = {contender: index for index, contender in enumerate(self.contenders)}
        self._dataset_numbers = {dataset.name: index for index, dataset in enumerate(contents.datasets)}
        self._environment_numbers = {environment: index for index, environment in enumerate(self.environments)}

    def page(self) -> Json:
        """What is read when the page opens."""
        contents = self.contents
        return {
            "title": contents.title,
            "metric": contents.metric,
            "metrics": [
                {"name": name, "title": METRIC_TITLES[name], "phrase": metric_phrase(name)} for name in contents.metrics
            ],
            "families": [{"name": family, "title": family_title(family)} for family in contents.families],
            "models": [{"title": each.title, "source": each.source} for each in self.contenders],
            "datasets": [{"name": each.name, "family": each.family} for each in contents.datasets],
            "views": {
                metric: {family: self._view(view, family) for family, view in by_family.items()}
                for metric, by_family in self.summary.views.items()
            },
            "scores": {part: {metric: self._grid(part, metric) for metric in contents.metrics} for part in PARTS},
            "curves": {metric: self._curves(metric) for metric in contents.metrics},
            "notes": self._notes(),
            "chunks": self._chunk_numbers(),
            "states": [cell.state for cell in contents.cells],
            "taskIds": [" ".join(outcome.task.id for outcome in cell.outcomes) for cell in contents.cells],
            "environments": [dict(environment.facts) for environment in self.environments],
        }

    def chunks(self) -> list[str]:
        """The tasks of each cell, compressed, as text; the page unpacks one when somebody looks at it."""
        return [_packed(self._cell(cell)) for cell in self.contents.cells]

    def _view(self, view: View, family: str) -> Json:
        return {
            "standings": [
                {
                    "model": self._contender_numbers[line.contender],
                    "average": _rounded(line.average_rank),
                    "low": None if line.interval is None else _rounded(line.interval.low),
                    "high": None if line.interval is None else _rounded(line.interval.high),
                    "score": _rounded(line.mean_score),
                    "datasets": line.n_datasets,
                    "counts": list(line.rank_counts),
                    **self._effort(line.contender, family),
                }
                for line in view.standings
            ],
            "wins": {
                "models": [self._contender_numbers[each] for each in view.wins.contenders],
                "records": [
                    [view.wins.record(row, column) for column in range(len(view.wins.contenders))]
                    for row in range(len(view.wins.contenders))
                ],
            },
            "comparison": self._comparison(view),
        }

    def _effort(self, contender: Contender, family: str) -> Json:
        found = self.summary.effort(contender, family=family)
        return {"parameters": found.n_parameters, "seconds": _rounded(found.fit_seconds)}

    def _comparison(self, view: View) -> Json:
        comparison = view.comparison
        if comparison is None:
            return {"reading": view.reading}
        places = {contender: index for index, contender in enumerate(comparison.contenders)}
        return {
            "reading": view.reading,
            "models": [self._contender_numbers[each] for each in comparison.contenders],
            "ranks": [_rounded(rank) for rank in comparison.average_ranks],
            "difference": _rounded(comparison.critical_difference),
            "groups": [[places[group[0]], places[group[-1]]] for group in comparison.groups],
            "pairs": [[_rounded(p) for p in row] for row in comparison.p_values],
        }

    def _grid(self, part: Part, metric: Metric) -> Json | None:
        """Mean, spread and mark by dataset and model; None where there is no score at all."""
        grid = self.summary.grids[part, metric]
        if not grid:
            return None
        cells: list[list[list[float | int | None] | None]] = [
            [None] * len(self.contenders) for _ in self.contents.datasets
        ]
        for (dataset, contender), score in grid.items():
            entry = [_rounded(score.mean), _rounded(score.spread), _MARKS.index(score.mark)]
            cells[self._dataset_numbers[dataset]][self._contender_numbers[contender]] = entry
        return {"cells": cells}

    def _curves(self, metric: Metric) -> list[Json]:
        return [
            {
                "family": curve.family,
                "model": self._contender_numbers[curve.contender],
                "part": curve.part,
                "points": [
                    [point.size, _rounded(point.mean)]
                    + ([] if point.band is None else [_rounded(point.band.low), _rounded(point.band.high)])
                    for point in curve.points
                ],
            }
            for part in PARTS
            for curve in self.summary.curves[part, metric]
        ]

    def _notes(self) -> dict[int, dict[int, str]]:
        found: dict[int, dict[int, str]] = {}
        for cell in self.contents.scores:
            if cell.note:
                model = self._contender_numbers[Contender.of(cell)]
                found.setdefault(self._dataset_numbers[cell.dataset], {})[model] = cell.note
        return found

    def _chunk_numbers(self) -> dict[int, dict[int, int]]:
        found: dict[int, dict[int, int]] = {}
        for number, cell in enumerate(self.contents.cells):
            model = self._contender_numbers[cell.contender]
            found.setdefault(self._dataset_numbers[cell.dataset], {})[model] = number
        return found

    def _cell(self, cell: WorkedCell) -> Json:
        choice = cell.choice
        metric = self.contents.metric if choice is None else choice.metric
        return {
            "dataset": cell.dataset,
            "title": cell.contender.title,
            "metric": metric,
            "choice": None if choice is None else {"search": choice.search, "score": choice.score},
            "tasks": [_task(outcome, self._environment_numbers) for outcome in cell.outcomes],
            "trials": [
                _trial(trial, metric, chosen=None if choice is None else choice.settings) for trial in cell.trials
            ],
        }


def ordered_contenders(contents: Contents, summary: Summary) -> tuple[Contender, ...]:
    """Ours before published ones, each by the ranking that is shown first, then those that have no place in it."""
    ranked = [] if summary.main_view is None else [line.contender for line in summary.main_view.standings]
    others = (*(cell.contender for cell in contents.cells), *map(Contender.of, contents.scores))
    known = dict.fromkeys((*ranked, *others))
    return tuple(sorted(known, key=lambda contender: contender.is_published))


def _task(outcome: Outcome, environments: Mapping[Environment, int]) -> Json:
    task = outcome.task
    return {
        "id": task.id,
        "phase": task.phase,
        "split": str(task.split),
        "seed": task.seed,
        "settings": dict(task.settings),
        "scores": outcome.scores,
        "seconds": {stage: _rounded(seconds) for stage, seconds in outcome.seconds.items()},
        "parameters": outcome.n_parameters,
        "fingerprint": outcome.fingerprint,
        "environment": environments[outcome.environment],
        "finished": outcome.finished_at,
        "error": outcome.error,
        "details": outcome.details,
    }


def _trial(trial: Trial, metric: Metric, *, chosen: Mapping[str, Any] | None) -> Json:
    return {
        "settings": trial.settings,
        "score": trial.score(metric),
        "failed": trial.failed,
        "isChosen": chosen is not None and trial.settings == dict(chosen),
        "seconds": _rounded(sum(outcome.seconds.get("fit", 0.0) for outcome in trial.outcomes)),
        "ids": [outcome.task.id for outcome in trial.outcomes],
    }


def _rounded(value: float | None) -> float | None:
    """To the digits that somebody may read."""
    return None if value is None else float(f"{value:.{_DIGITS}g}")


def _packed(value: Json) -> str:
    text = json.dumps(value, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode(), _LEVEL)).decode("ascii")
