/* A kernel compiled for the emulator: what synchronizes, what it depends on, and nothing else.
 *
 * Only a backward slice of the kernel is compiled: everything that control flow, synchronization and the places of
 * accesses depend on. Structured control flow becomes jumps, calls are put into place, and every value of the slice
 * gets a register of its strand. A strand is what one agent runs: the function itself (with the default regions of its
 * warp_specialize ops), or one partition. */
#ifndef MACHINE_TILE_COMPILE_PROGRAM_H
#define MACHINE_TILE_COMPILE_PROGRAM_H

#include "base/diagnostics.h"
#include "finding/finding.h"
#include "model/effect/effect.h"
#include "model/memory/views.h"
#include "model/number/evaluate.h"

typedef enum Code {
    CODE_INTEGER,  /* dst = evaluator(a, b, c) on scalars; aux: index of the evaluation for the slow path */
    CODE_EVALUATE, /* dst = evaluations[aux](operands list at a, b of them); evaluator: 1 if it also depends on what no
                      register holds, such as shared memory */
    CODE_MOVE,     /* dst = a */
    CODE_JUMP,     /* to aux */
    CODE_BRANCH,   /* unless a: to aux */
    CODE_SWITCH,   /* if a equals b (a constant of the code, cases[b]): to aux */
    CODE_LOOP,     /* entering loop `aux`: dst = first value, a, b, c = bounds and step */
    CODE_FOR,      /* if not dst < b (c the step): to aux */
    CODE_NEXT,     /* dst += c, with the width; then to aux */
    CODE_AGAIN,    /* going round a while loop (loop aux - 1) or a backward branch: counts toward the budget */
    CODE_PROGRAM_ID,  /* dst = program id along axis aux */
    CODE_PROGRAMS,    /* dst = number of programs along axis aux */
    CODE_RANK,        /* dst = rank of the CTA in its cluster */
    CODE_RANKS,       /* dst = CTAs of the cluster */
    CODE_VIEW,        /* dst = view a, moved as views[aux] says with index b, to CTA c */
    CODE_KEEP_BUFFER, /* remembers view a as buffer aux of aref b */
    CODE_BUFFER,   /* dst = buffer c of aref a, moved as views[aux] says with index b, or to where the agent has entered
                      it */
    CODE_ALLOCATE, /* dst = allocation aux */
    CODE_DESCRIPTOR, /* dst = a descriptor made here: makers[aux] */
    CODE_LOAD,       /* dst = what memory holds at pointer a, under mask b, else c (atomics: b the operand, c what is
                        compared); aux: loads[aux]. evaluator: 1 if the effects that follow do it where memory is kept */
    CODE_ASSUME,     /* a is true, or this launch does not count */
    CODE_EFFECTS,    /* effects aux .. aux + a */
    CODE_FORK,       /* starts the partitions of forks[aux] */
    CODE_JOIN,       /* waits until they have ended */
    CODE_END,        /* of a strand */
    CODE_CLC,      /* dst = what the answer a to a cluster launch request says: aux 0 the answer in memory at view a, 1
                      whether     it gave a program, 2 + axis which */
    CODE_CELL,     /* dst = the integers last stored at view a, if the emulator knows */
    CODE_SEQUENCE, /* dst = the number of the asynchronous product just issued, among those of the agent */
    CODE_FINISHED, /* a holds such a number: that product must have been waited for */
    CODE_KEEP,     /* stores integers a at view b */
    CODE_SCRATCH,  /* dst = the address of scratch memory aux */
    CODE_FROM_POINTER, /* dst = the descriptor that was made in memory at a */
} Code;

enum { NO_REGISTER = UINT32_MAX };

typedef struct Instruction {
    uint8_t code, evaluator, width, operand_width;
    uint32_t dst, a, b, c, aux;
} Instruction;

/* Registers that stand beside each other in Program.lists. */
typedef struct RegisterList {
    uint32_t first, count;
} RegisterList;

/* Where the copy of a CTA comes down: what it writes of the view, and how far (XOR) from the barrier that it signals.
 */
typedef struct Landing {
    const ViewPart *part;
    uint32_t aside;
} Landing;

