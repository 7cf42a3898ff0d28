/* Memory: blocks, where an address leads, bytes and what is known of them. */
#include "machine/simt/core/internal.h"

#include "base/bisect.h"
#include "base/order.h"
#include "machine/simt/core/other.h"

#include <stdlib.h>

enum { FEW_BLOCKS = 16, HEAP_BLOCKS = 1 << 18, WORKSPACE_BYTES = 1024, LARGE_BLOCK = 1 << 20 };

/* ---- Blocks ---- */

/* What stands for a word that is not known: the same for the same word, and for another one another, so that values
 * which are made of them are the same where they are for any data, and hardly elsewhere. As a float, and as two halves
 * of one, it is a number below 2. */
static uint32_t unknown_word(uint64_t address) {
    uint32_t mixed = (uint32_t)((address >> 2) * UINT64_C(0x9e3779b97f4a7c15) >> 32);
    return UINT32_C(0x3f800000) | (mixed & UINT32_C(0x007fbfff));
}

/* Another one for it, of whatever sign, from 2^-7 to 2^8. */
static uint32_t other_word(uint64_t address) {
    uint64_t mixed = (address >> 2) * UINT64_C(0xd1342543de82ef95);
    uint32_t exponent = 120 + (uint32_t)(mixed >> 40 & 15), sign = (uint32_t)(mixed >> 63);
    return sign << 31 | exponent << 23 | (uint32_t)(mixed >> 16 & UINT32_C(0x007fbfff));
}

uint64_t memory_unset(const PtxMachine *machine, uint32_t thread) {
    return machine->other && machine->other->unset ? unknown_word((uint64_t)thread * 4) * UINT64_C(0x100000001) : 0;
}

void ptx_unknown_bytes(const PtxBlock *block, uint64_t offset, size_t count, uint8_t *bytes) {
    for (size_t i = 0; i < count;) {
        uint64_t address = block->base + offset + i;
        uint32_t word = block->other ? other_word(address) : unknown_word(address), skip = (uint32_t)(address & 3);
        size_t piece = 4 - skip < count - i ? 4 - skip : count - i;
        memcpy(bytes + i, (const uint8_t *)&word + skip, piece);
        i += piece;
    }
}

void block_make(PtxMachine *machine, PtxBlock *block) {
    if (block->bytes)
        return;
    block->bytes = ARENA_ARRAY(&machine->arena, uint8_t, block->size + 16);
    if (block->fill == BYTE_UNKNOWN)
        ptx_unknown_bytes(block, 0, block->size, block->bytes);
}

PtxBlock *block_make_page(PtxMachine *machine, PtxBlock *block, uint64_t *offset, size_t *count) {
    if (!block->pages) {
        block_make(machine, block);
        return block;
    }
    uint64_t at = block->base % PAGE_BYTES + *offset, rest = PAGE_BYTES - at % PAGE_BYTES;
    PtxBlock **page = &block->pages[at / PAGE_BYTES];
    if (!*page) {
        *page = ARENA_NEW(&machine->arena, PtxBlock);
        **page = *block;
        (*page)->pages = NULL;
        (*page)->base = block->base / PAGE_BYTES * PAGE_BYTES + at / PAGE_BYTES * PAGE_BYTES;
        (*page)->size = PAGE_BYTES;
        block_make(machine, *page);
    }
    *offset = at % PAGE_BYTES;
    *count = *count < rest ? *count : rest;
    return *page;
}

static void peek(const PtxBlock *block, uint64_t offset, size_t count, uint8_t *bytes) {
    if (block->bytes)
        memcpy(bytes, block->bytes + offset, count);
    else if (block->fill == BYTE_UNKNOWN)
        ptx_unknown_bytes(block, offset, count, bytes);
    else
        memset(bytes, 0, count);
}

/* The part of some bytes of a block that lies in one page, as that; all of them, if it has none. */
static const PtxBlock *part_at(PtxBlock *block, uint64_t *offset, size_t *count) {
    uint64_t rest = PAGE_BYTES - (block->base + *offset) % PAGE_BYTES;
    if (block->pages && *count > rest)
        *count = rest;
    return block_at(block, offset);
}

void block_peek(const PtxBlock *block, uint64_t offset, size_t count, uint8_t *bytes) {
    for (size_t done = 0, piece; done < count; done += piece) {
        uint64_t at = offset + done;
        piece = count - done;
        const PtxBlock *part = part_at((PtxBlock *)block, &at, &piece);
        peek(part, at, piece, bytes + done);
    }
}

void block_make_states(PtxMachine *machine, PtxBlock *block) {
    block_make(machine, block);
    if (block->states)
        return;
    if (block->host) {
        host_make_states(machine, block->host);
        block->states = block->host->states;
        return;
    }
    block->states = arena_alloc(&machine->arena, block->size + 16);
    memset(block->states, block->fill, block->size);
}

