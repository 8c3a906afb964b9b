"""The report of a benchmark as people read it: from a file, by mouse and by keyboard, at a desk and on a phone."""

import re

import pytest

from mcquack.report.benchmark import write_report
from tests.report.benchmark.fakes import DATASETS, SKILLS, fake_store, published_cells

HOSTILE = "<img src=x onerror=document.title='broken'>"
PARTS = ("ranking", "critical-difference", "wins")
DESK, PHONE = {"width": 1280, "height": 900}, {"width": 360, "height": 740}


@pytest.fixture(scope="session")
def report(tmp_path_factory):
    """Two published models among seven, six failures, and a class with an evil name."""
    folder = tmp_path_factory.mktemp("browser")
    store = fake_store(
        folder / "fake.sqlite",
        class_names=(HOSTILE, "plus", "minus"),
        failing={(DATASETS[0], "vc"): range(5), (DATASETS[1], "svc"): [2]},
    )
    return write_report(store, folder / "report", published=published_cells()).as_uri()


@pytest.fixture
def open_page(visit, report):
    """Opens the report, which fetches nothing, and waits until it has drawn itself."""

    def opened(address="", *, viewport=DESK, **settings):
        page = visit(report + address, within=report, viewport=viewport, **settings)
        page.locator("#leaderboard-table tbody tr").first.wait_for()
        return page

    return opened


def column(page, number):
    return page.locator(f"#leaderboard-table tbody tr:visible > :nth-child({number})").all_inner_texts()


def names(page):
    return [text.split("\n")[-1].replace("published", "").strip() for text in column(page, 1)]


def numbers(texts):
    return [float(re.sub(r"[^\d.]", "", text.split()[0]) or "nan") for text in texts]


def figure_texts(page):
    """What is written in each of the three figures of the chosen view."""
    return [page.locator(f"[data-part={part}] svg text").all_text_contents() for part in PARTS]


def test_the_page_has_all_its_parts(open_page):
    page = open_page()
    assert page.title() == page.locator("h1").inner_text() == "A fake benchmark"
    headings = page.locator("main h2").all_inner_texts()
    assert headings == [
        "Leaderboard",
        "Scores and their cost",
        "Ranks",
        "Critical differences",
        "Each against each",
        "Scores against size",
        "Every dataset",
        "Failures",
        "Provenance",
    ]
    assert page.locator("#leaderboard-table tbody tr").count() == 7
    for part in PARTS:
        assert page.locator(f"[data-part={part}] svg.picture").count() == 1
        assert page.locator(f"[data-part={part}] details tbody tr").count() >= 6
    assert page.locator("#sizes svg.picture").count() == 2
    assert page.locator("#dataset-table .best").count() == len(DATASETS)
    assert page.locator("#dataset-table .second").count() == len(DATASETS)
    assert page.locator(".failure").count() == 5


def test_published_models_are_marked_wherever_they_are_named(open_page):
    page = open_page()
    tags = {"#leaderboard-table": 2, "#ranking": 2, "#wins": 4, "#dataset-table": 2, "#sizes .legend": 2}
    for place, count in tags.items():
        assert page.locator(place).get_by_text("published", exact=True).count() == count
    for texts in figure_texts(page):
        assert any("DressedQuantumCircuit †" in text for text in texts)
        assert any("† published: Bowles et al. 2024" in text for text in texts)


def test_scores_are_drawn_for_every_model_and_against_what_they_cost(open_page, expect):
    page = open_page()
    expect(page.locator("#score-rows .mean")).to_have_count(7)
    dots = page.locator("#score-rows .dots").evaluate_all(
        "all => all.map((e) => e.getAttribute('d').split('M').length - 1)"
    )
    shown = page.locator("#dataset-table .mean").count()
    assert sum(dots) == shown
    for part in ("seconds", "parameters"):
        assert page.locator(f"#score-{part} circle").count() == 5  # published models tell neither
        assert "2 models without it are left out." in page.locator(f"#score-{part}").inner_text()
    page.locator("#family").select_option("two_curves")
    page.locator("#metric").select_option("auc")
    expect(page.locator("#score-rows .mean")).to_have_count(5)
    expect(page.locator("#score-rows svg")).to_have_attribute("aria-label", re.compile("AUC"))


