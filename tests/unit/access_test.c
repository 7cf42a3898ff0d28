/* machine/tile/memory/access: the bytes of global memory that loads, stores, atomics, copies and TMA boxes touch. */
#include "accessing.h"

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

#define KERNEL(arguments, body)                                                              \
    HEADER "module attributes {\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = 4 : i32} {\n" \
           "  tt.func public @kernel(" arguments ") {\n" body "    tt.return\n  }\n}\n"

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

/* Before the memory of an argument lies that of another; nothing means that. */
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

/* A poll waits for a value, which is no number of bytes. */
static void polls(void **state) {
    (void)state;
    assert_accesses(KERNEL("%flag: !tt.ptr<i32>", "    %c0 = arith.constant 0 : i32\n"
                                                  "    %found = tt.atomic_poll acquire, gpu, %flag, %c0 : "
                                                  "!tt.ptr<i32>, i32 -> i1\n"),
                    "\"flag\": {\"tensor\": {\"shape\": [1], \"data\": [0]}}", "read %flag + 0..3\n");
}

/* Offsets count elements, whatever the stride says: that is for the cache. */
static void buffer_atomics(void **state) {
    (void)state;
    assert_accesses(
        KERNEL("%a: !tt.ptr<f32>, %n: i32",
               "    %range = tt.make_range {end = 64 : i32, start = 32 : i32} : tensor<32xi32, #blocked>\n"
               "    %limit = tt.splat %n : i32 -> tensor<32xi32, #blocked>\n"
               "    %mask = arith.cmpi slt, %range, %limit : tensor<32xi32, #blocked>\n"
               "    %one = arith.constant dense<1.0> : tensor<32xf32, #blocked>\n"
               "    %x = amdg.buffer_atomic_rmw fadd, relaxed, gpu, %one, %a[%range], %mask stride = %n : "
               "tensor<32xf32, #blocked>\n"
               "    %y = amdg.buffer_atomic_cas relaxed, gpu, %one, %one, %a[%range] : tensor<32xf32, #blocked>\n"),
        "\"n\": 40", "update %a + 128..159\nupdate %a + 128..255\n");
}

static void copies_to_local_memory(void **state) {
    (void)state;
    assert_accesses(
        KERNEL("%a: !tt.ptr<f32>, %n: i32",
               "    %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #blocked>\n"
               "    %limit = tt.splat %n : i32 -> tensor<64xi32, #blocked>\n"
               "    %mask = arith.cmpi slt, %range, %limit : tensor<64xi32, #blocked>\n"
               "    %base = tt.splat %a : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>, #blocked>\n"
               "    %at = tt.addptr %base, %range : tensor<64x!tt.ptr<f32>, #blocked>, tensor<64xi32, #blocked>\n"
               "    %line = ttg.local_alloc : () -> !line\n"
               "    %x = amdg.buffer_load_to_local %a[%range] mask = %mask into %line : "
               "!tt.ptr<f32>[tensor<64xi32, #blocked>] -> !line\n"
               "    %y = amdg.async_copy_local_to_global %line, %at mask %mask : !line -> "
               "tensor<64x!tt.ptr<f32>, #blocked>\n"),
        "\"n\": 10", "read %a + 0..39\nwrite %a + 0..39\n");
}

/* A prefetch touches nothing that any agent can tell. */
static void prefetches(void **state) {
    (void)state;
    assert_accesses(KERNEL("%a: !tt.ptr<f32>", ROW "    ttng.prefetch %at : tensor<32x!tt.ptr<f32>, #blocked>\n"), "",
                    "");
}

/* ---- Threads -------------------------------------------------------------------------------------- */

