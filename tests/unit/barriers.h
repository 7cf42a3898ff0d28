/* Kernels with thread barriers, and the question where they are: what the tests of check/membar start from.
 *
 * Kernels are written with the macros below. The assertions say where barriers go: "before local_load 0" is right
 * before the first local_load of the text, "after async_wait 0" right after the first async_wait. */
#ifndef TESTS_UNIT_BARRIERS_H
#define TESTS_UNIT_BARRIERS_H

#include "reading.h"

#include <stdio.h>

#include "check/membar/membar.h"

#define TYPES                                                                                                      \
    "#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, " \
    "0]}>\n"                                                                                                       \
    "#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>\n"                      \
    "#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>\n"                           \
    "#tensor = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>\n"                           \
    "#smem = #ttg.shared_memory\n"                                                                                 \
    "!values = tensor<32x16xf16, #blocked>\n"                                                                      \
    "!pointers = tensor<32x16x!tt.ptr<f16>, #blocked>\n"                                                           \
    "!tile = !ttg.memdesc<32x16xf16, #shared, #smem, mutable>\n"                                                   \
    "!fixed = !ttg.memdesc<32x16xf16, #shared, #smem>\n"                                                           \
    "!ring = !ttg.memdesc<3x32x16xf16, #shared, #smem, mutable>\n"                                                 \
    "!half = !ttg.memdesc<16x16xf16, #shared, #smem, mutable, 32x16>\n"                                            \
    "!barrier = !ttg.memdesc<1xi64, #flat, #smem, mutable>\n"                                                      \
    "!desc = !tt.tensordesc<tensor<32x16xf16, #shared>>\n"                                                         \
    "!acc = tensor<128x64xf32, #blocked>\n"                                                                        \
    "!tmem = !ttg.memdesc<128x64xf32, #tensor, #ttng.tensor_memory, mutable>\n"

#define MODULE(target, warps, functions)                                               \
    TYPES "module attributes {\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = " #warps \
          " : i32, ttg.target = \"" target "\", \"ttg.threads-per-warp\" = 32 : i32} {\n" functions "}\n"

#define PARAMETERS "(%v: !values, %p: !pointers, %desc: !desc, %flag: i1, %n: i32, %acc: !acc, %counter: !tt.ptr<i32>)"
#define CONSTANTS                        \
    "    %c0 = arith.constant 0 : i32\n" \
    "    %c1 = arith.constant 1 : i32\n" \
    "    %c2 = arith.constant 2 : i32\n" \
    "    %c3 = arith.constant 3 : i32\n" \
    "    %true = arith.constant true\n"
#define FUNCTION(body)    "  tt.func public @kernel" PARAMETERS " {\n" CONSTANTS body "    tt.return\n  }\n"
#define KERNEL(body)      MODULE("cuda:90", 4, FUNCTION(body))
#define AMD_KERNEL(body)  MODULE("hip:gfx1250", 4, FUNCTION(body))
#define WIDE_KERNEL(body) MODULE("cuda:90", 8, FUNCTION(body))

#define ALLOC(name, offset) "    %" #name " = ttg.local_alloc {allocation.offset = " #offset " : i32} : () -> !tile\n"
#define ALLOC_RING(name, offset) \
    "    %" #name " = ttg.local_alloc {allocation.offset = " #offset " : i32} : () -> !ring\n"
#define ALLOC_BARRIER(name, offset) \
    "    %" #name " = ttg.local_alloc {allocation.offset = " #offset " : i32} : () -> !barrier\n"
#define TEMPORARY(name, offset) \
    "    %" #name " = ttg.local_alloc %v {allocation.offset = " #offset " : i32} : (!values) -> !fixed\n"
#define STORE(to)               "    ttg.local_store %v, %" #to " : !values -> !tile\n"
#define LOAD(name, from)        "    %" #name " = ttg.local_load %" #from " : !tile -> !values\n"
#define SLOT(name, ring, index) "    %" #name " = ttg.memdesc_index %" #ring "[%" #index "] : !ring -> !tile\n"
#define BARRIER                 "    ttg.barrier local\n"
#define COPY(name, to)          "    %" #name " = ttg.async_copy_global_to_local %p, %" #to " : !pointers -> !tile\n"
#define COMMIT(name)            "    %" #name " = ttg.async_commit_group\n"
#define WAIT_COPIES(name, left) "    %" #name " = ttg.async_wait {num = " #left " : i32}\n"
#define TDM(name, to) \
    "    %" #name " = amdg.async_tdm_copy_global_to_local %desc[%c0, %c0] into %" #to ", %true : !desc -> !tile\n"
#define WAIT_TDM(name, left) "    %" #name " = amdg.async_tdm_wait {num = " #left " : i32}\n"
#define TMA(to, bar) \
    "    ttng.async_tma_copy_global_to_local %desc[%c0, %c0] %" #to ", %" #bar ", %true : !desc, !barrier -> !tile\n"
