/* emulate/access: the bytes of global memory that loads, stores, atomics, copies and TMA boxes touch. */
#include "reading.h"

#include "emulate/access.h"
#include "emulate/schedule.h"

#define HEADER                                                                                                     \
    "#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>\n"      \
    "#square = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, " \
    "0]}>\n"                                                                                                       \
    "#rows = #ttg.slice<{dim = 1, parent = #square}>\n"                                                            \
    "#columns = #ttg.slice<{dim = 0, parent = #square}>\n"                                                         \
    "#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>\n"                      \
    "#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>\n"                           \
    "#smem = #ttg.shared_memory\n"                                                                                 \
    "!barrier = !ttg.memdesc<1xi64, #flat, #smem, mutable>\n"                                                      \
    "!tile = !ttg.memdesc<4x8xf16, #shared, #smem, mutable>\n"                                                     \
    "!line = !ttg.memdesc<64xf32, #flat, #smem, mutable>\n"                                                        \
    "!desc = !tt.tensordesc<tensor<4x8xf16, #shared>>\n"                                                           \
    "!row = !tt.tensordesc<tensor<1x8xf16, #shared>>\n"

#define MODULE(ctas, arguments, body)                                                               \
    HEADER "module attributes {\"ttg.num-ctas\" = " ctas " : i32, \"ttg.num-warps\" = 4 : i32} {\n" \
           "  tt.func public @kernel(" arguments ") {\n" body "    tt.return\n  }\n}\n"
#define KERNEL(arguments, body) MODULE("1", arguments, body)

typedef struct Accesses {
    Machine *machine;
    Arena arena;
    Text text;
} Accesses;

static void tell(void *observer, const Event *event) {
    Accesses *accesses = observer;
    if (event->kind != EVENT_ACCESS || event->effect->effect.space != SPACE_GLOBAL)
        return;
    Bytes bytes;
    const char *reason;
    text_addf(&accesses->text, "%s ", effect_verb_name(event->effect->effect.verb));
    if (access_ranges(accesses->machine, event, &accesses->arena, &bytes, &reason))
        access_print(accesses->machine, &bytes, 4, &accesses->text);
    else
        text_addf(&accesses->text, "? %s", reason);
    text_char(&accesses->text, '\n');
}

/* Runs the first cluster of a launch, given as the "args" of a launch file, and compares what it does to global memory:
 * a line an access. */
static void assert_accesses(const char *kernel, const char *arguments, const char *expected) {
    Reading *reading = read_good(kernel);
    Arena arena;
    arena_init(&arena, (size_t)1 << 30);
    Verdict verdict = {.arena = &arena};
    Text json = {0};
    text_addf(&json, "{\"args\": {%s}}", arguments);
    Source *source = source_copy("launch.json", json.data, json.size);
    Launch launch = {0};
    Diagnostics diagnostics = {0};
    assert_true(launch_read(&arena, source, &launch, &diagnostics));
    const Program *program =
        program_compile(&reading->module, find_op(reading, "tt.func", 0), COMPILE_GLOBAL, &verdict);
    assert_non_null(program);
    const char *problem = NULL;
    Machine *machine = machine_create(&arena, program, &problem);
    assert_non_null(machine);
    Accesses accesses = {.machine = machine};
    arena_init(&accesses.arena, (size_t)1 << 30);
    machine->budget = 10000;
    machine->observe = tell;
    machine->observer = &accesses;
    machine_launch(machine, &launch);
    assert_int_equal(schedule_run(machine, 0, &(Schedule){.kind = SCHEDULE_EAGER}), RUN_COMPLETE);
    text_char(&accesses.text, 0);
    assert_string_equal(accesses.text.data, expected);
    text_free(&accesses.text);
    arena_free(&accesses.arena);
    text_free(&json);
    source_free(source);
    arena_free(&arena);
    done(reading);
}

/* ---- Pointers ----------------------------------------------------------------------------------- */

#define ROW                                                                                     \
    "    %range = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #blocked>\n" \
    "    %base = tt.splat %a : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>, #blocked>\n"             \
    "    %at = tt.addptr %base, %range : tensor<32x!tt.ptr<f32>, #blocked>, tensor<32xi32, #blocked>\n"

