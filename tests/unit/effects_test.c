/* model: what ops do, as the EFFECTS column of the op table says it. */
#include "ir/op_ids.h"
#include "reading.h"

#include "model/effect/effect.h"

/* ---- The table ------------------------------------------------------------------------------- */

static void every_column_is_well_formed(void **state) {
    (void)state;
    const char *problem = effect_table_problem();
    if (problem)
        fail_msg("%s", problem);
}

static bool is_among(Str name, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (str_is(name, names[i]))
            return true;
    return false;
}

/* An op of these dialects that says nothing touches nothing: each such op is named here, so that one that was forgotten
 * is found. */
static void an_op_without_effects_is_known_to_have_none(void **state) {
    (void)state;
    static const char *const none[] = {
        /* computation on registers */
        "ttg.convert_layout", "ttg.fp4_to_fp", "ttg.upcast_mxfp", "ttg.warp_id", "ttg.predicate_stage", "ttg.clock64",
        "ttng.cluster_size_1d", "ttng.two_cta_peer_gather", "ttng.packed_arith", "ttng.vote_ballot_sync",
        "ttng.get_async_task_id", "ttng.get_canonical_warp_id", "amdg.extract_slice", "amdg.concat",
        "amdg.in_thread_transpose", "amdg.assume_uniform", "amdg.upcast_mxfp", "amdg.scaled_upcast_fp4",
        "amdg.scaled_upcast_fp8", "amdg.scaled_downcast_fp4", "amdg.scaled_downcast_fp8", "amdg.scheduled_mfma",
        "amdg.mfma_commit", "amdg.register_handoff", "amdg.register_resident", "amdg.rematerialized_range",
        /* descriptors as values */
        "ttng.reinterpret_tensor_descriptor", "ttng.tensor_desc_to_tma_ptr", "amdg.update_tensor_descriptor",
        /* structure: what they do is what the ops inside do */
        "ttg.warp_specialize", "ttg.warp_specialize.partitions", "ttg.warp_yield", "ttg.warp_return", "ttg.mask",
        "ttg.mask.return", "ttng.subtiled_region", "ttng.subtiled_region_yield", "nvws.warp_group",
        "nvws.warp_group.yield", "nvws.warp_group.return",
        /* registers, caches, hints */
        "ttng.reg_alloc", "ttng.reg_dealloc", "ttng.prefetch", "ttng.tcgen5_global_alloc", "amdg.tdm_prefetch",
        "amdg.instruction_sched_hint",
        /* cluster launch control whose answer is in no memory yet */
        "ttng.clc_try_cancel_sync", "ttng.clc_is_canceled", "ttng.clc_get_program_id", "ttng.clc_try_cancel_async",
        "ttng.clc_read", "ttng.clc_advance",
        "ttng.tmem_wait"}; /* of a thread for itself: tmem_load and tmem_store are over when they return */
    size_t count = sizeof none / sizeof *none, silent = 0, forgotten = 0;
    for (int i = 0; i < OP_COUNT; i++) {
        const OpRow *row = op_row_by_id((OpId)i);
        bool ours = str_starts(row->name, STR("ttg.")) || str_starts(row->name, STR("ttng.")) ||
                    str_starts(row->name, STR("nvws.")) || str_starts(row->name, STR("amdg."));
        if (!ours || *row->effects)
            continue;
        silent++;
        if (is_among(row->name, none, count))
            continue;
        print_error("%s has no effects\n", row->name.data);
        forgotten++;
    }
    assert_int_equal(forgotten, 0);
    assert_int_equal(silent, count); /* and none of them has effects after all */
}

