"""Which bit flips are tolerated: those that the model knows, those asked for, or what a device shows by itself."""

from typing import TYPE_CHECKING

from mcquack.cli.notes import tell
from mcquack.errors import InvalidInputError

if TYPE_CHECKING:
    from mcquack.circuits.feature_map import FeatureMap
    from mcquack.circuits.overlap import Sampler
    from mcquack.kernels.bitflip import Calibration
    from mcquack.models import McQuackClassifier


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


def measured_calibration(
    classifier: "McQuackClassifier", sampler: "Sampler", *, shots: int, seed: int
) -> "Calibration":
    """The curve of the paper: the kernel between all centroids, for every tolerance."""
    from mcquack.kernels.bitflip import calibrate

    if len(classifier.centroids_) < 2:
        raise InvalidInputError("calibration compares centroids, and this model has only one; name a --tolerance.")
    return calibrate(sampler.weight_counts(classifier.overlap_circuits(), shots=shots), seed=seed)


def interval(calibration: "Calibration") -> str:
    """Where it lies in most repetitions."""
    if calibration.interval is None:
        return ""
    low, high = calibration.interval
    return f" ({calibration.confidence:.0%} of repetitions: {low} to {high})"
