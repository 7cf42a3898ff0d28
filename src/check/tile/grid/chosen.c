/* Launches that were not given. Sizes and strides are chosen, and whether CTAs meet in memory may hang on them: what is
 * found is looked at again with other numbers, and in the IR for numbers that cannot be varied. What is there however
 * they are chosen is a finding; the rest is said to be open. */
#include "check/tile/grid/internal.h"

#include "base/deadline.h"
#include "ir/op.h"
#include "machine/tile/compile/slice.h"
#include "machine/tile/grid/choose_memory.h"
#include "machine/tile/launch/choose.h"
#include "machine/tile/launch/open.h"

enum {
    MOST_LAUNCHES = 4,  /* of those that were chosen, with memory inserted */
    MOST_PROGRAMS = 64, /* of a grid that is taken over from a given launch */
    MOST_WAYS = 6,      /* for what addresses are made of to come out otherwise */
    FEWER_SCHEDULES = 3,
    RUN_BUDGET_CHOSEN = 1 << 20, /* instructions of one run of a small grid */
};

enum { OTHERS = 1 };

/* One kernel, and what was chosen for it. */
typedef struct Chosen {
    Arena *arena;
    const GlobalKernel *kernel;
    const Program *program;
    GlobalOptions options;
    MemoryRequest request;
    GlobalCheck **checks;       /* the one that is looked at, and from OTHERS on those with other numbers */
    bool reported;              /* that something is open */
    bool stuck;                 /* some run did not finish, which is reported as such */
    bool otherwise;             /* the launch was solved for what others do not show: callers may not make it */
    bool havocked;              /* some run has chosen data that control depends on */
    bool undecided;             /* ... and that may matter to the place of an access */
    const Launch *launch;       /* one that was looked at; NULL: none was */
    RunEnd end;                 /* of the last run */
    bool *reached;              /* by instruction: some access to global memory was made there */
    const bool *before;         /* the same, at the launch that was given; NULL: none was */
    uint64_t pairs[MOST_FOUND]; /* of places that were found to race, in some launch */
    uint32_t pair_count;
} Chosen;

/* ---- Runs ----------------------------------------------------------------------------------------- */

/* A run of the grid with that launch, told to `verdict`. */
static GlobalCheck *run_launch(const Chosen *chosen, unsigned place, const Launch *launch, Verdict *verdict) {
    GlobalCheck *check = chosen->checks[place] = global_check_new(chosen->arena);
    GlobalKernel *kernel = ARENA_NEW(chosen->arena, GlobalKernel);
    *kernel = *chosen->kernel;
    kernel->launch = launch;
    kernel->verdict = verdict;
    global_check_run(check, kernel, 1, &chosen->options);
    return check;
}

static void end_check(const Chosen *chosen, unsigned place) {
    global_check_free(chosen->checks[place]);
    chosen->checks[place] = NULL;
}

static bool has_run(RunEnd end) {
    return end == RUN_COMPLETE || end == RUN_STUCK;
}

/* The launch with that much room; false: it cannot be run so. */
static bool find_launch(Chosen *chosen, Room room, Launch *launch) {
    chosen->request.room = room;
    return choose_memory(chosen->arena, &chosen->request, launch) == RUN_COMPLETE;
}

/* ---- Whether a race hangs on what was chosen ------------------------------------------------------ */

/* What the place of an access depends on; `whether`: or whether it is made at all. */
static void add_place(Slice *slice, const Op *op, bool whether) {
    Effect effects[EFFECTS_MOST];
    unsigned count = effects_of(slice->module, op, effects);
    for (unsigned i = 0; i < count; i++)
        slice_add_place(slice, &effects[i], whether);
}

static void add_conditions(Slice *slice, const Op *op, const Op *function) {
    for (op = op_parent(op); op && op != function; op = op_parent(op))
        for (uint32_t i = 0; i < op->operand_count; i++)
            slice_add(slice, op->operands[i]);
}

/* Whether the slice has a number that was chosen; `cases`: only those that are the same in all runs, since they stand
 * for a case. */
