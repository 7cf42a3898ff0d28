/* Verdicts for programs: the one JSON object that `--format json` of `check` and `run` prints.
 *
 *     {"tool": "weir", "version": "...",
 *      "inputs": [{"file", "kernel", "verdict", "scope", "only_launch",
 *        "launches": [{"text", "chosen", "covered", "proved", "ctas", "classes", "schedules", "events"}],
 *        "run_coverage": {"barrier_ops", "barrier_ops_run", "accesses", "accesses_run", "branches", "branches_taken",
 *          "rings", "rings_turned", "unreachable"},
 *        "findings": [{"rule", "severity", "at_other_launches", "fingerprint", "space", "message", "why", "fix",
 *          "schedule", "launch", "times", "witness",
 *          "places": [{"role", "agent", "op", "note", "file", "line", "column", "ir_line", "ir_column"}]}],
 *        "incomplete": [{"reason", "op", "ir_line"}], "notes": ["..."]}],
 *      "shard": {"number", "of", "inputs"}, "program_launches": {"made", "covered"},
 *      "unseen_kernels": [{"name", "launches"}], "verdict": "clean|findings|incomplete|error", "scope":
 * "every-launch|given-launch|tried-launches"}
 *
 * A launch that was not run, since a proof covers it, has "covered": true. A finding that does not count has
 * "suppressed": {"kind": "config|inSource|baseline", "reason"}, and an input with such findings "except": "2
 * suppressed, 1 baselined"; "shard" is there where --shard was, "program_launches" where kernels of a program were
 * proved while it ran, "unseen_kernels" where an input is a recording. Every other key is always there: a text that is
 * not known is "", a number 0, the scope of what is not clean null. docs/findings.md explains each. Keys may be added;
 * those here stay. Inputs are written as they come, which is why the verdict on all of them is the last key. */
#ifndef RENDER_JSON_H
#define RENDER_JSON_H

#include "base/json.h"
#include "finding/finding.h"
#include "render/unseen.h"

/* Results that are written as they come: a list of objects in an object, whose last key is the verdict on all of them.
 * Those of a series that is `alone` each start with a head, and one stands alone: only the end tells whether there is
 * one, so the first is held back until there is a second. */
typedef struct JsonShard {
    uint64_t number, of, inputs; /* from 1; how many there are; what all of them look at. `of` 0: it is none */
} JsonShard;

/* Launches that a program made, and those that a proof covers. `made` 0: not known. */
typedef struct JsonLaunches {
    uint64_t made, covered;
} JsonLaunches;

typedef struct JsonSeries {
    Json json, held;
    const char *version, *key; /* of the list */
    bool alone;
    bool scoped;         /* the verdict on all of them has a scope: the weakest */
    VerdictKind verdict; /* on all so far */
    size_t scopes[COVERS_COUNT];
    JsonShard shard;
    JsonLaunches launches;
    const Unseen *unseen; /* NULL: none */
    Text first;
    size_t count;
} JsonSeries;

JsonSeries render_json_begin(Text *to, const char *version, const char *key, bool alone);
void render_json_add(JsonSeries *series, VerdictKind verdict, const JsonField *fields, const void *object);
/* `more` are members of the object that has the list; NULL: there are none but the verdict. */
void render_json_end(JsonSeries *series, const JsonField *more, const void *object);
/* Adds the objects of a series that was not begun, and whose text is all there: {.json.to = &text}. */
void render_json_join(JsonSeries *series, const JsonSeries *part);

/* A verdict, in a series of "inputs". `witnesses` has the file of each finding's witness, or NULL, and then the witness
 * is written out; or is NULL. */
void render_json_input(JsonSeries *inputs, const char *file, const Verdict *verdict, const char *const *witnesses);

/* ---- What other JSON of Weir's is made of ---- */

/* The start of an object: who says it. */
void render_json_head(Json *json, const char *version);
/* "scope": null if there is none. */
void render_json_scope(Json *json, VerdictScope scope);
/* "program_launches": nothing if they are not known. */
void render_json_launches(Json *json, const JsonLaunches *launches);
/* The members of an input, which say what it comes to. */
void render_json_verdict(Json *json, const char *file, const Verdict *verdict, const char *const *witnesses);

#endif
