/* The parts of printing that both forms share: lines, values, regions, and the top of the file. */
#include "ir/print_internal.h"

void print_indent(Printer *p) {
    for (unsigned i = 0; i < p->indent; i++)
        text_add(p->out, "  ", 2);
}

void print_break(Printer *p) {
    text_char(p->out, '\n');
    print_indent(p);
}

void print_type(Printer *p, const Type *type) {
    if (!type) {
        text_str(p->out, STR("!" UNKNOWN_TYPE));
        return;
    }
    if (type->bare && p->form == PRINT_GENERIC) {
        text_char(p->out, '!');
        text_str(p->out, type->name);
    }
    text_str(p->out, type->text);
}

/* ---- Values ---------------------------------------------------------------------------------- */

/* The first value of the pack that `value` belongs to. */
static const Value *pack_of(const Value *value) {
    while (value->is_result && value->pack == 0 && value->index > 0)
        value--;
    return value;
}

static Str key_of(const Value *const *value) {
    return (Str){(const char *)value, sizeof *value};
}

static Str name_of(Printer *p, const Value *first) {
    if (p->form == PRINT_GENERIC && p->renamed.count) {
        const Str *other = map_get(&p->renamed, key_of(&first));
        if (other)
            return *other;
    }
    return first->name ? first->name->text : STR("_unnamed");
}

static void print_reference(Printer *p, const Value *value, bool odd) {
    if (!value) {
        text_str(p->out, STR("%_unknown")); /* only after an error, when nothing should be printed */
        return;
    }
    const Value *first = pack_of(value);
    text_char(p->out, '%');
    text_str(p->out, name_of(p, first));
    if ((first->pack > 1) != odd)
        text_addf(p->out, "#%u", (unsigned)(value - first));
}

void print_value(Printer *p, const Value *value) {
    print_reference(p, value, false);
}

void print_operand(Printer *p, const Op *op, uint32_t index) {
    print_reference(p, op->operands[index], op->extra && op->extra->odd_refs && op->extra->odd_refs[index]);
}

uint32_t result_slot(const Op *op, unsigned slot, uint32_t *count) {
    const OpRow *row = op->row;
    uint32_t first = 0, here = 0, single = 0;
    for (unsigned i = 0; i < row->result_count; i++)
        single += row->results[i].arity != SLOT_MANY && (op->result_slots >> i & 1);
    for (unsigned i = 0; i <= slot; i++) {
        first += here;
        here = op->result_slots >> i & 1;
        if (row->results[i].arity == SLOT_MANY) /* there is one of these at most; it has what is left */
            here = op->result_count > single ? op->result_count - single : 0;
    }
    *count = here;
    return first;
}

void print_results(Printer *p, const Op *op) {
    if (!op->result_names)
        return;
    const char *separator = "";
    for (uint32_t i = 0; i < op->result_count; i += op->results[i].pack) {
        text_addf(p->out, "%s%%", separator);
        text_str(p->out, name_of(p, &op->results[i]));
        if (op->results[i].pack > 1 || op->results[i].counted)
            text_addf(p->out, ":%u", op->results[i].pack);
        separator = ", ";
    }
    text_str(p->out, STR(" = "));
}

/* ---- Names in the generic form --------------------------------------------------------------- */

static void name_value(Printer *p, const Value *value) {
    if (!value->name)
        return;
    Str name = value->name->text;
    if (map_get(&p->live, name)) { /* an outer value has it */
        Str *other = ARENA_NEW(&p->arena, Str);
        do {
            Text text = {0};
            text_addf(&text, "w%.*s_%u", STR_ARG(name), p->rename_count++);
            *other = (Str){arena_copy(&p->arena, text.data, text.size), text.size};
            text_free(&text);
        } while (map_get(&p->module->values, *other));
        const Value **key = ARENA_NEW(&p->arena, const Value *);
        *key = value;
        void **place = map_put(&p->renamed, key_of(key));
        if (place)
            *place = other;
        name = *other;
    }
    void **place = map_put(&p->live, name);
    if (place)
        *place = (void *)(uintptr_t)1;
}

static void unname_value(Printer *p, const Value *value) {
    if (!value->name)
        return;
    void **place = map_put(&p->live, name_of(p, value));
    if (place)
        *place = NULL;
}

static void name_args(Printer *p, const Block *block) {
    for (uint32_t i = 0; p->form == PRINT_GENERIC && i < block->arg_count; i++)
        name_value(p, &block->args[i]);
}

static void name_results(Printer *p, const Op *op) {
    for (uint32_t i = 0; p->form == PRINT_GENERIC && op->result_names && i < op->result_count; i += op->results[i].pack)
        name_value(p, &op->results[i]);
}

