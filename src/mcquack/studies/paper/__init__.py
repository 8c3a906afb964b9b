"""Every table and figure of the paper as data: what it says, when our side agrees, and which rows our side is.

>>> from mcquack.studies.paper import ITEMS
>>> ITEMS["hardware_results"].place, ITEMS["hardware_results"].labels
('Table 1', ('tab:hardware_results',))
"""

from mcquack.studies.paper.checks import Check, Verdict, verdict_of
from mcquack.studies.paper.items import ITEMS, LABELS, SECTIONS, Item, class_counts, real_world_scores, values
from mcquack.studies.paper.stores import RUNS, RunStep, Stores, StudyRuns

__all__ = [
    "ITEMS",
    "LABELS",
    "RUNS",
    "SECTIONS",
    "Check",
    "Item",
    "RunStep",
    "Stores",
    "StudyRuns",
    "Verdict",
    "class_counts",
    "real_world_scores",
    "values",
    "verdict_of",
]
