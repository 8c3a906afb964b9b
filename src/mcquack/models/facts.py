"""What there is to know about a model, as plain values that JSON can hold.

``model_facts`` tells about a fitted model, as ``mcquack info`` shows it, and ``entry_facts`` about one of the
catalogue, as ``mcquack models`` does.
"""

from typing import Any

from mcquack.models.catalog import Entry
from mcquack.models.tables import encoder_of

Facts = dict[str, Any]


def model_facts(model: Any, *, path: object = "the model") -> Facts:
    """All about a model that was loaded from a file: what it takes and gives, how it was trained, and by what.

    Parameters
    ----------
    model
        A fitted model of any kind, from ``mcquack.load``.
    path
        What the facts and error messages call it.

    Returns
    -------
    dict
        file, kind, classes, n_features, table (the columns of the table it was trained on), circuit, n_parameters,
        n_epochs, best_epoch, last_epoch, settings and versions. What a kind of model does not have is None.

    Examples
    --------
    >>> import mcquack, tempfile
    >>> model = mcquack.McQuackClassifier(n_qubits=2, n_repetitions=1, epochs=3).fit([[0.0], [1.0]], ["a", "b"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/model.mcq")
    ...     facts = model_facts(mcquack.load(f"{folder}/model.mcq"))
    >>> facts["kind"], facts["classes"], facts["circuit"], facts["n_parameters"]
    ('McQuackClassifier', ['a', 'b'], {'n_qubits': 2, 'n_layers': 1, 'n_features': 1}, 14)
    """
    circuit, history = getattr(model, "feature_map_", None), getattr(model, "history_", [])
    best: Any = getattr(model, "best_epochs_", getattr(model, "best_epoch_", None))
    return {
        "file": str(path),
        "kind": type(model).__name__,
        "classes": model.classes_.tolist(),
        "n_features": model.n_features_in_,
        "table": encoder_of(model, path=path).to_header() if "table" in model.extra_ else None,
        "circuit": circuit and {name: getattr(circuit, name) for name in ("n_qubits", "n_layers", "n_features")},
        "n_parameters": model.n_parameters_,
        "n_epochs": model.n_iter_ if history else None,
        "best_epoch": best.tolist() if hasattr(best, "tolist") else best,
        "last_epoch": dict(history[-1]) if history else None,
        "settings": model.get_params(),
        "versions": dict(model.versions_),
    }


def entry_facts(entry: Entry, *, with_settings: bool = True) -> Facts:
    """What the catalogue knows about a model.

    Parameters
    ----------
    entry
        One of ``mcquack.models.catalog.entries()``.
    with_settings
        Whether to add ``defaults`` and ``search_spaces``, which means to import the class of the model.

    Returns
    -------
    dict
        name, title, kind, description, class and n_settings: how many combinations a search tries on each suite.

    Examples
    --------
    >>> from mcquack.models import catalog
    >>> facts = entry_facts(catalog.entry("svc"))
    >>> facts["kind"], facts["n_settings"]
    ('classical', {'real-world': 16, 'qml': 16})
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
