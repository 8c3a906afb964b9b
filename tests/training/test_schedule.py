"""The order of samples is random, fair, and decided by seed and epoch alone."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from mcquack.training import TrainingSettings
from mcquack.training.settings import epoch_orders

seeds, numbers = st.integers(0, 2**32 - 1), st.integers(0, 10_000)


@given(n_samples=st.integers(1, 200), epoch=numbers, epochs_ka=st.integers(0, 3), seed=seeds)
def test_every_pass_visits_every_sample_once(n_samples: int, epoch: int, epochs_ka: int, seed: int) -> None:
    settings = TrainingSettings(epochs_ka=epochs_ka, batch_size=10, seed=seed)
    kao, co = epoch_orders(n_samples, epoch, settings)
    assert kao.shape == (epochs_ka, n_samples)
    for order in (*kao, co):
        assert order.dtype == np.int64
        assert_array_equal(np.sort(order), np.arange(n_samples))


@given(epoch=numbers, seed=seeds)
def test_nothing_but_seed_and_epoch_decides(epoch: int, seed: int) -> None:
    few = TrainingSettings(batch_size=10, seed=seed)
    other = TrainingSettings(
        batch_size=7, seed=seed, epochs_ka=3, epochs_co=2, lr_ka=1, optimizer="sgd", decay_rate=0.5, reg_param_co=1
    )
    left, right = epoch_orders(50, epoch, few), epoch_orders(50, epoch, other)
    assert_array_equal(left[0][0], right[0][0])
    assert_array_equal(left[1], right[1])


@given(epoch=numbers, seed=seeds)
def test_orders_differ_between_passes_phases_epochs_and_seeds(epoch: int, seed: int) -> None:
    """Two of 50! orders agree by chance never."""
    settings = TrainingSettings(epochs_ka=2, batch_size=10, seed=seed)
    orders = [*epoch_orders(50, epoch, settings)[0], epoch_orders(50, epoch, settings)[1]]
    orders += [epoch_orders(50, epoch + 1, settings)[1], *epoch_orders(50, epoch + 1, settings)[0]]
    orders.append(epoch_orders(50, epoch, TrainingSettings(batch_size=10, seed=seed + 1))[1])
    assert len({order.tobytes() for order in orders}) == len(orders)


def test_a_single_batch_keeps_its_order() -> None:
    kao, co = epoch_orders(10, 3, TrainingSettings(batch_size=10))
    for order in (*kao, co):
        assert_array_equal(order, np.arange(10))
