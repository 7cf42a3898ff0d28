/* Playing: groups that stand before an instruction, their registers, and ends. */
#include "machine/simt/core/play.h"

#include "machine/simt/core/internal.h"

void play_prepare(PtxMachine *machine, PtxProgram *program) {
    machine->plays = machine->immediate = true;
    machine->computes = COMPUTES_NEEDED;
    machine->windows = PLAY_WINDOWS;
    for (uint32_t i = 0; i < program->code_count; i++)
        program->code[i].data = true;
}

static const PtxRoutine *routine_of(const PtxProgram *program, uint32_t at) {
    for (uint32_t i = 0; i < program->module->functions_count; i++)
        if (program->routines[i].ready && at >= program->routines[i].begin && at < program->routines[i].end)
            return &program->routines[i];
    return &program->routines[program->entry];
}

/* That of the function, for all warps: the pool's first. */
static PtxFrame *frame_for(PtxMachine *machine, const PtxCode *code, PtxWarp *warp) {
    const PtxRoutine *routine = routine_of(machine->program, (uint32_t)(code - machine->program->code));
    PtxFrame *frame = pools_of(machine)->frames[routine->function];
    if (!frame) {
        frame = new_frame(machine, routine, NULL, PTX_NONE, UINT32_MAX, warp->cta, warp->index);
        pools_of(machine)->frames[routine->function] = frame;
    }
    frame->users++;
    return frame;
}

PtxGroup *play_group(PtxMachine *machine, PtxWarp *warp, const PtxCode *code, uint32_t lanes) {
    PtxGroup *group = new_group(machine, warp);
    group->frame = frame_for(machine, code, warp);
    group->lanes = lanes;
    group->pc = (uint32_t)(code - machine->program->code);
    return group;
}

void play_done(PtxMachine *machine, PtxGroup *group) {
    free_group(machine, group);
}

void play_set(PtxMachine *machine, PtxGroup *group, const PtxArgument *argument, const Lanes *values, uint32_t lanes) {
    ptx_put(machine, group, argument, 0, values, lanes, 0);
}

void play_forget(PtxGroup *group, const PtxArgument *argument) {
    if (argument->kind == ARGUMENT_ROW)
        group->frame->row_unknown[argument->slot] = UINT32_MAX;
    else if (argument->kind == ARGUMENT_PREDICATE)
        group->frame->mask_unknown[argument->slot] = UINT32_MAX;
}

void play_ran(PtxMachine *machine, const PtxCode *code, uint32_t lanes) {
    machine->used++;
    machine->thread_instructions += (uint32_t)__builtin_popcount(lanes);
    if (machine->ran)
        machine->ran[code - machine->program->code] |= PTX_RAN | PTX_RAN_YES;
}

PtxStep play_run(PtxMachine *machine, PtxGroup *group, const PtxCode *code) {
    PtxFrame *frame = group->frame;
    play_ran(machine, code, group->lanes);
    if (code->guard != PTX_NONE) { /* lanes that it does not hold in are not the group's */
        frame->masks[code->guard] = code->guard_negated ? ~group->lanes : group->lanes;
        frame->mask_unknown[code->guard] = 0;
    }
    group->status = PTX_IS_READY;
    return code->run(machine, group, code, group->lanes);
}

void play_exit(PtxMachine *machine, PtxWarp *warp, uint32_t lanes) {
    lanes &= warp->launched & ~warp->exited;
    if (!lanes)
        return;
    ptx_emit(machine, &(PtxEvent){.kind = PTX_EVENT_EXIT, .warp = warp, .lanes = lanes});
    warp->exited |= lanes;
    warp->cta->live -= (uint32_t)__builtin_popcount(lanes);
    machine->changes++;
    barriers_exit(machine, warp, lanes);
}

bool play_end(PtxMachine *machine, uint32_t cluster) {
    for (uint32_t i = 0; i < machine->cluster_size; i++) {
        PtxCta *cta = machine->ctas[cluster * machine->cluster_size + i];
        if (cta && !cta->live)
            cta_end(machine, cta);
    }
    return !machine->ctas[cluster * machine->cluster_size];
}

bool play_address(const PtxProgram *program, const PtxArgument *address, PlayAccess *access) {
    access->base = address;
    if (address->kind == ARGUMENT_ADDRESS && address->count) {
        access->base = argument_member(program, address, 0);
        access->offset = address->offset;
    }
    return access->base->kind == ARGUMENT_ROW;
}

bool play_access(const PtxProgram *program, const PtxCode *code, PlayAccess *access) {
    const CoreAccess *detail = access_plain(code);
    if (!detail || detail->own)
        return false;
    *access = (PlayAccess){.access = detail->access, .space = detail->space, .align = detail->align};
    return play_address(program, detail->address, access);
}

bool play_has(PtxMachine *machine, uint64_t begin, uint64_t end) {
    const PtxBlock *block = memory_find(machine, begin);
    return block && block->space == PTX_SPACE_GLOBAL && begin - block->base < block->size &&
           end - block->base <= block->size;
}

bool play_lane(PtxMachine *machine, PtxWarp *warp, const PtxCode *code, uint32_t lane, uint64_t address, bool stores) {
    const CoreAccess *access = access_plain(code), *update = access ? NULL : access_update(code);
    PtxLocation locations[PTX_LANES];
    access = access ? access : update;
    if (!access || (!update && access->access.kind != KIND_READ) || access->own || access->members > 1 ||
        access->space != PTX_SPACE_GLOBAL || address % access->align ||
        !memory_global(machine, address, access->access.bytes, &locations[lane]))
        return false;
    play_ran(machine, code, UINT32_C(1) << lane);
    ptx_emit(machine, &(PtxEvent){.kind = PTX_EVENT_ACCESS,
                                  .code = code,
                                  .warp = warp,
                                  .lanes = UINT32_C(1) << lane,
                                  .access = access->access,
                                  .locations = locations,
                                  .location_count = PTX_LANES,
                                  .changes = (uint32_t)(update && stores) << lane});
    return true;
}

bool play_location(PtxMachine *machine, PtxGroup *group, const PtxCode *code, const PtxArgument *argument,
                   uint32_t lane, PtxLocation *location) {
    Lanes scratch;
    uint32_t unknown = 0;
    const Lanes *addresses = ptx_fetch_address(machine, group, argument, &scratch, &unknown);
    return !(unknown >> lane & 1) &&
           ptx_resolve_one(machine, code, group->warp, lane, ptx_space_of_form(code->form->text, 0),
                           addresses->at[lane], 8, 8, location);
}
