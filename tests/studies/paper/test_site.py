"""The site as files: every item is there, nothing is fetched, nothing evil gets through."""

import html
import re

import pytest

from mcquack.errors import InvalidInputError
from mcquack.report.pages import replace_files
from studies.paper import page
from studies.paper.checks import Check
from studies.paper.exhibit import Exhibit, Pair, table
from studies.paper.items import ITEMS, SECTIONS
from studies.paper.page import write_paper_site
from studies.paper.stores import Stores
from tests.studies.paper.fakes import HOSTILE, LABELS


@pytest.fixture(scope="session")
def pages(site):
    return {name: content.decode() for name, content in site.items() if name.endswith(".html")}


def test_every_item_and_every_label_of_the_paper_is_on_a_page(pages, exhibits):
    assert set(ITEMS) < set(exhibits)
    together = "".join(pages.values())
    for item in ITEMS.values():
        assert f'id="{item.id}"' in pages[f"pages/{item.section}.html"]
        assert f'href="pages/{item.section}.html#{item.id}"' in pages["index.html"]
    for label in LABELS:
        assert f"<code>{label}</code>" in together


def test_every_item_has_the_sentence_that_follows_from_its_comparisons(pages, exhibits):
    for exhibit in exhibits.values():
        assert exhibit.sentence.endswith(".")
        assert html.escape(exhibit.sentence, quote=True).replace("&#x27;", "&#39;") in pages["index.html"]


def test_every_item_tells_where_it_comes_from(pages, exhibits):
    for exhibit in exhibits.values():
        if exhibit.item.study:
            assert exhibit.rows is not None
            assert exhibit.commands
            text = pages[f"pages/{exhibit.item.section}.html"]
            assert html.escape(str(exhibit.rows)) in text
            for command in exhibit.commands:
                assert html.escape(command, quote=True).replace("&#x27;", "&#39;") in text


def test_nothing_is_fetched_and_all_that_is_linked_is_there(pages, site):
    for name, text in pages.items():
        assert not re.search(r"""(?:src|href|action)\s*=\s*["']?(?:https?:)?//""", text)
        assert "url(http" not in text
        home = "pages/" if name.startswith("pages/") else ""
        for address in re.findall(r'href="([^"#:]+)(?:#[^"]*)?"', text):
            path = address.removeprefix("../") if address.startswith("../") else f"{home}{address}"
            assert path in site, (name, address)


def test_every_anchor_leads_to_an_item(pages):
    for target, anchor in re.findall(r'href="(pages/\w+\.html)#(\w+)"', pages["index.html"]):
        assert f'id="{anchor}"' in pages[target]


def test_every_figure_has_an_alternative_text_and_is_a_file(pages, site, exhibits):
    pictures = [picture for exhibit in exhibits.values() for picture in exhibit.pictures]
    drawn = [
        label for text in pages.values() for label in re.findall(r'<svg class="picture"[^>]*aria-label="([^"]+)"', text)
    ]
    assert len(drawn) == len(pictures) > 20
    for picture in pictures:
        assert f"figures/{picture.name}.svg" in site
    assert len({picture.name for picture in pictures}) == len(pictures)


def test_names_of_tables_differ(exhibits):
    names = [each.name for exhibit in exhibits.values() for each in exhibit.all_tables]
    assert len(set(names)) == len(names)


def test_evil_names_are_shown_and_do_nothing(pages, exhibits):
    assert HOSTILE not in "".join(pages.values())
    assert "<b>race" not in "".join(pages.values())
    assert html.escape("<b>race & co") in pages["pages/past.html"]
    assert html.escape("<img src=x") in pages["pages/past.html"]
    ids = [exhibit.item.id for exhibit in exhibits.values()]
    assert all(re.fullmatch(r"\w+", each) for each in ids)


def test_numbers_have_true_minus_signs(pages):
    cells = [cell for text in pages.values() for cell in re.findall(r'<td [^>]*class="number[^"]*">(.*?)</td>', text)]
    assert len(cells) > 500
    assert not [cell for cell in cells if re.search(r"(?<![\w.])-\d", cell)]


def test_the_same_stores_give_the_same_pages(exhibits, site):
    assert page.site_files(tuple(exhibits.values())) == site


def test_a_site_takes_the_place_of_an_earlier_one(exhibits, site, tmp_path):
    replace_files(tmp_path, site)
    assert (tmp_path / "pages" / "past.html").exists()
    kept = [exhibit for exhibit in exhibits.values() if exhibit.item.section != "past"]
    replace_files(tmp_path, page.site_files(kept))
    assert not (tmp_path / "pages" / "past.html").exists()
    assert (tmp_path / "pages" / "model.html").exists()


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "out").write_text("mine")
    with pytest.raises(InvalidInputError, match=re.escape(str(tmp_path / "out"))):
        write_paper_site(Stores(folder=tmp_path), tmp_path / "out")


def test_a_quick_pass_is_marked_and_a_missing_store_has_its_command(tmp_path):
    stores = Stores(folder=tmp_path, quick=True)
    item = ITEMS["real_world_auc"]
    check = Check(what="x", paper="1", ours="1", holds=True)
    shown = Exhibit(item=item, checks=(check,), is_quick=True, rows=stores.path("real_world"))
    told = page.site_files([shown])["pages/real_world.html"].decode()
    assert told.count("quick pass") >= 1
    assert "A quick pass:" in told
    assert "A quick pass." in page.site_files([shown])["index.html"].decode()
    missing = Exhibit(
        item=item, missing="Not run yet: there is no store with rows.", commands=stores.commands("real_world")
    )
    text = page.site_files([missing])["pages/real_world.html"].decode()
    assert "Not run yet" in text
    assert "mcquack bench run real-world" in text
    assert "not run" in page.site_files([missing])["index.html"].decode()


def test_a_table_is_a_file_with_all_digits():
    pair = Pair(ours=1 / 3, paper=-0.25, spread=0.1, holds=False)
    made = table("x", "x", ("name", "score"), (("a", pair), ("b", None)))
    assert made.csv == f'name,score,"score, paper"\na,{1 / 3},-0.25\nb,,\n'
    assert (pair.text, pair.paper_text) == ("0.333 ± 0.100", "−0.25")
    assert (made.is_number(0), made.is_number(1)) == (False, True)


def test_sections_without_items_have_no_page(exhibits):
    found = page.site_files([exhibits["circuit"]])
    assert [name for name in found if name.startswith("pages/")] == ["pages/model.html"]
    assert SECTIONS["hardware"] not in found["index.html"].decode()
