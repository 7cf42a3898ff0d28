/* Matrices in the machine of PTX: formats of elements, descriptors of tiles in shared memory, what MMAs tell and what
 * is not known of their results. What they compute is held against an H200 (tests/machine/matrix_*). */
#include "ptx_running.h"

#include "machine/simt/mma/matrix_descriptor.h"
#include "machine/simt/mma/matrix_fragments.h"

#include <math.h>

/* ---- Numbers ---- */

static void formats(void **state) {
    (void)state;
    const struct {
        MatrixType type;
        uint32_t bits;
        float value;
    } cases[] = {
        {MATRIX_F16, 0x3c00, 1},
        {MATRIX_F16, 0xc000, -2},
        {MATRIX_F16, 0x0001, 0x1p-24f},
        {MATRIX_F16, 0x7bff, 65504},
        {MATRIX_F16, 0x7c00, INFINITY},
        {MATRIX_F16, 0xffff3c00, 1},
        {MATRIX_BF16, 0x3f80, 1},
        {MATRIX_BF16, 0xc040, -3},
        {MATRIX_BF16, 0x0001, 0x1p-133f},
        {MATRIX_TF32, 0x3f801fff, 1},
        {MATRIX_TF32, 0x3f802000, 0x1.004p0f},
        {MATRIX_F32, 0x3f800001, 0x1.000002p0f},
        {MATRIX_E4M3, 0x38, 1},
        {MATRIX_E4M3, 0x7e, 448},
        {MATRIX_E4M3, 0x01, 0x1p-9f},
        {MATRIX_E4M3, 0xb9, -1.125f},
        {MATRIX_E5M2, 0x3c, 1},
        {MATRIX_E5M2, 0x7b, 57344},
        {MATRIX_E5M2, 0xfc, -INFINITY},
        {MATRIX_E5M2, 0x01, 0x1p-16f},
        {MATRIX_E3M2, 0x0c, 1},
        {MATRIX_E3M2, 0x1f, 28},
        {MATRIX_E3M2, 0x21, -0.0625f},
        {MATRIX_E2M3, 0x08, 1},
        {MATRIX_E2M3, 0x1f, 7.5f},
        {MATRIX_E2M3, 0x01, 0.125f},
        {MATRIX_E2M1, 0x7, 6},
        {MATRIX_E2M1, 0x9, -0.5f},
        {MATRIX_E2M1, 0x2, 1},
        {MATRIX_S8, 0x80, -128},
        {MATRIX_U8, 0x80, 128},
        {MATRIX_S4, 0xf, -1},
        {MATRIX_S4, 0x17, 7},
        {MATRIX_U4, 0xf, 15},
        {MATRIX_B1, 3, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (matrix_float(cases[i].type, cases[i].bits) != cases[i].value)
            fail_msg("type %d, bits %x: %g, not %g", cases[i].type, cases[i].bits,
                     (double)matrix_float(cases[i].type, cases[i].bits), (double)cases[i].value);
    assert_true(isnan(matrix_float(MATRIX_E4M3, 0x7f)));
    assert_true(isnan(matrix_float(MATRIX_E5M2, 0x7d)));
    assert_true(isnan(matrix_float(MATRIX_F16, 0x7c01)));
    assert_true(matrix_scale(true, 130) == 8 && matrix_scale(true, 0) == 0x1p-127f && isnan(matrix_scale(true, 255)));
    assert_true(matrix_scale(false, 0x40) == 2);
    assert_int_equal(matrix_type(STR("e2m3")), MATRIX_E2M3);
    assert_int_equal(matrix_type(STR("b16")), MATRIX_NONE);
}

/* Every f16 comes back as it was; what is between two of them goes to the nearer, or to the even one. */
static void results(void **state) {
    (void)state;
    for (uint32_t bits = 0; bits < 0x7c00; bits++) {
        double value = matrix_accumulator(MATRIX_F16, bits), next = matrix_accumulator(MATRIX_F16, bits + 1);
        assert_int_equal(matrix_result(MATRIX_F16, value, false), bits);
        assert_int_equal(matrix_result(MATRIX_F16, -value, false), bits | 0x8000);
        if (bits == 0x7bff)
            break;
        assert_int_equal(matrix_result(MATRIX_F16, (value + next) / 2, false), bits + (bits & 1));
        assert_int_equal(matrix_result(MATRIX_F16, value + (next - value) * 0.51, false), bits + 1);
    }
    assert_int_equal(matrix_result(MATRIX_F16, 65519, false), 0x7bff);
    assert_int_equal(matrix_result(MATRIX_F16, 65520, false), 0x7c00);
    assert_int_equal(matrix_result(MATRIX_F16, -1e9, true), 0xfbff);
    assert_int_equal(matrix_result(MATRIX_F16, NAN, false), 0x7fff);
    assert_int_equal(matrix_result(MATRIX_F32, NAN, false), 0x7fffffff);
    assert_int_equal(matrix_result(MATRIX_F32, 1e300, false), 0x7f800000);
    assert_int_equal(matrix_result(MATRIX_S32, 2147483648.0, false), 0x80000000);
    assert_int_equal(matrix_result(MATRIX_S32, 2147483648.0, true), 0x7fffffff);
    assert_int_equal(matrix_result(MATRIX_S32, -2147483650.0, true), 0x80000000);
    assert_int_equal(matrix_result(MATRIX_S32, -5, true), (uint32_t)-5);
}

static void multiplies_now(void) {
    double a[5 * 5], b[5 * 16], c[5 * 16], expected[5 * 16];
    for (unsigned i = 0; i < 25; i++)
        a[i] = (double)(i * 7 % 5) - 2;
    for (unsigned i = 0; i < 80; i++)
        b[i] = (double)(i * 11 % 9) - 4;
    for (unsigned i = 0; i < 80; i++) {
        unsigned row = i / 16, column = i % 16;
        c[i] = expected[i] = i;
        for (unsigned k = 0; k < 5; k++)
            expected[i] += a[row * 5 + k] * b[column / 8 * 40 + k * 8 + column % 8];
    }
    matrix_multiply(5, 16, &(MatrixFactors){.k = 5, .a_row = 5, .a = a, .b = b}, c);
    assert_memory_equal(c, expected, sizeof c);
}

/* Vectors of elements are what one element is, and so are fragments that come from registers. */
static void decodes_now(void) {
    static const MatrixType types[] = {MATRIX_F16,  MATRIX_BF16, MATRIX_TF32, MATRIX_E4M3, MATRIX_E5M2,
                                       MATRIX_E3M2, MATRIX_E2M3, MATRIX_E2M1, MATRIX_S8,   MATRIX_U8,
                                       MATRIX_S4,   MATRIX_U4,   MATRIX_B1};
    for (unsigned t = 0; t < sizeof types / sizeof *types; t++) {
        MatrixDecoder decoder = matrix_decoder(types[t]);
        for (uint64_t first = 0; first < 0x10000; first += 8) {
            uint32_t bits[8];
            double to[8];
            for (unsigned i = 0; i < 8; i++)
                bits[i] = (uint32_t)(first + i) * (types[t] == MATRIX_TF32 ? 0x10001 : 1);
            matrix_decode(&decoder, bits, 8, to);
            for (unsigned i = 0; i < 8; i++) {
                double one = matrix_float(types[t], bits[i]);
                assert_true(isnan(one) ? isnan(to[i]) : memcmp(&one, &to[i], sizeof one) == 0);
            }
        }
    }
}

static void fragments_now(void) {
    static const MatrixType types[] = {MATRIX_F16, MATRIX_TF32, MATRIX_E5M2, MATRIX_S8, MATRIX_S4, MATRIX_B1};
    for (unsigned t = 0; t < sizeof types / sizeof *types; t++) {
        unsigned bits = matrix_type_bits(types[t]), per = 32 / bits, k = 8 * per;
        Lanes registers[6];
        const Lanes *at[6];
        uint32_t none[6] = {0};
        bool unknown[16] = {false};
        static double a[16 * 256], b[8 * 256];
        double d[4][PTX_LANES], expected;
        MatrixSteps steps;
        for (unsigned r = 0; r < 6; r++) {
            at[r] = &registers[r];
            for (unsigned lane = 0; lane < PTX_LANES; lane++) /* small numbers: all sums are exact */
                registers[r].at[lane] = (r * 0x9e3779b9u + lane * 0x85ebca6bu) & 0x47074707;
        }
        none[1] = 1u << 9; /* of row 10 */
        matrix_steps(types[t], k, &steps);
        matrix_take_a((MatrixRegisters){at, none, 4, types[t]}, a, unknown);
        for (unsigned row = 0; row < 16; row++)
            assert_int_equal(unknown[row], row == 10);
        memset(none, 0, sizeof none);
        matrix_take_b((MatrixRegisters){at + 4, none, 2, types[t]}, b, unknown);
        memset(d, 0, sizeof d);
        MatrixFactors factors = {
            .k = k, .a_row = MATRIX_A_ROW, .a_half = steps.a_half, .a = a, .b = b, .a_at = steps.a, .b_at = steps.b};
        matrix_multiply_fragments(16, 8, &factors, d);
        for (unsigned e = 0; e < 4; e++)
            for (unsigned lane = 0; lane < PTX_LANES; lane++) {
                unsigned row = matrix_row(lane, e), column = matrix_column(lane, e);
                expected = 0;
                for (unsigned i = 0; i < k; i++) {
                    unsigned r = i / per / 4, from = i / per % 4, shift = i % per * bits;
                    uint64_t left = registers[2 * r + row / 8].at[row % 8 * 4 + from] >> shift;
                    uint64_t right = registers[4 + r].at[column * 4 + from] >> shift;
                    expected += (double)matrix_float(types[t], (uint32_t)left) *
                                (double)matrix_float(types[t], (uint32_t)right);
                }
                assert_true(d[e][lane] == expected);
            }
    }
}

/* Sums of what is rounded in each step: the same bits whatever the processor has. */
static uint64_t sums_of_numbers(void) {
    enum { ROWS = 16, COLUMNS = 16, DEPTH = 48 };
    static double a[ROWS * DEPTH], b[DEPTH * COLUMNS], c[ROWS * COLUMNS];
    uint32_t words[DEPTH * COLUMNS];
    Lanes registers[COLUMNS / 2];
    double d[COLUMNS / 2][PTX_LANES];
    uint64_t state = 5, hash = 0;
    MatrixDecoder decoder = matrix_decoder(MATRIX_BF16);
    for (unsigned i = 0; i < DEPTH * COLUMNS; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        words[i] = (uint32_t)(state >> 40) % 0x3f80 + (state >> 63 ? 0x8000 : 0) + 0x1000;
    }
    matrix_decode(&decoder, words, ROWS * DEPTH, a);
    for (unsigned i = 0; i < DEPTH * COLUMNS; i++)
        words[i] = words[i] * 7 % 0x4000 + 0x2000;
    matrix_decode(&decoder, words, DEPTH * COLUMNS, b);
    memset(c, 0, sizeof c);
    memset(d, 0, sizeof d);
    MatrixFactors factors = {.k = DEPTH, .a_row = DEPTH, .a_half = 8 * DEPTH, .a = a, .b = b};
    matrix_multiply(ROWS, COLUMNS, &factors, c);
    matrix_multiply_fragments(ROWS, COLUMNS, &factors, d);
    for (unsigned i = 0; i < COLUMNS / 2; i++) {
        matrix_narrow(d[i], registers[i].at);
        matrix_widen(registers[i].at, d[i]);
        matrix_narrow_words(c + i * 32, 31, (uint8_t *)words);
        matrix_widen_words((const uint8_t *)words, 31, c + i * 32);
    }
    for (unsigned i = 0; i < ROWS * COLUMNS; i++) {
        uint64_t bits[2];
        memcpy(&bits[0], &c[i], 8);
        memcpy(&bits[1], &d[i / 32][i % 32], 8);
        hash = ((hash ^ bits[0]) * UINT64_C(0x100000001b3) ^ bits[1]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

static void versions(void **state) {
    (void)state;
    uint64_t sums = 0;
    for (MatrixVersion version = MATRIX_PLAIN; version <= MATRIX_AVX512; version++) {
        if (!matrix_choose(version))
            break;
        multiplies_now();
        decodes_now();
        fragments_now();
        uint64_t now = sums_of_numbers();
        if (version != MATRIX_PLAIN)
            assert_int_equal(now, sums);
        sums = now;
    }
}

/* ---- Descriptors ---- */

static uint64_t descriptor(uint32_t address, uint32_t leading, uint32_t stride, unsigned mode) {
    return address >> 4 | (uint64_t)(leading >> 4) << 16 | (uint64_t)(stride >> 4) << 32 | (uint64_t)mode << 62;
}

/* The examples of PTX ISA, "Canonical layouts". */
static void canonical(void **state) {
    (void)state;
    MatrixTile tile = {
        .descriptor = matrix_descriptor(descriptor(0, 64 * 4, 32 * 4, 0)), .type = MATRIX_TF32, .lines = 16, .k = 16};
    for (unsigned i = 0; i < 16; i++)
        for (unsigned j = 0; j < 4; j++)
            assert_int_equal(matrix_chunk(&tile, i, j), (i % 8 * 4 + i / 8 * 32 + j * 64) * 4);
    tile.descriptor = matrix_descriptor(descriptor(0, 16, 64 * 4, 3)); /* 32 bytes */
    for (unsigned i = 0; i < 16; i++)
        for (unsigned j = 0; j < 2; j++) {
            uint32_t linear = (i % 8 * 8 + i / 8 * 64 + j * 4) * 4;
            assert_int_equal(matrix_chunk(&tile, i, j), linear ^ (linear >> 3 & 16));
        }
    tile = (MatrixTile){.descriptor = matrix_descriptor(descriptor(0, 128 * 2, 64 * 2, 0)),
                        .across = true,
                        .type = MATRIX_BF16,
                        .lines = 16,
                        .k = 16};
    for (unsigned i = 0; i < 2; i++)
        for (unsigned k = 0; k < 16; k++)
            assert_int_equal(matrix_chunk(&tile, i, k), (i * 64 + k % 8 * 8 + k / 8 * 128) * 2);
    tile.descriptor = matrix_descriptor(descriptor(0, 256 * 2, 512 * 2, 2)); /* 64 bytes */
    for (unsigned i = 0; i < 8; i++)
        for (unsigned k = 0; k < 16; k++) {
            uint32_t linear = (i % 4 * 8 + i / 4 * 256 + k % 8 * 32 + k / 8 * 512) * 2;
            assert_int_equal(matrix_chunk(&tile, i, k), linear ^ (linear >> 3 & 48));
        }
}

/* 64 rows of 128 bytes each, in any swizzle of 128 bytes: each row's part along k is 32 bytes, none twice. */
static void pieces_of_a_tile(void **state) {
    (void)state;
    PtxMachine machine = {0};
    PtxBlock block = {.space = PTX_SPACE_SHARED, .size = 65536};
    MatrixTile tile = {.descriptor = matrix_descriptor(descriptor(1024 + 32, 16, 1024, 1)),
                       .type = MATRIX_F16,
                       .first = 16,
                       .lines = 16,
                       .k = 16};
    PtxLocation locations[64];
    uint32_t sizes[64];
    MatrixPieces pieces = {.locations = locations, .sizes = sizes, .capacity = 64};
    assert_true(matrix_pieces(&machine, NULL, NULL, &block, &tile, &pieces));
    assert_int_equal(pieces.count, 16);
    for (uint32_t i = 0; i < 16; i++) {
        assert_int_equal(sizes[i], 32);
        assert_int_equal(locations[i].offset / 128, 8 + 16 + i);
        assert_int_equal(locations[i].offset % 128, (1 ^ (i % 8 >> 1)) * 32);
    }
    tile.descriptor = matrix_descriptor(descriptor(1024, 8192, 128, 0)); /* no swizzle: 8 rows are 128 bytes */
    tile.first = 0, tile.lines = 64;
    pieces.count = 0;
    assert_true(matrix_pieces(&machine, NULL, NULL, &block, &tile, &pieces));
    assert_int_equal(pieces.count, 2);
    assert_int_equal(sizes[0], 1024);
    assert_int_equal(locations[1].offset, 1024 + 8192);
}

static void tensor_modes(void **state) {
    (void)state;
    MatrixDescriptor d;
    assert_true(tensor_descriptor(UINT64_C(2) << 61, &d) && d.line == 128 && !d.pairs);
    assert_true(tensor_descriptor(UINT64_C(1) << 61, &d) && d.line == 128 && d.pairs);
    assert_true(tensor_descriptor(UINT64_C(4) << 61, &d) && d.line == 64);
    assert_true(tensor_descriptor(UINT64_C(6) << 61, &d) && d.line == 32);
    assert_true(tensor_descriptor(0, &d) && d.line == 16);
    assert_false(tensor_descriptor(UINT64_C(3) << 61, &d));
}

/* ---- Kernels ---- */

#undef KERNEL
#define KERNEL(body)                                                                                       \
    ".visible .entry k(.param .u64 in, .param .u64 out)"                                                   \
    "{ .reg .pred %p<8>; .reg .b32 %r<80>; .reg .b64 %rd<20>; .shared .align 1024 .b8 tile[16384];\n"      \
    "ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd4, %r1, 4;\n" \
    "add.s64 %rd3, %rd2, %rd4; add.s64 %rd5, %rd1, %rd4; mov.u32 %r2, tile;\n" body "}"

typedef struct Seen {
    unsigned count;
    PtxEvent last;
    uint64_t offsets[1024];
    uint32_t sizes[1024];
    unsigned pieces; /* of all outstanding operations together */
} Seen;

static void see(void *observer, const PtxEvent *event) {
    Seen *seen = observer;
    if (event->kind != PTX_EVENT_ACCESS ||
        event->locations[__builtin_ctz(event->lanes)].block->space != PTX_SPACE_SHARED)
        return;
    seen->count++;
    seen->last = *event;
    for (uint32_t i = 0; i < event->location_count && seen->pieces < 1024; i++)
        if (event->outstanding) {
            seen->offsets[seen->pieces] = event->locations[i].offset;
            seen->sizes[seen->pieces++] = event->sizes ? event->sizes[i] : event->access.bytes;
        }
}

static void start(PtxRunning *r, Seen *seen, uint32_t threads, ScheduleKind kind, const char *text) {
    const char *problem;
    ptx_running_read(r, "sm_90a", text);
    memset(seen, 0, sizeof *seen);
    r->launch.block[0] = threads;
    r->schedule.kind = kind;
    r->machine = ptx_machine(r->program, &r->launch, COMPUTES_ALL, &problem);
    assert_non_null(r->machine);
    r->machine->budget = 10000000;
    r->machine->observe = see;
    r->machine->observer = seen;
}

/* Lanes 0 to 7 give the rows of one matrix; what the others have is not looked at. */
static void rows_are_reported(void **state) {
    (void)state;
    PtxRunning r;
    static Seen seen;
    start(&r, &seen, 32, SCHEDULE_EAGER,
          KERNEL("shl.b32 %r3, %r1, 4; setp.gt.u32 %p1, %r1, 7; add.u32 %r4, %r2, %r3; @%p1 mov.u32 %r4, 3;\n"
                 "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [%r4]; st.global.u32 [%rd3], %r5; ret;"));
    ptx_running_expect(&r, PTX_END_COMPLETE);
    assert_int_equal(seen.count, 1);
    assert_int_equal(seen.last.lanes, 0xff);
    assert_int_equal(seen.last.access.bytes, 16);
    assert_int_equal(seen.last.access.kind, EFFECT_READ);
    assert_int_equal(seen.last.access.proxy, PROXY_GENERIC);
    bool known = true;
    ptx_running_word(&r, 0, &known);
    assert_false(known); /* nothing wrote the tile */
    ptx_running_end(&r);
}

static void fails(uint32_t threads, RuleId rule, const char *text) {
    PtxRunning r;
    static Seen seen;
    start(&r, &seen, threads, SCHEDULE_EAGER, text);
    ptx_running_expect(&r, PTX_END_FAULT);
    assert_int_equal(r.machine->fault.rule, rule);
    ptx_running_end(&r);
}

static void misuse(void **state) {
    (void)state;
    /* A part of the warp, by its guard. */
    fails(32, RULE_THREADS_DIVERGENT_WARP,
          KERNEL("setp.lt.u32 %p1, %r1, 16;\n"
                 "@%p1 mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%r4,%r5,%r6,%r7}, {%r8,%r9}, {%r10}, "
                 "{%r4,%r5,%r6,%r7}; ret;"));
    /* Two warps where four are needed. */
    fails(
        64, RULE_THREADS_DIVERGENT_WARP,
        KERNEL("mov.u64 %rd6, 0; wgmma.fence.sync.aligned;\n"
               "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r4,%r5,%r6,%r7}, %rd6, %rd6, 1, 1, 1, 0, 0; ret;"));
    /* The group of the warp stands still at an MMA that the other half never comes to. */
    PtxRunning r;
    static Seen seen;
    start(&r, &seen, 32, SCHEDULE_EAGER,
          KERNEL("setp.lt.u32 %p1, %r1, 16; @%p1 bra SKIP;\n"
                 "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [%r2]; SKIP: bar.warp.sync 0xffffffff; ret;"));
    PtxEnd end = ptx_running_go(&r);
    assert_true(end == PTX_END_STUCK || (end == PTX_END_FAULT && r.machine->fault.rule == RULE_THREADS_DIVERGENT_WARP));
    ptx_running_end(&r);
}

/* One lane's part of A is not known: rows 3 and 11 of D are not, and all others are. */
static void unknown_rows(void **state) {
    (void)state;
    PtxRunning r;
    static Seen seen;
    start(&r, &seen, 32, SCHEDULE_EAGER,
          KERNEL("mov.u32 %r4, 0x3c003c00; mov.u32 %r5, 0x3c003c00; mov.u32 %r6, 0x3c003c00; mov.u32 %r7, 0x3c003c00;\n"
                 "setp.eq.u32 %p1, %r1, 13; @%p1 ld.shared.u32 %r4, [%r2]; @%p1 ld.shared.u32 %r5, [%r2];\n"
                 "mov.u32 %r10, 0; mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r12,%r13,%r14,%r15},\n"
                 "{%r4,%r5,%r6,%r7}, {%r7,%r7}, {%r10,%r10,%r10,%r10};\n"
                 "mul.wide.u32 %rd6, %r1, 16; add.s64 %rd6, %rd6, %rd2; st.global.v4.u32 [%rd6], "
                 "{%r12,%r13,%r14,%r15}; ret;"));
    ptx_running_expect(&r, PTX_END_COMPLETE);
    for (uint32_t lane = 0; lane < 32; lane++)
        for (uint32_t e = 0; e < 4; e++) {
            bool known = true;
            uint32_t value = ptx_running_word(&r, lane * 4 + e, &known);
            assert_int_equal(known, lane / 4 != 3);
            if (known)
                assert_int_equal(value, 0x41800000); /* 16 */
        }
    ptx_running_end(&r);
}

#define UNKNOWN_MMA(operands)                                                                    \
    KERNEL("mov.u32 %r4, 0x3c003c00; ld.shared.u32 %r5, [%r2]; mov.u32 %r10, 0;\n"               \
           "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r12,%r13,%r14,%r15},\n" operands \
           ", {%r10,%r10,%r10,%r10}; mul.wide.u32 %rd6, %r1, 16; add.s64 %rd6, %rd6, %rd2;\n"    \
           "st.global.v4.u32 [%rd6], {%r12,%r13,%r14,%r15}; ret;")

/* Nothing of A, or of B, is known: nothing of D is. */
static void unknown_operands(void **state) {
    (void)state;
    static const char *const kernels[] = {UNKNOWN_MMA("{%r5,%r5,%r5,%r5}, {%r4,%r4}"),
                                          UNKNOWN_MMA("{%r4,%r4,%r4,%r4}, {%r5,%r5}")};
    for (unsigned i = 0; i < 2; i++) {
        PtxRunning r;
        static Seen seen;
        start(&r, &seen, 32, SCHEDULE_EAGER, kernels[i]);
        ptx_running_expect(&r, PTX_END_COMPLETE);
        for (uint32_t word = 0; word < 128; word++) {
            bool known = true;
            ptx_running_word(&r, word, &known);
            assert_false(known);
        }
        ptx_running_end(&r);
    }
}

#define FILL                                                                                                   \
    "mov.u32 %r3, %r1; FILL: shl.b32 %r4, %r3, 2; add.u32 %r4, %r4, %r2; mov.u32 %r5, 0x3c003c00;\n"           \
    "st.shared.u32 [%r4], %r5; add.u32 %r3, %r3, 128; setp.lt.u32 %p1, %r3, 4096; @%p1 bra FILL;\n"            \
    "fence.proxy.async.shared::cta; bar.sync 0;\n"                                                             \
    "shr.u32 %r6, %r2, 4; cvt.u64.u32 %rd6, %r6; mov.u64 %rd7, 0x4000004000010000; or.b64 %rd6, %rd6, %rd7;\n" \
    "add.s64 %rd8, %rd6, 512; mov.u32 %r20, 0; mov.u32 %r21, 0; mov.u32 %r22, 0; mov.u32 %r23, 0;\n"
#define ONE_MMA "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r20,%r21,%r22,%r23}, %rd6, %rd8, 1, 1, 1, 0, 0;\n"

/* Three MMAs in the same accumulators, which land late: before the wait it is not known them, behind it all. */
static void asynchronous(void **state) {
    (void)state;
    for (unsigned waits = 0; waits < 2; waits++) {
        PtxRunning r;
        static Seen seen;
        start(&r, &seen, 128, SCHEDULE_LAZY,
              waits ? KERNEL(FILL "wgmma.fence.sync.aligned;\n" ONE_MMA ONE_MMA ONE_MMA
                                  "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n"
                                  "st.global.u32 [%rd3], %r22; ret;")
                    : KERNEL(FILL "wgmma.fence.sync.aligned;\n" ONE_MMA ONE_MMA ONE_MMA
                                  "wgmma.commit_group.sync.aligned; st.global.u32 [%rd3], %r22;\n"
                                  "wgmma.wait_group.sync.aligned 0; ret;"));
        ptx_running_expect(&r, PTX_END_COMPLETE);
        bool known = true;
        uint32_t value = ptx_running_word(&r, 77, &known);
        assert_int_equal(known, waits);
        if (waits)
            assert_int_equal(value, 0x42400000); /* 48 */
        ptx_running_end(&r);
    }
}

/* What the four warps read of A and B, through the async proxy. */
static void tiles_are_reported(void **state) {
    (void)state;
    PtxRunning r;
    static Seen seen;
    start(&r, &seen, 128, SCHEDULE_EAGER,
          KERNEL(FILL "wgmma.fence.sync.aligned;\n" ONE_MMA
                      "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; ret;"));
    ptx_running_expect(&r, PTX_END_COMPLETE);
    assert_int_equal(seen.last.access.proxy, PROXY_ASYNC);
    assert_non_null(seen.last.outstanding);
    assert_int_equal(seen.last.outstanding->group, GROUP_WGMMA);
    uint64_t a_bytes = 0, b_bytes = 0;
    for (unsigned i = 0; i < seen.pieces; i++)
        *(seen.offsets[i] - 1024 < 8192 ? &a_bytes : &b_bytes) += seen.sizes[i];
    assert_int_equal(a_bytes, 64 * 32);
    assert_int_equal(b_bytes, 4 * 8 * 32);
    ptx_running_end(&r);
}

/* The same tile with its swizzle from another line on: the first row's 32 bytes are then at the end of its line. */
static void tiles_have_a_base(void **state) {
    (void)state;
    PtxRunning r;
    static Seen seen;
    start(&r, &seen, 128, SCHEDULE_EAGER,
          KERNEL(FILL "wgmma.fence.sync.aligned;\n" ONE_MMA "or.b64 %rd6, %rd6, 0x0002000000000000;\n" ONE_MMA
                      "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; ret;"));
    ptx_running_expect(&r, PTX_END_COMPLETE);
    unsigned begin = 0, end = 0;
    for (unsigned i = 0; i < seen.pieces; i++) {
        begin += seen.offsets[i] == 1024 && seen.sizes[i] == 32;
        end += seen.offsets[i] == 1024 + 96;
    }
    assert_int_equal(begin, 1);
    assert_int_equal(end, 1);
    ptx_running_end(&r);
}

static void outside_of_memory(void **state) {
    (void)state;
    PtxRunning r;
    static Seen seen;
    start(&r, &seen, 128, SCHEDULE_EAGER,
          KERNEL(FILL "add.s64 %rd8, %rd8, 4096;"
                      "wgmma.fence.sync.aligned;\n" ONE_MMA "ret;"));
    assert_int_equal(ptx_running_go(&r), PTX_END_FAULT);
    ptx_running_end(&r);
}

/* What a texture has it is not known, and that it was read is noted; what is behind a surface could be anything. */
static void textures(void **state) {
    (void)state;
    PtxRunning r;
    static Seen seen;
    start(
        &r, &seen, 32, SCHEDULE_EAGER,
        KERNEL("mov.u64 %rd6, 1; tex.1d.v4.u32.s32 {%r4,%r5,%r6,%r7}, [%rd6, {%r1}]; st.global.u32 [%rd3], %r4; ret;"));
    ptx_running_expect(&r, PTX_END_COMPLETE);
    bool known = true;
    ptx_running_word(&r, 3, &known);
    assert_false(known);
    assert_true(r.machine->havoc_count > 0);
    ptx_running_end(&r);
    start(&r, &seen, 32, SCHEDULE_EAGER, KERNEL("mov.u64 %rd6, 1; sust.b.1d.b32.trap [%rd6, {%r1}], %r1; ret;"));
    ptx_running_expect(&r, PTX_END_UNKNOWN);
    ptx_running_end(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats),           cmocka_unit_test(results),
        cmocka_unit_test(versions),          cmocka_unit_test(canonical),
        cmocka_unit_test(pieces_of_a_tile),  cmocka_unit_test(tensor_modes),
        cmocka_unit_test(rows_are_reported), cmocka_unit_test(misuse),
        cmocka_unit_test(unknown_rows),      cmocka_unit_test(unknown_operands),
        cmocka_unit_test(asynchronous),      cmocka_unit_test(tiles_are_reported),
        cmocka_unit_test(tiles_have_a_base), cmocka_unit_test(outside_of_memory),
        cmocka_unit_test(textures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