static void what_is_wrong_with_a_column_is_said(void **state) {
    (void)state;
    static const struct {
        const char *column, *problem;
    } cases[] = {
        {"wait alloc shared parity phase if pred", ""},
        {"wait alloc [relaxed when constraints] unless pred or deps", ""},
        {"", ""},
        {"wiat alloc", "ttng.wait_barrier: no such verb: 'wiat'"},
        {"wait aloc", "ttng.wait_barrier: no such operand or result: 'aloc'"},
        {"wait constraints", "ttng.wait_barrier: no such operand or result: 'constraints'"},
        {"wait alloc sharde", "ttng.wait_barrier: no such word: 'sharde'"},
        {"wait alloc by magic", "ttng.wait_barrier: this cannot follow that word: 'magic'"},
        {"wait alloc order strong", "ttng.wait_barrier: this cannot follow that word: 'strong'"},
        {"wait alloc count many", "ttng.wait_barrier: this cannot follow that word: 'many'"},
        {"wait alloc done soon", "ttng.wait_barrier: no such completion: 'soon'"},
        {"commit wgmna", "ttng.wait_barrier: no such kind of group: 'wgmna'"},
        {"wait alloc when nothing", "ttng.wait_barrier: no such operand, result or attribute: 'nothing'"},
        {"cta-barrier memory", "ttng.wait_barrier: nothing is named that could be: 'memory'"},
        {"wait alloc [relaxed]", "ttng.wait_barrier: words in brackets need a condition and an end: ']'"},
        {"wait alloc when pred shared", "ttng.wait_barrier: only conditions may follow a condition: 'shared'"},
    };
    const OpRow *row = op_row(STR("ttng.wait_barrier"));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char found[EFFECT_PROBLEM_SIZE];
        effect_column_check(row, cases[i].column, found);
        assert_string_equal(found, cases[i].problem);
    }
}

/* ---- Ops ------------------------------------------------------------------------------------- */

#define HEAD                                                                                                   \
    "#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>\n"      \
    "#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>\n"                        \
    "#tm = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>\n"                          \
    "#smem = #ttg.shared_memory\n"                                                                             \
    "!tile = !ttg.memdesc<128x128xf16, #shared, #smem, mutable>\n"                                             \
    "!acc = !ttg.memdesc<128x128xf32, #tm, #ttng.tensor_memory, mutable>\n"                                    \
    "!b = !ttg.memdesc<1xi64, #bar, #smem, mutable>\n"                                                         \
    "!desc = !tt.tensordesc<tensor<128x128xf16, #shared>>\n"                                                   \
    "tt.func @k(%t: !tile, %u: !tile, %d: !acc, %bar: !b, %free: !b, %desc: !desc, %i: i32, %p: i1, %q: i1,\n" \
    "           %ptrs: tensor<128x!tt.ptr<f32>>, %mask: tensor<128xi1>, %v: tensor<128xf32>,\n"                \
    "           %x: tensor<128x128xf16>, %raw: !tt.ptr<i8>) {\n"                                               \
    "  %no = arith.constant false\n  %yes = arith.constant true\n"
#define TAIL "\n  tt.return\n}\n"

/* The effects of the op before the last one, a line each. */
static char *effects_text(Reading *reading) {
    Effect effects[EFFECTS_MOST];
    Op *function = first_op(reading);
    const Op *op = function->regions[0].first->last->prev;
    unsigned count = effects_of(&reading->module, op, effects);
    Text text = {0};
    for (unsigned i = 0; i < count; i++) {
        effect_print(&effects[i], &text);
        text_char(&text, '\n');
    }
    text_char(&text, 0);
    assert_false(text.failed);
    return text.data;
}

static void assert_effects_at(const char *text, const char *expected, const char *file, int line) {
    Reading *reading = read_good(text);
    char *found = effects_text(reading);
    if (strcmp(found, expected) != 0) {
        print_error("%s\nfound:\n%sexpected:\n%s", text, found, expected);
        _fail(file, line);
    }
    free(found);
    done(reading);
}
#define assert_effects(op, expected) assert_effects_at(HEAD op TAIL, expected, __FILE__, __LINE__)

static void a_tma_load_completes_on_its_barrier(void **state) {
    (void)state;
    assert_effects("ttng.barrier_expect %bar, 32768, %p : !b", "expect %bar 32768 bytes, if %p\n");
    assert_effects("ttng.async_tma_copy_global_to_local %desc[%i, %i] %t, %bar, %p : !desc, !b -> !tile",
                   "read %desc global tensormap, completes on %bar, by tma, if %p\n"
                   "read the tile of %desc global async at [%i, %i] into %t, completes on %bar, by tma, if %p\n"
                   "write %t shared async, completes on %bar, by tma, if %p\n"
                   "complete %bar the bytes of %t in boxes of %desc, by tma, if %p\n");
}

