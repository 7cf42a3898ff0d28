"""The HTML report in a browser: what a reader clicks, points at and types, and what the page then shows.

    report_test.py CHROMIUM FOLDER [NAME...]

FOLDER has small.html, large.html, huge.html, hostile.html and nothing.html, as report_html_test writes them, and the
reports of kernels of tests/report under their names. Prints `failed: NAME: why` for what failed and, last,
`N passed, N failed`."""

import sys
import time
import traceback

from browser import Browser, Failure

tests = []


def test(function):
    tests.append(function)
    return function


def check(condition, what):
    if not condition:
        raise Failure(what)


def equal(actual, expected, what):
    check(actual == expected, f"{what}: {actual!r} instead of {expected!r}")


class Page:
    """The page under test: short forms of what the tests ask."""

    def __init__(self, browser, folder):
        self.browser, self.folder = browser, folder

    def open(self, name, **options):
        self.browser.open(f"{self.folder}/{name}.html", **options)
        return self.browser

    def picture(self):
        """Left, top, width of the picture."""
        self.browser.run("document.querySelector('.lanes-bar').scrollIntoView({block: 'start', behavior: 'instant'})")
        self.browser.run("scrollBy({top: -100, behavior: 'instant'})")
        self.browser.settle()
        return self.browser.run("(() => { const r = document.querySelector('.lanes-paper svg').getBoundingClientRect();"
                                " return [r.left, r.top, r.width]; })()")

    def box(self, selector, index=0):
        """Left, top, right, bottom of an element of the picture."""
        self.picture()
        return self.browser.run(f"(() => {{ const r = document.querySelectorAll({selector!r})[{index}].getBoundingClientRect();"
                                " return [r.left, r.top, r.right, r.bottom]; })()")

    def point_at(self, selector, index=0):
        """Moves the pointer to the middle of an element of the picture."""
        left, top, right, bottom = self.box(selector, index)
        self.browser.mouse("mouseMoved", (left + right) / 2, (top + bottom) / 2)
        self.browser.settle()
        return (left + right) / 2, (top + bottom) / 2

    def range(self):
        """The steps in view."""
        words = self.text(".lanes-range").replace(",", "").split()
        return int(words[1]), int(words[3])

    def text(self, selector):
        return self.browser.run(f"document.querySelector({selector!r})?.textContent")

    def shown(self, selector):
        return self.browser.run(f"document.querySelector({selector!r})?.checkVisibility({{contentVisibilityAuto: true}})"
                                " ?? false")

    def count(self, selector):
        return self.browser.run(f"document.querySelectorAll({selector!r}).length")

    def background(self):
        return self.browser.run("getComputedStyle(document.body).backgroundColor")


SAMPLES = ("small", "large", "huge", "hostile", "nothing")
KERNELS = ("attention_packed", "attention_packed-m_l_unordered", "big", "pingpong_named-count", "tokens")
LIGHT, DARK = "rgb(245, 246, 248)", "rgb(14, 18, 22)"


# ---- The page as a whole ----


@test
def every_sample_opens_without_complaint(page):
    for name in SAMPLES + KERNELS:
        browser = page.open(name)
        equal(browser.complaints(), [], name + ": console")
        equal(browser.requests(), [], name + ": requests")


@test
def the_verdict_is_on_the_first_screen(page):
    page.open("small")
    equal(page.text(".outcome strong"), "1 finding", "verdict")
    check(page.browser.run("document.querySelector('.finding .facts').getBoundingClientRect().bottom < innerHeight"),
          "why and fix of the first finding are not in view")
    page.open("large")
    equal(page.text(".outcome strong"), "Clean", "verdict")


@test
def hostile_texts_stay_texts(page):
    browser = page.open("hostile")
    for kind in ("mouseover", "click", "focus"):
        browser.run(f"for (const e of document.querySelectorAll('*')) e.dispatchEvent(new Event({kind!r}))")
    browser.run("localStorage.clear()")  # the button for light and dark was clicked, too
    check(browser.run("window.attacked === undefined"), "a text was run as a script")
    equal(page.count("img"), 0, "images")
    equal(page.count("script"), 2, "scripts")
    check(page.text("h1").startswith("</script><script>attacked=1"), "the kernel's name is not shown")
    equal(browser.complaints(), [], "console")


@test
def nothing_is_a_small_page(page):
    page.open("nothing")
    equal(page.text(".outcome strong"), "Nothing to report", "verdict")
    equal(page.count("table"), 0, "tables")


