/* Which launches are worth running: what is wanted of a kernel, one after the other, each solved for from a small
 * launch, unless one of those before has it already. */
#include "base/number.h"
#include "machine/tile/launch/choose_internal.h"

#include "machine/tile/launch/rings.h"
#include "model/flow/forwarded.h"

enum {
    SMALLEST_UNIT = 16,
    LARGEST_UNIT = 1024,
    USUAL_PROGRAMS = 4, /* along the first axis, where programs do different things */
    FEW_PROGRAMS = 2,   /* along the others */
    DEEPEST_RING = 64,
    MOST_TIMES = 4,
    MOST_ASKED = 64,   /* programs of a launch that are asked whether they can be */
    OTHER_NUMBERS = 7, /* of a parameter, that are tried for loops to run apart */
};

static bool is_number(const Parameter *parameter) {
    return parameter->type && (parameter->type->kind == TYPE_INTEGER || parameter->type->kind == TYPE_INDEX);
}

/* ---- From a setting to a launch ------------------------------------------------------------------- */

/* The parts of a descriptor follow it: its shape, then its strides. */
static uint32_t parts_of(const Program *program, uint32_t descriptor) {
    uint32_t parts = 0;
    for (uint32_t k = descriptor + 1;
         k < program->parameter_count && program->parameters[k].descriptor == (int32_t)descriptor; k++)
        parts += parts < 2 * ARGUMENT_MOST_DIMS;
    return parts;
}

static bool descriptor_steers(const Program *program, uint32_t descriptor) {
    uint32_t parts = parts_of(program, descriptor);
    for (uint32_t k = 0; k < parts; k++)
        if (program->parameters[descriptor + 1 + k].steers)
            return true;
    return false;
}

static Argument described(const Chooser *chooser, const Setting *setting, uint32_t index) {
    Argument argument = {.name = str_of(chooser->program->parameters[index].name),
                         .kind = ARGUMENT_DESCRIPTOR,
                         .rank = (uint8_t)(parts_of(chooser->program, index) / 2)};
    for (uint32_t k = 0; k < argument.rank && index + 1 + k < SETTING_MOST_NUMBERS; k++)
        argument.shape[k] = setting->numbers[index + 1 + k];
    argument_make_dense(&argument);
    return argument;
}

/* What the launch that was given says stays, but for numbers and shapes that steer. */
static void set_argument(Launch *launch, Argument argument) {
    Argument *place = NULL;
    for (uint32_t i = 0; i < launch->count && !place; i++)
        if (str_equal(launch->arguments[i].name, argument.name))
            place = &launch->arguments[i];
    if (place && argument.kind == ARGUMENT_DESCRIPTOR && place->kind != ARGUMENT_INTEGER &&
        place->rank == argument.rank) {
        if (memcmp(place->shape, argument.shape, sizeof argument.shape) == 0)
            return;
        memcpy(place->shape, argument.shape, sizeof argument.shape);
        memcpy(place->strides, argument.strides, sizeof argument.strides);
        place->data = NULL;
        place->data_count = 0;
        place->has_storage = false;
    } else if (place) {
        *place = argument;
    } else if (launch->count < launch->capacity) {
        launch->arguments[launch->count++] = argument;
    }
}

/* What was given stays, also what steers nothing. */
static void add_fixed(const Launch *fixed, Launch *launch) {
    for (uint32_t i = 0; fixed && i < fixed->count; i++)
        if (!launch_find(launch, fixed->arguments[i].name))
            launch->arguments[launch->count++] = fixed->arguments[i];
}

