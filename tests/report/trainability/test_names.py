import pytest

from mcquack.report.trainability.figures import number_text, power_of_ten, setting_text, shots_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (1.0, "1.00"),
        (-0.001234, "−0.00123"),
        (123456.0, "123,000"),
        (1.5e-7, "1.50 · 10⁻⁷"),
        (-2e12, "−2.00 · 10¹²"),
        (0.99999, "1.00"),
    ],
)
def test_numbers_have_three_digits(value, text):
    assert number_text(value) == text


def test_settings_are_told_in_words():
    assert setting_text("init_small", True) == "small and normal"
    assert setting_text("init_small", False) == "all ones"
    assert setting_text("lr", 0.01) == "learning rate 0.01"
    assert setting_text("n_layers", 1) == "layers 1"  # and not what True would be
    assert setting_text("some_thing", "else") == "some thing else"


def test_powers_and_shots():
    assert power_of_ten(-12) == "10⁻¹²"
    assert shots_text(0) == "1 shot"
    assert shots_text(3) == "1,000 shots"
    assert shots_text(189.2) == "about 10¹⁸⁹ shots"
