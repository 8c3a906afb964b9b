"""What a study runs, as a value: complete grids of settings, each point with several seeds."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from itertools import product
from typing import Any, Self

from mcquack.bench.samples import describe
from mcquack.bench.task import Task
from mcquack.checks import did_you_mean, is_whole_number, require, required_count
from mcquack.errors import InvalidInputError
from mcquack.studies.trainability.settings import ProbeSettings

PROBE = "mcquack.studies.trainability:TrainabilityProbe"
_SETTINGS = tuple(each.name for each in fields(ProbeSettings) if each.name != "series")


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Every combination of the values in ``vary``, with ``settings`` in all of them; both are those of the probe.

    The seed of a run is that of its parameters, of the order of its samples, and of which samples are taken if not all.
    With ``new_data`` it is also that of the dataset, where that is a draw.
    """

    name: str
    dataset: str
    seeds: int
    vary: Mapping[str, tuple[Any, ...]]
    settings: Mapping[str, Any] = field(default_factory=dict)
    new_data: bool = False

    def __post_init__(self) -> None:
        require(self.name and isinstance(self.name, str), "name", "a text", self.name)
        required_count("seeds", self.seeds)
        require(isinstance(self.new_data, bool), "new_data", "true or false", self.new_data)
        describe(self.dataset)
        for name in (*self.vary, *self.settings):
            if name not in _SETTINGS:
                hint = did_you_mean(name, _SETTINGS, otherwise=f"there are {', '.join(_SETTINGS)}.")
                raise InvalidInputError(f"no setting of a probe is called {name!r}; {hint}")
        for name, values in self.vary.items():
            require(len(values) > 0, name, "a list of at least one value", list(values))
            require(name not in self.settings, name, "either varied or fixed, not both", list(values))
            object.__setattr__(self, "vary", {**self.vary, name: tuple(dict.fromkeys(map(_frozen, values)))})
        for point in self.points():
            ProbeSettings(**point)

    def points(self) -> Iterator[dict[str, Any]]:
        """The settings of each point."""
        for values in product(*self.vary.values()):
            yield {**self.settings, **dict(zip(self.vary, values, strict=True)), "series": self.name}

    def tasks(self) -> Iterator[Task]:
        """Every point with every seed."""
        for point, seed in product(self.points(), range(self.seeds)):
            yield Task.of(self.dataset, PROBE, point, seed=seed, data_seed=seed if self.new_data else 0)

    def values(self, name: str) -> tuple[Any, ...]:
        """All that a setting takes, be it varied or not; empty where the probe's default holds."""
        return self.vary[name] if name in self.vary else (self.settings[name],) if name in self.settings else ()

    def with_values(self, name: str, values: tuple[Any, ...]) -> Self:
        """With these values of a setting in place of its own."""
        settings = {key: value for key, value in self.settings.items() if key != name}
        return replace(self, settings=settings, vary={**self.vary, name: values})

    def to_json(self) -> dict[str, Any]:
        """In the form that a TOML file has."""
        return {
            "dataset": self.dataset,
            "seeds": self.seeds,
            "new_data": self.new_data,
            "vary": {name: [_thawed(value) for value in values] for name, values in self.vary.items()},
            "settings": {name: _thawed(value) for name, value in self.settings.items()},
        }


@dataclass(frozen=True, kw_only=True)
class Design:
    """Grids that belong together, with names of their own."""

    name: str
    title: str = ""
    grids: tuple[Grid, ...]

    def __post_init__(self) -> None:
        require(self.name and isinstance(self.name, str), "name", "a text", self.name)
        require(self.grids, "grids", "at least one", list(self.grids))
        names = [grid.name for grid in self.grids]
        require(len(set(names)) == len(names), "names of grids", "all different", names)

    def tasks(self) -> tuple[Task, ...]:
        """Of all grids, each once."""
        return tuple({task.id: task for grid in self.grids for task in grid.tasks()}.values())

    def with_(
        self,
        *,
        models: tuple[str, ...] | None = None,
        qubits: "Sizes | None" = None,
        seeds: int | None = None,
    ) -> Self:
        """The design with other models or seeds in every grid, or with only some of its sizes."""
        grids: Iterable[Grid] = self.grids
        if qubits is not None:
            grids = _with_sizes(self.grids, qubits)
        if models is not None:
            grids = [grid.with_values("model", models) for grid in grids]
        if seeds is not None:
            grids = [replace(grid, seeds=seeds) for grid in grids]
        return replace(self, grids=tuple(grids))

    def __add__(self, other: "Design") -> "Design":
        return Design(
            name=f"{self.name}+{other.name}",
            title=" ".join(filter(None, (self.title, other.title))),
            grids=(*self.grids, *other.grids),
        )

    def to_json(self) -> dict[str, Any]:
        """In the form that a TOML file has."""
        return {"name": self.name, "title": self.title, "grids": {grid.name: grid.to_json() for grid in self.grids}}


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """Numbers of qubits: some by themselves, and ranges of which not every number needs to be there."""

    single: tuple[int, ...] = ()
    ranges: tuple[tuple[int, int], ...] = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        """From "2-13", "4,8,124" or both."""
        single, ranges = [], []
        for part in filter(None, (each.strip() for each in text.split(","))):
            low, dash, high = (each.strip() for each in part.partition("-"))
            numbers = [int(each) for each in (low, high) if each.isdecimal()]
            require(len(numbers) == 1 + bool(dash), "qubits", 'numbers and ranges as "2-13,124"', text)
            if dash:
                require(1 <= numbers[0] <= numbers[1], "qubits", "ranges from a smaller number to a larger one", part)
                ranges.append((numbers[0], numbers[1]))
            else:
                single.append(numbers[0])
        require(single or ranges, "qubits", 'numbers and ranges as "2-13,124"', text)
        return cls(single=tuple(single), ranges=tuple(ranges))

    def __contains__(self, size: object) -> bool:
        between = is_whole_number(size) and any(low <= size <= high for low, high in self.ranges)  # type: ignore[operator]
        return between or size in self.single


def _with_sizes(grids: tuple[Grid, ...], sizes: Sizes) -> list[Grid]:
    known = sorted({size for grid in grids for size in grid.values("n_qubits")})
    missing = [size for size in sizes.single if size not in known]
    kept = {grid.name: tuple(size for size in grid.values("n_qubits") if size in sizes) for grid in grids}
    if missing or not any(kept.values()):
        raise InvalidInputError(
            f"this design has no circuits of {missing[0] if missing else 'such'} qubits, only of "
            f"{', '.join(map(str, known))}; choose among these, or write a design of your own."
        )
    return [grid.with_values("n_qubits", kept[grid.name]) for grid in grids if kept[grid.name]]


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _thawed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
