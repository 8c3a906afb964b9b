"""One fake study for all tests that only read it."""

from functools import partial

import pytest

from mcquack.bench.store import Store
from mcquack.report.trainability.study import read_study
from mcquack.studies.trainability.analysis import forest_importances
from tests.report.trainability.fakes import fake_store, observations, rate_observations, wide_observations

SMALL = {"sizes": (2, 3, 4, 5, 6, 7), "n_seeds": 2, "epochs": 12}


@pytest.fixture(scope="session", autouse=True)
def _small_forests():
    """A few trees know the settings that were made to decide, and grow faster."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(
            "mcquack.report.trainability.sections.forest_importances", partial(forest_importances, n_trees=8)
        )
        yield


@pytest.fixture(scope="session")
def found():
    """The grid of the paper on few sizes, shallow circuits to 1,000 qubits, and learning rates."""
    return [*observations(**SMALL), *wide_observations(n_seeds=2), *rate_observations(n_seeds=2)]


@pytest.fixture(scope="session")
def store_path(tmp_path_factory, found):
    return fake_store(tmp_path_factory.mktemp("study") / "fake.sqlite", found)


@pytest.fixture(scope="session")
def study(store_path):
    with Store.open(store_path) as store:
        return read_study(store)
