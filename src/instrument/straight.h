#ifndef INSTRUMENT_STRAIGHT_H
#define INSTRUMENT_STRAIGHT_H

#include "ptx/edit.h"

/* Makes straight code of the innermost ifs of a function by which threads of a warp may part, in their lines; false:
 * there are none. `round`: how often that was done before. */
bool straighten_function(PtxEdits *edits, const PtxModule *module, uint32_t function, unsigned round);

#endif
