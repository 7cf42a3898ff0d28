/* Numbers that the hardware does not take: of barriers, counts, bytes, columns, tensor maps. */
#include "check/lint/ptx/internal.h"

#include <inttypes.h>

static const int64_t most_pending = (1 << 20) - 1, most_bulk = (1 << 20) - 16;

/* ---- Barriers ------------------------------------------------------------------------------------- */

static void look_at_named(PtxLint *lint, const Act *act) {
    int64_t id, threads;
    if (number_of(lint, act->on, &id) && (id < 0 || id > 15))
        ptx_find(lint, RULE_NAMED_ID, act->statement, "barrier %" PRId64 " does not exist: a CTA has barriers 0 to 15",
                 id);
    if (!number_of(lint, act->count, &threads))
        return;
    int64_t most = lint->header.most_threads ? lint->header.most_threads : 1024;
    if (threads <= 0 || threads % 32)
        ptx_find(lint, RULE_NAMED_THREADS, act->statement,
                 "the barrier is for %" PRId64 " threads, which is not a positive multiple of 32", threads);
    else if (threads > most)
        ptx_find(lint, RULE_NAMED_THREADS, act->statement,
                 "the barrier is for %" PRId64 " threads, and the CTA has at most %" PRId64, threads, most);
}

static void look_at_pending(PtxLint *lint, const Act *act) {
    int64_t count;
    if (act->effect->effect.done != DONE_NOW || !number_of(lint, act->count, &count))
        return;
    if (count < 1 || count > most_pending)
        ptx_find(lint, RULE_MBARRIER_COUNT, act->statement, "the count is %" PRId64 "; it must be from 1 to %" PRId64,
                 count, most_pending);
}

static void look_at_bytes(PtxLint *lint, const Act *act) {
    int64_t bytes;
    if (number_of(lint, act->count, &bytes) && (bytes < 0 || bytes > most_pending))
        ptx_find(lint, RULE_MBARRIER_BYTES, act->statement,
                 "%" PRId64 " bytes at once are more than an mbarrier can count: at most %" PRId64, bytes,
                 most_pending);
}

/* ---- Copies --------------------------------------------------------------------------------------- */

static void look_at_size(PtxLint *lint, const Act *act) {
    int64_t bytes;
    if (!number_of(lint, act->count, &bytes))
        return;
    Point point = point_of(lint, act->on);
    uint64_t room = point.kind == POINT_VARIABLE ? variable_bytes(lint->module, point.id) : 0;
    if (bytes % 16)
        ptx_find(lint, RULE_TMA_BULK_SIZE, act->statement, "the copy is %" PRId64 " bytes, not a multiple of 16",
                 bytes);
    else if (bytes < 0 || bytes > most_bulk)
        ptx_find(lint, RULE_TMA_BULK_RANGE, act->statement, "the copy is %" PRId64 " bytes; it can be at most %" PRId64,
                 bytes, most_bulk);
    else if (room && (point.offset < 0 || (uint64_t)(point.offset + bytes) > room))
        ptx_find(lint, RULE_TMA_BULK_RANGE, act->statement,
                 "the copy of %" PRId64 " bytes starts at byte %" PRId64 " of %.*s, which has %" PRIu64, bytes,
                 point.offset, STR_ARG(ptx_name(lint->module, lint->module->variables[point.id].name)), room);
}

/* The coordinates of a tile are a vector in the address of its map. */
static void look_at_coordinates(PtxLint *lint, const Act *act) {
    if (act->on == PTX_NONE || lint->module->operands[act->on].kind != PTX_ADDRESS)
        return;
    const PtxOperand *address = &lint->module->operands[act->on];
    for (uint32_t i = 1; i <= address->a; i += ptx_extent(address + i)) {
        if (address[i].kind != PTX_VECTOR)
            continue;
        for (uint32_t k = i + 1; k <= i + address[i].a; k += ptx_extent(address + k)) {
            int64_t at;
            if (number_of(lint, act->on + k, &at) && at < 0)
                ptx_find(lint, RULE_TMA_NEGATIVE_STORE, act->statement,
                         "the store starts at coordinate %" PRId64 ", before the tensor", at);
        }
    }
}

