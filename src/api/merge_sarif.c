/* SARIF of several processes made one run: rules are those of all, results and notifications what each has more. */
#include "api/merge.h"

#include <stdlib.h>

enum { MOST_RESULTS = 25000 }; /* that code scanning takes of one run */

static const json_t *driver_of(const Document *document) {
    return json_object_get(json_object_get(document->body, "tool"), "driver");
}

/* ---- What there is -------------------------------------------------------------------------------- */

static void add_rules(Merge *merge, const Document *document) {
    const json_t *rules = json_object_get(driver_of(document), "rules");
    for (size_t i = 0; i < json_array_size(rules); i++) {
        json_t *rule = json_array_get(rules, i);
        const char *id = merge_text(rule, "id");
        if (json_object_get(merge->run.rule_index, id))
            continue;
        merge->failed |=
            json_object_set_new(merge->run.rule_index, id, json_integer((json_int_t)json_array_size(merge->run.rules)));
        merge->failed |= json_array_append(merge->run.rules, rule) != 0;
    }
}

static const json_t *first_location(const json_t *result) {
    return json_object_get(json_array_get(json_object_get(result, "locations"), 0), "physicalLocation");
}

static const char *uri_of(const json_t *result) {
    return merge_text(json_object_get(first_location(result), "artifactLocation"), "uri");
}

static bool add_results(Merge *merge, const Document *document) {
    Numbering mine = {json_object()};
    json_t *results = json_object_get(document->body, "results");
    bool good = mine.seen != NULL;
    merge->failed |= !good;
    for (size_t i = 0; i < json_array_size(results) && good; i++) {
        json_t *result = json_array_get(results, i);
        const char *id = merge_text(result, "ruleId");
        json_t *index = json_object_get(merge->run.rule_index, id);
        char *key = NULL;
        if (!index) {
            good = merge_fail(merge, "%s: there is no rule '%.40s'", document->path, id);
            break;
        }
        const json_t *prints = json_object_get(result, "partialFingerprints");
        merge->failed |= json_object_set(result, "ruleIndex", index) != 0;
        if (asprintf(&key, "%s\n%s\n%s\n%s", id, uri_of(result), merge_text(prints, "weir/v1"),
                     merge_text(json_object_get(result, "properties"), "ir")) < 0)
            break;
        size_t at = merge->parts.count;
        if (!merge_known(merge, merge->table, &mine, key, &at))
            merge_add_part(merge, uri_of(result), result);
        free(key);
    }
    json_decref(mine.seen);
    return good;
}

static void add_notifications(Merge *merge, const Document *document) {
    Numbering mine = {json_object()};
    const json_t *invocation = json_array_get(json_object_get(document->body, "invocations"), 0);
    json_t *notifications = json_object_get(invocation, "toolExecutionNotifications");
    for (size_t i = 0; i < json_array_size(notifications) && mine.seen; i++) {
        json_t *notification = json_array_get(notifications, i);
        if (strcmp(merge_text(json_object_get(notification, "descriptor"), "id"), "left-out") == 0)
            continue; /* that is said again */
        char *key = json_dumps(notification, JSON_SORT_KEYS | JSON_COMPACT);
        size_t at = json_array_size(merge->run.notifications);
        if (key && !merge_known(merge, merge->run.notification_table, &mine, key, &at))
            merge->failed |= json_array_append(merge->run.notifications, notification) != 0;
        merge->failed |= !key;
        free(key);
    }
    json_decref(mine.seen);
}

static bool add_counts(Merge *merge, const Document *document) {
    const json_t *properties = json_object_get(document->body, "properties");
    const json_t *kernels = json_object_get(properties, "kernels");
    for (VerdictKind kind = VERDICT_CLEAN; kind <= VERDICT_ERROR; kind++)
        merge->merged.kernels[kind] += merge_number(kernels, verdict_kind_name(kind));
    const json_t *scopes = json_object_get(properties, "scopes");
    size_t scoped = 0;
    for (VerdictScope scope = COVERS_NONE + 1; scope < COVERS_COUNT; scope++) {
        merge->merged.scopes[scope] += merge_number(scopes, verdict_scope_name(scope));
        scoped += merge_number(scopes, verdict_scope_name(scope));
    }
    merge->merged.scopes[COVERS_NONE] += merge_number(kernels, verdict_kind_name(VERDICT_CLEAN)) - scoped;
    merge->run.where += merge_number(properties, "everyLaunchWhere");
    merge->merged.findings += merge_number(properties, "findings");
    merge->merged.notes += merge_number(properties, "notes");
    merge->merged.suppressed += merge_number(properties, "suppressed");
    merge->merged.left_out += merge_number(properties, "leftOut");
    return merge_worse(merge, document, merge_text(properties, "verdict"));
}