/* Loads elements %range and %turned of tensors of `size`, the second of them in the opposite order. */
#define BOTH_WAYS(size)                                                                                               \
    "    %last = arith.constant dense<127> : tensor<" #size "xi32, #blocked>\n"                                       \
    "    %range = tt.make_range {end = " #size " : i32, start = 0 : i32} : tensor<" #size "xi32, #blocked>\n"         \
    "    %turned = arith.subi %last, %range : tensor<" #size "xi32, #blocked>\n"                                      \
    "    %base = tt.splat %a : !tt.ptr<f32> -> tensor<" #size "x!tt.ptr<f32>, #blocked>\n"                            \
    "    %p = tt.addptr %base, %range : tensor<" #size "x!tt.ptr<f32>, #blocked>, tensor<" #size "xi32, #blocked>\n"  \
    "    %q = tt.addptr %base, %turned : tensor<" #size "x!tt.ptr<f32>, #blocked>, tensor<" #size "xi32, #blocked>\n" \
    "    %x = tt.load %p : tensor<" #size "x!tt.ptr<f32>, #blocked>\n"                                                \
    "    %y = tt.load %p : tensor<" #size "x!tt.ptr<f32>, #blocked>\n"                                                \
    "    %z = tt.load %q : tensor<" #size "x!tt.ptr<f32>, #blocked>\n"

/* Elements of 128 threads: of as many, one each; of 32, each of four threads. */
static void threads_that_touch_the_same_elements(void **state) {
    (void)state;
    Accesses *accesses = run_accesses(KERNEL("%a: !tt.ptr<f32>", BOTH_WAYS(128)), "");
    assert_int_equal(accesses->count, 3);
    assert_int_not_equal(accesses->reported[0].mapping, 0);
    assert_int_equal(accesses->reported[0].mapping, accesses->reported[1].mapping);
    assert_int_not_equal(accesses->reported[0].mapping, accesses->reported[2].mapping);
    end_accesses(accesses);
    accesses = run_accesses(KERNEL("%a: !tt.ptr<f32>", BOTH_WAYS(32)), "");
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(accesses->reported[i].mapping, 0);
    end_accesses(accesses);
}

/* Registers that hold copies of 128 elements: 2^7 threads, and as many registers as are named. */
#define COPIES(registers)                                                                                          \
    "#copies = #ttg.linear<{register = [" registers "], lane = [[1], [2], [4], [8], [16]], warp = [[32], "         \
    "[64]], block = []}>\n" KERNEL("%a: !tt.ptr<f32>",                                                             \
                                   "    %base = tt.splat %a : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #copies>\n" \
                                   "    %x = tt.load %base : tensor<128x!tt.ptr<f32>, #copies>\n")
#define SIX "[0], [0], [0], [0], [0], [0]"

static uint32_t first_thread(const char *kernel) {
    Accesses *accesses = run_accesses(kernel, "");
    uint32_t thread = accesses->reported[0].pieces.items[0].thread;
    end_accesses(accesses);
    return thread;
}

/* Of 2^24 places in registers it is looked up whose they are, of more it is not. */
static void whose_an_element_is_may_be_too_much_to_ask(void **state) {
    (void)state;
    assert_int_equal(first_thread(COPIES(SIX)), 0);
    assert_int_equal(first_thread(COPIES(SIX ", " SIX ", " SIX)), THREAD_UNKNOWN);
}

/* ---- Block pointers ----------------------------------------------------------------------------- */

#define BLOCK "!tt.ptr<tensor<4x8xf16, #square>>"
#define BLOCK_POINTER                     \
    "    %one = arith.constant 1 : i64\n" \
    "    %c0 = arith.constant 0 : i32\n"  \
    "    %c4 = arith.constant 4 : i32\n"  \
    "    %p = tt.make_tensor_ptr %a, [%m, %n], [%stride, %one], [%x, %c0] {order = array<i32: 1, 0>} : " BLOCK "\n"
#define BLOCK_ARGUMENTS "%a: !tt.ptr<f16>, %m: i64, %n: i64, %stride: i64, %x: i32"

