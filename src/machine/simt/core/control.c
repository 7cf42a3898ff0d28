/* Where threads go on: branches, at which lanes of a warp part and meet again, calls, returns, ends; and instructions
 * for which lanes have to come together.
 *
 * When a branch parts a group, a PtxStackEntry is noted: the place where the lanes meet again, and which ones. A group
 * that comes to the place of its innermost part waits there until all lanes of it have come, and they go on as one
 * group, whose innermost part is then the next one. That is for speed and for what activemask gives, and no promise:
 * where nothing else of the warp can move, what waits there goes on alone (ptx_warp_release). */
#include "machine/simt/core/internal.h"

/* ---- Parts ---- */

static PtxStackEntry *new_part(PtxMachine *machine, PtxStackEntry *parent, PtxFrame *frame, uint32_t pc,
                               uint32_t lanes) {
    Pools *pools = pools_of(machine);
    PtxStackEntry *part = pools->parts;
    if (part)
        pools->parts = part->parent;
    else
        part = ARENA_NEW(&machine->arena, PtxStackEntry);
    *part = (PtxStackEntry){.parent = parent, .frame = frame, .pc = pc, .lanes = lanes};
    frame->users++;
    if (parent)
        parent->users++;
    return part;
}

void part_release(PtxMachine *machine, PtxStackEntry *part) {
    while (part && !--part->users) {
        PtxStackEntry *parent = part->parent;
        release_frame(machine, part->frame);
        part->parent = pools_of(machine)->parts;
        pools_of(machine)->parts = part;
        part = parent;
    }
}

static void set_parts(PtxMachine *machine, PtxGroup *group, PtxStackEntry *part) {
    if (part)
        part->users++;
    if (group->parts)
        part_release(machine, group->parts);
    group->parts = part;
    control_set_meet(group);
}

void control_set_meet(PtxGroup *group) {
    const PtxStackEntry *part = group->parts;
    group->meet = part && part->frame == group->frame ? part->pc : PTX_NONE;
}

/* ---- Meeting ---- */

/* Lanes of a group that stand at the place of their innermost part. */
static bool stands_at(const PtxGroup *group, const PtxStackEntry *part) {
    return group->status == PTX_IS_MEETS && group->parts == part;
}

static uint32_t lanes_at(const PtxWarp *warp, const PtxStackEntry *part) {
    uint32_t lanes = 0;
    for (const PtxGroup *group = warp->groups; group; group = group->next)
        lanes |= stands_at(group, part) ? group->lanes : 0;
    return lanes;
}

/* One group of all that stand at a part. */
static void merge_at(PtxMachine *machine, PtxGroup *into, PtxStackEntry *part) {
    for (PtxGroup *other = into->warp->groups, *next; other; other = next) {
        next = other->next;
        if (other == into || !stands_at(other, part))
            continue;
        into->lanes |= other->lanes;
        free_group(machine, other);
    }
}

bool control_arrive(PtxMachine *machine, PtxGroup *group) {
    while (group->parts && group->pc == group->meet) {
        PtxStackEntry *part = group->parts;
        uint32_t wanted = part->lanes & ~group->warp->exited;
        group->status = PTX_IS_MEETS;
        if (lanes_at(group->warp, part) != wanted)
            return false;
        merge_at(machine, group, part);
        group->status = PTX_IS_READY;
        set_parts(machine, group, part->parent);
    }
    return true;
}

void control_exited(PtxMachine *machine, PtxWarp *warp) {
    for (PtxGroup *group = warp->groups, *next; group; group = next) {
        next = group->next;
        if (group->status == PTX_IS_LANES_MEET)
            group->status = PTX_IS_READY;
        if (group->status == PTX_IS_MEETS && control_arrive(machine, group))
            next = warp->groups; /* groups that were merged into it are gone */
    }
}

/* The lanes do not come to the part any more: others do not wait for them. */
static void leave_part(PtxMachine *machine, PtxGroup *group) {
    PtxStackEntry *part = group->parts;
    part->lanes &= ~group->lanes;
    group->status = PTX_IS_READY;
    set_parts(machine, group, part->parent);
}

