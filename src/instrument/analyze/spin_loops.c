/* Polls: what a strong read has to find for the loop around it to end.
 *
 * A read whose value is compared, and used for nothing else, would have let the loop end on any value that compares so:
 * a run in which it found another one of these is as real as the one that was recorded (check/replay/spin_loops.c). The
 * value may go through shared memory, where Triton's one thread that looks hands it to the others. */
#include "instrument/internal.h"

/* ---- Who uses a value -------------------------------------------------------------------------------------- */

enum { MOST_USES = 8, MOST_DEPTH = 4 };

typedef struct SpinLoopUse {
    uint32_t instruction, operand;
} SpinLoopUse;

typedef struct SpinLoopUses {
    SpinLoopUse items[MOST_USES];
    uint32_t count;
    bool known; /* that is all of them */
} SpinLoopUses;

static void uses_of(const FunctionAnalysis *analysis, uint32_t value, unsigned depth, SpinLoopUses *uses);

/* Whether anything uses it, or what it may go on in. */
static bool is_used(const FunctionAnalysis *analysis, uint32_t value, unsigned depth) {
    SpinLoopUses uses = {.known = depth < MOST_DEPTH};
    if (uses.known)
        uses_of(analysis, value, depth, &uses);
    return uses.count || !uses.known;
}

static bool has_input(const PtxFlow *flow, const FlowValue *phi, uint32_t value) {
    for (uint32_t i = 0; i < flow->blocks[phi->block].predecessor_count; i++)
        if (flow->inputs[phi->inputs + i] == value)
            return true;
    return false;
}

static void uses_of(const FunctionAnalysis *analysis, uint32_t value, unsigned depth, SpinLoopUses *uses) {
    const PtxFlow *flow = &analysis->flow;
    for (uint32_t i = 0; i < flow->instruction_count; i++) {
        const PtxStatement *statement = look_statement(analysis, i);
        for (uint32_t k = statement->first; k < statement->first + statement->count; k++) {
            if (flow_value(flow, k) != value ||
                (flow->values[value].kind == VALUE_RESULT && flow->values[value].operand == k))
                continue;
            if (uses->count == MOST_USES)
                uses->known = false;
            else
                uses->items[uses->count++] = (SpinLoopUse){i, k};
        }
    }
    for (uint32_t i = 0; i < flow->value_count && uses->known; i++) {
        const FlowValue *other = &flow->values[i];
        bool goes_on = other->kind == VALUE_PHI ? has_input(flow, other, value)
                                                : other->kind == VALUE_RESULT && other->before == value;
        if (goes_on && i != value && is_used(analysis, i, depth + 1))
            uses->known = false;
    }
}

/* ---- Through shared memory --------------------------------------------------------------------------------- */

/* A known place in a variable of shared memory. */
typedef struct SpinLoopLocation {
    uint32_t variable;
    uint64_t offset, bytes;
} SpinLoopLocation;

/* The variable of an address that is one and a number: by its name, or in a register. */
static bool base_of(const FunctionAnalysis *analysis, const PtxOperand *base, SpinLoopLocation *location) {
    uint32_t count;
    if (base->kind == PTX_REGISTER) {
        uint32_t value = flow_value(&analysis->flow, (uint32_t)(base - analysis->module->operands));
        PtxSum sum = value == PTX_NONE ? (PtxSum){0} : ptx_sum_of(&analysis->values, value);
        const FlowValue *root = sum.root_count == 1 ? &analysis->flow.values[sum.roots[0]] : NULL;
        if (!root || sum.term_count || root->kind != VALUE_RESULT || root->before != PTX_NONE ||
            !str_starts(look_form(analysis, root->instruction)->text, STR("mov.")))
            return false;
        location->offset += sum.constant;
        base = ptx_operands(analysis->module, look_statement(analysis, root->instruction), &count) + 1;
    }
    if (base->kind != PTX_VARIABLE)
        return false;
    location->variable = base->a;
    location->offset += base->bits;
    return true;
}

