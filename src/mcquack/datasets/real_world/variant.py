"""From a published dataset to the variants that are drawn from it."""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from mcquack.datasets.dataset import Dataset, PartName
from mcquack.datasets.description import Description
from mcquack.datasets.files import Source
from mcquack.datasets.real_world.paper_table import PAPER_COUNTS, Counts
from mcquack.datasets.real_world.pool import Draw, Groups, Pool, apportioned, drawn
from mcquack.datasets.registry import Entry, Request
from mcquack.errors import InvalidInputError

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
