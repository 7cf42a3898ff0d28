/* Memory: bytes by address, made up where nothing has written; and addresses of all state spaces.
 *
 * A 32-bit shared address is an offset in the own CTA, or, with (rank + 1) in its upper byte, in another one of the
 * cluster, which is what mapa gives; .shared means the own. Generic addresses of shared, local, constant and parameter
 * memory lie in a window of 4 GiB each; all others are global. */
#include "internal.h"

#include <stdlib.h>

uint64_t mixed(uint64_t a, uint64_t b) {
    uint64_t x = a * UINT64_C(0x9e3779b97f4a7c15) ^ (b + UINT64_C(0x632be59bd9b4e019) + (a << 6) + (a >> 2));
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

void memory_free(Memory *memory) {
    for (uint32_t i = 0; i < memory->capacity; i++)
        free(memory->slots[i]);
    free(memory->slots);
    *memory = (Memory){0};
}

void memory_clear(Memory *memory, uint64_t seed, Contents contents) {
    memory_free(memory);
    memory->seed = seed;
    memory->contents = contents;
}

static void fill(const Memory *memory, Page *page) {
    if (memory->contents == CONTENTS_ZERO)
        return;
    for (unsigned i = 0; i < sizeof page->bytes; i += 4) {
        uint32_t word = (uint32_t)mixed(memory->seed ^ page->key, i);
        if (memory->contents == CONTENTS_SMALL)
            word &= 0x7f;
        memcpy(page->bytes + i, &word, 4);
    }
}

static void grow(Memory *memory) {
    Memory larger = *memory;
    larger.capacity = memory->capacity ? memory->capacity * 2 : 1024;
    larger.slots = calloc(larger.capacity, sizeof *larger.slots);
    for (uint32_t i = 0; i < memory->capacity; i++) {
        if (!memory->slots[i])
            continue;
        uint32_t at = (uint32_t)mixed(memory->slots[i]->key, 1) & (larger.capacity - 1);
        while (larger.slots[at])
            at = (at + 1) & (larger.capacity - 1);
        larger.slots[at] = memory->slots[i];
    }
    free(memory->slots);
    *memory = larger;
}

static Page *page_of(Memory *memory, uint64_t key) {
    if (memory->last && memory->last->key == key)
        return memory->last;
    if (memory->count * 2 >= memory->capacity)
        grow(memory);
    uint32_t at = (uint32_t)mixed(key, 1) & (memory->capacity - 1);
    while (memory->slots[at] && memory->slots[at]->key != key)
        at = (at + 1) & (memory->capacity - 1);
    if (!memory->slots[at]) {
        memory->slots[at] = calloc(1, sizeof(Page));
        memory->slots[at]->key = key;
        memory->count++;
        fill(memory, memory->slots[at]);
    }
    return memory->last = memory->slots[at];
}

uint64_t memory_read(Memory *memory, uint64_t address, unsigned bytes) {
    uint64_t value = 0;
    if ((address & 255) + bytes <= 256) {
        memcpy(&value, page_of(memory, address >> 8)->bytes + (address & 255), bytes);
        return value;
    }
    for (unsigned i = 0; i < bytes; i++, address++)
        value |= (uint64_t)page_of(memory, address >> 8)->bytes[address & 255] << 8 * i;
    return value;
}

void memory_write(Memory *memory, uint64_t address, unsigned bytes, uint64_t value) {
    for (unsigned i = 0; i < bytes; i++, address++)
        page_of(memory, address >> 8)->bytes[address & 255] = (uint8_t)(value >> 8 * i);
}

/* ---- Addresses ---- */

static const Space windowed[4] = {IN_SHARED, IN_LOCAL, IN_CONST, IN_PARAM};

uint64_t generic_address(const Machine *machine, Space space, uint64_t address) {
    for (unsigned i = 0; i < 4; i++)
        if (space == windowed[i] || (space == IN_CLUSTER && windowed[i] == IN_SHARED))
            return machine->windows[i] + (uint32_t)address;
    return address;
}

bool window_space(const Machine *machine, uint64_t address, Space *space) {
    for (unsigned i = 0; i < 4; i++)
        if (address >> 32 == machine->windows[i] >> 32) {
            *space = windowed[i];
            return true;
        }
    *space = IN_GLOBAL;
    return false;
}

static Location shared_location(Context *c, uint32_t address, bool own_only) {
    const Cta *own = c->warp->cta, *cta = own;
    uint32_t rank = own_only ? 0 : address >> 24;
    if (rank)
        cta = &c->machine->ctas[(rank - 1) % c->machine->cta_count];
    return (Location){cta == own ? REGION_SHARED : REGION_PEER,
                      UINT64_C(1) << 60 | (uint64_t)cta->number << 28 | (address & 0xffffff), NULL};
}

static Location param_location(Context *c, unsigned lane, uint32_t address) {
    Frame *frame = c->top->frame;
    uint32_t own = address - 0x10000;
    if (address >= 0x10000 && own < frame->function->param_bytes - 0x10000) {
        size_t size = frame->function->param_bytes - 0x10000 + 16;
        return (Location){REGION_PARAM, 0, frame->params + lane * size + own};
    }
    return (Location){REGION_PARAM, UINT64_C(4) << 60 | address, NULL};
}

Location location_of(Context *c, unsigned lane, Space space, uint64_t address) {
    bool generic = space == GENERIC;
    if (generic)
        window_space(c->machine, address, &space);
    switch (space) {
    case IN_SHARED:
    case IN_CLUSTER:
        return shared_location(c, (uint32_t)address, space == IN_SHARED && !generic);
    case IN_LOCAL:
        return (Location){REGION_LOCAL,
                          UINT64_C(2) << 60 | (uint64_t)(c->warp->number * LANES + lane) << 28 | (address & 0xfffffff),
                          NULL};
    case IN_CONST:
        return (Location){REGION_CONST, UINT64_C(3) << 60 | (uint32_t)address, NULL};
    case IN_PARAM:
        return param_location(c, lane, (uint32_t)address);
    case IN_TENSOR:
        return (Location){REGION_OTHER, 0, NULL};
    default:
        return (Location){REGION_GLOBAL, address & ((UINT64_C(1) << 60) - 1), NULL};
    }
}

/* Of a place in parameters of a function, at most 16 bytes behind them are there. */
uint64_t location_read(Context *c, const Location *location, unsigned bytes) {
    uint64_t value = 0;
    if (!location->bytes)
        return memory_read(&c->machine->memory, location->key, bytes);
    memcpy(&value, location->bytes, bytes);
    return value;
}

void location_write(Context *c, const Location *location, unsigned bytes, uint64_t value) {
    if (location->bytes)
        memcpy(location->bytes, &value, bytes);
    else
        memory_write(&c->machine->memory, location->key, bytes, value);
}

uint64_t variable_address(const Context *c, uint32_t variable) {
    const Placed *p = &c->machine->placed[variable];
    return p->at + (p->space == IN_LOCAL ? c->top->frame->local : 0);
}

/* ---- What variables begin with ---- */

static const PtxOperand *write_initial(Machine *m, uint64_t *at, unsigned bytes, const PtxOperand *o);

static uint64_t initial_value(Machine *m, const PtxOperand *o) {
    const PtxOperand *inner = o + 1;
    switch ((PtxOperandKind)o->kind) {
    case PTX_VARIABLE:
        return m->placed[o->a].at + o->bits;
    case PTX_CALLEE:
        return (UINT64_C(0xf) << 44) + o->a * 16;
    case PTX_GENERIC:
        return generic_address(m, m->placed[inner->a].space, m->placed[inner->a].at + inner->bits) + o->bits;
    case PTX_MASKED: {
        uint64_t value = initial_value(m, inner), mask = o->bits;
        return mask ? (value & mask) >> __builtin_ctzll(mask) : 0;
    }
    default:
        return o->bits;
    }
}

static const PtxOperand *write_initial(Machine *m, uint64_t *at, unsigned bytes, const PtxOperand *o) {
    const PtxOperand *end = o + ptx_extent(o);
    if (o->kind != PTX_VECTOR) {
        memory_write(&m->memory, *at, bytes > 8 ? 8 : bytes, initial_value(m, o));
        *at += bytes;
        return end;
    }
    for (const PtxOperand *inner = o + 1; inner < end;)
        inner = write_initial(m, at, bytes, inner);
    return end;
}

/* Places global and constant variables, and writes what they begin with. */
void memory_initialize(Machine *m) {
    const PtxModule *module = m->module;
    uint64_t global = (UINT64_C(1) << 42) + (mixed(m->memory.seed, 7) & 0xffffff) * 4096, constant = 256;
    for (uint32_t i = 0; i < module->variables_count; i++) {
        Placed *p = &m->placed[i];
        if (p->space != IN_GLOBAL && p->space != IN_CONST)
            continue;
        uint64_t *next = p->space == IN_GLOBAL ? &global : &constant, align = module->variables[i].align;
        if (!align)
            align = (p->bits + 7u) / 8 * p->vector;
        p->at = odd_aligned(*next, align);
        *next = p->at + p->bytes;
    }
    for (uint32_t i = 0; i < module->variables_count; i++) {
        const Placed *p = &m->placed[i];
        if ((p->space != IN_GLOBAL && p->space != IN_CONST) || !module->variables[i].initial_count)
            continue;
        uint64_t begin = p->at | (p->space == IN_CONST ? UINT64_C(3) << 60 : 0), at = begin;
        for (uint32_t b = 0; b < p->bytes; b++)
            memory_write(&m->memory, begin + b, 1, 0);
        const PtxOperand *o = &module->operands[module->variables[i].initial];
        for (const PtxOperand *end = o + module->variables[i].initial_count; o < end;)
            o = write_initial(m, &at, (p->bits + 7u) / 8, o);
    }
}
