import re
from xml.etree import ElementTree as ET

from matplotlib.figure import Figure

from mcquack.report.style import CLASS_COLOURS, INK, RAMP, inline_svg, svg_bytes


def figure():
    made = Figure(figsize=(4, 3), layout="constrained")
    ax = made.add_subplot()
    ax.plot([1, 2], [1, 2], color=CLASS_COLOURS[0], marker="o")
    ax.plot([1, 2], [2, 1], color=RAMP[3])
    ax.set_title("a title", color=INK)
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
