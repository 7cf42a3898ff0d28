/* How values change from CTA to CTA, beside a run of one of them: see alike.h. */
#include "machine/simt/core/alike_internal.h"

#include "model/effect/ptx_column.h"
#include "ptx/effects.h"

#include <stdlib.h>

enum { MOST_SIDES = 2048 }; /* places in one buffer that are compared with one another */

/* ---- Instructions, once ---- */

static void take_type(Str name, uint8_t *bits, bool *is_signed) {
    unsigned number = 0;
    *bits = 0;
    *is_signed = name.size && name.data[0] == 's';
    if (name.size < 2 || !strchr("bus", name.data[0]))
        return;
    for (size_t i = 1; i < name.size; i++) {
        if (name.data[i] < '0' || name.data[i] > '9') /* bf16, u16x2 */
            return;
        number = number * 10 + (unsigned)(name.data[i] - '0');
    }
    *bits = (uint8_t)number;
}

static uint8_t compare_of(Str word) {
    static const struct {
        const char *name;
        uint8_t compare;
    } words[] = {{"eq", COMPARE_EQ}, {"ne", COMPARE_NE}, {"lt", COMPARE_LT}, {"lo", COMPARE_LT}, {"le", COMPARE_LE},
                 {"ls", COMPARE_LE}, {"gt", COMPARE_GT}, {"hi", COMPARE_GT}, {"ge", COMPARE_GE}, {"hs", COMPARE_GE}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_is(word, words[i].name))
            return words[i].compare;
    return COMPARE_NO;
}

/* The operands by which an access goes without an address, counted on top: descriptors of matrices, sizes in registers.
 */
static uint32_t told_by(const PtxModule *module, const PtxStatement *statement, const PtxEffect *effect) {
    uint32_t count, place = 0, places = 0;
    const PtxOperand *operands = ptx_operands(module, statement, &count);
    const PtxOperand *on = effect->on.size ? ptx_effect_operand(module, statement, effect->on) : NULL;
    const PtxOperand *size = effect->count.size ? ptx_effect_operand(module, statement, effect->count) : NULL;
    for (uint32_t i = 0; i < count && place < 32; i += ptx_extent(&operands[i]), place++)
        if (operands[i].kind == PTX_REGISTER && (&operands[i] == on || &operands[i] == size))
            places |= 1u << place;
    return places;
}

static About about_of(const PtxProgram *program, const PtxCode *code) {
    About about = {.evaluator = (uint8_t)code->form->evaluator};
    PtxEffect effects[PTX_EFFECTS_MOST];
    const PtxStatement *statement = &program->module->statements[code->statement];
    unsigned count = ptx_effects_of(program->module, statement, effects);
    about.pure = !count;
    for (unsigned i = 0; i < count; i++) {
        const Effect *effect = &effects[i].effect;
        if (effect_is_access(effect) && effect->order != ORDER_WEAK && effect->space != SPACE_SHARED)
            about.synchronizes = true;
        about.accesses |= effect_is_access(effect);
        about.told_by |= effect_is_access(effect) ? told_by(program->module, statement, &effects[i]) : 0;
        about.told |=
            effects[i].limit.size || effects[i].ctas.size || effects[i].stride.size ||
            !(effect_is_access(effect) || effect->verb == EFFECT_WARP_SYNC || effect->verb == EFFECT_CONVERGED);
    }
    if (!code->form->row)
        return about;
    take_type(code_modifier(code, STR("t")), &about.bits, &about.is_signed);
    if (about.evaluator == PTX_EVALUATE_CVT) {
        take_type(code_modifier(code, STR("d")), &about.bits, &about.is_signed);
        take_type(code_modifier(code, STR("s")), &about.from_bits, &about.from_signed);
    } else if (code_has(code, STR("wide"))) {
        about.from_bits = about.bits;
        about.from_signed = about.is_signed;
        about.bits = (uint8_t)(about.bits * 2);
    }
    about.carries = code_has(code, STR("cc"));
    about.compare = compare_of(code_modifier(code, STR("compare")));
    return about;
}

/* Whether what a kernel does is of the kind that is kept: no calls, no CTAs that wait for one another. */
static bool is_plain(const PtxMachine *machine) {
    uint32_t ready = 0;
    for (uint32_t i = 0; i < machine->program->module->functions_count; i++)
        ready += machine->program->routines[i].ready;
    return ready == 1 && machine->cluster_size == 1;
}

