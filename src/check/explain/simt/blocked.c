/* Why a run got stuck: who waits where and for what, and which of these waits is the cause of the others.
 *
 * A barrier waits for threads, and which are missing is known: if they wait for something else, that is the cause. A
 * wait for an mbarrier, for memory that is polled or for registers is a cause by itself. */
#include "base/order.h"
#include "check/explain/explain.h"
#include "check/simt/internal.h"

#include <inttypes.h>
#include <stdlib.h>

/* Threads of a CTA that wait at the same instruction for the same. */
typedef struct Wait {
    const PtxCta *cta;
    uint32_t pc, waits_for;
    uint64_t place;
    uint8_t status; /* PtxStatus */
    uint32_t *threads, count;
    bool follows;  /* it waits for threads that wait for something else */
    bool empty;    /* it loops, and looks at nothing that could change */
    bool of_grid;  /* it polls the barrier of the grid */
    SimtLook look; /* PTX_IS_SPINS: what it polls; code NULL: that is not known */
} Wait;

typedef struct Stuck {
    ThreadsCheck *check;
    Arena arena;
    Wait *waits;
    uint32_t count, capacity;
} Stuck;

/* ---- What a loop polls --------------------------------------------------------------------------- */

/* The last instruction that jumps back to the one at `pc`. */
static uint32_t loop_end(const PtxProgram *program, uint32_t pc) {
    const PtxCode *code = program->code;
    uint32_t last = pc;
    for (uint32_t at = pc; at < program->code_count; at++)
        for (uint32_t i = 0; i < code[at].count; i++) {
            const PtxArgument *argument = &program->arguments[code[at].first + i];
            if (argument->kind == ARGUMENT_JUMP && argument->slot == pc)
                last = at;
        }
    return last;
}

/* How much an instruction of a loop looks like what the loop is there for: a look at an mbarrier, at memory by a strong
 * access, at memory that others may write. */
static unsigned poll_weight(const Stuck *stuck, const PtxCode *code) {
    PtxEffect effect;
    if (code_effect(stuck->check, code, EFFECT_WAIT, &effect))
        return 3;
    if (!code->visible || !(code_effect(stuck->check, code, EFFECT_READ, &effect) ||
                            code_effect(stuck->check, code, EFFECT_UPDATE, &effect)))
        return 0;
    return effect.effect.order != ORDER_WEAK ? 2 : 1;
}

static uint32_t poll_of(const Stuck *stuck, uint32_t pc) {
    const PtxCode *code = stuck->check->program->code;
    uint32_t best = pc, end = loop_end(stuck->check->program, pc);
    for (uint32_t at = pc; at <= end; at++)
        if (poll_weight(stuck, &code[at]) > poll_weight(stuck, &code[best]))
            best = at;
    return best;
}

/* What the CTA saw there: one thread may look for all. */
static SimtLook look_at(const Stuck *stuck, const PtxCta *cta, const PtxCode *code) {
    for (uint32_t i = 0; i < cta->warp_count; i++) {
        SimtLook look = history_look(stuck->check->history, &cta->warps[i]);
        if (look.code == code)
            return look;
    }
    return (SimtLook){0};
}

/* ---- Who waits ----------------------------------------------------------------------------------- */

/* A group as it waits. One that loops and looks at an mbarrier waits for that. */
static Wait wait_of(const Stuck *stuck, const PtxGroup *group) {
    Wait wait = {.cta = group->warp->cta,
                 .pc = group->pc,
                 .waits_for = group->waits_for,
                 .place = group->place,
                 .status = group->status};
    if (wait.status != PTX_IS_SPINS)
        return wait;
    wait.pc = poll_of(stuck, group->pc);
    wait.look = look_at(stuck, wait.cta, &stuck->check->program->code[wait.pc]);
    if (wait.look.code && !wait.look.location.block) {
        wait.status = PTX_IS_MBARRIER;
        wait.place = wait.look.place;
    }
    return wait;
}

static Wait *wait_like(Stuck *stuck, const PtxGroup *group) {
    Wait like = wait_of(stuck, group);
    for (uint32_t i = 0; i < stuck->count; i++) {
        Wait *wait = &stuck->waits[i];
        if (wait->cta == like.cta && wait->pc == like.pc && wait->status == like.status &&
            (like.status != PTX_IS_MBARRIER || wait->place == like.place) &&
            (like.status != PTX_IS_NAMED || wait->waits_for == like.waits_for))
            return wait;
    }
    Wait *wait = ARENA_PUSH(&stuck->arena, stuck->waits, stuck->count, stuck->capacity);
    *wait = like;
    wait->threads = ARENA_ARRAY(&stuck->arena, uint32_t, like.cta->threads + PTX_LANES);
    return wait;
}

