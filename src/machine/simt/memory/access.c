/* Loads and stores. */
#include "machine/simt/core/internal.h"

#include <stdlib.h>

/* ---- What an instruction accesses ---- */

static const PtxEffect *access_effect(const PtxPrepare *about) {
    const PtxEffect *found = NULL;
    for (unsigned i = 0; i < about->effect_count; i++) {
        if (!effect_is_access(&about->effects[i].effect) || found || about->effects[i].effect.done != DONE_NOW)
            return NULL;
        found = &about->effects[i];
    }
    return found;
}

/* A pragma before a vector load says which of its bytes are used; UINT64_MAX: none does. */
static uint64_t used_bytes(const PtxProgram *program, const PtxCode *code) {
    const PtxModule *module = program->module;
    const PtxStatement *before = code->statement ? &module->statements[code->statement - 1] : NULL;
    while (before && before > module->statements && before->kind == PTX_LOC)
        before--;
    if (!before || before->kind != PTX_DIRECTIVE || !before->count ||
        module->operands[before->first].kind != PTX_STRING)
        return UINT64_MAX;
    Str text = ptx_name(module, module->operands[before->first].a), word = STR("\"used_bytes_mask ");
    return str_starts(text, word) ? strtoull(text.data + word.size, NULL, 0) : UINT64_MAX;
}

/* Elements that something looks at. */
static uint32_t used_elements(const PtxProgram *program, const PtxArgument *data, unsigned members) {
    uint32_t used = 0;
    for (unsigned i = 0; i < members; i++)
        used |= (uint32_t)(access_member(program, data, i)->kind != ARGUMENT_SINK) << i;
    return used;
}

static void describe_order(const PtxCode *code, const PtxEffect *effect, PtxAccess *access) {
    access->is_volatile = code_has(code, STR("volatile"));
    access->order = effect ? (uint8_t)effect->effect.order : ORDER_WEAK;
    access->scope = effect ? (uint8_t)effect->effect.scope : SCOPE_NONE;
    access->strong = access->order != ORDER_WEAK;
    access->read_only = effect && effect->read_only;
    access->proxy = effect ? (uint8_t)effect->effect.proxy : PROXY_GENERIC;
    if (code_has(code, STR("mmio"))) {
        access->order = ORDER_RELAXED;
        access->scope = SCOPE_SYS;
        access->strong = true;
    }
}

/* Where [name + 4] is about a variable of .param, or one on the stack in its place. */
static const PtxArgument *named_param(const PtxProgram *program, const CoreAccess *access) {
    const PtxArgument *address = access->address;
    if (access->space != PTX_SPACE_PARAM || address->kind != ARGUMENT_ADDRESS || !address->count)
        return NULL;
    const PtxArgument *base = argument_member(program, address, 0);
    return base->kind == ARGUMENT_SYMBOL ? base : NULL;
}

static bool is_in_kernel(const PtxProgram *program, const PtxCode *code) {
    const PtxRoutine *routine = &program->routines[program->entry];
    uint32_t at = (uint32_t)(code - program->code);
    return at >= routine->begin && at < routine->end;
}

bool access_describe(const PtxPrepare *about, const PtxCode *code, CoreAccess *access) {
    const PtxProgram *program = about->program;
    const PtxEffect *effect = access_effect(about);
    Str type = code_modifier(code, STR("t")), vector = code_modifier(code, STR("vec"));
    *access = (CoreAccess){.space = ptx_space_of_form(code->form->text, 0)};
    access->address = code_named(program, code, STR("a"));
    access->element = (uint8_t)(ptx_bits_of_type(type) / 8);
    access->members = vector.size ? (uint8_t)(vector.data[1] - '0') : 1;
    access->is_signed = type.size && type.data[0] == 's';
    if (!access->address || !access->element)
        return false;
    if (access->space == PTX_SPACE_PARAM && !named_param(program, access) && !is_in_kernel(program, code))
        access->space = PTX_SPACE_LOCAL; /* the address of a parameter that lies on the stack */
    describe_order(code, effect, &access->access);
    access->align = (uint32_t)access->element * access->members;
    access->access.element = access->element;
    access->access.bytes = access->align;
    access->own =
        access->space == PTX_SPACE_LOCAL || access->space == PTX_SPACE_PARAM || access->space == PTX_SPACE_CONST;
    return true;
}

