/* Where buffers lie, for how long they live. Offsets without another explanation are those of Triton's allocator. */
#include "reading.h"
#include "share.h"

#include "model/memory/allocator.h"
#include "model/memory/placement.h"

#define ALIASES                                                                                                       \
    "#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>\n"                            \
    "#nvmma = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>\n"              \
    "#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>\n" \
    "#columns = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 4], order = [0, "    \
    "1]}>\n"                                                                                                          \
    "#smem = #ttg.shared_memory\n"                                                                                    \
    "!k = !ttg.memdesc<512xi16, #shared, #smem, mutable>\n"                                                           \
    "!h = !ttg.memdesc<256xi16, #shared, #smem, mutable>\n"                                                           \
    "!m = !ttg.memdesc<1xi64, #shared, #smem, mutable>\n"

#define ALLOC(name, type) "  " name " = ttg.local_alloc : () -> " type "\n"
#define USE(name, type)   "  \"test.use\"(" name ") : (" type ") -> ()\n"

static Reading *read_marked(const char *arguments, const char *mark, const char *body) {
    Text text = {0};
    text_addf(&text, ALIASES "tt.func @f(%s) %s {\n%s  tt.return\n}\n%c", arguments, mark, body, 0);
    Reading *reading = read_text(text.data);
    assert_true(reading->ok);
    text_free(&text);
    return reading;
}

static Reading *read_function(const char *arguments, const char *body) {
    return read_marked(arguments, "", body);
}

/* What an op has there, the first of its pieces; NULL if nothing. */
static const Placed *placed_find(const Placements *placements, const Op *op, PlacedKind kind) {
    for (uint32_t i = 0; i < placements->count; i++)
        if (placements->items[i].op == op && placements->items[i].kind == kind)
            return &placements->items[i];
    return NULL;
}

static Placements placed_in(Reading *reading) {
    return placements_of(&reading->module, first_op(reading));
}

/* The beginnings, one after the other, then the size. */
static void assert_placed_at(const char *arguments, const char *mark, const char *body, const int64_t *expected,
                             uint32_t count) {
    Reading *reading = read_marked(arguments, mark, body);
    Placements placements = placed_in(reading);
    assert_null(placements.problem);
    assert_int_equal(placements.count, count - 1);
    for (uint32_t i = 0; i + 1 < count; i++)
        assert_int_equal(placements.items[i].begin, expected[i]);
    assert_int_equal(placements.size, expected[count - 1]);
    done(reading);
}

#define assert_placed_by(mark, arguments, body, ...) \
    assert_placed_at(arguments, mark, body, (int64_t[]){__VA_ARGS__}, sizeof(int64_t[]){__VA_ARGS__} / sizeof(int64_t))
#define assert_placed(arguments, body, ...) assert_placed_by("", arguments, body, __VA_ARGS__)
#define FORK                                "attributes {tlx.has_tlx_ops = true}"

/* ---- Lives ------------------------------------------------------------------------------------- */

static void what_lives_together_lies_apart(void **state) {
    (void)state;
    assert_placed("", ALLOC("%a", "!k") ALLOC("%b", "!k") USE("%a", "!k") USE("%b", "!k"), 0, 1024, 2048);
    assert_placed("", ALLOC("%a", "!k") USE("%a", "!k") ALLOC("%b", "!k") USE("%b", "!k"), 0, 0, 1024);
    /* the largest first, then at the lowest place */
    assert_placed("", ALLOC("%a", "!h") ALLOC("%b", "!k") USE("%a", "!h") USE("%b", "!k"), 1024, 0, 1536);
}

static void freeing_is_a_use(void **state) {
    (void)state;
    assert_placed("", ALLOC("%a", "!k") ALLOC("%b", "!k") USE("%b", "!k") "  ttg.local_dealloc %a : !k\n", 0, 1024,
                  2048);
}

static void alignment_is_kept(void **state) {
    (void)state;
    assert_placed("",
                  ALLOC("%a", "!ttg.memdesc<8x64xf16, #nvmma, #smem, mutable>")
                      ALLOC("%b", "!ttg.memdesc<1xi64, #shared, #smem, mutable>")
                          ALLOC("%c", "!ttg.memdesc<1xi64, #shared, #smem, mutable>")
                              USE("%a", "!ttg.memdesc<8x64xf16, #nvmma, #smem, mutable>")
                                  USE("%b", "!ttg.memdesc<1xi64, #shared, #smem, mutable>")
                                      USE("%c", "!ttg.memdesc<1xi64, #shared, #smem, mutable>"),
                  0, 1024, 1040, 1048);
    assert_placed("",
                  "  %a = ttg.local_alloc {alignment = 4096 : i32} : () -> !h\n" ALLOC("%b", "!k") USE("%a", "!h")
                      USE("%b", "!k"),
                  4096, 0, 4608);
}