PtxAlike *ptx_alike_new(Arena *arena, const PtxMachine *machine) {
    if (!is_plain(machine))
        return NULL;
    const PtxProgram *program = machine->program;
    const PtxRoutine *routine = &program->routines[program->entry];
    PtxAlike *alike = ARENA_NEW(arena, PtxAlike);
    unsigned number;
    *alike = (PtxAlike){.arena = arena,
                        .program = program,
                        .warps = (machine->threads_per_cta + PTX_LANES - 1) / PTX_LANES,
                        .rows = routine->rows,
                        .masks = routine->masks,
                        .ctaid = ptx_special_index(ptx_special(STR("%ctaid"), &number))};
    alike->abouts = ARENA_ARRAY(arena, About, program->code_count + 1);
    for (uint32_t i = routine->begin; i < routine->end; i++) {
        alike->abouts[i] = about_of(program, &program->code[i]);
        if (alike->abouts[i].synchronizes)
            return NULL;
    }
    alike->changes = ARENA_ARRAY(arena, Change, (size_t)alike->warps * alike->rows + 1);
    alike->mask_differs = ARENA_ARRAY(arena, bool, (size_t)alike->warps * alike->masks + 1);
    return alike;
}

void ptx_alike_start(PtxAlike *alike, const uint32_t cta[3]) {
    memcpy(alike->cta, cta, sizeof alike->cta);
    for (size_t i = 0; i < (size_t)alike->warps * alike->rows; i++)
        alike->changes[i] = change_same;
    memset(alike->mask_differs, 0, (size_t)alike->warps * alike->masks);
    alike->bound_count = alike->touch_count = 0;
    alike->alone = NULL;
    alike->why = NULL;
}

static void go_alone(PtxAlike *alike, const PtxCode *code, const char *why) {
    if (!alike->alone) {
        alike->alone = code;
        alike->why = why;
    }
}

/* ---- Operands ---- */

static Change *row_of(PtxAlike *alike, const PtxGroup *group, const PtxArgument *argument) {
    return &alike->changes[(size_t)group->warp->index * alike->rows + argument->slot];
}

static bool *mask_of(PtxAlike *alike, const PtxGroup *group, const PtxArgument *argument) {
    return &alike->mask_differs[(size_t)group->warp->index * alike->masks + argument->slot];
}

static Change change_of(PtxAlike *alike, const PtxGroup *group, const PtxArgument *argument) {
    Change change = change_same;
    if (argument->kind == ARGUMENT_ROW)
        return *row_of(alike, group, argument);
    if (argument->kind == ARGUMENT_PREDICATE)
        return *mask_of(alike, group, argument) ? change_differs : change_same;
    if (argument->kind == ARGUMENT_READ_ONLY) {
        const PtxSpecial *special = ptx_special_at(argument->slot);
        if (argument->slot == alike->ctaid && argument->part >= PTX_X && argument->part <= PTX_Z)
            change.by[argument->part - PTX_X] = 1;
        else if (str_is(str_of(special->varies), "cta") || str_is(str_of(special->varies), "cluster") ||
                 !*special->varies)
            return change_differs;
    }
    return change;
}

/* Of all arguments that are read, and of their members: same, or not kept. */
static bool all_same(PtxAlike *alike, const PtxGroup *group, const PtxArgument *argument) {
    if (argument->kind == ARGUMENT_MEMBERS || argument->kind == ARGUMENT_ADDRESS) {
        for (uint32_t i = 0; i < argument->count; i++)
            if (!all_same(alike, group, argument_member(alike->program, argument, i)))
                return false;
        return true;
    }
    Change change = change_of(alike, group, argument);
    return change_is_same(&change);
}

/* Whether those are all lanes that there are. */
static bool is_whole(const PtxGroup *group, uint32_t lanes) {
    return !(group->warp->launched & ~(lanes | group->warp->exited));
}

/* A register gets a new value in some lanes. */
static void set(PtxAlike *alike, const PtxGroup *group, const PtxArgument *to, Change change, uint32_t lanes) {
    if (to->kind == ARGUMENT_MEMBERS) {
        for (uint32_t i = 0; i < to->count; i++)
            set(alike, group, argument_member(alike->program, to, i), change, lanes);
    } else if (to->kind == ARGUMENT_ROW) {
        bool whole = is_whole(group, lanes) || (group->frame->row_unknown[to->slot] | lanes) == UINT32_MAX;
        for (uint32_t i = 0; i < (to->bits > 64 ? 2u : 1u); i++) {
            Change *row = row_of(alike, group, to) + i;
            *row = whole || changes_equal(row, &change) ? change : change_differs;
        }
    } else if (to->kind == ARGUMENT_PREDICATE) {
        bool *mask = mask_of(alike, group, to);
        *mask = !change_is_same(&change) || (*mask && !is_whole(group, lanes));
    }
}

