"""A benchmark as data: which models on which datasets, searched and scored how; from a TOML file, or from a store.

The suites that come along are the TOML files in the folder ``suites``.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fnmatch import fnmatchcase
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, Self, get_args, get_origin

from mcquack import datasets
from mcquack.bench.plan import Cell, SearchMethod
from mcquack.bench.samples import check_model, check_settings, describe, estimator_class
from mcquack.bench.store import RunRecord, Store, asked_pairs
from mcquack.bench.task import (
    METRICS,
    VALIDATION,
    AucScores,
    Metric,
    Split,
    TableSource,
    Task,
    is_computed_here,
    model_and_label,
)
from mcquack.bench.toml_text import FieldsReader, Key, Kind, toml_fields, user_text
from mcquack.checks import did_you_mean, is_whole_number, require, required_count
from mcquack.datasets.table import read_table
from mcquack.errors import InvalidInputError
from mcquack.models import catalog
from mcquack.models.catalog import SearchSpace

SearchOn = Literal["validation", "folds"]

BUILT_IN = ("real-world", "qml", "hardware-twin", "feature-maps", "real-world-race", "qml-race")
_PUBLISHED_FOR = "qml"  # the suite whose settings were published
_SIZES: Mapping[str, type] = {"n_train": int, "n_validation": int}
_MOST_TIMES = 100_000  # of seeds, draws and folds; all are listed before the first task runs
_MOST_SETTINGS = 10_000_000  # of a search space, whose numbers a search by chance shuffles
_REQUIRED = ("name", "datasets", "models")
_TABLE_KINDS: Mapping[str, Kind] = {
    **dict.fromkeys(("path", "target", "missing", "missing_target", "decimal", "thousands", "date_format"), str),
    **dict.fromkeys(("validation", "test"), float),
    **dict.fromkeys(("numeric", "categorical", "ignore"), list[str]),
    "one_hot": bool | list[str],
}


@dataclass(frozen=True, kw_only=True)
class Suite:
    """Models and datasets, and the protocol by which they are searched and scored.

    Parameters
    ----------
    name, title : what programs and people call it.
    datasets : names, "suite/*" or other patterns, "module:name" for what a module of the user's registers, or keys of
        ``tables``.
    models : names of the catalogue, or "module:Class" of any classifier; "mcquack/iqp" and "mcquack/zz" are two models
        of one class, to be given different settings.
    search, search_on, n_folds, choose_by : how settings are found, as "grid" or "random:30", on which splits, and by
        which metric. "validation" takes folds for datasets that have no validation part of their own.
    published : for the search "published", by model and then by dataset the settings to take; a pair that has none is
        left out. ``with_published`` fills it with those of the QML suite.
    auc_scores : from what the area under the curve is taken where there are more than two classes: "normalised", scores
        that sum to one for each sample, of models that have any (``predict_proba``), or "raw", the decision function.
        For two classes, and for models that have the decision function alone, as "svc", both are the same.
    seeds, data_seed : how often the best settings are scored, and which samples are drawn where a dataset is a draw.
    draws : how many draws of such datasets there are, from ``data_seed`` on: with more than one each is a dataset of
        its own, as "mnist10@3", which is searched and scored for itself.
    spaces, spaces_like, settings : a model's search space is that in ``spaces``, else the catalogue's for the suite
        ``spaces_like``, else one it has for another suite, else its defaults alone. ``settings`` hold for every search
        of a model. Both are those of the model with its label, as "mcquack/iqp", and else those without it; settings
        are those of both.
    unscaled : the models "module:Class" that get features as they come. All others of that kind get every feature
        scaled to [0, 1], fitted on what each task trains on, as models of the catalogue do it themselves: those have a
        setting for it.
    cut : by family of datasets, to how many samples each side of a fold is cut ("n_train" and "n_validation"), to make
        a search on a large dataset affordable.
    tables : tables of the user's by name, with what ``mcquack.datasets.load_csv`` is to make of their cells.

    Examples
    --------
    >>> suite = Suite(name="mine", datasets=("iris3",), models=("svc", "mlp"), search="random:3")
    >>> [(cell.dataset, cell.model, cell.most_tasks) for cell in suite.cells()]
    [('iris3', 'svc', 20), ('iris3', 'mlp', 20)]
    """

    name: str
    title: str = ""
    datasets: tuple[str, ...]
    models: tuple[str, ...]
    search: str = "grid"
    search_on: SearchOn = "validation"
    n_folds: int = 5
    choose_by: Metric = "balanced_accuracy"
    auc_scores: AucScores = "normalised"
    seeds: int = 5
    data_seed: int = 0
    draws: int = 1
    spaces_like: str = ""
    unscaled: tuple[str, ...] = ()
    cut: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    spaces: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    published: Mapping[str, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)
    tables: Mapping[str, TableSource] = field(default_factory=dict)

    def __post_init__(self) -> None:
        require(self.name and isinstance(self.name, str), "name", "a text", self.name)
        require(self.models, "models", "at least one", list(self.models))
        require(self.search_on in ("validation", "folds"), "search_on", "validation or folds", self.search_on)
        require(self.choose_by in METRICS, "choose_by", f"one of {', '.join(METRICS)}", self.choose_by)
        require(self.auc_scores in get_args(AucScores), "auc_scores", "normalised or raw", self.auc_scores)
        require(is_whole_number(self.n_folds) and self.n_folds >= 2, "n_folds", "at least 2", self.n_folds)
        require(is_whole_number(self.data_seed) and self.data_seed >= 0, "data_seed", "at least 0", self.data_seed)
        for name in ("seeds", "draws", "n_folds"):
            count = required_count(name, getattr(self, name))
            require(count <= _MOST_TIMES, name, f"at most {_MOST_TIMES:,}", count)
        for sizes in self.cut.values():
            require(sizes.keys() == _SIZES.keys(), "cut", f"of {' and '.join(_SIZES)}", dict(sizes))
            for name, size in sizes.items():
                required_count(name, size)
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
        auc_scores: AucScores | None = None,
    ) -> Self:
        """The suite with other models, fewer datasets (patterns of its own), another search, seeds or AUC."""
        given: dict[str, Any] = {"search": search, "seeds": seeds, "auc_scores": auc_scores}
        given["models"] = models and tuple(models)
        changed = replace(self, **{name: value for name, value in given.items() if value is not None})
        return changed if datasets is None else replace(changed, datasets=chosen_names(changed.datasets, datasets))

    def with_published(self, data_dir: str | Path | None = None) -> Self:
        """The suite with what the QML suite published for its models and datasets, if it asks for that and has none.

        Parameters
        ----------
        data_dir : where the file is looked for, as in ``mcquack.datasets.load``.

        Returns
        -------
        Suite
            Ready for ``cells``, and for a store, from which the same cells come back without the file. Models and
            datasets are to be chosen before.
        """
        if self.search != "published" or self.published:
            return self
        from mcquack.bench.ranking.published import published_settings  # not above: most suites need no rankings

        known = published_settings(data_dir)
        models = dict.fromkeys(model_and_label(name)[0] for name in self.models)
        kept = {
            model: {dataset: each for dataset, each in known[model].items() if dataset in self.datasets}
            for model in models
            if model in known
        }
        if not any(kept.values()):
            raise InvalidInputError(
                f"no settings of {', '.join(models)} were published for these datasets; there are some of "
                f"{', '.join(known)} for those of the suite qml."
            )
        return replace(self, published=kept)

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The datasets and models of its cells: all, or with published settings those that have any."""
        return asked_pairs(vars(self))

    def cells(self) -> tuple[Cell, ...]:
        pairs = self.pairs
        require(pairs, "published", "the settings of a model on a dataset at least; with_published reads them", {})
        return tuple(self.cell(dataset, model) for dataset, model in pairs)

    def cell(self, dataset: str, model: str) -> Cell:
        return Cell(
            dataset=dataset,
            model=model,
            data_seed=self.data_seed,
            table=self.tables.get(dataset),
            scaled=self._scales(model),
            auc_scores=self._auc_scores(dataset, model),
            space=self._space(model, dataset),
            method=SearchMethod.parse(self.search),
            splits=self._splits(dataset),
            metric=self.choose_by,
            n_seeds=self.seeds,
        )

    def to_json(self) -> dict[str, Any]:
        found: dict[str, Any] = {name: _plain(getattr(self, name)) for name in _KINDS}
        for table in found["tables"].values():
            del table["digest"]  # taken anew, from the file as it is then
        if not self.published:  # releases that know none can read it too
            del found["published"]
        return found

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
        return tuple(each for name in found for each in self._draws_of(name))

    def _draws_of(self, name: str) -> tuple[str, ...]:
        if self.draws == 1 or name in self.tables or not describe(name).is_seeded:
            return (name,)
        return tuple(f"{name}@{self.data_seed + number}" for number in range(self.draws))

    def _space(self, name: str, dataset: str | None = None) -> SearchSpace:
        """What is tried for a model, on any dataset unless its settings were published for each."""
        model, _ = model_and_label(name)
        kind, entry = SearchMethod.parse(self.search).kind, None if ":" in model else catalog.entry(model)
        values: Mapping[str, Any] = {}
        chosen = {**self.settings.get(model, {}), **self.settings.get(name, {})}
        if kind == "published" and dataset is not None:
            if dataset not in self.published.get(model, {}):
                raise InvalidInputError(f"no settings of {model} were published for {dataset}; take another search.")
            # They are the best of the suite's grid, whose other values hold as well.
            kept = entry.search_space(_PUBLISHED_FOR).fixed if entry and _PUBLISHED_FOR in entry.suites else {}
            chosen = {**kept, **self.published[model][dataset], **chosen}
        elif kind not in ("published", "none"):
            like = self.spaces_like or self.name
            if name in self.spaces or model in self.spaces:
                values = self.spaces.get(name) or self.spaces[model]
            elif entry is not None and entry.suites:
                values = entry.search_space(like if like in entry.suites else entry.suites[0]).values
        # A setting that is itself a list is one value here, not several.
        space = SearchSpace.of({**values, **{setting: [value] for setting, value in chosen.items()}})
        if (size := math.prod(len(tried) for _, tried in space.choices)) > _MOST_SETTINGS:
            raise InvalidInputError(
                f"spaces of {name!r} have {size:.3g} settings in all, more than {_MOST_SETTINGS:,}; list fewer values."
                if size < 1e300
                else f"spaces of {name!r} have too many settings to be counted; list fewer values."
            )
        return space

    def _scales(self, name: str) -> bool:
        return _is_foreign(name) and not {name, model_and_label(name)[0]} & set(self.unscaled)

    def _auc_scores(self, dataset: str, model: str) -> AucScores:
        """What is asked for, where it can make a difference; elsewhere a task is the one that it always was."""
        # How many classes a table has is known once it is read.
        is_binary = dataset not in self.tables and describe(dataset).n_classes == 2
        if is_binary or self.auc_scores == "raw":
            return "raw"
        return "normalised" if hasattr(estimator_class(model), "predict_proba") else "raw"

    def _splits(self, dataset: str) -> tuple[Split, ...]:
        known = None if dataset in self.tables else describe(dataset)
        if known is None:
            has_validation = self.tables[dataset].validation > 0
        else:
            has_validation = "validation" in known.sizes and not known.validation_is_test
        if self.search_on == "validation" and has_validation:
            return (VALIDATION,)
        sizes = {} if known is None else self.cut.get(known.family, {})
        return tuple(Split(kind="fold", fold=fold, n_folds=self.n_folds, **sizes) for fold in range(self.n_folds))


