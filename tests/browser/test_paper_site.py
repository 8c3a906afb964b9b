"""The site of the paper as people read it: from files, at a desk and on a phone, in light and in dark."""

import pytest

from tests.browser.test_benchmark_report import CONTRASTS, DESK, PHONE

pytest.importorskip("studies.paper", reason="a source archive has no studies")
from studies.paper.items import ITEMS, SECTIONS
from studies.paper.page import write_paper_site
from tests.studies.paper.fakes import fake_stores

PAGES = ["index.html", *(f"pages/{name}.html" for name in SECTIONS)]


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("paper-site")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("MCQUACK_CACHE", str(folder / "nothing"))
        return write_paper_site(fake_stores(folder / "studies"), folder / "site", data_dir=folder).parent


@pytest.fixture
def open_page(visit, site):
    """Opens a page, which fetches nothing but what is in the site."""

    def opened(name, *, viewport=DESK, **settings):
        return visit((site / name).as_uri(), within=site.as_uri(), viewport=viewport, **settings)

    return opened


def unfold(page):
    page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")


@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("name", PAGES)
def test_nothing_is_wider_than_the_screen(open_page, name, viewport):
    page = open_page(name, viewport=viewport)
    unfold(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
    # Whatever is wider scrolls in a box of its own that the keyboard reaches.
    boxes = "[...document.querySelectorAll('.scroll')].filter((each) => each.scrollWidth > each.clientWidth + 1)"
    assert page.evaluate(f"{boxes}.every((each) => each.tabIndex === 0 && each.ariaLabel)")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["index.html", "pages/model.html", "pages/real_world.html", "pages/hardware.html"])
def test_all_text_stands_out_from_its_ground(open_page, name, scheme):
    page = open_page(name, color_scheme=scheme)
    unfold(page)
    contrasts = page.evaluate(CONTRASTS)
    assert len(contrasts) > 50
    assert [each for each in contrasts if each[0] < 4.5] == []


def test_the_overview_leads_to_every_item_and_back(open_page):
    page = open_page("index.html")
    links = page.locator(".items a")
    assert links.count() >= len(ITEMS)
    page.locator(".items a", has_text=ITEMS["calibration"].title).click()
    heading = page.locator("#calibration h2")
    heading.wait_for()
    assert heading.is_visible()
    assert page.locator(".sections a[aria-current]").inner_text() == SECTIONS["hardware"]
    page.locator(".sections a", has_text="Overview").click()
    page.locator(".items").first.wait_for()


def test_every_figure_is_seen_and_has_a_text(open_page):
    for name in PAGES[1:]:
        page = open_page(name)
        unfold(page)
        for picture in page.locator("svg.picture").all():
            assert picture.get_attribute("aria-label")
            box = picture.bounding_box()
            assert box["width"] > 200
            assert box["height"] > 80


def test_no_part_of_a_circuit_is_taken_for_a_background(open_page):
    page = open_page("pages/model.html")
    assert page.locator("[id='circuit_layer-patch_2']").is_visible()
    assert page.locator("[id='circuit_overlap-patch_2']").is_visible()


def test_evil_names_do_nothing(open_page):
    page = open_page("pages/past.html")
    assert page.title() == "Past the paper: the paper and ours"
    assert page.locator("main img").count() == 0