def test_datasets_tell_their_size(open_page):
    page = open_page()
    row = page.locator("#dataset-table tbody tr", has_text="two_curves_8").locator(".size")
    assert row.inner_text() == "240 train + 60 test · 8 features · 2 classes"


def test_the_view_has_an_address_that_leads_back_to_it(open_page, expect, report):
    page = open_page()
    page.locator("#metric").select_option("auc")
    page.locator("#family").select_option("two_curves")
    page.locator("#dataset-part").select_option("train")
    page.locator("#leaderboard-filter").fill("n n")
    page.locator("#dataset-filter").fill("14")
    address = page.evaluate("location.hash")
    again = open_page(address)
    expect(again.locator("#leaderboard [data-says=metric]")).to_have_text("AUC")
    expect(again.locator("#dataset-table tbody th[scope=row] bdi")).to_have_text(["two_curves_14"])
    kept = {"metric": "auc", "family": "two_curves", "dataset-part": "train", "leaderboard-filter": "n n"}
    for each in (page, again):
        assert {id: each.locator(f"#{id}").input_value() for id in kept} == kept
        assert each.evaluate("location.hash") == address
        assert all(any("on two curves" in text for text in texts) for texts in figure_texts(each))
    # A task closes to where it was opened, and a view that is as at first needs no address.
    again.locator("#dataset-table a").first.click()
    again.locator("dialog h2").wait_for()
    again.keyboard.press("Escape")
    again.wait_for_url(lambda url: url == report + address)
    for id in ("leaderboard-filter", "dataset-filter"):
        again.locator(f"#{id}").fill("")
    for id, first in {"metric": "accuracy", "family": "", "dataset-part": "test"}.items():
        again.locator(f"#{id}").select_option(first)
    again.wait_for_url(lambda url: url == report)


@pytest.mark.parametrize(
    "address", ["#metric=constructor", "#family=__proto__&part=x", "#metric=auc&family=none", "#wins"]
)
def test_an_address_of_no_view_shows_one_that_there_is(open_page, expect, address):
    page = open_page(address)
    expect(page.locator("#leaderboard [data-says=metric]")).to_have_text("AUC" if "auc" in address else "accuracy")
    assert page.locator("#metric").input_value() in {"accuracy", "auc"}
    assert page.locator("#dataset-part").input_value() == "test"


def test_a_section_is_reached_without_losing_the_view(open_page, expect):
    page = open_page("#metric=auc")
    expect(page.locator("#leaderboard [data-says=metric]")).to_have_text("AUC")
    page.locator(".sections a", has_text="Pairs").click()
    page.locator(".sections a[aria-current]", has_text="Pairs").wait_for()
    assert page.evaluate("location.hash") == "#metric=auc"


def test_without_a_script_the_page_says_what_is_missing(browser, report):
    context = browser.new_context(java_script_enabled=False, viewport=DESK)
    try:
        page = context.new_page()
        page.goto(report)
        notice = page.locator("noscript p")
        assert "JavaScript is switched off" in notice.inner_text()
        assert notice.bounding_box()["height"] > 20
        assert page.locator("#leaderboard-table tbody tr").count() == 7
        for unusable in ("#metric", "#leaderboard-filter", "#datasets", "#scores"):
            assert page.locator(unusable).is_hidden()
    finally:
        context.close()


def test_choices_keep_their_labels_on_a_phone(open_page):
    page = open_page(viewport=PHONE)
    for name in ("Metric", "Datasets"):
        control = page.locator(".bar .control", has_text=name)
        label = control.locator("> span")
        box, choice = label.bounding_box(), control.locator("select").bounding_box()
        assert box["width"] > 30
        assert box["height"] > 10
        assert box["y"] + box["height"] <= choice["y"] + 1
        assert label.evaluate("label => getComputedStyle(label).clipPath") == "none"


