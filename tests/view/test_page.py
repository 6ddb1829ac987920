"""The page in a browser: headless Chromium looks at logs while they are written, and afterwards."""

from __future__ import annotations

import os
import shutil
from urllib.parse import urlsplit

import pytest
from made_logs import append, demes, drawing, end, field, frame, front, header, walk, write

from systola.view.logs import Logs
from systola.view.server import PageServer

playwright = pytest.importorskip("playwright.sync_api", reason="needs the extra systola[browser]")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium, such as Debian's package chromium")

TOKEN = "a-token-that-tests-know"
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
WIDE, PHONE = (1280, 800), (360, 740)
HOSTILE = '<img src="x" onerror="window.hurt = 1"><script>window.hurt = 1</script>'


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


class Viewer:
    """A page that is open; what it asks other hosts for and what goes wrong in it is noted."""

    def __init__(self, browser, url, size=WIDE, **settings):
        width, height = size
        self._context = browser.new_context(viewport={"width": width, "height": height}, **settings)
        self._context.set_default_timeout(15_000)
        self.page = self._context.new_page()
        self.wrong, self.hosts = [], set()
        self.page.on("console", lambda m: self.wrong.append(m.text) if m.type == "error" else None)
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("request", lambda request: self.hosts.add(urlsplit(request.url).netloc))
        self.page.goto(url)

    def run(self, name="demo"):
        """The panel of a run."""
        return self.page.get_by_role("article", name=name)

    def shows(self, text, name="demo"):
        """Wait until the best objective of a run is this."""
        playwright.expect(self.run(name).locator(".best .value")).to_have_text(text)

    def number(self, name, run="demo"):
        return self.run(run).locator(".numbers div", has=self.page.locator("dt", has_text=name)).locator("dd").first

    def pixels(self):
        """The colours of the grid."""
        code = "c => Array.from(c.getContext('2d').getImageData(0, 0, c.width, c.height).data)"
        return self.page.locator("canvas.cells").evaluate(code)

    def move_to(self, part):
        """The slider, as a hand would."""
        code = "(s, part) => { s.value = Math.round(10000 * part); s.dispatchEvent(new Event('input')); }"
        self.page.locator("#moment").evaluate(code, part)

    def close(self):
        self._context.close()


@pytest.fixture
def look(browser):
    """Opens a page on these logs; afterwards, it must have asked nobody else, and have nothing to complain of."""
    opened, servers = [], []

    def look(*logs, **settings):
        servers.append(PageServer(Logs(logs), token=TOKEN).start())
        opened.append(Viewer(browser, servers[-1].url, **settings))
        return opened[-1]

    yield look
    own = {urlsplit(server.url).netloc for server in servers}
    for viewer in opened:
        viewer.close()
        assert viewer.wrong == []
        assert viewer.hosts <= own
    for server in servers:
        server.close()


@pytest.fixture
def finished(tmp_path):
    """A run of four seconds, whose grid lights up from left to right."""
    frames = [
        frame(k, 40 + k, picture=field([250 if c < k else 0 for _ in range(3) for c in range(4)], 4)) for k in (1, 2, 3)
    ]
    return write(tmp_path / "finished.log", header(), *frames, end(4, 44, trace=[[15_000, 1.5, 41.5], [40_000, 4, 44]]))


def test_numbers_while_a_run_goes_on(look, tmp_path):
    log = write(tmp_path / "run.log", header(), {"kind": "message", "seconds": 0, "text": "compiling the kernels"})
    viewer = look(log)
    playwright.expect(viewer.run()).to_contain_text("compiling the kernels")
    playwright.expect(viewer.run().locator(".state")).to_have_text("starting")
    append(log, frame(0.5, 1.2345))
    viewer.shows("1.2345")
    append(log, frame(2.5, 46))
    viewer.shows("46")
    assert viewer.number("iterations").inner_text() == "250"
    assert viewer.number("evaluations/s").inner_text() == "10k"
    playwright.expect(viewer.run()).to_contain_text("8.00 % from the best known")
    playwright.expect(viewer.run().locator(".state")).to_have_text("running")
    assert viewer.run().locator(".message").is_hidden()
    append(log, end(3.0, 50))
    viewer.shows("50")
    playwright.expect(viewer.run()).to_contain_text("the best known value")
    playwright.expect(viewer.run().locator(".state")).to_have_text("finished: iterations")
    playwright.expect(viewer.page.locator("#summary")).to_contain_text("50 after 3.00 s, finished: iterations")