static void look_at_mask(PtxLint *lint, const Act *act) {
    const PtxStatement *statement = &lint->module->statements[act->statement];
    int64_t mask;
    if (!act->effect->effect.multicast ||
        !number_of(lint, operand_named(lint->module, statement, act->effect->ctas), &mask))
        return;
    mask &= 0xffff;
    uint32_t ctas = lint->header.ctas;
    if (!mask)
        ptx_find(lint, RULE_TMA_MULTICAST, act->statement, "the mask of the multicast names no CTA");
    else if (ctas && ctas < 16 && mask >> ctas)
        ptx_find(lint, RULE_TMA_MULTICAST, act->statement,
                 "the mask of the multicast, 0x%" PRIx64 ", names CTAs that a cluster of %u does not have", mask, ctas);
}

static void look_at_access(PtxLint *lint, const Act *act) {
    const PtxEffect *effect = act->effect;
    if (effect->effect.helper != HELPER_TMA)
        return;
    if (effect->count.size)
        look_at_size(lint, act);
    if (effect->effect.on_descriptor && effect->effect.verb != EFFECT_READ)
        look_at_coordinates(lint, act);
    look_at_mask(lint, act);
}

/* ---- Fields of tensor maps ------------------------------------------------------------------------ */

/* A field that is given as a number; `index`: the operand that has it, the address being the first. */
typedef struct MapField {
    Str modifier;
    unsigned index;
    int64_t least, most;
    RuleId rule;
    const char *what;
} MapField;

static void look_at_map(PtxLint *lint, const Act *act) {
    static const MapField fields[] = {
        {STR("rank"), 1, 0, 4, RULE_TMA_RANK, "the rank, less one,"},
        {STR("box_dim"), 2, 1, 256, RULE_TMA_BOX_SIZE, "the box dimension"},
        {STR("element_stride"), 2, 1, 8, RULE_TMA_ELEMENT_STRIDE, "the element stride"},
    };
    Str form = ptx_form(lint, act->statement)->text;
    if (!ptx_form_has(form, STR("b1024")))
        return;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const MapField *field = &fields[i];
        int64_t value;
        uint32_t operand = operand_at(lint->module, &lint->module->statements[act->statement], field->index);
        if (ptx_form_has(form, field->modifier) && number_of(lint, operand, &value) &&
            (value < field->least || value > field->most))
            ptx_say(ptx_find(lint, field->rule, act->statement,
                             "%s is %" PRId64 "; it must be from %" PRId64 " to %" PRId64, field->what, value,
                             field->least, field->most),
                    NULL, "Give the field a value in this range.");
    }
}

/* ---- Columns of tensor memory ---------------------------------------------------------------------- */

static void look_at_columns(PtxLint *lint, const Act *act) {
    int64_t columns;
    if (act->effect->effect.space != SPACE_TENSOR || !number_of(lint, act->count, &columns))
        return;
    if (columns < 32 || columns > 512 || (columns & (columns - 1)))
        ptx_find(lint, RULE_TMEM_SIZE, act->statement, "%" PRId64 " columns: the count must be 32, 64, 128, 256 or 512",
                 columns);
}

/* ---- Registers ------------------------------------------------------------------------------------ */

static void look_at_registers(PtxLint *lint, const Act *act) {
    if (lint->module->functions[lint->function].entry && !ptx_first_registers(lint->module, lint->function))
        ptx_find(lint, RULE_REGISTERS_IGNORED, act->statement,
                 "ptxas ignores setmaxnreg here: the kernel does not say how many registers its threads begin with");
}

void ptx_numbers(PtxLint *lint) {
    static void (*const looks[EFFECT_VERBS])(PtxLint *, const Act *) = {
        [EFFECT_READ] = look_at_access,         [EFFECT_WRITE] = look_at_access,
        [EFFECT_NAMED_SYNC] = look_at_named,    [EFFECT_NAMED_ARRIVE] = look_at_named,
        [EFFECT_INIT] = look_at_pending,        [EFFECT_ARRIVE] = look_at_pending,
        [EFFECT_EXPECT] = look_at_bytes,        [EFFECT_EXPECT_BYTES] = look_at_bytes,
        [EFFECT_ALLOCATE] = look_at_columns,    [EFFECT_FREE] = look_at_columns,
        [EFFECT_REGISTERS] = look_at_registers,
    };
    for (uint32_t i = 0; i < lint->act_count; i++) {
        const Act *act = &lint->acts[i];
        EffectVerb verb = act->effect->effect.verb;
        if (looks[verb])
            looks[verb](lint, act);
        if (verb == EFFECT_UPDATE) {
            look_at_access(lint, act);
            look_at_map(lint, act);
        }
    }
}
