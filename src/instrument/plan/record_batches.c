/* Runs: sites that one record covers, words of values behind one head.
 *
 * Those of a straight segment, all of whose lanes come, with values that need not be looked at. A run is over with what
 * may hold a thread, so that all that is told of happens. */
#include "instrument/internal.h"

#include "ptx/print.h"

enum {
    MOST_WORDS = 62,
    MOST_CORNERS = 8,
    MOST_EVERY = 4,
    CORNER_UNITS = RECORD_CORNER_LANES * 8 / RECORD_UNIT,
    EVERY_UNITS = RECORD_EVERY_BYTES / RECORD_UNIT
};

/* Whether threads may stand there until others do something. */
static bool may_hold(const FunctionAnalysis *analysis, const PtxStatement *statement) {
    PtxEffect effects[PTX_EFFECTS_MOST];
    unsigned count = ptx_effects_of(analysis->module, statement, effects);
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

bool step_may_run(const InstrumentStep *step) {
    const Site *site = step->site;
    bool may = step->how == STEP_STATIC && !site->map && !step->exits;
    for (uint32_t i = 0; i < site->part_count; i++)
        may &= site->parts[i].proven;
    return may;
}

/* What says which lanes a step is of: equal ones, the same lanes. */
static uint64_t lanes_key(const FunctionAnalysis *analysis, const InstrumentStep *step) {
    const PtxStatement *statement = look_statement(analysis, step->instruction);
    uint64_t own = UINT64_C(1) << 40 | step->instruction;
    if (step->settled || step->site->only_emits)
        return 0;
    if (step->given != PTX_NONE)
        return own;
    if (!(statement->flags & PTX_GUARDED))
        return 0;
    uint32_t value = flow_value(&analysis->flow, statement->first);
    return value == PTX_NONE ? own : (uint64_t)value * 4 + 2 + (statement->flags & PTX_NEGATED ? 1 : 0);
}

/* The most that a site may add to a run. */
static uint32_t words_of(const Site *site) {
    uint32_t words = 0;
    for (uint32_t i = 0; i < site->part_count; i++)
        words +=
            site->parts[i].shape == PART_CORNERS || site->parts[i].shape == PART_EVERY ? 0 : site->parts[i].bits / 32;
    return words;
}

static uint32_t shaped_parts(const Site *site, SiteShape shape) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < site->part_count; i++)
        count += site->parts[i].shape == shape;
    return count;
}

/* No step is of these lanes. */
#define NO_AGENT UINT64_MAX

/* What a run has told so far. */
typedef struct RecordBatchReported {
    PtxSum sum;
    const SitePart *part;
} RecordBatchReported;

typedef struct RecordBatchReporting {
    InstrumentPlan *plan;
    uint64_t key; /* of the lanes that were told last */
    uint32_t words, corners, every, count;
    RecordBatchReported reported[MOST_WORDS + MOST_CORNERS];
} RecordBatchReporting;

/* A part that is something told before and what the launch says. */
static bool derive(RecordBatchReporting *reporting, SitePart *part, const PtxSum *sum) {
    for (uint32_t i = 0; i < reporting->count; i++) {
        const SitePart *from = reporting->reported[i].part;
        PtxSum apart;
        if ((from->shape == PART_CORNERS) != (part->shape == PART_CORNERS) || from->bits != part->bits ||
            !ptx_sum_apart(&reporting->reported[i].sum, sum, &apart))
            continue;
        part->reported = false;
        part->from = from->from;
        part->place = from->place;
        part->apart = sum_kept(reporting->plan->keep, &apart);
        return true;
    }
    return false;
}