static bool has_chosen(const Chosen *chosen, const Slice *slice, bool cases) {
    const Program *program = chosen->program;
    const Block *entry = program->function->regions[0].first;
    for (uint32_t i = 0; i < entry->arg_count && i < program->parameter_count; i++)
        if (slice_has(slice, &entry->args[i]) && number_is_chosen(&chosen->request, i) &&
            !(cases && number_varies(&chosen->request, i)))
            return true;
    return false;
}

/* Whether an access hangs on numbers that were chosen: its place at all, or whether it is made, in a way that other
 * runs do not show. */
static bool hangs_on_numbers(const Chosen *chosen, uint32_t pc) {
    const Op *op = chosen->program->ops[pc];
    Slice slice;
    slice_init(&slice, chosen->program->module);
    add_place(&slice, op, false);
    slice_close(&slice);
    if (has_chosen(chosen, &slice, false))
        return true;
    add_place(&slice, op, true);
    add_conditions(&slice, op, chosen->program->function);
    slice_close(&slice);
    return has_chosen(chosen, &slice, true);
}

static bool same_places(const GsanRace *a, const GsanRace *b) {
    return (a->earlier.site == b->earlier.site && a->later.site == b->later.site) ||
           (a->earlier.site == b->later.site && a->later.site == b->earlier.site);
}

static bool shows(const GlobalCheck *check, const GsanRace *race) {
    if (!check || !has_run(check->end))
        return false;
    for (uint32_t i = 0; i < check->found.race_count; i++)
        if (same_places(&check->found.races[i].race, race) && !check->found.races[i].harmless)
            return true;
    return false;
}

/* The same grid with other numbers. */
static void run_others(Chosen *chosen, bool *run) {
    static const Room rooms[2] = {ROOM_OTHER, ROOM_LEAST};
    for (unsigned i = 0; i < 2 && !*run; i++) {
        Launch *launch = ARENA_NEW(chosen->arena, Launch);
        Verdict *ignored = ARENA_NEW(chosen->arena, Verdict);
        ignored->arena = chosen->arena;
        if (find_launch(chosen, rooms[i], launch))
            run_launch(chosen, OTHERS + i, launch, ignored);
    }
    *run = true;
}

/* Axes along which the programs of the two differ, a bit each. */
static unsigned axes_apart(const GlobalCheck *check, const GsanRace *race) {
    const GridLaunch *launch = &check->launch_sequence.launches[race->later.launch];
    uint32_t split = launch->program->ranks_are_programs ? 1 : launch->program->ctas;
    uint64_t a = race->earlier.cta / split, b = race->later.cta / split;
    unsigned apart = 0;
    for (int axis = 0; axis < 3; axis++) {
        uint64_t programs = (uint64_t)launch->launch->grid[axis];
        apart |= (unsigned)(a % programs != b % programs) << axis;
        a /= programs;
        b /= programs;
    }
    return apart;
}

/* Whether the place of an access depends on the number of its program along one of the axes. */
static bool hangs_on_axes(const Chosen *chosen, uint32_t pc, unsigned axes) {
    const Module *module = chosen->program->module;
    Slice slice;
    int64_t axis;
    slice_init(&slice, chosen->program->module);
    add_place(&slice, chosen->program->ops[pc], false);
    slice_close(&slice);
    for (const Op *op = module_first_op(module); op; op = op_next_in_walk(op, NULL))
        if (op_evaluator(op) == EVALUATE_PROGRAM_ID && op_number(op, "axis", &axis) && axis >= 0 && axis < 3 &&
            axes >> axis & 1 && slice_has(&slice, &op->results[0]))
            return true;
    return false;
}

/* Whether the grid may be another one than what was chosen. Programs that differ along several axes may make one number
 * of their ids that fits another grid. And where a kernel has several axes, one of them may have a single program: its
 * size was a number 1 then, which the compiler leaves out where ids are multiplied by it. */