static void a_contiguous_row_is_one_run(void **state) {
    (void)state;
    assert_accesses(KERNEL("%a: !tt.ptr<f32>, %b: !tt.ptr<f32>",
                           ROW "    %value = tt.load %at : tensor<32x!tt.ptr<f32>, #blocked>\n"
                               "    tt.store %at, %value : tensor<32x!tt.ptr<f32>, #blocked>\n"
                               "    %one = tt.load %b : !tt.ptr<f32>\n"),
                    "", "read %a + 0..127\nwrite %a + 0..127\nread %b + 0..3\n");
}

static void elements_of_any_size(void **state) {
    (void)state;
    assert_accesses(KERNEL("%a: !tt.ptr<i1>, %b: !tt.ptr<f64>, %c: !tt.ptr<!tt.ptr<i8>>",
                           "    %c1 = arith.constant 1 : i32\n"
                           "    %at = tt.addptr %b, %c1 : !tt.ptr<f64>, i32\n"
                           "    %x = tt.load %a : !tt.ptr<i1>\n"
                           "    %y = tt.load %at : !tt.ptr<f64>\n"
                           "    %z = tt.load %c : !tt.ptr<!tt.ptr<i8>>\n"),
                    "", "read %a + 0..0\nread %b + 8..15\nread %c + 0..7\n");
}

/* Before the memory of an argument lies that of another; nobody means that. */
static void a_negative_offset(void **state) {
    (void)state;
    assert_accesses(KERNEL("%a: !tt.ptr<f32>, %b: !tt.ptr<f32>", "    %c = arith.constant -2 : i32\n"
                                                                 "    %at = tt.addptr %b, %c : !tt.ptr<f32>, i32\n"
                                                                 "    %x = tt.load %at : !tt.ptr<f32>\n"),
                    "", "read %b + -8..-5\n");
}

static void an_address_of_no_argument(void **state) {
    (void)state;
    assert_accesses(KERNEL("%n: i64", "    %at = tt.int_to_ptr %n : i64 -> !tt.ptr<i16>\n"
                                      "    %x = tt.load %at : !tt.ptr<i16>\n"),
                    "\"n\": 4096", "read 0x1000..0x1001\n");
}

/* A tile of 4 x 4 at (row, 0) of a matrix with `stride` elements a row, within rows x columns. */
#define TILE(order)                                                                                        \
    "    %r = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32, #rows>\n"                     \
    "    %c = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32, #columns>\n"                  \
    "    %r1 = tt.expand_dims %r {axis = 1 : i32} : tensor<4xi32, #rows> -> tensor<4x1xi32, #square>\n"    \
    "    %c1 = tt.expand_dims %c {axis = 0 : i32} : tensor<4xi32, #columns> -> tensor<1x4xi32, #square>\n" \
    "    %s = tt.splat %stride : i32 -> " order "xi32, #square>\n"                                         \
    "    %rows = tt.splat %m : i32 -> tensor<4x1xi32, #square>\n"                                          \
    "    %columns = tt.splat %n : i32 -> tensor<1x4xi32, #square>\n"                                       \
    "    %below = arith.cmpi slt, %r1, %rows : tensor<4x1xi32, #square>\n"                                 \
    "    %left = arith.cmpi slt, %c1, %columns : tensor<1x4xi32, #square>\n"                               \
    "    %below2 = tt.broadcast %below : tensor<4x1xi1, #square> -> tensor<4x4xi1, #square>\n"             \
    "    %left2 = tt.broadcast %left : tensor<1x4xi1, #square> -> tensor<4x4xi1, #square>\n"               \
    "    %mask = arith.andi %below2, %left2 : tensor<4x4xi1, #square>\n"                                   \
    "    %base = tt.splat %a : !tt.ptr<f32> -> tensor<4x4x!tt.ptr<f32>, #square>\n"                        \
    "    %r2 = tt.broadcast %r1 : tensor<4x1xi32, #square> -> tensor<4x4xi32, #square>\n"                  \
    "    %c2 = tt.broadcast %c1 : tensor<1x4xi32, #square> -> tensor<4x4xi32, #square>\n"