static void report_part(RecordBatchReporting *reporting, SitePart *part) {
    const FunctionAnalysis *analysis = reporting->plan->analysis;
    uint32_t value = part->data || part->shape == PART_BIT ? PTX_NONE : flow_value(&analysis->flow, part->operand);
    bool summed = value != PTX_NONE && analysis->values.forms[value].width == part->bits;
    PtxSum sum = summed ? ptx_sum_of(&analysis->values, value) : (PtxSum){0};
    if (!part->reported || (summed && derive(reporting, part, &sum)))
        return;
    bool corners = part->shape == PART_CORNERS, every = part->shape == PART_EVERY;
    part->place = (uint16_t)(corners ? reporting->corners : every ? reporting->every : reporting->words);
    reporting->corners += corners;
    reporting->every += every;
    reporting->words += corners || every ? 0 : part->bits / 32;
    if (summed)
        reporting->reported[reporting->count++] = (RecordBatchReported){sum, part};
}

static void report_site(RecordBatchReporting *reporting, Site *site) {
    reporting->words += site->masked;
    for (uint32_t i = 0; i < site->part_count; i++)
        report_part(reporting, &site->parts[i]);
    for (uint32_t i = 0; i < site->slot_count; i++) {
        reporting->corners += site->slots[i].corners;
        reporting->words += site->slots[i].corners ? 0 : site->slots[i].bits / 32;
    }
}

bool step_goes_on(const FunctionAnalysis *analysis, const InstrumentStep *step, const InstrumentStep *next) {
    if (next->block != step->block || next->site->number != step->site->number + 1 || step->site->ends ||
        next->calls != step->calls)
        return false;
    /* A wait that is recorded behind its loop stands before the block. */
    uint32_t begin = analysis->flow.blocks[step->block].begin;
    for (uint32_t i = step->instruction > begin ? step->instruction : begin; i < next->instruction; i++)
        if (look_acts(analysis, i) && may_hold(analysis, look_statement(analysis, i)))
            return false;
    return true;
}

/* Which lanes a step of a run is of: who they are need not be told where warps are full, and it is of all, or its guard
 * depends on nothing but the thread's number. */
static void find_lanes(RecordBatchReporting *reporting, const InstrumentStep *step) {
    const FunctionAnalysis *analysis = reporting->plan->analysis;
    Site *site = step->site;
    uint64_t key = lanes_key(analysis, step);
    site->all = look_full(analysis) && !key;
    site->of = key && step->given == PTX_NONE
                   ? known_lanes(analysis, step->instruction, &site->of_count, reporting->plan->keep)
                   : NULL;
    site->masked = !site->all && !site->of && key != reporting->key;
    reporting->key = site->masked ? key : reporting->key;
}

/* Words of a run that its first unit has room for. */
static uint32_t head_words(const Site *first) {
    return first->bare ? 3 : 2;
}

/* The run that begins with a step; how many steps it has. */
static uint32_t make_run(RecordBatchReporting *reporting, uint32_t begin) {
    InstrumentPlan *plan = reporting->plan;
    InstrumentStep *first = &plan->steps[begin];
    uint32_t end = begin + 1;
    reporting->words = reporting->corners = reporting->every = reporting->count = 0;
    first->site->bare = look_full(plan->analysis);
    reporting->key = first->site->bare ? NO_AGENT : lanes_key(plan->analysis, first);
    find_lanes(reporting, first);
    report_site(reporting, first->site);
    for (; end < plan->count && !first->site->only_emits; end++) {
        InstrumentStep *step = &plan->steps[end];
        if (!step_may_run(step) || step->site->only_emits || !step_goes_on(plan->analysis, step - 1, step) ||
            step->site->advance_count || reporting->words + words_of(step->site) + 1 > MOST_WORDS ||
            reporting->corners + shaped_parts(step->site, PART_CORNERS) > MOST_CORNERS ||
            reporting->every + shaped_parts(step->site, PART_EVERY) > MOST_EVERY)
            break;
        step->units = 0;
        step->in_run = true;
        find_lanes(reporting, step);
        report_site(reporting, step->site);
    }
    first->in_run = true;
    first->run = first->site->run = end - begin;
    uint32_t head = head_words(first->site);
    first->corners = 1 + (reporting->words > head ? (reporting->words - head + 3) / 4 : 0);
    first->every = first->corners + reporting->corners * CORNER_UNITS;
    first->units = first->every + reporting->every * EVERY_UNITS;
    plan->steps[end - 1].last = true;
    return end - begin;
}