def test_a_click_on_a_head_sorts_and_a_second_turns_it_round(open_page):
    page = open_page()
    head = page.get_by_role("columnheader", name="Mean score")
    head.get_by_role("button").click()
    scores = numbers(column(page, 3))
    assert head.get_attribute("aria-sort") == "descending"
    assert scores == sorted(scores, reverse=True)
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert numbers(column(page, 3)) == sorted(scores)
    assert page.locator("[aria-sort]").count() == 1
    assert "Sorted by Mean score, ascending" in page.locator("#announcements").inner_text()


def test_what_is_not_known_comes_last_in_either_order(open_page):
    page = open_page()
    button = page.get_by_role("columnheader", name="Parameters").get_by_role("button")
    for _ in range(2):
        button.click()
        assert column(page, 6)[-2:] == ["–", "–"]


def test_the_keyboard_sorts_and_keeps_its_place(open_page):
    page = open_page()
    page.get_by_role("columnheader", name="Model").get_by_role("button").focus()
    page.keyboard.press("Enter")
    assert names(page) == sorted(names(page), key=str.lower)
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    assert page.evaluate("document.activeElement.textContent") == "Average rank"
    assert page.locator("[aria-sort]").inner_text().startswith("Average rank")


def test_words_filter_models_and_datasets(open_page):
    page = open_page()
    page.locator("#leaderboard-filter").fill("quack")
    assert names(page) == ["McQuack"]
    page.locator("#leaderboard-filter").fill("published")
    assert len(names(page)) == 2
    page.locator("#leaderboard-filter").fill("no such model")
    assert page.get_by_text("No model has a name like that.").is_visible()
    page.locator("#dataset-filter").fill("curves 14")
    assert page.locator("#dataset-table tbody th[scope=row] bdi").all_inner_texts() == ["two_curves_14"]
    page.locator("#dataset-filter").fill("no such dataset")
    assert page.get_by_text("No dataset fits.").is_visible()


def test_a_metric_changes_every_part(open_page, expect):
    page = open_page()
    before = column(page, 3)
    page.locator("#metric").select_option("auc")
    expect(page.locator("#leaderboard-table tbody tr")).to_have_count(5)  # those who published told accuracies only
    assert column(page, 3) != before
    assert page.locator("#leaderboard [data-says=metric]").inner_text() == "AUC"
    assert page.locator("#wins tbody tr").count() == 5
    assert page.locator("#dataset-table thead th").count() == 6
    assert all(any(text.startswith("AUC: ") for text in texts) for texts in figure_texts(page))
    assert not any("†" in text for texts in figure_texts(page) for text in texts)
    assert page.locator("#sizes svg text").get_by_text("AUC", exact=True).count() == 2
    page.locator("#metric").select_option("accuracy")
    expect(page.locator("#leaderboard-table tbody tr")).to_have_count(7)
    assert column(page, 3) == before


def test_the_last_of_quick_choices_is_shown(open_page, expect):
    page = open_page()
    page.evaluate(
        """() => ["f1", "recall", "auc"].forEach((metric) => {
            const choice = document.getElementById("metric");
            choice.value = metric;
            choice.dispatchEvent(new Event("change"));
        })"""
    )
    expect(page.locator("[data-part=ranking] svg text", has_text="AUC: average")).to_have_count(1)


def test_order_and_filter_outlast_a_choice(open_page, expect):
    page = open_page()
    page.get_by_role("columnheader", name="Mean score").get_by_role("button").click()
    page.locator("#leaderboard-filter").fill("n")
    page.locator("#metric").select_option("auc")
    expect(page.locator("#leaderboard [data-says=metric]")).to_have_text("AUC")
    assert page.get_by_role("columnheader", name="Mean score").get_attribute("aria-sort") == "descending"
    shown = page.locator("#leaderboard-table tbody tr:visible")
    assert shown.count() == 2
    scores = numbers(shown.locator("> :nth-child(3)").all_inner_texts())
    assert scores == sorted(scores, reverse=True)


