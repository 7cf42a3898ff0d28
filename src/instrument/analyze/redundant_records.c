/* Values that need no record where they are used.
 *
 * What the launch alone says is not recorded. What does not change in a loop is recorded before it, and kept in a slot;
 * so is what goes on by as much in each turn: a slot then goes on with the first run of a turn. All else is recorded in
 * its run.
 */
#include "instrument/internal.h"

enum { MOST_SLOTS = 512, SLOT_WORDS = 56, SLOT_CORNERS = 8 };

typedef struct ReportedSlot {
    uint32_t loop, value;
    uint8_t bits;
    bool corners;
    bool known; /* it is not recorded: what it starts with is known, and where it does */
} ReportedSlot;

/* A slot that goes on: a step whose run begins a turn. */
typedef struct Goes {
    uint32_t step;
    SiteAdvance advance;
} Goes;

typedef struct RedundantRecordReporting {
    InstrumentPlan *plan;
    const FunctionAnalysis *analysis;
    ReportedSlot *slots;
    uint32_t count, capacity;
    Goes *goes;
    uint32_t goes_count, goes_capacity;
} RedundantRecordReporting;

/* ---- Loops ------------------------------------------------------------------------------------------------- */

static bool in_loop(const PtxFlow *flow, uint32_t loop, uint32_t block) {
    uint32_t inner = flow->blocks[block].loop;
    while (inner != PTX_NONE && inner != loop)
        inner = flow->loops[inner].outer;
    return inner == loop;
}

/* The one block that leads into a loop, at whose end all lanes of the warp are; PTX_NONE: there is none. */
static uint32_t block_before(const FunctionAnalysis *analysis, uint32_t loop) {
    const PtxFlow *flow = &analysis->flow;
    const FlowBlock *header = &flow->blocks[flow->loops[loop].header];
    uint32_t before = PTX_NONE;
    if (flow->loops[loop].irreducible)
        return PTX_NONE;
    for (uint32_t i = 0; i < header->predecessor_count; i++) {
        uint32_t from = flow->edges[header->predecessors + i];
        if (in_loop(flow, loop, from))
            continue;
        if (before != PTX_NONE)
            return PTX_NONE;
        before = from;
    }
    if (before == PTX_NONE || !look_together(analysis, before) ||
        flow->blocks[before].begin == flow->blocks[before].end)
        return PTX_NONE;
    return look_form(analysis, flow->blocks[before].end - 1)->evaluator == PTX_EVALUATE_CALL ? PTX_NONE : before;
}

/* Whether a block is run in every turn of its loop. */
static bool every_turn(const PtxFlow *flow, uint32_t loop, uint32_t block) {
    const FlowBlock *header = &flow->blocks[flow->loops[loop].header];
    if (flow->blocks[block].loop != loop)
        return false;
    for (uint32_t i = 0; i < header->predecessor_count; i++) {
        uint32_t from = flow->edges[header->predecessors + i];
        if (in_loop(flow, loop, from) && !flow_dominates(flow, block, from))
            return false;
    }
    return true;
}

/* Whether some instruction of a loop reads a value: then its register has it when the loop is entered. */
static bool read_in(const FunctionAnalysis *analysis, uint32_t loop, uint32_t value) {
    for (uint32_t i = 0; i < analysis->flow.instruction_count; i++) {
        const PtxStatement *statement = look_statement(analysis, i);
        for (uint32_t k = statement->first; k < statement->first + statement->count; k++)
            if (flow_value(&analysis->flow, k) == value && analysis->flow.values[value].operand != k &&
                in_loop(&analysis->flow, loop, analysis->flow.block_of[i]))
                return true;
    }
    return false;
}

/* ---- Slots ------------------------------------------------------------------------------------------------- */

/* The slot of a value that is recorded before a loop; PTX_NONE: there are too many. */
static uint32_t slot_of(RedundantRecordReporting *reporting, uint32_t loop, uint32_t value, bool corners) {
    uint8_t bits = reporting->analysis->values.forms[value].width;
    for (uint32_t i = 0; i < reporting->count; i++)
        if (reporting->slots[i].loop == loop && reporting->slots[i].value == value) {
            reporting->slots[i].corners |= corners;
            return i;
        }
    if (reporting->count == MOST_SLOTS || (bits != 32 && bits != 64))
        return PTX_NONE;
    *ARENA_PUSH(reporting->plan->arena, reporting->slots, reporting->count, reporting->capacity) =
        (ReportedSlot){loop, value, bits, corners, false};
    return reporting->count - 1;
}

/* What is added to a phi of a loop's header in a turn: a value that all lanes have, and that the loop does not change
 * (PTX_NONE: none), and *by. False: nothing like it. */
