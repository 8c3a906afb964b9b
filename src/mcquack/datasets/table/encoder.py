"""From table to matrix, learned once and stored with the model."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from mcquack.datasets.table.cells import Cells
from mcquack.datasets.table.column import IMPUTING, Column, Missing, chosen_kind, with_categories, with_fill
from mcquack.datasets.table.header import columns_from_header, columns_to_header
from mcquack.datasets.table.labels import target_labels
from mcquack.datasets.table.value import RowProblem, Table, in_rows, listed
from mcquack.errors import InvalidInputError, InvalidTableError

Unknown = Literal["report", "most_frequent", "error"]
MissingTarget = Literal["drop", "error"]

# All categories go into the header of the model file, which is meant to be small.
_MAX_CATEGORY_CHARACTERS = 1_000_000


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
    categories, which are sorted. Columns are found by name, so their order is free.
    """

    target: str
    missing: Missing
    columns: tuple[Column, ...]

    @classmethod
    def fit(
        cls,
        table: Table,
        *,
        target: str,
        missing: Missing = "error",
        numeric: Collection[str] = (),
        categorical: Collection[str] = (),
        ignore: Collection[str] = (),
        held_out: Collection[int] = (),
    ) -> Self:
        """Learns kinds and categories from all rows with a label, values for imputation only from those not held out.

        Categories that only held-out rows have come after the others, so that they change nothing for these.
        ``numeric`` and ``categorical`` overrule the kind that the cells suggest; ``held_out`` are row numbers.
        """
        _check_option("missing", missing, choices=get_args(Missing))
        names = _feature_names(table, target=target, ignore=ignore, chosen=(*numeric, *categorical))
        _, unlabelled = target_labels(table, target)
        labelled = table.only(~unlabelled)
        kinds = {name: chosen_kind(labelled, name, numeric=numeric, categorical=categorical) for name in names}
        columns = [with_categories(Column(name=name, kind=kind), labelled) for name, kind in kinds.items()]
        _check_brief(columns, table=table)
        usable = labelled.only(_usable(columns, labelled, missing=missing))
        training = usable.only(~np.isin(usable.rows, [*held_out]))
        # Categories once more: one that only unusable rows had was never trained on.
        columns = [with_categories(column, usable, training=training) for column in columns]
        columns = [with_fill(column, training, missing=missing) for column in columns]
        return cls(target=target, missing=missing, columns=tuple(columns))

    @classmethod
    def of_numbers(cls, names: Iterable[str], *, target: str) -> Self:
        """The encoder for tables whose columns all are numbers; there is nothing to learn from one."""
        return cls(target=target, missing="error", columns=tuple(Column(name=name, kind="number") for name in names))

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the columns of X, in order."""
        return tuple(column.name for column in self.columns)

    def transform(self, table: Table, *, unknown: Unknown = "report") -> EncodedTable:
        """The rows of the table that can be used; ``unknown`` says what becomes of categories not seen in training."""
        _check_option("unknown", unknown, choices=get_args(Unknown))
        self._check_columns(table)
        X = np.empty((len(table), len(self.columns)))
        n_imputed = np.zeros(len(table), dtype=np.int64)
        reasons: defaultdict[int, list[str]] = defaultdict(list)
        incomplete = np.zeros(len(table), dtype=bool)
        for index, column in enumerate(self.columns):
            cells = column.cells(table)
            if unknown == "error":
                _check_known(column, cells, table=table)
            replaced = self._replaced(column, cells, unknown=unknown)
            X[:, index] = np.where(replaced, np.nan if column.fill is None else column.fill, cells.values)
            n_imputed += replaced
            incomplete |= cells.absent & ~replaced
            unusable = (cells.absent | cells.unreadable) & ~replaced
            for position, reason in column.reasons(table, cells=cells, unusable=unusable):
                reasons[position].append(reason)
        kept = ~np.isin(np.arange(len(table)), [*reasons])
        problems = [RowProblem(int(table.rows[position]), "; ".join(texts)) for position, texts in reasons.items()]
        return EncodedTable(
            X=X[kept],
            rows=table.rows[kept],
            problems=tuple(sorted([*problems, *table.bad_rows])),
            incomplete_rows=tuple(table.rows[incomplete].tolist()),
            ignored_columns=tuple(name for name in table.names if name not in {*self.feature_names, self.target}),
            n_imputed=int(n_imputed[kept].sum()),
        )

    def labelled(self, table: Table, *, missing_target: MissingTarget = "drop") -> LabelledTable:
        """The rows that can be used for training or scoring, with their labels."""
        _check_option("missing_target", missing_target, choices=get_args(MissingTarget))
        labels, unlabelled = target_labels(table, self.target)
        if missing_target == "error" and unlabelled.any():
            raise InvalidTableError(
                f"{table.source}: the target {self.target!r} is missing in {in_rows(table.rows[unlabelled])}; "
                "fill it or remove those rows."
            )
        problems = [RowProblem(int(row), f"the target {self.target!r} is missing") for row in table.rows[unlabelled]]
        encoded = self.transform(table.only(~unlabelled))
        return LabelledTable(
            X=encoded.X,
            y=labels[np.isin(table.rows, encoded.rows)],
            rows=encoded.rows,
            problems=tuple(sorted([*problems, *encoded.problems])),
            incomplete_rows=encoded.incomplete_rows,
            ignored_columns=encoded.ignored_columns,
            n_imputed=encoded.n_imputed,
        )

    def to_header(self) -> dict[str, Any]:
        """All of it as JSON, for the header of a model file."""
        return columns_to_header(self.columns, target=self.target, missing=self.missing)

    @classmethod
    def from_header(cls, header: object) -> Self:
        """The encoder that ``to_header`` described; anything else is a ``ModelFileError``."""
        columns, target, missing = columns_from_header(header)
        return cls(target=target, missing=missing, columns=columns)

    def _check_columns(self, table: Table) -> None:
        lacking = [name for name in self.feature_names if name not in table.columns]
        if lacking:
            raise InvalidTableError(
                f"{table.source} lacks {len(lacking)} of the {len(self.columns)} columns of the model: "
                f"{listed(lacking)}; it has {listed(table.names)}. Add or rename them; their order is free."
            )

    def _replaced(self, column: Column, cells: Cells, *, unknown: Unknown) -> NDArray[np.bool_]:
        replaced = cells.absent if self.missing in IMPUTING else np.zeros_like(cells.absent)
        is_replaceable = column.kind == "category" and unknown == "most_frequent"
        return replaced | cells.unreadable if is_replaceable else replaced


def _check_option(name: str, value: str, *, choices: Sequence[str]) -> None:
    if value not in choices:
        raise InvalidInputError(f"{name} must be one of {listed(choices)}, got {value!r}.")


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
            "fill them with missing=mean, median or most_frequent, or ignore the columns at fault."
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
            f"{table.source}: {'; '.join(faults[:5])}{more}. Fill them with missing=mean, median or most_frequent, "
            "leave those rows out with missing=drop, or ignore the columns."
        )


def _check_known(column: Column, cells: Cells, *, table: Table) -> None:
    if column.kind == "category" and cells.unreadable.any():
        _, first = next(column.reasons(table, cells=cells, unusable=cells.unreadable))
        raise InvalidTableError(
            f"{table.source}: {first}, and others in {in_rows(table.rows[cells.unreadable])}; "
            "correct them, or choose unknown=report or most_frequent."
        )
