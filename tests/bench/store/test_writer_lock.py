import pytest

from mcquack.bench.store import Store
from mcquack.errors import StoreBusyError, StoreError
from tests.bench.store.processes import hold, started
from tests.bench.store.values import done


def test_a_second_writer_is_refused_while_the_first_one_writes(path):
    with started(hold, path) as (_, first):
        assert first.recv() == "open"
        with started(hold, path) as (_, second):
            assert second.recv().startswith("StoreBusyError: another process is writing")
        with Store.open(path) as reader:
            assert list(reader.outcomes()) == [done(1)]
        first.send("close")
        assert first.recv() == "closed"
        with Store.open(path, write=True) as store:
            store.add(done(2))
    with Store.open(path) as reader:
        assert len(list(reader.outcomes())) == 2


def test_a_writer_that_was_killed_holds_nothing(path):
    with started(hold, path) as (process, pipe):
        assert pipe.recv() == "open"
        process.kill()
        process.join()
        with Store.open(path, write=True) as store:
            assert list(store.outcomes()) == [done(1)]


def test_two_writers_within_one_process_are_refused_as_well(path, store):
    with pytest.raises(StoreBusyError, match="Reading is possible"):
        Store.open(path, write=True)
    store.add(done(1))


def test_a_store_is_the_same_under_another_name(path, store):
    link = path.with_name("link.sqlite")
    try:
        link.symlink_to(path)
    except OSError:
        pytest.skip("links are not allowed here")
    with pytest.raises(StoreBusyError):
        Store.open(link, write=True)


def test_where_no_lock_can_be_made_nothing_is_written(path):
    path.with_name(f"{path.name}.lock").mkdir()
    with pytest.raises(StoreError, match="no lock can be made"):
        Store.open(path, create=True)
    assert not path.exists()