static bool hangs_on_grid(const Chosen *chosen, const GlobalCheck *check, const GsanRace *race) {
    unsigned apart = axes_apart(check, race), axes = program_axes(chosen->program->module, false);
    return __builtin_popcount(apart) > 1 ||
           (__builtin_popcount(axes) > 1 &&
            (hangs_on_axes(chosen, race->earlier.site, apart) || hangs_on_axes(chosen, race->later.site, apart)));
}

static bool is_certain(Chosen *chosen, const GlobalCheck *check, const FoundRace *found, bool *run) {
    const GsanRace *race = &found->race;
    bool apart = !found->earlier; /* of two CTAs, which may be others in another grid, or one */
    if (chosen->otherwise || check->havocked ||
        (apart && (hangs_on_grid(chosen, check, race) || programs_are_symmetry(&chosen->request))) ||
        hangs_on_numbers(chosen, race->later.site) || hangs_on_numbers(chosen, race->earlier.site))
        return false;
    run_others(chosen, run);
    return shows(chosen->checks[OTHERS], race) && shows(chosen->checks[OTHERS + 1], race);
}

/* ---- Telling -------------------------------------------------------------------------------------- */

static void keep(const Chosen *chosen, const Finding *finding) {
    Finding *kept = verdict_finding(chosen->kernel->verdict);
    *kept = *finding;
    kept->elsewhere = chosen->before != NULL;
}

/* Whether it is about accesses that were made, and looked at, at the launch that was given. */
static bool was_looked_at(const Chosen *chosen, const GsanRace *race) {
    return chosen->before && chosen->before[race->earlier.site] && chosen->before[race->later.site];
}

/* The same of what could not be looked at, by its line: what has none is about the launch as a whole. */
static bool line_was_looked_at(const Chosen *chosen, uint32_t line) {
    const Program *program = chosen->program;
    bool any = false;
    for (uint32_t pc = 0; pc < program->code_count && chosen->before && line; pc++)
        any |= program->code[pc].code == CODE_EFFECTS && !chosen->before[pc] && program->ops[pc] &&
               op_line(program->module, program->ops[pc]) == line;
    return chosen->before && !any;
}

static void report_open(Chosen *chosen, const Finding *finding) {
    if (chosen->reported)
        return;
    chosen->reported = true;
    Verdict *verdict = chosen->kernel->verdict;
    const FindingPlace *place = &finding->places[0];
    const char *source = *place->file ? verdict_text(verdict, " (%s:%u)", place->file, place->line) : "";
    verdict_incomplete(verdict, place->op, place->ir_line,
                       "%s%s, at a launch that Weir chose (%s); whether a real launch does the same depends on "
                       "values that were not given: use --arg, --grid or a launch file",
                       finding->message, source, finding->launch);
}

/* Programs that do not know which of them they are write the same values to a place, in the same order: the last value
 * is the same, whichever program writes it. */
static bool write_symmetry(const Chosen *chosen, const FoundRace *found) {
    const GsanRace *race = &found->race;
    return !found->earlier && chosen->options.uniform && race->earlier.kind == KIND_WRITE &&
           race->later.kind == KIND_WRITE;
}

/* Whether the two places are found to race for the first time. */
static bool is_new(Chosen *chosen, const FoundRace *found) {
    uint64_t a = found->race.earlier.site, b = found->race.later.site;
    uint64_t pair = ((a < b ? a : b) << 32 | (a < b ? b : a)) << 1 | found->harmless;
    for (uint32_t i = 0; i < chosen->pair_count; i++)
        if (chosen->pairs[i] == pair)
            return false;
    if (chosen->pair_count < MOST_FOUND)
        chosen->pairs[chosen->pair_count++] = pair;
    return true;
}

/* Which callers do not launch. */
static bool is_of_nothing(const GlobalCheck *check) {
    return check->kernels[0].launch->doubt == DOUBT_EMPTY;
}

