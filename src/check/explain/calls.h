/* IR ops in texts as the calls that people write.
 *
 * Analyses see IR, and their texts name ops in backquotes: "Insert `ttng.fence_async_shared {bCluster = false}` ...".
 * People who write Python know calls of Gluon or Triton, which the op table's PYTHON column has. */
#ifndef CHECK_EXPLAIN_CALLS_H
#define CHECK_EXPLAIN_CALLS_H

#include "base/text.h"

/* Adds the text with each such op that has a call replaced: "Call `fence_async_shared()`
 * (ttng.fence_async_shared {bCluster = false}) ...". */
void text_add_calls(Text *to, const char *text);

#endif
