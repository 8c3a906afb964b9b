"""A real browser, the system's; tests skip without one unless MCQUACK_REQUIRE_BROWSER=1 promises it."""

import os
import shutil

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def without(what):
    """Fails where a browser is promised, and skips elsewhere."""
    stop = pytest.fail if os.environ.get("MCQUACK_REQUIRE_BROWSER") == "1" else pytest.skip
    stop(f"needs {what}, to look at a page as people see it")


@pytest.fixture(scope="session")
def expect(browser):
    """Assertions that wait a while for what they expect."""
    from playwright.sync_api import expect

    return expect


@pytest.fixture(scope="session")
def browser():
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        without("the package playwright")
    executable = next(filter(None, map(shutil.which, NAMES)), None)
    if executable is None:
        without(f"one of {', '.join(NAMES)}")
    # Root, as in a container, has no sandbox; shared memory is small there, too.
    arguments = ["--no-sandbox", "--disable-dev-shm-usage"] if getattr(os, "geteuid", lambda: 1)() == 0 else []
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=executable, args=arguments)
        yield started
        started.close()


@pytest.fixture
def visit(browser):
    """Opens a page, and afterwards finds that none complained and all that was fetched is ``within`` an address."""
    contexts, complaints, strange = [], [], []

    def opened(address, *, within, viewport, **settings):
        context = browser.new_context(viewport=viewport, **settings)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda asked: strange.extend([] if asked.url.startswith((within, "data:")) else [asked.url]))
        page.goto(address)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []
    assert strange == []