@test
def the_page_fits_from_900_pixels_on(page):
    for name in ("small", "large", "hostile") + KERNELS:
        for width in (900, 1440) if name in KERNELS else (900, 1100, 1440, 1920):
            browser = page.open(name, width=width)
            wide = browser.run("document.documentElement.scrollWidth - innerWidth")
            check(wide <= 0, f"{name}: {wide} pixels too wide at {width}")


# ---- Light and dark ----


@test
def the_system_decides_between_light_and_dark(page):
    browser = page.open("small")
    equal(page.background(), LIGHT, "light")
    browser.emulate("dark")
    browser.settle()
    equal(page.background(), DARK, "dark")
    equal(page.text(".theme"), "Light", "the button")


@test
def the_button_overrides_the_system(page):
    browser = page.open("small")
    browser.click_on(".theme")
    equal(page.background(), DARK, "after one click")
    browser.open(f"{page.folder}/small.html")
    equal(page.background(), DARK, "after loading again")
    browser.click_on(".theme")
    equal(page.background(), LIGHT, "after another click")
    browser.run("localStorage.clear()")


# ---- Folding and links ----


@test
def sections_fold(page):
    browser = page.open("small")
    check(page.shown("#partitions table"), "the table is not shown at first")
    browser.click_on("#partitions > summary h2")
    check(not page.shown("#partitions table"), "the table is still shown")
    browser.click_on("#partitions > summary h2")
    check(page.shown("#partitions table"), "the table does not come back")
    browser.click_on(".fold-all")
    check(not page.shown("#coverage table") and not page.shown("#shared .facts"), "not all is folded")
    equal(page.text(".fold-all"), "Unfold all", "the button")
    browser.click_on(".fold-all")
    check(page.shown("#coverage table") and page.shown("#shared .facts"), "not all is unfolded")


@test
def summaries_answer_the_keyboard(page):
    browser = page.open("small")
    browser.run("document.querySelector('#shared > summary').focus()")
    browser.key("Enter")
    check(not page.shown("#shared .facts"), "Enter does not fold")
    browser.key("Enter")
    check(page.shown("#shared .facts"), "Enter does not unfold")


@test
def words_lead_to_the_glossary(page):
    browser = page.open("small")
    browser.click_on(".fold-all")
    browser.click_on(".fold-all")
    browser.click_on("#phases .lead a.term[href='#term-phase']")
    equal(browser.run("location.hash"), "#term-phase", "the address")
    check(browser.run("(() => { const r = document.querySelector('#term-phase').getBoundingClientRect();"
                      " return r.top > 0 && r.bottom < innerHeight; })()"), "the word is not in view")


@test
def a_link_into_a_fold_opens_it(page):
    browser = page.open("large")
    check(not page.shown("#sites-5 .facts"), "the barrier is not folded at first")
    browser.click_on("#barrier-5 a.name")
    check(page.shown("#sites-5 .facts"), "the barrier stays folded")


@test
def lines_of_the_ir_are_shown_on_demand(page):
    browser = page.open("small")
    browser.mouse("mouseMoved", *browser.middle("#partitions a.ir"))
    time.sleep(0.4)
    check(page.shown(".quote"), "pointing at a line shows nothing")
    browser.mouse("mouseMoved", 5, 5)
    time.sleep(0.5)
    check(not page.shown(".quote"), "it does not go away")
    browser.click_on("#partitions a.ir")
    check(page.shown(".quote"), "a click shows nothing")
    equal(page.text(".quote .title span"), "IR line 5", "the title")
    equal(len(page.text(".quote pre").strip().split("\n")), 5, "lines shown")
    check(page.text(".quote b").startswith("5"), "the line itself is not marked")
    browser.key("Escape")
    check(not page.shown(".quote"), "Escape does not close it")
    equal(browser.run("location.hash"), "", "the address")


@test
def without_scripts_all_tables_are_there(page):
    browser = page.browser
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    page.open("small", settle=False)
    browser.call("Emulation.setScriptExecutionDisabled", value=False)
    for name in ("partitions", "dependencies", "phases", "aliases", "deadlocks", "coverage", "limits"):
        check(page.shown(f"#{name} table"), f"there is no table in {name}")
    check(page.shown("#shared .facts"), "there are no buffers")
    check(page.shown("noscript"), "nothing says that the picture needs scripts")
    check(not page.shown(".lanes"), "an empty picture is shown")
    check(page.shown(".graph svg"), "there is no graph")


@test
def print_unfolds_all(page):
    browser = page.open("large")
    browser.call("Page.printToPDF")
    equal(browser.complaints(), [], "console")
    browser.run("dispatchEvent(new Event('beforeprint'))")
    equal(page.count("details:not([open])"), 0, "what is folded")
    browser.run("dispatchEvent(new Event('afterprint'))")
    check(page.count("details:not([open])") > 0, "nothing is folded again")


