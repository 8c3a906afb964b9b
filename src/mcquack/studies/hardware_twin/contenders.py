"""Every way to learn and to read the twin, as a class of its own: a benchmark tells models apart by their names."""

from collections.abc import Mapping
from itertools import product
from types import MappingProxyType
from typing import get_args

from mcquack.studies.hardware_twin.learning import Learning
from mcquack.studies.hardware_twin.measuring import View
from mcquack.studies.hardware_twin.twin import Rule, TwinClassifier

_LEARNING: Mapping[Learning, str] = {"none": "Untrained", "fidelity": "Trained", "tolerance": "Tolerant"}


def contender(learning: Learning, view: View, rule: Rule) -> str:
    """Its name, as "UntrainedPittsburghPaper"."""
    start = _LEARNING[learning]
    return f"{start}Fidelity" if rule == "fidelity" else f"{start}{view.title()}{rule.title()}"


def _made(learning: Learning, view: View, rule: Rule) -> type[TwinClassifier]:
    fixed = {"learning": learning, "view": view, "rule": rule}
    told = f"learning: {learning}, view: {view}, rule: {rule}."
    home = __name__.rpartition(".")[0]
    return type(contender(learning, view, rule), (TwinClassifier,), {**fixed, "__doc__": told, "__module__": home})


def _contenders() -> Mapping[str, type[TwinClassifier]]:
    ways = product(get_args(Learning), get_args(View), get_args(Rule))
    return MappingProxyType({contender(*way): _made(*way) for way in ways if _differs(*way[1:])})


def _differs(view: View, rule: Rule) -> bool:
    """Whether there is no other way to the same: the fidelity is exact, and exact values are never equal."""
    return {"fidelity": view == "exact", "argmax": view != "exact"}.get(rule, True)


CONTENDERS = _contenders()
