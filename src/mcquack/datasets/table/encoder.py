"""From table to matrix: what is learned once from a training table, and stored with the model as JSON."""

import sys
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, Self, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from mcquack.checks import did_you_mean, require
from mcquack.datasets.table.column import (
    IMPUTING,
    MAX_CATEGORIES,
    MAX_ONE_HOT,
    Cells,
    Column,
    Kind,
    Missing,
    chosen_kind,
    is_text,
    plain_column,
)
from mcquack.datasets.table.value import Notation, RowProblem, Table, in_rows, listed
from mcquack.errors import InvalidInputError, InvalidTableError, ModelFileError, Setting

Unknown = Literal["report", "most_frequent", "error"]
MissingTarget = Literal["drop", "error"]

VERSION = 2  # with columns that become several features, and notations
_FIRST_VERSION = 1
# All categories go into the header of the model file, which is meant to be small.
_MAX_CATEGORY_CHARACTERS = 1_000_000
# "007" or "1.0" would come back as another text, so such labels stay text.
_CANONICAL_INTEGER = r"^(0|-?[1-9]\d*)$"


@dataclass(frozen=True, kw_only=True, eq=False)
class EncodedTable:
    """The rows that can be used as a matrix, and for all others the reason.

    ``incomplete_rows`` are those left out that lack a finite value somewhere: what ``missing="drop"`` asks for.
    """

    X: NDArray[np.float64]
    rows: NDArray[np.int64]
    problems: tuple[RowProblem, ...]
    incomplete_rows: tuple[int, ...]
    ignored_columns: tuple[str, ...]
    n_imputed: int


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelledTable(EncodedTable):
    """An encoded table with the label of each row."""

    y: NDArray[np.generic]


