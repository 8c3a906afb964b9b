"""The README's tables: ``python -m studies.hardware_twin.summary`` writes them and draws the figure.

``--all`` prints more of the same: a line for every model, with its b and every dataset.
"""

import argparse
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from mcquack import datasets
from mcquack.bench.store import Store
from mcquack.report import plot_bitflip_calibration
from mcquack.studies.hardware_twin import CONTENDERS, N_MANIFOLDS, contender, manifold_name
from studies.tables import rows_file, write_tables

HERE = Path(__file__).parent
ROWS, README, FIGURE = rows_file(HERE / "rows.sqlite"), HERE / "README.md", HERE / "calibration.svg"
SIZES = {50: False, 2000: True}  # test samples, and whether a dataset is a large one
N_RESAMPLES = 4000
PAPER = {
    "svc": "0.86",
    "CrossValidatedSVC": "0.86",
    "centroid_kernel": "0.80",
    "UntrainedPittsburghPaper": "0.83 ± 0.02",
} | {"UntrainedAachenPaper": "0.79 ± 0.02"}
RIVALS = {
    "svc": "SVC, C = 10, γ = scale",
    "CrossValidatedSVC": "SVC, C and γ by cross validation",
    "centroid_kernel": "CentroidKernel (SimpleKernel)",
}
LEARNING = {"none": "untrained", "fidelity": "trained on the fidelity", "tolerance": "trained on k^31"}
VIEWS = {
    "exact": "exact weights",
    "shots": "100 shots, no noise",
    "pittsburgh": "100 shots, Pittsburgh",
    "aachen": "100 shots, Aachen",
}
RULES = {
    "fidelity": "exact fidelity",
    "paper": "b by the paper's rule",
    "argmax": "the same, ties to class 0",
    "accuracy": "b by training accuracy",
    "mean": "mean weight",
    "fixed": "b = 45, as in the paper",
}


@dataclass(frozen=True)
class Scores:
    """Test accuracies of one model on datasets of one size, by dataset and then by run, and the tolerances it chose."""

    accuracies: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    tolerances: list[int] = field(default_factory=list)

    @property
    def all(self) -> list[float]:
        """Of all runs on all datasets."""
        return [each for runs in self.accuracies.values() for each in runs]

    @property
    def spread_of_runs(self) -> float:
        """Standard deviation between runs on the same dataset, as the paper gives it."""
        return float(np.sqrt(np.mean([np.var(runs) for runs in self.accuracies.values()])))

    def interval(self, n_samples: int) -> tuple[float, float]:
        """95 % for the mean over datasets: datasets are drawn anew, and their test samples as a binomial number."""
        random = np.random.default_rng(0)
        means = np.array([np.mean(runs) for runs in self.accuracies.values()])
        drawn = random.choice(means, size=(N_RESAMPLES, len(means)))
        shares = random.binomial(n_samples, drawn) / n_samples
        low, high = np.quantile(shares.mean(axis=1), [0.025, 0.975])
        return float(low), float(high)


def scores_by_model(store: Store, names: Sequence[str]) -> Mapping[str, Scores]:
    """Of the datasets of these names."""
    found: dict[str, Scores] = defaultdict(Scores)
    for outcome in store.final_outcomes():
        dataset, model = (name.rpartition(":")[2] for name in (outcome.task.dataset, outcome.task.model))
        accuracy = outcome.score("test", "accuracy")
        if dataset in names and accuracy is not None:
            found[model].accuracies[dataset].append(accuracy)
            tolerance = outcome.details.get("history", {}).get("tolerance")
            found[model].tolerances.extend(tolerance[-1:] if tolerance else [])
    return found


def most_complete(found: Mapping[str, Scores], names: Sequence[str]) -> list[str]:
    """The datasets with most rows, so that a run that goes on does not compare models on different ones."""
    n_rows = {name: sum(len(scores.accuracies.get(name, ())) for scores in found.values()) for name in names}
    return [name for name in names if n_rows[name] == max(n_rows.values()) > 0]


