"""What the report of a study is about: observations, read from a store once, in series and lines, and their names."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from mcquack.bench.store import Store
from mcquack.bench.task import Environment
from mcquack.errors import InvalidInputError
from mcquack.files import plain_text
from mcquack.report.document import Document, facts_of
from mcquack.report.style import plain_number
from mcquack.studies.trainability import Observation
from mcquack.studies.trainability import observations as stored_observations
from mcquack.studies.trainability.analysis import oscillation
from mcquack.studies.trainability.analysis.losses import LossSlice, Oscillation
from mcquack.studies.trainability.design import PROBE
from mcquack.studies.trainability.observation import Group

MAIN = "paper"
"""The series that comes first, if there is one of this name."""

PAPER_SLICE = {"regularised": True, "init_strategy": "wx+b=0"}
"""What the paper's figures show."""

GROUP_TITLES: Mapping[Group, str] = {"weights": "Weights", "bias": "Biases", "centroids": "Centroids"}

# What a line runs along, what follows from that, what only repeats a run, and what is spent on a measurement, of which
# a larger size may have less, and is still the same model.
_SIZES = frozenset({"n_qubits", "n_layers", "n_features", "engine"})
_MOST_SLICE_BYTES = 1 << 26
_NO_FACTORS = _SIZES | {"series", "data_seed", "epochs", "batch_size", "n_train", "n_entries"}


@dataclass(frozen=True, kw_only=True)
class Study(Document):
    """All observations of a store, in an order that does not depend on which task ended first."""

    observations: tuple[Observation, ...]
    environments: tuple[Environment, ...]
    prints: Mapping[str, tuple[str, ...]]

    @cached_property
    def series(self) -> Mapping[str, tuple[Observation, ...]]:
        """Observations by the name of their grid: that of the paper first, then those of larger and larger systems.

        Those with slices of their losses only show some points of another grid again, and stand for themselves.
        """
        found: dict[str, list[Observation]] = {}
        for each in [each for each in self.observations if not each.landscapes] or self.observations:
            found.setdefault(str(each.settings.get("series", "")), []).append(each)
        order = sorted(found, key=lambda name: (name != MAIN, sizes_of(found[name])[-1], name))
        return {name: tuple(found[name]) for name in order}

    @cached_property
    def starts(self) -> Mapping[str, tuple[Observation, ...]]:
        """The series about the start of training: several sizes, and no learning rates, which would only repeat it."""
        varied = {name: set(varied_settings(found)) for name, found in self.series.items()}
        kept = [name for name in varied if "n_qubits" in varied[name] and not {"lr", "decay_rate"} & varied[name]]
        return {name: self.series[name] for name in kept} or self.series

    @cached_property
    def trained(self) -> Mapping[str, tuple[Observation, ...]]:

        def curves(group: Iterable[Observation]) -> tuple[Observation, ...]:
            return tuple(each for each in group if len(each.trace.get("loss", ())) > 1)

        return {name: kept for name, group in self.series.items() if (kept := curves(group))}

    @property
    def sizes(self) -> list[int]:
        return sizes_of(self.observations)


def read_study(store: Store, *, title: str | None = None) -> Study:
    """The study in a store; a benchmark that the store may also hold is no part of it."""
    own = (each for each in store.outcomes(details=False) if each.task.model == PROBE)
    outcomes = sorted(own, key=lambda each: str(each.task))
    prints: dict[str, dict[str, None]] = {}
    for each in outcomes:
        if each.fingerprint:
            prints.setdefault(each.task.dataset, {})[each.fingerprint] = None
    return Study(
        **facts_of(store, outcomes, title=title),
        observations=tuple(stored_observations(store)),
        environments=tuple(dict.fromkeys(each.environment for each in outcomes)),
        prints={dataset: tuple(found) for dataset, found in prints.items()},
    )


def sizes_of(observations: Iterable[Observation]) -> list[int]:
    """All numbers of qubits, the smallest first."""
    return sorted({int(each.settings["n_qubits"]) for each in observations})


