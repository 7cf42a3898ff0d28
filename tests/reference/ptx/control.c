/* Where threads go on and where they wait: branches, calls, returns, barriers. */
#include "internal.h"

#include <stdlib.h>

/* ---- Groups ---- */

/* A group's top goes on at `pc`: which loops it enters, and whether a turn more of one begins. */
static void enter(Standing *at, uint32_t pc) {
    const Function *f = at->frame->function;
    const Block *from = &f->blocks[f->code[at->pc].block];
    at->pc = pc;
    if (pc >= f->count || pc != f->blocks[f->code[pc].block].begin)
        return;
    const Block *to = &f->blocks[f->code[pc].block];
    uint32_t common = 0;
    while (common < from->loop_count && common < to->loop_count && from->loops[common] == to->loops[common])
        common++;
    for (uint32_t k = common; k < to->loop_count; k++)
        at->turns[k] = 0;
    for (uint32_t k = 0; k < common; k++)
        if (to->heads == to->loops[k])
            at->turns[k]++;
}

void go_on(Context *c, Group *group, uint32_t pc) {
    (void)c;
    enter(&group->standing[group->depth - 1], pc);
}

/* Some lanes of the group at hand become one of their own, which stands at the same place. */
static Group *part(Context *c, uint32_t lanes) {
    Group *group = malloc(sizeof *group);
    *group = *c->group;
    group->lanes = lanes;
    c->group->lanes &= ~lanes;
    for (uint32_t d = 0; d < group->depth; d++)
        group->standing[d].frame->users++;
    group->next = c->warp->groups;
    c->warp->groups = group;
    return group;
}

/* Those that do not run the instruction go on behind it; the rest of the group is left. */
static void leave_others(Context *c) {
    if (c->run != c->group->lanes)
        go_on(c, part(c, c->group->lanes & ~c->run), c->top->pc + 1);
}

void frame_release(Frame *frame) {
    if (--frame->users)
        return;
    free(frame->registers);
    free(frame->defined);
    free(frame->params);
    free(frame);
}

Frame *frame_new(Machine *m, Function *f, uint32_t local, uint32_t lanes) {
    Frame *frame = calloc(1, sizeof *frame);
    frame->function = f;
    frame->users = 1;
    frame->registers = calloc((size_t)f->slots + 1, LANES * sizeof *frame->registers);
    frame->defined = calloc((size_t)f->slots + 1, sizeof *frame->defined);
    frame->params = calloc(LANES, f->param_bytes - 0x10000 + 16);
    frame->local = (local + 15) / 16 * 16;
    frame->number = m->frames++;
    frame->lanes = lanes;
    return frame;
}

/* ---- Branches ---- */

static void run_branch(Context *c) {
    uint32_t target = instruction_at(c->top->frame->function, c->args[0].what);
    if (c->run != c->group->lanes && has(c->form, W_uni))
        machine_stop(c->machine, STR("a bra.uni that parts lanes"), c->instruction->statement);
    leave_others(c);
    go_on(c, c->group, target);
}

static void run_table(Context *c) {
    const Machine *m = c->machine;
    const Function *f = c->top->frame->function;
    uint32_t first, count;
    uint64_t index[LANES];
    table_targets(m, f, c->instruction, &first, &count);
    fetch(c, &c->args[0], index);
    leave_others(c);
    while (c->group->lanes) {
        uint64_t one = index[__builtin_ctz(c->group->lanes)];
        uint32_t same = 0;
        for (uint32_t left = c->group->lanes; left; left &= left - 1)
            same |= index[__builtin_ctz(left)] == one ? left & -left : 0;
        /* PTX does not say where an index beyond the list leads; here it is the last */
        const PtxOperand *label = &m->module->operands[first + (one < count ? (uint32_t)one : count - 1)];
        if (same == c->group->lanes) {
            go_on(c, c->group, instruction_at(f, label->a));
            return;
        }
        go_on(c, part(c, same), instruction_at(f, label->a));
    }
}

/* ---- Ends of threads ---- */

static void open_barriers(Context *c, bool forced);

static void end_lanes(Context *c, uint32_t lanes) {
    c->group->lanes &= ~lanes;
    c->warp->cta->live -= (uint32_t)__builtin_popcount(lanes);
    open_barriers(c, false);
}