#define ROW_MAJOR                                                                        \
    TILE("tensor<4x1")                                                                   \
    "    %p = arith.muli %r1, %s : tensor<4x1xi32, #square>\n"                           \
    "    %p2 = tt.broadcast %p : tensor<4x1xi32, #square> -> tensor<4x4xi32, #square>\n" \
    "    %q = arith.addi %p2, %c2 : tensor<4x4xi32, #square>\n"                          \
    "    %at = tt.addptr %base, %q : tensor<4x4x!tt.ptr<f32>, #square>, tensor<4x4xi32, #square>\n"
#define COLUMN_MAJOR                                                                     \
    TILE("tensor<1x4")                                                                   \
    "    %p = arith.muli %c1, %s : tensor<1x4xi32, #square>\n"                           \
    "    %p2 = tt.broadcast %p : tensor<1x4xi32, #square> -> tensor<4x4xi32, #square>\n" \
    "    %q = arith.addi %p2, %r2 : tensor<4x4xi32, #square>\n"                          \
    "    %at = tt.addptr %base, %q : tensor<4x4x!tt.ptr<f32>, #square>, tensor<4x4xi32, #square>\n"
#define MASKED "    %value = tt.load %at, %mask : tensor<4x4x!tt.ptr<f32>, #square>\n"
#define MATRIX "%a: !tt.ptr<f32>, %stride: i32, %m: i32, %n: i32"

static void a_strided_tile_with_a_mask(void **state) {
    (void)state;
    assert_accesses(KERNEL(MATRIX, ROW_MAJOR MASKED), "\"stride\": 16, \"m\": 9, \"n\": 9",
                    "read %a + 0..15, 64..79, 128..143, 192..207\n");
    assert_accesses(KERNEL(MATRIX, ROW_MAJOR MASKED), "\"stride\": 16, \"m\": 2, \"n\": 3",
                    "read %a + 0..11, 64..75\n");
    assert_accesses(KERNEL(MATRIX, ROW_MAJOR MASKED), "\"stride\": 4, \"m\": 3, \"n\": 4", "read %a + 0..47\n");
    assert_accesses(KERNEL(MATRIX, ROW_MAJOR MASKED), "\"stride\": 4, \"m\": 0, \"n\": 4", "read nothing\n");
}

static void runs_are_in_the_order_of_addresses(void **state) {
    (void)state;
    assert_accesses(KERNEL(MATRIX, COLUMN_MAJOR MASKED), "\"stride\": 16, \"m\": 4, \"n\": 3",
                    "read %a + 0..15, 64..79, 128..143\n");
    assert_accesses(KERNEL(MATRIX, COLUMN_MAJOR MASKED), "\"stride\": 4, \"m\": 4, \"n\": 4", "read %a + 0..63\n");
    /* Rows that overlap, and rows that run backwards. */
    assert_accesses(KERNEL(MATRIX, ROW_MAJOR MASKED), "\"stride\": 2, \"m\": 4, \"n\": 4", "read %a + 0..39\n");
    assert_accesses(KERNEL(MATRIX, ROW_MAJOR MASKED), "\"stride\": -8, \"m\": 2, \"n\": 4",
                    "read %a + -32..-17, 0..15\n");
}

static void more_than_four_runs(void **state) {
    (void)state;
    assert_accesses(
        KERNEL(MATRIX,
               TILE("tensor<1x4") "    %s2 = tt.broadcast %s : tensor<1x4xi32, #square> -> tensor<4x4xi32, #square>\n"
                                  "    %c4 = arith.constant dense<4> : tensor<4x4xi32, #square>\n"
                                  "    %p = arith.muli %r2, %c4 : tensor<4x4xi32, #square>\n"
                                  "    %q = arith.addi %p, %c2 : tensor<4x4xi32, #square>\n"
                                  "    %t = arith.muli %q, %s2 : tensor<4x4xi32, #square>\n"
                                  "    %at = tt.addptr %base, %t : tensor<4x4x!tt.ptr<f32>, #square>, tensor<4x4xi32, "
                                  "#square>\n" MASKED),
        "\"stride\": 2, \"m\": 4, \"n\": 4", "read %a + 0..3, 8..11, 16..19, 24..27 and 12 more\n");
}

