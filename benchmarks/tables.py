"""Tables for the terminal, for Markdown and, with what they were made from, for JSON."""

import argparse
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table as RichTable

from benchmarks.machine import description, machine, versions
from benchmarks.quiet import quietness


@dataclass(frozen=True, kw_only=True)
class Table:
    """Cells as text; the first column is text, the others numbers."""

    title: str
    header: Sequence[str]
    lines: Sequence[Sequence[str]]

    def print(self, console: Console) -> None:
        """Writes the table to the terminal."""
        table = RichTable(title=self.title, title_justify="left", box=box.SIMPLE_HEAD)
        for index, name in enumerate(self.header):
            table.add_column(name, justify="right" if index else "left")
        for line in self.lines:
            table.add_row(*line)
        console.print(table)

    def markdown(self) -> str:
        """The table in GitHub's Markdown, below its title."""
        rule = ["---", *["---:"] * (len(self.header) - 1)]
        rows = ["| " + " | ".join(cells) + " |" for cells in (self.header, rule, *self.lines)]
        return "\n".join([f"{self.title[0].upper()}{self.title[1:]}:", "", *rows])


def add_output_arguments(parser: argparse.ArgumentParser) -> None:
    """The options that say where results go."""
    parser.add_argument("--json", type=Path, metavar="FILE", help="write rows, versions and machine into this file")
    parser.add_argument(
        "--markdown",
        type=Path,
        metavar="FILE",
        nargs="?",
        const=Path(__file__).with_name("README.md"),
        help="put the table into this file (default benchmarks/README.md) in place of the last one",
    )


def write_results(
    tables: Sequence[Table],
    results: Mapping[str, object],
    *,
    marker: str,
    json_file: Path | None,
    markdown_file: Path | None,
    sgemm_scaling: float | None = None,
) -> None:
    """Tells whether the machine was quiet, and writes what was asked for."""
    seen = quietness(sgemm_scaling)
    Console().print(f"{seen}.")
    if json_file:
        report = {"machine": machine(), "versions": versions(), "quietness": seen.record(), **results}
        json_file.write_text(json.dumps(report, indent=2) + "\n")
    if markdown_file:
        first = f"{seen}: {description()}"
        text = "\n\n".join([first, *(table.markdown() for table in tables)])
        write_markdown(markdown_file, marker=marker, text=text)


def write_markdown(path: Path, *, marker: str, text: str) -> None:
    """Puts ``text`` between ``<!-- marker -->`` and ``<!-- /marker -->``; a file without them is written anew."""
    begin, end = f"<!-- {marker} -->", f"<!-- /{marker} -->"
    block = f"{begin}\n{text}\n{end}"
    old = path.read_text() if path.exists() else ""
    if begin in old and end in old:
        pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
        path.write_text(pattern.sub(lambda _: block, old))
    elif old:
        raise SystemExit(f"{path} has text but no line {begin}; add it and {end} where the table belongs.")
    else:
        path.write_text(block + "\n")
