/* check/prove/sync: which kernels are clean for all trip counts, held against runs with the first of them. */
#include "running.h"

#include "base/deadline.h"
#include "check/prove/prove.h"
#include "check/tile/run/races.h"
#include "machine/tile/schedule/happens_before.h"
#include "share.h"

#include <stdio.h>

static uint64_t seed = 42;

static int64_t roll(int64_t from, int64_t to) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return from + (int64_t)((seed >> 33) % (uint64_t)(to - from + 1));
}

/* ---- Kernels ---------------------------------------------------------------------------------------- */

/* A ring of buffers between a producer, partition 0, and a consumer. */
typedef struct Ring {
    const char *name;
    int depth;              /* of the ring; the slots are counted by `slots` */
    int slots;              /* 0: depth */
    const char *first;      /* parity with which the producer waits first; NULL: "%c1" */
    const char *bounds;     /* text that makes %more of %n */
    const char *consumes;   /* how many trips the consumer makes; NULL: "%n" */
    const char *produces;   /* the same, of the producer; NULL: "%n_p" */
    const char *wait_empty; /* NULL: there is one */
    const char *wait_full, *release;
    bool clean; /* at all trip counts; what is in flight at the end is a note */
} Ring;

static char *ring_text(const Ring *ring) {
    static char text[16384];
    int slots = ring->slots ? ring->slots : ring->depth;
    int size = snprintf(
        text, sizeof text,
        "#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>\n"
        "#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>\n"
        "#smem = #ttg.shared_memory\n"
        "#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, "
        "0]}>\n"
        "!bar = !ttg.memdesc<1xi64, #flat, #smem, mutable>\n"
        "!bars = !ttg.memdesc<%dx1xi64, #flat, #smem, mutable>\n"
        "!tile = !ttg.memdesc<64x64xf16, #shared, #smem, mutable>\n"
        "!tiles = !ttg.memdesc<%dx64x64xf16, #shared, #smem, mutable>\n"
        "!desc = !tt.tensordesc<tensor<64x64xf16, #shared>>\n"
        "module attributes {\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = 4 : i32, ttg.target = \"cuda:100\", "
        "\"ttg.threads-per-warp\" = 32 : i32} {\n"
        "  tt.func public @kernel(%%desc: !desc, %%n: i32, %%m: i32) {\n"
        "%s"
        "    %%slots = arith.constant %d : i32\n"
        "%s"
        "    %%ring = ttg.local_alloc : () -> !tiles\n"
        "    %%full = ttg.local_alloc : () -> !bars\n"
        "    %%empty = ttg.local_alloc : () -> !bars\n"
        "    scf.for %%k = %%c0 to %%slots step %%c1 : i32 {\n"
        "      %%f = ttg.memdesc_index %%full[%%k] : !bars -> !bar\n"
        "      ttng.init_barrier %%f, 1 : !bar\n"
        "      %%e = ttg.memdesc_index %%empty[%%k] : !bars -> !bar\n"
        "      ttng.init_barrier %%e, 1 : !bar\n"
        "    }\n"
        "    ttg.warp_specialize(%%desc, %%ring, %%full, %%empty, %s)\n"
        "    default {\n"
        "      scf.for %%i = %%c0 to %s step %%c1 : i32 {\n"
        "        %%slot = arith.remsi %%i, %%slots : i32\n"
        "        %%turn = arith.divsi %%i, %%slots : i32\n"
        "        %%phase = arith.andi %%turn, %%c1 : i32\n"
        "        %%f = ttg.memdesc_index %%full[%%slot] : !bars -> !bar\n"
        "        %%e = ttg.memdesc_index %%empty[%%slot] : !bars -> !bar\n"
        "%s"
        "        %%t = ttg.memdesc_index %%ring[%%slot] : !tiles -> !tile\n"
        "        %%v = ttg.local_load %%t : !tile -> tensor<64x64xf16, #blocked>\n"
        "        ttng.fence_async_shared {bCluster = false}\n"
        "%s"
        "      }\n"
        "      ttg.warp_yield\n"
        "    }\n"
        "    partition0(%%desc_p: !desc, %%ring_p: !tiles, %%full_p: !bars, %%empty_p: !bars, %%n_p: i32) num_warps(4) "
        "{\n%s"
        "      %%slots_p = arith.constant %d : i32\n"
        "      scf.for %%i = %%c0 to %s step %%c1 : i32 {\n"
        "        %%slot = arith.remsi %%i, %%slots_p : i32\n"
        "        %%turn = arith.divsi %%i, %%slots_p : i32\n"
        "        %%odd = arith.andi %%turn, %%c1 : i32\n"
        "        %%phase = arith.xori %%odd, %s : i32\n"
        "        %%f = ttg.memdesc_index %%full_p[%%slot] : !bars -> !bar\n"
        "        %%e = ttg.memdesc_index %%empty_p[%%slot] : !bars -> !bar\n"
        "%s"
        "        ttng.barrier_expect %%f, 8192, %%true : !bar\n"
        "        %%t = ttg.memdesc_index %%ring_p[%%slot] : !tiles -> !tile\n"
        "        ttng.async_tma_copy_global_to_local %%desc_p[%%c0, %%i] %%t, %%f, %%true : !desc, !bar -> !tile\n"
        "      }\n"
        "      ttg.warp_return\n"
        "    } : (!desc, !tiles, !bars, !bars, i32) -> ()\n"
        "    tt.return\n"
        "  }\n"
        "}\n",
        ring->depth, ring->depth, CONSTANTS, slots, ring->bounds ? ring->bounds : "", ring->produces ? "%more" : "%n",
        ring->consumes ? ring->consumes : "%n",
        ring->wait_full ? ring->wait_full : "        ttng.wait_barrier %f, %phase : !bar\n",
        ring->release ? ring->release : "        ttng.arrive_barrier %e, 1 : !bar\n", CONSTANTS, slots, "%n_p",
        ring->first ? ring->first : "%c1",
        ring->wait_empty ? ring->wait_empty : "        ttng.wait_barrier %e, %phase : !bar\n");
    assert_true(size > 0 && (size_t)size < sizeof text);
    return text;
}