# What a TOML file may say: the fields of a suite, as TOML has them.
_TOML_KINDS: Mapping[Any, Kind] = {tuple: list[str], Mapping: dict, int: int}
_KINDS = {each.name: _TOML_KINDS.get(get_origin(each.type) or each.type, str) for each in fields(Suite)}


def _plain(value: Any) -> Any:
    """The value as JSON has it."""
    if isinstance(value, TableSource):
        return value.to_json()
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, tuple | list) else value


def _is_foreign(name: str) -> bool:
    """Whether a model is neither of the catalogue nor of a study, so that nobody knows how it takes features."""
    return ":" in name and not is_computed_here(name)


def _is_strange(name: str) -> bool:
    """Whether a name means code from elsewhere; modules of studies do nothing when they are imported."""
    return ":" in name and not name.startswith("mcquack.studies.")


def _texts(value: object) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list | tuple) else []


def modules_to_import(names: Iterable[str]) -> tuple[str, ...]:
    """The modules from elsewhere that models and datasets of these names take, none of which is imported for it.

    >>> modules_to_import(["svc", "sklearn.naive_bayes:GaussianNB", "mcquack/iqp"])
    ('sklearn.naive_bayes',)
    """
    return tuple(dict.fromkeys(model_and_label(name)[0].rpartition(":")[0] for name in names if _is_strange(name)))


