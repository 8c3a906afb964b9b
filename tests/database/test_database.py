from concurrent.futures import ThreadPoolExecutor

import pytest

from mcquack.errors import StoreError
from tests.database.notebook import Notebook


def test_a_transaction_is_all_or_nothing(notebook):
    notebook.add("1")
    with pytest.raises(StoreError, match="NOT NULL"):
        notebook.add("2", None)
    assert notebook.texts() == ["1"]
    notebook.add("3")
    assert notebook.texts() == ["1", "3"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_a_transaction_that_is_broken_off_leaves_nothing(notebook, error):
    def texts():
        yield "1"
        raise error

    with pytest.raises(error), notebook._transaction() as connection:
        connection.executemany("INSERT INTO notes VALUES (?)", ([text] for text in texts()))
    assert notebook.texts() == []
    notebook.add("2")


def test_what_was_opened_to_read_is_not_written(path, notebook):
    with (
        Notebook.open(path) as reader,
        pytest.raises(StoreError, match=r"not open to be written: use Notebook\.open\(…, write=True\)"),
    ):
        reader.add("1")
    notebook.close()
    with pytest.raises(StoreError, match="not open to be written"):
        notebook.add("1")


def test_closing_twice_does_no_harm(path, notebook):
    notebook.close()
    notebook.close()
    with Notebook.open(path, write=True) as next_one:
        next_one.add("1")


def test_what_is_in_memory_is_written_and_shared_by_threads_that_take_turns():
    with Notebook.in_memory() as notebook, ThreadPoolExecutor(1) as other:
        notebook.add("1")
        other.submit(notebook.add, "2").result()
        assert notebook.texts() == ["1", "2"]
        assert str(notebook) == "in memory"
        assert notebook.path is None


def test_a_row_that_makes_no_sense_is_told_with_its_file(path, notebook):
    with pytest.raises(StoreError, match=r"cannot be read \(odd\)") as told, notebook._readable_content():
        raise ValueError("odd")
    assert f"a row of the notebook {path} " in str(told.value)
