"""From a published dataset to the variants that are drawn from it."""

import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mcquack.datasets.dataset import PART_NAMES, Dataset, PartName
from mcquack.datasets.description import Description
from mcquack.datasets.files import DataFile, Source
from mcquack.datasets.formats import npz_arrays
from mcquack.datasets.real_world.pool import Draw, Groups, Pool, apportioned, drawn, picture_pool
from mcquack.datasets.registry import Entry, Request
from mcquack.errors import DataFileError, InvalidInputError

# The class counts of the paper's table *Class distributions*, typed in: training, validation and test part.

Counts = Mapping[PartName, tuple[int, ...]]

_TABLE: dict[str, tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]] = {
    "census": ((725, 275), (296, 104), (300, 100)),
    "covert": ((473, 527), (191, 209), (200, 200)),
    "doh": ((759, 241), (309, 91), (294, 106)),
    "emnist": ((496, 504), (208, 192), (203, 197)),
    "emnist10": (
        (108, 89, 85, 108, 89, 109, 106, 78, 109, 119),
        (46, 47, 35, 38, 40, 30, 48, 35, 44, 37),
        (40, 34, 39, 40, 30, 42, 43, 42, 39, 51),
    ),
    "emnist4": ((268, 235, 263, 234), (91, 107, 91, 111), (90, 111, 107, 92)),
    "fmnist": ((501, 499), (195, 205), (189, 211)),
    "fmnist10": (
        (108, 85, 105, 99, 102, 94, 105, 106, 92, 104),
        (32, 46, 37, 40, 50, 45, 46, 41, 34, 29),
        (46, 38, 41, 53, 33, 34, 36, 30, 49, 40),
    ),
    "fmnist5": ((174, 219, 216, 200, 191), (80, 73, 87, 75, 85), (71, 90, 86, 71, 82)),
    "iris3": ((31, 37, 37), (19, 13, 13), (19, 13, 13)),
    "kdd": ((504, 496), (223, 177), (205, 195)),
    "kdd10": (
        (96, 110, 109, 97, 107, 103, 95, 94, 89, 100),
        (44, 44, 47, 33, 42, 35, 48, 30, 32, 45),
        (53, 40, 36, 43, 34, 47, 39, 32, 42, 34),
    ),
    "kdd4": ((239, 242, 264, 255), (113, 90, 100, 97), (102, 100, 97, 101)),
    "mnist": ((482, 518), (213, 187), (186, 214)),
    "mnist10": (
        (108, 129, 96, 117, 82, 89, 92, 100, 107, 80),
        (38, 37, 36, 40, 40, 41, 42, 49, 33, 44),
        (36, 39, 41, 41, 42, 45, 36, 42, 39, 39),
    ),
    "mnist4": ((210, 299, 245, 246), (90, 116, 100, 94), (101, 107, 104, 88)),
    "manifold": ((471, 529), (185, 215), (206, 194)),
    "pm2": ((250, 250), (50, 50), (50, 50)),
    "pm4": ((250, 250, 250, 250), (50, 50, 50, 50), (50, 50, 50, 50)),
    "url": ((496, 504), (212, 188), (210, 190)),
}

PAPER_COUNTS: Mapping[str, Counts] = MappingProxyType(
    {name: MappingProxyType(dict(zip(PART_NAMES, rows, strict=True))) for name, rows in _TABLE.items()}
)

SUITE = "real-world"
EXTRA = "extra"
NO_REPEATS = "A row that repeats one drawn before is passed over, so that none trains a model that it tests."


@dataclass(frozen=True, kw_only=True)
class Original:
    """A published dataset: all that its variants have in common."""

    family: str
    task: str
    citation: str
    licence: str
    homepage: str
    sources: tuple[Source, ...] = ()
    n_features: int
    paper_n_features: int
    image_shape: tuple[int, int] | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Variant:
    """A choice of classes, each a group of the original labels (None: all others), and of how many of each to draw.

    Without ``counts`` they are those of the paper's table. A relative that is ``drawn_as`` another has its very rows.
    One that ``keeps_repeats`` needs all samples of its source, even those that are alike.
    """

    name: str
    title: str
    class_names: tuple[str, ...]
    groups: Groups
    suite: str = SUITE
    counts: Counts | None = None
    paper_n_features: int | None = None
    validation_is_test: bool = False
    keeps_repeats: bool = False
    drawn_as: str = ""
    notes: tuple[str, ...] = ()


def variant_entries(
    original: Original, *variants: Variant, built_in: Callable[[Request], Pool] | None = None
) -> Iterator[Entry]:
    """The variants for the registry; ``built_in`` gives the samples of an original without files."""
    for variant in variants:
        build = partial(_built, variant=variant, built_in=built_in)
        yield Entry(description=described(original, variant), build=build)


