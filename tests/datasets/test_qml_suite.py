import csv
import gzip
import struct

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mcquack import datasets

IDX_NAMES = [file.name for file in datasets.describe("mnist_pca_2").sources[2].files]
GENERATED = [name for name in datasets.names("qml") if not name.startswith("mnist_pca")]
MNIST_PCA = [name for name in datasets.names("qml") if name.startswith("mnist_pca")]


@pytest.fixture(scope="module")
def stored(data_dir):
    """Arrays of the published data by dataset, part and letter."""
    files = {}

    def array(name, letter, part):
        family, _, n = name.rpartition("_")
        if family not in files:
            with np.load(data_dir / "qml_benchmarks" / "datasets" / f"{family}.npz", allow_pickle=False) as file:
                files[family] = dict(file)
        return files[family][f"{letter}_{part}_{int(n):02d}"]

    return array


@pytest.mark.parametrize("name", GENERATED)
def test_what_is_generated_is_what_was_published(name, stored):
    for part, (X, y) in datasets.load(name).parts.items():
        assert_allclose(X, stored(name, "X", part), rtol=0, atol=1e-10)
        assert_array_equal(y, stored(name, "y", part))


@pytest.mark.parametrize("name", MNIST_PCA)
def test_stored_digits_are_read_as_they_are(name, stored, data_dir):
    loaded = datasets.load(name, data_dir=data_dir)
    assert loaded.origin == "stored copy of the published data"
    for part, (X, y) in loaded.parts.items():
        assert_array_equal(X, stored(name, "X", part))
        assert_array_equal(y, stored(name, "y", part))


def test_counts_are_those_of_the_published_list(data_dir):
    with (data_dir / "qml_benchmarks" / "datasets" / "manifest.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(datasets.names("qml"))
    for row in rows:
        loaded = datasets.load(f"{row['family']}_{row['n']}", data_dir=data_dir)
        assert loaded.n_features == int(row["n_features"])
        for part, (_, y) in loaded.parts.items():
            assert len(y) == int(row[f"n_{part}"])
            assert round(np.mean(y == 1), 4) == float(row[f"frac_pos_{part}"])


def write_digits(folder, *, seed):
    """Files like those of MNIST, of few pictures whose pixels vary along few directions."""
    random = np.random.default_rng(seed)
    directions = random.normal(size=(6, 784)) * 0.5 ** np.arange(6)[:, None]
    written = []
    for (images, labels), count in ((IDX_NAMES[:2], 400), (IDX_NAMES[2:], 100)):
        y = random.integers(0, 10, size=count).astype(np.uint8)
        X = np.clip(128 + 25 * random.normal(size=(count, 6)) @ directions, 0, 255).astype(np.uint8)
        for name, array in ((images, X.reshape(-1, 28, 28)), (labels, y)):
            header = struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape)
            written.append(folder / f"{name}.gz")
            written[-1].write_bytes(gzip.compress(header + array.tobytes(), mtime=0))
    return written


@pytest.mark.parametrize("n", [2, 4])
def test_digits_computed_from_pictures_are_their_principal_components(n, tmp_path):
    source = datasets.describe(f"mnist_pca_{n}").sources[1]
    paths = write_digits(tmp_path, seed=n)
    train, test = source.read(*paths)
    again, _ = source.read(*paths)
    assert_array_equal(train.X, again.X)
    assert train.X.dtype == np.float32
    assert train.X.shape == (len(train.y), n)
    assert set(np.unique(test.y)) == {-1, 1}

    covariance = np.cov(train.X.T)
    assert_allclose(covariance, np.diag(np.diag(covariance)), atol=1e-3 * covariance[0, 0])
    assert np.all(np.diff(np.diag(covariance)) < 0)
    assert_allclose(train.X.mean(axis=0), 0, atol=1e-3)
    assert np.all(train.X[np.abs(train.X).argmax(axis=0), range(n)] > 0)


@pytest.mark.parametrize("n", [2, 11, 20])
def test_digits_computed_from_mnist_are_the_published_ones(n, stored, data_dir):
    paths = [data_dir / "MNIST" / "raw" / name for name in IDX_NAMES]
    if not paths[0].exists():
        pytest.skip(f"needs the four unpacked files of MNIST in {paths[0].parent}")
    computed = datasets.describe(f"mnist_pca_{n}").sources[1].read(*paths)
    for part, (X, y) in zip(("train", "test"), computed, strict=True):
        assert_allclose(X, stored(f"mnist_pca_{n}", "X", part), rtol=0, atol=1e-5)
        assert_array_equal(y, stored(f"mnist_pca_{n}", "y", part))
