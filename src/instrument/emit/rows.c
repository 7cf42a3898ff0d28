/* What stmatrix stores, row by row. Lanes give the addresses of rows whose bytes lie in registers of other lanes; where
 * rows of one instruction may be at the same place, whether they are the same is told by a hash of each. It is the lane
 * that gives the address of a row which has its hash. */
#include "instrument/internal.h"

enum { MATRIX_ROWS = 8, ROW_BYTES = 16, QUARTERS = 4 };

/* Whether no two rows that one warp stores meet. */
static bool rows_are_apart(const FunctionAnalysis *analysis, uint32_t instruction, const PtxOperand *address,
                           unsigned rows) {
    uint32_t at = analysis->flow.instructions[instruction], operand = (uint32_t)(address - analysis->module->operands);
    Form form = ptx_address_form(&analysis->values, at, operand, NULL);
    const PtxBlockShape *shape = &analysis->values.shape;
    uint32_t threads = analysis->shaped ? shape->x * shape->y * shape->z : 0;
    if (!threads || form.kind != FORM_TABLE)
        return false;
    for (uint32_t warp = 0; warp + RECORD_LANES <= threads; warp += RECORD_LANES) {
        uint64_t offsets[RECORD_LANES], mask = low_ones(form.width);
        for (uint32_t i = 0; i < rows; i++)
            offsets[i] = form_offset(&analysis->values, &form, warp + i);
        for (uint32_t i = 0; i < rows; i++)
            for (uint32_t k = 0; k < i; k++)
                if (((offsets[i] - offsets[k]) & mask) < ROW_BYTES || ((offsets[k] - offsets[i]) & mask) < ROW_BYTES)
                    return false;
    }
    return true;
}

bool rows_meet(const FunctionAnalysis *analysis, uint32_t instruction, const PtxOperand *address, unsigned registers) {
    unsigned rows = registers * MATRIX_ROWS;
    return ptx_form_has(look_form(analysis, instruction)->text, STR("m8n8")) && rows <= RECORD_LANES &&
           !rows_are_apart(analysis, instruction, address, rows);
}

/* Every bit of ~lo goes to all of them (the finalizer of MurmurHash3), for hashes are added: signs of two words would
 * cancel out. */
static void write_spread(InstrumentCode *code) {
    static const uint32_t factors[] = {0x85ebca6b, 0xc2b2ae35, 0};
    static const unsigned shifts[] = {16, 13, 16};
    for (unsigned i = 0; i < 3; i++) {
        code_say(code, "shr.u32 ~word, ~lo, %u", shifts[i]);
        code_say(code, "xor.b32 ~lo, ~lo, ~word");
        if (factors[i])
            code_say(code, "mul.lo.u32 ~lo, ~lo, 0x%x", factors[i]);
    }
}

/* ~lo becomes the sum over lanes of a hash of it and of their place in a row, ~t1: of those that differ in the bits of
 * a mask of lanes alone. */
static void write_sum(InstrumentCode *code, unsigned lanes) {
    code_say(code, "mad.lo.u32 ~lo, ~t1, 0x%x, ~lo", RECORD_HASH_FACTOR);
    write_spread(code);
    for (unsigned bit = 1; bit < RECORD_LANES; bit *= 2)
        if (lanes & bit) {
            code_say(code, "shfl.sync.bfly.b32 ~word, ~lo, %u, 31, ~full", bit);
            code_say(code, "add.u32 ~lo, ~lo, ~word");
        }
}

/* Of a matrix by rows, a lane has two elements of one row; of one by columns, one of each of two rows. */
void write_rows(InstrumentCode *code, const InstrumentStep *step, const PtxOperand *elements, unsigned count) {
    bool columns = ptx_form_has(look_form(code->analysis, step->instruction)->text, STR("trans"));
    code_say(code, "mov.u32 ~t0, %%laneid");
    code_say(code, columns ? "shr.u32 ~t1, ~t0, 2" : "and.b32 ~t1, ~t0, 3");
    code_say(code, "and.b32 ~t2, ~t0, 7"); /* the row whose address it gives, and where that is summed up */
    code_say(code, columns ? "shr.u32 ~t3, ~t2, 1" : "shl.b32 ~t3, ~t2, 2");
    code_say(code, "shr.u32 ~t0, ~t0, 3"); /* ... of that matrix */
    code_say(code, "mov.b32 ~hi, 0");
    for (unsigned i = 0; i < count; i++) {
        const char *text = operand_text(code, (uint32_t)(&elements[i] - code->analysis->module->operands));
        for (unsigned half = 0; half < (columns ? 2 : 1); half++) {
            code_say(code, "mov.b32 ~lo, %s", text);
            if (columns)
                code_say(code, half ? "shr.u32 ~lo, ~lo, 16" : "and.b32 ~lo, ~lo, 0xffff");
            write_sum(code, columns ? ~(unsigned)(QUARTERS - 1) : QUARTERS - 1);
            code_say(code, "shfl.sync.idx.b32 ~lo, ~lo, ~t3, 31, ~full");
            code_say(code, "setp.eq.u32 ~p1, ~t0, %u", i);
            if (columns) {
                code_say(code, "and.b32 ~word, ~t2, 1");
                code_say(code, "setp.eq.and.u32 ~p1, ~word, %u, ~p1", half);
            }
            code_say(code, "selp.b32 ~hi, ~lo, ~hi, ~p1");
        }
    }
}
