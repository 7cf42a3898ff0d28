/* Writes of pieces whose size is an operand (discard, st.bulk); and loads and stores of all memories behind a multimem
 * address, of which the machine has one: what they would reduce to is not known. */
#include "machine/simt/core/internal.h"

typedef struct MemoryPiece {
    CoreAccess access;
    const PtxArgument *size;
    bool zeros; /* else nothing is known of the bytes any more */
} MemoryPiece;

static PtxStep run_piece(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const MemoryPiece *piece = code->detail;
    Lanes scratch, size_scratch;
    uint32_t unknown = 0;
    const Lanes *addresses = ptx_fetch_address(machine, group, piece->access.address, &scratch, &unknown);
    const Lanes *sizes = ptx_fetch(machine, group, piece->size, 0, &size_scratch, &unknown);
    if (unknown & lanes)
        ptx_leave_out(machine, group, code);
    for (uint32_t rest = lanes & ~unknown; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        PtxLocation locations[PTX_LANES];
        uint64_t bytes = sizes->at[lane];
        CoreAccess access = piece->access;
        if (!bytes)
            continue;
        if (!ptx_resolve_one(machine, code, group->warp, lane, access.space, addresses->at[lane], bytes, access.align,
                             &locations[lane]))
            return PTX_STEP_FAULT;
        access.access.bytes = (uint32_t)bytes;
        access_emit(machine, group, code, &access, UINT32_C(1) << lane, locations, UINT32_C(1) << lane);
        machine->changes++;
        if (machine->plays)
            continue;
        block_written(machine, locations[lane].block, locations[lane].offset, bytes);
        for (size_t done = 0, part; done < bytes; done += part) {
            uint64_t at = locations[lane].offset + done;
            part = bytes - done;
            PtxBlock *block = block_make_page(machine, locations[lane].block, &at, &part);
            block_make_states(machine, block);
            memset(block->bytes + at, 0, part);
            memset(block->states + at, piece->zeros ? BYTE_KNOWN : BYTE_NEVER, part);
        }
    }
    return PTX_STEP_NEXT;
}

static bool prepare_piece(const PtxPrepare *about, PtxCode *code) {
    enum { DISCARD_ALIGN = 128, BULK_ALIGN = 8 };
    const PtxProgram *program = about->program;
    MemoryPiece *piece = ARENA_NEW(about->program->arena, MemoryPiece);
    piece->size = code_named(program, code, about->effects[0].limit.size ? about->effects[0].limit : STR("size"));
    piece->zeros = ptx_row_names(code->form->row, STR("zero"));
    piece->access = (CoreAccess){.space = ptx_space_of_form(code->form->text, 0),
                                 .address = code_named(program, code, STR("a")),
                                 .align = piece->zeros ? BULK_ALIGN : DISCARD_ALIGN,
                                 .members = 1};
    piece->access.access = (PtxAccess){.kind = KIND_WRITE, .proxy = PROXY_GENERIC, .element = 1, .used = UINT32_MAX};
    code->run = run_piece;
    code->detail = piece;
    code->visible = true;
    return piece->size && piece->access.address;
}

/* ---- multimem ---- */

static PtxStep run_reduce(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    static const Lanes zeros;
    const CoreAccess *access = code->detail;
    Lanes scratch;
    PtxLocation locations[PTX_LANES];
    uint32_t unknown = 0, there = lanes;
    if (machine->results)
        return ptx_stop(machine, code, "reductions over the memories behind a multimem address are not computed");
    const Lanes *addresses = ptx_fetch_address(machine, group, access->address, &scratch, &unknown);
    if (!ptx_resolve(machine, group, code, PTX_SPACE_UNKNOWN, addresses, unknown, access->align, access->align, &there,
                     locations))
        return PTX_STEP_FAULT;
    if (there)
        access_emit(machine, group, code, access, there, locations, 0);
    for (unsigned i = 0; i < access->members; i++)
        ptx_put(machine, group, access_member(machine->program, access->gives, i), 0, &zeros, lanes, lanes);
    return PTX_STEP_NEXT;
}

static bool prepare_reduce(const PtxPrepare *about, PtxCode *code) {
    CoreAccess *access = ARENA_NEW(about->program->arena, CoreAccess);
    if (!access_describe(about, code, access))
        return false;
    access->gives = code_named(about->program, code, STR("d"));
    access->access.kind = KIND_READ;
    access->access.used = (UINT32_C(1) << access->members) - 1;
    code->run = run_reduce;
    code->detail = access;
    code->visible = true;
    return access->gives != NULL;
}

bool pieces_prepare(const PtxPrepare *about, PtxCode *code) {
    const PtxEffect *effect = about->effects;
    if (about->effect_count != 1 || effect->effect.done != DONE_NOW)
        return false;
    if (effect->effect.verb == EFFECT_READ && effect->replicas)
        return prepare_reduce(about, code);
    return effect->effect.verb == EFFECT_WRITE && !effect->value.size && !effect->matrix && prepare_piece(about, code);
}
