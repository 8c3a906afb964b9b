"""Where the results of a benchmark are kept."""

from mcquack.bench.store.records import Counts, HowEnded, RunRecord, Tally
from mcquack.bench.store.store import Store

__all__ = ["Counts", "HowEnded", "RunRecord", "Store", "Tally"]