/* ---- What instructions do to changes ---- */

static void read_in(Step *s, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        uint32_t unknown = 0;
        const PtxArgument *argument = code_argument(s->alike->program, s->code, i + 1);
        s->in[i].change = change_of(s->alike, s->group, argument);
        s->in[i].values = ptx_fetch(s->machine, s->group, argument, 0, &s->in[i].scratch, &unknown);
        if (unknown & s->lanes)
            s->in[i].change = change_differs;
    }
}

/* ---- One instruction ---- */

static bool reads_all_same(const Step *s, uint32_t first) {
    for (uint32_t i = first; i < s->code->count; i++)
        if (!all_same(s->alike, s->group, code_argument(s->alike->program, s->code, i)))
            return false;
    return true;
}

static Change chosen(Step *s) {
    uint32_t unknown = 0;
    const PtxArgument *by = code_argument(s->alike->program, s->code, 3);
    Change how = change_of(s->alike, s->group, by);
    uint32_t mask = ptx_fetch_mask(s->machine, s->group, by, &unknown) & s->lanes;
    if (!change_is_same(&how) || unknown & s->lanes)
        return change_differs;
    if (changes_equal(&s->in[0].change, &s->in[1].change) || mask == s->lanes)
        return s->in[0].change;
    return mask ? change_differs : s->in[1].change;
}

/* How the result of a computation changes. */
static Change result_of(Step *s) {
    switch (s->about->evaluator) {
    case PTX_EVALUATE_ADD:
    case PTX_EVALUATE_SUB:
        read_in(s, 2);
        return s->about->bits && !code_has(s->code, STR("sat"))
                   ? change_sum(s->in[0].change, s->in[1].change, s->about->evaluator == PTX_EVALUATE_ADD ? 1 : -1)
                   : change_differs;
    case PTX_EVALUATE_MUL:
        read_in(s, 2);
        return s->about->bits ? change_multiplied(s) : change_differs;
    case PTX_EVALUATE_MAD:
        read_in(s, 3);
        return s->about->bits ? change_sum(change_multiplied(s), s->in[2].change, 1) : change_differs;
    case PTX_EVALUATE_SHL: {
        uint64_t by;
        read_in(s, 2);
        if (!s->in[0].change.kept || !change_is_same(&s->in[1].change) ||
            !lanes_uniform(s->in[1].values, s->lanes, &by) || by > 31)
            return change_differs;
        Change change = s->in[0].change;
        for (unsigned i = 0; i < 3; i++)
            if (__builtin_mul_overflow(change.by[i], INT64_C(1) << by, &change.by[i]))
                return change_differs;
        return change;
    }
    case PTX_EVALUATE_SHR:
        read_in(s, 2);
        return change_shifted_right(s);
    case PTX_EVALUATE_OR:
    case PTX_EVALUATE_XOR:
        read_in(s, 2);
        return s->about->bits ? change_merged(s) : change_differs;
    case PTX_EVALUATE_AND:
        read_in(s, 2);
        return s->about->bits ? change_masked(s) : change_differs;
    case PTX_EVALUATE_DIV:
    case PTX_EVALUATE_REM:
        read_in(s, 2);
        return s->about->bits ? change_divided(s, s->about->evaluator == PTX_EVALUATE_REM) : change_differs;
    case PTX_EVALUATE_NEG:
        read_in(s, 1);
        return s->about->bits ? change_sum(change_same, s->in[0].change, -1) : change_differs;
    case PTX_EVALUATE_CVT:
        read_in(s, 1);
        return change_converted(s);
    case PTX_EVALUATE_SELP:
        read_in(s, 2);
        return chosen(s);
    case PTX_EVALUATE_SHUFFLE:
        read_in(s, 1);
        return reads_all_same(s, 2) ? s->in[0].change : change_differs;
    case PTX_EVALUATE_MOV:
    case PTX_EVALUATE_CVTA:
    case PTX_EVALUATE_CVTA_TO:
        read_in(s, 1);
        return s->in[0].change;
    default:
        return change_differs;
    }
}

static void compute(Step *s) {
    const PtxProgram *program = s->alike->program;
    const PtxArgument *to = code_argument(program, s->code, 0);
    bool packs = s->code->count > 1 &&
                 (to->kind == ARGUMENT_MEMBERS || code_argument(program, s->code, 1)->kind == ARGUMENT_MEMBERS);
    if (reads_all_same(s, 1)) {
        set(s->alike, s->group, to, change_same, s->lanes);
    } else if (s->about->carries) {
        go_alone(s->alike, s->code, "a carry may change from CTA to CTA");
    } else if (s->about->evaluator == PTX_EVALUATE_SETP) {
        read_in(s, 2);
        bool held = s->code->count <= 3 || all_same(s->alike, s->group, code_argument(program, s->code, 3));
        set(s->alike, s->group, to, change_compared(s) && held ? change_same : change_differs, s->lanes);
    } else if (packs) {
        set(s->alike, s->group, to, change_differs, s->lanes);
    } else {
        set(s->alike, s->group, to, result_of(s), s->lanes);
    }
}

