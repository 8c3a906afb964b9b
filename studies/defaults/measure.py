"""Which defaults suit many datasets: ``python -m studies.defaults.measure`` adds the rows that are missing.

Rows say what a setting scored on a test part with one seed.
"""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from mcquack import McQuackClassifier
from mcquack.models import preset
from studies.defaults.data import PICTURES, splits
from studies.tables import growing_rows

ROWS = Path(__file__).with_name("rows.csv")
FIELDS = ("setting", "dataset", "seed", "balanced_accuracy", "auc", "epochs", "best_epoch", "seconds")
SEEDS = (0, 1, 2)

# What the defaults were before, and what came of them: each line changes one thing of the one that it builds on.
FORMER: dict[str, Any] = {
    "loss": "alignment", "steps": "alternating", "optimizer": "adam", "reg_param_weights": 0.0,
    "schedule": "exponential", "decay_rate": 0.99, "epochs": 200, "n_repetitions": None,
}  # fmt: skip
JOINT = {**FORMER, "steps": "joint"}
ENTROPY = {**JOINT, "loss": "cross_entropy"}
LOGS = {**JOINT, "loss": "log_cross_entropy"}
DECAY = {**ENTROPY, "optimizer": "adamw", "reg_param_weights": 0.02}
COSINE = {**DECAY, "schedule": "cosine", "decay_rate": 1.0, "epochs": 100}
SETTINGS: tuple[dict[str, Any], ...] = (
    FORMER,
    JOINT,
    ENTROPY,
    LOGS,
    DECAY,
    {**DECAY, "reg_param_weights": 0.1},
    COSINE,
    {**COSINE, "reg_param_weights": 0.1},
    {**COSINE, "reg_param_weights": 0.3},
    {**COSINE, "loss": "log_cross_entropy"},
    {**COSINE, "feature_drop": 0.1},
    {**COSINE, "input_noise": 0.05},
    {**COSINE, "scale": "quantile"},
    {**COSINE, "scale": "standard"},
    {**COSINE, "n_starts": 3},
)
# Where there are few features, depth is a matter of choice; where there are many, components are.
OF_FEW: tuple[dict[str, Any], ...] = (
    preset("paper"),
    preset("qml"),
    {**COSINE, "n_qubits": 4},
    {**COSINE, "n_qubits": 5},
    {**COSINE, "n_repetitions": 10},
    {**COSINE, "n_qubits": 5, "n_repetitions": 20},
)
OF_PICTURES: tuple[dict[str, Any], ...] = (
    {**COSINE, "n_components": 24},
    {**COSINE, "n_components": 64},
    {**COSINE, "n_components": 64, "scale": "common"},
    {**COSINE, "n_components": 64, "scale": "common", "n_qubits": 5, "n_repetitions": 20},
)


def settings(dataset: str) -> Iterator[dict[str, Any]]:
    """All that is tried on a dataset."""
    yield from SETTINGS + (OF_PICTURES if dataset == PICTURES else OF_FEW)


def main() -> None:
    """Appends one line for each missing run; interrupt it at will."""
    with growing_rows(ROWS, FIELDS, keys=("setting", "dataset", "seed")) as rows:
        for seed in SEEDS:
            for name, split in splits(seed):
                for setting in settings(name):
                    key = json.dumps(setting, sort_keys=True)
                    if (key, name, seed) in rows:
                        continue
                    started = time.perf_counter()
                    model = McQuackClassifier(**setting, random_state=seed).fit(split.X_train, split.y_train)
                    seconds = time.perf_counter() - started
                    shares = model.predict_proba(split.X_test)
                    shares = shares[:, 1] if shares.shape[1] == 2 else shares
                    outcome = (
                        round(balanced_accuracy_score(split.y_test, model.predict(split.X_test)), 4),
                        round(roc_auc_score(split.y_test, shares, multi_class="ovr"), 4),
                        model.n_iter_,
                        model.best_epoch_,
                        round(seconds, 3),
                    )
                    rows.add(dict(zip(FIELDS, (key, name, seed, *outcome), strict=True)))


if __name__ == "__main__":
    main()
