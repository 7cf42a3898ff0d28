/* A kernel of PTX as the machine runs it: each instruction of the kernel, and of the functions that it may call, taken
 * apart once.
 *
 * An instruction is one call (`run`) for all lanes of a group. Which function that is, and what it needs to know beside
 * the operands (`detail`), is found by the families of prepare.h, which go by the words of its row: how its results are
 * evaluated, and its effects. One that no family takes makes a run incomplete where it is come to, by name.
 *
 * Registers are rows of 32 lanes, 64 bits each, the upper bits of narrower ones zero; one of 128 bits has two rows, the
 * lower half first, and a vector one for each member. Predicates are masks of lanes. Constants are rows, too. */
#ifndef MACHINE_SIMT_DECODE_PROGRAM_H
#define MACHINE_SIMT_DECODE_PROGRAM_H

#include "base/arena.h"
#include "ptx/flow/flow.h"
#include "ptx/value/value.h"

enum { PTX_LANES = 32, PTX_ALL_LANES = -1 };

typedef struct Lanes {
    uint64_t at[PTX_LANES];
} Lanes;

typedef enum PtxArgumentKind {
    ARGUMENT_ROW,       /* register: row `slot` of the frame */
    ARGUMENT_PREDICATE, /* register: mask `slot` of the frame */
    ARGUMENT_CONSTANT,  /* row `slot` of the program's constants; of a predicate all or no lanes */
    ARGUMENT_READ_ONLY, /* special register `slot`, its part `part` */
    ARGUMENT_SYMBOL,    /* the address of variable `slot`, + offset, in the variable's own space */
    ARGUMENT_ADDRESS,   /* [member 0 + offset]; further members stand in the brackets, too */
    ARGUMENT_MEMBERS,   /* of a vector, pair or list */
    ARGUMENT_SINK,      /* _ */
    ARGUMENT_JUMP,      /* code `slot` of the same routine */
    ARGUMENT_ROUTINE,   /* function `slot` of the module */
    ARGUMENT_WORD,      /* anything else: the module's operand says it */
} PtxArgumentKind;

typedef struct PtxArgument {
    uint8_t kind; /* PtxArgumentKind */
    uint8_t bits; /* of a register or constant: 1, 8, 16, 32, 64, 128 */
    uint8_t part; /* PtxPart */
    bool negated; /* !%p */
    uint32_t slot;
    int64_t offset;
    uint32_t first, count; /* members: arguments of the program */
    uint32_t operand;      /* of the module */
} PtxArgument;

struct PtxMachine;
struct PtxGroup;
struct PtxCode;

/* What came of running an instruction. */
typedef enum PtxStep {
    PTX_STEP_NEXT,    /* the group goes on behind it */
    PTX_STEP_MOVED,   /* where its lanes go on has been said already */
    PTX_STEP_WAITS,   /* the group cannot go on: it stands before the same instruction, and `status` says why */
    PTX_STEP_FAULT,   /* machine->fault */
    PTX_STEP_UNKNOWN, /* machine->unknown: something that cannot be run */
} PtxStep;

/* `lanes`: those of the group whose guard holds; never none. */
typedef PtxStep PtxRun(struct PtxMachine *machine, struct PtxGroup *group, const struct PtxCode *code, uint32_t lanes);

typedef struct PtxCode {
    PtxRun *run;
    const void *detail; /* what its family keeps */
    uint32_t statement; /* of the module */
    uint32_t guard;     /* mask of the frame; PTX_NONE */
    bool guard_negated;
    bool visible; /* other threads may notice it, or it notices them: a memory access that is not to the thread's own, a
                     barrier, ... */
    bool blocks;  /* it may wait: lanes whose guard does not hold part from the others before it */
    bool once;    /* a wait for a phase that may give up, and is in no loop of waiting: it is no wait forever */
    bool polls;   /* a volatile load that a loop makes again until it finds something else */
    bool together; /* all lanes of a warp run it together: .aligned */
    bool skipped;  /* gear `slice`: nothing that decides anything depends on it */
    bool dead;     /* no instruction reads its result (unused.h) */
    bool data;     /* gear `slice`: it is run (an access, an arrival), but the values that it moves decide nothing */
    uint32_t first, count; /* arguments, those on top, the guard not counted */
    uint32_t meets;        /* control: code where threads that part here meet again; PTX_NONE */
    const PtxForm *form;
    const struct PtxSymbolSlot
        *within;            /* the variable of shared memory that its one address there is of (within.h); NULL */
    const uint32_t *unused; /* of a load: lanes of each warp that do not use what it gives (unused.h); NULL: all may */
} PtxCode;

/* A function: code from `begin` to `end`. */
typedef struct PtxRoutine {
    uint32_t function;    /* of the module */
    uint32_t begin, end;  /* an instruction of its flow each, and a return */
    uint32_t rows, masks; /* registers */
    uint32_t param_bytes; /* .param variables in it, arguments of its calls among them */
    uint32_t local_bytes;
    bool ready;
} PtxRoutine;

