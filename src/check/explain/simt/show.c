/* One run to be looked at: step by step, as a trace over time, or what memory holds at its end. */
#include "check/explain/explain.h"
#include "check/simt/executions.h"

#include "render/trace.h"

#include <inttypes.h>

typedef struct TrailShow {
    ThreadsCheck *check;
    const ThreadsShow *what;
    uint64_t step;
    TraceEvent *events;
    uint32_t event_count, event_capacity;
} TrailShow;

/* ---- Events in words ----------------------------------------------------------------------------- */

/* "writes bytes 0-127 of tile": from the first byte to the last of all lanes. */
static void add_access(const TrailShow *show, const PtxEvent *event, Text *to) {
    PtxLocation first = {0};
    uint64_t least = UINT64_MAX, most = 0;
    for (uint32_t i = 0; i < event->location_count; i++) {
        if (!event->locations[i].block || (!event->outstanding && !(event->lanes >> i & 1)))
            continue;
        if (!first.block)
            first = event->locations[i];
        uint64_t end = event->locations[i].offset + (event->sizes ? event->sizes[i] : event->access.bytes);
        if (event->locations[i].block == first.block) {
            least = event->locations[i].offset < least ? event->locations[i].offset : least;
            most = end > most ? end : most;
        }
    }
    first.offset = least;
    text_addf(to, "%s %s", effect_access_verb(event->access.kind),
              first.block ? location_words(show->check, first, (uint32_t)(most - least)) : "memory");
}

static const char *place_words(const TrailShow *show, uint64_t place) {
    const PtxMachine *machine = show->check->machine;
    const PtxCta *cta = place >> 32 < machine->cta_count ? machine->ctas[place >> 32] : NULL;
    PtxLocation location = {cta ? (PtxBlock *)&cta->shared : NULL, cta ? (uint32_t)place - cta->shared.base : 0};
    return verdict_text(show->check->verdict, "the mbarrier at %s", location_words(show->check, location, 8));
}

static void add_event(const TrailShow *show, const PtxEvent *event, Text *to) {
    static const char *const words[] = {
        [PTX_EVENT_FENCE] = "fences",
        [PTX_EVENT_WARP_SYNC] = "lanes {more} synchronize",
        [PTX_EVENT_NAMED_ARRIVE] = "arrives at barrier {first} ({count} threads)",
        [PTX_EVENT_NAMED_COMPLETE] = "all threads have arrived at barrier {first}",
        [PTX_EVENT_NAMED_SYNC] = "goes on behind barrier {first}",
        [PTX_EVENT_CLUSTER_ARRIVE] = "arrives at the cluster barrier",
        [PTX_EVENT_CLUSTER_COMPLETE] = "all threads have arrived at the cluster barrier",
        [PTX_EVENT_CLUSTER_WAIT] = "goes on behind the cluster barrier",
        [PTX_EVENT_INIT] = "initializes {object}, count {count}",
        [PTX_EVENT_INVALIDATE] = "invalidates {object}",
        [PTX_EVENT_EXPECT] = "expects {count} bytes on {object}",
        [PTX_EVENT_ARRIVE] = "arrives on {object}",
        [PTX_EVENT_COMPLETE] = "delivers {count} bytes to {object}",
        [PTX_EVENT_FLIP] = "phase {phases} of {object} completes",
        [PTX_EVENT_TEST] = "finds that a phase of {object} is not complete",
        [PTX_EVENT_WAIT] = "has waited for phase {phases} of {object}",
        [PTX_EVENT_ISSUE] = "starts operation {second}",
        [PTX_EVENT_LAND] = "operation {second} is complete",
        [PTX_EVENT_COMMIT] = "commits a group",
        [PTX_EVENT_AWAIT] = "has waited until at most {count} groups are pending",
        [PTX_EVENT_TRACK] = "will arrive on {object} when earlier operations are complete",
        [PTX_EVENT_COMMIT_TO] = "will arrive on {object} when earlier operations are complete",
        [PTX_EVENT_PEER] = "allocates tensor memory together with CTA {parity}",
        [PTX_EVENT_AWAIT_LAUNCHES] = "has waited for the launch before",
        [PTX_EVENT_TRIGGER_LAUNCHES] = "lets dependent launches begin",
        [PTX_EVENT_EXIT] = "exits",
        [PTX_EVENT_CTA_OVER] = "the CTA is over",
        [PTX_EVENT_UNKNOWN] = "does something that is not known",
    };
    if (event->kind == PTX_EVENT_ACCESS) {
        add_access(show, event, to);
        return;
    }
    bool fresh = event->kind == PTX_EVENT_WAIT && event->phase == UINT32_MAX,
         arrives = event->kind == PTX_EVENT_EXPECT && event->arrives;
    const char *pattern = fresh ? "does not wait for {object}, which is fresh" : words[event->kind];
    Facts facts = {.object = strstr(pattern, "{object}") ? place_words(show, event->place) : "",
                   .more = verdict_text(show->check->verdict, "0x%08x", event->lanes),
                   .first = event->barrier,
                   .second = event->outstanding ? event->outstanding->sequence : 0,
                   .count = event->count,
                   .phases = event->phase,
                   .parity = (uint32_t)(event->place >> 32)};
    text_addf(to, "%s%s", arrives ? "arrives, and " : "", explain_text(show->check->verdict, pattern, &facts));
}