def names_in_suite(name_or_path: str | Path) -> tuple[str, ...]:
    """The models and datasets that the TOML file of a suite lists, as they stand there and unchecked."""
    if name_or_path in BUILT_IN:
        return ()
    text = user_text(Path(name_or_path), what="suite", known=BUILT_IN)
    given = toml_fields(text, called=str(name_or_path))
    return tuple(name for kind in ("models", "datasets") for name in _texts(given.get(kind)))


def chosen_names(names: Iterable[str], patterns: Iterable[str]) -> tuple[str, ...]:
    """The names that fit any of the patterns, in their order; a pattern that fits none is refused."""
    known, wanted = tuple(names), tuple(patterns)
    for pattern in wanted:
        if not any(fnmatchcase(name, pattern) for name in known):
            hint = did_you_mean(pattern, known, otherwise=f"there are {', '.join(known[:5])} and others.")
            raise InvalidInputError(f"no dataset of this benchmark is called {pattern!r}; {hint}")
    return tuple(name for name in known if any(fnmatchcase(name, pattern) for pattern in wanted))


def read_suite(name_or_path: str | Path) -> Suite:
    """A suite of mcquack by its name, or one of the user's from a TOML file.

    Parameters
    ----------
    name_or_path : one of ``BUILT_IN``, or the path of a file that ends in .toml.

    Returns
    -------
    Suite
        What the file says; whatever is wrong with it is refused with its line.

    Examples
    --------
    >>> len(read_suite("qml").datasets)
    133
    """
    if name_or_path in BUILT_IN:
        file = files("mcquack.bench").joinpath("suites", f"{str(name_or_path).replace('-', '_')}.toml")
        return suite_from_text(file.read_text(encoding="utf-8"), called=str(name_or_path))
    path = Path(name_or_path)
    text = user_text(path, what="suite", known=BUILT_IN)
    suite = suite_from_text(text, called=str(path), folder=path.parent)
    if suite.name in BUILT_IN:
        raise InvalidInputError(f"{path}: {suite.name!r} is the name of a suite of mcquack; choose another.")
    return suite


