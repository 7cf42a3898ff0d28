/* What has to be known of the sites of a module to read the records of them (record/stream.h). */
#ifndef INSTRUMENT_SHAPES_H
#define INSTRUMENT_SHAPES_H

#include "instrument/instrument.h"
#include "record/stream.h"

/* One for each site. */
RecordShape *site_shapes(const Sites *sites, const PtxModule *module, Arena *arena);

#endif