static void a_tma_store_is_a_group_of_its_own(void **state) {
    (void)state;
    assert_effects("ttng.async_tma_copy_local_to_global %desc[%i, %i] %t : !desc, !tile",
                   "read %desc global tensormap, completes with its tma-store group, by tma\n"
                   "read %t shared async, completes with its tma-store group, by tma\n"
                   "write the tile of %desc global async at [%i, %i] from %t, completes with its tma-store group, "
                   "by tma\n"
                   "commit tma-store\n");
    assert_effects("ttng.async_tma_store_wait {pendings = 1 : i32}", "await tma-store down to 1\n");
    assert_effects("ttng.async_tma_store_wait {pendings = 0 : i32, read_only}",
                   "await tma-store down to 0, sources only\n");
    assert_effects("%tok = ttng.async_tma_copy_local_to_global %desc[%i, %i] %t : !desc, !tile -> !ttg.async.token\n"
                   "ttng.async_tma_store_token_wait %tok, %bar[%p], %free[%q] : !ttg.async.token, !b, !b",
                   "await tma-store down to 0, for %tok\n"
                   "arrive %bar count 1, if %p\n"
                   "arrive %free count 1, if %q\n");
}

static void a_wait_may_have_a_predicate(void **state) {
    (void)state;
    assert_effects("ttng.wait_barrier %bar, %i : !b", "wait %bar parity %i\n");
    assert_effects("ttng.wait_barrier %bar, %i, %p deps %t : !b, !tile", "wait %bar parity %i, if %p\n");
}

static void arrivals_are_counted(void **state) {
    (void)state;
    assert_effects("ttng.init_barrier %bar, 3 : !b", "init %bar count 3\n");
    assert_effects("ttng.arrive_barrier %bar, 2 : !b", "arrive %bar count 2\n");
    assert_effects("ttng.arrive_barrier %bar, 1, %p {perThread} : !b", "arrive %bar count 1 per thread, if %p\n");
    assert_effects("ttng.arrive_barrier %bar, 1 {multicastCTA = 2 : i32} : !b", "arrive %bar count 1, to CTAs 2\n");
    assert_effects("ttng.async_copy_mbarrier_arrive %bar : !b",
                   "arrive %bar count 1 per thread, once its copies are done\n");
    assert_effects("ttng.async_copy_mbarrier_arrive %bar {noIncrement} : !b",
                   "arrive %bar count 1 per thread, once its copies are done, not announced\n");
    assert_effects("ttng.tc_gen5_commit %bar, %p : !b",
                   "arrive %bar count 1, once its tensor core work is done, by tensor, if %p\n");
}

/* Each of the product's barriers is arrived at if its own predicate holds, and that of the product. */
static void a_product_arrives_at_its_barriers(void **state) {
    (void)state;
    assert_effects("ttng.tc_gen5_mma %t, %u, %d, %q, %p, %bar[%q], %free[%yes] {is_async} : !tile, !tile, !acc, !b, !b",
                   "read %t shared async, completes with a commit, by tensor, if %p\n"
                   "read %u shared async, completes with a commit, by tensor, if %p\n"
                   "update %d tensor, completes with a commit, by tensor, if %p\n"
                   "arrive %bar count 1, once its tensor core work is done, by tensor, if %q and %p\n"
                   "arrive %free count 1, once its tensor core work is done, by tensor, if %yes and %p\n");
    Reading *reading =
        read_good(HEAD "ttng.tc_gen5_mma %t, %u, %d, %q, %p, %bar[%q] {is_async} : !tile, !tile, !acc, !b" TAIL);
    Effect effects[EFFECTS_MOST];
    const Op *op = find_op(reading, "ttng.tc_gen5_mma", 0);
    assert_int_equal(effects_of(&reading->module, op, effects), 4);
    const Effect *arrive = &effects[3];
    assert_int_equal(arrive->verb, EFFECT_ARRIVE);
    assert_int_equal(arrive->done, DONE_COMMIT);
    assert_int_equal(arrive->helper, HELPER_TENSOR);
    assert_ptr_equal(arrive->on, op->operands[5]);
    assert_ptr_equal(arrive->predicate, op->operands[6]);
    assert_ptr_equal(arrive->second_predicate, op->operands[4]);
    assert_int_equal(effects[0].space, SPACE_SHARED);
    assert_int_equal(effects[0].proxy, PROXY_ASYNC);
    assert_int_equal(effects[2].space, SPACE_TENSOR);
    done(reading);
}