# ---- The swim lanes ----


@test
def every_agent_has_a_lane(page):
    page.open("large")
    equal(page.count(".lanes-names button"), 10, "lanes")
    equal(page.count(".lanes-names .cta"), 1, "groups")
    equal(page.count(".legend-list li"), 60, "barriers")
    page.open("small")
    equal(page.count(".lanes-names .cta"), 2, "groups")


@test
def buttons_zoom_and_move(page):
    browser = page.open("large")
    low, high = page.range()
    browser.click_on("[data-does=in]")
    a, b = page.range()
    check(b - a < (high - low) * 0.6, "it does not zoom in")
    browser.click_on("[data-does=right]")
    check(page.range()[0] > a, "it does not move on")
    browser.click_on("[data-does=left]")
    check(abs(page.range()[0] - a) <= 1, "it does not move back")
    browser.click_on("[data-does=out]")
    equal(page.range(), (low, high), "zoomed out")
    browser.click_on("[data-does=in]")
    browser.click_on("[data-does=in]")
    browser.click_on("[data-does=fit]")
    equal(page.range(), (low, high), "all")


@test
def the_wheel_zooms_where_it_is(page):
    browser = page.open("large")
    left, top, width = page.picture()
    before = page.range()
    browser.mouse("mouseWheel", left + width / 4, top + 60, deltaX=0, deltaY=-200, modifiers=2)
    browser.settle()
    after = page.range()
    check(after[1] - after[0] < before[1] - before[0], "Ctrl and the wheel do not zoom")
    middle = (before[1] - before[0]) / 4
    check(abs((after[0] + (after[1] - after[0]) / 4) - middle) < 30, "it does not zoom at the pointer")


@test
def dragging_moves(page):
    browser = page.open("large")
    browser.click_on("[data-does=in]")
    left, top, width = page.picture()
    before = page.range()
    browser.drag(left + width * 0.6, top + 60, left + width * 0.3, top + 60)
    after = page.range()
    moved = (after[0] - before[0]) / (before[1] - before[0])
    check(0.25 < moved < 0.35, f"it moved by {moved:.2f} of the view")
    check(not page.text(".lanes-chosen b"), "dragging chose something")


@test
def keys_zoom_move_and_step(page):
    browser = page.open("large")
    page.picture()
    browser.run("document.querySelector('.lanes-view').focus({preventScroll: true})")
    low, high = page.range()
    browser.key("+")
    a, b = page.range()
    check(b - a < high - low, "+ does not zoom")
    browser.key("ArrowRight")
    check(page.range()[0] > a, "the arrow does not move")
    browser.key("0")
    equal(page.range(), (low, high), "0")
    browser.key("n")
    check(page.shown(".tip"), "n shows no tooltip")
    first = page.text(".tip")
    check("waited" in first, "n does not go to a wait")
    browser.key("n")
    check(page.text(".tip") != first, "n stays")
    browser.key("p")
    equal(page.text(".tip"), first, "p")
    browser.key("Enter")
    check(page.text(".lanes-chosen b"), "Enter does not choose")
    browser.key("Escape")
    check(not page.text(".lanes-chosen b"), "Escape does not let go")


@test
def pointing_at_a_slice_tells_what_it_is(page):
    browser = page.open("small")
    page.point_at("path.wait")
    check(page.shown(".tip"), "there is no tooltip")
    said = page.text(".tip")
    for words in ("ttng.wait_barrier", "waited 4 steps", "partition1", "steps 3 to 6", "full[0]", "parity 0",
                  "phase 0 is over", "by partition0.tma", "IR line30"):
        check(words in said, f"the tooltip does not say {words!r}: {said!r}")
    equal(page.count(".arrow.strong"), 1, "strong arrows")
    left, top, _ = page.picture()
    browser.mouse("mouseMoved", left, top - 120)
    browser.settle()
    check(not page.shown(".tip"), "the tooltip stays")
    equal(page.count(".arrow.strong"), 0, "strong arrows")


@test
def pointing_at_who_is_blocked_tells_who_could_release_it(page):
    page.open("small")
    page.point_at("rect.blocked")
    said = page.text(".tip")
    for words in ("blocked forever", "nobody can use slot 0", "Could release",
                  "partition1.tensor tc_gen5_mma, IR line 33: would, but is blocked at IR line 30"):
        check(words in said, f"the tooltip does not say {words!r}: {said!r}")
    equal(page.count("path.never"), 2, "arrows that never come")
    page.browser.click(*page.point_at("rect.blocked"))
    check("would, but is blocked" in page.text(".never-told"), "what is chosen does not say it")
    equal(page.count(".never-told a.ir"), 1, "links to the ops")


