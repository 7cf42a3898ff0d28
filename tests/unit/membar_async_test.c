/* check/membar: what is known of accesses in flight: groups, mbarriers, tokens, across calls. */
#include "barriers.h"
#include "share.h"

/* ---- The table of the asynchronous model: a current op against what came before -------------------------------- */

static void a_read_against_a_committed_write(void **state) {
    (void)state;
    assert_async(KERNEL(ALLOC(a, 0) COPY(t, a) COMMIT(g) WAIT_COPIES(w, 0) LOAD(x, a)), "before local_load 0");
}

static void a_read_against_a_write_in_flight(void **state) {
    (void)state;
    const char *text = KERNEL(ALLOC(a, 0) COPY(t, a) LOAD(x, a));
    assert_sync(text, "before local_load 0");
    assert_near(text, "");
    assert_async(text, "");
}

static void a_write_against_a_write_in_flight(void **state) {
    (void)state;
    const char *text = KERNEL(ALLOC(a, 0) COPY(t, a) STORE(a));
    assert_sync(text, "before local_store 0");
    assert_near(text, "");
    assert_async(text, "");
}

static void a_copy_against_a_read(void **state) {
    (void)state;
    assert_all(KERNEL(ALLOC(a, 0) LOAD(x, a) COPY(t, a)), "before async_copy_global_to_local 0");
}

static void a_copy_against_a_committed_write(void **state) {
    (void)state;
    assert_all(KERNEL(ALLOC(a, 0) STORE(a) COPY(t, a)), "before async_copy_global_to_local 0");
}

static void a_copy_against_a_copy_in_flight(void **state) {
    (void)state;
    const char *text = KERNEL(ALLOC(a, 0) COPY(t, a) COPY(u, a));
    assert_sync(text, "before async_copy_global_to_local 1");
    assert_near(text, "");
    assert_async(text, "");
}

/* ---- Its transitions ------------------------------------------------------------------------------------------- */

/* The seed's words clear what is in flight at a barrier; but a barrier completes no copy. */
static void a_barrier_ends_no_outstanding(void **state) {
    (void)state;
    assert_async(KERNEL(ALLOC(a, 0) COPY(t, a) COMMIT(g) BARRIER WAIT_COPIES(w, 0) LOAD(x, a)), "before local_load 0");
}

static void a_wait_leaves_the_youngest_groups(void **state) {
    (void)state;
    assert_async(
        KERNEL(ALLOC(a, 0) ALLOC(b, 1024) COPY(t, a) COMMIT(g) COPY(u, b) COMMIT(h) WAIT_COPIES(w, 1) LOAD(x, b)), "");
    assert_async(
        KERNEL(ALLOC(a, 0) ALLOC(b, 1024) COPY(t, a) COMMIT(g) COPY(u, b) COMMIT(h) WAIT_COPIES(w, 1) LOAD(x, a)),
        "before local_load 0");
}

static void a_copy_in_no_group_is_not_waited_for(void **state) {
    (void)state;
    assert_async(KERNEL(ALLOC(a, 0) COPY(t, a) WAIT_COPIES(w, 0) LOAD(x, a)), "");
}

static void several_copies_may_be_one_group(void **state) {
    (void)state;
    assert_async(KERNEL(ALLOC(a, 0) ALLOC(b, 1024) COPY(t, a) COPY(u, b) COMMIT(g) WAIT_COPIES(w, 0) LOAD(x, b)),
                 "before local_load 0");
}

static void each_tdm_copy_is_a_group(void **state) {
    (void)state;
    assert_async(AMD_KERNEL(ALLOC(a, 0) ALLOC(b, 1024) TDM(t, a) TDM(u, b) WAIT_TDM(w, 1) LOAD(x, b)), "");
    assert_async(AMD_KERNEL(ALLOC(a, 0) ALLOC(b, 1024) TDM(t, a) TDM(u, b) WAIT_TDM(w, 1) LOAD(x, a)),
                 "before local_load 0");
}