/* ---- Steps --------------------------------------------------------------------------------------- */

static const char *lanes_words(const TrailShow *show, const PtxEvent *event) {
    uint32_t threads[PTX_LANES], count = 0;
    if (!event->warp)
        return "";
    for (uint32_t lane = 0; lane < PTX_LANES; lane++)
        if (event->lanes >> lane & 1)
            threads[count++] = event->warp->index * PTX_LANES + lane;
    return count ? threads_words(show->check, event->warp->cta->number, threads, count) : "";
}

static bool is_shown(const TrailShow *show, const PtxEvent *event) {
    if (event->kind != PTX_EVENT_ACCESS || show->what->global)
        return true;
    for (uint32_t i = 0; i < event->location_count; i++)
        if (event->locations[i].block)
            return event->locations[i].block->space != PTX_SPACE_GLOBAL;
    return true;
}

static void print_step(const TrailShow *show, const PtxEvent *event) {
    Text *to = show->what->to;
    text_addf(to, "%6" PRIu64 "  %-24s  ", show->step, lanes_words(show, event));
    if (event->code) {
        text_str(to, event->code->form->text);
        text_addf(to, " @%u  ", code_line(show->check->program, event->code));
    }
    add_event(show, event, to);
    text_char(to, '\n');
}

/* ---- Trace --------------------------------------------------------------------------------------- */

/* One slice for each event, on the track of its warp. */
static void add_slice(TrailShow *show, const PtxEvent *event) {
    ThreadsCheck *check = show->check;
    if (!event->warp || !event->code)
        return;
    Text detail = {0};
    add_event(show, event, &detail);
    TraceEvent *slice = ARENA_PUSH(&check->arena, show->events, show->event_count, show->event_capacity);
    const PtxCta *cta = event->warp->cta;
    Str form = event->code->form->text;
    *slice = (TraceEvent){.kind = event->kind == PTX_EVENT_FLIP ? TRACE_FLIP : TRACE_STEP,
                          .track = cta->number * cta->warp_count + event->warp->index,
                          .time = show->step,
                          .name = arena_copy(&check->arena, form.data, form.size),
                          .detail = text_keep(&detail, &check->arena),
                          .ir_line = code_line(check->program, event->code)};
}

static void write_trace(TrailShow *show) {
    ThreadsCheck *check = show->check;
    const PtxLaunch *launch = check->launch;
    uint32_t warps = (launch->block[0] * launch->block[1] * launch->block[2] + PTX_LANES - 1) / PTX_LANES;
    uint32_t count = check->machine->cta_count * warps;
    TraceTrack *tracks = ARENA_ARRAY(&check->arena, TraceTrack, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        Text cta = {0}, warp = {0};
        text_addf(&cta, "CTA %u", i / warps);
        text_addf(&warp, "warp %u", i % warps);
        tracks[i] = (TraceTrack){i / warps, text_keep(&cta, &check->arena), text_keep(&warp, &check->arena)};
    }
    Trace trace = {.file = check->module->source->name,
                   .kernel = check->verdict->kernel,
                   .launch = launch->text,
                   .tracks = tracks,
                   .track_count = count,
                   .events = show->events,
                   .event_count = show->event_count};
    render_trace(&trace, show->what->to);
}

static void see(void *observer, const PtxEvent *event) {
    TrailShow *show = observer;
    show->step++;
    history_see(show->check->history, event);
    if (show->what->steps && is_shown(show, event))
        print_step(show, event);
    if (show->what->trace)
        add_slice(show, event);
}

/* ---- Memory -------------------------------------------------------------------------------------- */

/* Bytes in rows of 32, as hexadecimal digits; ?? where they are not known, .. where nothing was written. */
static void print_bytes(const uint8_t *bytes, const uint8_t *states, size_t count, Text *to) {
    enum { ROW = 32 };
    for (size_t i = 0; i < count; i++) {
        if (i % ROW == 0)
            text_addf(to, "%s%08zx ", i ? "\n" : "", i);
        if (states[i] == BYTE_KNOWN)
            text_addf(to, "%s%02x", i % 4 ? "" : " ", bytes[i]);
        else
            text_addf(to, "%s%s", i % 4 ? "" : " ", states[i] == BYTE_NEVER ? ".." : "??");
    }
    text_char(to, '\n');
}

