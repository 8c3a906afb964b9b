"""``mcquack report``: from a store to a page to read."""

from pathlib import Path
from typing import Literal

from mcquack.cli.bench import StoreFile, is_study, listed
from mcquack.cli.console import described, tell
from mcquack.cli.datasets import DataDir
from mcquack.errors import InvalidInputError

_QML = "qml"


@described("mcquack")
def report(
    store: StoreFile,
    out: Path,
    published: list[str] | None = None,
    rank_scale: Literal["share", "unit"] = "share",
    title: str | None = None,
    data_dir: DataDir = None,
) -> None:
    """Write a page about a benchmark: leaderboard, rankings, scores of each dataset, every task, and all tables.

    OUT/index.html needs no internet and can be sent to others as it is; beside it are all tables as CSV and LaTeX, and
    the figures. A CSV of published scores has the columns dataset, model, part, metric, mean, std, n_parameters and
    source.

    Example: mcquack report qml.sqlite --out qml-report --published qml
    """
    # Not above: matplotlib would delay every --help.
    from mcquack.bench.ranking import published_scores, read_published
    from mcquack.report import write_report

    if out.exists() and not out.is_dir():
        raise InvalidInputError(f"{out} is a file; name a folder with --out.")
    if is_study(store):
        raise InvalidInputError(
            f"{store} holds a study of trainability; its report is made by: mcquack trainability report {store} --out "
            f"{out}"
        )
    scores = [
        cell
        for source in listed(published) or ()
        for cell in (published_scores(data_dir) if source == _QML else read_published(source))
    ]
    page = write_report(store, out, published=scores, title=title, rank_scale=rank_scale)
    tell(f"The report is in {page}")
