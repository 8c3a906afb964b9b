import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO

import numpy as np
from matplotlib.colors import to_rgb

from mcquack import report
from mcquack.report.style import CLASS_COLOURS, CLASS_MARKERS, FIDELITIES, class_colour, class_marker
from tests.report.fakes import FakeModel


def luminance(colour: object) -> float:
    return float(np.dot([0.2126, 0.7152, 0.0722], to_rgb(colour)))


def test_seventy_classes_look_different():
    assert len(CLASS_COLOURS) * len(CLASS_MARKERS) == 70
    assert len({(class_colour(index), class_marker(index)) for index in range(70)}) == 70


def test_every_colour_stands_out_from_white():
    assert max(map(luminance, CLASS_COLOURS)) < 0.75


def test_higher_fidelities_are_darker_also_in_grey():
    shades = [luminance(FIDELITIES(value)) for value in np.linspace(0, 1, 64)]
    assert np.all(np.diff(shades) < 0)


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