@dataclass(frozen=True, kw_only=True)
class Line:
    """One model and start at all of its sizes; ``settings`` are those that differ between lines."""

    model: str
    settings: tuple[tuple[str, Any], ...]
    observations: tuple[Observation, ...]

    @property
    def label(self) -> str:
        return ", ".join(setting_text(name, value) for name, value in self.settings) or self.model

    @cached_property
    def by_qubits(self) -> Mapping[int, tuple[Observation, ...]]:
        ordered = sorted(self.observations, key=lambda each: each.seed)
        return {
            size: tuple(each for each in ordered if each.settings["n_qubits"] == size) for size in sizes_of(ordered)
        }


def lines(observations: Iterable[Observation], *, apart_from: Iterable[str] = ()) -> tuple[Line, ...]:
    """Observations grouped into lines by their settings, but for those that all share or that are in ``apart_from``.

    >>> seen = [Observation(model="mcquack", seed=0, settings={"n_qubits": 2, "init_small": x}) for x in (True, False)]
    >>> [line.label for line in lines(seen)]
    ['small and normal', 'all ones']
    """
    kept = tuple(observations)
    names = [name for name in factors(kept) if name not in set(apart_from)]
    several_models = len({each.model for each in kept}) > 1
    groups: dict[tuple[str, tuple[Any, ...]], list[Observation]] = {}
    for each in kept:
        groups.setdefault((each.model, tuple(each.settings.get(name) for name in names)), []).append(each)
    ordered = sorted(groups.items(), key=lambda group: (group[0][0], tuple(map(value_place, group[0][1]))))
    return tuple(
        Line(
            model=model,
            settings=((("model", model),) if several_models else ()) + tuple(zip(names, values, strict=True)),
            observations=tuple(found),
        )
        for (model, values), found in ordered
    )


def varied_settings(observations: Iterable[Observation]) -> tuple[str, ...]:
    """Names of the settings that are not the same in all of them, sorted."""
    kept = tuple(observations)
    names = sorted({name for each in kept for name in each.settings})
    return tuple(name for name in names if len({repr(each.settings.get(name)) for each in kept}) > 1)


def factors(observations: Iterable[Observation]) -> tuple[str, ...]:
    """The settings that were varied on purpose, besides the number of qubits."""
    kept = tuple(observations)
    depths = {(each.settings["n_qubits"], each.settings.get("n_layers")) for each in kept}
    # Depths that follow from the number of features change with the qubits, and are no choice.
    chosen = {"n_layers"} if len(depths) > len(sizes_of(kept)) else set()
    return tuple(name for name in varied_settings(kept) if name not in _NO_FACTORS - chosen)


def with_settings(observations: Iterable[Observation], **wanted: Any) -> tuple[Observation, ...]:
    """The observations that have these values, or do not know the setting at all."""
    return tuple(
        each for each in observations if all(each.settings.get(name, value) == value for name, value in wanted.items())
    )


def paper_slice(observations: Iterable[Observation]) -> tuple[Observation, ...]:
    """What the paper draws, the regularised models with wx + b = 0, as much of it as there is."""
    kept = tuple(observations)
    for name, value in PAPER_SLICE.items():
        kept = with_settings(kept, **{name: value}) or kept
    return kept


def slice_text(observations: Iterable[Observation]) -> str:
    """What ``paper_slice`` leaves of these observations, in brackets; empty if it leaves all."""
    kept = tuple(observations)
    counts = {name: len(with_settings(kept, **{name: value})) for name, value in PAPER_SLICE.items()}
    told = ", ".join(setting_text(name, PAPER_SLICE[name]) for name, count in counts.items() if 0 < count < len(kept))
    return f" ({told})" if told else ""


def value_place(value: Any) -> tuple[int, float, str]:
    """Any values in one order: truth first, numbers by size, then names."""
    if isinstance(value, bool):
        return 0, -float(value), ""
    return (1, float(value), "") if isinstance(value, int | float) else (2, 0.0, str(value))


