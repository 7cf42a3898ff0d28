/* The machine: what it holds, CTAs that begin and end, and a group's turn. */
#include "machine/simt/core/internal.h"
#include "machine/simt/core/scout.h"
#include "machine/simt/core/symmetry.h"

#include <stdlib.h>

enum { JUMPS_A_TURN = 256 };
#define MACHINE_BUDGET ((size_t)3 << 30)

/* ---- Making one ---- */

static uint64_t volume(const uint32_t sizes[3]) {
    return (uint64_t)(sizes[0] ? sizes[0] : 1) * (sizes[1] ? sizes[1] : 1) * (sizes[2] ? sizes[2] : 1);
}

static const char *shape_problem(const PtxProgram *program, const PtxLaunch *launch) {
    enum { MOST_THREADS = 1024, MOST_CLUSTER = 16, MOST_WARPS = 64 };
    uint64_t threads = volume(launch->block), ctas = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    if (!ctas || !launch->block[0] || !launch->block[1] || !launch->block[2])
        return "the grid and the block have to have at least one CTA and one thread";
    if (ctas > UINT32_MAX / MOST_WARPS)
        return "the grid has more CTAs than are run";
    if (threads > MOST_THREADS)
        return "a CTA has at most 1024 threads";
    if (volume(launch->cluster) > MOST_CLUSTER)
        return "a cluster has at most 16 CTAs";
    for (unsigned i = 0; i < 3; i++) {
        if (launch->cluster[i] && launch->grid[i] % launch->cluster[i])
            return "the grid is not a multiple of the cluster";
        if (program->required[0] && launch->block[i] != program->required[i])
            return "the block is not what .reqntid says";
        if (program->cluster[0] && (launch->cluster[i] ? launch->cluster[i] : 1) != program->cluster[i])
            return "the cluster is not what .reqnctapercluster says";
    }
    return NULL;
}

PtxMachine *ptx_machine(const PtxProgram *program, const PtxLaunch *launch, PtxComputes computes,
                        const char **problem) {
    *problem = shape_problem(program, launch);
    if (!*problem && program->parameter_bytes && !launch->parameters)
        *problem = "the launch gives no parameters";
    Core *core = *problem ? NULL : calloc(1, sizeof *core);
    if (!core) {
        *problem = *problem ? *problem : "there is not enough memory";
        return NULL;
    }
    PtxMachine *machine = &core->machine;
    *machine = (PtxMachine){
        .program = program, .launch = launch, .computes = computes, .budget = UINT64_MAX, .windows = PTX_WINDOW_SHARED};
    arena_init(&machine->arena, MACHINE_BUDGET);
    machine->cluster_size = (uint32_t)volume(launch->cluster);
    machine->threads_per_cta = (uint32_t)volume(launch->block);
    machine->cta_count = launch->grid[0] * launch->grid[1] * launch->grid[2];
    return machine;
}

void ptx_machine_start(PtxMachine *machine) {
    Pools *pools = pools_of(machine);
    arena_reset(&machine->arena);
    *pools = (Pools){.frames = ARENA_ARRAY(&machine->arena, PtxFrame *, machine->program->module->functions_count)};
    machine->ctas = ARENA_SPARSE(&machine->arena, PtxCta *, machine->cta_count);
    machine->outstanding_ops = NULL;
    machine->outstanding_count = machine->outstanding_capacity = 0;
    machine->next_sequence = 1;
    machine->used = machine->thread_instructions = machine->changes = machine->meetings = 0;
    machine->clock = machine->clock_begin;
    machine->havocs = NULL;
    machine->havoc_count = machine->havoc_capacity = 0;
    machine->unset = NULL;
    machine->unset_count = machine->unset_capacity = 0;
    machine->fault = (PtxFault){0};
    machine->unknown = NULL;
    machine->unknown_why = NULL;
    machine->asserted = NULL;
    machine->grid = machine->tiles = NULL;
    machine->ordered = false;
    memory_start(machine);
}

void ptx_machine_free(PtxMachine *machine) {
    if (!machine)
        return;
    arena_free(&machine->arena);
    free(machine);
}

/* ---- Frames and groups ---- */