@dataclass(frozen=True, kw_only=True)
class TableEncoder:
    """What was learned about the columns of a training table; it turns any table with these columns into a matrix.

    Numbers stay; booleans are 0 and 1; dates are days since 1970; text becomes the position among its
    categories, which are sorted, or one feature for each of them. Columns are found by name, so their order is free.
    Tables are read in the ``notation`` of the training table.
    """

    target: str
    missing: Missing
    columns: tuple[Column, ...]
    notation: Notation = field(default_factory=Notation)

    @classmethod
    def fit(
        cls,
        table: Table,
        *,
        target: str,
        missing: Missing = "error",
        numeric: Collection[Hashable] = (),
        categorical: Collection[Hashable] = (),
        ignore: Collection[Hashable] = (),
        held_out: Collection[int] = (),
        one_hot: bool | Collection[Hashable] = False,
        notation: Notation | None = None,
    ) -> Self:
        """Learns kinds and categories from all rows with a label, values for imputation only from those not held out.

        Categories that only held-out rows have come after the others, so that they change nothing for these.
        ``numeric`` and ``categorical`` overrule the kind that the cells suggest; ``held_out`` are row numbers.
        ``one_hot`` names columns whose categories each become a feature, True for all columns of categories.
        """
        table = table if notation is None else replace(table, notation=notation)
        require(missing in get_args(Missing), "missing", f"one of {listed(get_args(Missing))}", missing)
        # A DataFrame may call its columns by numbers, which are texts in the table that is made of it.
        numbers, texts, ignored = (frozenset(map(str, each)) for each in (numeric, categorical, ignore))
        names = _feature_names(table, target=target, ignore=ignored, chosen=(*numbers, *texts))
        _, unlabelled = target_labels(table, target)
        labelled = table.only(~unlabelled)
        kinds = {name: chosen_kind(labelled, name, numeric=numbers, categorical=texts) for name in names}
        spread = _one_hot_columns(one_hot, kinds, table=table)
        columns = [
            Column(name=name, kind=kind, one_hot=name in spread).with_categories(labelled)
            for name, kind in kinds.items()
        ]
        _check_brief(columns, table=table)
        usable = labelled.only(_usable(columns, labelled, missing=missing))
        training = usable.only(~np.isin(usable.rows, [*held_out]))
        # Categories once more: one that only unusable rows had was never trained on.
        columns = [column.with_categories(usable, training=training) for column in columns]
        columns = [column.with_fill(training, missing=missing) for column in columns]
        return cls(target=target, missing=missing, columns=tuple(columns), notation=table.notation)

    @classmethod
    def of_numbers(cls, names: Iterable[str], *, target: str) -> Self:
        """The encoder for tables whose columns all are numbers; there is nothing to learn from one."""
        return cls(target=target, missing="error", columns=tuple(Column(name=name, kind="number") for name in names))

    @property
    def feature_names(self) -> tuple[str, ...]:
        return tuple(name for column in self.columns for name in column.feature_names)

    def transform(self, table: Table, *, unknown: Unknown = "report") -> EncodedTable:
        """The rows of the table that can be used; ``unknown`` says what becomes of categories not seen in training."""
        require(unknown in get_args(Unknown), "unknown", f"one of {listed(get_args(Unknown))}", unknown)
        names = [column.name for column in self.columns]
        lacking = [name for name in names if name not in table.columns]
        if lacking:
            close = did_you_mean(lacking[0], [name for name in table.names if name not in names], otherwise="")
            hint = f" For {lacking[0]!r}: {close}" if close else ""
            raise InvalidTableError(
                f"{table.source} lacks {len(lacking)} of the {len(self.columns)} columns of the model: "
                f"{listed(lacking)}; it has {listed(table.names)}. Add or rename them; their order is free.{hint}"
            )
        table = replace(table, notation=self.notation)
        features: list[NDArray[np.float64]] = []
        n_imputed = np.zeros(len(table), dtype=np.int64)
        reasons: defaultdict[int, list[str]] = defaultdict(list)
        incomplete = np.zeros(len(table), dtype=bool)
        for column in self.columns:
            cells = column.cells(table)
            if unknown == "error":
                _check_known(column, cells, table=table)
            replaced = cells.absent if self.missing in IMPUTING else np.zeros_like(cells.absent)
            if column.kind == "category" and unknown == "most_frequent":
                replaced = replaced | cells.unreadable
            values = np.where(replaced, np.nan if column.fill is None else column.fill, cells.values)
            features.append(column.features(values))
            n_imputed += replaced
            incomplete |= cells.absent & ~replaced
            unusable = (cells.absent | cells.unreadable) & ~replaced
            for position, reason in column.reasons(table, cells=cells, unusable=unusable):
                reasons[position].append(reason)
        kept = ~np.isin(np.arange(len(table)), [*reasons])
        used = {*names, self.target}
        problems = [RowProblem(int(table.rows[position]), "; ".join(texts)) for position, texts in reasons.items()]
        return EncodedTable(
            X=np.concatenate(features, axis=1)[kept],
            rows=table.rows[kept],
            problems=tuple(sorted([*problems, *table.bad_rows])),
            incomplete_rows=tuple(table.rows[incomplete].tolist()),
            ignored_columns=tuple(name for name in table.names if name not in used),
            n_imputed=int(n_imputed[kept].sum()),
        )

    def labelled(self, table: Table, *, missing_target: MissingTarget = "drop") -> LabelledTable:
        """The rows that can be used for training or scoring, with their labels."""
        choices = get_args(MissingTarget)
        require(missing_target in choices, "missing_target", f"one of {listed(choices)}", missing_target)
        labels, unlabelled = target_labels(table, self.target)
        if missing_target == "error" and unlabelled.any():
            raise InvalidTableError(
                f"{table.source}: the target {self.target!r} is missing in {in_rows(table.rows[unlabelled])}; "
                "fill it or remove those rows."
            )
        problems = [RowProblem(int(row), f"the target {self.target!r} is missing") for row in table.rows[unlabelled]]
        found = vars(self.transform(table.only(~unlabelled)))
        problems = sorted([*problems, *found["problems"]])
        return LabelledTable(**{**found, "problems": tuple(problems)}, y=labels[np.isin(table.rows, found["rows"])])

    def to_header(self) -> dict[str, Any]:
        """All of it as JSON, for the header of a model file: nothing but texts, numbers, lists and dictionaries."""
        columns = [{**asdict(column), "categories": list(column.categories)} for column in self.columns]
        if self.notation != Notation() or any(column.one_hot for column in self.columns):
            fields = {"version": VERSION, "target": self.target, "missing": self.missing, "columns": columns}
            return {**fields, "notation": asdict(self.notation)}
        # What the first version can say is said so, and earlier releases read it.
        for column in columns:
            del column["one_hot"]
        return {"version": _FIRST_VERSION, "target": self.target, "missing": self.missing, "columns": columns}

    @classmethod
    def from_header(cls, header: object) -> Self:
        """The encoder that ``to_header`` described; anything odd is refused with a ``ModelFileError``."""
        _check(isinstance(header, dict) and "version" in header, "it has no version")
        version = header["version"]  # type: ignore[index]
        if isinstance(version, bool) or version not in (_FIRST_VERSION, VERSION):
            raise ModelFileError(
                f"the table in the model file has version {version!r}, but this mcquack reads version "
                f"{VERSION}; use the mcquack that wrote it."
            )
        more = ("notation",) if version == VERSION else ()
        fields = _fields(header, names=("version", "target", "missing", "columns", *more))
        target, missing, entries = fields["target"], fields["missing"], fields["columns"]
        _check(_is_name(target), "its target is no name")
        _check(isinstance(missing, str) and missing in get_args(Missing), "its option for missing values is unknown")
        _check(isinstance(entries, list) and len(entries) > 0, "it has no list of columns")
        columns = tuple(_column(entry, missing=missing, version=version) for entry in entries)
        _check(len({target, *(column.name for column in columns)}) == len(columns) + 1, "a column comes twice")
        notation = _notation(fields["notation"]) if more else Notation()
        return cls(target=target, missing=missing, columns=columns, notation=notation)


