"""What values of settings must be and which packages must be there, said in one voice."""

import difflib
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import numpy as np

from mcquack.errors import InvalidInputError, MissingDependencyError, Setting


def is_whole_number(value: Any) -> bool:
    """Whether the value is an integer of Python or NumPy; True and False are none."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Whether the value is a float of Python or NumPy, or an integer that a float can stand for."""
    return isinstance(value, float | np.floating) or (is_whole_number(value) and abs(int(value)) <= sys.float_info.max)


def require(condition: Any, name: str, expected: str, value: object) -> None:
    """Raises InvalidInputError, which says what the setting ``name`` must be, unless the condition holds."""
    if not condition:
        raise InvalidInputError(Setting(name), f" must be {expected}, got {_shown(value)}.")


def _shown(value: object) -> str:
    try:
        return repr(value)
    except ValueError:  # Python writes no integer of more than 4,300 digits
        return f"an integer of {value.bit_length():,} bits" if isinstance(value, int) else f"a {type(value).__name__}"


def require_positive(name: str, value: Any) -> None:
    """Raises InvalidInputError for all but finite numbers above zero."""
    require(is_number(value) and 0 < value < np.inf, name, "a positive number", value)


def did_you_mean(name: object, known: Iterable[str], *, otherwise: str) -> str:
    """The known names that are close to an unknown one, as a question, or ``otherwise`` if none is."""
    close = difflib.get_close_matches(str(name).lower(), list(known), n=3)
    return f"did you mean {' or '.join(close)}?" if close else otherwise


# Beyond these a number is an accident, which would end in the depths: for want of memory, or never. Where a setting is
# not named, it is as much as an array can count.
MOST_OF_ALL = 2**63 - 1
MOST = {"shots": 10**12, "n_repetitions": 10**5, "n_centroids_per_class": 10**5, "n_starts": 10**4, "n_threads": 2**12}


def require_possible(name: str, value: int) -> None:
    """Raises InvalidInputError for a count that is larger than any of its name may be; see ``MOST``."""
    most = MOST.get(name, MOST_OF_ALL)
    require(int(value) <= most, name, f"at most {most:,}", value)


def required_count(name: str, value: Any) -> int:
    """The value as a plain integer; InvalidInputError unless it is a whole number of at least 1 that can be meant."""
    require(is_whole_number(value) and value >= 1, name, "a whole number of at least 1", value)
    require_possible(name, value)
    return int(value)


def count_from_environment(name: str) -> int | None:
    """The whole number of at least 1 that a variable of the environment has, or None if it is not set or empty.

    >>> import os
    >>> os.environ["MCQUACK_EXAMPLE"] = "2_000"
    >>> count_from_environment("MCQUACK_EXAMPLE")
    2000
    >>> del os.environ["MCQUACK_EXAMPLE"]
    """
    said = os.environ.get(name, "").strip().replace("_", "")
    if not said:
        return None
    require(said.isdecimal() and len(said) < 20 and int(said) > 0, name, "a whole number of at least 1", said[:40])
    return int(said)


def how_to_raise(variable: str, argument: str) -> str:
    """What to do about a limit that a variable of the environment sets, and an argument in Python, as errors end."""
    return (
        f"if that is meant and there is memory for it, set the variable {variable} to a larger number, or {argument} "
        "in Python."
    )


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
