"""The HTML report in a browser: what a reader clicks, points at and types, and what the page then shows.

    report_test.py CHROMIUM FOLDER [NAME...]

FOLDER has small.html, large.html, huge.html, barriers.html, hostile.html, nothing.html and unrun.html, as
report_html_test writes them, the reports of kernels of tests/report under their names, and those of an attention kernel that
is right (clean), that races (racing) and that hangs (hanging). Prints `failed: NAME: why` for what failed and, last,
`N passed, N failed`."""

import os
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


SAMPLES = ("small", "large", "huge", "barriers", "hostile", "nothing", "unrun")
KERNELS = ("clean", "racing", "hanging", "attention_packed", "attention_packed-m_l_unordered", "big", "pingpong_named-count", "tokens")
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
    equal(page.text(".outcome strong"), "Clean (this launch)", "verdict")


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
    browser.click_on("[data-does=fit]")
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
    browser.click_on("[data-does=fit]")
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
    browser.key("0")
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
    equal(page.text(".outcome .meaning"), "This kernel hangs: 1 deadlock.", "the verdict")
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
    equal(page.text(".outcome .meaning"), "This kernel races: 1 race, 1 missing order.", "the verdict")
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


# ---- Where it opens ----


@test
def a_long_run_opens_on_two_iterations(page):
    browser = page.open("clean")
    low, high = page.range()
    check("two iterations around IR line" in page.text(".lanes-range"), "nothing says what is shown")
    steps = int(page.text(".lanes-range").replace(",", "").split()[5].rstrip(":"))
    check(0 < high - low < steps / 20, f"steps {low} to {high} of {steps} are shown at first")
    times = browser.run("(() => { const line = +/IR line (\\d+)/.exec(document.querySelector('.lanes-range').textContent)[1];"
                        " const t = JSON.parse(document.querySelector('#trace').textContent);"
                        f" return t.events.filter(e => e[6] === line && e[2] >= {low} && e[2] < {high} && e[0] < 3).length; }})()")
    check(times in (2, 3), f"the op of the loop is shown {times} times")
    browser.click_on("[data-does=fit]")
    check(page.range()[1] - page.range()[0] >= steps - 1, "All does not show all")
    browser.click_on("[data-does=open]")
    equal(page.range(), (low, high), "Back")


@test
def a_hang_opens_where_it_hangs(page):
    page.open("hanging")
    check(page.text(".lanes-range").endswith("where it hangs"), page.text(".lanes-range"))
    equal(page.count("rect.blocked"), 4, "blocked slices in view")
    check(page.count("path.never") > 0, "nothing shows who could release them")


@test
def a_race_opens_on_its_accesses(page):
    page.open("racing")
    equal(page.text(".outcome strong"), "2 findings", "the verdict")
    check(page.text(".lanes-range").endswith("the accesses of a finding"), page.text(".lanes-range"))
    lanes = page.browser.run("new Set(document.querySelector('path.mark').getAttribute('d').match(/M[\\d.]+ ([\\d.]+)/g)"
                             ".map(m => m.split(' ')[1])).size")
    equal(lanes, 2, "lanes with a mark")


@test
def clean_is_green_only_if_something_ran(page):
    page.open("unrun")
    equal(page.text(".outcome strong"), "Not run", "the verdict")
    green = page.browser.run("getComputedStyle(document.querySelector('.outcome strong')).color")
    page.open("clean")
    check(page.text(".outcome strong").startswith("Clean ("), "the verdict has no scope")
    check(page.browser.run("getComputedStyle(document.querySelector('.outcome strong')).color") != green, "both look the same")


# ---- Finding ----


def find_words(page, words):
    page.browser.key("/")
    page.browser.run(f"(() => {{ const i = document.querySelector('.find input'); i.value = {words!r};"
                     " i.dispatchEvent(new Event('input')); })()")
    page.browser.settle()
    return page.browser.run("[...document.querySelectorAll('.found-list li[role=option]')].map(l => l.textContent)")