ORDER(by_base, PtxBlock, BY(base))

PtxBlock *memory_add(PtxMachine *machine, PtxBlock block) {
    if (machine->block_count == machine->block_capacity)
        return NULL;
    PtxBlock *to = &machine->blocks[machine->block_count++];
    *to = block;
    return to;
}

static void add_variables(PtxMachine *machine) {
    const PtxProgram *program = machine->program;
    const PtxModule *module = program->module;
    for (uint32_t i = 0; i < module->variables_count; i++) {
        const PtxSymbolSlot *seat = &program->seats[i];
        if (machine->launch->keeps_variables ||
            (!ptx_program_holds(program, i, PTX_SPACE_CONST) && !ptx_program_holds(program, i, PTX_SPACE_GLOBAL)))
            continue;
        Str name = ptx_name(module, module->variables[i].name);
        PtxBlock *block = memory_add(machine, (PtxBlock){.space = seat->space,
                                                         .base = seat->at,
                                                         .size = seat->bytes,
                                                         .fill = machine->plays ? BYTE_UNKNOWN : BYTE_KNOWN,
                                                         .name = arena_copy(&machine->arena, name.data, name.size),
                                                         .cta = PTX_NONE});
        if (program->images[i] && !machine->plays) {
            block_make(machine, block);
            memcpy(block->bytes, program->images[i], seat->bytes);
        }
    }
}

/* A buffer of a run with other data: what the launch gives of it is not known, but for the words that decide. */
static void put_other(PtxMachine *machine, PtxBlock *block, const PtxBuffer *buffer, uint64_t given, uint8_t rest) {
    const uint8_t *kept = machine->other->kept[buffer - machine->launch->buffers];
    uint64_t end = rest == BYTE_KNOWN ? buffer->bytes : given;
    block->fill = end == buffer->bytes ? BYTE_UNKNOWN : rest;
    block->other = machine->other->seed;
    if (!end || (end == buffer->bytes && !kept))
        return;
    block_make_states(machine, block);
    if (block->fill != BYTE_UNKNOWN)
        ptx_unknown_bytes(block, 0, end, block->bytes);
    memset(block->states, BYTE_UNKNOWN, end);
    for (uint64_t at = 0; kept && at < end; at++)
        if (kept[at / OTHER_WORD]) {
            block->bytes[at] = at < given ? buffer->data[at] : 0;
            block->states[at] = BYTE_KNOWN;
        }
}

/* What the launch gives of a buffer. */
static void put_given(PtxMachine *machine, PtxBlock *block, const PtxBuffer *buffer, uint64_t given, uint8_t rest) {
    block_make(machine, block);
    memcpy(block->bytes, buffer->data, given);
    if (given < buffer->bytes && rest != BYTE_KNOWN) {
        block_make_states(machine, block);
        memset(block->states, BYTE_KNOWN, given);
    }
}

static void add_buffer(PtxMachine *machine, const PtxBuffer *buffer) {
    uint8_t rest = buffer->zero ? BYTE_KNOWN : buffer->output ? BYTE_NEVER : BYTE_UNKNOWN;
    uint64_t given = buffer->data ? buffer->data_bytes < buffer->bytes ? buffer->data_bytes : buffer->bytes : 0;
    PtxBlock *block = memory_add(machine, (PtxBlock){.space = buffer->constant ? PTX_SPACE_CONST : PTX_SPACE_GLOBAL,
                                                     .base = buffer->address,
                                                     .size = buffer->bytes,
                                                     .fill = given == buffer->bytes ? BYTE_KNOWN : rest,
                                                     .heap = buffer->heap,
                                                     .name = buffer->name,
                                                     .cta = PTX_NONE});
    if (machine->other && machine->other->kept && !buffer->variable) {
        put_other(machine, block, buffer, given, rest);
    } else if (buffer->host) {
        block->host = buffer->host;
        block->bytes = buffer->host->bytes;
        block->states = __atomic_load_n(&buffer->host->states, __ATOMIC_ACQUIRE);
        block->fill = BYTE_KNOWN;
    } else if (given) {
        put_given(machine, block, buffer, given, rest);
    }
    if (!block->bytes && machine->sparse && block->size > LARGE_BLOCK)
        block->pages = ARENA_SPARSE(&machine->arena, PtxBlock *, block->size / PAGE_BYTES + 2);
}

