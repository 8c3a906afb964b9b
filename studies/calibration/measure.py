"""How good probabilities are, as they come and calibrated: ``python -m studies.calibration.measure`` adds missing rows.

Rows say what a model scored with one seed on the test part, and before and after which calibration.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import train_test_split

from mcquack import McQuackClassifier
from studies.tables import growing_rows

ROWS = Path(__file__).with_name("rows.csv")
KEYS = ("dataset", "model", "calibration", "seed")
FIELDS = (*KEYS, "log_loss", "brier", "ece", "accuracy", "seconds")
DATASETS: dict[str, Callable[..., Any]] = {"digits": load_digits, "breast_cancer": load_breast_cancer}
MODELS: dict[str, dict[str, Any]] = {"default": {}, "alignment": {"loss": "alignment", "steps": "alternating"}}
CALIBRATIONS = ("none", "sigmoid", "isotonic", "temperature")
SEEDS = (0, 1, 2)
_N_BINS = 15


def brier_score(shares: NDArray[np.floating], labels: NDArray[np.integer]) -> float:
    """The mean over samples of Σ (p_m - y_m)², from 0 to 2."""
    return float(np.mean(np.sum((shares - np.eye(shares.shape[1])[labels]) ** 2, axis=1)))


def calibration_error(shares: NDArray[np.floating], labels: NDArray[np.integer]) -> float:
    """ECE: how far the share of hits is from the predicted one, on average over 15 bins of the latter."""
    confidence, hits = shares.max(axis=1), shares.argmax(axis=1) == labels
    bins = np.minimum((confidence * _N_BINS).astype(int), _N_BINS - 1)
    gaps = [abs(np.sum(hits[bins == number] - confidence[bins == number])) for number in range(_N_BINS)]
    return float(np.sum(gaps) / len(labels))


def measured(dataset: str, model: str, calibration: str, seed: int) -> dict[str, Any]:
    """One fit and what its probabilities scored."""
    X, y = DATASETS[dataset](return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=seed)
    plain = McQuackClassifier(**MODELS[model], random_state=seed)
    asked = plain if calibration == "none" else CalibratedClassifierCV(plain, method=calibration, cv=3)
    started = time.perf_counter()
    shares = asked.fit(X, y).predict_proba(X_test)
    return {
        "log_loss": round(log_loss(y_test, shares), 4),
        "brier": round(brier_score(shares, y_test), 4),
        "ece": round(calibration_error(shares, y_test), 4),
        "accuracy": round(accuracy_score(y_test, shares.argmax(axis=1)), 4),
        "seconds": round(time.perf_counter() - started, 2),
    }


def main() -> None:
    """Appends one line for each missing run; interrupt it at will."""
    with growing_rows(ROWS, FIELDS, keys=KEYS) as rows:
        for key in ((d, m, c, s) for m in MODELS for s in SEEDS for d in DATASETS for c in CALIBRATIONS):
            if key not in rows:
                rows.add(dict(zip(KEYS, key, strict=True)) | measured(*key))


if __name__ == "__main__":
    main()