@test
def the_slash_finds_barriers_and_goes_there(page):
    browser = page.open("clean")
    found = find_words(page, "v_emptied")
    check(found and found[0].startswith("barrierv_emptied"), f"found: {found[:3]}")
    box = browser.run("(() => { const r = document.querySelector('.found-list').getBoundingClientRect();"
                      " return [r.left, r.top, r.right, r.height]; })()")
    check(box[0] > 0 and 40 < box[1] < 80 and box[2] <= 1440 and box[3] > 60, f"the list is not below the field: {box}")
    check(any(one.startswith("in the run") for one in found) and any(one.startswith("edge") for one in found), "what else has it")
    browser.key("Enter")
    check(browser.run("location.hash").startswith("#sites-"), "Enter does not lead to the barrier")
    check(page.shown(".fold.found"), "its block is folded")
    check(not page.shown(".found-list"), "the list stays")


@test
def finding_steps_through_the_run(page):
    browser = page.open("clean")
    found = find_words(page, "tc_gen5_commit in the run")
    check(found and "in the run" in found[0], f"found: {found[:3]}")
    browser.key("Enter")
    browser.settle()
    first = page.text(".tip")
    check(page.shown(".tip") and "tc_gen5_commit" in first, "Enter does not point it out")
    browser.key("Enter")
    browser.settle()
    check(page.text(".tip") != first, "Enter again stays there")


@test
def finding_tells_when_there_is_nothing(page):
    page.open("clean")
    equal(find_words(page, "no such thing at all"), [], "found")
    equal(page.text(".found-sum"), "Nothing has that in it.", "what is said")


@test
def lines_of_the_ir_are_found(page):
    browser = page.open("clean")
    found = find_words(page, "IR line fence_async_shared")
    check(found and "fence_async_shared" in found[0], f"found: {found[:3]}")
    browser.key("Enter")
    check(browser.run("location.hash").startswith("#L"), "it does not lead to the line")
    check(page.shown(".lines li.found"), "the line is not shown")


# ---- The source beside the timeline ----


@test
def the_source_stands_beside_the_timeline(page):
    for width, beside in ((1280, True), (390, False)):
        browser = page.open("sourced", width=width)
        left, right = (browser.run(f"(() => {{ const r = document.querySelector('{one}').getBoundingClientRect();"
                                   " return [r.left, r.top, r.right, r.bottom]; })()") for one in (".picture", ".code"))
        check(right[0] >= left[2] if beside else right[1] >= left[3], f"at {width}: {left} and {right}")
        equal(browser.run("document.documentElement.scrollWidth <= innerWidth"), True, f"the page is no wider than {width}")


@test
def names_stand_above_lanes_where_there_is_no_room(page):
    browser = page.open("sourced", width=390)
    name = browser.run("document.querySelector('.lanes-names button').getBoundingClientRect().bottom")
    top, left = browser.run("(() => { const r = document.querySelector('.lanes-paper svg').getBoundingClientRect();"
                            " return [r.top, r.left - document.querySelector('.lanes-view').getBoundingClientRect().left]; })()")
    check(left < 4, f"the picture begins {left} pixels to the right")
    check(name <= top + 24 + 25, "a name covers its lane")


@test
def lines_of_the_source_lead_to_steps_and_back(page):
    browser = page.open("sourced")
    marked = browser.run("[...document.querySelectorAll('.code li.error')].map(line => line.value)")
    equal(marked, [26, 35], "lines of the finding")
    browser.click_on("#S0-35")
    equal(page.shown(".tip"), True, "the step is pointed out")
    check("aliases.py:35" in page.text(".tip"), page.text(".tip"))
    equal(browser.run("document.querySelector('.code .here')?.id"), "S0-35", "the line of the step")
    browser.click_on("#S0-26 .tag")
    equal(browser.run("location.hash"), "#finding-0", "where the mark leads")
    browser.click_on("#finding-0 h3 a.src")
    equal(browser.run("location.hash"), "#S0-35", "where the finding leads")


@test
def notes_unfold(page):
    browser = page.open("noted")
    check(browser.run("document.querySelector('details.finding > summary').textContent.includes('note')"), "no summary")


# ---- The graph ----


@test
def the_graph_has_a_column_for_each_partition(page):
    browser = page.open("racing")
    columns = browser.run("[...document.querySelectorAll('.lifeline')].map(l => l.getAttribute('d').split(' ')[0])")
    equal(len(set(columns)), 4, "columns")
    ends = browser.run("[...document.querySelectorAll('.edge circle')].map(c => 'M' + (+c.getAttribute('cx')).toFixed(1))")
    check(all(end in columns for end in ends), "an arrow starts beside the columns")
    equal(browser.run("document.querySelector('a.edge.missing')?.getAttribute('href')?.startsWith('#coverage-')"), True,
          "what is missing is an arrow to its table")


