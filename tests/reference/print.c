/* A reference program as Triton GPU IR, in the spelling of release 3.6; named barriers are Meta's. */
#include "reference.h"

#include <stdio.h>

#define BARRIER_TYPE     "!ttg.memdesc<1xi64, #shared1, #smem, mutable>"
#define TILE_TYPE        "!ttg.memdesc<64x64xf16, #shared, #smem, mutable>"
#define ACCUMULATOR_TYPE "!ttg.memdesc<64x64xf32, #tmem, #ttng.tensor_memory, mutable>"
#define DESCRIPTOR_TYPE  "!tt.tensordesc<tensor<64x64xf16, #shared>>"

typedef struct Printer {
    Text *to;
    ReferenceProgram *program;
    unsigned line, indent, next; /* next: the number of the next operation, which makes its values' names */
} Printer;

/* One line; gives its number. */
static unsigned put(Printer *printer, const char *format, ...) __attribute__((format(printf, 2, 3)));
static unsigned put(Printer *printer, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    text_addf(printer->to, "%*s", (int)printer->indent * 2, "");
    text_vaddf(printer->to, format, arguments);
    text_char(printer->to, '\n');
    va_end(arguments);
    return ++printer->line;
}

static const char *predicate_name(ReferencePredicate predicate) {
    return predicate == REFERENCE_PREDICATE_FALSE ? "%false" : "%true";
}

/* ", %true", or nothing. */
static const char *optional_predicate(ReferencePredicate predicate) {
    return predicate == REFERENCE_PREDICATE_NONE ? "" : predicate == REFERENCE_PREDICATE_FALSE ? ", %false" : ", %true";
}

/* Makes %bN, the barrier of operation N. */
static void print_barrier(Printer *printer, const ReferenceOperation *operation, unsigned number) {
    unsigned depth = printer->program->depths[operation->array];
    char index[16];
    if (operation->rotating) {
        put(printer, "%%s%u = arith.remsi %%iv, %%c%u : i32", number, depth);
        snprintf(index, sizeof index, "%%s%u", number);
    } else {
        snprintf(index, sizeof index, "%%c%u", operation->slot);
    }
    put(printer, "%%b%u = ttg.memdesc_index %%bars%u[%s] : !ttg.memdesc<%ux1xi64, #shared1, #smem, mutable> -> %s",
        number, operation->array, index, depth, BARRIER_TYPE);
}

/* Makes what is needed and writes the name of the value to `name`. */
static void print_parity(Printer *printer, const ReferenceOperation *operation, unsigned number, char name[16]) {
    if (operation->parity == REFERENCE_PARITY_ZERO) {
        snprintf(name, 16, "%%c%d", operation->flipped);
        return;
    }
    if (operation->parity == REFERENCE_PARITY_ITERATION) {
        put(printer, "%%p%u = arith.andi %%iv, %%c1 : i32", number);
    } else {
        put(printer, "%%r%u = arith.divsi %%iv, %%c%u : i32", number, printer->program->depths[operation->array]);
        put(printer, "%%p%u = arith.andi %%r%u, %%c1 : i32", number, number);
    }
    if (operation->flipped)
        put(printer, "%%x%u = arith.xori %%p%u, %%c1 : i32", number, number);
    snprintf(name, 16, "%%%c%u", operation->flipped ? 'x' : 'p', number);
}

static void print_operation(Printer *printer, ReferenceOperation *operation) {
    unsigned number = printer->next++;
    const char *predicate = predicate_name(operation->predicate);
    const char *optional = optional_predicate(operation->predicate);
    char parity[16];
    if (operation->kind < REFERENCE_NAMED_ARRIVE)
        print_barrier(printer, operation, number);
    switch (operation->kind) {
    case REFERENCE_INIT:
        operation->line = put(printer, "ttng.init_barrier %%b%u, %u : " BARRIER_TYPE, number, operation->amount);
        break;
    case REFERENCE_INVALIDATE:
        operation->line = put(printer, "ttng.inval_barrier %%b%u : " BARRIER_TYPE, number);
        break;
    case REFERENCE_WAIT:
        print_parity(printer, operation, number, parity);
        operation->line = put(printer, "ttng.wait_barrier %%b%u, %s%s : " BARRIER_TYPE, number, parity, optional);
        break;
    case REFERENCE_ARRIVE:
        operation->line =
            put(printer, "ttng.arrive_barrier %%b%u, %u%s : " BARRIER_TYPE, number, operation->amount, optional);
        break;
    case REFERENCE_EXPECT:
        operation->line =
            put(printer, "ttng.barrier_expect %%b%u, %u, %s : " BARRIER_TYPE, number, operation->amount, predicate);
        break;
    case REFERENCE_COPY:
        operation->line = put(printer,
                              "ttng.async_tma_copy_global_to_local %%desc[%%c0, %%c0] %%tile, %%b%u, %s : "
                              "" DESCRIPTOR_TYPE ", " BARRIER_TYPE " -> " TILE_TYPE,
                              number, predicate);
        break;
    case REFERENCE_COMMIT:
        operation->line = put(printer, "ttng.tc_gen5_commit %%b%u%s : " BARRIER_TYPE, number, optional);
        break;
    case REFERENCE_MMA:
        operation->line = put(printer,
                              "%%t%u = ttng.tc_gen5_mma %%tile, %%tile, %%acc[], %%true, %%true, %%b%u[%%true] "
                              "{is_async} : " TILE_TYPE ", " TILE_TYPE ", " ACCUMULATOR_TYPE ", " BARRIER_TYPE,
                              number, number);
        break;
    case REFERENCE_NAMED_ARRIVE:
    case REFERENCE_NAMED_SYNC:
        put(printer, "%%n%u = arith.constant %u : i32", number, operation->amount);
        operation->line =
            put(printer, "ttng.%s_barrier_named %%c%u, %%n%u : i32, i32",
                operation->kind == REFERENCE_NAMED_SYNC ? "wait" : "arrive", operation->named + 1, number);
        break;
    case REFERENCE_CTA_BARRIER:
        operation->line = put(printer, "ttg.local_barrier");
        break;
    }
}

