"""Makes docs/images/watch.png: two runs, and the page that shows them, in Chromium.

    python docs/watch_picture.py

It needs the extras `browser` and `plots`, and Chromium.
"""

from __future__ import annotations

import io
import shutil
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from systola.cli import main
from systola.view.logs import Logs
from systola.view.server import PageServer

PICTURE = Path(__file__).parent / "images" / "watch.png"
SIZE = {"width": 1280, "height": 1180}
RUNS = {
    "mkp.log": "mkp:60x5 --algorithm sns-r-mr --seconds 60",
    "gap.log": (
        "gap:e-20x200 --algorithm ssga --islands 9 --seconds 60 "
        "--migration export_every=4000 --migration import_every=2000"
    ),
}


def make_logs(folder: Path) -> list[Path]:
    for name, words in RUNS.items():
        main(["solve", *words.split(), "--quiet", "--log", str(folder / name)])
    return [folder / name for name in RUNS]


def show(page: Page, part: float) -> None:
    """The slider at a part of the time."""
    code = "(slider, part) => { slider.value = 10000 * part; slider.dispatchEvent(new Event('input')); }"
    page.locator("#moment").evaluate(code, part)
    page.wait_for_timeout(500)


def take_picture(logs: list[Path], part: float) -> bytes:
    with sync_playwright() as started, PageServer(Logs(logs)) as server:
        flags = ["--headless", "--no-sandbox", "--disable-gpu"]
        browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=flags)
        page = browser.new_page(viewport=SIZE, color_scheme="light")
        page.goto(server.url)
        page.get_by_role("article").nth(len(logs) - 1).wait_for()
        page.wait_for_timeout(1000)
        show(page, part)
        page.locator("#scale").select_option("log")
        page.wait_for_timeout(500)
        taken = page.screenshot()
        browser.close()
    return taken


def run() -> None:
    with tempfile.TemporaryDirectory() as folder:
        taken = take_picture(make_logs(Path(folder)), 0.341)
    image = Image.open(io.BytesIO(taken)).convert("RGB").quantize(256, dither=Image.Dither.NONE)
    image.save(PICTURE, optimize=True)
    print(f"{PICTURE}: {PICTURE.stat().st_size:,} bytes")


if __name__ == "__main__":
    run()
