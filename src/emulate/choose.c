/* Chooses launches by trying values and counting how often the loops run. */
#include "emulate/choose.h"

#include "emulate/schedule.h"
#include "model/flow/handed.h"

enum {
    PROBE_BUDGET = 1 << 20,
    FULL_PROBES = 16,
    MOST_PARAMETERS = 32,
    SMALLEST_UNIT = 16,
    LARGEST_UNIT = 1024,
    MOST_FACTOR = 64
};

typedef struct Chooser {
    Machine *machine;
    Arena *arena;
    bool by_program;                    /* control depends on the program id */
    int64_t unit;                       /* sizes are multiples of it */
    uint64_t probe, left;               /* budgets: of one run, and of all that are still to come */
    uint32_t steering[MOST_PARAMETERS]; /* parameters */
    bool inner[MOST_PARAMETERS];        /* the innermost loops depend on it */
    uint32_t count;
} Chooser;

/* How often loops ran: the innermost ones, and those around them. */
typedef struct Trial {
    int64_t inner, outer;
    bool possible;
} Trial;

static bool is_number(const Parameter *parameter) {
    return parameter->type && (parameter->type->kind == TYPE_INTEGER || parameter->type->kind == TYPE_INDEX);
}

static int64_t round_up(int64_t value, int64_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

static int64_t value_for(const Chooser *chooser, const int64_t *values, uint32_t parameter, int64_t otherwise) {
    for (uint32_t i = 0; i < chooser->count; i++)
        if (chooser->steering[i] == parameter)
            return values[i];
    return otherwise;
}

/* The launch that gives each steering parameter its value. */
static Launch make_launch(const Chooser *chooser, const int64_t *values) {
    const Program *program = chooser->machine->program;
    Launch launch = {.chosen = true, .grid = {1, 1, 1}, .kernel = str_of(program->name)};
    if (chooser->by_program)
        launch.grid[0] = 4;
    if (program->ranks_are_programs)
        launch.grid[0] = program->ctas * (chooser->by_program ? 2 : 1);
    launch.capacity = program->parameter_count;
    launch.arguments = ARENA_ARRAY(chooser->arena, Argument, program->parameter_count + 1);
    for (uint32_t i = 0; i < program->parameter_count; i++) {
        const Parameter *parameter = &program->parameters[i];
        Argument *argument = &launch.arguments[launch.count];
        if (type_is_descriptor(parameter->type)) {
            uint32_t parts = 0;
            bool steers = false;
            for (uint32_t k = i + 1; k < program->parameter_count && program->parameters[k].descriptor == (int32_t)i;
                 k++) {
                steers |= program->parameters[k].steers;
                parts += parts < 2 * ARGUMENT_MOST_DIMS;
            }
            if (!steers)
                continue;
            *argument =
                (Argument){.name = str_of(parameter->name), .kind = ARGUMENT_DESCRIPTOR, .rank = (uint8_t)(parts / 2)};
            int64_t stride = 1;
            for (uint32_t k = argument->rank; k-- > 0;) {
                argument->shape[k] = value_for(chooser, values, i + 1 + k, chooser->unit);
                argument->strides[k] = stride;
                if (__builtin_mul_overflow(stride, argument->shape[k] > 0 ? argument->shape[k] : 1, &stride))
                    stride = INT64_MAX;
            }
            launch.count++;
        } else if (parameter->descriptor < 0 && parameter->steers && is_number(parameter)) {
            int64_t value = value_for(chooser, values, i, chooser->unit);
            if (parameter->type->kind == TYPE_INTEGER && parameter->type->width == 1)
                value = value > 0;
            *argument = (Argument){.name = str_of(parameter->name),
                                   .kind = ARGUMENT_INTEGER,
                                   .integer = round_up(value, parameter->divisibility)};
            launch.count++;
        }
    }
    return launch;
}

static Trial try_values(Chooser *chooser, const int64_t *values) {
    Machine *machine = chooser->machine;
    const Program *program = machine->program;
    if (!chooser->left)
        return (Trial){0};
    Launch launch = make_launch(chooser, values);
    machine_launch(machine, &launch);
    uint64_t budget = machine->budget;
    machine->budget = chooser->left < chooser->probe ? chooser->left : chooser->probe;
    RunEnd end = schedule_run(machine, 0, &(Schedule){.kind = SCHEDULE_EAGER});
    machine->budget = budget;
    chooser->left -= machine->used < chooser->left ? machine->used : chooser->left;
    Trial trial = {.possible = end != RUN_EXCLUDED && end != RUN_BUDGET};
    uint32_t deepest = 0;
    for (uint32_t i = 0; i < program->loop_count; i++)
        if (!program->loops[i].closed && program->loops[i].depth > deepest)
            deepest = program->loops[i].depth;
    for (uint32_t i = 0; i < program->loop_count; i++) {
        const Trips *trips = &machine->trips[i];
        if (program->loops[i].closed || !trips->entered)
            continue;
        int64_t *most = program->loops[i].depth == deepest ? &trial.inner : &trial.outer;
        *most = trips->most > *most ? trips->most : *most;
    }
    return trial;
}

static bool depends_on_program(const Program *program) {
    for (uint32_t i = 0; i < program->code_count; i++)
        if (program->code[i].code == CODE_PROGRAM_ID || program->code[i].code == CODE_PROGRAMS)
            return true;
    return false;
}

/* The largest power of two that sizes are divided by, or loops go by: sizes that are multiples of it are what such
 * kernels are made for, whether they round up or down. */
static int64_t unit_of(const Program *program) {
    int64_t unit = 1, number;
    for (const Op *op = program->function; op; op = op_next_in_walk(op, program->function)) {
        const Value *by = NULL;
        Bounds bounds;
        switch (op_evaluator(op)) {
        case EVALUATE_DIVIDE_SIGNED:
        case EVALUATE_DIVIDE_UNSIGNED:
        case EVALUATE_REMAINDER_SIGNED:
        case EVALUATE_REMAINDER_UNSIGNED:
        case EVALUATE_DIVIDE_CEIL_SIGNED:
        case EVALUATE_DIVIDE_CEIL_UNSIGNED:
        case EVALUATE_DIVIDE_FLOOR_SIGNED:
            by = op->operand_count == 2 ? op->operands[1] : NULL;
            break;
        default:
            by = loop_bounds(op, &bounds) ? bounds.step : NULL;
            break;
        }
        if (by && value_constant(by, &number) && number > unit && number >= SMALLEST_UNIT && number <= LARGEST_UNIT &&
            !(number & (number - 1)))
            unit = number;
    }
    return unit;
}

static void find_steering(Chooser *chooser) {
    const Program *program = chooser->machine->program;
    for (uint32_t i = 0; i < program->parameter_count && chooser->count < MOST_PARAMETERS; i++)
        if (program->parameters[i].steers && is_number(&program->parameters[i]))
            chooser->steering[chooser->count++] = i;
    int64_t values[MOST_PARAMETERS] = {0};
    for (uint32_t i = 0; i < chooser->count; i++) { /* so large that half of it is still another multiple */
        int64_t divisibility = program->parameters[chooser->steering[i]].divisibility;
        values[i] = 4 * (divisibility > chooser->unit ? divisibility : chooser->unit);
    }
    Trial all = try_values(chooser, values);
    for (uint32_t i = 0; i < chooser->count; i++) {
        values[i] /= 2;
        Trial less = try_values(chooser, values);
        chooser->inner[i] = less.inner != all.inner;
        values[i] *= 2;
    }
}

static void set_inner(const Chooser *chooser, int64_t *values, int64_t value, int64_t others) {
    for (uint32_t i = 0; i < chooser->count; i++)
        values[i] = chooser->inner[i] ? value : others;
}

static bool is_known(const Launch *launches, size_t count, const Launch *launch) {
    for (size_t i = 0; i < count; i++) {
        bool same = launches[i].count == launch->count && launches[i].grid[0] == launch->grid[0];
        for (size_t k = 0; k < launch->count && same; k++) {
            const Argument *a = &launches[i].arguments[k], *b = &launch->arguments[k];
            same = a->integer == b->integer && memcmp(a->shape, b->shape, sizeof a->shape) == 0;
        }
        if (same)
            return true;
    }
    return false;
}

size_t choose_launches(Machine *machine, Arena *arena, Launch *launches) {
    const Program *program = machine->program;
    Chooser chooser = {
        .machine = machine, .arena = arena, .by_program = depends_on_program(program), .unit = unit_of(program)};
    chooser.probe = machine->budget && machine->budget < PROBE_BUDGET ? machine->budget : PROBE_BUDGET;
    chooser.left = FULL_PROBES * chooser.probe;
    find_steering(&chooser);
    int64_t values[MOST_PARAMETERS] = {0};
    size_t count = 0;
    if (!chooser.count) {
        launches[0] = make_launch(&chooser, values);
        return 1;
    }
    int64_t depth = program->deepest_ring ? program->deepest_ring : 1;
    const int64_t wanted[] = {0, 1, 2, depth, depth + 1, 2 * depth + 1};
    int64_t factor = -1, typical = 1;
    for (unsigned k = 0; k < sizeof wanted / sizeof *wanted && count < MOST_CHOSEN; k++) {
        int64_t next = wanted[k] ? (factor < 0 ? 0 : factor) : 0;
        Trial trial = {0};
        for (; next <= MOST_FACTOR; next++) { /* the smallest that is enough */
            set_inner(&chooser, values, next * chooser.unit, 2);
            trial = try_values(&chooser, values);
            if (trial.possible && trial.inner >= wanted[k])
                break;
        }
        if (next > MOST_FACTOR || next == factor)
            continue;
        factor = next;
        if (wanted[k] <= depth + 1)
            typical = next;
        Launch launch = make_launch(&chooser, values);
        if (!is_known(launches, count, &launch))
            launches[count++] = launch;
    }
    if (!count) {
        set_inner(&chooser, values, chooser.unit, chooser.unit);
        launches[count++] = make_launch(&chooser, values);
    }
    /* Loops around the innermost ones: one number at a time is raised until they go round three times. */
    for (uint32_t i = 0; i < chooser.count && count < MOST_CHOSEN; i++) {
        if (chooser.inner[i])
            continue;
        set_inner(&chooser, values, typical * chooser.unit, 2);
        for (int64_t value = 4; value <= 4096; value *= 4) {
            values[i] = value < chooser.unit ? value : round_up(value, chooser.unit);
            Trial trial = try_values(&chooser, values);
            if (!trial.possible)
                break;
            if (trial.outer >= 3) {
                Launch launch = make_launch(&chooser, values);
                if (!is_known(launches, count, &launch))
                    launches[count++] = launch;
                break;
            }
        }
    }
    return count;
}
