/* PTX text to a module. */
#ifndef PTX_READER_H
#define PTX_READER_H

#include "base/diagnostics.h"
#include "ptx/ptx.h"

/* Whether a text is PTX: its first word, behind comments, is .version. */
bool ptx_is(const Source *source);

/* The first word of its .target, "sm_90a", without reading more of it; empty: it has none. */
Str ptx_target_of(const Source *source);

/* Reads all of the text; what is wrong goes to the diagnostics, and reading goes on at the next statement. `strict`: an
 * instruction that the table does not have is an error, not a note. The source has to outlive the module. False if
 * there was an error: then the module may be looked at, but not printed. */
bool ptx_read(PtxModule *module, Source *source, bool strict, Diagnostics *diagnostics);

/* The text of inline assembly, as it stands between the quotes of an op: statements of a function without a header. It
 * is not checked: what cannot be read is PTX_UNREAD, and names that are not declared are PTX_NAME, which those of the
 * op's operands are, "$0". Offsets are those of the text. All of it is in the arena. */
void ptx_read_assembly(PtxModule *module, Str text, Arena *arena);

/* The most bytes that a module may take; a text that needs more is an error. */
size_t ptx_budget(const Source *source);

#endif
