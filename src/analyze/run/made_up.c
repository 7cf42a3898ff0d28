/* Which races would not be there with other data. */
#include "analyze/run/made_up.h"

#include "emulate/guessed.h"

/* Worlds in which each place in memory has a number of its own: two in three places of a short ring differ in one. */
enum { FIRST_WORLD = 4, WORLDS = 32 };

static bool matters(const Effect *effect, const Race *race, uint32_t pc) {
    return effect_is_barrier(effect) || (effect_is_local(effect) && (pc == race->pc || pc == race->other_pc));
}

/* The load that the place of either access, or of some barrier, is made of; NULL: there is none. */
static const Op *first_guessed(const Program *program, const Launch *launch, const Race *race) {
    for (uint32_t pc = 0; pc < program->code_count; pc++) {
        const Instruction *instruction = &program->code[pc];
        for (uint32_t i = 0; instruction->code == CODE_EFFECTS && i < instruction->a; i++) {
            const Effect *effect = &program->effects[instruction->aux + i].effect;
            const Op *load = matters(effect, race, pc) ? guessed_load(program, launch, effect, false) : NULL;
            if (load)
                return load;
        }
    }
    return NULL;
}

/* Whether the two race in all runs with other data that come to their end, and there is one. Data that is 0 says
 * nothing: there is nothing to do then. */
static bool races_anyway(OtherData *data, const Rerun *rerun, const Race *race) {
    Machine *machine = data->machine;
    Rerun other = *rerun;
    bool shown = false;
    for (other.world = FIRST_WORLD; other.world < WORLDS; other.world++) {
        if (machine_world_has_zeros(other.world))
            continue;
        races_clear(data->races);
        races_start(data->races, other.cluster, other.world, false);
        machine->observe = races_observe;
        machine->observer = data->races;
        RunEnd end = data->run(data->context, &other);
        machine->observe = NULL;
        if (end == RUN_COMPLETE && !races_show(data->races, race))
            return false;
        shown |= end == RUN_COMPLETE;
    }
    return shown;
}

const Op *race_made_up(OtherData *data, const Rerun *rerun, const Race *race) {
    const char *problem;
    const Program *program = data->machine->program;
    const Op *load = first_guessed(program, rerun->launch, race);
    if (load && !data->races)
        data->races = races_create(&program->module->arena, data->machine, rerun->out_of_order, &problem);
    return load && data->races && races_anyway(data, rerun, race) ? NULL : load;
}
