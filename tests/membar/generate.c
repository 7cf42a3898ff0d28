/* Random kernels of two makes: software pipelines as real kernels have them (a ring that copies fill some rounds ahead
 * of the loads), and noise. Both come in both forms of control flow, scf and cf, and with memory that allocations share
 * one after the other. Barriers are mostly missing: finding out where they belong is what is tested. */
#include "generate.h"

/* ---- Control flow ------------------------------------------------------------------------------------------------ */

static void make_statements(Maker *maker, unsigned count);

static void make_if(Maker *maker) {
    Word test = fresh(maker, "test");
    Scope scope = enter_scope(maker);
    bool has_else = chance(maker, 50);
    line(maker, "%%%s = tt.load %%flag2 : !tt.ptr<i1>", test.text);
    if (maker->blocks) {
        Word then = fresh(maker, "then"), other = fresh(maker, "else"), join = fresh(maker, "join");
        line(maker, "cf.cond_br %%%s, ^%s, ^%s", test.text, then.text, has_else ? other.text : join.text);
        label(maker, then);
        make_statements(maker, 1 + below(maker, 2));
        leave_scope(maker, scope);
        line(maker, "cf.br ^%s", join.text);
        if (has_else) {
            label(maker, other);
            make_statements(maker, 1 + below(maker, 2));
            leave_scope(maker, scope);
            line(maker, "cf.br ^%s", join.text);
        }
        label(maker, join);
        return;
    }
    line(maker, "scf.if %%%s {", test.text);
    maker->indentation++;
    make_statements(maker, 1 + below(maker, 2));
    leave_scope(maker, scope);
    maker->indentation--;
    if (has_else) {
        line(maker, "} else {");
        maker->indentation++;
        make_statements(maker, 1 + below(maker, 2));
        leave_scope(maker, scope);
        maker->indentation--;
    }
    line(maker, "}");
}

/* In a region of its own, whose control flow may be blocks again. */
static void make_region(Maker *maker) {
    Scope scope = enter_scope(maker);
    line(maker, "scf.execute_region {");
    maker->indentation++;
    maker->blocks = chance(maker, 40);
    make_statements(maker, 1 + below(maker, 3));
    line(maker, "scf.yield");
    maker->indentation--;
    line(maker, "}");
    leave_scope(maker, scope);
}

static void make_loop(Maker *maker) {
    Loop loop = new_loop(maker);
    if (chance(maker, 30)) {
        unsigned bound = chance(maker, 50) ? 0 : 2 + below(maker, 2);
        carry_counter(maker, &loop, below(maker, bound ? bound : 3), bound);
    }
    if (chance(maker, 15))
        carry_views(maker, &loop);
    bool outer = maker->in_loop;
    begin_loop(maker, &loop);
    maker->in_loop = true;
    make_statements(maker, 2 + below(maker, 3));
    maker->in_loop = outer;
    end_loop(maker, &loop);
}

static void make_statements(Maker *maker, unsigned count) {
    for (; count && maker->left; count--) {
        unsigned way = below(maker, 100);
        bool deep = maker->nesting == MOST_NESTING;
        maker->left--;
        maker->nesting++;
        if (deep || way >= 28)
            make_simple(maker);
        else if (way < 12)
            make_if(maker);
        else if (way < 24)
            make_loop(maker);
        else
            make_region(maker);
        maker->nesting--;
    }
}

/* ---- Pipelines --------------------------------------------------------------------------------------------------- */

typedef struct Pipeline {
    const Ring *ring;
    Copies copies;
    bool stored;    /* by threads, not by copies */
    unsigned ahead; /* rounds between a fill and the load of it */
    enum { INDEX_ROUND, INDEX_CARRIED, INDEX_WRAPPED, INDEX_KINDS } index;
    const Loop *loop;
} Pipeline;

static void fill(Maker *maker, const Pipeline *pipeline, Word view) {
    if (pipeline->stored)
        make_store(maker, view);
    else
        make_copy(maker, pipeline->copies, view);
}

