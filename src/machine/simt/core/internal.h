/* What the files of the core of the PTX machine share: memory, control, accesses. */
#ifndef MACHINE_SIMT_CORE_INTERNAL_H
#define MACHINE_SIMT_CORE_INTERNAL_H

#include "machine/simt/core/machine.h"
#include "machine/simt/decode/internal.h"

/* ---- machine.c ---- */

/* A group of a warp; from what was freed, or new. */
PtxGroup *new_group(PtxMachine *machine, PtxWarp *warp);
void free_group(PtxMachine *machine, PtxGroup *group);
PtxFrame *new_frame(PtxMachine *machine, const PtxRoutine *routine, PtxFrame *caller, uint32_t back, uint32_t lanes,
                    PtxCta *cta, uint32_t warp);
void release_frame(PtxMachine *machine, PtxFrame *frame);
/* If all of its threads have ended, and what they had in flight. Its memory is used for others when that holds for the
 * whole cluster. */
void cta_end(PtxMachine *machine, PtxCta *cta);
/* An instruction is not run: what it would have written is not known. */
PtxStep ptx_skip(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes);

enum { POOL_FOUND = 8 };

/* What is kept between frames, groups and CTAs that are over, for those that come. */
typedef struct Pools {
    PtxGroup *groups;
    PtxFrame **frames; /* of each function: a list by `caller` */
    struct PtxStackEntry *parts;
    PtxCta **ctas;
    uint32_t cta_count, cta_capacity;
    PtxHeap heap;
    uint64_t frame_serial;
    uint8_t *values; /* of arguments of calls that are large */
    uint32_t value_bytes;
    uint64_t local_changes;      /* of local memory, which nothing else notices */
    PtxBlock *found[POOL_FOUND]; /* blocks that were looked for last */
    uint64_t workspace;          /* address of what the driver gives to kernels whose CTAs wait for each other */
    /* Reads of the clock since memory changed; the clock at the first of them. */
    uint64_t clock_changes, clock_first;
    uint32_t clock_reads;
} Pools;
/* A PtxMachine is the first part of it. */
typedef struct Core {
    PtxMachine machine;
    Pools pools;
    jmp_buf exhausted;
} Core;
static inline Pools *pools_of(PtxMachine *machine) {
    return &((Core *)machine)->pools;
}

/* ---- memory.c ---- */

enum { PAGE_BYTES = 1 << 16 };
/* Where `offset` of a block lies, and in it: a page of it that was written, or the block. An aligned word is in one. */
static inline PtxBlock *block_at(PtxBlock *block, uint64_t *offset) {
    if (!block->pages)
        return block;
    uint64_t at = block->base % PAGE_BYTES + *offset;
    PtxBlock *page = block->pages[at / PAGE_BYTES];
    *offset = page ? at % PAGE_BYTES : *offset;
    return page ? page : block;
}
/* Bytes that are known, in one piece. False: they are not so. */
static inline bool load_known(PtxLocation location, size_t count, uint8_t *bytes) {
    const PtxBlock *block = location.block;
    if (!block->bytes || block->pages ||
        !(block->states ? bytes_known(block->states + location.offset, count) : block->fill == BYTE_KNOWN))
        return false;
    memcpy(bytes, block->bytes + location.offset, count);
    return true;
}
/* Bytes of a block; of one that was not made yet, those that stand for what is not known. */
void block_peek(const PtxBlock *block, uint64_t offset, size_t count, uint8_t *bytes);
/* What stands for 8 bytes that nothing has written, in a run with other data. */
uint64_t memory_unset(const PtxMachine *machine, uint32_t thread);

/* ---- control.c ---- */

/* Lanes of a group diverged; they meet at `pc` of `frame`. */
typedef struct PtxStackEntry {
    struct PtxStackEntry *parent;
    PtxFrame *frame;
    uint32_t pc;
    uint32_t lanes; /* that will come */
    uint32_t users;
} PtxStackEntry;

void part_release(PtxMachine *machine, PtxStackEntry *part);
/* The group stands at a new place: meets others there, or waits for them. True if it goes on. */
bool control_arrive(PtxMachine *machine, PtxGroup *group);
/* Some of those who wait at a meeting place go on without the others. False: nothing waits there. */
bool control_release(PtxMachine *machine, PtxWarp *warp);
/* Lanes of a warp ended: some may have waited for them. */
void control_exited(PtxMachine *machine, PtxWarp *warp);
/* A new group of some lanes of a group, which stands where it does. */
PtxGroup *control_split(PtxMachine *machine, PtxGroup *group, uint32_t lanes);
/* Lanes of the group go on at `to`, the others behind the instruction; they meet at `meets`. */
PtxStep control_jump(PtxMachine *machine, PtxGroup *group, uint32_t meets, uint32_t lanes, uint32_t to);
/* From here on lanes of the group may part; they meet at code `pc` of its frame. */
void control_open(PtxMachine *machine, PtxGroup *group, uint32_t pc);
/* The group has come back from a frame: it stands in that of the caller. */
void control_return(PtxMachine *machine, PtxGroup *group, const PtxFrame *frame);
/* The code behind a statement of the function that an instruction is in. */
uint32_t code_behind(const PtxProgram *program, const PtxCode *code, uint32_t statement);
/* `stay` wait where they are, the others go on behind the instruction, and wait for them there. */
void control_leave(PtxMachine *machine, PtxGroup *group, uint32_t stay);
/* Where local memory of what a frame calls begins. */
uint32_t frame_top(const PtxFrame *frame);
/* group->meet from its parts. */
void control_set_meet(PtxGroup *group);

