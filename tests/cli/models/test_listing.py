import json

import pytest

from mcquack.models import catalog


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
    shown = terminal("list", width=width)
    assert max(map(len, shown)) <= width
    words = [line.split()[0] for line in shown if line[:1].strip()]
    assert [word for word in words if word in catalog.names()] == list(catalog.names())
    assert "quantum" in words
    assert "classical" in words
