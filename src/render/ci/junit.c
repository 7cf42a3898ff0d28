/* JUnit's XML: a test case for each kernel. Findings are its failure. A kernel that is incomplete, and an input that
 * cannot be read, is an error, not skipped: a skipped test looks as if all were well. */
#include "render/ci/ci.h"

#include "render/text.h"

#include <stdlib.h>

static void open_case(const Ci *ci, Text *to, const char *file, const char *name, double seconds) {
    CiPlace place = ci_ir_place(ci, file, NULL, 0, 0);
    Str path = str_of(place.path ? place.path : "");
    text_str(to, STR("    <testcase"));
    ci_attribute(to, "name", str_of(name));
    ci_attribute(to, "classname", path);
    ci_attribute(to, "file", path);
    text_addf(to, " time=\"%.3f\">", seconds);
    free(place.path);
}

static void add_problem(Text *to, const char *element, const char *type, Str message, Str body) {
    text_addf(to, "\n      <%s", element);
    ci_attribute(to, "type", str_of(type));
    ci_attribute(to, "message", message);
    text_char(to, '>');
    ci_xml(to, body, false);
    text_addf(to, "</%s>", element);
}

/* The finding that the verdict is about: the first that counts. */
static const Finding *main_finding(const Verdict *verdict) {
    const Finding *found = verdict->findings;
    for (size_t i = verdict->finding_count; i-- > 0;)
        if (!verdict->findings[i].suppressed && finding_severity(&verdict->findings[i]) != SEVERITY_NOTE)
            found = &verdict->findings[i];
    return found;
}

static void add_kernel(Ci *ci, const CiInput *input) {
    const Verdict *verdict = input->verdict;
    Text item = {0}, body = {0}, message = {0};
    size_t counting = verdict_suppressed(verdict, SUPPRESSED_NOT);
    TextOptions options = {.suppressed = true, .witnesses = input->witnesses, .root = ci->options.root};
    render_text(verdict, input->source, options, &body);
    Str reported = {body.data ? body.data : "", body.size};
    open_case(ci, &item, input->file, verdict_name(verdict), verdict->seconds);
    if (verdict->kind == VERDICT_FINDINGS) {
        const Finding *finding = main_finding(verdict);
        text_addf(&message, "%s", finding->message);
        if (counting > 1)
            text_addf(&message, " (and %zu more)", counting - 1);
        add_problem(&item, "failure", rule_of(finding->rule)->id, (Str){message.data, message.size}, reported);
    } else if (verdict->kind == VERDICT_INCOMPLETE) {
        text_addf(&message, "%s", verdict->incomplete_count ? verdict->incomplete[0].reason : "not all was checked");
        add_problem(&item, "error", "incomplete", (Str){message.data, message.size}, reported);
    } else {
        text_str(&item, STR("\n      <system-out>"));
        ci_xml(&item, reported, false);
        text_str(&item, STR("</system-out>"));
    }
    text_str(&item, STR("</testcase>\n"));
    item.failed |= body.failed | message.failed;
    text_free(&body);
    text_free(&message);
    ci_hold(ci, &item);
}

static void add_error(Ci *ci, const char *file, const char *sentence) {
    Text item = {0};
    open_case(ci, &item, file, "(input)", 0);
    add_problem(&item, "error", "unreadable", str_of(sentence), str_of(sentence));
    text_str(&item, STR("</testcase>\n"));
    ci_hold(ci, &item);
}

static void add_totals(Text *to, const Ci *ci) {
    const size_t *kernels = ci->counts.kernels;
    size_t errors = kernels[VERDICT_INCOMPLETE] + kernels[VERDICT_ERROR];
    text_addf(to, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"0\" time=\"%.3f\">\n",
              kernels[VERDICT_CLEAN] + kernels[VERDICT_FINDINGS] + errors, kernels[VERDICT_FINDINGS], errors,
              ci->counts.seconds);
}

static void end(Ci *ci) {
    Text *to = ci->to;
    text_str(to, STR("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites"));
    add_totals(to, ci);
    text_str(to, STR("  <testsuite name=\"weir\""));
    add_totals(to, ci);
    text_addf(to, "    <properties>\n      <property name=\"version\" value=\"%s\"/>\n", ci->options.version);
    text_addf(to, "      <property name=\"verdict\" value=\"%s\"/>\n", verdict_kind_name(ci->verdict));
    const char *scope = verdict_scope_name(ci_scope(ci));
    text_addf(to, "      <property name=\"scope\" value=\"%s\"/>\n    </properties>\n", scope ? scope : "");
    Str held;
    for (size_t at = 0; (held = ci_held(ci, &at)).data;)
        text_str(to, held);
    text_str(to, STR("  </testsuite>\n</testsuites>\n"));
}

const CiFormat ci_junit = {.kernel = add_kernel, .error = add_error, .end = end, .between = ""};