def suite_from_text(text: str, *, called: str, folder: Path = Path()) -> Suite:
    """The suite in TOML; paths of tables are relative to ``folder``, and errors name the file as ``called``."""
    reader = FieldsReader(called, text)
    suite = _suite(toml_fields(text, called=called), reader, folder=folder)
    _check_names(suite, reader)
    return suite


def suite_from_json(given: Mapping[str, Any], *, named: Collection[str] = ()) -> Suite:
    """The suite whose ``to_json`` this is; an older one has raw areas under the curve, and scales no features.

    Parameters
    ----------
    given : What a store says, which anybody may have written.
    named : The models and datasets "module:name" that the user has named elsewhere. All others of that form are
        refused before their modules are imported: to read a store must not run what its text asks for. Those of the
        studies that come along need not be named.
    """
    asked = [name for kind in ("models", "datasets") for name in _texts(given.get(kind, ()))]
    strange = [name for name in dict.fromkeys(asked) if _is_strange(name) and name not in named]
    if strange:
        raise InvalidInputError(
            f"the store asks for {', '.join(map(repr, strange[:5]))}, and what a store says is not imported: name the "
            "suite that has them (--suite FILE.toml), or them or others by --models and --datasets."
        )
    older = {"auc_scores": "raw", "unscaled": list(filter(_is_foreign, given.get("models", ())))}
    return _suite({**older, **given}, FieldsReader("the stored suite", None))


def recorded_cells(
    runs: Sequence[RunRecord], wanted: Collection[tuple[str, str]], *, named: Collection[str] = ()
) -> dict[tuple[str, str], Cell]:
    """The wanted cells, by dataset and model, that any run asked for, each as the last run that did so asked for it.

    Nothing else of the runs is looked at: tables that are not wanted may be gone. ``named`` is that of
    ``suite_from_json``.
    """
    cells: dict[tuple[str, str], Cell] = {}
    for run in reversed(runs):
        asked = [pair for pair in run.pairs if pair in wanted and pair not in cells]
        if not asked:
            continue
        names, models = (list(dict.fromkeys(each)) for each in zip(*asked, strict=True))
        tables = {name: table for name, table in run.suite.get("tables", {}).items() if name in names}
        suite = suite_from_json({**run.suite, "datasets": names, "models": models, "tables": tables}, named=named)
        cells |= {(dataset, model): suite.cell(dataset, model) for dataset, model in asked}
    return cells