static void kinds_of_groups_are_apart(void **state) {
    (void)state;
    assert_async(AMD_KERNEL(ALLOC(a, 0) TDM(t, a) WAIT_COPIES(w, 0) LOAD(x, a)), "");
}

/* On one way the copy is the youngest group, on the other it is not: the wait may have seen its end, or not. */
static void ages_come_together(void **state) {
    (void)state;
    assert_async(KERNEL(ALLOC(a, 0) ALLOC(b, 1024) COPY(t, a) COMMIT(g) IF(COPY(u, b) COMMIT(h)) WAIT_COPIES(w, 1)
                            LOAD(x, a) WAIT_COPIES(z, 0) LOAD(y, a)),
                 "before local_load 0, before local_load 1");
}

static void a_store_by_tma_reads_until_it_is_waited_for(void **state) {
    (void)state;
    assert_async(KERNEL(ALLOC(a, 0) TMA_STORE(a) STORE(a)), "");
    assert_async(KERNEL(ALLOC(a, 0) TMA_STORE(a) BARRIER WAIT_STORES(0) STORE(a)), "before local_store 0");
    assert_async(KERNEL(ALLOC(a, 0) TMA_STORE(a) WAIT_STORES(0) BARRIER STORE(a)), "");
    assert_async(KERNEL(ALLOC(a, 0) ALLOC(b, 1024) TMA_STORE(a) TMA_STORE(b) WAIT_STORES(1) STORE(b)), "");
    assert_all(KERNEL(ALLOC(a, 0) STORE(a) TMA_STORE(a)), "before async_tma_copy_local_to_global 0");
}

/* Every thread waits for the mbarrier itself. */
static void a_load_by_tma_needs_no_barrier_after_its_wait(void **state) {
    (void)state;
    const char *text = KERNEL(ALLOC(a, 0) ALLOC_BARRIER(b, 4096) TMA(a, b) WAIT(b) LOAD(x, a));
    assert_sync(text, "before local_load 0");
    assert_near(text, "");
    assert_async(text, "");
}

static void a_load_by_tma_waits_for_readers(void **state) {
    (void)state;
    assert_all(KERNEL(ALLOC(a, 0) ALLOC_BARRIER(b, 4096) LOAD(x, a) TMA(a, b)),
               "before async_tma_copy_global_to_local 0");
}

#define DOT(name, isAsync)                                                                                    \
    "    %" #name " = ttng.warp_group_dot %a, %t, %d {inputPrecision = 0 : i32, isAsync = " isAsync "} : "    \
    "!ttg.memdesc<64x16xf16, #shared, #smem, mutable> * !ttg.memdesc<16x64xf16, #shared, #smem, mutable> -> " \
    "tensor<64x64xf32, #mma>\n"
#define DOT_KERNEL(warps, body)                                                                                  \
    "#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, "   \
    "16]}>\n" TYPES "module attributes {\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = " #warps                 \
    " : i32, ttg.target = \"cuda:90\"} {\n"                                                                      \
    "  tt.func public @kernel(%d: tensor<64x64xf32, #mma>, %w: tensor<64x16xf16, #blocked>) {\n"                 \
    "    %a = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !ttg.memdesc<64x16xf16, #shared, #smem, "    \
    "mutable>\n"                                                                                                 \
    "    %t = ttg.local_alloc {allocation.offset = 4096 : i32} : () -> !ttg.memdesc<16x64xf16, #shared, #smem, " \
    "mutable>\n" body "    tt.return\n  }\n}\n"
#define STORE_OPERAND \
    "    ttg.local_store %w, %a : tensor<64x16xf16, #blocked> -> !ttg.memdesc<64x16xf16, #shared, #smem, mutable>\n"
#define DOT_WAIT(name, of, left) \
    "    %" #name " = ttng.warp_group_dot_wait %" #of " {pendings = " #left " : i32} : tensor<64x64xf32, #mma>\n"

