/* Classes of clusters: the grid of the machine, and a run of one of its clusters. */
#include "machine/tile/schedule/classes.h"

#include "machine/tile/schedule/schedule.h"
#include "machine/tile/step/symmetry.h"

typedef struct TileClasses {
    Machine *machine;
    TileSymmetry symmetry;
    RunTileClass *run; /* NULL: the machine runs it */
    void *context;
} TileClasses;

/* Whether what it does depends on loads: a run without what they gave may go around forever. */
static bool has_loads(const Program *program) {
    for (uint32_t i = 0; i < program->code_count; i++)
        if (program->code[i].code == CODE_LOAD)
            return true;
    return false;
}

/* Whether the run of the machine itself speaks for others. */
static bool run_machine(Machine *machine, TileSymmetry *symmetry, uint64_t cluster) {
    uint64_t events = machine->events;
    Observe *observe = machine->observe;
    machine->observe = NULL;
    machine->symmetry = symmetry;
    machine->havoc_choice = 0;
    machine_give_loads(machine, NULL);
    RunEnd end = schedule_run(machine, cluster, &(Schedule){.kind = SCHEDULE_EAGER});
    machine->symmetry = NULL;
    machine->observe = observe;
    machine->events = events;
    /* What was made up may be made up in other ways, which no run has shown. */
    return end == RUN_COMPLETE && !machine->choices && !machine->loads_chosen;
}

static bool run_cluster(void *context, Symmetry *symmetry, uint64_t cluster) {
    TileClasses *classes = context;
    classes->symmetry.box = *symmetry;
    bool others = classes->run ? classes->run(classes->context, &classes->symmetry, cluster)
                               : run_machine(classes->machine, &classes->symmetry, cluster);
    *symmetry = classes->symmetry.box;
    return others;
}

static CtaClasses *create(Arena *arena, TileClasses with, ClassOrder order) {
    Machine *machine = with.machine;
    const Program *program = machine->program;
    TileClasses *classes = ARENA_NEW(arena, TileClasses);
    bool wide = program->ranks_are_programs, whole = true;
    int64_t sizes[AXES];
    for (unsigned axis = 0; axis < AXES; axis++) {
        sizes[axis] = machine->programs[axis] / (wide ? program->cluster[axis] : 1);
        whole &= !wide || machine->programs[axis] % program->cluster[axis] == 0;
    }
    if (!whole) { /* rows share clusters: these have no coordinates */
        sizes[0] = (int64_t)machine_clusters(machine);
        sizes[1] = sizes[2] = 1;
    }
    bool singly = !whole || (with.symmetry.loads_differ && has_loads(program));
    *classes = with;
    if (!singly)
        classes->symmetry.forms =
            ARENA_ARRAY(arena, AffineForm, (size_t)machine->agent_count * program->most_registers + 1);
    return classes_new(arena, sizes, order, singly, run_cluster, classes);
}

CtaClasses *classes_create(Arena *arena, Machine *machine, bool loads_differ) {
    return create(arena, (TileClasses){.machine = machine, .symmetry = {.loads_differ = loads_differ}}, CLASSES_ANY);
}

CtaClasses *classes_of_places(Arena *arena, Machine *machine, RunTileClass *run, void *context) {
    return create(arena,
                  (TileClasses){.machine = machine, .symmetry = {.places = true}, .run = run, .context = context},
                  CLASSES_LARGEST);
}
