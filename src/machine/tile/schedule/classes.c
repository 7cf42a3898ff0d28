/* Boxes of clusters that nothing has spoken for, and the next one to run. */
#include "machine/tile/schedule/classes.h"

#include "base/deadline.h"
#include "machine/tile/schedule/schedule.h"
#include "machine/tile/step/symmetry.h"

/* After so many classes that hold hardly more than a cluster each, clusters are taken one by one. */
enum { SPIN_TIMEOUT = 32 };

typedef struct ClassBox {
    int64_t low[AXES], high[AXES]; /* both included */
} ClassBox;

struct ScheduleClasses {
    Arena *arena;
    Machine *machine;
    Symmetry symmetry;
    int64_t sizes[AXES];
    ClassBox *open;
    uint32_t open_count, open_capacity;
    uint64_t count, covered;
    ClassBox last;
    bool singly;   /* nothing is gained by looking */
    RunClass *run; /* NULL: the machine runs it */
    void *context;
};

static void push(ScheduleClasses *classes, ClassBox box) {
    for (unsigned axis = 0; axis < AXES; axis++)
        if (box.low[axis] > box.high[axis])
            return;
    *ARENA_PUSH(classes->arena, classes->open, classes->open_count, classes->open_capacity) = box;
}

/* Whether what it does depends on loads: a run without what they gave may go around forever. */
static bool has_loads(const Program *program) {
    for (uint32_t i = 0; i < program->code_count; i++)
        if (program->code[i].code == CODE_LOAD)
            return true;
    return false;
}

ScheduleClasses *classes_create(Arena *arena, Machine *machine, bool loads_differ) {
    const Program *program = machine->program;
    ScheduleClasses *classes = ARENA_NEW(arena, ScheduleClasses);
    bool wide = program->ranks_are_programs, whole = true;
    classes->arena = arena;
    classes->machine = machine;
    classes->symmetry.loads_differ = loads_differ;
    ClassBox all = {.low = {0}};
    for (unsigned axis = 0; axis < AXES; axis++) {
        classes->sizes[axis] = machine->programs[axis] / (wide ? program->cluster[axis] : 1);
        whole &= !wide || machine->programs[axis] % program->cluster[axis] == 0;
    }
    if (!whole) { /* rows share clusters: these have no coordinates */
        classes->sizes[0] = (int64_t)machine_clusters(machine);
        classes->sizes[1] = classes->sizes[2] = 1;
        classes->singly = true;
    }
    classes->singly |= loads_differ && has_loads(program);
    for (unsigned axis = 0; axis < AXES; axis++)
        all.high[axis] = classes->sizes[axis] - 1;
    push(classes, all);
    if (classes->open_count && !classes->singly)
        classes->symmetry.forms =
            ARENA_ARRAY(arena, AffineForm, (size_t)machine->agent_count * program->most_registers + 1);
    return classes;
}

ScheduleClasses *classes_of_places(Arena *arena, Machine *machine, RunClass *run, void *context) {
    ScheduleClasses *classes = classes_create(arena, machine, false);
    classes->run = run;
    classes->context = context;
    classes->symmetry.places = true;
    return classes;
}