def test_the_slider_replays(look, finished):
    viewer = look(finished)
    viewer.shows("44")
    for part, best in ((0.3, "41"), (0.4, "41.5"), (0.6, "42"), (0.8, "43"), (0.1, "–"), (1.0, "44")):
        viewer.move_to(part)
        viewer.shows(best)
    slider = viewer.page.locator("#moment")
    slider.focus()
    for key, best in (("ArrowLeft", "43"), ("ArrowLeft", "42"), ("ArrowRight", "43"), ("Home", "–"), ("End", "44")):
        viewer.page.keyboard.press(key)
        viewer.shows(best)
    viewer.move_to(0.3)
    assert slider.get_attribute("aria-valuetext") == "1.20 s of 4.00 s"
    live = viewer.page.get_by_role("button", name="Live")
    assert live.get_attribute("aria-pressed") == "false"
    append(finished, frame(5, 45))  # what comes does not move what is held
    playwright.expect(viewer.page.locator("#clock")).to_have_text("1.20 s / 5.00 s")
    viewer.shows("41")
    live.click()
    viewer.shows("45")
    assert live.get_attribute("aria-pressed") == "true"


def test_the_slider_is_logarithmic_if_wanted(look, tmp_path):
    viewer = look(write(tmp_path / "run.log", header(), *(frame(10.0**k, k) for k in range(5))))
    viewer.shows("4")
    viewer.page.get_by_label("Time").last.select_option("log")
    for part, best in ((0.26, "1"), (0.51, "2"), (0.76, "3")):
        viewer.move_to(part)
        viewer.shows(best)
    ticks = viewer.run().locator(".chart .ticks text").all_text_contents()
    assert ticks[-5:-1] == ["1 s", "10 s", "100 s", "1,000 s"]


def test_play_and_pause_by_keyboard(look, finished):
    viewer = look(finished)
    viewer.shows("44")
    viewer.page.get_by_label("Replay").select_option("1")
    viewer.page.locator("body").press("Space")
    playwright.expect(viewer.page.get_by_role("button", name="Pause")).to_be_visible()
    viewer.shows("41")
    viewer.page.locator("body").press("Space")
    playwright.expect(viewer.page.get_by_role("button", name="Play")).to_be_visible()
    held = viewer.page.locator("#clock").inner_text()
    viewer.page.wait_for_timeout(200)
    assert viewer.page.locator("#clock").inner_text() == held
    viewer.page.get_by_label("Replay").select_option("10")
    viewer.page.get_by_role("button", name="Play").press("Enter")
    viewer.shows("44")
    playwright.expect(viewer.page.get_by_role("button", name="Live")).to_have_attribute("aria-pressed", "true")


def test_the_grid_moves(look, finished):
    viewer = look(finished)
    viewer.shows("44")
    seen = {}
    for part in (0.3, 0.6, 0.8):
        viewer.move_to(part)
        viewer.shows(str(round(40 + 4 * part - 0.3)))
        seen[part] = viewer.pixels()
    assert len({tuple(pixels) for pixels in seen.values()}) == 3
    dark, light = seen[0.3][4:8], seen[0.3][0:4]  # the first column of the first row is lit by then
    assert dark[3] == light[3] == 255
    assert sum(light[:3]) > sum(dark[:3]) + 250
    assert seen[0.6][4:8] == light
    label = viewer.page.locator("canvas.cells").get_attribute("aria-label")
    assert label == "fitness of 3 by 4 cells, from 0 to 50, after 3.00 s"


def test_cells_without_a_value_are_left_out_and_colours_can_be_of_the_whole_run(look, tmp_path):
    pictures = [field([0, 254, 255], 3, 0, 50), field([0, 254, 255], 3, 50, 100)]
    viewer = look(write(tmp_path / "run.log", header(), *(frame(k + 1, k, picture=p) for k, p in enumerate(pictures))))
    viewer.shows("1")
    before = viewer.pixels()
    assert before[11] == 0
    viewer.page.get_by_label("Colours").select_option("run")
    playwright.expect(viewer.run().locator(".bar")).to_have_text("0100")
    assert viewer.pixels()[4:8] == before[4:8]
    assert sum(viewer.pixels()[:3]) > sum(before[:3]) + 150


def test_two_runs_side_by_side_and_below_each_other_on_a_phone(look, tmp_path, finished):
    other = write(
        tmp_path / "other.log", header("other", started="2026-11-18T02:00:00+00:00"), frame(2, 7), frame(8, 9)
    )
    for size in (WIDE, PHONE):
        viewer = look(finished, other, size=size)
        viewer.shows("44")
        viewer.shows("9", "other")
        first, second = viewer.run("other").bounding_box(), viewer.run().bounding_box()
        if size == WIDE:
            assert first["y"] == second["y"]
            assert first["x"] + first["width"] <= second["x"]
        else:
            assert first["x"] == second["x"]
            assert first["y"] + first["height"] <= second["y"]
        assert viewer.page.evaluate("document.documentElement.scrollWidth") <= size[0]
        viewer.move_to(0.26)
        viewer.shows("7", "other")
        viewer.shows("42")
    viewer.page.get_by_role("button", name="Settings").click()
    viewer.page.get_by_label("Replay").select_option("10")