static void wgmma_reads_until_its_wait(void **state) {
    (void)state;
    assert_async(DOT_KERNEL(4, DOT(e, "true") STORE_OPERAND), "");
    assert_async(DOT_KERNEL(4, DOT(e, "true") DOT_WAIT(f, e, 0) STORE_OPERAND), "before local_store 0");
    assert_async(DOT_KERNEL(4, DOT(e, "true") DOT_WAIT(f, e, 1) STORE_OPERAND), "");
    assert_async(DOT_KERNEL(4, DOT(e, "false") STORE_OPERAND), "before local_store 0");
    assert_sync(DOT_KERNEL(4, DOT(e, "true") DOT_WAIT(f, e, 0) STORE_OPERAND), "before local_store 0");
}

/* Of several warpgroups, the wait brings all together; not if a later barrier does. */
static void a_wait_of_several_groups_is_a_barrier(void **state) {
    (void)state;
    assert_sync(DOT_KERNEL(8, DOT(e, "true") DOT_WAIT(f, e, 0) STORE_OPERAND), "");
    assert_async(DOT_KERNEL(8, DOT(e, "true") DOT_WAIT(f, e, 0) STORE_OPERAND), "");
}

/* ---- mbarriers ------------------------------------------------------------------------------------------------- */

static void an_mbarrier_is_memory(void **state) {
    (void)state;
    assert_all(KERNEL(ALLOC_BARRIER(b, 0) INIT(b) WAIT(b)), "before wait_barrier 0");
    assert_all(KERNEL(ALLOC_BARRIER(b, 0) INIT(b) EXPECT(b) INVAL(b)), "");
    assert_all(KERNEL(ALLOC_BARRIER(b, 0) WAIT(b) INVAL(b)), "before inval_barrier 0");
    assert_all(KERNEL(ALLOC(a, 0) ALLOC_BARRIER(b, 0) STORE(a) INIT(b)), "before init_barrier 0");
}

/* What signals and who waits are made for each other; Triton takes them for plain accesses. */
static void signals_and_waits_order_themselves(void **state) {
    (void)state;
    const char *text = KERNEL(ALLOC(a, 0) ALLOC_BARRIER(b, 4096) EXPECT(b) TMA(a, b) WAIT(b));
    assert_sync(text, "before async_tma_copy_global_to_local 0");
    assert_async(text, "");
    assert_sync(KERNEL(ALLOC_BARRIER(b, 0) ARRIVE(b) WAIT(b)), "before wait_barrier 0");
    assert_async(KERNEL(ALLOC_BARRIER(b, 0) ARRIVE(b) WAIT(b)), "");
    assert_async(KERNEL(ALLOC_BARRIER(b, 0) WAIT(b) ARRIVE(b) WAIT(b)), "");
}

/* The copy could complete the next phase before a slow thread has seen the end of this one. */
static void a_signal_after_a_wait_needs_one(void **state) {
    (void)state;
    assert_all(KERNEL(ALLOC(a, 0) ALLOC_BARRIER(b, 4096) WAIT(b) TMA(a, b)), "before async_tma_copy_global_to_local 0");
}

/* ---- AMD's tokens ---------------------------------------------------------------------------------------------- */

#define LOAD_TOKEN(name, from, token) \
    "    %" #name " = ttg.local_load %" #from " token %" #token " : !tile -> !values\n"

#define OTHER "    %m = arith.muli %n, %n : i32\n"
#define BUFFER_COPY(name, to)                                                 \
    "    %" #name " = amdg.buffer_load_to_local %global[%offsets] into %" #to \
    " : !tt.ptr<f16>[tensor<32x16xi32, #blocked>] -> !tile\n"
#define GLOBAL                                               \
    "    %q = arith.constant 0 : i64\n"                      \
    "    %global = tt.int_to_ptr %q : i64 -> !tt.ptr<f16>\n" \
    "    %offsets = arith.constant dense<0> : tensor<32x16xi32, #blocked>\n"

