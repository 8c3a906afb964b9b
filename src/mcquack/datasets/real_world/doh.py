"""DoH: whether encrypted name look-ups hide a tunnel."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from mcquack.datasets.files import DataFile, Source
from mcquack.datasets.formats import zip_member
from mcquack.datasets.real_world.pool import Pool, csv_columns, matrix, texts
from mcquack.datasets.real_world.variant import NO_REPEATS, Original, Variant, variant_entries
from mcquack.datasets.registry import Entry

_HOMEPAGE = "https://www.unb.ca/cic/datasets/dohbrw-2020.html"
_LABEL = "Label"
_FLOW = ("Duration", "FlowBytesSent", "FlowSentRate", "FlowBytesReceived", "FlowReceivedRate")
_STATISTICS = (
    "Variance",
    "StandardDeviation",
    "Mean",
    "Median",
    "Mode",
    "SkewFromMedian",
    "SkewFromMode",
    "CoefficientofVariation",
)
FEATURES = (
    *_FLOW,
    *(f"{of}{what}" for of in ("PacketLength", "PacketTime", "ResponseTimeTime") for what in _STATISTICS),
)


def _stored(path: Path) -> Pool:
    return _pool(csv_columns(path, numbers=FEATURES, text=[_LABEL]))


def _published(path: Path) -> Pool:
    """Layer 2 of the archive, one table for each class."""
    contents = [zip_member(path, name) for name in ("l2-benign.csv", "l2-malicious.csv")]
    return _pool(pa.concat_tables([csv_columns(each, numbers=FEATURES, text=[_LABEL]) for each in contents]))


def _pool(table: pa.Table) -> Pool:
    """Without the flows of which a value is missing or infinite."""
    X = matrix(table, FEATURES)
    finite = np.isfinite(X).all(axis=1)
    return Pool(X=X[finite], y=texts(table, _LABEL)[finite], feature_names=FEATURES)


def doh_entries() -> Iterator[Entry]:
    """The one variant of the paper, without what gives the class away."""
    yield from variant_entries(
        Original(
            family="doh",
            task="Tunnels in DNS over HTTPS",
            citation="MontazeriShatoori, Davidson, Kaur, Lashkari (2020), Detection of DoH Tunnels using Time-series "
            "Classification of Encrypted Traffic, CIRA-CIC-DoHBrw-2020",
            licence="Free for research with citation; may not be passed on",
            homepage=_HOMEPAGE,
            n_features=len(FEATURES),
            paper_n_features=33,
            sources=(
                Source(
                    title="CIRA-CIC-DoHBrw-2020, 6,000 flows of layer 2",
                    files=(
                        DataFile(
                            name="doh_cira_cic_dohbrw2020_l2.csv.gz",
                            folder="real_world",
                            checksum="sha256:62d216b39baa6091d65583f8e50b1179f1fafc2acde2c065a1be6bc0e61e6943",
                            n_bytes=769_868,
                        ),
                    ),
                    read=_stored,
                ),
                Source(
                    title="CIRA-CIC-DoHBrw-2020, layer 2",
                    files=(DataFile(name="Total_CSVs.zip", folder="doh"),),
                    read=_published,
                    homepage=_HOMEPAGE,
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
        ),
        Variant(
            name="doh",
            title="DoH",
            class_names=("benign", "malicious"),
            groups=(("Benign",), ("Malicious",)),
        ),
    )
