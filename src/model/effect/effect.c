/* The effects of one op: its row's clauses, applied to its values and attributes. */
#include "model/effect/internal.h"

#include "ir/op.h"
#include "model/effect/inline_ptx.h"
#include "model/effect/unknown.h"

#include <stddef.h>

typedef struct EffectValues {
    Value *const *operands; /* one of the two */
    const Value *results;
    uint32_t count;
} EffectValues;

static const Value *value_at(EffectValues values, uint32_t index) {
    if (index >= values.count)
        return NULL;
    return values.operands ? values.operands[index] : &values.results[index];
}

/* The results of an entry of the result column. In the generic form nothing says which optional ones are there: the
 * first, as far as they go. */
static EffectValues results_at(const Op *op, unsigned slot) {
    const OpRow *row = op->row;
    uint32_t single = 0, optional = 0, first = 0;
    bool said = op->form == FORM_PRETTY;
    for (unsigned i = 0; i < row->result_count; i++)
        single += row->results[i].arity == SLOT_ONE;
    for (unsigned i = 0; said && i < row->result_count; i++)
        optional += row->results[i].arity == SLOT_OPTIONAL && op->result_slots >> i & 1;
    uint32_t left = op->result_count > single ? op->result_count - single : 0;
    for (unsigned i = 0;; i++) {
        uint32_t here = 1;
        if (row->results[i].arity == SLOT_MANY)
            here = left > optional ? left - optional : 0;
        else if (row->results[i].arity == SLOT_OPTIONAL)
            here = said ? op->result_slots >> i & 1 : left > 0;
        if (first + here > op->result_count)
            return (EffectValues){0};
        if (i == slot)
            return (EffectValues){.results = op->results + first, .count = here};
        if (row->results[i].arity == SLOT_OPTIONAL && here && left)
            left--;
        first += here;
    }
}

static EffectValues values_at(const Op *op, SlotRef ref) {
    if (ref.column == REF_RESULT)
        return results_at(op, ref.index);
    EffectValues values = {0};
    if (ref.column == REF_OPERAND)
        values.operands = op_operands_at(op, ref.index, &values.count);
    return values;
}

static const Attr *attr_at(Module *module, const Op *op, SlotRef ref) {
    return attr_resolve(module, op_attr_of(op, ref));
}

/* The word that an attribute is: a keyword, the number of one, a text in quotes, what a dialect's attribute holds. */
static Str word_of(const Slot *slot, const Attr *attr) {
    if (attr->kind == ATTR_STRING && attr->text.size >= 2)
        return (Str){attr->text.data + 1, attr->text.size - 2};
    if (attr->kind == ATTR_DIALECT) { /* #nvws.async_op<none>, #gpu<dim x> */
        const char *space = memrchr(attr->body.data, ' ', attr->body.size);
        return space ? str_between(space + 1, attr->body.data + attr->body.size) : attr->body;
    }
    if (attr->kind == ATTR_INTEGER && slot->enumeration) {
        const char *at = slot->enumeration->words;
        for (Str entry; (entry = str_next_word(&at)).size;) {
            const char *cut = memchr(entry.data, '=', entry.size);
            Str word = cut ? str_between(entry.data, cut) : entry;
            int64_t value;
            if (enum_value(slot->enumeration, word, &value) && value == attr->integer)
                return word;
        }
    }
    return attr->text;
}

/* The sum of the words of a set, "local|global_read", or the number that it is. */
static int64_t flags_of(const Slot *slot, const Attr *attr) {
    if (attr->kind == ATTR_INTEGER)
        return attr->integer;
    int64_t sum = 0, value;
    const char *at = attr->text.data, *end = at + attr->text.size;
    while (at < end) {
        const char *start = at;
        while (at < end && !strchr(" |,<>", *at))
            at++;
        if (at > start && enum_value(slot->enumeration, str_between(start, at), &value))
            sum |= value;
        at += at < end;
    }
    return sum;
}

static bool attr_is(Module *module, const Slot *slot, const Attr *attr, Str value) {
    attr = attr_resolve(module, attr);
    int64_t number;
    if (!attr)
        return false;
    if (attr->kind == ATTR_ARRAY) {
        for (uint32_t i = 0; i < attr->count; i++)
            if (attr_is(module, slot, attr->items[i], value))
                return true;
        return false;
    }
    if (slot->syntax == SYNTAX_FLAGS && enum_value(slot->enumeration, value, &number))
        return (flags_of(slot, attr) & number) == number;
    if (!slot->enumeration && attr->kind == ATTR_INTEGER)
        return str_to_int(value, &number) && number == attr->integer;
    return str_equal(word_of(slot, attr), value);
}

