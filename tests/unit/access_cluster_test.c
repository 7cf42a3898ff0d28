/* machine/tile/memory/access, in clusters whose CTAs have one program between them: each touches its part. What they
 * touch together is what one CTA alone would, and nothing is stored or updated twice. */
#include "accessing.h"

/* Layouts of a matrix, which differ in how a cluster shares it out; `%s` is that. */
#define HEADER                                                                                                    \
    "#square = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, " \
    "0]%s}>\n"                                                                                                    \
    "#rows = #ttg.slice<{dim = 1, parent = #square}>\n"                                                           \
    "#columns = #ttg.slice<{dim = 0, parent = #square}>\n"                                                        \
    "#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16%s}>\n"        \
    "#smem = #ttg.shared_memory\n"                                                                                \
    "!tile = !ttg.memdesc<32x64xf16, #shared, #smem, mutable>\n"                                                  \
    "!desc = !tt.tensordesc<tensor<32x64xf16, #shared>>\n"                                                        \
    "!row = !tt.tensordesc<tensor<1x64xf16, #shared>>\n"                                                          \
    "!data = tensor<32x64xf16, #square>\n"                                                                        \
    "!pointers = tensor<32x64x!tt.ptr<f16>, #square>\n"                                                           \
    "!offsets = tensor<32x64xi32, #square>\n"

/* A masked tile that leaves its matrix, in rows that are longer than it. */
#define KERNEL                                                                                                      \
    HEADER                                                                                                          \
    "module attributes {\"ttg.num-ctas\" = %u : i32, \"ttg.num-warps\" = 4 : i32} {\n"                              \
    "  tt.func public @kernel(%%a: !tt.ptr<f16>, %%desc: !desc, %%row: !row, %%m: i32, %%n: i32) {\n"               \
    "    %%c96 = arith.constant dense<96> : tensor<32x1xi32, #square>\n"                                            \
    "    %%r = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #rows>\n"                           \
    "    %%c = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #columns>\n"                        \
    "    %%r1 = tt.expand_dims %%r {axis = 1 : i32} : tensor<32xi32, #rows> -> tensor<32x1xi32, #square>\n"         \
    "    %%c1 = tt.expand_dims %%c {axis = 0 : i32} : tensor<64xi32, #columns> -> tensor<1x64xi32, #square>\n"      \
    "    %%s = arith.muli %%r1, %%c96 : tensor<32x1xi32, #square>\n"                                                \
    "    %%s2 = tt.broadcast %%s : tensor<32x1xi32, #square> -> !offsets\n"                                         \
    "    %%c2 = tt.broadcast %%c1 : tensor<1x64xi32, #square> -> !offsets\n"                                        \
    "    %%o = arith.addi %%s2, %%c2 : !offsets\n"                                                                  \
    "    %%base = tt.splat %%a : !tt.ptr<f16> -> !pointers\n"                                                       \
    "    %%p = tt.addptr %%base, %%o : !pointers, !offsets\n"                                                       \
    "    %%ms = tt.splat %%m : i32 -> tensor<32x1xi32, #square>\n"                                                  \
    "    %%ns = tt.splat %%n : i32 -> tensor<1x64xi32, #square>\n"                                                  \
    "    %%below = arith.cmpi slt, %%r1, %%ms : tensor<32x1xi32, #square>\n"                                        \
    "    %%left = arith.cmpi slt, %%c1, %%ns : tensor<1x64xi32, #square>\n"                                         \
    "    %%b2 = tt.broadcast %%below : tensor<32x1xi1, #square> -> tensor<32x64xi1, #square>\n"                     \
    "    %%l2 = tt.broadcast %%left : tensor<1x64xi1, #square> -> tensor<32x64xi1, #square>\n"                      \
    "    %%mask = arith.andi %%b2, %%l2 : tensor<32x64xi1, #square>\n"                                              \
    "    %%x = tt.load %%p, %%mask : !pointers\n"                                                                   \
    "    tt.store %%p, %%x, %%mask : !pointers\n"                                                                   \
    "    tt.store %%p, %%x : !pointers\n"                                                                           \
    "    %%u = tt.atomic_rmw fadd, relaxed, gpu, %%p, %%x, %%mask : (!pointers, !data, tensor<32x64xi1, #square>) " \
    "-> !data\n"                                                                                                    \
    "    %%y = amdg.buffer_load %%a[%%o], %%mask : !data\n"                                                         \
    "    amdg.buffer_store %%y, %%a[%%o], %%mask : !data\n"                                                         \
    "    %%one = tt.load %%a : !tt.ptr<f16>\n"                                                                      \
    "    tt.store %%a, %%one : !tt.ptr<f16>\n"                                                                      \
    "    %%tile = ttg.local_alloc %%x : (!data) -> !tile\n"                                                         \
    "    %%d = tt.descriptor_load %%desc[%%m, %%n] : !desc -> !data\n"                                              \
    "    tt.descriptor_store %%desc[%%m, %%n], %%d : !desc, !data\n"                                                \
    "    ttng.async_tma_copy_local_to_global %%desc[%%m, %%n] %%tile : !desc, !tile\n"                              \
    "    ttng.async_tma_reduce add, %%desc[%%m, %%m] %%tile : !desc, !tile\n"                                       \
    "    %%g = tt.descriptor_gather %%row[%%r, %%n] : (!row, tensor<32xi32, #rows>, i32) -> !data\n"                \
    "    tt.descriptor_scatter %%row[%%r, %%n], %%g : !row, tensor<32xi32, #rows>, i32, !data\n"                    \
    "    tt.return\n"                                                                                               \
    "  }\n"                                                                                                         \
    "}\n"
