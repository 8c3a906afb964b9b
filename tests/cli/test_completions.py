"""A shell completes the names of suites, models and backends where the command line asks for them."""

from typing import Any

import pytest
import typer.main

from mcquack.bench import BUILT_IN
from mcquack.cli.app import app
from mcquack.cli.options import backend_names, model_names, suite_names
from mcquack.models import catalog


def offered(*path, name, incomplete):
    """What the argument of a verb offers to a shell."""
    command: Any = typer.main.get_command(app)
    for word in path:
        command = command.commands[word]
    parameter = next(each for each in command.params if each.name == name)
    context = command.make_context("mcquack", [], resilient_parsing=True)
    return [item.value for item in parameter.shell_complete(context, incomplete)]


def test_names_are_those_that_there_are():
    assert suite_names("") == list(BUILT_IN)
    assert model_names("") == list(catalog.names())
    assert suite_names("qml") == ["qml", "qml-race"]
    assert model_names("no such") == []


@pytest.mark.parametrize(
    ("path", "name", "incomplete", "expected"),
    [
        (("bench", "run"), "suite", "hard", "hardware-twin"),
        (("fit",), "model", "sv", "svc"),
        (("models", "show"), "name", "sv", "svc"),
        (("hardware", "run"), "backend", "twin:p", "twin:pittsburgh"),
    ],
)
def test_verbs_offer_them(path, name, incomplete, expected):
    assert offered(*path, name=name, incomplete=incomplete) == [expected]


def test_snapshots_are_listed_once_they_are_begun():
    assert "fake_" in backend_names("")
    assert backend_names("fake_pitts") == ["fake_pittsburgh"]
    assert backend_names("twin:fake_pitts") == ["twin:fake_pittsburgh"]
    assert backend_names("ibm_") == []
