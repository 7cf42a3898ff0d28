/* The launch that a recording is of: its memory, and where the variables lie. */
#include "base/order.h"
#include "check/replay/internal.h"

#include <stdlib.h>

static const char *launch_words(const ThreadsCheck *check, const Recording *recording) {
    const RecordingLaunch *launch = &recording->launch;
    Text text = {0};
    text_addf(&text, "grid %ux%ux%u, block %ux%ux%u", launch->grid[0], launch->grid[1], launch->grid[2],
              launch->block[0], launch->block[1], launch->block[2]);
    if (launch->cluster[0] * launch->cluster[1] * launch->cluster[2] > 1)
        text_addf(&text, ", cluster %ux%ux%u", launch->cluster[0], launch->cluster[1], launch->cluster[2]);
    text_addf(&text, ", as recorded");
    if (*recording->device)
        text_addf(&text, " on %s", recording->device);
    return verdict_keep(check->verdict, &text);
}

ORDER(by_address, PtxAnchor, BY(address))

/* Parameters of 8 bytes that point to memory: with a list of it, into that. */
static void add_anchors(ThreadsCheck *check, const Recording *recording, PtxLaunch *launch) {
    static const uint64_t least = UINT64_C(1) << 20;
    const PtxFunction *kernel = &check->module->functions[check->entry];
    PtxAnchor *anchors = ARENA_ARRAY(&check->arena, PtxAnchor, kernel->parameter_count + 1);
    for (uint32_t i = 0; i < kernel->parameter_count; i++) {
        const PtxSymbolSlot *seat = &check->program->seats[kernel->parameters + i];
        uint64_t value;
        if (seat->bytes != sizeof value || seat->at + sizeof value > recording->parameter_bytes)
            continue;
        memcpy(&value, recording->parameters + seat->at, sizeof value);
        bool listed = !recording->memory_count;
        for (size_t k = 0; k < recording->memory_count && !listed; k++)
            listed = value - recording->memory[k].base < recording->memory[k].bytes;
        if (listed && value >= least)
            anchors[launch->anchor_count++] =
                (PtxAnchor){value, ptx_argument_name(check->module, check->entry, i, &check->arena)};
    }
    if (launch->anchor_count)
        qsort(anchors, launch->anchor_count, sizeof *anchors, by_address);
    launch->anchors = anchors;
}

static PtxLaunch *launch_of(const PtxProgram *program, const Recording *recording, Arena *arena) {
    PtxLaunch *launch = ARENA_NEW(arena, PtxLaunch);
    const RecordingLaunch *from = &recording->launch;
    size_t bytes = program->parameter_bytes;
    size_t given = bytes < recording->parameter_bytes ? bytes : recording->parameter_bytes;
    memcpy(launch->grid, from->grid, sizeof launch->grid);
    memcpy(launch->block, from->block, sizeof launch->block);
    memcpy(launch->cluster, from->cluster, sizeof launch->cluster);
    launch->dynamic_bytes = from->shared;
    launch->dependent = from->flags & RECORDING_DEPENDENT;
    launch->parameters = ARENA_ARRAY(arena, uint8_t, bytes + 1);
    launch->known = ARENA_ARRAY(arena, uint8_t, bytes + 1);
    memset(launch->known, BYTE_UNKNOWN, bytes);
    memset(launch->known, BYTE_KNOWN, given);
    if (given)
        memcpy(launch->parameters, recording->parameters, given);
    launch->buffers = ARENA_ARRAY(arena, PtxBuffer, recording->memory_count + 1);
    for (size_t i = 0; i < recording->memory_count && i < UINT32_MAX; i++)
        if (recording->memory[i].base + recording->memory[i].bytes <= PTX_GLOBAL_END)
            launch->buffers[launch->buffer_count++] = (PtxBuffer){.name = "global memory",
                                                                  .parameter = PTX_NONE,
                                                                  .address = recording->memory[i].base,
                                                                  .bytes = recording->memory[i].bytes};
    return launch;
}

PtxLaunch *recording_launch(ThreadsCheck *check, const Recording *recording) {
    PtxLaunch *launch = launch_of(check->program, recording, &check->arena);
    launch->text = launch_words(check, recording);
    add_anchors(check, recording, launch);
    return launch;
}

static bool has_globals(const PtxProgram *program) {
    for (uint32_t i = 0; i < program->module->variables_count; i++)
        if (program->used[i] && program->seats[i].space == PTX_SPACE_GLOBAL)
            return true;
    return false;
}

bool launch_has_globals(const ThreadsCheck *check) {
    return has_globals(check->program);
}

