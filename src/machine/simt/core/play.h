/* The machine without its control: what a recording says was run is done, instruction by instruction, and the families
 * tell their events as ever.
 *
 * Who plays says which lanes run which instruction, and what the registers are that it goes by; everything else is not
 * known. Registers are those of the instruction alone: frames are shared by all warps. Memory is not kept. Groups are
 * there only while they wait (PtxGroup.status), and stand before the instruction to explain why. */
#ifndef MACHINE_SIMT_CORE_PLAY_H
#define MACHINE_SIMT_CORE_PLAY_H

#include "machine/simt/core/machine.h"

/* Where the windows of generic addresses begin when it plays: no memory of a GPU is there. */
#define PLAY_WINDOWS UINT64_C(0x4000000000000000)

/* Before ptx_machine_start. All code of the program then moves data that is not known. */
void play_prepare(PtxMachine *machine, PtxProgram *program);

/* A group of those lanes before the instruction; it is one of the warp's until play_done. */
PtxGroup *play_group(PtxMachine *machine, PtxWarp *warp, const PtxCode *code, uint32_t lanes);
void play_done(PtxMachine *machine, PtxGroup *group);
/* A register of the instruction in those lanes. `argument` is a row or a predicate. */
void play_set(PtxMachine *machine, PtxGroup *group, const PtxArgument *argument, const Lanes *values, uint32_t lanes);
/* It is not known any more. */
void play_forget(PtxGroup *group, const PtxArgument *argument);
/* Runs it for the group's lanes, whatever its guard is. */
PtxStep play_run(PtxMachine *machine, PtxGroup *group, const PtxCode *code);
/* That was done without it. */
void play_ran(PtxMachine *machine, const PtxCode *code, uint32_t lanes);
/* Whether all threads of a CTA meet there, and do nothing else: at which of the named barriers. */
bool play_meets(const PtxProgram *program, const PtxCode *code, uint32_t *barrier);
/* Lanes of the warp end; its CTA does if it was the last. */
void play_exit(PtxMachine *machine, PtxWarp *warp, uint32_t lanes);
/* CTAs of a cluster whose threads have ended are over. Whether all of the cluster's are. */
bool play_end(PtxMachine *machine, uint32_t cluster);

/* A load or store that is nothing else, by threads themselves: its event can be made without the machine. */
typedef struct PlayAccess {
    PtxAccess access;
    PtxSpace space;          /* PTX_SPACE_UNKNOWN: generic addresses */
    const PtxArgument *base; /* of the address; and what is added to it */
    int64_t offset;
    uint32_t align;
} PlayAccess;
/* Whether one block of global memory has all of it. */
bool play_has(PtxMachine *machine, uint64_t begin, uint64_t end);
/* A load or an atomic of one lane, at an address of global memory, is told as the machine would when it runs it;
 * `stores`: the atomic does. False: that is not all that it does. */
bool play_lane(PtxMachine *machine, PtxWarp *warp, const PtxCode *code, uint32_t lane, uint64_t address, bool stores);
/* Where [a] of a lane is, of an mbarrier; false: nowhere. */
bool play_location(PtxMachine *machine, PtxGroup *group, const PtxCode *code, const PtxArgument *argument,
                   uint32_t lane, PtxLocation *location);
/* False: it is none; or its address is no register, and *access is filled in all the same. */
bool play_access(const PtxProgram *program, const PtxCode *code, PlayAccess *access);
/* Its base and offset; false: the base is no register. */
bool play_address(const PtxProgram *program, const PtxArgument *address, PlayAccess *access);

/* A cp.async, which can be told without the machine where each lane copies all of its bytes: from global memory to its
 * CTA's. */
typedef struct PlayCopy {
    PlayAccess from, to;
    const PtxArgument *limit; /* how many bytes are read, as a register; NULL: all */
    uint32_t bytes;
} PlayCopy;
bool play_copy(const PtxProgram *program, const PtxCode *code, PlayCopy *copy);

/* A TMA copy of a box by a tensor map: not of im2col, not of single rows, and no reduction. */
typedef struct PlayTile {
    const PtxArgument *map; /* the base of its address; and what is added to it */
    int64_t offset;
    const PtxArgument *list; /* coordinates */
    bool loads;
} PlayTile;
bool play_tile(const PtxProgram *program, const PtxCode *code, PlayTile *tile);

/* A bulk copy of bytes that lie beside each other, from or to global memory: of all of them, and no reduction. */
typedef struct PlayBulk {
    PlayAccess global;
    const PtxArgument *size;
    bool loads;
} PlayBulk;
bool play_bulk(const PtxProgram *program, const PtxCode *code, PlayBulk *bulk);

#endif
