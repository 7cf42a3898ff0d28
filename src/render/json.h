/* Verdicts for programs: the one JSON object that `--format json` of `check` and `run` prints.
 *
 *     {"tool": "weir", "version": "...",
 *      "inputs": [{"file", "kernel", "verdict",
 *        "launches": [{"text", "chosen", "ctas", "schedules", "events"}],
 *        "findings": [{"rule", "severity", "space", "message", "why", "fix", "schedule", "launch", "times",
 *          "places": [{"role", "agent", "op", "note", "file", "line", "column", "ir_line", "ir_column"}], "witness"}],
 *        "incomplete": [{"reason", "op", "ir_line"}], "notes": ["..."]}],
 *      "verdict": "clean|findings|incomplete|error"}
 *
 * Every key is always there: a text that is not known is "", a number 0. docs/findings.md explains each. Keys may be
 * added; those here stay. Inputs are written as they come, which is why the verdict on all of them is the last key. */
#ifndef RENDER_JSON_H
#define RENDER_JSON_H

#include "base/json.h"
#include "finding/finding.h"

typedef struct JsonReport {
    Json json;
    VerdictKind verdict; /* on all inputs so far */
} JsonReport;

JsonReport render_json_begin(Text *to, const char *version);
/* `witnesses` has the file of each finding's witness, or NULL, and then the witness is written out; or is NULL. */
void render_json_input(JsonReport *report, const char *file, const Verdict *verdict, const char *const *witnesses);
void render_json_end(JsonReport *report);
/* Adds the inputs of a report that was not begun, and whose text is all there: {.json.to = &text}. */
void render_json_join(JsonReport *report, const JsonReport *part);

/* ---- What other JSON of Weir's is made of ---- */

/* The start of an object: who says it. */
void render_json_head(Json *json, const char *version);
/* The members of an input, which say what it comes to. */
void render_json_verdict(Json *json, const char *file, const Verdict *verdict, const char *const *witnesses);

/* Objects that each start with a head: one stands alone, several are a list in an object with a head. Only the end
 * tells whether there is one, so the first is held back until there is a second. */
typedef struct JsonSeries {
    Json json, held;
    const char *version, *key; /* of the list */
    Text first;
    size_t count;
} JsonSeries;

/* Where the next object goes. */
Json *render_json_next(JsonSeries *series);
/* False if there was one: then there is no list. Else more members may follow, and the end of the object. */
bool render_json_end_series(JsonSeries *series);

#endif
