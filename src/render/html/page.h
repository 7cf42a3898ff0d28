/* The style sheet and the script of the HTML report: page.css, page.js, code.js, lanes.js and find.js, which lie beside
 * this file and are put into the object as they are. */
#ifndef RENDER_HTML_PAGE_H
#define RENDER_HTML_PAGE_H

#include "base/text.h"

Str page_style(void);
Str page_script(void);
/* What follows it in the same script. */
Str page_code_script(void);
Str page_lanes_script(void);
Str page_find_script(void);

#endif
