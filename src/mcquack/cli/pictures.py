"""Figures as files, in the format that their name tells."""

import io
from pathlib import Path
from typing import Any

from mcquack.cli.files import check_can_write, write_whole
from mcquack.errors import InvalidInputError

_FORMATS = ("png", "pdf", "svg")
_DOTS_PER_INCH = 160


def check_picture(path: Path, *, overwrite: bool) -> None:
    """Refuses a name without a known format, and what cannot or should not be written."""
    if _format(path) not in _FORMATS:
        raise InvalidInputError(
            f"{path} must end in {', '.join(f'.{known}' for known in _FORMATS)} to tell its format."
        )
    check_can_write(path, overwrite=overwrite)


def write_picture(figure: Any, path: Path) -> None:
    """A figure of matplotlib, whole or not at all."""
    picture = io.BytesIO()
    figure.savefig(picture, format=_format(path), dpi=_DOTS_PER_INCH)
    write_whole(path, picture.getvalue())


def _format(path: Path) -> str:
    return path.suffix.lower().removeprefix(".")
