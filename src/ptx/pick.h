/* One kernel of a module, with what it needs: the functions that it calls or takes the address of, the variables that
 * it names, and what those need; the directives of the module. ptxas takes it as it took the module. */
#ifndef PTX_PICK_H
#define PTX_PICK_H

#include "ptx/ptx.h"

/* Whether a statement is a .target that ends in ", debug": of that ptxas wants the sections about debugging, which are
 * of the whole module, so that one kernel is printed without. */
bool ptx_targets_debug(const PtxModule *module, const PtxStatement *statement);

/* Which statements that is: an array for free(), one for each statement. NULL, with *missing false, if there is no
 * memory; with *missing true, if the module defines no kernel of that name. */
bool *ptx_pick(const PtxModule *module, Str kernel, bool *missing);

/* The text of the statements that are kept, byte for byte, each with the comments before it. */
void ptx_print_text(const PtxModule *module, const bool *kept, Text *to);

#endif
