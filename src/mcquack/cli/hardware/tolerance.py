"""Which bit flips are tolerated: those that the model knows, those asked for, or what a device shows by itself."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mcquack.cli.hardware.lessons import Lessons, more_lessons
from mcquack.cli.notes import tell
from mcquack.errors import InvalidInputError

if TYPE_CHECKING:
    from mcquack.circuits.feature_map import FeatureMap
    from mcquack.circuits.overlap import Sampler
    from mcquack.kernels.bitflip import Calibration
    from mcquack.models import McQuackClassifier
    from mcquack.simulators.engine import FloatArray

# The share of zeros in what should be zeros alone, below which training on them would mostly see none.
_SEEN = 0.1


def check_tolerance(tolerance: int | None, feature_map: "FeatureMap") -> None:
    """Refuses more flips than there are bits, before anything is spent on them."""
    if tolerance is not None and tolerance > feature_map.n_qubits:
        raise InvalidInputError(
            f"--tolerance {tolerance} is more than the {feature_map.n_qubits} qubits of the model; choose fewer."
        )


def needs_calibration(classifier: "McQuackClassifier", tolerance: int | None) -> bool:
    """Whether neither the user nor the model says how many flips are tolerated."""
    return tolerance is None and classifier.bitflip_tolerance is None


def chosen_tolerance(
    classifier: "McQuackClassifier", sampler: "Sampler", *, tolerance: int | None, shots: int, seed: int
) -> int:
    """The one asked for, that of the model, or the best one between the model's centroids."""
    given = classifier.bitflip_tolerance if tolerance is None else tolerance
    if given is not None:
        return given
    found = measured_calibration(classifier, sampler, shots=shots, seed=seed)
    tell(f"Bit-flip tolerance {found.tolerance}, by the kernel between the centroids{interval(found)}.")
    return found.tolerance


def learnable_tolerance(
    classifier: "McQuackClassifier", sampler: "Sampler", *, tolerance: int | None, shots: int, seed: int
) -> int | None:
    """What to train on: the one asked for, that of the model, or a calibrated one; None where enough zeros are seen."""
    if not needs_calibration(classifier, tolerance):
        return classifier.bitflip_tolerance if tolerance is None else tolerance
    found = measured_calibration(classifier, sampler, shots=shots, seed=seed)
    zeros = float(found.diagonal[0])
    if zeros >= _SEEN:
        tell(f"No bit-flip tolerance is needed: {zeros:.0%} of a centroid's shots with itself are all zeros.")
        return None
    tell(f"Bit-flip tolerance {found.tolerance}, as only {zeros:.1%} of a centroid's shots with itself are all zeros.")
    return found.tolerance


def measured_calibration(
    classifier: "McQuackClassifier", sampler: "Sampler", *, shots: int, seed: int
) -> "Calibration":
    """The curve of the paper: the kernel between all centroids, for every tolerance."""
    from mcquack.kernels.bitflip import calibrate

    n_classes = len(classifier.classes_)
    if n_classes < 2:
        raise InvalidInputError("calibration compares classes, and this model has only one; name a --tolerance.")
    counts = sampler.weight_counts(classifier.overlap_circuits(), shots=shots)
    return calibrate(counts, labels=np.repeat(np.arange(n_classes), len(counts) // n_classes), seed=seed)


def labelled_rows(data: str, classifier: "McQuackClassifier", *, model: Path, data_dir: Path | None) -> Lessons:
    """Rows to choose a tolerance by their labels, which become numbers of centroids."""
    if len(classifier.centroids_) != len(classifier.classes_):
        raise InvalidInputError(
            "--rule accuracy takes models with one centroid per class; take --rule centroids for this one."
        )
    rows = more_lessons(data, classifier, model=model, target=None, data_dir=data_dir)
    numbers = {str(label): number for number, label in enumerate(classifier.classes_)}
    unknown = sorted({str(label) for label in rows.y} - numbers.keys())
    if unknown:
        raise InvalidInputError(
            f"{data} has the label {unknown[0]!r}, which {model} does not know; it knows {', '.join(numbers)}."
        )
    return replace(rows, y=np.array([numbers[str(label)] for label in rows.y]))


def measured_accuracies(
    classifier: "McQuackClassifier", sampler: "Sampler", rows: Lessons, *, shots: int
) -> tuple[int, dict[str, "FloatArray"]]:
    """The tolerance that labels most rows right, and the accuracy of every one."""
    from mcquack.kernels.bitflip import accuracies_by_tolerance, training_tolerance

    counts = sampler.weight_counts(classifier.overlap_circuits(rows.X), shots=shots)
    return training_tolerance(counts, rows.y), {"accuracy": accuracies_by_tolerance(counts, rows.y)}


def interval(calibration: "Calibration") -> str:
    """Where it lies in most repetitions."""
    if calibration.interval is None:
        return ""
    low, high = calibration.interval
    return f" ({calibration.confidence:.0%} of repetitions: {low} to {high})"