static void a_product_without_accumulator_only_writes(void **state) {
    (void)state;
    assert_effects("ttng.tc_gen5_mma %t, %u, %d, %no, %yes {is_async} : !tile, !tile, !acc",
                   "read %t shared async, completes with a commit, by tensor, if %yes\n"
                   "read %u shared async, completes with a commit, by tensor, if %yes\n"
                   "write %d tensor, completes with a commit, by tensor, if %yes\n");
}

/* As Gluon writes it: nothing makes it wait. With a token it would (tests/arrivals, product). */
static void a_product_without_a_token_waits_for_nothing(void **state) {
    (void)state;
    assert_effects("ttng.tc_gen5_mma %t, %u, %d, %q, %p : !tile, !tile, !acc",
                   "read %t shared async, completes with a commit, by tensor, if %p\n"
                   "read %u shared async, completes with a commit, by tensor, if %p\n"
                   "update %d tensor, completes with a commit, by tensor, if %p\n");
}

static void the_type_says_which_memory(void **state) {
    (void)state;
    assert_effects("%w = ttg.memdesc_reinterpret %t : !tile -> !tile", "view %w shared of %t\n");
    assert_effects("%w = ttg.memdesc_reinterpret %d : !acc -> !acc", "view %w tensor of %d\n");
    assert_effects("%w = tt.trans %x {order = array<i32: 1, 0>} : tensor<128x128xf16> -> tensor<128x128xf16>", "");
}

static void an_allocation_with_a_source_is_written(void **state) {
    (void)state;
    assert_effects("%a = ttg.local_alloc : () -> !tile", "allocate %a shared\n");
    assert_effects("%a = ttg.local_alloc %x : (tensor<128x128xf16>) -> !tile",
                   "allocate %a shared\nwrite %a shared value %x\n");
    assert_effects("%a, %t0 = ttng.tmem_alloc : () -> (!acc, !ttg.async.token)", "allocate %a tensor\n");
}

static void copies_form_groups(void **state) {
    (void)state;
    assert_effects("%c = ttg.async_copy_global_to_local %ptrs, %t mask %mask : tensor<128x!tt.ptr<f32>> -> !tile",
                   "read %ptrs global, completes with its cp.async group, where %mask\n"
                   "write %t shared, completes with its cp.async group, where %mask\n");
    assert_effects("%c = ttg.async_commit_group", "commit cp.async\n");
    assert_effects("%c = ttg.async_wait {num = 2 : i32}", "await cp.async down to 2\n");
}

static void wgmma_forms_groups_if_asynchronous(void **state) {
    (void)state;
    assert_effects("%w = tt.splat %i : i32 -> tensor<128x128xf32>\n"
                   "%r = ttng.warp_group_dot %t, %u, %w {isAsync = true} : !tile * !tile -> tensor<128x128xf32>",
                   "read %t shared async, completes with its wgmma group\n"
                   "read %u shared async, completes with its wgmma group\n"
                   "commit wgmma\n");
    assert_effects("%w = tt.splat %i : i32 -> tensor<128x128xf32>\n"
                   "%r = ttng.warp_group_dot %x, %u, %w : tensor<128x128xf16> * !tile -> tensor<128x128xf32>",
                   "read %u shared async\n");
}

static void tokens_have_two_sides(void **state) {
    (void)state;
#define RING "%tok = nvws.create_token {loadType = 1 : i32, numBuffers = 3 : i32} : tensor<3x!nvws.token>\n"
    assert_effects(RING "nvws.producer_acquire %tok, %i, %p : tensor<3x!nvws.token>, i32, i1",
                   "wait %tok[%i] empty parity not %p\n");
    assert_effects(RING "nvws.producer_commit %tok, %i : tensor<3x!nvws.token>, i32", "arrive %tok[%i] full count 1\n");
    assert_effects(RING "nvws.consumer_wait %tok, %i, %p : tensor<3x!nvws.token>, i32, i1",
                   "wait %tok[%i] full parity %p\n");
    assert_effects(RING "nvws.consumer_release %tok, %i : tensor<3x!nvws.token>, i32",
                   "arrive %tok[%i] empty count 1\n");
    assert_effects(RING, "allocate %tok shared\ninit %tok full count 1\ninit %tok empty count 1\n");
}