static bool added_in_turn(const FunctionAnalysis *analysis, uint32_t latch_value, uint32_t phi, uint32_t loop,
                          uint32_t *also, PtxSum *by) {
    *by = ptx_sum_of(&analysis->values, latch_value);
    *also = PTX_NONE;
    bool found = false;
    for (unsigned i = 0; i < by->root_count; i++) {
        if (by->roots[i] == phi && !found)
            found = true;
        else if (*also == PTX_NONE)
            *also = by->roots[i];
        else
            return false;
    }
    if (*also == PTX_NONE)
        return found;
    Form form = analysis->values.forms[*also];
    return found && !in_loop(&analysis->flow, loop, analysis->flow.values[*also].block) &&
           form_is_uniform(analysis->values.tables, &form) && look_granted(analysis, &form) &&
           read_in(analysis, loop, *also);
}

/* The step whose run begins each turn of a loop, before all that a block does. */
static uint32_t turn_of(const RedundantRecordReporting *reporting, uint32_t loop, uint32_t block) {
    const PtxFlow *flow = &reporting->analysis->flow;
    for (uint32_t i = 0; i < reporting->plan->count; i++) {
        const InstrumentStep *step = &reporting->plan->steps[i];
        if (step_may_run(step) && every_turn(flow, loop, step->block))
            return flow_dominates(flow, step->block, block) ? i : PTX_NONE;
    }
    return PTX_NONE;
}

static bool goes_already(const RedundantRecordReporting *reporting, uint32_t slot) {
    for (uint32_t i = 0; i < reporting->goes_count; i++)
        if (reporting->goes[i].advance.slot == slot)
            return true;
    return false;
}

/* A step that every warp comes to before it enters a loop, and not in it: the first of a block around the same loop
 * that is on all ways to it. PTX_NONE: there is none. */
static uint32_t step_before(const RedundantRecordReporting *reporting, uint32_t loop) {
    const PtxFlow *flow = &reporting->analysis->flow;
    uint32_t outer = flow->loops[loop].outer, before = block_before(reporting->analysis, loop);
    const InstrumentStep *steps = reporting->plan->steps;
    if (before == PTX_NONE || (outer != PTX_NONE && flow->loops[outer].irreducible))
        return PTX_NONE;
    for (uint32_t i = 0; i < reporting->plan->count; i++)
        if (step_may_run(&steps[i]) && (!i || steps[i - 1].block != steps[i].block) &&
            flow->blocks[steps[i].block].loop == outer && flow_dominates(flow, steps[i].block, before))
            return i;
    return PTX_NONE;
}

/* Starts a slot where what it begins with is known: then it is not recorded. */
static void start_known(RedundantRecordReporting *reporting, uint32_t loop, uint32_t slot, const FlowValue *phi) {
    const PtxFlow *flow = &reporting->analysis->flow;
    const FlowBlock *header = &flow->blocks[flow->loops[loop].header];
    uint32_t step = step_before(reporting, loop), first = PTX_NONE;
    for (uint32_t i = 0; i < header->predecessor_count; i++)
        if (!in_loop(flow, loop, flow->edges[header->predecessors + i]))
            first = flow->inputs[phi->inputs + i];
    if (step == PTX_NONE || first == PTX_NONE ||
        reporting->analysis->values.forms[first].width != reporting->slots[slot].bits)
        return;
    PtxSum sum = ptx_sum_of(&reporting->analysis->values, first);
    const SitePlaced *placed = know_roots(reporting->analysis, &sum, reporting->plan->keep);
    if (sum.root_count)
        return;
    reporting->slots[slot].known = true;
    *ARENA_PUSH(reporting->plan->arena, reporting->goes, reporting->goes_count, reporting->goes_capacity) =
        (Goes){step, {slot, PTX_NONE, sum_kept(reporting->plan->keep, &sum), placed, true}};
}

