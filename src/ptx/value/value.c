/* Finds the forms of all values of a function, and over which threads its branches go the same way: from the most that
 * can be known down, until nothing changes. */
#include "ptx/value/internal.h"

/* ---- Who reads what ------------------------------------------------------------------------------------- */

static void count_user(ValueSolver *s, uint32_t value, uint32_t user, bool fill) {
    if (value == PTX_NONE)
        return;
    if (fill)
        s->users[s->users_at[value]++] = user;
    else
        s->users_at[value]++;
}

static void visit_users(ValueSolver *s, bool fill) {
    const PtxFlow *flow = s->flow;
    for (uint32_t i = 0; i < flow->instruction_count; i++) {
        const PtxStatement *statement = &s->module->statements[flow->instructions[i]];
        for (uint32_t k = 0; k < statement->count; k++) {
            uint32_t at = statement->first + k, value = flow_value(flow, at);
            if (value == PTX_NONE)
                continue;
            bool written = flow->values[value].operand == at;
            count_user(s, written ? flow->values[value].before : value, i, fill);
        }
    }
    for (uint32_t v = 0; v < flow->value_count; v++)
        if (flow->values[v].kind == VALUE_PHI)
            for (uint32_t k = 0; k < flow->blocks[flow->values[v].block].predecessor_count; k++)
                count_user(s, flow->inputs[flow->values[v].inputs + k], flow->instruction_count + v, fill);
}

static void find_users(ValueSolver *s) {
    uint32_t values = s->flow->value_count, total = 0;
    s->users_at = ARENA_ARRAY(&s->scratch, uint32_t, (size_t)values + 1);
    visit_users(s, false);
    for (uint32_t v = 0; v <= values; v++) {
        uint32_t own = s->users_at[v];
        s->users_at[v] = total;
        total += own;
    }
    s->users = arena_alloc(&s->scratch, sizeof(uint32_t) * ((size_t)total + 1));
    visit_users(s, true);
    for (uint32_t v = values; v > 0; v--) /* each start went on to its end */
        s->users_at[v] = s->users_at[v - 1];
    s->users_at[0] = 0;
}

void note_users(ValueSolver *s, uint32_t value) {
    for (uint32_t i = s->users_at[value]; i < s->users_at[value + 1]; i++)
        s->waiting[s->users[i]] = true;
    s->any_waiting |= s->users_at[value] < s->users_at[value + 1];
}

/* ---- Forms ---------------------------------------------------------------------------------------------------- */

/* A form that goes on changing loses bits first, those of a counter at its top; then all. */
static Form widened(Form form, unsigned changes) {
    uint64_t unknown = ~(form.zeros | form.ones), low = unknown & -unknown;
    if (changes > 32)
        return form_any(form.width);
    if (changes > 8)
        form.zeros = form.ones = 0;
    else if (changes > 3 && low) {
        form.zeros &= low - 1;
        form.ones &= low - 1;
    }
    return form;
}

void set_form(ValueSolver *s, uint32_t value, Form form, PtxOrigin origin) {
    Form *old = &s->values->forms[value];
    PtxOrigin *from = &s->values->origins[value];
    bool same = old->kind == form.kind && from->space == origin.space && from->variable == origin.variable &&
                from->generic == origin.generic && from->distance == origin.distance;
    if (form.kind == FORM_NEVER || (same && form_equal(old, &form)))
        return;
    bool phi = s->flow->values[value].kind == VALUE_PHI;
    if (s->changes[value] < UINT8_MAX)
        s->changes[value]++;
    if (phi || s->changes[value] > 64)
        form = widened(form, s->changes[value]);
    if (same && form_equal(old, &form))
        return;
    if (s->changes[value] > 100) /* it has nothing to lose any more */
        origin = unknown_origin();
    *old = form;
    *from = origin;
    note_users(s, value);
}

static void solve_phi(ValueSolver *s, uint32_t value) {
    const PtxFlow *flow = s->flow;
    const FlowValue *phi = &flow->values[value];
    FormSpan control = (FormSpan)s->control.joins[phi->block];
    Form form = {.kind = FORM_NEVER};
    PtxOrigin origin = unknown_origin();
    uint32_t count = flow->blocks[phi->block].predecessor_count, only = PTX_NONE;
    for (uint32_t k = 0; k < count; k++) {
        uint32_t input = flow->inputs[phi->inputs + k];
        if (input == value || s->values->forms[input].kind == FORM_NEVER || input == only)
            continue;
        Form own = value_form(s->values, input, phi->block);
        origin = form.kind == FORM_NEVER ? s->values->origins[input] : join_origins(origin, s->values->origins[input]);
        form = form_join(s->tables, &form, &own, control);
        only = only == PTX_NONE ? input : only;
    }
    set_form(s, value, form, origin);
}

/* ---- All of it ----------------------------------------------------------------------------------------------------
 */

