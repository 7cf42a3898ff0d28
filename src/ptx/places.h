/* What a recording's table of sites names, by its place in the text of the module (trace/sites.h). */
#ifndef PTX_PLACES_H
#define PTX_PLACES_H

#include "ptx/ptx.h"
#include "trace/sites.h"

/* Of a module as it was read, without edits. */
SiteText ptx_site_text(const PtxModule *module);

#endif
