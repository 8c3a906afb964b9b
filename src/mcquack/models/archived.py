"""What every estimator needs to be written to a file and read back."""

import os
from abc import abstractmethod
from typing import Any, Self

from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.validation import check_is_fitted

from mcquack.models import archive
from mcquack.models.model_file import ModelFile


class Archived(BaseEstimator):
    """An estimator whose learned numbers are arrays, so that its file holds no code."""

    classes_: NDArray[Any]
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    scaler_: MinMaxScaler | None
    extra_: dict[str, Any]
    versions_: dict[str, str]

    def save(self, path: str | os.PathLike[str], *, extra: dict[str, Any] | None = None) -> None:
        """Writes the model to a file that can be loaded without running code.

        ``extra`` is any JSON object, to be found in ``extra_``.
        """
        check_is_fitted(self)
        archive.save(self, path, fields=self._saved_fields(), tensors=self._saved_tensors(), extra=extra)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The model in that file; anything wrong with it raises ModelFileError."""
        return archive.load({cls.__name__: cls}, path)

    def _check_settings(self) -> None:
        """Raises on the first setting that could not be used."""

    def _saved_settings(self) -> dict[str, Any]:
        settings: dict[str, Any] = self.get_params(deep=False)
        return settings

    def _saved_fields(self) -> dict[str, Any]:
        """Fields of the header that only this kind has."""
        return {}

    @abstractmethod
    def _saved_tensors(self) -> dict[str, NDArray[Any]]:
        """Learned arrays by name."""

    @abstractmethod
    def _restore(self, file: ModelFile) -> None:
        """Takes what was learned out of the file; settings, classes, features and scaler are there already."""

    def _known_parts(self, file: ModelFile) -> tuple[set[str], set[str]]:
        """Names of the fields and tensors that ``_restore`` has read."""
        return set(self._saved_fields()), set(self._saved_tensors())
