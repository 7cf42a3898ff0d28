/* Recordings without a GPU: a kernel is instrumented and run in the machine of PTX, which leaves records as a GPU
 * would; they are played, and have to tell what the machine itself tells of the kernel as it was.
 *
 *     play [--verbose] [--hangs | --hurried | --orders | --cut | --timeless] [--launched] [--global] [--sample PARTS]
 *          [--more COUNT] [--keep RECORDING [--stream NUMBER]]
 *          FILE.ptx | FILE.launch.json | FILE.json ...
 *
 * FILE.launch.json is a launch of FILE.ptx, FILE.json a list of them (tests/machine). Each launch is held against the
 * machine twice: (a) every thread makes the same accesses in the same order, by instruction, kind and address, and goes
 * through the same barriers; (b) the verdict and the races are those of `weir check` with the same launch in the eager
 * order, played by one thread and by several. What a recording cannot say is left out: which values are written to
 * global memory, so that a race of equal ones is one of different ones there. With --sample, one CTA of PARTS is
 * recorded, or more where they belong together: nothing may be found then that the machine does not find, and the
 * verdict is incomplete. So it is with --more, if COUNT chunks beyond the first of each warp are too few. --keep writes
 * the last recording to a file, and compares nothing; with --global, of global memory alone; with --stream, as that of
 * a launch of this number, on a stream of this number, which others of the program may run beside. With --hangs,
 * kernels that do not end are run until their waits give up, by the machine's clock, and the recording has to name the
 * same cause. With
 * --orders, kernels end in the order in which they are recorded; if the machine finds another one in which they do not,
 * or in which an mbarrier is used wrongly, or in which polls end earlier and accesses race, the recording has to tell
 * of such a one. With --cut, kernels that end are stopped again and again on their way: never may what they recorded by
 * then look as if none of their threads could go on. With --hurried, waits of kernels that end are
 * ended too early, which is no deadlock. With --timeless, all accesses have the same time, so that the
 * order of strong ones is known by their values alone. With --launched, what is recorded is the text for launches with
 * CTAs of that shape (instrument_launched), which is held against the machine of the text as it is. The last line is `N
 * passed, N failed`. */
#include "base/deadline.h"
#include "check/replay/internal.h"
#include "instrument/emit/straight.h"
#include "instrument/instrument.h"
#include "machine/expand.h"
#include "machine/simt/schedule/schedule.h"
#include "ptx/reader.h"
#include "trace/shapes.h"
#include "trace/thread_status.h"

#include <inttypes.h>
#include <stdio.h>

enum { BUDGET = 100000000, KEPT_BUDGET = 10000000, TAG = 7 };
#define LAUNCH_AT  UINT64_C(0x600000000000)
#define FIRST_AT   UINT64_C(0x600200000000)
#define MORE_AT    UINT64_C(0x601200000000)
#define HOST_AT    UINT64_C(0x600080000000)
#define HANG_AFTER (hurried ? UINT64_C(1000000) : UINT64_C(100000000))
#define HURRIED    (record_spin_timeout(HANG_AFTER) >> 4) /* once, however many gave up */

static unsigned passed, failed;
static bool verbose, hangs, hurried, orders, cut, global, timeless, launched;
static const char *keep;
static uint32_t sample;     /* one CTA of so many is recorded; 0: all are */
static int64_t stream = -1; /* of the launch, and its number; -1: it is not given */
static int64_t more = -1;   /* chunks beyond the first of each warp; -1: as many as there may be asked for */

static void judge(const char *name, const char *problem) {
    if (problem)
        printf("failed: %s: %s\n", name, problem);
    *(problem ? &failed : &passed) += 1;
}

/* ---- What threads do ---- */

/* Of each thread of the grid: how much it did, and what, as a number. */
typedef struct BarrierActs {
    uint64_t *counts, *hashes;
    uint32_t warps, all; /* of a CTA; of the grid */
    const PtxModule *module;
    bool polls; /* strong reads: how often depends on the order */
} BarrierActs;

static uint64_t mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

static uint64_t place_of(const PtxLocation *location) {
    const PtxBlock *block = location->block;
    return block->space == PTX_SPACE_GLOBAL
               ? block->base + location->offset
               : (uint64_t)block->space << 60 ^ (uint64_t)block->cta << 32 ^ location->offset;
}

static bool is_reported(const PtxEvent *event) {
    switch (event->kind) {
    case PTX_EVENT_ACCESS:
        return !event->outstanding;
    case PTX_EVENT_FENCE:
    case PTX_EVENT_WARP_SYNC:
    case PTX_EVENT_NAMED_ARRIVE:
    case PTX_EVENT_NAMED_SYNC:
    case PTX_EVENT_CLUSTER_ARRIVE:
    case PTX_EVENT_CLUSTER_WAIT:
    case PTX_EVENT_INIT:
    case PTX_EVENT_INVALIDATE:
    case PTX_EVENT_WAIT:
    case PTX_EVENT_COMMIT:
    case PTX_EVENT_AWAIT:
        return true;
    case PTX_EVENT_EXPECT:
    case PTX_EVENT_ARRIVE:
    case PTX_EVENT_COMPLETE:
        return !event->outstanding;
    default:
        return false;
    }
}

/* The line of the text as it was that a line is of. */
static uint32_t plain_line(const PtxModule *module, uint32_t line) {
    Str text = line ? source_line(module->source, line) : (Str){"", 0};
    const char *of = text.size ? memmem(text.data, text.size, WHOLE_LINE, strlen(WHOLE_LINE)) : NULL;
    return of ? (uint32_t)strtoul(of + strlen(WHOLE_LINE), NULL, 10) : line;
}

