/* A text made small, for the page's script to make whole again (page.js, unpack). Markup of thousands of blocks that
 * are alike takes a tenth.
 *
 *     SIZE:TEXT       SIZE in decimal: how long the whole is, in the units of the script's strings (UTF-16)
 *     ~~  ~-          "~" and "<", which so never stands in a packed text
 *     ~ABCDE          what stood ABC units back, DE units of it: digits are 0-9, A-Z, a-z, + and /, the first is not
 * one of the marks above */
#ifndef RENDER_HTML_PACK_H
#define RENDER_HTML_PACK_H

#include "base/text.h"

/* `text` is UTF-8. */
void pack_text(Str text, Text *to);

#endif
