"""Quack, the binary predecessor of McQuack."""

from typing import Any, Literal

from numpy.typing import NDArray

from mcquack.errors import InvalidInputError
from mcquack.models.mcquack import McQuackClassifier


class QuackClassifier(McQuackClassifier):
    """Two classes, and successive features in the three angles of each gate, where McQuack repeats one feature.

    Parameters, attributes and training are those of :class:`McQuackClassifier`.
    """

    _features_per_gate: Literal[1, 3] = 3

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _check_classes(self, classes: NDArray[Any]) -> None:
        super()._check_classes(classes)
        if len(classes) > 2:
            raise InvalidInputError(
                f"Only binary classification is supported by QuackClassifier, got {len(classes)} classes; "
                "use McQuackClassifier."
            )
