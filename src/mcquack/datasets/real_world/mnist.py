"""MNIST and FMNIST: handwritten digits, and clothes in the same format."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from mcquack.datasets.files import DataFile, Source
from mcquack.datasets.formats import FASHION_MNIST, MNIST, idx_images_and_labels, npz_arrays
from mcquack.datasets.real_world.pool import LOW_AND_HIGH, SIDE, TENS, Pool, picture_pool
from mcquack.datasets.real_world.variant import Original, Variant, openml_pictures, variant_entries
from mcquack.datasets.registry import Entry

_CLOTHES = (
    "T-shirt/top",
    "Trouser",
    "Pullover",
    "Dress",
    "Coat",
    "Sandal",
    "Shirt",
    "Sneaker",
    "Bag",
    "Ankle boot",
)


def _stored(path: Path) -> Pool:
    return picture_pool(*npz_arrays(path, "X", "y"))


def _published(*paths: Path) -> Pool:
    return picture_pool(*idx_images_and_labels(*paths))


def _sources(sample: DataFile, published: tuple[Source, ...], *, openml: int) -> tuple[Source, ...]:
    name = published[0].title
    whole = f"{name}, all 70,000"
    return (
        Source(title=f"{name}, a sample of 12,000", files=(sample,), read=_stored),
        *(replace(source, title=source.title.replace(name, whole), read=_published) for source in published),
        openml_pictures(openml, title=f"{whole}, from OpenML"),
    )


def fmnist_entries() -> Iterator[Entry]:
    """Two halves, all ten kinds, the first five."""
    yield from variant_entries(
        Original(
            family="fmnist",
            task="Pictures of clothes",
            citation="Xiao, Rasul, Vollgraf (2017), Fashion-MNIST: a Novel Image Dataset for Benchmarking Machine "
            "Learning Algorithms, arXiv:1708.07747",
            licence="MIT",
            homepage="https://github.com/zalandoresearch/fashion-mnist",
            n_features=SIDE * SIDE,
            paper_n_features=784,
            image_shape=(SIDE, SIDE),
            sources=_sources(
                DataFile(
                    name="fashion_mnist.npz",
                    folder="real_world",
                    checksum="sha256:1c83e9eac295f7a8fff2dcb9187eb1e256a9fe4df0095cdab52091b980b7d066",
                    n_bytes=5_323_531,
                ),
                FASHION_MNIST,
                openml=40996,
            ),
        ),
        Variant(name="fmnist", title="FMNIST", class_names=("0-4", "5-9"), groups=LOW_AND_HIGH),
        Variant(name="fmnist10", title="FMNIST10", class_names=_CLOTHES, groups=TENS),
        Variant(name="fmnist5", title="FMNIST5", class_names=_CLOTHES[:5], groups=TENS[:5]),
    )


def mnist_entries() -> Iterator[Entry]:
    """Two halves, all ten digits, the first four."""
    yield from variant_entries(
        Original(
            family="mnist",
            task="Handwritten digits",
            citation="LeCun, Cortes, Burges, The MNIST database of handwritten digits",
            licence="CC BY-SA 3.0",
            homepage="https://yann.lecun.com/exdb/mnist",
            n_features=SIDE * SIDE,
            paper_n_features=784,
            image_shape=(SIDE, SIDE),
            sources=_sources(
                DataFile(
                    name="mnist.npz",
                    folder="real_world",
                    checksum="sha256:4c1098ad1a7f7dd74111907d3094c24b67f050862ba4dec474e4cec86eb3db64",
                    n_bytes=2_006_049,
                ),
                MNIST,
                openml=554,
            ),
        ),
        Variant(name="mnist", title="MNIST", class_names=("0-4", "5-9"), groups=LOW_AND_HIGH),
        Variant(name="mnist10", title="MNIST10", class_names=tuple("0123456789"), groups=TENS),
        Variant(name="mnist4", title="MNIST4", class_names=tuple("0123"), groups=TENS[:4]),
    )