/* The same address in every row counts once, and is masked off where it is masked off in all. */
static void broadcast_pointers(void **state) {
    (void)state;
    assert_accesses(KERNEL(MATRIX,
                           TILE("tensor<4x1") "    %at = tt.addptr %base, %c2 : tensor<4x4x!tt.ptr<f32>, #square>, "
                                              "tensor<4x4xi32, #square>\n"
                                              "    %x = tt.load %at : tensor<4x4x!tt.ptr<f32>, #square>\n" MASKED
                                              "    %y = tt.load %base, %mask : tensor<4x4x!tt.ptr<f32>, #square>\n"),
                    "\"stride\": 0, \"m\": 1, \"n\": 2", "read %a + 0..15\nread %a + 0..7\nread %a + 0..3\n");
}

static void what_is_not_known(void **state) {
    (void)state;
    assert_accesses(KERNEL(MATRIX, ROW_MAJOR MASKED), "\"m\": 1, \"n\": 2", "read ? its addresses are not known\n");
    assert_accesses(KERNEL(MATRIX, ROW_MAJOR MASKED), "\"stride\": 4, \"n\": 2", "read ? its mask is not known\n");
    assert_accesses(KERNEL("%a: !tt.ptr<!tt.ptr<f32>>", "    %b = tt.load %a : !tt.ptr<!tt.ptr<f32>>\n"
                                                        "    %x = tt.load %b : !tt.ptr<f32>\n"),
                    "\"a\": {\"tensor\": {\"shape\": [1], \"data\": [4096]}}", "read %a + 0..7\nread 0x1000..0x1003\n");
}

/* Each CTA of a cluster that shares a program id has a part of a tensor. */
static void a_cluster_shares_tensors_out(void **state) {
    (void)state;
    assert_accesses(MODULE("2", "%a: !tt.ptr<f32>",
                           ROW "    %value = tt.load %at : tensor<32x!tt.ptr<f32>, #blocked>\n"
                               "    %one = tt.load %a : !tt.ptr<f32>\n"),
                    "",
                    "read ? which part each CTA of the cluster has is not worked out\nread %a + 0..3\n"
                    "read ? which part each CTA of the cluster has is not worked out\nread %a + 0..3\n");
}

static void atomics(void **state) {
    (void)state;
    assert_accesses(
        KERNEL("%a: !tt.ptr<f32>, %lock: !tt.ptr<i32>, %n: i32",
               ROW "    %true = arith.constant true\n"
                   "    %c0 = arith.constant 0 : i32\n"
                   "    %c1 = arith.constant 1 : i32\n"
                   "    %limit = tt.splat %n : i32 -> tensor<32xi32, #blocked>\n"
                   "    %mask = arith.cmpi slt, %range, %limit : tensor<32xi32, #blocked>\n"
                   "    %value = arith.constant dense<1.0> : tensor<32xf32, #blocked>\n"
                   "    %x = tt.atomic_rmw fadd, relaxed, gpu, %at, %value, %mask : "
                   "(tensor<32x!tt.ptr<f32>, #blocked>, tensor<32xf32, #blocked>, tensor<32xi1, #blocked>) -> "
                   "tensor<32xf32, #blocked>\n"
                   "    %y = tt.atomic_rmw add, acq_rel, gpu, %lock, %c1, %true : (!tt.ptr<i32>, i32, i1) -> i32\n"
                   "    %z = tt.atomic_cas acq_rel, gpu, %lock, %c1, %c0 : (!tt.ptr<i32>, i32, i32) -> i32\n"),
        "\"n\": 5", "update %a + 0..19\nupdate %lock + 0..3\nupdate %lock + 0..3\n");
}

/* ---- Copies ------------------------------------------------------------------------------------- */

