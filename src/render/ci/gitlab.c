/* GitLab's code quality report: a list of issues, by which merge requests show what is new. Fingerprints are those of
 * findings together with the file, as no two issues may have the same. */
#include "render/ci/ci.h"

#include <stdlib.h>

/* `what` is what the fingerprint is made of, together with the path. */
static void add_issue(Ci *ci, const char *name, const char *severity, CiPlace place, Text *said, Text *what) {
    Text item = {0}, hash = {0};
    Json json = {.to = &item};
    text_addf(what, " %s", place.path ? place.path : "");
    ci_hash((Str){what->data, what->size}, &hash);
    json_begin(&json, NULL);
    json_take(&json, "description", said);
    json_text(&json, "check_name", name);
    json_take(&json, "fingerprint", &hash);
    json_text(&json, "severity", severity);
    json_begin(&json, "location");
    json_text(&json, "path", place.path);
    json_begin(&json, "lines");
    json_number(&json, "begin", place.line);
    json_end(&json);
    json_end(&json);
    json_end(&json);
    item.failed |= what->failed;
    text_free(what);
    free(place.path);
    ci_item(ci, &item);
}

static void add_finding(Ci *ci, const CiInput *input, const Finding *finding, const char *witness) {
    static const char *const severities[] = {"critical", "major", "info"}; /* ORDER Severity */
    Text said = {0}, what = {0};
    (void)witness;
    text_plainf(&said, "@%s: ", verdict_name(input->verdict));
    ci_say(finding, &said);
    text_addf(&what, "%s %s", finding->fingerprint, input->file);
    add_issue(ci, rule_of(finding->rule)->id, severities[finding_severity(finding)],
              ci_finding_place(ci, input, finding), &said, &what);
}

static void add_incomplete(Ci *ci, const CiInput *input, const Incomplete *incomplete) {
    Text said = {0}, what = {0};
    ci_say_incomplete(input, incomplete, &said);
    text_addf(&what, "incomplete %s %s %s %u", input->verdict->kernel, incomplete->reason, incomplete->op,
              incomplete->ir_line);
    add_issue(ci, "incomplete", "minor", ci_incomplete_place(ci, input, incomplete), &said, &what);
}

static void add_error(Ci *ci, const char *file, const char *sentence) {
    Text said = {0}, what = {0};
    text_add_plain(&said, str_of(sentence));
    text_addf(&what, "error %s", sentence);
    add_issue(ci, "unreadable", "blocker", ci_ir_place(ci, file, NULL, 0, 0), &said, &what);
}

static void begin(Ci *ci) {
    text_str(ci->to, STR("[\n "));
}

static void end(Ci *ci) {
    text_str(ci->to, STR("]\n"));
}

const CiFormat ci_gitlab = {.begin = begin,
                            .finding = add_finding,
                            .incomplete = add_incomplete,
                            .error = add_error,
                            .end = end,
                            .between = ",\n "};
