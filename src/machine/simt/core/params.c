/* Arguments and results of calls: variables of .param in a frame, or on the stack if their addresses are taken. */
#include "machine/simt/core/internal.h"

static PtxLocation param_location(PtxMachine *machine, PtxWarp *warp, const PtxFrame *frame, const PtxSymbolSlot *seat,
                                  uint64_t offset, uint32_t lane) {
    PtxBlock *block = local_block(machine, warp->cta, warp->index * PTX_LANES + lane);
    return (PtxLocation){.block = block, .offset = frame->local_at + seat->at + offset};
}

/* How many of the bytes there are. */
static uint32_t inside(const PtxSymbolSlot *seat, uint64_t offset, uint32_t count) {
    uint64_t left = offset < seat->bytes ? seat->bytes - offset : 0;
    return left < count ? (uint32_t)left : count;
}

void param_read(PtxMachine *machine, PtxWarp *warp, PtxFrame *frame, uint32_t variable, uint64_t offset, uint32_t lane,
                uint32_t count, uint8_t *bytes, uint8_t *states) {
    const PtxSymbolSlot *seat = &machine->program->seats[variable];
    uint32_t there = inside(seat, offset, count);
    memset(bytes, 0, count);
    memset(states, BYTE_UNKNOWN, count);
    if (seat->space == PTX_SPACE_LOCAL) {
        ptx_load_bytes(machine, param_location(machine, warp, frame, seat, offset, lane), there, bytes, states);
    } else if (machine->program->module->variables[variable].formal == PTX_PARAMETER && !frame->caller) {
        ptx_load_bytes(machine, (PtxLocation){&machine->parameters, seat->at + offset}, there, bytes, states);
    } else {
        size_t at = (size_t)lane * frame->routine->param_bytes + seat->at + offset;
        memcpy(bytes, frame->params + at, there);
        memcpy(states, frame->param_states + at, there);
    }
}

void param_write(PtxMachine *machine, PtxWarp *warp, PtxFrame *frame, uint32_t variable, uint64_t offset, uint32_t lane,
                 uint32_t count, const uint8_t *bytes, const uint8_t *states) {
    const PtxSymbolSlot *seat = &machine->program->seats[variable];
    uint32_t there = inside(seat, offset, count);
    if (seat->space == PTX_SPACE_LOCAL) {
        ptx_store_bytes(machine, param_location(machine, warp, frame, seat, offset, lane), there, bytes, states);
        return;
    }
    size_t at = (size_t)lane * frame->routine->param_bytes + seat->at + offset;
    memcpy(frame->params + at, bytes, there);
    memcpy(frame->param_states + at, states, there);
}

/* ---- Whole rows ---- */

/* Where lane 0 has it, of words that lie in the frame; NULL: it is on the stack, or not all of it is there. */
static uint8_t *frame_words(const PtxMachine *machine, const PtxFrame *frame, uint32_t variable, uint64_t offset,
                            unsigned bytes, uint8_t **states) {
    const PtxSymbolSlot *seat = &machine->program->seats[variable];
    const PtxFunction *kernel = &machine->program->module->functions[machine->program->entry];
    if (seat->space != PTX_SPACE_PARAM || inside(seat, offset, bytes) < bytes ||
        variable - kernel->parameters < kernel->parameter_count)
        return NULL;
    *states = frame->param_states + seat->at + offset;
    return frame->params + seat->at + offset;
}

uint32_t param_load(PtxMachine *machine, PtxGroup *group, uint32_t variable, uint64_t offset, uint32_t lanes,
                    unsigned bytes, Lanes *values) {
    uint32_t unknown = 0, stride = group->frame->routine->param_bytes;
    uint8_t *states, *from = frame_words(machine, group->frame, variable, offset, bytes, &states);
    uint64_t all = 0;
    memset(&all, BYTE_KNOWN, bytes);
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        uint64_t value = 0, known = 0;
        if (from && bytes == 4) {
            memcpy(&value, from + (size_t)lane * stride, 4);
            memcpy(&known, states + (size_t)lane * stride, 4);
        } else if (from && bytes == 8) {
            memcpy(&value, from + (size_t)lane * stride, 8);
            memcpy(&known, states + (size_t)lane * stride, 8);
        } else {
            param_read(machine, group->warp, group->frame, variable, offset, lane, bytes, (uint8_t *)&value,
                       (uint8_t *)&known);
        }
        values->at[lane] = value;
        unknown |= (uint32_t)(known != all) << lane;
    }
    return unknown;
}

void param_store(PtxMachine *machine, PtxGroup *group, uint32_t variable, uint64_t offset, uint32_t lanes,
                 unsigned bytes, const Lanes *values, uint32_t unknown) {
    uint32_t stride = group->frame->routine->param_bytes;
    uint8_t *states, *to = frame_words(machine, group->frame, variable, offset, bytes, &states);
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        uint64_t known;
        memset(&known, unknown >> lane & 1 ? BYTE_UNKNOWN : BYTE_KNOWN, sizeof known);
        if (to && bytes == 4) {
            memcpy(to + (size_t)lane * stride, &values->at[lane], 4);
            memcpy(states + (size_t)lane * stride, &known, 4);
        } else if (to && bytes == 8) {
            memcpy(to + (size_t)lane * stride, &values->at[lane], 8);
            memcpy(states + (size_t)lane * stride, &known, 8);
        } else {
            param_write(machine, group->warp, group->frame, variable, offset, lane, bytes,
                        (const uint8_t *)&values->at[lane], (const uint8_t *)&known);
        }
    }
}

bool param_copy(PtxMachine *machine, const PtxFrame *from, uint32_t source, const PtxFrame *to, uint32_t target,
                uint32_t count, uint32_t lanes) {
    uint8_t *from_states, *to_states, *read = frame_words(machine, from, source, 0, count, &from_states);
    uint8_t *write = frame_words(machine, to, target, 0, count, &to_states);
    if (!read || !write)
        return false;
    size_t from_stride = from->routine->param_bytes, to_stride = to->routine->param_bytes;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        size_t lane = (size_t)__builtin_ctz(rest);
        memcpy(write + lane * to_stride, read + lane * from_stride, count);
        memcpy(to_states + lane * to_stride, from_states + lane * from_stride, count);
    }
    return true;
}