static void asynchronous_copies(void **state) {
    (void)state;
    assert_accesses(
        KERNEL("%a: !tt.ptr<f32>, %n: i32",
               "    %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #blocked>\n"
               "    %limit = tt.splat %n : i32 -> tensor<64xi32, #blocked>\n"
               "    %mask = arith.cmpi slt, %range, %limit : tensor<64xi32, #blocked>\n"
               "    %base = tt.splat %a : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>, #blocked>\n"
               "    %at = tt.addptr %base, %range : tensor<64x!tt.ptr<f32>, #blocked>, tensor<64xi32, #blocked>\n"
               "    %line = ttg.local_alloc : () -> !line\n"
               "    %token = ttg.async_copy_global_to_local %at, %line mask %mask : "
               "tensor<64x!tt.ptr<f32>, #blocked> -> !line\n"),
        "\"n\": 10", "read %a + 0..39\n");
}

static void bulk_copies(void **state) {
    (void)state;
    assert_accesses(KERNEL("%a: !tt.ptr<f32>, %b: !tt.ptr<f32>, %size: i32",
                           "    %c96 = arith.constant 96 : i32\n"
                           "    %line = ttg.local_alloc : () -> !line\n"
                           "    %full = ttg.local_alloc : () -> !barrier\n"
                           "    ttng.init_barrier %full, 1 : !barrier\n"
                           "    %token = ttg.async_copy_global_to_local %a, %line bulk_size %c96 : i32 barrier %full : "
                           "!barrier {useBulk = true} : !tt.ptr<f32> -> !line\n"
                           "    %other = ttg.async_copy_global_to_local %b, %line barrier %full : !barrier {useBulk = "
                           "true} : !tt.ptr<f32> -> !line\n"
                           "    ttng.async_store %line, %a, %size : !line, !tt.ptr<f32>\n"),
                    "\"size\": 48", "read %a + 0..95\nread %b + 0..255\nwrite %a + 0..47\n");
}

static void buffer_ops(void **state) {
    (void)state;
    assert_accesses(
        KERNEL(
            "%a: !tt.ptr<bf16>, %n: i32",
            "    %range = tt.make_range {end = 48 : i32, start = 16 : i32} : tensor<32xi32, #blocked>\n"
            "    %limit = tt.splat %n : i32 -> tensor<32xi32, #blocked>\n"
            "    %mask = arith.cmpi slt, %range, %limit : tensor<32xi32, #blocked>\n"
            "    %x = amdg.buffer_load %a[%range] : !tt.ptr<bf16> -> tensor<32xbf16, #blocked>\n"
            "    amdg.buffer_store %x, %a[%range], %mask stride = %n : !tt.ptr<bf16> -> tensor<32xbf16, #blocked>\n"),
        "\"n\": 20", "read %a + 32..95\nwrite %a + 32..39\n");
}

/* ---- Boxes -------------------------------------------------------------------------------------- */

#define COPY(type, coordinates)                                                                  \
    "    %true = arith.constant true\n"                                                          \
    "    %c0 = arith.constant 0 : i32\n"                                                         \
    "    %tile = ttg.local_alloc : () -> !tile\n"                                                \
    "    %full = ttg.local_alloc : () -> !barrier\n"                                             \
    "    ttng.init_barrier %full, 1 : !barrier\n"                                                \
    "    ttng.barrier_expect %full, 64, %true : !barrier\n"                                      \
    "    ttng.async_tma_copy_global_to_local %desc[" coordinates "] %tile, %full, %true : " type \
    ", !barrier -> !tile\n"                                                                      \
    "    ttng.wait_barrier %full, %c0 : !barrier\n"
#define MATRIX_LAUNCH "\"desc\": {\"descriptor\": {\"shape\": [10, 12], \"strides\": [16, 1]}}"

static void a_box_inside(void **state) {
    (void)state;
    assert_accesses(KERNEL("%desc: !desc, %x: i32, %y: i32", COPY("!desc", "%x, %y")),
                    MATRIX_LAUNCH ", \"x\": 1, \"y\": 2",
                    "read nothing\nread %desc + 36..51, 68..83, 100..115, 132..147\n");
}

static void a_box_clipped_at_its_edges(void **state) {
    (void)state;
    const char *kernel = KERNEL("%desc: !desc, %x: i32, %y: i32", COPY("!desc", "%x, %y"));
    assert_accesses(kernel, MATRIX_LAUNCH ", \"x\": 8, \"y\": 8", "read nothing\nread %desc + 272..279, 304..311\n");
    assert_accesses(kernel, MATRIX_LAUNCH ", \"x\": -2, \"y\": -6", "read nothing\nread %desc + 0..3, 32..35\n");
    assert_accesses(kernel, MATRIX_LAUNCH ", \"x\": 10, \"y\": 0", "read nothing\nread nothing\n");
}