/* A view, what a loop carries and what an if hands over are the memory that they come from. */
static void memory_lives_as_long_as_any_of_its_names(void **state) {
    (void)state;
    assert_placed("",
                  ALLOC("%a", "!k") "  %v = ttg.memdesc_reinterpret %a : !k -> !h\n" ALLOC("%b", "!k") USE("%b", "!k")
                      USE("%v", "!h"),
                  0, 1024, 2048);
    assert_placed("%n: index, %c: i1",
                  ALLOC("%a", "!k")
                      ALLOC("%b", "!k") "  %r = scf.for %i = %n to %n step %n iter_args(%x = %a) -> (!k) {\n"
                                        "    scf.yield %b : !k\n  }\n" ALLOC("%d", "!k") USE("%d", "!k")
                                            USE("%r", "!k"),
                  0, 1024, 2048, 3072);
    assert_placed("%n: index, %c: i1",
                  ALLOC("%a", "!k") ALLOC("%b", "!k") "  %r = scf.if %c -> (!k) {\n    scf.yield %a : !k\n  } else {\n "
                                                      "   scf.yield %b : !k\n  }\n" ALLOC("%d", "!k") USE("%d", "!k")
                                                          USE("%r", "!k"),
                  0, 1024, 2048, 3072);
    assert_placed("%c: i1",
                  ALLOC("%a", "!k") ALLOC("%b", "!k") "  %r = arith.select %c, %a, %b : !k\n" ALLOC("%d", "!k")
                      USE("%d", "!k") USE("%r", "!k"),
                  0, 1024, 2048, 3072);
}

/* What is used in a loop lives until the loop ends, since the next turn uses it again. */
static void a_loop_keeps_what_it_uses(void **state) {
    (void)state;
    assert_placed("%n: index",
                  ALLOC("%a", "!k") "  scf.for %i = %n to %n step %n {\n  " USE("%a", "!k") "  " ALLOC(
                      "%b", "!k") "  " USE("%b", "!k") "  }\n",
                  0, 1024, 2048);
    assert_placed(
        "%c: i1",
        ALLOC("%a", "!k") "  cf.br ^head\n^head:\n" USE("%a", "!k") "  cf.br ^body\n^body:\n" ALLOC("%b", "!k")
            USE("%b", "!k") "  cf.cond_br %c, ^head, ^out\n^out:\n" ALLOC("%d", "!k") USE("%d", "!k"),
        0, 1024, 0, 2048);
}

static void branches_hand_memory_over(void **state) {
    (void)state;
    assert_placed("%c: i1",
                  ALLOC("%a", "!k")
                      ALLOC("%b", "!k") "  cf.cond_br %c, ^x(%a : !k), ^x(%b : !k)\n^x(%v: !k):\n" ALLOC("%d", "!k")
                          USE("%d", "!k") USE("%v", "!k"),
                  0, 1024, 2048, 3072);
}

/* ---- Scratch memory and partitions ------------------------------------------------------------- */

static void scratch_lives_for_one_op(void **state) {
    (void)state;
    const char *arguments = "%x: tensor<64x64xf32, #rows>";
    Reading *reading = read_function(
        arguments,
        ALLOC("%a",
              "!k") "  %0 = ttg.convert_layout %x : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #columns>\n" USE("%a",
                                                                                                                   "!k")
            ALLOC("%b", "!k") USE("%b", "!k"));
    Placements placements = placed_in(reading);
    const Placed *scratch = placed_find(&placements, find_op(reading, "ttg.convert_layout", 0), PLACED_SCRATCH);
    assert_non_null(scratch);
    int64_t size = scratch->end - scratch->begin;
    assert_int_equal(size, scratch->scratch.bytes);
    assert_true(size > 1024);
    assert_int_equal(scratch->begin, 0); /* the largest */
    assert_int_equal(placements.items[0].begin, size);
    assert_int_equal(placements.items[2].begin, 0);
    assert_int_equal(placements.size, size + 1024);
    assert_null(placed_find(&placements, find_op(reading, "ttg.convert_layout", 0), PLACED_ALLOCATION));
    assert_null(placed_find(&placements, find_op(reading, "tt.return", 0), PLACED_SCRATCH));
    done(reading);
}

