"""Packages that only some of mcquack needs."""

from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from mcquack.errors import MissingDependencyError


@dataclass(frozen=True, kw_only=True)
class Extra:
    """One of the optional dependencies of mcquack, by its name there and the module that it brings."""

    name: str
    module: str

    @property
    def is_installed(self) -> bool:
        """Whether the module is there to be imported; nothing is imported for that."""
        return find_spec(self.module) is not None

    @property
    def how_to_install(self) -> str:
        """The command for the shell."""
        return f'pip install "mcquack[{self.name}]"'

    def missing(self, *, to_read: object) -> MissingDependencyError:
        """What to raise where the module is needed to read something and cannot be imported."""
        return MissingDependencyError(f"{to_read} is there, but it takes {self.module} to read: {self.how_to_install}")

    def imported(self, *, what: str) -> ModuleType:
        """The module, which nobody imports before it is wanted; MissingDependencyError if it is not installed."""
        try:
            return import_module(self.module)
        except ImportError as error:
            raise self.needed(what=what) from error

    def needed(self, *, what: str) -> MissingDependencyError:
        """What to raise where something else needs it."""
        return MissingDependencyError(f"{what} takes {self.module}: {self.how_to_install}")


HDF5 = Extra(name="hdf5", module="h5py")
DASK = Extra(name="dask", module="distributed")
OPTUNA = Extra(name="optuna", module="optuna")
IBM = Extra(name="ibm", module="qiskit_ibm_runtime")
