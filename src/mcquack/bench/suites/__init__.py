"""Benchmarks as data: which models, on which datasets, searched and scored how."""

from mcquack.bench.suites.reading import BUILT_IN, read_suite, recorded_cells, suite_from_json, suite_from_text
from mcquack.bench.suites.suite import Cut, Suite

__all__ = ["BUILT_IN", "Cut", "Suite", "read_suite", "recorded_cells", "suite_from_json", "suite_from_text"]
