"""Texts that would be scripts, as names of datasets, models and classes and as errors: none runs in any report."""

import pytest

from mcquack.report.benchmark import write_report
from mcquack.report.trainability import write_trainability_report
from tests.browser.test_benchmark_report import DESK
from tests.campaigns import rounds
from tests.report.benchmark.fakes import fake_store
from tests.report.trainability.fakes import fake_store as fake_study
from tests.report.trainability.fakes import observation

RUN = "window.ran=1"
TEXTS = (
    f"<script>{RUN}</script>",
    f"</script><script>{RUN}</script>",
    f"<img src=x onerror={RUN}>",
    f'"><svg onload={RUN}>',
    f"'><body onload={RUN}>",
    f"</title></style></textarea></dialog><script>{RUN}</script>",
    f"<details open ontoggle={RUN}>",
    f"<iframe srcdoc='<script>parent.{RUN}</script>'>",
    f"javascript:{RUN}//",
    f"--><script>{RUN}</script><!--",
    f"]]><script>{RUN}</script>",
    f"<math><mtext></p><style><img src onerror={RUN}>",
    f"${{{RUN}}}`+{RUN}+`",
    f"\\u003cscript\\u003e{RUN}\\u003c/script\\u003e",
    f"&lt;script&gt;{RUN}&lt;/script&gt;",
    f"<a href='javascript:{RUN}' autofocus onfocus={RUN}>x</a>",
    f"{{{{constructor.constructor('{RUN}')()}}}}",
    f"\u2028{RUN}\u2029",
    f"<object data='data:text/html,<script>parent.{RUN}</script>'>",
    f"<meta http-equiv=refresh content='0;url=javascript:{RUN}'>",
    f"<style>@import'javascript:{RUN}';</style>",
    f"<input autofocus onfocus={RUN}>",
    f"\x00<script\x00>{RUN}</script>",
    f"<base href='javascript:{RUN}//'>",
)


def hostile_benchmark(folder, texts):
    path = folder / "benchmark.sqlite"
    datasets = [texts[0], texts[1], *texts[5:]]
    store = fake_store(
        path,
        datasets=datasets,
        models=[f"module:{texts[2]}", "svc"],
        class_names=(texts[3], texts[4]),
        failing={(texts[0], "svc"): [1]},
        n_seeds=2,
        n_settings=1,
        title=texts[0],
    )
    return write_report(store, folder / "benchmark").as_uri()


def hostile_study(folder, texts):
    found = [observation(n, series=text, epochs=0) for n in (2, 3) for text in texts[:2]]
    page = write_trainability_report(fake_study(folder / "study.sqlite", found), folder / "study", title=texts[0])
    return page.as_uri()


@pytest.mark.parametrize("n_texts", rounds(0, short=12, full=24)[1:])  # one of them is in the tests of each report
def test_no_text_runs(browser, tmp_path, n_texts, tally):
    ran, n_pages = [], 0
    for first in range(0, n_texts, 6):
        texts = TEXTS[first : first + 6]
        folder = tmp_path / str(first)
        folder.mkdir()
        for address in (hostile_benchmark(folder, texts), hostile_study(folder, texts)):
            context = browser.new_context(viewport=DESK)
            page = context.new_page()
            page.on("dialog", lambda dialog: ran.append(dialog.message))
            page.on("dialog", lambda dialog: dialog.dismiss())
            page.on("request", lambda request, address=address: _check_request(request.url, address, ran))
            page.goto(address)
            page.wait_for_load_state("load")
            page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
            for link in page.locator("a[href*='#cell']").all()[:3]:
                page.goto(address + "#" + link.get_attribute("href").partition("#")[2])
            page.wait_for_timeout(200)
            ran.extend(frame.url for frame in page.frames if frame.evaluate("window.ran") is not None)
            assert page.locator("iframe, object, base, img[src='x']").count() == 0
            n_pages += 1
            context.close()
    assert ran == []
    tally("hostile texts in reports", n_texts, pages=n_pages, scripts_ran=len(ran))


def _check_request(url, address, ran):
    """Nothing is fetched but the page itself."""
    if not url.startswith("data:") and url.partition("#")[0] != address:
        ran.append(url)


def test_the_browser_would_run_them(browser, tmp_path):
    """So that none of them runs in a report is the report's merit."""
    (tmp_path / "page.html").write_text(f"<!doctype html>{TEXTS[0]}{TEXTS[2]}", encoding="utf-8")
    page = browser.new_page()
    page.goto((tmp_path / "page.html").as_uri())
    assert page.evaluate("window.ran") == 1
    page.close()
