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

#include "finding/finding.h"

typedef struct JsonReport {
    Text *to;
    size_t count;        /* inputs so far */
    VerdictKind verdict; /* on them all */
} JsonReport;

JsonReport render_json_begin(Text *to, const char *version);
/* `witnesses` has the file of each finding's witness, or NULL, and then the witness is written out; or is NULL. */
void render_json_input(JsonReport *report, const char *file, const Verdict *verdict, const char *const *witnesses);
void render_json_end(JsonReport *report);
/* Adds the inputs of a report that was not begun, and whose text is all there: {.to = &text}. */
void render_json_join(JsonReport *report, const JsonReport *part);

/* What other JSON of Weir's is made of. The members of an input, which say what it comes to; the first is after
 * `before`, each other after a comma. */
void render_json_verdict(Text *to, const char *before, const char *file, const Verdict *verdict,
                         const char *const *witnesses);
/* A member: text, after `before`; or a number, after a comma. */
void render_json_text(Text *to, const char *before, const char *key, const char *text);
void render_json_number(Text *to, const char *key, uint64_t number);
/* What stands before the element of a list that has this index: each is on a line of its own. */
void render_json_separate(Text *to, size_t index, int indent);
/* `text` in quotes, with escapes; bytes that are no UTF-8 become U+FFFD each. NULL is written as "". */
void render_json_string(Text *to, const char *text);

#endif
