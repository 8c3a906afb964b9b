"""From the name of a model in a task to an estimator: one of the catalogue, or any class that can be imported."""

from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module
from inspect import Parameter, signature
from typing import Any

from mcquack.checks import did_you_mean
from mcquack.errors import InvalidInputError
from mcquack.models import catalog

IMPORT_HINT = "the module must be one that Python can import, as from a folder in PYTHONPATH"


def title(name: str) -> str:
    """What people call it."""
    return name.rpartition(":")[2] if ":" in name else catalog.entry(name).title


def check_model(name: str) -> None:
    """Refuses a name that means nothing; those of the catalogue are not imported for it, which takes seconds."""
    if ":" in name:
        estimator_class(name)
    else:
        catalog.entry(name)


@cache
def estimator_class(name: str) -> type[Any]:
    """The class of a name in the catalogue, or of "module:Class"."""
    module, _, class_name = name.rpartition(":")
    if not module:
        return catalog.entry(name).estimator_class()
    try:
        found: type[Any] = getattr(import_module(module), class_name)
    except (ImportError, AttributeError) as error:
        raise InvalidInputError(f"no model {name!r}: {error}; write module:Class, and {IMPORT_HINT}.") from error
    return found


def new_model(name: str, settings: Mapping[str, Any], *, seed: int) -> Any:
    """An estimator that is not fitted yet, on one thread and with the seed as its random_state, if it has any."""
    made = estimator_class(name)
    given = {"random_state": seed, "n_threads": 1, "n_jobs": 1}
    known = signature(made).parameters
    chosen = {**{setting: value for setting, value in given.items() if setting in known}, **settings}
    return made(**chosen) if ":" in name else catalog.entry(name).new(**chosen)


def fit_takes_validation(model: Any) -> bool:
    """Whether its training can be stopped by a validation part."""
    return "validation_data" in signature(model.fit).parameters


def check_settings(name: str, settings: Iterable[str]) -> None:
    """Refuses settings that the model does not have, before a search stumbles over them."""
    known = signature(estimator_class(name)).parameters
    if any(parameter.kind is Parameter.VAR_KEYWORD for parameter in known.values()):
        return
    for setting in settings:
        if setting not in known:
            hint = did_you_mean(setting, known, otherwise=f"it has {', '.join(known)}.")
            raise InvalidInputError(f"{name} has no setting {setting!r}; {hint}")
