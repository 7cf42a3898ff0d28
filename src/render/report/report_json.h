/* Barrier reports for programs: what `weir report --format json` prints. Of one kernel it is
 *
 *     {"tool": "weir", "version": "...", "file", "kernel", "verdict", "launches": [], "findings": [], "incomplete": [],
 *      "notes": [],                                           as in render/json.h, with the text of witnesses
 *      "head": {"verdict", "rule", "what", "where", "why", "fix"}, "hung",
 *      "module", "form", "form_text", "target", "nothing", "launch", "cluster",
 *      "partitions": [{"name", "role", "type", "key_ops": [{"name", "count"}], "warps", "registers", "stage",
 * "ir_line"}], "barriers": [{"name", "value", "kind", "mechanism", "direction", "depth", "count", "participants",
 * "index", "phase", "inverted", "offset", "expect_bytes", "data_bytes", "bytes": [{"name", "text", "bytes",
 * "ir_line"}], "iterations", "flips", "intended", "cadence", "arrives": [SITE], "waits": [SITE], "others": [PLACE],
 * "protects":
 * ["..."], "pair", "aliases": [ALIAS], "issues": ["..."]}], "edges": [{"from", "to", "barrier", "mechanism",
 * "direction", "carries", "note", "out": PLACE, "in": PLACE}], "buffers": [{"name", "value", "space", "storage", "id",
 * "offset", "depth", "size", "writers": [PLACE], "readers": [PLACE], "barrier", "notes": ["..."], "aliases": [ALIAS]}],
 * "deadlock_verdict": "none|found|unknown", "deadlock_reason", "deadlocks": [{"rule", "message", "why", "fix",
 * "schedule", "launch", "blocked": [{PLACE's keys, "waits_for", "parity", "phase", "pending", "bytes", "flips", "why",
 * "held_by", "could": [PLACE]}]}], "candidates": [{"barrier", "counts", "verdict", "why", "places": [PLACE]}],
 * "coverage":
 * [{"storage", "owner", "writer": PLACE, "extent", "whole", "rows": [{"columns", "name", "consumer", "read": PLACE,
 * "cadence", "state": "ordered|missing|planned|unseen", "ordered": true|false|null, "by", "times"}]}], "coverage_note",
 * "limits": [{"name", "unit", "used", "most"}]}
 *
 * where PLACE is {"partition", "op", "detail", "file", "line", "column", "ir_line", "times"}, ALIAS {"value", "how",
 * "partition", "ir_line", "level"}, and SITE a PLACE with "mechanism", "index", "phase", "index_as_written",
 * "phase_as_written", "stagger", "stride", "first_parity", "passes_at_once", "amount", "intended". Of several kernels
 * it is
 * {"tool", "version", "reports": [...]} with such an object for each.
 *
 * Every key is always there: a text that is not known is "", a number that is not known is null, and a line that is
 * not is 0. Keys may be added; those here stay. finding/report.h explains each. */
#ifndef RENDER_REPORT_REPORT_JSON_H
#define RENDER_REPORT_REPORT_JSON_H

#include "finding/report.h"
#include "render/json.h"

/* In a series of "reports", each alone. */
void render_json_report(JsonSeries *reports, const Report *report);

#endif