@dataclass(frozen=True, kw_only=True, eq=False)
class Landscape:
    """A slice of a loss with its title and, if it is known, the way that training took through it."""

    title: str
    losses: LossSlice
    path: tuple[tuple[float, float], ...] = ()

    @classmethod
    def from_json(cls, fields: Mapping[str, Any], *, title: str) -> "Landscape":
        """From a mapping with "first", "second" and "losses" of a slice, and perhaps "title" and "path"."""
        way = tuple((float(first), float(second)) for first, second in fields.get("path", ()))
        return cls(title=str(fields.get("title", title)), losses=LossSlice.from_json(fields), path=way)


def observed_landscapes(observations: Iterable[Observation]) -> tuple[Landscape, ...]:
    """The slices that a study has kept, of each start and size those of the first seed; along paths before others."""
    directions = {"path": "main directions of training", "random": "directions by chance"}
    found: dict[tuple[str, int, bool, str], Landscape] = {}
    for each in sorted(observations, key=lambda each: each.seed):
        small, n_qubits = each.settings.get("init_small"), int(each.settings["n_qubits"])
        start = "" if small is None else f"{setting_text('init_small', small)}, "
        for kind, fields in each.landscapes.items():
            title = f"{start}{n_qubits} qubits, {directions.get(kind, kind)}"
            made = Landscape.from_json(fields, title=title)
            found.setdefault((kind, n_qubits, small is False, each.model), made)
    return tuple(made for _, made in sorted(found.items(), key=lambda item: item[0]))


def read_landscape(path: str | PathLike[str]) -> Landscape:
    """A slice of a loss from a JSON file with "first", "second" and "losses", and perhaps "title" and "path"."""
    place = Path(path)
    text = plain_text(place, what="a slice of a loss in JSON", most_bytes=_MOST_SLICE_BYTES)
    try:
        fields = json.loads(text)
        found = Landscape.from_json(fields, title=place.stem.replace("_", " "))
    except (ValueError, TypeError, KeyError, AttributeError, ArithmeticError, RecursionError) as error:
        raise InvalidInputError(
            f"{place} is no slice of a loss ({type(error).__name__}: {error}); write it with LossSlice.to_json."
        ) from error
    losses = found.losses
    if losses.losses.shape != (len(losses.second), len(losses.first)) or not np.isfinite(losses.losses).all():
        raise InvalidInputError(
            f"{place} has losses of shape {losses.losses.shape} for {len(losses.second)} × {len(losses.first)} points, "
            "or some that are no numbers; write it with LossSlice.to_json."
        )
    return found


def curve_oscillation(observation: Observation) -> Oscillation | None:
    """Oscillation of the loss after each epoch; None if there is no curve, or one that ended in what is no number."""
    curve = observation.trace.get("loss", ())
    return None if len(curve) < 3 or None in curve else _oscillation(curve)


_oscillation = lru_cache(maxsize=16_384)(oscillation)  # every section, figure and table asks for the same curves


_SETTING_NAMES = {
    "init_small": "initial parameters",
    "init_strategy": "strategy",
    "regularised": "regularisation",
    "n_qubits": "qubits",
    "n_layers": "layers",
    "lr": "learning rate",
    "reg_param": "regularisation parameter",
}
_VALUES: Mapping[tuple[str, Any], str] = {
    ("init_small", True): "small and normal",
    ("init_small", False): "all ones",
    ("init_strategy", "default"): "default strategy",
    ("init_strategy", "wx+b=0"): "wx + b = 0",
    ("regularised", True): "regularised",
    ("regularised", False): "not regularised",
}


def setting_text(name: str, value: Any) -> str:
    """A setting and its value in a few words."""
    if name == "model":
        return str(value)
    known = _VALUES.get((name, value)) if isinstance(value, str | bool) else None
    return known or f"{_SETTING_NAMES.get(name, name.replace('_', ' '))} {plain_number(str(value))}"
