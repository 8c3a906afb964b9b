import pytest
from matplotlib.colors import to_rgb

from mcquack.report.ranking import shade, text_colour
from mcquack.report.style import INK, PAPER


def luminance(colour):
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in to_rgb(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("step", range(51))
def test_numbers_can_be_read_on_every_shade(step):
    background = shade(step / 50)
    lighter, darker = sorted((luminance(background), luminance(text_colour(background))), reverse=True)
    assert (lighter + 0.05) / (darker + 0.05) > 3.8


def test_text_is_white_on_black_and_dark_on_white():
    assert text_colour((0, 0, 0)) == PAPER
    assert text_colour((1, 1, 1)) == INK
