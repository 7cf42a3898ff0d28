/* Outcomes of conditions that no launch had which Weir chose, and that may matter: a barrier is left out or made, an
 * access made, an address or another condition chosen. Launches with them are sought (machine/simt/core/scout.h) and
 * run; what happens in launches that are not found is not known. */
#include "check/simt/executions.h"

#include "base/deadline.h"
#include "machine/simt/core/scout.h"
#include "machine/simt/decode/slice.h"
#include "ptx/effects.h"

/* Of each code, by way: that outcome may matter. ORDERS: since an instruction is run or left out that orders others, or
 * accesses are made; else because of what is computed. */
enum { MATTERS_NO = 1, MATTERS_YES = 2, MATTERS_BY_VALUE = 4, NEVER_NO = 8, NEVER_YES = 16 /* no launch has it */ };

typedef struct Outcomes {
    ThreadsCheck *check;
    const PtxFlow *flow;
    const PtxValues *values;
    const bool *needed; /* of each value: what matters is computed from it */
    bool *counts;       /* of each instruction: it matters */
    uint8_t *acts;      /* of each block: ACTS_... */
    uint32_t *seen, *work, mark;
    uint8_t *matters;
} Outcomes;

enum { ACTS_AT_ALL = 1, ACTS_ORDER = 2 };

/* Accesses that order nothing: leaving one out orders nothing less. */
static bool is_plain(const PtxEffect *effect) {
    return effect_is_access(&effect->effect) && effect->effect.verb != EFFECT_UPDATE &&
           effect->effect.order == ORDER_WEAK && effect->effect.proxy == PROXY_GENERIC;
}

static unsigned acts_of(const ThreadsCheck *check, const PtxCode *code) {
    PtxEffect effects[PTX_EFFECTS_MOST];
    CodeRole role = code_role(check, code);
    if (role != ROLE_SYNCHRONIZES && role != ROLE_ACCESSES)
        return 0;
    unsigned count = ptx_effects_of(check->module, &check->module->statements[code->statement], effects);
    bool plain = role == ROLE_ACCESSES;
    for (unsigned i = 0; i < count; i++)
        plain &= is_plain(&effects[i]);
    return ACTS_AT_ALL | (plain ? 0 : ACTS_ORDER);
}

/* What is done on the ways from a block to `end`. */
static unsigned acts_between(Outcomes *o, uint32_t from, uint32_t end) {
    uint32_t count = 0;
    unsigned acts = 0;
    o->mark++;
    if (from == end)
        return 0;
    o->work[count++] = from;
    o->seen[from] = o->mark;
    while (count) {
        const FlowBlock *block = &o->flow->blocks[o->work[--count]];
        acts |= o->acts[block - o->flow->blocks];
        for (uint32_t i = 0; i < block->successor_count; i++) {
            uint32_t next = o->flow->edges[block->successors + i];
            if (next == end || o->seen[next] == o->mark)
                continue;
            o->seen[next] = o->mark;
            o->work[count++] = next;
        }
    }
    return acts;
}

/* Whether something that decides is one thing or another where the two ways meet. */
static bool values_meet(const Outcomes *o, uint32_t meets) {
    const FlowBlock *block = meets == PTX_NONE ? NULL : &o->flow->blocks[meets];
    for (uint32_t i = 0; block && i < block->phi_count; i++)
        if (o->needed[block->phis + i])
            return true;
    return false;
}

static unsigned branch_matters(Outcomes *o, const FlowBlock *block) {
    unsigned acts[2] = {0}, matters = 0;
    bool exits = block->successor_count == 1; /* where the guard holds */
    for (unsigned way = 0; way < 2; way++)
        if (!(way && exits))
            acts[way] = acts_between(o, o->flow->edges[block->successors + (way || exits ? 0 : 1)], block->meets);
    for (unsigned way = 0; way < 2; way++)
        if (acts[way] & ACTS_AT_ALL || acts[!way] & ACTS_ORDER)
            matters |= way ? MATTERS_YES : MATTERS_NO;
    if (!matters && values_meet(o, block->meets))
        matters = MATTERS_YES | MATTERS_NO | MATTERS_BY_VALUE;
    return matters;
}

static bool gives_needed(const Outcomes *o, const PtxStatement *statement) {
    for (uint32_t i = statement->first; i < statement->first + statement->count; i++) {
        uint32_t value = flow_value(o->flow, i);
        if (value != PTX_NONE && o->needed[value] && o->flow->values[value].kind == VALUE_RESULT &&
            o->flow->values[value].operand == i)
            return true;
    }
    return false;
}

/* Whether a predicate is the same at every launch. */
static bool is_settled(const Outcomes *o, uint32_t operand) {
    Form form = ptx_operand_form(o->values, operand);
    uint64_t constant;
    return form_constant(&form, &constant);
}

