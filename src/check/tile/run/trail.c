/* Trails out: the run is made once more, and each step is named before it is made. Trails in: line by line, the first
 * fault ends the reading. */
#include "check/tile/run/trail.h"

#include "ir/op.h"

#include <inttypes.h>
#include <stdlib.h>

enum { GRID_MOST_KERNELS = 256, GRID_MOST_GRANULE = 16 };
static const uint64_t usual_budget = 4 * 1000 * 1000;

/* ---- Out ---------------------------------------------------------------------------------------- */

static void write_step(const Machine *machine, const char *kind, uint32_t number, uint32_t agent, Helper helper,
                       uint32_t pc, Text *to) {
    const Program *program = machine->program;
    const Op *op = program->ops[pc];
    text_addf(to, "%s %u ", kind, number);
    agent_name(machine, agent, helper, to);
    text_char(to, ' ');
    text_add_plain(to, op->name);
    text_addf(to, " @%u\n", op_line(program->module, op));
}

static StepResult write_outstanding(Machine *machine, uint32_t sequence, Text *to) {
    const State *state = machine->state;
    for (uint32_t i = 0; i < state->outstanding_count; i++) {
        const Outstanding *outstanding = &state->outstanding_ops[i];
        if (outstanding->sequence != sequence)
            continue;
        write_step(machine, "flight", sequence, outstanding->agent, (Helper)outstanding->helper, outstanding->pc, to);
        return machine_complete(machine, i);
    }
    return STEP_FAULT;
}

static void write_steps(Machine *machine, uint64_t cluster, const Trail *trail, Text *to) {
    StepResult result = machine_start(machine, cluster);
    for (size_t i = 0; i < trail->count && result == STEP_DONE; i++) {
        uint32_t step = trail->steps[i];
        if (step & TRAIL_OUTSTANDING) {
            result = write_outstanding(machine, step & ~TRAIL_OUTSTANDING, to);
            continue;
        }
        write_step(machine, "agent", step, step, HELPER_BASE, machine->state->agents[step].pc, to);
        result = machine_step(machine, step);
    }
}

/* Whether the program has that load: it needs only those that control depends on. */
static bool load_matters(const Program *program, const Op *op) {
    for (uint32_t i = 0; i < program->code_count; i++)
        if (program->code[i].code == CODE_LOAD && program->ops[i] == op)
            return true;
    return false;
}

static void write_loads(const Machine *machine, Text *to) {
    const Program *program = machine->program;
    const Op *op;
    int64_t value;
    for (uint32_t agent = 0; machine->loads && agent < machine->agent_count; agent++)
        for (uint32_t at = 0; loads_at(machine->loads, agent, &at, &op, &value);)
            if (load_matters(program, op))
                text_addf(to, "load %u %u %" PRId64 "\n", agent, op_line(program->module, op), value);
}

void trail_write(Machine *machine, const Rerun *rerun, const Trail *trail, Text *to) {
    if (trail->count > TRAIL_MOST_STEPS)
        return;
    text_addf(to, "weir trail 1\nkernel ");
    text_add_plain(to, str_of(machine->program->name));
    text_addf(to, "\nlaunch ");
    launch_write(rerun->launch, to);
    text_addf(to, "\ncluster %" PRIu64 "\nworld %u\norder %s\ncompletion %s\n", rerun->cluster, rerun->havoc_choice,
              rerun->out_of_order ? "waits" : "issue",
              schedule_is_immediate(&rerun->schedule) ? "immediate" : "scheduled");
    write_loads(machine, to);
    Observe *observe = machine->observe;
    uint64_t budget = machine->budget;
    machine->observe = NULL;
    machine->budget = rerun->budget ? rerun->budget : usual_budget;
    machine->havoc_choice = rerun->havoc_choice;
    machine->out_of_order = rerun->out_of_order;
    machine->immediate = schedule_is_immediate(&rerun->schedule);
    machine_launch(machine, rerun->launch);
    write_steps(machine, rerun->cluster, trail, to);
    machine->observe = observe;
    machine->budget = budget;
}

void grid_trail_write(const GridTrail *trail, Text *to) {
    text_addf(to, "weir trail 2\ndevices %u\nresident %u\n", trail->devices, trail->resident);
    if (trail->granule)
        text_addf(to, "granule %u\n", trail->granule);
    if (trail->cancels)
        text_addf(to, "cancels 1\n");
    for (uint32_t i = 0; i < trail->count; i++) {
        text_addf(to, "kernel ");
        text_add_plain(to, trail->kernels[i]);
        text_addf(to, "\nlaunch ");
        launch_write(&trail->launches[i], to);
        text_char(to, '\n');
    }
    for (size_t i = 0; i < trail->turns.count; i++) {
        const Turn *turn = &trail->turns.turns[i];
        text_addf(to, "turns %u %" PRIu64 " %u\n", turn->launch, turn->cluster, turn->count);
    }
}

