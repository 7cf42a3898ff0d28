/* Recorded launches of several processes that may signal each other: they are played together, and what they do then
 * goes to the check of the order log. */
#include "check/pipeline/internal.h"
#include "trace/order_log.h"

#include <stdlib.h>

enum { MOST_LAUNCHES = 16, PROCESS_AT = 56, KEYED = 255, PLACE_AT = 50, MOST_PROCESSES = 62, STEP_ORDER = 10 };

typedef struct ProcessesWork {
    PipelineResult *const *results;
    ProgramRecording *const *items;
    size_t count;
    Arena *arena;
    bool good;
} ProcessesWork;

/* "k.py:12" */
static Str where_of(const HostStep *step, PtxModule *module, Arena *arena) {
    PtxPlace place = {0};
    Text text = {0};
    if (!ptx_places(module, step->code->statement, &place, 1) || !place.line)
        return STR("");
    text_addf(&text, "%.*s:%u", STR_ARG(place.file), place.line);
    size_t size = text.size;
    return (Str){text_keep(&text, arena), size};
}

static ProgramStep step_of(const HostStep *step, PtxModule *module, Arena *arena) {
    static const uint8_t verbs[] = {
        [STEP_ACCESS] = ORDER_STEP, [STEP_FENCE] = ORDER_FENCE, [STEP_ARRIVE] = ORDER_ARRIVE, [STEP_PASS] = ORDER_PASS};
    bool barrier = step->what == STEP_ARRIVE || step->what == STEP_PASS;
    uint64_t how = ((uint64_t)step->scope * STEP_ORDER + step->order) * STEP_ORDER + step->kind;
    return (ProgramStep){.verb = verbs[step->what],
                         .numbers = {step->time, step->warp, barrier ? step->address : how, step->address, step->bytes},
                         .where = barrier ? STR("") : where_of(step, module, arena)};
}

/* The device's number among those of the launches. */
static uint64_t device_of(const ProcessesWork *work, uint32_t number) {
    uint32_t first = 0;
    while (work->results[first]->recording->order->unit != work->results[number]->recording->order->unit)
        first++;
    return first;
}

static void take(void *context, uint32_t number, const PtxMachine *machine, const HostStep *steps, uint32_t count) {
    ProcessesWork *work = context;
    ProgramRecording *item = work->items[number];
    PtxModule *module = work->results[number]->ptx;
    item->steps = ARENA_ARRAY(work->arena, ProgramStep, count + 1);
    item->step_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (steps[i].what == STEP_ACCESS && !steps[i].bytes)
            continue;
        item->steps[item->step_count++] = step_of(&steps[i], module, work->arena);
    }
    uint64_t warps = (machine->threads_per_cta + PTX_LANES - 1) / PTX_LANES;
    const uint64_t grid[] = {machine->cta_count, warps, machine->cluster_size, device_of(work, number)};
    memcpy(item->grid, grid, sizeof grid);
}

/* An address that the check of the log has, with fewer bits for the process. */
static uint64_t place_of(uint64_t address) {
    uint64_t process = address >> PROCESS_AT;
    return (process == KEYED ? MOST_PROCESSES : process) << PLACE_AT | (address & ((UINT64_C(1) << PLACE_AT) - 1));
}

static TogetherSteps memory_of(const ProcessesWork *work, const ProgramStand *stand) {
    TogetherPlace *places = ARENA_ARRAY(work->arena, TogetherPlace, stand->place_count + 1);
    for (uint32_t i = 0; i < stand->place_count; i++)
        places[i] = (TogetherPlace){stand->places[i].address, stand->places[i].bytes, place_of(stand->places[i].to)};
    return (TogetherSteps){places, stand->place_count, (uint64_t)stand->process << PLACE_AT};
}

static void play(void *context) {
    ProcessesWork *work = context;
    uint32_t count = (uint32_t)work->count;
    RecordedLaunch launches[MOST_LAUNCHES];
    ThreadsOptions options[MOST_LAUNCHES];
    TogetherSteps memory[MOST_LAUNCHES];
    bool before[MOST_LAUNCHES * MOST_LAUNCHES] = {false};
    for (uint32_t i = 0; i < count; i++) {
        PipelineResult *result = work->results[i];
        if (!result->recording->order || !result_open(result, 0))
            return;
        launches[i] = result_recorded(result, &options[i]);
        memory[i] = memory_of(work, &work->items[i]->stand);
        for (uint32_t k = 0; k < i; k++)
            before[k * count + i] = program_is_before(&work->items[k]->stand, &work->items[i]->stand);
    }
    work->good = recordings_steps(launches, memory, count, before, take, work);
}

void results_steps(PipelineResult *const *results, ProgramRecording *const *items, size_t count, Arena *arena) {
    ProcessesWork work = {.results = results, .items = items, .count = count, .arena = arena};
    bool fits = count > 1 && count <= MOST_LAUNCHES;
    for (size_t i = 0; i < count; i++)
        fits &= items[i]->stand.process < MOST_PROCESSES;
    if (fits && results_attempt(results, count, NULL, play, &work) && work.good)
        return;
    for (size_t i = 0; i < count; i++) {
        items[i]->steps = NULL;
        items[i]->step_count = 0;
    }
}
