/* What a record says, lane by lane: registers, and addresses as the machine has them. */
#include "check/replay/internal.h"
#include "check/replay/together.h"

/* ---- Parameters ----------------------------------------------------------------------------------- */

/* On a device they lie one behind the other, aligned in the memory that they are in, and not from the first of them on:
 * where parameter `i` is, if the one before it ends at `at`. */
static uint64_t parameter_place(const PtxProgram *program, uint32_t i, uint64_t at) {
    uint64_t align = program->module->variables[i].align, bits = program->seats[i].bits;
    align = align ? align : bits >= 8 ? bits / 8 : 1;
    return (at + align - 1) / align * align;
}

/* Where that memory begins for them. The kernel says where its first parameter is, which may be behind that, to be
 * aligned. */
static uint64_t parameters_begin(const PtxProgram *program, const Recording *recording) {
    enum { PAGE = 4096, MOST_ALIGN = 256 };
    unsigned capability = program->module->capability;
    uint64_t begin = capability >= 100 ? 0x380 : capability >= 90 ? 0x210 : 0x160;
    uint64_t window = recording->launch.param_window, behind = (window - begin) % PAGE;
    return !window ? begin : behind < MOST_ALIGN ? window - behind : window;
}

/* Where those end that begin at `first`. */
static uint64_t parameters_end(const PtxProgram *program, uint64_t first) {
    const PtxFunction *kernel = &program->module->functions[program->entry];
    uint64_t at = first;
    for (uint32_t i = kernel->parameters; i < kernel->parameters + kernel->parameter_count; i++)
        at = parameter_place(program, i, at) + program->seats[i].bytes;
    return at;
}

/* Where the last of them ends, as PTX counts their offsets. */
static uint64_t parameters_size(const PtxProgram *program) {
    const PtxFunction *kernel = &program->module->functions[program->entry];
    uint64_t size = 0;
    for (uint32_t i = kernel->parameters; i < kernel->parameters + kernel->parameter_count; i++) {
        uint64_t end = program->seats[i].at + program->seats[i].bytes;
        size = end > size ? end : size;
    }
    return size;
}

bool play_unpack(const PtxProgram *program, Recording *recording, Arena *arena) {
    const PtxFunction *kernel = &program->module->functions[program->entry];
    uint64_t first = parameters_begin(program, recording), at = first;
    if (!(recording->launch.flags & RECORDING_AS_PASSED))
        return recording->parameter_bytes >= parameters_size(program);
    if (parameters_end(program, first) - first != recording->parameter_bytes)
        return false;
    uint8_t *bytes = ARENA_ARRAY(arena, uint8_t, program->parameter_bytes + 1);
    for (uint32_t i = kernel->parameters; i < kernel->parameters + kernel->parameter_count; i++) {
        const PtxSymbolSlot *seat = &program->seats[i];
        at = parameter_place(program, i, at);
        if (seat->at + seat->bytes <= program->parameter_bytes)
            memcpy(bytes + seat->at, recording->parameters + (at - first), seat->bytes);
        at += seat->bytes;
    }
    recording->parameters = bytes;
    recording->parameter_bytes = program->parameter_bytes;
    return true;
}

/* ---- Addresses ------------------------------------------------------------------------------------ */

/* How far the window at `begin` goes, if another one begins at `other`. */
static uint64_t window_size(uint64_t begin, uint64_t other, uint64_t most) {
    return other > begin && other - begin < most ? other - begin : most;
}

/* Where in the kernel's parameters an address is; PTX_NONE: in none of them. */
static uint32_t parameter_at(const Player *player, uint64_t address) {
    const PtxProgram *program = player->check->program;
    const PtxFunction *kernel = &program->module->functions[program->entry];
    uint64_t at = parameters_begin(program, player->recording);
    for (uint32_t i = kernel->parameters; i < kernel->parameters + kernel->parameter_count; i++) {
        const PtxSymbolSlot *seat = &program->seats[i];
        at = parameter_place(program, i, at);
        if (address - at < seat->bytes)
            return (uint32_t)(seat->at + (address - at));
        at += seat->bytes;
    }
    return PTX_NONE;
}

uint64_t play_generic(const Player *player, uint64_t address) {
    const RecordingLaunch *launch = &player->recording->launch;
    const uint64_t ranks = UINT64_C(16) << PTX_RANK_SHIFT;
    uint64_t shared = launch->shared_window, local = launch->local_window;
    if (shared && address - shared < window_size(shared, local, ranks))
        return PLAY_WINDOWS + (address - shared);
    if (local && address - local < window_size(local, shared, PTX_WINDOW_SIZE))
        return PLAY_WINDOWS + PTX_WINDOW_SIZE + (address - local);
    uint32_t parameter = launch->param_window ? parameter_at(player, address) : PTX_NONE;
    return parameter == PTX_NONE ? address : PLAY_WINDOWS + 3 * PTX_WINDOW_SIZE + parameter;
}