/* ---- Calls ---- */

static const PtxFunction *defined_function(const Machine *m, uint32_t index, uint32_t *at) {
    const PtxModule *module = m->module;
    *at = index;
    for (uint32_t i = 0; !module->functions[*at].body && i < module->functions_count; i++)
        if (module->functions[i].body && module->functions[i].name == module->functions[index].name)
            *at = i;
    return &module->functions[*at];
}

static const Arg *call_part(const Context *c, const Instruction *call, bool returns) {
    const Arg *args = c->top->frame->function->args + call->args;
    bool callee = false;
    for (uint32_t i = 0; i < call->arg_count; i++) {
        bool list = args[i].operand_kind == PTX_LIST;
        if (list && callee != returns)
            return &args[i];
        callee = callee || !list;
    }
    return NULL;
}

static uint8_t *param_place(const Frame *frame, const Placed *p, unsigned lane) {
    return frame->params + lane * ((size_t)frame->function->param_bytes - 0x10000 + 16) + (p->at - 0x10000);
}

/* Between a variable of the callee's frame and an operand of the caller's, in one direction or the other. */
static void pass(Context *c, Frame *callee, uint32_t formal, const Arg *actual, bool back) {
    const Placed *to = &c->machine->placed[formal], *from = &c->machine->placed[actual->what];
    uint32_t bytes = to->space == GENERIC ? (to->bits + 7u) / 8 : to->bytes;
    uint64_t values[LANES];
    bool memory = actual->kind == ARG_VARIABLE;
    if (!back && !memory)
        fetch(c, actual, values);
    for (uint32_t left = c->group->lanes; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        uint8_t *inner = to->space == GENERIC ? (uint8_t *)&callee->registers[(size_t)to->slot * LANES + lane]
                                              : param_place(callee, to, lane);
        uint8_t *outer = memory ? param_place(c->top->frame, from, lane) : (uint8_t *)&values[lane];
        uint32_t size = memory && from->bytes < bytes ? from->bytes : memory ? bytes : bytes > 8 ? 8 : bytes;
        if (back && !memory)
            values[lane] = 0;
        memcpy(back ? outer : inner, back ? inner : outer, size);
    }
    if (to->space == GENERIC && !back)
        callee->defined[to->slot] |= c->group->lanes;
    if (back && !memory)
        put(c, actual, values, UINT32_MAX, (Type){NO_TYPE, 0});
}

static void pass_list(Context *c, Frame *callee, uint32_t variables, uint32_t count, const Arg *list, bool back) {
    for (uint32_t i = 0; list && i < count && i < list->count; i++)
        pass(c, callee, variables + i, &members(c, list)[i], back);
}

/* Functions that are not in the module: what they return is made up. */
static void run_external(Context *c, Str name) {
    if (str_is(name, "__assertfail")) {
        c->machine->end =
            (End){END_TRAP, name, c->instruction->statement, c->machine->end.steps, c->machine->end.forced};
        longjmp(c->machine->stop, 1);
    }
    if (!str_is(name, "vprintf") && !str_is(name, "malloc") && !str_is(name, "free"))
        machine_stop(c->machine, name, c->instruction->statement);
    const Arg *returns = call_part(c, c->instruction, true);
    for (uint32_t i = 0; returns && i < returns->count; i++) {
        const Arg *to = &members(c, returns)[i];
        uint64_t values[LANES];
        for (unsigned lane = 0; lane < LANES; lane++)
            values[lane] = (mixed(c->machine->end.steps, c->warp->number * LANES + lane) & 0xffffffff) << 4;
        for (uint32_t left = c->run; to->kind == ARG_VARIABLE && left; left &= left - 1) {
            const Placed *p = &c->machine->placed[to->what];
            unsigned lane = (unsigned)__builtin_ctz(left);
            memcpy(param_place(c->top->frame, p, lane), &values[lane], p->bytes < 8 ? p->bytes : 8);
        }
        put(c, to, values, UINT32_MAX, (Type){NO_TYPE, 0});
    }
    go_on(c, c->group, c->top->pc + 1);
}

/* The function that the group's first lane calls; the lanes that call another one are separated, and will call it then.
 */
