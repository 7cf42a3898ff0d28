/* Affine forms of registers, instruction by instruction, and what accesses global memory: see symmetry.h. */
#include "machine/simt/core/symmetry_internal.h"

#include "model/effect/ptx_column.h"
#include "ptx/effects.h"

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

static uint32_t bit_of(const PtxModule *module, const PtxStatement *statement, Str name, bool address) {
    uint32_t count, place = 0;
    const PtxOperand *operands = ptx_operands(module, statement, &count);
    const PtxOperand *wanted = name.size ? ptx_effect_operand(module, statement, name) : NULL;
    for (uint32_t i = 0; i < count && place < 32; i += ptx_extent(&operands[i]), place++)
        if (&operands[i] == wanted && (operands[i].kind == PTX_ADDRESS) == address)
            return UINT32_C(1) << place;
    return 0;
}

static SymmetryAbout about_of(const PtxProgram *program, const PtxCode *code) {
    SymmetryAbout about = {.evaluator = (uint8_t)code->form->evaluator, .moves_global = true};
    PtxEffect effects[PTX_EFFECTS_MOST];
    const PtxModule *module = program->module;
    const PtxStatement *statement = &module->statements[code->statement];
    unsigned count = ptx_effects_of(module, statement, effects);
    about.pure = !count;
    for (unsigned i = 0; i < count; i++) {
        const PtxEffect *effect = &effects[i];
        if (!effect_is_access(&effect->effect)) {
            about.reported |= effect->effect.verb != EFFECT_WARP_SYNC && effect->effect.verb != EFFECT_CONVERGED;
            continue;
        }
        const Str deciding[] = {effect->on, effect->count, effect->limit, effect->ctas, effect->stride};
        about.accesses = true;
        for (unsigned k = 0; k < sizeof deciding / sizeof *deciding; k++)
            about.decides |= bit_of(module, statement, deciding[k], false);
        if (effect->effect.space == SPACE_SHARED || effect->effect.space == SPACE_TENSOR)
            continue;
        about.moves |= bit_of(module, statement, effect->on, true);
        about.moves_global &= effect->effect.space == SPACE_GLOBAL && !effect->memory;
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

/* Whether CTAs can learn of each other by what an instruction does: a strong access that has an order, or that is
 * volatile; or any at all, where they are not wanted. *relaxed, *fences: what makes an order together. */
static bool synchronizes(const PtxProgram *program, const PtxCode *code, bool strong, bool *relaxed, bool *fences) {
    PtxEffect effects[PTX_EFFECTS_MOST];
    unsigned count = ptx_effects_of(program->module, &program->module->statements[code->statement], effects);
    for (unsigned i = 0; i < count; i++) {
        const Effect *effect = &effects[i].effect;
        *fences |= effect->verb == EFFECT_FENCE_ORDER && effect->scope != SCOPE_CTA;
        if (effect->proxy == PROXY_TEXTURE || effect->proxy == PROXY_SURFACE) /* no operand is their address */
            return true;
        if (!effect_is_access(effect) || effect->order == ORDER_WEAK || effect->space == SPACE_SHARED)
            continue;
        *relaxed = true;
        if (!strong || effect->order != ORDER_RELAXED || code_has(code, STR("volatile")))
            return true;
    }
    return *relaxed && *fences;
}

/* Whether what a kernel does is of the kind that is kept: no calls, no CTAs that wait for one another. */
static bool is_plain(const PtxMachine *machine, bool strong) {
    const PtxProgram *program = machine->program;
    const PtxRoutine *routine = &program->routines[program->entry];
    uint32_t ready = 0;
    bool relaxed = false, fences = false;
    for (uint32_t i = 0; i < program->module->functions_count; i++)
        ready += program->routines[i].ready;
    for (uint32_t i = routine->begin; i < routine->end; i++)
        if (synchronizes(program, &program->code[i], strong, &relaxed, &fences))
            return false;
    return ready == 1 && machine->cluster_size == 1;
}

PtxSymmetry *ptx_symmetry_new(Arena *arena, const PtxMachine *machine, bool strong) {
    if (!is_plain(machine, strong))
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
    for (uint32_t i = routine->begin; i < routine->end; i++)
        symmetry->abouts[i] = about_of(program, &program->code[i]);
    symmetry->registers = ARENA_ARRAY(arena, SymmetryRow, (size_t)symmetry->warps * symmetry->rows + 1);
    symmetry->mask_differs = ARENA_ARRAY(arena, uint32_t, (size_t)symmetry->warps * symmetry->masks + 1);
    return symmetry;
}

void ptx_symmetry_start(PtxSymmetry *symmetry, Symmetry *box, Footprints *footprints, bool narrows) {
    symmetry->box = box;
    symmetry->footprints = footprints;
    symmetry->narrows = narrows;
    for (size_t i = 0; i < (size_t)symmetry->warps * symmetry->rows; i++)
        symmetry->registers[i] = (SymmetryRow){.lanes = UINT32_MAX};
    memset(symmetry->mask_differs, 0, (size_t)symmetry->warps * symmetry->masks * sizeof *symmetry->mask_differs);
    symmetry->issued_count = 0;
    symmetry->alone = NULL;
    if (symmetry->shared)
        memset(symmetry->shared, 0, symmetry->shared_bytes);
}

const PtxCode *ptx_symmetry_alone(const PtxSymmetry *symmetry) {
    return symmetry->alone;
}

static void go_alone(PtxSymmetry *symmetry, const PtxCode *code) {
    symmetry->alone = symmetry->alone ? symmetry->alone : code;
    symmetry_pin(symmetry->box, &affine_loose);
}

/* ---- Operands ---- */

static SymmetryRow *row_of(const SymmetryStep *s, const PtxArgument *argument) {
    return &s->symmetry->registers[(size_t)s->group->warp->index * s->symmetry->rows + argument->slot];
}

static uint32_t *mask_of(const SymmetryStep *s, uint32_t slot) {
    return &s->symmetry->mask_differs[(size_t)s->group->warp->index * s->symmetry->masks + slot];
}

static AffineForm form_of(const SymmetryStep *s, const PtxArgument *argument) {
    if (argument->kind == ARGUMENT_ROW)
        return s->lanes & ~row_of(s, argument)->lanes ? affine_loose : row_of(s, argument)->form;
    if (argument->kind == ARGUMENT_PREDICATE)
        return s->lanes & *mask_of(s, argument->slot) ? affine_loose : affine_same;
    if (argument->kind == ARGUMENT_READ_ONLY) {
        const PtxSpecial *special = ptx_special_at(argument->slot);
        if (argument->slot == s->symmetry->ctaid && argument->part >= PTX_X && argument->part <= PTX_Z)
            return symmetry_coordinate(s->box, argument->part - PTX_X, 1);
        if (str_is(str_of(special->varies), "cta") || str_is(str_of(special->varies), "cluster") || !*special->varies)
            return affine_loose;
    }
    return affine_same;
}

/* Of all arguments that are read, and of their members: same, or not kept. */
static bool all_same(const SymmetryStep *s, const PtxArgument *argument) {
    if (argument->kind == ARGUMENT_MEMBERS || argument->kind == ARGUMENT_ADDRESS) {
        for (uint32_t i = 0; i < argument->count; i++)
            if (!all_same(s, argument_member(s->symmetry->program, argument, i)))
                return false;
        return true;
    }
    AffineForm form = form_of(s, argument);
    return is_same(s, &form) &&
           !(argument->kind == ARGUMENT_ROW && argument->bits > 64 &&
             (s->lanes & ~row_of(s, argument)[1].lanes || !is_same(s, &row_of(s, argument)[1].form)));
}

/* A register gets a new value in some lanes. */
static void set(const SymmetryStep *s, const PtxArgument *to, AffineForm form) {
    const PtxWarp *warp = s->group->warp;
    if (to->kind == ARGUMENT_MEMBERS) {
        for (uint32_t i = 0; i < to->count; i++)
            set(s, argument_member(s->symmetry->program, to, i), form);
    } else if (to->kind == ARGUMENT_ROW) {
        for (uint32_t i = 0; i < (to->bits > 64 ? 2u : 1u); i++) {
            SymmetryRow *row = row_of(s, to) + i;
            bool whole = !(warp->launched & ~(s->lanes | warp->exited));
            if (form.loose)
                row->lanes &= ~s->lanes;
            else
                row->lanes = whole || !symmetry_forms_equal(&row->form, &form) ? s->lanes : row->lanes | s->lanes;
            row->form = form.loose ? row->form : form;
        }
    } else if (to->kind == ARGUMENT_PREDICATE) {
        uint32_t *mask = mask_of(s, to->slot);
        *mask = (*mask & ~s->lanes) | (is_same(s, &form) ? 0 : s->lanes);
    }
}

/* ---- What instructions do to forms ---- */

static void read_in(SymmetryStep *s, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        uint32_t unknown = 0;
        const PtxArgument *argument = code_argument(s->symmetry->program, s->code, i + 1);
        s->in[i].form = form_of(s, argument);
        s->in[i].values = ptx_fetch(s->machine, s->group, argument, 0, &s->in[i].scratch, &unknown);
        if (unknown & s->lanes)
            s->in[i].form = affine_loose;
    }
}

/* ---- One instruction ---- */

static bool reads_all_same(const SymmetryStep *s, uint32_t first) {
    for (uint32_t i = first; i < s->code->count; i++)
        if (!all_same(s, code_argument(s->symmetry->program, s->code, i)))
            return false;
    return true;
}

static AffineForm chosen(SymmetryStep *s) {
    uint32_t unknown = 0;
    const PtxArgument *by = code_argument(s->symmetry->program, s->code, 3);
    AffineForm how = form_of(s, by);
    uint32_t mask = ptx_fetch_mask(s->machine, s->group, by, &unknown) & s->lanes;
    if (!is_same(s, &how) || unknown & s->lanes)
        return affine_loose;
    if (symmetry_forms_equal(&s->in[0].form, &s->in[1].form) || mask == s->lanes)
        return s->in[0].form;
    return mask ? affine_loose : s->in[1].form;
}

/* The form of the result of a computation. */
static AffineForm result_of(SymmetryStep *s) {
    AffineForm product;
    switch (s->about->evaluator) {
    case PTX_EVALUATE_ADD:
    case PTX_EVALUATE_SUB:
        read_in(s, 2);
        return s->about->bits && !code_has(s->code, STR("sat"))
                   ? affine_sum(&s->in[0].form, &s->in[1].form, s->about->evaluator == PTX_EVALUATE_ADD ? 1 : -1)
                   : affine_loose;
    case PTX_EVALUATE_MUL:
        read_in(s, 2);
        return s->about->bits ? affine_multiplied(s) : affine_loose;
    case PTX_EVALUATE_MAD:
        read_in(s, 3);
        product = s->about->bits && !code_has(s->code, STR("sat")) ? affine_multiplied(s) : affine_loose;
        return affine_sum(&product, &s->in[2].form, 1);
    case PTX_EVALUATE_SHL: {
        uint64_t by;
        read_in(s, 2);
        if (!is_same(s, &s->in[1].form) || !lanes_uniform(s->in[1].values, s->lanes, &by) || by > 31)
            return affine_loose;
        return affine_sum(&affine_same, &s->in[0].form, INT64_C(1) << by);
    }
    case PTX_EVALUATE_SHR:
        read_in(s, 2);
        return affine_shifted_right(s);
    case PTX_EVALUATE_OR:
    case PTX_EVALUATE_XOR:
        read_in(s, 2);
        return s->about->bits ? affine_merged(s) : affine_loose;
    case PTX_EVALUATE_AND:
        read_in(s, 2);
        return s->about->bits ? affine_masked(s) : affine_loose;
    case PTX_EVALUATE_DIV:
    case PTX_EVALUATE_REM:
        read_in(s, 2);
        return s->about->bits ? affine_divided(s, s->about->evaluator == PTX_EVALUATE_REM) : affine_loose;
    case PTX_EVALUATE_NEG:
        read_in(s, 1);
        return s->about->bits ? affine_sum(&affine_same, &s->in[0].form, -1) : affine_loose;
    case PTX_EVALUATE_CVT:
        read_in(s, 1);
        return affine_converted(s);
    case PTX_EVALUATE_MIN:
    case PTX_EVALUATE_MAX:
        if (s->code->count != 3 || !s->about->bits || code_has(s->code, STR("relu")))
            return affine_loose;
        read_in(s, 2);
        return affine_smaller(s, s->about->evaluator == PTX_EVALUATE_MIN);
    case PTX_EVALUATE_SELP:
        read_in(s, 2);
        return chosen(s);
    case PTX_EVALUATE_SHUFFLE:
        read_in(s, 1);
        return reads_all_same(s, 2) ? s->in[0].form : affine_loose;
    case PTX_EVALUATE_MOV:
    case PTX_EVALUATE_CVTA:
    case PTX_EVALUATE_CVTA_TO:
        read_in(s, 1);
        return s->in[0].form;
    default:
        return affine_loose;
    }
}

static void compute(SymmetryStep *s) {
    const PtxProgram *program = s->symmetry->program;
    const PtxArgument *to = code_argument(program, s->code, 0);
    bool packs = s->code->count > 1 &&
                 (to->kind == ARGUMENT_MEMBERS || code_argument(program, s->code, 1)->kind == ARGUMENT_MEMBERS);
    if (reads_all_same(s, 1)) {
        set(s, to, affine_same);
    } else if (s->about->carries) {
        go_alone(s->symmetry, s->code);
    } else if (s->about->evaluator == PTX_EVALUATE_SETP) {
        read_in(s, 2);
        bool held = s->code->count <= 3 || all_same(s, code_argument(program, s->code, 3));
        set(s, to, affine_compared(s) && held ? affine_same : affine_loose);
    } else if (packs) {
        set(s, to, affine_loose);
    } else {
        set(s, to, result_of(s));
    }
}

/* The form of an address, which is one register and a constant, or the same everywhere. */
static AffineForm address_form(const SymmetryStep *s, const PtxArgument *argument) {
    if (!argument->count || all_same(s, argument))
        return affine_same;
    return argument->count > 1 ? affine_loose : form_of(s, argument_member(s->symmetry->program, argument, 0));
}

/* An access, a barrier: what decides must be the same, or the one address in global memory that changes. */
static void act(SymmetryStep *s) {
    const PtxProgram *program = s->symmetry->program;
    const PtxForm *form = s->code->form;
    AffineForm *address = &s->symmetry->address;
    *address = affine_same;
    bool same = !s->about->reported || reads_all_same(s, form->writes & 1);
    for (uint32_t i = 0; i < s->code->count; i++) {
        const PtxArgument *argument = code_argument(program, s->code, i);
        if (i < 32 && s->about->decides >> i & 1)
            same &= all_same(s, argument);
        AffineForm at = argument->kind == ARGUMENT_ADDRESS ? address_form(s, argument) : affine_same;
        if (is_same(s, &at))
            continue;
        same &= !at.loose && i < 32 && s->about->moves >> i & 1 &&
                (is_same(s, address) || symmetry_forms_equal(address, &at));
        *address = at;
    }
    if (!same)
        go_alone(s->symmetry, s->code);
    for (uint32_t i = 0; i < s->code->count; i++)
        if (form->writes >> i & 1 && code_argument(program, s->code, i)->kind != ARGUMENT_ADDRESS) {
            bool load = s->about->evaluator == PTX_EVALUATE_LOAD;
            bool fixed =
                load && (code_has(s->code, STR("param")) || code_has(s->code, STR("const"))) && is_same(s, address);
            set(s, code_argument(program, s->code, i), fixed || !s->about->accesses ? affine_same : affine_loose);
        }
}

void ptx_symmetry_step(PtxSymmetry *symmetry, PtxMachine *machine, PtxGroup *group, const PtxCode *code,
                       uint32_t lanes) {
    SymmetryStep s = {.symmetry = symmetry,
                      .box = symmetry->box,
                      .machine = machine,
                      .group = group,
                      .code = code,
                      .about = &symmetry->abouts[code - symmetry->program->code],
                      .lanes = lanes};
    if (symmetry->alone)
        return;
    if (group->frame->caller)
        go_alone(symmetry, code);
    else if (code->guard != PTX_NONE && *mask_of(&s, code->guard) & group->lanes)
        go_alone(symmetry, code);
    else if (!lanes)
        return;
    else if (s.about->evaluator >= PTX_EVALUATE_SHUFFLE && s.about->evaluator <= PTX_EVALUATE_ACTIVEMASK)
        compute(&s);
    else if (!s.about->pure)
        act(&s);
    else if (code->form->row && code->form->row->control) {
        if (!reads_all_same(&s, 0))
            go_alone(symmetry, code);
    } else if (code->count)
        compute(&s);
}

/* ---- Shared memory ---- */

/* The shared memory that some of an access is in; NULL: none of it. */
static const PtxBlock *shared_of(const PtxEvent *event) {
    for (uint32_t i = 0; i < event->location_count; i++) {
        bool there = event->outstanding || event->lanes >> i & 1;
        if (there && event->locations[i].block && event->locations[i].block->space == PTX_SPACE_SHARED)
            return event->locations[i].block;
    }
    return NULL;
}

/* Of an access of threads: what all of them write is the same in all CTAs if all is that they read; and what they load
 * is so where that was written. */
static void share(PtxSymmetry *symmetry, const PtxEvent *event, const PtxBlock *block) {
    PtxGroup group = {.warp = event->warp};
    SymmetryStep s = {
        .symmetry = symmetry, .box = symmetry->box, .group = &group, .code = event->code, .lanes = event->lanes};
    uint8_t kind = event->access.kind;
    bool writes = kind != KIND_READ, all = true;
    bool same = kind == KIND_WRITE && !event->outstanding && reads_all_same(&s, event->code->form->writes & 1);
    if (!symmetry->shared) {
        symmetry->shared_bytes = block->size;
        symmetry->shared = ARENA_ARRAY(symmetry->arena, bool, block->size + 1);
    }
    for (uint32_t i = 0; i < event->location_count; i++) {
        const PtxLocation *location = &event->locations[i];
        if (!event->outstanding && !(event->lanes >> i & 1))
            continue;
        uint32_t bytes = event->sizes ? event->sizes[i] : event->access.bytes;
        bool there = location->block == block && location->offset < symmetry->shared_bytes &&
                     bytes <= symmetry->shared_bytes - location->offset;
        if (there && writes)
            memset(symmetry->shared + location->offset, same, bytes);
        all &= there && !memchr(symmetry->shared + location->offset, false, bytes);
    }
    if (!writes && !event->outstanding && all && event->code->form->evaluator == PTX_EVALUATE_LOAD)
        set(&s, code_argument(symmetry->program, event->code, 0), affine_same);
}

/* ---- Global memory ---- */

/* Whether an address that is a multiple of the access's size is none in other CTAs. */
static bool breaks_alignment(const AffineForm *form, uint32_t bytes) {
    uint64_t align = bytes & -bytes; /* the power of two in it */
    return align && ((uint64_t)(form->by[0] | form->by[1] | form->by[2]) & (align - 1));
}

/* The form of the address of an operation that was issued before. */
static AffineForm issued_form(const PtxSymmetry *symmetry, uint32_t sequence) {
    for (uint32_t i = symmetry->issued_count; i-- > 0;)
        if (symmetry->issued[i].sequence == sequence)
            return symmetry->issued[i].address;
    return affine_loose;
}

/* Bytes of an access that the CTA makes: those after each other are one piece. */
static void add_accesses(PtxSymmetry *symmetry, const PtxEvent *event, const AffineForm *form) {
    const PtxAccess *access = &event->access;
    Piece pieces[PTX_LANES];
    uint32_t count = 0;
    Footprint like = {.writes = access->kind != KIND_READ,
                      .async = true,
                      .atomic = access->strong && access->scope >= SCOPE_GPU ? access->element : 0,
                      .form = *form};
    for (uint32_t i = 0; i < event->location_count; i++) {
        const PtxLocation *location = &event->locations[i];
        bool there = event->outstanding ? true : event->lanes >> i & 1;
        if (!there || !location->block || location->block->space != PTX_SPACE_GLOBAL)
            continue;
        int64_t begin = (int64_t)(location->block->base + location->offset);
        uint32_t bytes = event->sizes ? event->sizes[i] : access->bytes;
        if (count && like.area == location->block->base && pieces[count - 1].begin + pieces[count - 1].bytes == begin) {
            pieces[count - 1].bytes += bytes;
            continue;
        }
        if (count == PTX_LANES || (count && like.area != location->block->base)) {
            footprints_add(symmetry->footprints, &like, pieces, count);
            count = 0;
        }
        like.area = location->block->base;
        pieces[count++] = (Piece){.begin = begin, .bytes = bytes};
    }
    if (count)
        footprints_add(symmetry->footprints, &like, pieces, count);
}

/* What changes is in global memory, aligned, and stays in its buffer. */
static bool stays_in_bounds(PtxSymmetry *symmetry, const PtxEvent *event, const AffineForm *form) {
    for (uint32_t i = 0; i < event->location_count; i++) {
        const PtxBlock *block = event->locations[i].block;
        if (!block || !(event->outstanding || event->lanes >> i & 1))
            continue;
        uint32_t bytes = event->sizes ? event->sizes[i] : event->access.bytes;
        uint64_t offset = event->locations[i].offset;
        if (block->space != PTX_SPACE_GLOBAL && symmetry->abouts[event->code - symmetry->program->code].moves_global)
            continue;
        if (block->space != PTX_SPACE_GLOBAL || breaks_alignment(form, bytes))
            return false;
        symmetry_keep(symmetry->box, form, (int64_t)offset, 0, (int64_t)(block->size - bytes));
    }
    return true;
}

/* A CTA that speaks for itself alone accesses memory, too, which others may access. */
void ptx_symmetry_event(PtxSymmetry *symmetry, const PtxEvent *event) {
    if (event->kind == PTX_EVENT_ISSUE)
        *ARENA_PUSH(symmetry->arena, symmetry->issued, symmetry->issued_count, symmetry->issued_capacity) =
            (SymmetryIssued){event->outstanding->sequence, symmetry->address};
    if (event->kind != PTX_EVENT_ACCESS)
        return;
    const PtxBlock *shared = symmetry->alone ? NULL : shared_of(event);
    if (shared)
        share(symmetry, event, shared);
    AffineForm form = event->outstanding ? issued_form(symmetry, event->outstanding->sequence) : symmetry->address;
    if (!symmetry_is_fixed(symmetry->box, &form) && (form.loose || !stays_in_bounds(symmetry, event, &form)))
        go_alone(symmetry, event->code);
    add_accesses(symmetry, event, symmetry_is_fixed(symmetry->box, &form) ? &affine_same : &form);
}
