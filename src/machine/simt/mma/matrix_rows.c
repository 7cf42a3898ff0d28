/* ldmatrix and stmatrix: matrices in shared memory whose rows the lanes give the addresses of. Lanes 0 to 7 give those
 * of the first matrix, 8 to 15 of the second, and so on; a row is 16 bytes, and the lane that gave its address reads or
 * writes it. What a lane has in its registers comes from the rows of others. */
#include "machine/simt/core/internal.h"
#include "machine/simt/mma/matrix_fragments.h"

enum { ROW_BYTES = 16, MOST_REGISTERS = 4 };

typedef struct MatrixRowRows {
    PtxSpace space;
    uint32_t from;     /* lanes that give an address */
    uint8_t registers; /* of each lane */
    uint8_t matrix;    /* rows of one matrix: 8 or 16 */
    uint8_t element;   /* bytes */
    bool stores, trans;
    /* Elements of 4 or 6 bits, a byte each in registers. Which bits of the byte they have the PTX ISA only draws:
     * what is loaded is not known. */
    bool packed;
    uint8_t address, data; /* operands */
} MatrixRowRows;

/* Which byte of which lane's row is byte `byte` of register r of a lane. */
static void place_of(const MatrixRowRows *rows, unsigned lane, unsigned r, unsigned byte, unsigned *row, unsigned *at) {
    if (rows->element == 2) {
        unsigned element = (lane & 3) * 2 + byte / 2, line = lane >> 2;
        *row = 8 * r + (rows->trans ? element : line);
        *at = 2 * (rows->trans ? line : element) + byte % 2;
        return;
    }
    unsigned line = lane >> 2, quarter = lane & 3;
    if (rows->stores) { /* 16 x 8, column by column */
        *row = 8 * r + 2 * quarter + byte % 2;
        *at = line + 8 * (byte / 2);
    } else if (rows->matrix == 16) {
        *row = 16 * (r / 2) + 4 * quarter + byte;
        *at = line + 8 * (r % 2);
    } else {
        *row = 8 * r + line;
        *at = 4 * quarter + byte;
    }
}

static void report(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes,
                   const PtxLocation *locations, uint32_t changes) {
    const MatrixRowRows *rows = code->detail;
    PtxEvent event = {.kind = PTX_EVENT_ACCESS,
                      .code = code,
                      .warp = group->warp,
                      .lanes = lanes,
                      .locations = locations,
                      .location_count = PTX_LANES,
                      .changes = changes,
                      .access = {.kind = rows->stores ? KIND_WRITE : KIND_READ,
                                 .proxy = PROXY_GENERIC,
                                 .order = ORDER_WEAK,
                                 .element = rows->element,
                                 .bytes = ROW_BYTES,
                                 .used = UINT32_MAX}};
    ptx_emit(machine, &event);
}

/* A register whose bytes are all known, of elements of 16 bits. */
static void take_halves(const MatrixRowRows *rows, const uint8_t bytes[PTX_LANES][ROW_BYTES], unsigned r,
                        Lanes *values) {
    uint16_t halves[8][ROW_BYTES / 2];
    uint32_t words[PTX_LANES];
    memcpy(halves, bytes[8 * r], sizeof halves);
    memcpy(words, halves, sizeof words);
    for (unsigned lane = 0; lane < PTX_LANES; ++lane)
        values->at[lane] =
            rows->trans ? halves[(lane & 3) * 2][lane >> 2] | (uint32_t)halves[(lane & 3) * 2 + 1][lane >> 2] << 16
                        : words[lane];
}

static void load_rows(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t given, uint32_t lanes,
                      const PtxLocation *locations) {
    const MatrixRowRows *rows = code->detail;
    uint8_t bytes[PTX_LANES][ROW_BYTES] = {{0}}, states[PTX_LANES][ROW_BYTES];
    bool known = given == rows->from && rows->element == 2;
    memset(states, BYTE_UNKNOWN, sizeof states);
    for (uint32_t left = given; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        if (known && load_known(locations[lane], ROW_BYTES, bytes[lane])) {
            memset(states[lane], BYTE_KNOWN, ROW_BYTES);
            continue;
        }
        known = false;
        ptx_load_bytes(machine, locations[lane], ROW_BYTES, bytes[lane], states[lane]);
        if (rows->packed)
            memset(states[lane], BYTE_UNKNOWN, ROW_BYTES);
    }
    const PtxArgument *d = code_argument(machine->program, code, rows->data);
    for (unsigned r = 0; r < rows->registers; ++r) {
        Lanes values = {0};
        uint32_t unknown = 0;
        if (known)
            take_halves(rows, bytes, r, &values);
        for (unsigned lane = known ? PTX_LANES : 0; lane < PTX_LANES; ++lane)
            for (unsigned byte = 0; byte < 4; ++byte) {
                unsigned row, at;
                place_of(rows, lane, r, byte, &row, &at);
                values.at[lane] |= (uint64_t)bytes[row][at] << (8 * byte);
                unknown |= (uint32_t)(states[row][at] != BYTE_KNOWN) << lane;
            }
        ptx_put(machine, group, matrix_register(machine->program, d, r), 0, &values, lanes, unknown);
    }
}

