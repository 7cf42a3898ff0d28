/* explore/symmetry, explore/footprint, machine/simt/core/symmetry, check/simt/classes: kernels of PTX at random, whose
 * addresses and conditions go by %ctaid in many ways. Of each class all CTAs are run, one by one: each has to do what
 * the one does that speaks for it, and to access the bytes that are foretold. And verdicts by classes are beside those
 * of runs of the whole grid. */
#include "ptx_running.h"

#include "check/simt/check.h"
#include "machine/simt/core/symmetry.h"
#include "random_text.h"
#include "share.h"

#include <inttypes.h>

enum { BUFFER_WORDS = 1 << 14 };

/* ---- Kernels -------------------------------------------------------------------------------------- */

/* %rTO made of %rFROM. */
static void put_step(char *text, int to, int from) {
    static const char *const ops[] = {"add.u32", "sub.u32",    "mul.lo.u32", "div.u32",    "rem.u32", "shr.u32",
                                      "shr.s32", "shl.b32",    "and.b32",    "or.b32",     "xor.b32", "min.u32",
                                      "max.s32", "mul.hi.u32", "div.s32",    "mul.hi.s32", "min.s32", "rem.s32"};
    static const int masks[] = {1, 3, 7, 6, 12, -8, -2, 0x55};
    int which = roll(0, 17), by = roll(1, 9);
    if (which == 5 || which == 6 || which == 7)
        by = roll(0, 4);
    else if (which >= 8 && which <= 10)
        by = masks[roll(0, 7)];
    else if (which == 13 || which == 15)
        by = roll(0, 1) ? -1431655765 : roll(1, 1 << 30);
    else if (which <= 1 && !roll(0, 7))
        by = -roll(1, 40); /* so that it wraps */
    if (!roll(0, 9))
        put(text, "setp.lt.u32 %%p3, %%r%d, %d; selp.b32 %%r%d, %%r%d, %d, %%p3;\n", from, roll(1, 9), to, from, by);
    else
        put(text, "%s %%r%d, %%r%d, %d;\n", ops[which], to, from, by);
}

/* %rTO: a number that goes by the CTA, and maybe by the thread. */
static void put_number(char *text, int to, bool simple) {
    static const char *const axes[] = {"%r1", "%r1", "%r2", "%r3"};
    put(text, "mov.u32 %%r%d, %s;\n", to, axes[roll(0, 3)]);
    for (int i = roll(0, simple ? 1 : 3); i > 0; i--)
        put_step(text, to, to);
}

/* %r10: the index of a word, of which the buffers have BUFFER_WORDS. */
static void put_index(char *text, bool simple) {
    static const int steps[] = {32, 32, 16, 8, 31, 33, 1, 4, 64};
    if (simple) {
        put(text, "mad.lo.u32 %%r10, %%r1, %d, %%r4;\n", steps[roll(0, 4)]);
        put(text, "mad.lo.u32 %%r10, %%r2, %d, %%r10;\n", 32 * roll(0, 30));
        put(text, "mad.lo.u32 %%r10, %%r3, %d, %%r10;\n", 32 * roll(0, 60));
    } else {
        put_number(text, 10, false);
        put_number(text, 11, true);
        put(text, "mul.lo.u32 %%r10, %%r10, %d; mad.lo.u32 %%r10, %%r11, %d, %%r10;\n", steps[roll(0, 8)], roll(0, 40));
        put(text, "mad.lo.u32 %%r10, %%r4, %d, %%r10;\n", roll(0, 2));
        if (!roll(0, 3))
            put_step(text, 10, 10);
    }
    static const char *const ends[] = {"and.b32 %r10, %r10, 16383;\n", "rem.u32 %r10, %r10, 16384;\n",
                                       "min.u32 %r10, %r10, 16383;\n"};
    put(text, "%s", ends[roll(0, 2)]);
}

