/* What naming is made of: names.c collects and gives names, uses.c looks at what each thing is used for. */
#ifndef MODEL_NAMES_INTERNAL_H
#define MODEL_NAMES_INTERNAL_H

#include "base/table.h"
#include "model/names/names.h"

#include "ir/location.h"
#include "ir/op.h"
#include "model/effect/effect.h"
#include "model/flow/forwarded.h"
#include "model/flow/origin.h"
#include "model/flow/partition.h"
#include "model/memory/views.h"

enum { MOST_STEPS = 64, MOST_USES = 8, MOST_PART_NAMES = 256, LONGEST_NAME = 64 };

typedef enum Kind { KIND_BUFFER, KIND_BARRIER, KIND_TOKEN, KIND_AREF, KIND_VIEW } Kind;

/* What says that a barrier and a buffer go together; the best there is counts. ORDER: the better, the later. */
enum { EVIDENCE_NONE, EVIDENCE_DONE, EVIDENCE_NEAR, EVIDENCE_COPY, EVIDENCE_BYTES };

/* Who says so: the one that arrives, or the one that waits. */
enum { SAID_BY_ARRIVE = 1, SAID_BY_WAIT = 2 };

struct NamesEntry;
/* A buffer that a barrier is used with. */
typedef struct Use {
    struct NamesEntry *buffer;
    const char *part; /* the part of it that has a name of its own; NULL: all of it */
    unsigned said_by;
} Use;

/* An op that has a name. */
typedef struct NamesEntry {
    const Op *op;
    const char *name; /* NULL: not yet */
    Kind kind;
    bool accumulates;                 /* a MMA writes it */
    bool full, empty;                 /* barriers: who waits for it reads, or writes, `uses` */
    int evidence;                     /* barriers: of `uses`, see Evidence */
    const Op *slot;                   /* the first view of a slot of it that has another name; NULL: none */
    const Value *fillers[MOST_USES];  /* buffers: descriptors that are copied into it */
    const Value *tensors[MOST_USES];  /* buffers: tensors that are stored into it */
    const Value *drains[MOST_USES];   /* buffers: descriptors that it is copied to */
    const Value *operands[MOST_USES]; /* accumulators: what is multiplied into it */
    Use uses[MOST_USES];              /* barriers */
    uint32_t filler_count, tensor_count, drain_count, operand_count, use_count;
    Partitions arrives, waits; /* barriers: who does */
} NamesEntry;

/* A part of a buffer, by where it begins, and what is stored there. */
typedef struct PartName {
    const Op *root;
    int64_t begin;
    const char *name; /* "": several things */
} PartName;

/* Texts, and how often each came; the texts are not copied. */
typedef struct CountedText {
    Str text;
    uint32_t count;
} CountedText;
typedef TABLE_OF(CountedText) TextTable;

struct Names {
    Arena *arena;
    Module *module;
    NamesEntry *entries; /* in the order of the text */
    uint32_t count, capacity;
    Pointers places; /* of ops: among the entries */
    TextTable taken; /* names that were given away */
    TextTable bases; /* what buffers are called before their names are unique */
    TextTable plain; /* the same of those that have no better name from their use */
    TextTable marks; /* what all else is called before its name is unique */
    PartName parts[MOST_PART_NAMES];
    uint32_t part_count;
    TextTable other; /* what values are called that are no memory: a name of one of these says nothing of a barrier */
};

/* ---- names.c ---- */
NamesEntry *names_entry(Names *names, const Op *op);
/* The buffer behind a view. */
NamesEntry *names_entry_of(Names *names, const Value *value);
/* The name that a value was given; empty if it has none. */
Str names_given(Module *module, const Value *value);
const char *names_plain(Arena *arena, Str text);

/* ---- uses.c ---- */
/* Notes of every entry what it is used for. */
void names_look_at_uses(Names *names, const Op *function);

#endif