static void store_rows(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t given, uint32_t lanes,
                       const PtxLocation *locations) {
    const MatrixRowRows *rows = code->detail;
    uint8_t bytes[PTX_LANES][ROW_BYTES] = {{0}}, states[PTX_LANES][ROW_BYTES];
    Lanes scratch[MOST_REGISTERS];
    const Lanes *registers[MOST_REGISTERS];
    uint32_t unknown[MOST_REGISTERS];
    memset(states, BYTE_UNKNOWN, sizeof states);
    const PtxArgument *data = code_argument(machine->program, code, rows->data);
    uint32_t count = matrix_fetch(machine, group, data, MOST_REGISTERS, scratch, registers, unknown);
    for (unsigned r = 0; r < count; ++r)
        for (unsigned lane = 0; lane < PTX_LANES; ++lane)
            for (unsigned byte = 0; byte < 4; ++byte) {
                unsigned row, at;
                place_of(rows, lane, r, byte, &row, &at);
                bytes[row][at] = (uint8_t)(registers[r]->at[lane] >> (8 * byte));
                bool known = matrix_computes(machine, code) && !((unknown[r] | ~lanes) >> lane & 1);
                states[row][at] = known ? BYTE_KNOWN : BYTE_UNKNOWN;
            }
    uint32_t open = 0; /* rows of which something is not known */
    for (unsigned lane = 0; lane < PTX_LANES; ++lane)
        open |= (uint32_t)(memchr(states[lane], BYTE_UNKNOWN, ROW_BYTES) != NULL) << lane;
    if (open & given)
        ptx_note_unknown(machine, code);
    report(machine, group, code, given, locations,
           memory_changes(machine, code, given, open, locations, ROW_BYTES, bytes[0], sizeof bytes[0]));
    for (uint32_t left = given; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        ptx_store_bytes(machine, locations[lane], ROW_BYTES, bytes[lane], states[lane]);
    }
}

static PtxStep run_rows(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const MatrixRowRows *rows = code->detail;
    PtxStep step;
    if (!runs_together(machine, group, code, lanes, &step))
        return step;
    Lanes scratch;
    uint32_t unknown = 0, given = rows->from & lanes;
    const PtxArgument *address = code_argument(machine->program, code, rows->address);
    const Lanes *addresses = ptx_fetch_address(machine, group, address, &scratch, &unknown);
    PtxLocation locations[PTX_LANES] = {{0}};
    if (!ptx_resolve(machine, group, code, rows->space, addresses, unknown, ROW_BYTES, ROW_BYTES, &given, locations))
        return PTX_STEP_FAULT;
    if (!rows->stores)
        report(machine, group, code, given, locations, 0);
    if (rows->stores)
        store_rows(machine, group, code, given, lanes, locations);
    else if (matrix_computes(machine, code))
        load_rows(machine, group, code, given, lanes, locations);
    else
        matrix_forget(machine, group, code_argument(machine->program, code, rows->data), lanes);
    return PTX_STEP_NEXT;
}

bool rows_prepare(const PtxPrepare *about, PtxCode *code) {
    if (about->evaluator != PTX_EVALUATE_ROWS || code->count != 2)
        return false;
    const PtxEffect *store = effect_with(about, EFFECT_WRITE);
    unsigned times = code_has(code, STR("x4")) ? 4 : code_has(code, STR("x2")) ? 2 : 1;
    MatrixRowRows rows = {.space = space_of(code),
                          .stores = store != NULL,
                          .trans = code_has(code, STR("trans")),
                          .element = code_has(code, STR("b16")) ? 2 : 1,
                          .matrix = code_has(code, STR("m16n16")) ? 16 : 8,
                          .packed = code_has(code, STR("b8x16")),
                          .address = store ? 0 : 1,
                          .data = store ? 1 : 0};
    unsigned lines = times * rows.matrix;
    rows.registers = (uint8_t)(times * (rows.matrix == 16 ? 2 : 1));
    rows.from = lines >= PTX_LANES ? UINT32_MAX : (UINT32_C(1) << lines) - 1;
    const PtxArgument *data = code_argument(about->program, code, rows.data);
    if (lines > PTX_LANES || matrix_register_count(data) != rows.registers)
        return false;
    return take_code(about, code, run_rows, &rows, sizeof rows);
}