/* The lowest threads first. */
ORDER(by_threads, Wait, BY(cta->number) BY(threads[0]))

static void collect(Stuck *stuck) {
    const PtxMachine *machine = stuck->check->machine;
    for (uint32_t i = 0; i < machine->cta_count; i++) {
        const PtxCta *cta = machine->ctas[i];
        for (uint32_t k = 0; cta && k < cta->warp_count; k++)
            for (const PtxGroup *group = cta->warps[k].groups; group; group = group->next) {
                if (group->status == PTX_IS_DONE || !group->lanes)
                    continue;
                Wait *wait = wait_like(stuck, group);
                for (uint32_t lane = 0; lane < PTX_LANES; lane++)
                    if (group->lanes >> lane & 1)
                        wait->threads[wait->count++] = k * PTX_LANES + lane;
            }
    }
    for (uint32_t i = 0; i < stuck->count; i++) { /* groups of a warp are in no order */
        Wait *wait = &stuck->waits[i];
        for (uint32_t a = 1; a < wait->count; a++)
            for (uint32_t b = a; b > 0 && wait->threads[b] < wait->threads[b - 1]; b--) {
                uint32_t thread = wait->threads[b];
                wait->threads[b] = wait->threads[b - 1];
                wait->threads[b - 1] = thread;
            }
    }
    if (stuck->count)
        qsort(stuck->waits, stuck->count, sizeof *stuck->waits, by_threads);
}

static bool has_thread(const Wait *wait, uint32_t thread) {
    for (uint32_t i = 0; i < wait->count; i++)
        if (wait->threads[i] == thread)
            return true;
    return false;
}

static bool is_for_threads(const Wait *wait) {
    return wait->status == PTX_IS_NAMED || wait->status == PTX_IS_CLUSTER || wait->status == PTX_IS_LANES_MEET;
}

/* Whether threads that this one waits for are among those of the other. */
static bool misses(const Stuck *stuck, const Wait *wait, const Wait *other) {
    bool cluster = wait->status == PTX_IS_CLUSTER;
    if (wait == other || (cluster ? wait->cta->cluster != other->cta->cluster : wait->cta != other->cta))
        return false;
    if (wait->status == PTX_IS_NAMED && other->status == PTX_IS_NAMED && wait->waits_for == other->waits_for)
        return false; /* at the same barrier, elsewhere in the code */
    if (wait->status != PTX_IS_LANES_MEET)
        return true;
    for (uint32_t i = 0; i < wait->count; i++)
        for (uint32_t lane = 0; lane < PTX_LANES; lane++) {
            uint32_t thread = wait->threads[i] / PTX_LANES * PTX_LANES + lane;
            if (!has_thread(wait, thread) && has_thread(other, thread))
                return true;
        }
    (void)stuck;
    return false;
}

static const PtxMbarrier *mbarrier_of(const Stuck *stuck, const Wait *wait) {
    const PtxMachine *machine = stuck->check->machine;
    uint64_t cta = wait->place >> 32;
    if (wait->status != PTX_IS_MBARRIER || wait->place == PTX_NO_PLACE || cta >= machine->cta_count ||
        !machine->ctas[cta])
        return NULL;
    return ptx_mbarrier_at(machine->ctas[cta], (uint32_t)wait->place);
}

/* How much a wait looks like the cause of others: a barrier whose missing threads have ended, or are at other barriers;
 * an mbarrier that lacks bytes alone, or some of its arrivals; one that lacks all of them may be waiting for a thread
 * that waits, too. */
static unsigned weight(const Stuck *stuck, const Wait *wait) {
    const PtxMbarrier *mbarrier = mbarrier_of(stuck, wait);
    if (is_for_threads(wait))
        return wait->follows ? 0 : 5;
    if (!mbarrier)
        return 2;
    return !mbarrier->pending ? 4 : mbarrier->pending < mbarrier->count ? 3 : 1;
}