def cells_to_retry(
    store: Store,
    *,
    models: Collection[str] | None = None,
    patterns: Collection[str] | None = None,
    suite: Suite | None = None,
) -> tuple[list[Cell], list[Task], list[Task]]:
    """The cells to run again, the failed tasks that they may ask for, and those that no recorded run asks for any more.

    Of the failures in the store only those of these models, and on datasets that fit these patterns; None for all.
    What is "module:name" must be in the suite, be named by ``models`` or ``patterns``, or be of a study that comes
    along; see ``suite_from_json``.
    """
    runs = store.runs()
    if not runs:
        raise InvalidInputError(f"no run has begun in {store.path}; begin one with mcquack bench run.")
    known_models, known_datasets = (
        tuple(dict.fromkeys(name for run in runs for name in run.suite.get(kind, ())))
        for kind in ("models", "datasets")
    )
    for model in models or ():
        if model not in known_models:
            hint = did_you_mean(model, known_models, otherwise=f"there are {', '.join(known_models)}.")
            raise InvalidInputError(f"no model of this store is named {model!r}; {hint}")
    wanted = None if patterns is None else chosen_names(known_datasets, patterns)
    failures = [
        outcome.task
        for outcome in store.outcomes(failed=True, details=False)
        if (models is None or outcome.task.model in models) and (wanted is None or outcome.task.dataset in wanted)
    ]
    named = {*(models or ()), *(patterns or ()), *(() if suite is None else (*suite.models, *suite.datasets))}
    cells = recorded_cells(runs, {(task.dataset, task.model) for task in failures}, named=named)
    again: list[Task] = []
    left: list[Task] = []
    for task in failures:
        cell = cells.get((task.dataset, task.model))
        (again if cell is not None and cell.may_ask_for(task) else left).append(task)
    pairs = {(task.dataset, task.model) for task in again}
    return [cell for pair, cell in cells.items() if pair in pairs], again, left


def _suite(given: Mapping[str, Any], reader: FieldsReader, *, folder: Path = Path()) -> Suite:
    reader.check(given, _KINDS, required=_REQUIRED)
    values: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
    for name, value in given.items():
        if isinstance(value, dict):
            reader.check(value, dict.fromkeys(value, dict), within=(name,))
    for model, by_dataset in given.get("published", {}).items():
        reader.check(by_dataset, dict.fromkeys(by_dataset, dict), within=("published", model))
    for family, sizes in given.get("cut", {}).items():
        reader.check(sizes, _SIZES, within=("cut", family), required=tuple(_SIZES))
    tables = given.get("tables", {}).items()
    values["tables"] = {name: _table(table, reader, within=("tables", name), folder=folder) for name, table in tables}
    try:
        return Suite(**values)
    except InvalidInputError as error:
        reader.refuse_named(error)  # the suite names the key or quotes the text that it refuses


def _table(table: Mapping[str, Any], reader: FieldsReader, *, within: Key, folder: Path) -> TableSource:
    reader.check(table, _TABLE_KINDS, within=within, required=("path", "target"))
    try:
        path = (folder / table["path"]).resolve()
        is_there = path.is_file()
    except OSError as error:  # as a name that is too long for any file
        reader.refuse((*within, "path"), f"there can be no file {table['path'][:80]!r} ({error.strerror})")
    if not is_there:
        reader.refuse((*within, "path"), f"there is no file {path}")
    with reader.placed(within):
        return TableSource.of(path, **{key: value for key, value in table.items() if key != "path"})


def _check_names(suite: Suite, reader: FieldsReader) -> None:
    """Refuses what would silently be of no use: a misspelt model, setting, family or column."""
    models = dict.fromkeys(model_and_label(name)[0] for name in suite.models)
    named = {**dict.fromkeys(suite.models), **models}

    def check_known(name: str, known: Collection[str], *, what: str, key: Key) -> None:
        if name not in known:
            hint = did_you_mean(name, known, otherwise=f"there are {', '.join(known)}.")
            reader.refuse(key, f"{name!r} is none of the {what}; {hint}")

    for kind in ("spaces", "settings"):
        for model, values in getattr(suite, kind).items():
            check_known(model, named, what="models", key=(kind, model))
            with reader.placed((kind, model)):
                check_settings(model, values)
    for model, by_dataset in suite.published.items():
        for dataset, values in by_dataset.items():
            key = ("published", model, dataset)
            check_known(model, models, what="models", key=key)
            check_known(dataset, suite.datasets, what="datasets", key=key)
            with reader.placed(key):
                check_settings(model, values)
    for model in suite.unscaled:
        check_known(model, named, what="models", key=("unscaled",))
        if not _is_foreign(model):
            reader.refuse(("unscaled",), f"{model} scales features itself; see `mcquack models show {model}`")
    families = {known.family for known in datasets.descriptions()}
    for family in suite.cut:
        if family not in families:
            hint = did_you_mean(family, families, otherwise="mcquack datasets list shows them by family.")
            reader.refuse(("cut", family), f"no family of datasets is called {family!r}; {hint}")
    for name, table in suite.tables.items():
        with reader.placed(("tables", name)):
            read = read_table(table.path)
            spread = () if isinstance(table.one_hot, bool) else table.one_hot
            for column in (table.target, *table.numeric, *table.categorical, *table.ignore, *spread):
                read.column(column)
