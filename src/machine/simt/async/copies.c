/* Copies: who takes which instruction, and what those who run them share. */
#include "machine/simt/async/copies.h"

/* ---- Policies of caches: nothing depends on what one is ------------------------------------------ */

static PtxStep policy_run(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    Lanes values = {{0}};
    ptx_put(machine, group, code_argument(machine->program, code, 0), 0, &values, lanes, lanes);
    return PTX_STEP_NEXT;
}

static bool policy_prepare(const PtxPrepare *about, PtxCode *code) {
    static const char *const words[] = {"L2::evict_last", "L2::evict_normal", "L2::evict_first", "L2::evict_unchanged",
                                        "L2"};
    if (about->effect_count || about->evaluator != PTX_EVALUATE_PURE)
        return false;
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (code_has(code, str_of(words[i]))) {
            code->run = policy_run;
            return true;
        }
    return false;
}

bool copy_prepare(const PtxPrepare *about, PtxCode *code) {
    return policy_prepare(about, code) || thread_copy_prepare(about, code) || request_prepare(about, code) ||
           tile_prepare(about, code) || remote_prepare(about, code) || bulk_prepare(about, code) ||
           map_prepare(about, code);
}

/* ---- Operands ----------------------------------------------------------------------------------- */

PtxSpace effect_space(const PtxEffect *effect) {
    if (effect->memory)
        return PTX_SPACE_UNKNOWN;
    if (effect->effect.space == SPACE_GLOBAL)
        return PTX_SPACE_GLOBAL;
    return effect->any_cta ? PTX_SPACE_CLUSTER : PTX_SPACE_SHARED;
}

bool lane_value(PtxMachine *machine, PtxGroup *group, const PtxCode *code, const PtxArgument *argument, uint32_t lane,
                uint64_t *value, PtxStep *step) {
    Lanes scratch;
    uint32_t unknown = 0;
    const Lanes *values = ptx_fetch(machine, group, argument, 0, &scratch, &unknown);
    *value = values->at[lane];
    if (!(unknown >> lane & 1))
        return true;
    *step = ptx_stop(machine, code, "how many bytes it copies, or which CTAs it copies to, is not known");
    return false;
}

bool find_location(PtxMachine *machine, PtxGroup *group, const PtxCode *code, const PtxArgument *argument,
                   PtxSpace space, uint32_t lane, uint64_t bytes, uint32_t align, RuleId misaligned,
                   PtxLocation *location) {
    Lanes scratch;
    uint32_t unknown = 0;
    const Lanes *addresses = ptx_fetch_address(machine, group, argument, &scratch, &unknown);
    uint64_t address = addresses->at[lane];
    if (unknown >> lane & 1) {
        ptx_stop(machine, code, "an address of its copy is not known");
        return false;
    }
    if (address % align) {
        ptx_fault(
            machine, group, misaligned, code, 1u << lane,
            machine_sentence(machine, "address 0x%llx is not a multiple of %u", (unsigned long long)address, align));
        machine->fault.address = address;
        return false;
    }
    return ptx_resolve_one(machine, code, group->warp, lane, space, address, bytes, 1, location);
}

bool location_in_cta(PtxMachine *machine, const PtxCode *code, const PtxWarp *warp, uint32_t lane, PtxLocation location,
                     uint32_t rank, PtxLocation *there) {
    PtxCta *cta =
        rank < machine->cluster_size ? machine->ctas[warp->cta->cluster * machine->cluster_size + rank] : NULL;
    if (!cta || !cta->live) {
        fault_with(machine, rank < machine->cluster_size ? RULE_CLUSTER_EXIT : RULE_TMA_MULTICAST, code, warp,
                   1u << lane, location.offset, rank,
                   machine_sentence(machine,
                                    rank < machine->cluster_size ? "CTA %u of the cluster has ended"
                                                                 : "the cluster has no CTA %u",
                                    rank));
        return false;
    }
    *there = (PtxLocation){&cta->shared, location.offset};
    return true;
}