#define LAUNCH                                                                                              \
    "\"desc\": {\"descriptor\": {\"shape\": [40, 100], \"strides\": [128, 1]}}, \"row\": {\"descriptor\": " \
    "{\"shape\": [30, 100]}}, \"m\": 17, \"n\": 45"

static Accesses *run_shared(unsigned ctas, const char *how) {
    Text text = {0};
    text_addf(&text, KERNEL, how, how, ctas);
    text_char(&text, 0);
    Accesses *accesses = run_accesses(text.data, LAUNCH);
    text_free(&text);
    return accesses;
}

/* What all CTAs do with one op, by its number: as the runs of one after the other. */
static Bytes all_of(Accesses *accesses, unsigned line, EffectVerb verb, uint64_t *elements) {
    Run *runs = ARENA_ARRAY(&accesses->arena, Run, 1 << 14);
    uint32_t count = 0;
    const Op *op = find_op(accesses->reading, "tt.func", 0)->regions[0].first->first;
    while (line-- > 0)
        op = op->next;
    *elements = 0;
    for (unsigned i = 0; i < accesses->count; i++) {
        const Reported *reported = &accesses->reported[i];
        if (reported->op != op || reported->verb != verb)
            continue;
        if (!reported->known)
            print_error("%.*s: %s\n", (int)op->name.size, op->name.data, reported->reason);
        assert_true(reported->known);
        *elements += reported->elements;
        assert_true(count + reported->bytes.count <= 1 << 14);
        if (reported->bytes.count)
            memcpy(runs + count, reported->bytes.runs, reported->bytes.count * sizeof *runs);
        count += reported->bytes.count;
    }
    return (Bytes){runs, count};
}

/* Which bytes are in any of them. */
static void mark(const Bytes *bytes, int64_t from, uint8_t *marks, size_t size) {
    memset(marks, 0, size);
    for (uint32_t i = 0; i < bytes->count; i++)
        for (int64_t at = bytes->runs[i].begin; at < bytes->runs[i].end; at++) {
            assert_true(at >= from && (size_t)(at - from) < size);
            marks[at - from] = 1;
        }
}

/* `copies`: how many CTAs have the same part. */
static void assert_shares(unsigned ctas, const char *how, unsigned copies) {
    enum { SIZE = 1 << 15 };
    static uint8_t alone_marks[SIZE], together_marks[SIZE];
    static const EffectVerb verbs[] = {EFFECT_READ, EFFECT_WRITE, EFFECT_UPDATE};
    Accesses *alone = run_shared(1, ""), *together = run_shared(ctas, how);
    const Op *op = find_op(alone->reading, "tt.func", 0)->regions[0].first->first;
    unsigned compared = 0;
    for (unsigned line = 0; op; op = op->next, line++)
        for (unsigned v = 0; v < 3; v++) {
            uint64_t elements, others;
            Bytes expected = all_of(alone, line, verbs[v], &elements);
            Bytes found = all_of(together, line, verbs[v], &others);
            if (!expected.count)
                continue;
            int64_t area = expected.runs[0].begin >> 40 << 40;
            mark(&expected, area, alone_marks, SIZE);
            mark(&found, area, together_marks, SIZE);
            if (memcmp(alone_marks, together_marks, SIZE) != 0)
                print_error("%u CTAs%s: %.*s touches something else\n", ctas, how, (int)op->name.size, op->name.data);
            assert_memory_equal(alone_marks, together_marks, SIZE);
            bool scalar = elements == 1;
            assert_int_equal(others, elements * (v == 0 ? (scalar ? ctas : copies) : 1));
            compared++;
        }
    assert_int_equal(compared, 14);
    end_accesses(alone);
    end_accesses(together);
}