static void block_pointers(void **state) {
    (void)state;
    const char *kernel =
        KERNEL(BLOCK_ARGUMENTS,
               BLOCK_POINTER "    %v = tt.load %p {boundaryCheck = array<i32: 0, 1>, padding = 1 : i32} : " BLOCK "\n"
                             "    %q = tt.advance %p, [%c4, %c4] : " BLOCK "\n"
                             "    tt.store %q, %v {boundaryCheck = array<i32: 0>} : " BLOCK "\n"
                             "    tt.store %p, %v : " BLOCK "\n");
    assert_accesses(kernel, "\"m\": 6, \"n\": 7, \"stride\": 16, \"x\": 0",
                    "read %a + 0..13, 32..45, 64..77, 96..109\nwrite %a + 136..151, 168..183\n"
                    "write %a + 0..15, 32..47, 64..79, 96..111\n");
    assert_accesses(kernel, "\"m\": 6, \"n\": 7, \"stride\": 16, \"x\": -2",
                    "read %a + 0..13, 32..45\nwrite %a + 72..87, 104..119, 136..151, 168..183\n"
                    "write %a + -64..-49, -32..-17, 0..15, 32..47\n");
    assert_accesses(kernel, "\"m\": 6, \"n\": 7, \"x\": 0",
                    "read ? the shape or the strides of its descriptor are not known\n"
                    "write ? the shape or the strides of its descriptor are not known\n"
                    "write ? the shape or the strides of its descriptor are not known\n");
    assert_accesses(kernel, "\"m\": 6, \"n\": 7, \"stride\": 16",
                    "read ? the start of its block is not known\nwrite ? the start of its block is not known\nwrite "
                    "? the start of its block is not known\n");
}

