"""One site for all tests: what trains or draws for seconds is made once."""

import pytest

from mcquack.report.paper.page import all_exhibits, site_files
from mcquack.report.paper.sources import Sources
from tests.report.paper.fakes import fake_stores


@pytest.fixture(scope="session")
def stores(tmp_path_factory):
    return fake_stores(tmp_path_factory.mktemp("paper") / "studies")


@pytest.fixture(scope="session")
def exhibits(stores, tmp_path_factory):
    """Without published scores, as on a machine that has none."""
    nowhere = tmp_path_factory.mktemp("no-data")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("MCQUACK_CACHE", str(nowhere))
        found = tuple(all_exhibits(Sources(stores=stores, data_dir=nowhere)))
    return {exhibit.item.id: exhibit for exhibit in found}


@pytest.fixture(scope="session")
def site(exhibits):
    """The files of the site."""
    return site_files(tuple(exhibits.values()))