void plan_runs(InstrumentPlan *plan) {
    RecordBatchReporting *reporting = ARENA_NEW(plan->arena, RecordBatchReporting);
    reporting->plan = plan;
    for (uint32_t i = 0; i < plan->count;)
        i += step_may_run(&plan->steps[i]) ? make_run(reporting, i) : 1;
}

/* ---- Code -------------------------------------------------------------------------------------------------- */

/* The words that are held back, as a unit of the run. */
static void write_held(InstrumentCode *code) {
    const char **words = code->words;
    unsigned at = (code->place + code->written) * RECORD_UNIT;
    if (!code->held)
        return;
    if (code->held == 1)
        code_say(code, "@~lead st.global.b32 [~ptr+%u], %s", at, words[0]);
    else if (code->held == 2)
        code_say(code, "@~lead st.global.v2.b32 [~ptr+%u], {%s, %s}", at, words[0], words[1]);
    else
        code_say(code, "@~lead st.global.v4.b32 [~ptr+%u], {%s, %s, %s, %s}", at, words[0], words[1], words[2],
                 code->held == 4 ? words[3] : "~zero");
    code->held = 0;
    code->written++;
}

/* Room for one more word: the register that it is held in. */
static const char *hold(InstrumentCode *code) {
    static const char *const registers[] = {"~w0", "~w1", "~w2", "~w3"};
    return code->words[code->held] = registers[code->held];
}

/* One more is held. */
static void held_one(InstrumentCode *code) {
    if (++code->held == 4)
        write_held(code);
}

static void add_word(InstrumentCode *code, const char *text) {
    code_say(code, "mov.b32 %s, %s", hold(code), text);
    held_one(code);
}

static bool is_written(const FunctionAnalysis *analysis, uint32_t instruction, const PtxOperand *to) {
    const PtxStatement *statement = look_statement(analysis, instruction);
    for (uint32_t k = statement->first; k < statement->first + statement->count; k++) {
        const PtxOperand *operand = &analysis->module->operands[k];
        uint32_t value = flow_value(&analysis->flow, k);
        if (value != PTX_NONE && analysis->flow.values[value].kind == VALUE_RESULT &&
            analysis->flow.values[value].operand == k && operand->a == to->a && operand->value == to->value)
            return true;
    }
    return false;
}

/* Whether a register of a step is the same, and has the same value, up to the end of the run: then it need not be
 * copied to be held. */
static bool is_kept(const InstrumentCode *code, const InstrumentStep *step, const PtxOperand *operand) {
    const FunctionAnalysis *analysis = code->analysis;
    uint32_t begin = analysis->module->functions[analysis->function].begin;
    const InstrumentStep *last = step;
    for (; !last->last && !code->depths[last->at - begin];)
        last++;
    if (operand->kind != PTX_REGISTER || code->depths[last->at - begin])
        return false;
    for (uint32_t i = step->instruction; i <= last->instruction && last != step; i++)
        if (is_written(analysis, i, operand))
            return false;
    return true;
}

static void begin_run(InstrumentCode *code, const InstrumentStep *step, uint32_t offset) {
    code->written = code->reported = 0;
    if (step->first && !code->plan->together) {
        write_count(code, "~full");
        write_unit(code, "~lead", offset++, record_word(0, RECORD_STAMP, 0), "~full", "~count", "~zero");
    }
    code->place = offset;
    const char *mask = step->site->masked || !step->site->bare ? write_mask(code, step) : "";
    code->held = 0;
    code_say(code, "or.b32 %s, ~tag, 0x%x", hold(code), record_word(0, RECORD_RUN, step->site->number));
    held_one(code);
    if (*mask)
        add_word(code, mask);
    code->corners = code->place + step->corners;
    code->every = code->place + step->every;
    const char *base = step->units > step->corners ? write_leader_place(code) : "";
    if (step->every > step->corners) {
        code_say(code, "cvt.u64.u32 ~cornerptr, ~cornerat");
        code_say(code, "add.s64 ~cornerptr, %s, ~cornerptr", base);
    }
    if (step->units > step->every) {
        code_say(code, "cvt.u64.u32 ~everyptr, ~everyat");
        code_say(code, "add.s64 ~everyptr, %s, ~everyptr", base);
    }
}

