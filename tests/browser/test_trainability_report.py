"""The report of a study as people read it: from a file, at a desk and on a phone, in light and in dark."""

from functools import partial

import pytest

from mcquack.report.trainability import write_trainability_report
from mcquack.studies.trainability.analysis import forest_importances
from tests.browser.test_benchmark_report import CONTRASTS, DESK, PHONE
from tests.report.trainability.fakes import fake_store, observations, wide_observations

SECTIONS = ["findings", "gradients", "scaling", "training", "importance", "kernel", "shots", "failures", "provenance"]


@pytest.fixture(scope="session")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    found = [*observations(sizes=(2, 3, 4, 5, 6), n_seeds=2, epochs=8), *wide_observations(n_seeds=1)]
    store = fake_store(folder / "fake.sqlite", found, n_failed=1)
    with pytest.MonkeyPatch.context() as patched:  # what forests find is not seen here
        patched.setattr(
            "mcquack.report.trainability.sections.forest_importances", partial(forest_importances, n_trees=4)
        )
        return write_trainability_report(store, folder / "report").as_uri()


@pytest.fixture
def open_page(visit, report):
    """Opens the report, which fetches nothing."""

    def opened(*, viewport=DESK, **settings):
        return visit(report, within=report, viewport=viewport, **settings)

    return opened


def unfold(page):
    page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")


def test_the_page_has_all_its_parts_and_every_figure_is_seen(open_page):
    page = open_page()
    assert page.title() == page.locator("h1").inner_text() == "A fake study"
    assert page.locator("main > section").evaluate_all("found => found.map((each) => each.id)") == SECTIONS
    seen = page.locator("svg.picture:visible").count()
    assert seen == page.locator(".finding").count() == page.locator(".finding svg.picture").count() == 5
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


def test_whoever_asks_for_a_section_finds_it_unfolded(open_page, expect):
    page = open_page()
    fold = page.locator("#shots > details")
    expect(fold).not_to_have_attribute("open", "")
    page.locator(".finding").last.get_by_role("link", name="On a device").click()
    expect(fold).to_have_attribute("open", "")
    fold.locator("summary").first.click()
    page.locator(".sections a", has_text="Shots").click()  # the address is the same as before
    expect(fold).to_have_attribute("open", "")
    expect(page.locator("#kernel > details")).not_to_have_attribute("open", "")


@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
def test_nothing_is_wider_than_the_screen_and_sections_can_be_chosen(open_page, viewport):
    page = open_page(viewport=viewport)
    unfold(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
    assert page.locator(".sections a").first.is_visible()


NARROW = {"width": 390, "height": 844}


def test_a_phone_shows_whole_tables_and_the_first_figures(open_page):
    page = open_page(viewport=NARROW)
    widths = page.locator(".finding svg.picture").evaluate_all("found => found.map((each) => each.clientWidth)")
    assert max(widths) <= NARROW["width"]
    unfold(page)
    assert page.evaluate("document.documentElement.scrollWidth") == NARROW["width"]
    tables = page.locator("table")
    assert tables.count() > 8
    assert max(tables.evaluate_all("found => found.map((each) => each.scrollWidth)")) <= NARROW["width"]
    assert max(tables.evaluate_all("found => found.map((e) => e.parentElement.scrollWidth)")) <= NARROW["width"]
    head = page.locator("#scaling td[data-head=verdict]").first
    assert head.evaluate("cell => getComputedStyle(cell, '::before').content") == '"verdict"'


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