static void report_found(Chosen *chosen, const GlobalCheck *check, const Verdict *found) {
    bool run = false;
    for (uint32_t i = 0; i < check->found.race_count && !is_of_nothing(check); i++) {
        const FoundRace *race = &check->found.races[i];
        const Finding *finding = &found->findings[race->finding];
        if (race->doubted || !is_new(chosen, race) || write_symmetry(chosen, race) ||
            was_looked_at(chosen, &race->race))
            continue;
        if (race->harmless || is_certain(chosen, check, race, &run))
            keep(chosen, finding);
        else
            report_open(chosen, finding);
    }
    for (size_t i = 0; i < found->finding_count; i++)
        /* Programs may come in pairs: that an odd number of them hangs says nothing. */
        if (found->findings[i].rule == RULE_DEADLOCK_GRID && chosen->request.room != ROOM_UNEVEN && !chosen->before)
            report_open(chosen, &found->findings[i]);
    for (size_t i = 0; i < found->incomplete_count; i++)
        if (!line_was_looked_at(chosen, found->incomplete[i].ir_line))
            verdict_incomplete(chosen->kernel->verdict, found->incomplete[i].op, found->incomplete[i].ir_line, "%s",
                               found->incomplete[i].reason);
    for (unsigned i = OTHERS; i < CHOSEN_CHECKS; i++)
        end_check(chosen, i);
}

/* ---- All of it ------------------------------------------------------------------------------------ */

/* Accesses that race at a launch that callers do not make have not been looked at. */
static void forget_passed_over(GlobalCheck *check) {
    for (uint32_t i = 0; i < check->found.race_count && is_of_nothing(check); i++)
        if (!check->found.races[i].harmless) {
            check->reached[check->found.races[i].race.earlier.site] = false;
            check->reached[check->found.races[i].race.later.site] = false;
        }
}

/* One launch; false: the kernel does not run with such numbers. */
static bool look_at(Chosen *chosen, const Launch *launch) {
    Verdict found = {.arena = chosen->kernel->verdict->arena, .kernel = chosen->kernel->verdict->kernel};
    GlobalCheck *check = run_launch(chosen, 0, launch, &found);
    bool good = has_run(check->end);
    chosen->end = check->end;
    chosen->havocked |= check->havocked;
    chosen->undecided |= check->havocked && !check->decided;
    chosen->stuck |= check->end == RUN_STUCK;
    forget_passed_over(check);
    for (uint32_t i = 0; good && i < chosen->program->code_count; i++)
        chosen->reached[i] |= check->reached[i];
    if (good)
        report_found(chosen, check, &found);
    end_check(chosen, 0);
    return good;
}

/* Whether the launch is one of those before it. */
static bool is_known(const Chosen *chosen, const Launch *launch, const char **texts, size_t *count) {
    const char *text = launch_text(launch, chosen->arena);
    for (size_t i = 0; i < *count; i++)
        if (strcmp(texts[i], text) == 0)
            return true;
    texts[(*count)++] = text;
    return false;
}

/* The first of some rooms with which the kernel runs. */
static void look_at_rooms(Chosen *chosen, const Room *rooms, unsigned room_count, const char **texts, size_t *count) {
    for (unsigned i = 0; i < room_count; i++) {
        Launch *launch = ARENA_NEW(chosen->arena, Launch);
        if (!find_launch(chosen, rooms[i], launch))
            continue;
        if (is_known(chosen, launch, texts, count))
            return;
        if (look_at(chosen, launch)) {
            chosen->launch = launch;
            return;
        }
    }
}

static Meets meets(const Chosen *chosen) {
    return chosen->options.uniform ? MEETS_SAME : MEETS_ANY;
}

static bool leaves_out(const Chosen *chosen) {
    return unreached_access(chosen->program, chosen->reached, meets(chosen));
}