def test_a_family_leaves_its_own_datasets(open_page, expect):
    page = open_page()
    page.locator("#family").select_option("two_curves")
    expect(page.locator("#sizes svg.picture")).to_have_count(1)
    assert all(any("on two curves" in text for text in texts) for texts in figure_texts(page))
    assert set(column(page, 5)) <= {"4", "3", "2"}
    rows = page.locator("#dataset-table tbody th[scope=row] bdi").all_inner_texts()
    assert rows == [name for name in DATASETS if name.startswith("two_curves")]
    assert page.locator("#sizes svg text", has_text="two curves").count() == 1
    page.locator("#family").select_option("")
    expect(page.locator("#dataset-table tbody th[scope=row]")).to_have_count(len(DATASETS))


def test_a_handful_of_datasets_has_no_interval(open_page, expect):
    page = open_page()
    told = page.locator("#leaderboard-table .interval svg title")
    assert sum("95 % interval 0." in text for text in told.all_text_contents()) == 6  # the last published model has few
    page.locator("#family").select_option("two_curves")
    expect(page.locator("#sizes svg.picture")).to_have_count(1)
    assert set(told.all_text_contents()) == {"too few datasets for an interval"}
    assert page.locator("#leaderboard-table .interval svg line").count() == told.count()  # the scale alone


def test_models_can_be_taken_out_of_the_curves(open_page, expect):
    page = open_page()
    curves = page.locator("#sizes svg").first.locator("g[id*=-curve-]:visible")
    bands = page.locator("#sizes svg").first.locator("g[id*=-band-]:visible")
    button = page.locator("#sizes .legend button").first
    expect(curves).to_have_count(7)
    button.press("Enter")
    expect(button).to_have_attribute("aria-pressed", "false")
    expect(curves).to_have_count(6)
    expect(bands).to_have_count(6)
    assert page.evaluate("document.activeElement.getAttribute('aria-pressed')") == "false"
    page.locator("#metric").select_option("auc")
    expect(curves).to_have_count(4)  # five have scores by AUC, and the choice stays
    page.locator("#size-training").check()
    expect(curves).to_have_count(8)


def test_a_score_leads_to_its_task_and_back(open_page, report):
    page = open_page()
    cell = page.locator("#dataset-table tbody tr", has_text="two_curves_8").locator("a").first
    cell.focus()
    page.keyboard.press("Enter")
    dialog = page.locator("dialog")
    dialog.get_by_role("heading", name="on two_curves_8").wait_for()
    assert dialog.get_by_role("heading").all_inner_texts()[1:] == [
        "Scores",
        "Facts",
        "Settings",
        "Training",
        "Confusion on the test part",
        "Kernel of test samples",
        "Search",
    ]
    dialog.locator("svg rect.cell").first.wait_for()
    assert dialog.locator("svg path.curve").count() == 5
    assert dialog.locator(".chosen").count() == 1
    page.keyboard.press("Escape")
    page.wait_for_url(lambda url: url == report)
    assert dialog.is_hidden()
    assert page.evaluate("document.activeElement.href").startswith(f"{report}#cell=")


def test_a_task_has_an_address_of_its_own(open_page):
    page = open_page("#cell=0,0")
    dialog = page.locator("dialog")
    dialog.get_by_role("link", name="seed 3").click()
    dialog.get_by_text("seed 3 ·").wait_for()
    address = page.evaluate("location.hash")
    assert address.startswith("#task=")
    again = open_page(address)
    again.locator("dialog").get_by_text("seed 3 ·").wait_for()
    assert again.locator("dialog h2").inner_text() == dialog.locator("h2").inner_text()
    again.go_back()  # to the blank page before it


def test_going_back_closes_a_task(open_page):
    page = open_page()
    page.locator("#dataset-table a").first.click()
    page.locator("dialog h2").wait_for()
    page.go_back()
    page.locator("dialog").wait_for(state="hidden")


def test_an_address_of_nothing_says_so(open_page):
    for address in ("#task=0123456789abcdef", "#cell=99,99"):
        page = open_page(address)
        assert page.locator("dialog h2").inner_text().startswith("No such")


