"""Where our side of the paper's items comes from: a folder of stores, and the published scores in the data folder."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from mcquack.bench.ranking import CellScores, cell_scores, published_scores
from mcquack.bench.store import Store
from mcquack.errors import McQuackError
from studies.paper.exhibit import Exhibit
from studies.paper.items import ITEMS
from studies.paper.stores import Stores

NOT_RUN = "Not run yet: there is no store with rows."
CUT_OFF = "The last run of the store did not come to its end: rows that it asked for may be missing."


@dataclass(frozen=True, kw_only=True)
class Sources:
    """The stores and the data folder that a site is written from.

    Parameters
    ----------
    stores : the folder of stores.
    data_dir : where published scores are looked for, as in ``mcquack.datasets.load``.
    """

    stores: Stores
    data_dir: Path | None = None

    def exhibit(self, item: str, build: Callable[[Store], Exhibit]) -> Exhibit:
        """What ``build`` makes of the store of an item, with where the rows are; or that there are none yet."""
        study = ITEMS[item].study
        commands, is_quick = self.stores.commands(study), self.stores.quick
        if not self.stores.is_there(study):
            return Exhibit(item=ITEMS[item], missing=NOT_RUN, commands=commands, is_quick=is_quick)
        path = self.stores.path(study)
        with Store.open(path) as store:
            built, runs = build(store), store.runs()
        notes = (*built.notes, CUT_OFF) if runs and runs[-1].how != "done" else built.notes
        return replace(built, rows=path, runs=runs, commands=commands, is_quick=is_quick, notes=notes)

    @cached_property
    def cells(self) -> Mapping[str, tuple[CellScores, ...]]:
        """The scores of the benchmarks that have a store, by study, each read once."""
        found = {}
        for study in ("real_world", "qml_suite"):
            if self.stores.is_there(study):
                with Store.open(self.stores.path(study)) as store:
                    found[study] = cell_scores(store)
        return found

    @cached_property
    def published(self) -> tuple[tuple[CellScores, ...], str]:
        """The scores that the QML suite published, and if they are not there, why."""
        try:
            return published_scores(self.data_dir), ""
        except McQuackError as error:
            return (), f"The published scores of the suite could not be read: {' '.join(str(error).split())}"