/* The shared memory that an effect of an instruction is on. False: where is not known. */
static bool location_of(const FunctionAnalysis *analysis, uint32_t instruction, const PtxEffect *effect,
                        SpinLoopLocation *location) {
    const PtxForm *form = look_form(analysis, instruction);
    const PtxOperand *on = ptx_effect_operand(analysis->module, look_statement(analysis, instruction), effect->on);
    Str vector = form->row ? ptx_form_modifier(form->row, form->text, STR("vec")) : (Str){0};
    if (!on || on->kind != PTX_ADDRESS || on->a != 1)
        return false;
    *location = (SpinLoopLocation){.offset = on->bits, .bytes = element_bytes(analysis, instruction)};
    if (vector.size == 2)
        location->bytes *= (uint64_t)(vector.data[1] - '0');
    return location->bytes && base_of(analysis, on + 1, location);
}

static bool is_location(const SpinLoopLocation *one, const SpinLoopLocation *other) {
    return one->variable == other->variable && one->offset == other->offset && one->bytes == other->bytes;
}

static bool is_apart(const SpinLoopLocation *one, const SpinLoopLocation *other) {
    return one->variable == other->variable &&
           (one->offset + one->bytes <= other->offset || other->offset + other->bytes <= one->offset);
}

typedef enum SpinLoopTouch { TOUCH_NOTHING, TOUCH_READS, TOUCH_WRITES, TOUCH_MAYBE } SpinLoopTouch;

/* What an instruction does to the place: reads exactly it, writes exactly it, or may do anything to it. */
static SpinLoopTouch touch_of(const FunctionAnalysis *analysis, uint32_t instruction,
                              const SpinLoopLocation *location) {
    PtxEffect effects[PTX_EFFECTS_MOST];
    unsigned count = look_acts(analysis, instruction)
                         ? ptx_effects_of(analysis->module, look_statement(analysis, instruction), effects)
                         : 0;
    SpinLoopTouch touch = TOUCH_NOTHING;
    for (unsigned i = 0; i < count; i++) {
        SpinLoopLocation at;
        if (effects[i].effect.verb == EFFECT_ANYTHING)
            return TOUCH_MAYBE;
        if (!effect_is_access(&effects[i].effect))
            continue;
        PtxSpace space = look_space(analysis, instruction, &effects[i]);
        if (space != PTX_SPACE_SHARED && space != PTX_SPACE_CLUSTER && space != PTX_SPACE_UNKNOWN)
            continue;
        bool known = space == PTX_SPACE_SHARED && effects[i].effect.done == DONE_NOW &&
                     location_of(analysis, instruction, &effects[i], &at);
        if (known && is_apart(&at, location))
            continue;
        if (!known || !is_location(&at, location) || effects[i].effect.verb == EFFECT_UPDATE || touch)
            return TOUCH_MAYBE;
        touch = effects[i].effect.verb == EFFECT_READ ? TOUCH_READS : TOUCH_WRITES;
    }
    return touch;
}

/* By whom it is run: the value of the guard, and whether it has to hold. PTX_NONE: by all. */
static uint32_t guard_of(const FunctionAnalysis *analysis, uint32_t instruction, bool *negated) {
    const PtxStatement *statement = look_statement(analysis, instruction);
    *negated = statement->flags & PTX_NEGATED;
    return statement->flags & PTX_GUARDED ? flow_value(&analysis->flow, statement->first) : PTX_NONE;
}

/* Whether what `store` stored is overwritten by the thread that stored it. */
static bool overwrites(const FunctionAnalysis *analysis, uint32_t instruction, uint32_t store) {
    bool negated, before;
    uint32_t guard = guard_of(analysis, instruction, &negated);
    return guard == PTX_NONE || (guard == guard_of(analysis, store, &before) && negated == before);
}

