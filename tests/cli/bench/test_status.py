import re
import sqlite3
import sys

import pytest

from mcquack.bench.ranking.scores import cell_scores
from mcquack.bench.store import Store
from tests.cli.bench.moody import NAME
from tests.cli.bench.values import cell, chosen, done, failed, final_task, search_task


@pytest.fixture
def terminal(monkeypatch, bench):
    """What the status is on a terminal of this width, without colours."""

    def run(store, *, width):
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        monkeypatch.setenv("COLUMNS", str(width))
        return re.sub(r"\x1b\[[0-9;]*m", "", bench("status", store).out).splitlines()

    return run


def test_scores_are_those_of_the_ranking(bench, small_store):
    lines = [line.split("\t") for line in bench("status", small_store).out.splitlines()]
    with Store.open(small_store) as store:
        scores = {each.model: each for each in cell_scores(store)}
    assert [line[:6] for line in lines] == [["iris3", model, "12", "0", "2", "2"] for model in ("svc", "nystroem_svm")]
    for line in lines:
        mean, spread = (getattr(scores[line[1]], name)("test", line[6]) for name in ("mean", "spread"))
        assert line[8:] == [f"{mean:.6g}", f"{spread:.6g}"]


def test_json_tells_more_to_programs(status, small_store):
    told = status(small_store)
    assert told["phases"] == {"search": {"n_done": 20, "n_failed": 0}, "final": {"n_done": 4, "n_failed": 0}}
    for each in told["cells"]:
        assert each["search"] == "random:2"
        assert 0 < each["validation"] <= 1
        assert each["settings"]
    assert told["runs"][0]["environment"]["mcquack"]


def test_what_has_not_begun_is_listed_too(terminal, failed_store):
    lines = terminal(failed_store, width=80)
    assert lines[0].split() == ["dataset", NAME, "svc"]
    assert re.fullmatch(r"iris3 +failed +\d\.\d{3} *", lines[1])
    connection = sqlite3.connect(failed_store)
    connection.execute("DELETE FROM outcomes WHERE failed")
    connection.commit()
    connection.close()
    assert re.fullmatch(r"iris3 +– +\d\.\d{3} *", terminal(failed_store, width=80)[1])


def test_failures_that_are_alike_are_told_once(bench, failed_store):
    told = bench("status", failed_store).err.splitlines()
    assert told[0] == f"{failed_store}: 2 tasks done, 2 failed; 1 of 2 models on datasets have all their scores."
    assert re.fullmatch(r"Last run: mcquack bench run .*moody\.toml --jobs 1 .*\(began .*; done .*\)", told[1])
    assert told[2:] == [f"  2 × {NAME} on iris3: RuntimeError: not [bold]today[/bold]"]


@pytest.mark.parametrize("width", [40, 80, 200])
def test_a_store_without_a_run_can_be_told(terminal, bench, tmp_path, width):
    with Store.open(tmp_path / "s.sqlite", create=True) as store:
        for number in range(15):
            store.add(failed(search_task(cell(f"dataset{number}"))))
        store.add(done(search_task(cell("wine"))))
        store.add(done(final_task(cell("wine"))))
        store.add(done(search_task(cell("iris3", "mlp"))))
        store.add(failed(final_task(cell("iris3", "mlp"))))
        store.choose(chosen(cell("iris3", "mlp"), final_ids=(final_task(cell("iris3", "mlp")).id,)).choice)
    lines = terminal("s.sqlite", width=width)
    assert ["dataset0", "failed"] in [line.split() for line in lines]
    assert ["iris3", "failed"] in [line.split() for line in lines]
    assert max(map(len, lines)) <= width
    assert ["wine", "searching"] in [line.split() for line in lines]
    told = bench("status", "s.sqlite").err.splitlines()
    assert told[0] == "s.sqlite: 3 tasks done, 16 failed; 0 of 17 models on datasets have all their scores."
    assert told[-1] == "  and 6 more (--json shows all)"
