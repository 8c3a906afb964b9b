"""Many fits, in threads, in forked processes and one after the other, are the fits that one would have made alone."""

import gc
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_iris

from mcquack.models import McQuackClassifier, SharedVariationalClassifier
from tests.campaigns import rounds

X, Y = load_iris(return_X_y=True)
SETTINGS: tuple[dict[str, Any], ...] = (
    {},
    {"batch_size": 16},
    {"n_qubits": 3, "steps": "joint"},
    {"loss": "cross_entropy"},
    {"n_starts": 2},
    {"engine": "gates"},
)
MOST_GROWTH = 24 << 20  # bytes in all, for what libraries keep and for what the allocator scatters


def fitted(number):
    """What the fit of that number learned: all numbers have other settings or seeds."""
    settings = {"n_qubits": 2, "epochs": 3, "random_state": number, **SETTINGS[number % len(SETTINGS)]}
    rows = slice(number % 5, None, 2)
    model = McQuackClassifier(**settings).fit(X[rows], Y[rows])
    return model.predict_proba(X)


def serial(n_fits):
    return [fitted(number) for number in range(n_fits)]


@pytest.mark.parametrize("n_fits", rounds(16, short=60, full=240))
def test_fits_in_eight_threads_are_those_of_one(n_fits, tally):
    expected = serial(n_fits)
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(fitted, range(n_fits)))
    for left, right in zip(found, expected, strict=True):
        assert_array_equal(left, right)
    tally("fits in eight threads", n_fits, different_from_serial=0)


def test_one_model_answers_in_eight_threads_as_in_one():
    models = [McQuackClassifier(n_qubits=2, epochs=2, random_state=0), SharedVariationalClassifier(epochs=1)]
    for model in models:
        expected = model.fit(X, Y).predict_proba(X)
        with ThreadPoolExecutor(8) as threads:
            for found in threads.map(lambda _, model=model: model.predict_proba(X), range(32)):
                assert_array_equal(found, expected)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing there forks")
# JAX, where an earlier test has imported it, and newer Pythons warn of forks beside threads.
@pytest.mark.filterwarnings(r"ignore:.*fork\(\)")
@pytest.mark.parametrize("n_forks", rounds(2, short=6, full=24))
def test_a_forked_process_fits_what_its_parent_would(n_forks, tmp_path, tally):
    expected = serial(n_forks)
    for number in range(n_forks):
        pid = os.fork()
        if not pid:  # the child: whatever happens, it must not go on with the tests
            code = 1
            try:
                np.save(tmp_path / f"{number}.npy", fitted(number))
                code = 0
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        assert_array_equal(np.load(tmp_path / f"{number}.npy"), expected[number])
        assert_array_equal(fitted(number), expected[number])  # and the parent goes on as before
    tally("forks after fits", n_forks, different_from_parent=0)


def resident_bytes():
    """The memory of this process that is really in use."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux for the memory in use")
@pytest.mark.parametrize("n_fits", rounds(60, short=150, full=500))
def test_many_fits_leave_nothing_behind(n_fits, tally):
    for number in range(30):  # caches fill up, and the allocator finds its size
        fitted(number)
    gc.collect()
    before = resident_bytes()
    for number in range(n_fits):
        fitted(number % 30)
    gc.collect()
    grown = resident_bytes() - before
    assert grown < MOST_GROWTH
    tally("fits one after the other", n_fits, kibibytes_grown=max(0, grown >> 10))
