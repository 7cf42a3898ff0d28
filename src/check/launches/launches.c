/* The way back from JSON to a verdict. Each launch has a verdict of its own, and they are joined as those of several
 * launch files are. */
#include "check/launches/launches.h"

#include <jansson.h>

bool launches_in(const Source *source) {
    static const char first[] = "{\"kernel\": ";
    return str_ends(str_of(source->name), STR(LAUNCHES_ENDING)) ||
           (source->size > sizeof first && memcmp(source->data, first, sizeof first - 1) == 0 &&
            memmem(source->data, source->size < 4096 ? source->size : 4096, ", \"result\": {", 13));
}

/* Of one line; NULL: there is no more, or it is not what it should be. */
static json_t *next_object(const char **at, const char *end, json_error_t *error) {
    while (*at < end && **at == '\n')
        ++*at;
    const char *stop = *at < end ? memchr(*at, '\n', (size_t)(end - *at)) : NULL;
    size_t size = *at < end ? (size_t)((stop ? stop : end) - *at) : 0;
    json_t *object = size ? json_loadb(*at, size, 0, error) : NULL;
    *at += size;
    return object;
}

/* What a result of one launch has: an object, by itself or as the only one of a list. */
static json_t *input_of(json_t *object) {
    json_t *result = json_object_get(object, "result");
    json_t *inputs = json_object_get(result, "inputs");
    return inputs ? json_array_get(inputs, 0) : result;
}

bool launches_read(Source *source, Diagnostics *diagnostics) {
    const char *at = source->data, *end = at + source->size;
    json_error_t error;
    for (;;) {
        const char *before = at;
        json_t *object = next_object(&at, end, &error);
        bool good = (json_is_object(input_of(object)) || json_is_integer(json_object_get(object, "equal"))) &&
                    json_string_value(json_object_get(object, "kernel"));
        json_decref(object);
        while (before < end && *before == '\n')
            before++;
        if (before == end)
            return true;
        if (good)
            continue;
        diagnostics_add(diagnostics, SEVERITY_ERROR, source, (size_t)(before - source->data),
                        "this is not the result of a launch, as weir exec keeps it");
        return false;
    }
}

/* ---- Members ---- */

static const char *text_of(Verdict *verdict, const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? arena_copy(verdict->arena, text, strlen(text)) : "";
}

static uint64_t number_of(const json_t *object, const char *key) {
    json_int_t number = json_integer_value(json_object_get(object, key));
    return number > 0 ? (uint64_t)number : 0;
}

static bool truth_of(const json_t *object, const char *key) {
    return json_is_true(json_object_get(object, key));
}

static void take_place(Verdict *verdict, const json_t *from, const char *module, FindingPlace *to) {
    *to = (FindingPlace){.role = text_of(verdict, from, "role"),
                         .agent = text_of(verdict, from, "agent"),
                         .op = text_of(verdict, from, "op"),
                         .note = text_of(verdict, from, "note"),
                         .file = text_of(verdict, from, "file"),
                         .line = (uint32_t)number_of(from, "line"),
                         .column = (uint32_t)number_of(from, "column"),
                         .ir_line = (uint32_t)number_of(from, "ir_line"),
                         .ir_column = (uint32_t)number_of(from, "ir_column"),
                         .ir_file = module};
}

static bool take_rule(const json_t *from, RuleId *rule) {
    const char *name = json_string_value(json_object_get(from, "rule"));
    for (RuleId i = 0; name && i < RULE_COUNT; i++)
        if (strcmp(rule_of(i)->id, name) == 0) {
            *rule = i;
            return true;
        }
    return false;
}

/* How grave the check found it; the project's settings come afterwards. */
static Severity severity_of(const json_t *from, RuleId rule) {
    const char *name = json_string_value(json_object_get(from, "severity"));
    Severity usual = rule_of(rule)->severity;
    return !name                          ? usual
           : strcmp(name, "error") == 0   ? SEVERITY_ERROR
           : strcmp(name, "warning") == 0 ? SEVERITY_WARNING
           : strcmp(name, "note") == 0    ? SEVERITY_NOTE
                                          : usual;
}