static bool passes(Module *module, const Op *op, const Test *test) {
    if (effect_ref_is_value(test->of)) {
        EffectValues values = values_at(op, test->of);
        if (!test->value.size)
            return values.count > 0;
        int64_t number, wanted = str_is(test->value, "true");
        return (wanted || str_is(test->value, "false") || str_to_int(test->value, &wanted)) &&
               value_constant(value_at(values, 0), &number) && number == wanted;
    }
    const Attr *attr = attr_at(module, op, test->of);
    if (!attr)
        return false;
    if (test->value.size)
        return attr_is(module, &op->row->attrs[test->of.index], attr, test->value);
    return attr->kind != ATTR_BOOL || attr->integer;
}

/* "when a or b" holds if one of them does, "unless a or b" if none does; several conditions must all hold. */
static bool pass_all(Module *module, const Op *op, const Column *column, Tests tests) {
    const Test *test = &column->tests[tests.first], *end = test + tests.count;
    while (test < end) {
        bool negated = test->negated, any = passes(module, op, test);
        for (test++; test < end && test->alternative; test++)
            any = any || passes(module, op, test);
        if (any == negated)
            return false;
    }
    return true;
}

/* The memory that a memory descriptor or pointer, its aliases resolved, is of. Types that are no memory have none. */
static Space space_of(Module *module, const Type *type) {
    if (type && type->kind == TYPE_TENSOR && type->element) /* of pointers */
        type = type_resolve(module, type->element);
    if (!type)
        return SPACE_NONE;
    if (type_is(type, STR("tt.ptr")))
        return SPACE_GLOBAL;
    if (type_is(type, STR("llvm.ptr"))) {
        Str space = type->param_count ? type->params[0] : STR("0");
        return str_is(space, "3")   ? SPACE_SHARED
               : str_is(space, "6") ? SPACE_TENSOR
               : str_is(space, "1") ? SPACE_GLOBAL
                                    : SPACE_NONE;
    }
    if (!type_is(type, STR("ttg.memdesc")))
        return SPACE_NONE;
    for (unsigned i = 0; i < type->param_count; i++) {
        Str param = type->params[i];
        const Item *alias = map_get(&module->aliases, param);
        const Attr *named = alias && alias->kind == ITEM_ATTR_ALIAS ? attr_resolve(module, alias->attr) : NULL;
        if (named)
            param = named->text;
        if (str_ends(param, STR(".shared_memory")))
            return SPACE_SHARED;
        if (str_ends(param, STR(".tensor_memory")))
            return SPACE_TENSOR;
    }
    return SPACE_SHARED; /* 3.1 wrote no space: there was one */
}

/* Of a list, the one that belongs to number `index` of what the effect is on. */
static const Value *pick(const Op *op, SlotRef ref, uint32_t index) {
    EffectValues values = values_at(op, ref);
    return value_at(values, values.count > 1 ? index : 0);
}

static void set_count(Module *module, const Op *op, const EffectSetting *setting, uint32_t index, Effect *effect) {
    if (setting->from.column == REF_NONE) {
        effect->count = setting->number;
    } else if (setting->from.column == REF_ATTR) {
        const Attr *attr = attr_at(module, op, setting->from);
        effect->count = attr && attr->kind == ATTR_INTEGER ? attr->integer : 0;
    } else {
        effect->amount = pick(op, setting->from, index);
        effect->count = 0;
        const Type *type = effect->amount ? type_resolve(module, effect->amount->type) : NULL;
        if (type && type->kind == TYPE_INTEGER && !value_constant(effect->amount, &effect->count))
            effect->count = -1;
    }
}

/* An attribute that is absent changes nothing. */
static void set_word(Module *module, const Op *op, const EffectSetting *setting, Effect *effect) {
    int found = (int)setting->number;
    if (setting->from.column == REF_ATTR) {
        const Attr *attr = attr_at(module, op, setting->from);
        Str word = attr ? word_of(&op->row->attrs[setting->from.index], attr) : (Str){"", 0};
        found = !attr ? -1 : setting->field == FIELD_ORDER ? effect_find_order(word) : effect_find_scope(word);
    }
    if (found >= 0 && setting->field == FIELD_ORDER)
        effect->order = (Order)found;
    else if (found >= 0)
        effect->scope = (Scope)found;
}

