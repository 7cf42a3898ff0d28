/* The swim lanes of the HTML report: a lane for each agent, time from left to right. page.js reads what is drawn. */

const MOST_LISTED = 300; /* barriers beside the picture */
const STACKED = matchMedia("(max-width: 560px)").matches; /* there is no room for names beside lanes: they stand above */
const LANE = STACKED ? 46 : 30, GROUP = 24, TOP = STACKED ? 25 : 8, BAR = 17, COLORS = 8, NO_COLOR = 8;
const DASHES = ["", "6 3", "2 3", "9 3 2 3", "12 4", "4 2 1 2", "1 2", "8 2 1 2 1 2"];
const SVG = "http://www.w3.org/2000/svg";
const draw = (name, attributes, text) => {
  const element = document.createElementNS(SVG, name);
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  if (text !== undefined) element.textContent = text;
  return element;
};
const shortName = name => document.body.dataset.text === "PTX" ? name.split(".").slice(0, 2).join(".")
  : name.slice(name.lastIndexOf(".") + 1);
const colorOf = barrier => barrier < 0 ? NO_COLOR : barrier % COLORS;
const dashOf = barrier => DASHES[Math.floor(barrier / COLORS) % DASHES.length];

/* ---- Patterns and heads of arrows ---- */

const addColor = (defs, color) => {
  const hatch = draw("pattern", { id: "hatch-" + color, class: "c" + color, width: 5, height: 5,
                                  patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" });
  hatch.append(draw("rect", { width: 5, height: 5, class: "fill", opacity: 0.12 }),
               draw("rect", { width: 1.3, height: 5, class: "fill", opacity: 0.5 }));
  const head = draw("marker", { id: "head-" + color, class: "c" + color, viewBox: "0 0 8 8", refX: 7, refY: 4,
                                markerWidth: 7, markerHeight: 7, markerUnits: "userSpaceOnUse", orient: "auto" });
  head.append(draw("path", { d: "M0 0L8 4L0 8z", class: "fill" }));
  defs.append(hatch, head);
};

const makeDefs = () => {
  const defs = draw("defs", {});
  for (let color = 0; color <= NO_COLOR; color++) addColor(defs, color);
  const crossed = draw("pattern", { id: "hatch-blocked", width: 6, height: 6, patternUnits: "userSpaceOnUse",
                                    patternTransform: "rotate(45)" });
  crossed.append(draw("rect", { width: 6, height: 6, fill: "var(--bad-back)" }),
                 draw("rect", { width: 1.6, height: 6, fill: "var(--bad)", opacity: 0.6 }),
                 draw("rect", { width: 6, height: 1.6, fill: "var(--bad)", opacity: 0.6 }));
  const never = draw("marker", { id: "head-never", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 9, markerHeight: 9,
                                 markerUnits: "userSpaceOnUse", orient: "auto" });
  never.append(draw("path", { d: "M0 0L8 4L0 8z", fill: "var(--bad)" }));
  defs.append(crossed, never);
  return defs;
};

/* ---- Words ---- */

const what = event => event.kind === WAIT ? `waited ${count(event.end - event.time, "step")}`
  : event.kind === BLOCKED ? "blocked forever" : event.kind === FLIP ? "a phase completes"
  : event.kind === ACCESS ? "an access that a finding is about" : "one step";
const stepsOf = event => event.end - event.time <= 1 ? `step ${number(event.time)}`
  : event.kind === BLOCKED ? `from step ${number(event.time)} on` : `steps ${number(event.time)} to ${number(event.end - 1)}`;

const sourceLink = (to, line) => {
  const at = sourceLine(line);
  if (!at) return;
  const link = make("a", "src", at.place);
  link.href = "#" + at.id;
  to.append(link);
};
const lineLink = (to, line) => {
  if (!line || lineText(line) === undefined) return;
  const link = make("a", "ir", `${lineWord} ${line}`);
  link.href = "#L" + line;
  to.append(link);
};

/* ---- The picture ---- */

class Lanes {
  constructor() {
    this.trace = readTrace();
    this.view = find(".lanes-view");
    this.summary = find(".lanes-chosen");
    /* What is in view, pointed at, and chosen. */
    this.opening = opening(this.trace);
    this.span = limit(this.opening.span, Math.min(8, this.trace.high - this.trace.low), this.trace.high - this.trace.low);
    this.start = limit(this.opening.from, this.trace.low, this.trace.high - this.span);
    this.width = 800;
    this.hovered = { barrier: -1, track: -1 };
    this.chosen = { barrier: -1, track: -1, event: null };
    this.cursor = null;
    this.drag = null;
    this.pending = 0;
    this.waits = this.trace.events.filter(event => event.kind === WAIT || event.kind === BLOCKED)
      .sort((a, b) => a.time - b.time || a.index - b.index);
    find(".lanes").hidden = false;
    find(".lanes").classList.toggle("stacked", STACKED);
    this.makeGrid();
    this.makeRows();
    this.makeLayers();
    this.makeTip();
    this.listen();
    this.makeLegend();
    code?.join(this);
    new ResizeObserver(() => this.later()).observe(this.paper);
    this.describe();
    this.redraw();
    code?.open();
  }

  makeGrid() {
    const grid = make("div", "lanes-grid"), axis = make("div", "lanes-axis");
    this.names = make("div", "lanes-names");
    this.paper = make("div", "lanes-paper");
    this.thumb = make("div", "lanes-thumb");
    this.handle = make("i");
    this.axisSvg = draw("svg", { height: 28, "aria-hidden": "true" });
    this.svg = draw("svg", { "aria-hidden": "true" });
    this.thumb.append(this.handle);
    axis.append(this.axisSvg);
    this.paper.append(this.svg);
    grid.append(make("div", "lanes-corner", "steps of the run"), axis, this.names, this.paper, make("div", "lanes-foot"), this.thumb);
    this.view.append(grid);
  }

  makeRows() {
    const { tracks } = this.trace;
    this.rows = [];
    this.height = 0;
    let group = null;
    for (const index of tracks.map((_, i) => i).sort((a, b) => tracks[a].cta - tracks[b].cta || a - b)) {
      const track = tracks[index];
      if (track.cta !== group) {
        group = track.cta;
        const title = make("div", "cta", track.ctaName);
        title.title = track.ctaName;
        this.names.append(title);
        this.rows.push({ top: this.height, group: true });
        this.height += GROUP;
      }
      track.button = this.makeName(track, index);
      track.top = this.height;
      this.names.append(track.button);
      this.rows.push({ top: this.height, track, index });
      this.height += LANE;
    }
    this.svg.setAttribute("height", this.height);
  }

  makeName(track, index) {
    const stuck = track.slices.some(event => event.kind === BLOCKED);
    const button = make("button", (track.agent.includes(".") ? "helper" : "") + (stuck ? " stuck" : ""), track.agent);
    button.type = "button";
    button.title = track.agent;
    button.setAttribute("aria-pressed", "false");
    button.addEventListener("click", () => this.choose({ track: this.chosen.track === index ? -1 : index }));
    button.addEventListener("mouseenter", () => this.hover({ track: index }));
    button.addEventListener("mouseleave", () => this.hover({}));
    return button;
  }

  makeLayers() {
    this.back = draw("g", {});
    this.slices = draw("g", {});
    this.arrows = draw("g", {});
    this.front = draw("g", {});
    this.svg.append(makeDefs(), this.back, this.slices, this.arrows, this.front);
  }

  makeTip() {
    this.tip = make("div", "float tip");
    this.tip.hidden = true;
    this.tip.setAttribute("role", "tooltip");
    document.body.append(this.tip);
  }

  /* ---- Where things are ---- */

  x(time) { return (time - this.start) / this.span * this.width; }
  timeAt(at) { return this.start + at / this.width * this.span; }
  rowAt(y) { return this.rows.find(row => y >= row.top && y < row.top + (row.group ? GROUP : LANE)); }
  focus() { return this.hovered.barrier >= 0 || this.hovered.track >= 0 ? this.hovered : this.chosen; }
  isShown(event) { return event.barrier < 0 || this.trace.barriers[event.barrier].shown; }
  isDim(event) {
    return this.chosen.barrier >= 0 && !event.barriers.includes(this.chosen.barrier) && event.kind !== BLOCKED;
  }
  /* "full[1]"; a ring of one slot goes without its number. */
  slotName({ barrier, slot }) {
    const one = this.trace.barriers[barrier];
    return one.name + (slot >= 0 && one.slots > 1 ? `[${slot}]` : "");
  }
  slotNames(event) { return event.pairs.map(pair => this.slotName(pair)).join(", "); }

  visibleRows() {
    const top = this.view.scrollTop - LANE, bottom = this.view.scrollTop + this.view.clientHeight + LANE;
    return this.rows.filter(row => row.top >= top && row.top <= bottom);
  }

  /* ---- Drawing ---- */

  drawAxis() {
    const wanted = this.span / Math.max(2, this.width / 110), power = 10 ** Math.floor(Math.log10(wanted));
    const step = Math.max(1, [1, 2, 5, 10].map(k => k * power).find(s => s >= wanted));
    let ticks = "", lines = "";
    this.axisSvg.replaceChildren();
    for (let at = Math.ceil(this.start / step) * step; at <= this.start + this.span; at += step) {
      const place = Math.round(this.x(at)) + 0.5;
      ticks += `M${place} 20V28`;
      lines += `M${place} 0V${this.height}`;
      const label = number(at), edge = label.length * 3.6;
      if (place > edge && place < this.width - edge)
        this.axisSvg.append(draw("text", { x: place, y: 16, "text-anchor": "middle" }, label));
    }
    this.axisSvg.append(draw("path", { class: "axis-tick", d: ticks }));
    return lines;
  }

  drawBack(lines) {
    const bands = [], edges = [], { width } = this;
    for (const row of this.rows) {
      if (row.group) bands.push(draw("rect", { class: "cta-band", x: 0, y: row.top, width, height: GROUP }));
      else edges.push(`M0 ${row.top + LANE - 0.5}H${width}`);
      if (row.index === this.chosen.track) bands.push(draw("rect", { class: "row-chosen", x: 0, y: row.top, width, height: LANE }));
    }
    this.back.replaceChildren(draw("path", { class: "axis-line", d: lines }), ...bands,
                              draw("path", { class: "row-line", d: edges.join("") }));
  }

  /* Slices of one look are one path, so that thousands are as quick as ten. */
  drawSlices() {
    const drawn = { looks: new Map(), labels: [], blocked: [] };
    for (const row of this.visibleRows()) {
      if (row.group) continue;
      this.drawLane(row, drawn);
      this.drawFlips(row, drawn);
    }
    const paths = [...drawn.looks].map(([look, d]) => {
      const color = /c(\d)/.exec(look)[1];
      if (look.startsWith("wait")) return draw("path", { class: "line " + look, d, fill: `url(#hatch-${color})`, "stroke-width": 1 });
      return draw("path", { class: "fill " + look, d });
    });
    this.slices.replaceChildren(...paths, ...drawn.blocked, ...drawn.labels);
  }

  drawLane(row, drawn) {
    const y = row.top + TOP, events = row.track.slices;
    let drawnTo = -1;
    for (let i = firstAfter(events, this.start); i < events.length && events[i].time < this.start + this.span; i++) {
      const event = events[i], left = Math.max(-2, this.x(event.time)), right = Math.min(this.width + 2, this.x(event.end));
      if (right - left < 1 && right < drawnTo) continue;
      const wide = Math.max(1, right - left - (right - left > 4 ? 1 : 0));
      drawnTo = left + wide;
      const free = i + 1 < events.length ? Math.min(this.width, this.x(events[i + 1].time)) : this.width;
      if (event.kind === BLOCKED) this.drawBlocked(event, { left, wide, y }, drawn);
      else this.drawSlice(event, { left, wide, y, free }, drawn);
    }
  }

  /* What a slice may say, the longest first: it is said whole or not at all. */
  labelsOf(event) {
    const slots = this.slotNames(event), op = shortName(event.name);
    if (event.kind === WAIT) return slots ? [`waits for ${slots}`, slots] : [op];
    return slots ? [`${op} ${slots}`, op] : [op];
  }
  fitting(labels, wide) { return labels.find(label => label.length * 6.7 + 8 <= wide); }

  drawBlocked(event, { left, wide, y }, { blocked }) {
    const name = this.slotNames(event) || shortName(event.name), at = Math.max(left, 0) + 6, room = Math.floor((this.width - at - 8) / 6.7);
    blocked.push(draw("rect", { class: "blocked", x: left, y, width: Math.max(3, this.width + 4 - left), height: BAR }));
    const words = ["\u2717 blocked forever: waits for " + name, "\u2717 forever: " + name, "\u2717 " + name, "\u2717 forever", "\u2717"].find(w => w.length <= room);
    if (words) blocked.push(draw("rect", { class: "label-back", x: at - 3, y: y + 2, width: words.length * 6.7 + 6, height: BAR - 4, rx: 2 }),
                            draw("text", { class: "blocked-label", x: at, y: y + 12.5 }, words));
  }

  drawSlice(event, { left, wide, y, free }, { looks, labels }) {
    const dim = this.isDim(event);
    const color = this.isShown(event) ? colorOf(event.barrier) : NO_COLOR;
    const look = `${event.kind === WAIT && wide > 2.5 ? "wait" : "step"} c${color}${dim ? " dim" : ""}`;
    looks.set(look, (looks.get(look) || "") + `M${left.toFixed(1)} ${y}h${wide.toFixed(1)}v${BAR}h${(-wide).toFixed(1)}z`);
    if (dim || free - left < 20) return;
    /* In the slice, or behind it, where its lane is free. */
    const names = this.labelsOf(event), shown = Math.max(left, 0), inside = this.fitting(names, left + wide - shown);
    const behind = inside ? undefined : this.fitting(names, free - left - wide);
    if (inside) labels.push(draw("text", { class: "slice-label" + (event.kind === WAIT ? "" : " on-step"), x: shown + 5, y: y + 12.5 }, inside));
    else if (behind) labels.push(draw("text", { class: "slice-label", x: left + wide + 4, y: y + 12.5 }, behind));
  }

  drawFlips(row, { looks }) {
    let last = -9;
    const flips = row.track.flips;
    for (let i = firstAfter(flips, this.start - 1); i < flips.length && flips[i].time <= this.start + this.span; i++) {
      const at = this.x(flips[i].time + 0.5), half = limit(this.width / this.span / 3, 1.5, 4);
      if (at - last < half || !this.isShown(flips[i])) continue;
      last = at;
      const look = `flip c${colorOf(flips[i].barrier)}${this.isDim(flips[i]) ? " dim" : ""}`;
      looks.set(look, (looks.get(look) || "") + `M${(at - half).toFixed(1)} ${row.top + TOP - 7}h${(2 * half).toFixed(1)}l${(-half).toFixed(1)} 6z`);
    }
  }

  flowPath(flow) {
    const from = this.trace.tracks[flow.from.track], to = this.trace.tracks[flow.to.track], down = to.top > from.top;
    const x1 = this.x(flow.from.time + 0.5), x2 = this.x(flow.to.end - 0.15);
    const y1 = from.top + TOP + (down ? BAR : 0), y2 = to.top + TOP + (down ? -1 : BAR + 1);
    const bend = Math.max(10, Math.abs(y2 - y1) * 0.45);
    return `M${x1.toFixed(1)} ${y1}C${x1.toFixed(1)} ${y1 + (down ? bend : -bend)} ${x2.toFixed(1)} ${y2 - (down ? bend : -bend)} ${x2.toFixed(1)} ${y2}`;
  }

  drawArrows() {
    const at = this.focus(), focused = at.barrier >= 0 || at.track >= 0, strong = [], faint = new Map();
    const seen = this.trace.flows.filter(flow => this.isShown(flow.to) && flow.to.end > this.start && flow.from.time < this.start + this.span);
    const calm = !focused && seen.length <= 60;
    for (const flow of seen) {
      const color = colorOf(flow.barrier), dash = dashOf(flow.barrier);
      const matches = at.barrier >= 0 ? flow.barrier === at.barrier
        : at.track >= 0 && (flow.from.track === at.track || flow.to.track === at.track);
      if (focused && matches && strong.length < 1500)
        strong.push(draw("path", { class: "arrow strong line c" + color, d: this.flowPath(flow), "stroke-dasharray": dash,
                                   "marker-end": `url(#head-${color})` }));
      else faint.set(color + "|" + dash, (faint.get(color + "|" + dash) || "") + this.flowPath(flow));
    }
    const paths = [...faint].map(([look, d]) => {
      const [color, dash] = look.split("|"), path = { class: `arrow line c${color}${calm ? " medium" : ""}`, d, "stroke-dasharray": dash };
      if (calm) path["marker-end"] = `url(#head-${color})`;
      return draw("path", path);
    });
    this.arrows.replaceChildren(...paths, ...strong, ...this.neverArrows());
  }

  /* From who would release a wait, but waits itself, to that wait: at the edge, where both are in vain. */
  neverArrows() {
    const found = [], { tracks } = this.trace;
    if (this.start + this.span < this.trace.last) return found;
    for (const event of this.trace.events) {
      if (event.kind !== BLOCKED) continue;
      for (const track of new Set(event.never?.could.map(one => one.track))) {
        if (track < 0 || track === event.track || !this.isShown(event)) continue;
        const from = tracks[track].top, to = tracks[event.track].top, down = to > from, at = this.width - 14 - (found.length % 6) * 16;
        found.push(draw("path", { class: "never", "marker-end": "url(#head-never)",
                                  d: `M${at} ${from + TOP + BAR / 2}V${to + TOP + (down ? -1 : BAR + 1)}` }));
      }
    }
    return found;
  }

  drawMarks() {
    const found = [];
    for (const { track, group } of this.visibleRows()) {
      let last = -9;
      for (const mark of group ? [] : track.marks) {
        const at = this.x(mark.time + 1);
        if (at < -6 || at > this.width + 6 || at - last < 3) continue;
        last = at;
        found.push(`M${at.toFixed(1)} ${track.top + TOP + 1}l6 7.5l-6 7.5l-6 -7.5z`);
      }
    }
    return draw("path", { class: "mark", d: found.join("") });
  }

  drawFront() {
    this.front.replaceChildren(this.drawMarks());
    const event = this.cursor || this.chosen.event;
    if (!event) return;
    const left = this.x(event.time), right = this.x(Math.max(event.end, event.time + 1));
    if (right < 0 || left > this.width) return;
    this.front.append(draw("rect", { class: "cursor", x: left - 1, y: this.trace.tracks[event.track].top + TOP - 1,
                                     width: Math.max(3, right - left + 1), height: BAR + 2, rx: 2 }));
  }

  redraw() {
    const { trace } = this;
    this.width = Math.max(100, this.paper.clientWidth);
    this.svg.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
    this.axisSvg.setAttribute("viewBox", `0 0 ${this.width} 28`);
    this.drawBack(this.drawAxis());
    this.drawSlices();
    this.drawArrows();
    this.drawFront();
    const whole = trace.high - trace.low;
    this.handle.style.left = (this.start - trace.low) / whole * 100 + "%";
    this.handle.style.width = Math.min(100, this.span / whole * 100) + "%";
    const low = Math.max(trace.first, Math.floor(this.start)), high = Math.min(trace.last, Math.ceil(this.start + this.span));
    const opened = this.start === this.opening.from && this.opening.why;
    find(".lanes-range").textContent = `Steps ${number(low)} to ${number(high)} of ${number(trace.last)}${opened ? ": " + opened : ""}`;
  }

  later() { this.pending ||= requestAnimationFrame(() => { this.pending = 0; this.redraw(); }); }

  /* ---- Moving and zooming ---- */

  show(from, wide) {
    const { low, high } = this.trace;
    this.span = limit(wide, Math.min(8, high - low), high - low);
    this.start = limit(from, low, high - this.span);
    this.later();
  }

  zoom(factor, at = this.width / 2) {
    this.show(this.timeAt(at) - at / this.width * this.span * factor, this.span * factor);
  }

  move(share) { this.show(this.start + this.span * share, this.span); }

  reveal(event) {
    const { start, span, view } = this, { top } = this.trace.tracks[event.track];
    if (event.time < start || Math.min(event.end, event.time + span / 2) > start + span) this.show(event.time - span / 3, span);
    if (top < view.scrollTop || top + LANE + 40 > view.scrollTop + view.clientHeight) view.scrollTop = top - view.clientHeight / 2;
  }

  open() { this.show(this.opening.from, this.opening.span); }

  /* To the next of these events, which are in order, after the one that was last gone to. */
  visit(events) {
    const current = events.indexOf(this.cursor);
    this.view.scrollIntoView({ block: "center", behavior: "instant" });
    this.pointOut(events[current < 0 ? Math.max(0, events.findIndex(event => event.time >= this.start)) : (current + 1) % events.length]);
  }

  pointOut(event) {
    this.cursor = event;
    code?.mark(event, true);
    this.reveal(event);
    this.redraw();
    this.fillTip(event);
    const box = this.svg.getBoundingClientRect(), top = this.trace.tracks[event.track].top;
    place(this.tip, box.left + limit(this.x(event.time), 0, this.width - 40), box.top + top + LANE - 8);
  }

  /* From wait to wait. */
  goTo(direction) {
    const { chosen } = this;
    const list = this.waits.filter(event => this.isShown(event) && (chosen.barrier < 0 || event.barriers.includes(chosen.barrier)) &&
                                            (chosen.track < 0 || event.track === chosen.track));
    if (!list.length) return;
    const current = list.indexOf(this.cursor);
    const first = list.findIndex(event => event.time >= this.start);
    const next = current >= 0 ? current + direction : direction > 0 ? Math.max(0, first) : (first < 0 ? list.length : first) - 1;
    this.pointOut(list[(next + list.length) % list.length]);
  }

  /* ---- What is pointed at ---- */

  fillTip(event) {
    const head = make("div"), list = make("dl");
    head.append(make("span", "op", event.name), make("span", event.kind === BLOCKED || event.kind === ACCESS ? "is-blocked" : "what", "  " + what(event)));
    const fact = (key, text) => { if (text) list.append(make("dt", "", key), make("dd", "", text)); };
    fact("Lane", this.trace.tracks[event.track].agent);
    fact("Time", stepsOf(event));
    fact("Barrier", this.slotNames(event));
    fact("Detail", event.detail);
    fact("Why", event.never?.why);
    event.never?.could.forEach((one, index) =>
      fact(index ? "" : "Could release", `${one.agent} ${shortName(one.op)}, ${lineWord} ${one.line}: ${one.detail}`));
    if (event.from >= 0) {
      const from = this.trace.events[event.from];
      fact("Released", `by ${this.trace.tracks[from.track].agent}, ${shortName(from.name)}, step ${number(from.time)}`);
    }
    const at = sourceLine(event.line);
    if (at) fact("Source", at.place);
    if (event.line) fact(lineWord, String(event.line));
    this.tip.replaceChildren(head, list);
    const text = at ? at.text : event.line ? lineText(event.line) : undefined;
    if (text !== undefined) this.tip.append(make("pre", "", text.trim()));
  }

  eventAt(clientX, clientY) {
    const box = this.svg.getBoundingClientRect(), at = clientX - box.left, y = clientY - box.top, row = this.rowAt(y);
    if (at < 0 || at > this.width || !row || row.group) return null;
    const mark = row.track.marks.find(one => Math.abs(this.x(one.time + 1) - at) <= 6);
    if (mark && y - row.top >= TOP) return mark;
    const near = Math.max(4, this.width / this.span / 2);
    const flip = y - row.top < TOP && row.track.flips.find(one => Math.abs(this.x(one.time + 0.5) - at) <= near);
    return flip || this.sliceAt(row.track.slices, at);
  }

  sliceAt(events, at) {
    const time = this.timeAt(at), index = firstAfter(events, time);
    const distance = event => event.time > time ? this.x(event.time) - at : Math.max(0, at - this.x(event.end));
    let best = null;
    for (const event of [events[index - 1], events[index]])
      if (event && distance(event) <= 3 && (!best || distance(event) < distance(best))) best = event;
    return best;
  }

  hover({ barrier = -1, track = -1 }) {
    if (this.hovered.barrier === barrier && this.hovered.track === track) return;
    this.hovered = { barrier, track };
    this.drawArrows();
  }

  /* ---- What is chosen ---- */

  choose({ barrier = -1, track = -1, event = null }) {
    this.chosen = { barrier, track, event };
    code?.mark(event, true);
    for (const one of this.trace.tracks) {
      const is = one === this.trace.tracks[track];
      one.button.classList.toggle("chosen", is);
      one.button.setAttribute("aria-pressed", is);
    }
    for (const item of all(".legend-list li")) item.classList.toggle("chosen", +item.dataset.barrier === barrier);
    for (const row of all("[data-barrier]:not(li)")) row.classList.toggle("chosen", +row.dataset.barrier === barrier);
    if (barrier >= 0) find(`.legend-list li[data-barrier="${barrier}"]`)?.scrollIntoView?.({ block: "nearest", behavior: "instant" });
    this.describe();
    this.redraw();
  }

  tell(...parts) {
    const said = make("span");
    said.append(...parts);
    this.summary.append(said);
  }

  describe() {
    const { barrier, track, event } = this.chosen;
    this.summary.replaceChildren();
    if (barrier < 0 && track < 0 && !event) {
      this.summary.append(make("span", "hint", "Point at a slice to see what it is; click to choose its barrier. Click the picture and the wheel zooms, with Ctrl at once; drag to move."));
      return;
    }
    if (barrier >= 0) this.describeBarrier(barrier);
    else if (track >= 0) {
      const { agent, slices } = this.trace.tracks[track];
      this.tell("Lane ", make("b", "", agent), `: ${count(slices.length, "slice")}`);
    }
    if (event) {
      this.tell(make("code", "", shortName(event.name)), ", " + stepsOf(event));
      sourceLink(this.summary, event.line);
      lineLink(this.summary, event.line);
      if (event.never) this.describeNever(event.never);
    }
    const clear = make("button", "", "Let go");
    clear.type = "button";
    clear.addEventListener("click", () => this.choose({}));
    this.summary.append(clear);
  }

  describeBarrier(barrier) {
    const one = this.trace.barriers[barrier];
    this.tell("Barrier ", make("b", "", one.name), `: ${count(one.events, "event")}, ${count(one.waits, "blocked wait")}`);
    if (!one.row) return;
    const link = make("a", "to-row", "Go to its row");
    link.href = "#barrier-" + barrier;
    this.summary.append(link);
  }

  describeNever(never) {
    const said = make("div", "never-told");
    said.append(make("span", "is-blocked", "Forever: "), never.why);
    for (const one of never.could) {
      const who = make("div");
      who.append(make("b", "", one.agent), " ", make("code", "", shortName(one.op)), " ");
      lineLink(who, one.line);
      who.append(" " + one.detail);
      said.append(who);
    }
    this.summary.append(said);
  }

  /* ---- Pointer, wheel, keys ---- */

  listen() {
    const { svg, view, thumb } = this;
    svg.addEventListener("pointerdown", event => {
      if (event.button !== 0) return;
      this.drag = { x: event.clientX, start: this.start, moved: false };
      svg.setPointerCapture(event.pointerId);
    });
    svg.addEventListener("pointermove", event => this.drag ? this.pull(event) : this.point(event));
    svg.addEventListener("pointerup", event => this.drop(event));
    svg.addEventListener("pointerleave", () => { if (!this.drag) { this.tip.hidden = true; this.hover({}); code?.mark(this.cursor ?? this.chosen.event); } });
    svg.addEventListener("dblclick", event => this.zoom(0.4, event.clientX - svg.getBoundingClientRect().left));
    view.addEventListener("wheel", event => this.wheel(event), { passive: false });
    this.listenToKeys();
    view.addEventListener("blur", () => { this.tip.hidden = true; });
    view.addEventListener("scroll", () => { this.tip.hidden = true; this.later(); }, { passive: true });
    thumb.addEventListener("pointerdown", event => this.pullThumb(event));
  }

  pull(event) {
    const { drag } = this;
    if (Math.abs(event.clientX - drag.x) > 3) drag.moved = true;
    if (!drag.moved) return;
    this.view.classList.add("moving");
    this.tip.hidden = true;
    this.show(drag.start - (event.clientX - drag.x) / this.width * this.span, this.span);
  }

  point(event) {
    const found = this.eventAt(event.clientX, event.clientY);
    this.tip.hidden = !found;
    code?.mark(found ?? this.cursor ?? this.chosen.event, true);
    if (found) {
      this.fillTip(found);
      place(this.tip, event.clientX, event.clientY);
    }
    this.hover(found && found.barrier >= 0 && this.isShown(found) ? { barrier: found.barrier } : {});
  }

  drop(event) {
    const moved = this.drag && this.drag.moved;
    this.drag = null;
    this.view.classList.remove("moving");
    this.view.focus({ preventScroll: true });
    if (moved) return;
    const found = this.eventAt(event.clientX, event.clientY);
    this.cursor = null;
    this.choose(found ? { barrier: found.barrier, event: found } : {});
  }

  wheel(event) {
    const sideways = event.shiftKey ? event.deltaY || event.deltaX : Math.abs(event.deltaX) > Math.abs(event.deltaY) ? event.deltaX : 0;
    if (!event.ctrlKey && !event.metaKey && document.activeElement !== this.view) return;
    event.preventDefault();
    this.tip.hidden = true;
    if (sideways) this.move(sideways / this.width);
    else this.zoom(Math.exp(limit(event.deltaY, -200, 200) / 320), event.clientX - this.svg.getBoundingClientRect().left);
  }

  listenToKeys() {
    const { view, trace } = this;
    const does = {
      in: () => this.zoom(0.5), out: () => this.zoom(2), left: () => this.move(-0.25), right: () => this.move(0.25),
      fit: () => this.show(trace.low, trace.high - trace.low), open: () => this.open(), next: () => this.goTo(1), previous: () => this.goTo(-1),
    };
    const keys = { "+": "in", "=": "in", "-": "out", ArrowLeft: "left", ArrowRight: "right", 0: "fit", i: "open", n: "next", p: "previous" };
    view.addEventListener("keydown", event => {
      const { cursor } = this;
      if (event.ctrlKey || event.metaKey || event.altKey || event.target !== view) return;
      if (keys[event.key]) does[keys[event.key]]();
      else if (event.key === "Enter" && cursor) this.choose({ barrier: cursor.barrier, event: cursor });
      else if (event.key === "Escape") { this.cursor = null; this.tip.hidden = true; this.choose({}); }
      else return;
      event.preventDefault();
    });
    find(".lanes-bar").addEventListener("click", event => does[event.target.closest("button")?.dataset.does]?.());
  }

  pullThumb(event) {
    const { thumb, trace } = this, box = thumb.getBoundingClientRect(), whole = trace.high - trace.low;
    const to = at => this.show(trace.low + (at - box.left) / box.width * whole - this.span / 2, this.span);
    const follow = one => to(one.clientX);
    thumb.setPointerCapture(event.pointerId);
    thumb.addEventListener("pointermove", follow);
    thumb.addEventListener("pointerup", () => thumb.removeEventListener("pointermove", follow), { once: true });
    to(event.clientX);
  }

  /* ---- The legend ---- */

  makeLegend() {
    const head = make("div", "legend-head"), list = make("ul", "legend-list");
    const filter = make("input"), every = make("button", "", "All"), none = make("button", "", "None");
    const empty = make("p", "legend-none", "No barrier has that in its name."), rest = make("p", "legend-none");
    const barriers = this.trace.barriers.filter(barrier => barrier.events);
    let means = barriers;
    const fill = () => {
      list.replaceChildren(...means.slice(0, MOST_LISTED).map(barrier => this.makeItem(barrier)));
      rest.hidden = means.length <= MOST_LISTED;
      rest.textContent = `and ${number(means.length - MOST_LISTED)} more: type to filter`;
      empty.hidden = means.length > 0;
    };
    const setAll = shown => {
      for (const barrier of means) barrier.shown = shown;
      fill();
      this.redraw();
    };
    filter.type = "search";
    filter.placeholder = "Filter";
    filter.setAttribute("aria-label", "Filter barriers");
    every.type = none.type = "button";
    every.addEventListener("click", () => setAll(true));
    none.addEventListener("click", () => setAll(false));
    filter.addEventListener("input", () => {
      const wanted = filter.value.trim().toLowerCase();
      means = barriers.filter(barrier => barrier.name.toLowerCase().includes(wanted));
      fill();
    });
    find(".lanes-legend").hidden = !barriers.length;
    head.append(filter, every, none);
    fill();
    find(".lanes-legend").append(head, list, rest, empty);
  }

  makeItem(barrier) {
    const item = make("li"), box = make("input"), button = make("button", "", barrier.name);
    item.dataset.barrier = barrier.index;
    box.type = "checkbox";
    box.checked = barrier.shown;
    item.classList.toggle("chosen", this.chosen.barrier === barrier.index);
    box.setAttribute("aria-label", "Show " + barrier.name);
    box.addEventListener("change", () => { barrier.shown = box.checked; this.redraw(); });
    button.type = "button";
    button.title = barrier.name;
    button.addEventListener("click", () => this.choose({ barrier: this.chosen.barrier === barrier.index ? -1 : barrier.index }));
    item.addEventListener("mouseenter", () => this.hover({ barrier: barrier.index }));
    item.addEventListener("mouseleave", () => this.hover({}));
    const sample = draw("svg", { viewBox: "0 0 26 12", "aria-hidden": "true" });
    sample.append(draw("path", { class: "line c" + colorOf(barrier.index), d: "M0 6H26", "stroke-width": 2.4, fill: "none",
                                 "stroke-dasharray": dashOf(barrier.index) }));
    const events = make("span", "waits", number(barrier.events));
    events.title = count(barrier.events, "event");
    item.append(box, sample, button, events);
    return item;
  }
}

