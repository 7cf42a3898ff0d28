/* MLIR's generic form. For an op that was written in a format of its own, the properties, the segment sizes
 * and the regions of the dialect are worked out from its row. */
#include "ir/print_internal.h"

#include "ir/op.h"

#include <stdlib.h>

/* ---- Attributes ------------------------------------------------------------------------------ */

/* An attribute in the form that the generic form has for it. */
static void add_enum(Text *out, const Slot *slot, const Attr *attr) {
    const EnumRow *row = slot->enumeration;
    int64_t sum = 0;
    const char *at = attr->text.data, *end = at + attr->text.size;
    if (end - at >= 2 && *at == '"') {
        at++;
        end--;
    }
    if (row->generic[0] == '#') { /* #arith.fastmath<fast>, or #gpu<dim x> */
        text_addf(out, strchr(row->generic, '<') ? "%s " : "%s<", row->generic);
        text_str(out, str_between(at, end));
        text_char(out, '>');
        return;
    }
    while (at < end) { /* words joined by '|' or ',' */
        const char *start = at;
        while (at < end && *at != '|' && *at != ',' && *at != ' ')
            at++;
        int64_t value = 0;
        if (enum_value(row, str_between(start, at), &value))
            sum |= value;
        while (at < end && (*at == '|' || *at == ',' || *at == ' '))
            at++;
    }
    text_addf(out, "%lld : %s", (long long)sum, row->generic);
}

static void add_attr(Text *out, const Slot *slot, const Attr *attr) {
    if (attr->kind == ATTR_INTS && attr->text.size && attr->text.data[0] == '[') {
        text_addf(out, "array<%s", slot->int_type ? slot->int_type : "i64");
        for (uint32_t i = 0; i < attr->count; i++)
            text_addf(out, "%s%lld", i ? ", " : ": ", (long long)attr->ints[i]);
        text_char(out, '>');
        return;
    }
    switch (slot->syntax) {
    case SYNTAX_INT:
    case SYNTAX_REAL:
        text_str(out, attr->text);
        if (!attr->type)
            text_addf(out, " : %s", slot->int_type);
        break;
    case SYNTAX_SYMBOL_NAME: /* @name -> "name" */
        if (attr->text.size > 1 && attr->text.data[1] == '"') {
            text_add(out, attr->text.data + 1, attr->text.size - 1);
        } else {
            text_char(out, '"');
            text_add(out, attr->text.data + 1, attr->text.size - 1);
            text_char(out, '"');
        }
        break;
    case SYNTAX_ENUM:
    case SYNTAX_FLAGS:
    case SYNTAX_QUOTED:
        if (attr->kind == ATTR_KEYWORD || slot->syntax == SYNTAX_QUOTED)
            add_enum(out, slot, attr);
        else
            text_str(out, attr->text);
        break;
    default:
        text_str(out, attr->text);
        break;
    }
}

typedef struct PrintGenericEntry {
    Str name;
    Str value; /* empty for a unit */
} PrintGenericEntry;

typedef struct PrintGenericEntries {
    PrintGenericEntry *items;
    uint32_t count, capacity;
} PrintGenericEntries;

static void add_entry(Printer *p, PrintGenericEntries *entries, Str name, Str value) {
    *ARENA_PUSH(&p->arena, entries->items, entries->count, entries->capacity) = (PrintGenericEntry){name, value};
}

/* The text that was put together, kept as long as the printer. */
static Str keep(Printer *p, Text *text) {
    Str kept = {arena_copy(&p->arena, text->data, text->size), text->size};
    text_free(text);
    return kept;
}

static int by_name(const void *a, const void *b) {
    Str x = ((const PrintGenericEntry *)a)->name, y = ((const PrintGenericEntry *)b)->name;
    int order = memcmp(x.data, y.data, x.size < y.size ? x.size : y.size);
    return order ? order : (x.size > y.size) - (x.size < y.size);
}

static bool is_plain_key(Str name) {
    for (size_t i = 0; i < name.size; i++) {
        char c = name.data[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && (i == 0 || !((c >= '0' && c <= '9') || c == '.' || c == '$')))
            return false;
    }
    return name.size > 0;
}

