/* An op in a format of its row. The same elements that the reader matched are written; where the format
 * leaves a choice, what the reader found decides, or, for an op that was not read, what the op has. */
#include "ir/print_internal.h"

#include <string.h>

typedef struct PrintPrettyWriter {
    Printer *p;
    const Op *op;
    const OpRow *row;
    const Element *elements;
    unsigned choice, type, region, successor; /* how many were used */
    uint16_t used[MAX_OPERAND_SLOTS];         /* operands of each entry, in repetitions */
    bool no_space;                            /* nothing before the next word */
    bool punctuation;                         /* the last word was punctuation */
} PrintPrettyWriter;

static bool has_choices(const PrintPrettyWriter *w) {
    return w->op->choice_count && w->op->choice_count != 255;
}

static unsigned next_choice(PrintPrettyWriter *w, unsigned bits) {
    unsigned value = (unsigned)(w->op->choices >> w->choice) & ((1u << bits) - 1);
    w->choice += bits;
    return value;
}

static void space(PrintPrettyWriter *w) {
    if (!w->no_space)
        text_char(w->p->out, ' ');
    w->no_space = w->punctuation = false;
}

static void write_literal(PrintPrettyWriter *w, Str text, bool glue) {
    bool space_before = true;
    if (text.size == 1 || str_is(text, "->"))
        space_before = !strchr(w->punctuation ? ">)}]," : "<>(){}[],", text.data[0]);
    if (space_before && !glue && !w->no_space)
        text_char(w->p->out, ' ');
    text_str(w->p->out, text);
    w->no_space = text.size == 1 && strchr("<({[", text.data[0]);
    char first = text.data[0];
    w->punctuation = !(first == '_' || (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z'));
}

/* ---- Types ----------------------------------------------------------------------------------- */

/* The next type as it was written, or `otherwise`. */
static void write_type(PrintPrettyWriter *w, const Type *otherwise) {
    const OpExtra *extra = w->op->extra;
    bool written = extra && w->type < extra->spelled_count;
    print_type(w->p, written ? extra->spelled[w->type] : otherwise);
    w->type++;
}

static void write_types(PrintPrettyWriter *w, uint32_t count, Value *const *operands, const Value *results) {
    for (uint32_t i = 0; i < count; i++) {
        print_comma(w->p, i);
        write_type(w, operands ? (operands[i] ? operands[i]->type : NULL) : results[i].type);
    }
}

static const Value *results_at(const PrintPrettyWriter *w, unsigned slot, uint32_t *count) {
    uint32_t first = result_slot(w->op, slot, count);
    return *count ? w->op->results + first : NULL;
}

static void write_type_of(PrintPrettyWriter *w, SlotRef slot) {
    uint32_t count;
    bool of_result = slot.column == REF_RESULT;
    const Value *results = of_result ? results_at(w, slot.index, &count) : NULL;
    Value **operands = of_result ? NULL : op_operands_at(w->op, slot.index, &count);
    if (count) {
        space(w);
        write_types(w, count, operands, results);
    }
}

static void write_signature(PrintPrettyWriter *w) {
    const Op *op = w->op;
    space(w);
    text_char(w->p->out, '(');
    write_types(w, op->operand_count, op->operands, NULL);
    text_str(w->p->out, STR(") -> "));
    bool parens = has_choices(w) ? next_choice(w, 1) : op->result_count != 1;
    if (parens)
        text_char(w->p->out, '(');
    write_types(w, op->result_count, NULL, op->results);
    if (parens)
        text_char(w->p->out, ')');
}

/* ---- Operands -------------------------------------------------------------------------------- */

static uint32_t operand_index(const PrintPrettyWriter *w, Value *const *value) {
    return (uint32_t)(value - w->op->operands);
}

static void write_values(PrintPrettyWriter *w, Value *const *values, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        print_comma(w->p, i);
        print_operand(w->p, w->op, operand_index(w, values + i));
    }
}

static void write_operand(PrintPrettyWriter *w, const Element *element) {
    uint32_t count;
    Value **values = op_operands_at(w->op, element->slot.index, &count);
    if (element->single) {
        uint32_t place = w->used[element->slot.index]++;
        if (place < count) {
            space(w);
            print_operand(w->p, w->op, operand_index(w, values + place));
        }
    } else if (count) {
        space(w);
        write_values(w, values, count);
    }
}

static void write_attr(PrintPrettyWriter *w, const Element *element) {
    const Attr *attr = w->op->attrs ? w->op->attrs[element->slot.index] : NULL;
    if (!attr || !attr->text.size)
        return;
    if (element->glue)
        w->no_space = true;
    space(w);
    text_str(w->p->out, attr->text);
}

static void write_mixed(PrintPrettyWriter *w, const Element *element) {
    const Attr *ints = w->op->attrs ? w->op->attrs[element->other.index] : NULL;
    uint32_t count, next = 0;
    Value **values = op_operands_at(w->op, element->slot.index, &count);
    for (uint32_t i = 0; ints && i < ints->count; i++) {
        print_comma(w->p, i);
        if (ints->ints[i] == INT32_MIN && next < count)
            print_operand(w->p, w->op, operand_index(w, values + next++));
        else
            text_addf(w->p->out, "%lld", (long long)ints->ints[i]);
    }
    w->no_space = w->punctuation = false;
}

static void write_dict(PrintPrettyWriter *w, bool keyword) {
    bool here = has_choices(w) ? next_choice(w, 1) : w->op->dict && w->op->dict->count;
    if (!here || !w->op->dict)
        return;
    space(w);
    if (keyword)
        text_str(w->p->out, STR("attributes "));
    text_str(w->p->out, w->op->dict->text);
}

/* ---- Regions --------------------------------------------------------------------------------- */

static const Block *next_entry(const PrintPrettyWriter *w) {
    return w->region < w->op->region_count ? w->op->regions[w->region].first : NULL;
}

static void write_region(PrintPrettyWriter *w) {
    if (w->region >= w->op->region_count)
        return;
    space(w);
    print_region(w->p, &w->op->regions[w->region++]);
}

static void write_assign(PrintPrettyWriter *w, const Element *element) {
    uint32_t count;
    Value **values = op_operands_at(w->op, element->slot.index, &count);
    const Block *entry = next_entry(w);
    uint32_t first = entry && entry->arg_count > count ? entry->arg_count - count : 0;
    for (uint32_t i = 0; entry && i < count && first + i < entry->arg_count; i++) {
        print_comma(w->p, i);
        print_value(w->p, &entry->args[first + i]);
        text_str(w->p->out, STR(" = "));
        print_operand(w->p, w->op, operand_index(w, values + i));
    }
    w->no_space = w->punctuation = false;
}

static void write_successor(PrintPrettyWriter *w, const Element *element) {
    if (w->successor >= op_successor_count(w->op))
        return;
    space(w);
    const OpExtra *extra = w->op->extra;
    uint32_t count, size = extra->successor_sizes[w->successor];
    print_label(w->p, extra->successors[w->successor++]);
    if (!size)
        return;
    Value **values = op_operands_at(w->op, element->slot.index, &count) + w->used[element->slot.index];
    w->used[element->slot.index] = (uint16_t)(w->used[element->slot.index] + size);
    text_char(w->p->out, '(');
    write_values(w, values, size);
    text_str(w->p->out, STR(" : "));
    write_types(w, size, values, NULL);
    text_char(w->p->out, ')');
}

static void write_branches(PrintPrettyWriter *w, const Element *element) {
    const Attr *values = w->op->attrs ? w->op->attrs[element->other.index] : NULL;
    w->p->indent++;
    for (uint32_t i = 0; values && i < values->count; i++) {
        text_addf(w->p->out, "%s\n", i ? "," : "");
        print_indent(w->p);
        text_addf(w->p->out, "%lld:", (long long)values->ints[i]);
        w->no_space = false;
        write_successor(w, element);
    }
    w->p->indent--;
    print_break(w->p);
    w->no_space = true;
}

static void write_function(PrintPrettyWriter *w) {
    Printer *p = w->p;
    const Op *op = w->op;
    const Function *function = op_function(op);
    int symbol = op_slot(w->row->attrs, w->row->attr_count, STR("sym_name"));
    const Block *body = op->region_count ? op->regions[0].first : NULL;
    if (!body)
        body = function->declared_args;
    if (function->visibility.size) {
        space(w);
        text_str(p->out, function->visibility);
    }
    space(w);
    text_str(p->out, op->attrs[symbol]->text);
    text_char(p->out, '(');
    for (uint32_t i = 0; i < function->arg_count; i++) {
        print_comma(p, i);
        if (function->named_args && body && i < body->arg_count) {
            print_value(p, &body->args[i]);
            text_add(p->out, ": ", 2);
        }
        print_type(p, function->arg_types[i]);
        print_trailing(p, function->arg_attrs[i]);
        if (function->named_args && body && body->arg_locations)
            print_trailing(p, body->arg_locations[i]);
    }
    if (function->variadic)
        text_addf(p->out, "%s...", function->arg_count ? ", " : "");
    text_char(p->out, ')');
    if (function->arrow) {
        text_str(p->out, STR(" -> "));
        if (function->result_parens)
            text_char(p->out, '(');
        for (uint32_t i = 0; i < function->result_count; i++) {
            print_comma(p, i);
            print_type(p, function->result_types[i]);
            print_trailing(p, function->result_attrs[i]);
        }
        if (function->result_parens)
            text_char(p->out, ')');
    }
    write_dict(w, true);
    bool has_body = has_choices(w) ? next_choice(w, 1) : op->region_count && op->regions[0].first;
    if (has_body)
        write_region(w);
}

static void write_partitions(PrintPrettyWriter *w, bool specialized) {
    Printer *p = w->p;
    const Op *op = w->op, *holder = op;
    if (specialized)
        holder = op->regions[w->region++].first->first;
    const Attr *warps = op_attr(op, specialized ? "partitionNumWarps" : "numWarps");
    for (uint32_t i = 0; i < holder->region_count; i++) {
        print_break(p);
        text_addf(p->out, "partition%u", i);
        if (specialized) {
            print_arg_list(p, holder->regions[i].first);
        }
        text_addf(p->out, " num_warps(%lld) ", warps && i < warps->count ? (long long)warps->ints[i] : 0);
        print_region(p, &holder->regions[i]);
    }
    w->no_space = w->punctuation = false;
}

static void write_cases(PrintPrettyWriter *w, unsigned slot) {
    Printer *p = w->p;
    const Attr *cases = w->op->attrs ? w->op->attrs[slot] : NULL;
    for (uint32_t i = 1; i < w->op->region_count; i++) {
        print_break(p);
        text_addf(p->out, "case %lld ", cases && i - 1 < cases->count ? (long long)cases->ints[i - 1] : 0);
        print_region(p, &w->op->regions[i]);
    }
    print_break(p);
    text_str(p->out, STR("default "));
    print_region(p, &w->op->regions[0]);
}

/* ---- The elements ---------------------------------------------------------------------------- */

/* Whether an optional part has something to say: its first operand, attribute, result or region. */
static bool has_content(const PrintPrettyWriter *w, unsigned i, unsigned end) {
    uint32_t count;
    for (; i < end; i++) {
        const Element *element = &w->elements[i];
        switch (element->kind) {
        case ELEMENT_OPERAND:
        case ELEMENT_ASSIGN:
            op_operands_at(w->op, element->slot.index, &count);
            return element->single ? w->used[element->slot.index] < count : count > 0;
        case ELEMENT_ATTR:
            return w->op->attrs && w->op->attrs[element->slot.index];
        case ELEMENT_TYPE:
            if (element->slot.column == REF_OPERAND)
                op_operands_at(w->op, element->slot.index, &count);
            else
                results_at(w, element->slot.index, &count);
            return count > 0;
        case ELEMENT_PRESENT:
            results_at(w, element->slot.index, &count);
            return count > 0;
        case ELEMENT_RESULT_TYPES:
            return w->op->result_count > 0;
        case ELEMENT_REGION:
            return w->region < w->op->region_count && w->op->regions[w->region].first;
        default:
            break;
        }
    }
    return false;
}

static void write_elements(PrintPrettyWriter *w, unsigned i, unsigned end);

static void write_any_order(PrintPrettyWriter *w, const Element *group, unsigned i) {
    if (!has_choices(w)) {
        for (unsigned clause = i; clause < group->end; clause = w->elements[clause].end)
            if (has_content(w, clause + 1, w->elements[clause].end))
                write_elements(w, clause + 1, w->elements[clause].end);
        return;
    }
    while (next_choice(w, 1)) {
        unsigned number = next_choice(w, 3), clause = i;
        while (number--)
            clause = w->elements[clause].end;
        write_elements(w, clause + 1, w->elements[clause].end);
    }
}

/* One that holds no others. */
static void write_element(PrintPrettyWriter *w, const Element *element) {
    Printer *p = w->p;
    switch (element->kind) {
    case ELEMENT_LITERAL:
        write_literal(w, element->text, element->glue);
        break;
    case ELEMENT_SPACE:
        text_char(p->out, ' ');
        break;
    case ELEMENT_LINE:
        print_break(p);
        w->no_space = true;
        break;
    case ELEMENT_OPERAND:
        write_operand(w, element);
        break;
    case ELEMENT_ATTR:
        write_attr(w, element);
        break;
    case ELEMENT_TYPE:
        write_type_of(w, element->slot);
        break;
    case ELEMENT_OPERANDS:
        if (w->op->operand_count) {
            space(w);
            write_values(w, w->op->operands, w->op->operand_count);
        }
        break;
    case ELEMENT_OPERAND_TYPES:
        space(w);
        write_types(w, w->op->operand_count, w->op->operands, NULL);
        break;
    case ELEMENT_RESULT_TYPES:
        space(w);
        write_types(w, w->op->result_count, NULL, w->op->results);
        break;
    case ELEMENT_SIGNATURE:
        write_signature(w);
        break;
    case ELEMENT_DICT:
    case ELEMENT_ATTRIBUTES:
        write_dict(w, element->kind == ELEMENT_ATTRIBUTES);
        break;
    case ELEMENT_REGION:
        write_region(w);
        break;
    case ELEMENT_ARGS:
        print_arg_list(p, next_entry(w));
        break;
    case ELEMENT_MIXED:
        write_mixed(w, element);
        break;
    case ELEMENT_BIND:
        if (next_entry(w)) {
            space(w);
            print_value(p, &next_entry(w)->args[0]);
        }
        break;
    case ELEMENT_ASSIGN:
        write_assign(w, element);
        break;
    case ELEMENT_SUCCESSOR:
        write_successor(w, element);
        break;
    case ELEMENT_BRANCHES:
        write_branches(w, element);
        break;
    case ELEMENT_FUNCTION:
        write_function(w);
        break;
    case ELEMENT_PARTITIONS:
    case ELEMENT_GROUPS:
        write_partitions(w, element->kind == ELEMENT_PARTITIONS);
        break;
    case ELEMENT_CASES:
        write_cases(w, element->slot.index);
        break;
    default: /* they hold others, or are for the reader alone */
        break;
    }
}

static void write_optional(PrintPrettyWriter *w, const Element *element, unsigned i) {
    bool here = has_choices(w) ? next_choice(w, 1) : has_content(w, i, element->middle);
    for (unsigned k = i; !here && k < element->middle; k++) /* a region that is not written is empty */
        w->region += w->elements[k].kind == ELEMENT_REGION;
    if (here)
        write_elements(w, i, element->middle);
    else
        write_elements(w, element->middle, element->end);
}

static void write_elements(PrintPrettyWriter *w, unsigned i, unsigned end) {
    while (i < end) {
        const Element *element = &w->elements[i++];
        switch (element->kind) {
        case ELEMENT_OPTIONAL:
            write_optional(w, element, i);
            break;
        case ELEMENT_REPEAT:
            while (has_choices(w) ? next_choice(w, 1) : has_content(w, i, element->end))
                write_elements(w, i, element->end);
            break;
        case ELEMENT_ANY_ORDER:
            write_any_order(w, element, i);
            break;
        default:
            write_element(w, element);
            continue;
        }
        i = element->end;
    }
}

void print_pretty(Printer *p, const Op *op) {
    const Format *format = &op->row->formats[op->format];
    PrintPrettyWriter w = {.p = p, .op = op, .row = op->row, .elements = format->elements};
    text_str(p->out, op->name);
    write_elements(&w, 0, format->count);
}
