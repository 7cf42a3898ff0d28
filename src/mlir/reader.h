/* MLIR text to IR.
 *
 * A file is first cut into units: the parts between `// -----` lines, or the dumps of a pass log. Each unit
 * has its own aliases and becomes one Module. The reader never stops at the first error: it reports,
 * goes on at the next op, and the caller looks at the diagnostics to know whether the module is good. */
#ifndef MLIR_READER_H
#define MLIR_READER_H

#include "base/diagnostics.h"
#include "ir/ir.h"

/* Limits, all reported when they are met. */
enum {
    LIMIT_REGION_DEPTH = 256, /* regions within regions */
    LIMIT_NESTING = 128,      /* brackets within brackets in one type or attribute */
    LIMIT_COUNT = 65535,      /* operands, results or regions of one op; dimensions of a type */
};

typedef struct Unit {
    size_t begin, end; /* offsets in the source */
    Str header;        /* the line that started it ("// -----// IR Dump After X ..."), or empty */
    Str when;          /* "Before" or "After", or empty */
    Str pass;          /* the pass's name, or empty */
    Str argument;      /* the pass's command-line name, or empty */
    bool named;        /* the header gives it with its options, "Pass: argument{options}", as Triton does from 3.8 on */
    Str kernel;        /* of a pass log: its first public tt.func; empty: it has none */
    bool functions;    /* ... it has some tt.func */
    bool synced;       /* ... a pass that inserts thread barriers has been there */
    uint32_t compilation; /* ... which compilation it is of, from 0 on */
} Unit;

typedef struct Units {
    Unit *items;
    uint32_t count, capacity;
    bool dump; /* a pass log: text between modules is not an error */
    Arena arena;
} Units;

/* False when memory ran out. */
bool units_find(const Source *source, Units *units);
void units_free(Units *units);
/* In a pass log: whether IR starts on this line. */
bool starts_ir(Str line);

typedef struct ReadOptions {
    bool strict;   /* an op that the table does not know is an error, not a note */
    bool dump;     /* skip what is not IR */
    size_t budget; /* bytes that the module may take; 0 for the default */
} ReadOptions;

/* Reads one unit into `module`, which module_init has not touched. False if there were errors: the
 * module then holds what could be read, and must be freed all the same. */
bool read_unit(Module *module, Source *source, const Unit *unit, ReadOptions options, Diagnostics *diagnostics);

#endif