/* A group of the warp that waits for all others at an instruction that is for the warp together. */
static const PtxGroup *waits_together(const PtxMachine *machine, const PtxWarp *warp) {
    for (const PtxGroup *group = warp->groups; group; group = group->next)
        if (group->status == PTX_IS_LANES_MEET && machine->program->code[group->pc].together)
            return group;
    return NULL;
}

/* Whether some of the warp wait for what others do, at a barrier or in a loop: they may come to a meeting place yet. */
static bool waits_for_others(const PtxWarp *warp) {
    for (const PtxGroup *group = warp->groups; group; group = group->next)
        if (group->status != PTX_IS_MEETS && group->status != PTX_IS_LANES_MEET)
            return true;
    return false;
}

static PtxRun run_warp_sync;

/* Lanes go on behind the place where they were to meet others, while some of these wait for them at an instruction that
 * hands values over: they did not come to it, unless they do later, in a loop. Those that only end from here on count
 * as ended. */
static void note_passed(const PtxMachine *machine, PtxWarp *warp, const PtxGroup *group) {
    const PtxCode *next = &machine->program->code[group->pc];
    if (next->form->evaluator == PTX_EVALUATE_RETURN || next->form->evaluator == PTX_EVALUATE_EXIT)
        return;
    for (const PtxGroup *other = warp->groups; other; other = other->next)
        if (other->status == PTX_IS_LANES_MEET && machine->program->code[other->pc].run != run_warp_sync)
            warp->passed |= other->waits_for & group->lanes;
}

/* The lowest group that waits at a meeting place, and those that stand there with it, go on. */
bool control_release(PtxMachine *machine, PtxWarp *warp) {
    PtxGroup *waits = NULL;
    for (PtxGroup *group = warp->groups; group; group = group->next)
        if (group->status == PTX_IS_MEETS && (!waits || group->lanes < waits->lanes))
            waits = group;
    if (!waits)
        return false;
    merge_at(machine, waits, waits->parts);
    note_passed(machine, warp, waits);
    leave_part(machine, waits);
    control_arrive(machine, waits);
    return true;
}

bool ptx_warp_release(PtxMachine *machine, PtxWarp *warp) {
    for (const PtxGroup *group = warp->groups; group; group = group->next)
        if (ptx_group_can_go(machine, group))
            return false;
    const PtxGroup *together = waits_together(machine, warp);
    for (const PtxGroup *group = together ? warp->groups : NULL; group; group = group->next)
        if (group->status == PTX_IS_MEETS) {
            if (waits_for_others(warp))
                return false;
            barriers_divergent(machine, together, &machine->program->code[together->pc]);
            return true;
        }
    return control_release(machine, warp);
}

void control_return(PtxMachine *machine, PtxGroup *group, const PtxFrame *frame) {
    while (group->parts && ((PtxStackEntry *)group->parts)->frame == frame)
        leave_part(machine, group);
    control_set_meet(group);
    control_arrive(machine, group);
}

/* ---- Parting ---- */

PtxGroup *control_split(PtxMachine *machine, PtxGroup *group, uint32_t lanes) {
    PtxGroup *other = new_group(machine, group->warp);
    other->frame = group->frame;
    other->frame->users++;
    other->lanes = lanes;
    other->pc = group->pc;
    other->parts = group->parts;
    if (group->parts)
        ((PtxStackEntry *)group->parts)->users++;
    other->meet = group->meet;
    group->lanes &= ~lanes;
    return other;
}

void control_open(PtxMachine *machine, PtxGroup *group, uint32_t pc) {
    PtxStackEntry *part = group->parts;
    if (pc == PTX_NONE || (part && part->frame == group->frame && part->pc == pc))
        return;
    set_parts(machine, group, new_part(machine, part, group->frame, pc, group->lanes));
}