#define TMA_STORE(from)   "    ttng.async_tma_copy_local_to_global %desc[%c0, %c0] %" #from " : !desc, !tile\n"
#define WAIT_STORES(left) "    ttng.async_tma_store_wait {pendings = " #left " : i32}\n"
#define INIT(bar)         "    ttng.init_barrier %" #bar ", 1 : !barrier\n"
#define INVAL(bar)        "    ttng.inval_barrier %" #bar " : !barrier\n"
#define EXPECT(bar)       "    ttng.barrier_expect %" #bar ", 1024, %true : !barrier\n"
#define ARRIVE(bar)       "    ttng.arrive_barrier %" #bar ", 1 : !barrier\n"
#define WAIT(bar)         "    ttng.wait_barrier %" #bar ", %c0 : !barrier\n"
#define LOOP(body)        "    scf.for %i = %c0 to %n step %c1 : i32 {\n" body "    }\n"
#define IF(body)          "    scf.if %flag {\n" body "    }\n"
#define IF_ELSE(a, b)     "    scf.if %flag {\n" a "    } else {\n" b "    }\n"
/* An op with scratch memory: a convert_layout that a compiler has placed. */
#define EXCHANGE(name, offset)                                                                                        \
    "    %" #name " = ttg.convert_layout %v {allocation.offset = " #offset " : i32, allocation.size = 1024 : i32} : " \
    "!values -> tensor<32x16xf16, #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, "  \
    "4], order = [0, 1]}>>\n"

/* A kernel that calls a function, whose frame lies at an offset of the kernel's. */
#define CALLEE(body) "  tt.func private @callee(%v: !values, %p: !pointers) {\n" body "    tt.return\n  }\n"
#define CALL(offset) \
    "    tt.call @callee(%v, %p) {allocation.offset = " #offset " : i32} : (!values, !pointers) -> ()\n"
#define WITH_CALLEE(callee, body) MODULE("cuda:90", 4, CALLEE(callee) FUNCTION(body))

/* ---- Asking ---------------------------------------------------------------------------------------------------- */

static inline Op *function_of(Reading *reading, const char *name) {
    for (unsigned i = 0;; i++) {
        Op *function = find_op(reading, "tt.func", i);
        assert_non_null(function);
        Str symbol = op_attr(function, "sym_name")->text; /* with its @ */
        if (str_is((Str){symbol.data + 1, symbol.size - 1}, name))
            return function;
    }
}

/* "local_load 1" for the second ttg.local_load of the text. */
static inline void add_op(Reading *reading, const Op *op, Text *to) {
    unsigned index = 0;
    char name[128];
    snprintf(name, sizeof name, "%.*s", (int)op->name.size, op->name.data);
    while (find_op(reading, name, index) != op)
        index++;
    const char *dot = strchr(name, '.');
    text_addf(to, "%s %u", dot ? dot + 1 : name, index);
}

static inline char *list_needs(Reading *reading, const MembarResult *result) {
    Text text = {0};
    for (size_t i = 0; i < result->need_count; i++) {
        const MembarNeed *need = &result->needs[i];
        text_addf(&text, "%s%s%s ", i ? ", " : "", need->kind == MEMBAR_CLUSTER ? "cluster " : "",
                  need->after ? "after" : "before");
        add_op(reading, need->op, &text);
        assert_true(need->automatic || need->hazard_count || need->kind == MEMBAR_CLUSTER || need->after);
    }
    text_char(&text, 0);
    return text.data;
}

static inline char *list_needless(Reading *reading, const MembarResult *result) {
    Text text = {0};
    for (size_t i = 0; i < result->present_count; i++) {
        const MembarPresent *present = &result->present[i];
        if (!present->needless)
            continue;
        text_addf(&text, "%s", text.size ? ", " : "");
        add_op(reading, present->op, &text);
        assert_non_null(present->why);
    }
    text_char(&text, 0);
    return text.data;
}

static inline const MembarResult *analyze(Reading *reading, const char *function, MembarModel model) {
    jmp_buf out_of_memory;
    reading->module.arena.exhausted = &out_of_memory;
    if (setjmp(out_of_memory))
        fail();
    const MembarResult *result = membar_analyze(&reading->module, function_of(reading, function), model, 0);
    assert_null(result->problem);
    return result;
}

typedef char *Listing(Reading *reading, const MembarResult *result);

static inline void check(const char *text, const char *function, MembarModel model, Listing *list, const char *expected,
                         const char *file, int line) {
    static const char *const models[] = {"sync", "near", "async"};
    Reading *reading = read_good(text);
    char *found = list(reading, analyze(reading, function, model));
    if (strcmp(found, expected) != 0) {
        print_error("%s: found    %s\n%s: expected %s\n", models[model], found, models[model], expected);
        _fail(file, line);
    }
    free(found);
    done(reading);
}

#define assert_sync(text, expected)  check(text, "kernel", MEMBAR_SYNC, list_needs, expected, __FILE__, __LINE__)
#define assert_near(text, expected)  check(text, "kernel", MEMBAR_NEAR, list_needs, expected, __FILE__, __LINE__)
#define assert_async(text, expected) check(text, "kernel", MEMBAR_ASYNC, list_needs, expected, __FILE__, __LINE__)
#define assert_all(text, expected)    \
    do {                              \
        assert_sync(text, expected);  \
        assert_near(text, expected);  \
        assert_async(text, expected); \
    } while (0)
#define assert_needless(text, model, expected) check(text, "kernel", model, list_needless, expected, __FILE__, __LINE__)

#endif
