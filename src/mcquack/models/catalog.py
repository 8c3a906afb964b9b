"""All models by short name; a new one is a class and a table in ``catalog.toml``."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from inspect import signature
from itertools import product
from os import PathLike
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

from mcquack.checks import did_you_mean
from mcquack.errors import InvalidInputError, Setting

if TYPE_CHECKING:
    from mcquack.models.archive import Archived

Settings = dict[str, Any]
Facts = dict[str, Any]  # as JSON has them
_OF_A_CIRCUIT = ("n_qubits", "n_layers", "n_features", "n_gates", "depth")


@dataclass(frozen=True)
class SearchSpace:
    """Every combination of the values listed for each setting, numbered as scikit-learn's ParameterGrid does.

    A grid search iterates over it, a random search draws numbers below its length, and an optimiser chooses a position
    in each list of ``searched`` and asks ``at``.
    """

    choices: tuple[tuple[str, tuple[Any, ...]], ...]

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> Self:
        """From names with lists of values to try, or with the one value to keep; a value may be a list of numbers."""
        return cls(tuple((name, _values(name, table[name])) for name in sorted(table)))

    @property
    def values(self) -> dict[str, tuple[Any, ...]]:
        """All settings with their values, as searches of scikit-learn take them."""
        return dict(self.choices)

    @property
    def searched(self) -> dict[str, tuple[Any, ...]]:
        return {name: values for name, values in self.choices if len(values) > 1}

    @property
    def fixed(self) -> Settings:
        return {name: values[0] for name, values in self.choices if len(values) == 1}

    def at(self, positions: Mapping[str, int]) -> Settings:
        """The settings with these positions in their lists, and the first value where none is given."""
        unknown = positions.keys() - self.values.keys()
        if unknown:
            raise InvalidInputError(f"{sorted(unknown)} are not in this search space; it has {sorted(self.values)}.")
        return {name: values[positions.get(name, 0)] for name, values in self.choices}

    def __len__(self) -> int:
        return math.prod(len(values) for _, values in self.choices)

    def __iter__(self) -> Iterator[Settings]:
        for combination in product(*self.values.values()):
            yield dict(zip(self.values, combination, strict=True))

    def __getitem__(self, number: int) -> Settings:
        if not 0 <= number < len(self):
            raise IndexError(f"settings are numbered from 0 to {len(self) - 1}, got {number}.")
        positions = {}
        for name, values in reversed(self.choices):
            number, positions[name] = divmod(number, len(values))
        return self.at(positions)


def _values(name: str, given: Any) -> tuple[Any, ...]:
    values = tuple(map(frozen, given)) if isinstance(given, list | tuple) else (given,)
    if not values:
        raise InvalidInputError(Setting(name), " has no values to try; list at least one.")
    for value in values:
        if not all(map(_is_plain, value if isinstance(value, tuple) else (value,))):
            expected = "numbers, texts, true, false or lists of them"
            raise InvalidInputError(Setting(name), f" must be {expected}, got {value!r}.")
    if len(set(values)) < len(values):
        raise InvalidInputError(Setting(name), f" lists a value twice: {list(values)}; list each once.")
    return values


def frozen(value: Any) -> Any:
    """The value, and in the place of a list, which settings cannot hold, a tuple."""
    return tuple(value) if isinstance(value, list) else value


def _is_plain(value: Any) -> bool:
    return isinstance(value, bool | int | str) or (isinstance(value, float) and math.isfinite(value))


Kind = Literal["quantum", "classical"]


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A model as it is listed; its class, "module:class", is imported when first asked for."""

    name: str
    title: str
    kind: Kind
    home: str
    description: str
    searched_as: str = ""  # the model whose search spaces it takes

    @property
    def class_name(self) -> str:
        return self.home.partition(":")[2]

    def estimator_class(self) -> type["Archived"]:
        """The class; the first call may take seconds, for the compiler and scikit-learn."""
        found: type[Archived] = getattr(import_module(self.home.partition(":")[0]), self.class_name)
        return found

    def defaults(self) -> Mapping[str, Any]:
        """All settings, in the order of the class, with the values they have unless others are given."""
        parameters = signature(self.estimator_class()).parameters.values()
        return MappingProxyType({parameter.name: parameter.default for parameter in parameters})

    def new(self, **settings: Any) -> "Archived":
        """An estimator that is not fitted yet, with these settings and the defaults of the others."""
        known = self.defaults()
        for name in sorted(settings.keys() - known.keys()):
            hint = did_you_mean(name, known, otherwise=f"mcquack models show {self.name} lists them.")
            raise InvalidInputError(f"{self.name} has no setting {name!r}; {hint}")
        return self.estimator_class()(**settings)

    @property
    def suites(self) -> tuple[str, ...]:
        """The suites of datasets for which there is a search space."""
        return tuple(self._search_spaces)

    def search_space(self, suite: str) -> SearchSpace:
        """What to try on the datasets of a suite."""
        if suite not in self.suites:
            known = f"there is one for {' and '.join(self.suites)}" if self.suites else "there is none"
            raise InvalidInputError(f"{self.name} has no search space for {suite!r}; {known}.")
        return self._search_spaces[suite]

    @property
    def _search_spaces(self) -> Mapping[str, SearchSpace]:
        return _search_spaces().get(self.searched_as or self.name, {})


def package_tables(name: str) -> dict[str, dict[str, Any]]:
    """What a TOML file of this package says, by the names of its tables."""
    import tomllib
    from importlib.resources import files

    return tomllib.loads(files("mcquack.models").joinpath(name).read_text(encoding="utf-8"))


@cache
def _entries() -> tuple[Entry, ...]:
    return tuple(Entry(name=name, **about) for name, about in package_tables("catalog.toml").items())