static void put_access(char *text, bool simple, bool *strong) {
    put_index(text, simple);
    put(text, "mul.wide.u32 %%rd3, %%r10, 4; add.u64 %%rd4, %%rd1, %%rd3; add.u64 %%rd5, %%rd2, %%rd3;\n");
    switch (roll(0, 11)) {
    case 0:
        put(text, "ld.global.u32 %%r12, [%%rd4]; st.global.u32 [%%rd5], %%r12;\n");
        break;
    case 1:
        put(text, "st.global.u8 [%%rd5+%d], %%r4;\n", roll(0, 3));
        break;
    case 2:
        put(text, "and.b64 %%rd5, %%rd5, -8; st.global.v2.u32 [%%rd5], {%%r4, %%r1};\n");
        break;
    case 3:
        put(text, "ld.global.u32 %%r12, [%%rd5]; add.u32 %%r12, %%r12, 1;\n");
        break;
    case 4:
        *strong = true;
        put(text, "red.global.add.u32 [%%rd5], 1;\n");
        break;
    case 5:
        *strong = true;
        put(text, "setp.eq.u32 %%p4, %%r4, 0; @%%p4 red.global.add.u32 [%%rd2], 1;\n");
        break;
    case 6:
        put(text, "st.shared.u32 [%%r20], %%r1; bar.sync 0; xor.b32 %%r13, %%r20, 4; ld.shared.u32 %%r14, [%%r13];\n"
                  "bar.sync 0; st.global.u32 [%%rd5], %%r14;\n");
        break;
    case 10: /* what comes from shared memory decides */
    case 11: {
        static const char *const values[] = {"%r4", "%r4", "%r5", "%r1", "%r12"};
        static const char *const others[] = {"", "st.shared.u8 [%r20+1], %r4;", "st.shared.u8 [%r20+2], %r2;",
                                             "atom.shared.add.u32 %r14, [%r20], 2;"};
        put(text,
            "ld.global.u32 %%r12, [%%rd4]; st.shared.u32 [%%r20], %s; %s\n"
            "bar.sync 0; xor.b32 %%r13, %%r20, 4; ld.shared.u32 %%r14, [%%r13]; bar.sync 0;\n"
            "and.b32 %%r14, %%r14, 1023; mul.wide.u32 %%rd6, %%r14, 4; add.u64 %%rd6, %%rd2, %%rd6;\n"
            "setp.%s %%p4, %%r14, %d; @%%p4 ld.global.u32 %%r13, [%%rd6];\n",
            values[roll(0, 4)], others[roll(0, 3)], roll(0, 1) ? "eq.u32" : "lt.u32", roll(0, 20));
        break;
    }
    case 7: /* data decides */
        put(text, "ld.global.u32 %%r12, [%%rd4]; and.b32 %%r12, %%r12, 1023; mul.wide.u32 %%rd6, %%r12, 4;\n"
                  "add.u64 %%rd6, %%rd2, %%rd6; ld.global.u32 %%r13, [%%rd6];\n");
        break;
    default:
        put(text, "st.global.u32 [%%rd5], %%r1;\n");
        break;
    }
}