bool merge_sarif(Merge *merge, const Document *document) {
    const json_t *root = json_object_get(document->body, "originalUriBaseIds");
    const json_t *first = json_object_get(merge->documents[0].body, "originalUriBaseIds");
    merge->run.same_root &= root && first && json_equal((json_t *)root, (json_t *)first);
    add_rules(merge, document);
    add_notifications(merge, document);
    return add_counts(merge, document) && add_results(merge, document);
}

/* ---- Writing it ----------------------------------------------------------------------------------- */

static void notify(Merge *merge, const char *id, const char *level, const Text *text) {
    json_t *notification = json_pack("{s:{s:s}, s:s, s:{s:s%}}", "descriptor", "id", id, "level", level, "message",
                                     "text", text->data, text->size);
    merge->failed |= json_array_append_new(merge->run.notifications, notification) != 0;
}

static void write_root(Merge *merge) {
    text_addf(merge->to, " \"originalUriBaseIds\": ");
    if (merge->run.same_root)
        merge_write(merge, json_object_get(merge->documents[0].body, "originalUriBaseIds"));
    else
        text_addf(merge->to, "{\"SRCROOT\": {\"description\": {\"text\": \"The root of the sources\"}}}");
    text_addf(merge->to, ",\n");
}

static void write_end(Merge *merge) {
    const weir_merged *merged = &merge->merged;
    text_addf(merge->to,
              " \"invocations\": [{\"executionSuccessful\": %s, \"exitCode\": %d, "
              "\"exitCodeDescription\": \"%s\",\n \"toolExecutionNotifications\": ",
              merge->verdict == VERDICT_ERROR ? "false" : "true", verdict_status(merge->verdict),
              verdict_kind_name(merge->verdict));
    merge_write(merge, merge->run.notifications);
    text_addf(merge->to, "}],\n \"properties\": {\"verdict\": \"%s\", ", verdict_kind_name(merge->verdict));
    render_json_scope(&(Json){.to = merge->to}, merge_scope(merge));
    text_addf(merge->to, ", \"scopes\": {");
    for (VerdictScope scope = COVERS_COUNT - 1; scope > COVERS_NONE; scope--)
        text_addf(merge->to, "%s\"%s\": %zu", scope < COVERS_COUNT - 1 ? ", " : "", verdict_scope_name(scope),
                  merged->scopes[scope]);
    if (merge->run.where)
        text_addf(merge->to, "}, \"everyLaunchWhere\": %zu, \"kernels\": {", merge->run.where);
    else
        text_addf(merge->to, "}, \"kernels\": {");
    for (VerdictKind kind = VERDICT_CLEAN; kind <= VERDICT_ERROR; kind++)
        text_addf(merge->to, "%s\"%s\": %zu", kind ? ", " : "", verdict_kind_name(kind), merged->kernels[kind]);
    text_addf(merge->to, "}, \"findings\": %zu, \"notes\": %zu, \"suppressed\": %zu, \"leftOut\": %zu}}]}\n",
              merged->findings, merged->notes, merged->suppressed, merged->left_out);
}

/* Which kernels are clean for less than what is required is not told, but how many are. */
static void require(Merge *merge) {
    weir_merged *merged = &merge->merged;
    size_t lacking = 0;
    for (VerdictScope scope = COVERS_NONE; scope < merge->required; scope++) {
        lacking += merged->scopes[scope];
        merged->scopes[scope] = 0;
    }
    merged->kernels[VERDICT_CLEAN] -= lacking;
    merged->kernels[VERDICT_INCOMPLETE] += lacking;
    merge_lacks(merge, lacking);
}

void merge_write_sarif(Merge *merge) {
    json_t *driver = json_object_get(json_object_get(merge->documents[0].body, "tool"), "driver");
    size_t count = merge->parts.count;
    merge->merged.left_out += count > MOST_RESULTS ? count - MOST_RESULTS : 0;
    require(merge);
    if (merge->missing.size)
        notify(merge, "incomplete", "error", &merge->missing);
    if (merge->lacking.size)
        notify(merge, "incomplete", "error", &merge->lacking);
    Text said = {0};
    text_addf(&said, "%zu more results are omitted: code scanning takes %d per run", merge->merged.left_out,
              MOST_RESULTS);
    if (merge->merged.left_out)
        notify(merge, "left-out", "error", &said);
    text_free(&said);
    merge->failed |= json_object_set(driver, "rules", merge->run.rules) != 0;
    text_addf(merge->to, "{\"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\", \"version\": \"2.1.0\",\n");
    text_addf(merge->to, " \"runs\": [{\"tool\": {\"driver\": ");
    merge_write(merge, driver);
    text_addf(merge->to, "},\n \"columnKind\": \"unicodeCodePoints\",\n");
    write_root(merge);
    text_addf(merge->to, " \"results\": [");
    merge_write_parts(merge, MOST_RESULTS);
    text_addf(merge->to, "],\n");
    write_end(merge);
}
