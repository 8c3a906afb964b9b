"""``mcquack demo``: the whole road in under a minute."""

import csv
import io
import time
import warnings
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table as RichTable

from mcquack.cli.console import shown, tell, write_whole
from mcquack.datasets.dataset import pixel_names
from mcquack.datasets.table import LabelledTable, TableEncoder, read_table
from mcquack.errors import InvalidInputError

if TYPE_CHECKING:
    from mcquack.models import McQuackClassifier

_TARGET = "digit"
_TEST_SHARE = 0.25
_EMBEDDED_SAMPLES = 300  # more would only cover each other


class _Scores(NamedTuple):
    """One line of the table."""

    accuracy: float
    balanced_accuracy: float
    auc: float
    n_parameters: int
    seconds: float


def demo(
    out: Annotated[Path, typer.Option(help="The folder for figures, tables and the model.")] = Path("mcquack-demo"),
    epochs: Annotated[int | None, typer.Option(min=1, help="At most this many epochs.", show_default="ours")] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Same seed, same result.")] = 0,
) -> None:
    """Train on handwritten digits, compare with classical classifiers and draw what was learned.

    Takes less than a minute and no internet.
    """
    from mcquack.models import McQuackClassifier  # not above: compilers and solvers would delay every --help

    if out.exists() and not out.is_dir():
        raise InvalidInputError(f"{out} is a file; name a folder with --out.")
    out.mkdir(parents=True, exist_ok=True)
    _write_digits(out, seed=seed)
    encoder = TableEncoder.fit(read_table(out / "digits.csv"), target=_TARGET)
    train, test = (encoder.labelled(read_table(out / name)) for name in ("digits.csv", "digits-test.csv"))

    tell("Preparing the simulator; only the first run on a machine has to wait while it is compiled.")
    McQuackClassifier(epochs=1, random_state=seed).fit(train.X, train.y).predict(test.X)
    tell(f"Training on {len(train.y):,} handwritten digits of 8 × 8 pixels, 10 classes.")
    model = McQuackClassifier(random_state=seed)
    if epochs is not None:
        model.set_params(epochs=epochs)
    started = time.perf_counter()
    with closing(model.fit_iter(train.X, train.y)) as history:
        for _ in shown(history, n_epochs=model.epochs):
            pass
    scores = {"McQuack": _scores(model, test, n_parameters=model.n_parameters_, seconds=time.perf_counter() - started)}
    tell("Training NearestCentroid, SVC and MLPClassifier on the same digits.")
    _show({**scores, **_rival_scores(train, test, seed=seed)}, n_test=len(test.y))

    model.save(out / "digits.mcq", extra={"table": encoder.to_header()})
    _write_figures(out, model, test)
    _suggest(out)


def _write_digits(out: Path, *, seed: int) -> None:
    """The digits of scikit-learn as two tables, the second to test on."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    X, y = load_digits(return_X_y=True)
    train, test = train_test_split(np.arange(len(y)), test_size=_TEST_SHARE, stratify=y, random_state=seed)
    names = pixel_names((8, 8))
    for name, part in (("digits.csv", train), ("digits-test.csv", test)):
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([*names, _TARGET])
        writer.writerows([*pixels, digit] for pixels, digit in zip(X[part].astype(int), y[part], strict=True))
        write_whole(out / name, text.getvalue().encode())


def _rival_scores(train: LabelledTable, test: LabelledTable, *, seed: int) -> dict[str, _Scores]:
    from sklearn.neighbors import NearestCentroid
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MinMaxScaler
    from sklearn.svm import SVC
    from threadpoolctl import threadpool_limits

    rivals = (NearestCentroid(), SVC(), MLPClassifier(random_state=seed))
    scores = {}
    for rival in rivals:
        started = time.perf_counter()
        # Matrices of this size are several times slower on two threads than on one. The warnings that some pixels are
        # always blank, and that the perceptron could go on a little, are no news here.
        with threadpool_limits(1), warnings.catch_warnings(action="ignore"):
            fitted = make_pipeline(MinMaxScaler(), rival).fit(train.X, train.y)
        seconds = time.perf_counter() - started
        scores[type(rival).__name__] = _scores(fitted, test, n_parameters=_n_parameters(rival), seconds=seconds)
    return scores


def _n_parameters(rival: Any) -> int:
    """How many numbers the fitted rival keeps."""
    learned = ("centroids_", "support_vectors_", "dual_coef_", "intercept_", "coefs_", "intercepts_")
    arrays = [getattr(rival, name) for name in learned if hasattr(rival, name)]
    return sum(sum(map(np.size, found)) if isinstance(found, list) else np.size(found) for found in arrays)


def _scores(model: Any, test: LabelledTable, *, n_parameters: int, seconds: float) -> _Scores:
    from sklearn.metrics import balanced_accuracy_score, roc_auc_score

    predicted = model.predict(test.X)
    evidence = _evidence(model, test.X)
    # One against the rest, then the mean over classes; scikit-learn would want probabilities for the same.
    aucs = [roc_auc_score(test.y == label, evidence[:, index]) for index, label in enumerate(model.classes_)]
    return _Scores(
        accuracy=float(np.mean(predicted == test.y)),
        balanced_accuracy=float(balanced_accuracy_score(test.y, predicted)),
        auc=float(np.mean(aucs)),
        n_parameters=n_parameters,
        seconds=seconds,
    )


def _evidence(model: Any, X: NDArray[np.float64]) -> NDArray[np.float64]:
    """How much speaks for each class, such that the largest is the prediction."""
    from sklearn.metrics import euclidean_distances
    from sklearn.neighbors import NearestCentroid
    from sklearn.pipeline import Pipeline

    if isinstance(model, Pipeline) and isinstance(model[-1], NearestCentroid):
        # Its own decision_function weighs the features and so may contradict its predict.
        return -np.asarray(euclidean_distances(model[:-1].transform(X), model[-1].centroids_))
    return np.asarray(model.decision_function(X) if hasattr(model, "decision_function") else model.predict_proba(X))


def _show(scores: Mapping[str, _Scores], *, n_test: int) -> None:
    table = RichTable(caption=f"on {n_test} digits that were not trained on")
    table.add_column("")
    for title in ("accuracy", "balanced accuracy", "AUC", "parameters", "seconds"):
        table.add_column(title, justify="right")
    for name, row in scores.items():
        table.add_row(
            name,
            *(f"{share:.3f}" for share in (row.accuracy, row.balanced_accuracy, row.auc)),
            f"{row.n_parameters:,}",
            f"{row.seconds:.2f}",
        )
    Console().print(table)


def _write_figures(out: Path, model: "McQuackClassifier", test: LabelledTable) -> None:
    from mcquack import report

    X, y = test.X[:_EMBEDDED_SAMPLES], test.y[:_EMBEDDED_SAMPLES]
    figures = {
        "kernel.png": report.plot_kernel(model, X, y),
        "training.png": report.plot_history(model),
        "embedding.png": report.plot_embedding(model, X, y),
        "circuit.png": report.plot_circuit(model.feature_map_),
    }
    for name, figure in figures.items():
        figure.savefig(out / name)


def _suggest(out: Path) -> None:
    typer.echo(f"\nIn {out}: kernel.png, training.png, embedding.png, circuit.png, the model and its tables. Try next:")
    typer.echo(f"  mcquack info {out}/digits.mcq")
    typer.echo(f"  mcquack predict {out}/digits.mcq {out}/digits-test.csv --proba")
    typer.echo(f"  mcquack fit {out}/digits.csv --target {_TARGET} --out my.mcq --qubits 4")
