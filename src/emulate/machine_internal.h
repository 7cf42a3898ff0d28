/* What the machine's own files share. */
#ifndef EMULATE_MACHINE_INTERNAL_H
#define EMULATE_MACHINE_INTERNAL_H

#include "emulate/machine.h"

/* The base address of argument N is (N + 1) << PARAMETER_SHIFT. */
enum { PARAMETER_SHIFT = 40 };

/* Scratch memory N lies at SCRATCH_BASE + (N << SCRATCH_SHIFT); each CTA of a cluster has 2^24 bytes of it. */
#define SCRATCH_BASE (INT64_C(1) << 60)
enum { SCRATCH_SHIFT = 32, SCRATCH_CTA_SHIFT = 24 };

/* ---- machine.c ---- */
static inline Word *machine_words(const Machine *machine, uint32_t agent) {
    return machine->state->words + (size_t)agent * machine->program->most_registers;
}
static inline Descriptor *machine_descriptor(const Machine *machine, uint32_t index) {
    return index < machine->descriptor_count ? &machine->descriptors[index]
                                             : &machine->made[index - machine->descriptor_count];
}
void machine_tell(Machine *machine, Event event);
StepResult machine_stop(Machine *machine, uint32_t pc, const char *reason);
StepResult machine_fault(Machine *machine, RuleId rule, uint32_t agent, uint32_t pc, uint32_t effect, uint32_t barrier,
                         int64_t amount, bool in_flight);
/* Something unknown that control depends on: worlds differ in what it is taken to be. */
int64_t machine_choose(Machine *machine, uint64_t identity, const Op *op);
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

/* ---- state.c ---- */
/* Everything zero, as at the start of a run. */
void state_clear(Machine *machine);

/* ---- memory.c ---- */
Word memory_load(Machine *machine, const CompiledLoad *how, Word pointer, Word operand, Word other);
/* The descriptor that is that parameter; `argument` is NULL if the launch does not say. */
Descriptor memory_launched_descriptor(const Machine *machine, uint32_t parameter, const Argument *argument);
void memory_make_descriptor(Machine *machine, uint32_t agent, const Instruction *instruction);
Word memory_descriptor_at(const Machine *machine, Word pointer);
/* What a copy through the descriptor delivers: as many boxes as cover the tile. */
int64_t memory_bytes_delivered(const Machine *machine, const CompiledEffect *effect, const Word *words);

/* ---- barriers.c ---- */
bool effect_is_visible(const Effect *effect);
/* Whether the effect happens at all. */
bool effect_is_present(Machine *machine, uint32_t agent, const CompiledEffect *effect, uint32_t pc);
/* A visible effect. */
StepResult effect_perform(Machine *machine, uint32_t index, uint32_t pc, const CompiledEffect *effect);
/* An effect that nobody sees at once. */
StepResult effect_pass_by(Machine *machine, uint32_t index, uint32_t pc, const CompiledEffect *effect);
/* The agent comes to a wait: what for is settled now. */
StepResult effect_come_to_wait(Machine *machine, uint32_t index, uint32_t pc, const CompiledEffect *effect);
uint32_t machine_live_agents(const Machine *machine);
void machine_cluster_meets(Machine *machine, uint32_t index, uint32_t pc, const CompiledEffect *effect, uint32_t at);
int64_t machine_entered_slot(Machine *machine, uint32_t agent, Word aref);

#endif
