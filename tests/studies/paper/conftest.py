"""One site for all tests: what trains or draws for seconds is made once."""

from pathlib import Path

import pytest

# A source archive has no studies.
collect_ignore_glob = [] if (Path(__file__).parents[3] / "studies").is_dir() else ["test_*.py"]


@pytest.fixture(scope="session")
def stores(tmp_path_factory):
    from tests.studies.paper.fakes import fake_stores

    return fake_stores(tmp_path_factory.mktemp("paper") / "studies")


@pytest.fixture(scope="session")
def exhibits(stores, tmp_path_factory):
    """Without published scores, as on a machine that has none."""
    from studies.paper.page import all_exhibits
    from studies.paper.sources import Sources

    nowhere = tmp_path_factory.mktemp("no-data")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("MCQUACK_CACHE", str(nowhere))
        found = tuple(all_exhibits(Sources(stores=stores, data_dir=nowhere)))
    return {exhibit.item.id: exhibit for exhibit in found}


@pytest.fixture(scope="session")
def site(exhibits):
    """The files of the site."""
    from studies.paper.page import site_files

    return site_files(tuple(exhibits.values()))
