/* Workflow commands, which GitHub makes annotations of, in the files of a pull request; and a last line with the
 * verdict.
 *
 *     ::error file=kernels/rings.py,line=35,col=5,title=deadlock.lapped (@rings)::partition1 waits forever...
 *
 * A line that starts with two colons is a command to the service that reads the log, so nothing that may stem from the
 * IR may start one: no text keeps its control characters. */
#include "render/ci/ci.h"

#include <stdlib.h>

/* What stands after the second pair of colons; newlines in it are shown. */
static void add_data(Text *to, Str text) {
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i];
        if (c == '%' || c == '\r' || c == '\n')
            text_addf(to, "%%%02X", (unsigned char)c);
        else
            text_char(to, c);
    }
}

/* A property ends at a comma, and all of them at a colon. */
static void add_property(Text *to, Str text) {
    Text plain = {0};
    text_add_plain(&plain, text);
    for (size_t i = 0; i < plain.size; i++) {
        char c = plain.data[i];
        if (c == '%' || c == ':' || c == ',')
            text_addf(to, "%%%02X", (unsigned char)c);
        else
            text_char(to, c);
    }
    to->failed |= plain.failed;
    text_free(&plain);
}

static void add_command(Ci *ci, const char *command, CiPlace place, const char *title, const char *kernel, Text *said) {
    Text item = {0}, name = {0};
    text_addf(&item, "::%s file=", command);
    add_property(&item, str_of(place.path ? place.path : ""));
    text_addf(&item, ",line=%u,col=%u,title=", place.line, place.column);
    text_addf(&name, "%s", title);
    if (*kernel)
        text_addf(&name, " (@%s)", kernel);
    add_property(&item, (Str){name.data, name.size});
    text_addf(&item, "::");
    add_data(&item, (Str){said->data ? said->data : "", said->size});
    text_char(&item, '\n');
    item.failed |= said->failed | name.failed;
    text_free(&name);
    text_free(said);
    free(place.path);
    ci_item(ci, &item);
}

static void add_finding(Ci *ci, const CiInput *input, const Finding *finding, const char *witness) {
    static const char *const commands[] = {"error", "warning", "notice"}; /* ORDER Severity */
    Text said = {0};
    (void)witness;
    ci_say(finding, &said);
    for (size_t i = 1; i < finding->place_count; i++) {
        CiPlace place = ci_place(ci, input, &finding->places[i]);
        text_plainf(&said, "\n%s:%u: ", place.path, place.line);
        ci_say_place(&finding->places[i], &said);
        free(place.path);
    }
    add_command(ci, commands[finding_severity(finding)], ci_finding_place(ci, input, finding),
                rule_of(finding->rule)->id, verdict_name(input->verdict), &said);
}

static void add_incomplete(Ci *ci, const CiInput *input, const Incomplete *incomplete) {
    Text said = {0};
    ci_say_incomplete(input, incomplete, &said);
    add_command(ci, "warning", ci_incomplete_place(ci, input, incomplete), "incomplete", verdict_name(input->verdict),
                &said);
}

static void add_error(Ci *ci, const char *file, const char *sentence) {
    Text said = {0};
    text_add_plain(&said, str_of(sentence));
    add_command(ci, "error", ci_ir_place(ci, file, NULL, 0, 0), "cannot be checked", "", &said);
}

static void end(Ci *ci) {
    const CiCounts *counts = &ci->counts;
    Text *to = ci->to;
    size_t kernels = 0;
    for (VerdictKind kind = VERDICT_CLEAN; kind < VERDICT_ERROR; kind++)
        kernels += counts->kernels[kind];
    text_addf(to, "weir: ");
    ci_describe(ci, to);
    text_addf(to, ": ");
    text_number_of(to, kernels, "kernel");
    text_addf(to, ", %zu clean", counts->kernels[VERDICT_CLEAN]);
    verdict_scopes_print(counts->scopes, to);
    text_addf(to, ", %zu with findings, %zu incomplete; ", counts->kernels[VERDICT_FINDINGS],
              counts->kernels[VERDICT_INCOMPLETE]);
    text_number_of(to, counts->kernels[VERDICT_ERROR], "input");
    text_addf(to, " not read\n");
}

const CiFormat ci_github = {
    .finding = add_finding, .incomplete = add_incomplete, .error = add_error, .end = end, .between = ""};
