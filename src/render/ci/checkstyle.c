/* Checkstyle's XML: an error for each finding, which Jenkins' Warnings plugin, reviewdog and many editors read. Several
 * elements may be about one file. Fingerprints have no place in it: readers make their own from the text around a line.
 */
#include "render/ci/ci.h"

#include <stdlib.h>

static void add_error_at(Ci *ci, const char *rule, const char *severity, CiPlace place, Text *said) {
    Text item = {0}, source = {0};
    text_addf(&source, "weir.%s", rule);
    text_str(&item, STR("  <file"));
    ci_attribute(&item, "name", str_of(place.path ? place.path : ""));
    text_addf(&item, "><error line=\"%u\" column=\"%u\" severity=\"%s\"", place.line, place.column, severity);
    ci_attribute(&item, "message", (Str){said->data, said->size});
    ci_attribute(&item, "source", (Str){source.data, source.size});
    text_str(&item, STR("/></file>\n"));
    item.failed |= said->failed | source.failed;
    text_free(said);
    text_free(&source);
    free(place.path);
    ci_item(ci, &item);
}

static void add_finding(Ci *ci, const CiInput *input, const Finding *finding, const char *witness) {
    static const char *const severities[] = {"error", "warning", "info"}; /* ORDER Severity */
    Text said = {0};
    (void)witness;
    text_plainf(&said, "@%s: ", verdict_name(input->verdict));
    ci_say(finding, &said);
    add_error_at(ci, rule_of(finding->rule)->id, severities[finding_severity(finding)],
                 ci_finding_place(ci, input, finding), &said);
}

static void add_incomplete(Ci *ci, const CiInput *input, const Incomplete *incomplete) {
    Text said = {0};
    ci_say_incomplete(input, incomplete, &said);
    add_error_at(ci, "incomplete", "warning", ci_incomplete_place(ci, input, incomplete), &said);
}

static void add_error(Ci *ci, const char *file, const char *sentence) {
    Text said = {0};
    text_addf(&said, "%s", sentence);
    add_error_at(ci, "unreadable", "error", ci_ir_place(ci, file, NULL, 0, 0), &said);
}

static void begin(Ci *ci) {
    text_addf(ci->to, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<checkstyle version=\"weir %s\">\n",
              ci->options.version);
}

static void end(Ci *ci) {
    text_str(ci->to, STR("</checkstyle>\n"));
}

const CiFormat ci_checkstyle = {.begin = begin,
                                .finding = add_finding,
                                .incomplete = add_incomplete,
                                .error = add_error,
                                .end = end,
                                .between = ""};