static Launch make_launch(const Chooser *chooser, const Setting *setting) {
    const Program *program = chooser->program;
    uint32_t given = chooser->like ? chooser->like->count : 0;
    Launch launch = chooser->like ? *chooser->like : (Launch){.kernel = str_of(program->name)};
    launch.chosen = true;
    launch.count = given;
    launch.capacity = program->parameter_count + given + (chooser->fixed ? chooser->fixed->count : 0);
    launch.arguments = ARENA_ARRAY(chooser->arena, Argument, launch.capacity + 1);
    if (given)
        memcpy(launch.arguments, chooser->like->arguments, given * sizeof *launch.arguments);
    memcpy(launch.grid, setting->grid, sizeof launch.grid);
    for (uint32_t i = 0; i < program->parameter_count && i < SETTING_MOST_NUMBERS; i++) {
        const Parameter *parameter = &program->parameters[i];
        if (type_is_descriptor(parameter->type) && descriptor_steers(program, i))
            set_argument(&launch, described(chooser, setting, i));
        else if (parameter->descriptor < 0 && parameter->steers && is_number(parameter))
            set_argument(
                &launch,
                (Argument){.name = str_of(parameter->name), .kind = ARGUMENT_INTEGER, .integer = setting->numbers[i]});
    }
    add_fixed(chooser->fixed, &launch);
    return launch;
}

/* ---- The launch to start from --------------------------------------------------------------------- */

/* What a value is divided by, or counted by; NULL if it is not. */
static const Value *divisor_of(const Op *op, const Value **divided) {
    Bounds bounds;
    switch (op_evaluator(op)) {
    case EVALUATE_DIVIDE_SIGNED:
    case EVALUATE_DIVIDE_UNSIGNED:
    case EVALUATE_REMAINDER_SIGNED:
    case EVALUATE_REMAINDER_UNSIGNED:
    case EVALUATE_DIVIDE_CEIL_SIGNED:
    case EVALUATE_DIVIDE_CEIL_UNSIGNED:
    case EVALUATE_DIVIDE_FLOOR_SIGNED:
        *divided = op->operand_count == 2 ? op->operands[0] : NULL;
        return op->operand_count == 2 ? op->operands[1] : NULL;
    default:
        if (!loop_bounds(op, &bounds))
            return NULL;
        *divided = bounds.to;
        return bounds.step;
    }
}

/* The parameters that are tiled: sizes that are multiples of the tile are what such kernels are made for, whether they
 * round up or down. A unit is the largest power of two that a parameter is divided by; that of all is the largest. */
static void find_units(Chooser *chooser) {
    const Program *program = chooser->program;
    chooser->unit = 1;
    for (const Op *op = program->function; op; op = op_next_in_walk(op, program->function)) {
        const Value *divided = NULL, *by = divisor_of(op, &divided);
        int64_t number;
        if (!by || !value_constant(by, &number) || number < SMALLEST_UNIT || number > LARGEST_UNIT ||
            (number & (number - 1)))
            continue;
        uint64_t mask = solver_depends(chooser->solver, divided);
        for (uint32_t i = 0; i < program->parameter_count && i < 64; i++)
            if ((mask >> i & 1) && !(mask & (mask - 1)) && number > chooser->units[i])
                chooser->units[i] = number;
        if (mask && number > chooser->unit) /* not of program ids alone */
            chooser->unit = number;
    }
}

/* Small, so that runs are short: what steers is one tile large, the rest as it was given. */
static void set_base(Chooser *chooser) {
    const Program *program = chooser->program;
    Setting *setting = solver_setting(chooser->solver);
    chooser->even = chooser->like != NULL;
    for (uint32_t i = 0; i < program->parameter_count && i < SETTING_MOST_NUMBERS; i++) {
        const Parameter *parameter = &program->parameters[i];
        int64_t given = 0, number = 0;
        bool fixed = launch_number(program, chooser->fixed, i, &given);
        bool like = !fixed && launch_number(program, chooser->like, i, &given);
        if (!is_number(parameter))
            continue;
        if (parameter->type->kind == TYPE_INTEGER && parameter->type->width == 1)
            number = 1;
        else
            number = rounded_up(chooser->units[i] ? chooser->units[i] : 1, parameter->divisibility);
        bool stays = fixed || (like && !parameter->steers);
        setting->numbers[i] = stays ? given : number;
        if (stays)
            solver_fix_number(chooser->solver, i);
        chooser->even &= !like || !parameter->steers || !chooser->units[i] || given % chooser->units[i] == 0;
    }
}

