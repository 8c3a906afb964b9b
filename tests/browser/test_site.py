"""The site as people read it, from a folder and without a network: at a desk and on a phone, by day and by night."""

from pathlib import Path

import pytest

SITE = Path(__file__).parents[2] / "docs" / "_build" / "html"
DESK, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
if not (SITE / "docs" / "index.html").is_file():
    pytest.skip("the site is not built: make docs builds it and runs these tests", allow_module_level=True)

# All pages that people write, some of the reference, and what has no page in the sources.
PAGES = sorted(path for path in SITE.glob("docs/**/*.html") if "generated" not in path.parts)
PAGES += sorted(SITE.glob("studies/*/README.html"))
PAGES += [SITE / name for name in ("benchmarks/README.html", "CHANGELOG.html", "CONTRIBUTING.html", "genindex.html")]
REFERENCE = SITE / "docs" / "reference" / "generated"
PAGES += [REFERENCE / f"{name}.html" for name in ("command_line", "mcquack.bench", "mcquack.models.McQuackClassifier")]


@pytest.fixture(scope="module")
def context(browser):
    opened = browser.new_context(viewport=DESK, offline=True)
    yield opened
    opened.close()


@pytest.fixture
def page(context):
    opened = context.new_page()
    opened.asked, errors = [], []
    opened.on("request", lambda request: opened.asked.append(request.url))
    opened.on("pageerror", lambda error: errors.append(str(error)))
    yield opened
    opened.close()
    assert errors == []


# Texts that end beyond the edge, where nothing scrolls.
CUT_OFF = """() => [...document.querySelectorAll("article p, article li, article h1, article h2, article dt")]
    .filter(one => one.getBoundingClientRect().right > window.innerWidth + 1)
    .filter(one => !one.closest("pre, table")).map(one => one.textContent.slice(0, 40))"""


def test_no_page_is_wider_than_a_phone_and_none_asks_for_the_network(page):
    page.set_viewport_size(PHONE)
    wide = {}
    for path in PAGES:
        page.goto(path.as_uri())
        width = page.evaluate("document.documentElement.scrollWidth")
        if width > PHONE["width"]:
            wide[str(path.relative_to(SITE))] = width
        if texts := page.evaluate(CUT_OFF):
            wide[str(path.relative_to(SITE))] = texts
    assert wide == {}
    assert [url for url in page.asked if not url.startswith(("file:", "data:"))] == []


def test_the_search_finds_pages_offline(page, expect):
    page.goto((SITE / "search.html").as_uri() + "?q=centroid")
    # Results come one by one: the sixth is waited for, as whoever reads would.
    expect(page.locator("#search-results a").nth(5)).to_be_visible()


def test_figures_stand_on_a_light_ground_at_night(page):
    page.emulate_media(color_scheme="dark")
    page.goto((SITE / "docs" / "tutorials" / "first_classifier.html").as_uri())
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    grounds = page.locator("article img").evaluate_all("all => all.map(one => getComputedStyle(one).backgroundColor)")
    assert len(grounds) >= 3
    assert all(sum(int(part) for part in ground.split("(")[1].rstrip(")").split(",")[:3]) > 600 for ground in grounds)


def test_all_figures_of_the_studies_are_there(page):
    n_figures = 0
    for path in SITE.glob("studies/*/README.html"):
        page.goto(path.as_uri())
        widths = page.locator("article img").evaluate_all("all => all.map(one => one.naturalWidth)")
        assert all(widths), path
        n_figures += len(widths)
    assert n_figures >= 8


def test_the_front_leads_into_the_site_and_its_cards_on(page, expect):
    page.goto((SITE / "index.html").as_uri())
    page.wait_for_url("**/docs/index.html")
    page.get_by_role("link", name="Start in five minutes").last.click()
    expect(page.get_by_role("heading", name="Start in five minutes")).to_be_visible()