PtxStep control_jump(PtxMachine *machine, PtxGroup *group, uint32_t meets, uint32_t lanes, uint32_t to) {
    if (lanes == group->lanes) {
        group->pc = to;
        if (to == group->meet)
            control_arrive(machine, group);
        return PTX_STEP_MOVED;
    }
    control_open(machine, group, meets);
    PtxGroup *other = control_split(machine, group, lanes);
    other->pc = to;
    group->pc++;
    if (other->pc == other->meet)
        control_arrive(machine, other);
    if (group->lanes && group->status == PTX_IS_READY && group->pc == group->meet)
        control_arrive(machine, group);
    return PTX_STEP_MOVED;
}

void control_leave(PtxMachine *machine, PtxGroup *group, uint32_t stay) {
    uint8_t status = group->status;
    control_open(machine, group, group->pc + 1);
    PtxGroup *other = control_split(machine, group, group->lanes & ~stay);
    other->pc = group->pc + 1;
    group->status = status;
    control_arrive(machine, other);
}

static PtxStep run_jump(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    return control_jump(machine, group, code->meets, lanes, code_argument(machine->program, code, 0)->slot);
}

/* ---- Tables ---- */

typedef struct ControlTable {
    const PtxArgument *index;
    uint32_t count;
    uint32_t targets[];
} ControlTable;

static PtxStep run_table(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const ControlTable *table = code->detail;
    Lanes scratch;
    uint32_t unknown = 0, rest = lanes;
    const Lanes *values = ptx_fetch(machine, group, table->index, 0, &scratch, &unknown);
    Lanes chosen = *values;
    if (unknown & lanes && !machine->results) {
        uint32_t yes = ptx_havoc(machine, group, code, unknown & lanes);
        for (unsigned i = 0; i < PTX_LANES; i++)
            if (unknown >> i & 1)
                chosen.at[i] = yes >> i & 1 ? table->count - 1 : 0;
    }
    PtxGroup *at = group;
    while (rest) {
        uint64_t number = chosen.at[__builtin_ctz(rest)];
        uint32_t same = 0;
        for (uint32_t i = rest; i; i &= i - 1)
            same |= chosen.at[__builtin_ctz(i)] == number ? i & -i : 0;
        if (number >= table->count)
            return ptx_fault(machine, at, RULE_ACCESS_INVALID, code, same, "the index is beyond the list of labels");
        rest &= ~same;
        if (at->lanes == same) {
            control_jump(machine, at, code->meets, same, table->targets[number]);
            break;
        }
        uint32_t pc = at->pc;
        control_open(machine, at, code->meets);
        PtxGroup *other = control_split(machine, at, same);
        other->pc = table->targets[number];
        if (other->pc == other->meet)
            control_arrive(machine, other);
        at->pc = pc;
    }
    if (at->lanes && at->status == PTX_IS_READY && at->pc == (uint32_t)(code - machine->program->code)) {
        at->pc++; /* lanes whose guard does not hold */
        if (at->pc == at->meet)
            control_arrive(machine, at);
    }
    return PTX_STEP_MOVED;
}

static bool prepare_table(const PtxPrepare *about, PtxCode *code) {
    const PtxProgram *program = about->program;
    const PtxModule *module = program->module;
    const PtxArgument *targets = code_named(program, code, STR("targets"));
    if (!targets || targets->kind != ARGUMENT_WORD)
        return false;
    const PtxOperand *label = &module->operands[targets->operand];
    if (label->kind != PTX_TARGET || label->a + 1 >= module->statements_count)
        return false;
    const PtxStatement *list = &module->statements[label->a + 1];
    ControlTable *table = arena_zalloc(about->program->arena, sizeof *table + sizeof(uint32_t) * list->count);
    table->index = code_argument(program, code, 0);
    for (uint32_t i = 0; i < list->count; i++) {
        const PtxOperand *target = &module->operands[list->first + i];
        if (target->kind == PTX_TARGET)
            table->targets[table->count++] = code_behind(program, code, target->a);
    }
    code->run = run_table;
    code->detail = table;
    return table->count > 0;
}

