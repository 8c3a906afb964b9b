"""The real-world datasets of pictures: MNIST, FMNIST and EMNIST of 28 × 28 pixels, and PM2 and PM4 of 16 × 16."""

import string
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcquack.datasets.dataset import Dataset, Part, pixel_names
from mcquack.datasets.files import HDF5, DataFile, Source
from mcquack.datasets.formats import (
    FASHION_MNIST,
    MNIST,
    idx_content,
    idx_images_and_labels,
    npz_arrays,
    unzipped,
)
from mcquack.datasets.real_world.drawing import (
    EXTRA,
    PAPER_COUNTS,
    Pool,
    drawn_description,
    drawn_entry,
    openml_source,
    stored_source,
    wanted_counts,
)
from mcquack.datasets.registry import Description, Entry, Request
from mcquack.datasets.synthetic import SIGN_NAMES, SIGN_SIDE, drawn_signs, plus_minus, sign_dataset
from mcquack.errors import DataFileError, MissingDataError, SubstitutedDataWarning

_SHAPE = (28, 28)
_TENS = tuple((digit,) for digit in range(10))
_LOW_AND_HIGH = (tuple(range(5)), tuple(range(5, 10)))
_CLOTHES = ("T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot")

_picture_entry = partial(drawn_entry, n_features=784, paper_n_features=784, image_shape=_SHAPE)


def mnist_entries() -> Iterator[Entry]:
    """Handwritten digits: two halves, all ten, the first four."""
    stored = stored_source(
        "MNIST, a sample of 12,000",
        "mnist.npz",
        sha256="4c1098ad1a7f7dd74111907d3094c24b67f050862ba4dec474e4cec86eb3db64",
        n_bytes=2_006_049,
        read=_stored_pictures,
    )
    entry = partial(
        _picture_entry,
        family="mnist",
        task="Handwritten digits",
        citation="LeCun, Cortes, Burges, The MNIST database of handwritten digits",
        licence="CC BY-SA 3.0",
        homepage="https://yann.lecun.com/exdb/mnist",
        sources=(stored, *_whole_sources(MNIST, openml=554)),
    )
    yield entry(name="mnist", title="MNIST", class_names=("0-4", "5-9"), groups=_LOW_AND_HIGH)
    yield entry(name="mnist10", title="MNIST10", class_names=tuple("0123456789"), groups=_TENS)
    yield entry(name="mnist4", title="MNIST4", class_names=tuple("0123"), groups=_TENS[:4])


def fmnist_entries() -> Iterator[Entry]:
    """Clothes: two halves, all ten kinds, the first five."""
    stored = stored_source(
        "Fashion-MNIST, a sample of 12,000",
        "fashion_mnist.npz",
        sha256="1c83e9eac295f7a8fff2dcb9187eb1e256a9fe4df0095cdab52091b980b7d066",
        n_bytes=5_323_531,
        read=_stored_pictures,
    )
    entry = partial(
        _picture_entry,
        family="fmnist",
        task="Pictures of clothes",
        citation="Xiao, Rasul, Vollgraf (2017), Fashion-MNIST: a Novel Image Dataset for Benchmarking Machine "
        "Learning Algorithms, arXiv:1708.07747",
        licence="MIT",
        homepage="https://github.com/zalandoresearch/fashion-mnist",
        sources=(stored, *_whole_sources(FASHION_MNIST, openml=40996)),
    )
    yield entry(name="fmnist", title="FMNIST", class_names=("0-4", "5-9"), groups=_LOW_AND_HIGH)
    yield entry(name="fmnist10", title="FMNIST10", class_names=_CLOTHES, groups=_TENS)
    yield entry(name="fmnist5", title="FMNIST5", class_names=_CLOTHES[:5], groups=_TENS[:5])


def _whole_sources(published: tuple[Source, ...], *, openml: int) -> Iterator[Source]:
    """All pictures as their authors publish them, else from OpenML."""
    name = published[0].title
    whole = f"{name}, all 70,000"
    yield from (replace(source, title=source.title.replace(name, whole), read=_idx_pictures) for source in published)
    yield openml_source(openml, title=f"{whole}, from OpenML", read=_openml_pictures)


def _stored_pictures(path: Path) -> Pool:
    return _picture_pool(*npz_arrays(path, "X", "y"))


def _idx_pictures(*paths: Path) -> Pool:
    return _picture_pool(*idx_images_and_labels(*paths))


def _openml_pictures(path: Path) -> Pool:
    data, target = npz_arrays(path, "data", "target")
    try:
        labels = target.astype(np.uint8)
    except (ValueError, TypeError) as error:
        raise DataFileError(f"{path} is not what openml.org has under this number ({error}); remove it.") from error
    return _picture_pool(data, labels)


