import pytest

from mcquack.errors import StoreBusyError, StoreError
from tests.database.notebook import Notebook
from tests.database.processes import hold, started


def test_a_second_writer_is_refused_while_the_first_one_writes(path):
    with started(hold, path) as (_, first):
        assert first.recv() == "open"
        with started(hold, path) as (_, second):
            assert second.recv().startswith("StoreBusyError: another process is writing")
        with Notebook.open(path) as reader:
            assert reader.texts() == ["1"]
        first.send("close")
        assert first.recv() == "closed"
        with Notebook.open(path, write=True) as notebook:
            notebook.add("2")
    with Notebook.open(path) as reader:
        assert len(reader.texts()) == 2


def test_a_writer_that_was_killed_holds_nothing(path):
    with started(hold, path) as (process, pipe):
        assert pipe.recv() == "open"
        process.kill()
        process.join()
        with Notebook.open(path, write=True) as notebook:
            assert notebook.texts() == ["1"]


def test_two_writers_within_one_process_are_refused_as_well(path, notebook):
    with pytest.raises(StoreBusyError, match="Reading is possible"):
        Notebook.open(path, write=True)
    notebook.add("1")


def test_a_notebook_is_the_same_under_another_name(path, notebook):
    link = path.with_name("link.sqlite")
    try:
        link.symlink_to(path)
    except OSError:
        pytest.skip("links are not allowed here")
    with pytest.raises(StoreBusyError):
        Notebook.open(link, write=True)


def test_where_no_lock_can_be_made_nothing_is_written(path):
    path.with_name(f"{path.name}.lock").mkdir()
    with pytest.raises(StoreError, match="no lock can be made"):
        Notebook.open(path, create=True)
    assert not path.exists()