static void start_forms(ValueSolver *s) {
    const PtxFlow *flow = s->flow;
    for (uint32_t v = 0; v < flow->value_count; v++) {
        const FlowValue *value = &flow->values[v];
        unsigned width = register_width(s->module, value->variable);
        s->values->origins[v] = unknown_origin();
        s->values->forms[v] = form_any(width);
        if (value->kind == VALUE_RESULT || value->kind == VALUE_PHI)
            s->values->forms[v].kind = FORM_NEVER;
    }
    memset(s->waiting, 1, flow->instruction_count + (size_t)flow->value_count);
}

static void solve_block(ValueSolver *s, uint32_t index) {
    const FlowBlock *block = &s->flow->blocks[index];
    bool *phis = s->waiting + s->flow->instruction_count + block->phis;
    for (uint32_t i = 0; i < block->phi_count; i++)
        if (phis[i]) {
            phis[i] = false;
            solve_phi(s, block->phis + i);
        }
    for (uint32_t i = block->begin; i < block->end; i++)
        if (s->waiting[i]) {
            s->waiting[i] = false;
            solve_instruction(s, i);
        }
}

static void solve(ValueSolver *s) {
    const PtxFlow *flow = s->flow;
    do {
        s->any_waiting = false;
        for (uint32_t i = 0; i < flow->order_count; i++)
            solve_block(s, flow->order[i]);
    } while (s->any_waiting);
    for (uint32_t v = 0; v < flow->value_count; v++) /* what nothing computes, because no thread comes there */
        if (s->values->forms[v].kind == FORM_NEVER)
            s->values->forms[v] = form_any(register_width(s->module, flow->values[v].variable));
}

static void start(ValueSolver *s, const PtxBlockShape *shape) {
    const PtxFlow *flow = s->flow;
    PtxValues *values = s->values;
    Arena *arena = &values->arena;
    size_t waiting = flow->instruction_count + (size_t)flow->value_count;
    values->shape = block_shape(flow, shape);
    unsigned threads = shape_threads(&values->shape);
    threads = threads ? (threads + FORM_LANES - 1) / FORM_LANES * FORM_LANES : FORM_LANES;
    values->tables = s->tables = form_tables(arena, threads);
    values->forms = ARENA_ARRAY(arena, Form, flow->value_count);
    values->origins = ARENA_ARRAY(arena, PtxOrigin, flow->value_count);
    values->assumed = ARENA_ARRAY(arena, bool, flow->instruction_count);
    values->ends = ARENA_ARRAY(arena, uint8_t, flow->block_count);
    values->turns = ARENA_ARRAY(arena, uint8_t, flow->loop_count);
    values->parts = ARENA_ARRAY(arena, bool, flow->block_count);
    values->divergent = ARENA_ARRAY(arena, bool, flow->block_count);
    values->meanings = ARENA_ARRAY(arena, Meaning, s->module->forms_count);
    s->waiting = ARENA_ARRAY(&s->scratch, bool, waiting);
    s->changes = ARENA_ARRAY(&s->scratch, uint8_t, flow->value_count);
    start_forms(s);
    find_users(s);
    control_start(s);
}

size_t ptx_values_budget(const PtxModule *module) {
    return 4 * ptx_flow_budget(module) + (64 << 20);
}

bool ptx_values(PtxValues *values, const PtxFlow *flow, const PtxBlockShape *shape, size_t budget,
                const char **problem) {
    *values = (PtxValues){.flow = flow};
    ValueSolver solver = {.values = values, .flow = flow, .module = flow->module}, *s = &solver;
    jmp_buf exhausted;
    arena_init(&values->arena, budget / 2);
    arena_init(&s->scratch, budget / 2);
    bool good = setjmp(exhausted) == 0;
    if (good) {
        values->arena.exhausted = s->scratch.exhausted = &exhausted;
        start(s, shape);
        solve(s);
        control_finish(s);
    } else {
        *problem = "the forms of its values take more memory than is given for them";
        arena_free(&values->arena);
    }
    values->arena.exhausted = NULL;
    arena_free(&s->scratch);
    return good;
}

void ptx_values_free(PtxValues *values) {
    arena_free(&values->arena);
}

bool ptx_flow_values(PtxFlow *flow, PtxValues *values, const PtxModule *module, uint32_t function,
                     const PtxBlockShape *shape, size_t budget, const char **problem) {
    if (!ptx_flow(flow, module, function, budget ? budget : ptx_flow_budget(module), problem))
        return false;
    if (ptx_values(values, flow, shape, budget ? budget : ptx_values_budget(module), problem))
        return true;
    ptx_flow_free(flow);
    return false;
}

void ptx_flow_values_free(PtxFlow *flow, PtxValues *values) {
    ptx_values_free(values);
    ptx_flow_free(flow);
}
