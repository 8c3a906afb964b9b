import json
import re
import sys

import pytest

from mcquack.bench.suites import BUILT_IN


def test_elsewhere_than_on_a_terminal_every_suite_is_a_line_to_cut(bench):
    lines = [line.split("\t") for line in bench("suites").out.splitlines()]
    assert tuple(line[0] for line in lines) == BUILT_IN
    assert {(line[0], line[2]) for line in lines} == {("real-world", "20"), ("qml", "133"), ("hardware-twin", "8")}
    assert {len(line) for line in lines} == {7}


def test_json_tells_the_same_to_programs(bench):
    found = {facts["name"]: facts for facts in json.loads(bench("suites", "--json").out)}
    assert "iris3" in found["real-world"]["datasets"]
    assert found["qml"]["models"][0] == "mcquack"


@pytest.mark.parametrize("width", [60, 200])
def test_on_a_terminal_it_is_a_table(bench, monkeypatch, width):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(width))
    shown = re.sub(r"\x1b\[[0-9;]*m", "", bench("suites").out).splitlines()
    assert max(map(len, shown)) <= width
    assert {line.split()[0] for line in shown if line[:1].strip()} >= {*BUILT_IN, "name"}
