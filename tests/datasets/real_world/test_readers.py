"""The stored sample and the file that its authors publish are read into the same samples."""

import csv
import gzip
import io
import json
import struct
import zipfile

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mcquack import datasets
from mcquack.datasets.formats import matrix
from mcquack.datasets.real_world.tables import AREAS, DIFFICULTY, MEASURED, SOILS, TRAFFIC
from mcquack.datasets.real_world.tables import CENSUS_FEATURES as CENSUS
from mcquack.datasets.real_world.tables import DOH_FEATURES as DOH
from mcquack.errors import DataFileError, MissingDependencyError

N_ROWS = 30


def csv_text(rows, *, header=None, separator=","):
    lines = [separator.join(map(str, row)) for row in ([header] if header else []) + rows]
    return "\n".join(lines) + "\n"


def idx_bytes(array):
    header = struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape)
    return gzip.compress(header + array.tobytes(), mtime=0)


def zipped(path, members):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def assert_same_pool(first, second):
    assert_allclose(*(pool.X.reshape(len(pool.y), -1) for pool in (first, second)))
    assert_array_equal(first.y, second.y)
    assert first.feature_names == second.feature_names


def write_openml(path, *, data, target, feature_names=(), categories=()):
    """The arrays that a download from OpenML leaves."""
    np.savez(
        path,
        data=data,
        target=np.array(target, dtype=np.str_),
        feature_names=np.array(feature_names, dtype=np.str_),
        categories=np.array(json.dumps(dict(categories))),
    )
    return path


@pytest.fixture
def written(tmp_path):
    """Writes text, gzipped if the name says so, and gives the path."""

    def write(name, text):
        path = tmp_path / name
        content = text if isinstance(text, bytes) else text.encode()
        path.write_bytes(gzip.compress(content, mtime=0) if name.endswith(".gz") else content)
        return path

    return write


def readers(name):
    return [source.read for source in datasets.describe(name).sources]


def test_census(written, tmp_path):
    random = np.random.default_rng(0)
    texts = {"workclass", "education", "marital_status", "occupation", "relationship", "race", "sex", "native_country"}
    rows = [
        [random.choice(["x", "b-c", "?"]) if name in texts else random.integers(99) for name in CENSUS]
        + [random.choice(["<=50K", ">50K"])]
        for _ in range(200)
    ]
    stored, published, from_openml = readers("census")
    split = ["train"] * 120 + ["test"] * 80
    header = [*CENSUS, "income", "split"]
    table = written("c.csv.gz", csv_text([[*row, s] for row, s in zip(rows, split, strict=True)], header=header))
    train = written("adult.data", csv_text(rows[:120], separator=", ") + "\n")
    dotted = [[*row[:-1], f"{row[-1]}."] for row in rows[120:]]
    test = written("adult.test", "|1x3 Cross validator\n" + csv_text(dotted, separator=", ") + "\n")
    first, second = stored(table), published(train, test)
    assert 0 < len(first.y) < 200
    assert_allclose(first.X, second.X)
    assert_array_equal(first.y, [label.removesuffix(".") for label in second.y])

    names = ["b-c", "x"]
    codes = {"?": np.nan, **{name: index for index, name in enumerate(names)}}
    data = [[codes[cell] if isinstance(cell, str) else cell for cell in row[:-1]] for row in rows]
    path = write_openml(
        tmp_path / "openml-1590.npz",
        data=np.array(data, dtype=float),
        target=[row[-1] for row in rows],
        feature_names=[name.replace("_", "-") for name in CENSUS],
        categories={name.replace("_", "-"): names for name in texts},
    )
    assert_same_pool(first, from_openml(path))


def test_cover_type(written):
    random = np.random.default_rng(1)
    soil = random.integers(40, size=N_ROWS)
    flags = np.eye(40, dtype=int)
    rows = [
        [*random.integers(500, size=10), *flags[random.integers(4), :4], *flags[kind], random.integers(1, 8)]
        for kind in soil
    ]
    stored, published = readers("covert")[:2]
    header = ["Id", *MEASURED, *AREAS, *SOILS, "Cover_Type"]
    table = written("k.csv.gz", csv_text([[index, *row] for index, row in enumerate(rows)], header=header))
    pool = stored(table)
    assert_same_pool(pool, published(written("covtype.data.gz", csv_text(rows))))
    assert_array_equal(pool.X[:, -1], soil + 1)


