/* Finding in the HTML report: barriers, buffers, partitions, edges, lines of the IR, and ops of the run. What is not laid
   out yet (page.js, Later) is found, too. It follows lanes.js in the same script. */

const MOST_FOUND = 60;

/* What can be found: { kind, label, more, text, go }. */
class Finder {
  constructor(later, lanes) {
    this.later = later;
    this.lanes = lanes;
    this.items = null;
    this.found = [];
    this.at = -1;
    this.input = find(".find input");
    this.list = make("ul", "float found-list");
    this.list.hidden = true;
    this.list.setAttribute("role", "listbox");
    this.list.setAttribute("aria-label", "What was found");
    find(".find").append(this.list);
    this.input.addEventListener("input", () => this.search());
    this.input.addEventListener("focus", () => { if (this.input.value) this.search(); });
    this.input.addEventListener("keydown", event => this.key(event));
    document.addEventListener("keydown", event => this.shortcut(event));
    document.addEventListener("pointerdown", event => { if (!find(".find").contains(event.target)) this.hide(); });
  }

  hide() { this.list.hidden = true; }

  shortcut(event) {
    const typing = event.target.closest?.("input, textarea, [contenteditable]");
    if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.input.focus();
    this.input.select();
  }

  /* ---- What there is ---- */

  to(id) {
    return () => {
      const target = this.later.element(id), again = location.hash === "#" + id;
      for (const old of all(".found")) old.classList.remove("found");
      target?.classList.add("found");
      if (again) follow();
      else location.hash = id;
    };
  }

  add(kind, label, more, go) { this.items.push({ kind, label, more, text: `${kind} ${label} ${more}`.toLowerCase(), go }); }

  collect() {
    const kinds = { sites: "barrier", buffer: "buffer", coverage: "overwritten" };
    this.items = [];
    for (const row of all("#partitions tbody tr")) {
      const [name, role] = [...row.cells].map(cell => cell.textContent);
      this.add("partition", name, role, () => { unfold(row); row.scrollIntoView({ block: "center" }); });
    }
    const block = (id, label) => {
      const kind = kinds[id.slice(0, id.lastIndexOf("-"))];
      if (kind) this.add(kind, label, "", this.to(id));
    };
    for (const one of all("details.fold[id]")) block(one.id, find("h3, h4", one)?.firstChild.textContent ?? "");
    for (const [id, label] of this.later.names()) block(id, label);
    for (const row of all("tr[id^='edge-']")) {
      const [from, to, mechanism, barrier] = [...row.cells].map(cell => cell.textContent);
      this.add("edge", `${from} \u2192 ${to}`, `${mechanism} ${barrier ?? ""}`, this.to(row.id));
    }
    for (const line of all(".lines li")) this.add(line.id.startsWith("S") ? "source line" : lineWord, line.getAttribute("value"), find("code", line).textContent.trim(), this.to(line.id));
    this.collectRun();
  }

  /* Ops of the run: those of one lane, line and barrier together. */
  collectRun() {
    const groups = new Map();
    for (const event of this.lanes ? this.lanes.trace.events : []) {
      if (event.kind === FLIP) continue;
      const key = `${event.track}|${event.line}|${event.name}|${event.barrier}`;
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push(event);
    }
    for (const events of groups.values()) {
      const [{ track, name, barrier, line }] = events, { tracks, barriers } = this.lanes.trace;
      const about = barrier >= 0 ? ` ${barriers[barrier].name}` : "";
      this.add("in the run", shortName(name) + about, `${tracks[track].agent}, ${count(events.length, "time")}${line ? `, ${lineWord} ${line}` : ""}`,
               () => this.lanes.visit(events));
    }
  }

  /* ---- What is found ---- */

  search() {
    const words = this.input.value.trim().toLowerCase().split(/\s+/).filter(word => word);
    if (!words.length) { this.found = []; this.hide(); return; }
    if (!this.items) this.collect();
    const rank = item => item.label.toLowerCase() === words.join(" ") ? 0 : item.label.toLowerCase().startsWith(words[0]) ? 1
      : item.label.toLowerCase().includes(words[0]) ? 2 : 3;
    const every = this.items.filter(item => words.every(word => item.text.includes(word)));
    this.found = every.map((item, index) => ({ item, index, rank: rank(item) })).sort((a, b) => a.rank - b.rank || a.index - b.index)
      .slice(0, MOST_FOUND).map(one => one.item);
    this.at = -1;
    this.show(every.length);
  }

  show(total) {
    const rows = this.found.map((item, index) => {
      const row = make("li");
      row.setAttribute("role", "option");
      row.append(make("span", "what-kind", item.kind), make("b", "", item.label), make("span", "more", item.more.slice(0, 120)));
      row.addEventListener("click", () => this.go(index));
      return row;
    });
    const sum = total > rows.length ? `${number(total)} found, the first ${rows.length} shown` : total ? `${number(total)} found` : "Nothing has that in it.";
    this.list.replaceChildren(make("li", "found-sum", sum), ...rows);
    this.list.hidden = false;
  }

  choose(index) {
    this.at = limit(index, 0, this.found.length - 1);
    const rows = all("li[role=option]", this.list);
    rows.forEach((row, i) => row.classList.toggle("chosen", i === this.at));
    rows[this.at]?.scrollIntoView({ block: "nearest" });
  }

  /* Of ops of the run, the same again goes to the next one. */
  go(index) {
    this.choose(index);
    this.hide();
    this.found[this.at]?.go();
  }

  key(event) {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (this.list.hidden) this.show(this.found.length);
      this.choose(this.at + (event.key === "ArrowDown" ? 1 : -1));
    } else if (event.key === "Enter" && this.found.length) this.go(Math.max(0, this.at));
    else if (event.key === "Escape") this.hide();
    else return;
    event.preventDefault();
  }
}

const lanes = find("#trace") && find(".lanes") ? new Lanes() : null;
if (find(".find")) new Finder(later, lanes);