/* A pointer that is moved is another one: the old one may still be in use. */
static void block_pointers_in_a_loop(void **state) {
    (void)state;
    assert_accesses(KERNEL(BLOCK_ARGUMENTS, BLOCK_POINTER
                           "    %c1 = arith.constant 1 : i32\n"
                           "    %c2 = arith.constant 2 : i32\n"
                           "    %last = scf.for %i = %c0 to %c2 step %c1 iter_args(%b = %p) -> (" BLOCK ") : i32 {\n"
                           "      %next = tt.advance %b, [%c4, %c0] : " BLOCK "\n"
                           "      %v = tt.load %b : " BLOCK "\n"
                           "      tt.store %next, %v : " BLOCK "\n"
                           "      scf.yield %next : " BLOCK "\n"
                           "    }\n"),
                    "\"m\": 8, \"n\": 8, \"stride\": 8, \"x\": 0",
                    "read %a + 0..63\nwrite %a + 64..127\nread %a + 64..127\nwrite %a + 128..191\n");
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

/* The tensor that a row is loaded to has a dimension less than the box. */
static void a_row_of_a_box(void **state) {
    (void)state;
    assert_accesses(KERNEL("%desc: !row, %x: i32, %y: i32",
                           "    %data = tt.descriptor_load %desc[%x, %y] : !row -> tensor<8xf16, #blocked>\n"
                           "    tt.descriptor_store %desc[%y, %x], %data : !row, tensor<8xf16, #blocked>\n"),
                    MATRIX_LAUNCH ", \"x\": 2, \"y\": 3", "read %desc + 70..85\nwrite %desc + 100..115\n");
}

static void a_box_that_is_not_known(void **state) {
    (void)state;
    const char *kernel = KERNEL("%desc: !desc, %x: i32, %y: i32", COPY("!desc", "%x, %y"));
    assert_accesses(kernel, "\"x\": 0, \"y\": 0",
                    "read nothing\nread ? the launch does not say what its descriptor describes\n");
    assert_accesses(kernel, MATRIX_LAUNCH ", \"x\": 0", "read nothing\nread ? its coordinates are not known\n");
    assert_accesses(kernel, "\"desc\": {\"descriptor\": {\"shape\": [10]}}, \"x\": 0, \"y\": 0",
                    "read nothing\nread ? its box and its descriptor have different ranks\n");
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
    assert_accesses(KERNEL(MAPPED, SCRATCH MAP("%a", "%b4") REINTERPRET COPY("!desc", "%x, %y")),
                    "\"n\": 12, \"m\": 10, \"stride\": 32, \"x\": 8, \"y\": 8",
                    "write scratch 0 + 0..127\nread scratch 0 + 0..127\nread ? its descriptor may skip elements\n");
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

/* Its rows have no sign: of 16 bits, -1 is row 65535. */
static void rows_by_the_data_mover(void **state) {
    (void)state;
    assert_accesses(
        KERNEL("%desc: !desc, %y: i32",
               "    %c3 = arith.constant dense<3> : tensor<4xi16, #blocked>\n"
               "    %minus = arith.constant dense<-1> : tensor<4xi16, #blocked>\n"
               "    %tile = ttg.local_alloc : () -> !tile\n"
               "    %x = amdg.async_tdm_gather %desc[%c3, %y] to %tile : tensor<4xi16, #blocked>, !tile -> !desc\n"
               "    %z = amdg.async_tdm_scatter %desc[%minus] from %tile : tensor<4xi16, #blocked>, !tile -> !desc\n"),
        "\"desc\": {\"descriptor\": {\"shape\": [65536, 12], \"strides\": [16, 1]}}, \"y\": 8",
        "read %desc + 112..119\nwrite %desc + 2097120..2097135\n");
}

/* One whose place is in the descriptor: the address is moved, and the bounds only if it is said. */
static void descriptors_that_are_moved(void **state) {
    (void)state;
#define MOVED(how)                                                           \
    KERNEL("%desc: !desc, %x: i32, %y: i32, %p: i32",                        \
           "    %tile = ttg.local_alloc : () -> !tile\n"                     \
           "    %at = amdg.update_tensor_descriptor %desc " how " : !desc\n" \
           "    %token = amdg.async_tdm_copy_global_to_local %at into %tile : !desc -> !tile\n")
#define AT ", \"x\": 8, \"y\": 8, \"p\": 1"
    const char *clamped = MOVED("add_offsets = [%x, %y] {clamp_bounds}");
    assert_accesses(clamped, MATRIX_LAUNCH AT, "read %desc + 272..279, 304..311\n");
    assert_accesses(clamped, MATRIX_LAUNCH ", \"x\": -1, \"y\": 0", "read nothing\n");
    assert_accesses(clamped, MATRIX_LAUNCH ", \"x\": 11, \"y\": 0", "read nothing\n");
    assert_accesses(MOVED("add_offsets = [%x, %y]"), MATRIX_LAUNCH AT,
                    "read %desc + 272..287, 304..319, 336..351, 368..383\n");
    assert_accesses(MOVED("set_bounds = [%p, %x]"), MATRIX_LAUNCH AT, "read %desc + 0..15\n");
    assert_accesses(MOVED("pred = %p"), MATRIX_LAUNCH AT, "read %desc + 0..15, 32..47, 64..79, 96..111\n");
    assert_accesses(MOVED("pred = %p"), MATRIX_LAUNCH ", \"p\": 0", "read nothing\n");
    assert_accesses(MOVED("pred = %p"), MATRIX_LAUNCH, "read ? the predicate of its descriptor is not known\n");
    assert_accesses(MOVED("add_offsets = [%x, %y]"), MATRIX_LAUNCH,
                    "read ? the offset of its descriptor is not known\n");
#undef MOVED
#undef AT
}

/* ---- Inline assembly ---------------------------------------------------------------------------- */

#define ASSEMBLY(text, constraints, operands, type)                                                                \
    "    %done = tt.elementwise_inline_asm \"" text "\" {constraints = \"" constraints "\", packed_element = 1 : " \
    "i32, pure = false} " operands " -> " type "\n"

static void an_offset_in_the_assembly(void **state) {
    (void)state;
    assert_accesses(
        KERNEL("%a: !tt.ptr<i32>", ASSEMBLY("ld.global.b32 $0, [$1+16];", "=r,l", "%a : !tt.ptr<i32>", "i32")), "",
        "read %a + 16..19\n");
    assert_accesses(
        KERNEL("%a: !tt.ptr<i32>", ASSEMBLY("ld.global.b32 $0, [$1+-8];", "=r,l", "%a : !tt.ptr<i32>", "i32")), "",
        "read %a + -8..-5\n");
    assert_accesses(
        KERNEL("%a: !tt.ptr<f32>", ROW ASSEMBLY("ld.global.b32 $0, [$1+128];", "=r,l",
                                                "%at : tensor<32x!tt.ptr<f32>, #blocked>", "tensor<32xi32, #blocked>")),
        "", "read %a + 128..255\n");
}

static void elements_that_the_assembly_sizes(void **state) {
    (void)state;
    assert_accesses(KERNEL("%a: !tt.ptr<f32>", ASSEMBLY("ld.global.b8 $0, [$1];", "=r,l", "%a : !tt.ptr<f32>", "i32")),
                    "", "read %a + 0..0\n");
    assert_accesses(
        KERNEL("%a: !tt.ptr<f32>", ROW ASSEMBLY("st.global.b16 [$1], 0; mov.u32 $0, 0;", "=r,l",
                                                "%at : tensor<32x!tt.ptr<f32>, #blocked>", "tensor<32xi32, #blocked>")),
        "", "write %a + 0..1, 4..5, 8..9, 12..13 and 28 more\n");
    assert_accesses(
        KERNEL("%a: !tt.ptr<f32>", ROW ASSEMBLY("ld.global.b64 $0, [$1+4];", "=l,l",
                                                "%at : tensor<32x!tt.ptr<f32>, #blocked>", "tensor<32xi64, #blocked>")),
        "", "read %a + 4..135\n");
}

/* A number is a pointer, too, and says nothing of a size. */
static void assembly_on_numbers(void **state) {
    (void)state;
    assert_accesses(KERNEL("%a: !tt.ptr<f32>", ROW
                           "    %number = tt.ptr_to_int %at : tensor<32x!tt.ptr<f32>, #blocked> -> tensor<32xi64, "
                           "#blocked>\n" ASSEMBLY("ld.global.b32 $0, [$1+8];", "=r,l",
                                                  "%number : tensor<32xi64, #blocked>", "tensor<32xi32, #blocked>")),
                    "", "read %a + 8..135\n");
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
        cmocka_unit_test(atomics),
        cmocka_unit_test(polls),
        cmocka_unit_test(buffer_atomics),
        cmocka_unit_test(copies_to_local_memory),
        cmocka_unit_test(prefetches),
        cmocka_unit_test(block_pointers),
        cmocka_unit_test(block_pointers_in_a_loop),
        cmocka_unit_test(asynchronous_copies),
        cmocka_unit_test(bulk_copies),
        cmocka_unit_test(buffer_ops),
        cmocka_unit_test(a_box_inside),
        cmocka_unit_test(a_box_clipped_at_its_edges),
        cmocka_unit_test(an_offset_in_the_assembly),
        cmocka_unit_test(elements_that_the_assembly_sizes),
        cmocka_unit_test(assembly_on_numbers),
        cmocka_unit_test(rows_without_a_gap_are_one_run),
        cmocka_unit_test(stores_and_reductions_of_boxes),
        cmocka_unit_test(threads_that_touch_the_same_elements),
        cmocka_unit_test(whose_an_element_is_may_be_too_much_to_ask),
        cmocka_unit_test(a_row_of_a_box),
        cmocka_unit_test(a_box_that_is_not_known),
        cmocka_unit_test(a_descriptor_made_in_the_kernel),
        cmocka_unit_test(descriptors_made_in_a_loop),
        cmocka_unit_test(a_tensor_map),
        cmocka_unit_test(a_tensor_map_that_is_written_again),
        cmocka_unit_test(a_tensor_map_with_gaps),
        cmocka_unit_test(gathered_rows),
        cmocka_unit_test(the_tensor_data_mover),
        cmocka_unit_test(rows_by_the_data_mover),
        cmocka_unit_test(descriptors_that_are_moved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