/* ---- In ----------------------------------------------------------------------------------------- */

typedef enum TrailKey {
    KEY_KERNEL,
    KEY_LAUNCH,
    KEY_CLUSTER,
    KEY_HAVOC_CHOICE,
    KEY_ORDER,
    KEY_COMPLETION,
    KEY_COUNT
} TrailKey;
static const char *const keys[KEY_COUNT] = {"kernel", "launch", "cluster", "world", "order", "completion"};

typedef struct RunTrailReading {
    Arena *arena;
    Source *source;
    TrailFile *file;
    Diagnostics *diagnostics;
    Str line;
    const char *cluster; /* where it stands */
    bool seen[KEY_COUNT];
    bool named; /* of a grid: a kernel whose launch is to come */
} RunTrailReading;

__attribute__((format(printf, 3, 4))) static bool fail(RunTrailReading *reading, const char *at, const char *format,
                                                       ...) {
    va_list arguments;
    va_start(arguments, format);
    diagnostics_vadd(reading->diagnostics, SEVERITY_ERROR, reading->source, (size_t)(at - reading->source->data),
                     format, arguments);
    va_end(arguments);
    return false;
}

/* The next word of `rest`, which is left after it and the blanks that follow. */
static Str take_word(Str *rest) {
    size_t size = 0;
    while (size < rest->size && rest->data[size] != ' ' && rest->data[size] != '\t')
        size++;
    Str word = {rest->data, size};
    while (size < rest->size && (rest->data[size] == ' ' || rest->data[size] == '\t'))
        size++;
    *rest = (Str){rest->data + size, rest->size - size};
    return word;
}

static bool read_number(RunTrailReading *reading, Str word, uint64_t least, uint64_t most, uint64_t *number) {
    *number = 0;
    bool good = word.size > 0 && word.size <= 19;
    for (size_t i = 0; good && i < word.size; i++) {
        good = word.data[i] >= '0' && word.data[i] <= '9';
        *number = *number * 10 + (uint64_t)(word.data[i] - '0');
    }
    return (good && *number >= least && *number <= most) ||
           fail(reading, word.data, "expected a number from %" PRIu64 " to %" PRIu64, least, most);
}

/* A launch is read as if it were a file of its own; what is wrong with it is said at its place in this one. */
static bool read_launch(RunTrailReading *reading, Str text, Launch *launch) {
    enum { PADDING = 16 };
    Source line = {.name = reading->source->name, .size = text.size};
    line.data = memcpy(arena_zalloc(reading->arena, text.size + PADDING), text.data, text.size);
    Diagnostics diagnostics = {0};
    bool good = launch_read(reading->arena, &line, launch, &diagnostics);
    for (size_t i = 0; i < diagnostics.count; i++)
        fail(reading, text.data + diagnostics.items[i].place.column - 1, "%s",
             diagnostics.items[i].message ? diagnostics.items[i].message : "the launch is malformed");
    diagnostics_free(&diagnostics);
    free(line.line_starts);
    return good;
}

static bool read_header(RunTrailReading *reading, TrailKey key, Str rest) {
    TrailFile *file = reading->file;
    uint64_t number;
    if (reading->seen[key])
        return fail(reading, reading->line.data, "'%s' is given twice", keys[key]);
    reading->seen[key] = true;
    switch (key) {
    case KEY_KERNEL:
        file->kernel = (Str){arena_copy(reading->arena, rest.data, rest.size), rest.size};
        return rest.size || fail(reading, rest.data, "expected the kernel's name");
    case KEY_LAUNCH:
        return read_launch(reading, rest, &file->launch);
    case KEY_CLUSTER:
        reading->cluster = rest.data;
        return read_number(reading, rest, 0, INT64_MAX, &file->rerun.cluster);
    case KEY_HAVOC_CHOICE:
        if (!read_number(reading, rest, 0, UINT16_MAX, &number))
            return false;
        file->rerun.havoc_choice = (unsigned)number;
        return true;
    case KEY_COMPLETION:
        file->rerun.schedule.immediate = str_is(rest, "immediate");
        return file->rerun.schedule.immediate || str_is(rest, "scheduled") ||
               fail(reading, rest.data, "completion is 'immediate' or 'scheduled'");
    default:
        file->rerun.out_of_order = str_is(rest, "waits");
        return file->rerun.out_of_order || str_is(rest, "issue") ||
               fail(reading, rest.data, "the order is 'issue' or 'waits'");
    }
}

