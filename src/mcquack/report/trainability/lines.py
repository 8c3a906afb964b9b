"""Observations that belong together: the same model with the same start, at all of its sizes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from mcquack.report.trainability.names import setting_text
from mcquack.studies.trainability.observation import Observation

DERIVED = frozenset({"n_qubits", "n_layers", "n_features", "engine", "series", "data_seed"})
"""What a line runs along, what follows from that, the name of the series, and what only repeats a run."""

BUDGETS = frozenset({"epochs", "batch_size", "n_train", "n_entries"})
"""What is spent on a measurement; a larger size may have less, and is still the same model."""


PAPER_SLICE = {"regularised": True, "init_strategy": "wx+b=0"}
"""What the paper's figures show."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """One model and start; ``settings`` are what tells it from the other lines."""

    model: str
    settings: tuple[tuple[str, Any], ...]
    observations: tuple[Observation, ...]

    @property
    def label(self) -> str:
        """As a legend has it."""
        return ", ".join(setting_text(name, value) for name, value in self.settings) or self.model

    @cached_property
    def by_qubits(self) -> Mapping[int, tuple[Observation, ...]]:
        """All seeds of each number of qubits, the smallest first."""
        found: dict[int, list[Observation]] = {}
        for each in sorted(self.observations, key=lambda each: (each.settings["n_qubits"], each.seed)):
            found.setdefault(each.settings["n_qubits"], []).append(each)
        return {n_qubits: tuple(group) for n_qubits, group in found.items()}

    @property
    def sizes(self) -> tuple[int, ...]:
        """Numbers of qubits, the smallest first."""
        return tuple(self.by_qubits)

    def value(self, name: str, default: Any = None) -> Any:
        """Of a setting, whether it tells lines apart or not."""
        return self.observations[0].settings.get(name, default)


def lines(observations: Iterable[Observation], *, apart_from: Iterable[str] = ()) -> tuple[Line, ...]:
    """In the order of their settings; a setting that all share, or that is in ``apart_from``, tells none apart."""
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
    values: dict[str, set[str]] = {}
    kept = tuple(observations)
    for name in {name for each in kept for name in each.settings}:
        values[name] = {repr(each.settings.get(name)) for each in kept}
    return tuple(sorted(name for name, found in values.items() if len(found) > 1))


def factors(observations: Iterable[Observation]) -> tuple[str, ...]:
    """The settings that were varied on purpose, besides the number of qubits."""
    kept = tuple(observations)
    layers: dict[int, set[int]] = {}
    for each in kept:
        layers.setdefault(each.settings["n_qubits"], set()).add(each.settings.get("n_layers", 0))
    # Depths that follow from the number of features change with the qubits, and are no choice.
    chosen_depths = any(len(found) > 1 for found in layers.values())
    derived = (DERIVED - {"n_layers"} if chosen_depths else DERIVED) | BUDGETS
    return tuple(name for name in varied_settings(kept) if name not in derived)


def with_settings(observations: Iterable[Observation], **wanted: Any) -> tuple[Observation, ...]:
    """Those that have these values, or do not know the setting at all."""
    return tuple(
        each for each in observations if all(each.settings.get(name, value) == value for name, value in wanted.items())
    )


def paper_slice(observations: Iterable[Observation]) -> tuple[Observation, ...]:
    """Of what the paper draws, the regularised models with wx + b = 0, as much as there is."""
    kept = tuple(observations)
    for name, value in PAPER_SLICE.items():
        kept = with_settings(kept, **{name: value}) or kept
    return kept


def slice_text(observations: Iterable[Observation]) -> str:
    """What ``paper_slice`` leaves of these observations, in a few words; empty if it leaves all."""
    kept = tuple(observations)
    sizes = {name: len(with_settings(kept, **{name: value})) for name, value in PAPER_SLICE.items()}
    return ", ".join(setting_text(name, PAPER_SLICE[name]) for name, size in sizes.items() if 0 < size < len(kept))


def setting_values(observations: Sequence[Observation], name: str) -> tuple[Any, ...]:
    """Without repetition; True, which is the usual start, comes before False."""
    return tuple(sorted({each.settings[name] for each in observations if name in each.settings}, key=value_place))


def value_place(value: Any) -> tuple[int, float, str]:
    """Any values in one order: truth first, numbers by size, then names."""
    if isinstance(value, bool):
        return 0, -float(value), ""
    if isinstance(value, int | float):
        return 1, float(value), ""
    return 2, 0.0, str(value)