/* Whether a predicate says how far others are, as that of a wait does: no launch decides it. */
static bool is_progress(const Outcomes *o, uint32_t value, unsigned depth) {
    enum { DEEPEST = 6 };
    const FlowValue *at = value == PTX_NONE || depth == DEEPEST ? NULL : &o->flow->values[value];
    if (!at || at->kind != VALUE_RESULT)
        return false;
    const PtxRoutine *routine = &o->check->program->routines[o->check->program->entry];
    const PtxStatement *statement = &o->flow->module->statements[o->flow->instructions[at->instruction]];
    if (code_role(o->check, &o->check->program->code[routine->begin + at->instruction]) == ROLE_SYNCHRONIZES)
        return true;
    for (uint32_t i = statement->first; i < statement->first + statement->count; i++) {
        uint32_t read = flow_value(o->flow, i);
        if (read != value && is_progress(o, read, depth + 1))
            return true;
    }
    return false;
}

static bool is_open(const Outcomes *o, uint32_t operand) {
    return !is_settled(o, operand) && !is_progress(o, flow_value(o->flow, operand), 0);
}

static unsigned matters_of(Outcomes *o, uint32_t instruction, const PtxCode *code) {
    const PtxStatement *statement = &o->flow->module->statements[o->flow->instructions[instruction]];
    const FlowBlock *block = &o->flow->blocks[o->flow->block_of[instruction]];
    bool guarded = statement->flags & PTX_GUARDED;
    if (!block->reached)
        return 0;
    if (code->form->evaluator == PTX_EVALUATE_SELP)
        return gives_needed(o, statement) && is_open(o, statement->first + statement->count - 1)
                   ? MATTERS_YES | MATTERS_NO | MATTERS_BY_VALUE
                   : 0;
    if (!guarded || !is_open(o, statement->first))
        return 0;
    if (block->ends == FLOW_BRANCH && instruction + 1 == block->end)
        return branch_matters(o, block);
    if (acts_of(o->check, code) & ACTS_ORDER)
        return MATTERS_NO; /* that it is never made is reported anyway */
    return gives_needed(o, statement) ? MATTERS_YES | MATTERS_NO | MATTERS_BY_VALUE : 0;
}

static void find_matters(Outcomes *o) {
    const PtxRoutine *routine = &o->check->program->routines[o->check->program->entry];
    bool more = true;
    for (uint32_t i = 0; i < o->flow->instruction_count; i++) {
        unsigned acts = acts_of(o->check, &o->check->program->code[routine->begin + i]);
        o->acts[o->flow->block_of[i]] |= acts;
        o->counts[i] = acts;
    }
    while (more) { /* a condition that matters makes others matter */
        more = false;
        o->needed = ptx_slice_needed(o->flow, o->values, o->counts, &o->check->arena);
        for (uint32_t i = 0; i < o->flow->instruction_count; i++) {
            unsigned matters = matters_of(o, i, &o->check->program->code[routine->begin + i]);
            more |= matters && !o->counts[i];
            o->counts[i] |= matters != 0;
            o->matters[routine->begin + i] = (uint8_t)matters;
        }
    }
}

/* NULL: it takes more memory than it may, and nothing is known. */
static uint8_t *all_matters(ThreadsCheck *check) {
    PtxFlow flow;
    PtxValues values;
    const char *problem;
    const PtxLaunch *launch = check->launch;
    PtxBlockShape shape = {.x = launch->block[0], .y = launch->block[1], .z = launch->block[2]};
    if (!ptx_flow_values(&flow, &values, check->module, check->program->entry,
                         launch->chosen_block && !check->program->required[0] ? NULL : &shape, 0, &problem))
        return NULL;
    Outcomes o = {.check = check,
                  .flow = &flow,
                  .values = &values,
                  .counts = ARENA_ARRAY(&check->arena, bool, flow.instruction_count + 1),
                  .acts = ARENA_ARRAY(&check->arena, uint8_t, flow.block_count + 1),
                  .seen = ARENA_ARRAY(&check->arena, uint32_t, flow.block_count + 1),
                  .work = ARENA_ARRAY(&check->arena, uint32_t, flow.block_count + 1),
                  .matters = ARENA_ARRAY(&check->arena, uint8_t, check->program->code_count + 1)};
    find_matters(&o);
    ptx_flow_values_free(&flow, &values);
    return o.matters;
}

/* ---- What is missing ------------------------------------------------------------------------------ */

/* Whether a condition was come to, was known, and never went that way. */
static bool is_missing(const ThreadsCheck *check, uint32_t code, bool way) {
    unsigned ran = check->ran[code];
    unsigned matters = check->matters[code];
    if (!(matters & (way ? MATTERS_YES : MATTERS_NO)) || matters & (way ? NEVER_YES : NEVER_NO) || check->went[code])
        return false;
    if (check->program->code[code].form->evaluator == PTX_EVALUATE_SELP)
        return ran & (way ? PTX_RAN_SECOND : PTX_RAN_FIRST) && !(ran & (way ? PTX_RAN_FIRST : PTX_RAN_SECOND));
    return ran & PTX_RAN && !(ran & (way ? PTX_RAN_YES : PTX_RAN_NO));
}

static bool is_any_missing(const ThreadsCheck *check) {
    for (uint32_t i = 0; i < check->program->code_count; i++)
        if (is_missing(check, i, false) || is_missing(check, i, true))
            return true;
    return false;
}