static uint32_t line_of(const BarrierActs *barrier_acts, const PtxCode *code) {
    const PtxModule *module = barrier_acts->module;
    return plain_line(module, source_place(module->source, module->statements[code->statement].begin).line);
}

static void take_plain_lines(const PtxModule *module, Verdict *verdict) {
    for (size_t i = 0; i < verdict->finding_count; i++)
        for (size_t k = 0; k < verdict->findings[i].place_count; k++)
            verdict->findings[i].places[k].ir_line = plain_line(module, verdict->findings[i].places[k].ir_line);
    for (size_t i = 0; i < verdict->incomplete_count; i++)
        verdict->incomplete[i].ir_line = plain_line(module, verdict->incomplete[i].ir_line);
}

static void see(void *observer, const PtxEvent *event) {
    BarrierActs *barrier_acts = observer;
    if (!is_reported(event))
        return;
    bool access = event->kind == PTX_EVENT_ACCESS;
    if (access && event->access.strong && event->access.kind != EFFECT_WRITE) {
        barrier_acts->polls = true;
        return;
    }
    for (uint32_t rest = event->lanes; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        uint32_t thread = (event->warp->cta->number * barrier_acts->warps + event->warp->index) * PTX_LANES + lane;
        uint64_t hash = mix(barrier_acts->hashes[thread], (uint64_t)event->kind);
        if (event->code) {
            hash = mix(hash, line_of(barrier_acts, event->code)); /* which it keeps (--launched) */
            if (getenv("PLAY_TRACE") && (uint32_t)atoi(getenv("PLAY_TRACE")) == thread)
                fprintf(stderr, "%p %u line %u kind %d\n", observer, thread, line_of(barrier_acts, event->code),
                        (int)event->kind);
        }
        if (access)
            hash = mix(mix(hash, place_of(&event->locations[lane])), event->access.kind);
        else
            hash = mix(hash, event->place ^ event->barrier ^ (uint64_t)event->count << 40);
        barrier_acts->hashes[thread] = hash;
        barrier_acts->counts[thread]++;
    }
}

static BarrierActs barrier_acts_of(Arena *arena, const PtxMachine *machine, const PtxModule *module) {
    uint32_t warps = (machine->threads_per_cta + PTX_LANES - 1) / PTX_LANES;
    uint32_t all = machine->cta_count * warps * PTX_LANES;
    return (BarrierActs){.counts = ARENA_ARRAY(arena, uint64_t, all),
                         .hashes = ARENA_ARRAY(arena, uint64_t, all),
                         .warps = warps,
                         .all = all,
                         .module = module};
}

static const char *barrier_acts_differ(Arena *arena, const BarrierActs *ours, const BarrierActs *theirs) {
    for (uint32_t i = 0; i < ours->all; i++) {
        if (ours->counts[i] == theirs->counts[i] && ours->hashes[i] == theirs->hashes[i])
            continue;
        Text text = {0};
        text_addf(&text, "thread %u did %llu things, and the records have %llu%s", i,
                  (unsigned long long)ours->counts[i], (unsigned long long)theirs->counts[i],
                  ours->counts[i] == theirs->counts[i] ? ", but not the same" : "");
        return text_keep(&text, arena);
    }
    return NULL;
}

/* ---- A run that is recorded ---- */

/* A file of PTX, and what was made of it: that is the same for all its launches. */
typedef struct File {
    PtxModule module, instrumented;
    Source *source, *text; /* of the first; of the second, NULL before it is made */
    InstrumentOptions options;
    Sites sites;
    const char *problem; /* what kept it from being made */
} File;

typedef struct Case {
    Arena arena;
    const char *name;
    File *file;
    PtxModule *module; /* of the file, before code that records was put into it */
    uint32_t entry, instrumented_entry;
    PtxModule *plain; /* as it was */
    uint32_t plain_entry;
    Launch given;
    PtxLaunch launch;    /* of the kernel as it was */
    PtxProgram *program; /* ... */
    PtxMachine *machine; /* of the instrumented one */
    PtxLaunch with;
    Recording recording;
    RecordLaunch block;
    bool another_order; /* than that which it is held against: those who poll do so more or less often */
} Case;

static uint32_t find_kernel(const PtxModule *module, Str name) {
    for (uint32_t i = 0; i < module->functions_count; i++)
        if (module->functions[i].entry && module->functions[i].body &&
            (!name.size || str_equal(ptx_name(module, module->functions[i].name), name)))
            return i;
    return PTX_NONE;
}

static uint32_t warps_of(const PtxLaunch *launch) {
    uint32_t threads = launch->block[0] * launch->block[1] * launch->block[2];
    return launch->grid[0] * launch->grid[1] * launch->grid[2] * ((threads + PTX_LANES - 1) / PTX_LANES);
}

static uint32_t more_chunks(const Case *of) {
    return more >= 0 ? (uint32_t)more : 4096 + 16 * warps_of(&of->launch);
}

/* Variables of shared memory from the last to the first, as another compiler might have it, and those of global memory
 * elsewhere: who plays the recording does not know but from what the kernel tells. */
static void turn_around(PtxProgram *program, const PtxModule *module, uint32_t entry) {
    uint32_t variables[RECORD_VARIABLES], count = instrument_shared(module, entry, variables);
    for (uint32_t i = 0; i < module->variables_count; i++)
        if (program->used[i] && program->seats[i].space == PTX_SPACE_GLOBAL)
            program->seats[i].at += 4 * PTX_WINDOW_SIZE;
    uint64_t at = module->capability >= 90 ? PTX_SHARED_FIRST : 0;
    for (uint32_t i = count; i-- > 0;) {
        PtxSymbolSlot *seat = &program->seats[variables[i]];
        uint64_t align = module->variables[variables[i]].align ? module->variables[variables[i]].align : 16;
        if (!seat->bytes)
            continue;
        seat->at = (at + align - 1) / align * align;
        at = seat->at + seat->bytes;
    }
    if (!count)
        return;
    program->shared_bytes = at > program->shared_bytes ? at : program->shared_bytes;
    program->dynamic_at = (program->shared_bytes + 1023) / 1024 * 1024;
    for (uint32_t i = 0; i < count; i++)
        if (!program->seats[variables[i]].bytes)
            program->seats[variables[i]].at = program->dynamic_at;
}