/* Where a variable lies: rows for registers, an offset in its memory for others. */
typedef struct PtxSymbolSlot {
    PtxSpace space; /* PTX_SPACE_UNKNOWN: it is a register */
    uint64_t at;
    uint64_t bytes;
    uint8_t bits;    /* of an element */
    uint8_t members; /* of a vector; 1 */
} PtxSymbolSlot;

/* The base of shared memory is 0: an offset in its block is the address, without the CTA's rank. What lies before
 * PTX_SHARED_FIRST on sm_90 is not the program's. Local memory and parameters begin at 0, too.
 *
 * Generic addresses: where shared, local, const and parameter memory begin in them. Global ones are themselves. A
 * shared address of another CTA of the cluster has its rank in bits 24 to 31 (on sm_90). */
#define PTX_WINDOW_SHARED UINT64_C(0x100000000000000)
#define PTX_WINDOW_LOCAL  UINT64_C(0x100000100000000)
#define PTX_WINDOW_CONST  UINT64_C(0x100000200000000)
#define PTX_WINDOW_PARAM  UINT64_C(0x100000300000000)
#define PTX_WINDOW_CODE   UINT64_C(0x100000400000000) /* functions, 16 bytes each */
#define PTX_WINDOW_GLOBAL UINT64_C(0x100000000)       /* variables of the module, below; and what malloc gives, above */
#define PTX_WINDOW_HEAP   UINT64_C(0x080000000000000)
#define PTX_WINDOW_SIZE   UINT64_C(0x100000000)
#define PTX_GLOBAL_END    (UINT64_C(1) << 57) /* no GPU has global memory behind it */
enum { PTX_RANK_SHIFT = 24, PTX_SHARED_FIRST = 0x400 };

enum { PTX_USED = 1, PTX_ADDRESSED = 2 }; /* named; its address is taken */

typedef struct PtxProgram {
    const PtxModule *module;
    Arena *arena;
    uint32_t entry; /* function */
    PtxCode *code;
    uint32_t code_count, code_capacity;
    PtxArgument *arguments;
    uint32_t argument_count, argument_capacity;
    Lanes *constants;
    uint32_t constant_count, constant_capacity;
    PtxRoutine *routines; /* one for each function of the module; those that the kernel cannot come to are not ready */
    PtxSymbolSlot *seats; /* one for each variable of the module */
    uint8_t **images;     /* initial values of variables in global and const memory; NULL: zeros, or none */
    uint8_t *used;        /* of each variable of the module: PTX_USED..., by the kernel or what it may call */
    uint8_t *specials;    /* of each special register of the table: which it is (special.c) */
    uint32_t parameter_bytes; /* of the kernel */
    uint64_t shared_bytes;    /* static, with what comes before them: 0x400 on sm_90 */
    uint64_t dynamic_at;      /* where dynamic shared memory begins: a variable without a size */
    uint64_t const_bytes;
    uint32_t required[3], cluster[3]; /* .reqntid, .reqnctapercluster; 0: not said */
    bool explicit_cluster;
    bool takes_memory;                     /* some code calls malloc */
    bool peeks;                            /* some code is `once` */
    uint32_t unknown_count, first_unknown; /* instructions that no family takes, and the first of these: code */
} PtxProgram;

/* Takes a kernel apart. NULL, with a sentence, if it takes more than `budget` bytes. Nothing is refused: what the
 * machine does not know is run into. */
PtxProgram *ptx_program(Arena *arena, const PtxModule *module, uint32_t entry, size_t budget, const char **problem);

/* Whether the kernel, or what it may call, uses that variable of the module, and it is in that memory. */
bool ptx_program_holds(const PtxProgram *program, uint32_t variable, PtxSpace space);

/* Arguments of an instruction: the i-th on top, a member, the one that its row gives that name (NULL: missing). */
static inline const PtxArgument *code_argument(const PtxProgram *program, const PtxCode *code, uint32_t index) {
    return &program->arguments[code->first + index];
}
static inline const PtxArgument *argument_member(const PtxProgram *program, const PtxArgument *argument,
                                                 uint32_t index) {
    return &program->arguments[argument->first + index];
}
const PtxArgument *code_named(const PtxProgram *program, const PtxCode *code, Str name);
/* The modifier of the instruction in the group of that name of its row; empty: none. Whether it has a modifier. */
Str code_modifier(const PtxCode *code, Str group);
bool code_has(const PtxCode *code, Str modifier);
/* Line of the PTX. */
uint32_t code_line(const PtxProgram *program, const PtxCode *code);

/* For people: `weir parse --print program K.ptx`. */
void ptx_program_print(const PtxProgram *program, Text *to);

#endif