static PtxFrame *make_frame(PtxMachine *machine, const PtxRoutine *routine) {
    Arena *arena = &machine->arena;
    PtxFrame *frame = ARENA_NEW(arena, PtxFrame);
    frame->rows = arena_alloc(arena, sizeof(Lanes) * ((size_t)routine->rows + 1));
    memset(frame->rows, 0, sizeof(Lanes) * ((size_t)routine->rows + 1));
    frame->masks = ARENA_ARRAY(arena, uint32_t, routine->masks + 1);
    frame->row_unknown = ARENA_ARRAY(arena, uint32_t, routine->rows + 1);
    frame->mask_unknown = ARENA_ARRAY(arena, uint32_t, routine->masks + 1);
    frame->params = ARENA_ARRAY(arena, uint8_t, (size_t)routine->param_bytes * PTX_LANES + 8);
    frame->param_states = ARENA_ARRAY(arena, uint8_t, (size_t)routine->param_bytes * PTX_LANES + 8);
    return frame;
}

/* Local memory of a frame: nothing has written it yet. */
static void clear_locals(PtxMachine *machine, const PtxFrame *frame, PtxCta *cta, uint32_t warp) {
    uint32_t bytes = machine->plays ? 0 : frame->routine->local_bytes;
    for (uint32_t rest = frame->lanes; bytes && rest; rest &= rest - 1) {
        PtxBlock *block = local_block(machine, cta, warp * PTX_LANES + (uint32_t)__builtin_ctz(rest));
        uint64_t end = (uint64_t)frame->local_at + bytes;
        local_grow(machine, block, end);
        if (block->states)
            memset(block->states + frame->local_at, BYTE_NEVER, bytes);
    }
}

/* Registers that nothing has written, in a run with other data or for its results: what they hold does not depend on
 * who had the frame before. */
static void clear_registers(const PtxMachine *machine, PtxFrame *frame, const PtxCta *cta, uint32_t warp) {
    memset(frame->masks, 0, sizeof *frame->masks * frame->routine->masks);
    if (!machine->other) {
        memset(frame->rows, 0, sizeof *frame->rows * frame->routine->rows);
        return;
    }
    uint32_t first = cta->number * machine->threads_per_cta + warp * PTX_LANES;
    for (unsigned lane = 0; lane < PTX_LANES; lane++) {
        uint64_t unset = memory_unset(machine, first + lane);
        for (uint32_t i = 0; i < frame->routine->rows; i++)
            frame->rows[i].at[lane] = unset;
    }
}

PtxFrame *new_frame(PtxMachine *machine, const PtxRoutine *routine, PtxFrame *caller, uint32_t back, uint32_t lanes,
                    PtxCta *cta, uint32_t warp) {
    Pools *pools = pools_of(machine);
    PtxFrame **pool = &pools->frames[routine->function], *frame = *pool;
    if (frame)
        *pool = frame->caller;
    else
        frame = make_frame(machine, routine);
    frame->routine = routine;
    frame->caller = caller;
    frame->back = back;
    frame->users = 1;
    frame->serial = ++pools->frame_serial;
    frame->depth = caller ? caller->depth + 1 : 0;
    frame->lanes = lanes;
    frame->stack = NULL;
    frame->carry = 0;
    frame->carry_unknown = UINT32_MAX;
    memset(frame->row_unknown, 0xff, sizeof(uint32_t) * routine->rows);
    memset(frame->mask_unknown, 0xff, sizeof(uint32_t) * routine->masks);
    memset(frame->param_states, BYTE_NEVER, (size_t)routine->param_bytes * PTX_LANES);
    frame->local_at = caller ? frame_top(caller) : 0;
    if (caller)
        caller->users++;
    clear_locals(machine, frame, cta, warp);
    if (machine->other || machine->results)
        clear_registers(machine, frame, cta, warp);
    if (machine->results)
        memset(frame->params, 0, (size_t)routine->param_bytes * PTX_LANES);
    return frame;
}

void release_frame(PtxMachine *machine, PtxFrame *frame) {
    while (frame && !--frame->users) {
        PtxFrame *caller = frame->caller, **pool = &pools_of(machine)->frames[frame->routine->function];
        frame->caller = *pool;
        *pool = frame;
        frame = caller;
    }
}

PtxGroup *new_group(PtxMachine *machine, PtxWarp *warp) {
    Pools *pools = pools_of(machine);
    PtxGroup *group = pools->groups;
    void *spin = NULL;
    if (group) {
        pools->groups = group->next;
        spin = group->spin;
    } else {
        group = ARENA_NEW(&machine->arena, PtxGroup);
    }
    *group = (PtxGroup){.warp = warp, .next = warp->groups, .meet = PTX_NONE, .spin = spin};
    spin_forget(group);
    warp->groups = group;
    return group;
}

