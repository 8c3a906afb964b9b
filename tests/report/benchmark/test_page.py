import base64
import hashlib
import html
import json
import re
import zlib
from html.parser import HTMLParser
from importlib.resources import files

import pytest

from mcquack.bench.ranking import CellScores
from mcquack.bench.store import Store
from mcquack.report.benchmark import write_report
from mcquack.report.benchmark.analysis import analyse
from mcquack.report.benchmark.contents import read_contents
from mcquack.report.benchmark.page import SCRIPTS, page
from mcquack.report.pages import failure_groups
from mcquack.report.style import contrast
from tests.report.benchmark.fakes import DATASETS, fake_store

TEMPLATES = files("mcquack.report").joinpath("templates")
HOSTILE = "</script><img src=x onerror=alert(1)>\"'`${1}{{ 7*7 }}"


class Elements(HTMLParser):
    """All elements and attributes, and the text of those with an id."""

    def __init__(self, text):
        super().__init__()
        self.names, self.attributes, self.by_id = [], [], {}
        self._id = None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)
        self.attributes += [name for name, _ in attrs]
        self._id = dict(attrs).get("id")

    def handle_data(self, data):
        if self._id:
            self.by_id[self._id] = self.by_id.get(self._id, "") + data

    def handle_endtag(self, tag):
        self._id = None