/* Of the launch: its shape, and the CTAs that are recorded. */
static RecordingLaunch shape_of(const Case *of) {
    RecordingLaunch launch = {0};
    for (int i = 0; i < 3; i++) {
        launch.grid[i] = of->launch.grid[i];
        launch.block[i] = of->launch.block[i] ? of->launch.block[i] : 1;
        launch.cluster[i] = of->launch.cluster[i] ? of->launch.cluster[i] : 1;
    }
    if (sample && !sample_choose(&launch, (launch_ctas(&launch) + sample - 1) / sample))
        launch.sample_stride = launch.sample_run = 0;
    return launch;
}

/* The launch of the kernel as it was, and one parameter more: the block and chunks in memory of their own. */
static void add_block(Case *of, const PtxProgram *program) {
    size_t bytes = program->parameter_bytes, chunk = of->file->sites.chunk;
    uint64_t address = LAUNCH_AT;
    of->with = of->launch;
    of->with.parameters = ARENA_ARRAY(&of->arena, uint8_t, bytes);
    of->with.known = ARENA_ARRAY(&of->arena, uint8_t, bytes);
    memset(of->with.known, BYTE_KNOWN, bytes);
    memcpy(of->with.parameters, of->launch.parameters, of->program->parameter_bytes);
    if (of->launch.known)
        memcpy(of->with.known, of->launch.known, of->program->parameter_bytes);
    memcpy(of->with.parameters + bytes - sizeof address, &address, sizeof address);
    of->block = (RecordLaunch){.first = FIRST_AT, .more = MORE_AT, .more_count = more_chunks(of), .tag = TAG << 24};
    of->block.spin_timeout = record_spin_timeout(hangs ? HANG_AFTER : 0);
    RecordingLaunch shape = shape_of(of);
    of->block.sample = sample_words(&shape);
    if (hangs)
        of->block.host = HOST_AT;
    PtxBuffer buffers[] = {
        {.name = "launch", .address = LAUNCH_AT, .bytes = sizeof of->block, .data = (const uint8_t *)&of->block},
        {.name = "first",
         .address = FIRST_AT,
         .bytes = sample_ctas(&shape) * launch_warps(&shape) * chunk,
         .zero = true},
        {.name = "more", .address = MORE_AT, .bytes = (more_chunks(of) + 1) * chunk, .zero = true},
        {.name = "host", .address = HOST_AT, .bytes = sizeof(RecordHost), .zero = true}};
    buffers[0].data_bytes = sizeof of->block;
    of->with.buffers = ARENA_ARRAY(&of->arena, PtxBuffer, of->launch.buffer_count + 5);
    if (of->launch.buffer_count)
        memcpy(of->with.buffers, of->launch.buffers, of->launch.buffer_count * sizeof *buffers);
    memcpy(of->with.buffers + of->launch.buffer_count, buffers, sizeof buffers);
    of->with.buffer_count += 5;
}

static const uint8_t *bytes_at(const Case *of, uint64_t address, size_t count) {
    for (uint32_t i = 0; i < of->machine->block_count; i++)
        if (of->machine->blocks[i].base == address) {
            uint8_t *bytes = arena_zalloc((Arena *)&of->arena, count + 16);
            if (of->machine->blocks[i].bytes)
                memcpy(bytes, of->machine->blocks[i].bytes, count);
            return bytes;
        }
    return NULL;
}

/* What the launch has allocated. */
static const RecordingMemory *memory_of(Case *of, size_t *count) {
    RecordingMemory *memory = ARENA_ARRAY(&of->arena, RecordingMemory, of->launch.buffer_count + 1);
    for (*count = 0; *count < of->launch.buffer_count; ++*count)
        memory[*count] = (RecordingMemory){of->launch.buffers[*count].address, of->launch.buffers[*count].bytes};
    return memory;
}

static void take_recording(Case *of, bool complete) {
    RecordingLaunch shape = shape_of(of);
    size_t chunk = of->file->sites.chunk, count = sample_ctas(&shape) * launch_warps(&shape);
    memcpy(&of->block, bytes_at(of, LAUNCH_AT, sizeof of->block), sizeof of->block);
    uint32_t asked = of->block.next < more_chunks(of) ? of->block.next : more_chunks(of);
    Str name = ptx_name(of->module, of->module->functions[of->entry].name);
    Recording *to = &of->recording;
    *to = (Recording){.kernel = arena_copy(&of->arena, name.data, name.size), .device = "the machine of PTX"};
    RecordingLaunch *launch = &to->launch;
    *launch = (RecordingLaunch){.abi = RECORDING_ABI,
                                .flags = complete ? 0
                                         : hangs  ? RECORDING_CUT | RECORDING_HUNG
                                                  : RECORDING_CUT,
                                .shared = (uint32_t)of->launch.dynamic_bytes,
                                .spaces = of->file->options.spaces,
                                .options = instrument_options_number(&of->file->options),
                                .chunk = (uint32_t)chunk,
                                .tag = TAG,
                                .asked = of->block.next,
                                .dropped = record_dropped(&of->block),
                                .sample_stride = shape.sample_stride,
                                .sample_run = shape.sample_run,
                                .shared_window = of->block.shared_window,
                                .local_window = of->block.local_window,
                                .param_window = of->block.param_window,
                                .hang_after = hangs ? HANG_AFTER : 0};
    memcpy(launch->grid, shape.grid, sizeof shape.grid);
    memcpy(launch->block, shape.block, sizeof shape.block);
    memcpy(launch->cluster, shape.cluster, sizeof shape.cluster);
    to->ptx = (Str){of->module->source->data, of->module->source->size};
    Text table = {0};
    instrument_table(of->module, of->entry, launch->block, &of->file->sites, &table);
    to->sites = (Str){arena_copy(&of->arena, table.data, table.size), table.size};
    text_free(&table);
    to->parameters = of->launch.parameters;
    to->parameter_bytes = of->program->parameter_bytes;
    to->places = &of->block.places;
    to->memory = memory_of(of, &to->memory_count);
    static RecordingOrder order = {.process = 1};
    order.stream = (uint32_t)stream;
    to->order = stream >= 0 ? &order : NULL;
    launch->number = stream >= 0 ? (uint64_t)stream : 0;
    to->first = bytes_at(of, FIRST_AT, count * chunk);
    to->first_count = count;
    to->more = bytes_at(of, MORE_AT, asked * chunk);
    to->more_count = asked;
}