static void put_kernel(char *text, bool *strong) {
    static const char *const compares[] = {"lt.u32", "ge.u32", "eq.u32", "ne.s32", "gt.s32", "le.u32"};
    bool simple = roll(0, 2) > 0;
    *text = 0;
    *strong = false;
    put(text, ".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n) {\n"
              ".reg .pred %%p<8>; .reg .b32 %%r<40>; .reg .b64 %%rd<10>; .shared .align 4 .b8 tile[256];\n"
              "ld.param.u64 %%rd1, [in]; ld.param.u64 %%rd2, [out]; ld.param.u32 %%r5, [n];\n"
              "mov.u32 %%r1, %%ctaid.x; mov.u32 %%r2, %%ctaid.y; mov.u32 %%r3, %%ctaid.z; mov.u32 %%r4, %%tid.x;\n"
              "mov.u32 %%r21, tile; mad.lo.u32 %%r20, %%r4, 4, %%r21;\n");
    for (int i = 0, count = roll(1, 3); i < count; i++) {
        int kind = roll(0, 5);
        if (kind == 0) {
            put_number(text, 15, simple);
            put(text, "setp.%s %%p1, %%r15, %d; @%%p1 bra SKIP%d;\n", compares[roll(0, 5)], roll(0, 9), i);
        } else if (kind == 1) {
            put(text, "mad.lo.u32 %%r15, %%r1, 32, %%r4; setp.ge.u32 %%p1, %%r15, %d; @%%p1 bra SKIP%d;\n",
                roll(1, 600), i);
        } else if (kind == 2) {
            put(text, "mov.u32 %%r16, %%r1;\nLOOP%d: setp.ge.u32 %%p2, %%r16, %d; @%%p2 bra SKIP%d;\n", i, roll(1, 60),
                i);
        }
        put_access(text, simple, strong);
        if (kind == 2)
            put(text, "mov.u32 %%r17, %%nctaid.x; add.u32 %%r16, %%r16, %%r17; bra LOOP%d;\n", i);
        put(text, "SKIP%d:\n", i);
    }
    put(text, "ret; }\n");
}

/* ---- Every CTA ------------------------------------------------------------------------------------ */

typedef struct Watched {
    PtxRunning *r;
    uint64_t trace;
    uint8_t bytes[2][BUFFER_WORDS * 4]; /* of each buffer: 1 read, 2 written, 4 updated */
} Watched;

static void mix(uint64_t *trace, uint64_t number) {
    *trace = (*trace ^ number) * UINT64_C(0x100000001b3);
}

static unsigned kind_of(bool writes, bool atomic) {
    return atomic ? 4 : writes ? 2 : 1;
}

static void see(void *observer, const PtxEvent *event) {
    Watched *watched = observer;
    mix(&watched->trace, (uint64_t)event->kind << 32 | event->lanes);
    mix(&watched->trace, event->code ? (uint64_t)(event->code - watched->r->program->code) : 0);
    for (uint32_t i = 0; event->kind == PTX_EVENT_ACCESS && i < event->location_count; i++) {
        const PtxLocation *at = &event->locations[i];
        if (!(event->lanes >> i & 1))
            continue;
        unsigned buffer = at->block->base == watched->r->buffers[1].address;
        if (at->block->space == PTX_SPACE_GLOBAL)
            for (uint32_t k = 0; k < event->access.bytes; k++)
                watched->bytes[buffer][at->offset + k] |=
                    (uint8_t)kind_of(event->access.kind != EFFECT_READ, event->access.strong);
        else
            mix(&watched->trace, at->offset);
    }
}

static PtxEnd run_one(Watched *watched, uint32_t cta) {
    PtxRunning *r = watched->r;
    watched->trace = 0;
    memset(watched->bytes, 0, sizeof watched->bytes);
    r->machine->observe = see;
    r->machine->observer = watched;
    r->schedule = (PtxSchedule){.only = &cta, .only_count = 1};
    PtxEnd end = ptx_running_go(r);
    r->machine->observe = NULL;
    return end;
}

typedef struct Represented {
    Watched *first;
    Footprints footprints;
    PtxSymmetry *symmetry;
    bool narrows, failed;
} Represented;

static bool run_class(void *context, Symmetry *box, uint64_t cta) {
    Represented *of = context;
    footprints_begin(&of->footprints);
    ptx_symmetry_start(of->symmetry, box, &of->footprints, of->narrows);
    of->first->r->machine->symmetry = of->symmetry;
    of->failed |= run_one(of->first, (uint32_t)cta) != PTX_END_COMPLETE;
    of->first->r->machine->symmetry = NULL;
    footprints_keep_apart(&of->footprints, box);
    return !of->failed;
}

