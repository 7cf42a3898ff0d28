/* The style sheet and the script of the HTML report: page.css and page.js, which lie beside this file and are put into
 * the object as they are. */
#ifndef RENDER_PAGE_H
#define RENDER_PAGE_H

#include "base/text.h"

Str page_style(void);
Str page_script(void);

#endif