def test_a_published_score_tells_its_source_and_note(open_page):
    page = open_page()
    page.locator("#dataset-table sup").first.locator("xpath=..").click()
    page.locator("dialog h2").wait_for()
    assert "Bowles et al. 2024" in page.locator("dialog").inner_text()
    assert "test scores corrected" in page.locator("dialog").inner_text()


def test_a_failure_shows_its_traceback_here_and_in_its_task(open_page):
    page = open_page()
    failure = page.locator(".failure").first
    failure.locator("summary").click()
    assert "FloatingPointError: loss of seed 2 is <nan> & more" in failure.locator("pre").inner_text()
    failure.locator("a").first.click()
    assert "<nan> & more" in page.locator("dialog pre").inner_text()


def test_hostile_names_are_shown_as_they_are(open_page):
    page = open_page("#cell=3,0")
    page.locator("dialog .confusion").wait_for()
    assert HOSTILE in page.locator("dialog .confusion").inner_text()
    assert page.locator("img").count() == 0
    assert page.title() != "broken"


def test_colours_follow_the_system_until_somebody_chooses(open_page):
    def ground(page):
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    light, dark = open_page(color_scheme="light"), open_page(color_scheme="dark")
    assert ground(light) != ground(dark)
    light.get_by_role("radio", name="Dark").check(force=True)
    assert ground(light) == ground(dark)
    light.reload()
    assert light.get_by_role("radio", name="Dark").is_checked()
    assert ground(light) == ground(dark)
    light.get_by_role("radio", name="Auto").check(force=True)
    assert ground(light) != ground(dark)


@pytest.mark.parametrize("width", [360, 390])
@pytest.mark.parametrize("address", ["", "#cell=3,1"])
def test_a_phone_never_scrolls_sideways(open_page, address, width):
    page = open_page(address, viewport={**PHONE, "width": width})
    if address:
        page.locator("dialog h2").wait_for()
    for details in page.locator("details").all():
        details.evaluate("element => (element.open = true)")
    widths = page.evaluate(
        "[document.documentElement, document.querySelector('dialog')].map((e) => [e.scrollWidth, e.clientWidth])"
    )
    assert widths[0] == [width, width]
    assert widths[1][0] == widths[1][1]


def test_tables_scroll_within_themselves_also_by_keyboard(open_page):
    page = open_page(viewport=PHONE)
    region = page.locator("#dataset-table .scroll")
    region.focus()
    region.evaluate("element => element.addEventListener('scroll', () => element.dataset.scrolled = '')")
    page.keyboard.press("ArrowRight")
    page.locator("#dataset-table [data-scrolled]").wait_for()
    assert region.evaluate("element => element.scrollLeft") > 0


def test_the_first_stop_of_the_keyboard_skips_to_the_results(open_page):
    page = open_page()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the results"
    assert page.locator(".skip").bounding_box()["y"] >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"