#define ONE_MORE  "    %more = arith.addi %n, %c1 : i32\n"
#define OF_A_BYTE "    %byte = arith.trunci %n : i32 to i8\n    %more = arith.extsi %byte : i8 to i32\n"
#define OF_OTHERS "    %more = arith.addi %m, %c0 : i32\n"

static const Ring rings[] = {
    {.name = "depth 1", .depth = 1, .clean = true},
    {.name = "depth 2", .depth = 2, .clean = true},
    {.name = "depth 3", .depth = 3, .clean = true},
    {.name = "depth 5", .depth = 5, .clean = true},
    {.name = "wrong first parity", .depth = 3, .first = "%c0"},
    {.name = "the consumer makes one trip more", .depth = 3, .bounds = ONE_MORE, .consumes = "%more"},
    {.name = "the producer makes one trip more", .depth = 2, .bounds = ONE_MORE, .produces = "%more", .clean = true},
    {.name = "the producer waits for nothing", .depth = 3, .wait_empty = ""},
    {.name = "the consumer waits for nothing", .depth = 3, .wait_full = ""},
    {.name = "the consumer never releases", .depth = 3, .release = ""},
    {.name = "one slot is left out", .depth = 4, .slots = 3, .clean = true},
    {.name = "the consumer releases before it reads",
     .depth = 2,
     .wait_full = "        ttng.wait_barrier %f, %phase : !bar\n        ttng.arrive_barrier %e, 1 : !bar\n",
     .release = ""},
    {.name = "the consumer waits for the other phase",
     .depth = 2,
     .wait_full = "        %wrong = arith.xori %phase, %c1 : i32\n        ttng.wait_barrier %f, %wrong : !bar\n"},
    {.name = "the producer makes as many trips as 8 bits count", .depth = 2, .bounds = OF_A_BYTE, .produces = "%more"},
    {.name = "two trip counts", .depth = 2, .bounds = OF_OTHERS, .consumes = "%more"},
};

/* ---- Proofs ----------------------------------------------------------------------------------------- */

typedef struct Proving {
    Reading *reading;
    const Op *function;
    Proof *proof;
} Proving;

