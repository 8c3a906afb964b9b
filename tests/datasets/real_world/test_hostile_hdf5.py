"""HDF5 files that lie, lead elsewhere or are broken are refused by the typed error, within a bounded room."""

import random
import tracemalloc

import numpy as np
import pytest

from mcquack.datasets.real_world.pictures import published_signs
from mcquack.errors import DataFileError
from tests.campaigns import rounds

h5py = pytest.importorskip("h5py")
MOST_BYTES = 300 << 20
ARRAYS = ("img_train", "labels_train", "img_test", "labels_test")


def written(path, **given):
    """A file of right arrays, but for those that are given: an array, or a function that makes it in the file."""
    right = {
        "img_train": np.random.default_rng(0).random((8, 16, 16)),
        "labels_train": np.arange(8) % 4,
        "img_test": np.zeros((4, 16, 16)),
        "labels_test": np.arange(4),
    }
    with h5py.File(path, "w") as file:
        for name, value in {**right, **given}.items():
            if callable(value):
                value(file, name)
            else:
                file[name] = value
    return path


def huge(shape, **options):
    """Room that is claimed and never written."""
    return lambda file, name: file.create_dataset(name, shape=shape, dtype="f8", **options)


def outside(file, name):
    file.create_dataset(name, shape=(4, 16, 16), dtype="u1", external=[("/etc/passwd", 0, 1024)])


def virtual(file, name):
    layout = h5py.VirtualLayout(shape=(4, 16, 16), dtype="f8")
    layout[:] = h5py.VirtualSource("/etc/passwd", "x", shape=(4, 16, 16))
    file.create_virtual_dataset(name, layout)


def named(value):
    return lambda file, name: file.__setitem__(name, value(name) if callable(value) else value)


def of_type(dtype, shape=(4, 16, 16)):
    return lambda file, name: file.create_dataset(name, shape=shape, dtype=dtype)


HOSTILE = {
    "a terabyte": huge((2**29, 16, 16)),
    "more than there are numbers for": huge((2**40, 2**20), chunks=(1, 2**10)),
    "a bomb": huge((2**30, 16, 16), chunks=(2**8, 16, 16), compression="gzip"),
    "many axes": huge((1,) * 30),
    "no axes": huge(()),
    "nothing": lambda file, name: file.create_dataset(name, data=h5py.Empty("f8")),
    "a group": lambda file, name: file.create_group(name),
    "a type": named(np.dtype("f8")),
    "texts": of_type(h5py.string_dtype()),
    "objects": of_type(h5py.vlen_dtype(np.float64)),
    "references": of_type(h5py.ref_dtype),
    "records": of_type([("a", "f8"), ("b", "i4")]),
    "complex numbers": of_type("c16"),
    "arrays of arrays": of_type(np.dtype(("f8", (16, 16))), shape=(4,)),
    "bytes of another file": outside,
    "an array of another file": virtual,
    "a link to another file": named(h5py.ExternalLink("/etc/hostname", "/")),
    "a link to itself": named(h5py.SoftLink),
    "a link to nothing": named(h5py.SoftLink("/nowhere")),
}


@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_that_lie_or_lead_elsewhere_are_refused(kind, name, tmp_path):
    path = written(tmp_path / "p.h5", **{name: HOSTILE[kind]})
    tracemalloc.start()
    try:
        with pytest.raises(DataFileError, match="PlusMinus file"):
            published_signs(path)
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("n_files", rounds(100, short=500, full=3_000))
def test_a_broken_file_is_refused_or_read(n_files, tmp_path, tally):
    chance, path = random.Random(n_files), tmp_path / "p.h5"
    content = written(path).read_bytes()
    n_refused = 0
    tracemalloc.start()
    try:
        for _ in range(n_files):
            changed = bytearray(content)
            for _ in range(chance.choice([1, 2, 8, 100])):
                # Half of the changes hit the headers, which are what a reader believes.
                place = chance.randrange(chance.choice([4096, len(changed)]))
                flipped = changed[place] ^ (1 << chance.randrange(8))
                changed[place] = chance.choice([flipped, 0, 255, chance.randrange(256)])
            path.write_bytes(changed[: chance.randrange(len(changed))] if chance.random() < 0.2 else changed)
            try:
                published_signs(path)
            except DataFileError:
                n_refused += 1
        assert tracemalloc.get_traced_memory()[1] < MOST_BYTES
    finally:
        tracemalloc.stop()
    assert n_refused > 0
    tally("broken HDF5 files", n_files, refused=n_refused, read=n_files - n_refused, other_errors=0)
