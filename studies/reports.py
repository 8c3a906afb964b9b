"""The pages of the studies, made from their rows: ``python -m studies.reports`` writes ``studies/*/report/index.html``.

The pages are not kept in the repository. ``make docs`` makes them for the site, and the few figures that a README shows
are copied beside it.
"""

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from mcquack.bench import ranking
from mcquack.report import trainability, write_report
from studies.qml_suite import race
from studies.tables import rows_file

STUDIES = Path(__file__).parent
REPORT = "report"  # the folder of a page


class Writing(Protocol):
    """Writes a page from rows into a folder, and returns its path."""

    def __call__(self, rows: Path, folder: Path, /) -> Path: ...


def _real_world(rows: Path, folder: Path) -> Path:
    published = ranking.read_published(STUDIES / "real_world" / "paper.csv")
    return write_report(rows, folder, published=published, rank_scale="unit")


def _qml_suite(rows: Path, folder: Path) -> Path:
    published = tuple(cell for cell in race.mean_cells() if cell.is_published)
    return write_report(rows, folder, published=published)


PAGES: Mapping[str, Writing] = {
    "real_world": _real_world,
    "qml_suite": _qml_suite,
    "feature_maps": write_report,
    "trainability": trainability.write_trainability_report,
}
"""How the page of each study is made that has one."""

FIGURES: Mapping[str, tuple[str, ...]] = {
    "real_world": ("ranking_balanced_accuracy",),
    "qml_suite": ("ranking_accuracy", "scores_by_size_accuracy"),
    "feature_maps": ("critical_difference_balanced_accuracy",),
    "trainability": ("scaling_paper", "importance_paper_test_accuracy", "scaling_deep_entry"),
}
"""The figures of a page that the README of its study shows."""


def write(study: str, folder: Path) -> Path:
    """Write the page of a study into a folder, with its tables and figures, and return its path."""
    return PAGES[study](rows_file(STUDIES / study / "rows.sqlite"), folder)


def main(studies: list[str]) -> None:
    """Write the pages of these studies, or of all, and copy the figures that their READMEs show."""
    for study in studies or PAGES:
        page = write(study, STUDIES / study / REPORT)
        for figure in FIGURES[study]:
            shutil.copyfile(page.parent / "figures" / f"{figure}.svg", STUDIES / study / f"{figure}.svg")
        print(page.relative_to(STUDIES.parent))  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1:])