/* An access, a barrier: what decides must be the same, or an address in global memory that changes. */
static void act(Step *s) {
    const PtxProgram *program = s->alike->program;
    const PtxForm *form = s->code->form;
    s->alike->address = change_same;
    if (s->about->told && !reads_all_same(s, form->writes & 1))
        go_alone(s->alike, s->code, "what it is told changes from CTA to CTA");
    for (uint32_t i = 0; i < s->code->count; i++) {
        const PtxArgument *argument = code_argument(program, s->code, i);
        if (i < 32 && s->about->told_by >> i & 1 && !all_same(s->alike, s->group, argument))
            go_alone(s->alike, s->code, "what it is told changes from CTA to CTA");
        if (argument->kind != ARGUMENT_ADDRESS)
            continue;
        Change base =
            argument->count ? change_of(s->alike, s->group, argument_member(program, argument, 0)) : change_same;
        if (!base.kept || argument->count > 1)
            s->alike->address =
                argument->count > 1 && all_same(s->alike, s->group, argument) ? change_same : change_differs;
        else if (!change_is_same(&base))
            s->alike->address = base;
        if (!s->alike->address.kept)
            go_alone(s->alike, s->code, "an address changes from CTA to CTA in a way that is not followed");
    }
    for (uint32_t i = 0; i < s->code->count; i++)
        if (form->writes >> i & 1 && code_argument(program, s->code, i)->kind != ARGUMENT_ADDRESS) {
            bool load = s->about->evaluator == PTX_EVALUATE_LOAD;
            bool fixed = load && (code_has(s->code, STR("param")) || code_has(s->code, STR("const"))) &&
                         change_is_same(&s->alike->address);
            set(s->alike, s->group, code_argument(program, s->code, i),
                fixed || !s->about->accesses ? change_same : change_differs, s->lanes);
        }
}

void ptx_alike_step(PtxAlike *alike, PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    Step s = {.alike = alike,
              .machine = machine,
              .group = group,
              .code = code,
              .about = &alike->abouts[code - alike->program->code],
              .lanes = lanes};
    if (alike->alone)
        return;
    if (group->frame->caller)
        go_alone(alike, code, "functions that are called are not followed");
    else if (code->guard != PTX_NONE && alike->mask_differs[(size_t)group->warp->index * alike->masks + code->guard])
        go_alone(alike, code, "a condition changes from CTA to CTA in a way that is not followed");
    else if (!lanes)
        return;
    else if (s.about->evaluator >= PTX_EVALUATE_SHUFFLE && s.about->evaluator <= PTX_EVALUATE_ACTIVEMASK)
        compute(&s);
    else if (!s.about->pure)
        act(&s);
    else if (code->form->row && code->form->row->control) {
        if (!reads_all_same(&s, 0))
            go_alone(alike, code, "where threads go on changes from CTA to CTA");
    } else if (code->count)
        compute(&s);
}

/* ---- Global memory ---- */

/* A CTA that speaks for itself alone touches memory, too, which others may touch. */
void ptx_alike_access(PtxAlike *alike, const PtxEvent *event) {
    if (event->kind != PTX_EVENT_ACCESS)
        return;
    for (uint32_t i = 0; i < event->spot_count; i++) {
        bool there = event->flight ? true : event->lanes >> i & 1;
        const PtxSpot *spot = &event->spots[i];
        if (!there || !spot->block || spot->block->space != PTX_SPACE_GLOBAL) {
            if (there && spot->block && !alike->alone && !change_is_same(&alike->address) &&
                spot->block->space != PTX_SPACE_GLOBAL)
                go_alone(alike, event->code, "an address that is not in global memory changes from CTA to CTA");
            continue;
        }
        uint32_t bytes = event->sizes ? event->sizes[i] : event->access.bytes;
        if (!alike->alone && change_breaks(&alike->address, bytes))
            go_alone(alike, event->code, "an address changes by less than its access must be aligned to");
        PtxAlikeTouch touch = {.begin = spot->block->base + spot->offset,
                               .end = spot->block->base + spot->offset + bytes,
                               .block = spot->block->base,
                               .writes = event->access.kind != EFFECT_READ,
                               .code = event->code};
        if (!alike->alone) {
            memcpy(touch.by, alike->address.by, sizeof touch.by);
            change_bind(alike, &alike->address, (int64_t)(spot->block->base - touch.begin),
                        (int64_t)(spot->block->base + spot->block->size - touch.end));
        }
        PtxAlikeTouch *last = alike->touch_count ? &alike->touches[alike->touch_count - 1] : NULL;
        if (last && last->code == touch.code && last->writes == touch.writes && last->end == touch.begin &&
            !memcmp(last->by, touch.by, sizeof touch.by))
            last->end = touch.end;
        else
            *ARENA_PUSH(alike->arena, alike->touches, alike->touch_count, alike->touch_capacity) = touch;
    }
}

