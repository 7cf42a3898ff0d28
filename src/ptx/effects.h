/* What the instructions of a module do to memory and to time. */
#ifndef PTX_EFFECTS_H
#define PTX_EFFECTS_H

#include "model/effect/ptx_column.h"
#include "ptx/ptx.h"

/* The effects of an instruction, at most PTX_EFFECTS_MOST. One that is in no row does EFFECT_ANYTHING. The names of
 * operands in them are those of its row: ptx_effect_operand finds them. */
unsigned ptx_effects_of(const PtxModule *module, const PtxStatement *statement, PtxEffect *effects);
/* Fills in those of a form. */
void ptx_form_find_effects(PtxForm *form, Arena *arena);
/* The operand of that name; NULL: it is missing. */
const PtxOperand *ptx_effect_operand(const PtxModule *module, const PtxStatement *statement, Str name);

/* As text: each instruction that has effects, with its line, and a line for each of them. `kept` says which statements
 * there are; NULL: all. */
void ptx_print_effects(const PtxModule *module, const bool *kept, Text *to);

#endif
