/* Forms bit by bit: logic, and bits that are moved. */
#include "ptx/value/operation.h"

typedef struct Logic {
    unsigned table; /* of eight results, a being 4, b 2 and c 1 */
    unsigned count; /* of operands */
    unsigned width, threads;
    unsigned choices; /* of bits that are not known */
    FormView views[3];
} Logic;

static uint64_t logic_word(const Logic *logic, const uint64_t words[3]) {
    uint64_t result = 0;
    switch (logic->table) { /* the most frequent */
    case LOGIC_AND:
        return words[0] & words[1];
    case LOGIC_OR:
        return words[0] | words[1];
    case LOGIC_XOR:
        return words[0] ^ words[1];
    }
    for (unsigned term = 0; term < 8; term++)
        if (logic->table >> term & 1)
            result |= (term & 4 ? words[0] : ~words[0]) & (term & 2 ? words[1] : ~words[1]) &
                      (term & 1 ? words[2] : ~words[2]);
    return result & low_ones(logic->width);
}

/* The result of a thread if bits that are not known are all 1 in the operands that `chosen` has, and 0 in the others.
 */
static uint64_t thread_word(const Logic *logic, unsigned thread, unsigned chosen) {
    uint64_t words[3] = {0, 0, 0};
    for (unsigned i = 0; i < logic->count; i++) {
        const FormView *view = &logic->views[i];
        words[i] = view_fixed(view, thread) | (chosen >> i & 1 ? view->vary | view->mess : 0);
    }
    return logic_word(logic, words);
}

/* What the threads' results have in common, bit by bit. */
typedef struct LogicBits {
    uint64_t depends; /* on bits that are not known, in some thread */
    uint64_t messy;   /* on bits that differ between lanes in no known way */
    uint64_t differs; /* between the lanes of a warp */
    uint64_t apart;   /* between warps */
} LogicBits;

enum { MOST_CHOICES = 8 };

/* Of a thread, whose warp's first thread has the results `first`, and the CTA's `zeroth`. */
static void gather_thread(const Logic *logic, unsigned thread, const uint64_t first[MOST_CHOICES],
                          const uint64_t zeroth[MOST_CHOICES], LogicBits *bits) {
    uint64_t words[MOST_CHOICES];
    for (unsigned chosen = 0; chosen < logic->choices; chosen++) {
        words[chosen] = thread_word(logic, thread, chosen);
        bits->differs |= words[chosen] ^ first[chosen];
        bits->apart |= words[chosen] ^ zeroth[chosen];
        bits->depends |= words[chosen] ^ words[0];
    }
    for (unsigned i = 0; i < logic->count; i++)
        for (unsigned chosen = 0; chosen < logic->choices && logic->views[i].mess; chosen++)
            bits->messy |= (words[chosen] ^ words[chosen ^ 1u << i]) & logic->views[i].mess;
}

static LogicBits gather(const Logic *logic) {
    LogicBits bits = {0, 0, 0, 0};
    uint64_t first[MOST_CHOICES], zeroth[MOST_CHOICES];
    for (unsigned i = 0; i < logic->threads; i++) {
        for (unsigned chosen = 0; i % FORM_LANES == 0 && chosen < logic->choices; chosen++) {
            first[chosen] = thread_word(logic, i, chosen);
            zeroth[chosen] = i ? zeroth[chosen] : first[chosen];
        }
        gather_thread(logic, i, first, zeroth, &bits);
    }
    return bits;
}

/* Bits that are told by one bit of the lane. */
static uint64_t reported_by_one(const uint64_t words[FORM_LANES]) {
    uint64_t reported = 0;
    for (unsigned bit = 1; bit < FORM_LANES; bit *= 2) {
        uint64_t wrong = 0;
        for (unsigned lane = 0; lane < FORM_LANES; lane++)
            wrong |= words[lane] ^ words[lane & bit];
        reported |= ~wrong;
    }
    return reported;
}

/* Bits that, in some warp, are not. */
static uint64_t reported_by_more(const Logic *logic) {
    uint64_t more = 0, words[FORM_LANES];
    for (unsigned first = 0; first < logic->threads; first += FORM_LANES)
        for (unsigned chosen = 0; chosen < logic->choices; chosen++) {
            for (unsigned lane = 0; lane < FORM_LANES; lane++)
                words[lane] = thread_word(logic, first + lane, chosen);
            more |= ~reported_by_one(words);
        }
    return more;
}

/* Lanes whose bits are each one bit of the lane, turned around or not by a bit that is the same for all: that is a sum
 * of so much a bit of the lane. */
static bool sums_of_bits(const FormTables *tables, const Logic *logic, const LogicBits *bits, const FormView *result) {
    uint64_t turned = bits->depends & bits->differs;
    if (bits->messy || logic->threads == 1)
        return !bits->messy;
    return !(turned & reported_by_more(logic)) && offsets_shape(tables, result->fixed, logic->width) <= SHAPE_BITS;
}

