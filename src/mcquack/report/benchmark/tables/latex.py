"""Tables as LaTeX, to be included in a table environment."""

from functools import lru_cache

from mcquack.report.benchmark.grid import Score
from mcquack.report.benchmark.tables.table import Column, Entry, Table, WinRecord

_ESCAPED = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    '"': r"\textquotedbl{}",
    "†": r"\textdagger{}",
    "±": r"\textpm{}",
    "–": "--",
}
_ESCAPES = str.maketrans(_ESCAPED)


def latex(table: Table) -> str:
    """A tabular with the rules of booktabs; the best score of a row is bold, the second best underlined."""
    alignments = "".join("l" if _is_text(table, index) else "r" for index in range(len(table.columns)))
    sources = dict.fromkeys(column.source for column in table.columns if column.source)
    lines = [
        f"% {_one_line(table.title)}; needs \\usepackage{{booktabs}}.",
        *(f"% A dagger marks what is published: {_one_line(source)}" for source in sources),
        rf"\begin{{tabular}}{{{alignments}}}",
        r"\toprule",
        _line([_head(column) for column in table.columns]),
        r"\midrule",
        *(_line([_entry(*each) for each in zip(row, table.columns, strict=True)]) for row in table.rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


@lru_cache(maxsize=4096)  # names stand in many rows
def escaped(text: str) -> str:
    """Text that LaTeX prints as it is, on one line."""
    return _one_line(text).translate(_ESCAPES)


def _one_line(text: str) -> str:
    return " ".join("".join(character if character.isprintable() else " " for character in text).split())


def _is_text(table: Table, index: int) -> bool:
    return any(isinstance(row[index], str) for row in table.rows)


def _line(cells: list[str]) -> str:
    return f"{' & '.join(cells)} \\\\"


def _head(column: Column) -> str:
    return escaped(column.title) + (r"\textsuperscript{\textdagger}" if column.source else "")


def _entry(entry: Entry, column: Column) -> str:
    match entry:
        case None:
            return "--"
        case Score():
            return _score(entry, column.digits)
        case WinRecord():
            return f"{entry.wins}--{entry.ties}--{entry.losses}"
        case float():
            return f"{entry:.{column.digits}f}"
        case str():
            return escaped(entry)
        case _:
            return str(entry)


def _score(score: Score, digits: int) -> str:
    mean = f"{score.mean:.{digits}f}"
    marked = {"best": rf"\textbf{{{mean}}}", "second": rf"\underline{{{mean}}}"}.get(score.mark, mean)
    return marked if score.spread is None else rf"{marked} $\pm$ {score.spread:.{digits}f}"
