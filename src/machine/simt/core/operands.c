/* Values of arguments, whole rows at a time. */
#include "machine/simt/core/internal.h"

static const Lanes *same(Lanes *scratch, uint64_t value) {
    for (unsigned i = 0; i < PTX_LANES; i++)
        scratch->at[i] = value;
    return scratch;
}

static uint64_t symbol_address(const PtxMachine *machine, const PtxGroup *group, const PtxArgument *argument) {
    const PtxSymbolSlot *seat = &machine->program->seats[argument->slot];
    uint64_t at = seat->at + (uint64_t)argument->offset;
    if (seat->space == PTX_SPACE_LOCAL)
        return at + group->frame->local_at;
    if (seat->space == PTX_SPACE_SHARED && machine->program->module->capability >= 90)
        return at | (uint64_t)group->warp->cta->rank << PTX_RANK_SHIFT;
    return at;
}

static const Lanes *predicate_values(PtxMachine *machine, PtxGroup *group, const PtxArgument *argument, Lanes *scratch,
                                     uint32_t *unknown) {
    uint32_t mask = ptx_fetch_mask(machine, group, argument, unknown);
    for (unsigned i = 0; i < PTX_LANES; i++)
        scratch->at[i] = mask >> i & 1;
    return scratch;
}

const Lanes *ptx_fetch(PtxMachine *machine, PtxGroup *group, const PtxArgument *argument, unsigned half, Lanes *scratch,
                       uint32_t *unknown) {
    PtxFrame *frame = group->frame;
    switch ((PtxArgumentKind)argument->kind) {
    case ARGUMENT_ROW:
        if (half && argument->bits <= 64)
            return same(scratch, 0);
        *unknown |= frame->row_unknown[argument->slot + half];
        return &frame->rows[argument->slot + half];
    case ARGUMENT_CONSTANT:
        if (half)
            return same(scratch, 0);
        return &machine->program->constants[argument->slot];
    case ARGUMENT_PREDICATE:
        return predicate_values(machine, group, argument, scratch, unknown);
    case ARGUMENT_READ_ONLY:
        ptx_special_values(machine, group, argument->slot, (uint32_t)argument->offset, argument->part, scratch,
                           unknown);
        return scratch;
    case ARGUMENT_SYMBOL:
        return same(scratch, symbol_address(machine, group, argument));
    case ARGUMENT_ROUTINE:
        return same(scratch, PTX_WINDOW_CODE + 16 * (uint64_t)argument->slot);
    default:
        *unknown = UINT32_MAX;
        return same(scratch, 0);
    }
}

uint32_t ptx_fetch_mask(PtxMachine *machine, PtxGroup *group, const PtxArgument *argument, uint32_t *unknown) {
    uint32_t mask = 0;
    if (argument->kind == ARGUMENT_PREDICATE) {
        *unknown |= group->frame->mask_unknown[argument->slot];
        mask = group->frame->masks[argument->slot];
    } else if (argument->kind == ARGUMENT_CONSTANT) {
        mask = machine->program->constants[argument->slot].at[0] ? UINT32_MAX : 0;
    } else {
        Lanes scratch;
        const Lanes *values = ptx_fetch(machine, group, argument, 0, &scratch, unknown);
        for (unsigned i = 0; i < PTX_LANES; i++)
            mask |= (uint32_t)(values->at[i] != 0) << i;
    }
    return argument->negated ? ~mask : mask;
}

void ptx_put(PtxMachine *machine, PtxGroup *group, const PtxArgument *argument, unsigned half, const Lanes *values,
             uint32_t lanes, uint32_t unknown) {
    if (argument->kind == ARGUMENT_PREDICATE) {
        uint32_t mask = 0;
        for (unsigned i = 0; i < PTX_LANES; i++)
            mask |= (uint32_t)(values->at[i] != 0) << i;
        ptx_put_mask(machine, group, argument, mask, lanes, unknown);
        return;
    }
    if (argument->kind != ARGUMENT_ROW || (half && argument->bits <= 64))
        return;
    PtxFrame *frame = group->frame;
    Lanes *row = &frame->rows[argument->slot + half];
    uint32_t *row_unknown = &frame->row_unknown[argument->slot + half];
    *row_unknown = (*row_unknown & ~lanes) | (unknown & lanes);
    if (lanes == UINT32_MAX) {
        if (row != values)
            *row = *values;
        return;
    }
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        unsigned i = (unsigned)__builtin_ctz(rest);
        row->at[i] = values->at[i];
    }
}

void ptx_put_mask(PtxMachine *machine, PtxGroup *group, const PtxArgument *argument, uint32_t mask, uint32_t lanes,
                  uint32_t unknown) {
    (void)machine;
    PtxFrame *frame = group->frame;
    if (argument->kind != ARGUMENT_PREDICATE)
        return;
    frame->masks[argument->slot] = (frame->masks[argument->slot] & ~lanes) | (mask & lanes);
    frame->mask_unknown[argument->slot] = (frame->mask_unknown[argument->slot] & ~lanes) | (unknown & lanes);
}

const Lanes *ptx_fetch_address(PtxMachine *machine, PtxGroup *group, const PtxArgument *argument, Lanes *scratch,
                               uint32_t *unknown) {
    const PtxArgument *base = argument;
    int64_t offset = 0;
    if (argument->kind == ARGUMENT_ADDRESS && argument->count) {
        base = argument_member(machine->program, argument, 0);
        offset = argument->offset;
    }
    uint32_t before = *unknown;
    const Lanes *values = ptx_fetch(machine, group, base, 0, scratch, unknown);
    if (machine->results)
        *unknown = before;
    if (!offset)
        return values;
    uint64_t mask = base->bits == 32 ? UINT32_MAX : UINT64_MAX;
    for (unsigned i = 0; i < PTX_LANES; i++)
        scratch->at[i] = (values->at[i] + (uint64_t)offset) & mask;
    return scratch;
}