/* The slot of a phi that goes on by as much in each turn of its loop. */
static uint32_t going_slot(RedundantRecordReporting *reporting, uint32_t loop, uint32_t phi, uint32_t block,
                           bool corners) {
    const PtxFlow *flow = &reporting->analysis->flow;
    const FlowBlock *header = &flow->blocks[flow->loops[loop].header];
    uint32_t turn = turn_of(reporting, loop, block), also = PTX_NONE;
    PtxSum by = {0};
    bool any = false;
    if (turn == PTX_NONE || block_before(reporting->analysis, loop) == PTX_NONE)
        return PTX_NONE;
    for (uint32_t i = 0; i < header->predecessor_count; i++) {
        if (!in_loop(flow, loop, flow->edges[header->predecessors + i]))
            continue;
        if (any ||
            !added_in_turn(reporting->analysis, flow->inputs[flow->values[phi].inputs + i], phi, loop, &also, &by))
            return PTX_NONE; /* two ways back may add different things */
        any = true;
    }
    uint32_t step = any && also != PTX_NONE ? slot_of(reporting, loop, also, false) : PTX_NONE;
    if (!any || (also != PTX_NONE && step == PTX_NONE))
        return PTX_NONE;
    uint32_t slot = slot_of(reporting, loop, phi, corners);
    if (slot == PTX_NONE || goes_already(reporting, slot))
        return slot;
    *ARENA_PUSH(reporting->plan->arena, reporting->goes, reporting->goes_count, reporting->goes_capacity) =
        (Goes){turn, {slot, step, sum_kept(reporting->plan->keep, &by), NULL, false}};
    if (form_is_uniform(reporting->analysis->values.tables, &reporting->analysis->values.forms[phi]))
        start_known(reporting, loop, slot, &flow->values[phi]);
    return slot;
}

/* ---- Parts ------------------------------------------------------------------------------------------------- */

/* The slot of a root: what the loop does not change, or what goes on in it. */
static uint32_t root_slot(RedundantRecordReporting *reporting, uint32_t loop, uint32_t root, uint32_t block,
                          bool corners) {
    const FlowValue *value = &reporting->analysis->flow.values[root];
    if (!in_loop(&reporting->analysis->flow, loop, value->block))
        return block_before(reporting->analysis, loop) != PTX_NONE && read_in(reporting->analysis, loop, root)
                   ? slot_of(reporting, loop, root, corners)
                   : PTX_NONE;
    bool phi = value->kind == VALUE_PHI && value->block == reporting->analysis->flow.loops[loop].header;
    return phi ? going_slot(reporting, loop, root, block, corners) : PTX_NONE;
}

/* Whether the lanes of a root differ, which its corners then have to say. False: they cannot. */
static bool has_corners(const FunctionAnalysis *analysis, uint32_t root, bool *differs) {
    const Form *form = &analysis->values.forms[root];
    *differs = !form_is_uniform(analysis->values.tables, form);
    return look_granted(analysis, form) && form_shape(analysis->values.tables, form) <= SHAPE_BITS;
}

/* A part that is the sum of one or two such. How its lanes differ is known, or else by how theirs do. */
static uint32_t sum_slots(RedundantRecordReporting *reporting, uint32_t loop, const PtxSum *sum, uint32_t block,
                          SitePart *part) {
    uint32_t slots[2] = {PTX_NONE, PTX_NONE};
    if (sum->root_count > 2)
        return PTX_NONE;
    for (unsigned i = 0; i < sum->root_count; i++) {
        bool differs = false;
        if (part->shape == PART_CORNERS && !has_corners(reporting->analysis, sum->roots[i], &differs))
            return PTX_NONE;
        slots[i] = root_slot(reporting, loop, sum->roots[i], block, differs);
        if (slots[i] == PTX_NONE)
            return PTX_NONE;
    }
    part->also = (uint16_t)(slots[1] == PTX_NONE ? 0 : slots[1] + 1);
    return slots[0];
}

/* The outermost loop around a block that does not have the value's own. */
static uint32_t loop_without(const PtxFlow *flow, uint32_t loop, uint32_t block) {
    while (flow->loops[loop].outer != PTX_NONE && !in_loop(flow, flow->loops[loop].outer, block))
        loop = flow->loops[loop].outer;
    return loop;
}

static void find_source(RedundantRecordReporting *reporting, const InstrumentStep *step, SitePart *part) {
    const PtxFlow *flow = &reporting->analysis->flow;
    uint32_t value = flow_value(flow, part->operand), loop = flow->blocks[step->block].loop, slot = PTX_NONE;
    if (value == PTX_NONE || reporting->analysis->values.forms[value].width != part->bits)
        return;
    PtxSum sum = ptx_sum_of(&reporting->analysis->values, value);
    const SitePlaced *placed = know_roots(reporting->analysis, &sum, reporting->plan->keep);
    if (!sum.root_count) {
        part->from = RECORD_FROM_LAUNCH;
        part->placed = placed;
        part->reported = false;
        part->apart = sum_kept(reporting->plan->keep, &sum);
        return;
    }
    if (loop != PTX_NONE && !in_loop(flow, loop, flow->values[value].block)) {
        loop = loop_without(flow, loop, flow->values[value].block);
        if (block_before(reporting->analysis, loop) != PTX_NONE)
            slot = slot_of(reporting, loop, value, part->shape == PART_CORNERS);
        sum = (PtxSum){0};
        placed = NULL;
    } else if (loop != PTX_NONE) {
        slot = sum_slots(reporting, loop, &sum, step->block, part);
    }
    if (slot == PTX_NONE) {
        part->also = 0;
        return;
    }
    part->from = RECORD_FROM_SLOT;
    part->reported = false;
    part->place = (uint16_t)slot;
    part->apart = sum_kept(reporting->plan->keep, &sum);
    part->placed = placed;
}