def test_doh(written, tmp_path):
    random = np.random.default_rng(2)
    header = ["SourceIP", "DestinationIP", "SourcePort", "DestinationPort", "TimeStamp", *DOH, "Label"]

    def rows(label):
        values = [["10.0.0.1", "8.8.8.8", 1, 443, "2020-01-14 15:49:11", *random.normal(size=len(DOH)), label]]
        return values * 2 + [[*values[0][:-2], odd, label] for odd in ("", "NaN", "Infinity", "-inf")]

    benign, malicious = rows("Benign"), rows("Malicious")
    stored, published = readers("doh")[:2]
    members = {
        "Total_CSVs/l1-doh.csv": "unused",
        "Total_CSVs/l2-benign.csv": csv_text(benign, header=header),
        "Total_CSVs/l2-malicious.csv": csv_text(malicious, header=header),
    }
    pool = stored(written("d.csv.gz", csv_text(benign + malicious, header=header)))
    assert len(pool.y) == 4
    assert_same_pool(pool, published(zipped(tmp_path / "Total_CSVs.zip", members)))


def test_kdd(written):
    random = np.random.default_rng(3)
    texts = {"protocol_type", "service", "flag"}
    rows = [
        [random.choice(["tcp", "udp", "x"]) if name in texts else random.integers(5) for name in TRAFFIC]
        + [random.choice(["normal", "neptune", "mscan"]), random.integers(22)]
        for _ in range(N_ROWS)
    ]
    header = [*TRAFFIC, "label", DIFFICULTY, "split"]
    table = written("n.csv.gz", csv_text([[*row, "test"] for row in rows], header=header))
    train, test = written("KDDTrain+.txt", csv_text(rows[:20])), written("KDDTest+.txt", csv_text(rows[20:]))
    for name, n_features in (("kdd", 42), ("kdd_41", 41)):
        stored, published = readers(name)[:2]
        assert stored(table).X.shape == (N_ROWS, n_features)
        assert_same_pool(stored(table), published(train, test))


def test_url(written, tmp_path):
    random = np.random.default_rng(4)
    header = [*(f"x{index}" for index in range(79)), "URL_Type_obf_Type"]
    rows = [[*random.integers(9, size=79), random.choice(["benign", "spam"])] for _ in range(N_ROWS)]
    rows[3][5], rows[4][6], rows[5][7] = "", "NaN", "Infinity"
    text = csv_text(rows, header=header)
    stored, alone, archived = readers("url")[:3]
    pool = stored(written("u.csv.gz", text))
    assert_array_equal(pool.X[[3, 4], [5, 6]], 0)
    assert len(pool.y) == N_ROWS - 1
    assert_same_pool(pool, alone(written("All.csv", text)))
    assert_same_pool(pool, archived(zipped(tmp_path / "u.zip", {"FinalDataset/All.csv": text})))


def test_the_selection_of_addresses(written, tmp_path):
    random = np.random.default_rng(8)
    header = [*(f"x{index}" for index in range(12)), "class"]
    rows = [[*random.normal(size=12), random.choice(["benign", "malware"])] for _ in range(N_ROWS)]
    text = csv_text(rows, header=header)
    stored, alone, archived = readers("url_12")
    pool = stored(written("u.csv.gz", text))
    assert_same_pool(pool, alone(written("All_Infogain.csv", text)))
    assert_same_pool(pool, archived(zipped(tmp_path / "u.zip", {"FinalDataset/All_Infogain.csv": text})))


def url_table(*, cell=1, label="benign"):
    header = [*(f"x{index}" for index in range(79)), "URL_Type_obf_Type"]
    return csv_text([[1] * 79 + ["spam"], [cell] * 79 + [label]], header=header)


def doh_members(*, without=None, cell=1.5, label="Benign"):
    """The tables of the archive, with one cell, one label or one column other than they should be."""
    names = [name for name in (*DOH, "Label") if name != without]
    values = {**dict.fromkeys(DOH, 1.5), DOH[0]: cell, "Label": label}
    benign = csv_text([[values[name] for name in names]], header=names)
    return {"l2-benign.csv": benign, "l2-malicious.csv": benign.replace("Benign", "Malicious")}


@pytest.mark.parametrize(
    ("name", "members", "message"),
    [
        ("url", {"All.csv": url_table(cell="oops")}, "cannot be read .*oops"),
        ("url", {"All.csv": url_table(label="")}, "'URL_Type_obf_Type' .* 1 rows"),
        ("url", {"All.csv": "\n"}, "cannot be read"),
        ("doh", doh_members(cell="oops"), "cannot be read .*oops"),
        ("doh", doh_members(label=""), "'Label' .* 2 rows"),
        ("doh", doh_members(without=DOH[3]), f"cannot be read .*{DOH[3]}"),
        ("doh", doh_members(without="Label"), "cannot be read .*Label"),
    ],
)
def test_an_archive_of_other_tables_is_refused(name, members, message, tmp_path):
    with pytest.raises(DataFileError, match=message):
        readers(name)[-1](zipped(tmp_path / "a.zip", members))


