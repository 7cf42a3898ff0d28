/* The registers of an instruction that say what it does, and how their values differ between the lanes of a warp. */
#include "instrument/internal.h"

/* Whether what it takes from or gives to a register is data: what is moved, and not what decides where. */
static bool is_data(const FunctionAnalysis *analysis, const PtxStatement *statement, const PtxEffect *effects,
                    unsigned count, const PtxOperand *operand) {
    for (unsigned i = 0; i < count; i++) {
        Str names[] = {effects[i].value, effects[i].compare, effects[i].gives};
        for (unsigned k = 0; k < 3; k++)
            if (names[k].size && ptx_effect_operand(analysis->module, statement, names[k]) == operand)
                return true;
        if (effects[i].effect.verb == EFFECT_WARP_SYNC && effects[i].effect.relaxed &&
            ptx_effect_operand(analysis->module, statement, effects[i].on) != operand)
            return true; /* lanes hand it to each other */
    }
    return ptx_effect_operand(analysis->module, statement, STR("policy")) == operand ||
           ptx_effect_operand(analysis->module, statement, STR("timeout")) == operand;
}

/* Bytes of the access whose address that is; 0: it is none, or they are not known. */
static int64_t bytes_at(const FunctionAnalysis *analysis, const PtxStatement *statement, const PtxEffect *effects,
                        unsigned count, const PtxOperand *address) {
    for (unsigned i = 0; i < count; i++)
        if (effect_is_access(&effects[i].effect) && effects[i].on.size &&
            ptx_effect_operand(analysis->module, statement, effects[i].on) == address)
            return effects[i].effect.count > 0 ? effects[i].effect.count : 0;
    return 0;
}

typedef struct Gather {
    const FunctionAnalysis *analysis;
    uint32_t instruction, block;
    Site *site;
    Arena *arena;
    bool failed; /* there are too many */
} Gather;

/* ---- Shapes ------------------------------------------------------------------------------------------------ */

/* Whether lanes that come there together have what the form says. Where all of the warp do, that is what forms are
 * about; else lanes may be in different turns of a loop, and only what is made outside of loops is sure. */
static bool holds(const FunctionAnalysis *analysis, uint32_t block, uint32_t operand, const Form *form) {
    uint32_t value = flow_value(&analysis->flow, operand);
    if (!look_granted(analysis, form) || value == PTX_NONE)
        return false;
    if (!look_together(analysis, block) && analysis->flow.blocks[analysis->flow.values[value].block].loop != PTX_NONE)
        return false;
    return analysis->shaped || analysis->rows ||
           (form_is_uniform(analysis->values.tables, form) && form_span(form) <= SPAN_CTA);
}

/* A value of which one bit is not known: as sizes of copies that some lanes do not make, which are 0 there. */
static bool shape_bit(const Gather *g, SitePart *part, const Form *form) {
    uint32_t unknown = (uint32_t) ~(form->zeros | form->ones);
    if (form->kind != FORM_ANY || form->width != 32 || part->bits != 32 || !unknown || unknown & (unknown - 1) ||
        g->site->map || !look_granted(g->analysis, form) || !look_together(g->analysis, g->block) ||
        flow_value(&g->analysis->flow, part->operand) == PTX_NONE)
        return false;
    part->shape = PART_BIT;
    part->stride = unknown;
    part->least = (uint32_t)form->ones;
    part->proven = true;
    return true;
}

static void shape_part(const Gather *g, SitePart *part, int64_t guess) {
    const FunctionAnalysis *analysis = g->analysis;
    Form form = ptx_operand_form(&analysis->values, part->operand);
    uint64_t stride;
    part->proven = holds(analysis, g->block, part->operand, &form);
    if (form_is_uniform(analysis->values.tables, &form)) {
        part->shape = PART_UNIFORM;
        return;
    }
    part->shape = PART_STRIDE;
    part->stride = guess;
    if (part->proven && (form.kind == FORM_AFFINE || form.kind == FORM_BITS) && form.width == part->bits &&
        look_together(analysis, g->block)) {
        part->shape = PART_CORNERS;
        return;
    }
    if (shape_bit(g, part, &form))
        return;
    part->proven &= form.kind == FORM_TABLE && form.width == part->bits; /* narrower ones wrap elsewhere */
    if (form.width == part->bits && form_stride(&analysis->values, &form, &stride)) {
        unsigned unused = 64 - part->bits;
        part->stride = (int64_t)(stride << unused) >> unused;
        return;
    }
    if (!part->proven)
        return;
    part->shape = PART_TABLE;
    part->stride = 0;
    part->threads = form_threads(analysis->values.tables);
    const uint64_t *offsets = form_offsets(analysis->values.tables, form.table);
    uint64_t *kept = ARENA_ARRAY(g->arena, uint64_t, part->threads);
    memcpy(kept, offsets, part->threads * sizeof *offsets);
    part->offsets = kept;
}

/* ---- Finding them ---------------------------------------------------------------------------------------- */

static void add_part(Gather *g, const PtxOperand *operand, bool base, bool named, int64_t guess) {
    const PtxModule *module = g->analysis->module;
    if (operand->kind != PTX_REGISTER)
        return;
    uint32_t index = (uint32_t)(operand - module->operands);
    unsigned width = ptx_operand_form(&g->analysis->values, index).width;
    if (g->site->part_count == SITE_PARTS || width > 64) {
        g->failed = true;
        return;
    }
    SitePart *part = &g->site->parts[g->site->part_count++];
    *part = (SitePart){.operand = index, .bits = width > 32 ? 64 : 32, .generic = base && width == 64 && !named};
    shape_part(g, part, guess);
}

/* The register of [r + 4], and those of the coordinates in the brackets. */
static void add_address(Gather *g, const PtxOperand *address, unsigned index, int64_t guess) {
    Str form = look_form(g->analysis, g->instruction)->text;
    bool named = ptx_space_of_form(form, index) != PTX_SPACE_UNKNOWN;
    for (uint32_t i = 1; i <= address->a; i++)
        add_part(g, &address[i], i == 1, named, i == 1 ? guess : 0);
}

bool gather_parts(const FunctionAnalysis *analysis, uint32_t instruction, uint32_t block, const PtxEffect *effects,
                  unsigned count, Site *site, Arena *arena) {
    const PtxStatement *statement = look_statement(analysis, instruction);
    const PtxForm *form = look_form(analysis, instruction);
    Gather g = {analysis, instruction, block, site, arena, false};
    uint32_t operand_count, place = 0, addresses = 0;
    const PtxOperand *operands = ptx_operands(analysis->module, statement, &operand_count);
    const PtxOperand *offsets = ptx_effect_operand(analysis->module, statement, STR("offsets"));
    for (uint32_t i = 0; i < operand_count; i += ptx_extent(&operands[i]), place++) {
        const PtxOperand *operand = &operands[i];
        bool written = place < 32 && (form->writes >> place & 1);
        if (operand->kind == PTX_ADDRESS)
            add_address(&g, operand, addresses++, bytes_at(analysis, statement, effects, count, operand));
        else if (operand == offsets && operand->kind == PTX_VECTOR)
            for (uint32_t k = 1; k <= operand->a; k++)
                add_part(&g, &operand[k], false, true, 0);
        else if (operand->kind == PTX_REGISTER && !site->tests && !written &&
                 !is_data(analysis, statement, effects, count, operand)) {
            bool predicate =
                ptx_operand_form(&analysis->values, (uint32_t)(operand - analysis->module->operands)).width == 1;
            if (!predicate || !form->writes)
                add_part(&g, operand, false, true, 0);
        }
    }
    return !g.failed;
}