/* ---- Steps that tell --------------------------------------------------------------------------------------- */

/* Some slots of a loop, from one on; how many, or 0 if none is left. */
static uint32_t gather_slots(const RedundantRecordReporting *reporting, uint32_t loop, uint32_t *from, SiteSlot *to) {
    const PtxFlow *flow = &reporting->analysis->flow;
    uint32_t count = 0, words = 0, corners = 0;
    for (; *from < reporting->count; ++*from) {
        const ReportedSlot *slot = &reporting->slots[*from];
        if (slot->loop != loop || slot->known)
            continue;
        words += slot->corners ? 0 : slot->bits / 32;
        corners += slot->corners;
        if (words > SLOT_WORDS || corners > SLOT_CORNERS)
            break;
        const FlowValue *value = &flow->values[slot->value];
        to[count++] = (SiteSlot){*from, value->variable, value->index, slot->bits, slot->corners};
    }
    return count;
}

static void add_reports(RedundantRecordReporting *reporting, uint32_t loop) {
    InstrumentPlan *plan = reporting->plan;
    const PtxFlow *flow = &reporting->analysis->flow;
    SiteSlot slots[SLOT_WORDS + SLOT_CORNERS];
    for (uint32_t from = 0, count; (count = gather_slots(reporting, loop, &from, slots));) {
        uint32_t before = block_before(reporting->analysis, loop), last = flow->blocks[before].end - 1;
        SiteSlot *all = ARENA_ARRAY(plan->keep, SiteSlot, count);
        memcpy(all, slots, count * sizeof *all);
        Site *site = ARENA_NEW(plan->arena, Site);
        *site = (Site){.number = plan->report_base + plan->report_count,
                       .function = reporting->analysis->function,
                       .statement = flow->instructions[last],
                       .only_emits = true,
                       .run = 1,
                       .slot_count = count,
                       .slots = all};
        *ARENA_PUSH(plan->arena, plan->reports, plan->report_count, plan->report_capacity) = site;
        *ARENA_PUSH(plan->arena, plan->steps, plan->count, plan->capacity) =
            (InstrumentStep){.site = site,
                             .instruction = last,
                             .block = before,
                             .at = site->statement,
                             .behind = flow->blocks[before].ends == FLOW_NEXT,
                             .settled = true,
                             .given = PTX_NONE,
                             .how = STEP_STATIC};
    }
}

/* Which slots go on with the run of a site. */
static void add_advances(RedundantRecordReporting *reporting) {
    for (uint32_t i = 0; i < reporting->goes_count; i++) {
        Site *site = reporting->plan->steps[reporting->goes[i].step].site;
        SiteAdvance *all = ARENA_ARRAY(reporting->plan->keep, SiteAdvance, site->advance_count + 1);
        if (site->advance_count)
            memcpy(all, site->advances, site->advance_count * sizeof *all);
        all[site->advance_count++] = reporting->goes[i].advance;
        site->advances = all;
    }
}

void plan_reported(InstrumentPlan *plan) {
    RedundantRecordReporting reporting = {.plan = plan, .analysis = plan->analysis};
    for (uint32_t i = 0; i < plan->count; i++) {
        InstrumentStep *step = &plan->steps[i];
        step->site->advance_count = 0;
        for (uint32_t k = 0; k < step->site->part_count; k++) {
            SitePart *part = &step->site->parts[k];
            part->reported = true;
            part->from = part->shape == PART_CORNERS ? RECORD_FROM_CORNERS
                         : part->shape == PART_EVERY ? RECORD_FROM_EVERY
                         : part->shape == PART_BIT   ? RECORD_FROM_BITS
                                                     : RECORD_FROM_WORDS;
            part->apart = NULL;
            part->placed = NULL;
            part->also = 0;
            if (!part->data && part->shape != PART_BIT && step_may_run(step))
                find_source(&reporting, step, part);
        }
    }
    add_advances(&reporting);
    for (uint32_t i = 0; reporting.count && i < plan->analysis->flow.loop_count; i++)
        add_reports(&reporting, i);
    plan->slots = reporting.count;
}