/* An argument by its number or name, a buffer, or a variable. */
static bool is_named(const ThreadsCheck *check, const PtxBlock *block, const char *name) {
    const PtxFunction *function = &check->module->functions[check->entry];
    int64_t number;
    bool numbered = str_to_int(str_of(name), &number);
    for (uint32_t i = 0; i < check->launch->buffer_count; i++) {
        const PtxBuffer *buffer = &check->launch->buffers[i];
        if (buffer->address != block->base || buffer->parameter == PTX_NONE)
            continue;
        if ((numbered && number == buffer->parameter) ||
            ptx_parameter_is(check->module, function->parameters + buffer->parameter, str_of(name)))
            return true;
    }
    return block->name && strcmp(block->name, name) == 0;
}

static bool print_memory(const TrailShow *show) {
    PtxMachine *machine = show->check->machine;
    for (uint32_t i = 0; i < machine->block_count; i++) {
        PtxBlock *block = &machine->blocks[i];
        if (!is_named(show->check, block, show->what->memory))
            continue;
        uint8_t *bytes = ARENA_ARRAY(&show->check->arena, uint8_t, block->size + 1);
        uint8_t *states = ARENA_ARRAY(&show->check->arena, uint8_t, block->size + 1);
        ptx_load_bytes(machine, (PtxLocation){block, 0}, block->size, bytes, states);
        print_bytes(bytes, states, block->size, show->what->to);
        return true;
    }
    return false;
}

/* ---- Which run ----------------------------------------------------------------------------------- */

bool runs_shown(ThreadsCheck *check, const Verdict *verdict, ThreadsTrail *trail, const char **problem) {
    if (check->options->trail) {
        *trail = *check->options->trail;
        return true;
    }
    for (size_t i = 0; i < verdict->finding_count; i++)
        if (threads_trail_read_text(&check->arena, verdict->findings[i].witness, trail))
            return true;
    *trail = (ThreadsTrail){.computes = check->options->computes};
    if (check->options->launch) {
        trail->launch = *check->options->launch;
        return true;
    }
    PtxLaunch *launch = ARENA_NEW(&check->arena, PtxLaunch);
    if (!ptx_launch_choose(&check->arena, check->program, check->options->fixed, launch, 1, problem))
        return false;
    trail->launch = *launch->from;
    return true;
}

static const char *end_words(PtxEnd end) {
    static const char *const words[] = {"all threads have exited",     "stuck: some threads wait forever",
                                        "stopped by a fault",          "stopped: an instruction cannot be run",
                                        "stopped: the budget is used", "stopped: out of time",
                                        "the trail does not fit"}; /* ORDER PtxEnd */
    return words[end];
}

static bool show_run(TrailShow *show, const Verdict *verdict, const char **problem) {
    ThreadsCheck *check = show->check;
    ThreadsTrail trail;
    PtxLaunch *launch = ARENA_NEW(&check->arena, PtxLaunch);
    static const size_t budget = (size_t)2 << 30;
    check->program = ptx_program(&check->arena, check->module, check->entry, budget, problem);
    if (!check->program || !runs_shown(check, verdict, &trail, problem) ||
        !ptx_launch_bind(&check->arena, check->program, &trail.launch, launch, problem) || !runs_open(check, launch))
        return false;
    PtxMachine *machine = check->machine;
    machine->havoc_choice = trail.havoc_choice;
    machine->observe = see;
    machine->observer = show;
    machine->ran = NULL;
    Text printed = {0};
    machine->printed = &printed;
    if (show->what->steps) {
        text_addf(show->what->to, "@%s, %s, schedule: ", check->verdict->kernel, launch->text);
        ptx_schedule_describe(&trail.schedule, show->what->to);
        text_addf(show->what->to, "\n  step  %-24s  what it does\n", "threads");
    }
    PtxEnd end = ptx_schedule_run(machine, &trail.schedule);
    bool good = true;
    if (show->what->steps)
        text_addf(show->what->to, "%6" PRIu64 "  %s\n", show->step, end_words(end));
    if (printed.size && !show->what->trace)
        text_add(show->what->to, printed.data, printed.size);
    text_free(&printed);
    if (show->what->trace)
        write_trace(show);
    if (show->what->memory) {
        good = print_memory(show);
        *problem = "there is no such buffer or variable";
    }
    return good;
}

bool threads_show(PtxModule *module, uint32_t entry, const ThreadsOptions *options, const Verdict *verdict,
                  const ThreadsShow *what, Arena *arena, const char **problem) {
    Verdict ignored = {.arena = arena, .kernel = verdict->kernel};
    ThreadsCheck check = {.module = module, .entry = entry, .options = options, .verdict = &ignored};
    TrailShow show = {.check = &check, .what = what};
    jmp_buf here, *outer = arena->exhausted;
    volatile bool good = false;
    *problem = "there is not enough memory";
    arena_init(&check.arena, (size_t)4 << 30);
    if (!setjmp(here)) {
        check.arena.exhausted = arena->exhausted = &here;
        good = show_run(&show, verdict, problem);
    }
    arena->exhausted = outer;
    runs_close(&check);
    arena_free(&check.arena);
    return good;
}