/* The token says that the load's own data is there, not that the threads have read it. */
static void amd_copies_into_what_a_waited_load_reads(void **state) {
    (void)state;
#define REFILLED(views, copy) AMD_KERNEL(OTHER GLOBAL ALLOC_RING(r, 0) views WAIT_COPIES(w, 0) LOAD_TOKEN(x, a, w) copy)
    static const char *const same[] = {
        REFILLED(SLOT(a, r, n), COPY(t, a)),                 /* one view */
        REFILLED(SLOT(a, r, n), BUFFER_COPY(t, a)),          /* with the other kind of copy */
        REFILLED(SLOT(a, r, n) SLOT(b, r, n), COPY(t, b)),   /* two of one slot */
        REFILLED(SLOT(a, r, c1) SLOT(b, r, c1), COPY(t, b)), /* that a constant picks */
        REFILLED(ALLOC(a, 4096), BUFFER_COPY(t, a)),         /* an allocation without slots */
        REFILLED(ALLOC(a, 4096) ALLOC(b, 4096), COPY(t, b)), /* two on the same bytes */
        REFILLED(SLOT(a, r, n) SLOT(b, r, m), COPY(t, b)),   /* two slots of which nothing is known */
    };
    static const char *const different[] = {
        REFILLED("    %m3 = arith.remsi %m, %c3 : i32\n    %m1 = arith.addi %m, %c1 : i32\n"
                 "    %next = arith.remsi %m1, %c3 : i32\n" SLOT(a, r, m3) SLOT(b, r, next),
                 COPY(t, b)),
        REFILLED(SLOT(a, r, c0) SLOT(b, r, c1), BUFFER_COPY(t, b)),
        REFILLED(ALLOC(a, 4096) ALLOC(b, 8192), COPY(t, b)),
    };
    const char *copies[] = {"async_copy_global_to_local", "buffer_load_to_local"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        const char *copy = copies[i == 1 || i == 4];
        char place[80], both[120];
        snprintf(place, sizeof place, "before %s 0", copy);
        snprintf(both, sizeof both, "after async_wait 0, %s", place);
        assert_sync(same[i], both);
        assert_near(same[i], both);
        assert_async(same[i], place);
    }
    for (size_t i = 0; i < sizeof different / sizeof *different; i++) {
        assert_sync(different[i], "after async_wait 0");
        assert_near(different[i], "after async_wait 0");
        assert_async(different[i], "");
    }
#undef REFILLED
}

static void amd_trusts_tokens_of_waits(void **state) {
    (void)state;
    /* two slots of which nothing is known: Triton trusts the token */
#define AHEAD(load) \
    AMD_KERNEL(OTHER ALLOC_RING(r, 0) SLOT(a, r, n) SLOT(b, r, m) WAIT_COPIES(w, 0) COPY(t, b) COMMIT(g) load)
    assert_sync(AHEAD(LOAD_TOKEN(x, a, w)), "after async_wait 0");
    assert_sync(AHEAD("    %x = ttg.local_load %a {ttg.amdg.syncedViaAsyncWait = true} : !tile -> !values\n"),
                "after async_wait 0");
    assert_sync(AHEAD(LOAD_TOKEN(x, a, g)), "after async_wait 0, before local_load 0");
    assert_sync(AHEAD(LOAD(x, a)), "after async_wait 0, before local_load 0");
#undef AHEAD
    /* without the barrier after the wait, the load needs one */
    assert_async(AMD_KERNEL(ALLOC(a, 0) COPY(t, a) COMMIT(g) WAIT_COPIES(w, 0) LOAD_TOKEN(x, a, w)),
                 "before local_load 0");
}