/* An effect with its values in registers. */
typedef struct CompiledEffect {
    Effect effect;
    uint32_t on, amount, through, predicate, second_predicate, slot; /* registers, or NO_REGISTER */
    const Type *type;                                                /* of `on`, where it is a memory descriptor */
    int64_t bytes;       /* EFFECT_COMPLETE: what the destination's type says. Accesses to global memory: how many from
                            the pointer on; -1: what `amount` says; 0: an element for each pointer */
    uint32_t boxes;      /* register of the descriptor in whose boxes bytes come, or NO_REGISTER */
    uint32_t lands;      /* EFFECT_COMPLETE: register of the memory that the bytes are written to, or NO_REGISTER */
    const Type *landing; /* of that memory */
    RegisterList coordinates; /* of the tile */
    /* Accesses to global memory, else NO_REGISTER. offsets: of buffer ops, in elements from the pointer on; rows: of a
     * gather or scatter, and of one in shared memory where the CTAs of a cluster share out dimension `axis` of it. */
    uint32_t mask, offsets, rows;
    uint8_t axis;
    uint32_t transfer; /* COMPILE_DATA: of `transfers`; NO_TRANSFER: nothing that registers hold is read or written */
    bool strong;       /* the same: an access to global memory that others can tell apart (an order, or volatile) */
    bool stops;        /* the same: strong, or control depends on what it loads */
    bool alike; /* the same: every program writes the same to the same places, once, and at once (model/memory/alike.h)
                 */
    uint32_t rank;  /* register of the CTA that it is in, or NO_REGISTER */
    uint32_t leads; /* done by CTAs with none of these bits in their rank alone */
    uint32_t reach; /* bit k: it is in the CTA whose rank is the issuer's XOR k; 1: in its own alone */
    /* [CTA][other]: what the CTA touches in the memory of the other; NULL there: nothing. NULL: see `reach`. */
    const ViewPart *const *parts;
    const Landing *landings; /* of a copy into a view that the CTAs have otherwise than the box, by CTA; else NULL */
    uint32_t shared_bits;    /* the barrier belongs to the CTA without these bits of its rank alone */
    bool idle; /* init, invalidate: of a barrier that nothing else uses, whose bytes the compiler gives to others */
} CompiledEffect;

/* A descriptor made in the kernel, or a block pointer, which is much the same, as the op's DESCRIBES column says. Where
 * it is made of another one, `base` is that. Registers may be NO_REGISTER. */
typedef struct Maker {
    const Op *op;
    uint32_t pointer; /* register of the memory that holds it */
    uint32_t base, predicate;
    RegisterList shape, strides, box, offsets, bounds;
} Maker;

typedef struct CompiledLoad {
    const Op *op;
    uint16_t width; /* of an element, bits */
    bool integer;   /* else its data is never known */
    AtomicKind atomic;
    bool given;       /* it is known only if it was given (LoadLog), and is not chosen otherwise */
    bool untouched;   /* of a tensor: the kernel writes no memory that it may read */
    const Type *type; /* of the result */
} CompiledLoad;

enum { NO_TRANSFER = UINT32_MAX };

/* What an access to global memory does with data in registers, element by element (COMPILE_DATA). The effect's verb
 * says whether it reads, writes or updates. */
typedef struct Transfer {
    uint32_t value, compare, other; /* registers: what is written, or the operand; of a CAS; where masked off */
    uint32_t result;                /* register: what was there; of a poll, whether it came */
    const Type *type;               /* of the result, or of what is written */
    uint16_t width;                 /* of an element, bits */
    uint16_t times;                 /* an addition is made by that many threads */
    bool integer;                   /* else only identities are known */
    bool followed;                  /* what is written follows from arguments, program ids and global memory alone */
    AtomicKind atomic;
    bool steers;   /* which way is gone, and which barriers, phases and slots are meant, depends on the result */
    bool polls;    /* repeats until what it finds compares with `until` so */
    bool gives_up; /* a poll with a timeout */
    bool finds;    /* the result of a poll is what was found */
    Comparison relation;
    uint32_t until;
} Transfer;

typedef struct Fork {
    const Op *op;
    uint32_t first_strand, strand_count;
    uint32_t
        captures; /* list of registers of the function's strand; the partition has them in its registers 0, 1, ... */
    uint32_t capture_count;
} Fork;

typedef struct Strand {
    const char *name; /* "default", "partition0" */
    uint32_t entry, register_count, warps;
    uint32_t index;                     /* 0: the function; k + 1: partition k */
    uint32_t constants, constant_count; /* list of pairs: a register, an index of `constants`: set when it starts */
    const Op *op;                       /* the function, or the warp_specialize op */
} Strand;

typedef struct Loop {
    const Op *op;
    const Block *head; /* of a loop of blocks, whose first op `op` is (block_loops.h); else NULL */
    uint32_t strand;
    uint32_t depth; /* how many loops it is in */
    bool closed;    /* its bounds are constants */
} Loop;

/* An argument of the kernel. */
typedef struct Parameter {
    const char *name;
    const Type *type;
    uint32_t reg;         /* NO_REGISTER: nothing depends on it */
    bool steers;          /* control flow depends on it */
    int64_t divisibility; /* tt.divisibility, or 1 */
    int32_t descriptor;   /* this is dimension `part` of the descriptor that is parameter `descriptor`; -1: of none */
    uint32_t part;
} Parameter;