static Wait *find_cause(const Stuck *stuck) {
    Wait *cause = NULL;
    for (uint32_t i = 0; i < stuck->count; i++) {
        Wait *wait = &stuck->waits[i];
        for (uint32_t k = 0; is_for_threads(wait) && k < stuck->count; k++)
            wait->follows |= misses(stuck, wait, &stuck->waits[k]) && !is_for_threads(&stuck->waits[k]);
        if (!cause || weight(stuck, wait) > weight(stuck, cause))
            cause = wait;
    }
    return cause;
}

/* ---- What it waits for --------------------------------------------------------------------------- */

static const PtxCode *code_of(const Stuck *stuck, const Wait *wait) {
    return &stuck->check->program->code[wait->pc];
}

static const char *who(const Stuck *stuck, const Wait *wait) {
    return threads_words(stuck->check, wait->cta->number, wait->threads, wait->count);
}

/* "the mbarrier at bytes 8-15 of full" */
static const char *mbarrier_words(const Stuck *stuck, uint64_t place) {
    const PtxMachine *machine = stuck->check->machine;
    const PtxCta *cta = place >> 32 < machine->cta_count ? machine->ctas[place >> 32] : NULL;
    if (place == PTX_NO_PLACE || !cta)
        return "mbarriers";
    PtxLocation location = {(PtxBlock *)&cta->shared, (uint32_t)place - cta->shared.base};
    return verdict_text(stuck->check->verdict, "the mbarrier at %s", location_words(stuck->check, location, 8));
}

static bool is_in(const PtxFlow *flow, uint32_t block, uint32_t loop) {
    uint32_t in = flow->blocks[block].loop;
    while (in != PTX_NONE && in != loop)
        in = flow->loops[in].outer;
    return in != PTX_NONE;
}

/* Whether some thread came out of a loop. */
static bool was_left(const Stuck *stuck, const PtxFlow *flow, const PtxRoutine *routine, uint32_t loop) {
    for (uint32_t i = 0; i < flow->block_count; i++) {
        const FlowBlock *block = &flow->blocks[i];
        for (uint32_t k = 0; is_in(flow, i, loop) && k < block->successor_count; k++) {
            uint32_t next = flow->edges[block->successors + k];
            if (!is_in(flow, next, loop) && stuck->check->ran[routine->begin + flow->blocks[next].begin])
                return true;
        }
    }
    return false;
}

/* Whether a loop that spins without end looks at anything that could change: memory, a barrier, what a function
 * does. */
static bool looks_at_something(const Stuck *stuck, const PtxFlow *flow, const PtxRoutine *routine, uint32_t loop) {
    for (uint32_t i = 0; i < flow->instruction_count; i++) {
        const PtxCode *code = &stuck->check->program->code[routine->begin + i];
        if (!is_in(flow, flow->block_of[i], loop) || !(stuck->check->ran[routine->begin + i] & PTX_RAN_YES))
            continue;
        bool calls = false;
        for (uint32_t k = 0; k < code->count; k++)
            calls |= code_argument(stuck->check->program, code, k)->kind == ARGUMENT_ROUTINE;
        CodeRole role = code_role(stuck->check, code);
        if (calls || role == ROLE_ACCESSES || role == ROLE_SYNCHRONIZES)
            return true;
    }
    return false;
}

static bool is_empty_loop(const Stuck *stuck, const Wait *wait) {
    const PtxProgram *program = stuck->check->program;
    const PtxModule *module = stuck->check->module;
    const char *problem;
    bool empty = false;
    PtxFlow flow;
    for (uint32_t i = 0; wait->status == PTX_IS_SPINS && i < module->functions_count; i++) {
        const PtxRoutine *routine = &program->routines[i];
        uint32_t at = wait->pc - routine->begin;
        if (!routine->ready || wait->pc < routine->begin || wait->pc >= routine->end ||
            !ptx_flow(&flow, module, i, ptx_flow_budget(module), &problem))
            continue;
        uint32_t loop = at < flow.instruction_count ? flow.blocks[flow.block_of[at]].loop : PTX_NONE;
        while (loop != PTX_NONE && flow.loops[loop].outer != PTX_NONE && was_left(stuck, &flow, routine, loop))
            loop = flow.loops[loop].outer; /* it is that one which goes on */
        empty = loop != PTX_NONE && !looks_at_something(stuck, &flow, routine, loop);
        ptx_flow_free(&flow);
    }
    return empty;
}

/* ---- Barriers of the grid ------------------------------------------------------------------------ */

