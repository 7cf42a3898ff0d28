/* The script of the HTML report: light and dark, folding, quotes of the IR, the graph, and the run, as the JSON of
   swimlanes.h has it. code.js and lanes.js, which follow in the same script, join it to the source and draw
   it; find.js finds in all of it. Texts enter the
   page as text, never as markup; what is put off (Later) is markup of the page itself. */
"use strict";
const find = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const make = (name, className, text) => {
  const element = document.createElement(name);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
};
const number = value => value.toLocaleString("en-US");
const count = (value, one) => `${number(value)} ${one}${value === 1 ? "" : "s"}`;
const limit = (value, low, high) => Math.max(low, Math.min(high, value));

/* ---- Light and dark ---- */

const theme = () => {
  const root = document.documentElement, button = find(".theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => root.dataset.theme ? root.dataset.theme === "dark" : system.matches;
  const show = () => { button.textContent = isDark() ? "Light" : "Dark"; };
  let kept = null;
  try { kept = localStorage.getItem("weir-theme"); } catch { /* a page may not keep anything */ }
  if (kept === "dark" || kept === "light") root.dataset.theme = kept;
  find(".tools").hidden = false;
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.setItem("weir-theme", root.dataset.theme); } catch { /* as above */ }
    show();
  });
  system.addEventListener("change", show);
  show();
};

/* ---- What is put off ---- */

/* What pack.h says of a packed text. */
const unpack = packed => {
  const start = packed.indexOf(":") + 1, units = new Uint16Array(+packed.slice(0, start - 1));
  const digit = at => {
    const code = packed.charCodeAt(at);
    return code >= 97 ? code - 61 : code >= 65 ? code - 55 : code >= 48 ? code - 48 : code === 43 ? 62 : 63;
  };
  let size = 0;
  for (let at = start; at < packed.length; at++) {
    const code = packed.charCodeAt(at), next = packed[at + 1];
    if (code !== 126) units[size++] = code;
    else if (next === "~" || next === "-") units[size++] = packed.charCodeAt(++at) === 126 ? 126 : 60;
    else {
      const back = digit(at + 1) * 4096 + digit(at + 2) * 64 + digit(at + 3), end = size + digit(at + 4) * 64 + digit(at + 5);
      for (at += 5; size < end; size++) units[size] = units[size - back];
    }
  }
  return new TextDecoder("utf-16le").decode(units);
};

/* Thousands of blocks are packed until they come into view or something leads to one of them. */
class Later {
  constructor() {
    this.boxes = all(".later");
    this.texts = new Map(); /* of boxes that were looked into */
    const watch = new IntersectionObserver(seen => {
      for (const { isIntersecting, target } of seen) if (isIntersecting) { watch.unobserve(target); this.lay(target); }
    }, { rootMargin: "900px" });
    for (const box of this.boxes) {
      box.style.minHeight = box.dataset.count * 46 + "px";
      watch.observe(box);
    }
  }

  text(box) {
    if (!this.texts.has(box)) this.texts.set(box, unpack(find("script", box).textContent));
    return this.texts.get(box);
  }

  lay(box) {
    if (!this.boxes.includes(box)) return;
    const page = document.createElement("template");
    page.innerHTML = this.text(box);
    box.style.minHeight = "";
    box.replaceChildren(page.content);
    this.boxes = this.boxes.filter(other => other !== box);
    this.texts.delete(box);
  }

  layAll() { for (const box of this.boxes) this.lay(box); }

  /* The element of that name, laid out if it was not. */
  element(id) {
    const there = document.getElementById(id), kind = id.slice(0, Math.max(0, id.lastIndexOf("-")));
    const box = there || !kind ? null : this.boxes.find(one => one.dataset.kind === kind && this.text(one).includes(` id="${id}"`));
    if (box) this.lay(box);
    return there ?? document.getElementById(id);
  }

