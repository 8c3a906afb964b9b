"""KDD: attacks in the traffic of a network (NSL-KDD)."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pyarrow as pa

from mcquack.datasets.files import DataFile, Source
from mcquack.datasets.real_world.pool import Pool, csv_columns, matrix, texts
from mcquack.datasets.real_world.variant import EXTRA, NO_REPEATS, PAPER_COUNTS, Original, Variant, variant_entries
from mcquack.datasets.registry import Entry

_HOMEPAGE = "https://www.unb.ca/cic/datasets/nsl.html"
_MIRROR = "https://raw.githubusercontent.com/defcom17/NSL_KDD/master"
_TEXT = ("protocol_type", "service", "flag", "label")
DIFFICULTY = "difficulty_level"
TRAFFIC = (
    "duration",
    "protocol_type",
    "service",
    "flag",
    "src_bytes",
    "dst_bytes",
    "land",
    "wrong_fragment",
    "urgent",
    "hot",
    "num_failed_logins",
    "logged_in",
    "num_compromised",
    "root_shell",
    "su_attempted",
    "num_root",
    "num_file_creations",
    "num_shells",
    "num_access_files",
    "num_outbound_cmds",
    "is_host_login",
    "is_guest_login",
    "count",
    "srv_count",
    "serror_rate",
    "srv_serror_rate",
    "rerror_rate",
    "srv_rerror_rate",
    "same_srv_rate",
    "diff_srv_rate",
    "srv_diff_host_rate",
    "dst_host_count",
    "dst_host_srv_count",
    "dst_host_same_srv_rate",
    "dst_host_diff_srv_rate",
    "dst_host_same_src_port_rate",
    "dst_host_srv_diff_host_rate",
    "dst_host_serror_rate",
    "dst_host_srv_serror_rate",
    "dst_host_rerror_rate",
    "dst_host_srv_rerror_rate",
)
_NUMBERS = (*(name for name in TRAFFIC if name not in _TEXT), DIFFICULTY)
_KINDS = (
    "normal",
    "neptune",
    "satan",
    "ipsweep",
    "smurf",
    "portsweep",
    "nmap",
    "back",
    "guess_passwd",
    "mscan",
)


def _stored(path: Path, *, features: tuple[str, ...]) -> Pool:
    return _pool(csv_columns(path, numbers=_NUMBERS, text=_TEXT), features)


def _published(train: Path, test: Path, *, features: tuple[str, ...]) -> Pool:
    """The two files of the authors, which have no header; mscan occurs in the second only, so both are needed."""
    names = (*TRAFFIC, "label", DIFFICULTY)
    tables = [csv_columns(path, numbers=_NUMBERS, text=_TEXT, names=names) for path in (train, test)]
    return _pool(pa.concat_tables(tables), features)


def _pool(table: pa.Table, features: tuple[str, ...]) -> Pool:
    X = matrix(table, features, text=_TEXT)
    # Rows of the same traffic are the same sample, however difficult they were found to be.
    return Pool(X=X, y=texts(table, "label"), feature_names=features, n_identifying=len(TRAFFIC))


def _original(features: tuple[str, ...], *, notes: tuple[str, ...]) -> Original:
    return Original(
        family="kdd",
        task="Attacks in network traffic",
        citation="Tavallaee, Bagheri, Lu, Ghorbani (2009), A detailed analysis of the KDD CUP 99 data set, NSL-KDD",
        licence="Free for research with citation; may not be passed on",
        homepage=_HOMEPAGE,
        n_features=len(features),
        paper_n_features=42,
        sources=(
            Source(
                title="NSL-KDD, a fifth of the training file and the test file",
                files=(
                    DataFile(
                        name="nsl_kdd.csv.gz",
                        folder="real_world",
                        checksum="sha256:730c88e84a47b27356050b4537ea2e8c402e665009a0611fef990dc38016f8c8",
                        n_bytes=792_293,
                    ),
                ),
                read=partial(_stored, features=features),
            ),
            Source(
                title="NSL-KDD, training and test file",
                files=(
                    DataFile(
                        name="KDDTrain+.txt",
                        folder="nsl_kdd",
                        checksum="git:20002897492adc110190a10509aa694f26f7f308",
                        url=f"{_MIRROR}/KDDTrain%2B.txt",
                    ),
                    DataFile(
                        name="KDDTest+.txt",
                        folder="nsl_kdd",
                        checksum="sha256:fa46b0935342616aa83b7c2578db355b6a7aaabbc492248172c7a1e8b7ab8f84",
                        n_bytes=3_441_513,
                        url=f"{_MIRROR}/KDDTest%2B.txt",
                    ),
                ),
                read=partial(_published, features=features),
                homepage=_HOMEPAGE,
            ),
        ),
        notes=("Protocol, service and flag are coded by whole numbers in alphabetical order.", *notes, NO_REPEATS),
    )


_NO_LABEL_AMONG_FEATURES = (
    "The paper's parameter counts imply 43 features. The 43rd is most likely the coded label itself and is left out."
)
_VARIANTS = (
    Variant(name="kdd", title="KDD", class_names=("normal", "anomalous"), groups=(("normal",), None)),
    Variant(
        name="kdd10",
        title="KDD10",
        class_names=_KINDS,
        groups=tuple((kind,) for kind in _KINDS),
        paper_n_features=43,
        notes=(_NO_LABEL_AMONG_FEATURES,),
    ),
    Variant(
        name="kdd4",
        title="KDD4",
        class_names=_KINDS[:4],
        groups=tuple((kind,) for kind in _KINDS[:4]),
        paper_n_features=43,
        notes=(_NO_LABEL_AMONG_FEATURES,),
    ),
)


def kdd_entries() -> Iterator[Entry]:
    """Normal or not, ten kinds, four kinds."""
    yield from variant_entries(
        _original(
            (*TRAFFIC, DIFFICULTY),
            notes=(
                (
                    "As in the paper the features include the difficulty level, which tells how many of 21 "
                    "classifiers were right about a row: it depends on the label and would be unknown in use. kdd_41,"
                    " kdd10_41 and kdd4_41 do without."
                ),
            ),
        ),
        *_VARIANTS,
    )


def kdd_without_difficulty_entries() -> Iterator[Entry]:
    """The same rows with nothing but what can be observed in the traffic."""
    yield from variant_entries(
        _original(TRAFFIC, notes=("The 41 features of the traffic, without the difficulty level.",)),
        *(
            replace(
                variant,
                name=f"{variant.name}_{len(TRAFFIC)}",
                title=f"{variant.title} without difficulty",
                suite=EXTRA,
                counts=PAPER_COUNTS[variant.name],
                drawn_as=variant.name,
                notes=(),
            )
            for variant in _VARIANTS
        ),
    )
