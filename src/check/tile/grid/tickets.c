/* What depends on the order of atomics: an address or a condition that is made of what an atomic gave. Which CTA gets
 * which number is for the order to decide; six orders do not show what only one of them does.
 *
 * Where nothing else tells CTAs apart, any order is another name for them. It is not so where such a number meets the
 * program id: in one value (mixed), or as the condition of an access whose place depends on the id (guarded). Then CTAs
 * are run one after the other in many orders, so that any two of them get any two numbers; of larger grids, each CTA
 * each number. What is mixed and cannot be gone through leaves the kernel incomplete. */
#include "check/tile/grid/internal.h"

#include "ir/op.h"
#include "machine/tile/compile/slice.h"

enum { TICKET = 1, PROGRAM = 2 };

/* The op whose results are what an atomic at that instruction gave, an op's or one of assembly; NULL: there is none. */
static const Op *ticket_at(const Program *program, uint32_t pc) {
    const Instruction *instruction = &program->code[pc];
    for (uint32_t i = 0; instruction->code == CODE_EFFECTS && i < instruction->a; i++) {
        const Effect *effect = &program->effects[instruction->aux + i].effect;
        if (effect->space == SPACE_GLOBAL && effect->verb == EFFECT_UPDATE)
            return program->ops[pc];
    }
    return NULL;
}

static bool has_result(const Slice *slice, const Op *op) {
    for (uint32_t i = 0; op && i < op->result_count; i++)
        if (slice_has(slice, &op->results[i]))
            return true;
    return false;
}

/* Where values of a slice come from. */
static unsigned sources_of(const Program *program, const Slice *slice) {
    unsigned found = 0;
    uint32_t axis;
    for (uint32_t pc = 0; pc < program->code_count; pc++)
        found |= has_result(slice, ticket_at(program, pc)) ? TICKET : 0;
    for (const Op *op = program->function; op; op = op_next_in_walk(op, program->function))
        if (program_asks(program, op, &axis) == EVALUATE_PROGRAM_ID && op->result_count &&
            slice_has(slice, &op->results[0]))
            found |= PROGRAM;
    return found;
}

static unsigned sources_of_value(const Program *program, const Value *value) {
    Slice slice;
    slice_init(&slice, program->module);
    slice_add(&slice, value);
    slice_close(&slice);
    return sources_of(program, &slice);
}

/* Whether the op makes one value of a ticket and of a program id. What loops and branches hand on is one or the other.
 */
static bool op_mixes(const Program *program, const Op *op) {
    bool ticket = false, alone = false;
    if (op->region_count || op->operand_count < 2)
        return false;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        unsigned sources = sources_of_value(program, op->operands[i]);
        ticket |= sources & TICKET;
        alone |= sources == PROGRAM;
    }
    return ticket && alone;
}

static void add_conditions(Slice *slice, const Op *op, const Op *function) {
    for (op = op_parent(op); op && op != function; op = op_parent(op))
        for (uint32_t i = 0; i < op->operand_count; i++)
            slice_add(slice, op->operands[i]);
}

Tickets tickets_of(const Program *program) {
    Tickets found = TICKETS_SYMMETRY;
    for (uint32_t pc = 0; pc < program->code_count; pc++) {
        const Instruction *instruction = &program->code[pc];
        for (uint32_t i = 0; instruction->code == CODE_EFFECTS && i < instruction->a; i++) {
            const Effect *effect = &program->effects[instruction->aux + i].effect;
            Slice slice;
            if (effect->space != SPACE_GLOBAL || !effect_is_access(effect) || effect->order != ORDER_WEAK)
                continue;
            slice_init(&slice, program->module);
            slice_add_place(&slice, effect, true);
            add_conditions(&slice, program->ops[pc], program->function);
            slice_close(&slice);
            if (sources_of(program, &slice) != (TICKET | PROGRAM))
                continue;
            found = found < TICKETS_GUARDED ? TICKETS_GUARDED : found;
            for (const Op *op = program->function; op; op = op_next_in_walk(op, program->function))
                if (has_result(&slice, op) && op_mixes(program, op))
                    found = TICKETS_MIXED;
        }
    }
    for (uint32_t pc = 0; pc < program->code_count && found == TICKETS_MIXED; pc++) {
        const Op *ticket = ticket_at(program, pc);
        if (ticket && ticket->result_count && op_may_repeat(program, ticket))
            return TICKETS_ENDLESS;
    }
    return found;
}

/* ---- Orders --------------------------------------------------------------------------------------- */

static bool is_prime(uint64_t n) {
    for (uint64_t i = 2; i * i <= n; i++)
        if (n % i == 0)
            return false;
    return n > 1;
}

/* Order number `number` of `count` clusters: a * x + b modulo a prime, in which any two come to any two places, as good
 * as; of more clusters, one that begins with each of them, up and down. False: there is no more. */
bool tickets_order(uint64_t count, uint64_t number, uint64_t *order) {
    uint64_t prime = count, at = 0;
    if (count > TICKETS_PAIRS) {
        bool down = number & 1;
        for (uint64_t i = 0; i < count; i++)
            order[i] = (number / 2 + (down ? count - i : i)) % count;
        return number < 2 * count;
    }
    while (!is_prime(prime))
        prime++;
    uint64_t factor = 1 + number / prime, shift = number % prime;
    for (uint64_t i = 0; i < prime && factor < prime; i++) {
        uint64_t cluster = (factor * i + shift) % prime;
        if (cluster < count)
            order[at++] = cluster;
    }
    return factor < prime;
}