/* Programs that can tell each other apart: more than one along each axis that what is compiled asks for. */
static void set_grid(Chooser *chooser) {
    const Program *program = chooser->program;
    Setting *setting = solver_setting(chooser->solver);
    const Launch *fixed = chooser->fixed;
    for (int axis = 0; axis < 3; axis++)
        setting->grid[axis] = 1;
    for (uint32_t i = 0; i < program->code_count; i++)
        if (program->code[i].code == CODE_PROGRAM_ID || program->code[i].code == CODE_PROGRAMS)
            setting->grid[program->code[i].aux] = program->code[i].aux ? FEW_PROGRAMS : USUAL_PROGRAMS;
    for (int axis = 0; axis < 3 && program->ranks_are_programs; axis++)
        if (axis == 0 || program->cluster[axis] > 1)
            setting->grid[axis] = program->cluster[axis] * (setting->grid[axis] > 1 ? 2 : 1);
    if (fixed && fixed->grid[0]) {
        memcpy(setting->grid, fixed->grid, sizeof setting->grid);
        solver_fix_grid(chooser->solver);
    }
}

/* ---- What is there already ------------------------------------------------------------------------ */

static bool is_known(const Chooser *chooser, const Launch *launch) {
    for (size_t i = 0; i < chooser->count; i++) {
        const Launch *other = &chooser->launches[i];
        bool same = other->count == launch->count && memcmp(other->grid, launch->grid, sizeof launch->grid) == 0;
        for (size_t k = 0; k < launch->count && same; k++) {
            const Argument *a = &other->arguments[k], *b = &launch->arguments[k];
            same = a->integer == b->integer && memcmp(a->shape, b->shape, sizeof a->shape) == 0;
        }
        if (same)
            return true;
    }
    return false;
}

/* Whether the command line left nothing of it to chance. */
static bool all_given(const Chooser *chooser, const Launch *launch) {
    for (size_t i = 0; i < launch->count; i++)
        if (!chooser->fixed || !launch_find(chooser->fixed, launch->arguments[i].name))
            return false;
    return chooser->fixed && !chooser->like;
}

/* Whether this number is no multiple of its tile, and is ours to choose. */
static bool is_broken(const Chooser *chooser, const Setting *setting, uint32_t index) {
    const Program *program = chooser->program;
    int64_t given;
    return chooser->units[index] && program->parameters[index].steers &&
           setting->numbers[index] % chooser->units[index] && !launch_number(program, chooser->fixed, index, &given);
}

/* Whether a size is no multiple of its tile, though no such size is given. */
static bool is_uneven(const Chooser *chooser, const Setting *setting) {
    for (uint32_t i = 0; i < chooser->program->parameter_count && i < SETTING_MOST_NUMBERS; i++)
        if (is_broken(chooser, setting, i))
            return chooser->even || !chooser->like;
    return false;
}

/* Whether a size that is tiled is 0, though that is not given. */
static bool is_empty(const Chooser *chooser, const Setting *setting) {
    const Program *program = chooser->program;
    int64_t given;
    for (uint32_t i = 0; i < program->parameter_count && i < SETTING_MOST_NUMBERS; i++)
        if (chooser->units[i] && program->parameters[i].steers && is_number(&program->parameters[i]) &&
            !setting->numbers[i] && !launch_number(program, chooser->fixed, i, &given))
            return true;
    return false;
}

/* ---- Programs that there cannot be ------------------------------------------------------------------ */

static bool is_division(const Op *op) {
    const Value *divided = NULL, *by = op_is_loop(op) ? NULL : divisor_of(op, &divided);
    int64_t number;
    return by && !value_constant(by, &number);
}

