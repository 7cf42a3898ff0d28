/* What the printer's files share. */
#ifndef IR_PRINT_INTERNAL_H
#define IR_PRINT_INTERNAL_H

#include "ir/optable.h"
#include "ir/print.h"

typedef struct Printer {
    Module *module;
    PrintForm form;
    Text *out;
    unsigned indent;
    /* The generic form has no isolated names as far as a reader without the dialects can tell, so a name
     * that hides an outer one is printed as another. */
    Map live;    /* name -> how many values now bear it */
    Map renamed; /* address of a value -> its other name */
    Arena arena;
    unsigned rename_count;
} Printer;

void print_line(Printer *p, const Op *op); /* indented, with its line end; nothing for an implicit op */
void print_results(Printer *p, const Op *op);
void print_value(Printer *p, const Value *value);
void print_operand(Printer *p, const Op *op, uint32_t index);
/* Where an entry of the result column starts among the op's results, and how many it has. */
uint32_t result_slot(const Op *op, unsigned slot, uint32_t *count);
void print_type(Printer *p, const Type *type);
void print_region(Printer *p, const Region *region);
void print_trailing(Printer *p, const Attr *attr);   /* a space and the attribute, if there is one */
void print_arg_list(Printer *p, const Block *block); /* (%a: T loc(...), ...); of NULL, () */
void print_label(Printer *p, const Block *block);
void print_indent(Printer *p);
void print_break(Printer *p); /* the next line, indented */
/* Before each but the first of a list. */
static inline void print_comma(Printer *p, uint32_t index) {
    if (index)
        text_add(p->out, ", ", 2);
}
void print_generic(Printer *p, const Op *op);
void print_pretty(Printer *p, const Op *op);

#endif
