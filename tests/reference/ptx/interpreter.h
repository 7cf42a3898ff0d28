/* A small interpreter of PTX: the reference that the value analysis (src/ptx/value) is held against, and that a machine
 * for PTX can be held against. It shares the reader (src/ptx/ptx.h) with them and nothing else: no row of the table, no
 * control flow graph, no arithmetic.
 *
 * It runs a launch thread by thread, each warp in groups of lanes that stand at the same place of the same call with
 * the same numbers of turns of the loops around it. The group that is furthest behind runs first, so that a group has
 * all the threads that ever run that instance of an instruction. Integers, bits, predicates, addresses and plain loads
 * and stores are exact. f32 and f64 are C's; other floating-point formats, and results of the tensor cores, are made-up
 * bits, a function of what is read where PTX says so. Asynchronous copies, and what else goes by descriptors, move no
 * bytes. A wait on an mbarrier succeeds after some tries. Memory that nothing has written has made-up contents, the
 * same bytes at the same address. What it does not know stops the launch, and is named. */
#ifndef TESTS_REFERENCE_PTX_INTERPRETER_H
#define TESTS_REFERENCE_PTX_INTERPRETER_H

#include "ptx/ptx.h"

enum { LANES = 32 };

typedef struct Machine Machine;

/* What memory holds that nothing has written. */
typedef enum Contents { CONTENTS_ZERO, CONTENTS_SMALL, CONTENTS_ANY, CONTENTS_COUNT } Contents;

typedef struct Launch {
    uint32_t function;                      /* a kernel of the module */
    uint32_t grid[3], block[3], cluster[3]; /* CTAs, threads of a CTA, CTAs of a cluster, which divide the grid */
    const uint8_t *parameters;              /* as many bytes as machine_parameter_bytes says */
    Contents contents;
    uint64_t seed;  /* of all that is made up */
    uint64_t steps; /* at most so many instructions of warps */
} Launch;

/* Where an address points. */
typedef enum Region {
    REGION_GLOBAL,
    REGION_SHARED, /* of the own CTA */
    REGION_PEER,   /* shared memory of another CTA of the cluster */
    REGION_LOCAL,
    REGION_CONST,
    REGION_PARAM,
    REGION_OTHER, /* tensor memory, a texture */
} Region;

/* One instruction that a group of lanes is about to run, or has just run. */
typedef struct Step {
    Machine *machine;
    uint32_t function, statement; /* of the module */
    uint32_t lanes;               /* of the group */
    uint32_t run;                 /* ... those whose guard holds */
    uint32_t entered; /* all lanes that made this run of the function together; of a kernel: that the warp has */
    bool apart; /* lanes of the warp have waited at a barrier that others went by: not all that run this may be together
                 */
    uint32_t warp, cta, cluster; /* numbers in the grid */
    uint32_t first;              /* the number of lane 0 in the CTA */
    uint64_t instance;           /* a number for the turns of the loops around it, and for the calls that led here */
    uint64_t parent;             /* a number for the run of the function that it is in */
    void *state;                 /* of the interpreter */
} Step;

typedef struct Watcher {
    void *to;
    void (*before)(void *to, const Step *step);
    void (*after)(void *to, const Step *step);
} Watcher;

typedef enum EndKind { END_REACHED, END_STEPS, END_TRAP, END_STOPPED } EndKind;

typedef struct End {
    EndKind kind;
    Str what;           /* END_STOPPED: the form, or another reason */
    uint32_t statement; /* where it stopped or trapped */
    uint64_t steps;     /* instructions of warps */
    uint64_t forced;    /* times that nothing could go on, and barriers were opened */
} End;

Machine *machine_new(const PtxModule *module);
void machine_free(Machine *machine);

/* The parameters of a kernel: where each begins, in bytes, and how many bytes there are. */
uint32_t machine_parameter(Machine *machine, uint32_t function, uint32_t index, uint32_t *bytes);
uint32_t machine_parameter_bytes(Machine *machine, uint32_t function);

/* Runs a launch; watcher may be NULL. */
End machine_run(Machine *machine, const Launch *launch, const Watcher *watcher);
/* What global memory has after a run. */
uint64_t machine_global(Machine *machine, uint64_t address, unsigned bytes);

/* What an operand of the step's statement is in each lane: a register, a special register, the address of a variable,
 * or of an access. Returns the lanes in which it has a value that PTX defines; 0 of anything else. Registers that
 * nothing was written to have none, nor what was computed from those. */
uint32_t step_values(const Step *step, uint32_t operand, uint64_t values[LANES]);
/* The same of a register, by its variable and number. */
uint32_t step_register(const Step *step, uint32_t variable, uint32_t index, uint64_t values[LANES]);
/* Where an access to such an address goes, by the state space of the statement's form, or else by the address. */
Region step_region(const Step *step, uint32_t operand, unsigned lane, uint64_t address);
/* The operands that the interpreter wrote; how many. Behind the step only. */
uint32_t step_written(const Step *step, const uint32_t **operands);

#endif