@dataclass(frozen=True, kw_only=True, eq=False)
class TableReading:
    """What was made of a table: the encoder for more tables of its kind, and the rows that could not be used.

    ``left_out`` is without the ``n_dropped`` rows that were meant to be dropped because a value is missing.
    """

    encoder: TableEncoder
    left_out: tuple[RowProblem, ...] = ()
    n_dropped: int = 0


def target_labels(table: Table, target: str) -> tuple[NDArray[np.generic], NDArray[np.bool_]]:
    """The label of every row, printed by ``str`` just as the table shows it, and where it is missing."""
    column = plain_column(table, target)
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.string())
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
        if not pc.all(pc.equal(column, pc.trunc(column))).as_py() or pc.any(pc.is_inf(column)).as_py():
            raise InvalidTableError(
                f"{table.source}: the target {target!r} holds fractions or infinities, which are no classes; "
                "store the labels as whole numbers or text."
            )
    missing: NDArray[np.bool_] = column.is_null().to_numpy(zero_copy_only=False)
    if missing.all():
        raise InvalidTableError(f"{table.source}: the target {target!r} has no labels; fill it or name another.")
    encoded = _integers_if_same(column).dictionary_encode()
    classes = encoded.dictionary.to_numpy(zero_copy_only=False)
    if is_text(encoded.dictionary):
        classes = classes.astype(np.str_)
    labels: NDArray[np.generic] = classes[encoded.indices.fill_null(0).to_numpy()]
    return labels, missing


def _integers_if_same(column: pa.Array) -> pa.Array:
    if not is_text(column) or not pc.all(pc.match_substring_regex(column, _CANONICAL_INTEGER)).as_py():
        return column
    try:
        return column.cast(pa.int64())
    except pa.ArrowInvalid:  # beyond 64 bits
        return column


# What is checked when an encoder is fitted or used.


def _feature_names(table: Table, *, target: str, ignore: Collection[str], chosen: Collection[str]) -> tuple[str, ...]:
    for name in (target, *ignore, *chosen):
        table.column(name)
    if target in {*ignore, *chosen}:
        raise InvalidInputError(f"{target!r} is the target; it cannot be ignored, numeric or categorical as well.")
    names = tuple(name for name in table.names if name != target and name not in ignore)
    if not names:
        raise InvalidTableError(
            f"{table.source} has no column to learn from beside the target {target!r}; its columns are "
            f"{listed(table.names)}. Add features, or ignore fewer columns."
        )
    return names


def _one_hot_columns(
    one_hot: bool | Collection[Hashable], kinds: Mapping[str, Kind], *, table: Table
) -> frozenset[str]:
    """The columns of categories that become a feature for each category."""
    of_categories = frozenset(name for name, kind in kinds.items() if kind == "category")
    if isinstance(one_hot, bool):
        return of_categories if one_hot else frozenset()
    chosen = frozenset(map(str, one_hot))
    for name in chosen:
        table.column(name)
        if name not in of_categories:
            raise InvalidInputError(
                f"column {name!r} is not one of categories, so ",
                Setting("one_hot"),
                " is not for it; make it categorical, or leave it out.",
            )
    return chosen


def _check_brief(columns: Iterable[Column], *, table: Table) -> None:
    n_characters = {column.name: sum(map(len, column.categories)) for column in columns}
    if sum(n_characters.values()) > _MAX_CATEGORY_CHARACTERS:
        longest = sorted(n_characters, key=lambda name: -n_characters[name])
        raise InvalidTableError(
            f"{table.source}: all categories together have {sum(n_characters.values()):,} characters, more than "
            f"{_MAX_CATEGORY_CHARACTERS:,}; ignore the longest of these columns: {listed(longest, limit=3)}."
        )