/* ---- Ends ---- */

static PtxStep run_exit(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    (void)code;
    PtxGroup *over = group;
    if (lanes != group->lanes) {
        over = control_split(machine, group, lanes);
        group->pc++;
    }
    ptx_exit(machine, over, lanes);
    if (over == group)
        return PTX_STEP_MOVED;
    if (group->status == PTX_IS_READY && group->pc == group->meet)
        control_arrive(machine, group);
    return PTX_STEP_MOVED;
}

static PtxStep run_stop(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    return ptx_fault(machine, group, RULE_KERNEL_TRAP, code, lanes, "the kernel traps");
}

/* ---- Meeting of lanes ---- */

/* Lanes of a group that run the instruction before which it stands. */
static uint32_t running(const PtxGroup *group, const PtxCode *code) {
    if (code->guard == PTX_NONE)
        return group->lanes;
    return group->lanes & (group->frame->masks[code->guard] ^ (code->guard_negated ? UINT32_MAX : 0));
}

/* Whether another group waits before the same instruction, of the same frame. */
static bool alongside(const PtxGroup *group, const PtxGroup *other) {
    return other != group && other->frame == group->frame && other->pc == group->pc &&
           other->status == PTX_IS_LANES_MEET;
}

static bool has_part(const PtxGroup *group, const PtxStackEntry *part) {
    for (const PtxStackEntry *at = group->parts; at; at = at->parent)
        if (at == part)
            return true;
    return !part;
}

/* Lanes leave the parts that are not those of all lanes that come together. */
static void leave_parts(PtxMachine *machine, PtxGroup *group, PtxStackEntry *common) {
    while (group->parts && group->parts != common) {
        PtxStackEntry *part = group->parts;
        part->lanes &= ~group->lanes;
        set_parts(machine, group, part->parent);
    }
}

static void join_groups(PtxMachine *machine, PtxGroup *group) {
    PtxWarp *warp = group->warp;
    PtxStackEntry *common = group->parts;
    for (PtxGroup *other = warp->groups; other; other = other->next)
        while (alongside(group, other) && !has_part(other, common))
            common = common->parent;
    leave_parts(machine, group, common);
    for (PtxGroup *other = warp->groups, *next; other; other = next) {
        next = other->next;
        if (!alongside(group, other))
            continue;
        leave_parts(machine, other, common);
        group->lanes |= other->lanes;
        free_group(machine, other);
    }
    group->status = PTX_IS_READY;
    control_exited(machine, warp);
}

/* Lanes that wait at an instruction of the same words elsewhere, with the same mask. */
static uint32_t lanes_elsewhere(const PtxMachine *machine, const PtxGroup *group, const PtxCode *code, uint32_t mask) {
    uint32_t lanes = 0;
    for (const PtxGroup *other = group->warp->groups; other; other = other->next)
        if (other != group && other->status == PTX_IS_LANES_MEET && other->waits_for == mask &&
            machine->program->code[other->pc].form == code->form)
            lanes |= running(other, &machine->program->code[other->pc]);
    return lanes;
}

PtxStep ptx_unnamed(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    return ptx_fault(machine, group, RULE_THREADS_MASK, code, lanes, "its mask does not have the lane that runs it");
}

/* "lanes 16-31", or a mask of many pieces. */
static void add_lanes(uint32_t lanes, Text *to) {
    uint32_t rest = lanes & (lanes - 1) ? lanes : 0, pieces = (uint32_t)__builtin_popcount(lanes & ~(lanes << 1));
    text_addf(to, rest ? "lanes " : "lane %u", (unsigned)__builtin_ctz(lanes));
    if (pieces > 3)
        text_addf(to, "0x%x", lanes);
    while (rest && pieces <= 3) {
        unsigned first = (unsigned)__builtin_ctz(rest), count = (unsigned)__builtin_ctzll(~((uint64_t)rest >> first));
        rest &= ~(uint32_t)(((UINT64_C(1) << count) - 1) << first);
        text_addf(to, count > 1 ? "%u-%u" : "%u", first, first + count - 1);
        text_addf(to, "%s", rest ? ", " : "");
    }
}

