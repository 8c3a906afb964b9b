"""Hostile model files by the thousand: each is refused by the typed error or gives a model, and none runs code."""

import random
import sys
import tracemalloc
from contextlib import contextmanager

import numpy as np
import pytest

import mcquack
from mcquack.errors import McQuackError, ModelFileError
from tests.campaigns import rounds
from tests.models.hostile_files import hostile_file
from tests.models.test_released import FILES

# What a reader never needs, once all that it imports is there: each is a way in which a file could act.
ACTS = {"compile", "exec", "import", "marshal.loads", "pickle.find_class", "ctypes.dlopen", "socket.connect", "open"}
ACTS |= {"os.system", "os.exec", "os.fork", "os.posix_spawn", "subprocess.Popen", "os.remove", "os.rename", "os.putenv"}
MOST_BYTES = 200 << 20  # labels of fixed width may take 64 MiB, twice while they are compared
_seen = None


def _note(event, arguments):
    if (
        _seen is not None and event in ACTS and not str(arguments[0]).startswith(("/sys/", "/proc/"))
    ):  # counts processors
        _seen.append((event, str(arguments[0])))


@pytest.fixture(scope="module", autouse=True)
def _watched():
    sys.addaudithook(_note)  # stays for the life of the process, and looks only while somebody asks


@contextmanager
def acts():
    """What code does meanwhile that a file must not bring about."""
    global _seen
    noted: list[tuple[str, str]] = []
    _seen = noted
    try:
        yield noted
    finally:
        _seen = None


def answers(model, rows):
    """Whether it labels rows with its own classes; it may also refuse them, in so many words."""
    try:
        with np.errstate(all="ignore"):
            return set(model.predict(rows).tolist()) <= set(model.classes_.tolist())
    except McQuackError:
        return True


@pytest.mark.parametrize("n_files", rounds(300, short=2_000, full=10_000))
def test_a_hostile_file_is_refused_or_read_and_never_acts(n_files, tmp_path, tally):
    chance, path = random.Random(n_files), tmp_path / "model.mcq"
    whole = [(file.read_bytes(), np.load(file.with_suffix(".npz"))["X"][:3]) for file in FILES]
    for file in FILES:  # so that everything is imported
        assert answers(mcquack.load(file), np.load(file.with_suffix(".npz"))["X"][:3])
    n_refused = n_read = most_bytes = 0
    told = []
    for number in range(n_files):
        content, rows = chance.choice(whole)
        path.write_bytes(hostile_file(content, chance))
        if is_measured := number % 10 == 0:
            tracemalloc.start()
        try:
            with acts() as noted:
                model = mcquack.load(path)
        except ModelFileError as error:
            n_refused += 1
            told.append(str(error))
        else:
            n_read += 1
            assert answers(
                model, rows if model.n_features_in_ == rows.shape[1] else np.zeros((3, model.n_features_in_))
            )
        finally:
            if is_measured:
                most_bytes = max(most_bytes, tracemalloc.get_traced_memory()[1])
                tracemalloc.stop()
        # The file is opened by its name, and then by the number of that.
        assert [act for act in noted if act != ("open", str(path)) and not act[1].isdecimal()] == []
    assert most_bytes < MOST_BYTES
    assert [text for text in told if str(path) not in text or len(text) >= 1_000 or not text.isprintable()] == []
    assert n_refused > 20 * n_read > 0
    tally("mutated model files", n_files, refused=n_refused, read=n_read, ran_code=0, other_errors=0)