static bool read_step(RunTrailReading *reading, Str rest, bool outstanding) {
    Trail *trail = &reading->file->trail;
    uint64_t number;
    if (!reading->seen[KEY_KERNEL] || !reading->seen[KEY_LAUNCH])
        return fail(reading, reading->line.data, "before the first step a trail needs a line '%s'",
                    keys[reading->seen[KEY_KERNEL] ? KEY_LAUNCH : KEY_KERNEL]);
    if (!read_number(reading, take_word(&rest), outstanding, TRAIL_OUTSTANDING - 1, &number))
        return false;
    if (trail->count == trail->capacity)
        return fail(reading, reading->line.data, "a trail has at most %d steps", TRAIL_MOST_STEPS);
    trail->steps[trail->count++] = (uint32_t)number | (outstanding ? TRAIL_OUTSTANDING : 0);
    return true;
}

/* An integer, which may be negative. */
static bool read_integer(RunTrailReading *reading, Str word, int64_t *number) {
    uint64_t size;
    bool negative = word.size && word.data[0] == '-';
    Str digits = negative ? (Str){word.data + 1, word.size - 1} : word;
    if (!read_number(reading, digits, 0, (uint64_t)INT64_MAX + negative, &size))
        return false;
    *number = (int64_t)(negative ? -size : size);
    return true;
}

static bool read_load(RunTrailReading *reading, Str rest) {
    Rerun *rerun = &reading->file->rerun;
    uint64_t agent, line;
    int64_t value;
    if (!read_number(reading, take_word(&rest), 0, MOST_AGENTS, &agent) ||
        !read_number(reading, take_word(&rest), 1, UINT32_MAX, &line) ||
        !read_integer(reading, take_word(&rest), &value))
        return false;
    if (rerun->load_count == reading->file->trail.capacity)
        return fail(reading, reading->line.data, "a trail has at most %d steps", TRAIL_MOST_STEPS);
    reading->file->loads[rerun->load_count++] = (GivenLoad){(uint32_t)agent, (uint32_t)line, value};
    return true;
}

static bool read_line(RunTrailReading *reading) {
    Str rest = reading->line, word = take_word(&rest);
    if (!reading->line.size)
        return true;
    if (str_is(word, "load"))
        return read_load(reading, rest);
    if (str_is(word, "agent") || str_is(word, "flight"))
        return read_step(reading, rest, str_is(word, "flight"));
    for (int key = 0; key < KEY_COUNT; key++)
        if (str_is(word, keys[key])) {
            if (reading->file->trail.count)
                return fail(reading, word.data, "'%s' must come before the first step", keys[key]);
            return read_header(reading, (TrailKey)key, rest);
        }
    return fail(reading, word.data,
                "a line of a trail starts with agent, flight, load, kernel, launch, cluster, "
                "world, order or completion");
}

/* A kernel, or the launch of the kernel before. */
static bool read_grid_kernel(RunTrailReading *reading, Str rest, bool launch) {
    GridTrail *grid = &reading->file->grid;
    if (launch != reading->named)
        return fail(reading, reading->line.data, "a kernel must be followed by its launch");
    reading->named = !launch;
    if (launch)
        return read_launch(reading, rest, &grid->launches[grid->count++]);
    if (!rest.size)
        return fail(reading, reading->line.data, "expected the kernel's name");
    if (grid->count == GRID_MOST_KERNELS)
        return fail(reading, reading->line.data, "a trail has at most %d kernels", GRID_MOST_KERNELS);
    grid->kernels[grid->count] = (Str){arena_copy(reading->arena, rest.data, rest.size), rest.size};
    return true;
}

static bool read_turns(RunTrailReading *reading, Str rest) {
    Turns *turns = &reading->file->grid.turns;
    uint64_t launch, cluster, count;
    if (!read_number(reading, take_word(&rest), 0, UINT32_MAX - 1, &launch) ||
        !read_number(reading, take_word(&rest), 0, INT64_MAX, &cluster) ||
        !read_number(reading, take_word(&rest), 1, UINT32_MAX, &count))
        return false;
    if (turns->count == turns->capacity)
        return fail(reading, reading->line.data, "a trail has at most %d steps", TRAIL_MOST_STEPS);
    turns->turns[turns->count++] = (Turn){(uint32_t)launch, (uint32_t)count, cluster};
    return true;
}

