/* What stores store. Where no values are recorded it is told what can be without them: constants, and what is the same
 * in all lanes of a warp. Where they are (instrument/plan/stored.c), shared memory is kept, so that it is known who
 * writes what is there already. */
#include "check/replay/internal.h"

#include "ptx/effects.h"

/* ---- Without values ------------------------------------------------------------------------------- */

typedef struct Stores {
    ThreadsCheck *check;
    const PtxValues *values;
    FormSpan all; /* what is the same over so many threads is the same for all of the launch */
} Stores;

/* The number that an operand is; false: it is none. */
static bool number_of(const Stores *look, const PtxArgument *argument, uint64_t *number) {
    if (argument->kind == ARGUMENT_CONSTANT) {
        *number = look->check->program->constants[argument->slot].at[0];
        return true;
    }
    if (argument->kind != ARGUMENT_ROW)
        return false;
    Form form = ptx_operand_form(look->values, argument->operand);
    return form_constant(&form, number);
}

/* Lanes that load one address together load one value, or a weak load races with a store, which is found by itself. */
static bool is_symmetry(const Stores *look, const PtxArgument *argument) {
    if (argument->kind != ARGUMENT_ROW)
        return argument->kind == ARGUMENT_CONSTANT;
    Form form = ptx_operand_form(look->values, argument->operand);
    return form_is_uniform(look->values->tables, &form) && !(form.assumes & FORM_NO_WRAP);
}

static bool is_for_all(const Stores *look, const Form *form) {
    return form_is_uniform(look->values->tables, form) && form_span(form) <= look->all && !form->assumes;
}

/* Whether an instruction is a weak load of an address that is the same for all threads. */
static bool loads_one(const Stores *look, uint32_t instruction) {
    const PtxModule *module = look->check->module;
    uint32_t at = look->values->flow->instructions[instruction];
    const PtxStatement *statement = &module->statements[at];
    PtxEffect effects[PTX_EFFECTS_MOST];
    unsigned count = ptx_effects_of(module, statement, effects);
    const PtxOperand *on = count == 1 ? ptx_effect_operand(module, statement, effects[0].on) : NULL;
    if (!on || on->kind != PTX_ADDRESS || effects[0].effect.verb != EFFECT_READ ||
        effects[0].effect.order != ORDER_WEAK)
        return false;
    PtxOrigin origin;
    Form form = ptx_address_form(look->values, at, (uint32_t)(on - module->operands), &origin);
    return is_for_all(look, &form) &&
           (origin.space == PTX_SPACE_GLOBAL || (origin.space == PTX_SPACE_SHARED && look->all == SPAN_CTA));
}

/* Whether nothing between two instructions of a block orders threads. */
static bool nothing_orders(const Stores *look, uint32_t from, uint32_t to) {
    const PtxModule *module = look->check->module;
    for (uint32_t i = from; i < to; i++) {
        PtxEffect effects[PTX_EFFECTS_MOST];
        unsigned count = ptx_effects_of(module, &module->statements[look->values->flow->instructions[i]], effects);
        for (unsigned k = 0; k < count; k++)
            if ((effects[k].effect.verb != EFFECT_READ && effects[k].effect.verb != EFFECT_WRITE) ||
                effects[k].effect.order != ORDER_WEAK)
                return false;
    }
    return true;
}

/* Whether all threads of the launch that make a store, outside of loops, store the same there: what the launch decides,
 * or what they load from one address. If a store came between two of these loads, it races with one, or what orders it
 * orders the two stores, too. */
static bool is_same_for_all(const Stores *look, const PtxArgument *argument, uint32_t instruction) {
    const PtxFlow *flow = look->values->flow;
    if (argument->kind != ARGUMENT_ROW)
        return argument->kind == ARGUMENT_CONSTANT;
    Form form = ptx_operand_form(look->values, argument->operand);
    uint32_t number = flow_value(flow, argument->operand);
    const FlowValue *value = number != PTX_NONE ? &flow->values[number] : NULL;
    if (is_for_all(look, &form))
        return true;
    return value && value->kind == VALUE_RESULT && value->before == PTX_NONE &&
           value->block == flow->block_of[instruction] && value->instruction < instruction &&
           loads_one(look, value->instruction) && nothing_orders(look, value->instruction, instruction);
}

