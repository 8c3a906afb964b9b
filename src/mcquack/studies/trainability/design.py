"""What a study runs: the settings of a run, complete grids of them, and designs, which TOML files hold."""

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field, fields, replace
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Any, ClassVar, Literal, Self, get_args

from mcquack.bench.samples import describe
from mcquack.bench.task import Task, frozen
from mcquack.bench.toml_text import FieldsReader, Kind, toml_fields, user_text
from mcquack.checks import (
    did_you_mean,
    is_number,
    is_whole_number,
    require,
    required_count,
)
from mcquack.circuits.feature_map import FeatureMap
from mcquack.constraints import POSITIVE, Boolean, Constraints, Custom, OneOf, Optional, Whole, check_settings
from mcquack.errors import InvalidInputError
from mcquack.simulators import Engine, EngineName, StateEngine, engine_of
from mcquack.simulators.ring import MAX_LAYERS
from mcquack.training.state import InitStrategy

ModelName = Literal["mcquack", "quack", "vc", "shared_vc"]
FEATURES_PER_GATE: Mapping[ModelName, Literal[1, 3]] = {"mcquack": 1, "quack": 3, "vc": 1, "shared_vc": 1}
VARIATIONAL: tuple[ModelName, ...] = ("vc", "shared_vc")


def _is_increasing_pair(value: Any) -> bool:
    return isinstance(value, tuple | list) and len(value) == 2 and all(map(is_number, value)) and value[0] < value[1]


def _is_a_grid(value: Any) -> bool:
    return is_whole_number(value) and (value == 0 or (value >= 3 and value % 2 == 1))


@dataclass
class ProbeSettings:
    """The settings of one run, checked when made; :class:`TrainabilityProbe` tells what each means."""

    model: ModelName = "mcquack"
    n_qubits: int = 6
    _: KW_ONLY
    n_layers: int | None = None
    n_repetitions: int = 1
    n_features: int | None = None
    init_small: bool = True
    init_strategy: InitStrategy = "default"
    regularised: bool = False
    reg_param: float = 1e-3
    epochs: int = 0
    lr: float = 1e-3
    decay_rate: float = 0.99
    batch_size: int = 100
    n_train: int | None = None
    n_entries: int = 8
    feature_range: tuple[float, float] = (-1.0, 1.0)
    final_entangler: bool = True
    engine: EngineName = "auto"
    landscape: int = 0
    series: str = ""

    _constraints: ClassVar[Constraints] = {
        "model": OneOf(*get_args(ModelName)),
        **dict.fromkeys(("n_qubits", "n_repetitions", "batch_size"), Whole()),
        **dict.fromkeys(("n_layers", "n_features", "n_train"), Optional(Whole())),
        **dict.fromkeys(("epochs", "n_entries"), Whole(0)),
        **dict.fromkeys(("init_small", "regularised", "final_entangler"), Boolean()),
        "init_strategy": OneOf(*get_args(InitStrategy)),
        **dict.fromkeys(("lr", "decay_rate", "reg_param"), POSITIVE),
        "feature_range": Custom("an increasing pair of numbers", _is_increasing_pair),
        "landscape": Custom("0, or an odd number of at least 3", _is_a_grid),
    }

    def __post_init__(self) -> None:
        check_settings(self)
        if self.is_variational and not isinstance(self.runs_on, StateEngine):
            raise InvalidInputError(
                f"{self.model} needs whole statevectors, at most 20 qubits, and was asked for {self.n_qubits} on the "
                f"{self.engine} engine; leave out these sizes, or the model."
            )
        if self.is_variational:
            require(self.n_qubits >= 2, "n_qubits", f"at least 2 for {self.model}", self.n_qubits)
            expected = f"0 for {self.model}, whose parameters are of another kind"
            require(not self.landscape, "landscape", expected, self.landscape)
        if self.runs_on.few_layers:
            shallow = (self.n_layers or 0) <= MAX_LAYERS
            require(shallow, "n_layers", f"at most {MAX_LAYERS} on a ring engine", self.n_layers)

    @property
    def is_variational(self) -> bool:
        return self.model in VARIATIONAL

    @property
    def runs_on(self) -> Engine[Any]:
        """The engine that "auto" comes to, without a circuit."""
        engine = engine_of(self.engine, self.n_qubits)
        widest = engine.most_qubits or self.n_qubits
        require(self.n_qubits <= widest, "n_qubits", f"at most {widest:,} on the {engine.name} engine", self.n_qubits)
        return engine

    @property
    def penalty(self) -> float:
        return self.reg_param if self.regularised else 0.0

    def feature_map(self, n_features: int) -> FeatureMap:
        """The circuit for data of so many features; those that none of its gates would encode are left out."""
        given = n_features if self.n_features is None else min(self.n_features, n_features)
        per_gate = FEATURES_PER_GATE[self.model]
        shared: dict[str, Any] = {"n_qubits": self.n_qubits, "features_per_gate": per_gate}
        shared["final_entangler"] = self.final_entangler
        if self.n_layers is None:
            return FeatureMap.with_repetitions(n_features=given, n_repetitions=self.n_repetitions, **shared)
        encoded = min(given, self.n_layers * self.n_qubits * per_gate)
        return FeatureMap(n_features=encoded, n_layers=self.n_layers, **shared)


