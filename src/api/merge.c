/* Results of several processes made one: JSON, and what JSON and SARIF share. */
#include "api/merge.h"

#include "base/array.h"
#include "base/order.h"

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

bool merge_known(Merge *merge, json_t *table, Numbering *mine, const char *key, size_t *at) {
    char *numbered = NULL;
    json_int_t number = json_integer_value(json_object_get(mine->seen, key));
    merge->failed |= json_object_set_new(mine->seen, key, json_integer(number + 1)) != 0;
    if (asprintf(&numbered, "%s\n%lld", key, (long long)number) < 0) {
        merge->failed = true;
        return false;
    }
    const json_t *known = json_object_get(table, numbered);
    if (known)
        *at = (size_t)json_integer_value(known);
    else
        merge->failed |= json_object_set_new(table, numbered, json_integer((json_int_t)*at)) != 0;
    free(numbered);
    return known != NULL;
}

static int pass_dump(const char *data, size_t size, void *to) {
    text_add(to, data, size);
    return 0;
}

void merge_write(Merge *merge, const json_t *value) {
    merge->failed |= json_dump_callback(value, pass_dump, merge->to, JSON_ENCODE_ANY) != 0;
}

/* ---- Parts --------------------------------------------------------------------------------------- */

static bool seek_part(Merge *merge, size_t at, bool reading) {
    MergeParts *parts = &merge->parts;
    merge->failed |= !parts->kept || fseeko(parts->kept, (off_t)at, SEEK_SET) != 0;
    parts->reading = reading;
    return !merge->failed;
}

/* The value of a part is this one now. */
static void keep_part(Merge *merge, MergePart *part, const json_t *value) {
    MergeParts *parts = &merge->parts;
    if (parts->reading && !seek_part(merge, parts->end, false))
        return;
    merge->failed |= json_dumpf(value, parts->kept, JSON_ENCODE_ANY) != 0;
    off_t end = ftello(parts->kept);
    merge->failed |= end < 0;
    part->at = parts->end;
    part->size = end < 0 ? 0 : (size_t)end - parts->end;
    parts->end += part->size;
}

void merge_add_part(Merge *merge, const char *file, const json_t *value) {
    MergeParts *parts = &merge->parts;
    if (!parts->kept)
        parts->kept = tmpfile();
    bool room = parts->kept && ARRAY_ROOM(parts->items, parts->count, parts->capacity, 64);
    char *own = room ? strdup(file) : NULL;
    merge->failed |= !own;
    if (!own)
        return;
    parts->items[parts->count] = (MergePart){.file = own, .number = parts->count};
    keep_part(merge, &parts->items[parts->count++], value);
}

static json_t *kept_part(Merge *merge, const MergePart *part) {
    char *text = malloc(part->size + 1);
    bool good = text && seek_part(merge, part->at, true) && fread(text, 1, part->size, merge->parts.kept) == part->size;
    json_t *value = good ? json_loadb(text, part->size, JSON_ALLOW_NUL, NULL) : NULL;
    merge->failed |= !value;
    free(text);
    return value;
}

ORDER(by_file, MergePart, BY_TEXT(file) BY(number))

void merge_write_parts(Merge *merge, size_t most) {
    MergeParts *parts = &merge->parts;
    char buffer[1 << 14];
    if (parts->count)
        qsort(parts->items, parts->count, sizeof *parts->items, by_file);
    for (size_t i = 0; i < parts->count && i < most && seek_part(merge, parts->items[i].at, true); i++) {
        text_str(merge->to, i ? STR(",\n  ") : STR("\n  "));
        for (size_t rest = parts->items[i].size, size; rest && !merge->failed; rest -= size) {
            size = rest < sizeof buffer ? rest : sizeof buffer;
            merge->failed |= fread(buffer, 1, size, parts->kept) != size;
            text_add(merge->to, buffer, size);
        }
    }
}