/* Whether a register has a value that is computed from %envreg, in which the driver passes the address of its workspace
 * for grid barriers: by the instructions before `at`, the nearest first. */
static bool is_of_driver(const Stuck *stuck, uint32_t at, const PtxArgument *wanted, unsigned depth) {
    const PtxProgram *program = stuck->check->program;
    const PtxModule *module = stuck->check->module;
    for (uint32_t pc = at; depth && pc-- > 0;) {
        const PtxCode *code = &program->code[pc];
        const PtxArgument *given = code->count ? code_argument(program, code, 0) : NULL;
        if (!given || given->kind != ARGUMENT_ROW || given->slot != wanted->slot)
            continue;
        const PtxStatement *statement = &module->statements[code->statement];
        for (uint32_t i = 0; i < statement->count; i++) {
            const PtxOperand *operand = &module->operands[statement->first + i];
            if (operand->kind == PTX_SPECIAL && strcmp(ptx_special_at(operand->a)->name, "%envreg") == 0)
                return true;
        }
        for (uint32_t i = 1; i < code->count; i++) {
            const PtxArgument *from = code_argument(program, code, i);
            if (from->kind == ARGUMENT_ROW && is_of_driver(stuck, pc, from, depth - 1))
                return true;
        }
        return false;
    }
    return false;
}

/* Whether a loop polls the driver's workspace: grid.sync() of cooperative groups. */
static bool is_grid_barrier(const Stuck *stuck, const Wait *wait) {
    enum { MOST_STEPS = 12 };
    const PtxProgram *program = stuck->check->program;
    const PtxCode *code = &program->code[wait->pc];
    for (uint32_t i = 0; wait->status == PTX_IS_SPINS && i < code->count; i++) {
        const PtxArgument *argument = code_argument(program, code, i);
        if (argument->kind == ARGUMENT_ADDRESS && argument->count &&
            argument_member(program, argument, 0)->kind == ARGUMENT_ROW)
            return is_of_driver(stuck, wait->pc, argument_member(program, argument, 0), MOST_STEPS);
    }
    return false;
}

/* Of the CTAs that do not wait where this one does: which have exited, and where others are. Empty: all are here, or
 * it is a matter of this CTA alone. */
static const char *where_ctas(const Stuck *stuck, const Wait *cause) {
    enum { MOST_ELSEWHERE = 2 };
    const PtxMachine *machine = stuck->check->machine;
    const SimtLook *look = &cause->look;
    uint32_t *ended = ARENA_ARRAY(&stuck->check->arena, uint32_t, machine->cta_count), count = 0, here = 0, others = 0;
    Text text = {0};
    if (cause->status != PTX_IS_SPINS || machine->cta_count < 2 ||
        (look->code && look->location.block && look->location.block->space != PTX_SPACE_GLOBAL))
        return "";
    for (uint32_t i = 0; i < machine->cta_count; i++) {
        const Wait *wait = NULL;
        bool at = false;
        for (uint32_t k = 0; k < stuck->count; k++)
            if (stuck->waits[k].cta == machine->ctas[i] && machine->ctas[i]) {
                wait = wait && wait->status == PTX_IS_SPINS ? wait : &stuck->waits[k];
                at |= stuck->waits[k].pc == cause->pc;
            }
        here += at;
        if (!machine->ctas[i])
            ended[count++] = i;
        else if (wait && !at && others < MOST_ELSEWHERE)
            text_addf(&text, "%s%s wait%s at %s", others++ ? "; " : "", who(stuck, wait), wait->count == 1 ? "s" : "",
                      code_words(stuck->check, code_of(stuck, wait)));
    }
    if (count)
        text_addf(&text, "%s%s %s exited", text.size ? "; " : "", ctas_words(stuck->check, ended, count),
                  count == 1 ? "has" : "have");
    if (!text.size)
        return "";
    const char *elsewhere = verdict_keep(stuck->check->verdict, &text);
    return verdict_text(stuck->check->verdict, "Of %u CTAs, %u wait%s here; %s.", machine->cta_count, here,
                        here == 1 ? "s" : "", elsewhere);
}

