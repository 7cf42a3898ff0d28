/* What becomes of a kernel on an AMD target, written out: for a terminal, and as JSON.
 *
 *     kernel.ttgir: @kernel on gfx1250
 *     ...
 *       lines  op                  on AMD        as
 *       12     ttg.local_load      exact         ds_read
 *     ...
 *       line   wait                asked for     counter    leave
 *       19     ttg.async_wait      all groups    asynccnt   0
 *
 * The JSON is
 *
 *     {"tool": "weir", "version", "kernels": [{"file", "kernel", "target", "verdict", "problem", "wave_threads",
 *        "warp_threads", "shared_bytes", "shared_limit", "exact", "stage_level", "none", "not_known", "plain",
 *        "ops": [{"op", "class", "form", "remark", "lines": [12, 14]}],
 *        "waits": [{"ir_line", "op", "file", "line", "asked", "counter", "count", "written", "cover", "more"}]}],
 *      "verdict"}
 *
 * A number that there is none of is -1 (shared_bytes, count, written) or 0. Every key is always there; keys may be
 * added, those here stay. */
#ifndef RENDER_PORT_H
#define RENDER_PORT_H

#include "finding/port.h"
#include "render/json.h"
#include "render/table.h"

void render_port_text(const PortReport *report, Style style, Text *to);

/* In a series of "kernels". */
void render_port_json(JsonSeries *kernels, const PortReport *report);

#endif
