/* Walks every path of a kernel and looks for races on it, by the rules in sound.h.
 *
 * Each thread has a vector clock. An access keeps, for each thread, from which moment of that thread on it is over in
 * that thread's eyes; an access comes before what another thread does now if the other has heard, through barriers, of
 * one of those moments. */
#include "sound.h"

enum { MOST_STEPS = 2000, MOST_CHOICES = 64, MOST_ACCESSES = 512, BARRIER_BYTES = 8 };
#define NEVER UINT32_MAX

/* What a copy waits for. */
typedef enum Queue { QUEUE_NONE, QUEUE_CP_ASYNC, QUEUE_TDM, QUEUE_TMA_STORE, QUEUE_MBARRIER, QUEUE_COUNT } Queue;

typedef struct Access {
    int32_t begin, end;
    uint32_t done[SOUND_THREADS]; /* NEVER: not in that thread's eyes */
    uint32_t step;                /* accesses of one step are one op's */
    uint32_t group;               /* of a copy: its number in its queue, or where its mbarrier is */
    uint16_t line;
    uint8_t thread;
    Queue queue : 8; /* of a copy that is under way; else QUEUE_NONE */
    bool write;
    bool on_barrier; /* expect, wait, arriving bytes */
} Access;

typedef struct Walk {
    const SoundProgram *program;
    const SoundPlacement *placement;
    SoundResult *result;
    int32_t values[SOUND_VALUES];
    uint32_t clocks[SOUND_THREADS][SOUND_THREADS];
    Access accesses[MOST_ACCESSES]; /* those that are not before everything to come */
    unsigned access_count;
    uint32_t closed[QUEUE_COUNT]; /* groups of each queue so far */
    uint32_t step;
    unsigned barriers;
    bool passed_by;
    /* The path: what was chosen, out of how many. */
    uint8_t choices[MOST_CHOICES], limits[MOST_CHOICES];
    unsigned choice_count, choice;
} Walk;

static bool is_over(const Walk *walk, const Access *access, unsigned thread) {
    for (unsigned k = 0; k < SOUND_THREADS; k++)
        if (walk->clocks[thread][k] >= access->done[k])
            return true;
    return false;
}

static void barrier(Walk *walk) {
    unsigned kept = 0;
    walk->barriers++;
    for (unsigned k = 0; k < SOUND_THREADS; k++) /* the newest that is known of a thread is what it knows itself */
        for (unsigned thread = 0; thread < SOUND_THREADS; thread++)
            walk->clocks[thread][k] = walk->clocks[k][k];
    for (unsigned i = 0; i < walk->access_count; i++)
        if (!is_over(walk, &walk->accesses[i], 0))
            walk->accesses[kept++] = walk->accesses[i];
    walk->access_count = kept;
}

static bool conflict(const Access *a, const Access *b) {
    return a->begin < b->end && b->begin < a->end && (a->write || b->write) && a->step != b->step &&
           !(a->on_barrier && b->on_barrier);
}

/* One thread's access, or the copy that it starts. */
static void touch(Walk *walk, Access access, unsigned thread) {
    SoundResult *result = walk->result;
    access.thread = (uint8_t)thread;
    access.step = walk->step;
    for (unsigned i = 0; i < walk->access_count; i++) {
        const Access *earlier = &walk->accesses[i];
        if (earlier->queue == QUEUE_NONE && conflict(earlier, &access) && !is_over(walk, earlier, thread)) {
            result->verdict = SOUND_RACE;
            result->first = earlier->line;
            result->second = access.line;
            return;
        }
    }
    if (walk->access_count == MOST_ACCESSES) {
        result->verdict = SOUND_TOO_LARGE;
        return;
    }
    walk->clocks[thread][thread]++;
    for (unsigned k = 0; k < SOUND_THREADS; k++)
        access.done[k] = access.queue == QUEUE_NONE && k == thread ? walk->clocks[k][k] : NEVER;
    walk->accesses[walk->access_count++] = access;
}

static void touch_by_all(Walk *walk, Access access) {
    for (unsigned thread = 0; thread < SOUND_THREADS && walk->result->verdict == SOUND_CLEAN; thread++)
        touch(walk, access, thread);
}

static Access tile(const Walk *walk, uint16_t line, bool write, Queue queue) {
    int32_t begin = walk->values[walk->program->lines[line].operands[0]];
    return (Access){.begin = begin,
                    .end = begin + SOUND_TILE,
                    .line = line,
                    .write = write,
                    .queue = queue,
                    .group = walk->closed[queue]};
}

static Access mbarrier(const Walk *walk, uint16_t line, unsigned operand, bool write) {
    int32_t begin = walk->values[walk->program->lines[line].operands[operand]];
    return (Access){.begin = begin, .end = begin + BARRIER_BYTES, .line = line, .write = write, .on_barrier = true};
}