static void arefs_arrive_as_their_work_is_done(void **state) {
    (void)state;
#define AREF                                                                                 \
    "%ring = ttg.local_alloc : () -> !ttg.memdesc<2x128x128xf16, #shared, #smem, mutable>\n" \
    "%aref = nvws.aref.create %ring : <[!ttg.memdesc<2x128x128xf16, #shared, #smem, mutable>]>\n"
#define ENTER AREF "%s, %tok = nvws.aref.put.enter %aref[%i, %i] : " OF " -> !tile, !ttg.async.token\n"
#define OF    "<[!ttg.memdesc<2x128x128xf16, #shared, #smem, mutable>]>"
    assert_effects(AREF, "allocate %aref shared\nview %aref of %ring\ninit %aref full\ninit %aref empty\n");
    assert_effects(ENTER, "wait %aref[%i] empty parity %i\nview %s shared of %aref[%i]\n");
    assert_effects(ENTER "nvws.aref.put.exit %aref[%i], %tok [#nvws.async_op<none>] : " OF ", !ttg.async.token",
                   "arrive %aref[%i] full count 1\n");
    assert_effects(ENTER "nvws.aref.put.exit %aref[%i], %tok [#nvws.async_op<tma_load>] : " OF ", !ttg.async.token",
                   "expect %aref[%i] full 0 bytes\n");
    assert_effects(ENTER "nvws.aref.get.exit %aref[%i], %tok [#nvws.async_op<tc5mma>, #nvws.async_op<none>] : " OF
                         ", !ttg.async.token",
                   "arrive %aref[%i] empty count 1\n"
                   "arrive %aref[%i] empty count 1, once its tensor core work is done, by tensor\n");
}

static void named_barriers_and_cluster_barriers(void **state) {
    (void)state;
    assert_effects("ttng.arrive_barrier_named %i, %i : i32, i32", "named-arrive %i threads %i\n");
    assert_effects("ttng.wait_barrier_named %i, %i : i32, i32", "named-sync %i threads %i\n");
    assert_effects("ttng.cluster_barrier {relaxed = true}", "cluster-arrive, relaxed\ncluster-wait\n");
    assert_effects("ttng.cluster_barrier {relaxed = false}", "cluster-arrive\ncluster-wait\n");
    assert_effects("ttng.fence_mbarrier_init_release_cluster", "fence-order release cluster orders shared\n");
    assert_effects("ttng.fence_async_shared {bCluster = true}", "fence-proxy shared async cluster\n");
}

static void a_block_barrier_orders_what_it_names(void **state) {
    (void)state;
    assert_effects("ttg.barrier local", "cta-barrier orders shared\n");
    assert_effects("ttg.barrier local|global_read|tensor_write", "cta-barrier orders shared, tensor, global\n");
    assert_effects("ttg.barrier none", "cta-barrier\n");
    assert_effects("ttg.barrier all", "cta-barrier orders shared, tensor, global\n");
    assert_effects("gpu.barrier", "cta-barrier orders shared, global\n");
}

static void atomics_have_an_order_and_a_scope(void **state) {
    (void)state;
    assert_effects("%r = tt.atomic_rmw fadd, acq_rel, gpu, %ptrs, %v, %mask : (tensor<128x!tt.ptr<f32>>, "
                   "tensor<128xf32>, tensor<128xi1>) -> tensor<128xf32>",
                   "update %ptrs global acq_rel gpu value %v gives %r, where %mask\n");
    assert_effects("%r = tt.atomic_rmw fadd, relaxed, sys, %ptrs, %v : (tensor<128x!tt.ptr<f32>>, tensor<128xf32>) "
                   "-> tensor<128xf32>",
                   "update %ptrs global relaxed sys value %v gives %r\n");
}

