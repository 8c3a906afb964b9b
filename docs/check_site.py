"""Follows every link of the built site: files and anchors must be there, and a page must load nothing from elsewhere.

Links to other sites are read and not followed, so that this needs no internet: they must be whole ``https`` addresses.
"""

import re
import sys
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"img": "src", "script": "src", "link": "href", "iframe": "src", "source": "src", "object": "data"}
NOT_LOADED = {"canonical", "search", "author", "index", "prev", "next"}
HOST = re.compile(r"([\w-]+\.)+[a-z]{2,}(:\d+)?")


@dataclass
class Page(HTMLParser):
    """What a page has: anchors, links, and what it loads."""

    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Notes what a tag names or refers to."""
        found = {name: value or "" for name, value in attrs}
        self.anchors |= {found[name] for name in ("id", "name") if name in found}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        if LOADED.get(tag) in found and not NOT_LOADED & set(found.get("rel", "").split()):
            self.loaded.append(found[LOADED[tag]])


@cache
def read(path: Path) -> Page:
    """A page of the site."""
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def fault(path: Path, link: str) -> str:
    """What is wrong with a link on the page, or nothing."""
    parts = urlsplit(link)
    if parts.scheme in ("mailto", "data"):
        return ""
    if parts.scheme or parts.netloc:
        return "" if parts.scheme == "https" and HOST.fullmatch(parts.netloc) else "is no https address"
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not target.is_file():
        return "leads to no file"
    if parts.fragment and target.suffix == ".html" and unquote(parts.fragment) not in read(target).anchors:
        return "leads to no place on that page"
    return ""


def faults(site: Path) -> list[str]:
    """All that is wrong, page by page; the reports, which are pages of their own, have tests of their own."""
    found = []
    for path in sorted(site.rglob("*.html")):
        if {"report", "_static"} & set(path.relative_to(site).parts):
            continue
        page = read(path)
        name = path.relative_to(site)
        found += [f"{name}: {link} {what}" for link in page.links + page.loaded if (what := fault(path, link))]
        found += [f"{name}: {link} is loaded from elsewhere" for link in page.loaded if urlsplit(link).netloc]
    for path in sorted(site.glob("_static/**/*.css")):
        addresses = re.findall(r"(?:url\(|@import)\s*['\"]?(https?:)?//", path.read_text(encoding="utf-8"))
        found += [f"{path.relative_to(site)}: loads from elsewhere"] if addresses else []
    return found


def main() -> int:
    """Prints all faults, and how many pages were read."""
    site = Path(sys.argv[1]).resolve()
    found = faults(site)
    n_pages = len(list(site.rglob("*.html")))
    sys.stdout.write("\n".join([*found, f"{n_pages} pages, {len(found)} faults in their links"]) + "\n")
    return int(bool(found) or n_pages < 50)


if __name__ == "__main__":
    sys.exit(main())
