/* What the files of the interpreter share: instructions taken apart once, functions with their loops, and the state of
 * a launch. */
#ifndef TESTS_REFERENCE_PTX_INTERNAL_H
#define TESTS_REFERENCE_PTX_INTERNAL_H

#include "interpreter.h"

#include <setjmp.h>

/* ---- Forms (forms.c) ---- */

typedef enum Class { NO_TYPE, PREDICATE, BITS, UNSIGNED, SIGNED, REAL, OTHER_REAL, PAIR_UNSIGNED, PAIR_SIGNED } Class;

typedef struct Type {
    uint8_t class, bits;
} Type;

/* What an instruction does, as far as the interpreter tells it apart. */
#define LANEWISE(OP)                                                                                                 \
    OP(add)                                                                                                          \
    OP(sub)                                                                                                          \
    OP(mul)                                                                                                          \
    OP(mad)                                                                                                          \
    OP(addc)                                                                                                         \
    OP(subc)                                                                                                         \
    OP(madc)                                                                                                         \
    OP(mul24)                                                                                                        \
    OP(mad24)                                                                                                        \
    OP(sad)                                                                                                          \
    OP(div)                                                                                                          \
    OP(rem)                                                                                                          \
    OP(abs)                                                                                                          \
    OP(neg) OP(min) OP(max) OP(popc) OP(clz) OP(bfind) OP(fns) OP(brev) OP(bfe) OP(bfi) OP(szext) OP(bmsk) OP(dp4a)  \
        OP(dp2a) OP(and) OP(or) OP(xor) OP(not ) OP(cnot) OP(lop3) OP(shf) OP(shl) OP(shr) OP(prmt) OP(set) OP(setp) \
            OP(selp) OP(slct) OP(cvt) OP(fma) OP(testp) OP(copysign) OP(rcp) OP(sqrt) OP(rsqrt) OP(sin) OP(cos)      \
                OP(lg2) OP(ex2)

typedef enum Does {
#define OP(name) DOES_##name,
    LANEWISE(OP)
#undef OP
        DOES_PURE,        /* the first operand gets bits that are a function of the others */
    DOES_HAVOC_DEPENDENT, /* the first operand, if it is no address, gets bits from nowhere */
    DOES_WAIT,            /* of an mbarrier: it succeeds now and then */
    DOES_NOTHING,         /* nothing that is seen here */
    DOES_MOVE,
    DOES_CVTA,
    DOES_ISSPACEP,
    DOES_MAPA,
    DOES_RANK,
    DOES_ALLOCATE,
    DOES_LOAD,
    DOES_STORE,
    DOES_ATOM,
    DOES_SHUFFLE,
    DOES_VOTE,
    DOES_MATCH,
    DOES_ACTIVEMASK,
    DOES_REDUX,
    DOES_ELECT,
    DOES_BRANCH,
    DOES_TABLE,
    DOES_CALL,
    DOES_RETURN,
    DOES_EXIT,
    DOES_TRAP,
    DOES_SYNC,   /* bar.sync, bar.red */
    DOES_ARRIVE, /* bar.arrive */
    DOES_CLUSTER_ARRIVE,
    DOES_CLUSTER_WAIT,
    DOES_NOT_KNOWN,
} Does;

/* Modifiers that are looked at. */
#define WORDS(W)                                                                                                       \
    W(wide)                                                                                                            \
    W(hi)                                                                                                              \
    W(lo)                                                                                                              \
    W(cc)                                                                                                              \
    W(sat)                                                                                                             \
    W(ftz)                                                                                                             \
    W(shiftamt)                                                                                                        \
    W(clamp)                                                                                                           \
    W(wrap)                                                                                                            \
    W(l)                                                                                                               \
    W(r)                                                                                                               \
    W(relu)                                                                                                            \
    W(to)                                                                                                              \
    W(all) W(any) W(uni) W(ballot) W(up) W(down) W(bfly) W(idx) W(add) W(min) W(max) W(and) W(or) W(xor) W(inc) W(dec) \
        W(cas) W(exch) W(popc) W(rn) W(rz) W(rm) W(rp) W(rni) W(rzi) W(rmi) W(rpi) W(f4e) W(b4e) W(rc8) W(ecl) W(ecr)  \
            W(rc16) W(NaN) W(abs) W(xorsign) W(v2) W(v4) W(v8) W(finite) W(infinite) W(number) W(notanumber) W(normal) \
                W(subnormal) W(arrive)
enum Word {
#define W(word) W_##word,
    WORDS(W)
#undef W
};
_Static_assert(W_arrive < 64, "a bit each");

typedef enum Compare {
    COMPARE_NONE,
    COMPARE_EQ,
    COMPARE_NE,
    COMPARE_LT,
    COMPARE_LE,
    COMPARE_GT,
    COMPARE_GE,
    COMPARE_LO,
    COMPARE_LS,
    COMPARE_HI,
    COMPARE_HS,
    COMPARE_EQU,
    COMPARE_NEU,
    COMPARE_LTU,
    COMPARE_LEU,
    COMPARE_GTU,
    COMPARE_GEU,
    COMPARE_NUM,
    COMPARE_NAN,
} Compare;

