/* Trails of PTX as text. */
#include "check/simt/trail.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- Writing ------------------------------------------------------------------------------------- */

static const char *const schedule_names[] = {"eager",  "lazy", "round-robin",
                                             "random", "held", "explored"}; /* ORDER ScheduleKind */
static const char *const computes_names[] = {"data", "slice"};              /* ORDER PtxComputes */

void threads_trail_write(const ThreadsTrail *trail, Text *to) {
    const PtxSchedule *schedule = &trail->schedule;
    text_addf(to, "weir trail 3\nkernel ");
    text_str(to, trail->kernel);
    if (trail->recorded) {
        text_addf(to, "\nrecording %s\n", trail->volatile_races ? "volatile" : "as it is");
        if (trail->beside)
            text_addf(to, "beside %" PRIu64 "\n", trail->beside - 1);
        return;
    }
    text_addf(to, "\nlaunch ");
    launch_write(&trail->launch, to);
    text_addf(to, "\ngear %s\nworld %u\n", computes_names[trail->computes], trail->havoc_choice);
    if (trail->volatile_races)
        text_addf(to, "volatile 1\n");
    if (schedule->gives_up)
        text_addf(to, "gives-up 1\n");
    text_addf(to, "schedule %s", schedule->mirrored ? "mirrored" : schedule_names[schedule->kind]);
    if (schedule->kind == SCHEDULE_RANDOM)
        text_addf(to, " %" PRIu64, schedule->seed);
    else if (schedule->kind == SCHEDULE_DELAYED)
        text_addf(to, " %u %u %u", schedule->held, schedule->held_count, schedule->delayed_pc);
    text_char(to, '\n');
    if (schedule->explored) {
        text_addf(to, "steps");
        for (uint32_t i = 0; i < schedule->replay->count; i++)
            text_addf(to, " %" PRIu32, schedule->replay->steps[i]);
        text_char(to, '\n');
    }
    if (schedule->only) {
        text_addf(to, "only");
        for (uint32_t i = 0; i < schedule->only_count; i++)
            text_addf(to, " %u", schedule->only[i]);
        text_char(to, '\n');
    }
}

/* ---- Reading ------------------------------------------------------------------------------------- */

typedef struct TrailReading {
    Arena *arena;
    Source *source;
    Diagnostics *diagnostics;
    ThreadsTrail *trail;
    bool kernel, launch;
} TrailReading;

static bool fail(const TrailReading *reading, const char *at, const char *sentence) {
    diagnostics_add(reading->diagnostics, SEVERITY_ERROR, reading->source, (size_t)(at - reading->source->data), "%s",
                    sentence);
    return false;
}

static bool read_numbers(const TrailReading *reading, Str rest, uint64_t *numbers, unsigned count) {
    const char *at = rest.data, *end = rest.data + rest.size;
    for (unsigned i = 0; i < count; i++) {
        uint64_t number = 0;
        while (at < end && *at == ' ')
            at++;
        const char *begin = at;
        for (; at < end && *at >= '0' && *at <= '9' && at - begin < 20; at++)
            number = number * 10 + (uint64_t)(*at - '0');
        if (at == begin)
            return fail(reading, begin, "expected a number");
        numbers[i] = number;
    }
    return at == end || fail(reading, at, "expected the end of the line");
}

static bool read_schedule(const TrailReading *reading, Str rest) {
    PtxSchedule *schedule = &reading->trail->schedule;
    size_t size = 0;
    uint64_t numbers[3];
    while (size < rest.size && rest.data[size] != ' ')
        size++;
    Str name = {rest.data, size}, more = {rest.data + size, rest.size - size};
    schedule->mirrored = str_is(name, "mirrored");
    bool known = schedule->mirrored;
    for (unsigned i = 0; i < sizeof schedule_names / sizeof *schedule_names && !known; i++)
        if (str_is(name, schedule_names[i])) {
            schedule->kind = (ScheduleKind)i;
            known = true;
        }
    if (!known)
        return fail(
            reading, rest.data,
            "a schedule is eager, mirrored, lazy, round-robin, random SEED, held THREAD COUNT CODE, or explored");
    if (schedule->kind == SCHEDULE_REPLAY) {
        schedule->explored = true;
        schedule->replay = schedule->replay ? schedule->replay : ARENA_NEW(reading->arena, Trail);
    }
    if (schedule->kind == SCHEDULE_RANDOM)
        return read_numbers(reading, more, &schedule->seed, 1);
    if (schedule->kind != SCHEDULE_DELAYED)
        return read_numbers(reading, more, numbers, 0);
    if (!read_numbers(reading, more, numbers, 3))
        return false;
    schedule->held = (uint32_t)numbers[0];
    schedule->held_count = (uint32_t)numbers[1];
    schedule->delayed_pc = (uint32_t)numbers[2];
    return true;
}

/* The choices of an exploration. */
static bool read_steps(const TrailReading *reading, Str rest) {
    Trail *steps = ARENA_NEW(reading->arena, Trail);
    steps->arena = reading->arena;
    while (rest.size) {
        size_t size = 0;
        uint64_t number;
        while (size < rest.size && rest.data[size] != ' ')
            size++;
        if (!read_numbers(reading, (Str){rest.data, size}, &number, 1))
            return false;
        trail_push(steps, number > UINT32_MAX ? UINT32_MAX : (uint32_t)number);
        size += size < rest.size;
        rest = (Str){rest.data + size, rest.size - size};
    }
    reading->trail->schedule.replay = steps;
    return true;
}