static void places_and_values_are_said(void **state) {
    (void)state;
#define WIDE                                             \
    "%wide = arith.extsi %i : i32 to i64\n"              \
    "%p32 = tt.int_to_ptr %wide : i64 -> !tt.ptr<i32>\n" \
    "%rows = tt.splat %i : i32 -> tensor<128xi32>\n"
    assert_effects(WIDE "%r = tt.atomic_cas acquire, gpu, %p32, %i, %i : (!tt.ptr<i32>, i32, i32) -> i32",
                   "update %p32 global acquire gpu value %i compare %i gives %r\n");
    assert_effects(WIDE "%r = tt.atomic_rmw exch, relaxed, gpu, %p32, %i : (!tt.ptr<i32>, i32) -> i32",
                   "update %p32 global relaxed gpu exch value %i gives %r\n");
    assert_effects(WIDE "%r = tt.atomic_poll acquire, gpu, %p32, %i timeout %wide : !tt.ptr<i32>, i32 -> i1",
                   "read %p32 global acquire gpu until it is %i or gives up gives %r\n");
    assert_effects(WIDE "ttng.async_tma_scatter %desc[%rows, %i] %t : !desc, tensor<128xi32>, i32, !tile",
                   "read %desc global tensormap, completes with its tma-store group, by tma\n"
                   "read %t shared async, completes with its tma-store group, by tma\n"
                   "write the tile of %desc global async rows %rows at [%i] from %t, completes with its tma-store "
                   "group, by tma\n"
                   "commit tma-store\n");
    assert_effects(WIDE "%r = amdg.buffer_load %p32[%rows], %mask, %rows : tensor<128xi32>",
                   "read %p32 global offsets [%rows] gives %r otherwise %rows, where %mask\n");
#undef WIDE
}

/* What a volatile access is on the machine, and which barrier between launches there is. */
static void volatile_accesses_are_relaxed(void **state) {
    (void)state;
    assert_effects("%r = tt.load %ptrs, %mask {isVolatile = true} : tensor<128x!tt.ptr<f32>>",
                   "read %ptrs global relaxed sys gives %r, where %mask\n");
    assert_effects("%r = tt.load %ptrs {isVolatile = false} : tensor<128x!tt.ptr<f32>>",
                   "read %ptrs global gives %r\n");
    assert_effects("tt.grid_dependency_wait", "await-launches\n");
    assert_effects("nvvm.griddepcontrol.wait", "await-launches\n");
    assert_effects("nvvm.griddepcontrol.launch.dependents", "");
    assert_effects("nvvm.memory.barrier #nvvm.mem_scope<gpu>", "fence-order acq_rel gpu\n");
    assert_effects("nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.global>}", "fence-proxy global async\n");
    assert_effects("nvvm.fence.proxy {kind = #nvvm.proxy_kind<alias>}", "");
}

static void llvm_accesses_have_the_order_they_say(void **state) {
    (void)state;
#define ON_GLOBAL "%g = \"x\"() : () -> !llvm.ptr<1>\n%n = \"x\"() : () -> i32\n"
    assert_effects(ON_GLOBAL "%r = llvm.load %g : !llvm.ptr<1> -> i32", "read %g global gives %r\n");
    assert_effects(ON_GLOBAL "%r = llvm.load volatile %g : !llvm.ptr<1> -> i32",
                   "read %g global relaxed sys gives %r\n");
    assert_effects(ON_GLOBAL "%r = llvm.load volatile %g atomic syncscope(\"agent\") acquire {alignment = 4 : i64} : "
                             "!llvm.ptr<1> -> i32",
                   "read %g global acquire gpu gives %r\n");
    assert_effects(ON_GLOBAL "llvm.store %n, %g atomic release {alignment = 4 : i64} : i32, !llvm.ptr<1>",
                   "write %g global release sys value %n\n");
    assert_effects(ON_GLOBAL "\"llvm.store\"(%n, %g) <{ordering = 0 : i64, volatile_}> : (i32, !llvm.ptr<1>) -> ()",
                   "write %g global relaxed sys value %n\n");
    assert_effects(ON_GLOBAL "\"llvm.store\"(%n, %g) <{ordering = 0 : i64}> : (i32, !llvm.ptr<1>) -> ()",
                   "write %g global value %n\n");
    assert_effects(ON_GLOBAL "%r = llvm.atomicrmw add %g, %n syncscope(\"wavefront\") monotonic : !llvm.ptr<1>, i32",
                   "update %g global relaxed cta add value %n gives %r\n");
    assert_effects("llvm.fence syncscope(\"cluster-one-as\") release", "fence-order release cluster\n");
#undef ON_GLOBAL
}