/* A piece of a CTA, by its levels. */
static void mark(Watched *foretold, const Footprint *footprint, const Piece *piece, int64_t begin, unsigned level) {
    if (level < piece->levels) {
        for (int64_t i = 0; i < piece->counts[level]; i++)
            mark(foretold, footprint, piece, begin + i * piece->strides[level], level + 1);
        return;
    }
    unsigned buffer = footprint->area == foretold->r->buffers[1].address;
    for (int64_t i = 0; i < piece->bytes; i++) {
        int64_t at = begin + i - (int64_t)footprint->area;
        assert_in_range(at, 0, BUFFER_WORDS * 4 - 1);
        foretold->bytes[buffer][at] |= (uint8_t)kind_of(footprint->writes, footprint->atomic);
    }
}

static void foretell(Watched *foretold, const Footprints *footprints, const int64_t at[AXES]) {
    const CtaBox *class = &footprints->classes[footprints->class_count - 1];
    memset(foretold->bytes, 0, sizeof foretold->bytes);
    for (uint32_t i = 0; i < footprints->count; i++) {
        const Footprint *footprint = &footprints->all[i];
        int64_t moved = 0;
        for (unsigned axis = 0; axis < AXES; axis++)
            moved += footprint->form.by[axis] * (at[axis] - class->low[axis]);
        for (uint32_t k = 0; k < footprint->count && footprint->class == footprints->class_count - 1; k++)
            mark(foretold, footprint, &footprint->pieces[k], footprint->pieces[k].begin + moved, 0);
    }
}

/* All CTAs of the last class. */
static void look_at_class(const Represented *of, const CtaBox *box, const int64_t sizes[AXES], const char *text) {
    static Watched foretold, other;
    foretold.r = other.r = of->first->r;
    int64_t at[AXES];
    for (at[2] = box->low[2]; at[2] <= box->high[2]; at[2]++)
        for (at[1] = box->low[1]; at[1] <= box->high[1]; at[1]++)
            for (at[0] = box->low[0]; at[0] <= box->high[0]; at[0]++) {
                uint32_t cta = (uint32_t)classes_number(sizes, at);
                foretell(&foretold, &of->footprints, at);
                if (run_one(&other, cta) != PTX_END_COMPLETE || other.trace != of->first->trace ||
                    memcmp(other.bytes, foretold.bytes, sizeof other.bytes) != 0)
                    fail_msg("CTA %u does not do what the first of its class does:\n%s", cta, text);
            }
}

static const uint32_t grids[][3] = {{24, 1, 1}, {9, 3, 1}, {5, 3, 2}, {40, 1, 1}, {4, 7, 1}};

/* How many classes a random kernel has; 0: it is run whole. */
static uint64_t look_at_kernel(unsigned round, bool splits) {
    static Watched first;
    PtxRunning r;
    char text[TEXT];
    bool strong;
    put_kernel(text, &strong);
    ptx_running_read(&r, "sm_90", text);
    memcpy(r.launch.grid, grids[splits ? 3 : round % 5], sizeof r.launch.grid);
    r.buffers[0].bytes = r.buffers[1].bytes = BUFFER_WORDS * 4;
    const char *problem = NULL;
    r.machine = ptx_machine(r.program, &r.launch, COMPUTES_ALL, &problem);
    assert_non_null(r.machine);
    first.r = &r;
    Represented of = {.first = &first, .footprints = {.arena = &r.arena}, .narrows = splits || round % 2};
    of.symmetry = ptx_symmetry_new(&r.arena, r.machine, true);
    assert_non_null(of.symmetry);
    int64_t sizes[AXES] = {r.launch.grid[0], r.launch.grid[1], r.launch.grid[2]};
    uint64_t cta;
    CtaClasses *classes = classes_new(&r.arena, sizes, CLASSES_LOWEST, false, run_class, &of);
    if (splits && classes_split(classes, 0))
        classes_sizes(classes, sizes);
    while (!of.failed && classes_next(classes, &cta)) {
        CtaBox box = classes_last(classes);
        footprints_end(&of.footprints, &box);
        if (!of.failed)
            look_at_class(&of, &box, sizes, text);
    }
    uint64_t count = of.failed ? 0 : classes_count(classes);
    if (!of.failed)
        assert_int_equal(classes_covered(classes), r.machine->cta_count);
    ptx_running_end(&r);
    return count;
}

