/* What has to be known of the sites of a module to read the records of them (record/stream.h). */
#ifndef INSTRUMENT_SHAPES_H
#define INSTRUMENT_SHAPES_H

#include "instrument/instrument.h"
#include "record/stream.h"

/* One for each site. */
RecordShape *site_shapes(const Sites *sites, const PtxModule *module, Arena *arena);

/* `bytes` bytes of a parameter of the kernel that was launched, 4 or 8 of them. */
typedef uint64_t SiteParameter(void *context, uint32_t variable, uint32_t offset, unsigned bytes);
/* Values that are told of as others plus parameters: fills in how much that is, once for a launch of that kernel.
 * Without it, values are not what they were, but everything else is. */
void site_shapes_bind(RecordShape *shapes, const Sites *sites, uint32_t function, SiteParameter *parameter,
                      void *context);

#endif
