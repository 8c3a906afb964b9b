"""The report of a study as people read it: from a file, at a desk and on a phone, in light and in dark."""

from functools import partial

import pytest

from mcquack.report.trainability import sections, write_trainability_report
from tests.browser.test_benchmark_report import CONTRASTS, DESK, PHONE
from tests.report.trainability.fakes import fake_store, observations, wide_observations

SECTIONS = ["gradients", "scaling", "training", "importance", "kernel", "shots", "failures", "provenance"]


@pytest.fixture(scope="session")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    found = [*observations(sizes=(2, 3, 4, 5), n_seeds=2, epochs=8), *wide_observations(n_seeds=1)]
    store = fake_store(folder / "fake.sqlite", found, n_failed=1)
    with pytest.MonkeyPatch.context() as patched:  # what forests find is not seen here
        patched.setattr(sections, "forest_importances", partial(sections.forest_importances, n_trees=4))
        return write_trainability_report(store, folder / "report").as_uri()


@pytest.fixture
def open_page(browser, report):
    """Opens the report, and afterwards finds that nothing was complained of and nothing was fetched."""
    contexts, complaints, requests = [], [], []

    def opened(*, viewport=DESK, **settings):
        context = browser.new_context(viewport=viewport, **settings)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(report)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []
    assert {url.partition("#")[0] for url in requests if not url.startswith("data:")} <= {report}


def unfold(page):
    page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")


def test_the_page_has_all_its_parts_and_every_figure_is_seen(open_page):
    page = open_page()
    assert page.title() == page.locator("h1").inner_text() == "A fake study"
    assert page.locator("main > section").evaluate_all("found => found.map((each) => each.id)") == SECTIONS
    seen = page.locator("svg.picture:visible").count()
    assert seen >= 7
    unfold(page)
    pictures = page.locator("svg.picture")
    assert pictures.count() > seen
    for picture in pictures.all():
        box = picture.bounding_box()
        assert box["width"] > 200
        assert box["height"] > 100
    names = page.locator("svg.picture text").all_text_contents()
    assert "qubits" in names
    page.locator(".sections a", has_text="Shots").click()
    page.locator(".sections a[aria-current]", has_text="Shots").wait_for()


@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
def test_nothing_is_wider_than_the_screen_and_sections_can_be_chosen(open_page, viewport):
    page = open_page(viewport=viewport)
    unfold(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
    assert page.locator(".sections a").first.is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_stands_out_from_its_ground(open_page, scheme):
    page = open_page(color_scheme=scheme)
    unfold(page)
    contrasts = page.evaluate(CONTRASTS)
    assert len(contrasts) > 200
    assert [each for each in contrasts if each[0] < 4.5] == []


def test_colours_follow_the_choice(open_page):
    page = open_page(color_scheme="light")
    line = page.locator("svg.picture text").first
    before = line.evaluate("element => getComputedStyle(element).fill")
    page.locator(".theme label", has_text="Dark").click()
    assert line.evaluate("element => getComputedStyle(element).fill") != before
