"""``mcquack models`` lists and shows the catalogue, to people and to programs."""

import json

import pytest

from mcquack.models import catalog


def test_a_name_that_nobody_knows_is_met_with_those_close_to_it(mcquack):
    outcome = mcquack("models", "show", "nystrom")
    assert outcome.code == 1
    assert outcome.out == ""
    assert outcome.err == "mcquack: no model is named 'nystrom'; did you mean nystroem_svm?\n"


def test_elsewhere_than_on_a_terminal_every_model_is_a_line_to_cut(mcquack):
    found = [line.split("\t") for line in mcquack("models", "list").out.splitlines()]
    assert [fields[0] for fields in found] == list(catalog.names())
    assert found[0][:5] == ["mcquack", "quantum", "McQuack", "4", "432"]
    assert ["mlp", "classical", "MLP", "0", "27", catalog.entry("mlp").description] in found
    assert {len(fields) for fields in found} == {6}


@pytest.mark.parametrize("kind", ["quantum", "classical"])
def test_a_kind_narrows_it_down(mcquack, kind):
    found = json.loads(mcquack("models", "list", "--kind", kind, "--json").out)
    assert tuple(facts["name"] for facts in found) == catalog.names(kind)
    assert {facts["kind"] for facts in found} == {kind}


def test_json_tells_the_same_to_programs(mcquack):
    found = {facts["name"]: facts for facts in json.loads(mcquack("models", "list", "--json").out)}
    assert list(found) == list(catalog.names())
    assert found["svc"]["n_settings"] == {"real-world": 16, "qml": 16}
    assert found["mcquack"]["class"] == "mcquack.models.mcquack.McQuackClassifier"


@pytest.mark.parametrize("width", [50, 80, 200])
def test_no_terminal_is_too_narrow_for_names(terminal, width):
    shown = terminal("models", "list", width=width)
    assert max(map(len, shown)) <= width
    words = [line.split()[0] for line in shown if line[:1].strip()]
    assert [word for word in words if word in catalog.names()] == list(catalog.names())
    assert "quantum" in words
    assert "classical" in words


@pytest.mark.parametrize("name", catalog.names())
def test_all_settings_are_told_with_defaults_and_search_spaces(mcquack, name):
    entry = catalog.entry(name)
    lines = [line.split("\t") for line in mcquack("models", "show", name).out.splitlines()]
    assert ["name", name] in lines
    assert ["description", entry.description] in lines
    assert ["setting", "default", *entry.suites] in lines
    told = {fields[0]: fields[1:] for fields in lines}
    for setting, default in entry.defaults().items():
        spaces = (entry.search_space(suite).values.get(setting, ()) for suite in entry.suites)
        assert told[setting] == [repr(default), *(", ".join(map(repr, values)) for values in spaces)]
    assert told["combinations"] == ["", *(str(len(entry.search_space(suite))) for suite in entry.suites)]


def test_json_shows_the_same_to_programs(mcquack):
    told = json.loads(mcquack("models", "show", "mcquack", "--json").out)
    entry = catalog.entry("mcquack")
    assert told["defaults"] == json.loads(json.dumps(dict(entry.defaults())))
    assert told["search_spaces"]["qml"]["lr_ka"] == [0.001, 0.01, 0.1]
    assert told["search_spaces"].keys() == told["n_settings"].keys() == {"real-world", "qml", "tuned"}


@pytest.mark.parametrize("width", [60, 120])
def test_on_a_terminal_it_is_a_table(terminal, width):
    shown = terminal("models", "show", "svc", width=width)
    assert max(map(len, shown)) <= width
    assert ["setting", "default", "real-world", "qml"] in [line.split() for line in shown]
    assert ["combinations", "16", "16"] in [line.split() for line in shown]
    text = "\n".join(shown)
    assert "\t" not in text
    for part in ("mcquack.models.classical", "gamma", "0.001"):
        assert part in text