/* All of global memory that is not in another block. */
static void add_anywhere(PtxMachine *machine) {
    machine->anywhere = NULL;
    if (!machine->unlisted)
        return;
    machine->anywhere = ARENA_NEW(&machine->arena, PtxBlock);
    *machine->anywhere = (PtxBlock){
        .space = PTX_SPACE_GLOBAL, .size = UINT64_MAX, .fill = BYTE_UNKNOWN, .name = "global memory", .cta = PTX_NONE};
}

static bool are_sorted(const PtxMachine *machine) {
    uint32_t i = 1;
    while (i < machine->block_count && machine->blocks[i - 1].base <= machine->blocks[i].base)
        i++;
    return i >= machine->block_count;
}

void memory_start(PtxMachine *machine) {
    const PtxLaunch *launch = machine->launch;
    Pools *pools = pools_of(machine);
    machine->block_count = 0;
    machine->block_capacity = machine->program->module->variables_count + launch->buffer_count +
                              (launch->heap ? launch->heap->freed_count : 0) +
                              (machine->program->takes_memory ? HEAP_BLOCKS : FEW_BLOCKS);
    machine->blocks = ARENA_SPARSE(&machine->arena, PtxBlock, machine->block_capacity);
    add_variables(machine);
    for (uint32_t i = 0; i < launch->buffer_count && !machine->team; i++)
        if (launch->buffers[i].host)
            ptx_host_restore(launch->buffers[i].host);
    for (uint32_t i = 0; i < launch->buffer_count; i++)
        add_buffer(machine, &launch->buffers[i]);
    pools->workspace = PTX_WINDOW_HEAP;
    memory_add(machine, (PtxBlock){.space = PTX_SPACE_GLOBAL,
                                   .base = pools->workspace,
                                   .size = WORKSPACE_BYTES,
                                   .fill = BYTE_KNOWN,
                                   .name = "the driver's workspace for grid barriers",
                                   .cta = PTX_NONE});
    heap_start(machine);
    if (!are_sorted(machine))
        qsort(machine->blocks, machine->block_count, sizeof *machine->blocks, by_base);
    add_anywhere(machine);
    machine->parameters = (PtxBlock){.space = PTX_SPACE_PARAM,
                                     .size = machine->program->parameter_bytes,
                                     .fill = BYTE_KNOWN,
                                     .name = "the parameters",
                                     .cta = PTX_NONE};
    if (!launch->parameters || !machine->parameters.size)
        return;
    block_make(machine, &machine->parameters);
    memcpy(machine->parameters.bytes, launch->parameters, machine->parameters.size);
    if (launch->known) {
        block_make_states(machine, &machine->parameters);
        memcpy(machine->parameters.states, launch->known, machine->parameters.size);
    }
}

PtxBlock *local_block(PtxMachine *machine, PtxCta *cta, uint32_t thread) {
    if (!cta->locals) {
        cta->locals = ARENA_ARRAY(&machine->arena, PtxBlock, cta->threads);
        for (uint32_t i = 0; i < cta->threads; i++)
            cta->locals[i] = (PtxBlock){.space = PTX_SPACE_LOCAL, .name = "local memory", .cta = cta->number};
    }
    return &cta->locals[thread];
}

void local_grow(PtxMachine *machine, PtxBlock *block, uint64_t bytes) {
    if (bytes <= block->size)
        return;
    uint64_t size = bytes > 2 * block->size ? bytes : 2 * block->size;
    uint8_t *data = ARENA_ARRAY(&machine->arena, uint8_t, size + 16);
    uint8_t *states = ARENA_ARRAY(&machine->arena, uint8_t, size + 16);
    if (block->bytes) {
        memcpy(data, block->bytes, block->size);
        memcpy(states, block->states, block->size);
    }
    block->bytes = data;
    block->states = states;
    block->size = size;
}

/* ---- Addresses ---- */

/* The last block that does not begin behind the address. */
PtxBlock *memory_find(PtxMachine *machine, uint64_t address) {
    PtxBlock **found = &pools_of(machine)->found[address >> 32 & (POOL_FOUND - 1)];
    if (*found && address - (*found)->base < (*found)->size)
        return *found;
    uint32_t low;
    BISECT(low, 0, machine->block_count, machine->blocks[low].base <= address);
    return low ? *found = &machine->blocks[low - 1] : NULL;
}

typedef enum Where { WHERE_THERE, WHERE_BEYOND, WHERE_NOWHERE, WHERE_ENDED, WHERE_OTHER_CTA, WHERE_RESERVED } Where;

static Where within(PtxBlock *block, uint64_t offset, uint64_t bytes, PtxLocation *location) {
    *location = (PtxLocation){.block = block, .offset = offset};
    return offset < block->size && bytes <= block->size - offset ? WHERE_THERE : WHERE_BEYOND;
}

