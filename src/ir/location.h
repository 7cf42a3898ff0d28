/* Where in a source an op comes from, as its loc(...) says. */
#ifndef IR_LOCATION_H
#define IR_LOCATION_H

#include "ir/ir.h"

/* The location in the kernel's own source, through names, calls and fusions: of kind LOC_FILE, or NULL. */
const Attr *kernel_location(Module *module, const Attr *location);
/* The outermost location of a kind on the way there; NULL if there is none. */
const Attr *location_of_kind(Module *module, const Attr *location, LocationKind kind);
/* The file or the name of a location, without its quotes. */
Str location_text(const Attr *location);

#endif