@pytest.fixture(scope="module")
def text(contents, analysis):
    return page(contents, analysis, links={})


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A benchmark in which every name is an attack."""
    path = tmp_path_factory.mktemp("hostile") / "s.sqlite"
    fake_store(
        path,
        datasets=[HOSTILE, f"{HOSTILE} 2"],
        models=[f"module:{HOSTILE}", "svc"],
        class_names=[HOSTILE, "</dialog><script>alert(2)</script>"],
        failing={(HOSTILE, "svc"): [1]},
        n_settings=2,
        n_seeds=2,
        title=HOSTILE,
    )
    theirs = CellScores(
        dataset=HOSTILE,
        family=HOSTILE,
        model=HOSTILE,
        title=HOSTILE,
        source=HOSTILE,
        reported={("test", "accuracy"): (0.5, 0.1)},
        note=HOSTILE,
    )
    with Store.open(path) as store:
        contents = read_contents(store, published=[theirs])
    return page(contents, analyse(contents), links={})


def data_of(text):
    return json.loads(Elements(text).by_id["report-data"])


def unpacked(text, chunk):
    return json.loads(zlib.decompress(base64.b64decode(Elements(text).by_id[chunk])))


RIGHT_TO_LEFT = "\u202eabc\u05d0"


def test_names_of_others_stand_apart_and_long_ones_are_shown_in_part(tmp_path):
    long = f"module:{'Wide' * 750}"
    store = fake_store(tmp_path / "s.sqlite", datasets=["a_1", "a_2"], models=["svc", long, f"m:{RIGHT_TO_LEFT}"])
    text = write_report(store, tmp_path / "report").read_text(encoding="utf-8")
    shown = text.partition('<script type="application/json"')[0]
    whole = long.removeprefix("module:")
    elided = [part.partition("</bdi>")[0] for part in shown.split('<bdi class="elided" title="')[1:]]
    assert elided
    assert all(part.startswith(f'{whole}">') and "…" in part for part in elided if part.startswith("Wide"))
    assert whole not in re.sub(r'(title|data-value)="[^"]*"', "", shown)
    # Letters of figures are elements of their own already.
    around = {match[1] for match in re.finditer(f"<([a-z]+)[^<>]*>{RIGHT_TO_LEFT}", shown)}
    assert around == {"bdi", "text"}


def test_hostile_names_stay_text(hostile):
    found = Elements(hostile)
    assert "img" not in found.names
    assert "onerror" not in found.attributes
    assert "49" not in hostile.partition("<style>")[0]  # what a template would make of 7*7
    assert data_of(hostile)["title"] == HOSTILE
    assert HOSTILE in {dataset["name"] for dataset in data_of(hostile)["datasets"]}
    assert unpacked(hostile, "cell-0")["tasks"][0]["details"]["class_names"][0] == HOSTILE


def test_hostile_names_add_no_script(hostile, text):
    for each in (hostile, text):
        chunks = sum(map(len, data_of(each)["views"].values())) + len(data_of(each)["taskIds"])
        assert Elements(each).names.count("script") == chunks + 2  # the data and the one that reads it


def test_hostile_names_stay_text_in_every_view(hostile):
    for chunk in (view["chunk"] for views in data_of(hostile)["views"].values() for view in views.values()):
        for part in unpacked(hostile, f"view-{chunk}").values():
            found = Elements(part)
            assert not {"img", "script", "dialog"} & set(found.names)
            assert not {"onerror"} & set(found.attributes)


def test_what_is_shown_first_is_one_of_the_views(text):
    first = unpacked(text, f"view-{data_of(text)['views']['accuracy']['']['chunk']}")
    assert set(first) == {"leaderboard", "ranking", "reading", "critical-difference", "wins", "sizes"}
    for name, part in first.items():
        assert f'data-part="{name}">{part}</' in text


def test_every_metric_and_family_has_its_figures_and_numbers(text, analysis):
    for metric, views in data_of(text)["views"].items():
        for family, found in views.items():
            view = analysis.views[metric][family]
            parts = unpacked(text, f"view-{found['chunk']}")
            assert parts["leaderboard"].count("<tr>") == len(view.standings) + 1
            for place in ("ranking", "critical-difference", "wins"):
                assert parts[place].count('class="picture"') == 1
                assert parts[place].count("<table") == 1
            n_families = len({curve.family for curve in analysis.curves["test", metric]})
            assert parts["sizes"].count('class="picture"') == (1 if family else n_families)
            assert html.unescape(parts["reading"]) == view.reading


def test_ids_on_the_page_are_unique_and_all_references_lead_somewhere(text):
    ids = re.findall(r'\bid="([^"]*)"', text)
    assert len(ids) == len(set(ids))
    references = re.findall(r'(?:url\(#|href="#)([^)"=]*)[)"]', text)
    assert set(references) <= set(ids)


def test_only_the_one_script_may_run(text):
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)
    (script,) = re.findall(r"<script>(.*?)</script>", text, flags=re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src &#39;sha256-{digest}&#39;" in policy or f"script-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy


def test_nothing_is_loaded_from_elsewhere(text):
    assert not re.findall(r'(?:src|href)\s*=\s*"(?!#|data:|tables/|figures/)', text)
    assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in text


def test_every_script_is_part_of_a_page():
    found = {entry.name.partition(".")[0] for entry in TEMPLATES.joinpath("scripts").iterdir()}
    assert found == {*SCRIPTS, "study"}
    assert len(SCRIPTS) == len(set(SCRIPTS))


def test_data_leaves_out_nothing_of_a_task(text, contents):
    data = data_of(text)
    for number, cell in enumerate(contents.cells):
        found = unpacked(text, f"cell-{number}")
        assert data["taskIds"][number].split() == [task["id"] for task in found["tasks"]]
        for task, outcome in zip(found["tasks"], cell.outcomes, strict=True):
            assert task["settings"] == outcome.task.to_json()["settings"]
            assert task["scores"] == outcome.scores
            assert task["details"] == outcome.details
            assert task["error"] == outcome.error
            assert data["environments"][task["environment"]] == dict(outcome.environment.facts)


def test_published_models_come_after_ours_and_name_their_source(text):
    sources = [model["source"] for model in data_of(text)["models"]]
    assert sources == ["", "", "", "", "", "Bowles et al. 2024", "Bowles et al. 2024"]


def test_failures_of_the_same_traceback_are_one(contents, text):
    groups = failure_groups(contents.failures)
    assert sorted(len(group.outcomes) for group in groups) == [1, 1, 1, 1, 2]
    assert len(groups[0].outcomes) == 2
    for group in groups:
        assert html.escape(group.reason, quote=False) in text
        assert html.escape(group.error, quote=False) in text


def test_an_interval_is_told_of_five_datasets_and_not_of_fewer(text, tmp_path):
    with Store.open(fake_store(tmp_path / "s.sqlite", datasets=DATASETS[:4], n_seeds=1, n_settings=0)) as store:
        contents = read_contents(store)
    few = page(contents, analyse(contents), links={})
    told = [re.findall(r'<p class="lead">(.*?)</p>', each, flags=re.DOTALL)[0] for each in (text, few)]
    assert ["interval" in each for each in told] == [True, False]
    assert re.search(r"normalised rank: 0\.\d{3}, over 4 datasets\.", told[1])
    board = unpacked(few, f"view-{data_of(few)['views']['accuracy']['']['chunk']}")["leaderboard"]
    assert board.count("<title>too few datasets for an interval</title>") == board.count("<title>") == 5


def test_a_store_without_scores_still_has_a_page(tmp_path):
    with Store.open(tmp_path / "empty.sqlite", create=True) as store:
        contents = read_contents(store)
    text = page(contents, analyse(contents), links={})
    assert "No model has a score yet" in text
    assert data_of(text)["metrics"] == []


# Colours are checked where they are defined; what the browser makes of them is checked in the browser.
TOKENS = TEMPLATES.joinpath("style.css").read_text(encoding="utf-8")
PAIRS = {name: (light, dark) for name, light, dark in re.findall(r"--([\w-]+): light-dark\((#\w+), (#\w+)\)", TOKENS)}


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("text", ["ink", "muted", "accent", "alarm"])
@pytest.mark.parametrize("ground", ["paper", "raised", "sunken"])
def test_text_stands_out(theme, text, ground):
    assert contrast(PAIRS[text][theme], PAIRS[ground][theme]) >= 4.5


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("index", range(10))
def test_lines_stand_out(theme, index):
    assert contrast(PAIRS[f"model-{index}"][theme], PAIRS["paper"][theme]) >= 3
