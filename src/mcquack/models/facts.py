"""What there is to know about a fitted model, or one of the catalogue, as plain values that JSON can hold."""

from typing import Any

from mcquack.models.catalog import Entry
from mcquack.models.tables import encoder_of

Facts = dict[str, Any]
_OF_A_CIRCUIT = ("n_qubits", "n_layers", "n_features", "n_gates", "depth")


def model_facts(model: Any, *, path: object = "the model") -> Facts:
    """All about a model from ``mcquack.load``: what it takes and gives, how it was trained, and by what.

    What a kind of model does not have is None; ``path`` is what the facts and error messages call it.

    >>> from mcquack.models import NystroemSVM
    >>> model_facts(NystroemSVM().fit([[0.0], [1.0]], ["a", "b"]))["classes"]
    ['a', 'b']
    """
    from mcquack.models.archive import plain_settings  # not above: the catalogue needs neither scikit-learn nor Numba

    circuit, history = getattr(model, "feature_map_", None), getattr(model, "history_", [])
    in_steps = hasattr(model, "max_steps")  # what training is counted in
    best: Any = getattr(model, "best_epochs_", getattr(model, "best_epoch_", None))
    return {
        "file": str(path),
        "kind": type(model).__name__,
        "classes": model.classes_.tolist(),
        "n_features": model.n_features_in_,
        "table": encoder_of(model, path=path).to_header() if "table" in getattr(model, "extra_", {}) else None,
        "circuit": circuit and {name: getattr(circuit, name, None) for name in _OF_A_CIRCUIT},
        "n_parameters": model.n_parameters_,
        "n_epochs": model.n_iter_ if history and not in_steps else None,
        "n_steps": model.n_iter_ if in_steps else None,
        "best_epoch": best.tolist() if hasattr(best, "tolist") else best,
        "last_epoch": dict(history[-1]) if history else None,
        "settings": plain_settings(model),
        "versions": dict(getattr(model, "versions_", {})),
    }


def entry_facts(entry: Entry, *, with_settings: bool = True) -> Facts:
    """What the catalogue knows about a model; settings and search spaces take an import of its class.

    >>> from mcquack.models import catalog
    >>> entry_facts(catalog.entry("svc"))["n_settings"]
    {'real-world': 16, 'qml': 16}
    """
    facts = {
        "name": entry.name,
        "title": entry.title,
        "kind": entry.kind,
        "description": entry.description,
        "class": entry.home.replace(":", "."),
        "n_settings": {suite: len(entry.search_space(suite)) for suite in entry.suites},
    }
    if with_settings:
        facts["defaults"] = dict(entry.defaults())
        facts["search_spaces"] = {suite: entry.search_space(suite).values for suite in entry.suites}
    return facts
