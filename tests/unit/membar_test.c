/* check/membar: where thread barriers are needed, and which are not. */
#include "barriers.h"

/* ---- Plain accesses: the same in all models -------------------------------------------------------------------- */

static void a_read_after_a_write_needs_one(void **state) {
    (void)state;
    assert_all(KERNEL(ALLOC(a, 0) STORE(a) LOAD(x, a)), "before local_load 0");
    assert_all(KERNEL("    %a = ttg.local_alloc %v : (!values) -> !fixed\n"
                      "    %x = ttg.local_load %a : !fixed -> !values\n"),
               "before local_load 0");
}

static void a_write_after_a_read_needs_one(void **state) {
    (void)state;
    assert_all(KERNEL(ALLOC(a, 0) LOAD(x, a) STORE(a)), "before local_store 0");
}

static void a_write_after_a_write_needs_one(void **state) {
    (void)state;
    assert_all(KERNEL(ALLOC(a, 0) STORE(a) STORE(a)), "before local_store 1");
}

static void two_reads_need_none(void **state) {
    (void)state;
    assert_all(KERNEL(ALLOC(a, 0) LOAD(x, a) LOAD(y, a)), "");
}

static void other_bytes_need_none(void **state) {
    (void)state;
    assert_all(KERNEL(ALLOC(a, 0) ALLOC(b, 1024) STORE(a) LOAD(x, b)), "");
}

static void allocations_on_the_same_bytes_do(void **state) {
    (void)state;
    assert_all(KERNEL(ALLOC(a, 0) ALLOC(b, 512) STORE(a) LOAD(x, b)), "before local_load 0");
    assert_all(KERNEL(ALLOC(a, 0) LOAD(x, a) TEMPORARY(b, 0)), "before local_alloc 1");
}

static void a_barrier_of_the_text_counts(void **state) {
    (void)state;
    assert_all(KERNEL(ALLOC(a, 0) STORE(a) BARRIER LOAD(x, a)), "");
    assert_all(KERNEL(ALLOC(a, 0) STORE(a) "    gpu.barrier\n" LOAD(x, a)), "");
    assert_all(KERNEL(ALLOC(a, 0) STORE(a) "    ttg.barrier global_read\n" LOAD(x, a)), "before local_load 0");
}

static void one_barrier_serves_many(void **state) {
    (void)state;
    assert_all(KERNEL(ALLOC(a, 0) ALLOC(b, 1024) STORE(a) STORE(b) LOAD(x, a) LOAD(y, b)), "before local_load 0");
}

static void an_allocation_without_a_source_is_no_access(void **state) {
    (void)state;
    assert_all(KERNEL(ALLOC(a, 0) STORE(a) ALLOC(b, 0)), "");
}

static void constant_slots_are_distinguished(void **state) {
    (void)state;
    assert_all(KERNEL(ALLOC_RING(r, 0) SLOT(a, r, c0) SLOT(b, r, c1) STORE(a) LOAD(x, b)), "");
    assert_all(KERNEL(ALLOC_RING(r, 0) SLOT(a, r, c1) SLOT(b, r, c1) STORE(a) LOAD(x, b)), "before local_load 0");
    assert_all(KERNEL(ALLOC_RING(r, 0) SLOT(a, r, n) SLOT(b, r, c1) STORE(a) LOAD(x, b)), "before local_load 0");
}

/* Triton compares whole allocations. */
/* A view that is chosen is one of those that were made. */
static void chosen_slots_are_distinguished(void **state) {
    (void)state;
#define CHOSEN                                            \
    KERNEL(ALLOC_RING(r, 0) SLOT(a, r, c0) SLOT(b, r, c1) \
               SLOT(d, r, c2) "    %e = arith.select %flag, %a, %b : !tile\n" STORE(e) LOAD(x, d))
    assert_sync(CHOSEN, "before local_load 0");
    assert_async(CHOSEN, "");
    assert_all(KERNEL(ALLOC_RING(r, 0) SLOT(a, r, c0)
                          SLOT(b, r, c1) "    %e = arith.select %flag, %a, %b : !tile\n" STORE(e) LOAD(x, b)),
               "before local_load 0");
}

static void a_constant_slot_is_only_its_own_bytes(void **state) {
    (void)state;
    const char *text = KERNEL(ALLOC_RING(r, 0) ALLOC(b, 1024) SLOT(a, r, c0) STORE(a) LOAD(x, b));
    assert_sync(text, "before local_load 0");
    assert_async(text, "");
}