CONTRASTS = """
() => {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 1;
  const context = canvas.getContext("2d", { willReadFrequently: true });
  const blended = (colours) => {
    context.clearRect(0, 0, 1, 1);
    for (const colour of colours) {
      context.fillStyle = colour;
      context.fillRect(0, 0, 1, 1);
    }
    return [...context.getImageData(0, 0, 1, 1).data.slice(0, 3)];
  };
  const linear = (part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  const luminance = (colour) => {
    const [red, green, blue] = colour.map((part) => linear(part / 255));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const grounds = (element) => {
    const found = [];
    for (let at = element; at; at = at.parentElement) found.unshift(getComputedStyle(at).backgroundColor);
    return [...found, ...shapesBelow(element)];
  };
  const shapesBelow = (element) => {
    const svg = element instanceof SVGElement && element.closest("svg.picture");
    if (!svg) return [];
    const box = element.getBoundingClientRect();
    const [x, y] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
    return [...svg.querySelectorAll("path, use")]
      .filter((path) => path.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING)
      .filter((path) => path.checkVisibility() && path.closest("defs") === null)
      .filter((path) => isOver(path, x, y))
      .map((path) => getComputedStyle(path))
      .filter(({ fill, opacity, fillOpacity }) => fill !== "none" && opacity * fillOpacity === 1)
      .map(({ fill }) => fill);
  };
  const isOver = (path, x, y) => {
    const { left, right, top, bottom } = path.getBoundingClientRect();
    const isNear = left <= x && x <= right && top <= y && y <= bottom;
    if (!isNear || !path.isPointInFill) return isNear;
    return path.isPointInFill(new DOMPoint(x, y).matrixTransform(path.getScreenCTM().inverse()));
  };
  const contrast = (element) => {
    const style = getComputedStyle(element);
    const below = grounds(element);
    const text = blended([...below, element instanceof SVGElement ? style.fill : style.color]);
    const [low, high] = [luminance(text), luminance(blended(below))].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  return [...document.querySelectorAll("body *")]
    .filter((element) => element.checkVisibility({ visibilityProperty: true }))
    .filter((element) => !element.closest(".hidden-text, script, .skip"))
    .filter((element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim()))
    .map((element) => [contrast(element), element.outerHTML.slice(0, 90)]);
}
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("address", ["", "#cell=3,1"])
def test_all_text_stands_out_from_its_ground(open_page, scheme, address):
    page = open_page(address, color_scheme=scheme)
    if address:
        page.locator("dialog h2").wait_for()
    contrasts = page.evaluate(CONTRASTS)
    assert len(contrasts) > 200
    assert [each for each in contrasts if each[0] < 4.5] == []


def test_everything_that_can_be_used_has_a_name(open_page):
    page = open_page("#cell=3,1")
    page.locator("dialog h2").wait_for()
    nameless = page.evaluate(
        """() => [...document.querySelectorAll("button, a, select, input, summary, [role=region], svg[role=img]")]
        .filter((e) => !(e.textContent.trim() || e.getAttribute("aria-label") || e.labels?.[0]?.textContent.trim()))
        .map((e) => e.outerHTML.slice(0, 80))"""
    )
    assert nameless == []


def test_nothing_moves_for_those_who_asked_for_that(open_page):
    page = open_page(reduced_motion="reduce")
    assert page.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "auto"


def test_print_shows_whole_tables_and_no_controls(open_page):
    page = open_page()
    page.emulate_media(media="print")
    assert page.locator(".bar").is_hidden()
    assert page.locator("#leaderboard-filter").is_hidden()
    region = page.locator("#dataset-table .scroll")
    assert region.evaluate("element => element.scrollHeight - element.clientHeight") == 0


LONG = f"module:{'Wide' * 750}"


@pytest.mark.parametrize("width", [1280, 390])
def test_names_of_thousands_of_letters_leave_the_page_its_width(browser, tmp_path, width, monkeypatch):
    monkeypatch.setitem(SKILLS, LONG, 0.8)
    datasets = [*DATASETS[:3], "d" * 3_000, f"{'f' * 1_500}_2", f"{'f' * 1_500}_4"]
    store = fake_store(
        tmp_path / "wide.sqlite",
        datasets=datasets,
        models=["svc", "nn", LONG],
        class_names=("k" * 3_000, "b", "c"),
        failing={("d" * 3_000, LONG): [0]},
        title="T" * 3_000,
    )
    page = browser.new_context(viewport={"width": width, "height": 900}).new_page()
    try:
        page.goto(write_report(store, tmp_path / "report").as_uri())
        page.locator("#dataset-table tbody tr").first.wait_for()
        page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
        assert page.evaluate("document.documentElement.scrollWidth") == width
        # What scrolls within the page is no wider than a table of many models.
        widest = "Math.max(...[...document.querySelectorAll('.scroll')].map((each) => each.scrollWidth))"
        assert page.evaluate(widest) < 2_500
        shown = page.locator("#leaderboard-table bdi.elided").first
        assert shown.get_attribute("title") == LONG.removeprefix("module:")
        page.evaluate("location.hash = '#cell=3,0'")
        page.locator("#task[open] .confusion").wait_for()
        assert page.locator("#task").evaluate("(task) => task.scrollWidth - task.clientWidth") == 0
        assert page.evaluate(widest) < 2_500
    finally:
        page.context.close()