/* Lanes of the mask have gone on behind it, and have ended or wait elsewhere: a fault. */
static bool misses(PtxMachine *machine, PtxGroup *group, uint32_t mask) {
    uint32_t missing = mask & group->warp->passed & ~group->lanes;
    const PtxCode *code = &machine->program->code[group->pc];
    if (!missing)
        return false;
    Text text = {0};
    text_addf(&text, "its mask names ");
    add_lanes(missing, &text);
    text_addf(&text, " of the warp, which %s not come to it", missing & (missing - 1) ? "do" : "does");
    ptx_fault(machine, group, RULE_THREADS_MASK, code, running(group, code), text_keep(&text, &machine->arena));
    machine->fault.amount = missing;
    return true;
}

/* The same of one of the groups that wait with that mask, wherever they do. */
static bool one_misses(PtxMachine *machine, const PtxWarp *warp, uint32_t mask) {
    for (PtxGroup *group = warp->groups; group; group = group->next)
        if (group->status == PTX_IS_LANES_MEET && group->waits_for == mask && !(group->lanes & warp->passed) &&
            misses(machine, group, mask))
            return true;
    return false;
}

/* When lanes join the group, it is run again: the caller waits, and the group is ready. */
bool ptx_gather(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t mask) {
    PtxWarp *warp = group->warp;
    uint32_t wanted = mask & warp->launched & ~warp->exited, own = running(group, code), here = own;
    if (!(wanted & ~own)) {
        warp->passed &= ~own;
        if (machine->lanes_meet)
            ptx_emit(machine,
                     &(PtxEvent){.kind = PTX_EVENT_WARP_SYNC, .code = code, .warp = warp, .lanes = mask & own});
        return !misses(machine, group, mask);
    }
    for (const PtxGroup *other = warp->groups; other; other = other->next)
        here |= alongside(group, other) ? running(other, code) : 0;
    if (!(wanted & ~here)) {
        join_groups(machine, group);
        return false;
    }
    group->status = PTX_IS_LANES_MEET;
    group->waits_for = mask;
    if (!(wanted & ~(own | lanes_elsewhere(machine, group, code, mask))) && !one_misses(machine, warp, mask))
        ptx_stop(machine, code, "lanes of one mask come together at different instructions");
    return false;
}

/* Lanes of the mask may come by different instructions: nothing is handed over. */
static bool sync_elsewhere(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t mask) {
    PtxWarp *warp = group->warp;
    uint32_t wanted = mask & warp->launched & ~warp->exited;
    uint32_t there = running(group, code) | lanes_elsewhere(machine, group, code, mask);
    if (wanted & ~there)
        return false;
    ptx_emit(machine, &(PtxEvent){.kind = PTX_EVENT_WARP_SYNC, .code = code, .warp = warp, .lanes = wanted});
    for (PtxGroup *other = warp->groups, *next; other; other = next) {
        next = other->next;
        if (other == group || other->status != PTX_IS_LANES_MEET || other->waits_for != mask ||
            machine->program->code[other->pc].form != code->form)
            continue;
        other->status = PTX_IS_READY;
        other->pc++;
        if (other->pc == other->meet && control_arrive(machine, other))
            next = warp->groups;
    }
    return true;
}

