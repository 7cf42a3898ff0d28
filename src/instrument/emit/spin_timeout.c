/* Waits that go on for too long: they give up, and tell the host (RecordHost of trace/record.h).
 *
 * A wait is a loop that does nothing but look: at an mbarrier, or at memory by strong accesses, and meanwhile meets
 * others at barriers and hands on in shared memory what it saw. Behind the look stands a check of the clock, which runs
 * from the first look that was in vain; of memory, from the first that found what is there now. Looks at memory are
 * made ever more seldom then, so that a loop that spins for seconds does not fill the recording.
 *
 * Who gives up takes a chunk for it, whatever else it was about to write: nothing comes after it, and the others of the
 * warp may still write behind its pointer. Its threads stand by until the host says how they end. */
#include "instrument/internal.h"

#include <stddef.h>

#define OF(field)      (unsigned)offsetof(RecordLaunch, field)
#define OF_HOST(field) (unsigned)offsetof(RecordHost, field)

enum {
    FIRST_LOOK = 4,    /* units before the limit is looked at */
    PART_OF_LIMIT = 4, /* log2: what part of its own limit a wait lets pass before it follows others who gave up */
    NAP_SHIFT = 12,    /* ns of a nap for each unit that was waited: a sixteenth */
    LONGEST_NAP = 1 << 19,
    LONGEST_GAP = 1024,      /* units between two looks at memory, of a thread that has the device */
    STANDS_BY = 20000,       /* ns between two looks at what the host says */
    LAST_COUNT = 0x7fffffff, /* numbers of records are less */
};

/* ---- Which loops ------------------------------------------------------------------------------------------- */

/* Whether a loop that only looks may do this. */
static bool only_looks(const FunctionAnalysis *analysis, uint32_t instruction, const PtxEffect *effect) {
    switch (effect->effect.verb) {
    case EFFECT_READ:
    case EFFECT_UPDATE:
        return effect->effect.done == DONE_NOW && effect->effect.helper == HELPER_BASE;
    case EFFECT_WRITE:
        return effect->effect.done == DONE_NOW && effect->effect.helper == HELPER_BASE &&
               look_space(analysis, instruction, effect) != PTX_SPACE_GLOBAL &&
               look_space(analysis, instruction, effect) != PTX_SPACE_UNKNOWN;
    case EFFECT_WAIT:
    case EFFECT_CTA_BARRIER:
    case EFFECT_NAMED_ARRIVE:
    case EFFECT_NAMED_SYNC:
    case EFFECT_FENCE_PROXY:
    case EFFECT_FENCE_ORDER:
    case EFFECT_WARP_SYNC:
    case EFFECT_CONVERGED:
        return true;
    default:
        return false;
    }
}

/* What decides whether a loop goes on: values to ask, each once. */
typedef struct Exits {
    const FunctionAnalysis *analysis;
    uint32_t loop;
    bool *seen; /* by value */
    uint32_t *list, count;
    bool branches; /* those of all branches are asked, too */
} Exits;

static void ask(Exits *exits, uint32_t value) {
    if (value == PTX_NONE || exits->seen[value] ||
        !flow_in_loop(&exits->analysis->flow, exits->analysis->flow.values[value].block, exits->loop))
        return;
    exits->seen[value] = true;
    exits->list[exits->count++] = value;
}

/* The conditions of branches in the loop; `leave`: of those that lead out of it. False: there are other ways out. */
static bool ask_branches(Exits *exits, bool leave) {
    const PtxFlow *flow = &exits->analysis->flow;
    for (uint32_t i = 0; i < flow->block_count; i++) {
        const FlowBlock *block = &flow->blocks[i];
        bool leaves = block->successor_count < 2;
        if (!block->reached || !flow_in_loop(flow, i, exits->loop) || block->ends == FLOW_NEXT ||
            block->ends == FLOW_JUMP)
            continue;
        if (block->ends != FLOW_BRANCH)
            return false;
        for (uint32_t k = 0; k < block->successor_count; k++)
            leaves |= !flow_in_loop(flow, flow->edges[block->successors + k], exits->loop);
        if (leaves || !leave)
            ask(exits, flow_value(flow, look_statement(exits->analysis, block->end - 1)->first));
    }
    return true;
}

