"""Datasets by name, with what a user should know about them on stderr."""

import warnings
from pathlib import Path

from mcquack.cli.notes import tell
from mcquack.datasets import Dataset, load
from mcquack.errors import SubstitutedDataWarning


def loaded(name: str, *, seed: int = 0, sizes: tuple[int, ...] | None = None, data_dir: Path | None = None) -> Dataset:
    """The dataset; a note tells if other data had to take its place."""
    with warnings.catch_warnings(record=True, action="always", category=SubstitutedDataWarning) as caught:
        dataset = load(name, seed=seed, sizes=sizes, data_dir=data_dir)
    for warning in caught:
        if issubclass(warning.category, SubstitutedDataWarning):
            tell(f"Note: {' '.join(str(warning.message).split())}")
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    return dataset