static Proving prove_text(const char *text) {
    Reading *reading = read_text(text);
    assert_true(reading->ok);
    Module *module = &reading->module;
    jmp_buf exhausted;
    module->arena.exhausted = &exhausted;
    assert_int_equal(setjmp(exhausted), 0);
    Proving proving = {.reading = reading, .function = find_op(reading, "tt.func", 0)};
    Prover prover = {.module = module,
                     .function = proving.function,
                     .arena = &module->arena,
                     .proof = ARENA_NEW(&module->arena, Proof),
                     .end = deadline_now() + UINT64_C(20000000000)};
    quantities_init(&prover.proof->quantities, prover.arena);
    prove_sync(&prover);
    proving.proof = prover.proof;
    module->arena.exhausted = NULL;
    return proving;
}

static void end_proof(Proving proving) {
    done(proving.reading);
}

/* ---- Runs ------------------------------------------------------------------------------------------- */

static void observe_races(void *observer, const Event *event) {
    races_observe(observer, event);
}

/* Whether a run with these trip counts goes right. */
static bool goes_right_with(const char *text, int64_t n, int64_t m) {
    char argument[32];
    const char *problem = NULL;
    uint32_t count;
    bool right = true;
    Running *running = compile_whole(text);
    snprintf(argument, sizeof argument, "n=%lld", (long long)n);
    give(running, argument);
    snprintf(argument, sizeof argument, "m=%lld", (long long)m);
    give(running, argument);
    Races *races = races_create(&running->reading->module.arena, running->machine, false, &problem);
    assert_non_null(races);
    races_start(races, 0, 0, false);
    running->machine->observe = observe_races;
    running->machine->observer = races;
    right &= run_eagerly(running) == RUN_COMPLETE;
    const Race *found = races_found(races, &count);
    for (uint32_t i = 0; i < count; i++)
        right &= found[i].kind == RACE_EXIT;
    running->machine->observe = NULL;
    for (uint64_t seed = 0; seed < 3 && right; seed++)
        right &= run_schedule(running, (Schedule){.kind = SCHEDULE_RANDOM, .seed = seed}) == RUN_COMPLETE;
    end_kernel(running);
    return right;
}

static bool goes_right(const char *text, int64_t trips) {
    return goes_right_with(text, trips, trips / 2);
}

static void what_is_proved_goes_right_with_every_trip_count(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rings / sizeof *rings; i++) {
        const char *text = ring_text(&rings[i]);
        Proving proving = prove_text(text);
        bool proved = !proving.proof->open_count, right = true;
        for (int64_t trips = 0; trips <= (int64_t)share_of(40); trips++)
            right &= goes_right(text, trips);
        if (proved != rings[i].clean || (proved && !right) || (proved && proving.proof->where_count))
            print_error("%s: %s, runs go %s, %s\n", rings[i].name, proved ? "proved" : "open",
                        right ? "right" : "wrong", proved ? "" : proving.proof->open[0].text);
        assert_int_equal(proved, rings[i].clean);
        assert_true(!proved || right);
        assert_int_equal(proved ? proving.proof->where_count : 0, 0);
        end_proof(proving);
    }
}

/* ---- One agent -------------------------------------------------------------------------------------- */

static bool is_proved(const char *text) {
    Proving proving = prove_text(text);
    bool proved = !proving.proof->open_count;
    end_proof(proving);
    return proved;
}

#define LOOP(body) "    scf.for %i = %c0 to %n step %c1 : i32 {\n" body "    }\n"
#define TURN       "      %odd = arith.andi %i, %c1 : i32\n" ARRIVE(bar) "      ttng.wait_barrier %bar, %odd : !barrier\n"

static void one_agent_counts_phases(void **state) {
    (void)state;
    assert_true(is_proved(ON_BARRIER("%n: i32", INIT(bar, 1) LOOP(TURN))));
    assert_false(is_proved(ON_BARRIER("%n: i32", INIT(bar, 2) LOOP(TURN))));
    /* the wrong parity from the hundredth trip on */
    assert_false(is_proved(ON_BARRIER("%n: i32", INIT(bar, 1) "    %late = arith.constant 100 : i32\n" LOOP(
                                                     "      %is = arith.cmpi sge, %i, %late : i32\n"
                                                     "      %more = arith.extui %is : i1 to i32\n"
                                                     "      %odd = arith.andi %i, %c1 : i32\n"
                                                     "      %wrong = arith.xori %odd, %more : i32\n" ARRIVE(
                                                         bar) "      ttng.wait_barrier %bar, %wrong : !barrier\n"))));
    /* in the last trip alone, and in the one before the last */
    assert_false(is_proved(ON_BARRIER(
        "%n: i32", INIT(bar, 1) "    %last = arith.subi %n, %c1 : i32\n" LOOP(
                       "      %is = arith.cmpi ne, %i, %last : i32\n"
                       "      %odd = arith.andi %i, %c1 : i32\n"
                       "      scf.if %is {\n" ARRIVE(bar) "      }\n"
                                                          "      ttng.wait_barrier %bar, %odd : !barrier\n"))));
}

