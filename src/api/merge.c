/* Results of several processes made one: JSON, and what JSON and SARIF share. */
#include "api/merge.h"

#include "render/json.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- Small things -------------------------------------------------------------------------------- */

bool merge_fail(Merge *merge, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (!merge->problem.size)
        text_vaddf(&merge->problem, format, arguments);
    va_end(arguments);
    return false;
}

const char *merge_text(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

size_t merge_number(const json_t *object, const char *key) {
    json_int_t number = json_integer_value(json_object_get(object, key));
    return number > 0 ? (size_t)number : 0;
}

bool merge_worse(Merge *merge, const Document *document, const char *verdict) {
    for (VerdictKind kind = VERDICT_CLEAN; kind <= VERDICT_ERROR; kind++)
        if (strcmp(verdict_kind_name(kind), verdict) == 0) {
            merge->verdict = verdict_worse(merge->verdict, kind);
            return true;
        }
    return merge_fail(merge, "%s: there is no verdict '%.40s'", document->path, verdict);
}

void merge_lacks(Merge *merge, size_t kernels) {
    if (!kernels)
        return;
    merge->verdict = verdict_worse(merge->verdict, VERDICT_INCOMPLETE);
    text_addf(&merge->lacking, "%s is required, and %zu kernel%s clean for less: %s",
              verdict_scope_name(merge->required), kernels, kernels == 1 ? " is" : "s are",
              merge->required == COVERS_EVERY_LAUNCH
                  ? "arguments, data or the grid are left open (--require given-launch "
                    "takes launches that were given)"
                  : "give a launch file, or run the program with weir exec");
}

VerdictScope merge_scope(const Merge *merge) {
    return merge->verdict == VERDICT_CLEAN ? verdict_scope_weakest(merge->merged.scopes) : COVERS_NONE;
}

json_t *merge_known(Merge *merge, json_t *table, Numbering *mine, const char *key, json_t *what) {
    char *numbered = NULL;
    json_int_t number = json_integer_value(json_object_get(mine->seen, key));
    merge->failed |= json_object_set_new(mine->seen, key, json_integer(number + 1)) != 0;
    if (asprintf(&numbered, "%s\n%lld", key, (long long)number) < 0) {
        merge->failed = true;
        return NULL;
    }
    json_t *known = json_object_get(table, numbered);
    if (!known)
        merge->failed |= json_object_set(table, numbered, what) != 0;
    free(numbered);
    return known;
}

static int pass_dump(const char *data, size_t size, void *to) {
    text_add(to, data, size);
    return 0;
}

void merge_write(Merge *merge, const json_t *value) {
    merge->failed |= json_dump_callback(value, pass_dump, merge->to, JSON_ENCODE_ANY) != 0;
}

void merge_write_list(Merge *merge, json_t *const *items, size_t count) {
    for (size_t i = 0; i < count; i++) {
        text_str(merge->to, i ? STR(",\n  ") : STR("\n  "));
        merge_write(merge, items[i]);
    }
}

/* ---- Documents ----------------------------------------------------------------------------------- */

/* SARIF that Weir wrote: one run, with a verdict. */
static bool find_run(Merge *merge, Document *document) {
    json_t *runs = json_object_get(document->root, "runs"), *run = json_array_get(runs, 0);
    const char *name = merge_text(json_object_get(json_object_get(run, "tool"), "driver"), "name");
    if (json_array_size(runs) != 1 || strcmp(name, "Weir") != 0 || !json_is_array(json_object_get(run, "results")))
        return merge_fail(merge, "%s: this is not SARIF written by weir", document->path);
    document->body = run;
    return true;
}

static bool read_document(Merge *merge, Document *document) {
    json_error_t error;
    document->root = json_load_file(document->path, JSON_ALLOW_NUL, &error);
    if (!document->root && error.line < 0)
        return merge_fail(merge, "%s: cannot be read", document->path);
    if (!document->root)
        return merge_fail(merge, "%s:%d:%d: this is not JSON: %s", document->path, error.line, error.column,
                          error.text);
    bool sarif = json_is_array(json_object_get(document->root, "runs"));
    bool first = document == merge->documents;
    if (sarif && !find_run(merge, document))
        return false;
    if (!sarif) {
        document->body = document->root;
        if (strcmp(merge_text(document->root, "tool"), "weir") != 0 ||
            !json_is_array(json_object_get(document->root, "inputs")))
            return merge_fail(merge, "%s: this is neither JSON nor SARIF of weir check, run or lint", document->path);
    }
    if (!first && sarif != merge->sarif)
        return merge_fail(merge, "%s: JSON and SARIF cannot be merged into one", document->path);
    merge->sarif = sarif;
    return true;
}

static const char *version_of(const Merge *merge, const Document *document) {
    const json_t *driver = json_object_get(json_object_get(document->body, "tool"), "driver");
    return merge_text(merge->sarif ? driver : document->root, "version");
}

static const json_t *shard_of(const Merge *merge, const Document *document) {
    const json_t *holder = merge->sarif ? json_object_get(document->body, "properties") : document->root;
    return json_object_get(holder, "shard");
}

/* ---- Shards -------------------------------------------------------------------------------------- */

enum { MOST_SHARDS = 100000 };

static void say_missing(Merge *merge, const char *const *whose, size_t of) {
    enum { MOST_NAMED = 8 };
    size_t count = 0, named = 0;
    for (size_t i = 0; i < of; i++)
        count += !whose[i];
    if (!count)
        return;
    text_addf(&merge->missing, "shard%s", plural((int64_t)count));
    for (size_t i = 0; i < of && named < MOST_NAMED; i++)
        if (!whose[i])
            text_addf(&merge->missing, "%s %zu", named++ ? "," : "", i + 1);
    text_addf(&merge->missing, "%s of %zu %s missing: the inputs of %s were not checked",
              count > named ? " and more" : "", of, count == 1 ? "is" : "are", count == 1 ? "it" : "these");
    merge->verdict = verdict_worse(merge->verdict, VERDICT_INCOMPLETE);
}

static bool place_shard(Merge *merge, const Document *document, const json_t *first, const char **whose) {
    const json_t *shard = shard_of(merge, document);
    size_t number = merge_number(shard, "number"), of = merge_number(shard, "of");
    if (of != merge_number(first, "of") || merge_number(shard, "inputs") != merge_number(first, "inputs"))
        return merge_fail(merge, "%s: this shard is of different inputs than the others", document->path);
    if (number < 1 || number > of)
        return merge_fail(merge, "%s: there is no shard %zu of %zu", document->path, number, of);
    if (whose[number - 1])
        return merge_fail(merge, "%s and %s are both shard %zu of %zu", whose[number - 1], document->path, number, of);
    whose[number - 1] = document->path;
    return true;
}

/* Whether all parts are there, each once. Documents that are no part of anything are let be. */
static bool find_shards(Merge *merge) {
    const json_t *first = NULL;
    for (size_t i = merge->count; i-- > 0;)
        if (shard_of(merge, &merge->documents[i]))
            first = shard_of(merge, &merge->documents[i]);
    size_t of = first ? merge_number(first, "of") : 0;
    if (!first)
        return true;
    if (of < 1 || of > MOST_SHARDS)
        return merge_fail(merge, "there cannot be %zu shards", of);
    const char **whose = calloc(of, sizeof *whose);
    bool good = whose != NULL;
    merge->failed |= !good;
    for (size_t i = 0; i < merge->count && good; i++)
        if (shard_of(merge, &merge->documents[i]))
            good = place_shard(merge, &merge->documents[i], first, whose);
    if (good)
        say_missing(merge, whose, of);
    free(whose);
    return good;
}

/* ---- JSON ---------------------------------------------------------------------------------------- */

static bool same_finding(const json_t *a, const json_t *b) {
    const char *mine = merge_text(a, "fingerprint");
    return *mine ? strcmp(mine, merge_text(b, "fingerprint")) == 0 : json_equal((json_t *)a, (json_t *)b);
}

/* Adds to a list of one object what that of another has more. */
static void unite_list(Merge *merge, json_t *into, const json_t *from, const char *key) {
    json_t *list = json_object_get(into, key), *other = json_object_get(from, key);
    size_t before = json_array_size(list);
    for (size_t i = 0; i < json_array_size(other); i++) {
        json_t *item = json_array_get(other, i);
        bool known = false;
        for (size_t k = 0; k < before && !known; k++)
            known = same_finding(json_array_get(list, k), item);
        if (!known)
            merge->failed |= json_array_append(list, item) != 0;
    }
}

/* Of an input, or of a document; COVERS_NONE unless it is clean. */
static VerdictScope scope_in(const json_t *object) {
    return verdict_scope_named(merge_text(object, "scope"));
}

static void set_scope(Merge *merge, json_t *input, VerdictScope scope) {
    json_t *name = scope ? json_string(verdict_scope_name(scope)) : json_null();
    merge->failed |= json_object_set_new(input, "scope", name) != 0;
}

/* Two verdicts on the same kernel of the same file: all that either found. */
static void unite_inputs(Merge *merge, json_t *into, const json_t *from) {
    static const char *const lists[] = {"launches", "findings", "incomplete", "notes"};
    static const char *const both[] = {"fulfilled", "promised"};
    VerdictKind kinds[2] = {VERDICT_CLEAN, VERDICT_CLEAN};
    for (VerdictKind kind = VERDICT_CLEAN; kind <= VERDICT_ERROR; kind++) {
        kinds[0] = strcmp(verdict_kind_name(kind), merge_text(into, "verdict")) == 0 ? kind : kinds[0];
        kinds[1] = strcmp(verdict_kind_name(kind), merge_text(from, "verdict")) == 0 ? kind : kinds[1];
    }
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        unite_list(merge, into, from, lists[i]);
    for (size_t i = 0; i < sizeof both / sizeof *both; i++)
        if (json_is_true(json_object_get(into, both[i])) && !json_is_true(json_object_get(from, both[i])))
            merge->failed |= json_object_set_new(into, both[i], json_false()) != 0;
    const char *worse = verdict_kind_name(verdict_worse(kinds[0], kinds[1]));
    merge->failed |= json_object_set_new(into, "verdict", json_string(worse)) != 0;
    set_scope(merge, into, scope_in(from) < scope_in(into) ? scope_in(from) : scope_in(into));
}

/* A kernel that is clean for less than what is required is incomplete, and says so. */
static bool require(Merge *merge, json_t *input) {
    VerdictScope scope = scope_in(input);
    if (strcmp(merge_text(input, "verdict"), verdict_kind_name(VERDICT_CLEAN)) != 0 || scope >= merge->required)
        return false;
    Text why = {0};
    verdict_scope_lacking(scope, merge->required, json_array_size(json_object_get(input, "launches")), NULL, &why);
    json_t *reason = json_pack("{s:s%, s:s, s:i}", "reason", why.data, why.size, "op", "", "ir_line", 0);
    merge->failed |= json_array_append_new(json_object_get(input, "incomplete"), reason) != 0;
    merge->failed |= json_object_set_new(input, "verdict", json_string(verdict_kind_name(VERDICT_INCOMPLETE))) != 0;
    set_scope(merge, input, COVERS_NONE);
    text_free(&why);
    return true;
}

/* The inputs of one document, to those of all. */
static bool add_inputs(Merge *merge, const Document *document, json_t *table, json_t *all) {
    Numbering mine = {json_object()};
    json_t *inputs = json_object_get(document->body, "inputs");
    bool good = mine.seen != NULL;
    for (size_t i = 0; i < json_array_size(inputs) && good; i++) {
        json_t *input = json_array_get(inputs, i);
        char *key = NULL;
        good = merge_worse(merge, document, merge_text(input, "verdict"));
        if (asprintf(&key, "%s\n%s", merge_text(input, "file"), merge_text(input, "kernel")) < 0)
            break;
        json_t *known = merge_known(merge, table, &mine, key, input);
        if (known)
            unite_inputs(merge, known, input);
        else
            merge->failed |= json_array_append(all, input) != 0;
        free(key);
    }
    json_decref(mine.seen);
    return good;
}

/* An input that was not looked at. */
static json_t *missing_input(const Merge *merge) {
    return json_pack("{s:s, s:s, s:s, s:n, s:b, s:[], s:{}, s:[], s:[{s:s%, s:s, s:i}], s:[]}", "file", "", "kernel",
                     "", "verdict", verdict_kind_name(VERDICT_INCOMPLETE), "scope", "only_launch", 0, "launches",
                     "run_coverage", "findings", "incomplete", "reason", merge->missing.data, merge->missing.size, "op",
                     "", "ir_line", 0, "notes");
}

/* By file; those of one stay in their order, which numbers tell. */
typedef struct MergeSorted {
    json_t *input;
    size_t number;
} MergeSorted;

static int by_file(const void *a, const void *b) {
    const MergeSorted *x = a, *y = b;
    int order = strcmp(merge_text(x->input, "file"), merge_text(y->input, "file"));
    return order ? order : (x->number > y->number) - (x->number < y->number);
}

static void count_inputs(Merge *merge, json_t *const *inputs, size_t count) {
    weir_merged *merged = &merge->merged;
    for (size_t i = 0; i < count; i++) {
        const char *verdict = *merge_text(inputs[i], "file") ? merge_text(inputs[i], "verdict") : "";
        for (VerdictKind kind = VERDICT_CLEAN; kind <= VERDICT_ERROR; kind++)
            merged->kernels[kind] += strcmp(verdict_kind_name(kind), verdict) == 0;
        merged->scopes[scope_in(inputs[i])] += strcmp(verdict_kind_name(VERDICT_CLEAN), verdict) == 0;
        const json_t *findings = json_object_get(inputs[i], "findings");
        for (size_t k = 0; k < json_array_size(findings); k++) {
            bool suppressed = json_object_get(json_array_get(findings, k), "suppressed") != NULL;
            bool note = strcmp(merge_text(json_array_get(findings, k), "severity"), "note") == 0;
            merged->findings += !suppressed && !note;
            merged->notes += !suppressed && note;
            merged->suppressed += suppressed;
        }
    }
}

/* Kernels without PTX of all documents. */
static void write_unseen(Merge *merge) {
    Unseen unseen = {0};
    for (size_t i = 0; i < merge->count; i++) {
        const json_t *kernels = json_object_get(merge->documents[i].body, "unseen_kernels");
        unseen.recorded |= kernels != NULL;
        for (size_t k = 0; k < json_array_size(kernels); k++) {
            const json_t *kernel = json_array_get(kernels, k);
            unseen_add(&unseen, &(UnseenKernel){merge_text(kernel, "name"), merge_number(kernel, "launches")});
        }
    }
    unseen_sort(&unseen);
    if (unseen.recorded) {
        unseen_json(&unseen, &(Json){.to = merge->to});
        text_addf(merge->to, ",\n ");
    }
    merge->failed |= unseen.failed;
    unseen_free(&unseen);
}

/* Launches of all programs. */
static void write_launches(Merge *merge) {
    JsonLaunches launches = {0};
    for (size_t i = 0; i < merge->count; i++) {
        const json_t *own = json_object_get(merge->documents[i].body, "program_launches");
        launches.made += merge_number(own, "made");
        launches.covered += merge_number(own, "covered");
    }
    render_json_launches(&(Json){.to = merge->to}, &launches);
    text_addf(merge->to, launches.made ? ",\n " : "");
}

static void write_inputs(Merge *merge, const json_t *all) {
    size_t count = json_array_size(all);
    MergeSorted *sorted = calloc(count + 1, sizeof *sorted);
    json_t **inputs = calloc(count + 1, sizeof *inputs);
    merge->failed |= !sorted || !inputs;
    for (size_t i = 0; i < count && !merge->failed; i++)
        sorted[i] = (MergeSorted){json_array_get(all, i), i};
    if (!merge->failed)
        qsort(sorted, count, sizeof *sorted, by_file);
    for (size_t i = 0; i < count && !merge->failed; i++)
        inputs[i] = sorted[i].input;
    if (!merge->failed) {
        size_t lacking = 0;
        for (size_t i = 0; i < count; i++)
            lacking += require(merge, inputs[i]);
        merge_lacks(merge, lacking);
        count_inputs(merge, inputs, count);
        text_addf(merge->to, "{\"tool\": \"weir\", \"version\": ");
        merge_write(merge, json_object_get(merge->documents[0].root, "version"));
        text_addf(merge->to, ",\n \"inputs\": [");
        merge_write_list(merge, inputs, count);
        text_addf(merge->to, "],\n ");
        write_launches(merge);
        write_unseen(merge);
        text_addf(merge->to, "\"verdict\": \"%s\", ", verdict_kind_name(merge->verdict));
        render_json_scope(&(Json){.to = merge->to}, merge_scope(merge));
        text_addf(merge->to, "}\n");
    }
    free(sorted);
    free(inputs);
}

static bool merge_json(Merge *merge) {
    json_t *table = json_object(), *all = json_array();
    bool good = table && all;
    merge->failed |= !good;
    for (size_t i = 0; i < merge->count && good; i++)
        good = add_inputs(merge, &merge->documents[i], table, all) &&
               merge_worse(merge, &merge->documents[i], merge_text(merge->documents[i].root, "verdict"));
    if (good && merge->missing.size)
        merge->failed |= json_array_append_new(all, missing_input(merge)) != 0;
    if (good)
        write_inputs(merge, all);
    json_decref(table);
    json_decref(all);
    return good;
}

/* ---- All of it ----------------------------------------------------------------------------------- */

static bool merge_all(Merge *merge) {
    for (size_t i = 0; i < merge->count; i++) {
        if (!read_document(merge, &merge->documents[i]))
            return false;
        const char *version = version_of(merge, &merge->documents[i]);
        if (strcmp(version, version_of(merge, &merge->documents[0])) != 0)
            return merge_fail(merge, "%s: this is of weir %.40s, the first of weir %.40s", merge->documents[i].path,
                              version, version_of(merge, &merge->documents[0]));
    }
    return find_shards(merge) && (merge->sarif ? merge_sarif(merge) : merge_json(merge));
}

int weir_merge(weir_context *context, const char *const *paths, size_t count, const char *required, weir_write *write,
               void *to, weir_merged *merged) {
    Text out = SINK_TEXT(write, to);
    Merge merge = {.documents = calloc(count + 1, sizeof *merge.documents),
                   .count = count,
                   .to = &out,
                   .required = required ? verdict_scope_named(required) : COVERS_NONE};
    for (size_t i = 0; i < count && merge.documents; i++)
        merge.documents[i].path = paths[i];
    bool good = merge.documents && (count || merge_fail(&merge, "there is nothing to merge")) &&
                (!required || merge.required || merge_fail(&merge, "there is no scope '%.40s'", required)) &&
                merge_all(&merge);
    for (size_t i = 0; i < count && merge.documents; i++)
        json_decref(merge.documents[i].root);
    out.size = good ? out.size : 0;
    merge.failed |= sink_finish(&out) != 0;
    good &= !merge.failed;
    const Text *said = !good ? &merge.problem : merge.missing.size ? &merge.missing : &merge.lacking;
    snprintf(context->error, sizeof context->error, "%.*s", (int)said->size, said->data ? said->data : "");
    if (!good && !said->size)
        snprintf(context->error, sizeof context->error, "the merged result could not be written");
    merge.merged.verdict = good ? (weir_verdict)merge.verdict : WEIR_VERDICT_ERROR;
    merge.merged.scope = good ? (weir_scope)merge_scope(&merge) : WEIR_SCOPE_NONE;
    *merged = merge.merged;
    text_free(&merge.problem);
    text_free(&merge.missing);
    text_free(&merge.lacking);
    free(merge.documents);
    return good ? 0 : -1;
}
