/* What the files that compile a kernel share: the compiler's state, and how code is emitted. */
#ifndef MACHINE_TILE_COMPILE_PROGRAM_INTERNAL_H
#define MACHINE_TILE_COMPILE_PROGRAM_INTERNAL_H

#include "ir/op.h"
#include "machine/tile/compile/program.h"
#include "machine/tile/compile/slice.h"
#include "model/flow/partition.h"

typedef struct Pending {
    const Op *op; /* whose partitions are still to be compiled */
    uint32_t fork;
    Value **captured; /* by the regions of a warpgroup */
    uint32_t captured_count;
} Pending;

typedef struct Compiler {
    Module *module;
    Program *program;
    Verdict *verdict;
    unsigned flags;
    Slice slice;
    Slice mmas;      /* values that may be the result of an asynchronous product that is not waited for */
    Pointers *frame; /* the registers of a function's body, put into place at one call, or of a partition's */
    uint32_t next_register, loop_depth, call_depth, call_count, strand;
    uint32_t *constants; /* of the strand: pairs */
    uint32_t constant_count, constant_capacity;
    const Value *const *returned; /* where the results of the call in place go; NULL in a kernel */
    uint32_t returned_count;
    uint32_t returns[64]; /* jumps to the end of the call in place */
    uint32_t return_count;
    int task; /* the ops of this task alone; -1: all */
    uint64_t tasks;
    Pending *pending;
    uint32_t pending_count, pending_capacity;
    bool reported_size;
    bool unassigned; /* the stages and phases of arefs do not mean anything yet */
    bool waiting;    /* the compiler will make products of the tensor cores wait for themselves */
} Compiler;

enum {
    MOST_INSTRUCTIONS = 1 << 20,
    MOST_CALL_DEPTH = 32,
    MOST_CALLS = 1 << 14,
    MOST_PARTITIONS = 31, /* a CTA has at most 32 warps, and every agent one of them */
    MOST_WARPS = 64,
    MOST_WARP_THREADS = 64,
    MOST_DIVISIBILITY = 1 << 30
};

/* ---- emit.c ---- */
/* Says that the verdict is incomplete because of this op. */
void compile_cannot(Compiler *compiler, const Op *op, const char *reason);
/* The program is too large, which is said at this op, and will not be run. */
void compile_too_large(Compiler *compiler, const Op *op);
Pointers *frame_new(Compiler *compiler);
bool is_wanted(const Compiler *compiler, const Value *value);
/* The register of a value of the slice; NO_REGISTER for any other. */
uint32_t value_register(Compiler *compiler, const Value *value);
Instruction *emit_code(Compiler *compiler, Code code, const Op *op);
Instruction *emit_value(Compiler *compiler, Code code, const Op *op, uint32_t dst, uint32_t a, uint32_t aux);
uint32_t emit_list_item(Compiler *compiler, uint32_t item);
uint32_t emit_list(Compiler *compiler, Value *const *values, uint32_t count);
void emit_move(Compiler *compiler, const Op *op, uint32_t to, uint32_t from);
/* Hands values over to block arguments, all at once: a source may be the old value of another target. */
void emit_hand_over(Compiler *compiler, const Op *op, const uint32_t *to, const uint32_t *from, uint32_t count);
void emit_hand_values(Compiler *compiler, const Op *op, Value *to, uint32_t to_count, Value *const *from,
                      uint32_t from_count);
unsigned type_bits(Module *module, const Type *type);
uint32_t emit_here(const Compiler *compiler);
/* Emits a jump to be aimed later; returns its address. */
uint32_t emit_jump(Compiler *compiler, const Op *op, Code code, uint32_t condition);
void emit_aim(Compiler *compiler, uint32_t jump, uint32_t target);

/* A register that holds the same all the time. */
void emit_constant(Compiler *compiler, uint32_t dst, Word word);
/* The operands of an entry of the row. */
RegisterList emit_operands_of(Compiler *compiler, const Op *op, SlotRef entry);

/* ---- compile_control.c ---- */
/* Whether the op has the regions, blocks and ends that it is compiled by: the generic form may be written without. */
bool structure_is_sound(const Op *op);
void compile_block(Compiler *compiler, const Block *block);
void compile_region(Compiler *compiler, const Region *region);
/* False if the op does nothing to the flow of control, or only at the end of its block. */
bool compile_control(Compiler *compiler, const Op *op);

/* ---- mmas.c ---- */
/* Finds the values that asynchronous products may still be working on, and adds those that something else uses to the
 * slice. */
void mmas_find(Compiler *compiler);
/* Emits a check for each operand that such a product may be working on. */
void mmas_check(Compiler *compiler, const Op *op);

/* ---- compile_effects.c ---- */
/* Whether the emulator does anything about it. */
bool effect_runs(const Compiler *compiler, const Effect *effect);
void compile_effects(Compiler *compiler, const Op *op);
/* compile_cannot, of an op that could order what others do: when it is run, that is told. */
void compile_unknown(Compiler *compiler, const Op *op, const char *reason);
/* Adds what the op's effects depend on to the slice, and what makes a descriptor in memory. */
void effects_add(Compiler *compiler, const Op *op);
/* Of an op at which the CTAs of a cluster exchange values: that they meet. */
void compile_meeting(Compiler *compiler, const Op *op);
void compile_scratch(Compiler *compiler, const Op *op);
bool value_is_memdesc(Module *module, const Value *value);
/* Whether the stages and phases of arefs mean anything yet. */
bool arefs_are_unassigned(Module *module, const Op *root);
/* Ops say which task or partition runs them; there are no regions yet. */
bool partition_is_task(PartitionForm form);

/* ---- compile_ctas.c ---- */
/* Which CTAs of the cluster do an effect of the op, and in which it is done; false if that is not worked out. */
bool compile_reach(Compiler *compiler, const Op *op, const Effect *effect, CompiledEffect *compiled);
/* Whether the rows of a gather or scatter of threads say in which CTAs it is done. */
bool reach_needs_rows(Compiler *compiler, const Op *op, const Effect *effect);
/* Whether a view that begins in another CTA is used only by what can go there. */
bool view_may_be_elsewhere(Compiler *compiler, const Value *view);
/* Whether it writes shared memory by TMA and reports on an mbarrier. */
bool is_copy_to_shared(const Effect *effect);
/* Where copies into that view come down, one for each CTA; NULL: each in its own, not in the memory of one CTA, or
 * nothing says in whose. */
const Landing *find_landings(Compiler *compiler, const Value *view);

/* ---- compile_data.c ---- */
/* Whether the effect moves data between global memory and registers, and not through a descriptor. */
bool data_moves(const Effect *effect);
/* The effect whose result is what it finds in global memory, or whether it found what it waits for; false if the op has
 * none. */
bool data_load(Compiler *compiler, const Op *op, Effect *load);
/* What effect number `index` of the op does with registers. */
void data_compile(Compiler *compiler, const Op *op, unsigned index, CompiledEffect *compiled);

/* ---- compile_ops.c ---- */
void compile_op(Compiler *compiler, const Op *op);
void compile_pure(Compiler *compiler, const Op *op);

#endif