static void a_token_through_loops_and_branches(void **state) {
    (void)state;
#define CARRIED(body, next)                                                                                            \
    AMD_KERNEL(OTHER ALLOC_RING(r, 0) SLOT(a, r, n) SLOT(b, r, m) WAIT_COPIES(                                         \
        w, 0) "    %l = scf.for %i = %c0 to %n step %c1 iter_args(%k = %w) -> (!ttg.async.token) : i32 {\n" COPY(t, b) \
                   LOAD_TOKEN(x, a, k) body "      scf.yield " next " : !ttg.async.token\n    }\n")
    assert_sync(CARRIED(WAIT_COPIES(u, 0), "%u"), "after async_wait 0, after async_wait 1");
    assert_sync(CARRIED(COMMIT(u), "%u"),
                "after async_wait 0, before async_copy_global_to_local 0, before local_load 0");
#undef CARRIED
}

/* ---- Calls ----------------------------------------------------------------------------------------------------- */

static void what_a_callee_starts_with_counts(void **state) {
    (void)state;
    assert_all(WITH_CALLEE(ALLOC(b, 0) STORE(b), ALLOC(a, 2048) LOAD(x, a) CALL(2048)), "before call 0");
    assert_all(WITH_CALLEE(ALLOC(b, 0) STORE(b), ALLOC(a, 2048) LOAD(x, a) CALL(4096)), "");
    assert_all(WITH_CALLEE(ALLOC(b, 0) BARRIER STORE(b), ALLOC(a, 0) LOAD(x, a) CALL(0)), "");
    assert_all(WITH_CALLEE(ALLOC(b, 0) STORE(b) BARRIER, ALLOC(a, 0) LOAD(x, a) CALL(0)), "before call 0");
}

static void what_a_callee_ends_with_counts(void **state) {
    (void)state;
    assert_all(WITH_CALLEE(ALLOC(b, 0) STORE(b), ALLOC(a, 0) CALL(0) LOAD(x, a)), "before local_load 0");
    assert_all(WITH_CALLEE(ALLOC(b, 0) STORE(b) BARRIER, ALLOC(a, 0) CALL(0) LOAD(x, a)), "");
}

static void a_callee_that_meets_no_barrier_is_none(void **state) {
    (void)state;
    assert_all(WITH_CALLEE("", ALLOC(a, 0) STORE(a) CALL(1024) LOAD(x, a)), "before local_load 0");
    assert_all(WITH_CALLEE(BARRIER, ALLOC(a, 0) STORE(a) CALL(1024) LOAD(x, a)), "");
}

static void memory_that_a_call_hands_over_is_the_callers(void **state) {
    (void)state;
    const char *text =
        MODULE("cuda:90", 4,
               "  tt.func private @callee(%b: !tile, %v: !values) {\n" STORE(b) "    tt.return\n  }\n" FUNCTION(ALLOC(
                   a, 0) ALLOC(o, 1024) LOAD(y, o) "    tt.call @callee(%a, %v) {allocation.offset = 2048 : i32} : "
                                                   "(!tile, !values) -> ()\n" LOAD(x, o) LOAD(z, a)));
    assert_all(text, "before local_load 2");
}

static void copies_fly_through_calls(void **state) {
    (void)state;
    assert_async(WITH_CALLEE(ALLOC(b, 0) COPY(t, b) COMMIT(g), ALLOC(a, 0) CALL(0) WAIT_COPIES(w, 0) LOAD(x, a)),
                 "before local_load 0");
    assert_async(WITH_CALLEE(WAIT_COPIES(w, 0), ALLOC(a, 0) COPY(t, a) COMMIT(g) CALL(1024) LOAD(x, a)),
                 "before local_load 0");
    assert_async(WITH_CALLEE("", ALLOC(a, 0) COPY(t, a) COMMIT(g) CALL(1024) LOAD(x, a)), "");
}

