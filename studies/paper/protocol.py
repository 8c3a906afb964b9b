"""What the paper's benchmarks are made of: datasets, samples of each class, and the settings that are searched."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from mcquack.bench.suite import read_suite
from mcquack.datasets import describe
from mcquack.models import catalog
from studies.paper.checks import Check, equal_check
from studies.paper.exhibit import Exhibit, Pair, table
from studies.paper.items import ITEMS, class_counts, values


def dataset_exhibit() -> Exhibit:
    """Features and classes of every dataset, and where ours differ from the paper's."""
    checks: list[Check] = []
    rows: list[tuple[Any, ...]] = []
    for name, (n_features, n_classes) in values()["datasets"].items():
        known = describe(name)
        features = equal_check(f"features of {known.title}", n_features, known.n_features)
        classes = equal_check(f"classes of {known.title}", n_classes, known.n_classes)
        checks += [features, classes]
        counts = [
            Pair(ours=ours, paper=paper, digits=0, paper_digits=0, holds=check.holds)
            for ours, paper, check in (
                (known.n_features, n_features, features),
                (known.n_classes, n_classes, classes),
            )
        ]
        rows.append((known.title, known.task, *counts, " ".join(known.notes)))
    sheet = table(
        "datasets",
        "The datasets",
        ("dataset", "what is told apart", "features", "classes", "where ours differs"),
        rows,
    )
    return Exhibit(item=ITEMS["datasets"], checks=tuple(checks), tables=(sheet,), compared=False)


def class_count_exhibit() -> Exhibit:
    """Samples of each class in each part of every dataset."""
    checks, rows = [], []
    for (name, part), counts in class_counts().items():
        known = describe(name)
        ours = None if known.class_counts is None else known.class_counts.get(part)  # type: ignore[call-overload]
        check = equal_check(f"{part} part of {known.title}", counts, None if ours is None else tuple(ours))
        checks.append(check)
        ratio = None if ours is None else min(ours) / sum(ours)
        share = Pair(ours=ratio, paper=min(counts) / sum(counts), paper_digits=3)
        rows.append((known.title, part, check.ours, check.paper, share))
    sheet = table(
        "class_counts",
        "Samples of each class, and the share of the smallest",
        ("dataset", "part", "ours", "paper", "smallest share"),
        rows,
    )
    return Exhibit(item=ITEMS["class_counts"], checks=tuple(checks), tables=(sheet,), compared=False)


def space_exhibit(item: str, wanted: Iterable[tuple[str, str]]) -> Exhibit:
    """The values that each setting may take, for these models in these suites."""
    checks = []
    for model, suite in wanted:
        ours = searched(model, suite)
        several = f"{catalog.entry(model).title}, {suite}: "
        for name, paper in values()["spaces"][model][suite].items():
            both = (sorted(map(str, paper)), None if name not in ours else sorted(map(str, ours[name])))
            told = equal_check(f"{several}{name}", tuple(paper), ours.get(name))
            checks.append(replace(told, holds=None if both[1] is None else both[0] == both[1]))
    return Exhibit(item=ITEMS[item], checks=tuple(checks))


def searched(model: str, suite: str) -> Mapping[str, tuple[object, ...]]:
    """The values of every setting of a model in a suite, with defaults for settings that the suite leaves alone."""
    entry = catalog.entry(model)
    defaults = {name: (value,) for name, value in entry.defaults().items()}
    space = entry.search_space(suite).values if suite in entry.suites else {}
    kept = {name: (value,) for name, value in read_suite(suite).settings.get(model, {}).items()}
    return {**defaults, **space, **kept}
