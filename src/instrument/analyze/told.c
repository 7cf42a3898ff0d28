/* Values that need not be told where they are used.
 *
 * What the launch alone says is not told. What does not change in a loop is told before it, and kept in a slot; so is
 * what goes on by as much in each turn: a slot then goes on with the first run of a turn. All else is told in its run.
 */
#include "instrument/internal.h"

enum { MOST_SLOTS = 512, SLOT_WORDS = 56, SLOT_CORNERS = 8 };

typedef struct ToldSlot {
    uint32_t loop, value;
    uint8_t bits;
    bool corners;
    bool known; /* it is not told: what it starts with is known, and where it does */
} ToldSlot;

/* A slot that goes on: a step whose run begins a turn. */
typedef struct Goes {
    uint32_t step;
    SiteAdvance advance;
} Goes;

typedef struct Telling {
    Plan *plan;
    const Look *look;
    ToldSlot *slots;
    uint32_t count, capacity;
    Goes *goes;
    uint32_t goes_count, goes_capacity;
} Telling;

/* ---- Loops ------------------------------------------------------------------------------------------------- */

static bool in_loop(const PtxFlow *flow, uint32_t loop, uint32_t block) {
    uint32_t inner = flow->blocks[block].loop;
    while (inner != PTX_NONE && inner != loop)
        inner = flow->loops[inner].outer;
    return inner == loop;
}