static void functions_that_call_themselves_are_a_problem(void **state) {
    (void)state;
    Reading *reading = read_good(WITH_CALLEE(CALL(0), CALL(0)));
    jmp_buf out_of_memory;
    reading->module.arena.exhausted = &out_of_memory;
    if (setjmp(out_of_memory))
        fail();
    const MembarResult *result = membar_analyze(&reading->module, function_of(reading, "kernel"), MEMBAR_SYNC, 0);
    assert_non_null(result->problem);
    done(reading);
}

/* ---- Many ------------------------------------------------------------------------------------------------------ */

/* Loops one after the other; each may not run once, so that what comes before them is pending at the end. */
static char *chain(const char *before, unsigned loops, const char *body, const char *after) {
    Text text = {0};
    text_addf(&text, "%s%s",
              TYPES "module attributes {\"ttg.num-warps\" = 4 : i32, ttg.target = \"cuda:90\"} {\n"
                    "  tt.func public @kernel" PARAMETERS " {\n" CONSTANTS ALLOC_RING(r, 0) SLOT(a, r, c0)
                        SLOT(b, r, c1),
              before);
    for (unsigned i = 0; i < loops; i++)
        text_addf(&text, "    scf.for %%i%u = %%c0 to %%n step %%c1 : i32 {\n%s    }\n", i, body);
    text_addf(&text, "%s    tt.return\n  }\n}\n", after);
    text_char(&text, 0);
    return text.data;
}

static void assert_count(char *text, MembarModel model, size_t expected) {
    Reading *reading = read_good(text);
    assert_int_equal(analyze(reading, "kernel", model)->need_count, expected);
    done(reading);
    free(text);
}

static void a_long_chain_of_loops_is_looked_at_in_full(void **state) {
    (void)state;
    const unsigned loops = share_of(400);
    for (MembarModel model = MEMBAR_SYNC; model <= MEMBAR_ASYNC; model++) {
        /* in flight: only the end brings them, and needs one barrier; sync takes each for a write */
        assert_count(chain("", loops, COPY(t, a) COMMIT(g), WAIT_COPIES(w, 0) LOAD(x, a)), model,
                     model == MEMBAR_SYNC ? loops + 1 : 1);
        /* pending: each loop needs its own, and so does the end */
        assert_count(chain("", loops, STORE(a), LOAD(x, a)), model, loops + 1);
    }
}

/* What became one with others is still there. */
static void the_oldest_of_many_is_not_forgotten(void **state) {
    (void)state;
    char *text = chain(LOAD(y, b), 200, LOAD(x, a), STORE(b));
    assert_async(text, "before local_store 0");
    free(text);
    text = chain(COPY(first, b) COMMIT(h), 200, COPY(t, a) COMMIT(g), WAIT_COPIES(w, 0) LOAD(x, b));
    assert_async(text, "before local_load 0");
    free(text);
}

/* ---- A kernel as pipelines are written ------------------------------------------------------------------------- */

