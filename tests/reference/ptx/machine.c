/* The machine: launches, and warps that take turns. */
#include "internal.h"

#include <stdlib.h>

void machine_stop(Machine *m, Str what, uint32_t statement) {
    m->end.kind = END_STOPPED;
    m->end.what = what;
    m->end.statement = statement;
    longjmp(m->stop, 1);
}

/* bra.uni with a guard: the one that wrote it says that the guard is the same in all lanes. */
static bool promises(const Machine *m, const PtxStatement *s) {
    return s->kind == PTX_INSTRUCTION && s->flags & PTX_GUARDED && m->forms[s->what].does == DOES_BRANCH &&
           has(&m->forms[s->what], W_uni);
}

Machine *machine_new(const PtxModule *module) {
    Machine *m = calloc(1, sizeof *m);
    m->module = module;
    arena_init(&m->arena, SIZE_MAX);
    m->forms = ARENA_ARRAY(&m->arena, Verb, module->forms_count + 1);
    for (uint32_t i = 0; i < module->forms_count; i++)
        form_take_apart(&m->forms[i], module->forms[i].text);
    m->functions = ARENA_ARRAY(&m->arena, Function, module->functions_count + 1);
    m->placed = ARENA_ARRAY(&m->arena, Placed, module->variables_count + 1);
    m->owners = ARENA_ARRAY(&m->arena, uint32_t, module->variables_count + 1);
    place_variables(m);
    for (uint32_t i = 0; i < module->statements_count; i++)
        m->together = m->together || promises(m, &module->statements[i]);
    return m;
}

void machine_free(Machine *m) {
    memory_free(&m->memory);
    arena_free(&m->arena);
    free(m);
}

uint32_t machine_parameter(Machine *m, uint32_t function, uint32_t index, uint32_t *bytes) {
    const Placed *p = &m->placed[m->module->functions[function].parameters + index];
    *bytes = p->bytes;
    return (uint32_t)p->at;
}

uint32_t machine_parameter_bytes(Machine *m, uint32_t function) {
    const PtxFunction *f = &m->module->functions[function];
    uint32_t bytes = 0, at = f->parameter_count ? machine_parameter(m, function, f->parameter_count - 1, &bytes) : 0;
    return at + bytes;
}

uint64_t machine_global(Machine *m, uint64_t address, unsigned bytes) {
    return memory_read(&m->memory, address, bytes);
}

/* ---- Groups: which is behind which ---- */

/* Negative: a is behind b. 0: they stand at the same place. */
static int standing_order(const Standing *a, const Standing *b) {
    const Function *f = a->frame->function;
    if (a->frame != b->frame)
        return a->frame->number < b->frame->number ? -1 : 1;
    if (a->pc >= f->count || b->pc >= f->count)
        return a->pc < b->pc ? -1 : a->pc > b->pc;
    const Block *x = &f->blocks[f->code[a->pc].block], *y = &f->blocks[f->code[b->pc].block];
    for (uint32_t k = 0; k < x->loop_count && k < y->loop_count && x->loops[k] == y->loops[k]; k++)
        if (a->turns[k] != b->turns[k])
            return a->turns[k] < b->turns[k] ? -1 : 1;
    if (x != y)
        return x->order < y->order ? -1 : 1;
    return a->pc < b->pc ? -1 : a->pc > b->pc;
}

static int group_order(const Group *a, const Group *b) {
    for (uint32_t d = 0; d < a->depth && d < b->depth; d++) {
        int order = standing_order(&a->standing[d], &b->standing[d]);
        if (order)
            return order;
    }
    return a->depth > b->depth ? -1 : a->depth < b->depth;
}

static void group_drop(Warp *warp, Group *group) {
    Group **at = &warp->groups;
    while (*at != group)
        at = &(*at)->next;
    *at = group->next;
    for (uint32_t d = 0; d < group->depth; d++)
        frame_release(group->standing[d].frame);
    free(group);
}

/* The group that is furthest behind, with all that stand where it does. Others run only if that one waits, and nothing
 * else in the cluster can go on. */