static bool touches_move_alike(const PtxAlikeTouch *a, const PtxAlikeTouch *b) {
    return !memcmp(a->by, b->by, sizeof a->by);
}

static int by_place(const void *a, const void *b) {
    const PtxAlikeTouch *x = a, *y = b;
    if (x->block != y->block)
        return x->block < y->block ? -1 : 1;
    int changes = memcmp(x->by, y->by, sizeof x->by);
    if (changes || x->writes != y->writes)
        return changes ? changes : x->writes ? 1 : -1;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* Those that touch or overlap become one. */
static void merge_touches(PtxAlike *alike) {
    uint32_t kept = 0;
    if (alike->touch_count < 2)
        return;
    qsort(alike->touches, alike->touch_count, sizeof *alike->touches, by_place);
    for (uint32_t i = 1; i < alike->touch_count; i++) {
        PtxAlikeTouch *last = &alike->touches[kept], *next = &alike->touches[i];
        if (last->block == next->block && touches_move_alike(last, next) && last->writes == next->writes &&
            next->begin <= last->end)
            last->end = next->end > last->end ? next->end : last->end;
        else
            alike->touches[++kept] = *next;
    }
    alike->touch_count = kept + 1;
}

/* What moves differently from CTA to CTA, in one buffer, may meet within another CTA, although it does not in this one:
 * only those are like it in which it stays on the same side. */
static void keep_sides(PtxAlike *alike, const PtxAlikeTouch *touches, uint32_t count) {
    bool writes = false;
    for (uint32_t i = 0; i < count; i++)
        writes |= touches[i].writes;
    if (!writes || touches_move_alike(&touches[0], &touches[count - 1]))
        return;
    if (count > MOST_SIDES) {
        go_alone(alike, touches[0].code, "too many places in one buffer change from CTA to CTA in different ways");
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < count; k++) {
            const PtxAlikeTouch *a = &touches[i], *b = &touches[k];
            Change change = change_same;
            if (a->begin > b->begin || (a->begin == b->begin && i >= k) || !(a->writes || b->writes) ||
                touches_move_alike(a, b))
                continue;
            for (unsigned axis = 0; axis < 3; axis++)
                change.by[axis] = (int64_t)((uint64_t)b->by[axis] - (uint64_t)a->by[axis]);
            bool overlap = b->begin < a->end;
            change_bind(alike, &change, overlap ? 0 : (int64_t)(a->end - b->begin), overlap ? 0 : INT64_MAX);
        }
}

void ptx_alike_end(PtxAlike *alike) {
    merge_touches(alike);
    for (uint32_t begin = 0, end; begin < alike->touch_count && !alike->alone; begin = end) {
        for (end = begin + 1; end < alike->touch_count && alike->touches[end].block == alike->touches[begin].block;)
            end++;
        keep_sides(alike, &alike->touches[begin], end - begin);
    }
}

const PtxAlikeTouch *ptx_alike_touches(const PtxAlike *alike, uint32_t *count) {
    *count = alike->touch_count;
    return alike->touches;
}

const PtxCode *ptx_alike_alone(const PtxAlike *alike, const char **why) {
    *why = alike->why;
    return alike->alone;
}

bool ptx_alike_speaks(const PtxAlike *alike, const uint32_t cta[3]) {
    int64_t d[3];
    for (unsigned i = 0; i < 3; i++)
        d[i] = (int64_t)cta[i] - (int64_t)alike->cta[i];
    if (!d[0] && !d[1] && !d[2])
        return true;
    if (alike->alone)
        return false;
    for (uint32_t i = 0; i < alike->bound_count; i++) {
        const PtxAlikeBound *bound = &alike->bounds[i];
        __int128 moved = (__int128)bound->by[0] * d[0] + (__int128)bound->by[1] * d[1] + (__int128)bound->by[2] * d[2];
        if (moved < bound->least || moved > bound->most)
            return false;
    }
    return true;
}
