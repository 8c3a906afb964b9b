"""Names of a package that are imported when they are first used (PEP 562)."""

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any


def lazy_exports(
    package: str, names: Iterable[str], found_in: Mapping[str, Iterable[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package that imports some of its names when they are first used.

    Submodules are found in the same way. For type checkers the package imports these names under ``TYPE_CHECKING``.

    Parameters
    ----------
    package : The ``__name__`` of the package.
    names : Its ``__all__``.
    found_in : Modules with those of the names that are imported from them.

    Examples
    --------
    >>> getattr_of_json, _ = lazy_exports("json", ["scanstring"], {"json.decoder": ["scanstring"]})
    >>> getattr_of_json("scanstring").__name__
    'scanstring'
    """
    homes = {name: module for module, some in found_in.items() for name in some}

    def __getattr__(name: str) -> Any:  # noqa: N807
        if name in homes:
            value = getattr(import_module(homes[name]), name)
        elif not name.startswith("_") and find_spec(f"{package}.{name}") is not None:
            value = import_module(f"{package}.{name}")
        else:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        setattr(sys.modules[package], name, value)
        return value

    def __dir__() -> list[str]:  # noqa: N807
        return sorted(names)

    return __getattr__, __dir__