PROBE = "mcquack.studies.trainability:TrainabilityProbe"
_SETTINGS = tuple(each.name for each in fields(ProbeSettings) if each.name != "series")


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Every combination of some settings of the probe, each with several seeds.

    The seed of a run is that of its parameters, of the order of its samples, and of which samples are taken if not all.

    Parameters
    ----------
    name : what the runs belong to; it becomes their ``series``.
    dataset : a dataset by name.
    seeds : how often each point is run.
    vary : the values of the settings that are varied.
    settings : those that all points share.
    new_data : whether the seed is also that of the dataset, where that is a draw.

    Examples
    --------
    >>> grid = Grid(name="start", dataset="manifold", seeds=2, vary={"n_qubits": (2, 3), "init_small": (True, False)})
    >>> len(list(grid.points())), len(list(grid.tasks()))
    (4, 8)
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
            object.__setattr__(self, "vary", {**self.vary, name: tuple(dict.fromkeys(map(frozen, values)))})
        for point in self.points():
            ProbeSettings(**point)

    def points(self) -> Iterator[dict[str, Any]]:
        for values in product(*self.vary.values()):
            yield {**self.settings, **dict(zip(self.vary, values, strict=True)), "series": self.name}

    def tasks(self) -> Iterator[Task]:
        for point, seed in product(self.points(), range(self.seeds)):
            yield Task.of(self.dataset, PROBE, point, seed=seed, data_seed=seed if self.new_data else 0)

    def values(self, name: str) -> tuple[Any, ...]:
        """All values that a setting takes, varied or not; empty where the probe's default holds."""
        return self.vary[name] if name in self.vary else (self.settings[name],) if name in self.settings else ()

    def with_values(self, name: str, values: tuple[Any, ...]) -> Self:
        settings = {key: value for key, value in self.settings.items() if key != name}
        return replace(self, settings=settings, vary={**self.vary, name: values})

    def to_json(self) -> dict[str, Any]:
        return {
            "dataset": self.dataset,
            "seeds": self.seeds,
            "new_data": self.new_data,
            "vary": {name: list(values) for name, values in self.vary.items()},
            "settings": dict(self.settings),
        }