/* Launches at which choices and remainders that addresses are made of come out otherwise. */
static void look_at_ways(Chosen *chosen, const char **texts, size_t *known) {
    static const Room same[] = {ROOM_AS_IS};
    GlobalWay ways[MOST_WAYS];
    const Launch *usually = chosen->launch, *given = chosen->request.given;
    const Op *open;
    size_t count = global_ways(chosen->arena, chosen->program, usually, given, ways, MOST_WAYS, &open);
    if (open && !(given->count || given->grid[0]))
        verdict_unreached(chosen->kernel->verdict, verdict_text(chosen->kernel->verdict, "%.*s", STR_ARG(open->name)),
                          op_line(chosen->program->module, open),
                          "races in global memory were not checked for its other outcome, on which addresses "
                          "depend; give arguments and a grid that lead there in a launch file");
    chosen->otherwise = true;
    for (size_t i = 0; i < count; i++) {
        Launch with_grid = *given;
        if (ways[i].other_grid)
            memcpy(with_grid.grid, ways[i].grid, sizeof with_grid.grid);
        chosen->request.given = &with_grid;
        chosen->request.base = &ways[i].numbers;
        look_at_rooms(chosen, same, 1, texts, known);
        chosen->request.given = given;
    }
    chosen->otherwise = false;
    chosen->launch = usually;
}

/* All launches that were chosen, with memory; with another grid, if the first leave out accesses; and if those do, too,
 * with the numbers that were chosen so that control comes there. Those that callers may never make come last. */
static void look_at_all(Chosen *chosen, const Launch *bases, size_t count, size_t usual) {
    static const Room rooms[] = {ROOM_PLENTY, ROOM_MODEST, ROOM_AS_IS}, other[] = {ROOM_OTHER}, same[] = {ROOM_AS_IS},
                      uneven[] = {ROOM_UNEVEN};
    const char *texts[MOST_LAUNCHES + MOST_CHOSEN + MOST_WAYS + 4];
    size_t known = 0;
    for (size_t i = 0; i < usual && known < MOST_LAUNCHES; i++) {
        chosen->request.base = &bases[i];
        look_at_rooms(chosen, rooms, sizeof rooms / sizeof *rooms, texts, &known);
    }
    if (leaves_out(chosen))
        look_at_rooms(chosen, other, 1, texts, &known);
    for (size_t i = 0; i < usual && leaves_out(chosen); i++) {
        chosen->request.base = &bases[i];
        look_at_rooms(chosen, same, 1, texts, &known);
    }
    if (!usual || !chosen->launch)
        return;
    const Launch *usually = chosen->launch;
    chosen->request.base = &bases[0];
    look_at_rooms(chosen, uneven, 1, texts, &known);
    chosen->launch = usually;
    look_at_ways(chosen, texts, &known);
    chosen->otherwise = true;
    for (size_t i = usual; i < count && leaves_out(chosen); i++) {
        chosen->request.base = &bases[i];
        look_at_rooms(chosen, same, 1, texts, &known);
    }
    chosen->otherwise = false;
    chosen->launch = usually;
}

/* The same beside a launch that was given: those that are solved for what it leaves out come first. */
static void look_at_left(Chosen *chosen, const Launch *bases, size_t usual, const Launch *given) {
    static const Room same[] = {ROOM_AS_IS};
    const char *texts[MOST_CHOSEN + MOST_WAYS];
    size_t known = 0;
    chosen->launch = given;
    look_at_ways(chosen, texts, &known);
    for (size_t i = 0; i < usual && leaves_out(chosen); i++) {
        chosen->request.base = &bases[i];
        look_at_rooms(chosen, same, 1, texts, &known);
    }
}

/* Few, and more than one, which has no other to race with. */
static bool has_few_programs(const int64_t grid[3]) {
    int64_t programs = 1;
    for (int i = 0; i < 3 && programs <= MOST_PROGRAMS; i++)
        programs *= grid[i] <= MOST_PROGRAMS ? grid[i] : MOST_PROGRAMS + 1;
    return programs > 1 && programs <= MOST_PROGRAMS;
}

/* Launches beside a given one, as far as they come to accesses that it does not make: with memory that is chosen, and
 * if it is small with its grid; then with its memory, too. Those that callers may never make come last. */