def test_a_log_that_was_thinned(look, tmp_path, finished):
    viewer = look(finished)
    viewer.shows("44")
    os.replace(write(tmp_path / "thin", header(), frame(2, 42), frame(6, 46)), finished)
    viewer.shows("46")
    viewer.page.locator("#moment").press("ArrowLeft")
    viewer.shows("42")


def test_the_server_restarts_and_the_page_goes_on(browser, finished):
    with PageServer(Logs([finished]), token=TOKEN) as server:
        viewer = Viewer(browser, server.url)
        viewer.shows("44")
        port = urlsplit(server.url).port
    said = viewer.page.locator("#connection")
    playwright.expect(said).to_contain_text("the server has ended")
    viewer.move_to(0.3)
    viewer.shows("41")
    viewer.page.evaluate("window.before = 1")
    append(finished, frame(5, 45))
    with PageServer(Logs([finished]), port=port, token=TOKEN):
        playwright.expect(said).to_have_text("connected")
        viewer.page.get_by_role("button", name="Live").click()
        viewer.shows("45")
        assert viewer.page.evaluate("window.before") == 1
        viewer.page.locator("#moment").press("ArrowLeft")
        viewer.shows("44")  # nothing came twice
        viewer.page.locator("#moment").press("ArrowLeft")
        viewer.shows("43")
    with PageServer(Logs([finished]), port=port):
        playwright.expect(said).to_contain_text("does not know this address")
    viewer.close()


def test_names_are_text_whatever_they_say(look, tmp_path):
    marks = [
        {"mark": "rect", "x": 0, "y": 0, "w": 900, "h": 900, "colour": 1, "label": HOSTILE},
        {"mark": "text", "x": 0, "y": 50, "text": HOSTILE},
    ]
    drawn = {"width": 1000, "height": 1000, "caption": HOSTILE, "marks": marks}
    told = header(HOSTILE, algorithm=HOSTILE, problem=HOSTILE, engine=HOSTILE, parameters={HOSTILE: HOSTILE})
    told["objectives"] = [{"name": HOSTILE, "sense": "maximise"}]
    picture = {**field([1, 2, 3, 4], 2), "name": HOSTILE}
    log = write(
        tmp_path / f"{HOSTILE.replace('/', '')}.log",
        told,
        {"kind": "message", "seconds": 0, "text": HOSTILE},
        frame(1, 7, stage=HOSTILE, picture=picture, drawing=drawn),
    )
    viewer = look(log)
    viewer.shows("7", HOSTILE)
    viewer.run(HOSTILE).locator("summary").click()
    assert viewer.run(HOSTILE).locator("img, script").count() == 0
    assert viewer.run(HOSTILE).inner_text().count(HOSTILE) >= 8
    assert viewer.page.evaluate("window.hurt") is None


def test_a_damaged_log_is_a_sentence_and_the_others_go_on(look, tmp_path, finished):
    broken = write(tmp_path / "broken.log", header("broken", id="f" * 16), frame(1, 7))
    with broken.open("a") as file:
        file.write("nonsense\n")
    none = tmp_path / "none.log"
    none.write_text("nothing\n")
    viewer = look(broken, none, finished)
    playwright.expect(viewer.run("broken").locator(".trouble")).to_contain_text("is damaged: line 3")
    playwright.expect(viewer.run("none.log").locator(".trouble")).to_contain_text("no log of systola")
    viewer.shows("7", "broken")
    viewer.shows("44")
    assert viewer.run().locator(".trouble").is_hidden()
    append(finished, frame(5, 45))
    viewer.shows("45")


def test_migrations_are_arrows_that_fade(look, tmp_path):
    moves = [[[0, 1, 2]], [[1, 3, 1]], [], [[2, 0, 8]]]
    frames = [frame(k + 1, 40, picture=demes([40, 41, None, 43], 2, m)) for k, m in enumerate(moves)]
    log = write(tmp_path / "run.log", header(), *frames)
    viewer = look(log)
    viewer.shows("40")
    arrows = viewer.run().locator(".arrows path")
    assert arrows.evaluate_all("all => all.map(a => a.dataset.age)") == ["3", "2", "0"]
    shades = [float(shade) for shade in arrows.evaluate_all("all => all.map(a => a.style.opacity)")]
    assert 0 < shades[0] < shades[1] < shades[2]
    assert shades[-1] == 1
    viewer.move_to(0.3)
    playwright.expect(arrows).to_have_count(1)
    assert viewer.run().locator("rect.deme").count() == 4
    assert viewer.run().locator("rect.none").count() == 1
    calm = look(log, reduced_motion="reduce")
    calm.shows("40")
    assert calm.run().locator(".arrows path").count() == 1