/* Through a file, and back. */
static const char *pass_file(Case *of) {
    char *bytes = NULL;
    size_t count = 0;
    const char *problem = NULL;
    FILE *file = open_memstream(&bytes, &count);
    bool written = file && recording_write(file, &of->recording);
    FILE *kept_file = keep ? fopen(keep, "wb") : NULL;
    if (kept_file) {
        written &= recording_write(kept_file, &of->recording);
        fclose(kept_file);
    }
    if (file)
        fclose(file);
    uint8_t *kept = memcpy(arena_alloc(&of->arena, count + 8), bytes, count);
    free(bytes);
    if (!written)
        return "the recording cannot be written";
    return recording_read(&of->recording, kept, count, &of->arena, &problem) &&
                   recording_open(&of->recording, &of->arena, &problem)
               ? NULL
               : problem;
}

static const char *instrument_file(File *of) {
    Diagnostics diagnostics = {0};
    Text text = {0};
    if (of->text)
        return of->problem;
    if (instrument_sites(&of->sites, &of->module, &of->options, &of->problem))
        instrument(&of->module, &of->options, &text, &of->problem);
    static const char timer[] = "%globaltimer";
    for (char *at = text.data;
         timeless && at && (at = memmem(at, (size_t)(text.data + text.size - at), timer, sizeof timer - 1));)
        memcpy(at, "0           ", sizeof timer - 1);
    of->text = source_copy("instrumented.ptx", text.data, text.size);
    text_free(&text);
    if (!of->problem && !ptx_read(&of->instrumented, of->text, false, &diagnostics))
        of->problem = diagnostics.items[0].message;
    return of->problem;
}

static const char *record(Case *of, uint64_t budget, PtxEnd *end) {
    Str name = ptx_name(of->module, of->module->functions[of->entry].name);
    const char *problem = instrument_file(of->file);
    if (problem)
        return problem;
    of->instrumented_entry = find_kernel(&of->file->instrumented, name);
    PtxProgram *program = ptx_program(&of->arena, &of->file->instrumented, of->instrumented_entry, SIZE_MAX, &problem);
    if (!program)
        return problem;
    turn_around(program, &of->file->instrumented, of->instrumented_entry);
    add_block(of, program);
    of->machine = ptx_machine(program, &of->with, COMPUTES_ALL, &problem);
    if (!of->machine)
        return problem;
    of->machine->budget = budget;
    of->machine->timed = hangs;
    *end = ptx_schedule_run(of->machine, &(PtxSchedule){.kind = hangs ? SCHEDULE_ROUND_ROBIN : SCHEDULE_EAGER});
    if (orders && *end == PTX_END_STUCK)
        *end = ptx_schedule_run(of->machine, &(PtxSchedule){.kind = SCHEDULE_EAGER, .mirrored = true});
    if (orders && *end == PTX_END_STUCK)
        *end = ptx_schedule_run(of->machine, &(PtxSchedule){.kind = SCHEDULE_ROUND_ROBIN});
    of->another_order = *end == PTX_END_BUDGET && !hangs;
    if (of->another_order) /* the one that polls and writes records is not seen to stand still */
        *end = ptx_schedule_run(of->machine, &(PtxSchedule){.kind = SCHEDULE_ROUND_ROBIN});
    if (*end == PTX_END_UNKNOWN)
        return of->machine->unknown_why ? of->machine->unknown_why : "the instrumented kernel is not modeled";
    take_recording(of, *end == PTX_END_COMPLETE);
    return pass_file(of);
}

/* ---- Verdicts ---- */

static bool is_race(const Finding *finding) {
    return strncmp(rule_of(finding->rule)->id, "race.", 5) == 0 || finding->rule == RULE_ACCESS_READ_ONLY;
}

static uint32_t second_line(const Finding *finding) {
    for (size_t i = finding->place_count; i-- > 1;)
        if (finding->places[i].ir_line)
            return finding->places[i].ir_line;
    return finding->places[0].ir_line;
}

/* Whether the machine says that the values are the same with this data alone: a recording has no other. */
static bool is_by_chance(const Finding *finding) {
    return finding->why && strstr(finding->why, "With the data of this launch");
}

/* Whether who writes the same may be told as if it did not: values of global memory are not recorded, nor those of
 * stores whose own threads are apart; and other data is none that a recording can be made again with. */
static bool may_be_same_value(const Finding *a, const Finding *b) {
    bool one = (a->rule == RULE_RACE_SAME_VALUE) != (b->rule == RULE_RACE_SAME_VALUE);
    return one && (a->rule == RULE_RACE_WAW || b->rule == RULE_RACE_WAW) &&
           ((a->space && !strcmp(a->space, "global")) || a->places[0].ir_line != second_line(a) || is_by_chance(a) ||
            is_by_chance(b));
}

