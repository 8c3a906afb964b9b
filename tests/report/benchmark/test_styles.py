"""Colours are checked where they are defined; what the browser makes of them is checked in the browser."""

import re
from importlib.resources import files

import pytest
from matplotlib.colors import to_rgb

TOKENS = files("mcquack.report.benchmark").joinpath("templates", "styles", "tokens.css").read_text(encoding="utf-8")
PAIRS = {name: (light, dark) for name, light, dark in re.findall(r"--([\w-]+): light-dark\((#\w+), (#\w+)\)", TOKENS)}


def luminance(colour):
    parts = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in to_rgb(colour)]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(one, other):
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("text", ["ink", "muted", "accent", "alarm"])
@pytest.mark.parametrize("ground", ["paper", "raised", "sunken"])
def test_text_stands_out(theme, text, ground):
    assert contrast(PAIRS[text][theme], PAIRS[ground][theme]) >= 4.5


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("index", range(10))
def test_lines_stand_out(theme, index):
    assert contrast(PAIRS[f"model-{index}"][theme], PAIRS["paper"][theme]) >= 3