/* Numbers as a record says them: themselves, or a hash of their words. */
static void add_number(PtxStores *stores, uint32_t at, uint32_t element, uint64_t number) {
    if (element < 4) {
        uint32_t low = (uint32_t)number & ((UINT32_C(1) << 8 * element) - 1), shift = 8 * at % 32;
        stores->value = at && !shift ? record_hash(stores->value, low) : stores->value | low << shift;
        return;
    }
    for (uint32_t i = 0; i < element / 4; i++) {
        uint32_t word = i < 2 ? (uint32_t)(number >> 32 * i) : 0;
        stores->value = at || i ? record_hash(stores->value, word) : word;
    }
}

static PtxStores stored_by(const Stores *look, const PtxCode *code, uint32_t instruction) {
    const PtxProgram *program = look->check->program;
    const PtxFlow *flow = look->values->flow;
    PlayAccess access = {0};
    PtxStores stores = {.how = STORES_CONSTANT};
    const PtxArgument *data = code_named(program, code, STR("b"));
    play_access(program, code, &access); /* whatever its address is */
    if (!access.access.bytes || access.access.kind != KIND_WRITE || !data)
        return (PtxStores){0};
    uint32_t count = data->kind == ARGUMENT_MEMBERS ? data->count : 1, element = access.access.bytes / count;
    bool once = look->check->module->functions[flow->function].entry &&
                flow->blocks[flow->block_of[instruction]].loop == PTX_NONE;
    for (uint32_t i = 0; i < count; i++) {
        const PtxArgument *each = data->kind == ARGUMENT_MEMBERS ? argument_member(program, data, i) : data;
        uint64_t number;
        if (number_of(look, each, &number) && element <= 8)
            add_number(&stores, i * element, element, number);
        else if (stores.how >= STORES_SAME && once && is_same_for_all(look, each, instruction))
            stores.how = STORES_SAME;
        else
            stores.how = stores.how != STORES_ANY && is_symmetry(look, each) ? STORES_SYMMETRY : STORES_ANY;
    }
    return stores;
}

static void look_at(ThreadsCheck *check, uint32_t function, PtxStores *stores) {
    const PtxProgram *program = check->program;
    const PtxRoutine *routine = &program->routines[function];
    PtxFlow flow;
    PtxValues values;
    const uint32_t *block = check->machine->launch->block;
    PtxBlockShape shape = {.x = block[0], .y = block[1], .z = block[2]};
    Stores look = {check, &values, check->machine->cta_count == 1 ? SPAN_CTA : SPAN_GRID};
    const char *problem;
    if (!ptx_flow_values(&flow, &values, check->module, function, &shape, 0, &problem))
        return;
    for (uint32_t i = 0; i < flow.instruction_count; i++)
        stores[routine->begin + i] = stored_by(&look, &program->code[routine->begin + i], i);
    ptx_flow_values_free(&flow, &values);
}

/* One hash of all that lanes hold, which the rows of a matrix are made of. */
static bool hashed_together(const PlaySite *site) {
    return site->gathers && site->site->parts[site->data - 1].shape != PART_EVERY;
}

const PtxStores *play_stored(ThreadsCheck *check, PlaySites *sites) {
    PtxStores *stores = ARENA_ARRAY(&check->arena, PtxStores, check->program->code_count + 1);
    for (uint32_t i = 0; i < check->module->functions_count; i++)
        if (check->program->routines[i].ready)
            look_at(check, i, stores);
    for (uint32_t i = 0; i < sites->sites.count; i++) {
        PlaySite *site = &sites->items[i];
        PtxStores *of = site->code ? &stores[site->code - check->program->code] : NULL;
        if (site->data && hashed_together(site))
            of->how = STORES_ROWS;
        site->constant = of && of->how == STORES_CONSTANT;
        site->stored = of ? of->value : 0;
    }
    return stores;
}

/* ---- With values ---------------------------------------------------------------------------------- */

enum { PLAY_STORED_MOST = 32 }; /* bytes of a lane */

static bool knows(const PlaySite *site) {
    return site->data || site->constant;
}

/* Bytes that stand for what a lane stores: two that are the same in memory have the same, if they are as wide. */
static void bytes_of(uint32_t value, uint32_t salt, uint32_t count, uint8_t *to) {
    if (count <= 4) {
        memcpy(to, &value, count);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t hash = record_hash(record_hash(record_hash(value, count), i / 4), salt);
        to[i] = (uint8_t)(hash >> 8 * (i % 4));
    }
}

static void forget(PlayCtaBytes *in, uint64_t offset, uint64_t count) {
    uint64_t begin = offset > in->begin ? offset : in->begin, end = offset + count < in->end ? offset + count : in->end;
    if (in->known && begin < end)
        memset(in->known + begin, 0, end - begin);
}