/* What is waited for: "barrier 1", "the mbarrier at bytes 8-15 of full". */
static const char *object_of(const Stuck *stuck, const Wait *wait) {
    Verdict *verdict = stuck->check->verdict;
    switch (wait->status) {
    case PTX_IS_NAMED:
        return verdict_text(verdict, "barrier %u", wait->waits_for);
    case PTX_IS_CLUSTER:
        return "the cluster barrier";
    case PTX_IS_LANES_MEET:
        return verdict_text(verdict, "other lanes of the warp (mask 0x%08x)", wait->waits_for);
    case PTX_IS_MBARRIER:
        return mbarrier_words(stuck, wait->place);
    case PTX_IS_GROUP_WAIT:
        return "its own copies or MMAs";
    case PTX_IS_REGISTERS:
        return "registers or tensor memory that others hold";
    case PTX_IS_LAUNCHES:
        return "the launch before this one";
    default:
        if (wait->of_grid)
            return "the cooperative grid barrier (grid.sync())";
        if (wait->empty)
            return "every iteration is like the one before";
        if (wait->look.code)
            return verdict_text(verdict, "%s to change",
                                location_words(stuck->check, wait->look.location, wait->look.bytes));
        return wait->count == 1 ? "memory that it polls to change" : "memory that they poll to change";
    }
}

static Facts facts_of(const Stuck *stuck, const Wait *wait) {
    const PtxMbarrier *mbarrier = mbarrier_of(stuck, wait);
    bool one = wait->count == 1;
    Facts facts = {.ptx = true,
                   .agent = who(stuck, wait),
                   .waits = wait->empty ? (one ? "loops" : "loop")
                            : one       ? "waits"
                                        : "wait",
                   .its = one ? "its" : "their",
                   .object = object_of(stuck, wait)};
    if (mbarrier) {
        facts.phases = mbarrier->phase;
        facts.parity = mbarrier->phase & 1;
        facts.count = mbarrier->count;
        facts.pending = mbarrier->pending;
        facts.arrived = facts.count - facts.pending;
        facts.bytes = mbarrier->bytes;
    }
    return facts;
}

/* The same with how far it is. */
static const char *waits_for(const Stuck *stuck, const Wait *wait) {
    Verdict *verdict = stuck->check->verdict;
    const PtxNamed *named = wait->status == PTX_IS_NAMED ? ptx_named_at(wait->cta, wait->waits_for) : NULL;
    Facts facts = facts_of(stuck, wait);
    if (named)
        return verdict_text(verdict, "%s, at which %u of %u threads have arrived", facts.object, named->arrived,
                            named->expected);
    return facts.count ? verdict_text(verdict, "%s: %s", facts.object, explain_phase(verdict, &facts)) : facts.object;
}

/* ---- Rules --------------------------------------------------------------------------------------- */

static bool is_barrier_code(const Stuck *stuck, const Wait *wait) {
    PtxEffect effect;
    const PtxCode *code = code_of(stuck, wait);
    return code_effect(stuck->check, code, EFFECT_NAMED_SYNC, &effect) ||
           code_effect(stuck->check, code, EFFECT_NAMED_ARRIVE, &effect) ||
           code_effect(stuck->check, code, EFFECT_CTA_BARRIER, &effect);
}

/* Whether all who ever arrived there have ended. */
static bool arrivers_ended(const Stuck *stuck, const MbarrierHistory *history) {
    const PtxMachine *machine = stuck->check->machine;
    for (uint32_t i = 0; i < history->arriver_count; i++) {
        const PtxWarp *warp = history->arrivers[i].warp;
        for (uint32_t k = 0; k < machine->cta_count; k++)
            if (machine->ctas[k] && machine->ctas[k] == warp->cta && !(warp->exited >> history->arrivers[i].lane & 1))
                return false;
    }
    return history->arriver_count > 0;
}

/* Threads that arrive there, at *code, and wait themselves, for something else; NULL: there are none. */
static const Wait *arriver_waits(const Stuck *stuck, const Wait *wait, const MbarrierHistory *history,
                                 const PtxCode **code) {
    for (uint32_t i = 0; history && i < history->arriver_count; i++)
        for (uint32_t k = 0; k < stuck->count; k++) {
            const Wait *other = &stuck->waits[k];
            uint32_t thread = history->arrivers[i].warp->index * PTX_LANES + history->arrivers[i].lane;
            *code = history->arrivers[i].code;
            if (other != wait && other->cta == history->arrivers[i].warp->cta && has_thread(other, thread))
                return other;
        }
    return NULL;
}