static void free_parts(MergeParts *parts) {
    for (size_t i = 0; i < parts->count; i++)
        free(parts->items[i].file);
    free(parts->items);
    if (parts->kept)
        fclose(parts->kept);
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

static json_t *shard_of(const Merge *merge, const Document *document) {
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
    const json_t *shard = document->shard;
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
        if (merge->documents[i].shard)
            first = merge->documents[i].shard;
    size_t of = first ? merge_number(first, "of") : 0;
    if (!first)
        return true;
    if (of < 1 || of > MOST_SHARDS)
        return merge_fail(merge, "there cannot be %zu shards", of);
    const char **whose = calloc(of, sizeof *whose);
    bool good = whose != NULL;
    merge->failed |= !good;
    for (size_t i = 0; i < merge->count && good; i++)
        if (merge->documents[i].shard)
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

/* Counts what an input has; `by` is 1, or -1 where it is another one now. */
static void count_input(Merge *merge, const json_t *input, int by) {
    weir_merged *merged = &merge->merged;
    const char *verdict = *merge_text(input, "file") ? merge_text(input, "verdict") : "";
    for (VerdictKind kind = VERDICT_CLEAN; kind <= VERDICT_ERROR; kind++)
        if (strcmp(verdict_kind_name(kind), verdict) == 0)
            merged->kernels[kind] += (size_t)by;
    if (strcmp(verdict_kind_name(VERDICT_CLEAN), verdict) == 0)
        merged->scopes[scope_in(input)] += (size_t)by;
    const json_t *findings = json_object_get(input, "findings");
    for (size_t i = 0; i < json_array_size(findings); i++) {
        const json_t *finding = json_array_get(findings, i);
        bool suppressed = json_object_get(finding, "suppressed") != NULL;
        bool note = strcmp(merge_text(finding, "severity"), "note") == 0;
        *(suppressed ? &merged->suppressed : note ? &merged->notes : &merged->findings) += (size_t)by;
    }
}

/* A part that another document has, too. */
static void unite_part(Merge *merge, MergePart *part, const json_t *from) {
    json_t *into = kept_part(merge, part);
    if (!into)
        return;
    count_input(merge, into, -1);
    unite_inputs(merge, into, from);
    count_input(merge, into, 1);
    keep_part(merge, part, into);
    json_decref(into);
}

static bool add_input(Merge *merge, const Document *document, Numbering *mine, const json_t *input) {
    char *key = NULL;
    size_t at = merge->parts.count;
    if (!merge_worse(merge, document, merge_text(input, "verdict")))
        return false;
    if (asprintf(&key, "%s\n%s", merge_text(input, "file"), merge_text(input, "kernel")) < 0) {
        merge->failed = true;
    } else if (merge_known(merge, merge->table, mine, key, &at)) {
        unite_part(merge, &merge->parts.items[at], input);
    } else {
        merge_add_part(merge, merge_text(input, "file"), input);
        count_input(merge, input, 1);
    }
    free(key);
    return !merge->failed;
}

/* What one document has, to that of all. */
static bool merge_json(Merge *merge, const Document *document) {
    Numbering mine = {json_object()};
    const json_t *inputs = json_object_get(document->body, "inputs");
    bool good = mine.seen != NULL;
    merge->failed |= !good;
    for (size_t i = 0; i < json_array_size(inputs) && good; i++)
        good = add_input(merge, document, &mine, json_array_get(inputs, i));
    json_decref(mine.seen);
    const json_t *kernels = json_object_get(document->body, "unseen_kernels");
    merge->unseen.recorded |= kernels != NULL;
    for (size_t k = 0; k < json_array_size(kernels); k++) {
        const json_t *kernel = json_array_get(kernels, k);
        unseen_add(&merge->unseen, &(UnseenKernel){merge_text(kernel, "name"), merge_number(kernel, "launches")});
    }
    const json_t *launches = json_object_get(document->body, "program_launches");
    merge->launches.made += merge_number(launches, "made");
    merge->launches.covered += merge_number(launches, "covered");
    return good && merge_worse(merge, document, merge_text(document->root, "verdict"));
}

/* An input that was not looked at. */
static json_t *missing_input(const Merge *merge) {
    return json_pack("{s:s, s:s, s:s, s:n, s:b, s:[], s:{}, s:[], s:[{s:s%, s:s, s:i}], s:[]}", "file", "", "kernel",
                     "", "verdict", verdict_kind_name(VERDICT_INCOMPLETE), "scope", "only_launch", 0, "launches",
                     "run_coverage", "findings", "incomplete", "reason", merge->missing.data, merge->missing.size, "op",
                     "", "ir_line", 0, "notes");
}

/* How many kernels are clean for less than what is required: they say so. */
static size_t require_all(Merge *merge) {
    size_t lacking = 0;
    for (size_t i = 0; i < merge->parts.count && merge->required && !merge->failed; i++) {
        json_t *input = kept_part(merge, &merge->parts.items[i]);
        if (!input)
            break;
        count_input(merge, input, -1);
        bool lacks = require(merge, input);
        count_input(merge, input, 1);
        if (lacks)
            keep_part(merge, &merge->parts.items[i], input);
        lacking += lacks;
        json_decref(input);
    }
    return lacking;
}

static void write_json(Merge *merge) {
    json_t *missing = merge->missing.size ? missing_input(merge) : NULL;
    if (merge->missing.size)
        merge_add_part(merge, "", missing);
    json_decref(missing);
    merge_lacks(merge, require_all(merge));
    text_addf(merge->to, "{\"tool\": \"weir\", \"version\": ");
    merge_write(merge, json_object_get(merge->documents[0].root, "version"));
    text_addf(merge->to, ",\n \"inputs\": [");
    merge_write_parts(merge, merge->parts.count);
    text_addf(merge->to, "],\n ");
    render_json_launches(&(Json){.to = merge->to}, &merge->launches);
    text_addf(merge->to, merge->launches.made ? ",\n " : "");
    unseen_sort(&merge->unseen);
    if (merge->unseen.recorded) {
        unseen_json(&merge->unseen, &(Json){.to = merge->to});
        text_addf(merge->to, ",\n ");
    }
    merge->failed |= merge->unseen.failed;
    text_addf(merge->to, "\"verdict\": \"%s\", ", verdict_kind_name(merge->verdict));
    render_json_scope(&(Json){.to = merge->to}, merge_scope(merge));
    text_addf(merge->to, "}\n");
}

/* ---- All of it ----------------------------------------------------------------------------------- */

static bool add_document(Merge *merge, Document *document) {
    if (!read_document(merge, document))
        return false;
    const char *version = version_of(merge, document), *first = version_of(merge, &merge->documents[0]);
    if (strcmp(version, first) != 0)
        return merge_fail(merge, "%s: this is of weir %.40s, the first of weir %.40s", document->path, version, first);
    document->shard = json_incref(shard_of(merge, document));
    return merge->sarif ? merge_sarif(merge, document) : merge_json(merge, document);
}

static bool merge_all(Merge *merge) {
    for (size_t i = 0; i < merge->count; i++) {
        Document *document = &merge->documents[i];
        if (!add_document(merge, document))
            return false;
        if (i) {
            json_decref(document->root);
            document->root = document->body = NULL;
        }
    }
    if (!find_shards(merge))
        return false;
    if (merge->sarif)
        merge_write_sarif(merge);
    else
        write_json(merge);
    return true;
}

int weir_merge(weir_context *context, const char *const *paths, size_t count, const char *required, weir_write *write,
               void *to, weir_merged *merged) {
    Text out = SINK_TEXT(write, to);
    Merge merge = {.documents = calloc(count + 1, sizeof *merge.documents),
                   .count = count,
                   .to = &out,
                   .table = json_object(),
                   .run = {json_array(), json_object(), json_array(), json_object(), true},
                   .required = required ? verdict_scope_named(required) : COVERS_NONE};
    for (size_t i = 0; i < count && merge.documents; i++)
        merge.documents[i].path = paths[i];
    bool good = merge.documents && (count || merge_fail(&merge, "there is nothing to merge")) &&
                (!required || merge.required || merge_fail(&merge, "there is no scope '%.40s'", required)) &&
                merge_all(&merge);
    for (size_t i = 0; i < count && merge.documents; i++) {
        json_decref(merge.documents[i].root);
        json_decref(merge.documents[i].shard);
    }
    json_t *lists[] = {merge.table, merge.run.rules, merge.run.rule_index, merge.run.notifications,
                       merge.run.notification_table};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        merge.failed |= !lists[i];
        json_decref(lists[i]);
    }
    unseen_free(&merge.unseen);
    free_parts(&merge.parts);
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