void access_emit(PtxMachine *machine, PtxGroup *group, const PtxCode *code, const CoreAccess *access, uint32_t lanes,
                 const PtxLocation *locations, uint32_t changes) {
    uint32_t reported = 0;
    if ((!machine->observe && !machine->symmetry) || access->own)
        return;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        PtxSpace space = locations[__builtin_ctz(rest)].block->space;
        reported |= space == PTX_SPACE_GLOBAL || space == PTX_SPACE_SHARED ? rest & -rest : 0;
    }
    if (!reported)
        return;
    ptx_emit(machine, &(PtxEvent){.kind = PTX_EVENT_ACCESS,
                                  .code = code,
                                  .warp = group->warp,
                                  .lanes = reported,
                                  .access = access->access,
                                  .locations = locations,
                                  .location_count = PTX_LANES,
                                  .changes = changes & reported});
}

/* ---- Loads ---- */

static uint64_t extended(const CoreAccess *access, uint64_t value, unsigned to_bits) {
    unsigned bits = access->element * 8u;
    if (!access->is_signed || bits >= to_bits || bits >= 64)
        return value;
    value = (uint64_t)((int64_t)(value << (64 - bits)) >> (64 - bits));
    return to_bits < 64 ? value & ((UINT64_C(1) << to_bits) - 1) : value;
}

/* Bytes of a word that nothing has written, in a run with other data. */
static void read_unset(const PtxMachine *machine, const PtxWarp *warp, unsigned lane, PtxLocation location,
                       unsigned bytes, uint64_t *value) {
    uint64_t unset = memory_unset(machine, ptx_thread_number(machine, warp, lane));
    for (unsigned i = 0; i < bytes && location.block->space != PTX_SPACE_GLOBAL; i++)
        if ((location.block->states ? location.block->states[location.offset + i] : location.block->fill) == BYTE_NEVER)
            ((uint8_t *)value)[i] = ((const uint8_t *)&unset)[i];
}

/* A word of each lane at its location, at some distance. Lanes that are not known. */
static inline __attribute__((always_inline)) uint32_t read_words(PtxMachine *machine, const PtxCode *code,
                                                                 PtxGroup *group, uint32_t lanes,
                                                                 const PtxLocation *locations, unsigned offset,
                                                                 const unsigned bytes, Lanes *values) {
    uint32_t unknown = 0, never = 0;
    uint64_t all = 0;
    memset(&all, BYTE_KNOWN, bytes);
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        uint64_t at = locations[lane].offset + offset, value = 0, states = 0;
        const PtxBlock *block = block_at(locations[lane].block, &at);
        if (block->bytes)
            memcpy(&value, block->bytes + at, bytes);
        else
            block_peek(block, at, bytes, (uint8_t *)&value);
        values->at[lane] = value;
        if (block->states)
            memcpy(&states, block->states + at, bytes);
        else
            memset(&states, block->fill, bytes);
        if (states == all)
            continue;
        unknown |= UINT32_C(1) << lane;
        never |= memchr(&states, BYTE_NEVER, bytes) ? UINT32_C(1) << lane : 0;
    }
    for (; never; never &= never - 1) {
        unsigned lane = (unsigned)__builtin_ctz(never);
        PtxLocation location = {locations[lane].block, locations[lane].offset + offset};
        ptx_note_unset(machine, code, group->warp, lane, location);
        if (machine->other)
            read_unset(machine, group->warp, lane, location, bytes, &values->at[lane]);
    }
    return unknown;
}