#define SLICE(name, offset)   "    %" #name " = ttg.memdesc_subslice %a[" #offset ", 0] : !tile -> !half\n"
#define LOAD_HALF(name, from) "    %" #name " = ttg.local_load %" #from " : !half -> tensor<16x16xf16, #blocked>\n"
#define STORE_HALF(to)        "    ttg.local_store %h, %" #to " : tensor<16x16xf16, #blocked> -> !half\n"
#define HALF                  "    %h = arith.constant dense<0.0> : tensor<16x16xf16, #blocked>\n"

static void static_slices_are_distinguished(void **state) {
    (void)state;
    assert_all(KERNEL(HALF ALLOC(a, 0) SLICE(s, 0) SLICE(t, 16) STORE_HALF(s) LOAD_HALF(x, t)), "");
    assert_all(KERNEL(HALF ALLOC(a, 0) SLICE(s, 16) SLICE(t, 16) STORE_HALF(s) LOAD_HALF(x, t)), "before local_load 0");
    assert_all(KERNEL(HALF ALLOC(a, 0) SLICE(s, 0) STORE_HALF(s) LOAD(x, a)), "before local_load 0");
}

/* Where a slice of a slice begins is not said by its offsets alone. */
static void slices_of_slices_are_not(void **state) {
    (void)state;
#define FLOOR       "!ttg.memdesc<8x16xf16, #shared, #smem, mutable, 32x16>"
#define FLOOR_VALUE "tensor<8x16xf16, #blocked>"
    assert_all(KERNEL("    %h = arith.constant dense<0.0> : " FLOOR_VALUE "\n" ALLOC(a, 0)
                          SLICE(s, 16) "    %q = ttg.memdesc_subslice %s[0, 0] : !half -> " FLOOR "\n"
                                       "    %t = ttg.memdesc_subslice %a[16, 0] : !tile -> " FLOOR "\n"
                                       "    ttg.local_store %h, %q : " FLOOR_VALUE " -> " FLOOR "\n"
                                       "    %x = ttg.local_load %t : " FLOOR " -> " FLOOR_VALUE "\n"),
               "before local_load 0");
}

/* An allocation in several pieces is in all of them. */
static void pieces_of_an_allocation_count(void **state) {
    (void)state;
    assert_all(KERNEL("    %a = ttg.local_alloc {allocation.offset = [0 : i32, 4096 : i32]} : () -> !tile\n" ALLOC(
                   b, 4096) STORE(a) LOAD(x, b)),
               "before local_load 0");
}

static void memory_that_a_caller_hands_over_is_looked_at(void **state) {
    (void)state;
    const char *text = MODULE("cuda:90", 4,
                              "  tt.func public @kernel(%a: !tile, %b: !tile, %v: !values) {\n" STORE(a)
                                  LOAD(x, b) "    tt.return\n  }\n");
    assert_all(text, "before local_load 0");
}

/* ---- Control flow ---------------------------------------------------------------------------------------------- */

static void each_branch_needs_its_own(void **state) {
    (void)state;
    assert_all(KERNEL(ALLOC(a, 0) STORE(a) IF(LOAD(x, a)) LOAD(y, a)), "before local_load 0, before local_load 1");
    assert_all(KERNEL(ALLOC(a, 0) STORE(a) IF_ELSE(LOAD(x, a), LOAD(x, a)) LOAD(y, a)),
               "before local_load 0, before local_load 1");
}

static void loops_go_around(void **state) {
    (void)state;
    assert_all(KERNEL(ALLOC(a, 0) LOOP(STORE(a) LOAD(x, a))), "before local_store 0, before local_load 0");
}

static void blocks_that_branch_are_walked(void **state) {
    (void)state;
    assert_all(KERNEL(ALLOC(a, 0) STORE(a) "    cf.cond_br %flag, ^one, ^two\n  ^one:\n" LOAD(
                   x, a) "    cf.br ^two\n  ^two:\n" LOAD(y, a)),
               "before local_load 0, before local_load 1");
    assert_all(
        KERNEL(ALLOC(a, 0) "    cf.br ^loop\n  ^loop:\n" STORE(a) "    cf.cond_br %flag, ^loop, ^out\n  ^out:\n"),
        "before local_store 0");
}

static void names_that_loops_carry_are_followed(void **state) {
    (void)state;
    assert_sync(
        KERNEL(ALLOC(a, 0) ALLOC(b, 1024)
                   STORE(b) "    %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %a) -> (!tile) : i32 {\n" LOAD(
                       x, t) "      scf.yield %b : !tile\n    }\n"),
        "before local_load 0");
}

/* A hazard that starts before a loop needs its barrier once. Triton puts it where the access is. */
static void async_puts_a_barrier_before_a_loop(void **state) {
    (void)state;
    const char *text = KERNEL(ALLOC(a, 0) STORE(a) LOOP(LOAD(x, a)));
    assert_sync(text, "before local_load 0");
    assert_async(text, "before for 0");
}

