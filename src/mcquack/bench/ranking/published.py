"""What others published: scores and best settings of the QML suite (Bowles, Ahmed, Schuld 2024), or tables of scores.

A known fault of the suite's scores is mended.
"""

import ast
import csv
import gzip
import io
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from mcquack import datasets
from mcquack.bench.ranking.scores import CellScores, Key, family_and_size, model_titles
from mcquack.bench.task import METRICS, Part
from mcquack.checks import did_you_mean, is_number, is_whole_number
from mcquack.datasets.files import DataFile, Source, places
from mcquack.errors import InvalidInputError, InvalidTableError
from mcquack.files import regular_file
from mcquack.models import catalog

SOURCE = "Bowles et al. 2024"
# Their quantum neural networks and the classical network beside them: whom the paper compares McQuack with.
QNN_FAMILY = (
    "MLPClassifier",
    "DressedQuantumCircuitClassifier",
    "DataReuploadingClassifier",
    "QuantumBoltzmannMachine",
    "IQPVariationalClassifier",
    "QuantumMetricLearner",
    "CircuitCentricClassifier",
    "TreeTensorClassifier",
)
CORRECTED = "test scores corrected: the published ones are of the training part"
LEFT_OUT = "test scores left out: the published ones are of the training part"

SCORES, RERUNS, SETTINGS = (
    DataFile(name=name, folder="qml_benchmarks/scores", checksum=f"sha256:{digest}", n_bytes=n_bytes)
    for name, digest, n_bytes in (
        ("final_scores.csv.gz", "e3b28463b3fdcf118790ba9516541c49c133c58dab3cb90d0085afaee5528fbf", 59_700),
        ("reruns_two_curves_diff.csv", "342b63fbc4179f53104b57b64712be17cdefe2ad44ca4c7e26f1dd6a74d302ee", 4_853),
        ("best_hyperparameters.csv.gz", "9ab733752a91180a83d4ba5869e051422c16a674e1a4ed5835acc0c09e7d3731", 27_850),
    )
)
_Pair = tuple[str, str]  # a dataset and a model
_Rows = Mapping[_Pair, Sequence[Mapping[str, str]]]  # the lines of a file


def published_scores(
    data_dir: str | Path | None = None, *, corrected: bool = True, models: Collection[str] | None = QNN_FAMILY
) -> tuple[CellScores, ...]:
    """Accuracies over five seeds on the 133 datasets of the QML suite; a cell that was not published is missing.

    Parameters
    ----------
    data_dir : where the files are looked for, by default in the folder that MCQUACK_DATA names, as in
        ``mcquack.datasets.load``.
    corrected : whether scores of a rerun take the place of test scores that are of the training part; where there was
        no rerun, these are left out.
    models : those to return, None for all 20.
    """
    source = Source(title="tidied scores of the QML benchmark suite", files=(SCORES, RERUNS), read=_by_cell)
    _, (rows, reruns) = places(data_dir).read((source,), wanted_for="a ranking beside the published models")
    known = dict.fromkeys(model for _, model in rows)
    unknown = sorted(set(models or ()) - set(known))
    if unknown:
        raise InvalidInputError(f"no scores of {', '.join(unknown)} were published; there are {', '.join(known)}.")
    return tuple(
        _cell(lines, rerun=reruns.get(pair, ()), corrected=corrected)
        for pair, lines in rows.items()
        if models is None or pair[1] in models
    )


def _by_cell(*paths: Path) -> list[_Rows]:
    suite = set(datasets.names(suite="qml"))
    found: list[_Rows] = []
    for path in paths:
        cells: dict[_Pair, list[Mapping[str, str]]] = {}
        with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8", newline="") as file:
            for line in csv.DictReader(file):
                dataset = f"{line['family']}_{line['n']}"
                if dataset in suite:  # more was published, of which there is no data here
                    cells.setdefault((dataset, line["model"]), []).append(line)
        found.append(cells)
    return found


def _cell(lines: Sequence[Mapping[str, str]], *, rerun: Sequence[Mapping[str, str]], corrected: bool) -> CellScores:
    lines, rerun = (sorted(each, key=lambda line: int(line["seed"])) for each in (lines, rerun))
    is_faulty = corrected and any(line.get("test_is_train") == "1" for line in lines)
    note = ""
    if is_faulty:
        note = CORRECTED if rerun else LEFT_OUT
        lines = rerun or lines  # with its training scores, for a cell is of one run
    values: dict[Key, tuple[float, ...]] = {("train", "accuracy"): tuple(float(line["train_acc"]) for line in lines)}
    if not is_faulty or rerun:
        values["test", "accuracy"] = tuple(float(line["test_acc"]) for line in lines)
    family, size, model = lines[0]["family"], int(lines[0]["n"]), lines[0]["model"]
    return CellScores(
        dataset=f"{family}_{size}",
        family=family,
        size=size,
        model=model,
        title=model,
        source=SOURCE,
        values=values,
        note=note,
    )


# Settings

# What the suite calls otherwise: models by their class, here as there, but for these two of scikit-learn.
_MODELS = {"MLPClassifier": "mlp", "SVC": "svc"}
_NAMES = {"learning_rate_init": "learning_rate"}
_VALUES = {("visible_qubits", "all"): "full"}
_UNUSED = ("max_vmap",)  # how many samples are run at a time, which changes no result here