/* The one block that leads into a loop, at whose end all lanes of the warp are; PTX_NONE: there is none. */
static uint32_t block_before(const Look *look, uint32_t loop) {
    const PtxFlow *flow = &look->flow;
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
    if (before == PTX_NONE || !look_together(look, before) || flow->blocks[before].begin == flow->blocks[before].end)
        return PTX_NONE;
    return look_form(look, flow->blocks[before].end - 1)->evaluator == PTX_EVALUATE_CALL ? PTX_NONE : before;
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
static bool read_in(const Look *look, uint32_t loop, uint32_t value) {
    for (uint32_t i = 0; i < look->flow.instruction_count; i++) {
        const PtxStatement *statement = look_statement(look, i);
        for (uint32_t k = statement->first; k < statement->first + statement->count; k++)
            if (flow_value(&look->flow, k) == value && look->flow.values[value].operand != k &&
                in_loop(&look->flow, loop, look->flow.block_of[i]))
                return true;
    }
    return false;
}

/* ---- Slots ------------------------------------------------------------------------------------------------- */

/* The slot of a value that is told before a loop; PTX_NONE: there are too many. */
static uint32_t slot_of(Telling *telling, uint32_t loop, uint32_t value, bool corners) {
    uint8_t bits = telling->look->values.forms[value].width;
    for (uint32_t i = 0; i < telling->count; i++)
        if (telling->slots[i].loop == loop && telling->slots[i].value == value) {
            telling->slots[i].corners |= corners;
            return i;
        }
    if (telling->count == MOST_SLOTS || (bits != 32 && bits != 64))
        return PTX_NONE;
    *ARENA_PUSH(telling->plan->arena, telling->slots, telling->count, telling->capacity) =
        (ToldSlot){loop, value, bits, corners, false};
    return telling->count - 1;
}

static const PtxSum *kept(Telling *telling, const PtxSum *sum) {
    if (!sum->term_count && !sum->constant)
        return NULL;
    PtxSum *copy = ARENA_NEW(telling->plan->keep, PtxSum);
    *copy = *sum;
    copy->root_count = 0;
    return copy;
}

/* What is added to a phi of a loop's header in a turn: a value that all lanes have, and that the loop does not change
 * (PTX_NONE: none), and *by. False: nothing like it. */
static bool added_in_turn(const Look *look, uint32_t latch_value, uint32_t phi, uint32_t loop, uint32_t *also,
                          PtxSum *by) {
    *by = ptx_sum_of(&look->values, latch_value);
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
    Form form = look->values.forms[*also];
    return found && !in_loop(&look->flow, loop, look->flow.values[*also].block) &&
           form_is_uniform(look->values.tables, &form) && look_granted(look, &form) && read_in(look, loop, *also);
}

/* The step whose run begins each turn of a loop, before all that a block does. */
static uint32_t turn_of(const Telling *telling, uint32_t loop, uint32_t block) {
    const PtxFlow *flow = &telling->look->flow;
    for (uint32_t i = 0; i < telling->plan->count; i++) {
        const Step *step = &telling->plan->steps[i];
        if (step_may_run(step) && every_turn(flow, loop, step->block))
            return flow_dominates(flow, step->block, block) ? i : PTX_NONE;
    }
    return PTX_NONE;
}

static bool goes_already(const Telling *telling, uint32_t slot) {
    for (uint32_t i = 0; i < telling->goes_count; i++)
        if (telling->goes[i].advance.slot == slot)
            return true;
    return false;
}

/* A step that every warp comes to before it enters a loop, and not in it: the first of a block around the same loop
 * that is on all ways to it. PTX_NONE: there is none. */
static uint32_t step_before(const Telling *telling, uint32_t loop) {
    const PtxFlow *flow = &telling->look->flow;
    uint32_t outer = flow->loops[loop].outer, before = block_before(telling->look, loop);
    const Step *steps = telling->plan->steps;
    if (before == PTX_NONE || (outer != PTX_NONE && flow->loops[outer].irreducible))
        return PTX_NONE;
    for (uint32_t i = 0; i < telling->plan->count; i++)
        if (step_may_run(&steps[i]) && (!i || steps[i - 1].block != steps[i].block) &&
            flow->blocks[steps[i].block].loop == outer && flow_dominates(flow, steps[i].block, before))
            return i;
    return PTX_NONE;
}

/* Starts a slot where what it begins with is known: then it is not told. */
static void start_known(Telling *telling, uint32_t loop, uint32_t slot, const FlowValue *phi) {
    const PtxFlow *flow = &telling->look->flow;
    const FlowBlock *header = &flow->blocks[flow->loops[loop].header];
    uint32_t step = step_before(telling, loop), first = PTX_NONE;
    for (uint32_t i = 0; i < header->predecessor_count; i++)
        if (!in_loop(flow, loop, flow->edges[header->predecessors + i]))
            first = flow->inputs[phi->inputs + i];
    if (step == PTX_NONE || first == PTX_NONE || telling->look->values.forms[first].width != telling->slots[slot].bits)
        return;
    PtxSum sum = ptx_sum_of(&telling->look->values, first);
    const SitePlaced *placed = know_roots(telling->look, &sum, telling->plan->keep);
    if (sum.root_count)
        return;
    telling->slots[slot].known = true;
    *ARENA_PUSH(telling->plan->arena, telling->goes, telling->goes_count, telling->goes_capacity) =
        (Goes){step, {slot, PTX_NONE, kept(telling, &sum), placed, true}};
}

/* The slot of a phi that goes on by as much in each turn of its loop. */
static uint32_t going_slot(Telling *telling, uint32_t loop, uint32_t phi, uint32_t block, bool corners) {
    const PtxFlow *flow = &telling->look->flow;
    const FlowBlock *header = &flow->blocks[flow->loops[loop].header];
    uint32_t turn = turn_of(telling, loop, block), also = PTX_NONE;
    PtxSum by = {0};
    bool any = false;
    if (turn == PTX_NONE || block_before(telling->look, loop) == PTX_NONE)
        return PTX_NONE;
    for (uint32_t i = 0; i < header->predecessor_count; i++) {
        if (!in_loop(flow, loop, flow->edges[header->predecessors + i]))
            continue;
        if (any || !added_in_turn(telling->look, flow->inputs[flow->values[phi].inputs + i], phi, loop, &also, &by))
            return PTX_NONE; /* two ways back may add different things */
        any = true;
    }
    uint32_t step = any && also != PTX_NONE ? slot_of(telling, loop, also, false) : PTX_NONE;
    if (!any || (also != PTX_NONE && step == PTX_NONE))
        return PTX_NONE;
    uint32_t slot = slot_of(telling, loop, phi, corners);
    if (slot == PTX_NONE || goes_already(telling, slot))
        return slot;
    *ARENA_PUSH(telling->plan->arena, telling->goes, telling->goes_count, telling->goes_capacity) =
        (Goes){turn, {slot, step, kept(telling, &by), NULL, false}};
    if (form_is_uniform(telling->look->values.tables, &telling->look->values.forms[phi]))
        start_known(telling, loop, slot, &flow->values[phi]);
    return slot;
}

/* ---- Parts ------------------------------------------------------------------------------------------------- */

/* The slot of a root: what the loop does not change, or what goes on in it. */
static uint32_t root_slot(Telling *telling, uint32_t loop, uint32_t root, uint32_t block, bool corners) {
    const FlowValue *value = &telling->look->flow.values[root];
    if (!in_loop(&telling->look->flow, loop, value->block))
        return block_before(telling->look, loop) != PTX_NONE && read_in(telling->look, loop, root)
                   ? slot_of(telling, loop, root, corners)
                   : PTX_NONE;
    bool phi = value->kind == VALUE_PHI && value->block == telling->look->flow.loops[loop].header;
    return phi ? going_slot(telling, loop, root, block, corners) : PTX_NONE;
}

/* Whether the lanes of a root differ, which its corners then have to say. False: they cannot. */
static bool has_corners(const Look *look, uint32_t root, bool *differs) {
    const Form *form = &look->values.forms[root];
    *differs = !form_is_uniform(look->values.tables, form);
    return look_granted(look, form) && form_shape(look->values.tables, form) <= SHAPE_BITS;
}

/* A part that is the sum of one or two such. How its lanes differ is known, or else by how theirs do. */
static uint32_t sum_slots(Telling *telling, uint32_t loop, const PtxSum *sum, uint32_t block, SitePart *part) {
    uint32_t slots[2] = {PTX_NONE, PTX_NONE};
    if (sum->root_count > 2)
        return PTX_NONE;
    for (unsigned i = 0; i < sum->root_count; i++) {
        bool differs = false;
        if (part->shape == PART_CORNERS && !has_corners(telling->look, sum->roots[i], &differs))
            return PTX_NONE;
        slots[i] = root_slot(telling, loop, sum->roots[i], block, differs);
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

static void find_source(Telling *telling, const Step *step, SitePart *part) {
    const PtxFlow *flow = &telling->look->flow;
    uint32_t value = flow_value(flow, part->operand), loop = flow->blocks[step->block].loop, slot = PTX_NONE;
    if (value == PTX_NONE || telling->look->values.forms[value].width != part->bits)
        return;
    PtxSum sum = ptx_sum_of(&telling->look->values, value);
    const SitePlaced *placed = know_roots(telling->look, &sum, telling->plan->keep);
    if (!sum.root_count) {
        part->from = FROM_LAUNCH;
        part->placed = placed;
        part->told = false;
        part->apart = kept(telling, &sum);
        return;
    }
    if (loop != PTX_NONE && !in_loop(flow, loop, flow->values[value].block)) {
        loop = loop_without(flow, loop, flow->values[value].block);
        if (block_before(telling->look, loop) != PTX_NONE)
            slot = slot_of(telling, loop, value, part->shape == PART_CORNERS);
        sum = (PtxSum){0};
        placed = NULL;
    } else if (loop != PTX_NONE) {
        slot = sum_slots(telling, loop, &sum, step->block, part);
    }
    if (slot == PTX_NONE) {
        part->also = 0;
        return;
    }
    part->from = FROM_SLOT;
    part->told = false;
    part->place = (uint16_t)slot;
    part->apart = kept(telling, &sum);
    part->placed = placed;
}

/* ---- Steps that tell --------------------------------------------------------------------------------------- */

/* Some slots of a loop, from one on; how many, or 0 if none is left. */
static uint32_t gather_slots(const Telling *telling, uint32_t loop, uint32_t *from, SiteSlot *to) {
    const PtxFlow *flow = &telling->look->flow;
    uint32_t count = 0, words = 0, corners = 0;
    for (; *from < telling->count; ++*from) {
        const ToldSlot *slot = &telling->slots[*from];
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

static void add_tells(Telling *telling, uint32_t loop) {
    Plan *plan = telling->plan;
    const PtxFlow *flow = &telling->look->flow;
    SiteSlot slots[SLOT_WORDS + SLOT_CORNERS];
    for (uint32_t from = 0, count; (count = gather_slots(telling, loop, &from, slots));) {
        uint32_t before = block_before(telling->look, loop), last = flow->blocks[before].end - 1;
        SiteSlot *all = ARENA_ARRAY(plan->keep, SiteSlot, count);
        memcpy(all, slots, count * sizeof *all);
        Site *site = ARENA_NEW(plan->arena, Site);
        *site = (Site){.number = plan->tell_base + plan->tell_count,
                       .function = telling->look->function,
                       .statement = flow->instructions[last],
                       .only_tells = true,
                       .run = 1,
                       .slot_count = count,
                       .slots = all};
        *ARENA_PUSH(plan->arena, plan->tells, plan->tell_count, plan->tell_capacity) = site;
        *ARENA_PUSH(plan->arena, plan->steps, plan->count, plan->capacity) =
            (Step){.site = site,
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
static void add_advances(Telling *telling) {
    for (uint32_t i = 0; i < telling->goes_count; i++) {
        Site *site = telling->plan->steps[telling->goes[i].step].site;
        SiteAdvance *all = ARENA_ARRAY(telling->plan->keep, SiteAdvance, site->advance_count + 1);
        if (site->advance_count)
            memcpy(all, site->advances, site->advance_count * sizeof *all);
        all[site->advance_count++] = telling->goes[i].advance;
        site->advances = all;
    }
}

void plan_told(Plan *plan) {
    Telling telling = {.plan = plan, .look = plan->look};
    for (uint32_t i = 0; i < plan->count; i++) {
        Step *step = &plan->steps[i];
        step->site->advance_count = 0;
        for (uint32_t k = 0; k < step->site->part_count; k++) {
            SitePart *part = &step->site->parts[k];
            part->told = true;
            part->from = part->shape == PART_CORNERS ? FROM_CORNERS
                         : part->shape == PART_EVERY ? FROM_EVERY
                         : part->shape == PART_BIT   ? FROM_BITS
                                                     : FROM_WORDS;
            part->apart = NULL;
            part->placed = NULL;
            part->also = 0;
            if (!part->data && part->shape != PART_BIT && step_may_run(step))
                find_source(&telling, step, part);
        }
    }
    add_advances(&telling);
    for (uint32_t i = 0; telling.count && i < plan->look->flow.loop_count; i++)
        add_tells(&telling, i);
    plan->slots = telling.count;
}