static void rows_without_a_gap_are_one_run(void **state) {
    (void)state;
    assert_accesses(KERNEL("%desc: !desc, %x: i32, %y: i32", COPY("!desc", "%x, %y")),
                    "\"desc\": {\"descriptor\": {\"shape\": [10, 8]}}, \"x\": 1, \"y\": 0",
                    "read nothing\nread %desc + 16..79\n");
}

static void stores_and_reductions_of_boxes(void **state) {
    (void)state;
    assert_accesses(KERNEL("%desc: !desc, %x: i32, %y: i32",
                           "    %tile = ttg.local_alloc : () -> !tile\n"
                           "    ttng.async_tma_copy_local_to_global %desc[%x, %y] %tile : !desc, !tile\n"
                           "    ttng.async_tma_reduce add, %desc[%x, %y] %tile : !desc, !tile\n"
                           "    %data = tt.descriptor_load %desc[%x, %y] : !desc -> tensor<4x8xf16, #square>\n"),
                    MATRIX_LAUNCH ", \"x\": 8, \"y\": 8",
                    "read nothing\nwrite %desc + 272..279, 304..311\n"
                    "read nothing\nupdate %desc + 272..279, 304..311\nread %desc + 272..279, 304..311\n");
}

static void a_box_that_is_not_known(void **state) {
    (void)state;
    const char *kernel = KERNEL("%desc: !desc, %x: i32, %y: i32", COPY("!desc", "%x, %y"));
    assert_accesses(kernel, "\"x\": 0, \"y\": 0",
                    "read nothing\nread ? the launch does not say what its descriptor describes\n");
    assert_accesses(kernel, MATRIX_LAUNCH ", \"x\": 0", "read nothing\nread ? its coordinates are not known\n");
    assert_accesses(kernel, "\"desc\": {\"descriptor\": {\"shape\": [10]}}, \"x\": 0, \"y\": 0",
                    "read nothing\nread ? its box has another rank than its descriptor\n");
}

static void a_descriptor_made_in_the_kernel(void **state) {
    (void)state;
    const char *kernel =
        KERNEL("%a: !tt.ptr<f16>, %m: i32, %stride: i64",
               "    %c0 = arith.constant 0 : i32\n"
               "    %c8 = arith.constant 8 : i32\n"
               "    %c1 = arith.constant 1 : i64\n"
               "    %c64 = arith.constant 64 : i32\n"
               "    %b = tt.addptr %a, %c64 : !tt.ptr<f16>, i32\n"
               "    %desc = tt.make_tensor_descriptor %b, [%m, %m], [%stride, %c1] : !tt.ptr<f16>, !desc\n"
               "    %data = tt.descriptor_load %desc[%c8, %c0] : !desc -> tensor<4x8xf16, #square>\n");
    assert_accesses(kernel, "\"m\": 10, \"stride\": 32", "read %a + 640..655, 704..719\n");
    assert_accesses(kernel, "\"m\": 10", "read ? the shape or the strides of its descriptor are not known\n");
}

/* A value that is still in use after its maker made another one. */
static void descriptors_made_in_a_loop(void **state) {
    (void)state;
    assert_accesses(
        KERNEL("%a: !tt.ptr<f16>, %n: i32",
               "    %c0 = arith.constant 0 : i32\n"
               "    %c1 = arith.constant 1 : i32\n"
               "    %c3 = arith.constant 3 : i32\n"
               "    %c4 = arith.constant 4 : i32\n"
               "    %c8 = arith.constant 8 : i64\n"
               "    %one = arith.constant 1 : i64\n"
               "    %first = tt.make_tensor_descriptor %a, [%c4, %n], [%c8, %one] : !tt.ptr<f16>, !desc\n"
               "    %last = scf.for %i = %c0 to %c3 step %c1 iter_args(%before = %first) -> (!desc) : i32 {\n"
               "      %far = arith.muli %i, %n : i32\n"
               "      %b = tt.addptr %a, %far : !tt.ptr<f16>, i32\n"
               "      %desc = tt.make_tensor_descriptor %b, [%c4, %n], [%c8, %one] : !tt.ptr<f16>, !desc\n"
               "      %data = tt.descriptor_load %before[%c0, %c0] : !desc -> tensor<4x8xf16, #square>\n"
               "      scf.yield %desc : !desc\n"
               "    }\n"),
        "\"n\": 8", "read %a + 0..63\nread %a + 0..63\nread %a + 16..79\n");
}