/* In the generic form words are numbers, and optional operands are counted in segments. */
static void the_generic_form_says_the_same(void **state) {
    (void)state;
    assert_effects("%r = \"tt.atomic_rmw\"(%ptrs, %v) <{atomic_rmw_op = 5 : i32, scope = 2 : i32, sem = 2 : i32}> : "
                   "(tensor<128x!tt.ptr<f32>>, tensor<128xf32>) -> tensor<128xf32>",
                   "update %ptrs global acquire cta value %v gives %r\n");
    assert_effects("\"ttng.wait_barrier\"(%bar, %i, %p) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : "
                   "(!b, i32, i1) -> ()",
                   "wait %bar parity %i, if %p\n");
    assert_effects("\"ttg.barrier\"() <{addrSpace = 9 : i32}> : () -> ()", "cta-barrier orders shared, tensor\n");
    assert_effects("%a, %t0 = \"ttng.tmem_alloc\"() : () -> (!acc, !ttg.async.token)", "allocate %a tensor\n");
}

static void what_is_not_known_could_do_anything(void **state) {
    (void)state;
    assert_effects("\"use\"(%i) : (i32) -> ()", ""); /* of a number, in a test */
    assert_effects("\"use\"(%t) : (!tile) -> ()", "anything\n");
    assert_effects("\"use\"(%ptrs) : (tensor<128x!tt.ptr<f32>>) -> ()", "anything\n");
    assert_effects("\"use\"(%desc) : (!desc) -> ()", "anything\n");
    assert_effects("\"use\"() : () -> ()", "anything\n");
    assert_effects("%r = tt.elementwise_inline_asm \"x\" {constraints = \"=r,r\", packed_element = 1 : i32, "
                   "pure = true} %i : i32 -> i32",
                   "");
    assert_effects("%r = tt.elementwise_inline_asm \"x\" {constraints = \"=r,r\", packed_element = 1 : i32, "
                   "pure = false} %i : i32 -> i32",
                   "anything\n");
    assert_effects("%r = tt.elementwise_inline_asm \"membar.gl; st.global.u8 [$1], 1;\" {constraints = \"=r,l\", "
                   "packed_element = 1 : i32, pure = false} %raw : !tt.ptr<i8> -> i32",
                   "fence-order acq_rel gpu\nwrite %raw global\n");
    assert_effects("%r = arith.addi %i, %i : i32", "");
}

static void assert_unknown_at(const char *text, const char *expected, const char *file, int line) {
    Reading *reading = read_text(text);
    char *found = effects_text(reading);
    if (strcmp(found, expected) != 0) {
        print_error("%s\nfound:\n%sexpected:\n%s\n", text, found, expected);
        _fail(file, line);
    }
    free(found);
    done(reading);
}
#define assert_unknown(op, expected) assert_unknown_at(HEAD op TAIL, expected, __FILE__, __LINE__)

/* Only dialects whose every op computes are trusted with ops that are in no row, and only with numbers. */
static void an_op_in_no_row_is_harmless_if_its_dialect_computes(void **state) {
    (void)state;
    assert_unknown("ttng.some_new_op %i : i32", "anything\n");
    assert_unknown("tt.some_new_op %x : tensor<128x128xf16>", "anything\n");
    assert_unknown("vendor.bare", "anything\n");
    assert_unknown("%r = \"vendor.some\"(%i) : (i32) -> i32", "anything\n");
    assert_unknown("%r = \"arith.some_new_op\"(%i) : (i32) -> i32", "");
    assert_unknown("%r = math.some_new_op %x : tensor<128x128xf16>", "");
    assert_unknown("%r = \"arith.some_new_op\"(%ptrs) : (tensor<128x!tt.ptr<f32>>) -> i32", "anything\n");
    assert_unknown("%r = \"arith.some_new_op\"(%i) : (i32) -> !tt.ptr<i8>", "anything\n");
    assert_unknown("%r = \"arith.some_new_op\"(%t) : (!tile) -> i32", "anything\n");
    assert_unknown("\"arith.some_new_op\"(%i) ({ }) : (i32) -> ()", "anything\n");
    assert_unknown("%r = tt.splat %i written anew", ""); /* its row says what it does, if not how it is written */
    assert_unknown("ttng.arrive_barrier %bar written anew", "anything\n");
}

static void functions_of_libraries_are_pure_if_nothing_speaks_against_it(void **state) {
    (void)state;
#define CALL(symbol, pure, on, types)                                                                        \
    "%r = tt.extern_elementwise " on " {libname = \"\", libpath = \"\", pure = " pure ", symbol = \"" symbol \
    "\"} : (" types ") -> i32"
    assert_effects(CALL("__nv_abs", "true", "%i", "i32"), "");
    assert_effects(CALL("__nv_abs", "false", "%i", "i32"), "anything\n");
    assert_effects(CALL("look_up", "true", "%raw", "!tt.ptr<i8>"), "anything\n");
    assert_effects(CALL("nvshmem_my_pe", "true", "%i", "i32"), "anything\n");
    assert_effects(CALL("grid_barrier", "true", "%i", "i32"), "anything\n");
#undef CALL
}

