"""How a dataset of the real-world benchmark is drawn from the samples of a published one.

A ``Pool`` holds all samples of a source, and ``drawn`` takes so many of each class for each part by chance.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from mcquack.datasets.dataset import Dataset, Part, PartName, one_at_a_time
from mcquack.datasets.registry import Request
from mcquack.datasets.synthetic import manifold_points
from mcquack.errors import DataFileError, InvalidInputError
from mcquack.randomness import stream

ClassCounts = Mapping[PartName, Sequence[int]]
Groups = tuple[tuple[Any, ...] | None, ...]
"""The labels of the source that make up each class; None stands for all labels that no other class has."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Pool:
    """Samples, which may be pictures with rows and columns, and the labels of their source.

    Samples that agree in their first ``n_identifying`` features, or else in all, are the same sample.
    """

    X: NDArray[Any]
    y: NDArray[Any]
    feature_names: tuple[str, ...]
    n_identifying: int | None = None

    def __post_init__(self) -> None:
        n_features = len(self.feature_names)
        if self.y.shape != (len(self.X),) or math.prod(self.X.shape[1:]) != n_features:
            raise DataFileError(
                f"the source has samples of the shape {self.X.shape} and labels of the shape {self.y.shape}, where "
                f"{n_features} features and one label for each sample were expected; use the original files."
            )
        if self.X.dtype.kind == "f" and not np.isfinite(self.X).all():
            raise DataFileError("the source has values that are missing or infinite; use the original files.")

    def identity(self, row: int) -> bytes:
        features = self.X[row].ravel()[: self.n_identifying]
        return bytes((features + features.dtype.type(0)).tobytes())  # -0.0 and 0.0 are one number


def drawn(
    pool: Pool,
    *,
    name: str,
    class_names: tuple[str, ...],
    groups: Groups,
    counts: ClassCounts,
    seed: int,
    keeps_repeats: bool = False,
    drawn_as: str = "",
) -> dict[PartName, Part]:
    """So many samples of each class for each part, shuffled, with the indices of the groups as labels.

    A sample that repeats one drawn before is passed over, since it might test a model that it has trained, unless the
    draw ``keeps_repeats``. A dataset that is ``drawn_as`` another has the very rows of that one.
    """
    random = partial(stream, seed, "datasets", drawn_as or name)
    classes = classes_of(pool.y, groups)
    seen: set[bytes] = set()
    members: list[list[int]] = []
    n_wanted = [sum(each) for each in zip(*counts.values(), strict=True)]
    for index, n_of_class in enumerate(n_wanted):
        rows: list[int] = []
        for row in random(f"class {index}").permutation(np.flatnonzero(classes == index)).tolist():
            if len(rows) == n_of_class:
                break
            identity = pool.identity(row)
            if keeps_repeats or identity not in seen:
                rows.append(row)
                seen.add(identity)
        members.append(rows)
    _check_enough(name, class_names, n_found=[len(rows) for rows in members], n_wanted=n_wanted)
    parts: dict[PartName, Part] = {}
    for part, n_each in counts.items():
        chosen = [row for rows, n in zip(members, n_each, strict=True) for row in rows[:n]]
        members = [rows[n:] for rows, n in zip(members, n_each, strict=True)]  # what is left for the next parts
        order = random(part).permutation(np.array(chosen, dtype=np.intp))
        parts[part] = Part(pool.X[order].reshape(len(order), -1), classes[order])
    return parts


def classes_of(y: NDArray[Any], groups: Groups) -> NDArray[np.int64]:
    """The index of the group that each label belongs to, -1 for none."""
    classes = np.full(len(y), next((index for index, group in enumerate(groups) if group is None), -1))
    for index, group in enumerate(groups):
        if group is not None:
            classes[np.isin(y, group)] = index
    return classes