static void print_sequence(Printer *printer, ReferenceSequence *sequence) {
    if (sequence->trips) {
        put(printer, "scf.for %%iv = %%c0 to %%c%u step %%c1  : i32 {", sequence->trips);
        printer->indent++;
    }
    for (unsigned i = 0; i < sequence->count; i++)
        print_operation(printer, &sequence->operations[i]);
    if (sequence->trips) {
        printer->indent--;
        put(printer, "}");
    }
}

static void print_constants(Printer *printer) {
    for (unsigned i = 0; i <= REFERENCE_BARRIERS; i++)
        put(printer, "%%c%u = arith.constant %u : i32", i, i);
    put(printer, "%%true = arith.constant true");
    put(printer, "%%false = arith.constant false");
}

/* What partitions are given: with names, types or both. */
static void captures(const ReferenceProgram *program, bool names, bool types, Text *to) {
    const char *between = names && types ? ": " : "";
    for (unsigned i = 0; i < program->array_count; i++) {
        if (names)
            text_addf(to, "%%bars%u", i);
        if (types)
            text_addf(to, "%s!ttg.memdesc<%ux1xi64, #shared1, #smem, mutable>", between, program->depths[i]);
        text_addf(to, ", ");
    }
    const char *const others[][2] = {{"%desc", DESCRIPTOR_TYPE}, {"%tile", TILE_TYPE}, {"%acc", ACCUMULATOR_TYPE}};
    for (unsigned i = 0; i < 3; i++)
        text_addf(to, "%s%s%s%s", i ? ", " : "", names ? others[i][0] : "", between, types ? others[i][1] : "");
    text_char(to, 0);
}

static void print_specialized(Printer *printer) {
    ReferenceProgram *program = printer->program;
    bool partitions = program->agent_count > 1;
    Text names = {0}, types = {0}, both = {0};
    captures(program, true, false, &names);
    captures(program, false, true, &types);
    captures(program, true, true, &both);
    program->specialize_line = put(printer, "ttg.warp_specialize(%s)", partitions ? names.data : "");
    put(printer, "default {");
    printer->indent++;
    print_sequence(printer, &program->bodies[0]);
    put(printer, "ttg.warp_yield");
    printer->indent--;
    for (unsigned agent = 1; agent < program->agent_count; agent++) {
        put(printer, "}");
        put(printer, "partition%u(%s) num_warps(%u) {", agent - 1, both.data, program->warps[agent]);
        printer->indent++;
        print_constants(printer);
        print_sequence(printer, &program->bodies[agent]);
        put(printer, "ttg.warp_return");
        printer->indent--;
    }
    put(printer, "} : (%s) -> ()", partitions ? types.data : "");
    text_free(&names);
    text_free(&types);
    text_free(&both);
}

void reference_print(ReferenceProgram *program, Text *to) {
    Printer printer = {.to = to, .program = program};
    put(&printer, "#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>");
    put(&printer, "#shared1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>");
    put(&printer, "#smem = #ttg.shared_memory");
    put(&printer, "#tmem = #ttng.tensor_memory_encoding<blockM = 64, blockN = 64, colStride = 1>");
    put(&printer,
        "module attributes {\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = %u : i32, "
        "ttg.target = \"cuda:100\", \"ttg.threads-per-warp\" = 32 : i32} {",
        REFERENCE_WARPS);
    printer.indent++;
    put(&printer, "tt.func public @kernel(%%desc: " DESCRIPTOR_TYPE ") {");
    printer.indent++;
    print_constants(&printer);
    put(&printer, "%%tile = ttg.local_alloc : () -> " TILE_TYPE);
    put(&printer, "%%acc = ttng.tmem_alloc : () -> " ACCUMULATOR_TYPE);
    for (unsigned i = 0; i < program->array_count; i++)
        put(&printer, "%%bars%u = ttg.local_alloc : () -> !ttg.memdesc<%ux1xi64, #shared1, #smem, mutable>", i,
            program->depths[i]);
    print_sequence(&printer, &program->before);
    if (program->specialized)
        print_specialized(&printer);
    else
        print_sequence(&printer, &program->bodies[0]);
    print_sequence(&printer, &program->after);
    put(&printer, "tt.return");
    printer.indent--;
    put(&printer, "}");
    printer.indent--;
    put(&printer, "}");
}
