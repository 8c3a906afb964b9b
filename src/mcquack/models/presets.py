"""Named settings of :class:`McQuackClassifier`, from ``presets.toml``."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from mcquack.errors import InvalidInputError
from mcquack.models.catalog import frozen, package_tables

PRESETS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        name: MappingProxyType({setting: frozen(value) for setting, value in settings.items()})
        for name, settings in package_tables("presets.toml").items()
    }
)
PAPER, QML_SUITE = PRESETS["paper"], PRESETS["qml"]


def preset(name: str) -> dict[str, Any]:
    """Settings of that name: ``McQuackClassifier(**preset("paper"))``."""
    if name not in PRESETS:
        raise InvalidInputError(f"there is no preset {name!r}; choose one of {', '.join(PRESETS)}.")
    return dict(PRESETS[name])