static bool read_grid_line(RunTrailReading *reading) {
    Str rest = reading->line, word = take_word(&rest);
    GridTrail *grid = &reading->file->grid;
    uint64_t number;
    if (!reading->line.size)
        return true;
    if (str_is(word, "turns"))
        return read_turns(reading, rest);
    if (str_is(word, "kernel") || str_is(word, "launch"))
        return read_grid_kernel(reading, rest, str_is(word, "launch"));
    bool devices = str_is(word, "devices"), granule = str_is(word, "granule"), cancels = str_is(word, "cancels");
    if (!devices && !granule && !cancels && !str_is(word, "resident"))
        return fail(
            reading, word.data,
            "a line of a grid's trail starts with turns, kernel, launch, devices, resident, granule or cancels");
    uint64_t most = cancels ? 1 : devices ? MOST_DEVICES : granule ? GRID_MOST_GRANULE : UINT32_MAX;
    if (!read_number(reading, rest, devices || granule, most, &number))
        return false;
    if (granule && (number & (number - 1) || number == 8))
        return fail(reading, rest.data, "a granule has 1, 2, 4 or 16 bytes");
    if (cancels)
        grid->cancels = number;
    else
        *(devices ? &grid->devices : granule ? &grid->granule : &grid->resident) = (uint32_t)number;
    return true;
}

static bool read_first_line(RunTrailReading *reading) {
    Str rest = reading->line;
    if (!str_is(take_word(&rest), "weir") || !str_is(take_word(&rest), "trail"))
        return fail(reading, reading->line.data, "this is not a trail: the first line must be 'weir trail 1'");
    reading->file->whole = str_is(rest, "2");
    return str_is(rest, "1") || str_is(rest, "2") ||
           fail(reading, rest.data, "this is a trail of another version; Weir reads versions 1 and 2");
}

/* No more steps than lines. */
static size_t count_lines(const Source *source) {
    size_t count = 1;
    const char *end = source->data + source->size;
    for (const char *at = source->data; count < TRAIL_MOST_STEPS && (at = memchr(at, '\n', (size_t)(end - at))); at++)
        count++;
    return count;
}

bool trail_read(Arena *arena, Source *source, TrailFile *file, Diagnostics *diagnostics) {
    RunTrailReading reading = {.arena = arena, .source = source, .file = file, .diagnostics = diagnostics};
    size_t most = count_lines(source);
    *file = (TrailFile){.kernel = STR(""), .launch = {.kernel = STR(""), .grid = {1, 1, 1}}};
    file->trail = (Trail){.steps = ARENA_ARRAY(arena, uint32_t, most), .capacity = most, .arena = arena};
    file->grid = (GridTrail){.kernels = ARENA_ARRAY(arena, Str, GRID_MOST_KERNELS),
                             .launches = ARENA_ARRAY(arena, Launch, GRID_MOST_KERNELS),
                             .devices = 1,
                             .turns = {.turns = ARENA_ARRAY(arena, Turn, most), .capacity = most, .arena = arena}};
    file->loads = ARENA_ARRAY(arena, GivenLoad, most);
    file->rerun.launch = &file->launch;
    file->rerun.loads = file->loads;
    file->rerun.schedule = (Schedule){.kind = SCHEDULE_REPLAY, .replay = &file->trail};
    const char *end = source->data + source->size;
    for (const char *at = source->data;;) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        reading.line = str_between(at, line_end ? line_end : end);
        if (reading.line.size && reading.line.data[reading.line.size - 1] == '\r')
            reading.line.size--;
        if (!(at == source->data ? read_first_line(&reading)
              : file->whole      ? read_grid_line(&reading)
                                 : read_line(&reading)))
            return false;
        if (!line_end)
            break;
        at = line_end + 1;
    }
    if (file->whole)
        return (file->grid.count && !reading.named) || fail(&reading, end, "a trail needs a kernel and its launch");
    for (TrailKey key = KEY_KERNEL; key <= KEY_LAUNCH; key++)
        if (!reading.seen[key])
            return fail(&reading, end, "a trail needs a line '%s'", keys[key]);
    const int64_t *grid = file->launch.grid;
    uint64_t programs = (uint64_t)grid[0] * (uint64_t)grid[1];
    bool many = __builtin_mul_overflow(programs, (uint64_t)grid[2], &programs);
    return many || file->rerun.cluster < programs ||
           fail(&reading, reading.cluster, "the launch has no cluster %" PRIu64, file->rerun.cluster);
}

static bool read_text(Arena *arena, const char *witness, TrailFile *file) {
    Source *source = *witness ? source_copy("witness", witness, strlen(witness)) : NULL;
    Diagnostics diagnostics = {0};
    bool good = source && trail_read(arena, source, file, &diagnostics);
    diagnostics_free(&diagnostics);
    source_free(source);
    return good;
}

bool trail_read_text(Arena *arena, const char *witness, TrailFile *file) {
    return read_text(arena, witness, file) && !file->whole;
}

bool grid_trail_read_text(Arena *arena, const char *witness, TrailFile *file) {
    return read_text(arena, witness, file) && file->whole;
}
