/* What the passes about tensor copies share: a copy, whatever op it is, and the block that it moves. */
#ifndef CHECK_LINT_TILE_TMA_H
#define CHECK_LINT_TILE_TMA_H

#include "base/pointers.h"
#include "check/lint/tile/internal.h"
#include "model/layout/encoding.h"

enum { TILE_RANK = 8, BOX_MOST = 256, MAP_RANK = 5, MAP_BYTES = 128, MAP_ALIGNMENT = 64 };

typedef enum TileLayout {
    TILE_NOT_SAID, /* no layout yet, or one that is not understood */
    TILE_ROWS,     /* rows one after the other, maybe swizzled */
    TILE_OTHER     /* what no tensor map can make */
} TileLayout;

/* A block of a tensor, from the type of a tensor descriptor or of the shared memory that it is copied to. */
typedef struct TmaTile {
    bool known;
    bool im2col;
    uint8_t rank;
    int64_t dims[TILE_RANK];  /* of all CTAs together */
    int64_t split[TILE_RANK]; /* between how many CTAs a dimension is cut */
    const Type *element;
    uint32_t bits; /* of an element in memory */
    TileLayout layout;
    int64_t swizzle; /* bytes; 0: none */
    bool transposed, fp4_padded;
    unsigned cta_bits;       /* of the number of a CTA that the layout speaks of */
    unsigned broadcast_bits; /* those that change nothing: these CTAs have the same block */
} TmaTile;

TmaTile tma_tile(Module *module, const Type *type);
/* The box that one instruction copies; false if that cannot be said. */
bool tma_box(const TmaTile *tile, int64_t box[TILE_RANK]);

typedef enum CopyKind { COPY_LOAD, COPY_STORE, COPY_REDUCE, COPY_GATHER, COPY_SCATTER, COPY_PREFETCH } CopyKind;

typedef struct Copy {
    const Op *op;
    CopyKind kind;
    bool lowered; /* it is a copy between global and shared memory, no longer a load or store of values */
    const Value *descriptor;
    const Value *memory, *barrier; /* NULL: none */
    ValueList coordinates, offsets;
    const Value *rows;      /* of a gather or scatter: their numbers; the column is the one coordinate */
    const Value *predicate; /* NULL: always */
} Copy;

/* False if the op copies nothing through a tensor descriptor. */
bool tma_copy(Lint *lint, const Op *op, Copy *copy);
/* The write of a copy of plain bytes to global memory; NULL: the op is none. */
const Effect *tma_bulk_store(Lint *lint, const Op *op);
static inline bool tma_stores(const Copy *copy) {
    return copy->kind == COPY_STORE || copy->kind == COPY_REDUCE || copy->kind == COPY_SCATTER;
}

/* Where a value comes from: through captures of partitions, and loops that hand it on as it is. */
const Value *tma_source(const Value *value);
/* The op that takes the memory of a map for the descriptor; NULL if none does. */
const Op *tma_taken(const Value *descriptor);

/* The memory of a map: a pointer that nothing is added to, or nothing that is known, and how far from it the map is. */
typedef struct MapMemory {
    const Value *root;
    int64_t offset;
    bool known;        /* all that was added */
    const Op *scratch; /* the allocation that the root is; NULL: it is none */
} MapMemory;
MapMemory tma_map_memory(Lint *lint, const Value *pointer);
/* The fence that follows, on that memory, what makes a map, or comes before what uses one; NULL: the op does not. */
const Effect *tma_map_fence(Lint *lint, const Op *op, Order order);

/* A number in words: "48", "a multiple of 8", "any number". */
const char *tma_words(Lint *lint, const IntDomain *known);

/* ---- The parts of the pass ---- */
void lint_tma_copy(Lint *lint, const Copy *copy);
/* Of allocations of shared memory: which ones copies use, and which ones others, once it was asked for. */
typedef struct SharedUsers {
    Pointers copied, others;
} SharedUsers;
void lint_tma_shared(Lint *lint, const Copy *copy, SharedUsers *users);
/* Of a product, after all copies. */
void lint_tma_operands(Lint *lint, const Op *op, const SharedUsers *users);
void lint_tma_bulk(Lint *lint, const Op *op);
void lint_tma_maps(Lint *lint);
void lint_tma_life(Lint *lint);

#endif