/* Each thread waits for its own copies. */
static void await(Walk *walk, Queue queue, int32_t left) {
    for (unsigned thread = 0; thread < SOUND_THREADS; thread++)
        walk->clocks[thread][thread]++;
    for (unsigned i = 0; i < walk->access_count; i++) {
        Access *access = &walk->accesses[i];
        if (access->queue == queue && access->group + (uint32_t)left < walk->closed[queue]) {
            access->done[access->thread] = walk->clocks[access->thread][access->thread];
            access->queue = QUEUE_NONE;
        }
    }
}

static void copy_tma(Walk *walk, uint16_t line) {
    Access data = tile(walk, line, true, QUEUE_MBARRIER), bytes = mbarrier(walk, line, 1, true);
    data.group = (uint32_t)bytes.begin;
    bytes.queue = QUEUE_MBARRIER;
    bytes.group = (uint32_t)bytes.begin;
    touch_by_all(walk, data);
    if (walk->result->verdict == SOUND_CLEAN)
        touch_by_all(walk, bytes);
}

/* Every thread waits, and sees all that the copies of every thread have brought. */
static void wait_mbarrier(Walk *walk, uint16_t line) {
    Access access = mbarrier(walk, line, 0, false);
    touch_by_all(walk, access);
    for (unsigned i = 0; i < walk->access_count; i++) {
        Access *copy = &walk->accesses[i];
        if (copy->queue != QUEUE_MBARRIER || copy->group != (uint32_t)access.begin)
            continue;
        for (unsigned k = 0; k < SOUND_THREADS; k++)
            copy->done[k] = walk->clocks[k][k];
        copy->queue = QUEUE_NONE;
    }
}

static int32_t choose(Walk *walk, int32_t limit) {
    if (walk->choice == MOST_CHOICES) {
        walk->result->verdict = SOUND_TOO_LARGE;
        return 0;
    }
    if (walk->choice == walk->choice_count) {
        walk->choices[walk->choice_count] = 0;
        walk->limits[walk->choice_count++] = (uint8_t)limit;
    }
    return walk->choices[walk->choice++];
}

static void hand_over(Walk *walk, const SoundMoves *moves) {
    int32_t forwarded[SOUND_MOVES];
    for (unsigned i = 0; i < moves->count; i++)
        forwarded[i] = walk->values[moves->from[i]];
    for (unsigned i = 0; i < moves->count; i++)
        walk->values[moves->to[i]] = forwarded[i];
}

static int32_t slot(Walk *walk, const SoundLine *line) {
    int32_t index = walk->values[line->operands[1]];
    if (index < 0 || index >= line->number)
        walk->result->verdict = SOUND_UNDEFINED;
    return walk->values[line->operands[0]] + index * SOUND_TILE;
}

static int32_t evaluate(Walk *walk, const SoundLine *line) {
    const int32_t *values = walk->values;
    int32_t left = values[line->operands[0]], right = values[line->operands[1]];
    switch (line->kind) {
    case SOUND_ADD:
        return left + right;
    case SOUND_REMAINDER:
        return right ? left % right : 0;
    case SOUND_LESS:
        return left < right;
    case SOUND_NOT_LESS:
        return left >= right;
    case SOUND_SELECT:
        return left ? right : values[line->operands[2]];
    case SOUND_INDEX:
        return slot(walk, line);
    case SOUND_ANY:
        return choose(walk, line->number);
    default:
        return line->number;
    }
}

static void act(Walk *walk, uint16_t at) {
    const SoundLine *line = &walk->program->lines[at];
    int32_t left = line->number < 0 ? 0 : line->number;
    switch (line->kind) {
    case SOUND_READ:
        touch_by_all(walk, tile(walk, at, false, QUEUE_NONE));
        break;
    case SOUND_WRITE:
        touch_by_all(walk, tile(walk, at, true, QUEUE_NONE));
        break;
    case SOUND_ALLOCATE:
        walk->values[line->result] = line->number;
        if (line->operands[0])
            touch_by_all(walk,
                         (Access){.begin = line->number, .end = line->number + SOUND_TILE, .line = at, .write = true});
        break;
    case SOUND_COPY_CP_ASYNC:
        touch_by_all(walk, tile(walk, at, true, QUEUE_CP_ASYNC));
        break;
    case SOUND_COMMIT_CP_ASYNC:
        walk->closed[QUEUE_CP_ASYNC]++;
        break;
    case SOUND_AWAIT_CP_ASYNC:
        await(walk, QUEUE_CP_ASYNC, left);
        break;
    case SOUND_COPY_TDM:
    case SOUND_STORE_TDM:
        touch_by_all(walk, tile(walk, at, line->kind == SOUND_COPY_TDM, QUEUE_TDM));
        walk->closed[QUEUE_TDM]++;
        break;
    case SOUND_AWAIT_TDM:
        await(walk, QUEUE_TDM, left);
        break;
    case SOUND_STORE_TMA:
        touch_by_all(walk, tile(walk, at, false, QUEUE_TMA_STORE));
        walk->closed[QUEUE_TMA_STORE]++;
        break;
    case SOUND_AWAIT_TMA:
        await(walk, QUEUE_TMA_STORE, left);
        break;
    case SOUND_COPY_TMA:
        copy_tma(walk, at);
        break;
    case SOUND_INIT:
    case SOUND_INVALIDATE: {
        Access access = mbarrier(walk, at, 0, true);
        access.on_barrier = false;
        touch(walk, access, 0);
        break;
    }
    case SOUND_EXPECT:
        barrier(walk);
        touch(walk, mbarrier(walk, at, 0, true), 0);
        break;
    case SOUND_WAIT:
        wait_mbarrier(walk, at);
        break;
    case SOUND_BARRIER:
        if (!(walk->placement->marks[at] & SOUND_LEFT_OUT))
            barrier(walk);
        break;
    default:
        walk->values[line->result] = evaluate(walk, line);
    }
}