/* How many phases the first of the threads that wait has seen. */
static uint64_t waits_of(const Wait *wait, const MbarrierHistory *history) {
    for (uint32_t i = 0; i < history->waiter_count; i++)
        if (history->waiters[i].warp == &wait->cta->warps[wait->threads[0] / PTX_LANES])
            return history->waiters[i].seen;
    return history->waiter_count == HISTORY_WAITERS ? UINT64_MAX : 0;
}

static RuleId mbarrier_rule(const Stuck *stuck, const Wait *wait, const MbarrierHistory *history) {
    const PtxMbarrier *mbarrier = mbarrier_of(stuck, wait);
    const PtxCode *code;
    const Wait *held = arriver_waits(stuck, wait, history, &code);
    if (mbarrier && !mbarrier->pending && mbarrier->bytes)
        return RULE_DEADLOCK_BYTES;
    if (history && history->flips > waits_of(wait, history))
        return RULE_DEADLOCK_LAPPED;
    if (mbarrier && mbarrier->pending < mbarrier->count && !history->flips)
        return RULE_DEADLOCK_NO_PRODUCER;
    if (held)
        return is_for_threads(held) ? RULE_DEADLOCK_MIXED : RULE_DEADLOCK_CYCLE;
    for (uint32_t i = 0; i < stuck->count; i++) /* a barrier waits for this thread, and may hold who would arrive */
        if (stuck->waits[i].follows && misses(stuck, &stuck->waits[i], wait) && !(history && history->flips))
            return RULE_DEADLOCK_MIXED;
    if (!history || !history->flips)
        return RULE_DEADLOCK_NO_PRODUCER;
    return arrivers_ended(stuck, history) ? RULE_DEADLOCK_EXITED : RULE_DEADLOCK_PARITY;
}

static RuleId rule_of_wait(const Stuck *stuck, const Wait *wait, const MbarrierHistory *history) {
    PtxEffect effect;
    switch (wait->status) {
    case PTX_IS_NAMED:
    case PTX_IS_CLUSTER:
        return RULE_DEADLOCK_THREADS;
    case PTX_IS_LANES_MEET:
        if (is_barrier_code(stuck, wait))
            return RULE_DEADLOCK_THREADS;
        return code_effect(stuck->check, code_of(stuck, wait), EFFECT_CONVERGED, &effect) &&
                       !code_effect(stuck->check, code_of(stuck, wait), EFFECT_WARP_SYNC, &effect)
                   ? RULE_THREADS_DIVERGENT_WARP
                   : RULE_DEADLOCK_LANES;
    case PTX_IS_MBARRIER:
        return mbarrier_rule(stuck, wait, history);
    case PTX_IS_REGISTERS:
        return RULE_DEADLOCK_REGISTERS;
    default:
        return RULE_DEADLOCK_SPIN;
    }
}

/* ---- Why ----------------------------------------------------------------------------------------- */

/* Where the threads are that are missing: "threads 32-63 wait at ...; threads 64-127 have exited". */
static const char *where_missing(const Stuck *stuck, const Wait *wait) {
    enum { MOST_REPORTED = 3 };
    Text text = {0};
    const PtxCta *cta = wait->cta;
    uint32_t *ended = ARENA_ARRAY(&stuck->check->arena, uint32_t, cta->threads + 1), count = 0, reported = 0;
    for (uint32_t i = 0; i < stuck->count && reported < MOST_REPORTED; i++) {
        const Wait *other = &stuck->waits[i];
        if (!misses(stuck, wait, other))
            continue;
        text_addf(&text, "%s%s wait%s at %s", reported++ ? "; " : "", who(stuck, other), other->count == 1 ? "s" : "",
                  code_words(stuck->check, code_of(stuck, other)));
    }
    for (uint32_t thread = 0; thread < cta->threads; thread++)
        if (cta->warps[thread / PTX_LANES].exited >> thread % PTX_LANES & 1)
            ended[count++] = thread;
    if (count && wait->status != PTX_IS_LANES_MEET)
        text_addf(&text, "%s%s %s exited", reported ? "; " : "", threads_words(stuck->check, cta->number, ended, count),
                  count == 1 ? "has" : "have");
    return text.size ? verdict_keep(stuck->check->verdict, &text) : "";
}