/* Whether the run of the machine itself speaks for others. */
static bool run_machine(Machine *machine, Symmetry *symmetry, uint64_t cluster) {
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

/* The part of the box for which its first cluster speaks. */
static ClassBox represented(ScheduleClasses *classes, const ClassBox *box, uint64_t cluster) {
    Symmetry *symmetry = &classes->symmetry;
    ClassBox one;
    memcpy(symmetry->at, box->low, sizeof symmetry->at);
    memcpy(symmetry->low, box->low, sizeof symmetry->low);
    memcpy(symmetry->high, box->high, sizeof symmetry->high);
    memcpy(one.low, box->low, sizeof one.low);
    memcpy(one.high, box->low, sizeof one.high);
    if (!(classes->run ? classes->run(classes->context, symmetry, cluster)
                       : run_machine(classes->machine, symmetry, cluster)))
        return one;
    memcpy(one.high, symmetry->high, sizeof one.high);
    return one;
}

/* All programs as boxes: those that fill the last axis, and of its last step those that fill the one before it, ... */
static void push_programs(ScheduleClasses *classes, int64_t programs) {
    ClassBox box = {.low = {0}};
    classes->open_count = 0;
    for (unsigned axis = 0; axis < AXES; axis++)
        box.high[axis] = classes->sizes[axis] - 1;
    for (unsigned axis = AXES; axis-- > 0;) {
        int64_t steps = programs / classes->symmetry.weights[axis];
        box.high[axis] = steps - 1;
        push(classes, box);
        box.low[axis] = box.high[axis] = steps;
        programs %= classes->symmetry.weights[axis];
    }
}

bool classes_split(ScheduleClasses *classes) {
    int64_t *sizes = classes->sizes, *weights = classes->symmetry.weights, programs = sizes[0];
    unsigned axis = 0;
    if (classes->singly || sizes[1] != 1 || sizes[2] != 1 || classes->machine->program->ranks_are_programs)
        return false;
    weights[0] = 1;
    for (; axis + 1 < AXES; axis++) {
        ClassBox all = {.high = {sizes[0] - 1, sizes[1] - 1, sizes[2] - 1}};
        int64_t width = represented(classes, &all, 0).high[axis] + 1;
        if (width < 2 || width >= sizes[axis])
            break;
        sizes[axis + 1] = (sizes[axis] + width - 1) / width;
        sizes[axis] = width;
        weights[axis + 1] = weights[axis] * width;
    }
    for (unsigned rest = axis + 1; rest < AXES; rest++)
        weights[rest] = weights[axis] * sizes[axis];
    push_programs(classes, programs);
    return axis > 0;
}

void classes_sizes(const ScheduleClasses *classes, int64_t sizes[AXES]) {
    memcpy(sizes, classes->sizes, sizeof classes->sizes);
}

/* What is left of a box without the part that begins where it does. */
static void cut(ScheduleClasses *classes, ClassBox box, const ClassBox *part) {
    for (unsigned axis = AXES; axis-- > 0;) {
        ClassBox rest = box;
        rest.low[axis] = part->high[axis] + 1;
        push(classes, rest);
        box.high[axis] = part->high[axis];
    }
}

static uint64_t size_of(const ClassBox *box) {
    uint64_t size = 1;
    for (unsigned axis = 0; axis < AXES; axis++)
        size *= (uint64_t)(box->high[axis] - box->low[axis] + 1);
    return size;
}

/* By places the largest comes first: how many classes there will be is then seen early. */
static ClassBox take(ScheduleClasses *classes) {
    uint32_t which = classes->open_count - 1;
    for (uint32_t i = which; classes->run && i-- > 0;)
        if (size_of(&classes->open[i]) > size_of(&classes->open[which]))
            which = i;
    ClassBox box = classes->open[which];
    classes->open[which] = classes->open[--classes->open_count];
    return box;
}

bool classes_next(ScheduleClasses *classes, uint64_t *cluster) {
    if (!classes->open_count || classes->count == MOST_CLASSES || deadline_look())
        return false;
    ClassBox box = take(classes), part = {.low = {0}};
    *cluster = (uint64_t)box.low[0] + (uint64_t)classes->sizes[0] *
                                          ((uint64_t)box.low[1] + (uint64_t)classes->sizes[1] * (uint64_t)box.low[2]);
    memcpy(part.low, box.low, sizeof part.low);
    memcpy(part.high, box.low, sizeof part.high);
    bool alone = memcmp(box.low, box.high, sizeof box.low) == 0;
    if (classes->run || (!classes->singly && !alone))
        part = represented(classes, &box, *cluster);
    classes->count++;
    classes->last = part;
    classes->covered += size_of(&part);
    classes->singly |= classes->count >= SPIN_TIMEOUT && classes->covered < 2 * classes->count;
    cut(classes, box, &part);
    return true;
}

void classes_last(const ScheduleClasses *classes, int64_t low[3], int64_t high[3]) {
    memcpy(low, classes->last.low, sizeof classes->last.low);
    memcpy(high, classes->last.high, sizeof classes->last.high);
}

uint64_t classes_count(const ScheduleClasses *classes) {
    return classes->count;
}

uint64_t classes_covered(const ScheduleClasses *classes) {
    return classes->covered;
}
