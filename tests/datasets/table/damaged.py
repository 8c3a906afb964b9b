"""A process that reads damaged files until it meets an error that is not typed, within bounds of memory.

It is a process of its own, since what is tested may end it: Arrow and HDF5 are C++ and C.
"""

import gzip
import io
import random
import resource
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from mcquack.bench.suite import read_suite
from mcquack.datasets.formats import idx_array, npz_arrays, zip_member
from mcquack.datasets.own import table_dataset
from mcquack.datasets.real_world.pictures import published_signs
from mcquack.datasets.table import read_table
from mcquack.errors import McQuackError
from mcquack.studies.trainability.design import read_design
from tests.spoiling import spoilt_bytes, tell

MOST_BYTES = 6 << 30  # of addresses, most of which libraries reserve and never use
ROWS = [f"{i % 7},{i * 0.5:.1f},{'red' if i % 3 else 'blue'},2024-01-{i % 28 + 1:02},{i % 2}" for i in range(40)]
CSV = ("number,half,colour,day,k\n" + "\n".join(ROWS) + "\n").encode()
SUITE = b"""name = "mine"
title = "Mine"
datasets = ["iris3", "two_curves_2"]
models = ["svc", "mcquack/a"]
search = "random:3"
seeds = 2
[spaces.svc]
C = [0.1, 1.0, 10.0]
[settings."mcquack/a"]
epochs = 3
"""
DESIGN = b"""name = "mine"
[grids.a]
dataset = "iris3"
seeds = 2
[grids.a.vary]
n_qubits = [2, 3]
"""


def parquet(**options: object) -> bytes:
    """The same columns, encoded and packed in one of the ways that Parquet has."""
    n = np.arange(200)
    table = pa.table(
        {
            "number": n % 7,
            "half": n * 0.5,
            "colour": np.where(n % 3, "red", "blue"),
            "day": pa.array(n.astype("datetime64[D]")),
            "list": [[1, 2]] * 200,
            "k": n % 2,
        }
    )
    content = io.BytesIO()
    pq.write_table(table, content, **options)
    return content.getvalue()


def hdf5() -> bytes:
    """A few pictures of signs, as PennyLane publishes them."""
    import h5py

    content = io.BytesIO()
    with h5py.File(content, "w") as file:
        for part in ("train", "test"):
            file[f"img_{part}"] = np.zeros((4, 16, 16), np.float32)
            file[f"labels_{part}"] = np.arange(4)
    return content.getvalue()


def npz() -> bytes:
    content = io.BytesIO()
    np.savez_compressed(content, X=np.zeros((4, 3)), y=np.arange(4))
    return content.getvalue()


def dataset_of(path: Path) -> None:
    table_dataset(read_table(path), target="k", ignore=["list"] if path.suffix == ".parquet" else [])


KINDS: dict[str, tuple[list[bytes], str, Callable[[Path], object]]] = {
    "csv": ([CSV, CSV.replace(b",", b";"), CSV.replace(b"red", b'"r, ""e"""')], ".csv", dataset_of),
    "gz": ([gzip.compress(CSV, mtime=0)], ".csv.gz", dataset_of),
    "parquet": (
        [
            parquet(),
            parquet(compression="zstd", use_dictionary=False),
            parquet(compression="none", data_page_version="2.0", row_group_size=50),
            parquet(
                use_dictionary=False, column_encoding={"colour": "DELTA_BYTE_ARRAY", "number": "DELTA_BINARY_PACKED"}
            ),
        ],
        ".parquet",
        dataset_of,
    ),
    "hdf5": ([], ".h5", published_signs),
    "npz": ([npz()], ".npz", lambda path: npz_arrays(path, "X", "y")),
    "zip": ([npz()], ".zip", lambda path: zip_member(path, "X.npy")),
    "idx": ([b"\0\0\x08\x02" + bytes([0, 0, 0, 3, 0, 0, 0, 2]) + b"abcdef"], ".idx", idx_array),
    "suite": ([SUITE], ".toml", read_suite),
    "design": ([DESIGN], ".toml", read_design),
}


def main(kind: str, n_files: int, folder: str) -> None:
    """Reads so many damaged files and tells what came of them; any other error than a typed one ends it."""
    originals, suffix, read = KINDS[kind]
    originals = originals or [hdf5()]
    draws, counts = random.Random(17), Counter[str]()
    for number, original in enumerate(originals):
        path = Path(folder) / f"whole{number}{suffix}"
        path.write_bytes(original)
        read(path)
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    path = Path(folder) / f"damaged{suffix}"
    for _ in range(n_files):
        # What is damaged within a packed file is not found by its checksum.
        content = draws.choice(originals)
        inner = kind == "gz" and draws.random() < 0.5
        content = gzip.compress(spoilt_bytes(CSV, draws), mtime=0) if inner else spoilt_bytes(content, draws)
        path.write_bytes(content)
        try:
            read(path)
            counts["read"] += 1
        except McQuackError as error:
            kind_of_error = type(error).__name__
            counts[kind_of_error if len(str(error)) < 20_000 else f"endless {kind_of_error}"] += 1
        except BaseException:
            sys.stderr.write(f"{kind}: file of {len(content):,} bytes: {content[:3_000]!r}\n")
            raise
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    came = ", ".join(f"{n:,} {what}" for what, n in counts.most_common())
    tell(f"{kind}: {n_files:,} damaged files, {came}; {peak} MB")


if __name__ == "__main__":
    warnings.simplefilter("error")
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