/* Who waits for whom, from the cause on. */
static const char *circle_of(const Stuck *stuck, const Wait *cause, const Facts *facts) {
    enum { MOST_LINKS = 4 };
    WaitLink links[MOST_LINKS];
    uint32_t count = 0;
    for (const Wait *at = cause; count < MOST_LINKS && !(count && at == cause);) {
        const PtxCode *code;
        const Wait *held = at->status == PTX_IS_MBARRIER
                               ? arriver_waits(stuck, at, history_of(stuck->check->history, at->place), &code)
                               : NULL;
        if (!held)
            break;
        links[count++] = (WaitLink){.agent = who(stuck, held),
                                    .place = code_words(stuck->check, code),
                                    .object = object_of(stuck, held),
                                    .wait = code_words(stuck->check, code_of(stuck, held)),
                                    .its = held->count == 1 ? "its" : "their",
                                    .closes = held == cause};
        at = held;
    }
    return explain_circle(stuck->check->verdict, facts, links, count);
}

static CauseId mbarrier_cause(const Stuck *stuck, const Wait *wait, const MbarrierHistory *history, RuleId rule,
                              Facts *facts) {
    Verdict *verdict = stuck->check->verdict;
    const PtxCode *code;
    const Wait *held = arriver_waits(stuck, wait, history, &code);
    int64_t bytes = facts->bytes;
    bool one = wait->count == 1;
    switch (rule) {
    case RULE_DEADLOCK_BYTES:
        facts->bytes = bytes < 0 ? -bytes : bytes;
        facts->more = "all arrivals are in, but ";
        facts->last = bytes > 0 ? "bytes never arrive" : "more bytes arrive than are expected";
        facts->detail = history && history->expect ? verdict_text(verdict, "The last bytes were expected at %s. ",
                                                                  code_words(stuck->check, history->expect))
                                                   : "";
        facts->next = verdict_text(verdict, "%+lld remain.", (long long)bytes);
        return CAUSE_BYTES;
    case RULE_DEADLOCK_CYCLE:
    case RULE_DEADLOCK_MIXED:
        facts->more = one ? "it" : "them";
        if (!held)
            return CAUSE_CIRCLE_BARRIER;
        facts->other = who(stuck, held);
        facts->more = held->count == 1 ? "arrives" : "arrive";
        facts->its = held->count == 1 ? "its" : "their";
        facts->next = object_of(stuck, held);
        facts->detail = circle_of(stuck, wait, facts);
        return CAUSE_CIRCLE;
    case RULE_DEADLOCK_LAPPED:
        facts->next = one ? "it waits" : "they wait";
        facts->first = (int64_t)waits_of(wait, history);
        facts->last = verdict_text(verdict, "%s %s seen %s of them", facts->agent, one ? "has" : "have",
                                   facts->first ? explain_text(verdict, "{first}", facts) : "none");
        facts->detail = explain_unheld;
        return CAUSE_LAPPED;
    case RULE_DEADLOCK_EXITED:
        facts->other = history->arrivers[0].warp->cta == wait->cta
                           ? thread_words(stuck->check, wait->cta->number,
                                          history->arrivers[0].warp->index * PTX_LANES + history->arrivers[0].lane)
                           : "the thread of another CTA";
        facts->place = code_words(stuck->check, history->arrivers[0].code);
        facts->detail = "is made by threads that have all exited";
        return CAUSE_EXITED;
    case RULE_DEADLOCK_PARITY:
        return CAUSE_PARITY_AHEAD;
    default:
        facts->detail = facts->arrived ? "no thread makes the others" : "no thread makes one";
        facts->last = facts->phases ? " any more" : "";
        return !facts->count ? CAUSE_ARRIVALS_UNKNOWN : facts->arrived ? CAUSE_ARRIVALS_MISSING : CAUSE_ARRIVALS_NONE;
    }
}