#define MAP(base, step)                                                                                    \
    "    %b8 = arith.constant 8 : i32\n"                                                                   \
    "    %b4 = arith.constant 4 : i32\n"                                                                   \
    "    %b1 = arith.constant 1 : i32\n"                                                                   \
    "    ttng.tensormap_create %map, " base ", [%b8, %b4], [%n, %m], [%stride], [%b1, " step               \
    "] {elem_type = 6 : i32, interleave_layout = 0 : i32, swizzle_mode = 0 : i32, fill_mode = 0 : i32} : " \
    "(!tt.ptr<i8>, !tt.ptr<f16>, i32, i32, i32, i32, i64, i32, i32) -> ()\n"
#define SCRATCH     "    %map = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 128 : i32} : !tt.ptr<i8>\n"
#define REINTERPRET "    %desc = ttng.reinterpret_tensor_descriptor %map : !tt.ptr<i8> to !desc\n"
#define MAPPED      "%a: !tt.ptr<f16>, %b: !tt.ptr<f16>, %n: i32, %m: i32, %stride: i64, %x: i32, %y: i32"

static void a_tensor_map(void **state) {
    (void)state;
    assert_accesses(KERNEL(MAPPED, SCRATCH MAP("%a", "%b1") REINTERPRET COPY("!desc", "%x, %y")),
                    "\"n\": 12, \"m\": 10, \"stride\": 32, \"x\": 8, \"y\": 8",
                    "write scratch 0 + 0..127\nread scratch 0 + 0..127\nread %a + 272..279, 304..311\n");
    /* An older release's copy, through the pointer to the map. */
    assert_accesses(
        KERNEL(MAPPED,
               SCRATCH MAP("%a",
                           "%b1") "    %tile = ttg.local_alloc : () -> !tile\n"
                                  "    ttng.async_tma_copy_local_to_global %map[%x, %y] %tile : !tt.ptr<i8>, !tile\n"),
        "\"n\": 12, \"m\": 10, \"stride\": 32, \"x\": 8, \"y\": 8",
        "write scratch 0 + 0..127\nread scratch 0 + 0..127\nwrite %a + 272..279, 304..311\n");
}

/* A map is read when it is used: what is written over it counts from then on. */
static void a_tensor_map_that_is_written_again(void **state) {
    (void)state;
    assert_accesses(
        KERNEL(MAPPED, SCRATCH MAP("%a", "%b1") REINTERPRET
               "    %p = ttng.reinterpret_tensor_descriptor %map : !tt.ptr<i8> to !desc\n"
               "    ttng.tensormap_create %map, %b, [%b8, %b4], [%n, %m], [%stride], [%b1, %b1] {elem_type = "
               "6 : i32, interleave_layout = 0 : i32, swizzle_mode = 0 : i32, fill_mode = 0 : i32} : "
               "(!tt.ptr<i8>, !tt.ptr<f16>, i32, i32, i32, i32, i64, i32, i32) -> ()\n"
               "    %tile = ttg.local_alloc : () -> !tile\n"
               "    ttng.async_tma_copy_local_to_global %p[%x, %y] %tile : !desc, !tile\n"),
        "\"n\": 12, \"m\": 10, \"stride\": 32, \"x\": 8, \"y\": 8",
        "write scratch 0 + 0..127\nwrite scratch 0 + 0..127\nread scratch 0 + 0..127\n"
        "write %b + 272..279, 304..311\n");
}