/* Numbers that no size is: what it takes to leave 32 bits. */
static bool is_huge(const int64_t *candidate, uint32_t count) {
    static const int64_t huge = INT64_C(1) << 26;
    for (uint32_t i = SCOUT_NUMBERS; i < count; i++)
        if (candidate[i] >= huge || candidate[i] <= -huge)
            return true;
    return false;
}

static bool run_candidate(ThreadsCheck *check, uint32_t code, const int64_t *candidate) {
    PtxLaunch *launch = ARENA_NEW(&check->arena, PtxLaunch);
    const char *problem;
    uint32_t grid[3], block[3];
    for (unsigned i = 0; i < 3; i++) {
        grid[i] = (uint32_t)candidate[SCOUT_GRID + i];
        block[i] = (uint32_t)candidate[SCOUT_BLOCK + i];
    }
    if (!ptx_launch_with(&check->arena, check->program, check->options->fixed, candidate + SCOUT_NUMBERS, grid, block,
                         launch, &problem))
        return false;
    runs_try(check, launch, ptx_scout_empty(check->scout, code, candidate) ? TRIED_EMPTY : TRIED_ODD);
    return true;
}

/* What only ways lead to that no launch goes. */
static void find_dead(ThreadsCheck *check) {
    const PtxRoutine *routine = &check->program->routines[check->program->entry];
    const char *problem;
    PtxFlow flow;
    bool any = false, more = true;
    for (uint32_t i = routine->begin; i < routine->end; i++)
        any |= check->matters[i] & (NEVER_NO | NEVER_YES);
    if (!any || !ptx_flow(&flow, check->module, routine->function, ptx_flow_budget(check->module), &problem))
        return;
    bool *live = ARENA_ARRAY(&check->arena, bool, flow.block_count + 1);
    for (uint32_t i = 0; i < flow.block_count; i++)
        live[i] = flow.blocks[i].reached && !flow.blocks[i].predecessor_count;
    while (more) {
        more = false;
        for (uint32_t i = 0; i < flow.order_count; i++) {
            const FlowBlock *block = &flow.blocks[flow.order[i]];
            unsigned never = block->ends == FLOW_BRANCH && block->successor_count == 2
                                 ? check->matters[routine->begin + block->end - 1]
                                 : 0;
            for (uint32_t k = 0; live[flow.order[i]] && k < block->successor_count; k++) {
                uint32_t next = flow.edges[block->successors + k];
                if (live[next] || never & (k ? NEVER_NO : NEVER_YES))
                    continue;
                live[next] = more = true;
            }
        }
    }
    check->dead = ARENA_ARRAY(&check->arena, bool, check->program->code_count + 1);
    for (uint32_t i = 0; i < flow.instruction_count; i++)
        check->dead[routine->begin + i] = !live[flow.block_of[i]];
    ptx_flow_free(&flow);
}

void outcomes_run(ThreadsCheck *check, PtxLaunch *launches, uint32_t count) {
    enum { MOST_ROUNDS = 4, MOST_SOLVED = 24 };
    uint32_t made = 0;
    bool more = true;
    check->launch = &launches[0];
    check->matters = all_matters(check);
    if (!check->matters || !is_any_missing(check))
        return;
    check->scout = runs_scout(check, &launches[0]);
    uint8_t *asked = ARENA_ARRAY(&check->arena, uint8_t, 2 * (size_t)check->program->code_count + 1);
    for (uint32_t i = 0; check->scout && i < count; i++)
        ptx_scout_send(check->scout, &launches[i]);
    for (unsigned round = 0; check->scout && more && round < MOST_ROUNDS; round++) {
        more = false;
        for (uint32_t i = 0; i < 2 * check->program->code_count; i++) {
            if (!is_missing(check, i / 2, i & 1) || asked[i] || made == MOST_SOLVED || deadline_passed())
                continue;
            const int64_t *candidate = ptx_scout_find(check->scout, i / 2, i & 1);
            if (!candidate && ptx_scout_never(check->scout, i / 2, i & 1))
                check->matters[i / 2] |= i & 1 ? NEVER_YES : NEVER_NO;
            if (!candidate)
                continue;
            asked[i] = 1;
            if (is_huge(candidate, ptx_scout_count(check->scout))) {
                check->matters[i / 2] &= check->matters[i / 2] & MATTERS_BY_VALUE ? 0 : UINT8_MAX;
                continue;
            }
            made++;
            more |= run_candidate(check, i / 2, candidate);
        }
    }
    ptx_scout_free(check->scout);
    check->scout = NULL;
    find_dead(check);
}

void outcomes_say(ThreadsCheck *check) {
    for (uint32_t i = 0; check->matters && i < check->program->code_count; i++)
        for (unsigned way = 0; way < 2; way++)
            if (is_missing(check, i, way))
                verdict_unreached(check->verdict, "", code_line(check->program, &check->program->code[i]),
                                  "a condition was never %s in the launches that Weir chose: give a launch where it "
                                  "is",
                                  way ? "true" : "false");
}