/* Arrives as long as %ok. */
#define ARRIVE_IF_OK "      scf.if %ok {\n" ARRIVE(bar) "      }\n      ttng.wait_barrier %bar, %odd : !barrier\n"

static void numbers_that_turn_around_late_are_open(void **state) {
    (void)state;
    /* c grows by less and less: it is negative from trip 2002 on */
    assert_false(is_proved(ON_BARRIER(
        "%n: i32", INIT(bar, 1) "    %many = arith.constant 1000 : i32\n"
                                "    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%c = %c0, %d = %many) -> (i32, "
                                "i32) : i32 {\n"
                                "      %odd = arith.andi %i, %c1 : i32\n"
                                "      %ok = arith.cmpi sge, %c, %c0 : i32\n" ARRIVE_IF_OK
                                "      %c_next = arith.addi %c, %d : i32\n"
                                "      %d_next = arith.subi %d, %c1 : i32\n"
                                "      scf.yield %c_next, %d_next : i32, i32\n    }\n")));
    /* 8 bits wrap around in trip 128 */
    assert_false(is_proved(ON_BARRIER("%n: i32", INIT(bar, 1) "    %zero = arith.constant 0 : i8\n" LOOP(
                                                     "      %odd = arith.andi %i, %c1 : i32\n"
                                                     "      %byte = arith.trunci %i : i32 to i8\n"
                                                     "      %ok = arith.cmpi sge, %byte, %zero : i8\n" ARRIVE_IF_OK))));
}

/* Whether there is a trip at all decides which of two barriers is used, before the loop that says that it is one. */
static void slots_hang_on_trip_counts_of_later_loops(void **state) {
    (void)state;
    static const char *const parities[] = {"%c1", "%c0"}; /* of the loop's first wait: right, wrong */
    for (unsigned i = 0; i < 2; i++) {
        char text[4096];
        snprintf(
            text, sizeof text, "%s%s%s",
            "#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>\n"
            "#smem = #ttg.shared_memory\n!barrier = !ttg.memdesc<1xi64, #shared, #smem, mutable>\n"
            "!barriers = !ttg.memdesc<2x1xi64, #shared, #smem, mutable>\n"
            "module attributes {\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = 4 : i32, ttg.target = "
            "\"cuda:100\", \"ttg.threads-per-warp\" = 32 : i32} {\n  tt.func public @kernel(%n: i32) {\n" CONSTANTS
            "    %bars = ttg.local_alloc : () -> !barriers\n"
            "    %one = ttg.memdesc_index %bars[%c0] : !barriers -> !barrier\n" INIT(
                one,
                1) "    %two = ttg.memdesc_index %bars[%c1] : !barriers -> !barrier\n" INIT(two,
                                                                                            1) "    %any = arith.cmpi "
                                                                                               "sgt, %n, %c0 : i32\n   "
                                                                                               " %slot = arith.extui "
                                                                                               "%any : i1 to i32\n"
                                                                                               "    %bar = "
                                                                                               "ttg.memdesc_index "
                                                                                               "%bars[%slot] : "
                                                                                               "!barriers -> "
                                                                                               "!barrier\n" ARRIVE(bar)
                                                                                                   WAIT(
                                                                                                       bar,
                                                                                                       0) "    scf.for "
                                                                                                          "%i = %c0 to "
                                                                                                          "%n step %c1 "
                                                                                                          ": i32 {\n"
                                                                                                          "      %odd "
                                                                                                          "= "
                                                                                                          "arith.andi "
                                                                                                          "%i, %c1 : "
                                                                                                          "i32\n      "
                                                                                                          "%phase = "
                                                                                                          "arith.xori "
                                                                                                          "%odd, ",
            parities[i],
            " : i32\n" ARRIVE(bar) "      ttng.wait_barrier %bar, %phase : !barrier\n    }\n    tt.return\n  }\n}\n");
        assert_int_equal(is_proved(text), i == 0);
    }
}

