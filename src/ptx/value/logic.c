/* Forms bit by bit: logic, and bits that are moved. */
#include "ptx/value/operation.h"

typedef struct Logic {
    unsigned table; /* of eight results, a being 4, b 2 and c 1 */
    unsigned count; /* of operands */
    unsigned width;
    FormView views[3];
} Logic;

static uint64_t logic_word(const Logic *logic, const uint64_t words[3]) {
    uint64_t result = 0;
    for (unsigned term = 0; term < 8; term++)
        if (logic->table >> term & 1)
            result |= (term & 4 ? words[0] : ~words[0]) & (term & 2 ? words[1] : ~words[1]) &
                      (term & 1 ? words[2] : ~words[2]);
    return result & form_mask(logic->width);
}

/* The result of a lane if bits that are not known are all 1 in the operands that `chosen` has, and 0 in the others. */
static uint64_t lane_word(const Logic *logic, unsigned lane, unsigned chosen) {
    uint64_t words[3] = {0, 0, 0};
    for (unsigned i = 0; i < logic->count; i++) {
        const FormView *view = &logic->views[i];
        words[i] = view->fixed[lane] | (chosen >> i & 1 ? view->vary | view->mess : 0);
    }
    return logic_word(logic, words);
}

/* What the lanes' results have in common, bit by bit. */
typedef struct LogicBits {
    uint64_t depends; /* on bits that are not known, in some lane */
    uint64_t messy;   /* on bits that differ between lanes in no known way */
    uint64_t differs; /* between lanes */
    uint64_t spread;  /* on more than one bit of the lane */
} LogicBits;

static void gather_lanes(const Logic *logic, unsigned chosen, LogicBits *bits) {
    uint64_t words[FORM_LANES], single = 0;
    for (unsigned lane = 0; lane < FORM_LANES; lane++) {
        words[lane] = lane_word(logic, lane, chosen);
        bits->differs |= words[lane] ^ words[0];
        bits->depends |= words[lane] ^ lane_word(logic, lane, 0);
        for (unsigned i = 0; i < logic->count; i++)
            if (logic->views[i].mess)
                bits->messy |= (words[lane] ^ lane_word(logic, lane, chosen ^ 1u << i)) & logic->views[i].mess;
    }
    for (unsigned bit = 1; bit < FORM_LANES; bit *= 2) {
        uint64_t wrong = 0;
        for (unsigned lane = 0; lane < FORM_LANES; lane++)
            wrong |= words[lane] ^ words[lane & bit];
        single |= ~wrong;
    }
    bits->spread |= ~single;
}

static LogicBits gather(const Logic *logic) {
    LogicBits bits = {0, 0, 0, 0};
    for (unsigned chosen = 0; chosen < 1u << logic->count; chosen++)
        gather_lanes(logic, chosen, &bits);
    return bits;
}

/* Lanes whose bits are each one bit of the lane, turned around or not by a bit that is the same for all: that is a sum
 * of so much a bit of the lane. */
static bool sums_of_bits(const Logic *logic, const LogicBits *bits, const FormView *result) {
    uint64_t turned = bits->depends & bits->differs;
    return !bits->messy && !(turned & bits->spread) && offsets_shape(result->fixed, logic->width) <= SHAPE_BITS;
}

Form form_logic(FormTables *tables, const Form *arguments, unsigned count, unsigned table) {
    Logic logic = {.table = table, .count = count, .width = arguments[0].width};
    FormSpan span = SPAN_GRID;
    unsigned assumes = 0;
    for (unsigned i = 0; i < count; i++) {
        form_view(tables, &arguments[i], &logic.views[i]);
        span = arguments[i].span > span ? (FormSpan)arguments[i].span : span;
        assumes |= arguments[i].assumes;
    }
    LogicBits bits = gather(&logic);
    FormView result;
    /* A bit that depends on what is not known is the same in all lanes if none of those bits are a mess, and lanes make
     * no difference to it. */
    result.mess = bits.messy | (bits.depends & bits.differs);
    result.vary = bits.depends & ~result.mess;
    for (unsigned lane = 0; lane < FORM_LANES; lane++)
        result.fixed[lane] = lane_word(&logic, lane, 0) & ~(result.vary | result.mess);
    Form form = form_of_view(tables, logic.width, span, assumes, &result);
    if (form.kind == FORM_ANY && sums_of_bits(&logic, &bits, &result)) {
        form.kind = FORM_BITS;
        form.span = (uint8_t)span;
    }
    return form;
}