static void two_ctas(void **state) {
    (void)state;
    assert_shares(2, ", CGALayout = [[1, 0]]", 1);
    assert_shares(2, ", CGALayout = [[0, 1]]", 1);
    assert_shares(2, ", CGALayout = [[0, 0]]", 2);
}

static void as_it_was_written(void **state) {
    (void)state;
    assert_shares(2, ", CTAsPerCGA = [2, 1], CTASplitNum = [2, 1], CTAOrder = [1, 0]", 1);
    assert_shares(2, ", CTAsPerCGA = [1, 2], CTASplitNum = [1, 1], CTAOrder = [0, 1]", 2);
    assert_shares(8, ", CTAsPerCGA = [2, 4], CTASplitNum = [2, 2], CTAOrder = [1, 0]", 2);
}

static void more_ctas(void **state) {
    (void)state;
    assert_shares(4, ", CGALayout = [[1, 0], [0, 1]]", 1);
    assert_shares(4, ", CGALayout = [[0, 1], [0, 0]]", 2);
    assert_shares(4, ", CGALayout = [[0, 0], [1, 0]]", 2);
    assert_shares(8, ", CGALayout = [[0, 2], [1, 0], [0, 1]]", 1);
    assert_shares(16, ", CGALayout = [[0, 1], [0, 0], [1, 0], [2, 0]]", 2);
}

/* Of 64 elements the first CTA has the even ones. */
static void parts_that_are_no_boxes(void **state) {
    (void)state;
    assert_accesses("#even = #ttg.linear<{register = [], lane = [[2], [4], [8], [16], [32]], warp = [[0], [0]], block "
                    "= [[1]]}>\n"
                    "module attributes {\"ttg.num-ctas\" = 2 : i32, \"ttg.num-warps\" = 4 : i32} {\n"
                    "  tt.func public @kernel(%a: !tt.ptr<f32>, %n: i32) {\n"
                    "    %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #even>\n"
                    "    %limit = tt.splat %n : i32 -> tensor<64xi32, #even>\n"
                    "    %mask = arith.cmpi slt, %range, %limit : tensor<64xi32, #even>\n"
                    "    %base = tt.splat %a : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>, #even>\n"
                    "    %at = tt.addptr %base, %range : tensor<64x!tt.ptr<f32>, #even>, tensor<64xi32, #even>\n"
                    "    %value = tt.load %at : tensor<64x!tt.ptr<f32>, #even>\n"
                    "    tt.store %at, %value, %mask : tensor<64x!tt.ptr<f32>, #even>\n"
                    "    tt.return\n  }\n}\n",
                    "\"n\": 4",
                    "read %a + 0..3, 8..11, 16..19, 24..27 and 28 more\nwrite %a + 0..3, 8..11\n"
                    "read %a + 4..7, 12..15, 20..23, 28..31 and 28 more\nwrite %a + 4..7, 12..15\n");
}

#define COPIES(layout, attributes)                                                                              \
    "#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 16, CGALayout " \
    "= " layout "}>\n"                                                                                          \
    "#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[1]]}>\n"     \
    "#smem = #ttg.shared_memory\n"                                                                              \
    "!barrier = !ttg.memdesc<2xi64, #flat, #smem, mutable>\n"                                                   \
    "!tile = !ttg.memdesc<8x8xf16, #shared, #smem, mutable>\n"                                                  \
    "!desc = !tt.tensordesc<8x8xf16, #shared>\n"                                                                \
    "module attributes {\"ttg.num-ctas\" = 2 : i32, \"ttg.num-warps\" = 4 : i32} {\n"                           \
    "  tt.func public @kernel(%desc: !desc) {\n"                                                                \
    "    %true = arith.constant true\n"                                                                         \
    "    %c0 = arith.constant 0 : i32\n"                                                                        \
    "    %tile = ttg.local_alloc : () -> !tile\n"                                                               \
    "    %full = ttg.local_alloc : () -> !barrier\n"                                                            \
    "    ttng.init_barrier %full, 1 : !barrier\n"                                                               \
    "    ttng.cluster_barrier\n"                                                                                \
    "    ttng.async_tma_copy_global_to_local %desc[%c0, %c0] %tile, %full, %true" attributes                    \
    " : !desc, !barrier -> !tile\n"                                                                             \
    "    tt.return\n  }\n}\n"