static void take_finding(Verdict *verdict, const json_t *from, const char *module) {
    RuleId rule;
    if (!take_rule(from, &rule)) {
        verdict_incomplete(verdict, "", 0, "there is a finding of a rule that this version does not know: %s",
                           text_of(verdict, from, "rule"));
        return;
    }
    const json_t *places = json_object_get(from, "places");
    Finding *to = verdict_finding(verdict);
    *to = (Finding){.rule = rule,
                    .space = text_of(verdict, from, "space"),
                    .message = text_of(verdict, from, "message"),
                    .why = text_of(verdict, from, "why"),
                    .fix = text_of(verdict, from, "fix"),
                    .schedule = text_of(verdict, from, "schedule"),
                    .launch = text_of(verdict, from, "launch"),
                    .witness = text_of(verdict, from, "witness"),
                    .fingerprint = text_of(verdict, from, "fingerprint"),
                    .times = number_of(from, "times"),
                    .elsewhere = truth_of(from, "at_other_launches"),
                    .grade = severity_of(from, rule)};
    to->graded = to->grade != rule_of(rule)->severity;
    size_t count = json_array_size(places);
    FindingPlace *taken = finding_places(verdict, to, count);
    for (size_t i = 0; i < count; i++)
        take_place(verdict, json_array_get(places, i), module, &taken[i]);
}

static void take_incomplete(Verdict *verdict, const json_t *from) {
    size_t before = verdict->incomplete_count;
    verdict_incomplete(verdict, text_of(verdict, from, "op"), (uint32_t)number_of(from, "ir_line"), "%s",
                       text_of(verdict, from, "reason"));
    Incomplete *to = &verdict->incomplete[verdict->incomplete_count - 1];
    if (verdict->incomplete_count == before || !json_object_get(from, "file"))
        return;
    to->file = text_of(verdict, from, "file");
    to->line = (uint32_t)number_of(from, "line");
    to->column = (uint32_t)number_of(from, "column");
}

static void take_coverage(RunCoverage *to, const json_t *from) {
    *to = (RunCoverage){.barrier_ops = (uint32_t)number_of(from, "barrier_ops"),
                        .barrier_ops_run = (uint32_t)number_of(from, "barrier_ops_run"),
                        .accesses = (uint32_t)number_of(from, "accesses"),
                        .accesses_run = (uint32_t)number_of(from, "accesses_run"),
                        .branches = (uint32_t)number_of(from, "branches"),
                        .branches_taken = (uint32_t)number_of(from, "branches_taken"),
                        .rings = (uint32_t)number_of(from, "rings"),
                        .rings_turned = (uint32_t)number_of(from, "rings_turned"),
                        .unreachable = (uint32_t)number_of(from, "unreachable")};
}

static void take_launch(Verdict *verdict, const json_t *from) {
    *verdict_launch(verdict) = (LaunchRun){.text = text_of(verdict, from, "text"),
                                           .chosen = truth_of(from, "chosen"),
                                           .covered = truth_of(from, "covered"),
                                           .ctas = number_of(from, "ctas"),
                                           .classes = number_of(from, "classes"),
                                           .schedules = number_of(from, "schedules"),
                                           .events = number_of(from, "events")};
}

static void take_result(Verdict *verdict, const json_t *input) {
    const char *module = text_of(verdict, input, "file");
    size_t index;
    const json_t *item;
    json_array_foreach(json_object_get(input, "launches"), index, item) {
        take_launch(verdict, item);
    }
    take_coverage(&verdict->coverage, json_object_get(input, "run_coverage"));
    json_array_foreach(json_object_get(input, "findings"), index, item) {
        take_finding(verdict, item, module);
    }
    json_array_foreach(json_object_get(input, "incomplete"), index, item) {
        take_incomplete(verdict, item);
    }
    json_array_foreach(json_object_get(input, "notes"), index, item) {
        const char *note = json_string_value(item);
        if (note)
            verdict_note(verdict, "%s", note);
    }
    verdict->only_launch = verdict->closed = true;
    if (!verdict->launch_count && !verdict->finding_count && !verdict->incomplete_count)
        verdict_incomplete(verdict, "", 0, "a launch was not checked");
}

void launches_verdict(const Source *source, Verdict *verdict) {
    const char *at = source->data, *end = at + source->size;
    json_error_t error;
    bool first = true;
    for (json_t *object; (object = next_object(&at, end, &error)); json_decref(object)) {
        uint64_t equal = number_of(object, "equal");
        verdict->kernel = text_of(verdict, object, "kernel");
        verdict->shown = NULL; /* what the program wrote is the short name */
        if (equal) {
            verdict_note(verdict,
                         "%llu launch%s more %s not checked: equal ones were, in shape, numbers and allocations; what "
                         "memory holds may differ",
                         (unsigned long long)equal, equal == 1 ? "" : "es", equal == 1 ? "was" : "were");
            continue;
        }
        if (first) {
            take_result(verdict, input_of(object));
        } else {
            Verdict *more = ARENA_NEW(verdict->arena, Verdict);
            *more = (Verdict){.arena = verdict->arena, .kernel = verdict->kernel};
            take_result(more, input_of(object));
            verdict_join(verdict, more);
        }
        first = false;
    }
    if (first)
        verdict_incomplete(verdict, "", 0, "no launch was checked");
}