static Where in_shared(PtxMachine *machine, PtxCta *cta, bool cluster, uint64_t address, uint64_t bytes,
                       PtxLocation *location) {
    bool ranked = machine->program->module->capability >= 90;
    uint32_t rank = ranked ? (uint32_t)(address >> PTX_RANK_SHIFT) : cta->rank;
    uint64_t offset = ranked ? address & ((1u << PTX_RANK_SHIFT) - 1) : address;
    if (address > UINT32_MAX)
        return WHERE_NOWHERE;
    if (rank != cta->rank) {
        if (!cluster)
            return WHERE_OTHER_CTA;
        if (rank >= machine->cluster_size)
            return WHERE_NOWHERE;
        cta = machine->ctas[cta->cluster * machine->cluster_size + rank];
        if (!cta || cta->over || !cta->live)
            return WHERE_ENDED;
    }
    Where where = within(&cta->shared, offset, bytes, location);
    return where == WHERE_THERE && ranked && offset < PTX_SHARED_FIRST ? WHERE_RESERVED : where;
}

static Where in_global(PtxMachine *machine, PtxSpace space, uint64_t address, uint64_t bytes, PtxLocation *location) {
    PtxBlock *block = memory_find(machine, address);
    Where where =
        !block || block->space != space ? WHERE_NOWHERE : within(block, address - block->base, bytes, location);
    if (where != WHERE_THERE && machine->anywhere && address < PTX_GLOBAL_END && bytes < PTX_GLOBAL_END - address) {
        *location = (PtxLocation){.block = machine->anywhere, .offset = address};
        return WHERE_THERE;
    }
    return where;
}

bool memory_global(PtxMachine *machine, uint64_t address, uint64_t bytes, PtxLocation *location) {
    return in_global(machine, PTX_SPACE_GLOBAL, address, bytes, location) == WHERE_THERE;
}

static Where locate(PtxMachine *machine, PtxCta *cta, uint32_t thread, PtxSpace space, uint64_t address, uint64_t bytes,
                    PtxLocation *location) {
    bool generic = space == PTX_SPACE_UNKNOWN;
    if (generic) {
        static const PtxSpace windows[] = {PTX_SPACE_CLUSTER, PTX_SPACE_LOCAL, PTX_SPACE_CONST, PTX_SPACE_PARAM};
        uint64_t window = (address - machine->windows) / PTX_WINDOW_SIZE;
        bool inside = address >= machine->windows && window < sizeof windows / sizeof *windows;
        space = inside ? windows[window] : PTX_SPACE_GLOBAL;
        if (inside)
            address = (uint32_t)address;
    }
    *location = (PtxLocation){0};
    switch (space) {
    case PTX_SPACE_SHARED:
    case PTX_SPACE_CLUSTER:
        return in_shared(machine, cta, space == PTX_SPACE_CLUSTER, address, bytes, location);
    case PTX_SPACE_LOCAL:
        if (machine->plays) { /* where frames are in it, and how large it is, only the GPU knows */
            *location = (PtxLocation){.block = local_block(machine, cta, thread), .offset = address};
            return WHERE_THERE;
        }
        return within(local_block(machine, cta, thread), address, bytes, location);
    case PTX_SPACE_PARAM:
        return within(&machine->parameters, address, bytes, location);
    case PTX_SPACE_CONST:
        return in_global(machine, PTX_SPACE_CONST, address, bytes, location);
    default:
        return in_global(machine, PTX_SPACE_GLOBAL, address, bytes, location);
    }
}

/* ---- Faults ---- */

/* Of global memory: the block that an address is nearest to, if it is not far from it. */
static PtxBlock *nearest_block(PtxMachine *machine, uint64_t address) {
    const uint64_t near = UINT64_C(1) << 31;
    PtxBlock *found = NULL;
    uint64_t least = near;
    for (uint32_t i = 0; i < machine->block_count; i++) {
        PtxBlock *block = &machine->blocks[i];
        uint64_t size = block->size + block->freed, offset = address - block->base;
        uint64_t away = address < block->base ? block->base - address : offset < size ? 0 : offset - size + 1;
        if (block->space == PTX_SPACE_GLOBAL && away < least) {
            least = away;
            found = block;
        }
    }
    return found;
}

static RuleId rule_of_fault(Where where, PtxSpace space, const PtxBlock *block) {
    if (where == WHERE_THERE)
        return RULE_ACCESS_ALIGNMENT;
    if (where == WHERE_ENDED)
        return RULE_CLUSTER_EXIT;
    if (where == WHERE_OTHER_CTA || where == WHERE_RESERVED)
        return RULE_SHARED_OUT_OF_RANGE;
    if (!block)
        return RULE_ACCESS_INVALID;
    return space == PTX_SPACE_SHARED  ? RULE_SHARED_OUT_OF_RANGE
           : space == PTX_SPACE_LOCAL ? RULE_LOCAL_OUT_OF_RANGE
                                      : RULE_GLOBAL_OUT_OF_RANGE;
}