/* ---- Parts ---------------------------------------------------------------------------------------- */

static void spread(const SitePart *part, uint64_t value, uint32_t first_thread, Lanes *restrict values) {
    bool table = part->shape == PART_TABLE, whole = part->bits >= 32 && first_thread + PTX_LANES <= part->threads;
    uint64_t stride = part->shape == PART_STRIDE ? (uint64_t)part->stride : 0;
    const uint64_t *restrict offsets = table && whole ? &part->offsets[first_thread] : NULL;
    uint64_t base = offsets ? value - offsets[0] : value;
    if (offsets)
        for (unsigned i = 0; i < PTX_LANES; i++)
            values->at[i] = base + offsets[i];
    else if (table)
        for (unsigned i = 0; i < PTX_LANES; i++)
            values->at[i] = value + site_offset(part, first_thread + i);
    else
        for (unsigned i = 0; i < PTX_LANES; i++)
            values->at[i] = value + stride * i;
}

/* What record_cornered says of each lane: a lane is one with a bit less, and what that bit adds. */
static void spread_corners(const RecordPart *part, Lanes *values) {
    uint64_t adds[RECORD_CORNER_LANES - 1];
    record_corners(part, adds);
    values->at[0] = part->value;
    for (unsigned i = 0; i + 1 < RECORD_CORNER_LANES; i++)
        for (unsigned lane = 1u << i; lane < 2u << i; lane++)
            values->at[lane] = values->at[lane - (1u << i)] + adds[i];
}

static void list(const RecordPart *part, bool wide, uint32_t lanes, Lanes *values) {
    for (unsigned i = 0; lanes; lanes &= lanes - 1, i++)
        values->at[__builtin_ctz(lanes)] = record_listed(part, wide, i);
}

void play_values(const Player *player, const PlaySite *site, const Record *record, unsigned index, uint32_t warp_in_cta,
                 Lanes *values) {
    const SitePart *part = &site->site->parts[index];
    const RecordPart *from = &record->parts[index];
    if (from->kind == RECORD_WARP)
        spread(part, from->value, warp_in_cta * PTX_LANES, values);
    else if (from->kind == RECORD_LIST)
        list(from, part->bits == 64, record->lanes, values);
    else if (from->kind == RECORD_EVERY)
        list(from, false, UINT32_MAX, values);
    else if (from->kind == RECORD_CORNERS)
        spread_corners(from, values);
    else if (from->kind == RECORD_BITS)
        for (unsigned i = 0; i < PTX_LANES; i++)
            values->at[i] = (uint32_t)from->value + (from->value >> (32 + i) & 1) * (uint64_t)part->stride;
    else
        for (unsigned i = 0; i < PTX_LANES; i++)
            values->at[i] = from->value;
    for (unsigned i = 0; part->bits == 32 && i < PTX_LANES; i++)
        values->at[i] = (uint32_t)values->at[i];
    for (uint32_t rest = site->generic >> index & 1 ? record->lanes : 0; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        values->at[lane] = play_generic(player, values->at[lane]);
    }
}

/* Of one lane alone. */
static uint64_t lane_value(const Player *player, const PlaySite *site, const Record *record, unsigned index,
                           unsigned lane) {
    const RecordPart *from = &record->parts[index];
    Lanes values;
    if (from->kind != RECORD_LANE) {
        play_values(player, site, record, index, 0, &values);
        return values.at[lane];
    }
    uint64_t value = site->site->parts[index].bits == 32 ? (uint32_t)from->value : from->value;
    return site->generic >> index & 1 ? play_generic(player, value) : value;
}

/* ---- Where strong accesses are made -------------------------------------------------------------- */

#define KEY_SHARED (UINT64_C(1) << 63)
#define KEY_NAMED  (UINT64_C(1) << 62)
/* Below that: its first byte, and how many it has, as those that overlap otherwise are none that are ordered so. */
#define KEY_ADDRESS ((UINT64_C(1) << 58) - 1)
#define KEY_SIZE    3 /* bits */

bool play_is_apart(const PtxSymbolSlot *seat) {
    return seat->space == PTX_SPACE_GLOBAL && seat->at - PTX_WINDOW_GLOBAL < PTX_WINDOW_SIZE;
}

/* Where a variable lies. */
static uint64_t symbol_place(const Player *player, const PtxArgument *base, uint32_t cta, bool *named,
                             PtxSpace *space) {
    const PtxSymbolSlot *seat = &player->check->program->seats[base->slot];
    uint64_t at = seat->at + (uint64_t)base->offset;
    bool ranked = seat->space == PTX_SPACE_SHARED && player->check->module->capability >= 90;
    *space = seat->space;
    *named = play_is_apart(seat);
    return ranked ? at | (uint64_t)(cta % player->machine->cluster_size) << PTX_RANK_SHIFT : at;
}