#define PARTITION(number, body) "  partition" number "() num_warps(4) {\n" body "    ttg.warp_return\n  }"

/* Partitions run at the same time, whatever the order of the text; one after the other in a partition is another
 * thing. The function has a byte for each warp of them. */
static void partitions_do_not_share(void **state) {
    (void)state;
    assert_placed("",
                  "  ttg.warp_specialize()\n  default {\n" ALLOC("%a", "!k") USE("%a", "!k") ALLOC("%b", "!k")
                      USE("%b", "!k") "    ttg.warp_yield\n  }\n" PARTITION(
                          "0", ALLOC("%d", "!k") USE(
                                   "%d", "!k")) "\n" PARTITION("1", ALLOC("%e", "!k") USE("%e", "!k")) " : () -> ()\n",
                  3072, 0, 0, 1024, 2048, 3080);
}

/* What holds the captures is read when the partitions begin, before anything of theirs is alive. */
static void captures_live_through_the_partitions(void **state) {
    (void)state;
    assert_placed("",
                  ALLOC("%a", "!k") "  ttg.warp_specialize(%a)\n  default {\n    ttg.warp_yield\n  }\n"
                                    "  partition0(%x: !k) num_warps(4) {\n" ALLOC("%d", "!k") USE("%d", "!k")
                                        USE("%x", "!k") "    ttg.warp_return\n  } : (!k) -> ()\n",
                  2048, 0, 1024, 1024, 2052);
}

/* ---- Given offsets ----------------------------------------------------------------------------- */

#define THIN "#ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>"

/* Another CTA may write there whenever it comes to it. */
static void fork_keeps_what_other_ctas_write(void **state) {
    (void)state;
    const char *arguments = "%t: tensor<512xi16, " THIN ">, %r: i32";
    const char *body = ALLOC("%a", "!k") "  ttg.remote_shmem_store %t, rank %r, %a : tensor<512xi16, " THIN
                                         "> -> !k\n" ALLOC("%b", "!k") USE("%b", "!k");
    assert_placed(arguments, body, 0, 0, 1024);
    assert_placed_by(FORK, arguments, body, 0, 1024, 2048);
    /* so does what is sent from there, through an op with regions, too */
    const char *sent = ALLOC("%a", "!k") "  %x = ttg.local_load %a : !k -> tensor<512xi16, " THIN ">\n"
                                         "  scf.if %c {\n    %y = arith.addi %x, %x : tensor<512xi16, " THIN
                                         ">\n    ttg.remote_shmem_store %y, rank %r, %far : tensor<512xi16, " THIN
                                         "> -> !k\n  }\n" ALLOC("%b", "!k") USE("%b", "!k");
    assert_placed("%far: !k, %r: i32, %c: i1", sent, 0, 0, 1024);
    assert_placed_by(FORK, "%far: !k, %r: i32, %c: i1", sent, 0, 1024, 2048);
    /* nothing leads from what is not read */
    const char *beside =
        ALLOC("%a", "!k") USE("%a", "!k") "  ttg.remote_shmem_store %t, rank %r, %far : "
                                          "tensor<512xi16, " THIN "> -> !k\n" ALLOC("%b", "!k") USE("%b", "!k");
    assert_placed_by(FORK, "%far: !k, %t: tensor<512xi16, " THIN ">, %r: i32", beside, 0, 0, 1024);
}

static void fork_keeps_mbarriers(void **state) {
    (void)state;
    const char *body = ALLOC("%a", "!m") "  ttng.init_barrier %a, 1 : !m\n" USE("%a", "!m")
        ALLOC("%b", "!m") "  ttng.init_barrier %b, 1 : !m\n" USE("%b", "!m");
    assert_placed("", body, 0, 0, 8);
    assert_placed_by(FORK, "", body, 0, 16, 24);
}

/* The copy reads it until the wait for its token, which does not name it. */
static void fork_keeps_what_a_store_reads(void **state) {
    (void)state;
    const char *arguments = "%d: !tt.tensordesc<tensor<512xi16, #shared>>, %i: i32";
    const char *body =
        ALLOC("%a", "!k") "  %t = ttng.async_tma_copy_local_to_global %d[%i] %a : "
                          "!tt.tensordesc<tensor<512xi16, #shared>>, !k -> !ttg.async.token\n" ALLOC("%b", "!k") USE(
                              "%b", "!k") "  ttng.async_tma_store_token_wait %t : !ttg.async.token\n" ALLOC("%c", "!k")
                              USE("%c", "!k");
    assert_placed(arguments, body, 0, 0, 0, 1024);
    assert_placed_by(FORK, arguments, body, 0, 1024, 0, 2048);
}