/* Of a function with a body. */
Parameter *program_parameters(Module *module, const Op *kernel, uint32_t *count);
/* Of one that is a descriptor, the type whose dimensions are those of its box. */
const Type *parameter_block(Module *module, const Parameter *parameter);
/* Along which axes the kernel, or what it calls, looks at its program id, for whatever purpose; `counts`: or at how
 * many there are. */
unsigned program_axes(Module *module, bool counts);

typedef struct Program {
    Module *module;
    const struct Slice *slice;    /* what was compiled */
    const struct Slice *steering; /* of it, what decides which way is gone, and which barriers and phases are meant */
    const Op *function;
    const char *name;
    Instruction *code;
    const Op **ops; /* of each instruction */
    uint32_t code_count, code_capacity;
    CompiledEffect *effects;
    uint32_t effect_count, effect_capacity;
    Evaluation *evaluations;
    uint32_t evaluation_count, evaluation_capacity;
    Word *constants;
    uint32_t constant_count, constant_capacity;
    ViewStep *views;
    uint32_t view_count, view_capacity;
    CompiledLoad *loads;
    uint32_t load_count, load_capacity;
    Transfer *transfers;
    uint32_t transfer_count, transfer_capacity;
    Maker *makers;
    uint32_t maker_count, maker_capacity;
    Fork *forks;
    uint32_t fork_count, fork_capacity;
    Strand *strands;
    uint32_t strand_count, strand_capacity;
    Loop *loops;
    uint32_t loop_count, loop_capacity;
    uint32_t *lists;
    uint32_t list_count, list_capacity;
    int64_t *cases;
    uint32_t case_count, case_capacity;
    Parameter *parameters;
    uint32_t parameter_count;
    Allocations allocations;
    bool polls;              /* atomics or strong loads that control depends on may be made again and again */
    uint32_t agents_per_cta; /* agents of a CTA: 1 + the most partitions of a fork */
    uint32_t most_registers;
    uint32_t barrier_slots;  /* about how many mbarriers a CTA can have */
    uint32_t deepest_ring;   /* the largest number of slots of a ring of barriers or buffers */
    uint32_t ctas;           /* of a cluster */
    bool ranks_are_programs; /* each CTA of a cluster has a program id of its own (cluster-dim), not one for all
                                (num-ctas) */
    uint32_t cluster[3];     /* then how many along each axis of the grid; ranks go along the first one first */
    bool planned;            /* ops name their tasks, but neither regions nor barriers part them yet */
    uint32_t warps, warp_threads;
    const Op **scratches; /* that allocate global memory for each CTA */
    uint32_t scratch_count, scratch_capacity;
    bool unknowns; /* something in it is not known, or not worked out, that could order what others do */
    bool global;   /* compiled with COMPILE_GLOBAL */
    bool data;     /* and with COMPILE_DATA */
} Program;

enum {
    COMPILE_GLOBAL = 1, /* the addresses of global accesses, too */
    COMPILE_DATA = 2,   /* with it: and what they write, so that a machine can keep global memory */
};

/* Compiles the kernel `function` (a function op with a body). What it cannot do it reports to `verdict` as incomplete
 * and goes on. NULL if there is nothing to run. Memory: the module's arena. */
Program *program_compile(Module *module, const Op *function, unsigned flags, Verdict *verdict);
/* How many clusters a grid takes; 0: more than can be counted. */
uint64_t program_clusters(const Program *program, const int64_t grid[3]);
/* The program id of the first CTA of a cluster, and what a CTA's rank adds to it along an axis. */
void program_first_id(const Program *program, const int64_t grid[3], uint64_t cluster, int64_t id[3]);
int64_t program_id_of_rank(const Program *program, uint32_t rank, unsigned axis);

/* For people, a line for each thing: the values that are computed; the registers and instructions. */
void program_print_slice(const Program *program, Text *to);
void program_print(const Program *program, Text *to);
/* Its name, without the '@'. */
const char *program_name(Module *module, const Op *function);
/* The evaluator of an op; of assembly that asks for a program id, a rank or how many there are of them, the one of the
 * op that does. *axis: of such. */
Evaluator program_asks(const Program *program, const Op *op, uint32_t *axis);
/* Whether all programs of a grid compute the same from the same memory: no op asks which of them it is or what time it
 * is, and none gets what an atomic has found. */
bool program_is_uniform(const Program *program);
/* The kernels of a module: functions with a body that no other calls, and of those that call each other in a circle, to
 * which no kernel comes, the first that is not private. Returns how many; at most `most` are stored. */
size_t program_kernels(Module *module, const Op **functions, size_t most);

#endif
