/* Thread barriers, written out: for a terminal, and as JSON.
 *
 *     kernel.ttgir: @kernel: before barriers are inserted; model async
 *     kernel.ttgir:14:5: needed: a barrier before ttg.local_load (kernel.py:9)
 *             %row = ttg.local_load %tile : ...
 *             ^
 *       RAW on tile, bytes 0 to 2047: ttg.local_store at line 12 (kernel.py:8) writes, ttg.local_load at line 14
 *       (kernel.py:9) reads; straight
 *     1 barrier needed
 *
 * (on one line each). All that may stem from the IR goes through text_add_plain. The JSON of one function is
 *
 *     {"tool": "weir", "version", "file", "function", "verdict", "model", "stage", "inserted", "assumed",
 *      "problem", "problem_line",
 *      "needed": [{"ir_line", "ir_column", "op", "file", "line", "column", "after", "kind", "automatic", "missing",
 *        "conflicts", "hazards": [HAZARD]}],
 *      "present": [{"ir_line", "ir_column", "op", "file", "line", "column", "needless", "why", "covered_by_line",
 *        "conflicts", "hazards": [HAZARD]}],
 *      "proofs": [{"first": PLACE, "second": PLACE, "text"}],
 *      "compare": null or {"model", "count", "other_count", "differences": [{"ir_line", ..., "after", "present",
 *        "only", "cause", "why"}]},
 *      "why": [{"ir_line", ..., "lines": ["..."]}]}
 *
 * where PLACE is {"ir_line", "ir_column", "op", "file", "line", "column"} and HAZARD {"kind", "space", "first": PLACE
 * with "buffer", "second": the same, "buffer", "bytes": null or [first, end], "loop_line", "path"}. Of several
 * functions it is
 * {"tool", "version", "functions": [...], "totals": {...}}. Every key is always there; keys may be added, those here
 * stay. */
#ifndef RENDER_MEMBAR_H
#define RENDER_MEMBAR_H

#include "finding/membar.h"
#include "render/json.h"

/* `source` is the IR's text; NULL: nothing of it is shown. */
void render_membar_text(const MembarReport *report, Source *source, bool color, Text *to);
void render_membar_totals(const MembarTotals *totals, Text *to);

/* In a series of "functions", each alone. */
void render_membar_json(JsonSeries *functions, const MembarReport *report);
void render_membar_json_end(JsonSeries *functions, const MembarTotals *totals);

/* What people read of a conflict's path: "straight", "around the back edge of the loop at line 10 (kernel.py:7)". */
void render_membar_path(const MembarConflict *conflict, Text *to);

#endif