static bool is_freed(const PtxBlock *block, uint64_t address) {
    return block && block->freed && address - block->base < block->freed;
}

static const char *what_is_wrong(PtxMachine *machine, Where where, uint64_t address, uint32_t align, int64_t beyond,
                                 const PtxBlock *block) {
    Text text = {0};
    const char *name = block && block->name ? block->name : "memory";
    if (where == WHERE_THERE)
        text_addf(&text, "address 0x%llx is not a multiple of %u bytes", (unsigned long long)address, align);
    else if (where == WHERE_ENDED)
        text_addf(&text, "it is in the shared memory of a CTA that has ended");
    else if (where == WHERE_OTHER_CTA)
        text_addf(&text, "it is in the shared memory of another CTA of the cluster");
    else if (where == WHERE_RESERVED)
        text_addf(&text, "the first %d bytes of shared memory are reserved", PTX_SHARED_FIRST);
    else if (!block)
        text_addf(&text, address < 4096 ? "a null pointer: address 0x%llx" : "there is no memory at address 0x%llx",
                  (unsigned long long)address);
    else if (is_freed(block, address))
        text_addf(&text, "%s that was freed: its byte %llu of %llu", name, (unsigned long long)(address - block->base),
                  (unsigned long long)block->freed);
    else if (beyond < 0)
        text_addf(&text, "%lld bytes before the begin of %s", (long long)-beyond, name);
    else
        text_addf(&text, "%lld bytes past the end of %s, which has %llu bytes", (long long)beyond, name,
                  (unsigned long long)(block->size + block->freed));
    return text_keep(&text, &machine->arena);
}

static bool address_fault(PtxMachine *machine, const PtxCode *code, const PtxWarp *warp, uint32_t lane, Where where,
                          uint64_t address, uint64_t bytes, uint32_t align, const PtxLocation *location) {
    const PtxBlock *block = location->block;
    int64_t beyond = 0;
    if (!block && where == WHERE_NOWHERE)
        block = nearest_block(machine, address);
    if (block && block->space == PTX_SPACE_GLOBAL)
        block = nearest_block(machine, address);
    if (block && where != WHERE_THERE) {
        uint64_t base = block->space == PTX_SPACE_GLOBAL ? block->base : 0;
        uint64_t at = block->space == PTX_SPACE_GLOBAL ? address : location->offset;
        beyond = at < base ? -(int64_t)(base - at) : (int64_t)(at + bytes - base - block->size - block->freed);
    }
    RuleId rule = rule_of_fault(where, block ? block->space : PTX_SPACE_UNKNOWN, block);
    machine->fault = (PtxFault){.rule = is_freed(block, address) ? RULE_ACCESS_INVALID : rule,
                                .code = code,
                                .warp = warp,
                                .lanes = UINT32_C(1) << lane,
                                .address = address,
                                .block = block,
                                .amount = where == WHERE_THERE ? (int64_t)align : beyond,
                                .other = (int64_t)bytes,
                                .what = what_is_wrong(machine, where, address, align, beyond, block)};
    return false;
}

bool memory_writable(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes,
                     const PtxLocation *locations) {
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        PtxBlock *block = locations[__builtin_ctz(rest)].block;
        if (block->space != PTX_SPACE_CONST && block->space != PTX_SPACE_PARAM)
            continue;
        ptx_fault(machine, group, RULE_ACCESS_INVALID, code, rest & -rest,
                  block->space == PTX_SPACE_CONST ? "const memory cannot be written" : "parameters cannot be written");
        machine->fault.block = block;
        return false;
    }
    return true;
}

/* Whether bytes of shared memory are of the variable that the instruction's address is of. Where variables lie in a
 * recording is not known. */
static bool stays_within(const PtxMachine *machine, const PtxCode *code, const PtxBlock *block, uint64_t begin,
                         uint64_t end) {
    const PtxSymbolSlot *seat = code->within;
    if (!seat || block->space != PTX_SPACE_SHARED || machine->plays)
        return true;
    return begin >= seat->at && end <= (seat->bytes ? seat->at + seat->bytes : block->size);
}