static bool is_pure(const FunctionAnalysis *analysis, uint32_t instruction) {
    PtxEffect effects[PTX_EFFECTS_MOST];
    if (!look_form(analysis, instruction)->row)
        return false;
    unsigned count = look_acts(analysis, instruction)
                         ? ptx_effects_of(analysis->module, look_statement(analysis, instruction), effects)
                         : 0;
    for (unsigned i = 0; i < count; i++)
        if (effects[i].gives.size || effects[i].effect.verb == EFFECT_ANYTHING ||
            (effect_is_access(&effects[i].effect) && effects[i].effect.verb != EFFECT_WRITE))
            return false;
    return true;
}

/* Whether what decides is made of what the loop reads; a loop that counts to a number that is known before does not
 * wait for others, whatever it reads. */
static bool ends_by_reads(const FunctionAnalysis *analysis, uint32_t loop) {
    const PtxFlow *flow = &analysis->flow;
    Arena scratch;
    arena_init(&scratch, SIZE_MAX);
    Exits exits = {.analysis = analysis,
                   .loop = loop,
                   .seen = ARENA_ARRAY(&scratch, bool, flow->value_count + 1),
                   .list = ARENA_ARRAY(&scratch, uint32_t, flow->value_count + 1)};
    bool reads = !ask_branches(&exits, true);
    for (uint32_t i = 0; i < exits.count && !reads; i++) {
        const FlowValue *value = &flow->values[exits.list[i]];
        const FlowBlock *block = &flow->blocks[value->block];
        if (value->kind == VALUE_PHI) {
            uint32_t ways = 0; /* from inside the loop */
            for (uint32_t k = 0; k < block->predecessor_count; k++) {
                ways += flow_in_loop(flow, flow->edges[block->predecessors + k], loop);
                ask(&exits, flow->inputs[value->inputs + k]);
            }
            if (ways > 1 && !exits.branches) {
                exits.branches = true; /* which way was taken decides on it */
                reads = !ask_branches(&exits, false);
            }
        } else if (value->kind == VALUE_RESULT) {
            const PtxStatement *statement = look_statement(analysis, value->instruction);
            for (uint32_t k = statement->first; k < statement->first + statement->count; k++)
                ask(&exits, flow_value(flow, k));
            ask(&exits, value->before);
            reads = !is_pure(analysis, value->instruction);
        }
    }
    arena_free(&scratch);
    return reads;
}

static bool is_waiting_loop(const FunctionAnalysis *analysis, uint32_t loop) {
    const PtxFlow *flow = &analysis->flow;
    PtxEffect effects[PTX_EFFECTS_MOST];
    if (flow->loops[loop].irreducible)
        return false;
    for (uint32_t i = 0; i < flow->instruction_count; i++) {
        if (!flow_in_loop(flow, flow->block_of[i], loop))
            continue;
        unsigned count = ptx_effects_of(analysis->module, look_statement(analysis, i), effects);
        for (unsigned k = 0; k < count; k++)
            if (!only_looks(analysis, i, &effects[k]))
                return false;
    }
    return ends_by_reads(analysis, loop);
}

bool look_waits(const FunctionAnalysis *analysis, uint32_t instruction) {
    uint32_t loop = analysis->flow.blocks[analysis->flow.block_of[instruction]].loop;
    return loop != PTX_NONE && looked_at(analysis, instruction) != PTX_NONE && is_waiting_loop(analysis, loop);
}