def _check_enough(name: str, class_names: tuple[str, ...], *, n_found: Sequence[int], n_wanted: Sequence[int]) -> None:
    shares = [found / wanted if wanted else math.inf for found, wanted in zip(n_found, n_wanted, strict=True)]
    scarcest = int(np.argmin(shares))
    if shares[scarcest] < 1:
        n_possible = int(sum(n_wanted) * shares[scarcest])
        raise InvalidInputError(
            f"{name}: {n_wanted[scarcest]:,} samples of class {class_names[scarcest]!r} are needed, but the source "
            f"has {n_found[scarcest]:,}, enough for parts of at most about {n_possible:,} samples together; ask for "
            "smaller sizes, or provide a larger source."
        )


def apportioned(n_samples: int, weights: Sequence[int]) -> tuple[int, ...]:
    """Whole numbers in the proportion of the weights that add up to ``n_samples``; largest remainders go up."""
    shares = n_samples * np.asarray(weights) / np.sum(weights)
    counts = np.floor(shares).astype(int)
    short = n_samples - counts.sum()
    counts[np.argsort(counts - shares, kind="stable")[:short]] += 1
    return tuple(counts.tolist())


def wanted_counts(request: Request) -> ClassCounts:
    """The described counts of classes; for other sizes, counts in the proportions of the described training part."""
    described = request.description.class_counts or {}
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


def drawn_from_files(request: Request, **choice: Any) -> Dataset:
    """The dataset of the request, drawn from the files of its description."""
    found, pool = request.places.read(request.description.sources, wanted_for=request.description.name)
    return drawn_dataset(pool, request, origin=found.source.title, **choice)


def drawn_dataset(pool: Pool, request: Request, *, origin: str, **choice: Any) -> Dataset:
    """The dataset of the request, drawn from the pool by its seed; ``choice`` has the other settings of ``drawn``."""
    description, counts = request.description, wanted_counts(request)
    if description.validation_is_test:
        validation, test = request.sizes["validation"], request.sizes["test"]
        if validation != test:
            raise InvalidInputError(
                f"{description.name}: validation and test part are the same samples, so their sizes must be equal, "
                f"got {validation} and {test}."
            )
        counts = {part: counts[part] for part in ("train", "validation")}
    name, class_names = description.name, description.class_names
    parts = drawn(pool, name=name, class_names=class_names, counts=counts, seed=request.seed, **choice)
    return Dataset(
        name=name,
        train=parts["train"],
        validation=parts.get("validation"),
        test=parts["validation"] if description.validation_is_test else parts.get("test"),
        labels=tuple(range(description.n_classes)),
        class_names=class_names,
        feature_names=pool.feature_names,
        image_shape=description.image_shape,
        origin=f"{origin}; drawn by seed {request.seed}",
    )


# The datasets that need no files: Iris3, which scikit-learn brings along, and Manifold, which is generated: the hidden
# manifold of the hardware experiment, on as many features as two layers of 124 qubits take.

_FLOWER_FEATURES = ("sepal_length", "sepal_width", "petal_length", "petal_width")
# Enough for the paper's counts, whatever the classes: so both datasets are draws from the same points.
_N_POINTS = 6_000
MANIFOLD_DIMENSION = 5  # as in the paper's hardware experiment


def iris(request: Request, **choice: Any) -> Dataset:
    """Three species of a flower, by the sizes of their leaves."""
    with one_at_a_time:
        from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    pool = Pool(X=X, y=np.array(request.description.class_names)[y], feature_names=_FLOWER_FEATURES)
    return drawn_dataset(pool, request, origin="built in", **choice)


def manifold(request: Request, **choice: Any) -> Dataset:
    """Points on a manifold of 5 dimensions, scaled to [-1, 1] over the training part."""
    n_features = request.description.n_features
    n_points = max(_N_POINTS, 3 * sum(request.sizes.values()))
    random = RandomState(request.seed % 2**32)
    X, y = manifold_points(random, n_features=n_features, manifold_dimension=MANIFOLD_DIMENSION, n_samples=n_points)
    pool = Pool(X=X, y=y, feature_names=tuple(f"x{index}" for index in range(n_features)))
    return drawn_dataset(pool, request, origin="generated", **choice).scaled(to=(-1.0, 1.0), clip=True)
