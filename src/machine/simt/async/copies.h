/* Copies that a thread issues and others carry out: what copies*.c share. */
#ifndef MACHINE_SIMT_ASYNC_COPIES_H
#define MACHINE_SIMT_ASYNC_COPIES_H

#include "machine/simt/async/tensormap.h"
#include "machine/simt/sync/barriers.h"

/* Pieces of memory, those beside each other put together. */
typedef struct Pieces {
    PtxLocation *locations;
    uint32_t *sizes;
    uint32_t count, capacity, size_capacity;
} Pieces;
void pieces_add(PtxMachine *machine, Pieces *pieces, PtxLocation location, uint32_t bytes);

/* What a landing works with; there is one, which is used again and again. */
typedef struct CopyScratch {
    Pieces reads, writes;
    uint8_t *bytes, *states;
    size_t capacity;
} CopyScratch;
/* Emptied, with room for that many bytes. */
CopyScratch *copy_scratch(PtxMachine *machine, size_t bytes);

/* Elements that are reduced. ORDER with reduce_bytes in copies_reduce.c. */
typedef enum ReduceType {
    REDUCE_U32,
    REDUCE_S32,
    REDUCE_U64,
    REDUCE_S64,
    REDUCE_F16,
    REDUCE_BF16,
    REDUCE_F32,
    REDUCE_F64,
    REDUCE_TYPES
} ReduceType;
typedef enum ReduceAction {
    REDUCE_NONE,
    REDUCE_ADD,
    REDUCE_MIN,
    REDUCE_MAX,
    REDUCE_INC,
    REDUCE_DEC,
    REDUCE_AND,
    REDUCE_OR,
    REDUCE_XOR,
} ReduceAction;
/* From the form's groups "op" and "t". */
ReduceAction reduce_action(const PtxCode *code);
ReduceType reduce_type(Str type);
unsigned reduce_bytes(ReduceType type);
uint64_t reduce_element(ReduceAction action, ReduceType type, uint64_t old, uint64_t value);
/* Bytes of memory with those of a source: `bytes` and `states` have the source, and then what is to be stored. */
void reduce_memory(PtxMachine *machine, ReduceAction action, ReduceType type, PtxLocation location, size_t count,
                   uint8_t *bytes, uint8_t *states);

/* Which memory the effect's operand is in. */
PtxSpace effect_space(const PtxEffect *effect);
/* Where lane's [a] is; false: a fault. Lanes whose address is not known have been taken out. */
bool find_location(PtxMachine *machine, PtxGroup *group, const PtxCode *code, const PtxArgument *argument,
                   PtxSpace space, uint32_t lane, uint64_t bytes, uint32_t align, RuleId misaligned,
                   PtxLocation *location);
/* The same place in the shared memory of another CTA of the cluster; false: a fault, there is no such CTA. */
bool location_in_cta(PtxMachine *machine, const PtxCode *code, const PtxWarp *warp, uint32_t lane, PtxLocation location,
                     uint32_t rank, PtxLocation *there);
/* Whether the CTA whose shared memory it is has not ended; else it is a fault. */
bool location_is_there(PtxMachine *machine, const PtxOutstanding *outstanding, PtxLocation location);
/* A number of one lane; false, with *step, if it is not known. */
bool lane_value(PtxMachine *machine, PtxGroup *group, const PtxCode *code, const PtxArgument *argument, uint32_t lane,
                uint64_t *value, PtxStep *step);
/* Whether what a copy moves is loaded. */
static inline bool copy_loads(const PtxMachine *machine, const PtxCode *code) {
    return machine->computes != COMPUTES_NEEDED || !code->data;
}
/* Reads what is copied: what nothing has written is not known there, and that it was read is noted. Without the data
 * (gear slice) nothing is known. */
void copy_load(PtxMachine *machine, const PtxCode *code, PtxLocation location, size_t count, uint8_t *bytes,
               uint8_t *states);
void copy_note_unset(PtxMachine *machine, const PtxOutstanding *outstanding, uint32_t lane, PtxLocation location,
                     size_t count, uint8_t *states);
/* What a step is behind ptx_stop or a fault. */
static inline PtxStep failed(const PtxMachine *machine) {
    return machine->unknown ? PTX_STEP_UNKNOWN : PTX_STEP_FAULT;
}
/* Bytes of an outstanding operation have come at its mbarrier. */
void copy_completes(PtxMachine *machine, const PtxOutstanding *outstanding, uint64_t place, int64_t bytes);
/* An access of a landing, told. */
void report_pieces(PtxMachine *machine, const PtxOutstanding *outstanding, const PtxAccess *access,
                   const Pieces *pieces);

/* What copies.c asks, in this order. */
PtxPrepareFamily thread_copy_prepare, bulk_prepare, remote_prepare, tile_prepare, map_prepare, request_prepare;

#endif