/* Past an op, permanently. */
static uint16_t leave(Walk *walk, uint16_t end) {
    if (walk->placement->marks[end] & SOUND_AFTER)
        barrier(walk);
    return (uint16_t)(end + 1);
}

/* Into a loop's body, or past it. */
static uint16_t go_around(Walk *walk, uint16_t loop) {
    const SoundLine *line = &walk->program->lines[loop];
    if (walk->values[line->operands[0]] < walk->values[line->operands[2]])
        return (uint16_t)(loop + 1);
    hand_over(walk, &line->moves[1]);
    return leave(walk, line->end);
}

static uint16_t yield(Walk *walk, const SoundLine *line) {
    const SoundLine *owner = &walk->program->lines[line->owner];
    hand_over(walk, &line->yields);
    if (owner->kind != SOUND_FOR)
        return leave(walk, owner->end);
    walk->values[owner->operands[0]] += walk->values[owner->operands[3]];
    return go_around(walk, line->owner);
}

/* Runs a line; which one is next. 0: the end. */
static uint16_t run_line(Walk *walk, uint16_t at) {
    const SoundLine *line = &walk->program->lines[at];
    bool holds = walk->values[line->operands[0]] != 0;
    if (walk->placement->marks[at] & SOUND_BEFORE)
        barrier(walk);
    switch (line->kind) {
    case SOUND_NOTHING:
        return line->end == at ? leave(walk, at) : (uint16_t)(at + 1);
    case SOUND_IF:
        return holds ? line->targets[0] : line->targets[1] ? line->targets[1] : leave(walk, line->end);
    case SOUND_FOR:
        walk->values[line->operands[0]] = walk->values[line->operands[1]];
        walk->passed_by |= walk->values[line->operands[1]] >= walk->values[line->operands[2]];
        hand_over(walk, &line->moves[0]);
        return go_around(walk, at);
    case SOUND_YIELD:
        return yield(walk, line);
    case SOUND_JUMP:
    case SOUND_CHOOSE: {
        unsigned which = line->kind == SOUND_CHOOSE && !holds;
        hand_over(walk, &line->moves[which]);
        return line->targets[which];
    }
    case SOUND_RETURN:
        return 0;
    default:
        act(walk, at);
        return leave(walk, at);
    }
}

static void run_path(Walk *walk) {
    memset(walk->clocks, 0, sizeof walk->clocks);
    memset(walk->closed, 0, sizeof walk->closed);
    walk->access_count = walk->barriers = walk->choice = 0;
    walk->step = 0;
    walk->passed_by = false;
    for (uint16_t at = 1; at && at <= walk->program->line_count && walk->result->verdict == SOUND_CLEAN;) {
        if (++walk->step > MOST_STEPS)
            walk->result->verdict = SOUND_TOO_LARGE;
        else
            at = run_line(walk, at);
    }
}

/* To the next path; false after the last. */
static bool turn(Walk *walk) {
    while (walk->choice_count) {
        unsigned last = walk->choice_count - 1;
        if (++walk->choices[last] < walk->limits[last])
            return true;
        walk->choice_count--;
    }
    return false;
}

void sound_check(const SoundProgram *program, const SoundPlacement *placement, SoundResult *result) {
    static _Thread_local Walk walk;
    walk.program = program;
    walk.placement = placement;
    walk.result = result;
    walk.choice_count = 0;
    *result = (SoundResult){.verdict = SOUND_CLEAN};
    do {
        run_path(&walk);
        if (result->verdict != SOUND_CLEAN)
            return;
        if (result->path_count == SOUND_PATHS) {
            result->verdict = SOUND_TOO_LARGE;
            return;
        }
        result->passed_by[result->path_count] = walk.passed_by;
        result->barriers[result->path_count++] = (uint16_t)walk.barriers;
    } while (turn(&walk));
}