static CauseId cause_of(const Stuck *stuck, const Wait *wait, const MbarrierHistory *history, RuleId rule,
                        Facts *facts) {
    Verdict *verdict = stuck->check->verdict;
    if (wait->status == PTX_IS_MBARRIER)
        return mbarrier_cause(stuck, wait, history, rule, facts);
    if (wait->status == PTX_IS_REGISTERS)
        return CAUSE_REGISTERS;
    if (is_for_threads(wait)) {
        const char *missing = where_missing(stuck, wait);
        facts->object = waits_for(stuck, wait);
        facts->detail =
            *missing ? verdict_text(verdict, "Of the others, %s.", missing) : "The other threads never arrive.";
        return rule == RULE_DEADLOCK_THREADS ? CAUSE_THREADS
               : rule == RULE_DEADLOCK_LANES ? CAUSE_LANES
                                             : CAUSE_DIVERGENT_WARP;
    }
    if (wait->empty)
        return CAUSE_EMPTY_LOOP;
    facts->detail = where_ctas(stuck, wait);
    if (wait->of_grid) {
        if (!*facts->detail)
            facts->detail = "The barrier is complete only when all CTAs of the grid have arrived at it.";
        return CAUSE_GRID_BARRIER;
    }
    facts->more =
        verdict_text(verdict, "%s%s", wait->count == 1 ? "this one reads." : "these read.", *facts->detail ? " " : "");
    return CAUSE_SPIN;
}

/* ---- The finding --------------------------------------------------------------------------------- */

static const char *role_of(const Wait *wait, bool other) {
    if (wait->empty)
        return wait->count == 1 ? "loops" : "loop";
    return wait->count == 1 ? other ? "waits too" : "waits" : other ? "wait too" : "wait";
}

/* The cause first, then who arrives there, then the other waits. */
static void add_places(const Stuck *stuck, Finding *finding, const Wait *cause, const MbarrierHistory *history) {
    enum { MOST_WAITS = 6, MOST_CODES = MOST_WAITS + HISTORY_ARRIVERS + 1 };
    const PtxCode *codes[MOST_CODES] = {code_of(stuck, cause)};
    const Wait *waits[MOST_CODES] = {cause};
    uint32_t count = 1, arrivers = 0;
    if (history && history->init)
        codes[count++] = history->init;
    for (; history && arrivers < history->arriver_count && arrivers < 1;
         arrivers++) /* others are mostly the same again */
        codes[count++] = history->arrivers[arrivers].code;
    uint32_t others = count;
    for (uint32_t i = 0; i < stuck->count && count < MOST_WAITS; i++)
        if (&stuck->waits[i] != cause) {
            waits[count] = &stuck->waits[i];
            codes[count++] = code_of(stuck, &stuck->waits[i]);
        }
    FindingPlace **places = code_places(stuck->check, finding, codes, count);
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || i >= others) {
            places[i]->agent = who(stuck, waits[i]);
            places[i]->role = role_of(waits[i], i > 0);
            places[i]->note = waits_for(stuck, waits[i]);
        } else {
            places[i]->role = history->init && i == 1 ? "initialized here" : "arrived here";
        }
    }
}

static bool is_reported(const ThreadsCheck *check, RuleId rule, uint32_t line) {
    for (size_t i = 0; i < check->verdict->finding_count; i++)
        if (check->verdict->findings[i].rule == rule && check->verdict->findings[i].places[0].ir_line == line) {
            check->verdict->findings[i].times++;
            return true;
        }
    return false;
}

Finding *threads_blocked(ThreadsCheck *check, const PtxSchedule *schedule, unsigned havoc_choice) {
    static const size_t budget = (size_t)1 << 28;
    Stuck stuck = {.check = check};
    Finding *finding = NULL;
    arena_init(&stuck.arena, budget);
    stuck.arena.exhausted = check->verdict->arena->exhausted;
    collect(&stuck);
    for (uint32_t i = 0; i < stuck.count; i++) {
        stuck.waits[i].of_grid = is_grid_barrier(&stuck, &stuck.waits[i]);
        stuck.waits[i].empty = !stuck.waits[i].of_grid && is_empty_loop(&stuck, &stuck.waits[i]);
    }
    const Wait *cause = find_cause(&stuck);
    if (cause) {
        const MbarrierHistory *history =
            cause->status == PTX_IS_MBARRIER ? history_of(check->history, cause->place) : NULL;
        RuleId rule = rule_of_wait(&stuck, cause, history);
        if (!is_reported(check, rule, code_line(check->program, code_of(&stuck, cause)))) {
            Facts facts = facts_of(&stuck, cause);
            CauseId id = cause_of(&stuck, cause, history, rule, &facts);
            finding = threads_finding(check, rule, "barrier", schedule, havoc_choice, 1);
            explain(check->verdict, finding, CAUSE_WAITS, &facts);
            explain(check->verdict, finding, id, &facts);
            add_places(&stuck, finding, cause, history);
            threads_grade(check, finding);
        }
    }
    arena_free(&stuck.arena);
    return finding;
}