def test_walks_fronts_and_drawings(look, tmp_path):
    log = write(
        tmp_path / "walk.log", header(), *(frame(k, 40, picture=walk([30 + k, 35], [40, 38])) for k in (1, 2, 3))
    )
    viewer = look(log)
    viewer.shows("40")
    assert viewer.run().locator(".lane").count() == 2
    objectives = [{"name": "value", "sense": "maximise"}, {"name": "cost", "sense": "minimise"}]
    frames = [frame(k, [k, k], picture=front([[i, i * i] for i in range(k)]), drawing=drawing(k)) for k in (2, 3)]
    log = write(tmp_path / "front.log", header(objectives=objectives, known=None), *frames)
    viewer = look(log)
    viewer.shows("3")
    assert viewer.run().locator(".point circle").count() == 3
    assert viewer.run().locator(".solution rect").count() == 3
    viewer.move_to(0.7)
    viewer.shows("2")
    assert viewer.run().locator(".point circle").count() == 2
    assert viewer.run().locator(".solution rect").count() == 2
    playwright.expect(viewer.run()).to_contain_text("Best solution: 2 boxes")


def test_a_drawing_tells_when_it_was_the_best(look, tmp_path):
    log = write(tmp_path / "run.log", header(), frame(1, 40, drawing=drawing(2)), frame(2, 40))
    viewer = look(log)
    playwright.expect(viewer.run()).to_contain_text("Best solution: 2 boxes")
    append(log, frame(3, 41))
    playwright.expect(viewer.run()).to_contain_text("Best solution after 1.00 s: 2 boxes")
    append(log, frame(4, 41, drawing=drawing(3)))
    playwright.expect(viewer.run()).to_contain_text("Best solution: 3 boxes")


def test_processes_of_one_job_are_one_run(look, tmp_path):
    logs = []
    for rank, best in enumerate(([40, None], [None, 43])):
        picture = demes(best, 2, [[rank, 1 - rank, 3]])
        told = header(ranks=2, rank=rank)
        logs.append(write(tmp_path / f"run.{rank}", told, frame(1 + rank, max(filter(None, best)), picture=picture)))
    viewer = look(*logs)
    viewer.shows("43")
    assert viewer.page.get_by_role("article").count() == 1
    assert viewer.number("evaluations").inner_text() == "30,000"
    assert viewer.run().locator("text.deme").all_text_contents() == ["40", "43"]
    assert viewer.run().locator(".arrows path").count() == 2
    playwright.expect(viewer.run()).to_contain_text("2 processes")
    for log in logs:  # each tells the evaluations of all
        append(log, end(4, 43, evaluations=70_000))
    playwright.expect(viewer.number("evaluations")).to_have_text("70,000")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_serious_fault_of_accessibility(look, tmp_path, finished, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs the extra systola[browser]")
    logs = [
        finished,
        write(
            tmp_path / "1", header("demes"), frame(1, 40, picture=demes([40, 41], 2, [[0, 1, 2]]), drawing=drawing(3))
        ),
        write(tmp_path / "2", header("walk"), frame(1, 40, violation=3, feasible=False, picture=walk([1], [2]))),
        write(tmp_path / "3", header("damaged"), frame(1, 40, picture=front([[1, 2], [2, 1]]))),
    ]
    with logs[3].open("a") as file:
        file.write("nonsense\n")
    for size in (WIDE, PHONE):
        viewer = look(*logs, size=size, color_scheme=scheme)
        viewer.shows("44")
        playwright.expect(viewer.run("damaged").locator(".trouble")).to_be_visible()
        for summary in viewer.page.locator("summary").all():
            summary.click()
        found = axe.Axe().run(viewer.page).response["violations"]
        assert [(fault["id"], fault["nodes"][0]["target"]) for fault in found] == []


def test_everything_is_reached_by_the_tab_key_and_seen_there(look, finished):
    viewer = look(finished)
    viewer.shows("44")
    seen = []
    for _ in range(9):
        viewer.page.keyboard.press("Tab")
        seen.append(
            viewer.page.evaluate(
                """() => [document.activeElement.id || document.activeElement.tagName,
                          getComputedStyle(document.activeElement).outlineStyle]"""
            )
        )
    assert [name for name, _ in seen[:8]] == ["A", "SUMMARY", "play", "live", "moment", "speed", "scale", "range"]
    assert {style for _, style in seen[:8]} == {"solid"}
