"""All samples of a source, and how a dataset is drawn from them."""

import io
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
from numpy.typing import NDArray

from mcquack.arrays import FloatArray
from mcquack.datasets.dataset import Part, PartName, pixel_names
from mcquack.errors import DataFileError, InvalidInputError
from mcquack.randomness import stream

Labels = tuple[Any, ...]
Groups = tuple[Labels | None, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class Pool:
    """Samples, which may be pictures with rows and columns, and the labels of their source.

    Samples that agree in their first ``n_identifying`` features, or else in all, are the same sample.
    """

    X: NDArray[Any]
    y: NDArray[Any]
    feature_names: tuple[str, ...]
    n_identifying: int | None = None

    def __post_init__(self) -> None:
        n_features = len(self.feature_names)
        if self.y.shape != (len(self.X),) or math.prod(self.X.shape[1:]) != n_features:
            raise DataFileError(
                f"the source has samples of the shape {self.X.shape} and labels of the shape {self.y.shape}, where "
                f"{n_features} features and one label for each sample were expected; use the original files."
            )
        if self.X.dtype.kind == "f" and not np.isfinite(self.X).all():
            raise DataFileError("the source has values that are missing or infinite; use the original files.")

    def identity(self, row: int) -> bytes:
        """The same for samples that are the same."""
        features = self.X[row].ravel()[: self.n_identifying]
        return bytes((features + features.dtype.type(0)).tobytes())  # -0.0 and 0.0 are one number


@dataclass(frozen=True, kw_only=True)
class Draw:
    """So many samples of each class for each part; a class is a group of the source's labels.

    A sample that repeats one drawn before is passed over, unless the draw ``keeps_repeats``: it might test a model that
    it has trained. One that is ``drawn_as`` another dataset has its very rows.
    """

    name: str
    class_names: tuple[str, ...]
    groups: Groups
    counts: Mapping[PartName, Sequence[int]]
    seed: int
    keeps_repeats: bool = False
    drawn_as: str = ""

    def stream(self, purpose: str) -> np.random.Generator:
        """Randomness for one purpose."""
        return stream(self.seed, "datasets", self.drawn_as or self.name, purpose)

    @property
    def n_wanted(self) -> tuple[int, ...]:
        """Samples of each class in all parts together."""
        return tuple(map(sum, zip(*self.counts.values(), strict=True)))


def classes_of(y: NDArray[Any], groups: Groups) -> NDArray[np.int64]:
    """The index of the group that each label belongs to, -1 for none; a group of None takes all other labels."""
    classes = np.full(len(y), next((index for index, group in enumerate(groups) if group is None), -1))
    for index, group in enumerate(groups):
        if group is not None:
            classes[np.isin(y, group)] = index
    return classes


def apportioned(n_samples: int, weights: Sequence[int]) -> tuple[int, ...]:
    """Whole numbers in the proportion of the weights that add up to ``n_samples``; largest remainders go up."""
    shares = n_samples * np.asarray(weights) / np.sum(weights)
    counts = np.floor(shares).astype(int)
    short = n_samples - counts.sum()
    counts[np.argsort(counts - shares, kind="stable")[:short]] += 1
    return tuple(counts.tolist())


def drawn(pool: Pool, draw: Draw) -> dict[PartName, Part]:
    """The parts, shuffled; labels become the indices of their groups."""
    classes = classes_of(pool.y, draw.groups)
    members = _members(pool, classes, draw)
    _check_enough(draw, n_found=[len(rows) for rows in members])
    chosen: dict[PartName, list[NDArray[np.intp]]] = {part: [] for part in draw.counts}
    for index, rows in enumerate(members):
        ends = np.cumsum([counts[index] for counts in draw.counts.values()])
        for part, rows_of_part in zip(draw.counts, np.split(rows, ends[:-1]), strict=True):
            chosen[part].append(rows_of_part)
    orders = {part: draw.stream(part).permutation(np.concatenate(rows)) for part, rows in chosen.items()}
    return {part: Part(pool.X[order].reshape(len(order), -1), classes[order]) for part, order in orders.items()}


def _members(pool: Pool, classes: NDArray[np.int64], draw: Draw) -> list[NDArray[np.intp]]:
    """As many rows of each class as are wanted, or all if there are fewer."""
    found: list[NDArray[np.intp]] = []
    seen: set[bytes] = set()
    for index, n_wanted in enumerate(draw.n_wanted):
        rows: list[int] = []
        for row in draw.stream(f"class {index}").permutation(np.flatnonzero(classes == index)).tolist():
            if len(rows) == n_wanted:
                break
            identity = pool.identity(row)
            if draw.keeps_repeats or identity not in seen:
                rows.append(row)
                seen.add(identity)
        found.append(np.array(rows, dtype=np.intp))
    return found


def _check_enough(draw: Draw, *, n_found: Sequence[int]) -> None:
    shares = [found / wanted if wanted else math.inf for found, wanted in zip(n_found, draw.n_wanted, strict=True)]
    scarcest = int(np.argmin(shares))
    n_wanted = draw.n_wanted[scarcest]
    if n_found[scarcest] < n_wanted:
        n_possible = int(sum(draw.n_wanted) * shares[scarcest])
        raise InvalidInputError(
            f"{draw.name}: {n_wanted:,} samples of class {draw.class_names[scarcest]!r} are needed, but the source "
            f"has {n_found[scarcest]:,}, enough for parts of at most about {n_possible:,} samples together; ask for "
            "smaller sizes, or provide a larger source."
        )


# Tables whose columns are known beforehand, read fast.


def csv_columns(
    content: Path | bytes,
    *,
    numbers: Sequence[str] | None = None,
    text: Collection[str] = (),
    names: Sequence[str] | None = None,
    missing: str = "",
) -> pa.Table:
    """The named columns of a CSV: ``numbers``, where None takes all that are no text, and ``text``, which is trimmed.

    ``names`` are those of a file without a header, and ``missing`` marks what is absent.
    """
    source = str(content) if isinstance(content, Path) else "the table"
    try:
        numbers = [name for name in _header(content) if name not in text] if numbers is None else numbers
        types = {**dict.fromkeys(numbers, pa.float64()), **dict.fromkeys(text, pa.string())}
        table = pacsv.read_csv(
            source if isinstance(content, Path) else io.BytesIO(content),
            read_options=pacsv.ReadOptions(column_names=names),
            convert_options=pacsv.ConvertOptions(
                column_types=types,
                include_columns=list(types),
                null_values=["", missing, f" {missing}", "NaN", "nan"],
                strings_can_be_null=True,
            ),
        )
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = str(error).splitlines()[0]
        raise DataFileError(f"{source} cannot be read ({reason}); replace it by the original file.") from error
    for name in text:
        trimmed = pc.utf8_trim_whitespace(table[name])
        table = table.set_column(table.column_names.index(name), name, trimmed)
    return table


def _header(content: Path | bytes) -> list[str]:
    """The names in the first line, of which none is quoted in the tables that are read here."""
    with pa.input_stream(str(content) if isinstance(content, Path) else io.BytesIO(content)) as stream:
        beginning = bytes(stream.read(1 << 16))
    return beginning.partition(b"\n")[0].decode("utf-8-sig").strip().split(",")


def matrix(table: pa.Table, names: Sequence[str], *, text: Collection[str] = ()) -> FloatArray:
    """The columns as numbers, NaN where one is absent; ``text`` becomes its position among the sorted texts."""
    require_columns(table, names)
    return np.column_stack([_numbers(table[name], name=name, is_text=name in text) for name in names])


def texts(table: pa.Table, name: str) -> NDArray[np.str_]:
    """A column of text as an array, refused if one is missing."""
    require_columns(table, [name])
    if table[name].null_count:
        raise DataFileError(
            f"the column {name!r} is empty in {table[name].null_count:,} rows; replace the table by the original one."
        )
    return np.asarray(table[name].to_numpy()).astype(np.str_)


def require_columns(table: pa.Table, names: Sequence[str]) -> None:
    """Refuses a table that lacks one of the columns."""
    lacking = [name for name in names if name not in table.column_names]
    if lacking:
        raise DataFileError(f"the table has no column {lacking[0]!r}; replace it by the original file.")


def _numbers(column: pa.ChunkedArray, *, name: str, is_text: bool) -> FloatArray:
    if pa.types.is_string(column.type) != is_text:
        raise DataFileError(
            f"the column {name!r} holds {column.type} where {'text was' if is_text else 'numbers were'} expected; "
            "replace the table by the original one."
        )
    if is_text:
        sorted_texts = pc.unique(column).drop_null().sort()
        column = pc.index_in(column, value_set=sorted_texts)
    return np.asarray(column.cast(pa.float64()).to_numpy())


# What all pictures of 28 × 28 pixels share: bytes until somebody scales them.

SIDE = 28
TENS = tuple((digit,) for digit in range(10))
LOW_AND_HIGH = (tuple(range(5)), tuple(range(5, 10)))


def picture_pool(images: NDArray[Any], labels: NDArray[Any]) -> Pool:
    """Pictures in bytes and their labels; only those that are drawn are ever copied."""
    if images.dtype != np.uint8:
        raise DataFileError(f"the pictures hold {images.dtype} where bytes were expected; use the original files.")
    return Pool(X=images, y=labels, feature_names=pixel_names((SIDE, SIDE)))