/* ---- calls.c ---- */

bool calls_prepare(const PtxPrepare *about, PtxCode *code);
PtxRun calls_return;

/* ---- params.c ---- */

/* Bytes of a variable in .param, or what lies on the stack instead, of one lane in a frame. */
void param_read(PtxMachine *machine, PtxWarp *warp, PtxFrame *frame, uint32_t variable, uint64_t offset, uint32_t lane,
                uint32_t count, uint8_t *bytes, uint8_t *states);
void param_write(PtxMachine *machine, PtxWarp *warp, PtxFrame *frame, uint32_t variable, uint64_t offset, uint32_t lane,
                 uint32_t count, const uint8_t *bytes, const uint8_t *states);

/* Words of up to 8 bytes of such a variable, in the group's frame: lanes that are not known. */
uint32_t param_load(PtxMachine *machine, PtxGroup *group, uint32_t variable, uint64_t offset, uint32_t lanes,
                    unsigned bytes, Lanes *values);
void param_store(PtxMachine *machine, PtxGroup *group, uint32_t variable, uint64_t offset, uint32_t lanes,
                 unsigned bytes, const Lanes *values, uint32_t unknown);
/* A variable of one frame into that of another. False: not both lie in frames. */
bool param_copy(PtxMachine *machine, const PtxFrame *from, uint32_t source, const PtxFrame *to, uint32_t target,
                uint32_t count, uint32_t lanes);

/* ---- driver.c ---- */

/* Functions that come with the driver (ir/ptx_callees.def). NULL: it is none of them. */
typedef PtxStep DriverCall(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes,
                           const uint64_t arguments[][PTX_LANES], const uint32_t *unknown, uint64_t results[PTX_LANES]);
DriverCall *driver_call(Str name);
bool driver_takes_memory(DriverCall *call);

/* ---- sources.c ---- */

/* Where what is not known came from, of each guess of the run: the load or the clock, if one is found. */
void sources_find(PtxMachine *machine);

/* ---- livelock.c ---- */

/* The group jumps back to its pc; true: it comes to the same state again as long as nothing changes. */
bool spin_jump(PtxMachine *machine, PtxGroup *group);
/* Something of its own changed that is in no register. */
void spin_forget(PtxGroup *group);
/* No thread can go on: lets those of the machine's groups iterate again that others may need at a barrier. False:
 * there are none. */
bool spins_stir(PtxMachine *machine);
/* No thread can go on: of those that wait for a phase once, one gives up. False: there is none. */
bool waits_give_up(PtxMachine *machine);

/* ---- memory.c ---- */

void memory_start(PtxMachine *machine);
PtxBlock *memory_find(PtxMachine *machine, uint64_t address);
/* Where so many bytes of global memory are; false: not all of them are there. */
bool memory_global(PtxMachine *machine, uint64_t address, uint64_t bytes, PtxLocation *location);
PtxBlock *local_block(PtxMachine *machine, PtxCta *cta, uint32_t thread);
/* At least so many bytes of a thread's local memory. */
void local_grow(PtxMachine *machine, PtxBlock *block, uint64_t bytes);
/* Where all lanes of an access lead, if that is one block; block is NULL if not. */
typedef struct Span {
    PtxBlock *block;
    uint64_t begin, end;
    bool apart; /* what lies between lanes is not to be looked at: then `lanes` of them access `bytes` each */
    uint32_t lanes, bytes;
    const PtxLocation *locations;
} Span;
/* ptx_resolve, and that. */
bool memory_resolve(PtxMachine *machine, PtxGroup *group, const PtxCode *code, PtxSpace space, const Lanes *addresses,
                    uint32_t unknown, uint32_t bytes, uint32_t align, uint32_t *lanes, PtxLocation locations[PTX_LANES],
                    Span *span);
/* Whether there is one block, and all of its bytes there are known. Then words of its lanes are loaded and stored, 1 to
 * 8 bytes each. Storing says whether something changed. */
bool span_known(const Span *span);
void span_load(const Span *span, uint32_t lanes, const PtxLocation *locations, unsigned offset, unsigned bytes,
               Lanes *values);
