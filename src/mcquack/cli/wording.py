"""What errors and warnings say, in the words of the command line: ``--max-error`` where Python says ``max_error``."""

import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from mcquack.cli.console import tell

# What options of the command line are called as settings of models; theirs only if the option was given.
_SETTINGS = {"n_qubits": "--qubits", "n_repetitions": "--repetitions", "random_state": "--seed"}


def in_words_of_options(text: str, command: Any, arguments: Sequence[str]) -> str:
    """The text with the names of arguments in Python replaced by those of the options of the command that was called.

    ``command`` is what typer makes of the app. ``name=value`` becomes ``--name value`` and ``flag=True`` ``--flag``; a
    name alone is replaced where it cannot be a word of English. What stands in quotes is of the user, and stays.
    """
    for name, option in _options(_verb(command, arguments), arguments).items():
        text = re.sub(rf"(?<![\w'\"-]){name}=True\b", option, text)
        text = re.sub(rf"(?<![\w'\"-]){name}=\[('[^']*')\]", rf"{option} \1", text)
        text = re.sub(rf"(?<![\w'\"-]){name}=(?=['\w.+-])", f"{option} ", text)
        text = re.sub(rf"\A{name}(?= must be )", option, text)
        if "_" in name:
            text = re.sub(rf"(?<![\w'\".-]){name}(?![\w'\"=(.-]*[\w'\"=(])", option, text)
    return text


@contextmanager
def told_as_notes(category: type[Warning]) -> Iterator[list[str]]:
    """Tells the warnings of a category as notes when the block ends, and adds them to what it gives; others stay."""
    notes: list[str] = []
    with warnings.catch_warnings(record=True, action="always", category=category) as caught:
        yield notes
    for warning in caught:
        if issubclass(warning.category, category):
            notes.append(" ".join(str(warning.message).split()))
            tell(f"Note: {notes[-1]}")
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)


def _verb(command: Any, arguments: Sequence[str]) -> Any:
    """The innermost verb that the arguments name, as ``run`` of ``hardware run …``."""
    for word in arguments:
        found = getattr(command, "commands", {}).get(word)
        if found is None:
            break
        command = found
    return command


def _options(verb: Any, arguments: Sequence[str]) -> dict[str, str]:
    own = {each.name: each.opts[0] for each in verb.params if each.param_type_name == "option"}
    given = {word.partition("=")[0] for word in arguments}
    return own | {name: option for name, option in _SETTINGS.items() if option in given & set(own.values())}