static void look_beside(Chosen *chosen, const Launch *bases, size_t count, const Launch *given) {
    size_t usual = usual_launches(bases, count);
    const Launch *before = chosen->request.given;
    Launch with_grid = *before;
    if (has_few_programs(given->grid)) {
        memcpy(with_grid.grid, given->grid, sizeof with_grid.grid);
        chosen->request.given = &with_grid;
    }
    look_at_left(chosen, bases, usual, given);
    chosen->request.given = before;
    for (size_t i = 0; i < count && leaves_out(chosen); i++) {
        Launch *launch = ARENA_NEW(chosen->arena, Launch);
        *launch = bases[i];
        if (launch->grid[0] * launch->grid[1] * launch->grid[2] == 1)
            memcpy(launch->grid, given->grid, sizeof launch->grid);
        chosen->request.base = &bases[i];
        look_at(chosen, launch);
    }
    if (!chosen->reported && !programs_are_symmetry(&chosen->request) && !deadline_look())
        unreached_report(chosen->program, chosen->reached, meets(chosen), NULL, chosen->kernel->verdict);
}

void global_check_chosen(Arena *arena, const GlobalKernel *kernel, const Launch *bases, size_t count,
                         const Launch *given, const GlobalOptions *options, const GlobalCheck *beside,
                         GlobalCheck *checks[CHOSEN_CHECKS]) {
    Verdict ignored = {.arena = arena};
    Chosen chosen = {.arena = arena, .kernel = kernel, .options = *options, .checks = checks};
    chosen.program = program_compile(kernel->module, kernel->function, COMPILE_GLOBAL | COMPILE_DATA, &ignored);
    if (!chosen.program || !program_writes_global(chosen.program)) /* what is only read cannot race */
        return;
    uint64_t budget = options->budget && options->budget < RUN_BUDGET_CHOSEN ? options->budget : RUN_BUDGET_CHOSEN;
    if (!given->grid[0]) /* one that was given may be large */
        chosen.options.budget = budget;
    if (!chosen.options.schedules)
        chosen.options.schedules = FEWER_SCHEDULES;
    chosen.options.uniform = !given->grid[0] && program_is_uniform(chosen.program);
    chosen.request = (MemoryRequest){.program = chosen.program,
                                     .bases = bases,
                                     .base_count = usual_launches(bases, count),
                                     .given = given,
                                     .budget = budget};
    chosen.reached = ARENA_ARRAY(arena, bool, chosen.program->code_count + 1);
    if (beside && (!beside->reached || beside->end != RUN_COMPLETE || beside->site_count != chosen.program->code_count))
        return;
    for (uint32_t i = 0; beside && i < chosen.program->code_count; i++)
        chosen.reached[i] = beside->reached[i];
    chosen.before = beside ? beside->reached : NULL;
    if (beside && !leaves_out(&chosen))
        return;
    if (beside) {
        look_beside(&chosen, bases, count, beside->kernels[0].launch);
        return;
    }
    look_at_all(&chosen, bases, count, usual_launches(bases, count));
    bool open = chosen.havocked || !(given->count || given->grid[0]); /* not for what was given to be otherwise */
    if (chosen.launch && open && !chosen.reported && !chosen.stuck)
        unreached_report(chosen.program, chosen.reached, meets(&chosen), chosen.undecided ? chosen.launch : NULL,
                         kernel->verdict);
    if (chosen.launch)
        verdict_note(kernel->verdict,
                     "global memory: Weir chose the grid (%lldx%lldx%lld), and assumed that pointers do not alias "
                     "and strides are dense",
                     (long long)chosen.launch->grid[0], (long long)chosen.launch->grid[1],
                     (long long)chosen.launch->grid[2]);
    else if (chosen.end != RUN_FAULT && !deadline_look()) /* a fault is told when clusters are run by themselves */
        verdict_unreached(kernel->verdict, "", 0,
                          "global memory was not checked: the whole grid finishes in none of the launches that Weir "
                          "chose; give one in a launch file");
}