/* ---- Side by side ------------------------------------------------------------------------------------------ */

static void shift_view(FormView *view, unsigned left, unsigned right, unsigned width) {
    uint64_t mask = form_mask(width);
    view->vary = view->vary << left >> right & mask;
    view->mess = view->mess << left >> right & mask;
    for (unsigned lane = 0; lane < FORM_LANES; lane++)
        view->fixed[lane] = view->fixed[lane] << left >> right & mask;
}

Form form_pack(FormTables *tables, const Form *parts, unsigned count, unsigned width) {
    if (width > 64)
        return form_pure(parts, count, width);
    FormView whole = {0}, view;
    FormSpan span = SPAN_GRID;
    unsigned assumes = 0, at = 0;
    for (unsigned i = 0; i < count && at < width; at += parts[i++].width) {
        if (parts[i].kind == FORM_NEVER)
            return (Form){.kind = FORM_NEVER, .width = (uint8_t)width};
        form_view(tables, &parts[i], &view);
        shift_view(&view, at, 0, width);
        whole.vary |= view.vary;
        whole.mess |= view.mess;
        for (unsigned lane = 0; lane < FORM_LANES; lane++)
            whole.fixed[lane] |= view.fixed[lane];
        span = parts[i].span > span ? (FormSpan)parts[i].span : span;
        assumes |= parts[i].assumes;
    }
    return form_of_view(tables, width, span, assumes, &whole);
}

Form form_part(FormTables *tables, const Form *whole, unsigned shift, unsigned width) {
    if (whole->width > 64 || shift >= 64)
        return form_pure(whole, 1, width);
    bool assumed = false;
    if (!shift || whole->kind == FORM_NEVER)
        return form_extend(tables, whole, width, false, &assumed);
    FormView view;
    form_view(tables, whole, &view);
    shift_view(&view, 0, shift, width);
    return form_of_view(tables, width, (FormSpan)whole->span, whole->assumes, &view);
}

/* ---- Choices ------------------------------------------------------------------------------------------------- */

/* A predicate that is one bit of the lane, or its opposite. */
static bool is_lane_bit(const FormTables *tables, const Form *predicate) {
    const uint64_t *offsets = form_offsets(tables, predicate->table);
    for (unsigned bit = 1; bit < FORM_LANES; bit *= 2) {
        bool only = true;
        for (unsigned lane = 0; lane < FORM_LANES; lane++)
            only = only && offsets[lane] == offsets[lane & bit];
        if (only)
            return true;
    }
    return false;
}

Form form_select(FormTables *tables, const Form *chooser, const Form *a, const Form *b) {
    uint64_t value;
    if (chooser->kind == FORM_NEVER || a->kind == FORM_NEVER || b->kind == FORM_NEVER)
        return (Form){.kind = FORM_NEVER, .width = a->width};
    if (form_constant(chooser, &value))
        return value ? *a : *b;
    bool uniform = form_is_uniform(chooser);
    Form result = form_join(tables, a, b, uniform ? (FormSpan)chooser->span : SPAN_NONE);
    bool bit = chooser->kind == FORM_TABLE && is_lane_bit(tables, chooser);
    if (!uniform && result.kind == FORM_ANY && bit && form_is_uniform(a) && form_is_uniform(b)) {
        result.kind = FORM_BITS; /* b + bit * (a - b) */
        result.span = a->span > b->span ? a->span : b->span;
        result.span = chooser->span > result.span ? chooser->span : result.span;
    }
    result.assumes |= chooser->assumes;
    return result;
}