def _picture_pool(images: NDArray[Any], labels: NDArray[Any]) -> Pool:
    """Pictures stay bytes until somebody scales them, and only those that are drawn are ever copied."""
    if images.dtype != np.uint8:
        raise DataFileError(f"the pictures hold {images.dtype} where bytes were expected; use the original files.")
    return Pool(X=images, y=labels, feature_names=pixel_names(_SHAPE))


# EMNIST: handwritten letters, capital and small ones alike.

_EMNIST_HOME = "https://www.nist.gov/itl/products-and-services/emnist-dataset"
_ALPHABET = string.ascii_uppercase


def emnist_entries() -> Iterator[Entry]:
    """Two halves of the alphabet, ten letters, four letters."""
    note = (
        "Of the stored sample only the rows of the balanced split are used: its rows of the letters split stop at M, "
        "so where a picture came from would give the class away."
    )
    halves, entry = _letters(_ALPHABET[:13], _ALPHABET[13:]), _emnist_entry(from_letters=False, notes=(note,))
    yield entry(name="emnist", title="EMNIST", class_names=("A-M", "N-Z"), groups=halves)
    entry = _emnist_entry(from_letters=True)
    for name, letters in (("emnist10", "ABCDEFGHIJ"), ("emnist4", "ABCD")):
        yield entry(name=name, title=name.upper(), class_names=tuple(letters), groups=_letters(*letters))


def _letters(*groups: str) -> tuple[tuple[int, ...], ...]:
    """The numbers of the letters in each group, counted from 1 as in the files."""
    return tuple(tuple(_ALPHABET.index(letter) + 1 for letter in group) for group in groups)


def _emnist_entry(*, from_letters: bool, notes: tuple[str, ...] = ()) -> Callable[..., Entry]:
    stored = stored_source(
        f"EMNIST, a sample of {'the letters split' if from_letters else 'the balanced split'}",
        "emnist_letters.npz",
        sha256="86ffd220d8c4fa2b2dde5316878dbf5a454f6b103ad327a595cf8206ff6b03f8",
        n_bytes=3_186_779,
        read=partial(_stored_letters, from_letters=from_letters),
    )
    archive = DataFile(
        name="gzip.zip",
        folder="EMNIST/raw",
        checksum="md5:58c8d27c78d21e728a6bc7b3cc06412e",
        url="https://biometrics.nist.gov/cs_links/EMNIST/gzip.zip",
    )
    return partial(
        _picture_entry,
        family="emnist",
        task="Handwritten letters",
        citation="Cohen, Afshar, Tapson, van Schaik (2017), EMNIST: an extension of MNIST to handwritten letters, "
        "arXiv:1702.05373",
        licence="No restriction beyond citation (NIST Special Database 19)",
        homepage=_EMNIST_HOME,
        sources=(
            stored,
            Source(title="EMNIST, all letters", files=(archive,), read=_published_letters, homepage=_EMNIST_HOME),
        ),
        notes=notes,
    )


def _stored_letters(path: Path, *, from_letters: bool) -> Pool:
    """Of the sample either the rows of the letters split, which stop at M, or those of the balanced split."""
    X, y, source = npz_arrays(path, "X", "y", "source")
    chosen = (source == 0) == from_letters
    return _picture_pool(X[chosen], y[chosen])


def _published_letters(path: Path) -> Pool:
    """The letters split, training and test files together; its pictures lie on their side."""

    def both_parts(kind: str) -> NDArray[np.uint8]:
        names = [f"emnist-letters-{part}-{kind}-ubyte.gz" for part in ("train", "test")]
        return np.concatenate([idx_content(unzipped(path, member=name), source=name) for name in names])

    return _picture_pool(both_parts("images-idx3").transpose(0, 2, 1), both_parts("labels-idx1"))


# PM2 and PM4: plus and minus signs.

_SIGNS_HOME = "https://pennylane.ai/datasets/plus-minus"
_ORIGINAL_NOTES = (
    (
        "All published pictures: 250 to train and 50 to test of each class. The paper counts another 50 to validate, "
        "which are not public; validation and test part are the same pictures here, so choose by cross-validation."
    ),
    "Where the pictures are out of reach, ones of the same kind are drawn, with a warning.",
)
_GENERATED_NOTES = ("Drawn from a seed in the manner of PM2 and PM4; the three parts share no picture.",)


def plus_minus_entries() -> Iterator[Entry]:
    """The two datasets of the paper."""
    for n_classes in (2, 4):
        description = _signs_description(
            n_classes,
            name=f"pm{n_classes}",
            title=f"PM{n_classes}",
            is_seeded=False,
            validation_is_test=True,
            licence="CC BY-SA 4.0",
            sources=_sign_sources(),
            notes=_ORIGINAL_NOTES,
        )
        yield Entry(description=description, build=_original_signs)