/* Three buffers, one stage copies and loads, the next computes. */
static void a_pipelined_product(void **state) {
    (void)state;
    const char *text = AMD_KERNEL(
        ALLOC_RING(ra, 0) ALLOC_RING(rb, 4096) SLOT(a0, ra, c0) SLOT(b0, rb, c0) TDM(t0, a0) TDM(t1, b0)
            SLOT(a1, ra, c1) SLOT(b1, rb, c1) TDM(t2, a1) TDM(t3, b1)
                WAIT_TDM(w0, 2) "    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%prod = %c2, %cons = %c0) -> "
                                "(i32, i32) : i32 {\n"
                                "      scf.execute_region {\n"
                                "      %ps = arith.remsi %prod, %c3 : i32\n"
                                "      %cs = arith.remsi %cons, %c3 : i32\n" SLOT(pa, ra, ps) SLOT(pb, rb, ps)
                                    SLOT(ca, ra, cs) SLOT(cb, rb, cs) TDM(t4, pa) TDM(t5, pb) LOAD(x, ca)
                                        LOAD(y, cb) "        scf.yield\n      }\n" WAIT_TDM(
                                            w1, 2) "      scf.execute_region {\n"
                                                   "        %s = arith.addf %v, %v : !values\n"
                                                   "        scf.yield\n      }\n"
                                                   "      %np = arith.addi %prod, %c1 : i32\n"
                                                   "      %nc = arith.addi %cons, %c1 : i32\n"
                                                   "      scf.yield %np, %nc : i32, i32\n    }\n");
    Reading *reading = read_good(text);
    const Op *load = find_op(reading, "ttg.local_load", 0), *copy = NULL;
    copy = find_op(reading, "amdg.async_tdm_copy_global_to_local", 4);
    size_t counts[3];
    for (MembarModel model = MEMBAR_SYNC; model <= MEMBAR_ASYNC; model++) {
        const MembarResult *result = analyze(reading, "kernel", model);
        bool before_load = false, automatic = false;
        counts[model] = result->need_count;
        for (size_t i = 0; i < result->need_count; i++) {
            before_load |= result->needs[i].op == load;
            automatic |= result->needs[i].automatic;
        }
        assert_int_equal(before_load, model == MEMBAR_SYNC); /* the spurious one */
        assert_int_equal(automatic, model != MEMBAR_ASYNC);
        if (model == MEMBAR_ASYNC) { /* one each time around: what was waited for is to be seen by all */
            assert_int_equal(result->need_count, 1);
            assert_ptr_equal(result->needs[0].op, copy);
        }
    }
    assert_true(counts[MEMBAR_SYNC] > counts[MEMBAR_NEAR] && counts[MEMBAR_NEAR] >= counts[MEMBAR_ASYNC]);
    done(reading);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_read_against_a_committed_write),
        cmocka_unit_test(a_read_against_a_write_in_flight),
        cmocka_unit_test(a_write_against_a_write_in_flight),
        cmocka_unit_test(a_copy_against_a_read),
        cmocka_unit_test(a_copy_against_a_committed_write),
        cmocka_unit_test(a_copy_against_a_copy_in_flight),
        cmocka_unit_test(a_barrier_ends_no_outstanding),
        cmocka_unit_test(a_wait_leaves_the_youngest_groups),
        cmocka_unit_test(a_copy_in_no_group_is_not_waited_for),
        cmocka_unit_test(several_copies_may_be_one_group),
        cmocka_unit_test(each_tdm_copy_is_a_group),
        cmocka_unit_test(kinds_of_groups_are_apart),
        cmocka_unit_test(ages_come_together),
        cmocka_unit_test(a_store_by_tma_reads_until_it_is_waited_for),
        cmocka_unit_test(a_load_by_tma_needs_no_barrier_after_its_wait),
        cmocka_unit_test(a_load_by_tma_waits_for_readers),
        cmocka_unit_test(wgmma_reads_until_its_wait),
        cmocka_unit_test(a_wait_of_several_groups_is_a_barrier),
        cmocka_unit_test(an_mbarrier_is_memory),
        cmocka_unit_test(signals_and_waits_order_themselves),
        cmocka_unit_test(a_signal_after_a_wait_needs_one),
        cmocka_unit_test(amd_copies_into_what_a_waited_load_reads),
        cmocka_unit_test(amd_trusts_tokens_of_waits),
        cmocka_unit_test(a_token_through_loops_and_branches),
        cmocka_unit_test(what_a_callee_starts_with_counts),
        cmocka_unit_test(what_a_callee_ends_with_counts),
        cmocka_unit_test(a_callee_that_meets_no_barrier_is_none),
        cmocka_unit_test(memory_that_a_call_hands_over_is_the_callers),
        cmocka_unit_test(copies_fly_through_calls),
        cmocka_unit_test(functions_that_call_themselves_are_a_problem),
        cmocka_unit_test(a_long_chain_of_loops_is_looked_at_in_full),
        cmocka_unit_test(the_oldest_of_many_is_not_forgotten),
        cmocka_unit_test(a_pipelined_product),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