/* Whether the program that is meant divides by 0 there, in the first turn of its loops. */
static bool divides_by_zero(Chooser *chooser, const Op *op) {
    Solver *solver = chooser->solver;
    Setting before = *solver_setting(solver);
    int64_t number;
    if (!solver_value(solver, op->operands[1], &number) || number)
        return false;
    bool so = solve_value(solver, op, op->operands[1], 0, 0) &&
              memcmp(&before, solver_setting(solver), offsetof(Setting, turns)) == 0;
    *solver_setting(solver) = before;
    solver_changed(solver);
    return so;
}

static bool can_be(Chooser *chooser, const int64_t program[3]) {
    Setting *setting = solver_setting(chooser->solver);
    memcpy(setting->program, program, sizeof setting->program);
    solver_changed(chooser->solver);
    for (uint32_t i = 0; i < chooser->division_count; i++)
        if (divides_by_zero(chooser, chooser->divisions[i]))
            return false;
    return true;
}

/* The axis whose grid is to end at a program that divides by 0, or 3: there is no such program, or it is the first. */
static int axis_to_end(Chooser *chooser, const int64_t grid[3], int64_t program[3]) {
    int64_t tried = 0;
    for (int64_t z = 0; z < grid[2]; z++)
        for (int64_t y = 0; y < grid[1]; y++)
            for (int64_t x = 0; x < grid[0] && tried < MOST_ASKED; x++, tried++) {
                program[0] = x, program[1] = y, program[2] = z;
                if (!can_be(chooser, program))
                    return x ? 0 : y ? 1 : z ? 2 : 3;
            }
    return 3;
}

/* A grid of more programs than the kernel has work for: where one then divides by 0, as by the size of a group that is
 * not there, callers launch no such program. The grid ends before it, unless it was given. */
static void end_grid(Chooser *chooser, Setting *setting) {
    Setting before = *solver_setting(chooser->solver);
    int64_t program[3];
    *solver_setting(chooser->solver) = *setting;
    memset(solver_setting(chooser->solver)->turns, 0, sizeof setting->turns);
    for (int left = 3, axis; chooser->division_count && left; left--) {
        axis = axis_to_end(chooser, setting->grid, program);
        int64_t whole = axis < 3 && chooser->program->ranks_are_programs ? chooser->program->cluster[axis] : 1;
        int64_t end = axis < 3 ? program[axis] - program[axis] % whole : 0;
        if (!end || (chooser->fixed && chooser->fixed->grid[0]))
            break;
        setting->grid[axis] = solver_setting(chooser->solver)->grid[axis] = end;
        if (setting->program[axis] >= end)
            setting->program[axis] = end - 1;
    }
    *solver_setting(chooser->solver) = before;
    solver_changed(chooser->solver);
}

static void find_divisions(Chooser *chooser) {
    const Op *function = chooser->program->function;
    for (const Op *op = function; op; op = op_next_in_walk(op, function))
        if (is_division(op) && !solver_closed(chooser->solver, op->operands[1]) &&
            chooser->division_count < MOST_DIVISIONS)
            chooser->divisions[chooser->division_count++] = op;
}

static void add_setting(Chooser *chooser, const Setting *wanted, LaunchDoubt doubt) {
    Setting trimmed = *wanted, *setting = &trimmed;
    end_grid(chooser, &trimmed);
    Launch launch = make_launch(chooser, setting);
    launch.doubt = doubt;
    launch.chosen = !all_given(chooser, &launch);
    if (chooser->count == MOST_CHOSEN || is_known(chooser, &launch))
        return;
    chooser->settings[chooser->count] = *setting;
    chooser->launches[chooser->count++] = launch;
}

/* The setting that was solved for, as a launch. Where that has a size which is no multiple of its tile, the next one
 * that is comes first: a loop that counts in smaller steps than the tile still makes so many turns, and there is no
 * doubt it. */
