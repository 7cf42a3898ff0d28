/* What the machine's own files share. */
#ifndef MACHINE_TILE_STEP_MACHINE_INTERNAL_H
#define MACHINE_TILE_STEP_MACHINE_INTERNAL_H

#include "machine/tile/step/global_memory.h"
#include "machine/tile/step/machine.h"

/* Scratch memory N lies at SCRATCH_BASE + (N << SCRATCH_SHIFT); each CTA of a cluster has 2^24 bytes of it. */
#define SCRATCH_BASE (INT64_C(1) << 62)
enum { SCRATCH_SHIFT = 32, SCRATCH_CTA_SHIFT = 24 };

/* ---- machine.c ---- */
static inline Word *machine_words(const Machine *machine, uint32_t agent) {
    return machine->state->words + (size_t)agent * machine->program->most_registers;
}
/* The effect that the agent stands before. */
static inline const CompiledEffect *machine_next_effect(const Machine *machine, const Agent *agent) {
    return &machine->program->effects[machine->program->code[agent->pc].aux + agent->effect];
}
static inline Descriptor *machine_descriptor(const Machine *machine, uint32_t index) {
    return index < machine->descriptor_count ? &machine->descriptors[index]
                                             : &machine->made[index - machine->descriptor_count];
}
void machine_emit(Machine *machine, Event *event);
/* An agent is at the start of what a strand runs. */
void machine_start_agent(Machine *machine, uint32_t index, uint32_t strand);
StepResult machine_stop(Machine *machine, uint32_t pc, const char *reason);
StepResult machine_fault(Machine *machine, RuleId rule, uint32_t agent, uint32_t pc, uint32_t effect, uint32_t barrier,
                         int64_t amount, bool in_flight);
/* Something unknown that control depends on: havoc choices differ in what it is taken to be. */
int64_t machine_choose(Machine *machine, uint64_t identity, const Op *op);
/* The same for a comparison of two values: how the two stand to each other is chosen, so that all comparisons of them
 * agree. `holds`: comparison_holds_for. */
int64_t machine_choose_comparison(Machine *machine, unsigned holds, Word x, Word y, const Op *op);
Cell *machine_cell(Machine *machine, uint64_t key, bool make);
const Argument *machine_argument(const Launch *launch, const char *name);

/* A view's place: storage in `meta`, CTA in `cta`, offset in `bits`. */
static inline int64_t view_byte(Word view) {
    return (int32_t)(view.bits & UINT32_MAX) + (int64_t)(int32_t)(view.bits >> 32);
}

static inline Word view_word(uint32_t storage, uint32_t cta, Offset offset) {
    return (Word){.bits = (int64_t)((uint64_t)(uint32_t)offset.base | (uint64_t)(uint32_t)offset.affine << 32),
                  .meta = storage,
                  .cta = (uint16_t)cta,
                  .kind = WORD_VIEW};
}

static inline uint64_t view_key(Word view) {
    return identity_mix((uint64_t)view.bits, (uint64_t)view.meta << 16 | view.cta) | 1;
}

/* The same place in a CTA so far away (XOR). */
static inline Word view_toward(Word view, uint32_t toward) {
    if (word_is(view, WORD_VIEW))
        view.cta ^= (uint16_t)toward;
    return view;
}

/* ---- gathers.c ---- */
/* A gather or scatter of threads whose rows say in whose memory it is done. */
StepResult gather_access(Machine *machine, Event *event);

/* ---- outstanding.c ---- */
/* What of a multicast goes to one CTA: how far from the issuer's (XOR), and which of them it is. */
typedef struct Toward {
    uint32_t toward, member;
} Toward;

StepResult outstanding_issue(Machine *machine, uint32_t agent, uint32_t pc, uint32_t effect, OutstandingKind kind,
                             uint32_t slot, int64_t amount, Toward where, Request request);
/* So many were issued: they complete if everything does at once. */
StepResult outstanding_complete(Machine *machine, uint32_t count);
/* Both, of one that stays in its CTA. */
StepResult outstanding_submit(Machine *machine, uint32_t agent, uint32_t pc, uint32_t effect, OutstandingKind kind,
                              uint32_t slot, int64_t amount);

/* ---- cancel.c ---- */
/* A request is made, and answered; the answer has to land yet. */
Request cancel_request(Machine *machine, uint32_t pc);
/* Shared memory is read: an answer may lie there. */
void cancel_read(Machine *machine, Word view);
/* The answer is there. */
void cancel_land(Machine *machine, const Outstanding *outstanding);
/* What an answer says, for CODE_CLC. */
Word cancel_answer(Machine *machine, uint32_t agent, uint32_t pc, uint32_t what, Word word);

