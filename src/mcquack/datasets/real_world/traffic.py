"""Three tables on the safety of networks: DoH (hidden tunnels), KDD (attacks) and URL (harmful web addresses)."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from mcquack.datasets.files import DataFile, Source
from mcquack.datasets.formats import csv_columns, matrix, texts, zip_member
from mcquack.datasets.real_world.drawing import (
    EXTRA,
    NO_REPEATS,
    PAPER_COUNTS,
    Pool,
    drawn_entry,
    stored_source,
    words,
)
from mcquack.datasets.registry import Entry
from mcquack.errors import DataFileError

_LICENCE = "Free for research with citation; may not be passed on"

# DoH: whether encrypted name look-ups hide a tunnel.

_DOH_HOME = "https://www.unb.ca/cic/datasets/dohbrw-2020.html"
_STATISTICS = words("Variance StandardDeviation Mean Median Mode SkewFromMedian SkewFromMode CoefficientofVariation")
DOH_FEATURES = (
    *("Duration", "FlowBytesSent", "FlowSentRate", "FlowBytesReceived", "FlowReceivedRate"),
    *(f"{of}{what}" for of in ("PacketLength", "PacketTime", "ResponseTimeTime") for what in _STATISTICS),
)


def doh_entry() -> Entry:
    """DoH, without what gives the class away."""
    return drawn_entry(
        name="doh",
        title="DoH",
        family="doh",
        task="Tunnels in DNS over HTTPS",
        citation="MontazeriShatoori, Davidson, Kaur, Lashkari (2020), Detection of DoH Tunnels using Time-series "
        "Classification of Encrypted Traffic, CIRA-CIC-DoHBrw-2020",
        licence=_LICENCE,
        homepage=_DOH_HOME,
        n_features=len(DOH_FEATURES),
        paper_n_features=33,
        sources=(
            stored_source(
                "CIRA-CIC-DoHBrw-2020, 6,000 flows of layer 2",
                "doh_cira_cic_dohbrw2020_l2.csv.gz",
                sha256="62d216b39baa6091d65583f8e50b1179f1fafc2acde2c065a1be6bc0e61e6943",
                n_bytes=769_868,
                read=_flows,
            ),
            Source(
                title="CIRA-CIC-DoHBrw-2020, layer 2",
                files=(DataFile(name="Total_CSVs.zip", folder="doh"),),
                read=_flows_in_archive,
                homepage=_DOH_HOME,
            ),
        ),
        notes=(
            (
                "The 29 statistics of each flow. The paper's 33 features also hold the addresses and ports of "
                "both ends, which all but name the class in a recording from one laboratory. Flows of which a "
                "value is missing or infinite are left out."
            ),
            NO_REPEATS,
            (
                "The class counts are those of the paper; they fit layer 1 of the original (no DoH against DoH) "
                "better than layer 2, whose class names it uses."
            ),
        ),
        class_names=("benign", "malicious"),
        groups=(("Benign",), ("Malicious",)),
    )


def _flows_in_archive(path: Path) -> Pool:
    """Layer 2 of the archive has one table for each class."""
    return _flows(*(zip_member(path, name) for name in ("l2-benign.csv", "l2-malicious.csv")))


def _flows(*contents: Path | bytes) -> Pool:
    table = pa.concat_tables([csv_columns(each, numbers=DOH_FEATURES, text=["Label"]) for each in contents])
    X = matrix(table, DOH_FEATURES)
    finite = np.isfinite(X).all(axis=1)
    return Pool(X=X[finite], y=texts(table, "Label")[finite], feature_names=DOH_FEATURES)


# KDD: attacks in the traffic of a network (NSL-KDD).

_KDD_HOME = "https://www.unb.ca/cic/datasets/nsl.html"
_KDD_MIRROR = "https://raw.githubusercontent.com/defcom17/NSL_KDD/master"
DIFFICULTY = "difficulty_level"
TRAFFIC = words(
    "duration protocol_type service flag src_bytes dst_bytes land wrong_fragment urgent hot num_failed_logins "
    "logged_in num_compromised root_shell su_attempted num_root num_file_creations num_shells num_access_files "
    "num_outbound_cmds is_host_login is_guest_login count srv_count serror_rate srv_serror_rate rerror_rate "
    "srv_rerror_rate same_srv_rate diff_srv_rate srv_diff_host_rate dst_host_count dst_host_srv_count "
    "dst_host_same_srv_rate dst_host_diff_srv_rate dst_host_same_src_port_rate dst_host_srv_diff_host_rate "
    "dst_host_serror_rate dst_host_srv_serror_rate dst_host_rerror_rate dst_host_srv_rerror_rate"
)
_KDD_TEXT = ("protocol_type", "service", "flag", "label")
_KDD_NUMBERS = (*(name for name in TRAFFIC if name not in _KDD_TEXT), DIFFICULTY)
_KINDS = words("normal neptune satan ipsweep smurf portsweep nmap back guess_passwd mscan")
_SINGLE_KINDS = tuple((kind,) for kind in _KINDS)
_NO_LABEL_AMONG_FEATURES = (
    "The paper's parameter counts imply 43 features. The 43rd is most likely the coded label itself and is left out."
)
# Normal or not, ten kinds, four kinds.
_KDD_VARIANTS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("kdd", "KDD", {"class_names": ("normal", "anomalous"), "groups": (("normal",), None), "paper_n_features": 42}),
    ("kdd10", "KDD10", {"class_names": _KINDS, "groups": _SINGLE_KINDS, "paper_n_features": 43}),
    ("kdd4", "KDD4", {"class_names": _KINDS[:4], "groups": _SINGLE_KINDS[:4], "paper_n_features": 43}),
)


def kdd_entries() -> Iterator[Entry]:
    """The three datasets of the paper, with the difficulty level among their features."""
    note = (
        "As in the paper the features include the difficulty level, which tells how many of 21 classifiers were right "
        "about a row: it depends on the label and would be unknown in use. kdd_41, kdd10_41 and kdd4_41 do without."
    )
    for name, title, facts in _KDD_VARIANTS:
        more = (_NO_LABEL_AMONG_FEATURES,) if facts["paper_n_features"] == 43 else ()
        yield drawn_entry(name=name, title=title, **facts, **_kdd((*TRAFFIC, DIFFICULTY), note, *more))


def kdd_without_difficulty_entries() -> Iterator[Entry]:
    """The same rows with nothing but what can be observed in the traffic."""
    for name, title, facts in _KDD_VARIANTS:
        yield drawn_entry(
            name=f"{name}_{len(TRAFFIC)}",
            title=f"{title} without difficulty",
            suite=EXTRA,
            counts=PAPER_COUNTS[name],
            drawn_as=name,
            **facts,
            **_kdd(TRAFFIC, "The 41 features of the traffic, without the difficulty level."),
        )


def _kdd(features: tuple[str, ...], note: str, *more_notes: str) -> dict[str, Any]:
    """What the datasets with these features have in common."""
    return {
        "family": "kdd",
        "task": "Attacks in network traffic",
        "citation": "Tavallaee, Bagheri, Lu, Ghorbani (2009), A detailed analysis of the KDD CUP 99 data set, NSL-KDD",
        "licence": _LICENCE,
        "homepage": _KDD_HOME,
        "n_features": len(features),
        "notes": (
            "Protocol, service and flag are coded by whole numbers in alphabetical order.",
            note,
            NO_REPEATS,
            *more_notes,
        ),
        "sources": (
            stored_source(
                "NSL-KDD, a fifth of the training file and the test file",
                "nsl_kdd.csv.gz",
                sha256="730c88e84a47b27356050b4537ea2e8c402e665009a0611fef990dc38016f8c8",
                n_bytes=792_293,
                read=partial(_connections, features=features, names=None),
            ),
            Source(
                title="NSL-KDD, training and test file",
                files=(
                    DataFile(
                        name="KDDTrain+.txt",
                        folder="nsl_kdd",
                        checksum="git:20002897492adc110190a10509aa694f26f7f308",
                        url=f"{_KDD_MIRROR}/KDDTrain%2B.txt",
                    ),
                    DataFile(
                        name="KDDTest+.txt",
                        folder="nsl_kdd",
                        checksum="sha256:fa46b0935342616aa83b7c2578db355b6a7aaabbc492248172c7a1e8b7ab8f84",
                        n_bytes=3_441_513,
                        url=f"{_KDD_MIRROR}/KDDTest%2B.txt",
                    ),
                ),
                # The files of the authors have no header; mscan occurs in the second only, so both are needed.
                read=partial(_connections, features=features, names=(*TRAFFIC, "label", DIFFICULTY)),
                homepage=_KDD_HOME,
            ),
        ),
    }


def _connections(*paths: Path, features: tuple[str, ...], names: tuple[str, ...] | None) -> Pool:
    tables = [csv_columns(path, numbers=_KDD_NUMBERS, text=_KDD_TEXT, names=names) for path in paths]
    table = pa.concat_tables(tables)
    X = matrix(table, features, text=_KDD_TEXT)
    # Rows of the same traffic are the same sample, however difficult they were found to be.
    return Pool(X=X, y=texts(table, "label"), feature_names=features, n_identifying=len(TRAFFIC))


# URL: whether a web address is harmless, by its letters alone.

_URL_HOME = "https://www.unb.ca/cic/datasets/url-2016.html"
_N_LEXICAL, _N_SELECTED = 79, 12

_url_entry = partial(
    drawn_entry,
    family="url",
    task="Harmless and harmful web addresses",
    citation="Mamun, Rathore, Lashkari, Stakhanova, Ghorbani (2016), Detecting Malicious URLs Using Lexical "
    "Analysis, ISCX-URL2016",
    licence=_LICENCE,
    homepage=_URL_HOME,
    paper_n_features=_N_LEXICAL,
    class_names=("benign", "non-benign"),
    groups=(("benign",), None),
)


def url_entry() -> Entry:
    """URL, on all features of the letters."""
    read = partial(_addresses, label="URL_Type_obf_Type", n_features=_N_LEXICAL)
    stored = stored_source(
        "ISCX-URL2016, 12,408 benign and phishing rows",
        "url_iscx2016_79.csv.gz",
        sha256="1882de947ec6a6c19716755a2ca39d3068eaa79f3b8100436b82d438e5bf9b6d",
        n_bytes=950_734,
        read=read,
    )
    unpacked = DataFile(
        name="All.csv",
        folder="url",
        checksum="sha256:39bd96b0c4738daf7be9db7fb9561512afa5599ab34484aa5b7e70c1c55034c5",
        n_bytes=11_661_240,
    )
    titles = ("ISCX-URL2016, all rows", "ISCX-URL2016, all rows, in its archive")
    return _url_entry(
        name="url",
        title="URL",
        n_features=_N_LEXICAL,
        sources=(stored, *_url_sources(titles, unpacked, read=read)),
        notes=(
            (
                "From the stored sample, non-benign means phishing only, which is easier than all four kinds of "
                "the original; url_12 has all kinds on fewer features."
            ),
            "A missing value counts as 0; rows with an infinite ratio are left out.",
        ),
    )


def url_selection_entry() -> Entry:
    """All five kinds of addresses on the twelve features that the authors selected."""
    read = partial(_addresses, label="class", n_features=_N_SELECTED)
    stored = stored_source(
        "ISCX-URL2016, 36,417 rows",
        "url_iscx2016_infogain12.csv.gz",
        sha256="d0afd76679c328f43c956f7a59ba784f05120eb4f6c1dccda8aa4711b7037702",
        n_bytes=297_361,
        read=read,
    )
    unpacked = DataFile(
        name="All_Infogain.csv",
        folder="url",
        checksum="sha256:1f7490e6e06978452b7591cdf6c09526a5ffc2694fc93562653d2a5639ff2885",
        n_bytes=2_662_193,
    )
    titles = ("ISCX-URL2016, 36,417 rows, unpacked", "ISCX-URL2016, selected features, in its archive")
    return _url_entry(
        name="url_12",
        title="URL with selected features",
        suite=EXTRA,
        counts=PAPER_COUNTS["url"],
        n_features=_N_SELECTED,
        sources=(stored, *_url_sources(titles, unpacked, read=read)),
        notes=(
            "The authors' selection of 12 features; non-benign is spam, phishing, malware and defacement.",
            (
                f"On so few features many addresses look alike: of 36,417 rows 19,282 differ. {NO_REPEATS} An "
                "address of both classes is in the first that it is drawn for."
            ),
        ),
    )


def _url_sources(titles: tuple[str, str], unpacked: DataFile, *, read: Callable[..., Pool]) -> tuple[Source, Source]:
    """The table alone, or still in the archive that the authors publish."""
    archive = DataFile(name="ISCXURL2016.zip", folder="url")
    return (
        Source(title=titles[0], files=(unpacked,), read=read, homepage=_URL_HOME),
        Source(title=titles[1], files=(archive,), read=partial(read, member=unpacked.name), homepage=_URL_HOME),
    )


def _addresses(path: Path, *, label: str, n_features: int, member: str = "") -> Pool:
    """What is missing counts as 0; rows with an infinite ratio are left out."""
    table = csv_columns(zip_member(path, member) if member else path, text=[label])
    names = tuple(name for name in table.column_names if name != label)
    if len(names) != n_features:
        raise DataFileError(f"the table has {len(names)} features, expected {n_features}; use the original file.")
    X = np.nan_to_num(matrix(table, names), nan=0.0, posinf=np.inf, neginf=-np.inf)
    finite = np.isfinite(X).all(axis=1)
    return Pool(X=X[finite], y=texts(table, label)[finite], feature_names=names)
