/* SARIF 2.1.0, as GitHub's code scanning takes it: one run, with every rule; a result for each finding, and one of kind
 * "open" for each kernel that is incomplete; notifications for what was not looked at and cannot be read. */
#include "render/ci/ci.h"
#include "render/json.h"

#include <stdlib.h>

/* What code scanning takes: results of a run, and characters of a description. A message may be as long as it likes,
 * but no reader wants more. */
enum { MOST_RESULTS = 25000, MOST_DESCRIPTION = 1000, MOST_MESSAGE = 4000 };

static const char *const levels[] = {"error", "warning", "note"}; /* ORDER Severity */
static const char root_id[] = "SRCROOT", incomplete_id[] = "incomplete", unreadable_id[] = "unreadable",
                  left_out_id[] = "left-out";

/* ---- Pieces -------------------------------------------------------------------------------------- */

/* A text that is cut where it is too long. */
static void add_cut(Json *json, const char *key, Text *text, size_t most) {
    Str whole = {text->data ? text->data : "", text->size};
    Str cut = utf8_cut(whole, most);
    if (cut.size < whole.size) {
        text->size = cut.size;
        text_str(text, STR("..."));
    }
    json_take(json, key, text);
}

static void add_message(Json *json, const char *key, Text *text) {
    json_begin(json, key);
    add_cut(json, "text", text, MOST_MESSAGE);
    json_end(json);
}

/* A path as a URI: what is not plainly a letter of a path is written as its byte. */
static void add_uri(Text *to, const char *path) {
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    for (; *path; path++)
        if (strchr(plain, *path))
            text_char(to, *path);
        else
            text_addf(to, "%%%02X", (unsigned char)*path);
}

static void add_physical(Json *json, CiPlace place) {
    Text uri = {0};
    if (place.path && place.path[0] == '/')
        text_str(&uri, STR("file://"));
    add_uri(&uri, place.path ? place.path : "");
    json_begin(json, "physicalLocation");
    json_begin(json, "artifactLocation");
    json_take(json, "uri", &uri);
    if (place.path && place.path[0] != '/')
        json_text(json, "uriBaseId", root_id);
    json_end(json);
    json_begin(json, "region");
    json_number(json, "startLine", place.line);
    json_number(json, "startColumn", place.column);
    json_end(json);
    json_end(json);
    free(place.path);
}

static void add_location(Json *json, CiPlace place, const Verdict *verdict) {
    json_begin(json, NULL);
    add_physical(json, place);
    if (verdict && *verdict->kernel) {
        json_begin_list(json, "logicalLocations");
        json_begin(json, NULL);
        json_text(json, "name", verdict_name(verdict));
        if (verdict->demangled) {
            json_text(json, "fullyQualifiedName", verdict->demangled);
            json_text(json, "decoratedName", verdict->kernel);
        }
        json_text(json, "kind", "function");
        json_end(json);
        json_end_list(json);
    }
    json_end(json);
}

/* ---- Rules --------------------------------------------------------------------------------------- */

/* The first paragraph of a rule's text, on one line. */
static void add_first_paragraph(const char *text, Text *to) {
    while (*text == '#' || *text == '\n')
        text += strcspn(text, "\n") + 1;
    const char *end = strstr(text, "\n\n");
    for (; *text && text != end; text++)
        text_char(to, *text == '\n' ? ' ' : *text);
    while (to->size && to->data[to->size - 1] == ' ')
        to->size--;
}

/* Markdown for those who do not show it: headings without their marks. */
static void add_unmarked(const char *text, Text *to) {
    bool starts = true;
    for (; *text; text++) {
        if (starts)
            text += strspn(text, "#") ? strspn(text, "# ") : 0;
        starts = *text == '\n';
        if (!*text)
            break;
        text_char(to, *text);
    }
}

static void add_descriptor(Json *json, const char *id, const char *summary, const char *text, const char *level) {
    Text paragraph = {0}, plain = {0}, short_text = {0};
    text_addf(&short_text, "%s", summary);
    add_first_paragraph(text, &paragraph);
    add_unmarked(text, &plain);
    json_line(json, 5);
    json_begin(json, NULL);
    json_text(json, "id", id);
    json_begin(json, "shortDescription");
    add_cut(json, "text", &short_text, MOST_DESCRIPTION);
    json_end(json);
    json_begin(json, "fullDescription");
    add_cut(json, "text", &paragraph, MOST_DESCRIPTION);
    json_end(json);
    json_begin(json, "help");
    json_take(json, "text", &plain);
    json_text(json, "markdown", text);
    json_end(json);
    json_begin(json, "defaultConfiguration");
    json_text(json, "level", level);
    json_end(json);
    json_begin(json, "properties");
    json_begin_list(json, "tags");
    json_str(json, NULL, (Str){id, strcspn(id, ".")});
    json_text(json, NULL, "gpu");
    json_text(json, NULL, "synchronization");
    json_end_list(json);
    json_text(json, "problem.severity", strcmp(level, "note") == 0 ? "recommendation" : level);
    json_end(json);
    json_end(json);
}

