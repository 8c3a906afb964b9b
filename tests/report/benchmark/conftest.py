"""One fake benchmark for all tests that only read it."""

import pytest

from mcquack.bench.store import Store
from mcquack.report.benchmark.analysis import analyse
from mcquack.report.benchmark.contents import read_contents
from tests.report.benchmark.fakes import DATASETS, fake_store, published_cells


@pytest.fixture(scope="session")
def store_path(tmp_path_factory):
    """Eight datasets, five models; VC fails on the first dataset, and SVC with one seed on the second."""
    path = tmp_path_factory.mktemp("benchmark") / "fake.sqlite"
    return fake_store(path, failing={(DATASETS[0], "vc"): range(5), (DATASETS[1], "svc"): [2]})


@pytest.fixture(scope="session")
def contents(store_path):
    with Store.open(store_path) as store:
        return read_contents(store, published=published_cells())


@pytest.fixture(scope="session")
def analysis(contents):
    return analyse(contents)