/* ---- Loops in loops -------------------------------------------------------------------------------- */

/* %n tiles of %m turns each; `c` counts the phases of a barrier from tile to tile. */
typedef struct Tiles {
    const char *name;
    const char *starts; /* what a tile begins with: makes %from, the phase that it takes to be the next */
    const char *turn;   /* of each turn: makes %more, by how much the parity is off */
    const char *ends;   /* behind the turns of a tile: makes %next of %over */
    bool clean;
} Tiles;

#define GOES_ON    "      %from = arith.addi %c, %c0 : i32\n"
#define AS_IT_IS   "        %more = arith.addi %c0, %c0 : i32\n"
#define AS_IT_ENDS "      %next = arith.addi %over, %c0 : i32\n"
#define LATE(of, when)                                                                                   \
    "        %late = arith.constant " when " : i32\n        %is = arith.cmpi sge, " of ", %late : i32\n" \
    "        %more = arith.extui %is : i1 to i32\n"

static const Tiles tiles[] = {
    {"goes on", GOES_ON, AS_IT_IS, AS_IT_ENDS, true},
    {"begins again: right only with an even number of turns", "      %from = arith.addi %c0, %c0 : i32\n", AS_IT_IS,
     AS_IT_ENDS, false},
    {"as many phases as tiles are right before: with an odd number of turns",
     "      %from = arith.addi %t, %c0 : i32\n", AS_IT_IS, AS_IT_ENDS, false},
    {"tiles times turns", "      %from = arith.muli %t, %m : i32\n", AS_IT_IS, AS_IT_ENDS, false /* too much */},
    {"wrong from turn 100 on", GOES_ON, LATE("%i", "100"), AS_IT_ENDS, false},
    {"wrong from tile 100 on", GOES_ON, LATE("%t", "100"), AS_IT_ENDS, false},
    {"wrong from phase 3000 on", GOES_ON, LATE("%k", "3000"), AS_IT_ENDS, false},
    {"counts one too many behind each tile", GOES_ON, AS_IT_IS, "      %next = arith.addi %over, %c1 : i32\n", false},
    {"counts two too many behind each tile", GOES_ON, AS_IT_IS, "      %next = arith.addi %over, %c2 : i32\n", true},
    {"wrong in the last tile", GOES_ON,
     "        %last = arith.subi %n, %c1 : i32\n        %is = arith.cmpi eq, %t, %last : i32\n"
     "        %more = arith.extui %is : i1 to i32\n",
     AS_IT_ENDS, false},
};

static const char *text_of_tiles(const char *starts, const char *turn, const char *ends) {
    static char text[8192];
    const char *around = ON_BARRIER("%n: i32, %m: i32", "BODY"), *at = strstr(around, "BODY");
    snprintf(text, sizeof text, "%.*s%s%s%s%s%s%s%s%s", (int)(at - around), around,
             INIT(bar, 1) "    %all = scf.for %t = %c0 to %n step %c1 iter_args(%c = %c0) -> (i32) : i32 {\n", starts,
             "      %over = scf.for %i = %c0 to %m step %c1 iter_args(%k = %from) -> (i32) : i32 {\n", turn,
             ARRIVE(bar) "        %off = arith.addi %k, %more : i32\n"
                         "        %odd = arith.andi %off, %c1 : i32\n"
                         "        ttng.wait_barrier %bar, %odd : !barrier\n"
                         "        %k_next = arith.addi %k, %c1 : i32\n"
                         "        scf.yield %k_next : i32\n      }\n",
             ends, "      scf.yield %next : i32\n    }\n", at + strlen("BODY"));
    return text;
}

static void loops_in_loops(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++) {
        bool proved = is_proved(text_of_tiles(tiles[i].starts, tiles[i].turn, tiles[i].ends));
        if (proved != tiles[i].clean)
            print_error("%s: %s\n", tiles[i].name, proved ? "proved" : "open");
        assert_int_equal(proved, tiles[i].clean);
    }
}