/* What a look at memory gives; PTX_NONE: nothing, or it is none. */
static uint32_t polled_by(const FunctionAnalysis *analysis, const InstrumentStep *step) {
    return step->site->strong ? looked_at(analysis, step->instruction) : PTX_NONE;
}

/* The loop that waits by this step; PTX_NONE: it is no wait. */
static uint32_t waiting_loop(const FunctionAnalysis *analysis, const InstrumentStep *step) {
    uint32_t loop = analysis->flow.blocks[analysis->flow.block_of[step->instruction]].loop;
    bool analyses = (step->site->waits && step->given != PTX_NONE) || polled_by(analysis, step) != PTX_NONE;
    return loop != PTX_NONE && analyses && is_waiting_loop(analysis, loop) ? loop : PTX_NONE;
}

/* Whether lanes that come there together wait for the same. */
static bool waits_alike(const InstrumentStep *step) {
    const Site *site = step->site;
    return !site->part_count || (site->parts[0].proven && site->parts[0].shape == PART_UNIFORM);
}

/* ---- The clock --------------------------------------------------------------------------------------------- */

/* Where the loop is entered, the clock stands still. */
static void write_entries(InstrumentCode *code, uint32_t loop, bool polls) {
    const PtxFlow *flow = &code->analysis->flow;
    const FlowBlock *header = &flow->blocks[flow->loops[loop].header];
    for (uint32_t i = 0; i < header->predecessor_count; i++) {
        uint32_t from = flow->edges[header->predecessors + i];
        const FlowBlock *block = &flow->blocks[from];
        if (flow_in_loop(flow, from, loop) || block->begin == block->end)
            continue;
        code_say(code, "mov.b32 ~since, -1");
        if (polls)
            code_say(code, "mov.b32 ~polled, 0");
        code_put(code, flow->instructions[block->end - 1], block->ends == FLOW_NEXT);
    }
}

/* The clock goes on while other processes have the device: what passed then between two looks does not count. ~t0: now;
 * the first look has none before it. */
static void write_gap(InstrumentCode *code) {
    code_say(code, "setp.eq.u32 ~p1, ~since, -1");
    code_say(code, "@~p1 mov.b32 ~looked, ~t0");
    code_say(code, "sub.u32 ~t1, ~t0, ~looked");
    code_say(code, "mov.b32 ~looked, ~t0");
    code_say(code, "setp.gt.u32 ~p1, ~t1, %u", LONGEST_GAP);
    code_say(code, "@~p1 add.u32 ~since, ~since, ~t1");
}

/* Units since the first look in vain, in ~t0. */
static void write_elapsed(InstrumentCode *code, bool polls) {
    code_say(code, "mov.u64 ~d0, %%globaltimer");
    code_say(code, "shr.u64 ~d0, ~d0, %u", RECORD_SPIN_TIMEOUT_SHIFT);
    code_say(code, "cvt.u32.u64 ~t0, ~d0");
    if (polls)
        write_gap(code);
    code_say(code, "min.u32 ~since, ~since, ~t0");
    code_say(code, "sub.u32 ~t0, ~t0, ~since");
    code_say(code, "setp.lt.u32 ~p1, ~t0, %u", FIRST_LOOK);
}

static void write_nap(InstrumentCode *code) {
    code_say(code, "shl.b32 ~t1, ~t0, %u", NAP_SHIFT);
    code_say(code, "min.u32 ~t1, ~t1, %u", LONGEST_NAP);
    code_say(code, "nanosleep.u32 ~t1");
}

/* Gives up if it is time. The limit is read from the block,
 * where who gave up makes it shorter: there is one for all waits, and each of them takes few instructions. Looks that
 * delay no thread fail in a PTX machine without a clock, too, which has to know that there is no limit. */
