/* Matrices in shared memory as the descriptors of wgmma and tcgen05 say (PTX ISA, "Matrix descriptors"): where each 16
 * bytes of a tile are.
 *
 * A tile is made of atoms of 8 lines. K-major: a line is along k, and there are 8 rows (or columns) of the matrix in an
 * atom; MN-major: a line is along the rows, and there are 8 k. Lines are 16, 32, 64 or 128 bytes long, which is the
 * swizzle: the 16 bytes at an address are those of the address with its lowest bits from bit 4 on, as many as the
 * swizzle has, exclusive-or-ed with those from bit 7 on. */
#ifndef MACHINE_SIMT_MMA_MATRIX_DESCRIPTOR_H
#define MACHINE_SIMT_MMA_MATRIX_DESCRIPTOR_H

#include "machine/simt/core/machine.h"
#include "machine/simt/mma/matrix_numbers.h"

enum { DESCRIPTOR_CHUNK = 16, DESCRIPTOR_SPAN = 1 << 18 };

typedef struct MatrixDescriptor {
    uint32_t start, leading, stride; /* bytes */
    uint8_t line;                    /* bytes: 16 is no swizzle */
    uint8_t base;                    /* of the pattern, in 128 bytes */
    bool pairs;                      /* 32 bytes are moved at once; atoms of 4 k */
    bool absolute;                   /* the leading dimension is an address */
} MatrixDescriptor;

/* That of wgmma. */
MatrixDescriptor matrix_descriptor(uint64_t bits);
/* That of tcgen05; false: it has a mode that there is not. */
bool tensor_descriptor(uint64_t bits, MatrixDescriptor *descriptor);

/* A matrix of `lines` rows (of A) or columns (of B) and `bytes` along k of each; of MN-major ones, elements have `bits`
 * bits and there are `k` of them. */
typedef struct MatrixTile {
    MatrixDescriptor descriptor;
    bool across; /* MN-major */
    MatrixType type;
    bool tight;            /* elements of 4 bits are packed, and not padded to 16 in 16 bytes as those of 6 bits are */
    uint16_t first, lines; /* from which line on, how many */
    uint16_t k;
} MatrixTile;

/* The address of its chunk: K-major: of line i, the j-th along k; MN-major: the i-th along the lines, of k j. */
uint32_t matrix_chunk(const MatrixTile *tile, unsigned i, unsigned j);

/* The bytes of a tile in pieces that are as long as can be, in order. */
typedef struct MatrixPieces {
    PtxLocation *locations;
    uint32_t *sizes;
    uint32_t count, capacity;
} MatrixPieces;
/* False: some of it is in no memory, and machine->fault is set. `block`: the shared memory of the CTA. */
bool matrix_pieces(PtxMachine *machine, const PtxCode *code, PtxWarp *warp, PtxBlock *block, const MatrixTile *tile,
                   MatrixPieces *pieces);

/* Tells that an operation in flight reads a tile of that shared memory, through the async proxy. False as above. */
bool matrix_emit(PtxMachine *machine, const PtxOutstanding *outstanding, PtxBlock *block, const MatrixTile *tile);

/* Elements k_first to k_first + k_count of each line as numbers, from the tile's first line on. Rows: to[line][k].
 * Columns: in panels of 8 (MatrixFactors), in order or as fragments have them; there are a multiple of 8.
 * unknown[line] is set where a byte is not known. */
enum { MATRIX_TAKE_MOST = 256 * 64 }; /* elements */
typedef enum MatrixOrder { ORDER_ROWS, ORDER_COLUMNS, ORDER_FRAGMENTS } MatrixOrder;
typedef struct MatrixTake {
    double *to;
    MatrixOrder order;
    unsigned k_first, k_count;
    bool *unknown;
} MatrixTake;
void matrix_take(PtxMachine *machine, PtxBlock *block, const MatrixTile *tile, const MatrixTake *take);

#endif