static void add_rules(Json *json) {
    json_line(json, 4);
    json_begin_list(json, "rules");
    for (size_t i = 0; i < RULE_COUNT; i++) {
        const Rule *rule = rule_of((RuleId)i);
        add_descriptor(json, rule->id, rule->summary, rule->text, levels[rule->severity]);
    }
    add_descriptor(json, incomplete_id, "Something that could matter was not checked",
                   "## What it means\n\nWeir has no finding here, but it could not check everything, so the kernel "
                   "is not clean. The reason says what was skipped, and what to provide so that Weir can check it. "
                   "Clean means checked.\n",
                   "note");
    json_end_list(json);
}

static void add_notification_kinds(Json *json) {
    static const char *const kinds[][2] = {
        {incomplete_id, "Something that could matter was not checked"},
        {unreadable_id, "An input could not be checked"},
        {left_out_id, "There are more results than code scanning accepts"},
    };
    json_line(json, 4);
    json_begin_list(json, "notifications");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        json_begin(json, NULL);
        json_text(json, "id", kinds[i][0]);
        json_begin(json, "shortDescription");
        json_text(json, "text", kinds[i][1]);
        json_end(json);
        json_end(json);
    }
    json_end_list(json);
}

/* ---- Results ------------------------------------------------------------------------------------- */

static void add_related(Json *json, const Ci *ci, const CiInput *input, const Finding *finding) {
    json_begin_list(json, "relatedLocations");
    for (size_t i = 0; i < finding->place_count; i++) {
        const FindingPlace *place = &finding->places[i];
        Text said = {0};
        ci_say_place(place, &said);
        if (!said.size)
            text_str(&said, STR("here"));
        json_begin(json, NULL);
        json_number(json, "id", i);
        if (i) {
            add_physical(json, ci_place(ci, input, place));
        } else { /* where the finding itself is, in the IR */
            const char *file = place->ir_file ? place->ir_file : input->file;
            Source *source = place->ir_file ? NULL : input->source;
            add_physical(json, ci_ir_place(ci, file, source, place->ir_line, place->ir_column));
        }
        add_message(json, "message", &said);
        json_end(json);
    }
    json_end_list(json);
}

/* What one agent did of what led to the finding; `executionOrder` counts over all agents. */
static void add_thread(Json *json, const Ci *ci, const CiInput *input, const Finding *finding, const char *agent) {
    json_begin(json, NULL);
    json_text(json, "id", *agent ? agent : "kernel");
    json_begin_list(json, "locations");
    for (size_t i = 0; i < finding->step_count; i++) {
        const FindingPlace *step = &finding->steps[i];
        Text said = {0};
        if (strcmp(step->agent, agent) != 0)
            continue;
        ci_say_place(step, &said);
        json_begin(json, NULL);
        json_begin(json, "location");
        add_physical(json, ci_place(ci, input, step));
        add_message(json, "message", &said);
        json_end(json);
        json_number(json, "executionOrder", i + 1);
        json_end(json);
    }
    json_end_list(json);
    json_end(json);
}

/* Whether no step before that one is of the same agent. */
static bool is_first_of_agent(const Finding *finding, size_t step) {
    for (size_t i = 0; i < step; i++)
        if (strcmp(finding->steps[i].agent, finding->steps[step].agent) == 0)
            return false;
    return true;
}

/* What led to the finding, an agent a thread, in the order in which they come in; that of the last step comes first,
 * since some who show it show one. */
static void add_flow(Json *json, const Ci *ci, const CiInput *input, const Finding *finding) {
    if (!finding->step_count)
        return;
    const char *last = finding->steps[finding->step_count - 1].agent;
    json_begin_list(json, "codeFlows");
    json_begin(json, NULL);
    json_begin_list(json, "threadFlows");
    add_thread(json, ci, input, finding, last);
    for (size_t i = 0; i < finding->step_count; i++)
        if (is_first_of_agent(finding, i) && strcmp(finding->steps[i].agent, last) != 0)
            add_thread(json, ci, input, finding, finding->steps[i].agent);
    json_end_list(json);
    json_end(json);
    json_end_list(json);
}

static void add_properties(Json *json, const CiInput *input, const Finding *finding, const char *witness) {
    json_begin(json, "properties");
    json_text(json, "kernel", input->verdict->kernel);
    if (input->verdict->demangled)
        json_text(json, "demangled", input->verdict->demangled);
    json_text(json, "ir", input->file);
    json_text(json, "space", finding->space);
    json_number(json, "times", finding->times);
    json_truth(json, "atOtherLaunches", finding->elsewhere);
    if (witness)
        json_text(json, "witness", witness);
    json_end(json);
}

