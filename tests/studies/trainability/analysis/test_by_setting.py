import numpy as np
import pytest

from mcquack.errors import InvalidInputError
from mcquack.studies.trainability.analysis import means_by


def test_means_are_those_of_the_runs_that_share_the_named_settings():
    rows = [({"lr": lr, "seed": seed}, 10 * lr + seed) for lr in (0.1, 0.01) for seed in range(3)]
    fast, slow = means_by(rows, ["lr"])
    assert (fast.settings, fast.mean, fast.n) == ({"lr": 0.1}, pytest.approx(2), 3)
    assert (slow.settings, slow.mean, slow.n) == ({"lr": 0.01}, pytest.approx(1.1), 3)


def test_runs_without_a_value_are_counted_and_groups_without_any_are_left_out():
    rows = [({"lr": 1}, None), ({"lr": 2}, float("nan")), ({"lr": 2}, 3.0)]
    (group,) = means_by(rows, ["lr"])
    assert (group.mean, group.n, group.n_left_out, group.interval) == (3.0, 1, 1, None)


def test_students_intervals_cover_as_often_as_they_say():
    rng = np.random.default_rng(0)
    groups = means_by([({"g": g}, float(rng.normal())) for g in range(400) for _ in range(4)], ["g"], level=0.9)
    covered = sum(group.interval.low <= 0 <= group.interval.high for group in groups)
    assert 340 <= covered <= 380


def test_a_setting_that_a_run_lacks_is_named():
    with pytest.raises(InvalidInputError, match="no setting 'lr'; it has n_qubits"):
        means_by([({"n_qubits": 2}, 1.0)], ["lr"])