#define COUNTED(first, body)                                                                                           \
    "    %end = scf.for %i = %c0 to %n step %c1 iter_args(%k = %" #first ") -> (i32) : i32 {\n      %s = arith.remsi " \
    "%k, %c3 : i32\n" body "      %kn = arith.addi %k, %c1 : i32\n      scf.yield %kn : i32\n    }\n"

/* What was stored before a loop is in another slot than what its first iteration touches, and each iteration has a
 * barrier. */
static void async_reports_the_first_iteration(void **state) {
    (void)state;
    assert_async(KERNEL(ALLOC_RING(r, 0) SLOT(a, r, c0) STORE(a) COUNTED(c1, SLOT(b, r, s) STORE(b) BARRIER)), "");
    assert_async(KERNEL(ALLOC_RING(r, 0) SLOT(a, r, c0) STORE(a) COUNTED(c0, SLOT(b, r, s) STORE(b) BARRIER)),
                 "before for 0");
}

/* After the loop the counter is one further than in its last iteration, or where it began. */
static void async_tells_what_a_loop_leaves(void **state) {
    (void)state;
#define LEFT(add) \
    "    %last = arith.addi %end, %c" #add " : i32\n    %t = arith.remsi %last, %c3 : i32\n" SLOT(d, ring, t) LOAD(y, d)
#define AROUND(add) KERNEL(ALLOC_RING(ring, 0) COUNTED(c0, SLOT(b, ring, s) BARRIER STORE(b)) LEFT(add))
    assert_async(AROUND(0), "");
    assert_async(AROUND(1), "");
    assert_async(AROUND(2), "before local_load 0");
    assert_async(KERNEL(ALLOC_RING(ring, 0) SLOT(a, ring, c1) STORE(a) COUNTED(c0, BARRIER) LEFT(0)), "");
    assert_async(KERNEL(ALLOC_RING(ring, 0) SLOT(a, ring, c1) STORE(a) COUNTED(c0, BARRIER) LEFT(1)),
                 "before local_load 0");
}

/* Behind the branch, also the way past it would meet the barrier; Triton's place for it, after the wait, it does not.
 */
static void async_meets_no_more_on_any_way(void **state) {
    (void)state;
    assert_async(KERNEL(ALLOC(a, 0) IF(LOAD(x, a) WAIT_COPIES(w, 0)) STORE(a)), "after async_wait 0");
    assert_async(KERNEL(ALLOC(a, 0) IF(LOAD(x, a)) STORE(a)), "before local_store 0");
}

static void async_keeps_it_inside_where_a_wait_is(void **state) {
    (void)state;
    assert_async(KERNEL(ALLOC(a, 0) COPY(t, a) COMMIT(g) LOOP(WAIT_COPIES(w, 0) LOAD(x, a))), "before local_load 0");
}

/* The barrier before the store parts the load from it and, on the way around, the store from the load. */
static void async_drops_what_others_part(void **state) {
    (void)state;
    const char *text =
        KERNEL(ALLOC(a, 0) ALLOC(b, 1024) STORE(a) STORE(b) LOOP(LOAD(x, a) STORE(b) LOAD(y, b) STORE(a)));
    assert_async(text, "before local_load 0, before local_load 1");
}

static void partitions_are_apart(void **state) {
    (void)state;
    const char *text = KERNEL(ALLOC(a, 0) STORE(a) "    ttg.warp_specialize()\n    default {\n" LOAD(
        x, a) "      ttg.warp_yield\n    }\n"
              "    partition0() num_warps(4) {\n" ALLOC(b, 0) "      %w = arith.constant dense<0.0> : !values\n"
                                                              "      ttg.local_store %w, %b : !values -> !tile\n"
                                                              "      %y = ttg.local_load %b : !tile -> !values\n"
                                                              "      ttg.warp_return\n    } : () -> ()\n" STORE(a));
    assert_all(text, "before local_load 1"); /* sending the partitions off is a barrier for all */
}

/* A product that signals an mbarrier has a barrier of the threads before it, one that does not has none. */
static void products_that_signal_gather(void **state) {
    (void)state;
#define PRODUCT(signal, type)                                                                           \
    KERNEL(ALLOC_BARRIER(b, 4096)                                                                       \
               ALLOC(x, 0) "    %y = ttg.local_alloc {allocation.offset = 2048 : i32} : () -> !other\n" \
                           "    %t = ttng.tmem_alloc : () -> !tmem\n"                                   \
                           "    ttng.tmem_store %acc, %t, %true : !acc -> !tmem\n"                      \
                           "    ttng.tc_gen5_mma %x, %y, %t, %true, %true" signal                       \
                           " {is_async} : !tile, !other, !tmem" type "\n")
#define OPERANDS(text) "!other = !ttg.memdesc<16x64xf16, #shared, #smem, mutable>\n" text
    const char *with = OPERANDS(PRODUCT(", %b[%true]", ", !barrier")), *without = OPERANDS(PRODUCT("", ""));
    assert_all(with, "");
    assert_all(without, "before tc_gen5_mma 0");
#undef OPERANDS
#undef PRODUCT
}

