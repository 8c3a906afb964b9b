import json

import pytest

from mcquack.models import catalog


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


def test_json_tells_the_same_to_programs(mcquack):
    told = json.loads(mcquack("models", "show", "mcquack", "--json").out)
    entry = catalog.entry("mcquack")
    assert told["defaults"] == json.loads(json.dumps(dict(entry.defaults())))
    assert told["search_spaces"]["qml"]["lr_ka"] == [0.001, 0.01, 0.1]
    assert told["search_spaces"].keys() == told["n_settings"].keys() == {"real-world", "qml"}


@pytest.mark.parametrize("width", [60, 120])
def test_on_a_terminal_it_is_a_table(terminal, width):
    shown = terminal("show", "svc", width=width)
    assert max(map(len, shown)) <= width
    assert ["setting", "default", "real-world", "qml"] in [line.split() for line in shown]
    assert ["combinations", "16", "16"] in [line.split() for line in shown]
    text = "\n".join(shown)
    assert "\t" not in text
    for part in ("mcquack.models.classical", "gamma", "0.001"):
        assert part in text