/* What is said to be pure is believed, unless it is seen to touch memory or to wait. */
static void pure_assembly_is_believed_as_far_as_it_goes(void **state) {
    (void)state;
#define PURE(text)                                                                                                 \
    "%r = tt.elementwise_inline_asm \"" text "\" {constraints = \"=r,l\", packed_element = 1 : i32, pure = true} " \
    "%raw : !tt.ptr<i8> -> i32"
    assert_effects(PURE("some.thing.new $0, 1;"), "");
    assert_effects(PURE("ld.global.nc.u8 $0, [$1];"), "read %raw global\n");
    assert_effects(PURE("bar.sync 1, 64; mov.b32 $0, 1;"), "anything\n");
    assert_effects(PURE("st.global.u8 [$1], 1;"), "anything\n");
    assert_effects(PURE("st.shared.u8 [x], 1;"), "anything\n");
    assert_effects(PURE("some.thing.new $0, 1; mbarrier.arrive.shared.b64 _, [x];"), "anything\n");
#undef PURE
}

/* Nothing keeps more than EFFECTS_MOST; what did not fit is not passed over. */
static void too_many_effects_end_in_anything(void **state) {
    (void)state;
    Text text = {0};
    text_str(&text, STR(HEAD "ttng.tc_gen5_mma %t, %u, %d, %q, %p"));
    for (int i = 0; i < 60; i++)
        text_str(&text, STR(", %bar[%q]"));
    text_str(&text, STR(" {is_async} : !tile, !tile, !acc"));
    for (int i = 0; i < 60; i++)
        text_str(&text, STR(", !b"));
    text_str(&text, STR(TAIL));
    text_char(&text, 0);
    Reading *reading = read_good(text.data);
    Effect effects[EFFECTS_MOST];
    assert_int_equal(effects_of(&reading->module, find_op(reading, "ttng.tc_gen5_mma", 0), effects), EFFECTS_MOST);
    assert_int_equal(effects[EFFECTS_MOST - 1].verb, EFFECT_ANYTHING);
    done(reading);
    text_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_column_is_well_formed),
        cmocka_unit_test(an_op_without_effects_is_known_to_have_none),
        cmocka_unit_test(what_is_wrong_with_a_column_is_said),
        cmocka_unit_test(a_tma_load_completes_on_its_barrier),
        cmocka_unit_test(a_tma_store_is_a_group_of_its_own),
        cmocka_unit_test(a_wait_may_have_a_predicate),
        cmocka_unit_test(arrivals_are_counted),
        cmocka_unit_test(a_product_arrives_at_its_barriers),
        cmocka_unit_test(a_product_without_accumulator_only_writes),
        cmocka_unit_test(a_product_without_a_token_waits_for_nothing),
        cmocka_unit_test(the_type_says_which_memory),
        cmocka_unit_test(an_allocation_with_a_source_is_written),
        cmocka_unit_test(copies_form_groups),
        cmocka_unit_test(wgmma_forms_groups_if_asynchronous),
        cmocka_unit_test(tokens_have_two_sides),
        cmocka_unit_test(arefs_arrive_as_their_work_is_done),
        cmocka_unit_test(named_barriers_and_cluster_barriers),
        cmocka_unit_test(a_block_barrier_orders_what_it_names),
        cmocka_unit_test(atomics_have_an_order_and_a_scope),
        cmocka_unit_test(places_and_values_are_said),
        cmocka_unit_test(volatile_accesses_are_relaxed),
        cmocka_unit_test(llvm_accesses_have_the_order_they_say),
        cmocka_unit_test(the_generic_form_says_the_same),
        cmocka_unit_test(what_is_not_known_could_do_anything),
        cmocka_unit_test(an_op_in_no_row_is_harmless_if_its_dialect_computes),
        cmocka_unit_test(functions_of_libraries_are_pure_if_nothing_speaks_against_it),
        cmocka_unit_test(pure_assembly_is_believed_as_far_as_it_goes),
        cmocka_unit_test(too_many_effects_end_in_anything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