def half_width(accuracy: float, n_samples: int) -> float:
    """Of Wilson's 95 % interval for one test part."""
    z = 1.96
    return float(
        z * np.sqrt(accuracy * (1 - accuracy) / n_samples + z**2 / (4 * n_samples**2)) / (1 + z**2 / n_samples)
    )


def _ordered() -> Iterator[tuple[str, str, str, str]]:
    for name, title in RIVALS.items():
        yield name, "classical", title, ""
    for name, made in CONTENDERS.items():
        view = "" if made.rule == "fidelity" else VIEWS[made.view]
        yield name, LEARNING[made.learning], view, RULES[made.rule]


def long_table(found: Mapping[str, Scores], names: Sequence[str], *, n_samples: int) -> Iterator[str]:
    """Lines of Markdown."""
    heads = ["model", "seen through", "read by", "b", *(name.split("_")[1] for name in names)]
    heads += ["mean", "± runs", "± sets", "95 %", "paper"]
    yield "| " + " | ".join(heads) + " |"
    yield "|" + "---|" * len(heads)
    for name, *titles in _ordered():
        if name not in found:
            continue
        scores = found[name]
        means = {dataset: float(np.mean(runs)) for dataset, runs in scores.accuracies.items()}
        low, high = scores.interval(n_samples)
        chosen = sorted(scores.tolerances)
        b = "" if not chosen else f"{chosen[len(chosen) // 2]} ({chosen[0]}–{chosen[-1]})"
        cells = [*titles, b, *(f"{means[each]:.3f}" if each in means else "–" for each in names)]
        cells += [f"**{np.mean(list(means.values())):.3f}**", f"{scores.spread_of_runs:.3f}"]
        cells += [f"{np.std(list(means.values())):.3f}", f"{low:.2f}–{high:.2f}", PAPER.get(name, "")]
        yield "| " + " | ".join(cells) + " |"


def short_table(found: Mapping[str, Scores], *, n_samples: int) -> Iterator[str]:
    """Lines of Markdown: a row for each model as it is seen, and a column for each way to read it."""
    rules = [rule for rule in RULES if rule != "fidelity"]
    yield "| model | seen through | " + " | ".join(RULES[rule] for rule in rules) + " | paper |"
    yield "|" + "---|" * (len(rules) + 3)
    for name, title in RIVALS.items():
        yield _row([title, "", _told(found, name, n_samples), *[""] * (len(rules) - 1), PAPER[name]])
    for learning, title in LEARNING.items():
        yield _row([title, RULES["fidelity"], _told(found, contender(learning, "exact", "fidelity"), n_samples)])
        for view, seen in VIEWS.items():
            names = [contender(learning, view, rule) for rule in rules]
            paper = next((PAPER[name] for name in names if name in PAPER), "")
            yield _row([title, seen, *(_told(found, name, n_samples) for name in names), paper])


def _told(found: Mapping[str, Scores], name: str, n_samples: int) -> str:
    """Mean ± standard deviation over datasets and runs (95 % interval of the mean)."""
    if name not in found:
        return "–" if name in CONTENDERS or name in RIVALS else ""
    scores = found[name]
    low, high = scores.interval(n_samples)
    return f"**{np.mean(scores.all):.3f}** ± {np.std(scores.all):.3f} ({low:.2f}–{high:.2f})"


def _row(cells: Sequence[str], *, n_cells: int = len(RULES) + 2) -> str:
    return "| " + " | ".join([*cells, *[""] * (n_cells - len(cells))]) + " |"