/* Whether something may read behind the loop what is in the place. */
static bool read_behind(const FunctionAnalysis *analysis, uint32_t loop, uint32_t store,
                        const SpinLoopLocation *location, Arena *arena) {
    const PtxFlow *flow = &analysis->flow;
    bool *seen = ARENA_ARRAY(arena, bool, flow->block_count + 1);
    uint32_t *list = ARENA_ARRAY(arena, uint32_t, flow->block_count + 1), count = 0;
    for (uint32_t i = 0; i < flow->block_count; i++)
        if (flow->blocks[i].reached && flow_in_loop(flow, i, loop))
            list[count++] = i;
    for (uint32_t inside = count, at = 0; at < count; at++) {
        const FlowBlock *block = &flow->blocks[list[at]];
        bool over = false;
        for (uint32_t i = block->begin; at >= inside && i < block->end && !over; i++) {
            SpinLoopTouch touch = touch_of(analysis, i, location);
            if (touch == TOUCH_READS || touch == TOUCH_MAYBE)
                return true;
            over = touch == TOUCH_WRITES && overwrites(analysis, i, store);
        }
        for (uint32_t i = 0; i < block->successor_count && !over; i++) {
            uint32_t next = flow->edges[block->successors + i];
            if (seen[next] || flow_in_loop(flow, next, loop))
                continue;
            seen[next] = true;
            list[count++] = next;
        }
    }
    return false;
}

/* The loads of the loop that give what it stored, if nothing else sees it. False: that is not known. */
static bool forwarded_to(const FunctionAnalysis *analysis, uint32_t loop, const SpinLoopUse *stored,
                         SpinLoopUses *loads) {
    const PtxFlow *flow = &analysis->flow;
    PtxEffect effects[PTX_EFFECTS_MOST];
    SpinLoopLocation location;
    unsigned count = ptx_effects_of(analysis->module, look_statement(analysis, stored->instruction), effects);
    if (count != 1 || effects[0].effect.verb != EFFECT_WRITE || effects[0].effect.order != ORDER_WEAK ||
        effects[0].effect.done != DONE_NOW ||
        look_space(analysis, stored->instruction, &effects[0]) != PTX_SPACE_SHARED ||
        !location_of(analysis, stored->instruction, &effects[0], &location) ||
        !flow_in_loop(flow, flow->block_of[stored->instruction], loop))
        return false;
    const PtxOperand *value =
        ptx_effect_operand(analysis->module, look_statement(analysis, stored->instruction), effects[0].value);
    uint32_t at = (uint32_t)((value && value->kind == PTX_VECTOR ? value + 1 : value) - analysis->module->operands);
    if (!value || at != stored->operand || (value->kind == PTX_VECTOR && value->a != 1))
        return false;
    for (uint32_t i = 0; i < flow->instruction_count; i++) {
        if (!flow_in_loop(flow, flow->block_of[i], loop) || i == stored->instruction)
            continue;
        SpinLoopTouch touch = touch_of(analysis, i, &location);
        bool behind = flow->block_of[i] == flow->block_of[stored->instruction]
                          ? i > stored->instruction
                          : flow_dominates(flow, flow->block_of[stored->instruction], flow->block_of[i]);
        if (touch == TOUCH_NOTHING)
            continue;
        if (touch != TOUCH_READS || !behind || loads->count == MOST_USES)
            return false;
        loads->items[loads->count++].instruction = i;
    }
    Arena scratch;
    arena_init(&scratch, SIZE_MAX);
    bool seen = read_behind(analysis, loop, stored->instruction, &location, &scratch);
    arena_free(&scratch);
    return !seen;
}

/* ---- The comparison ---------------------------------------------------------------------------------------- */

static bool is_setp(const FunctionAnalysis *analysis, uint32_t instruction) {
    return str_starts(look_form(analysis, instruction)->text, STR("setp."));
}

/* "setp.lt.s32" and nothing more. */
static bool read_setp(Str text, SitePoll *poll) {
    static const struct {
        const char *name;
        PollCompare compare;
    } names[] = {{"eq", POLL_EQUAL},   {"ne", POLL_DIFFERS},  {"lt", POLL_LESS}, {"le", POLL_AT_MOST},
                 {"gt", POLL_GREATER}, {"ge", POLL_AT_LEAST}, {"lo", POLL_LESS}, {"ls", POLL_AT_MOST},
                 {"hi", POLL_GREATER}, {"hs", POLL_AT_LEAST}};
    const size_t head = strlen("setp.lt.");
    Str type = {text.data + head, text.size > head ? text.size - head : 0};
    char letter = type.size == 3 ? ptx_type_letter(type) : 0;
    if (text.size <= head || text.data[head - 1] != '.' || (letter != 's' && letter != 'u' && letter != 'b'))
        return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (memcmp(text.data + strlen("setp."), names[i].name, 2) == 0) {
            poll->compare = (uint8_t)names[i].compare;
            poll->bits = (uint8_t)ptx_type_bits(type);
            poll->is_signed = letter == 's';
            return poll->bits >= 16;
        }
    return false;
}

