/* Which races would not be there with other data. */
#include "check/tile/run/havocked.h"

#include "base/deadline.h"
#include "machine/tile/launch/havocked.h"

/* Worlds in which each place in memory has a number of its own: two in three places of a short ring differ in one. And
 * havoc choices in which loops wrap any ring, and branches are where they are with most numbers. */
enum {
    FIRST_APART = 4,
    LAST_APART = 31,
    FIRST_LARGE = MACHINE_LARGE_HAVOC_CHOICE,
    LAST_LARGE = MACHINE_LARGE_HAVOC_CHOICE + 1
};

static bool matters(const Effect *effect, const Race *race, uint32_t pc) {
    return effect_is_barrier(effect) || (effect_is_local(effect) && (pc == race->pc || pc == race->other_pc));
}

/* The load that the place of either access, or of some barrier, is made of; NULL: there is none. */
static const Op *first_havocked(const Program *program, const Launch *launch, const Race *race) {
    for (uint32_t pc = 0; pc < program->code_count; pc++) {
        const Instruction *instruction = &program->code[pc];
        for (uint32_t i = 0; instruction->code == CODE_EFFECTS && i < instruction->a; i++) {
            const Effect *effect = &program->effects[instruction->aux + i].effect;
            const Op *load = matters(effect, race, pc) ? havocked_load(program, launch, effect, false) : NULL;
            if (load)
                return load;
        }
    }
    return NULL;
}

/* Of such a run nothing else is told, and what it comes to, which is in data->ran, does not count as looked at. */
static RunEnd run_watched(OtherData *data, const Rerun *rerun) {
    Machine *machine = data->machine;
    uint64_t events = machine->events;
    uint8_t *ran = machine->ran;
    races_clear(data->races);
    races_start(data->races, rerun->cluster, rerun->havoc_choice, false);
    machine->observe = races_observe;
    machine->observer = data->races;
    machine->ran = data->ran;
    memset(data->ran, 0, machine->program->code_count);
    RunEnd end = data->run(data->context, rerun);
    machine->observe = NULL;
    machine->ran = ran;
    machine->events = events;
    return end;
}

/* In how many of the havoc choices, from the first to the last, runs come to both accesses and to their end, and in how
 * many of these the two race. Data that is 0 says nothing: there is nothing to do then. */
typedef struct HavockedShown {
    unsigned runs, races;
} HavockedShown;

static bool comes_to_both(const OtherData *data, const Race *race) {
    return (race_is_exit(race) || data->ran[race->pc] & RAN) && data->ran[race->other_pc] & RAN;
}

static HavockedShown show_in(OtherData *data, const Rerun *rerun, const Race *race, unsigned first, unsigned last) {
    Rerun other = *rerun;
    HavockedShown shown = {0};
    for (other.havoc_choice = first; other.havoc_choice <= last && shown.runs == shown.races; other.havoc_choice++)
        if (!machine_havoc_choice_has_zeros(other.havoc_choice) && run_watched(data, &other) == RUN_COMPLETE &&
            comes_to_both(data, race)) {
            shown.runs++;
            shown.races += races_show(data->races, race);
        }
    return shown;
}

void other_data_note(OtherData *data) {
    const Machine *machine = data->machine;
    Effect effects[EFFECTS_MOST];
    data->chosen = NULL;
    if (!machine->loads_chosen || machine->choices)
        return;
    unsigned count = effects_of(machine->program->module, machine->first_choice, effects);
    for (unsigned i = 0; i < count; i++)
        if (effects[i].space == SPACE_GLOBAL && effects[i].verb == EFFECT_READ)
            data->chosen = machine->first_choice;
}

const Op *race_havoc_dependent(OtherData *data, const Rerun *rerun, const Race *race) {
    const char *problem;
    const Program *program = data->machine->program;
    const Op *place = first_havocked(program, rerun->launch, race), *load = place ? place : data->chosen;
    if (!load)
        return NULL;
    if (!data->races) {
        data->races = races_create(&program->module->arena, data->machine, rerun->out_of_order, &problem);
        data->ran = ARENA_ARRAY(&program->module->arena, uint8_t, program->code_count);
    }
    if (!data->races)
        return place;
    HavockedShown shown = place ? show_in(data, rerun, race, FIRST_APART, LAST_APART)
                                : show_in(data, rerun, race, FIRST_LARGE, LAST_LARGE);
    /* Which slots are the same is not known; what loops and branches do is not, unless a run shows it, or time
     * does not suffice to try. */
    return deadline_look() || shown.races < shown.runs || (place && !shown.runs) ? load : NULL;
}