typedef enum Space { GENERIC, IN_GLOBAL, IN_SHARED, IN_CLUSTER, IN_LOCAL, IN_CONST, IN_PARAM, IN_TENSOR } Space;

typedef struct Verb {
    Does does;
    Str text;
    Type types[4];
    unsigned type_count;
    uint64_t words;
    Compare compare;
    Space space;     /* of the first address */
    Space second;    /* of the second, where there are two; GENERIC */
    unsigned vector; /* 2 of .v2; 1 */
} Verb;

static inline bool has(const Verb *form, enum Word word) {
    return form->words >> word & 1;
}
void form_take_apart(Verb *form, Str text);
Type type_of_name(Str name);

/* ---- Functions (decode.c, loops.c) ---- */

typedef enum ArgKind {
    ARG_REGISTER,
    ARG_SPECIAL,
    ARG_CONSTANT,
    ARG_VARIABLE,
    ARG_FUNCTION,
    ARG_ADDRESS,
    ARG_MEMBERS, /* of a vector, a list, a pair */
    ARG_SINK,
    ARG_LABEL,
    ARG_OTHER,
} ArgKind;

typedef struct Arg {
    uint8_t kind, operand_kind;
    uint8_t part, bits;
    bool negated;
    uint32_t what;    /* slot, special register, variable, function, label's statement */
    uint64_t value;   /* constant; added to an address */
    uint32_t first;   /* members, in the function's args */
    uint32_t count;   /* ... how many. Of an address: what stands in the brackets */
    uint32_t operand; /* of the module */
} Arg;

typedef struct Instruction {
    uint32_t statement;
    const Verb *form;
    uint32_t args, arg_count; /* those on top */
    uint32_t guard;           /* arg; PTX_NONE */
    bool guard_negated;
    uint32_t block;
} Instruction;

enum { LOOPS_DEEP = 12, CALLS_DEEP = 24 };

typedef struct Block {
    uint32_t begin, end; /* instructions */
    uint32_t successors, successor_count;
    uint32_t order;             /* among all: none before it can be reached without one turn more of a common loop */
    uint32_t loops[LOOPS_DEEP]; /* the outermost first */
    uint32_t loop_count;
    uint32_t heads; /* the loop that a turn more of begins here; PTX_NONE */
} Block;

typedef struct Function {
    const PtxFunction *ptx;
    uint32_t index;
    Instruction *code;
    uint32_t count;
    Arg *args;
    uint32_t arg_count, arg_capacity;
    uint32_t *labels; /* instruction of each statement from ptx->begin on */
    Block *blocks;
    uint32_t block_count;
    uint32_t *edges;
    uint32_t slots, param_bytes, local_bytes;
    bool ready, too_deep;
} Function;

/* What is known of a variable: where it lies in its space. */
typedef struct Placed {
    uint32_t slot;  /* registers: the first */
    uint64_t at;    /* other spaces: offset in that space, or the address */
    uint32_t bytes; /* of all of it */
    uint8_t space;  /* Space; GENERIC: a register */
    uint8_t bits, vector;
} Placed;

Function *function_ready(Machine *machine, uint32_t index);
void place_variables(Machine *machine);
uint64_t odd_aligned(uint64_t at, uint64_t align);
void find_loops(Machine *machine, Function *function);
/* The operands of the module that are the labels of a brx.idx. */
void table_targets(const Machine *machine, const Function *f, const Instruction *instruction, uint32_t *first,
                   uint32_t *count);
uint32_t instruction_at(const Function *function, uint32_t statement);

/* ---- A launch ---- */

/* Registers and parameters of one call, for the lanes that made it together. */
typedef struct Frame {
    Function *function;
    uint32_t users; /* groups */
    uint64_t *registers;
    uint32_t *defined;  /* lanes, of each slot */
    uint8_t *params;    /* param_bytes for each lane */
    uint32_t local;     /* where its local variables begin */
    uint32_t allocated; /* bytes behind them, by alloca */
    uint32_t lanes;     /* that made the call */
    uint64_t number;    /* a different one for each */
} Frame;

typedef struct Standing {
    Frame *frame;
    uint32_t pc;
    uint32_t turns[LOOPS_DEEP];
} Standing;

typedef enum Waits { RUNS, AT_BARRIER, AT_CLUSTER } Waits;

typedef struct Group {
    struct Group *next;
    uint32_t lanes, depth; /* the top is standing[depth - 1] */
    Waits waits;
    uint32_t barrier; /* number of it, or the phase */
    Standing standing[CALLS_DEEP];
} Group;

enum { NAMED_BARRIERS = 16 };
typedef struct Named {
    uint32_t arrived, expected; /* expected 0: all threads */
    uint32_t ones, zeros;       /* of bar.red: how many said so */
    uint32_t last_ones, last_zeros;
} Named;

typedef struct Cta {
    uint32_t number, cluster, rank; /* rank: in the cluster */
    uint32_t at[3];
    uint32_t live; /* threads */
    Named named[NAMED_BARRIERS];
} Cta;

