"""The pages of the races say what their rows say."""

from pathlib import Path

import pytest

from mcquack.bench import ranking
from mcquack.bench.store import Store
from mcquack.bench.suite import read_suite
from mcquack.bench.task import Metric

STUDIES = Path(__file__).parents[2] / "studies"

pytestmark = pytest.mark.skipif(not STUDIES.is_dir(), reason="a source archive has no results")


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def test_all_models_are_done_on_all_draws_of_the_race() -> None:
    from studies.real_world import race

    with Store.open(race.ROWS) as store:
        assert not store.counts().failed
    once = {"pm2", "pm4"}  # all of their samples are in their parts, so that there is nothing to draw
    assert race.n_draws() == {name: 1 if name in once else 5 for name in read_suite("real-world").datasets}


def test_the_means_of_the_suites_race_follow_from_its_rows() -> None:
    from studies.qml_suite import race

    with Store.open(race.ROWS) as store:
        own = {(cell.dataset, cell.model): cell.mean("test", "accuracy") for cell in ranking.cell_scores(store)}
    table = race.scores()
    for model in ("mcquack", "svc"):
        column = next(number for number, each in enumerate(table.contenders) if each.model == model)
        for dataset, mean in zip(table.datasets, table.means[:, column], strict=True):
            assert own[dataset, model] == pytest.approx(mean, abs=1e-5)


# The first shows some of the results, the second all of them.
FIRST_PAGE, RESULTS = STUDIES.parent / "README.md", STUDIES.parent / "docs" / "laboratory.md"


def missing(page: Path, sentences: list[str]) -> list[str]:
    told = " ".join(text_of(page).split())
    return [sentence for sentence in sentences if sentence not in told]


def test_the_results_say_what_the_rows_of_the_race_on_real_data_support() -> None:
    from studies.real_world import race

    records, standings = race.own_records("balanced_accuracy"), race.standings("balanced_accuracy")
    means = {race.TITLES[each.contender.model]: f"{each.mean_score:.3f}" for each in standings}
    by_auc = next(each for each in race.standings("auc") if each.contender.model == race.MCQUACK)
    own = next(each for each in standings if each.contender.model == race.MCQUACK)
    wins, ties, losses, _ = records["SVC"]
    against_svc = (
        f"Against SVC it has {wins} wins, {ties} ties and {losses} losses by balanced accuracy "
        f"(means {means['McQuack, tuned']} and {means['SVC']})"
    )
    sentences = [
        against_svc,
        (
            f"against random forest {', '.join(records['random forest'][:2])} and {records['random forest'][2]} "
            f"({means['random forest']})"
        ),
        f"rank is {own.average_rank:.3f} by balanced accuracy and {by_auc.average_rank:.3f} by AUC (0 is always first)",
        "Without draw 0, whose test parts had been looked at, it is second by both metrics",
    ]
    assert missing(RESULTS, sentences) == []
    assert missing(FIRST_PAGE, [against_svc]) == []


def test_without_the_draw_that_had_been_seen_mcquack_is_second_by_both_metrics() -> None:
    from studies.real_world import race

    for metric in race.METRICS:
        table = ranking.score_table(race.cells_without_draw_0(), metric=metric)
        assert ranking.standings(table, scale="unit")[1].contender.model == race.MCQUACK
    n_left = sum(race.n_draws().values()) - 18  # PM2 and PM4 have one draw each, which stays
    assert len({cell.dataset for cell in race._complete() if not cell.dataset.endswith("@0")}) == n_left


