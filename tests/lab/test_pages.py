"""Reports and films in a browser: tables sort by click and keyboard, films move, nothing is fetched or goes wrong."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from lab.test_report import HOSTILE, report_of
from systola.lab.film_files import save_film
from systola.lab.plots import boxplots
from systola.lab.report import Cell, Picture, Table

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytest.importorskip("matplotlib", reason='needs the extra "plots"')
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium, such as Debian's package chromium")

ROWS = (
    (Cell("a"), Cell("– (0/2)", infeasible=1.0)),
    (Cell("b"), Cell("9.00e0 (1/2)", value=9.0, infeasible=0.5)),
    (Cell("c"), Cell("1,234.5 ± 3")),
    (Cell("d"), Cell("−2")),
    (Cell("e"), Cell("7")),
)


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(
            executable_path=CHROMIUM, args=["--headless", "--no-sandbox", "--disable-gpu"]
        )
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser):
    """Opens a file; in the end nothing may have gone wrong, and nobody may have been asked for anything."""
    wrong, asked, contexts = [], [], []

    def open_page(path, **settings):
        contexts.append(browser.new_context(**settings))
        page = contexts[-1].new_page()
        page.on("console", lambda m: wrong.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(path.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert wrong == []
    assert all(url.startswith("file:") for url in asked)
    assert len(asked) == len(contexts)


def column(page):
    return page.locator("table", has_text="Sorted").locator("tbody th").all_inner_texts()


def test_tables_sort_and_infeasible_rows_stay_last(open_page, tmp_path):
    picture = Picture("Spread", boxplots({HOSTILE: [1, 2, 3], "$x_1$": [2, 3, 4]}))
    report_of(HOSTILE, Table("Sorted", ("name", "x"), ROWS), picture).save(tmp_path / "found.html")
    page = open_page(tmp_path / "found.html")
    button = page.locator("table", has_text="Sorted").get_by_role("button", name="x")
    head = page.locator("table", has_text="Sorted").get_by_role("columnheader", name="x")
    assert column(page) == list("abcde")
    button.click()
    assert (head.get_attribute("aria-sort"), column(page)) == ("ascending", list("decba"))
    button.press("Enter")
    assert (head.get_attribute("aria-sort"), column(page)) == ("descending", list("cedba"))
    button.press("Space")
    assert (head.get_attribute("aria-sort"), column(page)) == (None, list("abcde"))
    assert page.locator("svg").first.bounding_box()["width"] > 300
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_a_film_moves(open_page, tmp_path):
    frames = [np.arange(12.0).reshape(3, 4) + k for k in range(5)]
    save_film(frames, [0, 1, 2, 5, 1000], tmp_path / "film.html", title=HOSTILE)
    page = open_page(tmp_path / "film.html")
    first = "document.querySelector('canvas').getContext('2d').getImageData(0, 0, 1, 1).data.slice(0, 3).join()"
    assert page.evaluate(first) == "0,34,78"  # the darkest
    page.locator("#moment").press("End")
    assert page.locator("#told").inner_text() == "Step 1,000"
    assert page.evaluate(first) != "0,34,78"
    page.get_by_role("button", name="Play").click()
    playwright.expect(page.locator("#told")).not_to_have_text("Step 1,000")  # from the start again
    playwright.expect(page.locator("#told")).to_have_text("Step 1,000")
    playwright.expect(page.get_by_role("button", name="Play")).to_be_visible()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 360)])
def test_no_serious_fault_of_accessibility(open_page, tmp_path, scheme, width):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-core is not installed")
    picture = Picture("Spread", boxplots({"a": [1, 2, 3], "b": [2, 3, 4]}))
    report_of("alpha", Table("Sorted", ("", "x"), ROWS), picture).save(tmp_path / "found.html")
    save_film([np.eye(3), np.ones((3, 3))], [0, 1], tmp_path / "film.html")
    for name in ("found.html", "film.html"):
        page = open_page(
            tmp_path / name, color_scheme=scheme, viewport={"width": width, "height": 800}, bypass_csp=True
        )
        found = axe.Axe().run(page).response["violations"]
        assert [rule["id"] for rule in found if rule["impact"] in ("serious", "critical")] == []
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