def plus_minus_generated_entries() -> Iterator[Entry]:
    """The same drawn here, from any seed and in any number."""
    for n_classes in (2, 4):
        description = _signs_description(
            n_classes,
            name=f"pm{n_classes}_generated",
            title=f"PM{n_classes}, drawn here",
            suite=EXTRA,
            licence="Drawn here",
            notes=_GENERATED_NOTES,
        )
        yield Entry(description=description, build=_generated_signs)


def _signs_description(n_classes: int, **facts: Any) -> Description:
    return drawn_description(
        family="plus_minus",
        task="Pictures of plus and minus signs",
        class_names=SIGN_NAMES[:n_classes],
        n_features=SIGN_SIDE**2,
        paper_n_features=SIGN_SIDE**2,
        counts=PAPER_COUNTS[f"pm{n_classes}"],
        image_shape=(SIGN_SIDE, SIGN_SIDE),
        citation="Wendlinger, Tscharke, Debus (2024), A Comparative Analysis of Adversarial Robustness for Quantum and "
        "Classical Machine Learning Models, arXiv:2404.16154",
        homepage=_SIGNS_HOME,
        **facts,
    )


def _sign_sources() -> tuple[Source, ...]:
    stored = stored_source(
        "PlusMinus, the original pictures",
        "plus_minus.npz",
        sha256="6129624cccaaa427848fded6df0045e79471118c5dc30b42447d5f7bd667d1be",
        n_bytes=213_249,
        read=_stored_signs,
    )
    # Without a checksum: the server may write other metadata than the copy at hand has.
    published = DataFile(
        name="PlusMinus_PlusMinus.h5",
        folder="plus_minus",
        magic=b"\x89HDF\r\n\x1a\n",
        url="https://datasets.cloud.pennylane.ai/datasets/h5/other/PlusMinus/PlusMinus_PlusMinus.h5",
    )
    return (
        stored,
        Source(
            title="PlusMinus, the original pictures, from PennyLane",
            files=(published,),
            read=_published_signs,
            homepage=_SIGNS_HOME,
            extra=HDF5,
        ),
    )


def _stored_signs(path: Path) -> tuple[Part, Part]:
    X, y, split = npz_arrays(path, "X", "y", "split")
    train, test = (Part(X[split == part], y[split == part].astype(np.int64)) for part in (0, 1))
    return train, test


def _published_signs(path: Path) -> tuple[Part, Part]:
    """The HDF5 file of PennyLane."""
    try:
        import h5py
    except ImportError as error:
        raise HDF5.missing(to_read=path) from error
    try:
        with h5py.File(path, "r") as file:
            train, test = (_signs(file[f"img_{part}"][()], file[f"labels_{part}"][()]) for part in ("train", "test"))
    except (OSError, KeyError, ValueError, TypeError, RuntimeError) as error:
        raise DataFileError(f"{path} is not the PlusMinus file ({error}); remove it.") from error
    return train, test


def _signs(images: NDArray[Any], labels: NDArray[Any]) -> Part:
    X, y = np.asarray(images, np.float32), np.asarray(labels, np.int64).ravel()
    if len(X) != len(y) or X.size != len(y) * SIGN_SIDE**2 or not np.isfinite(X).all():
        raise ValueError(f"it has the shape {X.shape} for {len(y)} pictures, or values that are not finite")
    if not np.isin(y, range(len(SIGN_NAMES))).all():
        raise ValueError(f"it has the labels {np.unique(y).tolist()}")
    return Part(X.reshape(len(y), -1), y)


def _original_signs(request: Request) -> Dataset:
    name, n_classes = request.description.name, request.description.n_classes
    try:
        found, parts = request.places.read(request.description.sources, wanted_for=name)
    except MissingDataError as error:
        warnings.warn(
            f"{name} is drawn here in the manner of the original pictures, which are not at hand ({error.reason}); "
            f"mcquack datasets show {name} tells how to get them.",
            SubstitutedDataWarning,
            stacklevel=3,  # whoever called load
        )
        return replace(plus_minus(n_classes=n_classes), described_as=f"{name}_generated")
    train, test = (Part(part.X[part.y < n_classes], part.y[part.y < n_classes]) for part in parts)
    # The paper's pictures to validate on are not public.
    return sign_dataset({"train": train, "validation": test, "test": test}, n_classes, origin=found.source.title)


def _generated_signs(request: Request) -> Dataset:
    return drawn_signs(wanted_counts(request), seed=request.seed)
