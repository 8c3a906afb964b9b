"""The random numbers of the models of the QML benchmark suite: a seed gives the parameters and batches it published.

Every purpose takes one key from a stream of whole numbers, which NumPy draws from the seed, and every key opens a
generator of its own: Threefry-2x32 with twenty rounds (Salmon, Moraes, Dror and Shaw 2011), which hashes the places of
an array instead of going from state to state. The layout is that of JAX before version 0.5, which newer versions keep
under ``jax_threefry_partitionable=False``: of B numbers with 64 bits, number i is the hash of the words i and B + i.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfinv

from mcquack.arrays import IntArray
from mcquack.simulators.compiled.entry import entry
from mcquack.simulators.compiled.inner import inner

_EVEN_TURNS, _ODD_TURNS = (13, 15, 26, 6), (17, 29, 16, 24)
_PARITY = np.uint32(0x1BD11BDA)
_FINEST = 2.0**-52  # the step between uniform draws: as between the floats from one to two, all of them as likely


class KeyStream:
    """The keys that follow from a seed, one for each purpose; like a generator, it goes on with every call.

    Parameters
    ----------
    seed
        The ``random_state`` of a model.
    bound
        Keys are below it: 10**6 for every model of the suite but the one that uploads its data again, which has 10**5.

    Examples
    --------
    >>> keys = KeyStream(0)
    >>> keys.take(2).tolist(), keys.take(1).tolist()
    ([850624, 636961], [511136])
    """

    def __init__(self, seed: int | Sequence[int], bound: int = 10**6) -> None:
        self._generator = np.random.default_rng(seed)
        self._bound = bound

    def take(self, count: int) -> IntArray:
        """The next ``count`` keys (count,), the same whether taken at once or one by one."""
        return self._generator.integers(self._bound, size=count)


@inner
def _turned(left: Any, right: Any, turns: Any) -> Any:
    for bits in turns:
        left = np.uint32(left + right)
        right = left ^ (np.uint32(right << np.uint32(bits)) | np.uint32(right >> np.uint32(32 - bits)))
    return left, right


@inner
def _hashed(key: Any, left: Any, right: Any) -> Any:
    """Threefry-2x32 of two words under a key, which is a pair of words too."""
    third = key[0] ^ key[1] ^ _PARITY
    left, right = np.uint32(left + key[0]), np.uint32(right + key[1])
    left, right = _turned(left, right, _EVEN_TURNS)
    left, right = _turned(np.uint32(left + key[1]), np.uint32(right + third + 1), _ODD_TURNS)
    left, right = _turned(np.uint32(left + third), np.uint32(right + key[0] + 2), _EVEN_TURNS)
    left, right = _turned(np.uint32(left + key[0]), np.uint32(right + key[1] + 3), _ODD_TURNS)
    left, right = _turned(np.uint32(left + key[1]), np.uint32(right + third + 4), _EVEN_TURNS)
    return np.uint32(left + third), np.uint32(right + key[0] + 5)


@inner
def _words(key: int) -> Any:
    """The pair of words that a whole number from 0 on stands for."""
    return np.uint32(key >> 32), np.uint32(key & 0xFFFFFFFF)


@inner
def _bits(key: Any, place: int, size: int) -> Any:
    """The 64 bits at one place of an array with so many."""
    high, low = _hashed(key, np.uint32(place), np.uint32(size + place))
    return np.uint64(high) << np.uint64(32) | np.uint64(low)


@inner
def draw_batch(key: int, n_samples: int, chosen: Any) -> None:
    """Fills an array of int64 with numbers from 0 to n_samples − 1, all as likely, each apart from the others.

    A number is the remainder of 128 bits by ``n_samples``, which must be from 1 to 2**32.
    """
    first, second = _hashed(_words(key), np.uint32(0), np.uint32(2)), _hashed(_words(key), np.uint32(1), np.uint32(3))
    upper, lower = (first[0], second[0]), (first[1], second[1])
    span = np.uint64(n_samples)
    factor = np.uint64(2**32) % span
    factor = factor * factor % span  # 2**64, which is what the upper bits stand for
    for place in range(chosen.size):
        high, low = _bits(upper, place, chosen.size), _bits(lower, place, chosen.size)
        chosen[place] = (high % span * factor + low % span) % span


@inner
def draw_weighted(key: int, cumulative: Any, whole: bool, chosen: Any) -> None:
    """Fills an array of int64 with rows, each as likely as its share of the weights.

    ``cumulative`` and ``whole`` are those of ``cumulative_weights``. Rows of weight 2 are drawn as if they were given
    twice, one behind the other, so that weights of 1 give the rows of ``draw_batch``.
    """
    last = cumulative.size - 1
    if whole:
        draw_batch(key, int(cumulative[last]), chosen)
    for place in range(chosen.size):
        if whole:
            drawn = float(chosen[place])
        else:
            drawn = cumulative[last] * (_FINEST * float(_bits(_words(key), place, chosen.size) >> np.uint64(12)))
        first, beyond = 0, last
        while first < beyond:
            middle = (first + beyond) // 2
            if cumulative[middle] > drawn:
                beyond = middle
            else:
                first = middle + 1
        chosen[place] = first


def cumulative_weights(weights: NDArray[np.floating]) -> tuple[NDArray[np.float64], bool]:
    """The sums of the weights up to each row (N,), and whether they are whole numbers that a batch is drawn below."""
    weights = np.asarray(weights, np.float64)
    return np.cumsum(weights), bool((weights == np.floor(weights)).all() and weights.sum() < 2**32)


class Draws:
    """Draws batches of rows with replacement, each row as likely as its share of the weights."""

    def __init__(self, n_samples: int, batch_size: int, weights: NDArray[np.floating] | None = None) -> None:
        self.shape = n_samples, batch_size
        self.cumulative, self.whole = cumulative_weights(np.ones(0) if weights is None else weights)

    def __call__(self, keys: IntArray) -> IntArray:
        """Return a batch for each key, (K, B)."""
        orders = np.empty((len(keys), self.shape[1]), np.int64)
        _fill_orders(keys, self.shape[0], self.cumulative, self.whole, orders)
        return orders


@entry
def _fill_orders(keys: Any, n_samples: int, cumulative: Any, whole: bool, orders: Any) -> None:
    for number in range(keys.size):
        if cumulative.size:
            draw_weighted(keys[number], cumulative, whole, orders[number])
        else:
            draw_batch(keys[number], n_samples, orders[number])


@entry
def _fill_with_bits(key: int, bits: Any) -> None:
    for place in range(bits.size):
        bits[place] = _bits(_words(key), place, bits.size)


def uniform(key: int, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Numbers from 0 to below 1, all as likely, as ``jax.random.uniform`` draws them from ``PRNGKey(key)``.

    >>> uniform(850624, (7,))[:2].round(6).tolist()
    [0.118279, 0.079953]
    """
    bits = np.empty(math.prod(shape), np.uint64)
    _fill_with_bits(int(key), bits)
    return (bits >> np.uint64(12)).astype(np.float64).reshape(shape) * _FINEST


def normal(key: int, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Numbers with mean 0 and variance 1 from the bell curve, as ``jax.random.normal`` draws them to 14 digits.

    >>> normal(636961, (1,)).round(6).tolist()
    [-0.406079]
    """
    lowest = np.nextafter(-1.0, 0.0)
    inside = np.maximum(lowest, 2 * uniform(key, shape) + lowest)
    return np.asarray(math.sqrt(2) * erfinv(inside))