static bool same_finding(const Finding *a, const Finding *b) {
    if (a->rule == RULE_RACE_VOLATILE && b->rule == a->rule) /* one stands for all */
        return true;
    uint32_t a0 = a->places[0].ir_line, a1 = second_line(a), b0 = b->places[0].ir_line, b1 = second_line(b);
    return (a->rule == b->rule || may_be_same_value(a, b)) && ((a0 == b0 && a1 == b1) || (a0 == b1 && a1 == b0));
}

/* Matrices that warps store to the same places are compared as a whole: rows that are the same are told as those beside
 * them that are not. */
static bool is_beside_others(const Verdict *from, const Finding *finding) {
    bool found = false;
    for (size_t i = 0; i < from->finding_count && finding->rule == RULE_RACE_SAME_VALUE; i++)
        found |= from->findings[i].rule == RULE_RACE_WAW &&
                 from->findings[i].places[0].ir_line == second_line(finding) &&
                 second_line(&from->findings[i]) == finding->places[0].ir_line;
    return found && strstr(finding->places[0].op, "stmatrix");
}

static const char *missing(Arena *arena, const Verdict *in, const Verdict *from, const char *who) {
    for (size_t i = 0; i < from->finding_count; i++) {
        const Finding *finding = &from->findings[i];
        bool found = !is_race(finding) || is_beside_others(from, finding);
        for (size_t k = 0; k < in->finding_count && !found; k++)
            found = same_finding(finding, &in->findings[k]);
        if (found)
            continue;
        Text text = {0};
        text_addf(&text, "%s does not have %s at lines %u and %u", who, rule_of(finding->rule)->id,
                  finding->places[0].ir_line, second_line(finding));
        return text_keep(&text, arena);
    }
    return NULL;
}

static bool has_incomplete(const Verdict *verdict) {
    return verdict->incomplete_count > 0;
}

/* Whether the machine does not know more of that line either, or finds something there. */
static bool is_doubted_at(const Verdict *verdict, uint32_t line) {
    for (size_t i = 0; line && i < verdict->incomplete_count; i++)
        if (verdict->incomplete[i].ir_line == line)
            return true;
    for (size_t i = 0; line && i < verdict->finding_count; i++)
        if (verdict->findings[i].places[0].ir_line == line && verdict->findings[i].rule != RULE_RACE_SAME_VALUE)
            return true;
    return false;
}

/* `havocked`: a value that nothing wrote decided something. Code that is inserted asks for it once more, and may be
 * given another one, which no device does: then the recording is one of a run that cannot be. */
static const char *verdicts_differ(Arena *arena, const Verdict *machine, const Verdict *played, bool complete,
                                   bool havocked) {
    const char *problem = missing(arena, machine, played, "the machine");
    if (!problem && complete && !has_incomplete(played))
        problem = missing(arena, played, machine, "the recording");
    for (size_t i = 0; !problem && complete && !havocked && i < played->incomplete_count; i++) {
        if (is_doubted_at(machine, played->incomplete[i].ir_line))
            continue;
        Text text = {0};
        text_addf(&text, "incomplete: line %u: %s", played->incomplete[i].ir_line, played->incomplete[i].reason);
        problem = text_keep(&text, arena);
    }
    if (!problem && !complete && !has_incomplete(played))
        problem = "it was cut off, and nothing says so";
    return problem;
}

static void print_verdict(const char *who, const Verdict *verdict) {
    printf("  %s:\n", who);
    for (size_t i = 0; i < verdict->finding_count; i++)
        printf("    %s lines %u and %u: %s\n", rule_of(verdict->findings[i].rule)->id,
               verdict->findings[i].places[0].ir_line, second_line(&verdict->findings[i]),
               verdict->findings[i].message);
    for (size_t i = 0; i < verdict->incomplete_count; i++)
        printf("    incomplete: line %u: %s\n", verdict->incomplete[i].ir_line, verdict->incomplete[i].reason);
}

/* ---- One launch ---- */

/* A wait that goes on forever is recorded forever. */
static bool ends_symmetry(PtxEnd plain, PtxEnd recorded) {
    return plain == recorded || (plain == PTX_END_STUCK && recorded == PTX_END_BUDGET);
}

/* What is told of a deadlock first; NULL: nothing. */
static const Finding *deadlock_of(const Verdict *verdict) {
    for (size_t i = 0; i < verdict->finding_count; i++)
        if (!strncmp(rule_of(verdict->findings[i].rule)->id, "deadlock.", 9))
            return &verdict->findings[i];
    return NULL;
}

/* Records the kernel, and lets both the machine and the recording tell. */
static const char *report_both(Case *of, PtxEnd *recorded, Verdict *machine, Verdict *played) {
    ThreadsOptions options = {.launch = &of->given, .only_launch = true};
    *machine = *played = (Verdict){.arena = &of->arena};
    const char *problem = record(of, BUDGET, recorded);
    if (problem)
        return problem;
    threads_check(of->module, of->entry, &options, machine);
    recording_check(of->module, of->entry, &of->recording, &options, played);
    if (verbose) {
        print_verdict("check", machine);
        print_verdict("recording", played);
    }
    return NULL;
}

/* Whether no thread can go on, by what was recorded: as who watches a launch decides. */
static bool stands_still(Case *of) {
    RecordThreadStatus thread_status;
    RecordShape *shapes = site_shapes(&of->file->sites, &of->arena);
    bool reports = record_thread_status(&thread_status, &of->recording, shapes, of->file->sites.count);
    if (verbose)
        printf("  %" PRIu64 " ended, %" PRIu64 " gave up, %" PRIu64 " held, %" PRIu64 " elsewhere\n",
               thread_status.ended, thread_status.gave_up, thread_status.held, thread_status.elsewhere);
    return reports && thread_status_still(&thread_status);
}

