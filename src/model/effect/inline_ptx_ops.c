/* PTX instructions of inline assembly, by the rows of the table: which touch memory, which order it, which do neither.
 */
#include "model/effect/inline_ptx_internal.h"

#include "model/effect/ptx_column.h"

#include <ctype.h>

/* The words of PTX for an InlineAction, in the order of these. */
static const char actions[] = "ld st add and or xor exch cas min max inc dec";

/* "u32", "f16x2", "bf16", "b128": its bits, and the letter that says how they are meant. */
static bool find_type(Str part, InlineAccess *access) {
    bool brain = str_starts(part, STR("bf"));
    size_t start = brain ? 2 : 1, digits = start;
    while (digits < part.size && isdigit((unsigned char)part.data[digits]))
        digits++;
    bool twice = str_is((Str){part.data + digits, part.size - digits}, "x2");
    int64_t bits;
    if (!memchr("busf", part.data[0], 4) || !str_to_int((Str){part.data + start, digits - start}, &bits) ||
        word_place((Str){part.data + start, digits - start}, "8 16 32 64 128") < 0 || (digits < part.size && !twice))
        return false;
    access->type = brain ? 'f' : part.data[0];
    access->bits = (unsigned)bits * (twice ? 2 : 1);
    return true;
}

/* ld, st, atom, red: what is done with values. */
static bool find_values(const PtxRow *row, Str name, Opcode *opcode) {
    InlineAccess *access = &opcode->access;
    Str type = ptx_form_modifier(row, name, STR("t")), vector = ptx_form_modifier(row, name, STR("vec"));
    Str action = ptx_form_modifier(row, name, STR("op"));
    Str left = name;
    int place = word_place(action.size ? action : next_part(&left), actions);
    access->elements = vector.size ? (unsigned)(vector.data[1] - '0') : 1;
    access->action = opcode->effects[0].verb == EFFECT_READ ? INLINE_LOAD : (InlineAction)place;
    return type.size && find_type(type, access) && (place >= 0 || access->action == INLINE_LOAD);
}

/* An access of the thread itself to global memory. Those of shared memory are in a place that is not known. */
static Opcode access_of(const PtxRow *row, Str name, const PtxEffect *effect) {
    Opcode opcode = {.kind = OPCODE_ACCESS, .count = 1, .effects[0] = effect->effect};
    bool plain = effect->effect.done == DONE_NOW && effect->effect.proxy == PROXY_GENERIC && !effect->count.size;
    if (!plain || !ptx_effect_is_common(effect) || (effect->effect.space != SPACE_GLOBAL && !effect->memory) ||
        !find_values(row, name, &opcode))
        return (Opcode){.kind = OPCODE_UNKNOWN};
    opcode.effects[0].space = SPACE_GLOBAL;
    opcode.effects[0].count = 0; /* of bytes: the reader of the operands says it */
    opcode.effects[0].atomic = ATOMIC_NONE;
    opcode.has_result = row->operands[0] == '=';
    opcode.needs_global = effect->memory;
    return opcode;
}

/* What is no matter where ops work on whole tensors: how the threads of a warp run, what registers they have, and
 * asynchronous loads and stores of tensor memory, which are no such thing there. Nor are there two addresses of the
 * same memory. */
static bool is_beside_the_point(const PtxEffect *effect) {
    switch (effect->effect.verb) {
    case EFFECT_CONVERGED:
    case EFFECT_WARP_SYNC:
    case EFFECT_FENCE_REGISTERS:
    case EFFECT_REGISTERS:
    case EFFECT_RELINQUISH:
    case EFFECT_TRIGGER_LAUNCHES:
        return true;
    case EFFECT_AWAIT:
        return effect->effect.group == GROUP_TENSOR_LOAD || effect->effect.group == GROUP_TENSOR_STORE;
    case EFFECT_FENCE_PROXY:
        return effect->effect.proxy == PROXY_ALIAS;
    case EFFECT_FENCE_ORDER:
        return effect->effect.spaces == 1u << SPACE_TENSOR;
    default:
        return false;
    }
}

/* A fence of one memory alone, or of one direction between proxies, is less than what ops can say; but that of
 * initializations is an op. */