def entries(kind: Kind | None = None) -> tuple[Entry, ...]:
    """All models, or those of a kind."""
    if kind is not None and kind not in get_args(Kind):
        raise InvalidInputError(f"a model is {' or '.join(get_args(Kind))}, not {kind!r}.")
    return tuple(entry for entry in _entries() if kind in (None, entry.kind))


def names(kind: Kind | None = None) -> tuple[str, ...]:
    """What ``entry`` takes: all short names, or those of a kind."""
    return tuple(entry.name for entry in entries(kind))


def entry(name: str) -> Entry:
    """The model of this short name."""
    for known in entries():
        if known.name == name:
            return known
    hint = did_you_mean(name, names(), otherwise="mcquack models list shows all.")
    raise InvalidInputError(f"no model is named {name!r}; {hint}")


def classes() -> dict[str, Callable[[], type["Archived"]]]:
    """Every model by the name that files have for its class, with the function that imports the class."""
    return {known.class_name: known.estimator_class for known in entries()}


def load(path: str | PathLike[str], *, max_bytes: int | None = None) -> "Archived":
    """The estimator in a model file, whichever kind it is.

    Parameters
    ----------
    path : The file, as ``save`` of any model and ``mcquack fit`` write it.
    max_bytes : How large a file is read; by default what the variable MCQUACK_MODEL_BYTES says, or 1 GiB. What is
        larger is refused before it fills the memory.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.datasets import load_iris
    >>> from mcquack.models import SupportVectorClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> with TemporaryDirectory() as folder:
    ...     SupportVectorClassifier().fit(X, y).save(f"{folder}/svc.mcq")
    ...     load(f"{folder}/svc.mcq", max_bytes=1_000_000).predict(X[:2]).tolist()
    [0, 0]
    """
    from mcquack.models import archive  # not above: a look at the catalogue needs neither scikit-learn nor Numba

    return archive.load(classes(), path, max_bytes=max_bytes)


@cache
def _search_spaces() -> Mapping[str, Mapping[str, SearchSpace]]:
    tables = package_tables("search_spaces.toml")
    return {name: {suite: SearchSpace.of(table) for suite, table in tables[name].items()} for name in tables}


# Named settings of McQuackClassifier


@cache
def _presets() -> Mapping[str, Mapping[str, Any]]:
    tables = package_tables("presets.toml")
    return MappingProxyType(
        {name: MappingProxyType({key: frozen(tables[name][key]) for key in tables[name]}) for name in tables}
    )


def preset(name: str) -> dict[str, Any]:
    """Settings of that name: ``McQuackClassifier(**preset("paper"))``."""
    if name not in _presets():
        raise InvalidInputError(f"there is no preset {name!r}; choose one of {', '.join(_presets())}.")
    return dict(_presets()[name])


# Facts


def model_facts(model: Any, *, path: object = "the model") -> Facts:
    """All about a model from ``mcquack.load``: what it takes and gives, how it was trained, and by what.

    What a kind of model does not have is None; ``path`` is what the facts and error messages call it.

    >>> from mcquack.models import NystroemSVM
    >>> model_facts(NystroemSVM().fit([[0.0], [1.0]], ["a", "b"]))["classes"]
    ['a', 'b']
    """
    from mcquack.models.archive import plain_settings  # not above: the catalogue needs neither scikit-learn nor Numba
    from mcquack.models.tables import encoder_of

    circuit, history = getattr(model, "feature_map_", None), getattr(model, "history_", [])
    in_steps = hasattr(model, "max_steps")  # what training is counted in
    best: Any = getattr(model, "best_epochs_", getattr(model, "best_epoch_", None))
    return {
        "file": str(path),
        "kind": type(model).__name__,
        "classes": model.classes_.tolist(),
        "n_features": model.n_features_in_,
        "table": encoder_of(model, path=path).to_header() if "table" in getattr(model, "extra_", {}) else None,
        "circuit": circuit and {name: getattr(circuit, name, None) for name in _OF_A_CIRCUIT},
        "n_parameters": model.n_parameters_,
        "n_epochs": model.n_iter_ if history and not in_steps else None,
        "n_steps": model.n_iter_ if in_steps else None,
        "best_epoch": best.tolist() if hasattr(best, "tolist") else best,
        "last_epoch": dict(history[-1]) if history else None,
        "settings": plain_settings(model),
        "versions": dict(getattr(model, "versions_", {})),
    }


def entry_facts(entry: Entry, *, with_settings: bool = True) -> Facts:
    """What the catalogue knows about a model; settings and search spaces take an import of its class.

    >>> entry_facts(entry("svc"))["n_settings"]
    {'real-world': 16, 'qml': 16}
    """
    facts = {
        "name": entry.name,
        "title": entry.title,
        "kind": entry.kind,
        "description": entry.description,
        "class": entry.home.replace(":", "."),
        "n_settings": {suite: len(entry.search_space(suite)) for suite in entry.suites},
    }
    if with_settings:
        facts["defaults"] = dict(entry.defaults())
        facts["search_spaces"] = {suite: entry.search_space(suite).values for suite in entry.suites}
    return facts


ENTRIES: tuple[Entry, ...]
PAPER: Mapping[str, Any]
PRESETS: Mapping[str, Mapping[str, Any]]
QML_SUITE: Mapping[str, Any]
_READ_WHEN_USED: Mapping[str, Callable[[], Any]] = {
    "ENTRIES": entries,
    "PAPER": lambda: _presets()["paper"],
    "PRESETS": _presets,
    "QML_SUITE": lambda: _presets()["qml"],
}


def __getattr__(name: str) -> Any:
    if name in _READ_WHEN_USED:
        return _READ_WHEN_USED[name]()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