/* Stopped on its way, some of its threads can go on. */
static const char *compare_cut(Case *of) {
    enum { CUTS = 60 };
    PtxEnd end = PTX_END_UNKNOWN;
    const char *problem = record(of, BUDGET, &end);
    uint64_t all = of->machine ? of->machine->used : 0;
    if (problem || end != PTX_END_COMPLETE)
        return problem ? problem : "the instrumented kernel does not end";
    for (unsigned i = 1; i < CUTS; i++) {
        of->machine->budget = all * i / CUTS;
        end = ptx_schedule_run(of->machine, &(PtxSchedule){.kind = i % 2 ? SCHEDULE_EAGER : SCHEDULE_ROUND_ROBIN});
        take_recording(of, false);
        if (end == PTX_END_BUDGET && stands_still(of))
            return "threads that can go on are taken to stand still";
    }
    return NULL;
}

static bool has_rule(const Verdict *verdict, const Finding *of) {
    for (size_t i = 0; i < verdict->finding_count; i++)
        if (verdict->findings[i].rule == of->rule)
            return true;
    return false;
}

/* Where all accesses have the same time, orders may not fit each other: what races by being volatile is found, and the
 * recording is played to its end. */
static const char *compare_timeless(Case *of) {
    Verdict machine, played;
    PtxEnd recorded = PTX_END_UNKNOWN;
    const char *problem = report_both(of, &recorded, &machine, &played);
    for (size_t i = 0; !problem && i < machine.finding_count; i++)
        if (machine.findings[i].rule == RULE_RACE_VOLATILE && !has_rule(&played, &machine.findings[i]))
            problem = "the recording does not have race.volatile";
    for (size_t i = 0; !problem && i < played.incomplete_count; i++)
        if (strstr(played.incomplete[i].reason, "cannot be followed"))
            problem = played.incomplete[i].reason;
    return problem;
}

static const char *compare_hangs(Case *of) {
    Verdict machine, played;
    PtxEnd recorded = PTX_END_UNKNOWN;
    const char *problem = report_both(of, &recorded, &machine, &played);
    if (problem)
        return problem;
    const Finding *ours = deadlock_of(&machine), *theirs = deadlock_of(&played);
    RecordHost host;
    memcpy(&host, bytes_at(of, HOST_AT, sizeof host), sizeof host);
    if (recorded != PTX_END_STUCK)
        return "the instrumented kernel does not hang";
    if (of->block.spin_timeout != (host.gave_up ? HURRIED : record_spin_timeout(HANG_AFTER)))
        return "who waits is not told that others gave up";
    if (!host.gave_up && !stands_still(of)) /* no thread reports anything */
        return "threads that cannot go on are taken to run";
    if (!ours || !theirs)
        return ours ? "the recording does not tell of a deadlock" : "the machine does not tell of a deadlock";
    return ours->rule == theirs->rule && ours->places[0].ir_line == theirs->places[0].ir_line
               ? NULL
               : "the recording has another cause";
}

/* Of waits and mbarriers, in whatever order. */
static bool is_of_waits(const Finding *finding) {
    const char *id = rule_of(finding->rule)->id;
    return strncmp(id, "deadlock.", 9) == 0 || strncmp(id, "barrier.", 8) == 0;
}

/* A kernel that ended, and that does not in other orders, or whose polls end earlier there, so that it races: the
 * recording tells of one that the machine finds in its own runs; and of none if there is none. */
static const char *compare_orders(Case *of) {
    Verdict machine, played;
    PtxEnd recorded = PTX_END_UNKNOWN;
    const char *problem = report_both(of, &recorded, &machine, &played);
    if (problem)
        return problem;
    if (recorded != PTX_END_COMPLETE)
        return "the instrumented kernel does not end";
    bool wrong = false, reported = false;
    for (size_t i = 0; i < machine.finding_count; i++)
        wrong |= is_of_waits(&machine.findings[i]);
    for (size_t i = 0; i < played.finding_count; i++) {
        if (!is_of_waits(&played.findings[i]))
            continue;
        reported = true;
        if (!has_rule(&machine, &played.findings[i]))
            return "the recording has a finding that the machine does not have";
    }
    if (reported != wrong)
        return reported ? "the recording tells of an order that is none" : "no other order was found";
    problem = missing(&of->arena, &machine, &played, "the machine");
    return problem || wrong ? problem : missing(&of->arena, &played, &machine, "the recording");
}

/* Whether what is found is reported in the same words, as often, whether all is played or not (prepass.c). */
static const char *counts_differ(Arena *arena, const Verdict *played, const Verdict *all) {
    Text text = {0};
    for (size_t i = 0; i < played->finding_count && !text.size; i++) {
        const Finding *one = &played->findings[i], *other = i < all->finding_count ? &all->findings[i] : NULL;
        if (!other || one->rule != other->rule || strcmp(one->message, other->message) != 0)
            text_addf(&text, "not found if all is played: %s", one->message);
        else if (one->times != other->times)
            text_addf(&text, "%zu times, and %zu if all is played: %s", one->times, other->times, one->message);
    }
    if (!text.size && played->finding_count < all->finding_count)
        text_addf(&text, "found only if all is played: %s", all->findings[played->finding_count].message);
    return text.size ? text_keep(&text, arena) : NULL;
}