static void test_ctas_do_as_their_class(void **state) {
    (void)state;
    unsigned fewer = 0, rounds = share_of(300);
    for (unsigned i = 0; i < rounds; i++) {
        uint64_t count = look_at_kernel(i, i % 4 == 0);
        fewer += count > 0 && count <= 12;
    }
    assert_in_range(fewer, rounds / 4, rounds);
}

/* ---- Verdicts ------------------------------------------------------------------------------------- */

typedef struct Judged {
    int verdict; /* 0 clean, 1 findings, 3 incomplete: the exit status */
    uint32_t count;
    uint64_t pairs[64]; /* of lines that race */
    size_t classes;
} Judged;

static Judged judge(const char *text, const uint32_t grid[3], uint64_t words, ThreadsClasses how) {
    char launch[512];
    Arena arena;
    PtxModule module = {0};
    Diagnostics diagnostics = {0};
    Launch given = {0};
    Judged judged = {0};
    Text all = {0};
    arena_init(&arena, SIZE_MAX);
    text_addf(&all, ".version 9.0\n.target sm_90\n.address_size 64\n%s", text);
    snprintf(launch, sizeof launch,
             "{\"kernel\": \"k\", \"grid\": [%u, %u, %u], \"block\": [32, 1, 1], \"args\": [{\"tensor\": {\"shape\": "
             "[%" PRIu64 "], \"dtype\": \"i32\"}}, {\"tensor\": {\"shape\": [%" PRIu64
             "], \"dtype\": \"i32\", \"zero\": true}}, 7]}",
             grid[0], grid[1], grid[2], words, words);
    Source *source = source_copy("test.ptx", all.data, all.size),
           *json = source_copy("test.json", launch, strlen(launch));
    if (!ptx_read(&module, source, false, &diagnostics) || !launch_read(&arena, json, &given, &diagnostics))
        fail_msg("%s", diagnostics.items[0].message);
    Verdict verdict = {.arena = &arena, .kernel = "k"};
    ThreadsOptions options = {.launch = &given, .only_launch = true, .computes = COMPUTES_ALL, .classes = how};
    threads_check(&module, 0, &options, &verdict);
    verdict_close(&verdict);
    judged.verdict = verdict.incomplete_count ? 3 : 0;
    for (size_t i = 0; i < verdict.finding_count; i++) {
        const Finding *finding = &verdict.findings[i];
        if (rule_of(finding->rule)->severity == SEVERITY_NOTE || finding->grade == SEVERITY_NOTE)
            continue;
        judged.verdict = 1;
        uint64_t one = finding->places[0].line, two = finding->place_count > 1 ? finding->places[1].line : 0;
        if (judged.count < 64)
            judged.pairs[judged.count++] = one < two ? one << 32 | two : two << 32 | one;
    }
    judged.classes = verdict.launch_count ? verdict.launches[0].classes : 0;
    text_free(&all);
    arena_free(&arena);
    ptx_free(&module);
    diagnostics_free(&diagnostics);
    source_free(source);
    source_free(json);
    return judged;
}

static void test_verdicts_are_those_of_the_whole_grid(void **state) {
    (void)state;
    unsigned clean = 0, racy = 0, rounds = share_of(200);
    for (unsigned i = 0; i < rounds; i++) {
        char text[TEXT];
        bool strong;
        put_kernel(text, &strong);
        Judged whole = judge(text, grids[i % 5], BUFFER_WORDS, THREADS_CLASSES_NEVER);
        Judged large = judge(text, grids[i % 5], BUFFER_WORDS, THREADS_CLASSES_LARGE);
        Judged usual = judge(text, grids[i % 5], BUFFER_WORDS, THREADS_CLASSES_USUAL);
        /* A CTA whose threads may write the same ends the run of its class: incomplete, and never clean. */
        if (!whole.verdict != !large.verdict || !whole.verdict != !usual.verdict)
            fail_msg("%d whole, %d by classes, %d as usual:\n%s", whole.verdict, large.verdict, usual.verdict, text);
        for (uint32_t k = 0; k < large.count; k++) {
            bool found = false;
            for (uint32_t m = 0; m < whole.count; m++)
                found |= whole.pairs[m] == large.pairs[k];
            if (!found)
                fail_msg("a pair that the whole grid does not have:\n%s", text);
        }
        clean += !large.verdict && large.classes;
        racy += large.count > 0;
    }
    assert_in_range(clean, rounds / 10, rounds);
    assert_in_range(racy, rounds / 10, rounds);
}