static Form logic_result(FormTables *tables, const Logic *logic, FormSpan span, unsigned assumes) {
    LogicBits bits = gather(logic);
    FormView result;
    /* A bit that depends on what is not known is the same in all lanes if none of those bits are a mess, and lanes make
     * no difference to it; if warps do, each warp has its own. */
    result.mess = bits.messy | (bits.depends & bits.differs);
    result.vary = bits.depends & ~result.mess;
    result.count = logic->threads;
    for (unsigned i = 0; i < result.count; i++)
        result.fixed[i] = thread_word(logic, i, 0) & ~(result.vary | result.mess);
    if (bits.depends & bits.apart)
        span = SPAN_WARP;
    Form form = form_of_view(tables, logic->width, span, assumes, &result);
    if (form.kind == FORM_ANY && sums_of_bits(tables, logic, &bits, &result)) {
        form.kind = FORM_BITS;
        form.span = (logic->threads > 1 ? SPAN_WARP : span) & 15;
    }
    return form;
}

Form form_logic(FormTables *tables, const Form *arguments, unsigned count, unsigned table) {
    Logic logic;
    logic.table = table;
    logic.count = count;
    logic.width = arguments[0].width;
    logic.threads = 1;
    FormSpan span = SPAN_GRID;
    unsigned assumes = 0;
    uint64_t unknown = 0;
    for (unsigned i = 0; i < count; i++) {
        form_view(tables, &arguments[i], &logic.views[i]);
        unknown |= logic.views[i].vary | logic.views[i].mess;
        logic.threads = logic.views[i].count > logic.threads ? logic.views[i].count : logic.threads;
        span = arguments[i].span > span ? (FormSpan)arguments[i].span : span;
        assumes |= arguments[i].assumes;
    }
    logic.choices = unknown ? 1u << count : 1;
    unsigned lanes = 0;
    for (unsigned i = 0; i < count; i++)
        lanes |= form_lanes(tables, &arguments[i]);
    return form_depending(logic_result(tables, &logic, span, assumes), lanes);
}

/* ---- Side by side ------------------------------------------------------------------------------------------ */

static void shift_view(FormView *view, unsigned left, unsigned right, unsigned width) {
    uint64_t mask = low_ones(width);
    view->vary = view->vary << left >> right & mask;
    view->mess = view->mess << left >> right & mask;
    for (unsigned i = 0; i < view->count; i++)
        view->fixed[i] = view->fixed[i] << left >> right & mask;
}

/* What the bits of both are. */
static void merge_view(FormView *whole, const FormView *view, unsigned threads) {
    whole->vary |= view->vary;
    whole->mess |= view->mess;
    if (view->count > whole->count) {
        for (unsigned i = 1; i < threads; i++)
            whole->fixed[i] = whole->fixed[0];
        whole->count = threads;
    }
    for (unsigned i = 0; i < whole->count; i++)
        whole->fixed[i] |= view_fixed(view, i);
}

Form form_pack(FormTables *tables, const Form *parts, unsigned count, unsigned width) {
    if (width > 64)
        return form_pure(tables, parts, count, width);
    FormView whole, view;
    whole.vary = whole.mess = whole.fixed[0] = 0;
    whole.count = 1;
    FormSpan span = SPAN_GRID;
    unsigned assumes = 0, at = 0, lanes = 0;
    for (unsigned i = 0; i < count && at < width; at += parts[i++].width) {
        if (parts[i].kind == FORM_NEVER)
            return (Form){.kind = FORM_NEVER, .width = (uint8_t)width};
        form_view(tables, &parts[i], &view);
        shift_view(&view, at, 0, width);
        merge_view(&whole, &view, form_threads(tables));
        span = parts[i].span > span ? (FormSpan)parts[i].span : span;
        assumes |= parts[i].assumes;
        lanes |= form_lanes(tables, &parts[i]);
    }
    return form_depending(form_of_view(tables, width, span, assumes, &whole), lanes);
}

Form form_part(FormTables *tables, const Form *whole, unsigned shift, unsigned width) {
    if (whole->width > 64 || shift >= 64)
        return form_pure(tables, whole, 1, width);
    bool assumed = false;
    if (!shift || whole->kind == FORM_NEVER)
        return form_extend(tables, whole, width, false, &assumed);
    FormView view;
    form_view(tables, whole, &view);
    shift_view(&view, 0, shift, width);
    Form part = form_of_view(tables, width, (FormSpan)whole->span, whole->assumes, &view);
    return form_depending(part, form_lanes(tables, whole));
}

/* ---- Choices ------------------------------------------------------------------------------------------------- */

Form form_select(FormTables *tables, const Form *chooser, const Form *a, const Form *b) {
    uint64_t value;
    if (chooser->kind == FORM_NEVER || a->kind == FORM_NEVER || b->kind == FORM_NEVER)
        return (Form){.kind = FORM_NEVER, .width = a->width};
    if (form_constant(chooser, &value))
        return value ? *a : *b;
    bool uniform = form_is_uniform(tables, chooser);
    Form result = form_join(tables, a, b, uniform ? form_span(chooser) : SPAN_NONE);
    unsigned lanes = form_lanes(tables, chooser) | form_lanes(tables, a) | form_lanes(tables, b);
    result = form_depending(result, lanes);
    result.assumes |= chooser->assumes;
    return result;
}