/* The slot that is filled, or loaded, in this round. */
static Word round_view(Maker *maker, const Pipeline *pipeline, bool filled) {
    const Ring *ring = pipeline->ring;
    const Carried *carried = pipeline->loop->carried;
    Word index;
    if (pipeline->index == INDEX_ROUND)
        index = ahead_of(maker, carried[0].value, filled ? pipeline->ahead : 0, ring->slots);
    else if (pipeline->index == INDEX_WRAPPED)
        index = carried[filled ? 2 : 1].value;
    else
        index = ahead_of(maker, carried[filled ? 2 : 1].value, 0, ring->slots);
    return slot_view(maker, ring, index);
}

static void make_round(Maker *maker, const Pipeline *pipeline) {
    enum { FILL, LOAD, WAIT, EXTRA, PARTS } parts[PARTS] = {FILL, LOAD, WAIT, EXTRA};
    for (unsigned i = PARTS - 1; i; i--) {
        unsigned other = below(maker, i + 1), part = parts[i];
        parts[i] = parts[other];
        parts[other] = part;
    }
    for (unsigned i = 0; i < PARTS; i++)
        switch (parts[i]) {
        case FILL:
            fill(maker, pipeline, round_view(maker, pipeline, true));
            break;
        case LOAD:
            make_load(maker, round_view(maker, pipeline, false));
            break;
        case WAIT:
            if (!pipeline->stored && chance(maker, 90))
                make_wait(maker, pipeline->copies, chance(maker, 80) ? pipeline->ahead - 1 : below(maker, 3));
            break;
        default:
            if (chance(maker, 15))
                make_barrier(maker);
            else if (chance(maker, 15))
                make_statements(maker, 1);
        }
}

/* Of a ring that is there already. */
static void make_pipeline(Maker *maker, const Ring *ring) {
    Pipeline pipeline = {.ring = ring,
                         .copies = any_copies(maker),
                         .stored = chance(maker, 25),
                         .ahead = 1 + below(maker, ring->slots - 1),
                         .index = below(maker, INDEX_KINDS)};
    for (unsigned i = 0; i < pipeline.ahead; i++)
        fill(maker, &pipeline, slot_view(maker, ring, constant(i)));
    Loop loop = new_loop(maker);
    unsigned bound = pipeline.index == INDEX_WRAPPED ? ring->slots : 0;
    loop.carried[0].first = constant(0);
    loop.step = constant(1);
    if (pipeline.index != INDEX_ROUND) {
        carry_counter(maker, &loop, 0, bound);
        carry_counter(maker, &loop, pipeline.ahead, bound);
    }
    pipeline.loop = &loop;
    begin_loop(maker, &loop);
    maker->in_loop = true;
    make_round(maker, &pipeline);
    maker->in_loop = false;
    end_loop(maker, &loop);
    if (chance(maker, 50) && !pipeline.stored)
        make_wait(maker, pipeline.copies, 0);
    if (chance(maker, 50))
        make_load(maker, any_view(maker));
}

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

/* Where the next allocation lies: beside all others, or where one already is, or half over it. */
static unsigned next_offset(Maker *maker) {
    unsigned end = 0, way = below(maker, 100);
    for (unsigned i = 0; i < maker->ring_count; i++) {
        const Ring *ring = &maker->rings[i];
        unsigned past = ring->offset + (ring->slots ? ring->slots : 1) * SOUND_TILE;
        end = past > end ? past : end;
    }
    if (maker->ring_count && way < 40)
        return maker->rings[below(maker, maker->ring_count)].offset;
    if (end && way < 43)
        return end - SOUND_TILE;
    return end;
}

static void allocate(Maker *maker, unsigned slots) {
    Ring *ring = &maker->rings[maker->ring_count];
    *ring = (Ring){.name = fresh(maker, "ring"), .slots = slots, .offset = next_offset(maker)};
    maker->ring_count++;
    Word type = slots ? word("!ring%u", slots) : word("!tile");
    line(maker, "%%%s = ttg.local_alloc {%s : i32} : () -> %s", ring->name.text,
         offset_attribute(maker, ring->offset).text, type.text);
}