@test
def a_click_chooses_the_barrier_and_leads_to_its_row(page):
    browser = page.open("small")
    browser.click(*page.point_at("path.wait"))
    equal(page.text(".lanes-chosen b"), "full", "what is chosen")
    equal(page.text(".legend-list li.chosen button"), "full", "in the legend")
    equal(page.count("tr.chosen"), 1, "rows marked")
    check(page.count(".dim") > 0, "the others are not dimmed")
    browser.click_on(".lanes-chosen .to-row")
    equal(browser.run("location.hash"), "#barrier-0", "the address")
    check(browser.run("(() => { const r = document.querySelector('#barrier-0').getBoundingClientRect();"
                      " return r.top > 40 && r.bottom < innerHeight; })()"), "the row is not in view")
    browser.click_on(".lanes-chosen button")
    equal(page.count("tr.chosen"), 0, "rows marked after letting go")


@test
def blocked_agents_reach_the_edge(page):
    page.open("small")
    equal(page.count("rect.blocked"), 2, "blocked slices")
    check(page.browser.run("[...document.querySelectorAll('rect.blocked')].every(r => r.getBoundingClientRect().right >="
                           " document.querySelector('.lanes-paper').getBoundingClientRect().right)"), "they end earlier")


@test
def the_legend_filters(page):
    browser = page.open("large")
    browser.click_on(".legend-head input")
    for letter in "row_max":
        browser.key(letter)
    equal(browser.run("[...document.querySelectorAll('.legend-list li')].filter(i => i.checkVisibility()).length"), 4,
          "barriers shown")
    browser.run("document.querySelector('.legend-head input').value = '';"
                "document.querySelector('.legend-head input').dispatchEvent(new Event('input'))")
    arrows = page.count(".arrow")
    check(arrows > 0, "there are no arrows")
    browser.click_on(".legend-head button:last-of-type")
    equal(page.count(".arrow"), 0, "arrows with no barrier shown")
    browser.click_on(".legend-list li:nth-child(2) input")
    check(0 < page.count(".arrow") < arrows, "one barrier does not come back alone")
    browser.click_on(".legend-head button:nth-of-type(1)")
    equal(page.count(".arrow"), arrows, "arrows with all shown")


@test
def pointing_at_a_barrier_or_a_lane_brings_out_its_arrows(page):
    browser = page.open("large")
    page.picture()
    equal(page.count(".arrow.strong"), 0, "strong arrows at first")
    place = browser.run("(() => { const r = document.querySelector('.legend-list li:nth-child(2)').getBoundingClientRect();"
                        " return [r.x + 80, r.y + 10]; })()")
    browser.mouse("mouseMoved", *place)
    browser.settle()
    one = page.count(".arrow.strong")
    check(one > 0, "no arrow of the barrier stands out")
    place = browser.run("(() => { const r = document.querySelectorAll('.lanes-names button')[5].getBoundingClientRect();"
                        " return [r.x + 30, r.y + 10]; })()")
    browser.mouse("mouseMoved", *place)
    browser.settle()
    check(page.count(".arrow.strong") > one, "no arrow of the lane stands out")


@test
def lines_of_the_graph_mark_their_rows(page):
    browser = page.open("large")
    browser.mouse("mouseMoved", *browser.middle("a.edge text"))
    browser.settle()
    check(page.count("tr.chosen") > 0, "no row is marked")
    browser.mouse("mouseMoved", 5, 5)
    browser.settle()
    equal(page.count("tr.chosen"), 0, "rows marked afterwards")
    browser.click_on("a.edge text")
    check(browser.run("location.hash").startswith("#edge-"), "a click does not lead to the row")


# ---- Reports of kernels ----


LABELS_THAT_TOUCH = """(() => {
    const boxes = [...document.querySelectorAll(".edge-label, .node rect")].map(e => [e.textContent, e.getBoundingClientRect()]);
    const touch = (a, b) => a.left < b.right && b.left < a.right && a.top + 1 < b.bottom && b.top + 1 < a.bottom;
    return boxes.flatMap(([name, a], i) => boxes.slice(i + 1).filter(([, b]) => touch(a, b)).map(([other]) => name + "/" + other));
})()"""


@test
def labels_of_the_graph_do_not_touch(page):
    for name in ("small", "large") + KERNELS:
        browser = page.open(name)
        equal(browser.run(LABELS_THAT_TOUCH), [], name)