bool span_store(const Span *span, uint32_t lanes, const PtxLocation *locations, unsigned offset, unsigned bytes,
                const Lanes *values);
/* Something in it was changed. */
void memory_changed(PtxMachine *machine, const PtxBlock *block);
/* False, with a fault: some lane would write what must not be written. */
bool memory_writable(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes,
                     const PtxLocation *locations);
/* Bytes and states are there to be written. */
void block_make(PtxMachine *machine, PtxBlock *block);
/* The same of the page that `offset` is in, if the block has pages; *count: no more than are in it. */
PtxBlock *block_make_page(PtxMachine *machine, PtxBlock *block, uint64_t *offset, size_t *count);
void block_make_states(PtxMachine *machine, PtxBlock *block);
PtxBlock *memory_add(PtxMachine *machine, PtxBlock block);

/* ---- heap.c ---- */

void heap_start(PtxMachine *machine);
/* Whether malloc has so many bytes; their address, 0: no more blocks can be followed. free: false: malloc did not give
 * that, or it was freed before. */
bool heap_has(PtxMachine *machine, uint64_t bytes);
uint64_t heap_take(PtxMachine *machine, uint64_t bytes);
bool heap_give(PtxMachine *machine, uint64_t address);

/* ---- host.c ---- */

/* Bytes of memory of this process are about to be written: their pages are kept. */
void host_save(PtxMachine *machine, PtxHost *host, uint64_t offset, uint64_t count);
/* Its states are there, all known if they were not. */
void host_make_states(PtxMachine *machine, PtxHost *host);
/* Memory that outlives the run; the machine ends as it does for want of memory if there is none. */
void *host_taken(PtxMachine *machine, void *memory);

/* ---- claims.c ---- */

/* CTAs of a member of a team are about to access bytes; it does not come back if those of another one do. */
void host_claim(PtxMachine *machine, PtxHost *host, uint64_t offset, uint64_t count, bool writes);
/* The same of lanes; true: there is nothing between the bytes of the first and the last. */
bool host_claim_lanes(PtxMachine *machine, PtxHost *host, uint32_t lanes, const PtxLocation *locations, uint64_t bytes,
                      bool writes);

/* Bytes of a block are about to be written. */
static inline void block_written(PtxMachine *machine, const PtxBlock *block, uint64_t offset, uint64_t count) {
    if (block->host) {
        if (machine->team)
            host_claim(machine, block->host, offset, count, true);
        host_save(machine, block->host, offset, count);
    } else if (block->space == PTX_SPACE_GLOBAL && machine->results) {
        ptx_ordered(machine);
    }
}
/* The same of lanes that are in one block. */
static inline void span_written(PtxMachine *machine, const Span *span, uint32_t lanes, const PtxLocation *locations,
                                uint64_t bytes) {
    const PtxBlock *block = span->block;
    if (!machine->team || !block->host) {
        block_written(machine, block, span->begin, span->end - span->begin);
        return;
    }
    host_claim_lanes(machine, block->host, lanes, locations, bytes, true);
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        host_save(machine, block->host, locations[__builtin_ctz(rest)].offset, bytes);
}

/* ---- access.c ---- */

/* How an instruction accesses memory. */
typedef struct CoreAccess {
    PtxAccess access;
    PtxSpace space;
    uint8_t members; /* elements of a vector */
    uint8_t element; /* bytes of one */
    bool is_signed;  /* loads: extended with their sign */
    bool own;        /* to the thread's own memory, or what nothing writes: no event */
    const PtxArgument *address, *data, *compare, *gives;
    uint32_t align;
} CoreAccess;

/* Whether it is a store of memory: it reads nothing there. */
bool access_stores(const PtxCode *code);
/* That of a load or store of memory; NULL: it is none. */
const CoreAccess *access_plain(const PtxCode *code);
/* The same of an atomic. */
const CoreAccess *access_update(const PtxCode *code);
/* From the form and the effects; false: it is no single access. */
bool access_describe(const PtxPrepare *about, const PtxCode *code, CoreAccess *access);
/* The i-th element of the data: a member of a vector, or the whole. */
static inline const PtxArgument *access_member(const PtxProgram *program, const PtxArgument *data, unsigned index) {
    return data->kind == ARGUMENT_MEMBERS ? argument_member(program, data, index) : data;
}
void access_emit(PtxMachine *machine, PtxGroup *group, const PtxCode *code, const CoreAccess *access, uint32_t lanes,
                 const PtxLocation *locations, uint32_t changes);

/* ---- updates.c, addresses.c ---- */

PtxPrepareFamily updates_prepare; /* atom, red */
PtxPrepareFamily pieces_prepare;  /* discard, st.bulk, multimem */
PtxPrepareFamily
    addresses_prepare; /* cvta, isspacep, mapa, getctarank, alloca; prefetches and what else does nothing */

#endif