static bool within_fault(PtxMachine *machine, const PtxCode *code, const PtxWarp *warp, uint32_t lane, uint64_t address,
                         uint64_t bytes, const PtxLocation *location) {
    const PtxSymbolSlot *seat = code->within;
    bool before = location->offset < seat->at;
    machine->fault = (PtxFault){
        .rule = RULE_SHARED_OUT_OF_RANGE,
        .code = code,
        .warp = warp,
        .lanes = UINT32_C(1) << lane,
        .address = address,
        .block = location->block,
        .amount = (int64_t)(before ? location->offset - seat->at : location->offset + bytes - seat->at - seat->bytes),
        .other = (int64_t)bytes,
        .within = seat};
    return false;
}

bool ptx_resolve_one(PtxMachine *machine, const PtxCode *code, PtxWarp *warp, uint32_t lane, PtxSpace space,
                     uint64_t address, uint64_t bytes, uint32_t align, PtxLocation *location) {
    uint32_t thread = warp->index * PTX_LANES + lane;
    Where where = locate(machine, warp->cta, thread, space, address, bytes, location);
    bool aligned = align <= 1 || address % align == 0;
    if (where != WHERE_THERE || !aligned)
        return address_fault(machine, code, warp, lane, where, address, bytes, align, location);
    if (machine->team && location->block->host)
        host_claim(machine, location->block->host, location->offset, bytes, false);
    return stays_within(machine, code, location->block, location->offset, location->offset + bytes) ||
           within_fault(machine, code, warp, lane, address, bytes, location);
}

/* ---- Whole rows ---- */

/* All lanes lead into one block: its bounds are looked at once. */
static bool resolve_together(PtxMachine *machine, const PtxCode *code, PtxCta *cta, PtxSpace space,
                             const Lanes *addresses, uint32_t lanes, uint32_t bytes, uint32_t align,
                             PtxLocation locations[PTX_LANES], Span *span) {
    uint64_t least = UINT64_MAX, most = 0, bits = 0;
    unsigned from = 0, to = PTX_LANES;
    if (lanes && !(lanes & (lanes - 1))) { /* atomics have one, as a rule */
        from = (unsigned)__builtin_ctz(lanes);
        to = from + 1;
    }
    for (unsigned i = from; i < to; i++) {
        uint64_t at = addresses->at[i], in = (uint64_t)0 - (lanes >> i & 1);
        uint64_t low = at | ~in, high = at & in;
        least = low < least ? low : least;
        most = high > most ? high : most;
        bits |= high;
    }
    PtxLocation first;
    if ((align > 1 && bits & (align - 1)) || most - least > UINT32_MAX ||
        locate(machine, cta, 0, space, least, 1, &first) != WHERE_THERE || first.block->space == PTX_SPACE_LOCAL)
        return false;
    uint64_t end = first.offset + (most - least) + bytes;
    if (end > first.block->size || (first.block->space == PTX_SPACE_SHARED && (least ^ most) >> PTX_RANK_SHIFT))
        return false;
    uint64_t shift = first.offset - least;
    for (unsigned i = from; i < to; i++)
        locations[i] = (PtxLocation){.block = first.block, .offset = addresses->at[i] + shift};
    *span = (Span){.block = first.block, .begin = first.offset, .end = end};
    if (machine->team && first.block->host) {
        bool writes = access_stores(code);
        span->apart = !host_claim_lanes(machine, first.block->host, lanes, locations, bytes, writes);
        span->lanes = lanes;
        span->bytes = bytes;
        span->locations = locations;
    }
    return true;
}

/* Each lane in its own local memory. */
static bool resolve_local(PtxMachine *machine, PtxWarp *warp, const Lanes *addresses, uint32_t lanes, uint32_t bytes,
                          uint32_t align, PtxLocation locations[PTX_LANES]) {
    PtxBlock *blocks = local_block(machine, warp->cta, warp->index * PTX_LANES);
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        uint64_t at = addresses->at[lane];
        if (at >= blocks[lane].size || bytes > blocks[lane].size - at || (align > 1 && at & (align - 1)))
            return false;
        locations[lane] = (PtxLocation){.block = &blocks[lane], .offset = at};
    }
    return true;
}

bool memory_resolve(PtxMachine *machine, PtxGroup *group, const PtxCode *code, PtxSpace space, const Lanes *addresses,
                    uint32_t unknown, uint32_t bytes, uint32_t align, uint32_t *lanes, PtxLocation locations[PTX_LANES],
                    Span *span) {
    span->block = NULL;
    if (unknown & *lanes) {
        if (space != PTX_SPACE_LOCAL && space != PTX_SPACE_CONST && space != PTX_SPACE_PARAM) /* no others meet there */
            ptx_leave_out(machine, group, code);
        *lanes &= ~unknown;
    }
    if (!*lanes)
        return true;
    if (space == PTX_SPACE_LOCAL ? resolve_local(machine, group->warp, addresses, *lanes, bytes, align, locations)
                                 : resolve_together(machine, code, group->warp->cta, space, addresses, *lanes, bytes,
                                                    align, locations, span) &&
                                       stays_within(machine, code, span->block, span->begin, span->end))
        return true;
    span->block = NULL;
    for (uint32_t rest = *lanes; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        if (!ptx_resolve_one(machine, code, group->warp, lane, space, addresses->at[lane], bytes, align,
                             &locations[lane]))
            return false;
    }
    return true;
}

