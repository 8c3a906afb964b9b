"""EMNIST: handwritten letters, capital and small ones alike."""

import string
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from mcquack.datasets.files import DataFile, Source
from mcquack.datasets.formats import gunzipped_member, idx_content, npz_arrays
from mcquack.datasets.real_world.pool import SIDE, Pool, picture_pool
from mcquack.datasets.real_world.variant import Original, Variant, variant_entries
from mcquack.datasets.registry import Entry

_HOMEPAGE = "https://www.nist.gov/itl/products-and-services/emnist-dataset"
_ALPHABET = string.ascii_uppercase
_STORED = DataFile(
    name="emnist_letters.npz",
    folder="real_world",
    checksum="sha256:86ffd220d8c4fa2b2dde5316878dbf5a454f6b103ad327a595cf8206ff6b03f8",
    n_bytes=3_186_779,
)
_ARCHIVE = DataFile(
    name="gzip.zip",
    folder="EMNIST/raw",
    checksum="md5:58c8d27c78d21e728a6bc7b3cc06412e",
    url="https://biometrics.nist.gov/cs_links/EMNIST/gzip.zip",
)


def _stored(path: Path, *, from_letters: bool) -> Pool:
    """Of the sample either the rows of the letters split, which stop at M, or those of the balanced split."""
    X, y, source = npz_arrays(path, "X", "y", "source")
    chosen = (source == 0) == from_letters
    return picture_pool(X[chosen], y[chosen])


def _published(path: Path) -> Pool:
    """The letters split, training and test files together; its pictures lie on their side."""
    images, labels = (
        np.concatenate(
            [
                idx_content(gunzipped_member(path, name), source=name)
                for part in ("train", "test")
                for name in [f"emnist-letters-{part}-{kind}-ubyte.gz"]
            ]
        )
        for kind in ("images-idx3", "labels-idx1")
    )
    return picture_pool(images.transpose(0, 2, 1), labels)


def _letters(*groups: str) -> tuple[tuple[int, ...], ...]:
    """Letters are numbered from 1."""
    return tuple(tuple(_ALPHABET.index(letter) + 1 for letter in group) for group in groups)


def _original(*, from_letters: bool, notes: tuple[str, ...] = ()) -> Original:
    kept = "the letters split" if from_letters else "the balanced split"
    return Original(
        family="emnist",
        task="Handwritten letters",
        citation="Cohen, Afshar, Tapson, van Schaik (2017), EMNIST: an extension of MNIST to handwritten letters, "
        "arXiv:1702.05373",
        licence="No restriction beyond citation (NIST Special Database 19)",
        homepage=_HOMEPAGE,
        n_features=SIDE * SIDE,
        paper_n_features=784,
        image_shape=(SIDE, SIDE),
        sources=(
            Source(
                title=f"EMNIST, a sample of {kept}",
                files=(_STORED,),
                read=partial(_stored, from_letters=from_letters),
            ),
            Source(title="EMNIST, all letters", files=(_ARCHIVE,), read=_published, homepage=_HOMEPAGE),
        ),
        notes=notes,
    )


def emnist_entries() -> Iterator[Entry]:
    """Two halves of the alphabet, ten letters, four letters."""
    yield from variant_entries(
        _original(
            from_letters=False,
            notes=(
                (
                    "Of the stored sample only the rows of the balanced split are used: its rows of the letters split"
                    " stop at M, so where a picture came from would give the class away."
                ),
            ),
        ),
        Variant(
            name="emnist",
            title="EMNIST",
            class_names=("A-M", "N-Z"),
            groups=_letters(_ALPHABET[:13], _ALPHABET[13:]),
        ),
    )
    yield from variant_entries(
        _original(from_letters=True),
        Variant(name="emnist10", title="EMNIST10", class_names=tuple("ABCDEFGHIJ"), groups=_letters(*"ABCDEFGHIJ")),
        Variant(name="emnist4", title="EMNIST4", class_names=tuple("ABCD"), groups=_letters(*"ABCD")),
    )