/* Its lowering makes one warp wait for the descriptor, and the others for that warp. */
static void taking_a_descriptor_gathers(void **state) {
    (void)state;
    assert_all(KERNEL("    %q = arith.constant 0 : i64\n    %d = tt.int_to_ptr %q : i64 -> !tt.ptr<i8>\n" ALLOC(a, 0)
                          STORE(a) "    ttng.tensormap_fenceproxy_acquire %d : !tt.ptr<i8>\n" LOAD(x, a)),
               "");
}

/* What a partition is handed goes through scratch memory, behind a barrier. */
static void captures_go_through_memory(void **state) {
    (void)state;
    const char *text = KERNEL(
        ALLOC(a, 0) STORE(a) "    ttg.warp_specialize(%a) attributes {allocation.offset = 512 : i32, "
                             "allocation.size = 16 : i32}\n"
                             "    default {\n      ttg.warp_yield\n    }\n"
                             "    partition0(%b: !tile) num_warps(4) {\n      ttg.warp_return\n    } : (!tile) -> "
                             "()\n");
    assert_all(text, "before warp_specialize 0");
}

/* ---- Ops that are barriers ------------------------------------------------------------------------------------- */

#define CAS(order, name) \
    "    %" #name " = tt.atomic_cas " #order ", gpu, %counter, %c0, %c1 : (!tt.ptr<i32>, i32, i32) -> i32\n"

static void atomics_order_on_their_sides(void **state) {
    (void)state;
    assert_all(KERNEL(ALLOC(a, 0) STORE(a) CAS(acq_rel, c) LOAD(x, a)), "");
    assert_all(KERNEL(ALLOC(a, 0) STORE(a) CAS(acquire, c) LOAD(x, a)), "");
    assert_all(KERNEL(ALLOC(a, 0) STORE(a) CAS(relaxed, c) LOAD(x, a)), "before local_load 0");
}

static void an_arrive_gathers_the_threads(void **state) {
    (void)state;
    assert_all(KERNEL(ALLOC(a, 0) ALLOC_BARRIER(b, 4096) STORE(a) ARRIVE(b) LOAD(x, a)), "");
    assert_all(KERNEL(ALLOC(a, 0) ALLOC_BARRIER(b, 4096) STORE(a) EXPECT(b) LOAD(x, a)), "");
    assert_all(KERNEL(ALLOC(a, 0) ALLOC_BARRIER(b, 4096) STORE(a) WAIT(b) LOAD(x, a)), "before local_load 0");
}

static void scratch_memory_has_a_barrier_inside(void **state) {
    (void)state;
    assert_all(KERNEL(ALLOC(a, 4096) STORE(a) EXCHANGE(e, 0) LOAD(x, a)), "");
    assert_all(KERNEL(ALLOC(a, 0) LOAD(x, a) EXCHANGE(e, 0)), "before convert_layout 0");
    assert_all(KERNEL(EXCHANGE(e, 0) EXCHANGE(f, 0)), "before convert_layout 1");
    assert_all(KERNEL(EXCHANGE(e, 0) EXCHANGE(f, 1024)), "");
    assert_all(KERNEL(LOOP(EXCHANGE(e, 0))), "before convert_layout 0");
}

/* ---- Waits for copies in sync and near ------------------------------------------------------------------------- */

static void sync_puts_a_barrier_after_a_wait(void **state) {
    (void)state;
    assert_sync(KERNEL(WAIT_COPIES(w, 0)), "after async_wait 0");
    assert_near(KERNEL(WAIT_COPIES(w, 0)), "after async_wait 0");
    assert_async(KERNEL(WAIT_COPIES(w, 0)), "");
    assert_sync(KERNEL(ALLOC(a, 0) WAIT_STORES(0) STORE(a)), "after async_tma_store_wait 0");
}

static void a_later_barrier_stands_for_it(void **state) {
    (void)state;
    assert_sync(KERNEL(WAIT_COPIES(w, 1) WAIT_COPIES(u, 0)), "after async_wait 1");
    assert_sync(KERNEL(WAIT_COPIES(w, 1) "    %s = arith.addi %c0, %c1 : i32\n" WAIT_COPIES(u, 0)),
                "after async_wait 1");
    assert_sync(KERNEL(WAIT_COPIES(w, 0) BARRIER), "");
    assert_sync(KERNEL(WAIT_COPIES(w, 0) CAS(release, c)), "");
    assert_sync(KERNEL(WAIT_COPIES(w, 0) CAS(acquire, c)), "");
}