static void print_entries(Printer *p, PrintGenericEntries *entries) {
    if (entries->count)
        qsort(entries->items, entries->count, sizeof *entries->items, by_name);
    text_char(p->out, '{');
    for (uint32_t i = 0; i < entries->count; i++) {
        const PrintGenericEntry *entry = &entries->items[i];
        print_comma(p, i);
        bool plain = is_plain_key(entry->name);
        text_addf(p->out, plain ? "%.*s" : "\"%.*s\"", (int)entry->name.size, entry->name.data);
        if (entry->value.size) {
            text_str(p->out, STR(" = "));
            text_str(p->out, entry->value);
        }
    }
    text_char(p->out, '}');
}

/* ---- Functions ------------------------------------------------------------------------------- */

static bool any(const Attr *const *attrs, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (attrs[i])
            return true;
    return false;
}

static Str attr_array(Printer *p, const Attr *const *attrs, uint32_t count) {
    Text text = {0};
    text_char(&text, '[');
    for (uint32_t i = 0; i < count; i++) {
        text_addf(&text, "%s", i ? ", " : "");
        text_str(&text, attrs[i] ? attrs[i]->text : STR("{}"));
    }
    text_char(&text, ']');
    return keep(p, &text);
}

static void add_types(Text *to, const Type *const *types, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        text_addf(to, "%s", i ? ", " : "");
        text_str(to, types[i]->text);
    }
}

/* !llvm.func<result (arguments, ...)> */
static Str llvm_function_type(Printer *p, const Function *function) {
    Text type = {0};
    text_str(&type, STR("!llvm.func<"));
    text_str(&type, function->result_count ? function->result_types[0]->text : STR("void"));
    text_str(&type, STR(" ("));
    add_types(&type, function->arg_types, function->arg_count);
    if (function->variadic)
        text_addf(&type, "%s...", function->arg_count ? ", " : "");
    text_str(&type, STR(")>"));
    return keep(p, &type);
}

static Str function_type(Printer *p, const Function *function) {
    Text type = {0};
    text_char(&type, '(');
    add_types(&type, function->arg_types, function->arg_count);
    text_str(&type, STR(") -> "));
    bool parens = function->result_count != 1 || function->result_types[0]->kind == TYPE_FUNCTION;
    if (parens)
        text_char(&type, '(');
    add_types(&type, function->result_types, function->result_count);
    if (parens)
        text_char(&type, ')');
    return keep(p, &type);
}

static void add_function(Printer *p, const Op *op, PrintGenericEntries *properties) {
    const Function *function = op_function(op);
    bool llvm = op_is(op, CLASS_LLVM_FUNCTION);
    add_entry(p, properties, STR("function_type"), llvm ? llvm_function_type(p, function) : function_type(p, function));
    if (any(function->arg_attrs, function->arg_count))
        add_entry(p, properties, STR("arg_attrs"), attr_array(p, function->arg_attrs, function->arg_count));
    if (any(function->result_attrs, function->result_count))
        add_entry(p, properties, STR("res_attrs"), attr_array(p, function->result_attrs, function->result_count));
    if (function->visibility.size) {
        Text text = {0};
        text_char(&text, '"');
        text_str(&text, function->visibility);
        text_char(&text, '"');
        add_entry(p, properties, STR("sym_visibility"), keep(p, &text));
    }
}

/* ---- The op ---------------------------------------------------------------------------------- */

/* Where two or more entries of a column vary in size, the dialect keeps the sizes of all. */
static void add_segments(Printer *p, const Op *op, const Slot *slots, unsigned count, bool operands,
                         PrintGenericEntries *properties) {
    unsigned varying = 0;
    Text text = {0};
    text_str(&text, STR("array<i32"));
    const char *separator = ": ";
    for (unsigned i = 0; i < count; i++) {
        uint32_t size;
        if (operands)
            size = op->segments[i];
        else
            result_slot(op, i, &size);
        if (slots[i].uncommon && !size)
            continue;
        varying += slots[i].arity != SLOT_ONE;
        text_addf(&text, "%s%u", separator, size);
        separator = ", ";
    }
    text_char(&text, '>');
    if (varying > 1)
        add_entry(p, properties, operands ? STR("operandSegmentSizes") : STR("resultSegmentSizes"), keep(p, &text));
    else
        text_free(&text);
}

