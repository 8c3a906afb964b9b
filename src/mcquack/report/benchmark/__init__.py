"""The report of a benchmark: a page that needs nothing but a browser, and its tables and figures as files."""

from mcquack.report.benchmark.page import write_report

__all__ = ["write_report"]
