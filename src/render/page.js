/* The script of the HTML report: light and dark, folding, quotes of the IR, and the swim lanes. What is drawn comes from
   the JSON of swimlanes.h. Texts enter the page as text, never as markup. */
"use strict";
(() => {
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

  /* ---- Folding ---- */

  const unfold = element => {
    for (let at = element; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
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
    const follow = () => {
      const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
      if (!target) return;
      unfold(target);
      target.scrollIntoView();
    };
    addEventListener("hashchange", follow);
    follow();
    let folded = [];
    addEventListener("beforeprint", () => {
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

  /* ---- Lines of the IR ---- */

  const lineText = line => find("code", document.getElementById("L" + line) || document.createElement("i"))?.textContent;

  const quotes = () => {
    const box = make("div", "float quote");
    box.hidden = true;
    box.setAttribute("role", "dialog");
    box.setAttribute("aria-label", "Lines of the IR");
    document.body.append(box);
    let pinned = null, timer = 0;
    const hide = () => { box.hidden = true; pinned = null; };
    const show = link => {
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
      close.addEventListener("click", () => { const back = pinned; hide(); back?.focus(); });
      title.append(make("span", "", "IR line " + line));
      if (pinned === link) title.append(close);
      box.replaceChildren(title, pre);
      const at = link.getBoundingClientRect();
      place(box, at.left - 14, at.bottom - 10);
    };
    const linkOf = event => event.target.closest?.("a.ir");
    document.addEventListener("click", event => {
      const link = linkOf(event);
      if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
        event.preventDefault();
        const again = pinned === link;
        hide();
        if (!again) { pinned = link; show(link); }
      } else if (pinned && !box.contains(event.target)) hide();
    });
    document.addEventListener("mouseover", event => {
      const link = linkOf(event);
      clearTimeout(timer);
      if (link && !pinned) timer = setTimeout(() => show(link), 150);
      else if (!pinned && !box.contains(event.target)) timer = setTimeout(hide, 200);
    });
    document.addEventListener("keydown", event => { if (event.key === "Escape" && !box.hidden) hide(); });
    addEventListener("scroll", () => { if (!box.hidden) hide(); }, { passive: true });
  };

  /* ---- The graph: its lines mark their rows ---- */

  const graph = () => {
    const mark = (edge, is) => {
      for (const row of all("tr[data-pair]")) if (row.dataset.pair === edge.dataset.pair) row.classList.toggle("chosen", is);
    };
    for (const edge of all("a.edge"))
      for (const [kind, is] of [["mouseenter", true], ["mouseleave", false], ["focus", true], ["blur", false]])
        edge.addEventListener(kind, () => mark(edge, is));
  };

  /* ---- The swim lanes ---- */

  const WAIT = 1, BLOCKED = 2, FLIP = 3, ACCESS = 4; /* ORDER TraceKind; 0 is a step */
  const LANE = 30, GROUP = 24, TOP = 8, BAR = 17, COLOURS = 8, NO_COLOUR = 8;
  const DASHES = ["", "6 3", "2 3", "9 3 2 3", "12 4", "4 2 1 2", "1 2", "8 2 1 2 1 2"];
  const SVG = "http://www.w3.org/2000/svg";
  const draw = (name, attributes, text) => {
    const element = document.createElementNS(SVG, name);
    for (const key in attributes) element.setAttribute(key, attributes[key]);
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const shortName = name => name.slice(name.lastIndexOf(".") + 1);
  const colourOf = barrier => barrier < 0 ? NO_COLOUR : barrier % COLOURS;
  const dashOf = barrier => DASHES[Math.floor(barrier / COLOURS) % DASHES.length];

  const readTrace = () => {
    const data = JSON.parse(find("#trace").textContent);
    const trace = {
      barriers: data.barriers.map(([name, row], index) => ({ name, row: row === 1, index, waits: 0, events: 0, slots: 0, shown: true })),
      tracks: data.tracks.map(([cta, ctaName, agent]) => ({ cta, ctaName, agent, slices: [], flips: [], marks: [] })),
      flows: [],
    };
    const instant = kind => kind === FLIP || kind === ACCESS;
    trace.events = data.events.map(([kind, track, time, duration, name, detail, line, from, ...barriers], index) => {
      const pairs = [];
      for (let i = 0; i < barriers.length; i += 2) pairs.push({ barrier: barriers[i], slot: barriers[i + 1] });
      return { kind, track, time, end: time + (instant(kind) ? 0 : Math.max(1, duration)), name: data.texts[name],
               detail: data.texts[detail], line, from: from - 1, pairs, barriers: pairs.map(pair => pair.barrier),
               barrier: pairs.length ? pairs[0].barrier : -1, index };
    });
    for (const [index, why, could] of data.blocked)
      trace.events[index].never = { why, could: could.map(([track, line, agent, op, detail]) => ({ track, line, agent, op, detail })) };
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
    for (const event of trace.events) {
      const track = trace.tracks[event.track];
      (event.kind === FLIP ? track.flips : event.kind === ACCESS ? track.marks : track.slices).push(event);
      for (const barrier of new Set(event.barriers)) trace.barriers[barrier].events++;
      for (const { barrier, slot } of event.pairs) trace.barriers[barrier].slots = Math.max(trace.barriers[barrier].slots, slot + 1);
      if (event.barrier >= 0 && event.kind === WAIT) trace.barriers[event.barrier].waits++;
      if (event.kind === BLOCKED) event.end = trace.high;
      if (event.from >= 0) trace.flows.push({ from: trace.events[event.from], to: event, barrier: event.barrier });
    }
    for (const track of trace.tracks) {
      track.slices.sort((a, b) => a.time - b.time);
      track.flips.sort((a, b) => a.time - b.time);
      track.marks.sort((a, b) => a.time - b.time);
    }
    return trace;
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

  const lanes = () => {
    if (!find("#trace") || !find(".lanes")) return;
    const trace = readTrace(), host = find(".lanes"), view = find(".lanes-view");
    host.hidden = false;

    /* Where things are */
    const grid = make("div", "lanes-grid"), names = make("div", "lanes-names"), axis = make("div", "lanes-axis");
    const paper = make("div", "lanes-paper"), thumb = make("div", "lanes-thumb"), handle = make("i");
    const axisSvg = draw("svg", { height: 28, "aria-hidden": "true" }), svg = draw("svg", { "aria-hidden": "true" });
    thumb.append(handle);
    axis.append(axisSvg);
    paper.append(svg);
    grid.append(make("div", "lanes-corner", "steps of the run"), axis, names, paper, make("div", "lanes-foot"), thumb);
    view.append(grid);
    const rows = [];
    let height = 0;
    const order = trace.tracks.map((_, index) => index).sort((a, b) => trace.tracks[a].cta - trace.tracks[b].cta || a - b);
    let group = null;
    for (const index of order) {
      const track = trace.tracks[index];
      if (track.cta !== group) {
        group = track.cta;
        const title = make("div", "cta", track.ctaName);
        title.title = track.ctaName;
        names.append(title);
        rows.push({ top: height, group: true });
        height += GROUP;
      }
      const stuck = track.slices.some(event => event.kind === BLOCKED);
      const button = make("button", (track.agent.includes(".") ? "helper" : "") + (stuck ? " stuck" : ""), track.agent);
      button.type = "button";
      button.title = track.agent;
      button.setAttribute("aria-pressed", "false");
      button.addEventListener("click", () => choose({ track: chosen.track === index ? -1 : index }));
      button.addEventListener("mouseenter", () => hover({ track: index }));
      button.addEventListener("mouseleave", () => hover({}));
      names.append(button);
      track.top = height;
      track.button = button;
      rows.push({ top: height, track, index });
      height += LANE;
    }
    svg.setAttribute("height", height);
    const rowAt = y => rows.find(row => y >= row.top && y < row.top + (row.group ? GROUP : LANE));

    /* What is in view, pointed at, and chosen */
    let start = trace.low, span = trace.high - trace.low, width = 800;
    let hovered = { barrier: -1, track: -1 }, chosen = { barrier: -1, track: -1, event: null }, cursor = null;
    const x = time => (time - start) / span * width;
    const timeAt = at => start + at / width * span;
    const focus = () => hovered.barrier >= 0 || hovered.track >= 0 ? hovered : chosen;
    const isShown = event => event.barrier < 0 || trace.barriers[event.barrier].shown;
    /* "full[1]"; a ring of one slot goes without its number. */
    const slotName = ({ barrier, slot }) => trace.barriers[barrier].name + (slot >= 0 && trace.barriers[barrier].slots > 1 ? `[${slot}]` : "");
    const waitsFor = event => event.pairs.map(slotName).join(", ") || shortName(event.name);
    const isDim = event => chosen.barrier >= 0 && !event.barriers.includes(chosen.barrier) && event.kind !== BLOCKED;

    /* Layers */
    const defs = draw("defs", {});
    for (let colour = 0; colour <= NO_COLOUR; colour++) {
      const hatch = draw("pattern", { id: "hatch-" + colour, class: "c" + colour, width: 5, height: 5,
                                      patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" });
      hatch.append(draw("rect", { width: 5, height: 5, class: "fill", opacity: 0.12 }),
                   draw("rect", { width: 1.3, height: 5, class: "fill", opacity: 0.5 }));
      const head = draw("marker", { id: "head-" + colour, class: "c" + colour, viewBox: "0 0 8 8", refX: 7, refY: 4,
                                    markerWidth: 7, markerHeight: 7, markerUnits: "userSpaceOnUse", orient: "auto" });
      head.append(draw("path", { d: "M0 0L8 4L0 8z", class: "fill" }));
      defs.append(hatch, head);
    }
    const crossed = draw("pattern", { id: "hatch-blocked", width: 6, height: 6, patternUnits: "userSpaceOnUse",
                                      patternTransform: "rotate(45)" });
    crossed.append(draw("rect", { width: 6, height: 6, fill: "var(--bad-back)" }),
                   draw("rect", { width: 1.6, height: 6, fill: "var(--bad)", opacity: 0.6 }),
                   draw("rect", { width: 6, height: 1.6, fill: "var(--bad)", opacity: 0.6 }));
    const never = draw("marker", { id: "head-never", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 9, markerHeight: 9,
                                   markerUnits: "userSpaceOnUse", orient: "auto" });
    never.append(draw("path", { d: "M0 0L8 4L0 8z", fill: "var(--bad)" }));
    defs.append(crossed, never);
    const back = draw("g", {}), slices = draw("g", {}), arrows = draw("g", {}), front = draw("g", {});
    svg.append(defs, back, slices, arrows, front);

    const visibleRows = () => {
      const top = view.scrollTop - LANE, bottom = view.scrollTop + view.clientHeight + LANE;
      return rows.filter(row => row.top >= top && row.top <= bottom);
    };

    const drawAxis = () => {
      const wanted = span / Math.max(2, width / 110), power = 10 ** Math.floor(Math.log10(wanted));
      const step = Math.max(1, [1, 2, 5, 10].map(k => k * power).find(s => s >= wanted));
      let ticks = "", lines = "";
      axisSvg.replaceChildren();
      for (let at = Math.ceil(start / step) * step; at <= start + span; at += step) {
        const place = Math.round(x(at)) + 0.5;
        ticks += `M${place} 20V28`;
        lines += `M${place} 0V${height}`;
        const label = number(at), edge = label.length * 3.6;
        if (place > edge && place < width - edge)
          axisSvg.append(draw("text", { x: place, y: 16, "text-anchor": "middle" }, label));
      }
      axisSvg.append(draw("path", { class: "axis-tick", d: ticks }));
      return lines;
    };

    const drawBack = lines => {
      const bands = [], edges = [];
      for (const row of rows) {
        if (row.group) bands.push(draw("rect", { class: "cta-band", x: 0, y: row.top, width, height: GROUP }));
        else edges.push(`M0 ${row.top + LANE - 0.5}H${width}`);
        if (row.index === chosen.track) bands.push(draw("rect", { class: "row-chosen", x: 0, y: row.top, width, height: LANE }));
      }
      back.replaceChildren(draw("path", { class: "axis-line", d: lines }), ...bands,
                           draw("path", { class: "row-line", d: edges.join("") }));
    };

    /* Slices of one look are one path, so that thousands are as quick as ten. */
    const drawSlices = () => {
      const looks = new Map(), labels = [], blocked = [];
      const add = (look, d) => looks.set(look, (looks.get(look) || "") + d);
      for (const row of visibleRows()) {
        if (row.group) continue;
        const y = row.top + TOP, events = row.track.slices;
        let drawnTo = -1;
        for (let i = firstAfter(events, start); i < events.length && events[i].time < start + span; i++) {
          const event = events[i], left = Math.max(-2, x(event.time)), right = Math.min(width + 2, x(event.end));
          if (right - left < 1 && right < drawnTo) continue;
          const wide = Math.max(1, right - left - (right - left > 4 ? 1 : 0));
          drawnTo = left + wide;
          const colour = isShown(event) ? colourOf(event.barrier) : NO_COLOUR;
          const box = `M${left.toFixed(1)} ${y}h${wide.toFixed(1)}v${BAR}h${(-wide).toFixed(1)}z`;
          const name = event.kind === WAIT || event.kind === BLOCKED ? waitsFor(event) : shortName(event.name);
          const room = Math.floor((wide - 8) / 6.7);
          if (event.kind === BLOCKED) {
            blocked.push(draw("rect", { class: "blocked", x: left, y, width: Math.max(3, width + 4 - left), height: BAR }));
            const words = ["\u2717 blocked for ever: waits for " + name, "\u2717 for ever: " + name, "\u2717 for ever", "\u2717"].find(w => w.length <= room);
            const at = Math.max(left, 0) + 6;
            if (words) blocked.push(draw("rect", { class: "label-back", x: at - 3, y: y + 2, width: words.length * 6.7 + 6, height: BAR - 4, rx: 2 }),
                                    draw("text", { class: "blocked-label", x: at, y: y + 12.5 }, words));
            continue;
          }
          add(`${event.kind === WAIT && wide > 2.5 ? "wait" : "step"} c${colour}${isDim(event) ? " dim" : ""}`, box);
          if (room >= 4 && !isDim(event)) {
            const words = name.length <= room ? name : room >= 7 ? name.slice(0, room - 1) + "\u2026" : "";
            if (words) labels.push(draw("text", { class: "slice-label" + (event.kind === WAIT ? "" : " on-step"),
                                                  x: Math.max(left, 0) + 5, y: y + 12.5 }, words));
          }
        }
        drawFlips(row, add);
      }
      const paths = [...looks].map(([look, d]) => {
        const colour = /c(\d)/.exec(look)[1];
        if (look.startsWith("wait")) return draw("path", { class: "line " + look, d, fill: `url(#hatch-${colour})`, "stroke-width": 1 });
        return draw("path", { class: "fill " + look, d });
      });
      slices.replaceChildren(...paths, ...blocked, ...labels);
    };

    const drawFlips = (row, add) => {
      let last = -9;
      const flips = row.track.flips;
      for (let i = firstAfter(flips, start - 1); i < flips.length && flips[i].time <= start + span; i++) {
        const at = x(flips[i].time + 0.5), half = limit(width / span / 3, 1.5, 4);
        if (at - last < half || !isShown(flips[i])) continue;
        last = at;
        add(`flip c${colourOf(flips[i].barrier)}${isDim(flips[i]) ? " dim" : ""}`,
            `M${(at - half).toFixed(1)} ${row.top + 1}h${(2 * half).toFixed(1)}l${(-half).toFixed(1)} 6z`);
      }
    };

    const flowPath = flow => {
      const from = trace.tracks[flow.from.track], to = trace.tracks[flow.to.track], down = to.top > from.top;
      const x1 = x(flow.from.time + 0.5), x2 = x(flow.to.end - 0.15);
      const y1 = from.top + TOP + (down ? BAR : 0), y2 = to.top + TOP + (down ? -1 : BAR + 1);
      const bend = Math.max(10, Math.abs(y2 - y1) * 0.45);
      return `M${x1.toFixed(1)} ${y1}C${x1.toFixed(1)} ${y1 + (down ? bend : -bend)} ${x2.toFixed(1)} ${y2 - (down ? bend : -bend)} ${x2.toFixed(1)} ${y2}`;
    };

    const drawArrows = () => {
      const at = focus(), focused = at.barrier >= 0 || at.track >= 0, strong = [], faint = new Map();
      const seen = trace.flows.filter(flow => isShown(flow.to) && flow.to.end > start && flow.from.time < start + span);
      const calm = !focused && seen.length <= 60;
      for (const flow of seen) {
        const matches = at.barrier >= 0 ? flow.barrier === at.barrier
          : at.track >= 0 && (flow.from.track === at.track || flow.to.track === at.track);
        if (focused && matches && strong.length < 1500)
          strong.push(draw("path", { class: "arrow strong line c" + colourOf(flow.barrier), d: flowPath(flow),
                                     "stroke-dasharray": dashOf(flow.barrier), "marker-end": `url(#head-${colourOf(flow.barrier)})` }));
        else {
          const look = colourOf(flow.barrier) + "|" + dashOf(flow.barrier);
          faint.set(look, (faint.get(look) || "") + flowPath(flow));
        }
      }
      const paths = [...faint].map(([look, d]) => {
        const [colour, dash] = look.split("|"), path = { class: `arrow line c${colour}${calm ? " medium" : ""}`, d, "stroke-dasharray": dash };
        if (calm) path["marker-end"] = `url(#head-${colour})`;
        return draw("path", path);
      });
      arrows.replaceChildren(...paths, ...strong, ...neverArrows());
    };

    /* From who would release a wait, but waits itself, to that wait: at the edge, where both are in vain. */
    const neverArrows = () => {
      const found = [];
      if (start + span < trace.last) return found;
      for (const event of trace.events) {
        if (event.kind !== BLOCKED) continue;
        for (const track of new Set(event.never?.could.map(one => one.track))) {
          if (track < 0 || track === event.track || !isShown(event)) continue;
          const from = trace.tracks[track].top, to = trace.tracks[event.track].top, down = to > from, at = width - 14 - (found.length % 6) * 16;
          found.push(draw("path", { class: "never", "marker-end": "url(#head-never)",
                                    d: `M${at} ${from + TOP + BAR / 2}V${to + TOP + (down ? -1 : BAR + 1)}` }));
        }
      }
      return found;
    };

    const drawMarks = () => {
      const found = [];
      for (const { track, group } of visibleRows()) {
        let last = -9;
        for (const mark of group ? [] : track.marks) {
          const at = x(mark.time + 1);
          if (at < -6 || at > width + 6 || at - last < 3) continue;
          last = at;
          found.push(`M${at.toFixed(1)} ${track.top + TOP + 1}l6 7.5l-6 7.5l-6 -7.5z`);
        }
      }
      return draw("path", { class: "mark", d: found.join("") });
    };

    const drawFront = () => {
      front.replaceChildren(drawMarks());
      const event = cursor || chosen.event;
      if (!event) return;
      const left = x(event.time), right = x(Math.max(event.end, event.time + 1));
      if (right < 0 || left > width) return;
      front.append(draw("rect", { class: "cursor", x: left - 1, y: trace.tracks[event.track].top + TOP - 1,
                                  width: Math.max(3, right - left + 1), height: BAR + 2, rx: 2 }));
    };

    const redraw = () => {
      width = Math.max(100, paper.clientWidth);
      svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
      axisSvg.setAttribute("viewBox", `0 0 ${width} 28`);
      drawBack(drawAxis());
      drawSlices();
      drawArrows();
      drawFront();
      const whole = trace.high - trace.low;
      handle.style.left = (start - trace.low) / whole * 100 + "%";
      handle.style.width = Math.min(100, span / whole * 100) + "%";
      const low = Math.max(trace.first, Math.floor(start)), high = Math.min(trace.last, Math.ceil(start + span));
      find(".lanes-range").textContent = `Steps ${number(low)} to ${number(high)} of ${number(trace.last)}`;
    };
    let pending = 0;
    const later = () => { pending ||= requestAnimationFrame(() => { pending = 0; redraw(); }); };

    /* Moving and zooming */
    const show = (from, wide) => {
      span = limit(wide, Math.min(8, trace.high - trace.low), trace.high - trace.low);
      start = limit(from, trace.low, trace.high - span);
      later();
    };
    const zoom = (factor, at = width / 2) => { const time = timeAt(at); show(time - at / width * span * factor, span * factor); };
    const move = share => show(start + span * share, span);
    const reveal = event => {
      if (event.time < start || Math.min(event.end, event.time + span / 2) > start + span) show(event.time - span / 3, span);
      const top = trace.tracks[event.track].top;
      if (top < view.scrollTop || top + LANE + 40 > view.scrollTop + view.clientHeight) view.scrollTop = top - view.clientHeight / 2;
    };

    /* What is pointed at */
    const tip = make("div", "float tip");
    tip.hidden = true;
    tip.setAttribute("role", "tooltip");
    document.body.append(tip);
    const what = event => event.kind === WAIT ? `waited ${count(event.end - event.time, "step")}`
      : event.kind === BLOCKED ? "blocked for ever" : event.kind === FLIP ? "a phase completes"
      : event.kind === ACCESS ? "an access that a finding is about" : "one step";
    const stepsOf = event => event.end - event.time <= 1 ? `step ${number(event.time)}`
      : event.kind === BLOCKED ? `from step ${number(event.time)} on` : `steps ${number(event.time)} to ${number(event.end - 1)}`;
    const fillTip = event => {
      const head = make("div"), list = make("dl");
      head.append(make("span", "op", event.name), make("span", event.kind === BLOCKED || event.kind === ACCESS ? "is-blocked" : "what", "  " + what(event)));
      const fact = (key, text) => { if (text) list.append(make("dt", "", key), make("dd", "", text)); };
      fact("Lane", trace.tracks[event.track].agent);
      fact("Time", stepsOf(event));
      fact("Barrier", event.pairs.map(slotName).join(", "));
      fact("Detail", event.detail);
      fact("Why", event.never?.why);
      event.never?.could.forEach((one, index) =>
        fact(index ? "" : "Could release", `${one.agent} ${shortName(one.op)}, IR line ${one.line}: ${one.detail}`));
      if (event.from >= 0) {
        const from = trace.events[event.from];
        fact("Released", `by ${trace.tracks[from.track].agent}, ${shortName(from.name)}, step ${number(from.time)}`);
      }
      if (event.line) fact("IR line", String(event.line));
      tip.replaceChildren(head, list);
      const text = event.line ? lineText(event.line) : undefined;
      if (text !== undefined) tip.append(make("pre", "", text.trim()));
    };
    const eventAt = (clientX, clientY) => {
      const box = svg.getBoundingClientRect(), at = clientX - box.left, y = clientY - box.top, row = rowAt(y);
      if (at < 0 || at > width || !row || row.group) return null;
      const mark = row.track.marks.find(one => Math.abs(x(one.time + 1) - at) <= 6);
      if (mark && y - row.top >= TOP) return mark;
      const near = Math.max(4, width / span / 2);
      if (y - row.top < TOP) {
        const flip = row.track.flips.find(one => Math.abs(x(one.time + 0.5) - at) <= near);
        if (flip) return flip;
      }
      const events = row.track.slices, index = firstAfter(events, timeAt(at));
      const distance = event => event.time > timeAt(at) ? x(event.time) - at : Math.max(0, at - x(event.end));
      let best = null;
      for (const event of [events[index - 1], events[index]])
        if (event && distance(event) <= 3 && (!best || distance(event) < distance(best))) best = event;
      return best;
    };
    const hover = ({ barrier = -1, track = -1 }) => {
      if (hovered.barrier === barrier && hovered.track === track) return;
      hovered = { barrier, track };
      drawArrows();
    };

    /* What is chosen */
    const summary = find(".lanes-chosen");
    const choose = ({ barrier = -1, track = -1, event = null }) => {
      chosen = { barrier, track, event };
      for (const one of trace.tracks) {
        const is = one === trace.tracks[track];
        one.button.classList.toggle("chosen", is);
        one.button.setAttribute("aria-pressed", is);
      }
      for (const item of all(".legend-list li")) item.classList.toggle("chosen", +item.dataset.barrier === barrier);
      for (const row of all("[data-barrier]:not(li)")) row.classList.toggle("chosen", +row.dataset.barrier === barrier);
      if (barrier >= 0) find(`.legend-list li[data-barrier="${barrier}"]`)?.scrollIntoView?.({ block: "nearest", behavior: "instant" });
      describe();
      redraw();
    };
    const lineLink = (to, line) => {
      if (!line || lineText(line) === undefined) return;
      const link = make("a", "ir", "IR line " + line);
      link.href = "#L" + line;
      to.append(link);
    };
    const describeNever = never => {
      const said = make("div", "never-told");
      said.append(make("span", "is-blocked", "For ever: "), never.why);
      for (const one of never.could) {
        const who = make("div");
        who.append(make("b", "", one.agent), " ", make("code", "", shortName(one.op)), " ");
        lineLink(who, one.line);
        who.append(" " + one.detail);
        said.append(who);
      }
      summary.append(said);
    };
    const describe = () => {
      const { barrier, track, event } = chosen;
      summary.replaceChildren();
      if (barrier < 0 && track < 0 && !event) {
        summary.append(make("span", "hint", "Point at a slice to see what it is; click to choose its barrier. Click the picture and the wheel zooms, with Ctrl at once; drag to move."));
        return;
      }
      if (barrier >= 0) {
        const one = trace.barriers[barrier], said = make("span");
        said.append("Barrier ", make("b", "", one.name), `: ${count(one.events, "event")}, ${count(one.waits, "blocked wait")}`);
        summary.append(said);
        if (one.row) {
          const link = make("a", "to-row", "Go to its row");
          link.href = "#barrier-" + barrier;
          summary.append(link);
        }
      } else if (track >= 0) {
        const said = make("span");
        said.append("Lane ", make("b", "", trace.tracks[track].agent), `: ${count(trace.tracks[track].slices.length, "slice")}`);
        summary.append(said);
      }
      if (event) {
        const said = make("span");
        said.append(make("code", "", shortName(event.name)), ", " + stepsOf(event));
        summary.append(said);
        lineLink(summary, event.line);
        if (event.never) describeNever(event.never);
      }
      const clear = make("button", "", "Let go");
      clear.type = "button";
      clear.addEventListener("click", () => choose({}));
      summary.append(clear);
    };

    /* From wait to wait */
    const waits = trace.events.filter(event => event.kind === WAIT || event.kind === BLOCKED)
      .sort((a, b) => a.time - b.time || a.index - b.index);
    const goTo = direction => {
      const list = waits.filter(event => isShown(event) && (chosen.barrier < 0 || event.barriers.includes(chosen.barrier)) &&
                                         (chosen.track < 0 || event.track === chosen.track));
      if (!list.length) return;
      const current = list.indexOf(cursor);
      cursor = list[current < 0 ? (direction > 0 ? 0 : list.length - 1) : (current + direction + list.length) % list.length];
      reveal(cursor);
      redraw();
      fillTip(cursor);
      const box = svg.getBoundingClientRect(), top = trace.tracks[cursor.track].top;
      place(tip, box.left + limit(x(cursor.time), 0, width - 40), box.top + top + LANE - 8);
    };

    /* Pointer, wheel, keys */
    let drag = null;
    svg.addEventListener("pointerdown", event => {
      if (event.button !== 0) return;
      drag = { x: event.clientX, start, moved: false };
      svg.setPointerCapture(event.pointerId);
    });
    svg.addEventListener("pointermove", event => {
      if (drag) {
        if (Math.abs(event.clientX - drag.x) > 3) drag.moved = true;
        if (!drag.moved) return;
        view.classList.add("moving");
        tip.hidden = true;
        show(drag.start - (event.clientX - drag.x) / width * span, span);
        return;
      }
      const found = eventAt(event.clientX, event.clientY);
      tip.hidden = !found;
      if (found) {
        fillTip(found);
        place(tip, event.clientX, event.clientY);
      }
      hover(found && found.barrier >= 0 && isShown(found) ? { barrier: found.barrier } : {});
    });
    svg.addEventListener("pointerup", event => {
      const moved = drag && drag.moved;
      drag = null;
      view.classList.remove("moving");
      view.focus({ preventScroll: true });
      if (moved) return;
      const found = eventAt(event.clientX, event.clientY);
      cursor = null;
      choose(found ? { barrier: found.barrier, event: found } : {});
    });
    svg.addEventListener("pointerleave", () => { if (!drag) { tip.hidden = true; hover({}); } });
    svg.addEventListener("dblclick", event => zoom(0.4, event.clientX - svg.getBoundingClientRect().left));
    view.addEventListener("wheel", event => {
      const sideways = event.shiftKey ? event.deltaY || event.deltaX : Math.abs(event.deltaX) > Math.abs(event.deltaY) ? event.deltaX : 0;
      if (!event.ctrlKey && !event.metaKey && document.activeElement !== view) return;
      event.preventDefault();
      tip.hidden = true;
      if (sideways) move(sideways / width);
      else zoom(Math.exp(limit(event.deltaY, -200, 200) / 320), event.clientX - svg.getBoundingClientRect().left);
    }, { passive: false });
    const does = {
      in: () => zoom(0.5), out: () => zoom(2), left: () => move(-0.25), right: () => move(0.25),
      fit: () => show(trace.low, trace.high - trace.low), next: () => goTo(1), previous: () => goTo(-1),
    };
    const keys = { "+": "in", "=": "in", "-": "out", ArrowLeft: "left", ArrowRight: "right", 0: "fit", n: "next", p: "previous" };
    view.addEventListener("keydown", event => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.target !== view) return;
      if (keys[event.key]) does[keys[event.key]]();
      else if (event.key === "Enter" && cursor) choose({ barrier: cursor.barrier, event: cursor });
      else if (event.key === "Escape") { cursor = null; tip.hidden = true; choose({}); }
      else return;
      event.preventDefault();
    });
    view.addEventListener("blur", () => { tip.hidden = true; });
    view.addEventListener("scroll", () => { tip.hidden = true; later(); }, { passive: true });
    find(".lanes-bar").addEventListener("click", event => does[event.target.closest("button")?.dataset.does]?.());
    thumb.addEventListener("pointerdown", event => {
      const box = thumb.getBoundingClientRect(), whole = trace.high - trace.low;
      const to = at => show(trace.low + (at - box.left) / box.width * whole - span / 2, span);
      const follow = one => to(one.clientX);
      thumb.setPointerCapture(event.pointerId);
      thumb.addEventListener("pointermove", follow);
      thumb.addEventListener("pointerup", () => thumb.removeEventListener("pointermove", follow), { once: true });
      to(event.clientX);
    });

    /* The legend */
    const legend = find(".lanes-legend"), head = make("div", "legend-head"), list = make("ul", "legend-list");
    const filter = make("input"), every = make("button", "", "All"), none = make("button", "", "None");
    filter.type = "search";
    filter.placeholder = "Filter";
    filter.setAttribute("aria-label", "Filter barriers");
    every.type = none.type = "button";
    head.append(filter, every, none);
    const inTrace = trace.barriers.filter(barrier => barrier.events);
    const items = inTrace.map(barrier => {
      const item = make("li"), box = make("input"), button = make("button", "", barrier.name);
      item.dataset.barrier = barrier.index;
      box.type = "checkbox";
      box.checked = true;
      box.setAttribute("aria-label", "Show " + barrier.name);
      box.addEventListener("change", () => { barrier.shown = box.checked; redraw(); });
      button.type = "button";
      button.title = barrier.name;
      button.addEventListener("click", () => choose({ barrier: chosen.barrier === barrier.index ? -1 : barrier.index }));
      item.addEventListener("mouseenter", () => hover({ barrier: barrier.index }));
      item.addEventListener("mouseleave", () => hover({}));
      const sample = draw("svg", { viewBox: "0 0 26 12", "aria-hidden": "true" });
      sample.append(draw("path", { class: "line c" + colourOf(barrier.index), d: "M0 6H26", "stroke-width": 2.4, fill: "none",
                                   "stroke-dasharray": dashOf(barrier.index) }));
      const events = make("span", "waits", number(barrier.events));
      events.title = count(barrier.events, "event");
      item.append(box, sample, button, events);
      return { barrier, item, box };
    });
    list.append(...items.map(one => one.item));
    const empty = make("p", "legend-none", "No barrier has that in its name.");
    empty.hidden = true;
    const setAll = shown => {
      for (const { barrier, item, box } of items) if (!item.hidden) box.checked = barrier.shown = shown;
      redraw();
    };
    every.addEventListener("click", () => setAll(true));
    none.addEventListener("click", () => setAll(false));
    filter.addEventListener("input", () => {
      const wanted = filter.value.trim().toLowerCase();
      for (const { barrier, item } of items) item.hidden = !barrier.name.toLowerCase().includes(wanted);
      empty.hidden = items.some(one => !one.item.hidden);
    });
    legend.append(head, list, empty);

    new ResizeObserver(later).observe(paper);
    describe();
    redraw();
  };

  theme();
  folding();
  quotes();
  graph();
  lanes();
})();
