"""The reports of the studies, which are pages of their own: links open them, and they are copied beside the study."""

import shutil
from pathlib import Path

from docutils import nodes
from sphinx.addnodes import download_reference
from sphinx.application import Sphinx

FRONT = """<!doctype html>
<meta charset="utf-8">
<title>mcquack</title>
<meta http-equiv="refresh" content="0; url=docs/index.html">
<p><a href="docs/index.html">The documentation of mcquack</a></p>
"""


def open_pages(_app: Sphinx, doctree: nodes.document) -> None:
    """Makes plain links of downloads that are pages, before Sphinx collects what is to be downloaded."""
    for download in list(doctree.findall(download_reference)):
        target = download["reftarget"]
        if target.endswith(".html"):
            link = nodes.reference("", "", refuri=target, internal=True)
            link += download.children
            download.replace_self(link)


def copy_reports(app: Sphinx, error: Exception | None) -> None:
    """Copies the reports to the same places in the site, and writes the page in front of it."""
    if error is not None or app.builder.format != "html":
        return
    source, site = Path(app.srcdir), Path(app.outdir)
    for report in source.glob("studies/*/report"):
        shutil.copytree(report, site / report.relative_to(source), dirs_exist_ok=True)
    (site / "index.html").write_text(FRONT, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Registers with Sphinx."""
    app.connect("doctree-read", open_pages, priority=100)
    app.connect("build-finished", copy_reports)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