/* ---- Millions of CTAs ----------------------------------------------------------------------------- */

typedef struct Scaled {
    const char *name;
    uint32_t grid[3];
    uint64_t words;
    int verdict;
    const char *body; /* %r1 to %r3: %ctaid; %r4: %tid.x; %r5: 7; %r6: %nctaid.x; %rd1, %rd2: in, out */
} Scaled;

#define MOVE                                                                            \
    "mul.wide.u32 %rd3, %r10, 4; add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd2, %rd3;\n" \
    "ld.global.u32 %r12, [%rd4]; st.global.u32 [%rd5], %r12;\n"
#define MILLIONS \
    { 4000000, 1, 1 }
#define WORDS UINT64_C(128000000)

static const Scaled scaled[] = {
    {"disjoint tiles", MILLIONS, WORDS, 0, "mad.lo.u32 %r10, %r1, 32, %r4;\n" MOVE},
    {"tiles that overlap by a word", MILLIONS, WORDS, 1, "mad.lo.u32 %r10, %r1, 31, %r4;\n" MOVE},
    {"the last CTA is partial", MILLIONS, WORDS - 7, 0,
     "mad.lo.u32 %r10, %r1, 32, %r4; setp.ge.u32 %p1, %r10, 127999993; @%p1 bra END;\n" MOVE},
    {"the last CTA leaves the buffer", MILLIONS, WORDS - 7, 1, "mad.lo.u32 %r10, %r1, 32, %r4;\n" MOVE},
    {"one column a CTA", MILLIONS, WORDS, 0, "mad.lo.u32 %r10, %r4, %r6, %r1;\n" MOVE},
    {"a grid of two dimensions, with its bound",
     {2000, 2000, 1},
     WORDS - 100007,
     0,
     "mad.lo.u32 %r11, %r2, %r6, %r1; mad.lo.u32 %r10, %r11, 32, %r4; setp.ge.u32 %p1, %r10, 127899993;\n"
     "@%p1 bra END;\n" MOVE},
    {"a grid of three dimensions, rows that overlap",
     {200, 200, 100},
     WORDS,
     1,
     "mad.lo.u32 %r10, %r1, 32, %r4; mad.lo.u32 %r10, %r2, 6400, %r10; mad.lo.u32 %r10, %r3, 1279999, %r10;\n" MOVE},
    {"a loop with the stride of the grid",
     {3000000, 1, 1},
     WORDS - 7,
     0,
     "mad.lo.u32 %r10, %r1, 32, %r4;\nL: setp.ge.u32 %p1, %r10, 127999993; @%p1 bra END;\n" MOVE
     "mad.lo.u32 %r10, %r6, 32, %r10; bra L;\n"},
    {"an atomic of each CTA", MILLIONS, WORDS, 0, "setp.eq.u32 %p1, %r4, 0; @%p1 red.global.add.u32 [%rd2], 1;\n"},
    {"an atomic, and a read of what it adds to", MILLIONS, WORDS, 1,
     "setp.ne.u32 %p1, %r4, 0; @%p1 bra END; red.global.add.u32 [%rd2], 1; ld.global.u32 %r12, [%rd2];\n"},
    {"an atomic of the scope of its CTA", MILLIONS, WORDS, 1,
     "setp.eq.u32 %p1, %r4, 0; @%p1 red.relaxed.cta.global.add.u32 [%rd2], 1;\n"},
    {"halves of a tile that change places", MILLIONS, WORDS, 0,
     "mad.lo.u32 %r10, %r1, 32, %r4; setp.lt.u32 %p1, %r4, 16; add.u32 %r11, %r10, 16; sub.u32 %r13, %r10, 16;\n"
     "selp.b32 %r10, %r11, %r13, %p1;\n" MOVE},
    {"every other CTA", MILLIONS, WORDS, 0,
     "and.b32 %r11, %r1, 1; setp.eq.u32 %p1, %r11, 0; @%p1 bra END; mad.lo.u32 %r10, %r1, 32, %r4;\n" MOVE},
    {"tiles in groups of 8", MILLIONS, WORDS, 0,
     "and.b32 %r11, %r1, 7; shr.u32 %r13, %r1, 3; mad.lo.u32 %r13, %r11, 500000, %r13;\n"
     "mad.lo.u32 %r10, %r13, 32, %r4;\n" MOVE},
    {"tiles in groups of 8, of which two overlap", MILLIONS, WORDS, 1,
     "and.b32 %r11, %r1, 7; shr.u32 %r13, %r1, 3; mad.lo.u32 %r13, %r11, 499999, %r13;\n"
     "mad.lo.u32 %r10, %r13, 32, %r4;\n" MOVE},
    {"a third of the grid each, by a product",
     {3000000, 1, 1},
     WORDS,
     0,
     "mul.hi.u32 %r11, %r1, -1431655765; shr.u32 %r11, %r11, 1; mul.lo.u32 %r13, %r11, 3; sub.u32 %r13, %r1, %r13;\n"
     "mad.lo.u32 %r13, %r13, 1000000, %r11; mad.lo.u32 %r10, %r13, 32, %r4;\n" MOVE},
    {"the last CTA writes where the first does", MILLIONS, WORDS, 1,
     "mad.lo.u32 %r10, %r1, 32, %r4; sub.u32 %r11, %r6, 1; setp.ne.u32 %p1, %r1, %r11; @%p1 bra L;\n"
     "mov.u32 %r10, %r4;\nL:\n" MOVE},
    {"in place, with the neighbor's first word", MILLIONS, WORDS + 1, 1,
     "mad.lo.u32 %r10, %r1, 32, %r4; mul.wide.u32 %rd3, %r10, 4; add.u64 %rd4, %rd1, %rd3;\n"
     "ld.global.u32 %r12, [%rd4+4]; bar.sync 0; st.global.u32 [%rd4], %r12;\n"},
    {"more CTAs", {30000000, 1, 1}, 960000000, 0, "mad.lo.u32 %r10, %r1, 32, %r4;\n" MOVE},
};

