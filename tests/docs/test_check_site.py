"""Whatever is wrong with a link of the site is found."""

import runpy
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "docs" / "check_site.py"


@pytest.fixture(scope="module")
def faults():
    return runpy.run_path(str(SCRIPT))["faults"]


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ('<a href="other.html#here">', ""),
        ('<a href="#top"><h1 id="top">', ""),
        ('<a href="https://example.org/a?b=c">', ""),
        ('<a href="gone.html">', "leads to no file"),
        ('<a href="other.html#there">', "leads to no place on that page"),
        ('<a href="http://example.org">', "is no https address"),
        ('<a href="https://example">', "is no https address"),
        ('<img src="gone.svg">', "leads to no file"),
        ('<script src="https://example.org/a.js"></script>', "is loaded from elsewhere"),
        ('<link rel="stylesheet" href="https://example.org/a.css">', "is loaded from elsewhere"),
    ],
)
def test_a_wrong_link_is_found(faults, tmp_path, body, fault):
    (tmp_path / "other.html").write_text('<p id="here">')
    (tmp_path / "page.html").write_text(body)
    found = faults(tmp_path)
    assert [fault in line for line in found] == [True] * bool(fault)


def test_a_font_from_elsewhere_is_found(faults, tmp_path):
    (tmp_path / "_static").mkdir()
    (tmp_path / "_static" / "a.css").write_text("@font-face { src: url('https://example.org/font.woff2') }")
    assert len(faults(tmp_path)) == 1