/* Where the base of the address is: the register's value, or the variable's place. */
static uint64_t base_of(const Player *player, const PlaySite *site, const Record *record, uint32_t cta, bool *named,
                        PtxSpace *space) {
    const PtxProgram *program = player->check->program;
    const PtxArgument *address = site->address;
    bool brackets = address->kind == ARGUMENT_ADDRESS && address->count;
    const PtxArgument *base = brackets ? argument_member(program, address, 0) : address;
    uint64_t offset = brackets ? (uint64_t)address->offset : 0;
    unsigned lane = (unsigned)__builtin_ctz(record->lanes);
    *named = false;
    for (unsigned i = 0; i < site->site->part_count; i++)
        if (site->arguments[i] == base)
            return lane_value(player, site, record, i, lane) + offset;
    if (base->kind == ARGUMENT_CONSTANT)
        return program->constants[base->slot].at[0] + offset;
    return base->kind == ARGUMENT_SYMBOL ? symbol_place(player, base, cta, named, space) + offset : offset;
}

/* Where an address of its process is for all of them. */
static uint64_t place_of(const TogetherSteps *across, uint64_t address) {
    for (uint32_t i = 0; i < across->place_count; i++)
        if (address - across->places[i].address < across->places[i].bytes)
            return address - across->places[i].address + across->places[i].to;
    return address + across->apart;
}

static uint64_t key_of(const Player *player, uint32_t cta, PtxSpace space, bool named, uint64_t address,
                       uint64_t size) {
    uint64_t cluster = cta / player->machine->cluster_size;
    bool window = space == PTX_SPACE_UNKNOWN && address >= PLAY_WINDOWS && address - PLAY_WINDOWS < PTX_WINDOW_SIZE;
    if (window || space == PTX_SPACE_SHARED || space == PTX_SPACE_CLUSTER)
        return KEY_SHARED | (player->first_cluster + cluster) << 35 | (address & UINT32_MAX) << KEY_SIZE | size;
    if (player->across && !named)
        address = place_of(player->across, address);
    return (address & KEY_ADDRESS) << KEY_SIZE | size | (named ? KEY_NAMED | player->variables : 0);
}

uint64_t play_strong_key(const Player *player, const PlaySite *site, const Record *record, uint32_t cta) {
    bool named;
    PtxSpace space = site->space;
    uint64_t address = base_of(player, site, record, cta, &named, &space);
    return key_of(player, cta, space, named, address, (uint64_t)__builtin_ctz(site->strong_bytes));
}

bool play_strong_address(const Player *player, const PlaySite *site, const Record *record, uint64_t *address) {
    const PtxArgument *of = site->address, *base = of;
    if (of->kind == ARGUMENT_ADDRESS && of->count)
        base = argument_member(player->check->program, of, 0);
    for (unsigned i = 0; i < site->site->part_count; i++)
        if (site->arguments[i] == base && site->site->parts[i].bits == 64) {
            *address = lane_value(player, site, record, i, (unsigned)__builtin_ctz(record->lanes));
            *address += base == of ? 0 : (uint64_t)of->offset;
            return true;
        }
    return false;
}

uint64_t play_key_first(uint64_t key, uint32_t *bytes) {
    *bytes = 1U << (key & ((1U << KEY_SIZE) - 1));
    return key >> KEY_SIZE;
}

uint32_t play_stored_places(const Player *player, const PlaySite *site, const Record *record, uint32_t cta,
                            uint32_t warp_in_cta, Lanes *places) {
    const PlayAccess *access = &site->access;
    if (!site->code || site->site->strong || !access->access.bytes || access->access.kind == KIND_READ)
        return 0;
    bool named = false, found = access->base->kind == ARGUMENT_SYMBOL;
    PtxSpace space = access->space;
    uint64_t symbol = found ? symbol_place(player, access->base, cta, &named, &space) : 0, mask = UINT64_MAX;
    for (unsigned i = 0; i < PTX_LANES; i++)
        places->at[i] = symbol;
    for (unsigned i = 0; i < site->site->part_count && !found; i++)
        if (site->arguments[i] == access->base) {
            play_values(player, site, record, i, warp_in_cta, places);
            mask = site->site->parts[i].bits == 32 ? UINT32_MAX : UINT64_MAX;
            found = true;
        }
    for (unsigned i = 0; i < PTX_LANES && found; i++)
        places->at[i] =
            key_of(player, cta, space, named, (places->at[i] + (uint64_t)access->offset) & mask, 0) >> KEY_SIZE;
    return found ? access->access.bytes : 0;
}

PlayPlace play_key_place(uint64_t key, uint64_t *address) {
    *address = key >> KEY_SIZE & KEY_ADDRESS;
    return key & KEY_SHARED ? PLACE_SHARED : key & KEY_NAMED ? PLACE_NAMED : PLACE_GLOBAL;
}
