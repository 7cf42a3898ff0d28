/* A run as swim lanes in the HTML report: a lane for each agent, time from left to right.
 *
 * The page's script draws what is in view from data in a <script type="application/json">:
 *
 *     {"tracks": [[cta, cta name, agent]], "barriers": [[name, whether it has a row]], "texts": ["..."],
 *      "events": [[kind, track, time, duration, name, detail, ir_line, flow_from, barrier, slot, barrier, slot...]],
 *      "blocked": [[event, why, [[track, ir_line, agent, op, detail]]]]}
 *
 * Kinds are those of TraceKind; a name and a detail are indices into the texts; flow_from is 1 + an index into the
 * events; a barrier is an index into the barriers, of which the report's are the first. Of an event that is blocked
 * forever, the report may say why, and who could release it; the track is that of an agent that would if it came there,
 * else -1. */
#ifndef RENDER_HTML_SWIMLANES_H
#define RENDER_HTML_SWIMLANES_H

#include "render/html/html.h"
#include "render/trace.h"

enum { SWIMLANES_MOST_EVENTS = 20000 };

/* The place of the picture, with what is said about it. What is written then stands beside it, up to the end. */
void swimlanes_section(Html *html, const Trace *trace);
void swimlanes_section_end(Html *html);
/* What is drawn there; quotes the lines of its ops, as far as there is room. */
void swimlanes_data(Html *html, const Trace *trace);

#endif