void free_group(PtxMachine *machine, PtxGroup *group) {
    PtxGroup **at = &group->warp->groups;
    while (*at != group)
        at = &(*at)->next;
    *at = group->next;
    if (group->parts)
        part_release(machine, group->parts);
    release_frame(machine, group->frame);
    group->parts = NULL;
    group->frame = NULL;
    group->lanes = 0;
    group->status = PTX_IS_DONE;
    group->next = pools_of(machine)->groups;
    pools_of(machine)->groups = group;
}

/* ---- CTAs ---- */

static PtxCta *make_cta(PtxMachine *machine) {
    Arena *arena = &machine->arena;
    Pools *pools = pools_of(machine);
    if (pools->cta_count)
        return pools->ctas[--pools->cta_count];
    PtxCta *cta = ARENA_NEW(arena, PtxCta);
    cta->threads = machine->threads_per_cta;
    cta->warp_count = (cta->threads + PTX_LANES - 1) / PTX_LANES;
    cta->warps = ARENA_ARRAY(arena, PtxWarp, cta->warp_count);
    return cta;
}

static void begin_shared(PtxMachine *machine, PtxCta *cta) {
    PtxBlock *shared = &cta->shared;
    uint64_t size = machine->program->dynamic_at + machine->launch->dynamic_bytes;
    if (shared->bytes) {
        memset(shared->bytes, 0, size);
        memset(shared->states, BYTE_NEVER, size);
    }
    *shared = (PtxBlock){.space = PTX_SPACE_SHARED,
                         .size = size,
                         .bytes = shared->bytes,
                         .states = shared->states,
                         .fill = machine->plays ? BYTE_UNKNOWN : BYTE_NEVER,
                         .name = "shared memory",
                         .cta = cta->number};
    if (!machine->plays)
        block_make_states(machine, shared);
}

static void begin_warp(PtxMachine *machine, PtxCta *cta, uint32_t index) {
    PtxWarp *warp = &cta->warps[index];
    uint32_t threads = cta->threads - index * PTX_LANES;
    const PtxRoutine *routine = &machine->program->routines[machine->program->entry];
    *warp = (PtxWarp){.cta = cta, .index = index, .visits = warp->visits, .visit_capacity = warp->visit_capacity};
    for (uint32_t i = 0; i < warp->visit_capacity; i++)
        memset(warp->visits[i], 0, sizeof warp->visits[i]);
    warp->launched = threads >= PTX_LANES ? UINT32_MAX : (UINT32_C(1) << threads) - 1;
    if (machine->plays)
        return;
    PtxGroup *group = new_group(machine, warp);
    group->lanes = warp->launched;
    group->pc = routine->begin;
    group->frame = new_frame(machine, routine, NULL, PTX_NONE, warp->launched, cta, index);
}

static void begin_cta(PtxMachine *machine, uint32_t cluster, uint32_t rank) {
    const PtxLaunch *launch = machine->launch;
    PtxCta *cta = make_cta(machine);
    uint32_t size[3], clusters[3];
    for (unsigned i = 0; i < 3; i++) {
        size[i] = launch->cluster[i] ? launch->cluster[i] : 1;
        clusters[i] = launch->grid[i] / size[i];
    }
    cta->number = cluster * machine->cluster_size + rank;
    cta->rank = rank;
    cta->cluster = cluster;
    cta->id[0] = cluster % clusters[0] * size[0] + rank % size[0];
    cta->id[1] = cluster / clusters[0] % clusters[1] * size[1] + rank / size[0] % size[1];
    cta->id[2] = cluster / clusters[0] / clusters[1] * size[2] + rank / size[0] / size[1];
    cta->live = cta->threads;
    cta->over = false;
    cta->sync = cta->tensor = NULL;
    for (uint32_t i = 0; cta->locals && i < cta->threads; i++) {
        cta->locals[i].cta = cta->number;
        if (cta->locals[i].states) {
            memset(cta->locals[i].bytes, 0, cta->locals[i].size);
            memset(cta->locals[i].states, BYTE_NEVER, cta->locals[i].size);
        }
    }
    begin_shared(machine, cta);
    machine->ctas[cta->number] = cta;
    for (uint32_t i = 0; i < cta->warp_count; i++)
        begin_warp(machine, cta, i);
    barriers_cta_begin(machine, cta);
    tensor_cta_begin(machine, cta);
}

