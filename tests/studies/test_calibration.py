"""The errors that the study of calibration tells are what they are called."""

from pathlib import Path

import numpy as np
import pytest

STUDY = Path(__file__).parents[2] / "studies" / "calibration"

pytestmark = pytest.mark.skipif(not STUDY.is_dir(), reason="a source archive has no results")


def test_errors_of_calibration_are_what_they_are_called() -> None:
    from studies.calibration.measure import brier_score, calibration_error

    labels = np.array([0, 1, 1, 0])
    sure, split = np.eye(2)[labels], np.full((4, 2), 0.5)
    assert brier_score(sure, labels) == calibration_error(sure, labels) == 0
    assert brier_score(split, labels) == 0.5
    assert calibration_error(split, labels) == 0  # half of them are hits
    assert calibration_error(sure[:, ::-1], labels) == 1
    assert brier_score(sure[:, ::-1], labels) == 2
