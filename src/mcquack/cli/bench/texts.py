"""Numbers of a benchmark in words."""

import statistics

from mcquack.cli.bench.progress import CellProgress


def counted(count: int, noun: str) -> str:
    """As "1 task" or "1,200 tasks"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def duration(seconds: float | None) -> str:
    """For people; a dash where nobody knows."""
    if seconds is None:
        return "–"
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60:02d} min"


def metric_name(metric: str) -> str:
    """As "balanced accuracy"."""
    return metric.replace("_", " ")


def score_text(cell: CellProgress) -> str:
    """The mean over seeds and how far they spread, or before that the score of the search."""
    if cell.test:
        spread = f" ± {statistics.pstdev(cell.test):.3f}" if len(cell.test) > 1 else ""
        return f"test {metric_name(cell.metric)} {statistics.fmean(cell.test):.3f}{spread}"
    if cell.validation is not None:
        return f"validation {metric_name(cell.metric)} {cell.validation:.3f}"
    return "no scores"
