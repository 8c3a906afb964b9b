import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from mcquack import report
from mcquack.report.style import (
    CLASS_COLOURS,
    CLASS_MARKERS,
    DARK_HEAT,
    DARK_SHADES,
    FIDELITIES,
    HEAT,
    INK,
    PAPER,
    RAMP,
    SHADES,
    class_colour,
    class_marker,
    contrast,
    inline_svg,
    shade,
    svg_bytes,
    text_colour,
    themed,
)
from tests.report.fakes import FakeModel


def luminance(colour: str) -> float:
    return float(np.dot([0.2126, 0.7152, 0.0722], to_rgb(colour)))


def test_seventy_classes_look_different():
    assert len(CLASS_COLOURS) * len(CLASS_MARKERS) == 70
    assert len({(class_colour(index), class_marker(index)) for index in range(70)}) == 70


def test_every_colour_stands_out_from_white():
    assert max(map(luminance, CLASS_COLOURS)) < 0.75


def test_higher_fidelities_are_darker_also_in_grey():
    shades = [luminance(FIDELITIES(value)) for value in np.linspace(0, 1, 64)]
    assert np.all(np.diff(shades) < 0)


def test_heat_turns_round_on_a_dark_page():
    light, dark = ([luminance(colour) for colour in each] for each in (HEAT, DARK_HEAT))
    assert np.all(np.diff(light) < 0)
    assert np.all(np.diff(dark) > 0)
    assert [themed(colour) for colour in HEAT] == [
        f"light-dark({a}, {b})" for a, b in zip(HEAT, DARK_HEAT, strict=True)
    ]


def test_plots_neither_import_pyplot_nor_need_a_display():
    code = "import sys, mcquack.report; sys.exit('matplotlib.pyplot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_plots_can_be_drawn_in_threads():
    model = FakeModel(["a", "b", "c"], validated=True)
    X, y = model.samples(30)
    draws = [
        lambda: report.plot_kernel(model, X, y),
        lambda: report.plot_embedding(model, X, y),
        lambda: report.plot_history(model),
    ]
    with ThreadPoolExecutor(3) as pool:
        for figure in pool.map(lambda draw: draw(), draws * 2):
            picture = BytesIO()
            figure.savefig(picture)
            assert picture.getvalue().startswith(b"\x89PNG")


def figure():
    made = Figure(figsize=(4, 3), layout="constrained")
    ax = made.add_subplot()
    ax.plot([1, 2], [1, 2], color=CLASS_COLOURS[0], marker="o")
    ax.plot([1, 2], [2, 1], color=RAMP[3])
    ax.set_title("a title", color=INK)
    ax.axhline(1, color=shade(0))
    return made


def test_the_same_figure_gives_the_same_bytes():
    assert svg_bytes(figure()) == svg_bytes(figure())
    assert inline_svg(figure(), name="one", label="x") == inline_svg(figure(), name="one", label="x")


def test_a_file_has_letters_as_outlines_and_a_page_as_text():
    assert b"<text" not in svg_bytes(figure())
    assert "a title</text>" in inline_svg(figure(), name="one", label="x")


def test_on_a_page_colours_and_type_are_those_of_the_page():
    text = inline_svg(figure(), name="one", label="x")
    assert "var(--model-0)" in text
    assert "fill: var(--ink)" in text
    assert f"light-dark({RAMP[3]}, " in text
    assert f"light-dark({SHADES[0]}, {DARK_SHADES[0]})" in text
    assert CLASS_COLOURS[0] not in text
    assert "var(--sans)" in text
    assert "DejaVu" not in text


def test_ids_of_two_figures_never_meet_and_all_references_lead_somewhere():
    one, two = (inline_svg(figure(), name=name, label="x") for name in ("one", "two"))
    ids = [set(re.findall(r'\bid="([^"]*)"', text)) for text in (one, two)]
    assert ids[0].isdisjoint(ids[1])
    references = set(re.findall(r'(?:url\(#|href="#)([^)"]*)', one))
    assert references
    assert references <= ids[0]


def test_an_element_is_well_formed_and_says_what_it_shows():
    label = 'a "hostile" <label> & \\1'
    text = inline_svg(figure(), name="one", label=label)
    element = ET.fromstring(str(text).replace("xlink:", ""))
    assert element.get("aria-label") == label
    assert element.get("role") == "img"
    assert "<metadata" not in text
    assert "width" not in element.attrib


# What ink and paper are on a dark page.
DARK_TEXT = {INK: "#e6e9eb", PAPER: "#14171a"}


@pytest.mark.parametrize("step", range(51))
def test_numbers_can_be_read_on_every_shade_of_both_themes(step):
    background = shade(step / 50)
    text = text_colour(background)
    assert contrast(background, text) > 4.5
    assert contrast(DARK_SHADES[SHADES.index(background)], DARK_TEXT[text]) > 4.5


def test_contrast_is_that_of_the_guidelines():
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)
    assert contrast(INK, INK) == 1


def test_text_is_white_on_black_and_dark_on_white():
    assert text_colour((0, 0, 0)) == PAPER
    assert text_colour((1, 1, 1)) == INK
