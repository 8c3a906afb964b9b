import numpy as np
import pytest

from mcquack.studies.trainability.analysis import convergence


def test_an_exponential_descent_takes_its_half_life():
    found = convergence(0.3 + 2.0 ** (-np.arange(200) / 10))
    assert found.half_epochs == pytest.approx(10, abs=0.1)
    assert found.settled_epochs == pytest.approx(10 * np.log2(10), abs=0.1)
    assert found.relapse == 0
    assert found.best_epoch == 199
    assert found.descent == pytest.approx(1, abs=1e-4)


def test_scale_and_offset_of_the_loss_do_not_change_epochs():
    curve = np.exp(-np.arange(30) / 4) + 0.05 * np.cos(np.arange(30))
    one, other = convergence(curve), convergence(8 * curve - 3)
    assert other.half_epochs == pytest.approx(one.half_epochs)
    assert other.settled_epochs == pytest.approx(one.settled_epochs)
    assert other.relapse == pytest.approx(one.relapse)


def test_a_slower_learning_rate_takes_as_many_times_longer():
    fast, slow = (convergence(np.exp(-np.arange(1, 400) * rate)) for rate in (0.1, 0.05))
    assert slow.half_epochs == pytest.approx(2 * fast.half_epochs, rel=0.02)


def test_a_loss_that_comes_back_up_relapses():
    found = convergence([1.0, 0.0, 0.25])
    assert (found.relapse, found.best_epoch, found.best, found.last) == (0.25, 1, 0.0, 0.25)
    assert found.half_epochs == pytest.approx(0.5)


def test_a_loss_that_never_falls_does_not_converge():
    found = convergence([1.0, 1.0, 2.0])
    assert found.half_epochs is None
    assert found.settled_epochs is None
    assert (found.best_epoch, found.relapse) == (0, None)
