/* What the observer of coverage gathers, and the tables are made from. */
#ifndef CHECK_REPORT_COVERAGE_COVERAGE_INTERNAL_H
#define CHECK_REPORT_COVERAGE_COVERAGE_INTERNAL_H

#include "base/table.h"
#include "check/report/build/coverage.h"
#include "ir/op.h"
#include "machine/tile/schedule/clocks.h"
#include "model/memory/views.h"

enum {
    MOST_AREAS = 4096,
    MOST_TOUCHES = 1 << 15,
    MOST_READS = 1 << 16,
    MOST_ROWS = 2048,
    MOST_PAIRS = 1 << 17,
    MOST_BUFFER_VIEWS = 4,
    MOST_FLOWS = 1 << 14,
    MOST_WAYS = 3,
    MOST_THROUGH = 4,
};

/* Bytes [begin, end) of shared memory, or columns and rows of tensor memory: the least that has all of an area. */
typedef struct CoverageBox {
    int64_t begin, end, first_row, end_row;
} CoverageBox;

/* What allocates memory, or gives a part of an allocation a life of its own, and where it lies. */
typedef struct Backing {
    struct Backing *next;
    const Op *op;
    const Allocation *allocation;
    Offset offset; /* in the storage */
    CoverageBox box;
    int64_t size; /* bytes, or cells of tensor memory; -1: not known */
} Backing;

/* Where the memory of an access comes from, by the IR alone. */
typedef struct Provenance {
    bool known;
    const Backing *backing; /* NULL: cannot be seen */
    const Op *view;         /* the last that makes a part of it, under another name; NULL: none */
    bool renamed;           /* the text gives that view a name that is not the backing allocation's */
    const Op *reuse;        /* the first view that makes something else of the memory; NULL: none */
    const Op *label;        /* the view next to the access that has a name; NULL: none */
    int64_t stride;         /* from slot to slot; 0: it has no slots */
    int64_t slots;          /* how many there are; 0: not said */
    int64_t base;           /* where the first of them is in the backing allocation */
} Provenance;

/* Memory under one name: a backing allocation, or a part of it; of rings the slot, whichever. */
typedef struct CoverageBuffer {
    struct CoverageBuffer *next;
    const Backing *backing;
    CoverageBox box; /* in the storage, of slot 0 */
    int64_t size;
    bool whole;                         /* all of the backing allocation, or of a slot */
    bool alias;                         /* all of the backing allocation, under a name of its own */
    const Op *reuse;                    /* that makes something else of the backing allocation's memory; NULL: none */
    const Op *views[MOST_BUFFER_VIEWS]; /* that it was seen through */
    uint32_t view_count;
    const Op *label;         /* of an access, see Provenance */
    const char *base, *name; /* what the text calls it, and that made unique; NULL: not known yet */
} CoverageBuffer;

typedef struct CoverageTouch CoverageTouch;
typedef struct CoverageArea CoverageArea;

/* A read since the last overwrite. */
typedef struct CoverageRead {
    struct CoverageRead *next;
    CoverageTouch *touch;
    Epoch stamp;
    uint64_t moment; /* of the watch */
} CoverageRead;

typedef struct Write {
    CoverageTouch *touch; /* NULL: none */
    Epoch stamp;
    uint64_t moment; /* of the watch */
    uint64_t time;
    bool read;        /* some of it, since */
    AgentSet readers; /* who has */
} Write;

/* Another area that has bytes in common. */
typedef struct CoverageOverlap {
    CoverageArea *area;
    bool covered; /* all of them */
} CoverageOverlap;

/* The exact memory of an access. */
struct CoverageArea {
    CoverageArea *next; /* of the same storage and CTA */
    const Type *type;
    Word view;
    bool renamed; /* reached under another name than the backing allocation's */
    CoverageBuffer *buffer;
    int64_t slot; /* where its slot begins, from the start of the backing allocation */
    Bytes bytes;
    CoverageBox box;
    CoverageOverlap *overlaps;
    uint32_t overlap_count, overlap_capacity;
    CoverageTouch *touches;
    CoverageRead *reads;
    CoverageRead *overwritten; /* what was read before `over`, and all of it overwritten by that */
    Write over;
    Write last, before; /* the latest write through this very area; before it, the first that nothing has read since */
};

