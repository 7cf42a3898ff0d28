/* A kernel that is run, and what it does to global memory. */
#ifndef TESTS_UNIT_ACCESSING_H
#define TESTS_UNIT_ACCESSING_H

#include "reading.h"

#include "machine/tile/memory/access.h"
#include "machine/tile/schedule/schedule.h"

enum { MOST_REPORTED = 256 };

typedef struct Reported {
    const Op *op;
    uint32_t cta;
    EffectVerb verb;
    bool known;
    const char *reason;
    Bytes bytes;
    uint64_t elements, mapping;
    ThreadPieces pieces;
} Reported;

typedef struct Accesses {
    Reading *reading;
    Machine *machine;
    Arena arena;
    Reported reported[MOST_REPORTED];
    unsigned count;
} Accesses;

static inline void report_access(void *observer, const Event *event) {
    Accesses *accesses = observer;
    if (event->kind != EVENT_ACCESS || event->effect->effect.space != SPACE_GLOBAL)
        return;
    assert_true(accesses->count < MOST_REPORTED);
    Reported *reported = &accesses->reported[accesses->count++];
    *reported = (Reported){
        .op = event->op, .cta = agent_cta(accesses->machine, event->agent), .verb = event->effect->effect.verb};
    reported->known = access_elements(accesses->machine, event, &accesses->arena, &reported->bytes, &reported->elements,
                                      &reported->reason);
    reported->mapping = access_mapping(accesses->machine, event);
    (void)access_threads(accesses->machine, event, &accesses->arena, &reported->pieces);
}

/* Runs the first cluster of a launch, given as the "args" of a launch file. */
static inline Accesses *run_accesses(const char *kernel, const char *arguments) {
    Accesses *accesses = calloc(1, sizeof *accesses);
    assert_non_null(accesses);
    accesses->reading = read_good(kernel);
    Arena *arena = &accesses->arena;
    arena_init(arena, (size_t)1 << 30);
    Verdict verdict = {.arena = arena};
    Text json = {0};
    text_addf(&json, "{\"args\": {%s}}", arguments);
    Source *source = source_copy("launch.json", json.data, json.size);
    Launch launch = {0};
    Diagnostics diagnostics = {0};
    assert_true(launch_read(arena, source, &launch, &diagnostics));
    const Program *program =
        program_compile(&accesses->reading->module, find_op(accesses->reading, "tt.func", 0), COMPILE_GLOBAL, &verdict);
    assert_non_null(program);
    const char *problem = NULL;
    Machine *machine = accesses->machine = machine_create(arena, program, &problem);
    assert_non_null(machine);
    machine->budget = 10000;
    machine->observe = report_access;
    machine->observer = accesses;
    machine_launch(machine, &launch);
    assert_int_equal(schedule_run(machine, 0, &(Schedule){.kind = SCHEDULE_EAGER}), RUN_COMPLETE);
    text_free(&json);
    source_free(source);
    return accesses;
}

static inline void end_accesses(Accesses *accesses) {
    done(accesses->reading);
    arena_free(&accesses->arena);
    free(accesses);
}

/* A line an access. */
static inline void assert_accesses(const char *kernel, const char *arguments, const char *expected) {
    Accesses *accesses = run_accesses(kernel, arguments);
    Text text = {0};
    for (unsigned i = 0; i < accesses->count; i++) {
        const Reported *reported = &accesses->reported[i];
        text_addf(&text, "%s ", effect_verb_name(reported->verb));
        if (reported->known)
            access_print(accesses->machine, &reported->bytes, 4, &text);
        else
            text_addf(&text, "? %s", reported->reason);
        text_char(&text, '\n');
    }
    text_char(&text, 0);
    assert_string_equal(text.data, expected);
    text_free(&text);
    end_accesses(accesses);
}

#endif
