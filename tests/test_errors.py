"""Errors show all that they quote, and none of it can act on the terminal that it is printed to."""

import inspect
import pickle
import sys
import traceback
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcquack import errors
from mcquack.errors import InvalidInputError, LayoutWarning, McQuackError, Setting, StoreError, printable

KINDS = [each for each in vars(errors).values() if inspect.isclass(each) and issubclass(each, McQuackError)]
TURNING = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


def acts(text: str) -> set[str]:
    """The characters that a terminal would obey, or that change how others are read."""
    return {each for each in text if unicodedata.category(each) in ("Cc", "Cs", "Zl", "Zp") or each in TURNING}


@given(text=st.text(st.characters()))
def test_no_text_acts_and_what_does_not_act_stays(text: str) -> None:
    shown = printable(text)
    assert acts(shown) == set()
    assert printable(shown) == shown
    if not acts(text) and text.isprintable():
        assert shown == text
    assert acts(printable(text, keep="\n")) <= {"\n"}


def test_every_character_that_acts_is_escaped_and_words_of_any_script_are_not() -> None:
    everything = "".join(map(chr, range(sys.maxunicode + 1)))
    assert acts(printable(everything)) == set()
    words = "naïve 日本語 עברית عربى हिन्दी 👩‍🔬 a\u200cb"  # joiners belong to words
    assert printable(words) == words
    assert printable("a\x1b[2J\r\u202eb\n") == r"a\x1b[2J\r\u202eb\n"


@pytest.mark.parametrize("kind", KINDS)
def test_every_error_of_ours_is_safe_to_print(kind: type[McQuackError]) -> None:
    error = kind("it holds \x1b]0;a title\x07 and\ntwo lines \u202e")
    assert str(error) == r"it holds \x1b]0;a title\x07 and" + "\n" + r"two lines \u202e"
    assert acts("".join(traceback.format_exception(error))) <= {"\n"}


@pytest.mark.parametrize("kind", [InvalidInputError, LayoutWarning])
def test_a_message_keeps_the_settings_that_it_names(kind: type[InvalidInputError | LayoutWarning]) -> None:
    mean, error = Setting("missing", "mean"), Setting("max_error")
    message = kind("fill {them} with ", mean, ", or lower ", error, ".")
    assert str(message) == "fill {them} with missing='mean', or lower max_error."
    assert message.settings == (mean, error)
    assert message.setting == "missing"
    assert message.written(lambda each: f"--{each.name}") == "fill {them} with --missing, or lower --max_error."
    assert pickle.loads(pickle.dumps(message)).args == message.args


@pytest.mark.parametrize("error", [InvalidInputError("n_qubits=3"), InvalidInputError(), StoreError(28, "No space")])
def test_a_message_without_settings_is_as_python_has_it(error: McQuackError) -> None:
    assert (error.settings, error.setting) == ((), None)
    assert error.written(lambda each: "!") == str(error)
    assert "n_qubits=3" in str(error) or not error.args or "[Errno 28] No space" in str(error)