static Group *pick(Warp *warp, bool desperate) {
    Group *first = NULL;
    for (Group *g = warp->groups, *next; g; g = next) {
        next = g->next;
        if (!g->lanes) {
            group_drop(warp, g);
            continue;
        }
        if (desperate && g->waits != RUNS)
            continue;
        int order = first ? group_order(g, first) : -1;
        if (order < 0) {
            first = g;
        } else if (order == 0 && g->waits == RUNS && first->waits == RUNS) {
            first->lanes |= g->lanes;
            group_drop(warp, g);
        }
    }
    return first && first->waits == RUNS ? first : NULL;
}

/* ---- Steps ---- */

static void run_plain(Context *c) {
    Does does = c->form->does;
    if (does < DOES_PURE)
        run_lanewise(c);
    else if (does == DOES_PURE)
        run_pure(c);
    else if (does == DOES_HAVOC_DEPENDENT || does == DOES_WAIT)
        run_havoc(c);
    else if (does == DOES_MOVE)
        run_move(c);
    else if (does >= DOES_CVTA && does <= DOES_RANK)
        run_addresses(c);
    else if (does == DOES_ALLOCATE)
        run_allocate(c);
    else if (does >= DOES_LOAD && does <= DOES_ATOM)
        run_access(c);
    else if (does >= DOES_SHUFFLE && does <= DOES_ELECT)
        run_warp_wide(c);
    else if (does != DOES_NOTHING)
        machine_stop(c->machine, c->form->text, c->instruction->statement);
}

static uint32_t guarded(Context *c, const Function *f) {
    uint64_t values[LANES];
    uint32_t run = 0;
    if (c->instruction->guard == PTX_NONE)
        return c->group->lanes;
    uint32_t defined = fetch(c, &f->args[c->instruction->guard], values);
    if (c->form->does >= DOES_BRANCH && (defined & c->group->lanes) != c->group->lanes)
        machine_stop(c->machine, STR("the guard of a branch is undefined"), c->instruction->statement);
    for (uint32_t left = c->group->lanes; left; left &= left - 1)
        if ((values[__builtin_ctz(left)] & 1) != c->instruction->guard_negated)
            run |= left & -left;
    return run;
}

static uint64_t turns_number(const Standing *at, uint64_t seed) {
    const Function *f = at->frame->function;
    const Block *block = &f->blocks[f->code[at->pc].block];
    for (uint32_t k = 0; k < block->loop_count; k++)
        seed = mixed(seed, at->turns[k]);
    return seed;
}

static Step step_of(Context *c) {
    const Warp *w = c->warp;
    Step step = {.machine = c->machine,
                 .function = c->top->frame->function->index,
                 .statement = c->instruction->statement,
                 .lanes = c->group->lanes,
                 .run = c->run,
                 .entered = c->top->frame->lanes,
                 .apart = w->apart,
                 .warp = w->number,
                 .first = w->first,
                 .cta = w->cta->number,
                 .cluster = w->cta->cluster,
                 .state = c};
    for (uint32_t d = 0; d + 1 < c->group->depth; d++)
        step.parent = mixed(turns_number(&c->group->standing[d], step.parent), c->group->standing[d].pc + 1);
    step.instance = turns_number(c->top, step.parent);
    return step;
}

/* One instruction of a group. False: the warp is to pick again. */
static bool run_step(Machine *m, Warp *w, Group *g) {
    Standing *top = &g->standing[g->depth - 1];
    Function *f = top->frame->function;
    static const Verb falls = {.does = DOES_RETURN};
    static const Instruction last = {.form = &falls, .guard = PTX_NONE};
    const Instruction *instruction = top->pc < f->count ? &f->code[top->pc] : &last;
    Context c = {
        .machine = m, .warp = w, .group = g, .top = top, .instruction = instruction, .form = instruction->form};
    c.args = f->args + instruction->args;
    c.run = guarded(&c, f);
    if (m->end.steps++ >= m->launch->steps) {
        m->end.kind = END_STEPS;
        longjmp(m->stop, 1);
    }
    m->written_count = 0;
    bool watched = m->watcher && instruction != &last;
    Step step = watched ? step_of(&c) : (Step){0};
    if (watched && m->watcher->before)
        m->watcher->before(m->watcher->to, &step);
    if (run_control(&c))
        return false;
    if (c.run)
        run_plain(&c);
    if (watched && m->watcher->after)
        m->watcher->after(m->watcher->to, &step);
    go_on(&c, g, top->pc + 1);
    return true;
}

