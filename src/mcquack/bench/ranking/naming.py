"""What is known of a dataset or a model by its name alone, also where nobody registered it."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from mcquack import datasets
from mcquack.bench.models import title
from mcquack.errors import InvalidInputError, UnknownDatasetError

OWN_FAMILY = "own"

_SIZED_SUITES = ("qml", "own")
"""In others a number at the end of a name is no size: kdd_41 is KDD on 41 features."""


def family_and_size(dataset: str) -> tuple[str, int | None]:
    """The family it is registered with, or "own", and the n of <family>_<n> if it has one."""
    try:
        description = datasets.describe(dataset)
    except UnknownDatasetError:
        return OWN_FAMILY, None
    number = re.fullmatch(rf"{re.escape(description.family)}_(\d+)", dataset)
    size = int(number[1]) if number and description.suite in _SIZED_SUITES else None
    return description.family or OWN_FAMILY, size


def model_titles(names: Iterable[str]) -> Mapping[str, str]:
    """What people call each of these models; where that would mean two of them, their full names."""
    titles = {name: _title(name) for name in names}
    counts = Counter(titles.values())
    # A title may also be the full name of another, as that of mine:svc is.
    return {
        name: title if counts[title] == 1 and (title == name or title not in titles) else name
        for name, title in titles.items()
    }


def _title(name: str) -> str:
    """The name itself if it is not in the catalogue."""
    try:
        return title(name)
    except InvalidInputError:
        return name