@pytest.mark.parametrize("change", [(8, 1), (10, 97)], ids=["encrypted", "odd compression"])
def test_an_archive_that_cannot_be_unpacked_is_refused(change, tmp_path):
    path = zipped(tmp_path / "u.zip", {"All.csv": url_table()})
    content = bytearray(path.read_bytes())
    offset, value = change
    for start in (content.find(b"PK\x01\x02") + offset, offset - 2):  # both headers say the same
        content[start] = value
    path.write_bytes(content)
    with pytest.raises(DataFileError, match="plain zip archive"):
        readers("url")[-1](path)


@pytest.mark.parametrize(
    ("name", "arrays"),
    [
        ("mnist10", {"target": ["x"] * 3}),
        ("mnist10", {"target": ["1"] * 2}),
        ("mnist10", {"data": np.zeros((3, 500), np.uint8)}),
        ("mnist10", {"data": np.full((3, 784), 0.5)}),
        ("census", {"feature_names": ["age"]}),
        ("census", {"feature_names": [f"x{index}" for index in range(784)]}),
        ("census", {"feature_names": [f"x{index}" for index in range(784)], "categories": {"x3": ["a"]}}),
    ],
)
def test_other_arrays_than_those_of_openml_are_refused(name, arrays, tmp_path):
    right = {"data": np.full((3, 784), 7, np.uint8), "target": ["1"] * 3}
    with pytest.raises(DataFileError):
        readers(name)[-1](write_openml(tmp_path / "o.npz", **{**right, **arrays}))


def test_a_column_of_numbers_that_came_as_text_is_refused():
    table = pa.table({"a": ["1", "2"], "b": [1.0, 2.0]})
    assert_array_equal(matrix(table, ["a", "b"], text=["a"]), [[0, 1], [1, 2]])
    for text in ([], ["a", "b"]):
        with pytest.raises(DataFileError, match="replace the table"):
            matrix(table, ["a", "b"], text=text)


def test_a_table_of_addresses_with_other_columns_is_refused(written):
    with pytest.raises(DataFileError, match="2 features, expected 79"):
        readers("url")[0](written("u.csv", "a,b,URL_Type_obf_Type\n1,2,benign\n"))


def test_emnist_is_turned_upright(tmp_path):
    random = np.random.default_rng(5)
    arrays = {
        part: (random.integers(256, size=(6, 28, 28), dtype=np.uint8), random.integers(1, 27, size=6, dtype=np.uint8))
        for part in ("train", "test")
    }
    members = {
        f"gzip/emnist-letters-{part}-{kind}-ubyte.gz": idx_bytes(array)
        for part, pair in arrays.items()
        for kind, array in zip(("images-idx3", "labels-idx1"), pair, strict=True)
    }
    pool = readers("emnist10")[1](zipped(tmp_path / "gzip.zip", members))
    assert_array_equal(pool.X[0].reshape(28, 28), arrays["train"][0][0].T)
    assert_array_equal(pool.y, np.concatenate([labels for _, labels in arrays.values()]))


@pytest.mark.parametrize("from_letters", [True, False])
def test_the_stored_letters_are_kept_apart_by_their_split(tmp_path, from_letters):
    path = tmp_path / "e.npz"
    np.savez(path, X=np.zeros((4, 784), np.uint8), y=np.arange(4), source=np.array([0, 1, 2, 0]))
    pool = readers("emnist10" if from_letters else "emnist")[0](path)
    assert_array_equal(pool.y, [0, 3] if from_letters else [1, 2])


@pytest.mark.parametrize("name", ["mnist10", "fmnist10"])
def test_digits_and_clothes(written, tmp_path, name):
    random = np.random.default_rng(6)
    images, labels = random.integers(256, size=(10, 28, 28), dtype=np.uint8), np.arange(10, dtype=np.uint8)
    paths = [tmp_path / f"{index}.gz" for index in range(4)]
    for path, array in zip(paths, (images[:7], labels[:7], images[7:], labels[7:]), strict=True):
        path.write_bytes(idx_bytes(array))
    np.savez(tmp_path / "m.npz", X=images.reshape(10, -1), y=labels)
    stored, published, _, from_openml = readers(name)
    assert_same_pool(stored(tmp_path / "m.npz"), published(*paths))
    path = write_openml(tmp_path / "o.npz", data=images.reshape(10, -1), target=labels)
    assert_same_pool(stored(tmp_path / "m.npz"), from_openml(path))


