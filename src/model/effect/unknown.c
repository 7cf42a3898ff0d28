/* The one rule about ops that are not known. */
#include "model/effect/unknown.h"

#include "ir/op.h"
#include "model/effect/inline_ptx.h"

/* Dialects whose ops compute, and do nothing else. */
static const char pure_dialects[] = "arith math index complex";

/* ---- Types ---------------------------------------------------------------------------------------- */

/* Whether no memory can be reached through a value of the type. One that is not known is not the matter: whatever made
 * it is told of. */
static bool is_number(Module *module, const Type *type) {
    type = type ? type_resolve(module, type) : NULL;
    if (type && (type->kind == TYPE_TENSOR || type->kind == TYPE_VECTOR))
        type = type->element ? type_resolve(module, type->element) : NULL;
    return !type || type->kind == TYPE_INTEGER || type->kind == TYPE_FLOAT || type->kind == TYPE_INDEX;
}

static bool has_numbers_alone(Module *module, const Op *op) {
    for (uint32_t i = 0; i < op->operand_count; i++)
        if (!is_number(module, op->operands[i]->type))
            return false;
    for (uint32_t i = 0; i < op->result_count; i++)
        if (!is_number(module, op->results[i].type))
            return false;
    return true;
}

/* ---- Ops in no row -------------------------------------------------------------------------------- */

/* A use in an IR test, "use"(%x), which no dialect has: without something in its hands it could be anything. */
static bool is_use(Module *module, const Op *op) {
    return op_is(op, CLASS_ANYTHING) && op->operand_count && has_numbers_alone(module, op);
}

bool unknown_is_harmless(Module *module, const Op *op) {
    if (op->region_count || op_successor_count(op))
        return false;
    const OpRow *row = op_row(op->name);
    if (row && !*row->effects && row->control.kind == CONTROL_NONE)
        return true;
    Str name = op->name;
    return is_use(module, op) ||
           (!row && word_place(next_part(&name), pure_dialects) >= 0 && name.size && has_numbers_alone(module, op));
}

/* ---- Libraries ------------------------------------------------------------------------------------ */

/* Parts of names of functions that others notice, whatever is said of them. */
static bool is_about_others(Str symbol) {
    static const char *const words[] = {"shmem", "barrier", "sync", "fence", "atomic", "signal", "wait"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (symbol.size && memmem(symbol.data, symbol.size, words[i], strlen(words[i])))
            return true;
    return false;
}

bool external_is_pure(Module *module, const Op *op) {
    const Attr *symbol = op_attr(op, "symbol");
    return op_flag(op, "pure") && has_numbers_alone(module, op) && !(symbol && is_about_others(symbol->text));
}

/* ---- Saying so ------------------------------------------------------------------------------------ */

bool op_is_unknown(Module *module, const Op *op) {
    return op_has_effect(module, op, EFFECT_ANYTHING, GROUP_NONE);
}

void unknown_reason(Module *module, const Op *op, Text *to) {
    enum { LONGEST = 60 };
    if (!op->row || op->form == FORM_OPAQUE) {
        text_str(to, STR("the op is not known"));
        return;
    }
    bool pure = is_inline_ptx(op) && inline_ptx_is_pure(op);
    text_str(to, pure ? STR("it is marked pure, but has effects") : STR("what it does to memory is not known"));
    if (is_inline_ptx(op)) {
        Effect effects[EFFECTS_MOST];
        unsigned count;
        Str what;
        bool known = inline_ptx_judged(module, op, effects, EFFECTS_MOST, &count, &what);
        if (known || !what.size)
            return;
        text_str(to, STR(": '"));
        text_add_plain(to, (Str){what.data, what.size < LONGEST ? what.size : LONGEST});
        text_char(to, '\'');
        return;
    }
    const Attr *symbol = op_attr(op, "symbol");
    if (symbol && symbol->kind == ATTR_STRING) {
        text_str(to, STR(": "));
        text_add_plain(to, symbol->text);
        text_str(to, op_flag(op, "pure") ? STR(", which is marked pure,") : STR(", which is not pure,"));
        text_str(to, STR(" may do anything"));
    }
}