@test
def every_slice_of_a_kernel_knows_its_barrier(page):
    for name in KERNELS:
        browser = page.open(name)
        equal(browser.run("JSON.parse(document.querySelector('#trace').textContent).barriers.filter(b => !b[1]).length"), 0,
              name + ": barriers without a row")
        equal(browser.run("(() => { const t = JSON.parse(document.querySelector('#trace').textContent);"
                          " return t.events.filter(e => e.length < 9 && /wait_barrier|arrive|acquire|commit|release/"
                          ".test(t.texts[e[4]])).length; })()"), 0, name + ": events without a barrier")


@test
def every_link_of_a_kernel_leads_somewhere(page):
    for name in KERNELS:
        browser = page.open(name)
        equal(browser.run("[...document.querySelectorAll('a[href^=\"#\"]')].map(a => a.getAttribute('href').slice(1))"
                          ".filter(id => !document.getElementById(id))"), [], name)
        equal(browser.run("[...document.querySelectorAll('td, .facts dd, main p')].filter(e => {"
                          " const left = e.cloneNode(true); left.querySelectorAll('a, pre').forEach(a => a.remove());"
                          " return /IR line \\d/.test(left.textContent); }).map(e => e.textContent)"), [],
              name + ": lines that are no links")


@test
def a_hang_is_told_at_once(page):
    browser = page.open("pingpong_named-count")
    equal(page.text(".outcome .meaning"), "This kernel can fail: 1 deadlock.", "the verdict")
    equal(page.count(".lanes-names .stuck"), 3, "lanes that are marked")
    equal(page.count("rect.blocked"), 3, "blocked slices")
    labels = browser.run("[...document.querySelectorAll('.blocked-label')].map(l => l.textContent)")
    for words in ("empty[0]", "named barrier 9", "named barrier 10"):
        check(any(label.endswith(words) for label in labels), f"no slice says {words!r}: {labels}")
    equal(page.count("path.never"), 3, "arrows that never come")
    browser.click_on(".leads a[href='#deadlocks']")
    check(page.shown("#deadlocks table"), "the table is not in view")


@test
def a_missing_order_is_told_at_once(page):
    browser = page.open("attention_packed-m_l_unordered")
    equal(page.text(".outcome .meaning"), "This kernel can fail: 1 race, 1 missing order.", "the verdict")
    equal(page.count("#coverage .answer a.tag"), 2, "what is missing")
    equal(page.count("#coverage tr.flagged"), 2, "rows")
    check(page.shown("#coverage tr.flagged"), "the rows are folded")
    left, top, right, bottom = page.box("path.mark")
    check(right - left > 100 and bottom - top > 30, "the accesses are not marked in the lanes")
    page.browser.run("document.querySelector('.lanes-view').focus({preventScroll: true})")
    equal(browser.complaints(), [], "console")


@test
def sixty_barriers_can_be_read(page):
    browser = page.open("big")
    equal(page.count(".legend-list li"), 60, "barriers")
    browser.click_on(".legend-head input")
    for letter in "z7":
        browser.key(letter)
    equal(browser.run("[...document.querySelectorAll('.legend-list li')].filter(i => i.checkVisibility()).length"), 2,
          "barriers shown")
    check(browser.run("document.documentElement.outerHTML.length") < 1000000, "the page is large")


@test
def thousands_of_events_are_quick(page):
    browser = page.open("huge")
    check("20,000 events of 25,000" in page.text("#timeline .notice"), "nothing says that the picture ends")
    page.picture()
    took = browser.run("(async () => { const start = performance.now(); for (let i = 0; i < 10; i++) {"
                       " document.querySelector(i < 5 ? '[data-does=in]' : '[data-does=out]').click();"
                       " await new Promise(requestAnimationFrame); await new Promise(requestAnimationFrame); }"
                       " return (performance.now() - start) / 10; })()")
    check(took < 1000, f"a redraw takes {took:.0f} ms")
    check(page.count(".lanes-view svg *") < 6000, "too much is drawn at once")
    equal(browser.complaints(), [], "console")


def main():
    program, folder, names = sys.argv[1], sys.argv[2], sys.argv[3:]
    passed = failed = 0
    browser = Browser(program)
    try:
        for one in tests:
            if names and one.__name__ not in names:
                continue
            try:
                one(Page(browser, folder))
                passed += 1
            except Failure as why:
                failed += 1
                print(f"failed: {one.__name__}: {why}")
            except Exception:  # a mistake in the test itself
                failed += 1
                print(f"failed: {one.__name__}: {traceback.format_exc()}")
    finally:
        browser.close()
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
