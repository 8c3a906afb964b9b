"""What metrics are called in figures, on pages and in tables."""

from collections.abc import Mapping

from mcquack.bench.outcome import Metric

METRIC_TITLES: Mapping[Metric, str] = {
    "auc": "AUC",
    "precision": "Precision",
    "recall": "Recall",
    "f1": "F1",
    "accuracy": "Accuracy",
    "balanced_accuracy": "Balanced accuracy",
}


def metric_phrase(metric: Metric) -> str:
    """As within a sentence."""
    title = METRIC_TITLES[metric]
    return title if title.isupper() else title.lower()
