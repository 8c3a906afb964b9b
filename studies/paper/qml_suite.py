"""The paper's benchmark on the QML suite: ranks in all, in each family, and accuracy against dimension."""

import statistics
from collections.abc import Iterator, Sequence

from mcquack.bench.ranking import QNN_FAMILY, CellScores, Standing, score_table, scores_by_size, standings
from mcquack.report.document import Picture
from mcquack.report.ranking import plot_ranking, plot_scores_by_size
from mcquack.report.style import counted
from studies.paper.checks import Check, claim_check, rank_check, signed
from studies.paper.exhibit import Exhibit, Pair, table
from studies.paper.items import ITEMS, values
from studies.paper.protocol import space_exhibit
from studies.paper.real_world import order_check
from studies.paper.sources import Sources

OWN = ("mcquack", "nystroem_svm")  # the models that the paper ran itself; those of the suite are published
OURS = "mcquack"
BEFORE = QNN_FAMILY[:2]  # the network and the dressed circuit, which the paper has before McQuack
FIRST = 3  # the paper does not say in which order the first three are
FELL, STAYED, OVERFITTED = 0.02, 0.05, 0.05

Cells = Sequence[CellScores]


def exhibits(sources: Sources) -> Iterator[Exhibit]:
    """All items about the suite, in the order of the page."""
    cells, note = paper_pool(sources)
    notes = (note,) if note else ()
    yield sources.exhibit("qml_ranking", lambda _: ranking_exhibit(cells, notes))
    yield sources.exhibit("qml_families", lambda _: family_exhibit(cells, notes))
    yield sources.exhibit("qml_sizes", lambda _: size_exhibit(cells, notes))
    yield space_exhibit("qml_spaces", [("mcquack", "qml")])


def paper_pool(sources: Sources) -> tuple[Cells, str]:
    """The paper's ten contenders on the datasets of our rows, two of them ours; and a note if the others are missing.

    A model of the suite that was published is taken as it was published; without the published scores, an MLP of ours
    takes the place of theirs.
    """
    own = [cell for cell in sources.cells.get("qml_suite", ()) if not cell.is_published]
    published, note = sources.published
    datasets = {cell.dataset for cell in own if cell.model in OWN}
    kept = [cell for cell in own if cell.model in OWN or (not published and cell.model == "mlp")]
    return (*kept, *(cell for cell in published if cell.dataset in datasets)), note


def by_model(lines: Sequence[Standing]) -> dict[str, Standing]:
    """Standings by the names of their models; an MLP of ours stands for the published one if that is not there."""
    found = {line.contender.model: line for line in lines}
    return {"MLPClassifier": found["mlp"], **found} if "mlp" in found and "MLPClassifier" not in found else found


def ranking_exhibit(cells: Cells, notes: tuple[str, ...]) -> Exhibit:
    """Average ranks of the paper's contenders over all datasets."""
    lines = standings(score_table(cells)) if cells else ()
    found, paper = by_model(lines), values()["qml_suite"]["ranks"]
    titles = {model: line.contender.title for model, line in found.items()}
    checks: list[Check] = []
    for model, rank in paper.items():
        line = found.get(model)
        known = (None, None) if line is None else (line.average_rank, line.interval)
        checks.append(rank_check(f"rank of {titles.get(model, model)}", rank, *known))
    ours = found.get(OURS)
    for model in (*QNN_FAMILY, "nystroem_svm"):
        pair = (titles.get(model, model), found.get(model)), ("McQuack", ours)
        first, second = pair if model in BEFORE else pair[::-1]
        checks.append(order_check(first[0], second[0], first[1], second[1]))
    rows = tuple(
        (
            line.contender.label,
            Pair(ours=line.average_rank, paper=paper.get(line.contender.model), digits=2),
            "–" if line.interval is None else f"{line.interval.low:.2f} to {line.interval.high:.2f}",
            line.n_datasets,
            line.mean_score,
        )
        for line in lines
    )
    heads = ("model", "average rank", "95 % interval", "datasets", "mean test accuracy")
    sheet = table("qml_ranks", "Average ranks, and below them the paper's", heads, rows)
    pictures: tuple[Picture, ...] = ()
    if lines:
        caption = "Ours: on how many datasets each model has each rank by test accuracy."
        figure = plot_ranking(lines, title="Ours. Average normalised rank")
        pictures = (Picture("qml_ranking", "Ranks in the QML benchmark suite", caption, figure),)
    n_datasets = len({cell.dataset for cell in cells})
    return Exhibit(
        item=ITEMS["qml_ranking"],
        checks=tuple(checks),
        findings=(f"Our rows have {counted(n_datasets, 'dataset')} of the paper's 133.",),
        pictures=pictures,
        tables=(sheet,),
        notes=notes,
    )