def differences(found: Mapping[str, Scores]) -> Iterator[str]:
    """What changes the mean accuracy on the same datasets, and by how much from dataset to dataset."""
    yield "| comparison | mean difference | smallest | largest | datasets |"
    yield "|---|---|---|---|---|"
    for title, first, second in _comparisons():
        if not (first in found and second in found):
            continue
        shared = [name for name in found[first].accuracies if name in found[second].accuracies]
        gaps = [np.mean(found[second].accuracies[name]) - np.mean(found[first].accuracies[name]) for name in shared]
        if gaps:
            yield f"| {title} | {np.mean(gaps):+.3f} | {min(gaps):+.3f} | {max(gaps):+.3f} | {len(gaps)} |"


def _comparisons() -> Iterable[tuple[str, str, str]]:
    untrained = "Untrained{}".format
    yield "untrained, exact fidelity, against CentroidKernel", "centroid_kernel", untrained("Fidelity")
    yield "its k^b by the paper's rule against its fidelity, exact", untrained("Fidelity"), untrained("ExactPaper")
    yield "100 shots against exact, paper's rule", untrained("ExactPaper"), untrained("ShotsPaper")
    for device in ("Pittsburgh", "Aachen"):
        yield (
            f"{device} against 100 shots without noise, paper's rule",
            untrained("ShotsPaper"),
            untrained(f"{device}Paper"),
        )
        for rule in ("argmax", "accuracy", "mean", "fixed"):
            told = {"argmax": "ties to class 0"}.get(rule, RULES[rule])
            title = f"{told} against the paper's rule, {device}"
            yield title, untrained(f"{device}Paper"), untrained(f"{device}{rule.title()}")
    for kind, told in (("Trained", "fidelity"), ("Tolerant", "k^31")):
        yield f"trained on {told} against untrained, exact fidelity", untrained("Fidelity"), f"{kind}Fidelity"
        for device in ("Pittsburgh", "Aachen"):
            for rule in ("Paper", "Mean"):
                title = f"trained on {told} against untrained, {device}, {RULES[rule.lower()]}"
                yield title, untrained(f"{device}{rule}"), f"{kind}{device}{rule}"


def draw(path: Path) -> None:
    """The calibration of b on both devices, of the untrained model on the first dataset, side by side."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9.6, 3.4), layout="constrained")
    train = datasets.load(manifold_name(0)).train
    for view, ax in zip(("pittsburgh", "aachen"), axes, strict=True):
        model = CONTENDERS[contender("none", view, "paper")](random_state=0).fit(*train)
        plot_bitflip_calibration(model.calibration_, ax=ax)
        ax.set_title(f"Bit-flip tolerance, {view.title()}", loc="left")
    figure.savefig(path, metadata={"Date": None})


def of_size(n_samples: int) -> tuple[list[str], Mapping[str, Scores]]:
    """The datasets with so many test samples that are done, and the scores of all models on them."""
    names = [manifold_name(seed, large=SIZES[n_samples]) for seed in range(N_MANIFOLDS)]
    with Store.open(ROWS) as store:
        kept = most_complete(scores_by_model(store, names), names)
        return kept, scores_by_model(store, kept)


def tables() -> dict[str, str]:
    """What the README has from the rows, by the names of the places."""
    found: dict[str, str] = {}
    for n_samples in SIZES:
        names, scores = of_size(n_samples)
        found[f"{n_samples} samples"] = "\n".join(short_table(scores, n_samples=n_samples))
        found[f"{n_samples} samples compared"] = "\n".join(differences(scores))
        found[f"{n_samples} samples run"] = (
            f"{len(names)} {'dataset' if len(names) == 1 else 'datasets'}, {len(scores)} models, "
            f"three runs; one test part of {n_samples:,} alone leaves ± {half_width(0.85, n_samples):.3f} at 0.85."
        )
    return found


def main() -> None:
    """Writes tables and figure, or prints a line for every model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="print a line for every model, with its b and every dataset")
    if parser.parse_args().all:
        for n_samples in SIZES:
            names, scores = of_size(n_samples)
            print("\n".join(long_table(scores, names, n_samples=n_samples)) + "\n")  # noqa: T201
        return
    write_tables(README, tables())
    draw(FIGURE)


if __name__ == "__main__":
    main()