bool ptx_resolve(PtxMachine *machine, PtxGroup *group, const PtxCode *code, PtxSpace space, const Lanes *addresses,
                 uint32_t unknown, uint32_t bytes, uint32_t align, uint32_t *lanes, PtxLocation locations[PTX_LANES]) {
    Span span;
    return memory_resolve(machine, group, code, space, addresses, unknown, bytes, align, lanes, locations, &span);
}

/* ---- Whole rows of bytes that are known ---- */

bool span_known(const Span *span) {
    enum { LONGEST = 4096 };
    const PtxBlock *block = span->block;
    if (!block || !block->bytes || span->end - span->begin > LONGEST)
        return false;
    if (!block->states)
        return block->fill == BYTE_KNOWN;
    if (!span->apart)
        return bytes_known(block->states + span->begin, span->end - span->begin);
    for (uint32_t rest = span->lanes; rest; rest &= rest - 1)
        if (!bytes_known(block->states + span->locations[__builtin_ctz(rest)].offset, span->bytes))
            return false;
    return true;
}

#define EACH_LANE(lanes, ...)                                   \
    if ((lanes) == UINT32_MAX) {                                \
        for (unsigned lane = 0; lane < PTX_LANES; lane++)       \
            __VA_ARGS__                                         \
    } else {                                                    \
        for (uint32_t rest = (lanes); rest; rest &= rest - 1) { \
            unsigned lane = (unsigned)__builtin_ctz(rest);      \
            __VA_ARGS__                                         \
        }                                                       \
    }
#define LOAD_ROW(T)                                                  \
    EACH_LANE(lanes, {                                               \
        T value;                                                     \
        memcpy(&value, from + locations[lane].offset, sizeof value); \
        values->at[lane] = value;                                    \
    })                                                               \
    break

void span_load(const Span *span, uint32_t lanes, const PtxLocation *locations, unsigned offset, unsigned bytes,
               Lanes *values) {
    const uint8_t *from = span->block->bytes + offset;
    switch (bytes) {
    case 1:
        LOAD_ROW(uint8_t);
    case 2:
        LOAD_ROW(uint16_t);
    case 4:
        LOAD_ROW(uint32_t);
    default:
        LOAD_ROW(uint64_t);
    }
}

#define STORE_ROW(T)                                               \
    EACH_LANE(lanes, {                                             \
        T value = (T)values->at[lane], old;                        \
        memcpy(&old, to + locations[lane].offset, sizeof old);     \
        changed |= old ^ value;                                    \
        memcpy(to + locations[lane].offset, &value, sizeof value); \
    })                                                             \
    break

bool span_store(const Span *span, uint32_t lanes, const PtxLocation *locations, unsigned offset, unsigned bytes,
                const Lanes *values) {
    uint8_t *to = span->block->bytes + offset;
    uint64_t changed = 0;
    switch (bytes) {
    case 1:
        STORE_ROW(uint8_t);
    case 2:
        STORE_ROW(uint16_t);
    case 4:
        STORE_ROW(uint32_t);
    default:
        STORE_ROW(uint64_t);
    }
    return changed != 0;
}

/* ---- Bytes ---- */

uint64_t ptx_load(PtxMachine *machine, PtxLocation location, unsigned bytes, bool *known) {
    (void)machine;
    const PtxBlock *block = block_at(location.block, &location.offset);
    uint64_t value = 0;
    peek(block, location.offset, bytes, (uint8_t *)&value);
    *known = true;
    if (!block->states)
        *known = block->fill == BYTE_KNOWN;
    else
        *known = bytes_known(block->states + location.offset, bytes);
    return value;
}

void memory_changed(PtxMachine *machine, const PtxBlock *block) {
    if (block->space == PTX_SPACE_LOCAL)
        pools_of(machine)->local_changes++;
    else
        machine->changes++;
}

void ptx_store(PtxMachine *machine, PtxLocation location, unsigned bytes, uint64_t value, bool known) {
    uint8_t data[8], states[8];
    memcpy(data, &value, sizeof data);
    memset(states, known ? BYTE_KNOWN : BYTE_UNKNOWN, sizeof states);
    ptx_store_bytes(machine, location, bytes, data, known ? NULL : states);
}

