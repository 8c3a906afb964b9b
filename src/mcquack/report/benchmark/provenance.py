"""Where the numbers of a report come from."""

from collections.abc import Mapping
from dataclasses import dataclass

from mcquack.bench.ranking import Contender
from mcquack.report.benchmark.contents import Contents


@dataclass(frozen=True, kw_only=True)
class SearchUse:
    """How the settings of a model were found."""

    model: str
    search: str
    metric: str
    n_cells: int
    n_settings: int
    n_failed: int


@dataclass(frozen=True, kw_only=True)
class Publication:
    """What was taken from others."""

    source: str
    models: tuple[str, ...]
    notes: Mapping[str, tuple[str, ...]]  # the datasets by what has to be said of them


def searches(contents: Contents) -> tuple[SearchUse, ...]:
    """One line for each model and kind of search, over all datasets."""
    groups: dict[tuple[Contender, str, str], list[tuple[int, int]]] = {}
    for cell in contents.cells:
        if (choice := cell.choice) is not None:
            key = cell.contender, choice.search, choice.metric
            groups.setdefault(key, []).append((choice.n_settings, choice.n_failed))
    ordered = sorted(groups.items(), key=lambda group: (group[0][0].title, *group[0][1:]))
    return tuple(
        SearchUse(
            model=contender.title,
            search=search,
            metric=metric,
            n_cells=len(counts),
            n_settings=sum(n_settings for n_settings, _ in counts),
            n_failed=sum(n_failed for _, n_failed in counts),
        )
        for (contender, search, metric), counts in ordered
    )


def publications(contents: Contents) -> tuple[Publication, ...]:
    """By source, with the models it tells of and the notes on single scores."""
    sources = dict.fromkeys(cell.source for cell in contents.scores if cell.is_published)
    return tuple(_publication(contents, source) for source in sources)


def _publication(contents: Contents, source: str) -> Publication:
    cells = [cell for cell in contents.scores if cell.source == source]
    notes: dict[str, dict[str, None]] = {}
    for cell in cells:
        if cell.note:
            notes.setdefault(cell.note, {})[f"{cell.title} on {cell.dataset}"] = None
    return Publication(
        source=source,
        models=tuple(dict.fromkeys(cell.title for cell in cells)),
        notes={note: tuple(where) for note, where in notes.items()},
    )


def data_prints(contents: Contents) -> Mapping[str, tuple[str, ...]]:
    """The fingerprints of each dataset; several where the final tasks were not all measured on the same numbers."""
    found: dict[str, dict[str, None]] = {dataset.name: {} for dataset in contents.datasets}
    for cell in contents.cells:
        found[cell.dataset] |= {outcome.fingerprint: None for outcome in cell.finals if outcome.fingerprint}
    return {dataset: tuple(prints) for dataset, prints in found.items() if prints}