def test_signs(tmp_path):
    h5py = pytest.importorskip("h5py")
    random = np.random.default_rng(7)
    X, y, split = random.random((9, 256)).astype(np.float32), np.arange(9) % 4, np.repeat([0, 1], [6, 3])
    np.savez(tmp_path / "p.npz", X=X, y=y.astype(np.uint8), split=split.astype(np.uint8))
    with h5py.File(tmp_path / "p.h5", "w") as file:
        for part, chosen in (("train", split == 0), ("test", split == 1)):
            file[f"img_{part}"], file[f"labels_{part}"] = X[chosen].reshape(-1, 16, 16), y[chosen]
    stored, published = readers("pm4")
    for first, second in zip(stored(tmp_path / "p.npz"), published(tmp_path / "p.h5"), strict=True):
        assert_array_equal(first.X, second.X)
        assert_array_equal(first.y, second.y)


def test_signs_in_hdf5_without_h5py_say_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "h5py", None)
    with pytest.raises(MissingDependencyError, match=r'pip install "mcquack\[hdf5\]"'):
        readers("pm4")[1](tmp_path / "p.h5")


@pytest.mark.parametrize(
    "arrays",
    [
        {"img_test": np.zeros((4, 8, 16))},
        {"img_test": np.zeros((3, 16, 16))},
        {"img_test": np.full((4, 16, 16), np.nan)},
        {"labels_test": np.arange(1, 5)},
        {"labels_test": np.array([b"a"] * 4)},
        {"labels_test": None},
    ],
    ids=str,
)
def test_signs_of_another_shape_or_kind_are_refused(arrays, tmp_path):
    h5py = pytest.importorskip("h5py")
    parts = ("train", "test")
    right = {f"img_{part}": np.zeros((4, 16, 16)) for part in parts} | {f"labels_{p}": np.arange(4) for p in parts}
    with h5py.File(tmp_path / "p.h5", "w") as file:
        for name, array in {**right, **arrays}.items():
            file.create_group(name) if array is None else file.create_dataset(name, data=array)
    with pytest.raises(DataFileError, match="PlusMinus file"):
        readers("pm4")[1](tmp_path / "p.h5")


@pytest.mark.parametrize(
    ("name", "index", "file"),
    [
        ("census", 0, "c.csv.gz"),
        ("covert", 1, "c.data.gz"),
        ("doh", 1, "d.zip"),
        ("emnist", 0, "e.npz"),
        ("emnist", 1, "e.zip"),
        ("url", 0, "u.csv"),
        ("url", 2, "u.zip"),
        ("url_12", 2, "u.zip"),
        ("pm4", 0, "p.npz"),
        ("pm4", 1, "p.h5"),
        ("mnist", 0, "m.npz"),
    ],
)
@pytest.mark.parametrize("content", [b"", b"\x1f\x8bnonsense", b"a,b\n1,2\n", b"PK\x03\x04 cut"])
def test_a_broken_file_is_refused_by_name(name, index, file, content, tmp_path):
    path = tmp_path / file
    path.write_bytes(content)
    with pytest.raises(DataFileError):
        readers(name)[index](path)


def test_an_archive_without_the_table_is_refused(tmp_path):
    with pytest.raises(DataFileError, match=r"no file 'All\.csv'"):
        readers("url")[2](zipped(tmp_path / "u.zip", {"other.csv": "1"}))


def test_every_stored_table_is_read_whole(data_dir):
    rows = {"census": 45_222, "covert": 15_120, "doh": 6_000, "kdd": 47_736, "url": 12_404, "url_12": 36_417}
    for name, n_rows in rows.items():
        source = datasets.describe(name).sources[0]
        pool = source.read(data_dir / source.files[0].folder / source.files[0].name)
        assert len(pool.y) == n_rows
        assert np.isfinite(pool.X).all()


def test_categories_are_coded_in_alphabetical_order(data_dir):
    source = datasets.describe("census").sources[0]
    path = data_dir / source.files[0].folder / source.files[0].name
    pool = source.read(path)
    with gzip.open(path, "rt", newline="") as file:
        rows = [row for row in csv.DictReader(io.StringIO(file.read())) if "?" not in row.values()]
    column = pool.feature_names.index("education")
    names = sorted({row["education"] for row in rows})
    assert_array_equal(pool.X[:, column], [names.index(row["education"]) for row in rows])