static void a_tensor_map_with_gaps(void **state) {
    (void)state;
    assert_accesses(
        KERNEL(MAPPED, SCRATCH MAP("%a", "%b4") REINTERPRET COPY("!desc", "%x, %y")),
        "\"n\": 12, \"m\": 10, \"stride\": 32, \"x\": 8, \"y\": 8",
        "write scratch 0 + 0..127\nread scratch 0 + 0..127\nread ? its descriptor may leave out elements\n");
}

static void gathered_rows(void **state) {
    (void)state;
    const char *kernel =
        KERNEL("%desc: !row, %y: i32, %from: !tt.ptr<i32>",
               "    %c3 = arith.constant dense<3> : tensor<8xi32, #blocked>\n"
               "    %range = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32, #blocked>\n"
               "    %rows = arith.muli %range, %c3 : tensor<8xi32, #blocked>\n"
               "    %data = tt.descriptor_gather %desc[%rows, %y] : (!row, tensor<8xi32, #blocked>, i32) -> "
               "tensor<8x8xf16, #square>\n"
               "    tt.descriptor_scatter %desc[%c3, %y], %data : !row, tensor<8xi32, #blocked>, i32, "
               "tensor<8x8xf16, #square>\n");
    assert_accesses(kernel, MATRIX_LAUNCH ", \"y\": 8",
                    "read %desc + 16..23, 112..119, 208..215, 304..311\nwrite %desc + 112..119\n");
    assert_accesses(kernel, MATRIX_LAUNCH,
                    "read ? its coordinates are not known\nwrite ? its coordinates are not known\n");
    assert_accesses(
        KERNEL("%desc: !row, %y: i32, %from: !tt.ptr<i32>",
               "    %at = tt.splat %from : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>, #blocked>\n"
               "    %rows = tt.load %at : tensor<8x!tt.ptr<i32>, #blocked>\n"
               "    %data = tt.descriptor_gather %desc[%rows, %y] : (!row, tensor<8xi32, #blocked>, i32) -> "
               "tensor<8x8xf16, #square>\n"),
        MATRIX_LAUNCH ", \"y\": 8", "read %from + 0..3\nread ? its rows are not known\n");
}

static void the_tensor_data_mover(void **state) {
    (void)state;
    assert_accesses(
        KERNEL("%desc: !desc, %x: i32, %y: i32",
               "    %true = arith.constant true\n"
               "    %tile = ttg.local_alloc : () -> !tile\n"
               "    %token = amdg.async_tdm_copy_global_to_local %desc[%x, %y] into %tile, %true : !desc -> "
               "!tile\n"
               "    amdg.async_tdm_copy_local_to_global %desc[%x, %y] from %tile : !tile -> !desc\n"),
        MATRIX_LAUNCH ", \"x\": 8, \"y\": 8", "read %desc + 272..279, 304..311\nwrite %desc + 272..279, 304..311\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_contiguous_row_is_one_run),
        cmocka_unit_test(elements_of_any_size),
        cmocka_unit_test(a_negative_offset),
        cmocka_unit_test(an_address_of_no_argument),
        cmocka_unit_test(a_strided_tile_with_a_mask),
        cmocka_unit_test(runs_are_in_the_order_of_addresses),
        cmocka_unit_test(more_than_four_runs),
        cmocka_unit_test(broadcast_pointers),
        cmocka_unit_test(what_is_not_known),
        cmocka_unit_test(a_cluster_shares_tensors_out),
        cmocka_unit_test(atomics),
        cmocka_unit_test(asynchronous_copies),
        cmocka_unit_test(bulk_copies),
        cmocka_unit_test(buffer_ops),
        cmocka_unit_test(a_box_inside),
        cmocka_unit_test(a_box_clipped_at_its_edges),
        cmocka_unit_test(rows_without_a_gap_are_one_run),
        cmocka_unit_test(stores_and_reductions_of_boxes),
        cmocka_unit_test(a_box_that_is_not_known),
        cmocka_unit_test(a_descriptor_made_in_the_kernel),
        cmocka_unit_test(descriptors_made_in_a_loop),
        cmocka_unit_test(a_tensor_map),
        cmocka_unit_test(a_tensor_map_that_is_written_again),
        cmocka_unit_test(a_tensor_map_with_gaps),
        cmocka_unit_test(gathered_rows),
        cmocka_unit_test(the_tensor_data_mover),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