def _usable(columns: Iterable[Column], table: Table, *, missing: Missing) -> NDArray[np.bool_]:
    cells = {column.name: column.cells(table) for column in columns}
    usable = ~np.logical_or.reduce([found.unreadable for found in cells.values()])
    if missing == "error":
        _check_complete(cells, usable, table=table)
    if missing == "drop":
        usable &= ~np.logical_or.reduce([found.absent for found in cells.values()])
    if not usable.any():
        raise InvalidTableError(
            f"{table.source}: every row has a cell that is missing, infinite or of the wrong kind, so none is left; "
            "fill them with ",
            Setting("missing", "mean"),
            ", median or most_frequent, or ignore the columns at fault.",
        )
    return np.asarray(usable, dtype=bool)


def _check_complete(cells: dict[str, Cells], usable: NDArray[np.bool_], *, table: Table) -> None:
    faults = []
    for name, found in cells.items():
        kinds = {"missing": np.isnan(found.values) & usable, "infinite": np.isinf(found.values) & usable}
        told = [f"{kind} in {in_rows(table.rows[where])}" for kind, where in kinds.items() if where.any()]
        if told:
            faults.append(f"column {name!r} is {' and '.join(told)}")
    if faults:
        more = f"; and {len(faults) - 5} more columns" if len(faults) > 5 else ""
        raise InvalidTableError(
            f"{table.source}: {'; '.join(faults[:5])}{more}. Fill them with ",
            Setting("missing", "mean"),
            ", median or most_frequent, leave those rows out with ",
            Setting("missing", "drop"),
            ", or ignore the columns.",
        )


def _check_known(column: Column, cells: Cells, *, table: Table) -> None:
    if column.kind == "category" and cells.unreadable.any():
        _, first = next(column.reasons(table, cells=cells, unusable=cells.unreadable))
        raise InvalidTableError(
            f"{table.source}: {first}, and others in {in_rows(table.rows[cells.unreadable])}; correct them, or choose ",
            Setting("unknown", "report"),
            " or most_frequent.",
        )


# What is checked when an encoder is read from a model file, which is not trusted.


def _check(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ModelFileError(f"the table in the model file is broken: {otherwise}; fit and save the model again.")


def _fields(entry: object, *, names: Collection[str]) -> Mapping[str, Any]:
    _check(isinstance(entry, dict) and set(entry) == set(names), f"expected the fields {listed(names)}")
    return entry  # type: ignore[return-value]


def _notation(entry: object) -> Notation:
    fields = _fields(entry, names=("decimal", "thousands", "date_format"))
    _check(all(value is None or isinstance(value, str) for value in fields.values()), "its notation is no text")
    try:
        return Notation(**fields)
    except InvalidInputError as error:
        raise ModelFileError(f"the table in the model file is broken: {error} Fit and save the model again.") from error


def _column(entry: object, *, missing: Missing, version: int) -> Column:
    more = ("one_hot",) if version == VERSION else ()
    fields = _fields(entry, names=("name", "kind", "categories", "fill", *more))
    one_hot = fields.get("one_hot", False)
    name, kind, categories, fill = fields["name"], fields["kind"], fields["categories"], fields["fill"]
    _check(_is_name(name), "a column has no name")
    _check(isinstance(kind, str) and kind in get_args(Kind), f"column {name!r} is of no known kind")
    is_category = kind == "category"
    are_texts = isinstance(categories, list) and all(isinstance(text, str) for text in categories)
    are_different = are_texts and len(set(categories)) == len(categories) <= MAX_CATEGORIES
    has_right_number = are_different and (len(categories) > 0) == is_category
    _check(has_right_number, f"the categories of column {name!r} are not different texts")
    can_spread = one_hot is True and is_category and len(categories) <= MAX_ONE_HOT
    _check(can_spread or one_hot is False, f"column {name!r} cannot become a feature for each category")
    needs_fill = is_category or missing in IMPUTING
    is_sound = _is_fill(fill, kind=kind, n_categories=len(categories)) if needs_fill else fill is None
    _check(is_sound, f"the value for what is missing in column {name!r} cannot be one")
    known = float(fill) if needs_fill else None
    return Column(name=name, kind=kind, categories=tuple(categories), fill=known, one_hot=one_hot)


def _is_name(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _is_fill(value: object, *, kind: Kind, n_categories: int) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= sys.float_info.max:
        return False
    if kind == "boolean":
        return value in (0, 1)
    return kind != "category" or (value == int(value) and 0 <= value < n_categories)