/* A sum of what counts, made of one of these by an op with a small constant; as an addend of the parity it is to be
 * even. */
static void random_number(char *room, size_t size, const char *to, const char *const *of, int count, int numbers) {
    static const char *const ops[] = {"addi", "muli", "divsi", "remsi", "muli", "andi"};
    const char *a = of[roll(0, count - 1)], *b = of[roll(0, count - 1)];
    snprintf(room, size,
             "    %%%s_1 = arith.constant %d : i32\n    %%%s_2 = arith.constant %d : i32\n"
             "    %%%s_3 = arith.%s %s, %%%s_1 : i32\n    %%%s_4 = arith.%s %s, %s : i32\n"
             "    %%%s_5 = arith.muli %%%s_4, %%%s_2 : i32\n    %%%s = arith.%s %%%s_3, %%%s_5 : i32\n",
             to, (int)roll(1, 6), to, (int)roll(0, numbers), to, ops[roll(0, 5)], a, to, to,
             roll(0, 1) ? "addi" : "subi", a, b, to, to, to, to, roll(0, 3) ? "addi" : "muli", to, to);
}

/* Random numbers in the parity of each wait, in where a tile begins, and in what it leaves: most are wrong at some
 * launch. */
static void random_loops_in_loops(void **state) {
    (void)state;
    enum { KERNELS = 24 };
    static const char *const in_turn[] = {"%t", "%i", "%k", "%c", "%n", "%m"}, *const in_tile[] = {"%t", "%c", "%n",
                                                                                                   "%m"};
    static const int64_t large[][2] = {{40, 3}, {3, 40}, {33, 17}, {100, 2}, {2, 100}, {17, 24}, {64, 5}, {5, 64}};
    unsigned proved = 0, right = 0;
    for (unsigned i = 0; i < share_of(KERNELS); i++) {
        char start[1024], turn[1024], end[1024], more[3][512];
        random_number(more[0], sizeof more[0], "x", in_tile, 4, 2);
        random_number(more[1], sizeof more[1], "y", in_turn, 6, 2);
        random_number(more[2], sizeof more[2], "z", in_tile, 4, 2);
        bool in[] = {roll(0, 3) == 0, roll(0, 2) != 0, roll(0, 3) == 0};
        int shift = (int)roll(1, 2);
        snprintf(start, sizeof start,
                 "%s    %%xx = arith.muli %%x, %%c%d : i32\n    %%from = arith.addi %%c, %s : i32\n", more[0], shift,
                 in[0] ? "%xx" : "%c0");
        snprintf(turn, sizeof turn,
                 "%s    %%yy = arith.muli %%y, %%c%d : i32\n    %%more = arith.addi %s, %%c0 : i32\n", more[1],
                 (int)roll(1, 2), in[1] ? "%yy" : "%c0");
        snprintf(end, sizeof end, "%s    %%zz = arith.muli %%z, %%c2 : i32\n    %%next = arith.addi %%over, %s : i32\n",
                 more[2], in[2] ? "%zz" : "%c0");
        char text[8192];
        snprintf(text, sizeof text, "%s", text_of_tiles(start, turn, end));
        Proving proving = prove_text(text);
        bool is = !proving.proof->open_count && !proving.proof->where_count;
        end_proof(proving);
        if (!is)
            continue;
        proved++;
        for (unsigned k = 0; k < 24; k++) {
            int64_t n = k < 8 ? large[k][0] : roll(0, 14), m = k < 8 ? large[k][1] : roll(0, 14);
            if (!goes_right_with(text, n, m))
                fail_msg("proved, and wrong with %d and %d:\n%s", (int)n, (int)m, text);
            right++;
        }
    }
    print_message("%u kernels, %u proved, %u runs\n", share_of(KERNELS), proved, right);
    assert_true(proved > share_of(KERNELS) / 8);
}

/* Whether the proof covers launches with that argument. */
static bool covers(Proving proving, int64_t n) {
    LaunchNumber number = {.known = true, .value = n};
    const LaunchNumbers launch = {.grid = {1, 1, 1}, .arguments = &number, .count = 1};
    assert_int_equal(proving.proof->open_count, 0);
    proving.proof->proved = true;
    return proof_covers_numbers(proving.proof, &launch, NULL);
}

