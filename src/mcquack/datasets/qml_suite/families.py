"""Six of the seven families, each of which is generated: nothing has to be stored."""

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import cache, partial

from numpy.random import RandomState

from mcquack.datasets.dataset import Dataset, Part
from mcquack.datasets.description import Description
from mcquack.datasets.qml_suite.facts import CITATION, HOMEPAGE, SIZES, SUITE
from mcquack.datasets.registry import Entry, Request
from mcquack.datasets.synthetic.generated import CLASS_NAMES, divided, standardised
from mcquack.datasets.synthetic.hidden_manifold import manifold_points
from mcquack.datasets.synthetic.hyperplanes import hyperplane_points
from mcquack.datasets.synthetic.linearly_separable import separable_points
from mcquack.datasets.synthetic.two_curves import curve_points

_TEST_SHARE = 0.2


@dataclass(frozen=True, kw_only=True)
class Family:
    """Nineteen datasets that differ in one number n."""

    name: str
    task: str
    n_features: Callable[[int], int]
    points: Callable[[RandomState, int], Part]


@dataclass(frozen=True, kw_only=True)
class Script:
    """Families that were generated one after the other from one stream of random numbers."""

    seed: int
    families: tuple[Family, ...]


SCRIPTS = (
    Script(
        seed=42,
        families=(
            Family(
                name="linearly_separable",
                task="Two sides of a plane in {n} dimensions",
                n_features=lambda n: n,
                points=lambda random, n: separable_points(random, n_features=n),
            ),
        ),
    ),
    Script(
        seed=3,
        families=(
            Family(
                name="hidden_manifold",
                task="A manifold of 6 dimensions in {n}",
                n_features=lambda n: n,
                points=lambda random, n: manifold_points(random, n_features=n, manifold_dimension=6),
            ),
            Family(
                name="hidden_manifold_diff",
                task="A manifold of {n} dimensions in 10",
                n_features=lambda _: 10,
                points=lambda random, n: manifold_points(random, n_features=10, manifold_dimension=n),
            ),
        ),
    ),
    Script(
        seed=3,
        families=(
            Family(
                name="two_curves",
                task="Two curves of degree 5 in {n} dimensions",
                n_features=lambda n: n,
                points=lambda random, n: standardised(curve_points(random, n_features=n, degree=5, offset=0.1)),
            ),
            Family(
                name="two_curves_diff",
                task="Two curves of degree {n} in 10 dimensions, 1/{twice_n} apart",
                n_features=lambda _: 10,
                points=lambda random, n: standardised(
                    curve_points(random, n_features=10, degree=n, offset=1 / (2 * n))
                ),
            ),
        ),
    ),
    Script(
        seed=1,
        families=(
            Family(
                name="hyperplanes_diff",
                task="Parity of {n} hyperplanes, 3 dimensions seen in 10",
                n_features=lambda _: 10,
                points=lambda random, n: standardised(hyperplane_points(random, n_hyperplanes=n)),
            ),
        ),
    ),
)


@cache
def generated(script: Script) -> Mapping[str, Dataset]:
    """All datasets of a script by name; none can be had without those before it in the stream."""
    random = RandomState(script.seed)
    return {
        name: divided(name, family.points(random, n), random=random, test=_TEST_SHARE, origin="generated")
        for family in script.families
        for n in SIZES
        for name in [f"{family.name}_{n}"]
    }


def _built(request: Request, *, script: Script) -> Dataset:
    """A copy: what a caller does to the arrays must not reach the next caller."""
    return deepcopy(generated(script)[request.description.name])


def family_entries() -> Iterator[Entry]:
    """All generated datasets, family by family."""
    for script in SCRIPTS:
        for family in script.families:
            for n in SIZES:
                yield Entry(description=_description(family, n), build=partial(_built, script=script))


def _description(family: Family, n: int) -> Description:
    return Description(
        name=f"{family.name}_{n}",
        title=f"{family.name} (n = {n})",
        suite=SUITE,
        family=family.name,
        task=family.task.format(n=n, twice_n=2 * n),
        class_names=CLASS_NAMES,
        n_features=family.n_features(n),
        sizes={"train": 240, "test": 60},
        is_seeded=False,
        citation=CITATION,
        licence="Generated here; the recipe was published under Apache-2.0",
        homepage=HOMEPAGE,
    )
