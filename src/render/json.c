/* Verdicts as JSON: they go out as they come. */
#include "render/json.h"

static void add_covered(Json *json, const char *key, const void *object) {
    const LaunchRun *launch = object;
    if (launch->covered)
        json_truth(json, key, true);
}

static void add_proved(Json *json, const char *key, const void *object) {
    const LaunchRun *launch = object;
    if (launch->proved)
        json_truth(json, key, true);
}

static const JsonField launch_fields[] = {JSON(LaunchRun, text, chosen),
                                          JSON_BY(0, "covered", add_covered),
                                          JSON_BY(0, "proved", add_proved),
                                          JSON(LaunchRun, ctas, classes, schedules, events),
                                          {0}};

static void add_ir_file(Json *json, const char *key, const void *object) {
    const FindingPlace *place = object;
    if (place->ir_file)
        json_text(json, key, place->ir_file);
}

static const JsonField place_fields[] = {JSON(FindingPlace, role, agent, op, note, file, line, column, ir_line),
                                         JSON(FindingPlace, ir_column),
                                         JSON_BY(0, "ir_file", add_ir_file),
                                         {0}};

static const JsonField finding_fields[] = {JSON(Finding, space, times),
                                           JSON_AT(5, Finding, message),
                                           JSON_AT(5, Finding, why),
                                           JSON_AT(5, Finding, fix),
                                           JSON_AT(5, Finding, schedule),
                                           JSON_AT(5, Finding, launch),
                                           JSON_LIST(5, 6, "places", Finding, places, place_count, place_fields),
                                           {0}};

static void add_suppressed(Json *json, const Finding *finding) {
    json_begin(json, "suppressed");
    json_text(json, "kind", suppression_kind_name(finding->suppressed));
    json_text(json, "reason", finding->reason);
    json_end(json);
}

static void add_finding(Json *json, const Finding *finding, const char *witness_file) {
    static const char *const severities[] = {"error", "warning", "note"}; /* ORDER Severity */
    const Rule *rule = rule_of(finding->rule);
    json_line(json, 4);
    json_begin(json, NULL);
    json_text(json, "rule", rule->id);
    json_text(json, "severity", severities[finding_severity(finding)]);
    json_truth(json, "at_other_launches", finding->elsewhere);
    json_text(json, "fingerprint", finding->fingerprint);
    if (finding->suppressed)
        add_suppressed(json, finding);
    json_members(json, finding_fields, finding);
    json_line(json, 5);
    json_text(json, "witness", witness_file ? witness_file : finding->witness);
    json_end(json);
}

static void add_code_place(Json *json, const char *key, const void *object) {
    const Incomplete *incomplete = object;
    (void)key;
    if (!incomplete->file)
        return;
    json_text(json, "file", incomplete->file);
    json_number(json, "line", incomplete->line);
    json_number(json, "column", incomplete->column);
}

static const JsonField incomplete_fields[] = {
    JSON(Incomplete, reason, op, ir_line), JSON_BY(0, "file", add_code_place), {0}};

static const JsonField coverage_fields[] = {
    JSON(RunCoverage, barrier_ops, barrier_ops_run, accesses, accesses_run),
    JSON(RunCoverage, branches, branches_taken, rings, rings_turned, unreachable),
    {0}};

static const JsonField launches_field[] = {JSON_LIST(3, 4, "launches", Verdict, launches, launch_count, launch_fields),
                                           {0}};
static const JsonField rest_fields[] = {
    JSON_LIST(3, 4, "incomplete", Verdict, incomplete, incomplete_count, incomplete_fields),
    JSON_TEXTS(3, 4, Verdict, notes, note_count),
    {0}};

void render_json_head(Json *json, const char *version) {
    json_begin(json, NULL);
    json_text(json, "tool", "weir");
    json_text(json, "version", version);
}

void render_json_scope(Json *json, VerdictScope scope) {
    if (verdict_scope_name(scope))
        json_text(json, "scope", verdict_scope_name(scope));
    else
        json_nothing(json, "scope");
}

static void add_lines(Json *json, const char *name, const ProofLine *lines, size_t count, bool where) {
    json_begin_list(json, name);
    for (size_t i = 0; i < count; i++) {
        json_begin(json, NULL);
        json_text(json, "text", lines[i].text);
        json_text(json, "file", lines[i].file);
        json_number(json, "line", lines[i].line);
        json_number(json, "ir_line", lines[i].ir_line);
        if (where)
            json_truth(json, "promised", lines[i].promised);
        json_end(json);
    }
    json_end_list(json);
}

/* Of a proof: what it asks of launches, whether those that were given do so, what it takes for granted, what is open.
 */
static void add_proof(Json *json, const ProofSummary *proof) {
    json_line(json, 3);
    add_lines(json, "where", proof->where, proof->proved ? proof->where_count : 0, true);
    json_truth(json, "proved", proof->proved);
    json_truth(json, "narrow", proof->proved && proof->narrow);
    json_truth(json, "fulfilled", proof->proved && proof->fulfilled);
    json_truth(json, "promised", proof->proved && proof->where_count && proof->promised);
    json_begin_list(json, "assumes");
    for (size_t i = 0; proof->proved && i < proof->assume_count; i++)
        json_text(json, NULL, proof->assumes[i]);
    json_end_list(json);
    add_lines(json, "open", proof->open, proof->open_count, false);
}