@test
def names_in_the_graph_are_whole(page):
    for name in ("clean", "large", "attention_packed"):
        browser = page.open(name)
        equal(browser.run("[...document.querySelectorAll('.graph text')].filter(t => /\\u2026|\\+\\d/.test(t.textContent)).length"),
              0, name + ": cut labels")
        drawn = browser.run("[...document.querySelectorAll('.edge-label')].map(t => t.textContent).join(' ')")
        for barrier in browser.run("[...document.querySelectorAll('tr[id^=edge-] td:nth-child(4)')].map(c => c.textContent)"):
            check(barrier in drawn, f"{name}: {barrier} is not in the graph")


@test
def the_graph_zooms(page):
    browser = page.open("clean")
    width = "document.querySelector('.graph svg').getBoundingClientRect().width"
    before = browser.run(width)
    browser.click_on(".graph-bar button:nth-child(2)")
    check(browser.run(width) > before * 1.3, "it does not grow")
    browser.click_on(".graph-bar button:nth-child(1)")
    browser.click_on(".graph-bar button:nth-child(1)")
    check(browser.run(width) < before, "it does not shrink")
    browser.click_on(".graph-bar button:nth-child(3)")
    check(abs(browser.run(width) - before) < 2, "it does not go back")


@test
def slices_are_labeled_whole_or_not_at_all(page):
    for name in ("clean", "racing", "hanging", "large"):
        browser = page.open(name)
        labels = browser.run("[...document.querySelectorAll('.slice-label')].map(l => l.textContent)")
        check(labels, name + ": no slice has a label")
        check(not any("\u2026" in label for label in labels), f"{name}: cut: {labels}")


# ---- What findings are about ----


@test
def findings_stand_beside_what_they_are_about(page):
    browser = page.open("racing")
    equal(browser.run("[...document.querySelectorAll('#shared details')].filter(d => d.querySelector('a[href^=\"#finding-\"]'))"
                      ".map(d => d.querySelector('h3').firstChild.textContent)"), ["columns"], "buffers with a finding")
    equal(browser.run("[...document.querySelectorAll('#phases details')].filter(d => d.querySelector('a[href^=\"#finding-\"]'))"
                      ".map(d => d.querySelector('h3').firstChild.textContent)"), ["heard"], "barriers with a finding")
    browser.click_on("#shared a[href^='#finding-']")
    check(page.shown("article:target"), "the link does not lead to the finding")


# ---- Ten thousand barriers ----


@test
def ten_thousand_barriers_open_quickly(page):
    size = os.path.getsize(f"{page.folder}/barriers.html")
    check(size < 20 << 20, f"the page has {size} bytes")
    page.browser.call("Performance.enable", timeDomain="threadTicks")
    best = 9e9
    for _ in range(3):  # the time that the page's thread works, whatever else the machine does
        browser = page.open("barriers")
        metrics = {one["name"]: one["value"] for one in browser.call("Performance.getMetrics")["metrics"]}
        best = min(best, metrics["ThreadTime"] * 1000)
    page.browser.call("Performance.disable")
    check(best < 1000, f"it takes {best:.0f} ms to open")
    check(page.count("*") < 30000, "too much is laid out at first")


@test
def what_is_put_off_is_there_when_it_is_wanted(page):
    browser = page.open("barriers")
    equal(page.count("#sites-9000"), 0, "blocks laid out at first")
    browser.run("location.hash = 'sites-9000'")
    browser.settle()
    check(page.shown("#sites-9000"), "a link does not lead to it")
    check("arrive" in page.text("#sites-9000") and "wait" in page.text("#sites-9000"), "it is not whole")
    equal(browser.run("document.querySelector('#sites-9000 h3').firstChild.textContent"), "q0_150_full", "its name")
    browser.click_on("#sites-9000 a.name[href^='#barrier-']")
    check(page.shown("#barrier-9001"), "the row of the other side is not there")


@test
def one_of_ten_thousand_is_found(page):
    browser = page.open("barriers")
    found = find_words(page, "barrier acc1_99_empty")
    check(found and found[0].startswith("barrieracc1_99_empty"), f"found: {found[:3]}")
    browser.key("Enter")
    check(page.shown(".fold.found"), "it is not shown")
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