#define SQUARE "\"desc\": {\"descriptor\": {\"shape\": [8, 8]}}"

/* Each copies what its own shared memory has; one copy serves all that it is multicast to. The second CTA, which comes
 * last to where they meet, goes on first. */
static void copies_by_tma(void **state) {
    (void)state;
    assert_accesses(COPIES("[[1, 0]]", ""), SQUARE,
                    "read nothing\nread %desc + 64..127\nread nothing\nread %desc + 0..63\n");
    assert_accesses(COPIES("[[0, 0]]", ""), SQUARE,
                    "read nothing\nread %desc + 0..127\nread nothing\nread %desc + 0..127\n");
    assert_accesses(COPIES("[[0, 0]]", " {multicast}"), SQUARE,
                    "read nothing\nread nothing\nread nothing\nread %desc + 0..127\n");
    /* From the bases of shared memory itself. */
    assert_accesses("#shared = #ttg.shared_linear<{offset = [[0, 1], [1, 0]], block = [[0, 2]]}, alignment = 16>\n"
                    "#smem = #ttg.shared_memory\n"
                    "!tile = !ttg.memdesc<2x4xf16, #shared, #smem, mutable>\n"
                    "module attributes {\"ttg.num-ctas\" = 2 : i32, \"ttg.num-warps\" = 4 : i32} {\n"
                    "  tt.func public @kernel(%desc: !tt.tensordesc<2x4xf16, #shared>) {\n"
                    "    %c0 = arith.constant 0 : i32\n"
                    "    %tile = ttg.local_alloc : () -> !tile\n"
                    "    ttng.async_tma_copy_local_to_global %desc[%c0, %c0] %tile : !tt.tensordesc<2x4xf16, #shared>, "
                    "!tile\n"
                    "    tt.return\n  }\n}\n",
                    "\"desc\": {\"descriptor\": {\"shape\": [8, 8]}}",
                    "read nothing\nwrite %desc + 0..3, 16..19\nread nothing\nwrite %desc + 4..7, 20..23\n");
}

/* A layout that knows of one CTA does not say what two of them have, nor does one that leaves out elements. */
static void layouts_of_another_cluster(void **state) {
    (void)state;
#define ONE(how)                                                                                                 \
    "#one = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]" how "}>\n" \
    "module attributes {\"ttg.num-ctas\" = 2 : i32, \"ttg.num-warps\" = 4 : i32} {\n"                            \
    "  tt.func public @kernel(%a: !tt.ptr<f32>) {\n"                                                             \
    "    %base = tt.splat %a : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>, #one>\n"                                  \
    "    %value = tt.load %base : tensor<64x!tt.ptr<f32>, #one>\n"                                               \
    "    tt.return\n  }\n}\n"
    const char *unknown = "read ? which part each CTA of the cluster has is not known\nread ? which part each CTA of "
                          "the cluster has is not known\n";
    assert_accesses(ONE(""), "", unknown);
    assert_accesses(ONE(", CGALayout = [[2]]"), "", unknown);
    assert_accesses(ONE(", CGALayout = [[1], [2]]"), "", unknown);
#undef ONE
}

/* One CTA does it; a store can be told that every CTA does. */
static void scalars(void **state) {
    (void)state;
    assert_accesses("module attributes {\"ttg.num-ctas\" = 2 : i32, \"ttg.num-warps\" = 4 : i32} {\n"
                    "  tt.func public @kernel(%a: !tt.ptr<i32>) {\n"
                    "    %c1 = arith.constant 1 : i32\n"
                    "    %true = arith.constant true\n"
                    "    %x = tt.load %a : !tt.ptr<i32>\n"
                    "    tt.store %a, %c1 : !tt.ptr<i32>\n"
                    "    tt.store %a, %c1 {ignore_cta} : !tt.ptr<i32>\n"
                    "    %y = tt.atomic_rmw add, acq_rel, gpu, %a, %c1, %true : (!tt.ptr<i32>, i32, i1) -> i32\n"
                    "    tt.return\n  }\n}\n",
                    "",
                    "read %a + 0..3\nwrite %a + 0..3\nwrite %a + 0..3\nupdate %a + 0..3\n"
                    "read %a + 0..3\nwrite nothing\nwrite %a + 0..3\nupdate nothing\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_ctas),      cmocka_unit_test(as_it_was_written),
        cmocka_unit_test(more_ctas),     cmocka_unit_test(parts_that_are_no_boxes),
        cmocka_unit_test(copies_by_tma), cmocka_unit_test(layouts_of_another_cluster),
        cmocka_unit_test(scalars),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