void add_launch(Chooser *chooser, LaunchDoubt doubt) {
    Setting *setting = solver_setting(chooser->solver);
    const Program *program = chooser->program;
    for (int axis = 0; axis < 3 && program->ranks_are_programs; axis++) /* whole clusters */
        setting->grid[axis] = rounded_up(setting->grid[axis], program->cluster[axis]);
    bool uneven = is_uneven(chooser, setting);
    if (is_empty(chooser, setting))
        doubt = DOUBT_EMPTY;
    Setting whole = *setting;
    for (uint32_t i = 0; i < program->parameter_count && i < SETTING_MOST_NUMBERS; i++)
        if (uneven && is_broken(chooser, setting, i))
            whole.numbers[i] = rounded_up(whole.numbers[i], chooser->units[i]);
    if (uneven)
        add_setting(chooser, &whole, doubt);
    add_setting(chooser, setting, uneven ? DOUBT_UNEVEN : doubt);
}

void start_over(Chooser *chooser) {
    *solver_setting(chooser->solver) = chooser->base;
    solver_changed(chooser->solver);
}

/* ---- Loops ---------------------------------------------------------------------------------------- */

bool is_innermost(const Program *program, const Loop *loop) {
    for (uint32_t i = 0; i < program->loop_count; i++)
        if (!program->loops[i].closed && is_around(loop->op, program->loops[i].op))
            return false;
    return true;
}

static uint64_t bounds_depend(const Chooser *chooser, const Op *loop) {
    Bounds bounds;
    return loop_bounds(loop, &bounds)
               ? solver_depends(chooser->solver, bounds.from) | solver_depends(chooser->solver, bounds.to)
               : 0;
}

/* Whether another loop is of another strand, and runs by other numbers. */
static bool is_apart(const Chooser *chooser, const Loop *loop, const Loop *other) {
    return other->strand != loop->strand && !other->closed && is_innermost(chooser->program, other) &&
           !(bounds_depend(chooser, loop->op) & bounds_depend(chooser, other->op));
}

void keep_in_step(Chooser *chooser, const Loop *loop, int64_t trips) {
    const Program *program = chooser->program;
    int64_t now;
    for (uint32_t i = 0; i < program->loop_count; i++) {
        const Loop *other = &program->loops[i];
        if (is_apart(chooser, loop, other) && solver_trips(chooser->solver, other->op, &now) && now != trips)
            solve_trips(chooser->solver, other->op, trips, trips);
    }
}

double turns_of(Chooser *chooser) {
    const Program *program = chooser->program;
    double all = 0;
    for (uint32_t i = 0; i < program->loop_count; i++) {
        double turns = 1;
        int64_t trips;
        for (const Op *op = program->loops[i].op; op && turns > 0; op = op_parent(op))
            if (op_is_loop(op) && solver_trips(chooser->solver, op, &trips))
                turns *= (double)trips;
        all += turns;
    }
    return all;
}

/* So often, or, where that is not possible, a few times more. */
static bool solve_about(Chooser *chooser, const Loop *loop, int64_t trips) {
    return solve_trips(chooser->solver, loop->op, trips, trips) ||
           (trips && solve_trips(chooser->solver, loop->op, trips, MOST_TIMES * trips));
}

/* Without the numbers that deeper loops depend on, its own or those of other strands, if that can be: it makes for
 * shorter runs. */
static bool solve_cheaply(Chooser *chooser, const Loop *loop, int64_t trips) {
    const Program *program = chooser->program;
    uint64_t inner = 0;
    for (uint32_t i = 0; i < program->loop_count; i++)
        if (program->loops[i].depth > loop->depth)
            inner |= bounds_depend(chooser, program->loops[i].op);
    solver_hold(chooser->solver, inner);
    bool solved = inner && solve_about(chooser, loop, trips);
    solver_hold(chooser->solver, 0);
    return solved || solve_about(chooser, loop, trips);
}

/* Twice round the ring, where once and one more was wanted before. */
static bool is_extra(const Chooser *chooser, int64_t trips) {
    return trips > chooser->depth + 1 && trips <= 2 * chooser->depth + 1;
}