static void an_access_or_a_branch_does_not(void **state) {
    (void)state;
    assert_sync(KERNEL(ALLOC(a, 0) WAIT_COPIES(w, 1) LOAD(x, a) WAIT_COPIES(u, 0)),
                "after async_wait 0, after async_wait 1");
    assert_sync(KERNEL(WAIT_COPIES(w, 1) IF("") WAIT_COPIES(u, 0)), "after async_wait 0, after async_wait 1");
    assert_sync(KERNEL(WAIT_COPIES(w, 1) COMMIT(g) WAIT_COPIES(u, 0)), "after async_wait 0, after async_wait 1");
    assert_sync(KERNEL(IF(WAIT_COPIES(w, 1)) WAIT_COPIES(u, 0)), "after async_wait 0, after async_wait 1");
}

/* ---- Atomics in shared memory ---------------------------------------------------------------------------------- */

#define ADD(name, kind)                                                                                              \
    "    %" #name " = ttg.local_atomic_scatter_rmw " #kind ", %m[%k], %k {axis = 0 : i32} : (!ttg.memdesc<128xi32, " \
    "#flat, #smem, mutable>, tensor<128xi32, #line>, tensor<128xi32, #line>) -> tensor<128xi32, #line>\n"
#define ATOMIC_KERNEL(body)                                                                                      \
    "#line = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>\n" TYPES \
    "module attributes {\"ttg.num-warps\" = 4 : i32, ttg.target = \"cuda:90\"} {\n"                              \
    "  tt.func public @kernel(%k: tensor<128xi32, #line>) {\n"                                                   \
    "    %m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !ttg.memdesc<128xi32, #flat, #smem, "        \
    "mutable>\n" body "    tt.return\n  }\n}\n"

static void atomics_that_commute_need_none(void **state) {
    (void)state;
    assert_all(ATOMIC_KERNEL(ADD(x, add) ADD(y, add)), "");
    assert_all(ATOMIC_KERNEL(ADD(x, add) ADD(y, max)), "before local_atomic_scatter_rmw 1");
    assert_all(ATOMIC_KERNEL(ADD(x, exch) ADD(y, exch)), "before local_atomic_scatter_rmw 1");
    assert_all(ATOMIC_KERNEL(ADD(x, add) ADD(y, add) "    %z = arith.addi %x, %y : tensor<128xi32, #line>\n"),
               "before local_atomic_scatter_rmw 1");
}

/* ---- Tensor memory --------------------------------------------------------------------------------------------- */

#define TMEM(name, column)                                                  \
    "    %" #name " = ttng.tmem_alloc {tensor_memory_col_offset = " #column \
    " : i32, tensor_memory_row_offset = 0 : i32} : () -> !tmem\n"
#define TMEM_STORE(to)        "    ttng.tmem_store %acc, %" #to ", %true : !acc -> !tmem\n"
#define TMEM_LOAD(name, from) "    %" #name " = ttng.tmem_load %" #from " : !tmem -> !acc\n"

static void tensor_memory_is_looked_at(void **state) {
    (void)state;
    assert_all(KERNEL(TMEM(t, 0) TMEM_STORE(t) TMEM_LOAD(x, t)), "before tmem_load 0");
    assert_all(KERNEL(TMEM(t, 0) TMEM_LOAD(x, t) TMEM_STORE(t)), "before tmem_store 0");
    assert_all(KERNEL(TMEM(t, 0) TMEM_LOAD(x, t) TMEM_LOAD(y, t)), "");
    assert_all(KERNEL(TMEM(t, 0) TMEM(u, 64) TMEM_STORE(t) TMEM_LOAD(x, u)), "");
    assert_all(KERNEL(TMEM(t, 0) TMEM(u, 32) TMEM_STORE(t) TMEM_LOAD(x, u)), "before tmem_load 0");
    assert_all(KERNEL(TMEM(t, 0) TMEM_STORE(t) BARRIER TMEM_LOAD(x, t)), "");
}

static void barriers_for_tensor_memory_say_so(void **state) {
    (void)state;
    Reading *reading = read_good(KERNEL(TMEM(t, 0) TMEM_STORE(t) TMEM_LOAD(x, t)));
    for (MembarModel model = MEMBAR_SYNC; model <= MEMBAR_ASYNC; model++) {
        const MembarResult *result = analyze(reading, "kernel", model);
        assert_int_equal(result->need_count, 1);
        assert_int_equal(result->needs[0].kind, MEMBAR_TENSOR);
        assert_int_equal(result->needs[0].hazards[0].space, SPACE_TENSOR);
        assert_int_equal(result->needs[0].hazards[0].end, 64);
    }
    done(reading);
}