/* Of one result, or of none: what does not count is shown as closed. SARIF wants the list of all, or of none. */
static void add_suppressions(Json *json, const Finding *finding) {
    json_begin_list(json, "suppressions");
    if (finding && finding->suppressed) {
        json_begin(json, NULL);
        json_text(json, "kind", finding->suppressed == SUPPRESSED_SOURCE ? "inSource" : "external");
        json_text(json, "status", "accepted");
        if (finding->reason && *finding->reason)
            json_text(json, "justification", finding->reason);
        json_end(json);
    }
    json_end_list(json);
}

/* By which an alert is known from run to run. GitHub knows it by primaryLocationLineHash alone, as hash and occurrence:
 * a fingerprint has no second occurrence. */
static void add_fingerprints(Json *json, const char *fingerprint) {
    Text line = {0};
    json_begin(json, "partialFingerprints");
    text_addf(&line, "%s:1", fingerprint);
    json_take(json, "primaryLocationLineHash", &line);
    json_text(json, "weir/v1", fingerprint);
    json_end(json);
}

static void add_finding(Ci *ci, const CiInput *input, const Finding *finding, const char *witness) {
    Text item = {0}, said = {0};
    Json json = {.to = &item};
    ci_say(finding, &said);
    json_begin(&json, NULL);
    json_text(&json, "ruleId", rule_of(finding->rule)->id);
    json_number(&json, "ruleIndex", finding->rule);
    json_text(&json, "level", levels[finding_severity(finding)]);
    add_message(&json, "message", &said);
    json_begin_list(&json, "locations");
    add_location(&json, ci_finding_place(ci, input, finding), input->verdict);
    json_end_list(&json);
    add_related(&json, ci, input, finding);
    add_flow(&json, ci, input, finding);
    add_fingerprints(&json, finding->fingerprint);
    add_suppressions(&json, finding);
    add_properties(&json, input, finding, witness);
    json_end(&json);
    ci_item(ci, &item);
}

/* What was not looked at: it is not known whether something is wrong there. */
static void add_open(Ci *ci, const CiInput *input) {
    static const Incomplete none = {.reason = ""};
    const Verdict *verdict = input->verdict;
    Text item = {0}, said = {0}, key = {0};
    Json json = {.to = &item};
    if (verdict->kind != VERDICT_INCOMPLETE)
        return;
    if (verdict->incomplete_count)
        ci_say_incomplete(input, &verdict->incomplete[0], &said);
    else
        text_plainf(&said, "Not all of @%s was checked", verdict_name(verdict));
    if (verdict->incomplete_count > 1)
        text_addf(&said, "; and %zu more reason%s", verdict->incomplete_count - 1,
                  plural((int64_t)verdict->incomplete_count - 1));
    json_begin(&json, NULL);
    json_text(&json, "ruleId", incomplete_id);
    json_number(&json, "ruleIndex", RULE_COUNT);
    json_text(&json, "kind", "open");
    json_text(&json, "level", "none");
    add_message(&json, "message", &said);
    json_begin_list(&json, "locations");
    add_location(&json, ci_incomplete_place(ci, input, verdict->incomplete_count ? &verdict->incomplete[0] : &none),
                 verdict);
    json_end_list(&json);
    Text hash = {0};
    text_addf(&key, "incomplete %s", verdict->kernel);
    ci_hash((Str){key.data, key.size}, &hash);
    text_char(&hash, 0);
    add_fingerprints(&json, hash.data);
    text_free(&hash);
    text_free(&key);
    add_suppressions(&json, NULL);
    json_end(&json);
    ci_item(ci, &item);
}

/* ---- Notifications ------------------------------------------------------------------------------- */

static void add_notification(Text *to, const char *id, const char *level, Text *said, const CiPlace *place) {
    Json json = {.to = to};
    json_begin(&json, NULL);
    json_begin(&json, "descriptor");
    json_text(&json, "id", id);
    json_end(&json);
    json_text(&json, "level", level);
    add_message(&json, "message", said);
    if (place) {
        json_begin_list(&json, "locations");
        add_location(&json, *place, NULL);
        json_end_list(&json);
    }
    json_end(&json);
}

static void notify_incomplete(Ci *ci, const CiInput *input, const Incomplete *incomplete) {
    Text item = {0}, said = {0};
    CiPlace place = ci_incomplete_place(ci, input, incomplete);
    ci_say_incomplete(input, incomplete, &said);
    add_notification(&item, incomplete_id, "warning", &said, &place);
    ci_hold(ci, &item);
}

static void notify_error(Ci *ci, const char *file, const char *sentence) {
    Text item = {0}, said = {0};
    CiPlace place = ci_ir_place(ci, file, NULL, 0, 0);
    text_add_plain(&said, str_of(sentence));
    add_notification(&item, unreadable_id, "error", &said, &place);
    ci_hold(ci, &item);
}

