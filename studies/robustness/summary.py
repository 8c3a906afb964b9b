"""The rows as tables and a figure: ``python -m studies.robustness.summary`` puts them into the README and beside it."""

from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from statistics import mean

from matplotlib.figure import Figure

from mcquack.files import replace_file
from mcquack.report import style
from studies.robustness.data import DATASETS
from studies.robustness.measure import LADDERS, ROWS, SIZES, TRANSFERRED
from studies.tables import stored_rows, table, write_tables

README = ROWS.with_name("README.md")
FIGURE = ROWS.with_name("accuracy.svg")
Key = tuple[str, str, str, str, str]  # dataset, model, measure, source, size


@cache
def means() -> Mapping[Key, float]:
    """Every number as its mean over the seeds."""
    found: dict[Key, list[float]] = defaultdict(list)
    for row in stored_rows(ROWS):
        key = row["dataset"], row["model"], row["measure"], row["source"], row["size"]
        found[key].append(float(row["value"]))
    return {key: mean(values) for key, values in found.items()}


def value(dataset: str, model: str, measure: str, *, size: float | str = "", source: str = "") -> float:
    """One number; the examples of attacks are the model's own."""
    own = model if measure in ("fgsm", "pgd", "restarts") else source
    return means()[dataset, model, measure, own, str(size)]


def overall(model: str, measure: str, *, size: float | str = "", source: str = "") -> float:
    """Its mean over all datasets."""
    return mean(value(dataset, model, measure, size=size, source=source) for dataset in DATASETS)


def overview() -> str:
    """Means over datasets: accuracy, clean, under attack and in noise, and the radii."""
    asked = [
        ("fgsm", 0.1),
        ("pgd", 0.02),
        ("pgd", 0.05),
        ("pgd", 0.1),
        ("pgd", 0.2),
        ("uniform", 0.1),
        ("gaussian", 0.1),
    ]
    names = {"fgsm": "FGSM", "pgd": "PGD", "uniform": "uniform", "gaussian": "Gaussian"}
    header = ["model", "clean", *(f"{names[kind]} {size:g}" for kind, size in asked), "adversarial", "certified"]
    lines = []
    for model in LADDERS:
        cells = [overall(model, "clean"), *(overall(model, kind, size=size) for kind, size in asked)]
        radii = f"{overall(model, 'adversarial'):.3f}", f"{overall(model, 'certified'):.4f}"
        lines.append([model, *(f"{cell:.3f}" for cell in cells), *radii])
    return table(header, lines)


def by_dataset(measure: str, digits: int) -> str:
    """One number for each model and dataset."""
    lines = [[name, *(f"{value(name, model, measure):.{digits}f}" for model in LADDERS)] for name in DATASETS]
    return table(["dataset", *LADDERS], lines)


def transfers() -> str:
    """What all models score on the examples that were made against one of them."""
    lines = [
        [source, *(f"{overall(model, 'transfer', size=TRANSFERRED, source=source):.3f}" for model in LADDERS)]
        for source in LADDERS
    ]
    return table(["made against", *LADDERS], lines)


def best() -> str:
    """Without equal accuracies: each model where its own validation accuracy is best."""
    measures = ("best clean", "best adversarial", "best certified")
    lines = [
        [model, *(f"{overall(model, name):.{digits}f}" for name, digits in zip(measures, (3, 3, 4), strict=True))]
        for model in LADDERS
    ]
    return table(["model", "clean", "adversarial", "certified"], lines)


def matching() -> str:
    """How near the accuracies of the models are to each other."""
    spreads: dict[str, list[float]] = {"validation": [], "clean": []}
    units: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for row in stored_rows(ROWS):
        if row["measure"] in spreads:
            units[row["measure"], row["dataset"], row["seed"]].append(float(row["value"]))
    for (measure, *_), values in units.items():
        spreads[measure].append(max(values) - min(values))
    of_validation, of_test = spreads.values()
    seeds = style.counted(len(of_test) // len(DATASETS), "seed")
    return (
        f"Over {len(DATASETS)} datasets and {seeds} the validation accuracies of the six models\n"
        f"span {mean(of_validation):.3f} on average and at most {max(of_validation):.3f}, and their test accuracies "
        f"{mean(of_test):.3f} on average."
    )


def strength() -> str:
    """How much accuracy attacks from other starts take beyond the usual one."""
    more = {
        model: overall(model, "pgd", size=TRANSFERRED) - overall(model, "restarts", size=TRANSFERRED)
        for model in LADDERS
    }
    least, most = min(more, key=more.__getitem__), max(more, key=more.__getitem__)
    return (
        "Five more attacks from random starts, of which the best counts for each sample, lower the accuracy at 0.1 by\n"
        f"{more[least]:.3f} ({least}) to {more[most]:.3f} ({most}) beyond the table."
    )


def tables() -> dict[str, str]:
    """What the README has from the rows, tables and sentences, by the names that it has there."""
    return {
        "overview": overview(),
        "clean": by_dataset("clean", 3),
        "adversarial": by_dataset("adversarial", 3),
        "certified": by_dataset("certified", 4),
        "transfers": transfers(),
        "best": best(),
        "matching": matching(),
        "strength": strength(),
    }


def figure() -> Figure:
    """Accuracy under PGD by the size of the attack: a panel for each dataset and a line for each model."""
    drawn = style.new_figure(9.6, 4.8)
    axes = drawn.subplots(2, 4, sharex=True, sharey=True).ravel()
    for ax, dataset in zip(axes, DATASETS, strict=False):
        for index, model in enumerate(LADDERS):
            heights = [value(dataset, model, "clean"), *(value(dataset, model, "pgd", size=size) for size in SIZES)]
            look = {"color": style.class_colour(index), "marker": style.class_marker(index), "label": model}
            ax.plot((0, *SIZES), heights, linewidth=1.3, markersize=3.2, **look)
        style.quiet(ax)
        style.grid_lines(ax)
        style.write_title(ax, dataset)
        ax.set_ylim(0, 1.02)
        ax.tick_params(labelbottom=True)
    for ax in axes[len(DATASETS) :]:
        ax.axis("off")
        style.legend_of(ax, handles=axes[0].get_legend_handles_labels()[0], loc="center left")
    drawn.supxlabel("size of the attack (PGD, largest change of a feature)", size=style.FONT_SIZE, color=style.MUTED)
    drawn.supylabel("accuracy", size=style.FONT_SIZE, color=style.MUTED)
    return drawn


def main() -> None:
    """Writes the tables into the README and draws the figure."""
    write_tables(README, tables())
    replace_file(FIGURE, style.svg_bytes(figure()))


if __name__ == "__main__":
    main()