static void want_trips_so(Chooser *chooser, const Loop *loop, int64_t trips, LaunchDoubt doubt) {
    start_over(chooser);
    int64_t turns = trips, now;
    if (!solve_cheaply(chooser, loop, trips))
        return;
    bool counts = solver_trips(chooser->solver, loop->op, &turns);
    Setting solved = *solver_setting(chooser->solver);
    keep_in_step(chooser, loop, turns);
    if (counts && (!solver_trips(chooser->solver, loop->op, &now) || now != turns)) {
        *solver_setting(chooser->solver) = solved;
        solver_changed(chooser->solver);
    }
    if (turns_of(chooser) <= (is_extra(chooser, trips) ? FEW_TURNS : MOST_TURNS))
        add_launch(chooser, doubt);
}

/* Where data decides by which of two numbers a loop ends, runs have it both ways, and each is to be so often. */
static void want_trips(Chooser *chooser, const Loop *loop, int64_t trips, LaunchDoubt doubt) {
    int64_t now;
    start_over(chooser);
    if (solver_trips(chooser->solver, loop->op, &now) || op_is_control(loop->op, CONTROL_WHILE)) {
        want_trips_so(chooser, loop, trips, doubt);
        return;
    }
    for (Supposed way = SUPPOSED_YES; way <= SUPPOSED_NO; way++) {
        solver_suppose(chooser->solver, way);
        want_trips_so(chooser, loop, trips, doubt);
    }
    solver_suppose(chooser->solver, SUPPOSED_NOTHING);
}

static void want_innermost(Chooser *chooser, int64_t trips, LaunchDoubt doubt) {
    const Program *program = chooser->program;
    for (uint32_t i = 0; i < program->loop_count; i++)
        if (!program->loops[i].closed && is_innermost(program, &program->loops[i]))
            want_trips(chooser, &program->loops[i], trips, doubt);
}

/* A launch in which the other loop makes one turn more; false: there is none. */
static bool want_one_more(Chooser *chooser, const Loop *loop, const Loop *other) {
    int64_t trips, now;
    start_over(chooser);
    if (!solve_cheaply(chooser, loop, chooser->depth + 1) || !solver_trips(chooser->solver, loop->op, &trips))
        return false;
    keep_in_step(chooser, loop, trips);
    if (!solve_trips(chooser->solver, other->op, trips + 1, trips + 1) ||
        !solver_trips(chooser->solver, loop->op, &now) || now != trips || turns_of(chooser) > FEW_TURNS)
        return false;
    add_launch(chooser, DOUBT_APART);
    return true;
}

/* Loops that are meant to run as often need not: nothing says that the caller of the kernel ensures it. A launch
 * that was given says it. */
static void want_apart(Chooser *chooser) {
    const Program *program = chooser->program;
    for (uint32_t i = 0; i < program->loop_count && !chooser->like; i++) {
        const Loop *loop = &program->loops[i];
        bool found = loop->closed || !is_innermost(program, loop);
        for (uint32_t k = 0; k < program->loop_count && !found; k++)
            found = is_apart(chooser, loop, &program->loops[k]) && want_one_more(chooser, loop, &program->loops[k]);
    }
}

/* How often two loops run, under the solver's setting: not as often. */
static bool run_apart(Chooser *chooser, const Loop *a, const Loop *b) {
    int64_t x, y;
    return solver_trips(chooser->solver, a->op, &x) && solver_trips(chooser->solver, b->op, &y) && x != y;
}

/* Whether they do at some launch that there is, or are not to be held against each other. */
static bool are_compared(Chooser *chooser, const Loop *a, const Loop *b) {
    const Program *program = chooser->program;
    if (a->closed || b->closed || a->op == b->op || !is_innermost(program, a) || !is_innermost(program, b) ||
        is_around(a->op, b->op) || is_around(b->op, a->op) || is_apart(chooser, a, b))
        return true;
    for (size_t i = 0; i < chooser->count; i++) {
        *solver_setting(chooser->solver) = chooser->settings[i];
        solver_changed(chooser->solver);
        if (run_apart(chooser, a, b))
            return true;
    }
    return false;
}

