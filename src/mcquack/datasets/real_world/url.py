"""URL: whether a web address is harmless, by its letters alone."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from mcquack.datasets.files import DataFile, Source
from mcquack.datasets.formats import zip_member
from mcquack.datasets.real_world.pool import Pool, csv_columns, matrix, texts
from mcquack.datasets.real_world.variant import EXTRA, NO_REPEATS, PAPER_COUNTS, Original, Variant, variant_entries
from mcquack.datasets.registry import Entry
from mcquack.errors import DataFileError

_HOMEPAGE = "https://www.unb.ca/cic/datasets/url-2016.html"
_TYPE, _SELECTED_TYPE = "URL_Type_obf_Type", "class"
_ARCHIVE = DataFile(name="ISCXURL2016.zip", folder="url")
_N_LEXICAL, _N_SELECTED = 79, 12


def _lexical(content: Path | bytes) -> Pool:
    return _pool(csv_columns(content, text=[_TYPE]), label=_TYPE, n_features=_N_LEXICAL)


def _from_archive(path: Path) -> Pool:
    return _lexical(zip_member(path, "All.csv"))


def _selected(content: Path | bytes) -> Pool:
    return _pool(csv_columns(content, text=[_SELECTED_TYPE]), label=_SELECTED_TYPE, n_features=_N_SELECTED)


def _selected_from_archive(path: Path) -> Pool:
    return _selected(zip_member(path, "All_Infogain.csv"))


def _pool(table: pa.Table, *, label: str, n_features: int) -> Pool:
    """What is missing counts as 0; rows with an infinite ratio are left out."""
    names = tuple(name for name in table.column_names if name != label)
    if len(names) != n_features:
        raise DataFileError(f"the table has {len(names)} features, expected {n_features}; use the original file.")
    X = np.nan_to_num(matrix(table, names), nan=0.0, posinf=np.inf, neginf=-np.inf)
    finite = np.isfinite(X).all(axis=1)
    return Pool(X=X[finite], y=texts(table, label)[finite], feature_names=names)


def _original(*, n_features: int, sources: tuple[Source, ...], notes: tuple[str, ...]) -> Original:
    return Original(
        family="url",
        task="Harmless and harmful web addresses",
        citation="Mamun, Rathore, Lashkari, Stakhanova, Ghorbani (2016), Detecting Malicious URLs Using Lexical "
        "Analysis, ISCX-URL2016",
        licence="Free for research with citation; may not be passed on",
        homepage=_HOMEPAGE,
        n_features=n_features,
        paper_n_features=_N_LEXICAL,
        sources=sources,
        notes=notes,
    )


_CLASS_NAMES = ("benign", "non-benign")
_GROUPS = (("benign",), None)


def url_entries() -> Iterator[Entry]:
    """The one variant of the paper."""
    yield from variant_entries(
        _original(
            n_features=_N_LEXICAL,
            sources=(
                Source(
                    title="ISCX-URL2016, 12,408 benign and phishing rows",
                    files=(
                        DataFile(
                            name="url_iscx2016_79.csv.gz",
                            folder="real_world",
                            checksum="sha256:1882de947ec6a6c19716755a2ca39d3068eaa79f3b8100436b82d438e5bf9b6d",
                            n_bytes=950_734,
                        ),
                    ),
                    read=_lexical,
                ),
                Source(
                    title="ISCX-URL2016, all rows",
                    files=(
                        DataFile(
                            name="All.csv",
                            folder="url",
                            checksum="sha256:39bd96b0c4738daf7be9db7fb9561512afa5599ab34484aa5b7e70c1c55034c5",
                            n_bytes=11_661_240,
                        ),
                    ),
                    read=_lexical,
                    homepage=_HOMEPAGE,
                ),
                Source(
                    title="ISCX-URL2016, all rows, in its archive",
                    files=(_ARCHIVE,),
                    read=_from_archive,
                    homepage=_HOMEPAGE,
                ),
            ),
            notes=(
                (
                    "From the stored sample, non-benign means phishing only, which is easier than all four kinds of "
                    "the original; url_12 has all kinds on fewer features."
                ),
                "A missing value counts as 0; rows with an infinite ratio are left out.",
            ),
        ),
        Variant(name="url", title="URL", class_names=_CLASS_NAMES, groups=_GROUPS),
    )


def url_selection_entries() -> Iterator[Entry]:
    """All five kinds of addresses on the twelve features that the authors selected."""
    yield from variant_entries(
        _original(
            n_features=_N_SELECTED,
            sources=(
                Source(
                    title="ISCX-URL2016, 36,417 rows",
                    files=(
                        DataFile(
                            name="url_iscx2016_infogain12.csv.gz",
                            folder="real_world",
                            checksum="sha256:d0afd76679c328f43c956f7a59ba784f05120eb4f6c1dccda8aa4711b7037702",
                            n_bytes=297_361,
                        ),
                    ),
                    read=_selected,
                ),
                Source(
                    title="ISCX-URL2016, 36,417 rows, unpacked",
                    files=(
                        DataFile(
                            name="All_Infogain.csv",
                            folder="url",
                            checksum="sha256:1f7490e6e06978452b7591cdf6c09526a5ffc2694fc93562653d2a5639ff2885",
                            n_bytes=2_662_193,
                        ),
                    ),
                    read=_selected,
                    homepage=_HOMEPAGE,
                ),
                Source(
                    title="ISCX-URL2016, selected features, in its archive",
                    files=(_ARCHIVE,),
                    read=_selected_from_archive,
                    homepage=_HOMEPAGE,
                ),
            ),
            notes=(
                "The authors' selection of 12 features; non-benign is spam, phishing, malware and defacement.",
                (
                    f"On so few features many addresses look alike: of 36,417 rows 19,282 differ. {NO_REPEATS} An "
                    "address of both classes is in the first that it is drawn for."
                ),
            ),
        ),
        Variant(
            name=f"url_{_N_SELECTED}",
            title="URL with selected features",
            suite=EXTRA,
            counts=PAPER_COUNTS["url"],
            class_names=_CLASS_NAMES,
            groups=_GROUPS,
        ),
    )