static uint32_t read_row(PtxMachine *machine, const PtxCode *code, PtxGroup *group, uint32_t lanes,
                         const PtxLocation *locations, unsigned offset, unsigned bytes, Lanes *values) {
    switch (bytes) {
    case 1:
        return read_words(machine, code, group, lanes, locations, offset, 1, values);
    case 2:
        return read_words(machine, code, group, lanes, locations, offset, 2, values);
    case 4:
        return read_words(machine, code, group, lanes, locations, offset, 4, values);
    default:
        return read_words(machine, code, group, lanes, locations, offset, 8, values);
    }
}

static void load_element(PtxMachine *machine, PtxGroup *group, const PtxCode *code, const CoreAccess *access,
                         const PtxArgument *to, uint32_t lanes, const PtxLocation *locations, unsigned offset,
                         const Span *known) {
    unsigned bytes = access->element < 8 ? access->element : 8;
    for (unsigned half = 0; half * 8 < access->element; half++) {
        Lanes values;
        uint32_t unknown = 0;
        if (code->data)
            unknown = lanes;
        else if (known)
            span_load(known, lanes, locations, offset + half * 8, bytes, &values);
        else
            unknown = read_row(machine, code, group, lanes, locations, offset + half * 8, bytes, &values);
        if (access->is_signed && to->bits > access->element * 8u)
            for (uint32_t rest = lanes; rest; rest &= rest - 1) {
                unsigned lane = (unsigned)__builtin_ctz(rest);
                values.at[lane] = extended(access, values.at[lane], to->bits);
            }
        ptx_put(machine, group, to, half, &values, lanes, unknown);
    }
}

/* What lanes load whose address is not known. */
static void load_unknown(PtxMachine *machine, PtxGroup *group, const CoreAccess *access, uint32_t lanes) {
    static const Lanes zeros;
    for (unsigned i = 0; lanes && i < access->members; i++) {
        const PtxArgument *to = access_member(machine->program, access->data, i);
        ptx_put(machine, group, to, 0, &zeros, lanes, lanes);
        ptx_put(machine, group, to, 1, &zeros, lanes, lanes);
    }
}

static PtxStep run_load(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const CoreAccess *access = code->detail;
    Lanes scratch;
    PtxLocation locations[PTX_LANES];
    Span span;
    uint32_t unknown = 0, there = lanes;
    const Lanes *addresses = ptx_fetch_address(machine, group, access->address, &scratch, &unknown);
    if (!memory_resolve(machine, group, code, access->space, addresses, unknown, access->access.bytes, access->align,
                        &there, locations, &span))
        return PTX_STEP_FAULT;
    load_unknown(machine, group, access, lanes & ~there);
    if (!there)
        return PTX_STEP_NEXT;
    access_emit(machine, group, code, access, there, locations, 0);
    const Span *known = span_known(&span) ? &span : NULL;
    for (unsigned i = 0; i < access->members; i++)
        load_element(machine, group, code, access, access_member(machine->program, access->data, i), there, locations,
                     i * access->element, known);
    return PTX_STEP_NEXT;
}

/* ---- Parameters ---- */

static PtxStep run_load_param(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const CoreAccess *access = code->detail;
    const PtxArgument *base = named_param(machine->program, access);
    uint64_t offset = (uint64_t)(base->offset + access->address->offset);
    for (unsigned i = 0; i < access->members; i++)
        for (unsigned half = 0; half * 8 < access->element; half++) {
            unsigned bytes = access->element < 8 ? access->element : 8;
            const PtxArgument *to = access_member(machine->program, access->data, i);
            Lanes values;
            uint32_t unknown =
                param_load(machine, group, base->slot, offset + i * access->element + half * 8, lanes, bytes, &values);
            for (uint32_t rest = access->is_signed ? lanes : 0; rest; rest &= rest - 1) {
                unsigned lane = (unsigned)__builtin_ctz(rest);
                values.at[lane] = extended(access, values.at[lane], to->bits);
            }
            ptx_put(machine, group, to, half, &values, lanes, unknown);
        }
    return PTX_STEP_NEXT;
}