static bool run_warp(Machine *m, Warp *w, bool desperate) {
    Group *g = pick(w, desperate);
    if (!g)
        return false;
    w->apart = w->apart || desperate;
    for (unsigned left = 512; left && run_step(m, w, g); left--) {
        const Standing *top = &g->standing[g->depth - 1];
        const Function *f = top->frame->function;
        if (g->next || w->groups != g)
            if (top->pc >= f->count || f->blocks[f->code[top->pc].block].begin == top->pc)
                break;
    }
    return true;
}

/* ---- Launches ---- */

static void start_warp(Machine *m, Warp *w, Cta *cta, uint32_t first, uint32_t threads) {
    uint32_t lanes = threads - first < LANES ? threads - first : LANES;
    uint32_t per_cta = (threads + LANES - 1) / LANES;
    *w = (Warp){.cta = cta, .number = cta->number * per_cta + first / LANES, .first = first};
    w->launched = lanes == LANES ? UINT32_MAX : (UINT32_C(1) << lanes) - 1;
    Group *group = calloc(1, sizeof *group);
    group->lanes = w->launched;
    group->depth = 1;
    group->standing[0].frame = frame_new(m, function_ready(m, m->launch->function), 0, w->launched);
    w->groups = group;
}

static void start_cluster(Machine *m, uint32_t number) {
    const Launch *l = m->launch;
    uint32_t threads = l->block[0] * l->block[1] * l->block[2], warps = (threads + LANES - 1) / LANES;
    uint32_t across[2] = {l->grid[0] / l->cluster[0], l->grid[1] / l->cluster[1]};
    uint32_t at[3] = {number % across[0], number / across[0] % across[1], number / across[0] / across[1]};
    m->warp_count = 0;
    m->cluster_arrived = m->cluster_phase = 0;
    for (uint32_t r = 0; r < m->cta_count; r++) {
        Cta *cta = &m->ctas[r];
        uint32_t in[3] = {r % l->cluster[0], r / l->cluster[0] % l->cluster[1], r / l->cluster[0] / l->cluster[1]};
        *cta = (Cta){.cluster = number, .rank = r, .live = threads};
        for (unsigned i = 0; i < 3; i++)
            cta->at[i] = at[i] * l->cluster[i] + in[i];
        cta->number = cta->at[0] + l->grid[0] * (cta->at[1] + l->grid[1] * cta->at[2]);
        for (uint32_t w = 0; w < warps; w++)
            start_warp(m, &m->warps[m->warp_count++], cta, w * LANES, threads);
    }
}

static void end_cluster(Machine *m) {
    for (uint32_t w = 0; w < m->warp_count; w++)
        while (m->warps[w].groups)
            group_drop(&m->warps[w], m->warps[w].groups);
    m->warp_count = 0;
}

static bool any_left(const Machine *m) {
    for (uint32_t i = 0; i < m->cta_count; i++)
        if (m->ctas[i].live)
            return true;
    return false;
}

static void run_cluster(Machine *m) {
    while (any_left(m)) {
        bool ran = false;
        for (uint32_t w = 0; w < m->warp_count; w++)
            ran = run_warp(m, &m->warps[w], false) || ran;
        for (uint32_t w = 0; w < m->warp_count && !ran; w++)
            ran = run_warp(m, &m->warps[w], true);
        if (!ran && any_left(m)) {
            m->end.forced++;
            barriers_force(m);
        }
    }
}

