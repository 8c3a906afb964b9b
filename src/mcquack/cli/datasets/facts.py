"""A dataset in JSON."""

from typing import Any

from mcquack.datasets import Description


def brief_facts(description: Description, *, where: str) -> dict[str, Any]:
    """What it takes to choose one."""
    return {
        "name": description.name,
        "title": description.title,
        "suite": description.suite,
        "family": description.family,
        "task": description.task,
        "n_features": description.n_features,
        "n_classes": description.n_classes,
        "sizes": dict(description.sizes),
        "where": where,
    }