/* Of the kernel's own: the same for all lanes. */
static PtxStep run_load_kernel_param(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const CoreAccess *access = code->detail;
    const PtxArgument *base = named_param(machine->program, access);
    uint64_t offset = machine->program->seats[base->slot].at + (uint64_t)(base->offset + access->address->offset);
    for (unsigned i = 0; i < access->members; i++)
        for (unsigned half = 0; half * 8 < access->element; half++) {
            unsigned bytes = access->element < 8 ? access->element : 8;
            const PtxArgument *to = access_member(machine->program, access->data, i);
            PtxLocation location = {&machine->parameters, offset + i * access->element + half * 8};
            Lanes values;
            bool known;
            uint64_t value = extended(access, ptx_load(machine, location, bytes, &known), to->bits);
            for (unsigned k = 0; k < PTX_LANES; k++)
                values.at[k] = value;
            ptx_put(machine, group, to, half, &values, lanes, known ? 0 : lanes);
        }
    return PTX_STEP_NEXT;
}

static PtxStep run_store_param(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const CoreAccess *access = code->detail;
    const PtxArgument *base = named_param(machine->program, access);
    uint64_t offset = (uint64_t)(base->offset + access->address->offset);
    for (unsigned i = 0; i < access->members; i++)
        for (unsigned half = 0; half * 8 < access->element; half++) {
            unsigned bytes = access->element < 8 ? access->element : 8;
            Lanes scratch;
            uint32_t unknown = 0;
            const Lanes *values =
                ptx_fetch(machine, group, access_member(machine->program, access->data, i), half, &scratch, &unknown);
            param_store(machine, group, base->slot, offset + i * access->element + half * 8, lanes, bytes, values,
                        unknown);
        }
    return PTX_STEP_NEXT;
}

/* ---- Stores ---- */

/* What all lanes store, as bytes. */
typedef struct AccessStored {
    uint8_t bytes[PTX_LANES][32];
    uint32_t unknown[16]; /* of each element, or half of one */
} AccessStored;

static void gather_stored(PtxMachine *machine, PtxGroup *group, const CoreAccess *access, uint32_t lanes,
                          AccessStored *stored) {
    unsigned each = access->element < 8 ? access->element : 8, halves = access->element > 8 ? 2 : 1;
    for (unsigned i = 0; i < access->members * halves; i++) {
        Lanes scratch;
        stored->unknown[i] = 0;
        const Lanes *values = ptx_fetch(machine, group, access_member(machine->program, access->data, i / halves),
                                        i % halves, &scratch, &stored->unknown[i]);
        for (uint32_t rest = lanes; rest; rest &= rest - 1) {
            unsigned lane = (unsigned)__builtin_ctz(rest);
            memcpy(&stored->bytes[lane][i * each], &values->at[lane], each);
        }
    }
}

static void store_lane(PtxMachine *machine, const CoreAccess *access, unsigned lane, PtxLocation location,
                       const AccessStored *stored) {
    unsigned each = access->element < 8 ? access->element : 8, count = access->align / each;
    uint8_t states[32];
    bool known = true;
    for (unsigned i = 0; i < count; i++) {
        bool element = !(stored->unknown[i] >> lane & 1);
        memset(states + i * each, element ? BYTE_KNOWN : BYTE_UNKNOWN, each);
        known &= element;
    }
    ptx_store_bytes(machine, location, access->align, stored->bytes[lane], known ? NULL : states);
}

/* What all lanes store, as rows: where all bytes are known before and behind it. */
typedef struct AccessRows {
    Lanes scratch[8];
    const Lanes *values[8];
    unsigned count, each; /* bytes of one */
} AccessRows;

