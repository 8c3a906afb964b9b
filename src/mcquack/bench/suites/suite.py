"""A benchmark as a value."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any, Literal, Self

from mcquack import datasets
from mcquack.bench.outcome import METRICS, Metric
from mcquack.bench.plan import Cell
from mcquack.bench.samples import check_model, describe
from mcquack.bench.search import SearchMethod
from mcquack.bench.task import VALIDATION, Split, TableSource
from mcquack.checks import did_you_mean, is_whole_number, require, required_count
from mcquack.errors import InvalidInputError
from mcquack.models import catalog
from mcquack.models.catalog import SearchSpace

SearchOn = Literal["validation", "folds"]


@dataclass(frozen=True, kw_only=True)
class Cut:
    """To how many samples each side of a fold is cut, to make a search on a large dataset affordable."""

    n_train: int
    n_validation: int

    def __post_init__(self) -> None:
        required_count("n_train", self.n_train)
        required_count("n_validation", self.n_validation)


@dataclass(frozen=True, kw_only=True)
class Suite:
    """Models and datasets, and the protocol by which they are searched and scored.

    ``datasets`` are names, "suite/*" or other patterns, "module:name" for what a module of the user's registers, or
    keys of ``tables``. ``models`` are names of the catalogue or "module:Class". ``search_on`` "validation" takes folds
    for datasets that have no validation part of their own. A model's search space is that in ``spaces``, else the
    catalogue's for the suite ``spaces_like``, else one it has for another suite, else its defaults alone.
    ``settings`` hold for every search of a model; ``cut`` is by family of datasets.
    """

    name: str
    title: str = ""
    datasets: tuple[str, ...]
    models: tuple[str, ...]
    search: str = "grid"
    search_on: SearchOn = "validation"
    n_folds: int = 5
    choose_by: Metric = "balanced_accuracy"
    seeds: int = 5
    data_seed: int = 0
    spaces_like: str = ""
    cut: Mapping[str, Cut] = field(default_factory=dict)
    spaces: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    tables: Mapping[str, TableSource] = field(default_factory=dict)

    def __post_init__(self) -> None:
        require(self.name and isinstance(self.name, str), "name", "a text", self.name)
        require(self.models, "models", "at least one", list(self.models))
        require(self.search_on in ("validation", "folds"), "search_on", "validation or folds", self.search_on)
        require(self.choose_by in METRICS, "choose_by", f"one of {', '.join(METRICS)}", self.choose_by)
        require(is_whole_number(self.n_folds) and self.n_folds >= 2, "n_folds", "at least 2", self.n_folds)
        require(is_whole_number(self.data_seed) and self.data_seed >= 0, "data_seed", "at least 0", self.data_seed)
        required_count("seeds", self.seeds)
        SearchMethod.parse(self.search)
        object.__setattr__(self, "models", tuple(dict.fromkeys(self.models)))
        for model in self.models:
            check_model(model)
            self._space(model)
        object.__setattr__(self, "datasets", self._resolved(self.datasets))

    def with_(
        self,
        *,
        models: Iterable[str] | None = None,
        datasets: Iterable[str] | None = None,
        search: str | None = None,
        seeds: int | None = None,
    ) -> Self:
        """The suite with other models, fewer datasets (patterns of its own), another search or number of seeds."""
        given: dict[str, Any] = {"models": models and tuple(models), "search": search, "seeds": seeds}
        changed = replace(self, **{name: value for name, value in given.items() if value is not None})
        return changed if datasets is None else replace(changed, datasets=chosen_names(changed.datasets, datasets))

    def cells(self) -> tuple[Cell, ...]:
        """Every model on every dataset, dataset after dataset."""
        return tuple(self.cell(dataset, model) for dataset in self.datasets for model in self.models)

    def cell(self, dataset: str, model: str) -> Cell:
        """One model on one dataset."""
        return Cell(
            dataset=dataset,
            model=model,
            data_seed=self.data_seed,
            table=self.tables.get(dataset),
            space=self._space(model),
            method=SearchMethod.parse(self.search),
            splits=self._splits(dataset),
            metric=self.choose_by,
            n_seeds=self.seeds,
        )

    def to_json(self) -> dict[str, Any]:
        """All that it says, as plain values, in the form that a TOML file has."""
        plain: dict[str, Any] = {
            name: getattr(self, name)
            for name in ("name", "title", "search", "search_on", "n_folds", "choose_by", "seeds", "data_seed")
        }
        plain |= {"spaces_like": self.spaces_like, "datasets": list(self.datasets), "models": list(self.models)}
        plain |= {
            name: {key: dict(value) for key, value in getattr(self, name).items()} for name in ("spaces", "settings")
        }
        plain["cut"] = {family: dict(vars(cut)) for family, cut in self.cut.items()}
        plain["tables"] = {
            name: {"path": str(table.path), "target": table.target, "validation": table.validation, "test": table.test}
            for name, table in self.tables.items()
        }
        return plain

    def _resolved(self, names: Iterable[str]) -> tuple[str, ...]:
        found: dict[str, None] = {}
        for name in names:
            suite, slash, pattern = name.partition("/")
            if slash:
                found |= dict.fromkeys(chosen_names(datasets.names(suite), [pattern]))
            elif name in self.tables:
                found[name] = None
            elif set(name) & set("*?["):
                found |= dict.fromkeys(chosen_names((*datasets.names(), *self.tables), [name]))
            else:
                describe(name)
                found[name] = None
        require(found, "datasets", "at least one", list(names))
        return tuple(found)

    def _space(self, model: str) -> SearchSpace:
        own = self.spaces.get(model)
        if SearchMethod.parse(self.search).kind == "none":
            values: Mapping[str, Any] = {}
        elif own is not None:
            values = own
        else:
            values = _catalogued(model, self.spaces_like or self.name)
        # A setting that is itself a list is one value here, not several.
        kept = {name: [value] for name, value in self.settings.get(model, {}).items()}
        return SearchSpace.of({**values, **kept})

    def _splits(self, dataset: str) -> tuple[Split, ...]:
        family = ""
        if dataset in self.tables:
            has_validation = self.tables[dataset].validation > 0
        else:
            known = describe(dataset)
            has_validation = "validation" in known.sizes and not known.validation_is_test
            family = known.family
        if self.search_on == "validation" and has_validation:
            return (VALIDATION,)
        cut = self.cut.get(family)
        sizes = {} if cut is None else vars(cut)
        return tuple(Split(kind="fold", fold=fold, n_folds=self.n_folds, **sizes) for fold in range(self.n_folds))


def _catalogued(model: str, suite: str) -> Mapping[str, Any]:
    if ":" in model:
        return {}
    entry = catalog.entry(model)
    if not entry.suites:
        return {}
    return entry.search_space(suite if suite in entry.suites else entry.suites[0]).values


def chosen_names(names: Iterable[str], patterns: Iterable[str]) -> tuple[str, ...]:
    """The names that fit any of the patterns, in their order; a pattern that fits none is refused."""
    known, wanted = tuple(names), tuple(patterns)
    for pattern in wanted:
        if not any(fnmatchcase(name, pattern) for name in known):
            hint = did_you_mean(pattern, known, otherwise=f"there are {', '.join(known[:5])} and others.")
            raise InvalidInputError(f"no dataset of this benchmark is called {pattern!r}; {hint}")
    return tuple(name for name in known if any(fnmatchcase(name, pattern) for pattern in wanted))