static uint32_t callee_of(Context *c) {
    const Arg *args = c->args;
    const Arg *callee = &args[0];
    while (callee->operand_kind == PTX_LIST)
        callee++;
    if (callee->kind == ARG_FUNCTION)
        return callee->what;
    uint64_t values[LANES];
    fetch(c, callee, values);
    uint64_t one = values[__builtin_ctz(c->group->lanes)];
    uint32_t others = 0;
    for (uint32_t left = c->group->lanes; left; left &= left - 1)
        others |= values[__builtin_ctz(left)] != one ? left & -left : 0;
    if (others)
        part(c, others);
    c->run &= ~others;
    uint64_t index = (one - (UINT64_C(0xf) << 44)) / 16;
    if (index >= c->machine->module->functions_count)
        machine_stop(c->machine, STR("a call of what is no function"), c->instruction->statement);
    return (uint32_t)index;
}

static void run_call(Context *c) {
    leave_others(c);
    uint32_t index;
    const PtxFunction *ptx = defined_function(c->machine, callee_of(c), &index);
    if (!ptx->body) {
        run_external(c, ptx_name(c->machine->module, ptx->name));
        return;
    }
    Function *f = function_ready(c->machine, index);
    if (c->group->depth == CALLS_DEEP || f->too_deep)
        machine_stop(c->machine, STR("calls or loops that are nested too deep"), c->instruction->statement);
    Frame *own = c->top->frame;
    Frame *frame = frame_new(c->machine, f, own->local + own->function->local_bytes + own->allocated, c->group->lanes);
    pass_list(c, frame, ptx->parameters, ptx->parameter_count, call_part(c, c->instruction, false), false);
    c->group->standing[c->group->depth++] = (Standing){.frame = frame};
}

static void run_return(Context *c) {
    leave_others(c);
    Group *group = c->group;
    if (group->depth == 1) {
        end_lanes(c, group->lanes);
        return;
    }
    Frame *callee = c->top->frame;
    group->depth--;
    c->top = &group->standing[group->depth - 1];
    const Instruction *call = &c->top->frame->function->code[c->top->pc];
    const PtxFunction *ptx = callee->function->ptx;
    pass_list(c, callee, ptx->returns, ptx->return_count, call_part(c, call, true), true);
    frame_release(callee);
    go_on(c, group, c->top->pc + 1);
}

/* ---- Barriers ---- */

/* A group that has waited at a named barrier goes on; bar.red gives it what all said. */
static void wake(Context *c, Warp *warp, Group *group) {
    Context own = {.machine = c->machine, .warp = warp, .group = group, .top = &group->standing[group->depth - 1]};
    const Function *f = own.top->frame->function;
    own.instruction = &f->code[own.top->pc];
    own.form = own.instruction->form;
    own.args = f->args + own.instruction->args;
    own.run = group->lanes;
    if (group->waits == AT_BARRIER && memmem(own.form->text.data, own.form->text.size, ".red", 4)) {
        const Named *named = &warp->cta->named[group->barrier];
        uint64_t values[LANES];
        uint64_t said = has(own.form, W_popc)  ? named->last_ones
                        : has(own.form, W_and) ? named->last_zeros == 0
                                               : named->last_ones != 0;
        for (unsigned lane = 0; lane < LANES; lane++)
            values[lane] = said;
        put(&own, &own.args[0], values, UINT32_MAX, (Type){NO_TYPE, 0});
    }
    group->waits = RUNS;
    enter(own.top, own.top->pc + 1);
}

static void wake_all(Context *c, const Cta *cta, Waits waits, uint32_t barrier) {
    for (uint32_t w = 0; w < c->machine->warp_count; w++)
        for (Group *g = c->machine->warps[w].groups; g; g = g->next)
            if (g->waits == waits && (!cta || (c->machine->warps[w].cta == cta && g->barrier == barrier)))
                wake(c, &c->machine->warps[w], g);
}

static bool anyone_waits(const Machine *m, const Cta *cta, uint32_t barrier) {
    for (uint32_t w = 0; w < m->warp_count; w++)
        for (const Group *g = m->warps[w].groups; m->warps[w].cta == cta && g; g = g->next)
            if (g->waits == AT_BARRIER && g->barrier == barrier)
                return true;
    return false;
}

