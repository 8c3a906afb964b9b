"""The kernel alignment classifier: a support vector machine on the square kernel of a trained circuit."""

from collections.abc import Callable
from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

from mcquack.models.kernel_alignment import KernelAlignmentClassifier


@parametrize_with_checks([KernelAlignmentClassifier(2, 3, epochs=20, lr_ka=0.05, lr_co=0.05)])
def test_scikit_learns_own_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)
