"""``mcquack demo``: the whole road from a table to a model, scores and figures, in under a minute."""

import csv
import io
import time
import warnings
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from rich.table import Table as RichTable

from mcquack.cli.console import check_folder, say, tell, write_whole
from mcquack.cli.options import option, seed_option
from mcquack.datasets import Part, load_csv
from mcquack.datasets.dataset import pixel_names
from mcquack.datasets.table import read_table
from mcquack.models.tables import table_extra, table_reading
from mcquack.progress import SafeConsole, shown

if TYPE_CHECKING:
    from mcquack.models import McQuackClassifier

_TARGET = "digit"
_TEST_SHARE = 0.25
_EMBEDDED_SAMPLES = 300  # more would only cover each other


def demo(
    out: Annotated[Path, option("The folder for figures, tables and the model.", "FOLDER")] = Path("mcquack-demo"),
    epochs: Annotated[int | None, option("At most this many epochs.", "N", min=1)] = None,
    seed: Annotated[int, seed_option("Same seed, same result.")] = 0,
) -> None:
    """Train on handwritten digits, compare with classical classifiers and draw what was learned.

    Takes less than a minute and no internet.
    """
    from mcquack.models import McQuackClassifier  # not above: compilers and solvers would delay every --help

    check_folder(out)
    out.mkdir(parents=True, exist_ok=True)
    _write_digits(out, seed=seed)
    digits = load_csv(out / "digits.csv", target=_TARGET)
    held_back = table_reading(digits).encoder.labelled(read_table(out / "digits-test.csv"))
    train, test = digits.train, Part(held_back.X, held_back.y)

    tell("Preparing the simulator; only the first run on a machine has to wait while it is compiled.")
    McQuackClassifier(epochs=1, random_state=seed).fit(*train).predict(test.X)
    tell(f"Training on {len(train.y):,} handwritten digits of 8 × 8 pixels, 10 classes.")
    model = McQuackClassifier(random_state=seed)
    if epochs is not None:
        model.set_params(epochs=epochs)
    started = time.perf_counter()
    with closing(model.fit_iter(*train)) as history:
        for _ in shown(history, of=model):
            pass
    seconds = time.perf_counter() - started
    table = RichTable(caption=f"on {len(test.y)} digits that were not trained on")
    table.add_column("")
    for title in ("accuracy", "balanced accuracy", "AUC", "parameters", "seconds"):
        table.add_column(title, justify="right")
    table.add_row("McQuack", *_scores(model, test), f"{model.n_parameters_:,}", f"{seconds:.2f}")
    tell("Training NearestCentroid, SVC and MLPClassifier on the same digits.")
    _add_rivals(table, train, test, seed=seed)
    SafeConsole().print(table)

    model.save(out / "digits.mcq", extra=table_extra(digits))
    _write_figures(out, model, test)
    say(f"\nIn {out}: kernel.png, training.png, embedding.png, circuit.png, the model and its tables. Try next:")
    say(f"  mcquack info {out}/digits.mcq")
    say(f"  mcquack predict {out}/digits.mcq {out}/digits-test.csv --proba")
    say(f"  mcquack fit {out}/digits.csv --target {_TARGET} --out my.mcq --qubits 4")


def _write_digits(out: Path, *, seed: int) -> None:
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    X, y = load_digits(return_X_y=True)
    train, test = train_test_split(np.arange(len(y)), test_size=_TEST_SHARE, stratify=y, random_state=seed)
    for name, rows in (("digits.csv", train), ("digits-test.csv", test)):
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([*pixel_names((8, 8)), _TARGET])
        writer.writerows([*pixels, digit] for pixels, digit in zip(X[rows].astype(int), y[rows], strict=True))
        write_whole(out / name, text.getvalue().encode())


def _add_rivals(table: RichTable, train: Part, test: Part, *, seed: int) -> None:
    from sklearn.neighbors import NearestCentroid
    from sklearn.neural_network import MLPClassifier
    from sklearn.preprocessing import MinMaxScaler
    from sklearn.svm import SVC
    from threadpoolctl import threadpool_limits

    scaler = MinMaxScaler().fit(train.X)
    scaled_train, scaled_test = (Part(scaler.transform(X), y) for X, y in (train, test))
    for rival in (NearestCentroid(), SVC(), MLPClassifier(random_state=seed)):
        started = time.perf_counter()
        # Matrices of this size are several times slower on two threads than on one. The warnings that some pixels are
        # always blank, and that the perceptron could go on a little, are no news here.
        with threadpool_limits(1), warnings.catch_warnings(action="ignore"):
            rival.fit(*scaled_train)
        seconds = time.perf_counter() - started
        scores = _scores(rival, scaled_test)
        table.add_row(type(rival).__name__, *scores, f"{_n_parameters(rival):,}", f"{seconds:.2f}")


def _n_parameters(rival: Any) -> int:
    learned = ("centroids_", "support_vectors_", "dual_coef_", "intercept_", "coefs_", "intercepts_")
    return sum(sum(map(np.size, getattr(rival, name))) for name in learned if hasattr(rival, name))


def _scores(model: Any, test: Part) -> list[str]:
    from sklearn.metrics import accuracy_score, balanced_accuracy_score, euclidean_distances, roc_auc_score
    from sklearn.neighbors import NearestCentroid

    X, y = test
    if isinstance(model, NearestCentroid):  # its own decision_function weighs the features and may contradict predict
        evidence = -euclidean_distances(X, model.centroids_)
    else:
        evidence = model.decision_function(X) if hasattr(model, "decision_function") else model.predict_proba(X)
    # One against the rest, then the mean over classes; scikit-learn would want probabilities for the same.
    aucs = [roc_auc_score(y == label, evidence[:, index]) for index, label in enumerate(model.classes_)]
    predicted = model.predict(X)
    scores = accuracy_score(y, predicted), balanced_accuracy_score(y, predicted), np.mean(aucs)
    return [f"{score:.3f}" for score in scores]


def _write_figures(out: Path, model: "McQuackClassifier", test: Part) -> None:
    from mcquack import report

    X, y = test.X[:_EMBEDDED_SAMPLES], test.y[:_EMBEDDED_SAMPLES]
    report.plot_kernel(model, X, y).savefig(out / "kernel.png")
    report.plot_history(model).savefig(out / "training.png")
    report.plot_embedding(model, X, y).savefig(out / "embedding.png")
    report.plot_circuit(model.feature_map_).savefig(out / "circuit.png")
