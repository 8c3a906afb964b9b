"""What settings and groups of parameters are called in figures, tables and sentences."""

from collections.abc import Mapping
from typing import Any

from mcquack.report.words import counted
from mcquack.studies.trainability.observation import Group

SETTING_NAMES = {
    "init_small": "initial parameters",
    "init_strategy": "strategy",
    "regularised": "regularisation",
    "n_qubits": "qubits",
    "n_layers": "layers",
    "lr": "learning rate",
    "reg_param": "regularisation parameter",
}
_VALUES: Mapping[tuple[str, Any], str] = {
    ("init_small", True): "small and normal",
    ("init_small", False): "all ones",
    ("init_strategy", "default"): "default strategy",
    ("init_strategy", "wx+b=0"): "wx + b = 0",
    ("regularised", True): "regularised",
    ("regularised", False): "not regularised",
}
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
GROUP_TITLES: Mapping[Group, str] = {"weights": "Weights", "bias": "Biases", "centroids": "Centroids"}
GROUP_WORDS: Mapping[Group, str] = {"weights": "weight", "bias": "bias", "centroids": "centroid"}


def setting_name(name: str) -> str:
    """As people say it."""
    return SETTING_NAMES.get(name, name.replace("_", " "))


def setting_text(name: str, value: Any) -> str:
    """A setting and its value in a few words."""
    if name == "model":
        return str(value)
    known = _VALUES.get((name, value)) if isinstance(value, str | bool) else None
    return known or f"{setting_name(name)} {value}"


def number_text(value: float, *, digits: int = 3) -> str:
    """With these significant digits; very large and very small numbers as powers of ten."""
    if value == 0:
        return "0"
    text = f"{value:.{digits - 1}e}"
    mantissa, _, exponent = text.partition("e")
    if -4 <= int(exponent) < 6:
        return f"{float(text):,.{max(digits - 1 - int(exponent), 0)}f}".replace("-", "−")
    return f"{mantissa.replace('-', '−')} · {power_of_ten(int(exponent))}"


def power_of_ten(exponent: int) -> str:
    """As 10⁻³."""
    return f"10{str(exponent).translate(_SUPERSCRIPTS)}"


def shots_text(log10_shots: float) -> str:
    """A number of shots by its decimal logarithm."""
    if log10_shots < 6:
        return counted(max(round(10**log10_shots), 1), "shot")
    return f"about {power_of_ten(round(log10_shots))} shots"
