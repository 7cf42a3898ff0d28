/* What a writer of results holds, for the files that write and keep them. */
#ifndef API_WRITER_H
#define API_WRITER_H

#include "api/internal.h"

#include "render/ci/ci.h"
#include "render/json.h"
#include "render/membar.h"
#include "render/port.h"
#include "render/report/report.h"
#include "render/text.h"

struct weir_writer {
    weir_write_options options;
    Sink sink;
    Text out;     /* of a page, or of a part, it is held back until the end */
    size_t count; /* reports, ports and differences so far */
    bool failed;
    JsonSeries json;
    Ci ci; /* of formats that it has */
    MembarTotals totals;
    Grouped grouped; /* findings, in text */
    Unseen unseen;
    size_t inputs;      /* verdicts that count */
    weir_writer *aside; /* those that need not, unless they are all there is; NULL: none */
};

#endif
