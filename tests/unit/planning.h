/* A kernel that has no barriers yet, and the report that is planned of it. Files are those of tests/golden; the tests
 * are run in the root of the tree. */
#ifndef TESTS_UNIT_PLANNING_H
#define TESTS_UNIT_PLANNING_H

#include "reading.h"

#include "check/report/build/internal.h"

typedef struct Planned {
    Reading *reading;
    Arena arena;
    Verdict verdict;
    Report report;
    Builder builder;
} Planned;

static inline Planned *plan_text(const char *text) {
    Planned *planned = calloc(1, sizeof *planned);
    assert_non_null(planned);
    planned->reading = read_good(text);
    arena_init(&planned->arena, (size_t)1 << 28);
    planned->verdict.arena = &planned->arena;
    Module *module = &planned->reading->module;
    const Op *function = find_op(planned->reading, "tt.func", 0);
    assert_non_null(function);
    Builder *builder = &planned->builder;
    *builder = (Builder){.module = module,
                         .function = function,
                         .verdict = &planned->verdict,
                         .arena = &planned->arena,
                         .names = names_create(&planned->arena, module, function),
                         .allocations = allocations_of(module, function),
                         .report = &planned->report};
    for (const Op *op = function; op && builder->form == PARTITION_NONE; op = op_next_in_walk(op, function))
        builder->form = partitions_of(op).form;
    return planned;
}

/* The planned report of a file. */
static inline Planned *plan_file(const char *name) {
    Text path = {0};
    text_addf(&path, "tests/golden/%s%c", name, 0);
    const char *problem = "";
    Source *source = source_read(path.data, &problem);
    text_free(&path);
    if (!source)
        fail_msg("%s: %s", name, problem);
    Planned *planned = plan_text(source->data);
    source_free(source);
    return planned;
}

static inline void planned_done(Planned *planned) {
    arena_free(&planned->arena);
    done(planned->reading);
    free(planned);
}

static inline const ReportBarrier *barrier_of(const Planned *planned, const char *name) {
    for (size_t i = 0; i < planned->builder.barrier_count; i++)
        if (strcmp(planned->builder.barriers[i].name, name) == 0)
            return &planned->builder.barriers[i];
    fail_msg("there is no barrier %s", name);
    return NULL;
}

static inline const ReportBuffer *buffer_of(const Planned *planned, const char *name) {
    for (size_t i = 0; i < planned->builder.buffer_count; i++)
        if (strcmp(planned->builder.buffers[i].name, name) == 0)
            return &planned->builder.buffers[i];
    fail_msg("there is no buffer %s", name);
    return NULL;
}

/* The number `index` of the edges between two partitions; NULL if there are fewer. */
static inline const ReportEdge *edge_of(const Planned *planned, const char *from, const char *to, unsigned index) {
    for (size_t i = 0; i < planned->builder.edge_count; i++) {
        const ReportEdge *edge = &planned->builder.edges[i];
        if (strcmp(edge->from, from) == 0 && strcmp(edge->to, to) == 0 && index-- == 0)
            return edge;
    }
    return NULL;
}

static inline bool has_text(const char *const *list, size_t count, const char *text) {
    for (size_t i = 0; i < count; i++)
        if (strstr(list[i], text))
            return true;
    return false;
}

#endif
