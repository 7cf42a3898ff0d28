/* The kernel's source beside the timeline: a line is joined to the steps of the run that are at it, and a step to its
   line. It follows page.js in the same script; lanes.js, which follows it, has the steps. */

class Code {
  constructor() {
    this.panel = find(".code");
    this.lines = new Map(); /* by line of the IR: the element */
    this.steps = new Map(); /* by element: events, in order */
    for (const line of all(".lines li", this.panel)) {
      const from = line.dataset.ir?.split(" ") ?? (line.id.startsWith("L") ? [line.value] : []);
      for (const ir of from) this.lines.set(+ir, line);
    }
    this.panel.addEventListener("click", event => { if (!event.target.closest("a")) this.visit(event.target.closest("li")); });
    this.panel.addEventListener("keydown", event => { if (event.key === "Enter") this.visit(event.target.closest("li")); });
  }

  /* What the run has at each line. */
  join(lanes) {
    this.lanes = lanes;
    for (const event of lanes.trace.events) {
      const line = this.lines.get(event.line);
      if (!line || event.kind === FLIP) continue;
      if (!this.steps.has(line)) this.steps.set(line, []);
      this.steps.get(line).push(event);
    }
    for (const [line, events] of this.steps) {
      events.sort((a, b) => a.time - b.time || a.index - b.index);
      line.classList.add("ran");
      line.tabIndex = 0;
      line.dataset.steps = number(events.length);
      line.title = `${count(events.length, "step")} of the run: click to go from one to the next`;
    }
  }

  /* What is looked at first: a finding, or where the picture opens. */
  open() {
    const { trace, start, span } = this.lanes;
    const first = find(".error, .warning", this.panel) ??
      this.lines.get(trace.events.find(event => event.time >= start + span / 3 && this.lines.has(event.line))?.line);
    if (first) this.reveal(first);
  }

  /* A line that was clicked: to its next step. */
  visit(line) {
    if (!this.steps.has(line)) return;
    this.lanes.visit(this.steps.get(line));
  }

  /* The line of a step that is pointed at or chosen; none: there is none. */
  mark(event, reveal) {
    const line = event && this.lines.get(event.line);
    this.marked?.classList.remove("here");
    this.marked = line;
    line?.classList.add("here");
    if (line && reveal) this.reveal(line);
  }

  /* Within the panel; the page stays where it is. */
  reveal(line) {
    const { panel } = this, box = line.getBoundingClientRect(), frame = panel.getBoundingClientRect();
    if (box.top < frame.top || box.bottom > frame.bottom) panel.scrollTop += box.top - frame.top - frame.height / 2;
  }
}

const code = find(".code") ? new Code() : null;

/* The line of the kernel's source that a line of the IR comes from, if it is on the page. */
const sourceLine = line => {
  const at = code?.lines.get(line);
  if (!at?.id.startsWith("S")) return null;
  const file = at.closest("ol").previousElementSibling.textContent;
  return { id: at.id, place: `${file.slice(file.lastIndexOf("/") + 1)}:${at.value}`, text: find("code", at).textContent };
};