static void write_limit(InstrumentCode *code, bool holds) {
    write_launch(code, "~d0");
    code_say(code, "ld.volatile.global.b32 ~t1, [~d0+%u]", OF(spin_timeout));
    if (!holds)
        code_say(code, "setp.ne.u32 ~p2, ~t1, -1");
    code_say(code, holds ? "setp.gt.u32 ~p1, ~t0, ~t1" : "setp.gt.and.u32 ~p1, ~t0, ~t1, ~p2");
    code_say(code, "@~p1 bra ~L%u", code->gives_up);
}

/* What a wait says when it gives up: these are copies, and cost less than a block of their own behind the limit. */
static void write_given_up(InstrumentCode *code, const Site *site) {
    if (site->part_count) {
        write_value(code, &site->parts[0]);
    } else {
        code_say(code, "mov.b32 ~lo, 0");
        code_say(code, "mov.b32 ~hi, 0");
    }
    code_say(code, "mov.b32 ~gives, %u", site->number);
}

/* Behind the look. */
static void write_look(InstrumentCode *code, const InstrumentStep *step) {
    const PtxStatement *statement = look_statement(code->analysis, step->instruction);
    uint32_t polled = polled_by(code->analysis, step), on = new_label(code);
    bool holds = ptx_form_has(look_form(code->analysis, step->instruction)->text, STR("try_wait"));
    const char *guard = statement->flags & PTX_GUARDED ? operand_text(code, statement->first) : "";
    if (*guard)
        code_say(code, statement->flags & PTX_NEGATED ? "@%s bra ~L%u" : "@!%s bra ~L%u", guard, on);
    if (polled == PTX_NONE) {
        code_say(code, "@%s bra ~L%u", operand_text(code, step->given), on);
    } else {
        write_value(code, &(SitePart){.operand = polled});
        code_say(code, "setp.ne.u32 ~p1, ~lo, ~polled");
        code_say(code, "mov.b32 ~polled, ~lo");
        code_say(code, "@~p1 mov.b32 ~since, -1");
    }
    write_elapsed(code, polled != PTX_NONE);
    code_say(code, "@~p1 bra ~L%u", on);
    if (polled != PTX_NONE)
        write_nap(code);
    write_given_up(code, step->site);
    write_limit(code, holds);
    code_label(code, on);
    code_put(code, step->site->statement, true);
}

/* ---- Giving up --------------------------------------------------------------------------------------------- */

/* Others need not wait for as long, once one gave up: for a part of the limit, and at least for a unit. It is made
 * shorter once, together with the word that says so. ~e0: the launch. */
static void write_hurry(InstrumentCode *code) {
    code_say(code, "ld.volatile.global.b64 ~e2, [~e0+%u]", OF(spin_timeout));
    code_say(code, "mov.b64 {~r0, ~r1}, ~e2");
    code_say(code, "setp.eq.u32 ~q0, ~r1, 0");
    code_say(code, "shr.u32 ~r0, ~r0, %u", PART_OF_LIMIT);
    code_say(code, "max.u32 ~r0, ~r0, 1");
    code_say(code, "mov.b32 ~r1, 1");
    code_say(code, "mov.b64 ~e2, {~r0, ~r1}");
    code_say(code, "@~q0 st.volatile.global.b64 [~e0+%u], ~e2", OF(spin_timeout));
}

/* By the lowest of those who wait for the same: to a chunk, or, if there is none left, where nothing looks. ~e0: the
 * launch, ~e1: the host's block. */