static void set_action(Module *module, const Op *op, SlotRef ref, Effect *effect) {
    const Attr *attr = attr_at(module, op, ref);
    effect->atomic = attr ? effect_find_atomic(word_of(&op->row->attrs[ref.index], attr)) : ATOMIC_OTHER;
}

static void set_mask(Module *module, const Op *op, SlotRef ref, int64_t *mask) {
    const Attr *attr = attr_at(module, op, ref);
    if (attr && attr->kind == ATTR_INTEGER)
        *mask = attr->integer;
}

/* A type that is not known, or a pointer that may point anywhere, is memory all the same. */
static bool set_memory(Module *module, Effect *effect) {
    const Type *type = type_resolve(module, effect->on->type);
    effect->space = type ? space_of(module, type) : SPACE_NONE;
    return effect->space != SPACE_NONE || !type || type_is(type, STR("llvm.ptr"));
}

static void set_predicate(const Value *value, Effect *effect) {
    if (!effect->predicate)
        effect->predicate = value;
    else if (value != effect->predicate)
        effect->second_predicate = value;
}

/* All of a list. */
static void add_like(const Op *op, SlotRef ref, Effect *effect) {
    EffectValues values = values_at(op, ref);
    for (uint32_t i = 0; i < values.count && effect->like_count <= EFFECT_MOST_LIKE; i++) {
        if (effect->like_count < EFFECT_MOST_LIKE)
            effect->like[effect->like_count] = value_at(values, i);
        effect->like_count++;
    }
}

static void *member_of(Effect *effect, const EffectSetting *setting) {
    return (char *)effect + setting->number;
}

/* False if there is no such effect after all: "memory" of a value that is none. */
static bool set(Module *module, const Op *op, const EffectSetting *setting, uint32_t index, Effect *effect) {
    switch (setting->field) {
    case FIELD_SPACE:
        effect->space = (Space)setting->number;
        break;
    case FIELD_MEMORY:
        return set_memory(module, effect);
    case FIELD_PROXY:
        effect->proxy = (Proxy)setting->number;
        break;
    case FIELD_ORDER:
    case FIELD_SCOPE:
        set_word(module, op, setting, effect);
        break;
    case FIELD_DONE:
        effect->done = (Completion)setting->number;
        break;
    case FIELD_GROUP:
        effect->group = (GroupKind)setting->number;
        break;
    case FIELD_HELPER:
        effect->helper = (Helper)setting->number;
        break;
    case FIELD_SIDE:
        effect->side = (Side)setting->number;
        break;
    case FIELD_COUNT:
        set_count(module, op, setting, index, effect);
        break;
    case FIELD_PREDICATE:
        set_predicate(pick(op, setting->from, index), effect);
        break;
    case FIELD_COMPARE:
        effect->compare = pick(op, setting->from, index);
        effect->atomic = ATOMIC_CAS;
        break;
    case FIELD_ACTION:
        set_action(module, op, setting->from, effect);
        break;
    case FIELD_ORDERS:
        effect->spaces |= (uint8_t)(1u << setting->number);
        break;
    case FIELD_LIKE:
        add_like(op, setting->from, effect);
        break;
    case FIELD_FLAG:
        *(bool *)member_of(effect, setting) = true;
        break;
    case FIELD_VALUE:
        *(const Value **)member_of(effect, setting) = pick(op, setting->from, index);
        break;
    case FIELD_LIST: {
        ValueList *list = member_of(effect, setting);
        list->items = op_operands_of(op, setting->from, &list->count);
        break;
    }
    case FIELD_MASK:
        set_mask(module, op, setting->from, member_of(effect, setting));
        effect->from_some |= member_of(effect, setting) == (void *)&effect->from_ctas && op_attr_of(op, setting->from);
        break;
    }
    return true;
}