/* Partitions read what they capture when the kernel starts them: it is there from the begin. */
static void fork_keeps_what_partitions_find(void **state) {
    (void)state;
    const char *body = ALLOC("%a", "!k") USE("%a", "!k") ALLOC("%b", "!h") "  ttg.warp_specialize(%b)\n"
                                                                           "  default {\n    ttg.warp_yield\n  }\n"
                                                                           "  partition0(%p: !h) num_warps(4) {\n"
                                                                           "    ttg.warp_return\n"
                                                                           "  } : (!h) -> ()\n";
    Reading *plain = read_function("", body), *fork = read_marked("", FORK, body);
    assert_int_equal(placed_in(plain).items[2].begin, 0);
    assert_int_equal(placed_in(fork).items[2].begin, 1024);
    done(plain);
    done(fork);
}

static void offsets_that_are_written_are_taken(void **state) {
    (void)state;
    Reading *reading = read_function(
        "%x: tensor<64x64xf32, #rows>",
        "  %a = ttg.local_alloc {allocation.offset = 4096 : i32} : () -> !k\n"
        "  %0 = ttg.convert_layout %x {allocation.offset = 256 : i32, allocation.size = 64 : i32} : "
        "tensor<64x64xf32, #rows> -> tensor<64x64xf32, #columns>\n"
        "  %1 = ttg.convert_layout %x : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #columns>\n" USE("%a", "!k"));
    Placements placements = placed_in(reading);
    assert_true(placements.given);
    assert_int_equal(placements.count,
                     2); /* the one that placed the first conversion found that the second needs nothing */
    assert_int_equal(placements.items[0].begin, 4096);
    assert_int_equal(placements.items[1].begin, 256);
    assert_int_equal(placements.items[1].end, 320);
    assert_int_equal(placements.size, 5120);
    done(reading);
}

static void what_is_not_written_goes_above(void **state) {
    (void)state;
    Reading *reading = read_function("", "  %a = ttg.local_alloc {allocation.offset = 64 : i32} : () -> !h\n" ALLOC(
                                             "%b", "!k") USE("%a", "!h") USE("%b", "!k"));
    Placements placements = placed_in(reading);
    assert_true(placements.given);
    assert_int_equal(placements.items[0].begin, 64);
    assert_int_equal(placements.items[1].begin, 576);
    done(reading);
}

static void pieces_lie_where_each_is_put(void **state) {
    (void)state;
    const char *type =
        "!ttg.memdesc<64x32xf16, #ttg.partitioned_shared<{numPartitions = 2, numGroups = 2, partitionDim = "
        "0, partitionLayout = #shared}>, #smem, mutable>";
    Text body = {0};
    text_addf(&body, "  %%a = ttg.local_alloc {allocation.offset = [0 : i32, 65536 : i32]} : () -> %s\n%c", type, 0);
    Reading *reading = read_function("", body.data);
    Placements placements = placed_in(reading);
    assert_int_equal(placements.count, 2);
    assert_int_equal(placements.items[1].begin, 65536);
    assert_int_equal(placements.items[1].end, 65536 + 2048);
    assert_ptr_equal(placed_find(&placements, find_op(reading, "ttg.local_alloc", 0), PLACED_ALLOCATION),
                     &placements.items[0]);
    done(reading);
    text_free(&body);
}

/* ---- Calls ------------------------------------------------------------------------------------- */

static void a_callee_s_frame_is_part_of_the_caller_s(void **state) {
    (void)state;
    Reading *reading = read_text(
        ALIASES "tt.func @f() {\n" ALLOC("%a", "!h") "  tt.call @g() : () -> ()\n" USE(
            "%a", "!h") "  tt.return\n}\ntt.func @g() {\n" ALLOC("%a", "!k")
            USE("%a", "!k") "  tt.call @leaf() : () -> ()\n  tt.return\n}\ntt.func @leaf() {\n  tt.return\n}\n");
    assert_true(reading->ok);
    Placements placements = placed_in(reading);
    assert_null(placements.problem);
    const Placed *call = placed_find(&placements, find_op(reading, "tt.call", 0), PLACED_CALL);
    assert_non_null(call);
    assert_int_equal(call->begin, 0);
    assert_int_equal(call->end, 1024);
    assert_int_equal(placements.items[0].begin, 1024);
    assert_int_equal(placements.size, 1536);
    done(reading);
}