/* ---- Clusters -------------------------------------------------------------------------------------------------- */

#define PAIR(body)                                                                                                 \
    TYPES "module attributes {\"ttg.num-ctas\" = 2 : i32, \"ttg.num-warps\" = 4 : i32, ttg.target = \"cuda:90\"} " \
          "{\n" FUNCTION(body) "}\n"

static void a_kernel_of_several_ctas_ends_with_a_cluster_barrier(void **state) {
    (void)state;
    assert_all(PAIR(ALLOC(a, 0) STORE(a)), "cluster before return 0");
}

#define MULTICAST(to, bar)                                                                                     \
    "    ttng.async_tma_copy_global_to_local %desc[%c0, %c0] %" #to ", %" #bar ", %true {multicast} : !desc, " \
    "!barrier -> !tile\n"

/* The copy of one CTA writes where another one may still read. */
static void other_ctas_write_to_memory_that_is_used_again(void **state) {
    (void)state;
    assert_sync(PAIR(ALLOC(a, 0) ALLOC(b, 0) ALLOC_BARRIER(c, 4096) LOAD(x, a) TMA(b, c)),
                "before async_tma_copy_global_to_local 0, cluster before return 0");
    assert_sync(PAIR(ALLOC(a, 0) ALLOC(b, 0) ALLOC_BARRIER(c, 4096) LOAD(x, a) MULTICAST(b, c)),
                "cluster before async_tma_copy_global_to_local 0, cluster before return 0");
}

/* ---- Needless barriers ----------------------------------------------------------------------------------------- */

static void a_barrier_that_parts_something_is_needed(void **state) {
    (void)state;
    assert_needless(KERNEL(ALLOC(a, 0) STORE(a) BARRIER LOAD(x, a)), MEMBAR_SYNC, "");
    assert_needless(KERNEL(ALLOC(a, 0) STORE(a) BARRIER LOAD(x, a)), MEMBAR_ASYNC, "");
}

static void a_barrier_that_parts_nothing_is_not(void **state) {
    (void)state;
    assert_needless(KERNEL(ALLOC(a, 0) LOAD(x, a) BARRIER LOAD(y, a)), MEMBAR_SYNC, "barrier 0");
    assert_needless(KERNEL(BARRIER), MEMBAR_ASYNC, "barrier 0");
}

/* Of two in a row one can go, not both. */
static void needless_ones_can_go_together(void **state) {
    (void)state;
    assert_needless(KERNEL(ALLOC(a, 0) STORE(a) BARRIER BARRIER LOAD(x, a)), MEMBAR_ASYNC, "barrier 0");
    assert_needless(KERNEL(ALLOC(a, 0) STORE(a) BARRIER BARRIER BARRIER LOAD(x, a)), MEMBAR_ASYNC,
                    "barrier 0, barrier 2");
}

/* Its hazard goes around the loop twice, each time through the same barrier. */
static void a_barrier_is_not_covered_by_itself(void **state) {
    (void)state;
    assert_needless(KERNEL(ALLOC(a, 0) LOOP(BARRIER STORE(a))), MEMBAR_ASYNC, "");
}

static void a_barrier_for_a_copy_in_flight_is_needless_in_async(void **state) {
    (void)state;
    const char *text = KERNEL(ALLOC(a, 0) COPY(t, a) BARRIER LOAD(x, a));
    assert_needless(text, MEMBAR_SYNC, "");
    assert_needless(text, MEMBAR_ASYNC, "barrier 0");
}

static void a_barrier_after_a_wait_stays_in_sync(void **state) {
    (void)state;
    assert_needless(KERNEL(WAIT_COPIES(w, 0) BARRIER), MEMBAR_SYNC, "");
    assert_needless(KERNEL(WAIT_COPIES(w, 0) BARRIER), MEMBAR_ASYNC, "barrier 0");
}

static void barriers_for_global_memory_are_left_alone(void **state) {
    (void)state;
    assert_needless(KERNEL("    ttg.barrier all\n"), MEMBAR_ASYNC, "");
}

static void barriers_for_callers_are_left_alone(void **state) {
    (void)state;
    const char *text = WITH_CALLEE(ALLOC(b, 0) BARRIER STORE(b) BARRIER, CALL(0));
    check(text, "callee", MEMBAR_ASYNC, list_needless, "", __FILE__, __LINE__);
    check(text, "callee", MEMBAR_SYNC, list_needless, "", __FILE__, __LINE__);
}