/* An op of an agent on an area. */
struct CoverageTouch {
    uint32_t index;
    const CompiledEffect *effect;
    uint32_t agent, pc;
    Word view;
    CoverageArea *area;
    uint64_t times;
    CoverageTouch *next, *next_of_area; /* the one before it */
};

/* How a write came to be ordered after a read. */
typedef enum WayKind { WAY_PROGRAM, WAY_TENSOR, WAY_RAISE } WayKind;
typedef struct Way {
    WayKind kind;
    Raise raise;
    bool slots_differ; /* it was another slot of the ring at other times */
    uint16_t through[MOST_THROUGH];
    uint32_t through_count;
} Way;

/* A buffer that an op overwrites after another has read it. */
typedef struct CoverageRow {
    const Op *write_op, *read_op;
    uint32_t writer, reader;           /* agents of a CTA */
    const CoverageTouch *write, *read; /* of the first time */
    CoverageBox box;                   /* in slot 0 of the writer's ring */
    uint64_t times, missing;
    Way ways[MOST_WAYS];
    uint32_t way_count;
    Rerun rerun; /* of the first time that it was missing */
} CoverageRow;

typedef struct CoveragePair {
    const CoverageTouch *write, *read; /* NULL: it is free */
    CoverageRow *row;                  /* what is overwritten had been read; NULL: not seen */
    bool flows;                        /* what is read was written, under another name */
} CoveragePair;
typedef TABLE_OF(CoveragePair) CoveragePairs;
typedef TABLE_OF(CoverageTouch *) TouchTable;

struct Coverage {
    Watch *watch; /* gets the waits that accesses depend on; NULL: none */
    Arena *arena;
    Machine *machine;
    Module *module;
    Clocks *clocks;      /* NULL: there can be none */
    const char *stopped; /* why nothing more is looked at, NULL: it is */
    const char *unknown; /* why some access is not looked at */
    const Op *unknown_op;
    bool watching;
    bool late; /* reads that come too late are seen, too */
    uint64_t time;
    uint64_t runs, launches;
    Rerun rerun;
    Provenance *origins; /* of each effect */
    bool *barriers;      /* of each allocation: it is of barriers */
    Backing *backings;
    CoverageBuffer *buffers;
    CoverageArea **memories; /* [cta][storage]: its areas */
    uint32_t area_count;
    uint64_t compared;
    TouchTable touches;
    CoverageTouch *listed; /* all of them, the newest first */
    CoverageRead *free_reads;
    uint32_t read_count;
    CoveragePairs pairs;
    uint32_t row_pair_count, flow_count;
    CoverageRow **rows;
    uint32_t row_count;
};

/* Whether it is known by a name of its own: a part of an allocation, or all of it for another purpose. */
static inline bool buffer_is_part(const CoverageBuffer *buffer) {
    return (!buffer->whole || buffer->alias) && buffer->view_count;
}

/* ---- coverage_areas.c: where accesses are ---- */
/* The touch of an access; NULL if its memory is no data, or not known. */
CoverageTouch *coverage_touch(Coverage *coverage, const Event *access);
/* What two areas of one memory have in common. */
CoverageBox box_overlap(const CoverageArea *a, const CoverageArea *b, Arena *arena);

/* ---- coverage_parts.c ---- */
/* What people call it: by the view that makes it a part, else by what carries it. */
const char *coverage_buffer_name(Coverage *coverage, Builder *builder, CoverageBuffer *buffer);

/* ---- coverage.c ---- */
/* The row of two touches, made if it is not there; NULL if there are too many. */
CoverageRow *coverage_row(Coverage *coverage, const CoverageTouch *write, const CoverageTouch *read);
static inline bool touch_writes(const CoverageTouch *touch) {
    return touch->effect->effect.verb != EFFECT_READ;
}

#endif