static void what_cannot_be_placed_is_everywhere(void **state) {
    (void)state;
    static const char *const texts[] = {
        "tt.func @f() {\n  tt.call @f() : () -> ()\n  tt.return\n}\n",
        "tt.func @f() {\n  tt.call @g() : () -> ()\n  tt.return\n}\ntt.func @g() {\n  tt.call @f() : () -> ()\n"
        "  tt.return\n}\n",
        "tt.func @f() {\n  tt.call @gone() : () -> ()\n  tt.return\n}\n",
        "tt.func @f(%x: tensor<64x64xf16, #unheard.of<1>>) {\n  %0 = ttg.convert_layout %x : tensor<64x64xf16, "
        "#unheard.of<1>> -> tensor<64x64xf16, #unheard.of<2>>\n  tt.return\n}\n",
        "tt.func @f() {\n  %a = ttg.local_alloc : () -> !ttg.memdesc<1099511627776x1099511627776xi8, "
        "#ttg.unheard_of<{}>, #ttg.shared_memory>\n  tt.return\n}\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        Reading *reading = read_text(texts[i]);
        Placements placements = placed_in(reading);
        assert_non_null(placements.problem);
        assert_int_equal(placements.count, 1);
        assert_int_equal(placements.items[0].begin, 0);
        assert_true(placements.items[0].end == PLACED_ANYWHERE);
        done(reading);
    }
}

/* ---- The allocator ----------------------------------------------------------------------------- */

static void assert_apart(const Buffer *buffers, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < i; k++) {
            const Buffer *a = &buffers[i], *b = &buffers[k];
            bool together = (a->life.begin < b->life.end && b->life.begin < a->life.end) ||
                            (a->specialize && a->specialize == b->specialize && a->partition != b->partition);
            if (together)
                assert_true(a->offset + a->size <= b->offset || b->offset + b->size <= a->offset);
            assert_int_equal(a->offset % a->alignment, 0);
        }
}

/* Both rules, on many buffers of all sorts. */
static void no_two_that_live_together_overlap(void **state) {
    (void)state;
    enum { COUNT = 600 };
    uint32_t random = 1;
    for (int round = 0; round < 8; round += 8 / (int)share_of(8)) {
        Arena arena;
        Buffer buffers[COUNT] = {0}, quick[COUNT];
        arena_init(&arena, 1 << 26);
        for (uint32_t i = 0; i < COUNT; i++) {
            random = random * 1664525 + 1013904223;
            Buffer *buffer = &buffers[i];
            buffer->size = 1 + (random >> 8) % 300;
            buffer->alignment = INT64_C(1) << (random >> 20) % 8;
            buffer->life.begin = (random >> 4) % 5000;
            buffer->life.end = buffer->life.begin + 1 + (random >> 12) % (round < 4 ? 40 : 4000);
            if (random >> 28 < 4) {
                buffer->specialize = &arena;
                buffer->partition = &buffers[random >> 30];
                buffer->specialized = (Lifetime){0, 9001};
            }
            quick[i] = *buffer;
        }
        allocator_place(&arena, buffers, COUNT, COUNT);
        assert_apart(buffers, COUNT);
        allocator_place(&arena, quick, COUNT, 0);
        assert_apart(quick, COUNT);
        arena_free(&arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_lives_together_lies_apart),
        cmocka_unit_test(freeing_is_a_use),
        cmocka_unit_test(alignment_is_kept),
        cmocka_unit_test(memory_lives_as_long_as_any_of_its_names),
        cmocka_unit_test(a_loop_keeps_what_it_uses),
        cmocka_unit_test(branches_hand_memory_over),
        cmocka_unit_test(scratch_lives_for_one_op),
        cmocka_unit_test(partitions_do_not_share),
        cmocka_unit_test(captures_live_through_the_partitions),
        cmocka_unit_test(fork_keeps_what_other_ctas_write),
        cmocka_unit_test(fork_keeps_mbarriers),
        cmocka_unit_test(fork_keeps_what_a_store_reads),
        cmocka_unit_test(fork_keeps_what_partitions_find),
        cmocka_unit_test(offsets_that_are_written_are_taken),
        cmocka_unit_test(what_is_not_written_goes_above),
        cmocka_unit_test(pieces_lie_where_each_is_put),
        cmocka_unit_test(a_callee_s_frame_is_part_of_the_caller_s),
        cmocka_unit_test(what_cannot_be_placed_is_everywhere),
        cmocka_unit_test(no_two_that_live_together_overlap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