/* Other numbers for one parameter, near the one that it has and small ones, as its divisibility has it. */
static int64_t other_number(const Chooser *chooser, uint32_t parameter, unsigned which, int64_t now) {
    const int64_t by = chooser->program->parameters[parameter].divisibility, half = chooser->unit / 2;
    const int64_t others[OTHER_NUMBERS] = {now, now + by, now - by, now + rounded_up(half, by), 2 * by, 3 * by, 5 * by};
    return others[which] < by ? by : others[which];
}

/* Sets two of the parameters that the loops depend on to other numbers, so that the loops run apart; false: none of
 * them does it. */
static bool set_apart(Chooser *chooser, const Loop *a, const Loop *b, uint64_t depends) {
    Setting *setting = solver_setting(chooser->solver), before = *setting;
    int64_t given;
    for (uint32_t i = 0; i < chooser->program->parameter_count && i < 64; i++)
        for (uint32_t k = i; k < chooser->program->parameter_count && k < 64; k++)
            for (unsigned way = 1; way < OTHER_NUMBERS * OTHER_NUMBERS; way++) {
                if (!(depends >> i & 1) || !(depends >> k & 1) || (i == k && way >= OTHER_NUMBERS) ||
                    !is_number(&chooser->program->parameters[i]) || !is_number(&chooser->program->parameters[k]) ||
                    launch_number(chooser->program, chooser->fixed, i, &given) ||
                    launch_number(chooser->program, chooser->fixed, k, &given))
                    break;
                setting->numbers[k] = other_number(chooser, k, way / OTHER_NUMBERS, before.numbers[k]);
                setting->numbers[i] = other_number(chooser, i, way % OTHER_NUMBERS, before.numbers[i]);
                solver_changed(chooser->solver);
                if (run_apart(chooser, a, b) && solve_comes_to(chooser->solver, a->op) && run_apart(chooser, a, b) &&
                    turns_of(chooser) <= FEW_TURNS)
                    return true;
                *setting = before;
            }
    return false;
}

/* Loops that have run as often at every launch so far, though their bounds are computed in different ways, as n / m and
 * n / m rounded up: whether they always do is for a launch to show at which they do not. */
static void want_unequal(Chooser *chooser) {
    const Program *program = chooser->program;
    for (uint32_t i = 0; i < program->loop_count && !chooser->like; i++)
        for (uint32_t k = i + 1; k < program->loop_count; k++) {
            const Loop *a = &program->loops[i], *b = &program->loops[k];
            if (are_compared(chooser, a, b))
                continue;
            start_over(chooser);
            (void)solve_cheaply(chooser, a, chooser->depth + 1);
            if (set_apart(chooser, a, b, bounds_depend(chooser, a->op) | bounds_depend(chooser, b->op)))
                add_launch(chooser, DOUBT_APART);
        }
}

/* Loops around others: often enough to come back to where they began. */
static void want_outer(Chooser *chooser) {
    const Program *program = chooser->program;
    for (uint32_t i = 0; i < program->loop_count; i++) {
        const Loop *loop = &program->loops[i];
        if (loop->closed || is_innermost(program, loop))
            continue;
        uint32_t slots = ring_in_loop(chooser->solver, program->module, loop->op);
        want_trips(chooser, loop, 2, DOUBT_NONE);
        want_trips(chooser, loop, 3, DOUBT_NONE);
        if (slots > 2 && slots <= DEEPEST_RING)
            want_trips(chooser, loop, slots + 1, DOUBT_NONE);
    }
}

/* A counter of few bits is to come round to where it started. */
static void want_wraps(Chooser *chooser) {
    const Program *program = chooser->program;
    for (uint32_t i = 0; i < program->loop_count; i++) {
        Carried carried = {0};
        unsigned most = 0;
        for (uint32_t k = 0; loop_carries(program->loops[i].op, k, &carried); k++) {
            unsigned width = number_width(program->module, type_resolve(program->module, carried.argument->type));
            if (width > 1 && width <= MOST_WIDTH && width > most)
                most = width;
        }
        if (most && !program->loops[i].closed)
            want_trips(chooser, &program->loops[i], (INT64_C(1) << most) + program->deepest_ring + 1, DOUBT_NONE);
    }
}

