"""How well predictions fit the labels; the averages over classes give every class the same weight."""

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from mcquack.bench.outcome import Metric

Counts = NDArray[np.int64]


def confusion(truth: NDArray[np.intp], predicted: NDArray[np.intp], *, n_classes: int) -> Counts:
    """C[i, j]: how many samples of class i were taken for class j."""
    pairs = np.bincount(truth * n_classes + predicted, minlength=n_classes * n_classes)
    return pairs.reshape(n_classes, n_classes)


def label_scores(counts: Counts) -> dict[Metric, float]:
    """All that can be told from a confusion matrix, as scikit-learn defines it with average="macro".

    Precision, recall and F1 average over the classes that occur or are predicted, and are 0 where nothing is predicted;
    balanced accuracy averages the recalls of those that occur.
    """
    hits, n_true, n_predicted = np.diag(counts), counts.sum(axis=1), counts.sum(axis=0)
    precision, recall = _share(hits, n_predicted), _share(hits, n_true)
    f1 = _share(2 * hits, n_true + n_predicted)
    met = (n_true + n_predicted) > 0
    return {
        "precision": float(precision[met].mean()),
        "recall": float(recall[met].mean()),
        "f1": float(f1[met].mean()),
        "accuracy": float(hits.sum() / counts.sum()),
        "balanced_accuracy": float(recall[n_true > 0].mean()),
    }


def area_under_curves(truth: NDArray[np.intp], class_scores: NDArray[np.floating]) -> float | None:
    """Mean over classes of the chance that a sample of the class scores higher for it than a sample of another.

    Classes without samples here have no such chance and are left out; None if that leaves none.
    """
    n_samples, n_classes = class_scores.shape
    members = truth[:, None] == np.arange(n_classes)
    n_members = members.sum(axis=0)
    defined = (n_members > 0) & (n_members < n_samples)
    if not defined.any():
        return None
    # The ranks of a class among all samples give the area (Mann and Whitney), ties counting half.
    rank_sums = np.where(members, rankdata(class_scores, axis=0), 0.0).sum(axis=0)[defined]
    of_class = n_members[defined]
    areas = (rank_sums - of_class * (of_class + 1) / 2) / (of_class * (n_samples - of_class))
    return float(areas.mean())


def _share(part: NDArray[np.int64], whole: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)