typedef struct Warp {
    Cta *cta;
    uint32_t number, first; /* in the grid; its first thread in the CTA */
    uint32_t launched, carry;
    bool apart;          /* a group ran while one that is behind it waited at a barrier */
    uint32_t arrived_in; /* the phase of the cluster barrier that it arrived in */
    Group *groups;
} Warp;

typedef struct Page {
    uint64_t key;
    uint8_t bytes[256];
} Page;

typedef struct Memory {
    Page **slots;
    uint32_t capacity, count;
    Page *last;
    uint64_t seed;
    Contents contents;
} Memory;

struct Machine {
    const PtxModule *module;
    Arena arena;
    Verb *forms;
    Function *functions;
    Placed *placed;
    uint32_t *owners; /* of each variable: the function, or PTX_NONE */
    uint32_t shared_bytes;
    bool together; /* some branch says that lanes go the same way (bra.uni): then waits end for a warp at once */
    Memory memory;
    /* of the launch at hand */
    const Launch *launch;
    const Watcher *watcher;
    End end;
    jmp_buf stop;
    uint64_t windows[4]; /* generic addresses of shared, local, const and param begin there */
    uint64_t frames;     /* made so far */
    Cta *ctas;           /* of the cluster at hand */
    Warp *warps;
    uint32_t cta_count, warp_count;
    uint32_t cluster_arrived, cluster_phase;
    uint32_t written[256], written_count;
};

/* What an instruction is run with. */
typedef struct Context {
    Machine *machine;
    Warp *warp;
    Group *group;
    Standing *top;
    const Instruction *instruction;
    const Verb *form;
    const Arg *args;
    uint32_t run;
} Context;

/* Stops the launch. */
_Noreturn void machine_stop(Machine *machine, Str what, uint32_t statement);
uint64_t mixed(uint64_t a, uint64_t b);

/* ---- Evaluation (integers.c, reals.c) ---- */

static inline uint64_t cut(uint64_t value, unsigned bits) {
    return bits >= 64 ? value : value & ((UINT64_C(1) << bits) - 1);
}
static inline int64_t extended(uint64_t value, unsigned bits) {
    return bits >= 64 ? (int64_t)value : (int64_t)(value << (64 - bits)) >> (64 - bits);
}
/* What a lane-wise instruction gives: two results, where it has a pair. `carry` is read and written. */
void evaluate(const Verb *form, const uint64_t in[6], unsigned inputs, bool *carry, uint64_t out[2]);
bool evaluate_real(const Verb *form, const uint64_t in[6], uint64_t out[2]);
bool compares(Compare compare, Type type, uint64_t a, uint64_t b);

/* ---- Memory (memory.c) ---- */

void memory_clear(Memory *memory, uint64_t seed, Contents contents);
void memory_free(Memory *memory);
uint64_t memory_read(Memory *memory, uint64_t address, unsigned bytes);
void memory_write(Memory *memory, uint64_t address, unsigned bytes, uint64_t value);
void memory_initialize(Machine *machine);

/* Where an address leads: a key for memory_read, or a place in parameters. */
typedef struct Location {
    Region region;
    uint64_t key;
    uint8_t *bytes; /* REGION_PARAM: there they are */
} Location;
Location location_of(Context *c, unsigned lane, Space space, uint64_t address);
uint64_t location_read(Context *c, const Location *location, unsigned bytes);
void location_write(Context *c, const Location *location, unsigned bytes, uint64_t value);
uint64_t generic_address(const Machine *machine, Space space, uint64_t address);
bool window_space(const Machine *machine, uint64_t address, Space *space);
uint64_t variable_address(const Context *c, uint32_t variable);

/* ---- Operands (operands.c) ---- */

/* The values of an operand in all lanes; the lanes in which it is defined. */
uint32_t fetch(Context *c, const Arg *arg, uint64_t values[LANES]);
uint32_t fetch_high(Context *c, const Arg *arg, uint64_t values[LANES]);
uint32_t fetch_address(Context *c, const Arg *arg, uint64_t values[LANES]);
/* Writes a register in the lanes that run; `type` says how it fills a wider one. */
void put(Context *c, const Arg *arg, const uint64_t values[LANES], uint32_t defined, Type type);
void put_high(Context *c, const Arg *arg, const uint64_t values[LANES], uint32_t defined);
static inline const Arg *members(const Context *c, const Arg *arg) {
    return c->top->frame->function->args + arg->first;
}

/* ---- Instructions by kind (lanes.c, access.c, control.c) ---- */

void run_lanewise(Context *c);
void run_pure(Context *c);
void run_havoc(Context *c);
void run_move(Context *c);
void run_addresses(Context *c);
void run_allocate(Context *c);
void run_warp_wide(Context *c);
void run_access(Context *c);
/* Where threads go on, or wait. True if the group does not simply go on behind the instruction. */
bool run_control(Context *c);
void go_on(Context *c, Group *group, uint32_t pc);
Frame *frame_new(Machine *machine, Function *function, uint32_t local, uint32_t lanes);
void frame_release(Frame *frame);
/* Opens every barrier that an agent waits at. */
void barriers_force(Machine *machine);

#endif