/* Opens what has all the threads that it waits for; with `forced`, all that any agent waits at. */
static void open_barriers(Context *c, bool forced) {
    Machine *m = c->machine;
    uint32_t live = 0;
    for (uint32_t i = 0; i < m->cta_count; i++) {
        Cta *cta = &m->ctas[i];
        live += cta->live;
        for (uint32_t b = 0; b < NAMED_BARRIERS; b++) {
            Named *named = &cta->named[b];
            uint32_t expected = named->expected ? named->expected : cta->live;
            if (!named->arrived || (named->arrived < expected && !(forced && anyone_waits(m, cta, b))))
                continue;
            named->last_ones = named->ones, named->last_zeros = named->zeros;
            named->arrived = named->expected = named->ones = named->zeros = 0;
            wake_all(c, cta, AT_BARRIER, b);
        }
    }
    if ((m->cluster_arrived && m->cluster_arrived >= live) || forced) {
        m->cluster_arrived = 0;
        m->cluster_phase++;
        wake_all(c, NULL, AT_CLUSTER, 0);
    }
}

void barriers_force(Machine *m) {
    Context c = {.machine = m};
    open_barriers(&c, true);
}

/* The number of threads, if there is one, is behind the barrier's; of bar.red the predicate is the last. */
static void run_barrier(Context *c) {
    bool red = memmem(c->form->text.data, c->form->text.size, ".red", 4) != NULL;
    const Arg *args = c->args + red;
    uint32_t count = c->instruction->arg_count - red - red;
    uint64_t id[LANES] = {0}, threads[LANES] = {0}, said[LANES];
    leave_others(c);
    unsigned lane = (unsigned)__builtin_ctz(c->group->lanes);
    if (count)
        fetch(c, &args[0], id);
    if (count > 1)
        fetch(c, &args[1], threads);
    Named *named = &c->warp->cta->named[id[lane] % NAMED_BARRIERS];
    named->arrived += (uint32_t)__builtin_popcount(c->group->lanes);
    named->expected = (uint32_t)threads[lane];
    if (red) {
        uint32_t ones = 0;
        fetch(c, &args[count], said);
        for (uint32_t left = c->group->lanes; left; left &= left - 1)
            ones += said[__builtin_ctz(left)] & 1;
        named->ones += ones;
        named->zeros += (uint32_t)__builtin_popcount(c->group->lanes) - ones;
    }
    if (c->form->does == DOES_ARRIVE) {
        go_on(c, c->group, c->top->pc + 1);
    } else {
        c->group->waits = AT_BARRIER;
        c->group->barrier = id[lane] % NAMED_BARRIERS;
    }
    open_barriers(c, false);
}

static void run_cluster_barrier(Context *c) {
    Machine *m = c->machine;
    leave_others(c);
    if (c->form->does == DOES_CLUSTER_ARRIVE) {
        c->warp->arrived_in = m->cluster_phase;
        m->cluster_arrived += (uint32_t)__builtin_popcount(c->group->lanes);
        go_on(c, c->group, c->top->pc + 1);
        open_barriers(c, false);
    } else if (m->cluster_phase > c->warp->arrived_in) {
        go_on(c, c->group, c->top->pc + 1);
    } else {
        c->group->waits = AT_CLUSTER;
    }
}

bool run_control(Context *c) {
    Does does = c->form->does;
    if (does < DOES_BRANCH || does > DOES_CLUSTER_WAIT)
        return false;
    if (!c->run) {
        go_on(c, c->group, c->top->pc + 1);
        return true;
    }
    switch (does) {
    case DOES_BRANCH:
        run_branch(c);
        break;
    case DOES_TABLE:
        run_table(c);
        break;
    case DOES_CALL:
        run_call(c);
        break;
    case DOES_RETURN:
        run_return(c);
        break;
    case DOES_EXIT:
        leave_others(c);
        end_lanes(c, c->group->lanes);
        break;
    case DOES_TRAP:
        c->machine->end.kind = END_TRAP;
        c->machine->end.statement = c->instruction->statement;
        longjmp(c->machine->stop, 1);
    case DOES_SYNC:
    case DOES_ARRIVE:
        run_barrier(c);
        break;
    default:
        run_cluster_barrier(c);
    }
    return true;
}