static bool gather_rows(PtxMachine *machine, PtxGroup *group, const CoreAccess *access, uint32_t lanes,
                        const Span *span, AccessRows *rows) {
    unsigned halves = access->element > 8 ? 2 : 1;
    uint32_t unknown = 0;
    rows->each = access->element < 8 ? access->element : 8;
    rows->count = access->members * halves;
    if (rows->count > 8 || !span_known(span))
        return false;
    for (unsigned i = 0; i < rows->count; i++)
        rows->values[i] = ptx_fetch(machine, group, access_member(machine->program, access->data, i / halves),
                                    i % halves, &rows->scratch[i], &unknown);
    return !(unknown & lanes);
}

static void store_rows(PtxMachine *machine, uint32_t lanes, const PtxLocation *locations, const Span *span,
                       const AccessRows *rows) {
    bool changed = false;
    span_written(machine, span, lanes, locations, (uint64_t)rows->count * rows->each);
    for (unsigned i = 0; i < rows->count; i++)
        changed |= span_store(span, lanes, locations, i * rows->each, rows->each, rows->values[i]);
    if (changed)
        memory_changed(machine, span->block);
}

static uint32_t changed_rows(const PtxMachine *machine, const PtxCode *code, uint32_t lanes,
                             const PtxLocation *locations, const AccessRows *rows) {
    uint8_t bytes[PTX_LANES][64];
    for (unsigned i = 0; i < rows->count; i++)
        for (uint32_t rest = lanes; rest; rest &= rest - 1) {
            unsigned lane = (unsigned)__builtin_ctz(rest);
            memcpy(&bytes[lane][i * rows->each], &rows->values[i]->at[lane], rows->each);
        }
    return memory_changes(machine, code, lanes, 0, locations, rows->count * rows->each, bytes[0], sizeof bytes[0]);
}

static uint32_t unknown_lanes(const CoreAccess *access, const AccessStored *stored) {
    unsigned each = access->element < 8 ? access->element : 8;
    uint32_t unknown = 0;
    for (unsigned i = 0; i < access->align / each; i++)
        unknown |= stored->unknown[i];
    return unknown;
}

/* A store to local memory, and it is not known where: what is there is not known from now on. */
static void forget_local(PtxMachine *machine, const PtxWarp *warp, uint32_t lanes) {
    PtxBlock *blocks = lanes ? local_block(machine, warp->cta, warp->index * PTX_LANES) : NULL;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        PtxBlock *block = &blocks[__builtin_ctz(rest)];
        block_make_states(machine, block);
        memset(block->states, BYTE_UNKNOWN, block->size);
    }
}

static PtxStep run_store(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const CoreAccess *access = code->detail;
    Lanes scratch;
    PtxLocation locations[PTX_LANES];
    AccessStored stored;
    Span span;
    uint32_t unknown = 0;
    const Lanes *addresses = ptx_fetch_address(machine, group, access->address, &scratch, &unknown);
    if (access->space == PTX_SPACE_LOCAL)
        forget_local(machine, group->warp, unknown & lanes);
    if (!memory_resolve(machine, group, code, access->space, addresses, unknown, access->access.bytes, access->align,
                        &lanes, locations, &span))
        return PTX_STEP_FAULT;
    if (!lanes)
        return PTX_STEP_NEXT;
    if (access->space == PTX_SPACE_UNKNOWN && !memory_writable(machine, group, code, lanes, locations))
        return PTX_STEP_FAULT;
    if (code->data) {
        ptx_note_unknown(machine, code);
        access_emit(machine, group, code, access, lanes, locations, lanes);
        return PTX_STEP_NEXT;
    }
    bool reported = (machine->observe || machine->symmetry) && !access->own;
    AccessRows rows;
    if (gather_rows(machine, group, access, lanes, &span, &rows)) {
        if (reported)
            access_emit(machine, group, code, access, lanes, locations,
                        changed_rows(machine, code, lanes, locations, &rows));
        store_rows(machine, lanes, locations, &span, &rows);
        return PTX_STEP_NEXT;
    }
    gather_stored(machine, group, access, lanes, &stored);
    unknown = unknown_lanes(access, &stored) & lanes;
    if (unknown)
        ptx_note_unknown(machine, code);
    if (reported)
        access_emit(machine, group, code, access, lanes, locations,
                    memory_changes(machine, code, lanes, unknown, locations, access->align, stored.bytes[0],
                                   sizeof stored.bytes[0]));
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        store_lane(machine, access, lane, locations[lane], &stored);
    }
    return PTX_STEP_NEXT;
}

