"""The site of the paper: every table and figure of it, ours beside the paper's."""

from mcquack.report.paper.page import all_exhibits, write_paper_site

__all__ = ["all_exhibits", "write_paper_site"]
