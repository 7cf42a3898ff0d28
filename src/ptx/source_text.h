/* The source of C++ that a kernel was compiled from, where its .loc names one that can be read. */
#ifndef PTX_SOURCE_TEXT_H
#define PTX_SOURCE_TEXT_H

#include "base/source.h"
#include "ptx/ptx.h"

/* The file of the function's first .loc, with an index of its lines, and that place in it (`root` as in base/code.h);
 * NULL: it names none, or none that can be read. */
Source *ptx_kernel_source(PtxModule *module, const PtxFunction *function, const char *root, PtxPlace *place);
/* Lines from `first` to `last`, their comments and lines of the preprocessor made blank. */
Str ptx_plain_lines(Source *source, uint32_t first, uint32_t last, Arena *arena);
/* Of the kernel of that name, as ptx_source_launch has it; the source has lines. */
PtxSourceLaunch ptx_launch_in(Source *source, Str mangled, Arena *arena);

#endif