def published_settings(data_dir: str | Path | None = None) -> dict[str, dict[str, dict[str, Any]]]:
    """The settings that the grid searches of the QML suite found best, by model of the catalogue and by dataset.

    Parameters
    ----------
    data_dir : where the file is looked for, by default in the folder that MCQUACK_DATA names, as in
        ``mcquack.datasets.load``.

    Returns
    -------
    dict
        By name of the model, then of the dataset, the settings with the names and types that they have here, and lists
        for tuples, as TOML and JSON have them. A pair that was not published is missing.

    Examples
    --------
    >>> published_settings()["svc"]["two_curves_4"]  # doctest: +SKIP
    {'C': 100.0, 'gamma': 1.0}
    """
    source = Source(title="best settings of the QML benchmark suite", files=(SETTINGS,), read=_by_cell)
    _, (cells,) = places(data_dir).read((source,), wanted_for="a run with published settings")
    names = {**{entry.class_name: entry.name for entry in catalog.entries()}, **_MODELS}
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for (dataset, model), lines in cells.items():
        if model in names:
            found.setdefault(names[model], {})[dataset] = _settings(catalog.entry(names[model]), lines)
    return found


def _settings(entry: catalog.Entry, lines: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    defaults, found = entry.defaults(), {}
    for line in lines:
        name = _NAMES.get(line["hyperparameter"], line["hyperparameter"])
        if name not in _UNUSED:
            text = _VALUES.get((name, line["best_value"]), line["best_value"])
            found[name] = _value(text, like=defaults.get(name))
    return found


def _value(text: str, *, like: Any) -> Any:
    """What the text says; a number is a whole one where the default is, for a table of numbers knows only floats."""
    try:
        value = ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text
    if isinstance(value, tuple):
        return list(value)
    if is_number(value) and is_whole_number(like) and value == int(value):
        return int(value)
    return float(value) if is_number(value) and isinstance(like, float) else value


COLUMNS = ("dataset", "model", "part", "metric", "mean", "std", "n_parameters", "source")
_Score = tuple[float, float, int | None]  # mean, standard deviation and number of parameters


def read_published(path: str | Path) -> tuple[CellScores, ...]:
    """The scores of a CSV file of yours with a line for each dataset, model, part and metric.

    Parameters
    ----------
    path : a file with the columns of ``COLUMNS``, in any order and beside others. ``mean`` is from 0 to 1, ``std`` the
        standard deviation over the seeds, ``n_parameters`` may be empty, and ``source`` names the publication. What is
        known here, dataset or model, is best called by its name here.
    """
    cells: dict[tuple[str, str, str], dict[Key, _Score]] = {}
    for number, (dataset, model, source), key, score in _lines(Path(path)):
        scores = cells.setdefault((dataset, model, source), {})
        if key in scores:
            what = f"{model} on {dataset} ({' '.join(key)})"
            raise InvalidTableError(f"{path}, line {number}: {what} was there before; keep one of the two.")
        scores[key] = score
    titles = {
        source: model_titles(model for _, model, its_source in cells if its_source == source)
        for source in {source for _, _, source in cells}
    }
    found = []
    for (dataset, model, source), scores in cells.items():
        family, size = family_and_size(dataset)
        found.append(
            CellScores(
                dataset=dataset,
                family=family,
                size=size,
                model=model,
                title=titles[source][model],
                source=source,
                reported={key: (mean, std) for key, (mean, std, _) in scores.items()},
                n_parameters=next((count for _, _, count in scores.values() if count is not None), None),
            )
        )
    return tuple(found)


def _lines(path: Path) -> Iterator[tuple[int, tuple[str, str, str], Key, _Score]]:
    try:
        with regular_file(path, what="a CSV of scores", error=InvalidTableError) as stream:
            text = stream.read().decode("utf-8-sig")  # a byte order mark is no part of the first name
    except OSError as error:
        raise InvalidTableError(f"{path} cannot be read: {error.strerror}; name a CSV file.") from error
    except UnicodeDecodeError as error:
        raise InvalidTableError(f"{path} is not UTF-8; save it as CSV in that encoding.") from error
    reader = csv.DictReader(io.StringIO(text, newline=""), restval="", strict=True)
    try:
        reader.fieldnames = [name.strip() for name in reader.fieldnames or ()]
        missing = [name for name in COLUMNS if name not in reader.fieldnames]
        if missing:
            raise ValueError(
                f"there is no column {' and '.join(missing)}; the first line must name {', '.join(COLUMNS)}."
            )
        for line in reader:
            texts = {name: line[name].strip() for name in COLUMNS}
            for column in ("dataset", "model", "source"):
                if not texts[column]:
                    raise ValueError(f"{column} is empty; every line needs one.")
            n_parameters = texts["n_parameters"]
            if n_parameters and not n_parameters.isdecimal():
                raise ValueError(f"n_parameters must be a whole number or empty, got {n_parameters!r}.")
            key: Key = (_one_of(get_args(Part), texts, "part"), _one_of(METRICS, texts, "metric"))
            score = (_share(texts, "mean"), _share(texts, "std"), int(n_parameters) if n_parameters else None)
            yield reader.reader.line_num, (texts["dataset"], texts["model"], texts["source"]), key, score
    except (ValueError, csv.Error) as error:
        raise InvalidTableError(f"{path}, line {reader.reader.line_num}: {error}") from error


def _one_of(known: Sequence[Any], texts: Mapping[str, str], column: str) -> Any:
    if texts[column] not in known:
        hint = did_you_mean(texts[column], known, otherwise=f"there are {', '.join(known)}.")
        raise ValueError(f"no {column} is named {texts[column]!r}; {hint}")
    return texts[column]


def _share(texts: Mapping[str, str], column: str) -> float:
    try:
        number = float(texts[column])
    except ValueError:
        number = math.nan
    if not 0 <= number <= 1:
        raise ValueError(f"{column} must be a number from 0 to 1, got {texts[column]!r}.")
    return number