static bool put(PlayCtaBytes *in, uint64_t offset, uint32_t count, const uint8_t *bytes) {
    bool same = true;
    for (uint32_t i = 0; i < count; i++) {
        same &= in->known[offset + i] && in->bytes[offset + i] == bytes[i];
        in->bytes[offset + i] = bytes[i];
        in->known[offset + i] = 1;
    }
    in->begin = offset < in->begin ? offset : in->begin;
    in->end = offset + count > in->end ? offset + count : in->end;
    return same;
}

/* Room for what is stored in a CTA's shared memory: that of one which is over, or new. */
static void make_room(Player *player, PlayCtaBytes *in, uint64_t size) {
    if (player->spare_count) {
        *in = player->spare[--player->spare_count];
        return;
    }
    *in = (PlayCtaBytes){.bytes = ARENA_ARRAY(&player->arena, uint8_t, size + 1),
                         .known = ARENA_ARRAY(&player->arena, uint8_t, size + 1),
                         .begin = UINT64_MAX};
}

uint32_t stored_put(Player *player, uint32_t cta, uint32_t lanes, const uint64_t *offsets, uint32_t count,
                    const PlaySite *site, const Record *record, uint32_t warp) {
    PlayCtaBytes *in = &player->stored[cta];
    uint64_t size = player->machine->ctas[cta]->shared.size;
    uint32_t same = 0;
    Lanes values;
    bool salted = site->data && hashed_together(site);
    if (!knows(site) || count > PLAY_STORED_MOST) {
        for (uint32_t rest = in->known ? lanes : 0; rest; rest &= rest - 1)
            forget(in, offsets[__builtin_ctz(rest)], count);
        return 0;
    }
    if (!in->known)
        make_room(player, in, size);
    if (site->data)
        play_values(player, site, record, site->data - 1u, warp, &values);
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        uint8_t bytes[PLAY_STORED_MOST];
        if (offsets[lane] + count > size)
            continue;
        bytes_of(site->data ? (uint32_t)values.at[lane] : site->stored, salted ? lane + 1 : 0, count, bytes);
        same |= put(in, offsets[lane], count, bytes) ? rest & -rest : 0;
    }
    return same;
}

/* Of one access that all is to shared memory of one CTA. */
static uint32_t see_lanes(Player *player, const PtxEvent *event, uint32_t cta, uint32_t lanes) {
    const PlaySite *site = player->site;
    bool known = site && site->code == event->code && event->access.kind == KIND_WRITE && knows(site);
    uint64_t offsets[PTX_LANES];
    uint32_t reported = known && site->data ? lanes & player->record->lanes : known ? lanes : 0;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        offsets[lane] = event->locations[lane].offset;
        if (!(reported >> lane & 1))
            forget(&player->stored[cta], offsets[lane], event->access.bytes);
    }
    return reported ? stored_put(player, cta, reported, offsets, event->access.bytes, site, player->record,
                                 event->warp->index)
                    : 0;
}

static void see_pieces(Player *player, const PtxEvent *event) {
    for (uint32_t i = 0; i < event->location_count; i++) {
        const PtxBlock *block = event->locations[i].block;
        if (block && block->space == PTX_SPACE_SHARED)
            forget(&player->stored[block->cta], event->locations[i].offset,
                   event->sizes ? event->sizes[i] : event->access.bytes);
    }
}

void stored_see(Player *player, PtxEvent *event) {
    if (event->kind == PTX_EVENT_INIT || event->kind == PTX_EVENT_INVALIDATE)
        forget(&player->stored[event->place >> 32], (uint32_t)event->place, 8);
    if (event->kind != PTX_EVENT_ACCESS || event->access.kind == KIND_READ || !event->locations)
        return;
    if (event->outstanding) {
        see_pieces(player, event);
        return;
    }
    for (uint32_t rest = event->lanes; rest;) {
        const PtxBlock *block = event->locations[__builtin_ctz(rest)].block;
        uint32_t lanes = 0;
        for (uint32_t more = rest; more; more &= more - 1)
            lanes |= event->locations[__builtin_ctz(more)].block == block ? more & -more : 0;
        rest &= ~lanes;
        if (block->space == PTX_SPACE_SHARED)
            event->changes &= ~see_lanes(player, event, block->cta, lanes);
    }
}

void stored_over(Player *player, uint32_t cta) {
    PlayCtaBytes *in = &player->stored[cta];
    if (!in->known)
        return;
    forget(in, 0, UINT64_MAX);
    in->begin = UINT64_MAX;
    in->end = 0;
    *ARENA_PUSH(&player->arena, player->spare, player->spare_count, player->spare_capacity) = *in;
    *in = (PlayCtaBytes){0};
}