def family_exhibit(cells: Cells, notes: tuple[str, ...]) -> Exhibit:
    """Average ranks in each family, and McQuack's place there."""
    scores = score_table(cells)
    checks: list[Check] = []
    pictures: list[Picture] = []
    averages: dict[str, dict[str, float]] = {}
    for family, place in values()["qml_suite"]["places"].items():
        told = f"place {place}" if place > FIRST else "one of the first three"
        lines = standings(scores.of_family(family)) if family in scores.families else ()
        models = [line.contender.model for line in lines]
        for line in lines:
            averages.setdefault(line.contender.label, {})[family] = line.average_rank
        own = models.index(OURS) + 1 if OURS in models else None
        ours = "–" if own is None else f"place {own} of {len(models)}"
        holds = None if own is None else (own == place if place > FIRST else own <= FIRST)
        checks.append(claim_check(f"McQuack in {family}", paper=told, ours=ours, holds=holds))
        if lines:
            caption = f"Ours: ranks on the {counted(scores.families.count(family), 'dataset')} of {family} in our rows."
            figure = plot_ranking(lines, title=f"Ours. {family.replace('_', ' ')}")
            pictures.append(
                Picture(f"qml_ranking_{family}", f"Ranks in {family}", caption, figure, folded=bool(pictures))
            )
    families = tuple(values()["qml_suite"]["places"])
    rows = tuple((label, *(found.get(family) for family in families)) for label, found in averages.items())
    sheet = table("qml_ranks_by_family", "Our average ranks in each family", ("model", *families), rows)
    return Exhibit(
        item=ITEMS["qml_families"], checks=tuple(checks), pictures=tuple(pictures), tables=(sheet,), notes=notes
    )


def size_exhibit(cells: Cells, notes: tuple[str, ...]) -> Exhibit:
    """Test and training accuracy against dimension, and McQuack's trend in each family."""
    curves = [*scores_by_size(cells), *scores_by_size(cells, part="train")]
    mine = {
        (curve.family, curve.part): curve.points
        for curve in curves
        if curve.contender.model == OURS and not curve.contender.source
    }
    checks: list[Check] = []
    for family, trend in values()["qml_suite"]["trends"].items():
        points = mine.get((family, "test"), ())
        if len(points) < 2:
            checks.append(claim_check(f"accuracy of McQuack in {family}", paper=trend, ours="–", holds=None))
            continue
        first, last = points[0], points[-1]
        change = last.mean - first.mean
        holds = {"rises": change > FELL, "falls": change < -FELL, "stays": abs(change) <= STAYED}[trend]
        ours = f"{first.mean:.3f} at {first.size}, {last.mean:.3f} at {last.size} ({signed(f'{change:+.3f}')})"
        checks.append(claim_check(f"accuracy of McQuack in {family}", paper=trend, ours=ours, holds=holds))
    for family in values()["qml_suite"]["overfitting"]["families"]:
        means = [
            statistics.fmean([point.mean for point in mine[family, part]]) if mine.get((family, part)) else None
            for part in ("train", "test")
        ]
        train, test = means
        ours, overfits = "–", None
        if train is not None and test is not None:
            ours, overfits = f"training {train:.3f}, test {test:.3f}", train - test >= OVERFITTED
        checks.append(claim_check(f"McQuack overfits in {family}", paper="yes", ours=ours, holds=overfits))
    pictures: list[Picture] = []
    for part in ("test", "train"):
        kept = [curve for curve in curves if curve.part == part]
        if kept:
            caption = f"Accuracy on the {part} part against the size of the datasets; a dagger marks what is published."
            figure = plot_scores_by_size(kept)
            pictures.append(
                Picture(
                    f"qml_sizes_{part}", f"Accuracy against dimension, {part} part", caption, figure, bool(pictures)
                )
            )
    rows = tuple(
        (curve.family, curve.contender.label, curve.part, point.size, point.mean)
        for curve in curves
        for point in curve.points
    )
    heads = ("family", "model", "part", "size", "accuracy")
    sheet = table("qml_scores_by_size", "Accuracy against size", heads, rows, folded=True)
    return Exhibit(
        item=ITEMS["qml_sizes"], checks=tuple(checks), pictures=tuple(pictures), tables=(sheet,), notes=notes
    )