/* Properties and other attributes of an op that was written in a format. */
static void sort_attrs(Printer *p, const Op *op, PrintGenericEntries *properties, PrintGenericEntries *others) {
    const OpRow *row = op->row;
    for (unsigned i = 0; row && op->attrs && i < row->attr_count; i++) {
        if (!op->attrs[i])
            continue;
        Text text = {0};
        if (row->attrs[i].syntax != SYNTAX_UNIT)
            add_attr(&text, &row->attrs[i], op->attrs[i]);
        add_entry(p, properties, row->attrs[i].name, keep(p, &text));
    }
    for (uint32_t i = 0; op->dict && i < op->dict->count; i++) {
        NamedAttr entry = op->dict->entries[i];
        bool own = row && op_slot(row->attrs, row->attr_count, entry.name) >= 0;
        add_entry(p, own ? properties : others, entry.name, entry.value->text);
    }
    for (unsigned i = 0; row && i < row->attr_count; i++) /* among the others, where no release minds it */
        if (row->attrs[i].uncommon && row->attrs[i].arity == SLOT_ONE && !(op->attrs && op->attrs[i]) &&
            !dict_get(op->dict, row->attrs[i].name))
            add_entry(p, others, row->attrs[i].name, STR("array<i32>"));
    if (op_function(op))
        add_function(p, op, properties);
    if (row && op->segments)
        add_segments(p, op, row->operands, row->operand_count, true, properties);
    if (row)
        add_segments(p, op, row->results, row->result_count, false, properties);
}

static void print_attrs_before(Printer *p, const Op *op, PrintGenericEntries *others) {
    if (op->form == FORM_GENERIC) {
        if (op->properties) {
            text_str(p->out, STR(" <"));
            text_str(p->out, op->properties->text);
            text_char(p->out, '>');
        }
        return;
    }
    PrintGenericEntries properties = {0};
    sort_attrs(p, op, &properties, others);
    if (properties.count) {
        text_str(p->out, STR(" <"));
        print_entries(p, &properties);
        text_char(p->out, '>');
    }
}

static void print_attrs_after(Printer *p, const Op *op, PrintGenericEntries *others) {
    if (op->form == FORM_GENERIC) {
        if (op->dict) {
            text_char(p->out, ' ');
            text_str(p->out, op->dict->text);
        }
    } else if (others->count) {
        text_char(p->out, ' ');
        print_entries(p, others);
    }
}

static void print_types(Printer *p, const Op *op) {
    const Type **spelled = op->form == FORM_GENERIC && op->extra ? op->extra->spelled : NULL;
    text_str(p->out, STR(" : ("));
    for (uint32_t i = 0; i < op->operand_count; i++) {
        print_comma(p, i);
        print_type(p, spelled ? spelled[i] : op->operands[i] ? op->operands[i]->type : NULL);
    }
    text_str(p->out, STR(") -> "));
    bool parens = op->result_count != 1;
    if (op->form == FORM_GENERIC && op->choice_count)
        parens = op->choices & 1;
    else if (op->result_count == 1 && op->results[0].type && op->results[0].type->kind == TYPE_FUNCTION)
        parens = true;
    if (parens)
        text_char(p->out, '(');
    for (uint32_t i = 0; i < op->result_count; i++) {
        print_comma(p, i);
        print_type(p, spelled ? spelled[op->operand_count + i] : op->results[i].type);
    }
    if (parens)
        text_char(p->out, ')');
}

void print_generic(Printer *p, const Op *op) {
    text_char(p->out, '"');
    text_str(p->out, op->shorthand && op->row ? op->row->name : op->name);
    text_str(p->out, STR("\"("));
    for (uint32_t i = 0; i < op->operand_count; i++) {
        print_comma(p, i);
        print_operand(p, op, i);
    }
    text_char(p->out, ')');
    for (unsigned i = 0; i < op_successor_count(op); i++) {
        text_addf(p->out, "%s", i ? ", " : "[");
        print_label(p, op->extra->successors[i]);
    }
    if (op_successor_count(op))
        text_char(p->out, ']');
    PrintGenericEntries others = {0};
    print_attrs_before(p, op, &others);
    for (uint32_t i = 0; i < op->region_count; i++) {
        text_addf(p->out, "%s", i ? ", " : " (");
        print_region(p, &op->regions[i]);
    }
    if (op->region_count)
        text_char(p->out, ')');
    print_attrs_after(p, op, &others);
    print_types(p, op);
}