  /* Names of blocks that are still put off, each with the block's id. */
  names() {
    const plain = make("textarea"), found = [];
    for (const box of this.boxes.filter(one => ["sites", "buffer", "coverage"].includes(one.dataset.kind)))
      for (const [, id, name] of this.text(box).matchAll(/<details class="[^"]*"[^>]*? id="([^"]+)"[^>]*><summary><h\d>([^<]*)</g)) {
        plain.innerHTML = name;
        found.push([id, plain.value]);
      }
    return found;
  }
}

/* ---- Folding ---- */

const unfold = element => {
  for (let at = element; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
};

/* To what the address names. */
const follow = () => {
  const target = location.hash.length > 1 && later.element(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  unfold(target);
  target.scrollIntoView();
};

const folding = () => {
  const button = find(".fold-all"), sections = all("details.section");
  const show = () => { if (button) button.textContent = sections.some(s => s.open) ? "Fold all" : "Unfold all"; };
  if (button) button.addEventListener("click", () => {
    const open = !sections.some(s => s.open);
    for (const section of sections) section.open = open;
    show();
  });
  for (const section of sections) section.addEventListener("toggle", show);
  show();
  addEventListener("hashchange", follow);
  follow();
  let folded = [];
  addEventListener("beforeprint", () => {
    later.layAll();
    folded = all("details:not([open])");
    for (const details of folded) details.open = true;
  });
  addEventListener("afterprint", () => { for (const details of folded) details.open = false; });
};

/* ---- What floats over the page ---- */

const place = (element, x, y) => {
  element.hidden = false;
  const box = element.getBoundingClientRect();
  element.style.left = limit(x + 14, 12, Math.max(12, innerWidth - box.width - 12)) + "px";
  const above = y - box.height - 12;
  element.style.top = (y + 16 + box.height < innerHeight - 8 || above < 8 ? y + 16 : above) + "px";
};

/* ---- Lines of the IR, or of PTX ---- */

const lineWord = `${document.body.dataset.text || "IR"} line`;
const lineText = line => find("code", document.getElementById("L" + line) || document.createElement("i"))?.textContent;

class Quotes {
  constructor() {
    this.box = make("div", "float quote");
    this.box.hidden = true;
    this.box.setAttribute("role", "dialog");
    this.box.setAttribute("aria-label", "Lines of the IR");
    document.body.append(this.box);
    this.pinned = null;
    this.timer = 0;
    document.addEventListener("click", event => this.click(event));
    document.addEventListener("mouseover", event => this.point(event));
    document.addEventListener("keydown", event => { if (event.key === "Escape" && !this.box.hidden) this.hide(); });
    addEventListener("scroll", () => { if (!this.box.hidden) this.hide(); }, { passive: true });
  }

  hide() {
    this.box.hidden = true;
    this.pinned = null;
  }

  show(link) {
    const line = +link.hash.slice(2), pre = make("pre");
    const width = String(line + 2).length;
    for (let at = line - 2; at <= line + 2; at++) {
      const text = lineText(at);
      if (text === undefined) continue;
      const row = make(at === line ? "b" : "span");
      row.append(make("span", "number", String(at).padStart(width) + "  "), text);
      pre.append(row, "\n");
    }
    const title = make("div", "title"), close = make("button", "", "Close");
    close.type = "button";
    close.addEventListener("click", () => { const back = this.pinned; this.hide(); back?.focus(); });
    title.append(make("span", "", `${lineWord} ${line}`));
    if (this.pinned === link) title.append(close);
    this.box.replaceChildren(title, pre);
    const at = link.getBoundingClientRect();
    place(this.box, at.left - 14, at.bottom - 10);
  }

  click(event) {
    const link = event.target.closest?.("a.ir");
    if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault();
      const again = this.pinned === link;
      this.hide();
      if (!again) { this.pinned = link; this.show(link); }
    } else if (this.pinned && !this.box.contains(event.target)) this.hide();
  }

  point(event) {
    const link = event.target.closest?.("a.ir");
    clearTimeout(this.timer);
    if (link && !this.pinned) this.timer = setTimeout(() => this.show(link), 150);
    else if (!this.pinned && !this.box.contains(event.target)) this.timer = setTimeout(() => this.hide(), 200);
  }
}

/* ---- The graph: its lines mark their rows ---- */

const graph = () => {
  const mark = (edge, is) => {
    for (const row of all("tr[data-pair]")) if (row.dataset.pair === edge.dataset.pair) row.classList.toggle("chosen", is);
  };
  for (const edge of all("a.edge"))
    for (const [kind, is] of [["mouseenter", true], ["mouseleave", false], ["focus", true], ["blur", false]])
      edge.addEventListener(kind, () => mark(edge, is));
  for (const figure of all(".graph")) zoomable(figure);
};

/* Buttons that make a picture larger and smaller; it scrolls in its frame. */
const zoomable = figure => {
  const svg = find("svg", figure), bar = make("span", "graph-bar"), width = svg.viewBox.baseVal.width;
  let scale = 0;
  const show = to => {
    scale = to && limit(to, 0.25, 4);
    svg.style.width = scale ? width * scale + "px" : "";
    svg.style.maxWidth = scale ? "none" : "";
    svg.style.minWidth = scale ? "0" : svg.dataset.least;
  };
  const now = () => scale || svg.getBoundingClientRect().width / width;
  svg.dataset.least = svg.style.minWidth;
  for (const [label, title, does] of [["\u2212", "Smaller", () => show(now() / 1.4)], ["+", "Larger", () => show(now() * 1.4)],
                                      ["Fit", "As wide as the page", () => show(0)]]) {
    const button = make("button", "", label);
    button.type = "button";
    button.title = title;
    button.setAttribute("aria-label", title);
    button.addEventListener("click", does);
    bar.append(button);
  }
  find("figcaption", figure).prepend(bar);
};

/* ---- The run ---- */

const WAIT = 1, BLOCKED = 2, FLIP = 3, ACCESS = 4; /* ORDER TraceKind; 0 is a step */

const readEvents = data => {
  const instant = kind => kind === FLIP || kind === ACCESS;
  const events = data.events.map(([kind, track, time, duration, name, detail, line, from, ...barriers], index) => {
    const pairs = [];
    for (let i = 0; i < barriers.length; i += 2) pairs.push({ barrier: barriers[i], slot: barriers[i + 1] });
    return { kind, track, time, end: time + (instant(kind) ? 0 : Math.max(1, duration)), name: data.texts[name],
             detail: data.texts[detail], line, from: from - 1, pairs, barriers: pairs.map(pair => pair.barrier),
             barrier: pairs.length ? pairs[0].barrier : -1, index };
  });
  for (const [index, why, could] of data.blocked)
    events[index].never = { why, could: could.map(([track, line, agent, op, detail]) => ({ track, line, agent, op, detail })) };
  return events;
};

/* When it begins and ends, and how much of that is in view at most. */
const measure = trace => {
  trace.first = Infinity;
  trace.last = 0;
  for (const event of trace.events) {
    trace.first = Math.min(trace.first, event.time);
    trace.last = Math.max(trace.last, event.end);
  }
  trace.first = Math.min(trace.first, trace.last);
  const whole = trace.last - trace.first, hangs = trace.events.some(event => event.kind === BLOCKED);
  trace.low = Math.max(0, trace.first - Math.max(1, whole * 0.01));
  trace.high = trace.last + Math.max(1, whole * (hangs ? 0.3 : 0.01)); /* room to say what is waited for in vain */
};

const readTrace = () => {
  const data = JSON.parse(find("#trace").textContent);
  const trace = {
    barriers: data.barriers.map(([name, row], index) => ({ name, row: row === 1, index, waits: 0, events: 0, slots: 0, shown: true })),
    tracks: data.tracks.map(([cta, ctaName, agent]) => ({ cta, ctaName, agent, slices: [], flips: [], marks: [] })),
    events: readEvents(data),
    flows: [],
  };
  measure(trace);
  for (const event of trace.events) {
    const track = trace.tracks[event.track];
    (event.kind === FLIP ? track.flips : event.kind === ACCESS ? track.marks : track.slices).push(event);
    for (const barrier of new Set(event.barriers)) trace.barriers[barrier].events++;
    for (const { barrier, slot } of event.pairs) trace.barriers[barrier].slots = Math.max(trace.barriers[barrier].slots, slot + 1);
    if (event.barrier >= 0 && event.kind === WAIT) trace.barriers[event.barrier].waits++;
    if (event.kind === BLOCKED) event.end = trace.high;
    if (event.from >= 0) trace.flows.push({ from: trace.events[event.from], to: event, barrier: event.barrier });
  }
  for (const track of trace.tracks)
    for (const events of [track.slices, track.flips, track.marks]) events.sort((a, b) => a.time - b.time);
  return trace;
};

/* ---- Where the picture opens ---- */

/* The op that a partition runs most often, at least four times: when, and how far apart. Helpers (".tma") tell more than
   one step of some ops. */
const busiest = trace => {
  const runs = new Map();
  let best = null;
  for (const event of trace.events) {
    if (event.kind === FLIP || event.kind === ACCESS || !event.line || trace.tracks[event.track].agent.includes(".")) continue;
    const key = event.track + "|" + event.line;
    if (!runs.has(key)) runs.set(key, { times: [], event });
    const run = runs.get(key);
    run.times.push(event.time);
    if (!best || run.times.length > best.times.length) best = run;
  }
  if (!best || best.times.length < 4) return null;
  const gaps = best.times.slice(1).map((time, i) => time - best.times[i]).sort((a, b) => a - b);
  return { ...best, period: gaps[gaps.length >> 1] };
};

/* Two iterations of it in the middle third of the run, as even as there are. */
const steady = ({ times, period, event }) => {
  const odd = i => Math.abs(times[i + 2] - times[i] - 2 * period);
  let best = Math.floor(times.length / 3);
  for (let i = best; i < times.length * 2 / 3 && i + 2 < times.length; i++) if (odd(i) < odd(best)) best = i;
  const span = times[best + 2] - times[best];
  return { from: times[best] - span * 0.04, span: span * 1.08, why: `two iterations around ${sourceLine(event.line)?.place ?? `${lineWord} ${event.line}`}` };
};

/* The first two accesses of a finding that are of different agents. */
const clash = (trace, period) => {
  const marks = trace.events.filter(event => event.kind === ACCESS).sort((a, b) => a.time - b.time);
  const second = marks.findIndex((mark, i) => i && mark.track !== marks[i - 1].track);
  if (!marks.length) return null;
  const [a, b] = second > 0 ? [marks[second - 1], marks[second]] : [marks[0], marks[0]];
  const around = Math.max(period, (b.time - a.time) * 0.3);
  return { from: a.time - around, span: b.time - a.time + 2 * around, why: "the accesses of a finding" };
};

/* A short run opens whole; a long one where it hangs, or races, or else on two steady iterations. */
const opening = trace => {
  const FEW = 160, whole = { from: trace.low, span: trace.high - trace.low, why: "" };
  const run = trace.last - trace.first > FEW ? busiest(trace) : null;
  if (!run) return whole;
  const blocked = trace.events.filter(event => event.kind === BLOCKED), reach = Math.max(40, 2 * run.period);
  const stop = Math.max(...blocked.map(event => event.time));
  if (blocked.length) return { from: stop - reach, span: 1.7 * reach, why: "where it hangs" };
  return clash(trace, run.period) ?? steady(run);
};

/* The index of the first of `events`, which are in order, that ends after `time`. */
const firstAfter = (events, time) => {
  let low = 0, high = events.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (events[middle].end <= time) low = middle + 1;
    else high = middle;
  }
  return low;
};

const later = new Later();
theme();
folding();
new Quotes();
graph();
