"""Names of a package that are imported when they are first used (PEP 562)."""

import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any


def lazy_exports(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package that imports its names when they are first used.

    The names are those of the stub ``__init__.pyi`` beside the package's ``__init__.py``, which type checkers read in
    its place: one line ``from module import name as name`` for each. Submodules are imported in the same way.

    Parameters
    ----------
    package : The ``__name__`` of the package.
    file : Its ``__file__``.

    Examples
    --------
    >>> from mcquack import circuits
    >>> getattr_, dir_, names = lazy_exports(circuits.__name__, circuits.__file__)
    >>> "Circuit" in names, getattr_("Circuit").__module__
    (True, 'mcquack.circuits.circuit')
    """
    lines = Path(file).with_suffix(".pyi").read_text(encoding="utf-8").splitlines()
    homes = {name: module for _, module, _, _, _, name in (line.split() for line in lines if line.startswith("from "))}
    names = sorted(homes)

    def __getattr__(name: str) -> Any:  # noqa: N807
        home = homes.get(name, package)
        if home != package:
            value = getattr(import_module(home), name)
        elif not name.startswith("_") and find_spec(f"{package}.{name}") is not None:
            value = import_module(f"{package}.{name}")
        else:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        setattr(sys.modules[package], name, value)
        return value

    def __dir__() -> list[str]:  # noqa: N807
        return sorted(names)

    return __getattr__, __dir__, names
