"""Draws against JAX itself, and against numbers that the original code of the QML benchmark suite drew."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from mcquack.training.draws import (
    Draws,
    KeyStream,
    cumulative_weights,
    draw_batch,
    draw_weighted,
    normal,
    uniform,
)

# Computed by the original code of the suite (Bowles, Ahmed and Schuld 2024, tag v0.1).
SEEDS = json.loads((Path(__file__).parents[1] / "golden" / "qml_suite_models.json").read_text())["seeds"]
KEYS = [0, 1, 40973, 511136, 999_999]
SHAPES = [(), (0,), (1,), (2,), (7,), (3, 5), (4, 2, 3), (33, 31)]


def batch(key: int, n_samples: int, batch_size: int) -> np.ndarray:
    return Draws(n_samples, batch_size)(np.array([key]))[0]


@pytest.fixture
def random():
    """The random numbers of JAX in the suite's layout and precision; the settings of other tests stay as they are."""
    jax = pytest.importorskip("jax")
    functions = pytest.importorskip("mcquack.simulators.jax.functions")
    with jax.threefry_partitionable(False), functions.precision(np.dtype(np.float64)):
        yield jax.random


@pytest.mark.parametrize("key", KEYS)
def test_numbers_are_those_of_jax(random, key: int) -> None:
    for shape in SHAPES:
        opened = random.PRNGKey(key)
        assert_array_equal(uniform(key, shape), random.uniform(opened, shape))
        assert_allclose(normal(key, shape), random.normal(opened, shape), rtol=1e-14, atol=0)


@pytest.mark.parametrize("key", KEYS)
def test_batches_are_those_of_jax(random, key: int) -> None:
    for n_samples in (1, 2, 3, 240, 11552):
        for size in (1, 2, 7, 32):
            expected = random.choice(random.PRNGKey(key), np.arange(n_samples), (size,), replace=True)
            assert_array_equal(batch(key, n_samples, size), expected)
    for bound in (10**6, 2**31 + 7, 2**32):
        assert_array_equal(batch(key, bound, 32), random.randint(random.PRNGKey(key), (32,), 0, bound))


def test_a_seed_gives_what_the_suite_drew() -> None:
    keys = KeyStream(0).take(6)
    assert keys.dtype == np.int64
    assert keys.tolist() == SEEDS["numpy_default_rng_0_integers_1000000"]
    assert KeyStream(0, 10**5).take(6).tolist() == SEEDS["numpy_default_rng_0_integers_100000"]
    assert_allclose(uniform(keys[0], (7,))[:3], SEEDS["uniform_key_ints0_first_3"], rtol=0, atol=1e-12)
    assert_allclose(normal(keys[1], (1,)), SEEDS["normal_key_ints1_shape1"], rtol=0, atol=1e-12)
    assert batch(keys[2], 240, 32)[:8].tolist() == SEEDS["choice_key_ints2_of_240_first_8"]


@given(seed=st.integers(0, 2**32), bound=st.sampled_from([10**6, 10**5, 2**31 + 1]), parts=st.lists(st.integers(0, 99)))
def test_keys_are_the_same_taken_one_by_one_or_in_parts(seed: int, bound: int, parts: list[int]) -> None:
    generator = np.random.default_rng(seed)
    singly = [int(generator.integers(bound)) for _ in range(sum(parts))]
    keys = KeyStream(seed, bound)
    assert [key for part in parts for key in keys.take(part).tolist()] == singly


def test_compiled_code_draws_the_same_batches() -> None:
    for key in KEYS:
        for size in (1, 2, 7, 32):
            chosen = np.empty(size, np.int64)
            draw_batch(key, 240, chosen)
            assert_array_equal(chosen, batch(key, 240, size))


@given(weights=st.lists(st.integers(0, 5), min_size=1, max_size=40).filter(any), key=st.integers(0, 10**6 - 1))
def test_a_row_of_weight_two_is_a_row_given_twice(weights: list[int], key: int) -> None:
    cumulative, whole = cumulative_weights(np.array(weights, float))
    assert whole
    chosen = np.empty(32, np.int64)
    draw_weighted(key, cumulative, whole, chosen)
    assert_array_equal(chosen, np.repeat(np.arange(len(weights)), weights)[batch(key, sum(weights), 32)])


@given(
    weights=st.lists(st.sampled_from([0, 0.25, 1, 1.5, 1e-3, 7]), min_size=1, max_size=40).filter(any),
    key=st.integers(0, 10**6 - 1),
)
def test_other_weights_share_out_a_uniform_draw(weights: list[float], key: int) -> None:
    cumulative, _ = cumulative_weights(np.array(weights))
    chosen = np.empty(33, np.int64)
    draw_weighted(key, cumulative, False, chosen)
    assert_array_equal(chosen, np.searchsorted(cumulative, uniform(key, (33,)) * cumulative[-1], side="right"))
    assert np.array(weights)[chosen].all()


def test_weights_with_a_fraction_are_not_whole() -> None:
    assert not cumulative_weights(np.array([1.0, 0.5]))[1]