/* Clusters that are run, and no others. */
static bool read_only(const TrailReading *reading, Str rest) {
    PtxSchedule *schedule = &reading->trail->schedule;
    uint64_t numbers[2];
    unsigned count = 1;
    for (size_t i = 0; i < rest.size; i++)
        count += rest.data[i] == ' ';
    if (count > 2)
        return fail(reading, rest.data, "at most two clusters");
    if (!read_numbers(reading, rest, numbers, count))
        return false;
    uint32_t *only = ARENA_ARRAY(reading->arena, uint32_t, count);
    for (unsigned i = 0; i < count; i++)
        only[i] = numbers[i] > UINT32_MAX ? UINT32_MAX : (uint32_t)numbers[i];
    schedule->only = only;
    schedule->only_count = count;
    return true;
}

/* A launch is read as if it were a file of its own; what is wrong with it is said at its place in this one. */
static bool read_launch(TrailReading *reading, Str text) {
    enum { PADDING = 16 };
    Source line = {.name = reading->source->name, .size = text.size};
    line.data = memcpy(arena_zalloc(reading->arena, text.size + PADDING), text.data, text.size);
    Diagnostics diagnostics = {0};
    bool good = launch_read(reading->arena, &line, &reading->trail->launch, &diagnostics);
    for (size_t i = 0; i < diagnostics.count; i++)
        fail(reading, text.data + diagnostics.items[i].place.column - 1,
             diagnostics.items[i].message ? diagnostics.items[i].message : "the launch is malformed");
    diagnostics_free(&diagnostics);
    free(line.line_starts);
    reading->launch = true;
    return good;
}

static bool read_line(TrailReading *reading, Str line) {
    ThreadsTrail *trail = reading->trail;
    size_t size = 0;
    uint64_t number;
    while (size < line.size && line.data[size] != ' ')
        size++;
    Str key = {line.data, size}, rest = {line.data + size, line.size - size};
    if (rest.size)
        rest.data++, rest.size--;
    if (str_is(key, "kernel")) {
        trail->kernel = (Str){arena_copy(reading->arena, rest.data, rest.size), rest.size};
        reading->kernel = rest.size > 0;
        return reading->kernel || fail(reading, rest.data, "expected the kernel's name");
    }
    if (str_is(key, "launch"))
        return read_launch(reading, rest);
    if (str_is(key, "recording")) {
        trail->recorded = reading->launch = true;
        trail->volatile_races = str_is(rest, "volatile");
        return true;
    }
    if (str_is(key, "schedule"))
        return read_schedule(reading, rest);
    if (str_is(key, "only"))
        return read_only(reading, rest);
    if (str_is(key, "steps"))
        return read_steps(reading, rest);
    if (str_is(key, "gear")) {
        trail->computes = str_is(rest, "slice") ? COMPUTES_NEEDED : COMPUTES_ALL;
        return str_is(rest, computes_names[trail->computes]) ||
               fail(reading, rest.data, "the gear is 'data' or 'slice'");
    }
    bool havoc_choice = str_is(key, "world"), beside = str_is(key, "beside"), gives_up = str_is(key, "gives-up");
    if (!havoc_choice && !beside && !gives_up && !str_is(key, "volatile"))
        return fail(
            reading, line.data,
            "a line of such a trail starts with kernel, launch, gear, world, volatile, gives-up, schedule, steps or "
            "only");
    if (!read_numbers(reading, rest, &number, 1))
        return false;
    if (havoc_choice)
        trail->havoc_choice = (unsigned)number;
    else if (beside)
        trail->beside = number + 1;
    else if (gives_up)
        trail->schedule.gives_up = number;
    else
        trail->volatile_races = number;
    return true;
}

static bool read_first_line(const TrailReading *reading, Str line) {
    if (str_is(line, "weir trail 3"))
        return true;
    bool other = str_is(line, "weir trail 1") || str_is(line, "weir trail 2");
    return fail(reading, line.data,
                other ? "this is a trail of Triton GPU IR, not of PTX"
                      : "this is not a trail: the first line must be 'weir trail 3'");
}

bool threads_trail_read(Arena *arena, Source *source, ThreadsTrail *trail, Diagnostics *diagnostics) {
    TrailReading reading = {.arena = arena, .source = source, .diagnostics = diagnostics, .trail = trail};
    const char *at = source->data, *end = source->data + source->size;
    *trail = (ThreadsTrail){.kernel = STR(""), .launch = {.kernel = STR(""), .grid = {1, 1, 1}}};
    for (bool first = true; at < end; first = false) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        Str line = str_between(at, stop ? stop : end);
        if (line.size && line.data[line.size - 1] == '\r')
            line.size--;
        if (first ? !read_first_line(&reading, line) : line.size && !read_line(&reading, line))
            return false;
        at = stop ? stop + 1 : end;
    }
    if (!reading.kernel || !reading.launch)
        return fail(&reading, end, reading.kernel ? "a trail needs a line 'launch'" : "a trail needs a line 'kernel'");
    return true;
}

bool threads_trail_read_text(Arena *arena, const char *witness, ThreadsTrail *trail) {
    Source *source = *witness ? source_copy("witness", witness, strlen(witness)) : NULL;
    Diagnostics diagnostics = {0};
    bool good = source && threads_trail_read(arena, source, trail, &diagnostics);
    diagnostics_free(&diagnostics);
    source_free(source);
    return good;
}