static void test_millions(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof scaled / sizeof *scaled; i++) {
        char text[TEXT] = "";
        put(text, "%s",
            ".visible .entry k(.param .u64 .ptr .global .align 16 in, .param .u64 .ptr .global .align 16 out, .param "
            ".u32 n) {\n"
            ".reg .pred %p<8>; .reg .b32 %r<40>; .reg .b64 %rd<10>;\n"
            "ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; ld.param.u32 %r5, [n]; mov.u32 %r6, %nctaid.x;\n"
            "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ctaid.y; mov.u32 %r3, %ctaid.z; mov.u32 %r4, %tid.x;\n");
        put(text, "%s%s", scaled[i].body, "END: ret; }\n");
        Judged judged = judge(text, scaled[i].grid, scaled[i].words, THREADS_CLASSES_USUAL);
        if (judged.verdict != scaled[i].verdict)
            fail_msg("%s: %d, not %d", scaled[i].name, judged.verdict, scaled[i].verdict);
        assert_true(judged.verdict || (judged.classes && judged.classes < 16));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ctas_do_as_their_class),
        cmocka_unit_test(test_verdicts_are_those_of_the_whole_grid),
        cmocka_unit_test(test_millions),
    };
    return cmocka_run_group_tests_name("ptx_symmetry", tests, NULL, NULL);
}