void ptx_machine_begin(PtxMachine *machine, uint32_t cluster) {
    for (uint32_t rank = 0; rank < machine->cluster_size; rank++)
        begin_cta(machine, cluster, rank);
}

void cta_end(PtxMachine *machine, PtxCta *cta) {
    if (cta->live || outstanding_ops_of_cta(machine, cta))
        return;
    if (!cta->over)
        ptx_emit(machine, &(PtxEvent){.kind = PTX_EVENT_CTA_OVER, .warp = &cta->warps[0]});
    cta->over = true;
    for (uint32_t i = 0; i < machine->cluster_size; i++) {
        const PtxCta *other = machine->ctas[cta->cluster * machine->cluster_size + i];
        if (other && !other->over)
            return;
    }
    for (uint32_t i = 0; i < machine->cluster_size; i++) {
        uint32_t number = cta->cluster * machine->cluster_size + i;
        Pools *pools = pools_of(machine);
        barriers_cta_end(machine, machine->ctas[number]);
        *ARENA_PUSH(&machine->arena, pools->ctas, pools->cta_count, pools->cta_capacity) = machine->ctas[number];
        machine->ctas[number] = NULL;
    }
}

uint32_t ptx_thread_number(const PtxMachine *machine, const PtxWarp *warp, uint32_t lane) {
    return warp->cta->number * machine->threads_per_cta + warp->index * PTX_LANES + lane;
}

void ptx_exit(PtxMachine *machine, PtxGroup *group, uint32_t lanes) {
    PtxWarp *warp = group->warp;
    ptx_emit(
        machine,
        &(PtxEvent){.kind = PTX_EVENT_EXIT, .code = &machine->program->code[group->pc], .warp = warp, .lanes = lanes});
    group->lanes &= ~lanes;
    warp->exited |= lanes;
    warp->cta->live -= (uint32_t)__builtin_popcount(lanes);
    machine->changes++;
    if (!group->lanes)
        free_group(machine, group);
    barriers_exit(machine, warp, lanes);
    control_exited(machine, warp);
}

/* ---- What is told ---- */

void ptx_emit(PtxMachine *machine, const PtxEvent *event) {
    if (machine->symmetry)
        ptx_symmetry_event(machine->symmetry, event);
    if (machine->observe)
        machine->observe(machine->observer, event);
}

PtxStep ptx_fault(PtxMachine *machine, PtxGroup *group, RuleId rule, const PtxCode *code, uint32_t lanes,
                  const char *what) {
    machine->fault = (PtxFault){.rule = rule, .code = code, .warp = group->warp, .lanes = lanes, .what = what};
    return PTX_STEP_FAULT;
}

PtxStep ptx_stop(PtxMachine *machine, const PtxCode *code, const char *why) {
    machine->unknown = code;
    machine->unknown_why = why;
    return PTX_STEP_UNKNOWN;
}

PtxStep ptx_run_unknown(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    (void)group, (void)lanes;
    return ptx_stop(machine, code, code->detail);
}

void ptx_note_unset(PtxMachine *machine, const PtxCode *code, const PtxWarp *warp, uint32_t lane,
                    PtxLocation location) {
    for (uint32_t i = 0; i < machine->unset_count; i++)
        if (machine->unset[i].code == code) {
            machine->unset[i].times++;
            return;
        }
    PtxUnset *unset = ARENA_PUSH(&machine->arena, machine->unset, machine->unset_count, machine->unset_capacity);
    *unset = (PtxUnset){.code = code,
                        .cta = warp->cta->number,
                        .thread = warp->index * PTX_LANES + lane,
                        .space = location.block->space,
                        .name = location.block->name,
                        .offset = location.offset,
                        .times = 1};
}

/* ---- A turn ---- */

bool ptx_group_can_go(const PtxMachine *machine, const PtxGroup *group) {
    switch ((PtxStatus)group->status) {
    case PTX_IS_READY:
        return true;
    case PTX_IS_MEETS:
    case PTX_IS_LANES_MEET:
    case PTX_IS_DONE:
        return false;
    case PTX_IS_SPINS:
        return machine->changes != group->since;
    default:
        return barriers_passes(machine, group);
    }
}

/* Lanes that run it: those whose guard holds. One that is not known is what was chosen from here on, for all that read
 * it again, also for this instruction after a wait. */