static PollCompare mirrored(PollCompare compare) {
    static const uint8_t others[] = {
        [POLL_EQUAL] = POLL_EQUAL,      [POLL_DIFFERS] = POLL_DIFFERS, [POLL_LESS] = POLL_GREATER,
        [POLL_AT_MOST] = POLL_AT_LEAST, [POLL_GREATER] = POLL_LESS,    [POLL_AT_LEAST] = POLL_AT_MOST};
    return (PollCompare)others[compare];
}

static PollCompare negated(PollCompare compare) {
    static const uint8_t others[] = {
        [POLL_EQUAL] = POLL_DIFFERS,   [POLL_DIFFERS] = POLL_EQUAL,   [POLL_LESS] = POLL_AT_LEAST,
        [POLL_AT_MOST] = POLL_GREATER, [POLL_GREATER] = POLL_AT_MOST, [POLL_AT_LEAST] = POLL_LESS};
    return (PollCompare)others[compare];
}

/* What it is compared with: a number, or a register that is the same all the time that the loop runs. */
static bool read_other(const FunctionAnalysis *analysis, uint32_t loop, const PtxOperand *other, SitePoll *poll) {
    const PtxFlow *flow = &analysis->flow;
    uint32_t at = (uint32_t)(other - analysis->module->operands);
    if (other->kind == PTX_INTEGER) {
        poll->with = other->bits;
        return true;
    }
    uint32_t value = other->kind == PTX_REGISTER ? flow_value(flow, at) : PTX_NONE;
    Form form = value == PTX_NONE ? (Form){0} : ptx_operand_form(&analysis->values, at);
    if (value == PTX_NONE || form.width != poll->bits)
        return false;
    if (!form.assumes && form_constant(&form, &poll->with))
        return true;
    poll->reported = true;
    poll->operand = at;
    return flow->values[value].kind != VALUE_UNDEFINED && !flow_in_loop(flow, flow->values[value].block, loop);
}

/* Whether the loop ends by what a comparison gives, and by nothing else that it is used for: if it is true, or if not.
 */
static bool decides(const FunctionAnalysis *analysis, uint32_t loop, uint32_t setp, bool *ends_if) {
    const PtxFlow *flow = &analysis->flow;
    const PtxStatement *statement = look_statement(analysis, setp);
    SpinLoopUses uses = {.known = true};
    uint32_t given = flow_value(flow, statement->first);
    if (given == PTX_NONE)
        return false;
    uses_of(analysis, given, 0, &uses);
    if (!uses.known || uses.count != 1)
        return false;
    uint32_t at = uses.items[0].instruction;
    const FlowBlock *block = &flow->blocks[flow->block_of[at]];
    const PtxStatement *branch = look_statement(analysis, at);
    if (block->ends != FLOW_BRANCH || block->successor_count != 2 || at != block->end - 1 ||
        uses.items[0].operand != branch->first || !(branch->flags & PTX_GUARDED) || block->loop != loop)
        return false;
    bool taken = flow_in_loop(flow, flow->edges[block->successors], loop),
         next = flow_in_loop(flow, flow->edges[block->successors + 1], loop);
    *ends_if = !taken != !!(branch->flags & PTX_NEGATED);
    return taken != next;
}

static bool read_compare(const FunctionAnalysis *analysis, uint32_t loop, const SpinLoopUse *compare, SitePoll *poll) {
    uint32_t count;
    bool ends_if;
    const PtxStatement *statement = look_statement(analysis, compare->instruction);
    const PtxOperand *operands = ptx_operands(analysis->module, statement, &count);
    if (statement->flags & PTX_GUARDED || count != 3 || operands[0].kind != PTX_REGISTER ||
        !read_setp(look_form(analysis, compare->instruction)->text, poll) ||
        !flow_in_loop(&analysis->flow, analysis->flow.block_of[compare->instruction], loop))
        return false;
    bool second = operands + 2 - analysis->module->operands == compare->operand;
    if (!read_other(analysis, loop, &operands[second ? 1 : 2], poll) ||
        !decides(analysis, loop, compare->instruction, &ends_if))
        return false;
    PollCompare is = second ? mirrored((PollCompare)poll->compare) : (PollCompare)poll->compare;
    poll->compare = (uint8_t)(ends_if ? is : negated(is));
    return true;
}

