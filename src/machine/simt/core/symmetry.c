/* How values change from CTA to CTA, beside a run of one of them: see symmetry.h. */
#include "machine/simt/core/symmetry_internal.h"

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
static uint32_t reported_by(const PtxModule *module, const PtxStatement *statement, const PtxEffect *effect) {
    uint32_t count, place = 0, places = 0;
    const PtxOperand *operands = ptx_operands(module, statement, &count);
    const PtxOperand *on = effect->on.size ? ptx_effect_operand(module, statement, effect->on) : NULL;
    const PtxOperand *size = effect->count.size ? ptx_effect_operand(module, statement, effect->count) : NULL;
    for (uint32_t i = 0; i < count && place < 32; i += ptx_extent(&operands[i]), place++)
        if (operands[i].kind == PTX_REGISTER && (&operands[i] == on || &operands[i] == size))
            places |= 1u << place;
    return places;
}

static SymmetryAbout about_of(const PtxProgram *program, const PtxCode *code) {
    SymmetryAbout about = {.evaluator = (uint8_t)code->form->evaluator};
    PtxEffect effects[PTX_EFFECTS_MOST];
    const PtxStatement *statement = &program->module->statements[code->statement];
    unsigned count = ptx_effects_of(program->module, statement, effects);
    about.pure = !count;
    for (unsigned i = 0; i < count; i++) {
        const Effect *effect = &effects[i].effect;
        if (effect_is_access(effect) && effect->order != ORDER_WEAK && effect->space != SPACE_SHARED)
            about.synchronizes = true;
        about.accesses |= effect_is_access(effect);
        about.reported_by |= effect_is_access(effect) ? reported_by(program->module, statement, &effects[i]) : 0;
        about.reported |=
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

PtxSymmetry *ptx_symmetry_new(Arena *arena, const PtxMachine *machine) {
    if (!is_plain(machine))
        return NULL;
    const PtxProgram *program = machine->program;
    const PtxRoutine *routine = &program->routines[program->entry];
    PtxSymmetry *symmetry = ARENA_NEW(arena, PtxSymmetry);
    unsigned number;
    *symmetry = (PtxSymmetry){.arena = arena,
                              .program = program,
                              .warps = (machine->threads_per_cta + PTX_LANES - 1) / PTX_LANES,
                              .rows = routine->rows,
                              .masks = routine->masks,
                              .ctaid = ptx_special_index(ptx_special(STR("%ctaid"), &number))};
    symmetry->abouts = ARENA_ARRAY(arena, SymmetryAbout, program->code_count + 1);
    for (uint32_t i = routine->begin; i < routine->end; i++) {
        symmetry->abouts[i] = about_of(program, &program->code[i]);
        if (symmetry->abouts[i].synchronizes)
            return NULL;
    }
    symmetry->changes = ARENA_ARRAY(arena, Change, (size_t)symmetry->warps * symmetry->rows + 1);
    symmetry->mask_differs = ARENA_ARRAY(arena, bool, (size_t)symmetry->warps * symmetry->masks + 1);
    return symmetry;
}

void ptx_symmetry_start(PtxSymmetry *symmetry, const uint32_t cta[3]) {
    memcpy(symmetry->cta, cta, sizeof symmetry->cta);
    for (size_t i = 0; i < (size_t)symmetry->warps * symmetry->rows; i++)
        symmetry->changes[i] = change_same;
    memset(symmetry->mask_differs, 0, (size_t)symmetry->warps * symmetry->masks);
    symmetry->bound_count = symmetry->touch_count = 0;
    symmetry->alone = NULL;
    symmetry->why = NULL;
}

static void go_alone(PtxSymmetry *symmetry, const PtxCode *code, const char *why) {
    if (!symmetry->alone) {
        symmetry->alone = code;
        symmetry->why = why;
    }
}

/* ---- Operands ---- */

static Change *row_of(PtxSymmetry *symmetry, const PtxGroup *group, const PtxArgument *argument) {
    return &symmetry->changes[(size_t)group->warp->index * symmetry->rows + argument->slot];
}

static bool *mask_of(PtxSymmetry *symmetry, const PtxGroup *group, const PtxArgument *argument) {
    return &symmetry->mask_differs[(size_t)group->warp->index * symmetry->masks + argument->slot];
}

static Change change_of(PtxSymmetry *symmetry, const PtxGroup *group, const PtxArgument *argument) {
    Change change = change_same;
    if (argument->kind == ARGUMENT_ROW)
        return *row_of(symmetry, group, argument);
    if (argument->kind == ARGUMENT_PREDICATE)
        return *mask_of(symmetry, group, argument) ? change_differs : change_same;
    if (argument->kind == ARGUMENT_READ_ONLY) {
        const PtxSpecial *special = ptx_special_at(argument->slot);
        if (argument->slot == symmetry->ctaid && argument->part >= PTX_X && argument->part <= PTX_Z)
            change.by[argument->part - PTX_X] = 1;
        else if (str_is(str_of(special->varies), "cta") || str_is(str_of(special->varies), "cluster") ||
                 !*special->varies)
            return change_differs;
    }
    return change;
}

/* Of all arguments that are read, and of their members: same, or not kept. */
static bool all_same(PtxSymmetry *symmetry, const PtxGroup *group, const PtxArgument *argument) {
    if (argument->kind == ARGUMENT_MEMBERS || argument->kind == ARGUMENT_ADDRESS) {
        for (uint32_t i = 0; i < argument->count; i++)
            if (!all_same(symmetry, group, argument_member(symmetry->program, argument, i)))
                return false;
        return true;
    }
    Change change = change_of(symmetry, group, argument);
    return change_is_same(&change);
}

/* Whether those are all lanes that there are. */
static bool is_whole(const PtxGroup *group, uint32_t lanes) {
    return !(group->warp->launched & ~(lanes | group->warp->exited));
}

/* A register gets a new value in some lanes. */
static void set(PtxSymmetry *symmetry, const PtxGroup *group, const PtxArgument *to, Change change, uint32_t lanes) {
    if (to->kind == ARGUMENT_MEMBERS) {
        for (uint32_t i = 0; i < to->count; i++)
            set(symmetry, group, argument_member(symmetry->program, to, i), change, lanes);
    } else if (to->kind == ARGUMENT_ROW) {
        bool whole = is_whole(group, lanes) || (group->frame->row_unknown[to->slot] | lanes) == UINT32_MAX;
        for (uint32_t i = 0; i < (to->bits > 64 ? 2u : 1u); i++) {
            Change *row = row_of(symmetry, group, to) + i;
            *row = whole || changes_equal(row, &change) ? change : change_differs;
        }
    } else if (to->kind == ARGUMENT_PREDICATE) {
        bool *mask = mask_of(symmetry, group, to);
        *mask = !change_is_same(&change) || (*mask && !is_whole(group, lanes));
    }
}

/* ---- What instructions do to changes ---- */

static void read_in(SymmetryStep *s, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        uint32_t unknown = 0;
        const PtxArgument *argument = code_argument(s->symmetry->program, s->code, i + 1);
        s->in[i].change = change_of(s->symmetry, s->group, argument);
        s->in[i].values = ptx_fetch(s->machine, s->group, argument, 0, &s->in[i].scratch, &unknown);
        if (unknown & s->lanes)
            s->in[i].change = change_differs;
    }
}

/* ---- One instruction ---- */

static bool reads_all_same(const SymmetryStep *s, uint32_t first) {
    for (uint32_t i = first; i < s->code->count; i++)
        if (!all_same(s->symmetry, s->group, code_argument(s->symmetry->program, s->code, i)))
            return false;
    return true;
}

static Change chosen(SymmetryStep *s) {
    uint32_t unknown = 0;
    const PtxArgument *by = code_argument(s->symmetry->program, s->code, 3);
    Change how = change_of(s->symmetry, s->group, by);
    uint32_t mask = ptx_fetch_mask(s->machine, s->group, by, &unknown) & s->lanes;
    if (!change_is_same(&how) || unknown & s->lanes)
        return change_differs;
    if (changes_equal(&s->in[0].change, &s->in[1].change) || mask == s->lanes)
        return s->in[0].change;
    return mask ? change_differs : s->in[1].change;
}

/* How the result of a computation changes. */
static Change result_of(SymmetryStep *s) {
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

static void compute(SymmetryStep *s) {
    const PtxProgram *program = s->symmetry->program;
    const PtxArgument *to = code_argument(program, s->code, 0);
    bool packs = s->code->count > 1 &&
                 (to->kind == ARGUMENT_MEMBERS || code_argument(program, s->code, 1)->kind == ARGUMENT_MEMBERS);
    if (reads_all_same(s, 1)) {
        set(s->symmetry, s->group, to, change_same, s->lanes);
    } else if (s->about->carries) {
        go_alone(s->symmetry, s->code, "a carry may change from CTA to CTA");
    } else if (s->about->evaluator == PTX_EVALUATE_SETP) {
        read_in(s, 2);
        bool held = s->code->count <= 3 || all_same(s->symmetry, s->group, code_argument(program, s->code, 3));
        set(s->symmetry, s->group, to, change_compared(s) && held ? change_same : change_differs, s->lanes);
    } else if (packs) {
        set(s->symmetry, s->group, to, change_differs, s->lanes);
    } else {
        set(s->symmetry, s->group, to, result_of(s), s->lanes);
    }
}

/* An access, a barrier: what decides must be the same, or an address in global memory that changes. */
static void act(SymmetryStep *s) {
    const PtxProgram *program = s->symmetry->program;
    const PtxForm *form = s->code->form;
    s->symmetry->address = change_same;
    if (s->about->reported && !reads_all_same(s, form->writes & 1))
        go_alone(s->symmetry, s->code, "its operands change from CTA to CTA");
    for (uint32_t i = 0; i < s->code->count; i++) {
        const PtxArgument *argument = code_argument(program, s->code, i);
        if (i < 32 && s->about->reported_by >> i & 1 && !all_same(s->symmetry, s->group, argument))
            go_alone(s->symmetry, s->code, "its operands change from CTA to CTA");
        if (argument->kind != ARGUMENT_ADDRESS)
            continue;
        Change base =
            argument->count ? change_of(s->symmetry, s->group, argument_member(program, argument, 0)) : change_same;
        if (!base.kept || argument->count > 1)
            s->symmetry->address =
                argument->count > 1 && all_same(s->symmetry, s->group, argument) ? change_same : change_differs;
        else if (!change_is_same(&base))
            s->symmetry->address = base;
        if (!s->symmetry->address.kept)
            go_alone(s->symmetry, s->code, "an address changes from CTA to CTA in a way that is not followed");
    }
    for (uint32_t i = 0; i < s->code->count; i++)
        if (form->writes >> i & 1 && code_argument(program, s->code, i)->kind != ARGUMENT_ADDRESS) {
            bool load = s->about->evaluator == PTX_EVALUATE_LOAD;
            bool fixed = load && (code_has(s->code, STR("param")) || code_has(s->code, STR("const"))) &&
                         change_is_same(&s->symmetry->address);
            set(s->symmetry, s->group, code_argument(program, s->code, i),
                fixed || !s->about->accesses ? change_same : change_differs, s->lanes);
        }
}

void ptx_symmetry_step(PtxSymmetry *symmetry, PtxMachine *machine, PtxGroup *group, const PtxCode *code,
                       uint32_t lanes) {
    SymmetryStep s = {.symmetry = symmetry,
                      .machine = machine,
                      .group = group,
                      .code = code,
                      .about = &symmetry->abouts[code - symmetry->program->code],
                      .lanes = lanes};
    if (symmetry->alone)
        return;
    if (group->frame->caller)
        go_alone(symmetry, code, "functions that are called are not followed");
    else if (code->guard != PTX_NONE &&
             symmetry->mask_differs[(size_t)group->warp->index * symmetry->masks + code->guard])
        go_alone(symmetry, code, "a condition changes from CTA to CTA in a way that is not followed");
    else if (!lanes)
        return;
    else if (s.about->evaluator >= PTX_EVALUATE_SHUFFLE && s.about->evaluator <= PTX_EVALUATE_ACTIVEMASK)
        compute(&s);
    else if (!s.about->pure)
        act(&s);
    else if (code->form->row && code->form->row->control) {
        if (!reads_all_same(&s, 0))
            go_alone(symmetry, code, "where threads go on changes from CTA to CTA");
    } else if (code->count)
        compute(&s);
}

/* ---- Global memory ---- */

/* A CTA that speaks for itself alone touches memory, too, which others may touch. */
void ptx_symmetry_access(PtxSymmetry *symmetry, const PtxEvent *event) {
    if (event->kind != PTX_EVENT_ACCESS)
        return;
    for (uint32_t i = 0; i < event->location_count; i++) {
        bool there = event->outstanding ? true : event->lanes >> i & 1;
        const PtxLocation *location = &event->locations[i];
        if (!there || !location->block || location->block->space != PTX_SPACE_GLOBAL) {
            if (there && location->block && !symmetry->alone && !change_is_same(&symmetry->address) &&
                location->block->space != PTX_SPACE_GLOBAL)
                go_alone(symmetry, event->code, "an address that is not in global memory changes from CTA to CTA");
            continue;
        }
        uint32_t bytes = event->sizes ? event->sizes[i] : event->access.bytes;
        if (!symmetry->alone && change_breaks(&symmetry->address, bytes))
            go_alone(symmetry, event->code, "an address changes by less than its access must be aligned to");
        PtxSymmetryTouch touch = {.begin = location->block->base + location->offset,
                                  .end = location->block->base + location->offset + bytes,
                                  .block = location->block->base,
                                  .writes = event->access.kind != EFFECT_READ,
                                  .code = event->code};
        if (!symmetry->alone) {
            memcpy(touch.by, symmetry->address.by, sizeof touch.by);
            change_bind(symmetry, &symmetry->address, (int64_t)(location->block->base - touch.begin),
                        (int64_t)(location->block->base + location->block->size - touch.end));
        }
        PtxSymmetryTouch *last = symmetry->touch_count ? &symmetry->touches[symmetry->touch_count - 1] : NULL;
        if (last && last->code == touch.code && last->writes == touch.writes && last->end == touch.begin &&
            !memcmp(last->by, touch.by, sizeof touch.by))
            last->end = touch.end;
        else
            *ARENA_PUSH(symmetry->arena, symmetry->touches, symmetry->touch_count, symmetry->touch_capacity) = touch;
    }
}

static bool touches_move_symmetry(const PtxSymmetryTouch *a, const PtxSymmetryTouch *b) {
    return !memcmp(a->by, b->by, sizeof a->by);
}

static int by_place(const void *a, const void *b) {
    const PtxSymmetryTouch *x = a, *y = b;
    if (x->block != y->block)
        return x->block < y->block ? -1 : 1;
    int changes = memcmp(x->by, y->by, sizeof x->by);
    if (changes || x->writes != y->writes)
        return changes ? changes : x->writes ? 1 : -1;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* Those that touch or overlap become one. */
static void merge_touches(PtxSymmetry *symmetry) {
    uint32_t kept = 0;
    if (symmetry->touch_count < 2)
        return;
    qsort(symmetry->touches, symmetry->touch_count, sizeof *symmetry->touches, by_place);
    for (uint32_t i = 1; i < symmetry->touch_count; i++) {
        PtxSymmetryTouch *last = &symmetry->touches[kept], *next = &symmetry->touches[i];
        if (last->block == next->block && touches_move_symmetry(last, next) && last->writes == next->writes &&
            next->begin <= last->end)
            last->end = next->end > last->end ? next->end : last->end;
        else
            symmetry->touches[++kept] = *next;
    }
    symmetry->touch_count = kept + 1;
}

/* What moves differently from CTA to CTA, in one buffer, may meet within another CTA, although it does not in this one:
 * only those are like it in which it stays on the same side. */
static void keep_sides(PtxSymmetry *symmetry, const PtxSymmetryTouch *touches, uint32_t count) {
    bool writes = false;
    for (uint32_t i = 0; i < count; i++)
        writes |= touches[i].writes;
    if (!writes || touches_move_symmetry(&touches[0], &touches[count - 1]))
        return;
    if (count > MOST_SIDES) {
        go_alone(symmetry, touches[0].code, "too many places in one buffer change from CTA to CTA in different ways");
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < count; k++) {
            const PtxSymmetryTouch *a = &touches[i], *b = &touches[k];
            Change change = change_same;
            if (a->begin > b->begin || (a->begin == b->begin && i >= k) || !(a->writes || b->writes) ||
                touches_move_symmetry(a, b))
                continue;
            for (unsigned axis = 0; axis < 3; axis++)
                change.by[axis] = (int64_t)((uint64_t)b->by[axis] - (uint64_t)a->by[axis]);
            bool overlap = b->begin < a->end;
            change_bind(symmetry, &change, overlap ? 0 : (int64_t)(a->end - b->begin), overlap ? 0 : INT64_MAX);
        }
}

void ptx_symmetry_end(PtxSymmetry *symmetry) {
    merge_touches(symmetry);
    for (uint32_t begin = 0, end; begin < symmetry->touch_count && !symmetry->alone; begin = end) {
        for (end = begin + 1;
             end < symmetry->touch_count && symmetry->touches[end].block == symmetry->touches[begin].block;)
            end++;
        keep_sides(symmetry, &symmetry->touches[begin], end - begin);
    }
}

const PtxSymmetryTouch *ptx_symmetry_touches(const PtxSymmetry *symmetry, uint32_t *count) {
    *count = symmetry->touch_count;
    return symmetry->touches;
}

const PtxCode *ptx_symmetry_alone(const PtxSymmetry *symmetry, const char **why) {
    *why = symmetry->why;
    return symmetry->alone;
}

bool ptx_symmetry_speaks(const PtxSymmetry *symmetry, const uint32_t cta[3]) {
    int64_t d[3];
    for (unsigned i = 0; i < 3; i++)
        d[i] = (int64_t)cta[i] - (int64_t)symmetry->cta[i];
    if (!d[0] && !d[1] && !d[2])
        return true;
    if (symmetry->alone)
        return false;
    for (uint32_t i = 0; i < symmetry->bound_count; i++) {
        const PtxSymmetryBound *bound = &symmetry->bounds[i];
        __int128 moved = (__int128)bound->by[0] * d[0] + (__int128)bound->by[1] * d[1] + (__int128)bound->by[2] * d[2];
        if (moved < bound->least || moved > bound->most)
            return false;
    }
    return true;
}