def described(original: Original, variant: Variant) -> Description:
    """The description of one variant."""
    counts = variant.counts or PAPER_COUNTS[variant.name]
    return Description(
        name=variant.name,
        title=variant.title,
        suite=variant.suite,
        family=original.family,
        task=original.task,
        class_names=variant.class_names,
        n_features=original.n_features,
        paper_n_features=variant.paper_n_features or original.paper_n_features,
        sizes={part: sum(each) for part, each in counts.items()},
        class_counts=counts,
        image_shape=original.image_shape,
        validation_is_test=variant.validation_is_test,
        citation=original.citation,
        licence=original.licence,
        homepage=original.homepage,
        sources=original.sources,
        notes=(*original.notes, *variant.notes),
    )


def _built(request: Request, *, variant: Variant, built_in: Callable[[Request], Pool] | None) -> Dataset:
    if built_in is not None:
        return drawn_dataset(built_in(request), request, variant=variant, origin="built in")
    found, pool = request.places.read(request.description.sources, wanted_for=request.description.name)
    return drawn_dataset(pool, request, variant=variant, origin=found.source.title)


def drawn_dataset(pool: Pool, request: Request, *, variant: Variant, origin: str) -> Dataset:
    """The variant, drawn from the pool by the seed of the request."""
    description = request.description
    counts = wanted_counts(request)
    if variant.validation_is_test:
        _check_equal_sizes(request)
        counts = {part: counts[part] for part in ("train", "validation")}
    draw = Draw(
        name=description.name,
        class_names=description.class_names,
        groups=variant.groups,
        counts=counts,
        seed=request.seed,
        keeps_repeats=variant.keeps_repeats,
        drawn_as=variant.drawn_as,
    )
    parts = drawn(pool, draw)
    if variant.validation_is_test:
        parts["test"] = parts["validation"]
    return Dataset(
        name=description.name,
        train=parts["train"],
        validation=parts.get("validation"),
        test=parts.get("test"),
        labels=tuple(range(description.n_classes)),
        class_names=description.class_names,
        feature_names=pool.feature_names,
        image_shape=description.image_shape,
        origin=f"{origin}; drawn by seed {request.seed}",
    )


def wanted_counts(request: Request) -> Mapping[PartName, Sequence[int]]:
    """The described counts of classes; for other sizes, counts in the proportions of the described training part."""
    described = request.description.class_counts
    if described is None:
        raise LookupError(f"{request.description.name} is drawn by class, so its description must count them")
    if dict(request.sizes) == dict(request.description.sizes):
        return described
    counts = {part: apportioned(size, described["train"]) for part, size in request.sizes.items()}
    if not all(counts["train"]):
        enough = (size for size in itertools.count(1) if all(apportioned(size, described["train"])))
        raise InvalidInputError(
            f"{request.description.name}: {request.sizes['train']} training samples leave a class without any; ask for "
            f"at least {next(enough)}."
        )
    return counts


def _check_equal_sizes(request: Request) -> None:
    validation, test = request.sizes["validation"], request.sizes["test"]
    if validation != test:
        raise InvalidInputError(
            f"{request.description.name}: validation and test part are the same samples, so their sizes must be equal, "
            f"got {validation} and {test}."
        )


# Datasets of openml.org, in the arrays that a download leaves in the cache.


def openml_file(data_id: int) -> DataFile:
    """A dataset by its number; what it holds is verified by scikit-learn when it is fetched."""
    return DataFile(name=f"openml-{data_id}.npz", folder="openml", url=f"openml:{data_id}")


def openml_pictures(data_id: int, *, title: str) -> Source:
    """Pictures whose labels are digits."""
    return Source(title=title, files=(openml_file(data_id),), read=_pictures)


def _pictures(path: Path) -> Pool:
    data, target = npz_arrays(path, "data", "target")
    try:
        labels = target.astype(np.uint8)
    except (ValueError, TypeError) as error:
        raise _refusal(path, error) from error
    return picture_pool(data, labels)


def openml_table(path: Path, *, target: str) -> pa.Table:
    """Columns by name, hyphens becoming underscores: numbers, or texts where a feature has categories."""
    data, labels, names, categories = npz_arrays(path, "data", "target", "feature_names", "categories")
    try:
        columns = dict(_columns(data, names.tolist(), texts=json.loads(str(categories))))
        return pa.table({**columns, target: pa.array(labels.tolist(), pa.string())})
    except (ValueError, TypeError, LookupError, pa.ArrowException) as error:
        raise _refusal(path, error) from error


def _columns(data: NDArray[Any], names: list[str], *, texts: dict[str, list[str]]) -> Iterator[tuple[str, pa.Array]]:
    for name, values in zip(names, data.T, strict=True):
        column = pa.array(values, from_pandas=True)  # NaN is absent
        if name in texts:
            column = pa.array(texts[name], pa.string()).take(column.cast(pa.int64()))
        yield name.replace("-", "_"), column


def _refusal(path: Path, error: Exception) -> DataFileError:
    return DataFileError(f"{path} is not what openml.org has under this number ({error}); remove it.")
