"""The version of mcquack's own arithmetic, by which results that differ in their last digits are told apart.

A benchmark puts it into the ids of its tasks, so that rows of an earlier arithmetic are kept but never taken for rows
of this one. ``tests/golden/test_numerics.py`` holds losses of short trainings and fails when they move.
"""

from collections.abc import Mapping
from typing import Any

NUMERICS = 4
"""Raise it by one whenever training or prediction of one of mcquack's models rounds differently on the same machine.

That is whenever sums are taken in another order, a formula is rearranged, a default precision or a random draw changes.
Speed alone is no reason, nor are other processors or other versions of a library. Results from before there were
versions count as version 1.

The next version is 6: 5 is taken by weighted quantiles, see :func:`numerics_of`.
"""

_WEIGHTED_QUANTILES = 5


def numerics_of(settings: Mapping[str, Any]) -> int:
    """Return the numerics version of a fit with these settings.

    Version 5 counts rows by their weight where features become quantiles. Fits without class weights have the same
    bits as in version 4 and keep it, so that results made with it stay valid.

    Examples
    --------
    >>> numerics_of({"scale": "quantile"}) == NUMERICS
    True
    >>> numerics_of({"scale": "quantile", "class_weight": "balanced"})
    5
    """
    is_weighted = settings.get("class_weight") is not None
    return max(NUMERICS, _WEIGHTED_QUANTILES) if settings.get("scale") == "quantile" and is_weighted else NUMERICS