/* Waits of a kernel that ends are ended too early: that is no deadlock. */
static const char *compare_hurried(Case *of) {
    Verdict played = {.arena = &of->arena};
    ThreadsOptions options = {.launch = &of->given, .only_launch = true};
    PtxEnd end = PTX_END_UNKNOWN;
    const char *problem = record(of, BUDGET, &end);
    if (problem || end == PTX_END_COMPLETE)
        return problem ? problem : "no wait gives up";
    recording_check(of->module, of->entry, &of->recording, &options, &played);
    if (verbose)
        print_verdict("recording", &played);
    return deadlock_of(&played) ? deadlock_of(&played)->message : has_incomplete(&played) ? NULL : "nothing says so";
}

static void close_file(File *file) {
    instrument_sites_free(&file->sites);
    ptx_free(&file->instrumented);
    source_free(file->text);
    ptx_free(&file->module);
    source_free(file->source);
}

/* Three threads more than one. */
static int use_core(void *used, int take) {
    enum { MOST = 3 };
    int count = take ? __atomic_add_fetch((int *)used, 1, __ATOMIC_RELAXED)
                     : __atomic_sub_fetch((int *)used, 1, __ATOMIC_RELAXED);
    if (take && count > MOST)
        __atomic_sub_fetch((int *)used, 1, __ATOMIC_RELAXED);
    return take && count <= MOST;
}

/* The first time that it is asked after so many. */
static int stop_later(void *left) {
    return !(*(uint32_t *)left)--;
}

/* Whether a check that is stopped, early or later, is known to have been. */
static bool knows_stops(Case *of, const ThreadsOptions *options) {
    enum { TIMES = 6, APART = 16 }; /* the clock is read for each cluster, and whenever an arena grows */
    bool known = true;
    for (uint32_t i = 0; i < TIMES && known; i++) {
        Verdict verdict = {.arena = &of->arena};
        uint32_t left = i * APART;
        deadline_start(0, stop_later, &left);
        recording_check(of->module, of->entry, &of->recording, options, &verdict);
        known = deadline.stopped == (left == UINT32_MAX);
        known &= deadline_end() == (left == UINT32_MAX);
    }
    return known;
}

static const char *compare(Case *of, PtxMachine *plain) {
    if (hurried)
        return compare_hurried(of);
    if (hangs)
        return compare_hangs(of);
    if (orders)
        return compare_orders(of);
    if (cut)
        return compare_cut(of);
    if (timeless)
        return compare_timeless(of);
    const char *problem = NULL;
    ThreadsOptions options = {.launch = &of->given, .only_launch = true, .orders = ORDERS_EAGER};
    Verdict machine = {.arena = &of->arena}, played = {.arena = &of->arena}, seen = {.arena = &of->arena};
    BarrierActs ours = barrier_acts_of(&of->arena, plain, of->plain),
                theirs = barrier_acts_of(&of->arena, plain, of->module);
    plain->budget = BUDGET;
    plain->observe = see;
    plain->observer = &ours;
    PtxEnd recorded = PTX_END_UNKNOWN, end = ptx_schedule_run(plain, &(PtxSchedule){.kind = SCHEDULE_EAGER});
    problem = record(of, 64 * plain->used + 1000000, &recorded);
    if (problem)
        return problem;
    threads_check(of->plain, of->plain_entry, &options, &machine);
    recording_check(of->module, of->entry, &of->recording, &options, &played);
    int used = 0;
    Verdict several = {.arena = &of->arena};
    options.core = use_core;
    options.core_context = &used;
    recording_check(of->module, of->entry, &of->recording, &options, &several);
    options.core = NULL;
    RecordingSeen watched = {.see = see, .observer = &theirs, .all = true};
    recording_check_seen(of->module, of->entry, &of->recording, &options, &seen, &watched);
    take_plain_lines(of->module, &played);
    take_plain_lines(of->module, &seen);
    take_plain_lines(of->module, &several);
    if (verbose) {
        print_verdict("check", &machine);
        print_verdict("recording", &played);
    }
    bool complete = end == PTX_END_COMPLETE && recorded == PTX_END_COMPLETE && !is_sampled(&of->recording.launch) &&
                    of->block.next <= more_chunks(of);
    /* where lanes meet behind an instruction that they pass by is another place with code that records in it */
    bool passed_by = end == PTX_END_FAULT && plain->fault.rule == RULE_THREADS_MASK;
    if (!ends_symmetry(end, recorded) && !passed_by)
        problem = "the instrumented kernel ends in another way";
    if (complete && has_incomplete(&played) && !has_incomplete(&machine)) { /* in other orders it may do so, too */
        ThreadsOptions all = {.launch = &of->given, .only_launch = true};
        machine = (Verdict){.arena = &of->arena};
        threads_check(of->plain, of->plain_entry, &all, &machine);
    }
    if (!problem && passed_by)
        return NULL; /* the recording is one of a run that went on, which shows nothing of it */
    if (!problem && complete && !plain->havoc_count && !of->another_order)
        problem = barrier_acts_differ(&of->arena, &ours, &theirs);
    if (!problem)
        problem = verdicts_differ(&of->arena, &machine, &played, complete, plain->havoc_count > 0);
    if (!problem)
        problem = verdicts_differ(&of->arena, &played, &seen, complete, plain->havoc_count > 0);
    if (!problem)
        problem = counts_differ(&of->arena, &played, &seen);
    if (!problem && complete && played.launches->events != seen.launches->events)
        problem = "what the machine need not see is not counted as it would be";
    if (!problem)
        problem = verdicts_differ(&of->arena, &played, &several, complete, plain->havoc_count > 0);
    if (!problem)
        problem = counts_differ(&of->arena, &played, &several);
    if (!problem && (used || played.launches->events != several.launches->events ||
                     played.incomplete_count != several.incomplete_count))
        problem = "several threads do not report what one does";
    if (!problem && !knows_stops(of, &options))
        problem = "a check that is stopped does not know of it";
    return problem;
}

