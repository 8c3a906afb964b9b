"""A model in JSON."""

from typing import Any

from mcquack.models.catalog import Entry


def brief_facts(entry: Entry) -> dict[str, Any]:
    """What it takes to choose one, without importing it."""
    return {
        "name": entry.name,
        "title": entry.title,
        "kind": entry.kind,
        "description": entry.description,
        "class": entry.home.replace(":", "."),
        "n_settings": {suite: len(entry.search_space(suite)) for suite in entry.suites},
    }
