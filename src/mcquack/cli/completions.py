"""The names that a shell completes on the command line; what is slow to list is listed only when it is asked for."""

from collections.abc import Callable, Iterable

from mcquack.errors import MissingDependencyError

_SIMULATORS = ("simulator", "aer", "twin:pittsburgh", "twin:aachen", "least_busy")
_SNAPSHOT, _TWIN = "fake_", "twin:"


def _beginning_with(incomplete: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def suites(incomplete: str) -> list[str]:
    """The suites that come along and begin so."""
    from mcquack.bench import BUILT_IN  # not above: it would delay every --help

    return _beginning_with(incomplete, BUILT_IN)


def models(incomplete: str) -> list[str]:
    """The models of the catalogue that begin so."""
    from mcquack.models.catalog import names

    return _beginning_with(incomplete, names())


def backends(incomplete: str) -> list[str]:
    """The simulators, and as soon as one is begun the snapshots and their twins, for which Qiskit must be loaded."""
    found = [*_SIMULATORS]
    device = incomplete.removeprefix(_TWIN)
    if device.startswith(_SNAPSHOT[:1]):
        found += [incomplete[: len(incomplete) - len(device)] + name for name in _snapshots()]
    else:
        found += [_SNAPSHOT, _TWIN + _SNAPSHOT]
    return _beginning_with(incomplete, found)


def _snapshots() -> tuple[str, ...]:
    from mcquack.hardware.sampler import services

    try:
        return tuple(device.name for device in services().list_backends() if device.name.startswith(_SNAPSHOT))
    except MissingDependencyError:
        return ()


COMPLETIONS: dict[str, Callable[[str], list[str]]] = {"suites": suites, "models": models, "backends": backends}