/* With 1 to 32 elements the only trip does not arrive; with 33 to 64 it does. */
static void preconditions_leave_out_all_that_goes_wrong(void **state) {
    (void)state;
    Proving proving = prove_text(
        ON_BARRIER("%n: i32", INIT(bar, 1) "    %c64 = arith.constant 64 : i32\n    %c33 = arith.constant 33 : i32\n"
                                           "    %ok = arith.cmpi sge, %n, %c33 : i32\n"
                                           "    scf.for %i = %c0 to %n step %c64 : i32 {\n"
                                           "      %turn = arith.divsi %i, %c64 : i32\n"
                                           "      %odd = arith.andi %turn, %c1 : i32\n" ARRIVE_IF_OK "    }\n"));
    for (int64_t n = 1; n <= 32; n++)
        assert_false(covers(proving, n));
    assert_true(covers(proving, 65));
    assert_true(covers(proving, 1000));
    end_proof(proving);
}

/* i * 2^24 is negative from trip 128 on: a launch with so many trips is not covered. */
static void numbers_that_wrap_around_are_asked_about(void **state) {
    (void)state;
    Proving proving =
        prove_text(ON_BARRIER("%n: i32", INIT(bar, 1) "    %much = arith.constant 16777216 : i32\n" LOOP(
                                             "      %odd = arith.andi %i, %c1 : i32\n"
                                             "      %is = arith.muli %i, %much : i32\n"
                                             "      %ok = arith.cmpi sge, %is, %c0 : i32\n" ARRIVE_IF_OK)));
    assert_true(covers(proving, 40));
    assert_false(covers(proving, 129));
    end_proof(proving);
}

static void a_condition_of_the_launch_goes_both_ways(void **state) {
    (void)state;
    const char *guarded = "    %yes = arith.cmpi sgt, %m, %c2 : i32\n    scf.if %yes {\n" ARRIVE(bar) "    }\n";
    char text[4096];
    snprintf(text, sizeof text, "%s%s%s",
             "#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>\n"
             "#smem = #ttg.shared_memory\n!barrier = !ttg.memdesc<1xi64, #shared, #smem, mutable>\n"
             "module attributes {\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = 4 : i32, ttg.target = \"cuda:100\", "
             "\"ttg.threads-per-warp\" = 32 : i32} {\n  tt.func public @kernel(%m: i32) {\n" CONSTANTS
             "    %bar = ttg.local_alloc : () -> !barrier\n" INIT(bar, 2) ARRIVE(bar),
             guarded, WAIT(bar, 0) "    tt.return\n  }\n}\n");
    assert_false(is_proved(text));
    assert_true(
        is_proved(ON_BARRIER("%m: i32", INIT(bar, 1) "    %yes = arith.cmpi sgt, %m, %c2 : i32\n"
                                                     "    scf.if %yes {\n" ARRIVE(bar) WAIT(bar, 0) "    }\n")));
}

static void what_depends_on_data_is_open(void **state) {
    (void)state;
    Proving proving = prove_text(
        ON_BARRIER("%p: !tt.ptr<i32>, %n: i32", INIT(bar, 1) LOOP("      %v = tt.load %p : !tt.ptr<i32>\n"
                                                                  "      %is = arith.cmpi sgt, %v, %c0 : i32\n"
                                                                  "      scf.if %is {\n" ARRIVE(bar) "      }\n")));
    assert_int_equal(proving.proof->open_count, 1);
    assert_string_equal(proving.proof->open[0].reason, "depends");
    end_proof(proving);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_proved_goes_right_with_every_trip_count),
        cmocka_unit_test(one_agent_counts_phases),
        cmocka_unit_test(slots_hang_on_trip_counts_of_later_loops),
        cmocka_unit_test(loops_in_loops),
        cmocka_unit_test(random_loops_in_loops),
        cmocka_unit_test(numbers_that_turn_around_late_are_open),
        cmocka_unit_test(preconditions_leave_out_all_that_goes_wrong),
        cmocka_unit_test(numbers_that_wrap_around_are_asked_about),
        cmocka_unit_test(a_condition_of_the_launch_goes_both_ways),
        cmocka_unit_test(what_depends_on_data_is_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