/* How many effects a clause makes: one for each value that it is on; a view of several, one for each of these. */
static uint32_t repetitions(const Op *op, const Column *column, const Clause *clause) {
    if (clause->on.column == REF_NONE)
        return 1;
    uint32_t count = values_at(op, clause->on).count;
    for (unsigned i = 0; clause->verb == EFFECT_VIEW && count == 1 && i < clause->count; i++) {
        const EffectSetting *setting = &column->settings[clause->first + i];
        bool of = setting->field == FIELD_VALUE && setting->number == offsetof(Effect, amount);
        uint32_t sources = of ? values_at(op, setting->from).count : 0;
        count = sources > count ? sources : count;
    }
    return count;
}

/* Whether it is known which operand stands for which entry of the row. */
static bool operands_known(const Op *op) {
    return op->segments || !op->operand_count || (!op->row->varying && op->operand_count == op->row->operand_count);
}

/* False if it is not known what the text does, or it is more than is kept. */
static bool add_assembly(Module *module, const Op *op, Effect *effects, unsigned *made) {
    unsigned count;
    Str what;
    bool good = inline_ptx_judged(module, op, effects + *made, EFFECTS_MOST - *made, &count, &what);
    *made += good ? count : 0;
    return good;
}

/* In a module of two-CTA products all that tensor cores do is done by pairs: copies and commits have no word of their
 * own for it. */
static bool is_of_pair(const Op *op, const Effect *effect) {
    return effect->helper == HELPER_TENSOR && attr_is_true(op_attr_around(op, "ttng.two-ctas"));
}

unsigned effects_of(Module *module, const Op *op, Effect *effects) {
    const Effect anything = {.verb = EFFECT_ANYTHING};
    if (!op->row || op->form == FORM_OPAQUE || op_is(op, CLASS_ANYTHING) ||
        (*op->row->effects && !operands_known(op))) {
        effects[0] = anything;
        return !unknown_is_harmless(module, op);
    }
    if (!*op->row->effects)
        return 0;
    const Column *column = effect_column_of(op->row);
    unsigned made = 0;
    for (unsigned k = 0; k < column->clause_count; k++) {
        const Clause *clause = &column->clauses[k];
        if (!pass_all(module, op, column, clause->tests))
            continue;
        if ((clause->assembly && add_assembly(module, op, effects, &made)) ||
            (clause->external && external_is_pure(module, op)))
            continue;
        uint32_t count = repetitions(op, column, clause);
        for (uint32_t i = 0; i < count; i++) {
            if (made == EFFECTS_MOST) { /* more than is kept: what is not said could be anything */
                effects[made - 1] = anything;
                return made;
            }
            Effect effect = {.verb = clause->verb,
                             .count = clause->verb == EFFECT_ARRIVE,
                             .atomic = clause->verb == EFFECT_UPDATE ? ATOMIC_OTHER : ATOMIC_NONE};
            if (clause->on.column != REF_NONE && !(effect.on = pick(op, clause->on, i)))
                continue;
            bool good = true;
            for (unsigned s = 0; good && s < clause->count; s++) {
                const EffectSetting *setting = &column->settings[clause->first + s];
                if (pass_all(module, op, column, setting->tests))
                    good = set(module, op, setting, i, &effect);
            }
            effect.pair |= is_of_pair(op, &effect);
            if (good)
                effects[made++] = effect;
        }
    }
    return made;
}

bool effect_named_id(const Effect *effect, int64_t *id) {
    *id = effect->number;
    return !effect->on || value_constant(effect->on, id);
}

bool effect_named_threads(const Effect *effect, int64_t *threads) {
    *threads = effect->count;
    return !effect->amount || value_constant(effect->amount, threads);
}

const Effect *effects_find(const Effect *effects, unsigned count, EffectVerb verb) {
    for (unsigned i = 0; i < count; i++)
        if (effects[i].verb == verb)
            return &effects[i];
    return NULL;
}

bool op_has_effect(Module *module, const Op *op, EffectVerb verb, GroupKind group) {
    Effect effects[EFFECTS_MOST];
    unsigned count = effects_of(module, op, effects);
    for (unsigned i = 0; i < count; i++)
        if (effects[i].verb == verb && effects[i].group == group)
            return true;
    return false;
}

bool op_any_effect(Module *module, const Op *op, bool (*is)(const Effect *effect)) {
    Effect effects[EFFECTS_MOST];
    unsigned count = op ? effects_of(module, op, effects) : 0, i = 0;
    while (i < count && !is(&effects[i]))
        i++;
    return i < count;
}