static void write_record(InstrumentCode *code) {
    code_say(code, "ld.global.b64 ~e2, [~e0+%u]", OF(more));
    code_say(code, "ld.global.b32 ~r0, [~e0+%u]", OF(more_count));
    code_say(code, "atom.global.inc.u32 ~r1, [~e0+%u], %u", OF(next), INT32_MAX);
    code_say(code, "min.u32 ~r1, ~r1, ~r0");
    code_say(code, "mad.wide.u32 ~e2, ~r1, %u, ~e2", code->chunk);
    write_warp(code);
    code_say(code, "mov.u32 ~r0, %%laneid");
    code_say(code, "mov.b32 ~r1, 0x%x", LAST_COUNT);
    code_say(code, "or.b32 ~word, ~tag, 0x%x", record_word(0, RECORD_CHUNK, RECORD_CHUNK_FIRST));
    code_say(code, "st.global.v4.b32 [~e2], {~word, ~r3, ~r0, ~r1}");
    code_say(code, "or.b32 ~word, ~tag, 0x%x", record_word(0, RECORD_GIVES_UP, 0));
    code_say(code, "or.b32 ~word, ~word, ~gives");
    code_say(code, "st.global.v4.b32 [~e2+%u], {~word, ~mask, ~lo, ~hi}", RECORD_UNIT);
    write_hurry(code);
    code_say(code, "fence.acq_rel.sys");
    code_say(code, "mov.b32 ~r0, 1");
    code_say(code, "red.global.inc.u32 [~e1+%u], %u", OF_HOST(gave_up), INT32_MAX);
    code_say(code, "st.volatile.global.b32 [~e1+%u], ~r0", OF_HOST(hang));
}

/* Who waits for the same, in ~mask; `alike`: all who wait at an instruction do. */
static void write_waiting(InstrumentCode *code, bool alike) {
    code_say(code, "activemask.b32 ~t0");
    code_say(code, "match.any.sync.b32 ~mask, ~gives, ~t0");
    if (alike)
        return;
    code_say(code, "mov.b64 ~d0, {~lo, ~hi}");
    code_say(code, "match.any.sync.b64 ~t1, ~d0, ~t0");
    code_say(code, "and.b32 ~mask, ~mask, ~t1");
}

/* At the end of the function, for all of its waits: no thread comes back. */
static void write_gives_up(InstrumentCode *code, bool alike) {
    uint32_t stands = new_label(code);
    code->to = &code->cold;
    code_label(code, code->gives_up);
    write_launch(code, "~e0");
    code_say(code, "ld.global.b64 ~e1, [~e0+%u]", OF(host));
    write_waiting(code, alike);
    code_say(code, "mov.u32 ~t0, %%lanemask_lt");
    code_say(code, "and.b32 ~t0, ~t0, ~mask");
    code_say(code, "setp.ne.u32 ~p1, ~t0, 0");
    code_say(code, "@~p1 bra ~L%u", stands);
    write_record(code);
    code_label(code, stands);
    code_say(code, "nanosleep.u32 %u", STANDS_BY);
    code_say(code, "ld.volatile.global.b32 ~t0, [~e1+%u]", OF_HOST(drained));
    code_say(code, "setp.eq.u32 ~p1, ~t0, 0");
    code_say(code, "@~p1 bra ~L%u", stands);
    code_say(code, "setp.eq.u32 ~p1, ~t0, 2");
    code_say(code, "@~p1 trap");
    code_say(code, "exit");
    code->to = &code->text;
}

void write_spin_timeout(InstrumentCode *code, Arena *arena) {
    const InstrumentPlan *plan = code->plan;
    bool *entered = ARENA_ARRAY(arena, bool, code->analysis->flow.loop_count + 1), any = false;
    bool polls = false, alike = plan->together;
    for (uint32_t i = 0; i < plan->count; i++)
        polls |= polled_by(code->analysis, &plan->steps[i]) != PTX_NONE;
    for (uint32_t i = 0; i < plan->count; i++) {
        uint32_t loop = waiting_loop(code->analysis, &plan->steps[i]);
        if (loop == PTX_NONE)
            continue;
        if (!any)
            code->gives_up = new_label(code);
        any = true;
        if (!entered[loop])
            write_entries(code, loop, polls);
        entered[loop] = true;
        alike &= waits_alike(&plan->steps[i]);
        write_look(code, &plan->steps[i]);
    }
    if (any)
        write_gives_up(code, alike);
}