/* A value by its corners: the lanes that they are write them themselves. */
static void write_corners(InstrumentCode *code, uint8_t bits) {
    if (bits == 32)
        code_say(code, "mov.b64 ~value, {~lo, ~hi}");
    code_say(code, "@~corner st.global.b64 [~cornerptr+%u], ~value", code->corners * RECORD_UNIT);
    code->corners += CORNER_UNITS;
}

/* A value of every lane: each writes its own. */
static void write_every(InstrumentCode *code, const char *text) {
    code_say(code, "@~inside st.global.b32 [~everyptr+%u], %s", code->every * RECORD_UNIT, text);
    code->every += EVERY_UNITS;
}

/* What is in ~lo and ~hi, and of 64 bits in ~value. */
static void report_words(InstrumentCode *code, uint8_t bits, bool corners) {
    if (corners) {
        write_corners(code, bits);
        return;
    }
    add_word(code, "~lo");
    if (bits == 64)
        add_word(code, "~hi");
}

/* A register, by its text, of so many bits: told as it is, if it is one or two words that stand in one unit. */
static void report_register(InstrumentCode *code, const char *text, unsigned width, uint8_t bits, bool corners) {
    if (!corners && width == 32)
        add_word(code, text);
    else if (!corners && width == 64 && code->held <= 2) {
        const char *low = hold(code);
        code->held++;
        code_say(code, "mov.b64 {%s, %s}, %s", low, hold(code), text);
        held_one(code);
    } else {
        write_register(code, text, width);
        report_words(code, bits, corners);
    }
}

static void report_slot(InstrumentCode *code, const SiteSlot *slot) {
    PtxOperand operand = {.kind = PTX_REGISTER, .a = slot->variable, .value = slot->index};
    Text text = {0};
    ptx_print_operand(code->analysis->module, &operand, &text);
    report_register(code, text_keep(&text, &code->edits->arena), slot->bits, slot->bits, slot->corners);
}

/* A bit of all lanes, as a word. */
static void report_bit(InstrumentCode *code, const SitePart *part) {
    code_say(code, "and.b32 ~lo, %s, 0x%x", operand_text(code, part->operand), (unsigned)part->stride);
    code_say(code, "setp.ne.u32 ~p1, ~lo, 0");
    code_say(code, "vote.sync.ballot.b32 %s, ~p1, ~full", hold(code));
    held_one(code);
}

static void report_part_value(InstrumentCode *code, const InstrumentStep *step, const SitePart *part) {
    bool corners = part->shape == PART_CORNERS, every = part->shape == PART_EVERY;
    if (part->shape == PART_BIT) {
        report_bit(code, part);
        return;
    }
    if (!part->data && !every) {
        unsigned width = ptx_operand_form(&code->analysis->values, part->operand).width;
        if (!corners && width == 32 && is_kept(code, step, &code->analysis->module->operands[part->operand])) {
            code->words[code->held] = operand_text(code, part->operand);
            held_one(code);
        } else {
            report_register(code, operand_text(code, part->operand), width, part->bits, corners);
        }
        return;
    }
    write_data(code, part, step);
    if (every)
        write_every(code, "~hi");
    else
        add_word(code, "~hi");
}

void write_run(InstrumentCode *code, const InstrumentStep *step, uint32_t offset) {
    const Site *site = step->site;
    if (step->run)
        begin_run(code, step, offset);
    else if (site->masked)
        add_word(code, write_mask(code, step));
    for (uint32_t i = 0; i < site->part_count; i++)
        if (site->parts[i].reported)
            report_part_value(code, step, &site->parts[i]);
    for (uint32_t i = 0; i < site->slot_count; i++)
        report_slot(code, &site->slots[i]);
    code->reported++;
    if (!step->last)
        return;
    write_held(code);
    if (!code->plan->together && !site->only_emits)
        code_say(code, "add.u32 ~count, ~count, %u", code->reported);
}