static void free_rings(Maker *maker) {
    for (; maker->first_ring < maker->ring_count; maker->first_ring++) {
        const Ring *ring = &maker->rings[maker->first_ring];
        Word type = ring->slots ? word("!ring%u", ring->slots) : word("!tile");
        line(maker, "ttg.local_dealloc %%%s : %s", ring->name.text, type.text);
    }
    maker->view_count = 0;
}

/* Rings, what is done with them, and their end. */
static void make_part(Maker *maker, unsigned rings) {
    bool pipeline = chance(maker, 40);
    unsigned first = maker->ring_count;
    for (unsigned i = 0; i < rings; i++)
        allocate(maker, pipeline && !i ? 2 + below(maker, 2) : below(maker, 4));
    if (pipeline)
        make_pipeline(maker, &maker->rings[first]);
    make_statements(maker, pipeline ? below(maker, 3) : 3 + below(maker, 4));
    if (chance(maker, 70) && maker->ring_count < MOST_RINGS)
        free_rings(maker);
}

static void make_head(Maker *maker) {
    static const char head[] =
        "#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, "
        "0]}>\n"
        "#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>\n"
        "#shared1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>\n"
        "#smem = #ttg.shared_memory\n"
        "!tile = !ttg.memdesc<64x64xf16, #shared, #smem, mutable>\n"
        "!frozen = !ttg.memdesc<64x64xf16, #shared, #smem>\n"
        "!ring1 = !ttg.memdesc<1x64x64xf16, #shared, #smem, mutable>\n"
        "!ring2 = !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>\n"
        "!ring3 = !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>\n"
        "!barrier = !ttg.memdesc<1xi64, #shared1, #smem, mutable>\n"
        "!values = tensor<64x64xf16, #blocked>\n"
        "!pointers = tensor<64x64x!tt.ptr<f16>, #blocked>\n"
        "!desc = !tt.tensordesc<64x64xf16, #shared>\n";
    text_addf(maker->to, "%s", head);
    line(maker, "module attributes {\"ttg.num-warps\" = 4 : i32, ttg.target = \"%s\"} {",
         maker->amd ? "hip:gfx1250" : "cuda:90");
    line(maker,
         "  tt.func public @kernel(%%flag2: !tt.ptr<i1>, %%slot2: !tt.ptr<i32>, %%slot3: !tt.ptr<i32>, "
         "%%trips3: !tt.ptr<i32>, %%trips5: !tt.ptr<i32>, %%pointers: !pointers, %%desc: !desc, %%values: !values) {");
    maker->indentation = 2;
    line(maker, "%%true = arith.constant true");
    for (unsigned i = 0; i <= 4; i++)
        line(maker, "%%c%u = arith.constant %u : i32", i, i);
}

SoundTraits sound_generate(uint64_t seed, Text *to) {
    Maker maker = {.random = {seed}, .to = to};
    maker.amd = chance(&maker, 50);
    maker.blocks = chance(&maker, 30);
    maker.traits = (SoundTraits){.offsets = chance(&maker, 90), .constant_ends = chance(&maker, 20)};
    maker.left = 4 + below(&maker, 9);
    make_head(&maker);
    if (!maker.amd) {
        line(&maker, "%%bar = ttg.local_alloc {%s : i32} : () -> !barrier",
             offset_attribute(&maker, BARRIER_OFFSET).text);
        line(&maker, "ttng.init_barrier %%bar, 1 : !barrier");
    }
    if (chance(&maker, 20)) {
        Word start = fresh(&maker, "start");
        line(&maker, "%%%s = tt.load %%slot3 : !tt.ptr<i32>", start.text);
        know_counter(&maker, start, 0);
    }
    for (unsigned part = 0; part < 3 && maker.ring_count < MOST_RINGS && (!part || chance(&maker, 40)); part++)
        make_part(&maker, maker.ring_count + 1 < MOST_RINGS ? 1 + below(&maker, 2) : 1);
    if (!maker.amd && chance(&maker, 30)) {
        make_wait(&maker, COPIES_TMA, 0);
        line(&maker, "ttng.inval_barrier %%bar : !barrier");
    }
    free_rings(&maker);
    line(&maker, "tt.return");
    text_addf(to, "  }\n}\n");
    return maker.traits;
}
