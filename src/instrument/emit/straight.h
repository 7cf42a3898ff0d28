/* Text of a kernel in which more is known of which lanes of a warp come together. Lines keep their numbers. */
#ifndef INSTRUMENT_EMIT_STRAIGHT_H
#define INSTRUMENT_EMIT_STRAIGHT_H

#include "ptx/edit.h"
#include "ptx/effects.h"

/* Makes straight code of the innermost ifs of a function by which threads of a warp may part, in their lines; false:
 * there are none. `block`: threads of a CTA; `round`: how often that was done before. */
bool straighten_function(PtxEdits *edits, const PtxModule *module, uint32_t function, const uint32_t block[3],
                         unsigned round);
/* The same for the first branch that cannot be straight code: a copy of what it leads around, at the end of the
 * function, for warps of which no lane goes around it; or of a loop, for turns that all lanes of a warp make. Behind
 * each statement of it stands the line that it is of. */
bool whole_function(PtxEdits *edits, const PtxModule *module, uint32_t function, const uint32_t block[3],
                    unsigned round);
#define WHOLE_LINE "// of line "
/* Whether it is an access that a thread makes itself, or a fence: nothing that waits. */
bool straight_effect(const PtxEffect *effect);
/* The register of a guard, of the text of an instruction. */
Str straight_guard(Str text);

#endif