/* ---- advance.c ---- */
/* Runs an agent up to its next visible effect, without doing that. */
StepResult machine_advance(Machine *machine, uint32_t index);

/* ---- state.c ---- */
/* Everything zero, as at the start of a run. */
void state_clear(Machine *machine);

/* ---- memory.c ---- */
/* What the load of that agent gives where global memory is not kept. */
Word memory_load(Machine *machine, uint32_t agent, const CompiledLoad *how, Word pointer, Word operand, Word other);
/* An integer in memory that is not described: the same for every agent, different from havoc choice to world. */
int64_t memory_choose(Machine *machine, uint64_t identity, const Op *op);
/* The descriptor that is that parameter; `argument` is NULL if the launch does not say. */
Descriptor memory_launched_descriptor(const Machine *machine, uint32_t parameter, const Argument *argument);
void memory_make_descriptor(Machine *machine, uint32_t agent, const Instruction *instruction);
Word memory_descriptor_at(const Machine *machine, Word pointer);
/* What a copy through the descriptor delivers: as many boxes as cover the tile. */
int64_t memory_bytes_delivered(const Machine *machine, const CompiledEffect *effect, const Word *words);

/* ---- transfer.c ---- */
/* Whether an update will store anything, as memory is now; of other accesses, whether they write. */
/* Whether a write leaves everything as it is. Told only of what is surely known: that it is not said means nothing. */
bool transfer_is_silent(Machine *machine, const Event *event);
bool transfer_stores(const Machine *machine, uint32_t agent, const CompiledEffect *effect);
/* Carries out the access that `event` told: global memory and the register of its result change. */
void transfer_perform(Machine *machine, const Event *event);
/* Whether memory is as the poll expects, or that cannot be decided. */
bool transfer_poll_passes(const Machine *machine, uint32_t agent, const CompiledEffect *effect);
/* A poll whose time is up. */
void transfer_give_up(Machine *machine, uint32_t agent, const CompiledEffect *effect);
/* The one element that the access is to; false if there are more, or it is not known. */
bool transfer_place(const Machine *machine, uint32_t agent, const CompiledEffect *effect, int64_t *address,
                    unsigned *width);
/* Whether the CTAs of the cluster have one atomic together here, and it is made by another one. */
bool transfer_is_shared(const Machine *machine, uint32_t agent, const CompiledEffect *effect);
/* The result of it, once it was made. */
SharedResult *transfer_result(const Machine *machine, uint32_t agent);

/* ---- loads.c ---- */
/* `left`: how many may still be noted, in this log and all others that share it. */
LoadLog *loads_new(Arena *arena, uint32_t agents, uint64_t *left);
void loads_note(LoadLog *loads, uint32_t agent, const Op *op, Word word);
/* The next one that the agent has been given for that op. */
bool loads_take(Machine *machine, uint32_t agent, const Op *op, Word *word);

/* ---- compact.c ---- */
/* Moves the tensors that something still refers to into a new arena, and frees the others. */
void machine_compact(Machine *machine);

/* ---- barriers.c ---- */
/* Takes arrivals and bytes to come (or delivered: negative) to the barrier. */
StepResult barrier_bring(Machine *machine, uint32_t slot, uint32_t agent, uint32_t pc, uint32_t effect_index,
                         int64_t arrivals, int64_t bytes, Event *event);
bool effect_is_visible(const Effect *effect);
/* Whether the effect happens at all. */
bool effect_is_present(Machine *machine, uint32_t agent, const CompiledEffect *effect, uint32_t pc);
/* A visible effect. */
StepResult effect_perform(Machine *machine, uint32_t index, uint32_t pc, const CompiledEffect *effect);
/* An effect that nothing sees at once. */
StepResult effect_pass_by(Machine *machine, uint32_t index, uint32_t pc, const CompiledEffect *effect);
/* The agent comes to a wait: what for is settled now. */
StepResult effect_come_to_wait(Machine *machine, uint32_t index, uint32_t pc, const CompiledEffect *effect);
uint32_t machine_live_agents(const Machine *machine);
void machine_cluster_meets(Machine *machine, uint32_t index, uint32_t pc, const CompiledEffect *effect, uint32_t at);
int64_t machine_entered_slot(Machine *machine, uint32_t agent, Word aref);

#endif