static void start(Machine *m) {
    const Launch *l = m->launch;
    memory_clear(&m->memory, l->seed, l->contents);
    for (unsigned i = 0; i < 4; i++)
        m->windows[i] = (0x1000 * (i + 1) + (mixed(l->seed, i) & 0xfff)) << 32;
    memory_initialize(m);
    for (uint32_t i = 0, bytes = machine_parameter_bytes(m, l->function); i < bytes; i++)
        memory_write(&m->memory, UINT64_C(4) << 60 | i, 1, l->parameters[i]);
    uint32_t threads = l->block[0] * l->block[1] * l->block[2];
    m->cta_count = l->cluster[0] * l->cluster[1] * l->cluster[2];
    m->ctas = calloc(m->cta_count, sizeof *m->ctas);
    m->warps = calloc(m->cta_count * ((threads + LANES - 1) / LANES), sizeof *m->warps);
}

End machine_run(Machine *m, const Launch *launch, const Watcher *watcher) {
    m->launch = launch;
    m->watcher = watcher;
    m->end = (End){.kind = END_REACHED, .statement = PTX_NONE};
    m->frames = 0;
    start(m);
    if (!setjmp(m->stop)) {
        if (function_ready(m, launch->function)->too_deep)
            machine_stop(m, STR("loops that are nested too deep"), m->module->functions[launch->function].begin);
        uint32_t clusters = launch->grid[0] * launch->grid[1] * launch->grid[2] / m->cta_count;
        for (uint32_t i = 0; i < clusters; i++) {
            start_cluster(m, i);
            run_cluster(m);
            end_cluster(m);
        }
    }
    end_cluster(m);
    free(m->ctas);
    free(m->warps);
    return m->end;
}

/* ---- For watchers ---- */

static const Arg *find_arg(const Function *f, const Instruction *instruction, uint32_t operand) {
    /* an instruction's args stand together, with its guard before them */
    uint32_t from = instruction->guard != PTX_NONE ? instruction->guard : instruction->args;
    for (uint32_t i = from; i < f->arg_count; i++)
        if (f->args[i].operand == operand)
            return &f->args[i];
    return NULL;
}

uint32_t step_values(const Step *step, uint32_t operand, uint64_t values[LANES]) {
    Context *c = step->state;
    const Arg *arg = find_arg(c->top->frame->function, c->instruction, operand);
    if (!arg || arg->kind == ARG_SINK || arg->kind == ARG_LABEL || arg->kind == ARG_OTHER || arg->kind == ARG_MEMBERS)
        return 0;
    Arg plain = *arg;
    plain.negated = false;
    return fetch(c, &plain, values);
}

uint32_t step_register(const Step *step, uint32_t variable, uint32_t index, uint64_t values[LANES]) {
    Context *c = step->state;
    const Placed *p = &step->machine->placed[variable];
    Arg arg = {.kind = ARG_REGISTER, .bits = p->bits, .what = p->slot + index * p->vector * (p->bits == 128 ? 2 : 1)};
    return fetch(c, &arg, values);
}

Region step_region(const Step *step, uint32_t operand, unsigned lane, uint64_t address) {
    Context *c = step->state;
    Space space = c->form->space;
    unsigned before = 0;
    for (uint32_t i = 0; i < c->instruction->arg_count && c->args[i].operand != operand; i++)
        before += c->args[i].kind == ARG_ADDRESS;
    /* of two, the second is where bytes come from; a tensor map is at a generic address; barriers are in shared memory
     */
    bool map = str_mentions(c->form->text, STR(".tensor")) && before == (c->form->space == IN_GLOBAL ? 0 : 1);
    /* Triton gives it a shared address of 64 bits, and ptxas takes the lower half of a generic one */
    bool commit = str_mentions(c->form->text, STR("tcgen05.commit"));
    if (commit)
        space = IN_CLUSTER;
    else if (map || str_mentions(c->form->text, STR("prefetch.tensormap")))
        space = GENERIC;
    else if (before == 1 && c->form->second != GENERIC)
        space = c->form->second;
    else if (before >= 1)
        space = IN_CLUSTER;
    return location_of(c, lane, space, address).region;
}

uint32_t step_written(const Step *step, const uint32_t **operands) {
    *operands = step->machine->written;
    return step->machine->written_count;
}