def test_the_lead_by_area_under_the_curve_is_that_on_multiclass_sets() -> None:
    from mcquack.datasets import describe
    from studies.real_world import race

    scores = {(cell.dataset, cell.model): cell.mean("test", "auc") for cell in race.cells()}
    counts = {True: [0, 0, 0], False: [0, 0, 0]}
    for name in {dataset for dataset, _ in scores}:
        own, other = (round(scores[name, model] or 0, 8) for model in (race.MCQUACK, "svc"))
        counts[describe(name).n_classes > 2][1 if own == other else 0 if own > other else 2] += 1
    many, two = counts[True], counts[False]
    sentences = [
        f"multiclass datasets ({many[0]} wins, {many[1]} tie, no loss)",
        f"on the binary ones it is {two[0]} wins, {two[1]} tie, {two[2]} losses",
    ]
    assert many[2] == 0
    assert missing(STUDIES / "real_world" / "README.md", sentences) == []


def test_the_results_say_what_the_rows_of_the_race_on_the_suite_support() -> None:
    from studies.qml_suite import race
    from studies.tables import head_to_head

    ranks = {each.contender.label: each.average_rank for each in race.standings()}
    own = next(each for each in race.scores().contenders if each.model == "mcquack")
    wins, ties, losses, _ = next(numbers for label, *numbers in head_to_head(race.scores(), own) if label == "SVC")
    sentences = [
        (
            f"McQuack (average rank {ranks['McQuack']:.3f}), SVC ({ranks['SVC']:.3f}) and the published MLP "
            f"({ranks['MLPClassifier †']:.3f}) are level"
        ),
        f"Against SVC McQuack has {wins} wins, {ties} ties and {losses} losses",
        "This was the third run; after the second the search space was changed by ranks on test parts",
    ]
    behind = f"The best of the suite's quantum models, at {ranks['DressedQuantumCircuitClassifier †']:.3f}, is behind"
    assert missing(RESULTS, [*sentences, behind]) == []
    assert missing(FIRST_PAGE, sentences) == []


def test_the_results_say_what_the_rows_of_a_part_of_the_suite_support() -> None:
    from studies.qml_suite import summary

    records = summary.tables()["part head to head"].splitlines()
    _, wins, ties, losses, _ = next(line for line in records if line.startswith("| SVC |")).strip("| ").split(" | ")
    assert missing(RESULTS, [f"is level with SVC ({wins} wins, {ties} ties, {losses} losses)"]) == []


def test_the_results_say_what_the_rows_of_the_papers_benchmark_support() -> None:
    from studies.real_world import compare

    found = compare.scores()
    agrees = (
        f"({compare.mean(found, 'mcquack', 'balanced_accuracy'):.3f}, there 0.832), its rank does not: it is fourth"
    )
    sentences = [
        agrees,
        f"McQuack has {compare.mean(found, compare.DEFAULTS, 'balanced_accuracy'):.3f} and is second of six",
        f"By AUC ({compare.mean(found, compare.DEFAULTS, 'auc'):.3f}) it is first of six",
    ]
    assert missing(RESULTS, sentences) == []
    assert missing(FIRST_PAGE, [agrees]) == []


def test_friedmans_test_is_printed_as_iman_and_davenports_statistic() -> None:
    from studies.real_world import race

    expected: dict[Metric, str] = {"balanced_accuracy": "F 20.9, p = 9e-19", "auc": "F 17.9, p = 1e-16"}
    for metric, printed in expected.items():
        assert printed in race.verdict(metric)


def test_the_page_of_the_suite_says_how_much_depends_on_the_treatment_of_ties() -> None:
    import numpy as np
    from scipy.stats import wilcoxon

    from studies.qml_suite import race

    scores = race.scores()
    columns = {each.label: scores.means[:, number] for number, each in enumerate(scores.contenders)}
    found = []
    for label in ("MLPClassifier †", "SVC"):
        differences = np.round(columns["McQuack"] - columns[label], 8)
        found += [wilcoxon(differences, zero_method=how).pvalue for how in ("pratt", "wilcox")]
    sentence = (
        f"p is {found[0]:.2g} in place of {found[1]:.2g} against MLP, and {found[2]:.2g} in place of {found[3]:.2g} "
        "against SVC"
    )
    assert missing(STUDIES / "qml_suite" / "README.md", [sentence]) == []