@dataclass(frozen=True, kw_only=True)
class Design:
    """Grids that belong together, with names of their own.

    >>> design = read_design("quick")
    >>> [grid.name for grid in design.grids], len(design.tasks())
    (['paper', 'shallow_2'], 120)
    >>> len(design.with_(qubits=Sizes.parse("2-4,124"), seeds=1).tasks())
    28
    """

    name: str
    title: str = ""
    grids: tuple[Grid, ...]

    def __post_init__(self) -> None:
        require(self.name and isinstance(self.name, str), "name", "a text", self.name)
        require(self.grids, "grids", "at least one", list(self.grids))
        names = [grid.name for grid in self.grids]
        require(len(set(names)) == len(names), "names of grids", "all different", names)

    def tasks(self) -> tuple[Task, ...]:
        return tuple({task.id: task for grid in self.grids for task in grid.tasks()}.values())

    def with_(
        self, *, models: tuple[str, ...] | None = None, qubits: "Sizes | None" = None, seeds: int | None = None
    ) -> Self:
        """The design with other models or seeds in every grid, or with only some of its sizes."""
        grids = list(self.grids) if qubits is None else _with_sizes(self.grids, qubits)
        if models is not None:
            grids = [grid.with_values("model", models) for grid in grids]
        if seeds is not None:
            grids = [replace(grid, seeds=seeds) for grid in grids]
        return replace(self, grids=tuple(grids))

    def __add__(self, other: "Design") -> "Design":
        return Design(
            name=f"{self.name}+{other.name}",
            title="; ".join(filter(None, (self.title, other.title))),
            grids=(*self.grids, *other.grids),
        )

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "title": self.title, "grids": {grid.name: grid.to_json() for grid in self.grids}}


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """Numbers of qubits: some by themselves, and ranges of which not every number needs to be there.

    >>> 7 in Sizes.parse("2-13,124"), 50 in Sizes.parse("2-13,124")
    (True, False)
    """

    ranges: tuple[tuple[int, int], ...]

    @classmethod
    def parse(cls, text: str) -> Self:
        """The sizes in a text as "2-13", "4,8,124" or both."""
        ranges = []
        for part in filter(None, (each.strip() for each in text.split(","))):
            ends = [each.strip() for each in part.split("-")]
            written = len(ends) <= 2 and all(end.isdecimal() for end in ends)
            require(written, "qubits", 'numbers and ranges as "2-13,124"', text)
            low, high = int(ends[0]), int(ends[-1])
            require(1 <= low <= high, "qubits", "positive, and ranges from a smaller number to a larger one", part)
            ranges.append((low, high))
        require(ranges, "qubits", 'numbers and ranges as "2-13,124"', text)
        return cls(ranges=tuple(ranges))

    def __contains__(self, size: int) -> bool:
        return any(low <= size <= high for low, high in self.ranges)


def _with_sizes(grids: tuple[Grid, ...], sizes: Sizes) -> list[Grid]:
    known = sorted({size for grid in grids for size in grid.values("n_qubits")})
    missing = [low for low, high in sizes.ranges if low == high and low not in known]
    kept = {grid.name: tuple(size for size in grid.values("n_qubits") if size in sizes) for grid in grids}
    if missing or not any(kept.values()):
        raise InvalidInputError(
            f"this design has no circuits of {missing[0] if missing else 'such'} qubits, only of "
            f"{', '.join(map(str, known))}; choose among these, or write a design of your own."
        )
    return [grid.with_values("n_qubits", kept[grid.name]) for grid in grids if kept[grid.name]]


BUILT_IN = ("paper", "wide", "quick")
DEFAULT = ("paper", "wide")
_KINDS: Mapping[str, Kind] = {"name": str, "title": str, "grids": dict}
_GRID_KINDS: Mapping[str, Kind] = {"dataset": str, "seeds": int, "new_data": bool, "vary": dict, "settings": dict}


def read_design(name_or_path: str | Path) -> Design:
    """A design of mcquack by its name (paper, wide or quick), or one of the user's from a TOML file.

    >>> read_design("wide").title
    'Gradients of wider circuits, to 1,000 qubits'
    """
    if name_or_path in BUILT_IN:
        file = files("mcquack.studies.trainability").joinpath("designs", f"{name_or_path}.toml")
        return design_from_text(file.read_text(encoding="utf-8"), called=str(name_or_path))
    path = Path(name_or_path)
    return design_from_text(user_text(path, what="design", known=BUILT_IN), called=str(path))


def design_from_text(text: str, *, called: str) -> Design:
    """The design in a text of TOML; ``called`` is what messages call the text."""
    given, reader = toml_fields(text, called=called), FieldsReader(called, text)
    reader.check(given, _KINDS, required=("name", "grids"))
    reader.check(given["grids"], dict.fromkeys(given["grids"], dict), within=("grids",))
    grids = tuple(_grid(name, grid, reader) for name, grid in given["grids"].items())
    with reader.placed(("grids",)):
        return Design(name=given["name"], title=given.get("title", ""), grids=grids)


def _grid(name: str, given: Mapping[str, Any], reader: FieldsReader) -> Grid:
    within = ("grids", name)
    reader.check(given, _GRID_KINDS, within=within, required=("dataset", "seeds", "vary"))
    reader.check(given["vary"], dict.fromkeys(given["vary"], list), within=(*within, "vary"))
    settings = {setting: frozen(value) for setting, value in given.get("settings", {}).items()}
    try:
        return Grid(**{**given, "name": name, "settings": settings})
    except InvalidInputError as error:
        reader.refuse_named(error, within=within)
