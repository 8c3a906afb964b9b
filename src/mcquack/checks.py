"""What values of settings must be and which packages must be there, said in one voice."""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import numpy as np

from mcquack.errors import InvalidInputError, MissingDependencyError


def is_whole_number(value: Any) -> bool:
    """Whether the value is an integer of Python or NumPy; True and False are none."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Whether the value is an integer or a float of Python or NumPy."""
    return is_whole_number(value) or isinstance(value, float | np.floating)


def require(condition: Any, name: str, expected: str, value: object) -> None:
    """Raises InvalidInputError, which says what the setting ``name`` must be, unless the condition holds."""
    if not condition:
        raise InvalidInputError(f"{name} must be {expected}, got {value!r}.")


def require_positive(name: str, value: Any) -> None:
    """Raises InvalidInputError for all but finite numbers above zero."""
    require(is_number(value) and 0 < value < np.inf, name, "a positive number", value)


def did_you_mean(name: object, known: Iterable[str], *, otherwise: str) -> str:
    """The known names that are close to an unknown one, as a question, or ``otherwise`` if none is."""
    close = difflib.get_close_matches(str(name).lower(), list(known), n=3)
    return f"did you mean {' or '.join(close)}?" if close else otherwise


def required_count(name: str, value: Any) -> int:
    """The value as a plain integer; InvalidInputError unless it is a whole number of at least 1."""
    require(is_whole_number(value) and value >= 1, name, "a whole number of at least 1", value)
    return int(value)


@dataclass(frozen=True, kw_only=True)
class Extra:
    """One of the optional dependencies: its name in ``pip install "mcquack[name]"``, and the module that it brings."""

    name: str
    module: str

    @property
    def is_installed(self) -> bool:
        """Whether the module could be imported; nothing is imported to find out."""
        return find_spec(self.module) is not None

    @property
    def how_to_install(self) -> str:
        """The command for the shell that installs it."""
        return f'pip install "mcquack[{self.name}]"'

    def missing(self, *, to_read: object) -> MissingDependencyError:
        """The error to raise where a file is there and only the module to read it is not."""
        return MissingDependencyError(f"{to_read} is there, but it takes {self.module} to read: {self.how_to_install}")

    def imported(self, *, what: str) -> ModuleType:
        """The module, imported now; MissingDependencyError, naming ``what`` needs it, if it is not installed."""
        try:
            return import_module(self.module)
        except ImportError as error:
            raise self.needed(what=what) from error

    def needed(self, *, what: str) -> MissingDependencyError:
        """The error to raise where ``what`` cannot be done without the module."""
        return MissingDependencyError(f"{what} takes {self.module}: {self.how_to_install}")


HDF5 = Extra(name="hdf5", module="h5py")
DASK = Extra(name="dask", module="distributed")
OPTUNA = Extra(name="optuna", module="optuna")
IBM = Extra(name="ibm", module="qiskit_ibm_runtime")
JAX = Extra(name="jax", module="jax")
QISKIT = Extra(name="ibm", module="qiskit")
PENNYLANE = Extra(name="pennylane", module="pennylane")
