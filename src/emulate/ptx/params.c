/* Arguments and results of calls: variables of .param in a frame, or on the stack if their addresses are taken. */
#include "emulate/ptx/internal.h"

static PtxSpot param_spot(PtxMachine *machine, PtxWarp *warp, const PtxFrame *frame, const PtxSeat *seat,
                          uint64_t offset, uint32_t lane) {
    PtxBlock *block = local_block(machine, warp->cta, warp->index * PTX_LANES + lane);
    return (PtxSpot){.block = block, .offset = frame->local_at + seat->at + offset};
}

/* How many of the bytes there are. */
static uint32_t inside(const PtxSeat *seat, uint64_t offset, uint32_t count) {
    uint64_t left = offset < seat->bytes ? seat->bytes - offset : 0;
    return left < count ? (uint32_t)left : count;
}

void param_read(PtxMachine *machine, PtxWarp *warp, PtxFrame *frame, uint32_t variable, uint64_t offset, uint32_t lane,
                uint32_t count, uint8_t *bytes, uint8_t *states) {
    const PtxSeat *seat = &machine->program->seats[variable];
    uint32_t there = inside(seat, offset, count);
    memset(bytes, 0, count);
    memset(states, BYTE_UNKNOWN, count);
    if (seat->space == PTX_SPACE_LOCAL) {
        ptx_load_bytes(machine, param_spot(machine, warp, frame, seat, offset, lane), there, bytes, states);
    } else if (machine->program->module->variables[variable].formal == PTX_PARAMETER && !frame->caller) {
        ptx_load_bytes(machine, (PtxSpot){&machine->parameters, seat->at + offset}, there, bytes, states);
    } else {
        size_t at = (size_t)lane * frame->routine->param_bytes + seat->at + offset;
        memcpy(bytes, frame->params + at, there);
        memcpy(states, frame->param_states + at, there);
    }
}

void param_write(PtxMachine *machine, PtxWarp *warp, PtxFrame *frame, uint32_t variable, uint64_t offset, uint32_t lane,
                 uint32_t count, const uint8_t *bytes, const uint8_t *states) {
    const PtxSeat *seat = &machine->program->seats[variable];
    uint32_t there = inside(seat, offset, count);
    if (seat->space == PTX_SPACE_LOCAL) {
        ptx_store_bytes(machine, param_spot(machine, warp, frame, seat, offset, lane), there, bytes, states);
        return;
    }
    size_t at = (size_t)lane * frame->routine->param_bytes + seat->at + offset;
    memcpy(frame->params + at, bytes, there);
    memcpy(frame->param_states + at, states, there);
}