void render_json_verdict(Json *json, const char *file, const Verdict *verdict, const char *const *witnesses) {
    json_text(json, "file", file);
    json_text(json, "kernel", verdict->kernel);
    if (verdict->demangled)
        json_text(json, "demangled", verdict->demangled);
    json_text(json, "verdict", verdict_kind_name(verdict->kind));
    render_json_scope(json, verdict->scope);
    json_truth(json, "only_launch", verdict->only_launch);
    if (verdict->proof && verdict->scope != COVERS_NONE)
        add_proof(json, verdict->proof);
    if (verdict->sampled_of) {
        json_begin(json, "sampled");
        json_number(json, "ctas", verdict->sampled_ctas);
        json_number(json, "of", verdict->sampled_of);
        json_end(json);
    }
    Text except = {0};
    suppressions_print(verdict, &except);
    if (except.size)
        json_str(json, "except", (Str){except.data, except.size});
    text_free(&except);
    json_members(json, launches_field, verdict);
    json_line(json, 3);
    json_begin(json, "run_coverage");
    json_members(json, coverage_fields, &verdict->coverage);
    json_end(json);
    json_line(json, 3);
    json_begin_list(json, "findings");
    for (size_t i = 0; i < verdict->finding_count; i++)
        add_finding(json, &verdict->findings[i], witnesses ? witnesses[i] : NULL);
    json_end_list(json);
    json_members(json, rest_fields, verdict);
}

/* ---- Results, one after the other ---------------------------------------------------------------- */

static void start_list(JsonSeries *series) {
    render_json_head(&series->json, series->version);
    json_line(&series->json, 1);
    json_begin_list(&series->json, series->key);
}

JsonSeries render_json_begin(Text *to, const char *version, const char *key, bool alone) {
    JsonSeries series = {.json.to = to, .version = version, .key = key, .alone = alone};
    if (!alone)
        start_list(&series);
    return series;
}

static void release_first(JsonSeries *series) {
    text_add(series->json.to, series->first.data, series->first.size);
    series->json.to->failed |= series->first.failed;
    series->json.more = true;
    text_free(&series->first);
}

/* Where the next object goes. */
static Json *next_place(JsonSeries *series) {
    size_t index = series->count++;
    if (series->alone && index == 0) {
        series->held = (Json){.to = &series->first};
        return &series->held;
    }
    if (series->alone && index == 1) {
        start_list(series);
        text_addf(series->json.to, "\n  ");
        release_first(series);
    }
    json_line(&series->json, 2);
    return &series->json;
}

void render_json_add(JsonSeries *series, VerdictKind verdict, const JsonField *fields, const void *object) {
    Json *json = next_place(series);
    series->verdict = verdict_worse(series->verdict, verdict);
    if (series->alone)
        render_json_head(json, series->version);
    else
        json_begin(json, NULL);
    json_members(json, fields, object);
    json_end(json);
}

void render_json_join(JsonSeries *series, const JsonSeries *part) {
    const Text *objects = part->json.to;
    if (series->json.more && part->json.more)
        text_char(series->json.to, ',');
    text_add(series->json.to, objects->data, objects->size);
    series->json.more |= part->json.more;
    series->verdict = verdict_worse(series->verdict, part->verdict);
    for (VerdictScope scope = COVERS_NONE; scope < COVERS_COUNT; scope++)
        series->scopes[scope] += part->scopes[scope];
}

void render_json_launches(Json *json, const JsonLaunches *launches) {
    static const JsonField fields[] = {JSON(JsonLaunches, made, covered), {0}};
    if (launches->made)
        json_object_of(json, "program_launches", fields, launches);
}

static const JsonField shard_fields[] = {JSON(JsonShard, number, of, inputs), {0}};

static void add_worst(Json *json, const char *key, const void *object) {
    const JsonSeries *series = object;
    json_text(json, key, verdict_kind_name(series->verdict));
    if (series->scoped)
        render_json_scope(json, series->verdict == VERDICT_CLEAN ? verdict_scope_weakest(series->scopes) : COVERS_NONE);
}

void render_json_end(JsonSeries *series, const JsonField *more, const void *object) {
    static const JsonField worst[] = {JSON_BY(1, "verdict", add_worst), {0}};
    Json *json = &series->json;
    if (series->alone && series->count == 0)
        start_list(series);
    if (series->alone && series->count == 1) {
        release_first(series);
    } else {
        json_end_list(json);
        if (more)
            json_members(json, more, object);
        if (series->shard.of) {
            json_line(json, 1);
            json_object_of(json, "shard", shard_fields, &series->shard);
        }
        if (series->launches.made)
            json_line(json, 1);
        render_json_launches(json, &series->launches);
        if (series->unseen && series->unseen->recorded) {
            json_line(json, 1);
            unseen_json(series->unseen, json);
        }
        if (!more && !series->alone)
            json_members(json, worst, series);
        json_end(json);
    }
    text_char(json->to, '\n');
}

/* ---- Verdicts ------------------------------------------------------------------------------------ */

typedef struct Input {
    const char *file;
    const Verdict *verdict;
    const char *const *witnesses;
} Input;

static void add_input(Json *json, const char *key, const void *object) {
    const Input *input = object;
    (void)key;
    render_json_verdict(json, input->file, input->verdict, input->witnesses);
}

void render_json_input(JsonSeries *inputs, const char *file, const Verdict *verdict, const char *const *witnesses) {
    static const JsonField fields[] = {JSON_BY(0, "input", add_input), {0}};
    inputs->scopes[verdict->scope]++;
    render_json_add(inputs, verdict->kind, fields, &(Input){file, verdict, witnesses});
}