/* The same for a module of its own, for launches of this shape. */
static const char *take_launched(Case *of, File *made) {
    const char *problem = NULL;
    Diagnostics diagnostics = {0};
    Text text = {0};
    instrument_launched(of->module, of->entry, of->launch.block, &text);
    made->source = source_copy("launched.ptx", text.data, text.size);
    text_free(&text);
    if (!ptx_read(&made->module, made->source, false, &diagnostics))
        return "the text for this shape cannot be read";
    of->file = made;
    of->module = &made->module;
    of->entry = find_kernel(of->module, of->given.kernel);
    of->program = ptx_program(&of->arena, of->module, of->entry, SIZE_MAX, &problem);
    if (!of->program || !ptx_launch_bind(&of->arena, of->program, &of->given, &of->launch, &problem))
        return problem;
    turn_around(of->program, of->module, of->entry);
    return NULL;
}

static const char *run_case(Case *of, const char *json) {
    const char *problem = NULL;
    Diagnostics diagnostics = {0};
    Source *source = source_copy(of->name, json, strlen(json));
    if (!launch_read(&of->arena, source, &of->given, &diagnostics))
        return "its launch cannot be read";
    of->entry = find_kernel(of->module, of->given.kernel);
    of->program = of->entry == PTX_NONE ? NULL : ptx_program(&of->arena, of->module, of->entry, SIZE_MAX, &problem);
    if (!of->program || !ptx_launch_bind(&of->arena, of->program, &of->given, &of->launch, &problem))
        return problem ? problem : "there is no such kernel";
    PtxEnd end;
    turn_around(of->program, of->module, of->entry);
    of->plain = of->module;
    of->plain_entry = of->entry;
    PtxMachine *plain = ptx_machine(of->program, &of->launch, COMPUTES_ALL, &problem);
    File made = {.options = of->file->options};
    if (launched && plain)
        problem = take_launched(of, &made);
    if (problem)
        ;
    else if (keep)
        problem = record(of, KEPT_BUDGET, &end);
    else
        problem = plain ? compare(of, plain) : problem;
    ptx_machine_free(plain);
    if (of->machine)
        ptx_machine_free(of->machine);
    of->machine = NULL;
    close_file(&made);
    source_free(source);
    return problem;
}

static void run_launch(File *file, const char *name, const char *json) {
    Case of = {.name = name, .file = file, .module = &file->module};
    arena_init(&of.arena, SIZE_MAX);
    if (verbose)
        printf("%s\n", name);
    judge(name, run_case(&of, json));
    fflush(stdout);
    arena_free(&of.arena);
}

/* ---- Files ---- */

static void run_list(File *file, const char *path, json_t *cases) {
    size_t index;
    json_t *each;
    json_array_foreach(cases, index, each) {
        char name[600];
        json_t *copy = json_deep_copy(each);
        snprintf(name, sizeof name, "%s, %s", path, json_string_value(json_object_get(each, "name")));
        json_object_del(copy, "name");
        json_object_del(copy, "tolerance");
        expand(copy);
        char *text = json_dumps(copy, JSON_COMPACT);
        run_launch(file, name, text);
        free(text);
        json_decref(copy);
    }
}

static void run_file(const char *path) {
    char ptx_path[512];
    const char *problem = NULL;
    json_error_t error;
    const char *end = strstr(path, ".launch.json");
    size_t size = end ? (size_t)(end - path) : strlen(path) - strlen(".json");
    snprintf(ptx_path, sizeof ptx_path, "%.*s.ptx", (int)size, path);
    json_t *json = json_load_file(path, 0, &error);
    File file = {.source = source_read(ptx_path, &problem), .options = {.mode = INSTRUMENT_RECORD}};
    file.options.spaces = global ? RECORDING_GLOBAL : RECORDING_EVERYWHERE | RECORDING_STOPS;
    Diagnostics diagnostics = {0};
    if (!file.source || !json || !ptx_read(&file.module, file.source, false, &diagnostics)) {
        judge(path, problem ? problem : json ? "the PTX cannot be read" : error.text);
    } else if (json_is_array(json)) {
        run_list(&file, path, json);
    } else {
        char *text = json_dumps(json, JSON_COMPACT);
        run_launch(&file, path, text);
        free(text);
    }
    close_file(&file);
    json_decref(json);
}

int main(int count, char **arguments) {
    for (int i = 1; i < count; i++)
        if (!strcmp(arguments[i], "--verbose"))
            verbose = true;
        else if (!strcmp(arguments[i], "--keep") && i + 1 < count)
            keep = arguments[++i];
        else if (!strcmp(arguments[i], "--stream") && i + 1 < count)
            stream = strtol(arguments[++i], NULL, 0);
        else if (!strcmp(arguments[i], "--sample") && i + 1 < count)
            sample = (uint32_t)strtoul(arguments[++i], NULL, 0);
        else if (!strcmp(arguments[i], "--more") && i + 1 < count)
            more = strtol(arguments[++i], NULL, 0);
        else if (!strcmp(arguments[i], "--hangs"))
            hangs = true;
        else if (!strcmp(arguments[i], "--cut"))
            cut = true;
        else if (!strcmp(arguments[i], "--global"))
            global = true;
        else if (!strcmp(arguments[i], "--hurried"))
            hangs = hurried = true;
        else if (!strcmp(arguments[i], "--timeless"))
            timeless = true;
        else if (!strcmp(arguments[i], "--orders"))
            orders = true;
        else if (!strcmp(arguments[i], "--launched"))
            launched = true;
        else
            run_file(arguments[i]);
    printf("%u passed, %u failed\n", passed, failed);
    return failed ? 1 : 0;
}