bool location_is_there(PtxMachine *machine, const PtxOutstanding *outstanding, PtxLocation location) {
    if (location.block->space != PTX_SPACE_SHARED && location.block->space != PTX_SPACE_CLUSTER)
        return true;
    uint32_t number = location.block->cta;
    const PtxCta *cta = number == PTX_NONE ? NULL : machine->ctas[number];
    if (number == PTX_NONE || cta == outstanding->warp->cta || (cta && cta->live))
        return true;
    fault_with(machine, RULE_CLUSTER_EXIT, outstanding->code, outstanding->warp, outstanding->lanes, location.offset,
               number, "the CTA whose shared memory it is has ended before the copy is over");
    return false;
}

void copy_load(PtxMachine *machine, const PtxCode *code, PtxLocation location, size_t count, uint8_t *bytes,
               uint8_t *states) {
    if (!copy_loads(machine, code)) {
        memset(bytes, 0, count);
        memset(states, BYTE_UNKNOWN, count);
        return;
    }
    ptx_load_bytes(machine, location, count, bytes, states);
}

void copy_note_unset(PtxMachine *machine, const PtxOutstanding *outstanding, uint32_t lane, PtxLocation location,
                     size_t count, uint8_t *states) {
    const uint8_t *first = memchr(states, BYTE_NEVER, count);
    if (!first)
        return;
    size_t at = (size_t)(first - states);
    ptx_note_unset(machine, outstanding->code, outstanding->warp, lane,
                   (PtxLocation){location.block, location.offset + at});
    for (; at < count; at++)
        states[at] = states[at] == BYTE_NEVER ? BYTE_UNKNOWN : states[at];
}

/* ---- Landing ------------------------------------------------------------------------------------ */

CopyScratch *copy_scratch(PtxMachine *machine, size_t bytes) {
    GridSync *grid = grid_sync(machine);
    if (!grid->scratch)
        grid->scratch = ARENA_NEW(&machine->arena, CopyScratch);
    CopyScratch *scratch = grid->scratch;
    if (scratch->capacity < bytes) {
        size_t capacity = scratch->capacity ? scratch->capacity : 4096;
        while (capacity < bytes)
            capacity *= 2;
        scratch->bytes = arena_alloc(&machine->arena, capacity);
        scratch->states = arena_alloc(&machine->arena, capacity);
        scratch->capacity = capacity;
    }
    scratch->reads.count = scratch->writes.count = 0;
    return scratch;
}

void pieces_add(PtxMachine *machine, Pieces *pieces, PtxLocation location, uint32_t bytes) {
    PtxLocation *last = pieces->count ? &pieces->locations[pieces->count - 1] : NULL;
    if (last && last->block == location.block && last->offset + pieces->sizes[pieces->count - 1] == location.offset) {
        pieces->sizes[pieces->count - 1] += bytes;
        return;
    }
    uint32_t at = pieces->count;
    *ARENA_PUSH(&machine->arena, pieces->sizes, at, pieces->size_capacity) = bytes;
    *ARENA_PUSH(&machine->arena, pieces->locations, pieces->count, pieces->capacity) = location;
}

void report_pieces(PtxMachine *machine, const PtxOutstanding *outstanding, const PtxAccess *access,
                   const Pieces *pieces) {
    if (!pieces->count)
        return;
    ptx_emit(machine, &(PtxEvent){.kind = PTX_EVENT_ACCESS,
                                  .code = outstanding->code,
                                  .warp = outstanding->warp,
                                  .lanes = outstanding->lanes,
                                  .outstanding = outstanding,
                                  .access = *access,
                                  .locations = pieces->locations,
                                  .location_count = pieces->count,
                                  .sizes = pieces->sizes,
                                  .changes = access->kind == KIND_READ ? 0 : outstanding->lanes});
}

void copy_completes(PtxMachine *machine, const PtxOutstanding *outstanding, uint64_t place, int64_t bytes) {
    ptx_mbarrier_bring(machine, &(PtxEvent){.kind = PTX_EVENT_COMPLETE,
                                            .code = outstanding->code,
                                            .warp = outstanding->warp,
                                            .lanes = 1u << outstanding->lane,
                                            .outstanding = outstanding,
                                            .place = place,
                                            .count = bytes,
                                            .order = ORDER_RELEASE,
                                            .scope = SCOPE_CLUSTER});
}
