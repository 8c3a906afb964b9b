"""Nothing of the paper is forgotten, and its numbers are typed without a slip."""

import csv
import math
import statistics
from pathlib import Path

import pytest

from mcquack.bench.task import METRICS
from mcquack.datasets import names
from mcquack.errors import InvalidInputError
from studies.paper import items
from studies.paper.checks import RULE
from studies.paper.items import ITEMS, SECTIONS, Item, class_counts, real_world_scores, values
from studies.paper.stores import RUNS
from tests.studies.paper.fakes import LABELS

STUDY = Path(items.__file__).parent


def test_every_table_and_figure_of_the_paper_is_covered_and_nothing_else():
    covered = {label for item in ITEMS.values() for label in item.labels}
    assert covered == set(LABELS)
    assert list(LABELS) == sorted(set(LABELS))
    kinds = {label.removeprefix("app:").partition(":")[0].partition("_")[0] for label in LABELS}
    assert kinds == {"fig", "tab", "algo"}


@pytest.mark.parametrize("item", ITEMS.values(), ids=ITEMS)
def test_every_item_tells_what_the_paper_says_and_by_which_rule_it_is_compared(item):
    for text in (item.says, item.rule):
        assert text.endswith(".")
    assert item.title
    assert item.place
    assert not item.study or item.study in RUNS
    assert item.section in SECTIONS
    assert item.section != "past"


def test_an_item_of_an_unknown_section_is_refused():
    with pytest.raises(InvalidInputError, match="section"):
        Item(id="x", section="appendix", place="", labels=(), title="x", says="x.", rule="x.")  # type: ignore[arg-type]


def test_the_table_of_scores_is_whole():
    cells = real_world_scores()
    assert {cell.dataset for cell in cells} == set(names(suite="real-world")) == set(values()["datasets"])
    assert len(cells) == 20 * 5
    assert all(set(cell.reported) == {("test", metric) for metric in METRICS} for cell in cells)
    assert all(cell.n_parameters for cell in cells)


def test_recall_is_balanced_accuracy_but_for_the_last_digit():
    # Averaged over classes they are the same number: a slip of a typist would show.
    for cell in real_world_scores():
        recall, balanced = cell.mean("test", "recall"), cell.mean("test", "balanced_accuracy")
        assert recall is not None
        assert balanced is not None
        assert abs(recall - balanced) < 0.011, (cell.dataset, cell.model)


def test_class_counts_add_up_and_have_the_ratios_that_the_paper_tells():
    lines = (STUDY / "class_counts.csv").read_text(encoding="utf-8").splitlines()
    rows = list(csv.DictReader(lines))
    assert len(rows) == len(class_counts()) == 60
    off = []
    for row in rows:
        counts = class_counts()[row["dataset"], row["part"]]
        assert len(counts) == values()["datasets"][row["dataset"]][1]
        if not math.isclose(min(counts) / sum(counts), float(row["ratio"]), abs_tol=0.0006):
            off.append((row["dataset"], row["part"]))
    assert off == []


def test_the_accuracies_on_hardware_have_the_means_that_the_paper_tells():
    found = values()["hardware"]["accuracies"]
    means = {name: round(statistics.fmean(runs), 2) for name, runs in found.items()}
    assert means == {"svc": 0.86, "pittsburgh": 0.83, "simple_kernel": 0.80, "aachen": 0.79}
    assert round(statistics.pstdev(found["pittsburgh"]), 2) == round(statistics.pstdev(found["aachen"]), 2) == 0.02


def test_the_grid_of_the_suite_has_as_many_settings_as_the_item_says():
    sizes = {name: math.prod(map(len, space.values())) for name, space in values()["spaces"]["mcquack"].items()}
    assert sizes == {"qml": 432, "real-world": 4}
    assert "432" in ITEMS["qml_spaces"].says


def test_the_rule_of_sentences_is_told_in_numbers():
    assert "95 % of 100 and more" in RULE
    assert "50 %" in RULE
