/* The directives that read regions in words of their own: functions, the partitions of a warp-specialized
 * op, the cases of a switch. */
#include "ir/op_ids.h"
#include "mlir/internal.h"

#include <stdio.h>

/* ---- Functions ------------------------------------------------------------------------------- */

/* An argument, `%name: type {attrs} loc(...)`, or of a declaration `type {attrs}`; or a result. */
typedef struct Param {
    const Type *type;
    const Attr *attrs;
} Param;

static bool read_param(MlirReader *r, Param *param) {
    *param = (Param){.type = read_type(r)};
    if (!param->type)
        return r->failed ? false : fail(r, r->p, "expected a type");
    if (next_is(r, '{') && !(param->attrs = read_dict(r)))
        return false;
    return true;
}

/* The types on `types`, the dictionaries on `attrs`, the named arguments also on `pending`. */
static bool read_params(MlirReader *r, Function *function, bool arguments) {
    if (take(r, ')'))
        return true;
    do {
        PendingArg arg = {0};
        Param param;
        skip_space(r);
        const char *at = r->p;
        if (arguments && take_text(r, STR("..."))) {
            function->variadic = true;
            break;
        }
        if (arguments && next_is(r, '%')) {
            OperandRef ref;
            if (!read_operand_ref(r, &ref))
                return false;
            if (!take(r, ':'))
                return fail(r, r->p, "expected ':' and the argument's type");
            arg.name = ref.name;
            arg.at = ref.at;
            function->named_args = true;
        }
        if (!read_param(r, &param))
            return false;
        arg.type = param.type;
        if (location_follows(r) && !(arg.location = read_location(r)))
            return false;
        PUSH(r, r->types) = param.type;
        PUSH(r, r->attrs) = param.attrs;
        if (arg.name)
            PUSH(r, r->pending) = arg;
        else if (function->named_args && arguments)
            return fail(r, at, "either all arguments have names or none has");
    } while (take(r, ','));
    return take(r, ')') || fail(r, r->p, "expected ',' or ')' after a parameter");
}

/* Moves what was pushed since the marks into the function. */
static void keep_params(MlirReader *r, uint32_t types_mark, uint32_t attrs_mark, uint32_t *count, const Type ***types,
                        const Attr ***attrs) {
    *count = r->types.count - types_mark;
    *types = KEEP(r, r->types, types_mark);
    *attrs = KEEP(r, r->attrs, attrs_mark);
}

bool read_function(MlirReader *r, Draft *draft) {
    Op *op = draft->op;
    Function *function = ARENA_NEW(&r->module->arena, Function);
    op_extra(r->module, op)->function = function;
    skip_space(r);
    const char *words = r->p, *words_end = words;
    while (!next_is(r, '@')) {
        if (!take_id(r).size)
            return fail(r, r->p, "expected '@' and the function's name");
        words_end = r->p;
    }
    function->visibility = tidy(r, str_between(words, words_end));
    int slot = op_slot(draft->row->attrs, draft->row->attr_count, STR("sym_name"));
    if (slot < 0 || !(*attr_place(r, op, (unsigned)slot) = read_attr_for(r, &draft->row->attrs[slot])))
        return false;
    if (!take(r, '('))
        return mismatch(r, "'('");

    uint32_t types_mark = r->types.count, attrs_mark = r->attrs.count;
    if (!read_params(r, function, true))
        return false;
    uint32_t named = r->pending.count - draft->pending_mark;
    keep_params(r, types_mark, attrs_mark, &function->arg_count, &function->arg_types, &function->arg_attrs);
    if (take_text(r, STR("->"))) {
        function->arrow = true;
        function->result_parens = take(r, '(');
        if (function->result_parens) {
            if (!read_params(r, function, false))
                return false;
        } else {
            /* Attributes would need parentheses: a brace here is the body's. */
            const Type *type = read_type(r);
            if (!type)
                return r->failed ? false : fail(r, r->p, "expected a type");
            PUSH(r, r->types) = type;
            PUSH(r, r->attrs) = NULL;
        }
        keep_params(r, types_mark, attrs_mark, &function->result_count, &function->result_types,
                    &function->result_attrs);
    }
    bool keyword = take_text(r, STR("attributes"));
    add_choice(draft, keyword, 1);
    if (keyword && !(op->dict = read_dict(r)))
        return false;
    bool body = next_is(r, '{');
    add_choice(draft, body, 1);
    if (body && named != function->arg_count)
        return fail(r, r->p, "a function with a body needs a name for every argument");
    if (body)
        return read_next_region(r, draft, true);
    if (named) { /* the names of a declaration mean nothing, but they were written */
        Block *block = ARENA_NEW(&r->module->arena, Block);
        block->args = ARENA_ARRAY(&r->module->arena, Value, named);
        block->arg_count = named;
        block->arg_locations = ARENA_ARRAY(&r->module->arena, const Attr *, named);
        for (uint32_t i = 0; i < named; i++) {
            PendingArg arg = r->pending.items[draft->pending_mark + i];
            block->args[i] = (Value){.type = arg.type, .name = arg.name, .owner = block, .index = i};
            block->arg_locations[i] = arg.location;
        }
        function->declared_args = block;
        r->pending.count = draft->pending_mark;
    }
    add_region(r, op);
    return true;
}