static int64_t deepest_ring(const Chooser *chooser) {
    const Program *program = chooser->program;
    uint32_t deepest = program->deepest_ring ? program->deepest_ring : 1;
    for (uint32_t i = 0; i < program->loop_count; i++) {
        const Loop *loop = &program->loops[i];
        uint32_t slots = loop->head ? ring_in_blocks(chooser->solver, program->module, loop->head)
                                    : ring_in_loop(chooser->solver, program->module, loop->op);
        deepest = slots > deepest && slots <= DEEPEST_RING ? slots : deepest;
    }
    return deepest;
}

/* ---- All of it ------------------------------------------------------------------------------------ */

size_t usual_launches(const Launch *launches, size_t count) {
    size_t usual = 0;
    while (usual < count && launches[usual].doubt == DOUBT_NONE)
        usual++;
    return usual ? usual : count;
}

static size_t choose(const Program *program, Arena *arena, const Launch *like, const Launch *fixed, Launch *launches) {
    Chooser *chooser = ARENA_NEW(arena, Chooser);
    *chooser = (Chooser){.program = program,
                         .arena = arena,
                         .solver = solver_create(arena, program),
                         .like = like,
                         .fixed = fixed,
                         .launches = launches};
    int64_t depth = chooser->depth = deepest_ring(chooser);
    const int64_t wanted[] = {1, 2, depth, depth + 1, 2 * depth + 1};
    find_units(chooser);
    find_divisions(chooser);
    set_base(chooser);
    set_grid(chooser);
    solver_prefer(chooser->solver, chooser->unit, false);
    (void)solve_comes_to(chooser->solver, program->function->regions[0].first->first); /* assumptions */
    chooser->base = *solver_setting(chooser->solver);
    for (unsigned k = 0; k < sizeof wanted / sizeof *wanted; k++)
        want_innermost(chooser, wanted[k], DOUBT_NONE);
    want_outer(chooser);
    start_over(chooser);
    if (!chooser->count)
        add_launch(chooser, DOUBT_NONE);
    want_ways(chooser);
    want_choices(chooser);
    want_shifts(chooser);
    want_pairs(chooser);
    want_wraps(chooser);
    solver_prefer(chooser->solver, 1, true);
    want_innermost(chooser, 2, DOUBT_NONE);
    solver_prefer(chooser->solver, chooser->unit, false);
    want_apart(chooser);
    want_unequal(chooser);
    want_innermost(chooser, 0, DOUBT_EMPTY);
    return chooser->count;
}

static const ChosenLaunches *chosen_before(const ChosenLaunches *one, const Program *program, const Launch *like,
                                           const Launch *fixed) {
    while (one && !(one->function == program->function && one->global == program->global &&
                    one->data == program->data && one->like == like && one->fixed == fixed))
        one = one->older;
    return one;
}

size_t choose_launches(const Program *program, Arena *arena, const Launch *like, const Launch *fixed,
                       ChosenLaunches **before, Launch *launches) {
    if (!before)
        return choose(program, arena, like, fixed, launches);
    const ChosenLaunches *known = chosen_before(*before, program, like, fixed);
    if (!known) {
        Launch *made = ARENA_ARRAY(arena, Launch, MOST_CHOSEN);
        ChosenLaunches *newest = ARENA_NEW(arena, ChosenLaunches);
        *newest = (ChosenLaunches){.function = program->function,
                                   .global = program->global,
                                   .data = program->data,
                                   .like = like,
                                   .fixed = fixed,
                                   .launches = made,
                                   .count = choose(program, arena, like, fixed, made),
                                   .older = *before};
        known = *before = newest;
    }
    memcpy(launches, known->launches, known->count * sizeof *launches);
    return known->count;
}