void ptx_load_bytes(PtxMachine *machine, PtxLocation location, size_t count, uint8_t *bytes, uint8_t *states) {
    if (machine->team && location.block->host)
        host_claim(machine, location.block->host, location.offset, count, false);
    block_peek(location.block, location.offset, count, bytes);
    for (size_t done = 0, piece; states && done < count; done += piece) {
        uint64_t at = location.offset + done;
        piece = count - done;
        const PtxBlock *part = part_at(location.block, &at, &piece);
        if (part->states)
            memcpy(states + done, part->states + at, piece);
        else
            memset(states + done, part->fill, piece);
    }
}

/* Whether a lane finds there what it stores. What is not known may be anything; but in a run with other data, what
 * stands for it is compared. */
static bool holds(PtxBlock *whole, uint64_t offset, size_t count, const uint8_t *bytes, bool other) {
    const PtxBlock *block = block_at(whole, &offset);
    bool there = block->states ? bytes_known(block->states + offset, count) : block->fill == BYTE_KNOWN;
    if (other)
        there = block->states ? !memchr(block->states + offset, BYTE_NEVER, count) : block->fill != BYTE_NEVER;
    return block->bytes && there && memcmp(block->bytes + offset, bytes, count) == 0;
}

uint32_t memory_changes(const PtxMachine *machine, const PtxCode *code, uint32_t lanes, uint32_t unknown,
                        const PtxLocation *locations, size_t count, const uint8_t *bytes, size_t pitch) {
    const PtxOther *other = machine->other;
    uint32_t changes = 0;
    bool rises = true;
    const PtxLocation *last = NULL;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        const PtxLocation *location = &locations[lane];
        changes |= (uint32_t)!holds(location->block, location->offset, count, bytes + lane * pitch, other) << lane;
        rises &= !last || (last->block == location->block && last->offset < location->offset);
        last = location;
    }
    for (uint32_t rest = rises ? 0 : changes; rest; rest &= rest - 1) { /* lanes before it may have stored the same */
        unsigned lane = (unsigned)__builtin_ctz(rest);
        for (unsigned before = lane; before-- > 0;) {
            if (!(lanes >> before & 1) || locations[before].block != locations[lane].block ||
                locations[before].offset != locations[lane].offset)
                continue;
            if (memcmp(bytes + before * pitch, bytes + lane * pitch, count) == 0)
                changes &= ~(UINT32_C(1) << lane);
            break;
        }
    }
    if (other)
        return changes | (other->data && other->data[code - machine->program->code] ? lanes & ~unknown : 0);
    return changes | (lanes & unknown);
}

/* A known word where a known one was. False: it is not so. */
static inline __attribute__((always_inline)) bool store_word(PtxMachine *machine, PtxLocation location,
                                                             const unsigned bytes, const uint8_t *from) {
    PtxBlock *block = location.block;
    if (!bytes_known(block->states + location.offset, bytes))
        return false;
    bool differs = memcmp(block->bytes + location.offset, from, bytes) != 0;
    memcpy(block->bytes + location.offset, from, bytes);
    if (differs)
        memory_changed(machine, block);
    return true;
}

/* Bytes of one block, or of one of its pages. */
static void store_bytes(PtxMachine *machine, PtxBlock *block, uint64_t offset, size_t count, const uint8_t *bytes,
                        const uint8_t *states) {
    bool known = !states || bytes_known(states, count);
    bool differs = memcmp(block->bytes + offset, bytes, count) != 0;
    if (differs)
        memcpy(block->bytes + offset, bytes, count);
    if (!block->states && !(known && block->fill == BYTE_KNOWN))
        block_make_states(machine, block);
    if (block->states && known) {
        differs |= !bytes_known(block->states + offset, count);
        memset(block->states + offset, BYTE_KNOWN, count);
    } else if (block->states) {
        differs |= memcmp(block->states + offset, states, count) != 0;
        memcpy(block->states + offset, states, count);
    }
    if (differs)
        memory_changed(machine, block);
}

void ptx_store_bytes(PtxMachine *machine, PtxLocation location, size_t count, const uint8_t *bytes,
                     const uint8_t *states) {
    if (machine->plays)
        return;
    block_written(machine, location.block, location.offset, count);
    if (!states && location.block->states &&
        ((count == 4 && store_word(machine, location, 4, bytes)) ||
         (count == 8 && store_word(machine, location, 8, bytes)) ||
         (count == 16 && store_word(machine, location, 16, bytes))))
        return;
    for (size_t done = 0, piece; done < count; done += piece) {
        uint64_t at = location.offset + done;
        piece = count - done;
        PtxBlock *block = block_make_page(machine, location.block, &at, &piece);
        store_bytes(machine, block, at, piece, bytes + done, states ? states + done : NULL);
    }
}