static uint32_t guarded_lanes(PtxMachine *machine, PtxGroup *group, const PtxCode *code) {
    PtxFrame *frame = group->frame;
    uint32_t negated = code->guard_negated ? UINT32_MAX : 0;
    uint32_t mask = frame->masks[code->guard] ^ negated;
    uint32_t unknown = frame->mask_unknown[code->guard] & group->lanes;
    if (unknown && !machine->results) {
        mask = (mask & ~unknown) | ptx_havoc(machine, group, code, unknown);
        frame->masks[code->guard] = (frame->masks[code->guard] & ~unknown) | ((mask ^ negated) & unknown);
        frame->mask_unknown[code->guard] &= ~unknown;
    }
    return mask & group->lanes;
}

PtxStep ptx_skip(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const PtxProgram *program = machine->program;
    static const Lanes zeros;
    for (uint32_t i = 0; i < code->count; i++) {
        if (!(code->form->writes >> i & 1))
            continue;
        const PtxArgument *argument = code_argument(program, code, i);
        uint32_t members = argument->kind == ARGUMENT_MEMBERS ? argument->count : 1;
        for (uint32_t k = 0; k < members; k++) {
            const PtxArgument *each =
                argument->kind == ARGUMENT_MEMBERS ? argument_member(program, argument, k) : argument;
            ptx_put(machine, group, each, 0, &zeros, lanes, lanes);
            ptx_put(machine, group, each, 1, &zeros, lanes, lanes);
        }
    }
    return PTX_STEP_NEXT;
}

static PtxTurn turn_of(PtxStep step) {
    return step == PTX_STEP_FAULT ? PTX_TURN_FAULT : PTX_TURN_UNKNOWN;
}

static PtxStep run_code(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    machine->used++;
    machine->clock++;
    machine->thread_instructions += group->lanes == UINT32_MAX ? PTX_LANES : (uint32_t)__builtin_popcount(group->lanes);
    if (machine->ran)
        machine->ran[code - machine->program->code] |=
            PTX_RAN | (lanes ? PTX_RAN_YES : 0) | (lanes != group->lanes ? PTX_RAN_NO : 0);
    if (machine->scout)
        return ptx_scout_step(machine, group, code, lanes);
    if (!lanes)
        return PTX_STEP_NEXT;
    return code->skipped ? ptx_skip(machine, group, code, lanes) : code->run(machine, group, code, lanes);
}

PtxTurn ptx_group_turn(PtxMachine *machine, PtxGroup *group) {
    const PtxCode *all = machine->program->code;
    bool seen = false;
    unsigned jumps = 0;
    group->status = PTX_IS_READY;
    for (;;) {
        uint32_t pc = group->pc, lanes = group->lanes;
        const PtxCode *code = &all[pc];
        if (code->visible && machine->step_visible) {
            if (seen)
                return PTX_TURN_OVER;
            seen = true;
        }
        if (machine->used >= machine->budget)
            return PTX_TURN_BUDGET;
        if (code->guard != PTX_NONE)
            lanes = guarded_lanes(machine, group, code);
        if (code->blocks && lanes && lanes != group->lanes)
            control_leave(machine, group, lanes);
        if (machine->symmetry && !code->skipped)
            ptx_symmetry_step(machine->symmetry, machine, group, code, lanes);
        PtxStep step = run_code(machine, group, code, lanes);
        if (step == PTX_STEP_NEXT) {
            if (++group->pc == group->meet && !control_arrive(machine, group))
                return PTX_TURN_WAITS;
        } else if (step == PTX_STEP_MOVED) {
            if (group->status != PTX_IS_READY)
                return PTX_TURN_WAITS;
            if (group->pc > pc)
                continue;
            if (spin_jump(machine, group))
                return PTX_TURN_WAITS;
            if (++jumps == JUMPS_A_TURN)
                return PTX_TURN_OVER;
        } else if (step == PTX_STEP_WAITS) {
            if (machine->fault.code)
                return PTX_TURN_FAULT;
            if (machine->unknown)
                return PTX_TURN_UNKNOWN;
            if (group->status == PTX_IS_READY)
                continue; /* others joined it */
            if (group->lanes && lanes != group->lanes)
                control_leave(machine, group, lanes);
            return PTX_TURN_WAITS;
        } else {
            return turn_of(step);
        }
    }
}