/* ---- Partitions ------------------------------------------------------------------------------ */

/* The op that holds the partitions of ttg.warp_specialize. It is not written in this form, but it is
 * there in the dialect, and in the generic form. */
static Op *make_holder(MlirReader *r, Draft *draft) {
    Region *region = add_region(r, draft->op);
    region->op = draft->op;
    Block *block = ARENA_NEW(&r->module->arena, Block);
    block->region = region;
    block->offset = draft->op->offset;
    region->first = region->last = block;
    region->block_count = 1;
    Op *holder = ARENA_NEW(&r->module->arena, Op);
    holder->row = op_row_by_id(OP_ttg_warp_specialize_partitions);
    holder->name = holder->row->name;
    holder->form = FORM_GENERIC;
    holder->implicit = true;
    holder->offset = draft->op->offset;
    holder->block = block;
    append_op(r, block, holder);
    return holder;
}

bool read_partitions(MlirReader *r, Draft *draft, bool specialized) {
    if (!commit(r, draft))
        return false;
    Op *op = draft->op, *holder = specialized ? make_holder(r, draft) : op;
    uint32_t mark = r->ints.count;
    int64_t expected = 0;
    for (;; expected++) {
        char word[32];
        int size = snprintf(word, sizeof word, "partition%lld", (long long)expected);
        if (!next_is_text(r, (Str){word, (size_t)size})) {
            if (str_starts((Str){r->p, (size_t)(r->end - r->p)}, STR("partition")))
                return fail(r, r->p, "this should be %s: partitions are numbered from 0", word);
            break;
        }
        const char *at = r->p;
        r->p += size;
        if (specialized && !read_block_args(r))
            return r->failed ? false : fail(r, r->p, "expected '(' and the partition's arguments");
        int64_t warps;
        if (!take_text(r, STR("num_warps")) || !take(r, '(') || !take_number(r, &warps) || !take(r, ')'))
            return fail(r, r->p, "expected num_warps(N)");
        if (specialized && r->pending.count - draft->pending_mark != op->operand_count)
            return fail(r, at, "partition %lld has %u argument%s for %u captured value%s", (long long)expected,
                        r->pending.count - draft->pending_mark, r->pending.count - draft->pending_mark == 1 ? "" : "s",
                        op->operand_count, op->operand_count == 1 ? "" : "s");
        for (uint32_t i = 0; specialized && i < op->operand_count; i++) {
            PendingArg arg = r->pending.items[draft->pending_mark + i];
            const Value *captured = op->operands[i];
            if (captured && type_agree(r->module, arg.type, captured->type) == DIFFER)
                return fail(r, text_at(r, arg.at),
                            "argument '%%%.*s' has type %.*s, but the captured '%%%.*s' has type %.*s",
                            STR_ARG(arg.name->text), STR_ARG(arg.type->text), STR_ARG(captured->name->text),
                            STR_ARG(captured->type->text));
        }
        PUSH(r, r->ints) = warps;
        Region *region = add_region(r, holder);
        if (!read_region(r, holder, region, draft->pending_mark, specialized || (op->row->traits & ISOLATED)))
            return r->failed ? false : fail(r, r->p, "expected '{'");
    }
    const char *name = specialized ? "partitionNumWarps" : "numWarps";
    int slot = op_slot(op->row->attrs, op->row->attr_count, str_of(name));
    if (slot >= 0)
        *attr_place(r, op, (unsigned)slot) = make_ints(r, "i32", r->ints.items + mark, r->ints.count - mark);
    r->ints.count = mark;
    return true;
}

/* ---- Cases ----------------------------------------------------------------------------------- */

bool read_cases(MlirReader *r, Draft *draft, unsigned slot) {
    uint32_t mark = r->ints.count;
    /* In the dialect the default region comes first. */
    if (!commit(r, draft))
        return false;
    add_region(r, draft->op);
    while (take_text(r, STR("case"))) {
        int64_t value;
        if (!take_number(r, &value))
            return fail(r, r->p, "expected a number after 'case'");
        PUSH(r, r->ints) = value;
        if (!read_next_region(r, draft, false))
            return r->failed ? false : fail(r, r->p, "expected '{'");
    }
    if (!take_text(r, STR("default")))
        return fail(r, r->p, "expected 'case' or 'default'");
    if (!read_region(r, draft->op, &draft->op->regions[0], draft->pending_mark, false))
        return r->failed ? false : fail(r, r->p, "expected '{'");
    *attr_place(r, draft->op, slot) = make_ints(r, "i64", r->ints.items + mark, r->ints.count - mark);
    r->ints.count = mark;
    return true;
}
