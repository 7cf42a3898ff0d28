/* Carry chains: add.cc, addc, sub.cc, subc, mad.cc, madc. The carry of each lane is the frame's. */
#include "machine/simt/arith/compute.h"

typedef unsigned __int128 ComputeCarryBits128;

typedef enum ComputeCarryChain { CHAIN_ADD, CHAIN_SUB, CHAIN_MAD } ComputeCarryChain;

/* One half of a * b. */
static uint64_t half_product(const Compute *how, uint64_t a, uint64_t b) {
    unsigned width = how->type.bits;
    if (!how->high)
        return width == 32 ? (uint32_t)(a * b) : a * b;
    if (how->type.class != CLASS_SIGNED)
        return width == 32 ? a * b >> 32 : (uint64_t)((ComputeCarryBits128)a * b >> 64);
    if (width == 32)
        return (uint32_t)((uint64_t)((int64_t)(int32_t)a * (int32_t)b) >> 32);
    return (uint64_t)((ComputeCarryBits128)((__int128)(int64_t)a * (int64_t)b) >> 64);
}

/* The result, and a bit above it: the carry. Of a difference, which is a sum with ~b, it is 0 where something is
 * borrowed: programs have addc behind subc.cc, and go by that. */
static ComputeCarryBits128 chained(const Compute *how, const Lanes *const in[], unsigned lane, unsigned carry) {
    uint64_t a = in[0]->at[lane], b = in[1]->at[lane];
    if (how->mode == CHAIN_SUB)
        return (ComputeCarryBits128)a + (~b & (how->type.bits == 32 ? UINT32_MAX : UINT64_MAX)) + carry;
    if (how->mode == CHAIN_MAD)
        return (ComputeCarryBits128)half_product(how, a, b) + in[2]->at[lane] + carry;
    return (ComputeCarryBits128)a + b + carry;
}

static PtxStep run_carry(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const Compute *how = code->detail;
    PtxFrame *frame = group->frame;
    Lanes scratch[3], result;
    const Lanes *in[3];
    uint32_t unknown = how->carry_in ? frame->carry_unknown : 0, out = 0;
    uint32_t carry = how->carry_in ? frame->carry : how->mode == CHAIN_SUB ? UINT32_MAX : 0;
    unsigned width = how->type.bits;
    for (unsigned k = 0; k < how->count; k++) {
        uint32_t each;
        in[k] = compute_fetch(machine, group, &how->from[k], &scratch[k], &each);
        unknown |= each;
    }
    for (unsigned i = 0; i < PTX_LANES; i++) {
        ComputeCarryBits128 value = chained(how, in, i, carry >> i & 1);
        result.at[i] = width == 32 ? (uint32_t)value : (uint64_t)value;
        out |= (uint32_t)(value >> width & 1) << i;
    }
    ptx_put(machine, group, &how->to, 0, &result, lanes, unknown);
    if (how->carry_out) {
        frame->carry = (frame->carry & ~lanes) | (out & lanes);
        frame->carry_unknown = (frame->carry_unknown & ~lanes) | (unknown & lanes);
    }
    return PTX_STEP_NEXT;
}

static bool chain_of(Compute *how) {
    bool less = how->evaluator == PTX_EVALUATE_SUB || how->evaluator == PTX_EVALUATE_BORROW;
    how->mode = how->count == 3 ? CHAIN_MAD : less ? CHAIN_SUB : CHAIN_ADD;
    return how->count == 2 || (how->count == 3 && !less);
}

bool carry_prepare(const PtxPrepare *about, PtxCode *code, Compute *how) {
    if (!chain_of(how) || (how->type.bits != 32 && how->type.bits != 64) || how->chosen)
        return false;
    Compute *kept = ARENA_NEW(about->program->arena, Compute);
    *kept = *how;
    code->detail = kept;
    code->run = run_carry;
    return true;
}