/* The one comparison that a value is used by, through shared memory or not. False: there is something else. */
static bool find_compare(const FunctionAnalysis *analysis, uint32_t loop, uint32_t value, bool hands, unsigned bits,
                         SpinLoopUse *compare, uint32_t *found) {
    SpinLoopUses uses = {.known = true};
    uses_of(analysis, value, 0, &uses);
    for (uint32_t i = 0; i < uses.count && uses.known; i++) {
        SpinLoopUses loads = {0};
        if (is_setp(analysis, uses.items[i].instruction)) {
            *compare = uses.items[i];
            ++*found;
            continue;
        }
        if (!hands || element_bytes(analysis, uses.items[i].instruction) * 8 != bits ||
            !forwarded_to(analysis, loop, &uses.items[i], &loads))
            return false;
        for (uint32_t k = 0; k < loads.count; k++) {
            uint32_t given = looked_at(analysis, loads.items[k].instruction);
            if (given == PTX_NONE ||
                !find_compare(analysis, loop, flow_value(&analysis->flow, given), false, bits, compare, found))
                return false;
        }
    }
    return uses.known;
}

/* ---- The access -------------------------------------------------------------------------------------------- */

/* What a load or an atomic gives: the one register of it; PTX_NONE. */
uint32_t looked_at(const FunctionAnalysis *analysis, uint32_t instruction) {
    PtxEffect effects[PTX_EFFECTS_MOST];
    const PtxStatement *statement = look_statement(analysis, instruction);
    unsigned count = ptx_effects_of(analysis->module, statement, effects);
    for (unsigned i = 0; i < count; i++) {
        const PtxOperand *gives = effects[i].gives.size && effect_is_access(&effects[i].effect)
                                      ? ptx_effect_operand(analysis->module, statement, effects[i].gives)
                                      : NULL;
        if (gives && gives->kind == PTX_VECTOR)
            gives++; /* the first of its members */
        if (gives && gives->kind == PTX_REGISTER)
            return (uint32_t)(gives - analysis->module->operands);
    }
    return PTX_NONE;
}

/* Whether it reads, and nothing learns anything by it that came before. */
static bool only_reads(const PtxEffect *effects, unsigned count, bool *compares) {
    bool any = false;
    for (unsigned i = 0; i < count; i++) {
        const Effect *effect = &effects[i].effect;
        if (!effect_is_access(effect))
            return false;
        any = true;
        *compares |= effects[i].compare.size > 0;
        if (effect->verb != EFFECT_READ &&
            (effect->verb != EFFECT_UPDATE || (effect->order != ORDER_RELAXED && effect->order != ORDER_ACQUIRE)))
            return false;
    }
    return any;
}

void find_poll(const FunctionAnalysis *analysis, uint32_t instruction, Site *site) {
    PtxEffect effects[PTX_EFFECTS_MOST];
    const PtxFlow *flow = &analysis->flow;
    const PtxForm *form = look_form(analysis, instruction);
    unsigned count = ptx_effects_of(analysis->module, look_statement(analysis, instruction), effects), bits;
    uint32_t loop = flow->blocks[flow->block_of[instruction]].loop, given = looked_at(analysis, instruction), found = 0;
    bool compares = false;
    SitePoll poll = {0};
    SpinLoopUse compare;
    Str vector = form->row ? ptx_form_modifier(form->row, form->text, STR("vec")) : (Str){0};
    if (loop == PTX_NONE || flow->loops[loop].irreducible || given == PTX_NONE || vector.size ||
        flow_value(flow, given) == PTX_NONE || !only_reads(effects, count, &compares))
        return;
    bits = element_bytes(analysis, instruction) * 8;
    if (!find_compare(analysis, loop, flow_value(flow, given), true, bits, &compare, &found) || found != 1 ||
        !read_compare(analysis, loop, &compare, &poll) || poll.bits != bits || (poll.reported && compares))
        return;
    site->poll = poll;
}