static bool is_partial(const PtxEffect *effect) {
    return (effect->effect.verb == EFFECT_FENCE_ORDER && effect->effect.spaces && !effect->inits) ||
           (effect->effect.verb == EFFECT_FENCE_PROXY && effect->effect.proxy == PROXY_ASYNC && effect->effect.order);
}

/* What is known of an effect without its operands, and is more than that; false: it is not known. */
static bool add_effect(const PtxEffect *effect, Opcode *opcode) {
    if (!ptx_effect_is_common(effect) || is_partial(effect) ||
        opcode->count == sizeof opcode->effects / sizeof *opcode->effects)
        return false;
    switch (effect->effect.verb) {
    case EFFECT_COMMIT:
    case EFFECT_AWAIT:
    case EFFECT_CLUSTER_ARRIVE:
    case EFFECT_CLUSTER_WAIT:
    case EFFECT_FENCE_PROXY:
    case EFFECT_FENCE_ORDER:
    case EFFECT_AWAIT_LAUNCHES:
        opcode->counted = effect->count.size > 0;
        opcode->addressed = effect->on.size > 0;
        opcode->effects[opcode->count++] = effect->effect;
        return true;
    default:
        return false;
    }
}

static Opcode opcode_of(const PtxForm *form) {
    const PtxRow *row = form->row;
    PtxEffect effects[PTX_EFFECTS_MOST];
    unsigned count = 0;
    Opcode opcode = {.kind = OPCODE_EFFECTS};
    if (row->control)
        return (Opcode){.kind = strcmp(row->operands, "target:label") == 0 ? OPCODE_BRANCH : OPCODE_UNKNOWN};
    for (unsigned i = 0; i < form->effect_count; i++)
        if (!is_beside_the_point(&form->effects[i]))
            effects[count++] = form->effects[i];
    if (count == 1 && effect_is_access(&effects[0].effect))
        return access_of(row, form->text, &effects[0]);
    if (count == 1 && (effects[0].effect.verb == EFFECT_NAMED_SYNC || effects[0].effect.verb == EFFECT_NAMED_ARRIVE))
        return (Opcode){.kind = OPCODE_SYNC,
                        .count = 1,
                        .effects[0].verb = effects[0].effect.verb,
                        .has_result = row->operands[0] == '='};
    for (unsigned i = 0; i < count; i++)
        if (!add_effect(&effects[i], &opcode))
            return (Opcode){.kind = OPCODE_UNKNOWN};
    return opcode;
}

/* AMD: what touches memory, waits for others, or goes elsewhere, by how its name begins. */
static bool amd_touches(Str name) {
    static const char *const begin[] = {"ds_",       "global_", "buffer_", "flat_",    "scratch_",  "tensor_",
                                        "s_barrier", "s_store", "s_atom",  "s_branch", "s_cbranch", "s_setpc",
                                        "s_swappc",  "s_call",  "s_trap",  "s_endpgm", "s_sendmsg"};
    for (size_t i = 0; i < sizeof begin / sizeof *begin; i++)
        if (str_starts(name, (Str){begin[i], strlen(begin[i])}))
            return true;
    return false;
}

bool inline_ptx_touches(Str name) {
    PtxActs acts = ptx_opcode_acts(next_part(&(Str){name.data, name.size}));
    return acts == PTX_ACTS || acts == PTX_STEERS || amd_touches(name);
}

Opcode inline_ptx_opcode(const PtxForm *form) {
    Opcode opcode = {.kind = OPCODE_EFFECTS};
    Str name = form->text, left = name, base = next_part(&left);
    if (ptx_opcode_acts(base) == PTX_COMPUTES)
        return opcode;
    if (str_starts(name, STR("v_")) || word_place(name, "s_nop s_sleep s_setprio") >= 0) {
        opcode.exact = true;
        return opcode;
    }
    bool stops = form->row && !form->row->control && ptx_opcode_acts(base) == PTX_STEERS; /* the kernel */
    return form->row && !stops ? opcode_of(form) : (Opcode){.kind = OPCODE_UNKNOWN};
}