/* One after the other, the masks of the lanes: they may have different ones. */
static PtxStep run_warp_sync(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    Lanes scratch;
    uint32_t unknown = 0;
    const Lanes *masks = ptx_fetch(machine, group, code_argument(machine->program, code, 0), 0, &scratch, &unknown);
    if (unknown & lanes)
        return ptx_stop(machine, code, "its mask is not known");
    uint32_t mask = (uint32_t)masks->at[__builtin_ctz(lanes)], same = 0;
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        same |= (uint32_t)masks->at[__builtin_ctz(rest)] == mask ? rest & -rest : 0;
    if (same != lanes) {
        control_open(machine, group, group->pc + 1);
        PtxGroup *other = control_split(machine, group, lanes & ~same);
        other->status = PTX_IS_READY;
        return PTX_STEP_WAITS;
    }
    if (lanes & ~mask)
        return ptx_unnamed(machine, group, code, lanes & ~mask);
    if (mask & group->warp->launched & ~group->warp->exited & ~running(group, code)) {
        if (sync_elsewhere(machine, group, code, mask))
            return PTX_STEP_NEXT;
        group->status = PTX_IS_LANES_MEET;
        group->waits_for = mask;
        return PTX_STEP_WAITS;
    }
    ptx_emit(machine,
             &(PtxEvent){
                 .kind = PTX_EVENT_WARP_SYNC, .code = code, .warp = group->warp, .lanes = mask & running(group, code)});
    return PTX_STEP_NEXT;
}

static PtxStep run_activemask(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    Lanes values;
    for (unsigned i = 0; i < PTX_LANES; i++)
        values.at[i] = lanes;
    ptx_put(machine, group, code_argument(machine->program, code, 0), 0, &values, lanes, 0);
    return PTX_STEP_NEXT;
}

static PtxStep run_elect(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const PtxProgram *program = machine->program;
    const PtxArgument *result = code_argument(program, code, 0);
    Lanes scratch, values;
    uint32_t unknown = 0;
    const Lanes *masks = ptx_fetch(machine, group, code_argument(program, code, 1), 0, &scratch, &unknown);
    uint32_t mask = (uint32_t)masks->at[__builtin_ctz(lanes)];
    if (unknown & lanes)
        return ptx_stop(machine, code, "its mask is not known");
    if (lanes & ~mask)
        return ptx_unnamed(machine, group, code, lanes & ~mask);
    if (!ptx_gather(machine, group, code, mask))
        return PTX_STEP_WAITS;
    uint32_t present = mask & group->lanes, leader = present ? (uint32_t)__builtin_ctz(present) : 0;
    for (unsigned i = 0; i < PTX_LANES; i++)
        values.at[i] = leader;
    if (result->kind == ARGUMENT_MEMBERS) {
        ptx_put(machine, group, argument_member(program, result, 0), 0, &values, lanes, 0);
        ptx_put_mask(machine, group, argument_member(program, result, 1), UINT32_C(1) << leader, lanes, 0);
    } else {
        ptx_put(machine, group, result, 0, &values, lanes, 0);
    }
    return PTX_STEP_NEXT;
}

/* ---- Which are control's ---- */

static bool is_warp_sync(const PtxPrepare *about) {
    return about->evaluator == PTX_EVALUATE_NONE && about->effect_count == 1 &&
           about->effects[0].effect.verb == EFFECT_WARP_SYNC;
}

bool control_prepare(const PtxPrepare *about, PtxCode *code) {
    switch (about->evaluator) {
    case PTX_EVALUATE_JUMP:
        code->run = run_jump;
        return code_argument(about->program, code, 0)->kind == ARGUMENT_JUMP;
    case PTX_EVALUATE_TABLE:
        return prepare_table(about, code);
    case PTX_EVALUATE_CALL:
        return calls_prepare(about, code);
    case PTX_EVALUATE_RETURN:
        code->run = calls_return;
        return true;
    case PTX_EVALUATE_EXIT:
        code->run = run_exit;
        code->visible = true;
        return true;
    case PTX_EVALUATE_STOP:
        code->run = run_stop;
        code->visible = true;
        return true;
    case PTX_EVALUATE_ACTIVEMASK:
        code->run = run_activemask;
        return true;
    case PTX_EVALUATE_ELECT:
        code->run = run_elect;
        code->visible = true;
        return true;
    default:
        break;
    }
    if (!strcmp(code->form->row->name, "brkpt")) { /* without a debugger it ends the grid */
        code->run = run_stop;
        code->visible = true;
        return true;
    }
    if (!is_warp_sync(about))
        return false;
    code->run = run_warp_sync;
    code->visible = true;
    return true;
}