static void notify_left_out(Ci *ci) {
    Text item = {0}, said = {0};
    text_addf(&said, "%zu more results are omitted: code scanning takes %d per run", ci->left_out, MOST_RESULTS);
    add_notification(&item, left_out_id, "error", &said, NULL);
    ci_hold(ci, &item);
}

/* ---- The run ------------------------------------------------------------------------------------- */

static void add_bases(Json *json, const char *root) {
    char *whole = realpath(root, NULL);
    Text uri = {0};
    if (!whole)
        return;
    text_str(&uri, STR("file://"));
    add_uri(&uri, strcmp(whole, "/") == 0 ? "" : whole);
    text_char(&uri, '/');
    json_line(json, 3);
    json_begin(json, "originalUriBaseIds");
    json_begin(json, root_id);
    json_take(json, "uri", &uri);
    json_end(json);
    json_end(json);
    free(whole);
}

static void begin(Ci *ci) {
    Json json = {.to = ci->to};
    json_begin(&json, NULL);
    json_text(&json, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    json_text(&json, "version", "2.1.0");
    json_line(&json, 1);
    json_begin_list(&json, "runs");
    json_line(&json, 2);
    json_begin(&json, NULL);
    json_begin(&json, "tool");
    json_begin(&json, "driver");
    json_text(&json, "name", "Weir");
    json_text(&json, "version", ci->options.version);
    json_text(&json, "semanticVersion", ci->options.version);
    add_rules(&json);
    add_notification_kinds(&json);
    json_end(&json);
    json_end(&json);
    json_text(&json, "columnKind", "unicodeCodePoints");
    add_bases(&json, ci->options.root);
    json_line(&json, 3);
    json_begin_list(&json, "results");
    text_str(ci->to, STR("\n    "));
}

static void add_counts(Json *json, const Ci *ci) {
    const CiCounts *counts = &ci->counts;
    json_line(json, 3);
    json_begin(json, "properties");
    json_text(json, "verdict", verdict_kind_name(ci->verdict));
    render_json_scope(json, ci_scope(ci));
    json_begin(json, "scopes");
    for (VerdictScope scope = COVERS_COUNT - 1; scope > COVERS_NONE; scope--)
        json_number(json, verdict_scope_name(scope), counts->scopes[scope]);
    json_end(json);
    if (counts->where)
        json_number(json, "everyLaunchWhere", counts->where);
    json_begin(json, "kernels");
    for (VerdictKind kind = VERDICT_CLEAN; kind <= VERDICT_ERROR; kind++)
        json_number(json, verdict_kind_name(kind), counts->kernels[kind]);
    json_end(json);
    json_number(json, "findings", counts->findings);
    json_number(json, "notes", counts->notes);
    json_number(json, "suppressed", counts->suppressed);
    json_number(json, "leftOut", ci->left_out);
    render_json_launches(json, &(JsonLaunches){ci->options.launches, ci->options.covered});
    if (ci->unseen && ci->unseen->recorded)
        unseen_json(ci->unseen, json);
    if (ci->options.shards) {
        json_begin(json, "shard");
        json_number(json, "number", ci->options.shard);
        json_number(json, "of", ci->options.shards);
        json_number(json, "inputs", ci->options.inputs);
        json_end(json);
    }
    json_end(json);
}

static void end(Ci *ci) {
    Json json = {.to = ci->to, .more = true};
    if (ci->left_out)
        notify_left_out(ci);
    text_str(ci->to, STR("]"));
    json_line(&json, 3);
    json_begin_list(&json, "invocations");
    json_begin(&json, NULL);
    json_truth(&json, "executionSuccessful", ci->verdict != VERDICT_ERROR);
    json_signed(&json, "exitCode", verdict_status(ci->verdict));
    Text described = {0};
    ci_describe(ci, &described);
    json_take(&json, "exitCodeDescription", &described);
    json_begin_list(&json, "toolExecutionNotifications");
    Str held;
    bool more = false;
    for (size_t at = 0; (held = ci_held(ci, &at)).data; more = true) {
        text_str(ci->to, more ? STR(",\n    ") : STR("\n    "));
        text_str(ci->to, held);
    }
    json_end_list(&json);
    json_end(&json);
    json_end_list(&json);
    add_counts(&json, ci);
    json_end(&json);
    json_end_list(&json);
    json_end(&json);
    text_char(ci->to, '\n');
}

const CiFormat ci_sarif = {.begin = begin,
                           .finding = add_finding,
                           .incomplete = notify_incomplete,
                           .kernel = add_open,
                           .error = notify_error,
                           .end = end,
                           .suppressed = true,
                           .between = ",\n    ",
                           .most = MOST_RESULTS};
