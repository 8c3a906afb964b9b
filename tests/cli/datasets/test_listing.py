import json
import re
import sys

import pytest

from mcquack.datasets import descriptions, names


def lines(outcome):
    assert outcome.code == 0
    return [line.split("\t") for line in outcome.out.splitlines()]


@pytest.fixture
def terminal(monkeypatch, datasets):
    """Lists as on a terminal of this width, and gives the lines without colours."""

    def run(*options, width):
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        monkeypatch.setenv("COLUMNS", str(width))
        return re.sub(r"\x1b\[[0-9;]*m", "", datasets("list", *options).out).splitlines()

    return run


def test_elsewhere_than_on_a_terminal_every_dataset_is_a_line_to_cut(datasets):
    found = lines(datasets("list"))
    assert [fields[0] for fields in found] == list(names())
    assert {len(fields) for fields in found} == {10}
    assert ["iris3", "real-world", "iris", "4", "3", "105", "45", "45", "built in", "Species of iris flowers"] in found
    manifold = next(fields for fields in found if fields[0] == "manifold_124")
    assert manifold[5:8] == ["100", "0", "50"]


def test_suite_and_family_narrow_it_down(datasets):
    by_name = {fields[0]: fields[1:3] for fields in lines(datasets("list", "--suite", "extra"))}
    assert list(by_name) == list(names("extra"))
    assert [fields[0] for fields in lines(datasets("list", "--suite", "extra", "--family", "plus_minus"))] == [
        name for name, (_, family) in by_name.items() if family == "plus_minus"
    ]
    families = lines(datasets("list", "--family", "two_curves"))
    assert [fields[0] for fields in families] == [f"two_curves_{n}" for n in range(2, 21)]


def test_json_tells_the_same_to_programs(datasets):
    found = json.loads(datasets("list", "--json").out)
    assert [(facts["name"], facts["n_features"], facts["sizes"]) for facts in found] == [
        (known.name, known.n_features, dict(known.sizes)) for known in descriptions()
    ]
    assert {facts["where"] for facts in found} == {"built in", "download", "by hand"}


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--suite", "real_world"], "no suite is named 'real_world'; there are qml, real-world, extra"),
        (["--family", "two_curve"], "no family is named 'two_curve'; did you mean two_curves or two_curves_diff?"),
        (["--suite", "extra", "--family", "zzz"], "no family in extra is named 'zzz'; there are kdd, "),
        (["--data-dir", "nowhere"], "which does not exist"),
    ],
)
def test_a_typo_is_refused_with_what_there_is(datasets, options, told):
    outcome = datasets("list", *options)
    assert outcome.code == 1
    assert outcome.out == ""
    assert told in outcome.err


def test_where_the_files_are(datasets, registered, source, tmp_path):
    registered("open", source(url="http://127.0.0.1/file.bin"))
    registered("closed", source(homepage="https://example.org"))
    registered("own", dataset=None)

    def where():
        return {fields[0]: fields[8] for fields in lines(datasets("list", "--suite", "own", "--data-dir", tmp_path))}

    assert where() == {"open": "download", "closed": "by hand", "own": "built in"}
    (tmp_path / "some").mkdir()
    (tmp_path / "some" / "file.bin").touch()
    assert where() == {"open": "local", "closed": "local", "own": "built in"}


@pytest.mark.parametrize("width", [60, 80, 200])
def test_no_terminal_is_too_narrow_for_names(terminal, width):
    shown = terminal("--suite", "qml", width=width)
    assert max(map(len, shown)) <= width
    assert [line.split()[0] for line in shown if re.match(r"[a-z_]+_\d", line)] == list(names("qml"))


def test_a_list_of_everything_fits_on_a_screen(terminal, registered):
    strangers = [f"stranger{number}" for number in range(6)]  # of no family
    for name in strangers:
        registered(name)
    shown = terminal(width=120)
    assert len(shown) < 50
    assert [line.split()[0] for line in shown if line.startswith("stranger")] == strangers
    family = next(line for line in shown if line.startswith("two_curves_2…20"))
    assert family.split()[1:6] == ["2…20", "2", "240/–/60", "built", "in"]
    assert "Two curves of degree 5 in … dimensions" in family
    assert any(line.startswith("mnist10 ") for line in shown)
    assert not any(line.startswith("two_curves_10") for line in shown)
