/* A kernel, read, and the builder of its report, with nothing in it yet: what the tests of the parts of the report that
 * run nothing start from. */
#ifndef TESTS_UNIT_REPORTING_H
#define TESTS_UNIT_REPORTING_H

#include "running.h"

#include "check/report/build/internal.h"

typedef struct Reporting {
    Reading *reading;
    Verdict verdict;
    Report report;
    Builder builder;
} Reporting;

static inline Reporting *start_report(const char *text) {
    Reporting *reporting = calloc(1, sizeof *reporting);
    assert_non_null(reporting);
    reporting->reading = read_text(text);
    for (size_t i = 0; i < reporting->reading->diagnostics.count; i++)
        if (reporting->reading->diagnostics.items[i].severity == SEVERITY_ERROR)
            print_error("%u: %s\n%s", reporting->reading->diagnostics.items[i].place.line,
                        reporting->reading->diagnostics.items[i].message,
                        reporting->reading->diagnostics.items[i].excerpt);
    assert_true(reporting->reading->ok);
    Module *module = &reporting->reading->module;
    reporting->verdict = (Verdict){.arena = &module->arena};
    const Op *function = find_op(reporting->reading, "tt.func", 0);
    assert_non_null(function);
    reporting->builder = (Builder){.module = module,
                                   .function = function,
                                   .verdict = &reporting->verdict,
                                   .arena = &module->arena,
                                   .names = names_create(&module->arena, module, function),
                                   .allocations = allocations_of(module, function),
                                   .report = &reporting->report};
    return reporting;
}

static inline void end_report(Reporting *reporting) {
    done(reporting->reading);
    free(reporting);
}

/* The op whose result is printed with that name (without its '%'), the first of the text. */
static inline const Op *op_named(const Reporting *reporting, const char *name) {
    const Op *function = reporting->builder.function;
    for (const Op *op = function; op; op = op_next_in_walk(op, function))
        for (uint32_t i = 0; i < op->result_count; i++)
            if (op->results[i].name && str_is(op->results[i].name->text, name))
                return op;
    print_error("no value is called %%%s\n", name);
    assert_true(false);
    return NULL;
}

#define assert_name(reporting, value, expected) \
    assert_string_equal(name_of((reporting)->builder.names, op_named(reporting, value)), expected)

#endif