static void unname_region(Printer *p, const Region *region) {
    if (p->form != PRINT_GENERIC)
        return;
    for (const Block *block = region->first; block; block = block->next) {
        for (uint32_t i = 0; i < block->arg_count; i++)
            unname_value(p, &block->args[i]);
        for (const Op *op = block->first; op; op = op->next)
            for (uint32_t i = 0; op->result_names && i < op->result_count; i += op->results[i].pack)
                unname_value(p, &op->results[i]);
    }
}

/* ---- Regions --------------------------------------------------------------------------------- */

void print_trailing(Printer *p, const Attr *attr) {
    if (attr) {
        text_char(p->out, ' ');
        text_str(p->out, attr->text);
    }
}

void print_arg_list(Printer *p, const Block *block) {
    text_char(p->out, '(');
    for (uint32_t i = 0; block && i < block->arg_count; i++) {
        print_comma(p, i);
        print_value(p, &block->args[i]);
        text_add(p->out, ": ", 2);
        print_type(p, block->args[i].type);
        print_trailing(p, block->arg_locations ? block->arg_locations[i] : NULL);
    }
    text_char(p->out, ')');
}

static bool is_label(const Region *region, Str text) {
    for (const Block *block = region->first; block; block = block->next)
        if (block->label && str_equal(block->label->text, text))
            return true;
    return false;
}

/* An entry block without a label gets one in the generic form: one that no other block has. */
static Str label_of(Printer *p, const Block *block) {
    if (block->label)
        return block->label->text;
    Str label = STR("bb0");
    for (unsigned i = 0; is_label(block->region, label); i++) {
        Text text = {0};
        text_addf(&text, "entry_%u", i);
        label = (Str){arena_copy(&p->arena, text.data, text.size), text.size};
        text_free(&text);
    }
    return label;
}

void print_label(Printer *p, const Block *block) {
    text_char(p->out, '^');
    text_str(p->out, label_of(p, block));
}

void print_region(Printer *p, const Region *region) {
    text_char(p->out, '{');
    if (region->first)
        text_char(p->out, '\n');
    for (const Block *block = region->first; block; block = block->next) /* uses may come before definitions */
        name_args(p, block);
    for (const Block *block = region->first; block && p->form == PRINT_GENERIC; block = block->next)
        for (const Op *op = block->first; op; op = op->next)
            name_results(p, op);
    for (const Block *block = region->first; block; block = block->next) {
        bool generic = p->form == PRINT_GENERIC && (block->arg_count || !block->first || block != region->first);
        if (block->label || generic) {
            print_indent(p);
            print_label(p, block);
            if (block->arg_count)
                print_arg_list(p, block);
            text_add(p->out, ":\n", 2);
        }
        p->indent++;
        for (const Op *op = block->first; op; op = op->next)
            print_line(p, op);
        p->indent--;
    }
    unname_region(p, region);
    if (region->first)
        print_indent(p);
    text_char(p->out, '}');
}

/* ---- Ops and files --------------------------------------------------------------------------- */

static void print_op_text(Printer *p, const Op *op) {
    bool opaque = op->form == FORM_OPAQUE && p->form == PRINT_AS_WRITTEN;
    if (opaque) {
        text_str(p->out, op->extra->text);
    } else {
        print_results(p, op);
        if (p->form == PRINT_GENERIC || op->form == FORM_GENERIC)
            print_generic(p, op);
        else
            print_pretty(p, op);
    }
    print_trailing(p, op->location);
}

void print_line(Printer *p, const Op *op) {
    if (op->implicit && p->form == PRINT_AS_WRITTEN)
        return;
    print_indent(p);
    print_op_text(p, op);
    text_char(p->out, '\n');
}

static void print_item(Printer *p, const Item *item) {
    switch (item->kind) {
    case ITEM_OP:
        print_line(p, item->op);
        return;
    case ITEM_TYPE_ALIAS:
    case ITEM_ATTR_ALIAS:
        text_str(p->out, item->name);
        text_str(p->out, STR(" = "));
        text_str(p->out, item->kind == ITEM_TYPE_ALIAS ? item->type->text : item->attr->text);
        break;
    case ITEM_METADATA:
        text_str(p->out, item->text);
        break;
    }
    text_char(p->out, '\n');
}

void print_module(Module *module, PrintForm form, Text *out) {
    Printer p = {.module = module, .form = form, .out = out};
    jmp_buf exhausted;
    arena_init(&p.arena, SIZE_MAX);
    p.arena.exhausted = &exhausted;
    if (setjmp(exhausted) == 0)
        for (const Item *item = module->first; item; item = item->next)
            print_item(&p, item);
    else
        out->failed = true;
    map_free(&p.live);
    map_free(&p.renamed);
    arena_free(&p.arena);
}

void print_value_name(const Value *value, Text *to) {
    const Value *first = pack_of(value);
    text_char(to, '%');
    text_str(to, first->name ? first->name->text : STR("_unnamed"));
    if (first->pack > 1)
        text_addf(to, "#%u", (unsigned)(value - first));
}
