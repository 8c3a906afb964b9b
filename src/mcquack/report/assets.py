"""What the pages of all reports are put together from: templates, styles and scripts of a package."""

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Literal

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from mcquack.report.words import counted, duration, moment

Kind = Literal["styles", "scripts"]
_ENDINGS: dict[Kind, str] = {"styles": "css", "scripts": "js"}


def environment(*packages: str) -> Environment:
    """Finds a template in the first of the packages that has one of its name."""
    made = Environment(
        loader=ChoiceLoader([PackageLoader(package, "templates") for package in packages]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {"counted": counted, "duration": duration, "moment": moment}
    return made


@cache
def joined(package: str, kind: Kind, names: Sequence[str]) -> str:
    """The files of these names one after the other."""
    home = files(package).joinpath("templates", kind)
    return "\n".join(home.joinpath(f"{name}.{_ENDINGS[kind]}").read_text(encoding="utf-8") for name in names)


def enclosed(scripts: str) -> str:
    """Scripts that share their names with each other and with nobody else."""
    return f'"use strict";\n(() => {{\n{scripts}}})();\n'


def source_hash(script: str) -> str:
    """By which the page tells the browser to run this script and no other."""
    return f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode('ascii')}"
