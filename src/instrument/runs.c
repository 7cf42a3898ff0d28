/* Runs: sites that are told of in one record, words of values behind one head.
 *
 * Those of a straight stretch, all of whose lanes come, with values that need not be looked at. A run is over with what
 * may hold a thread, so that all that is told of happens. */
#include "instrument/internal.h"

enum { MOST_WORDS = 62, MOST_CORNERS = 8, CORNER_UNITS = RECORD_CORNER_LANES * 8 / RECORD_UNIT };

/* Whether threads may stand there until others do something. */
static bool may_hold(const Look *look, const PtxStatement *statement) {
    PtxEffect effects[PTX_EFFECTS_MOST];
    unsigned count = ptx_effects_of(look->module, statement, effects);
    for (unsigned i = 0; i < count; i++)
        switch (effects[i].effect.verb) {
        case EFFECT_CTA_BARRIER:
        case EFFECT_NAMED_SYNC:
        case EFFECT_CLUSTER_WAIT:
        case EFFECT_WARP_SYNC:
        case EFFECT_AWAIT_LAUNCHES:
        case EFFECT_ALLOCATE:
        case EFFECT_REGISTERS:
        case EFFECT_ANYTHING:
            return true;
        default:
            break;
        }
    return false;
}

static bool may_run(const Step *step) {
    const Site *site = step->site;
    bool may = step->how == STEP_STATIC && !site->map && !step->exits;
    for (uint32_t i = 0; i < site->part_count; i++)
        may &= site->parts[i].proven;
    return may;
}

/* What says which lanes a step is of: equal ones, the same lanes. */
static uint64_t lanes_key(const Look *look, const Step *step) {
    const PtxStatement *statement = look_statement(look, step->instruction);
    uint64_t own = UINT64_C(1) << 40 | step->instruction;
    if (step->settled)
        return 0;
    if (step->given != PTX_NONE)
        return own;
    if (!(statement->flags & PTX_GUARDED))
        return 0;
    uint32_t value = flow_value(&look->flow, statement->first);
    return value == PTX_NONE ? own : (uint64_t)value * 4 + 2 + (statement->flags & PTX_NEGATED ? 1 : 0);
}

static uint32_t words_of(const Site *site) {
    uint32_t words = 0;
    for (uint32_t i = 0; i < site->part_count; i++)
        words += site->parts[i].shape == PART_CORNERS ? 0 : site->parts[i].bits / 32;
    return words;
}

static uint32_t corners_of(const Site *site) {
    uint32_t corners = 0;
    for (uint32_t i = 0; i < site->part_count; i++)
        corners += site->parts[i].shape == PART_CORNERS;
    return corners;
}

/* Whether nothing between two steps may hold a thread, the first of them included. */
static bool goes_on(const Look *look, const Step *step, const Step *next) {
    if (next->block != step->block || next->site->number != step->site->number + 1 || step->site->ends)
        return false;
    /* A wait that is recorded behind its loop stands before the block. */
    uint32_t begin = look->flow.blocks[step->block].begin;
    for (uint32_t i = step->instruction > begin ? step->instruction : begin; i < next->instruction; i++)
        if (may_hold(look, look_statement(look, i)))
            return false;
    return true;
}

/* The run that begins with a step; how many steps it has. */
static uint32_t make_run(Plan *plan, uint32_t begin) {
    Step *first = &plan->steps[begin];
    uint64_t key = lanes_key(plan->look, first);
    uint32_t words = words_of(first->site), corners = corners_of(first->site), end = begin + 1;
    for (; end < plan->count; end++) {
        Step *step = &plan->steps[end];
        bool masked = lanes_key(plan->look, step) != key;
        uint32_t more = words_of(step->site) + masked;
        if (!may_run(step) || !goes_on(plan->look, step - 1, step) || words + more > MOST_WORDS ||
            corners + corners_of(step->site) > MOST_CORNERS)
            break;
        words += more;
        corners += corners_of(step->site);
        step->units = 0;
        step->in_run = true;
        step->site->masked = masked;
    }
    first->in_run = true;
    first->run = first->site->run = end - begin;
    first->corners = 1 + (words > 2 ? (words - 2 + 3) / 4 : 0);
    first->units = first->corners + corners * CORNER_UNITS;
    plan->steps[end - 1].last = true;
    return end - begin;
}

void plan_runs(Plan *plan) {
    for (uint32_t i = 0; i < plan->count;)
        i += may_run(&plan->steps[i]) ? make_run(plan, i) : 1;
}

/* ---- Code -------------------------------------------------------------------------------------------------- */

/* The words that are held back, as a unit of the run. */
static void write_held(Code *code) {
    static const char *const stores[] = {"", "b32 [~ptr+%u], ~w0", "v2.b32 [~ptr+%u], {~w0, ~w1}",
                                         "v4.b32 [~ptr+%u], {~w0, ~w1, ~w2, ~zero}",
                                         "v4.b32 [~ptr+%u], {~w0, ~w1, ~w2, ~w3}"};
    Text line = {0};
    if (!code->held)
        return;
    text_str(&line, STR("@~lead st.global."));
    text_addf(&line, stores[code->held], (code->place + code->written) * RECORD_UNIT);
    code_say(code, "%.*s", (int)line.size, line.data);
    text_free(&line);
    code->held = 0;
    code->written++;
}

static void add_word(Code *code, const char *text) {
    code_say(code, "mov.b32 ~w%u, %s", code->held, text);
    if (++code->held == 4)
        write_held(code);
}

static void begin_run(Code *code, const Step *step, uint32_t offset) {
    code->written = code->told = 0;
    if (step->first && !code->plan->together) {
        write_count(code, "~full");
        write_unit(code, "~lead", offset++, record_word(0, RECORD_STAMP, 0), "~full", "~count", "~zero");
    }
    code->place = offset;
    const char *mask = write_mask(code, step);
    code_say(code, "or.b32 ~w0, ~tag, 0x%x", record_word(0, RECORD_RUN, step->site->number));
    code_say(code, "mov.b32 ~w1, %s", mask);
    code->held = 2;
    code->corners = code->place + step->corners;
    if (step->units > step->corners) {
        code_say(code, "cvt.u64.u32 ~cornerptr, ~cornerat");
        code_say(code, "add.s64 ~cornerptr, ~ptr, ~cornerptr");
    }
}

/* A value by its corners: the lanes that they are write them themselves. */
static void write_corners(Code *code, const SitePart *part) {
    write_value(code, part);
    if (part->bits == 32)
        code_say(code, "mov.b64 ~value, {~lo, ~hi}");
    code_say(code, "@~corner st.global.b64 [~cornerptr+%u], ~value", code->corners * RECORD_UNIT);
    code->corners += CORNER_UNITS;
}

void write_run(Code *code, const Step *step, uint32_t offset) {
    const Site *site = step->site;
    if (step->run)
        begin_run(code, step, offset);
    else if (site->masked)
        add_word(code, write_mask(code, step));
    for (uint32_t i = 0; i < site->part_count; i++) {
        if (site->parts[i].shape == PART_CORNERS) {
            write_corners(code, &site->parts[i]);
            continue;
        }
        write_value(code, &site->parts[i]);
        add_word(code, "~lo");
        if (site->parts[i].bits == 64)
            add_word(code, "~hi");
    }
    code->told++;
    if (!step->last)
        return;
    write_held(code);
    if (!code->plan->together)
        code_say(code, "add.u32 ~count, ~count, %u", code->told);
}