/* Why a barrier is needless, in one sentence. */
static void needless_ones_say_why(void **state) {
    (void)state;
    static const struct {
        const char *text, *why;
    } cases[] = {
        {KERNEL(ALLOC(a, 0) LOAD(x, a) STORE(a) BARRIER), "no access before it conflicts with one after it, up to the "
                                                          "next barrier"},
        {KERNEL(ALLOC(a, 0) BARRIER LOAD(x, a)), "no access is pending when it is reached"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Reading *reading = read_good(cases[i].text);
        const MembarResult *result = analyze(reading, "kernel", MEMBAR_ASYNC);
        assert_int_equal(result->present_count, 1);
        assert_string_equal(result->present[0].why, cases[i].why);
        done(reading);
    }
}

/* ---- What is said ---------------------------------------------------------------------------------------------- */

static void a_need_says_what_it_parts(void **state) {
    (void)state;
    Reading *reading = read_good(KERNEL(ALLOC(a, 0) ALLOC(b, 512) LOOP(STORE(a) LOAD(x, b))));
    const MembarResult *result = analyze(reading, "kernel", MEMBAR_ASYNC);
    assert_true(result->inserted);
    assert_int_equal(result->need_count, 2);
    const MembarHazard *around = &result->needs[0].hazards[0], *straight = &result->needs[1].hazards[0];
    assert_int_equal(around->kind, MEMBAR_WAR);
    assert_ptr_equal(around->loop, find_op(reading, "scf.for", 0));
    assert_int_equal(straight->kind, MEMBAR_RAW);
    assert_null(straight->loop);
    assert_ptr_equal(straight->first, find_op(reading, "ttg.local_store", 0));
    assert_ptr_equal(straight->second, find_op(reading, "ttg.local_load", 0));
    assert_ptr_equal(straight->first_buffer, find_op(reading, "ttg.local_alloc", 0));
    assert_int_equal(straight->begin, 512);
    assert_int_equal(straight->end, 1024);
    done(reading);
}

static void different_slots_are_proved(void **state) {
    (void)state;
    Reading *reading = read_good(KERNEL(ALLOC_RING(r, 0) SLOT(a, r, c0) SLOT(b, r, c1) STORE(a) LOAD(x, b)));
    const MembarResult *result = analyze(reading, "kernel", MEMBAR_SYNC);
    assert_int_equal(result->proof_count, 1);
    assert_ptr_equal(result->proofs[0].second, find_op(reading, "ttg.local_load", 0));
    assert_true(strlen(result->proofs[0].text) > 0);
    done(reading);
}

/* What is pending at an op: each line is expected. */
static void assert_why(const char *kernel, MembarModel model, const char *op, unsigned index, const char *expected) {
    Reading *reading = read_good(kernel);
    Text text = {0};
    const MembarResult *asked = analyze(reading, "kernel", model);
    membar_why(&reading->module, asked, find_op(reading, op, index), &text);
    text_char(&text, 0);
    assert_string_equal(text.data, expected);
    text_free(&text);
    done(reading);
}

static void why_reports_what_is_pending(void **state) {
    (void)state;
    assert_why(KERNEL(ALLOC(a, 0) ALLOC(b, 1024) STORE(a) COPY(t, b) LOAD(x, a)), MEMBAR_ASYNC, "ttg.local_load", 0,
               "write by ttg.local_store @25 of %a, bytes 0 to 1024: a read after a write: a barrier is needed here\n"
               "write by ttg.async_copy_global_to_local @26 of %b, bytes 1024 to 2048: in flight until its group is "
               "waited for: a barrier does not help\n");
    assert_why(
        KERNEL(TMEM(t, 16) TMEM_STORE(t) TMEM_LOAD(x, t)), MEMBAR_ASYNC, "ttng.tmem_load", 0,
        "write by ttng.tmem_store @24 of %t, columns 16 to 80: a read after a write: a barrier is needed here\n");
}

/* The barrier that Triton puts after a wait, and one of the text. */
static void why_names_the_barrier_between(void **state) {
    (void)state;
    assert_why(KERNEL(ALLOC(a, 0) STORE(a) WAIT_COPIES(w, 0) LOAD(x, a)), MEMBAR_SYNC, "ttg.local_load", 0,
               "write by ttg.local_store @24 of %a, bytes 0 to 1024: separated from here by the barrier after "
               "ttg.async_wait @25\n");
    assert_why(KERNEL(ALLOC(a, 0) STORE(a) BARRIER LOAD(x, a)), MEMBAR_SYNC, "ttg.local_load", 0,
               "write by ttg.local_store @24 of %a, bytes 0 to 1024: separated from here by the barrier at or before "
               "ttg.barrier @25\n");
}

/* A copy is over when its own mbarrier was waited on, and not with another one. */
static void why_follows_copies_to_their_mbarrier(void **state) {
    (void)state;
    assert_why(KERNEL(ALLOC(a, 0) ALLOC_BARRIER(b, 1024) ALLOC_BARRIER(o, 1032) TMA(a, b) WAIT(b) LOAD(x, a)),
               MEMBAR_ASYNC, "ttg.local_load", 0,
               "update by ttng.wait_barrier @27 of %b, bytes 1024 to 1032: no barrier is needed: they touch no byte in "
               "common\n");
    assert_why(KERNEL(ALLOC(a, 0) ALLOC_BARRIER(b, 1024) ALLOC_BARRIER(o, 1032) TMA(a, b) WAIT(o) LOAD(x, a)),
               MEMBAR_ASYNC, "ttg.local_load", 0,
               "write by ttng.async_tma_copy_global_to_local @26 of %a, bytes 0 to 1024: in flight until its mbarrier "
               "is waited on, which every thread does: a barrier does not help\n"
               "write by ttng.async_tma_copy_global_to_local @26 of %b, bytes 1024 to 1032: in flight until its "
               "mbarrier is waited on, which every thread does: a barrier does not help\n"
               "update by ttng.wait_barrier @27 of %o, bytes 1032 to 1040: no barrier is needed: they touch no byte in "
               "common\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_read_after_a_write_needs_one),
        cmocka_unit_test(a_write_after_a_read_needs_one),
        cmocka_unit_test(a_write_after_a_write_needs_one),
        cmocka_unit_test(two_reads_need_none),
        cmocka_unit_test(other_bytes_need_none),
        cmocka_unit_test(allocations_on_the_same_bytes_do),
        cmocka_unit_test(a_barrier_of_the_text_counts),
        cmocka_unit_test(one_barrier_serves_many),
        cmocka_unit_test(an_allocation_without_a_source_is_no_access),
        cmocka_unit_test(constant_slots_are_distinguished),
        cmocka_unit_test(chosen_slots_are_distinguished),
        cmocka_unit_test(a_constant_slot_is_only_its_own_bytes),
        cmocka_unit_test(static_slices_are_distinguished),
        cmocka_unit_test(slices_of_slices_are_not),
        cmocka_unit_test(pieces_of_an_allocation_count),
        cmocka_unit_test(memory_that_a_caller_hands_over_is_looked_at),
        cmocka_unit_test(each_branch_needs_its_own),
        cmocka_unit_test(loops_go_around),
        cmocka_unit_test(blocks_that_branch_are_walked),
        cmocka_unit_test(names_that_loops_carry_are_followed),
        cmocka_unit_test(async_puts_a_barrier_before_a_loop),
        cmocka_unit_test(async_reports_the_first_iteration),
        cmocka_unit_test(async_tells_what_a_loop_leaves),
        cmocka_unit_test(async_meets_no_more_on_any_way),
        cmocka_unit_test(async_keeps_it_inside_where_a_wait_is),
        cmocka_unit_test(async_drops_what_others_part),
        cmocka_unit_test(partitions_are_apart),
        cmocka_unit_test(products_that_signal_gather),
        cmocka_unit_test(taking_a_descriptor_gathers),
        cmocka_unit_test(captures_go_through_memory),
        cmocka_unit_test(atomics_order_on_their_sides),
        cmocka_unit_test(an_arrive_gathers_the_threads),
        cmocka_unit_test(scratch_memory_has_a_barrier_inside),
        cmocka_unit_test(sync_puts_a_barrier_after_a_wait),
        cmocka_unit_test(a_later_barrier_stands_for_it),
        cmocka_unit_test(an_access_or_a_branch_does_not),
        cmocka_unit_test(atomics_that_commute_need_none),
        cmocka_unit_test(tensor_memory_is_looked_at),
        cmocka_unit_test(barriers_for_tensor_memory_say_so),
        cmocka_unit_test(a_kernel_of_several_ctas_ends_with_a_cluster_barrier),
        cmocka_unit_test(other_ctas_write_to_memory_that_is_used_again),
        cmocka_unit_test(a_barrier_that_parts_something_is_needed),
        cmocka_unit_test(a_barrier_that_parts_nothing_is_not),
        cmocka_unit_test(needless_ones_can_go_together),
        cmocka_unit_test(needless_ones_say_why),
        cmocka_unit_test(a_barrier_is_not_covered_by_itself),
        cmocka_unit_test(a_barrier_for_a_copy_in_flight_is_needless_in_async),
        cmocka_unit_test(a_barrier_after_a_wait_stays_in_sync),
        cmocka_unit_test(barriers_for_global_memory_are_left_alone),
        cmocka_unit_test(barriers_for_callers_are_left_alone),
        cmocka_unit_test(a_need_says_what_it_parts),
        cmocka_unit_test(different_slots_are_proved),
        cmocka_unit_test(why_reports_what_is_pending),
        cmocka_unit_test(why_names_the_barrier_between),
        cmocka_unit_test(why_follows_copies_to_their_mbarrier),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