ORDER(buffer_by_address, PtxBuffer, BY(address))

const Launch *recording_given(PtxModule *module, uint32_t entry, const Recording *recording, Arena *arena) {
    static const size_t budget = (size_t)64 << 20;
    const char *problem;
    Recording unpacked = *recording;
    if (recording->launch.flags & (RECORDING_HUNG | RECORDING_CUT) || recording->unseen.size)
        return NULL;
    PtxProgram *program = ptx_program(arena, module, entry, budget, &problem);
    if (!program || !play_unpack(program, &unpacked, arena) || has_globals(program))
        return NULL; /* pointers may lead to variables, too */
    PtxLaunch *launch = launch_of(program, &unpacked, arena);
    if (launch->buffer_count)
        qsort(launch->buffers, launch->buffer_count, sizeof *launch->buffers, buffer_by_address);
    for (uint32_t i = 1; i < launch->buffer_count; i++)
        if (launch->buffers[i].address - launch->buffers[i - 1].address < launch->buffers[i - 1].bytes)
            return NULL; /* which of the two a pointer means is not known */
    const Launch *from = ptx_launch_from(arena, program, launch, PTX_LAUNCH_BARE, &problem);
    if (!from)
        return NULL;
    Launch *given = ARENA_NEW(arena, Launch);
    *given = *from;
    given->dependent = launch->dependent;
    return given;
}

static bool has_name_of(const PtxModule *module, uint32_t variable, uint32_t other) {
    const PtxVariable *one = &module->variables[variable], *two = &module->variables[other];
    return variable == other || (one->name == two->name && one->scope == two->scope);
}

void launch_report_shared(const ThreadsCheck *check, const Recording *recording, const Sites *sites) {
    const PtxProgram *program = check->program;
    uint32_t used = 0, missing = PTX_NONE;
    for (uint32_t i = 0; i < check->module->variables_count; i++) {
        bool reported = false;
        if (!program->used[i] || program->seats[i].space != PTX_SPACE_SHARED)
            continue;
        used++;
        for (uint32_t k = 0; k < sites->shared_count && !reported; k++)
            reported =
                recording->places && recording->places->shared_at[k] && has_name_of(check->module, i, sites->shared[k]);
        missing = reported ? missing : i;
    }
    if (used > 1 && missing != PTX_NONE)
        verdict_incomplete(check->verdict, "", 0, "the address of %.*s in shared memory was not recorded",
                           STR_ARG(ptx_name(check->module, check->module->variables[missing].name)));
}

/* Variables in shared memory lie where the kernel's compiler put them, if the recording says where. */
static void seat_shared(ThreadsCheck *check, const Recording *recording, const Sites *sites) {
    PtxProgram *program = check->program;
    uint64_t end = 0, dynamic = 0;
    for (uint32_t i = 0; recording->places && i < sites->shared_count; i++)
        for (uint32_t k = 0; recording->places->shared_at[i] && k < check->module->variables_count; k++) {
            PtxSymbolSlot *seat = &program->seats[k];
            if (!program->used[k] || seat->space != PTX_SPACE_SHARED ||
                !has_name_of(check->module, k, sites->shared[i]))
                continue;
            seat->at = recording->places->shared_at[i] - 1U;
            end = seat->at + seat->bytes > end ? seat->at + seat->bytes : end;
            dynamic = seat->bytes ? dynamic : seat->at;
        }
    if (end > program->shared_bytes)
        program->shared_bytes = end;
    program->dynamic_at = dynamic                                       ? dynamic
                          : program->dynamic_at < program->shared_bytes ? (program->shared_bytes + 15) / 16 * 16
                                                                        : program->dynamic_at;
}

/* Variables in global memory lie where the driver put them, if the recording says where. */
static void seat_globals(ThreadsCheck *check, const Recording *recording, const Sites *sites) {
    PtxProgram *program = check->program;
    for (uint32_t i = 0; recording->places && i < sites->globals_count; i++) {
        uint64_t at = recording->places->global_at[i];
        for (uint32_t k = 0; at && k < check->module->variables_count; k++) {
            PtxSymbolSlot *seat = &program->seats[k];
            if (program->used[k] && seat->space == PTX_SPACE_GLOBAL && at < PLAY_WINDOWS - seat->bytes &&
                has_name_of(check->module, k, sites->globals[i]))
                seat->at = at;
        }
    }
}

void launch_seat(ThreadsCheck *check, const Recording *recording, const Sites *sites) {
    seat_shared(check, recording, sites);
    seat_globals(check, recording, sites);
}