/* ---- Which are accesses ---- */

bool access_stores(const PtxCode *code) {
    return code->run == run_store;
}

const CoreAccess *access_plain(const PtxCode *code) {
    return code->run == run_load || code->run == run_store ? code->detail : NULL;
}

/* A parameter of the kernel, and bytes that it has. */
static bool is_kernel_param(const PtxProgram *program, const CoreAccess *access, const PtxArgument *base) {
    const PtxFunction *kernel = &program->module->functions[program->entry];
    const PtxSymbolSlot *seat = &program->seats[base->slot];
    int64_t begin = (int64_t)seat->at + base->offset + access->address->offset;
    return base->slot - kernel->parameters < kernel->parameter_count && seat->space == PTX_SPACE_PARAM && begin >= 0 &&
           begin + access->align <= program->parameter_bytes;
}

static bool prepare_load(const PtxPrepare *about, PtxCode *code, CoreAccess *access) {
    const PtxProgram *program = about->program;
    access->data = access->gives = code_named(program, code, STR("d"));
    if (!access->data)
        return false;
    access->access.kind = KIND_READ;
    access->access.used = used_elements(program, access->data, access->members);
    uint64_t bytes = used_bytes(program, code), each = (UINT64_C(1) << access->element) - 1;
    for (unsigned i = 0; i < access->members && access->align <= 64; i++)
        if (!(bytes >> i * access->element & each))
            access->access.used &= ~(UINT32_C(1) << i);
    const PtxArgument *base = named_param(program, access);
    code->run = run_load;
    if (base)
        code->run = is_kernel_param(program, access, base) ? run_load_kernel_param : run_load_param;
    code->visible = !access->own && !access->access.read_only;
    return true;
}

static bool prepare_store(const PtxPrepare *about, PtxCode *code, CoreAccess *access) {
    access->data = code_named(about->program, code, STR("b"));
    if (!access->data)
        return false;
    access->access.kind = KIND_WRITE;
    access->access.used = (UINT32_C(1) << access->members) - 1;
    code->run = named_param(about->program, access) ? run_store_param : run_store;
    code->visible = !access->own;
    return true;
}

/* Stores into local memory and parameters have no effect that others notice: their rows say none. */
static bool is_store(const PtxPrepare *about, const PtxCode *code) {
    const PtxEffect *effect = access_effect(about);
    if (effect)
        return effect->effect.verb == EFFECT_WRITE && effect->value.size && !effect->matrix;
    return !about->effect_count && about->evaluator == PTX_EVALUATE_NONE && str_is(str_of(code->form->row->name), "st");
}

bool access_prepare(const PtxPrepare *about, PtxCode *code) {
    bool load = about->evaluator == PTX_EVALUATE_LOAD;
    if (!load && !is_store(about, code))
        return updates_prepare(about, code) || pieces_prepare(about, code) || addresses_prepare(about, code);
    CoreAccess *access = ARENA_NEW(about->program->arena, CoreAccess);
    code->detail = access;
    if (!access_describe(about, code, access))
        return false;
    return load ? prepare_load(about, code, access) : prepare_store(about, code, access);
}
