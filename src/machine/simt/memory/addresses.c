/* Addresses as values: between generic ones and those of a state space, of other CTAs, on the stack; and instructions
 * that change nothing that can be noticed. */
#include "machine/simt/core/internal.h"

typedef struct Convert {
    PtxSpace space;
    const PtxArgument *to, *from, *other;
    uint32_t align;
} Convert;

static bool window_of(PtxSpace space, uint64_t *window) {
    switch (space) {
    case PTX_SPACE_SHARED:
    case PTX_SPACE_CLUSTER:
        *window = PTX_WINDOW_SHARED;
        return true;
    case PTX_SPACE_LOCAL:
        *window = PTX_WINDOW_LOCAL;
        return true;
    case PTX_SPACE_CONST:
        *window = PTX_WINDOW_CONST;
        return true;
    case PTX_SPACE_PARAM:
        *window = PTX_WINDOW_PARAM;
        return true;
    default:
        return false;
    }
}

/* Null is null in every space. */
static PtxStep run_cvta(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const Convert *convert = code->detail;
    Lanes scratch, values;
    uint32_t unknown = 0;
    uint64_t window = 0;
    const Lanes *from = ptx_fetch(machine, group, convert->from, 0, &scratch, &unknown);
    window_of(convert->space, &window);
    for (unsigned i = 0; i < PTX_LANES; i++)
        values.at[i] = from->at[i] + window;
    ptx_put(machine, group, convert->to, 0, &values, lanes, unknown);
    return PTX_STEP_NEXT;
}

static PtxStep run_cvta_to(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const Convert *convert = code->detail;
    Lanes scratch, values;
    uint32_t unknown = 0;
    uint64_t window = 0;
    const Lanes *from = ptx_fetch(machine, group, convert->from, 0, &scratch, &unknown);
    bool narrow = convert->to->bits == 32;
    window_of(convert->space, &window);
    for (unsigned i = 0; i < PTX_LANES; i++) {
        uint64_t value = from->at[i] - window;
        values.at[i] = narrow ? (uint32_t)value : value;
    }
    ptx_put(machine, group, convert->to, 0, &values, lanes, unknown);
    return PTX_STEP_NEXT;
}

static bool is_in(const PtxMachine *machine, const PtxCta *cta, PtxSpace space, uint64_t address) {
    uint64_t window = 0;
    if (!window_of(space, &window))
        return address < PTX_WINDOW_SHARED || address >= PTX_WINDOW_PARAM + PTX_WINDOW_SIZE;
    if (address < window || address - window >= PTX_WINDOW_SIZE)
        return false;
    uint32_t rank = (uint32_t)(address - window) >> PTX_RANK_SHIFT;
    if (space == PTX_SPACE_SHARED && machine->program->module->capability >= 90)
        return rank == cta->rank;
    return space != PTX_SPACE_CLUSTER || rank < machine->cluster_size;
}

static PtxStep run_isspacep(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const Convert *convert = code->detail;
    Lanes scratch;
    uint32_t unknown = 0, mask = 0;
    const Lanes *from = ptx_fetch(machine, group, convert->from, 0, &scratch, &unknown);
    for (unsigned i = 0; i < PTX_LANES; i++)
        mask |= (uint32_t)is_in(machine, group->warp->cta, convert->space, from->at[i]) << i;
    ptx_put_mask(machine, group, convert->to, mask, lanes, unknown);
    return PTX_STEP_NEXT;
}

/* The rank is in the same bits of a generic address. */
static PtxStep run_mapa(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const Convert *convert = code->detail;
    Lanes scratch, other, values;
    uint32_t unknown = 0;
    const Lanes *from = ptx_fetch(machine, group, convert->from, 0, &scratch, &unknown);
    const Lanes *ranks = ptx_fetch(machine, group, convert->other, 0, &other, &unknown);
    for (unsigned i = 0; i < PTX_LANES; i++)
        values.at[i] = (from->at[i] & ~(UINT64_C(0xff) << PTX_RANK_SHIFT)) | (ranks->at[i] & 0xff) << PTX_RANK_SHIFT;
    ptx_put(machine, group, convert->to, 0, &values, lanes, unknown);
    return PTX_STEP_NEXT;
}

static PtxStep run_getctarank(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const Convert *convert = code->detail;
    Lanes scratch, values;
    uint32_t unknown = 0;
    const Lanes *from = ptx_fetch(machine, group, convert->from, 0, &scratch, &unknown);
    for (unsigned i = 0; i < PTX_LANES; i++)
        values.at[i] = from->at[i] >> PTX_RANK_SHIFT & 0xff;
    ptx_put(machine, group, convert->to, 0, &values, lanes, unknown);
    return PTX_STEP_NEXT;
}

/* ---- The stack ---- */

static uint32_t *stack_of(PtxMachine *machine, PtxFrame *frame) {
    if (!frame->stack) {
        frame->stack = ARENA_ARRAY(&machine->arena, uint32_t, PTX_LANES);
        for (unsigned i = 0; i < PTX_LANES; i++)
            frame->stack[i] = frame->local_at + frame->routine->local_bytes;
    }
    return frame->stack;
}

static PtxStep run_alloca(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const uint64_t most = 512 << 10; /* bytes of local memory that a thread can have */
    const Convert *convert = code->detail;
    Lanes scratch, values = {{0}};
    uint32_t unknown = 0, *stack = stack_of(machine, group->frame);
    const Lanes *sizes = ptx_fetch(machine, group, convert->from, 0, &scratch, &unknown);
    if (unknown & lanes)
        return ptx_stop(machine, code, "how much memory it allocates is not known");
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        uint64_t at = ((uint64_t)stack[lane] + convert->align - 1) / convert->align * convert->align;
        uint64_t end = at + sizes->at[lane];
        if (sizes->at[lane] > most || end > most)
            return ptx_fault(machine, group, RULE_LOCAL_OUT_OF_RANGE, code, rest & -rest, "the stack is full");
        PtxBlock *block = local_block(machine, group->warp->cta, group->warp->index * PTX_LANES + lane);
        local_grow(machine, block, end);
        memset(block->states + at, BYTE_NEVER, sizes->at[lane]);
        stack[lane] = (uint32_t)end;
        values.at[lane] = at;
    }
    ptx_put(machine, group, convert->to, 0, &values, lanes, 0);
    return PTX_STEP_NEXT;
}

static PtxStep run_stacksave(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const Convert *convert = code->detail;
    const uint32_t *stack = stack_of(machine, group->frame);
    Lanes values;
    for (unsigned i = 0; i < PTX_LANES; i++)
        values.at[i] = stack[i];
    ptx_put(machine, group, convert->to, 0, &values, lanes, 0);
    return PTX_STEP_NEXT;
}

static PtxStep run_stackrestore(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const Convert *convert = code->detail;
    Lanes scratch;
    uint32_t unknown = 0, *stack = stack_of(machine, group->frame);
    const Lanes *from = ptx_fetch(machine, group, convert->from, 0, &scratch, &unknown);
    for (uint32_t rest = lanes & ~unknown; rest; rest &= rest - 1)
        stack[__builtin_ctz(rest)] = (uint32_t)from->at[__builtin_ctz(rest)];
    return PTX_STEP_NEXT;
}

/* ---- Which there are ---- */

static PtxStep run_nothing(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    (void)machine, (void)group, (void)code, (void)lanes;
    return PTX_STEP_NEXT;
}

static bool prepare_convert(const PtxPrepare *about, PtxCode *code, PtxRun *run) {
    const PtxProgram *program = about->program;
    Convert *convert = ARENA_NEW(about->program->arena, Convert);
    const PtxArgument *to = code_named(program, code, STR("d")), *align = code_named(program, code, STR("b"));
    convert->space = ptx_space_of_form(code->form->text, 0);
    convert->to = to ? to : code_named(program, code, STR("p"));
    convert->from = code_named(program, code, STR("a"));
    convert->other = align;
    convert->align = 8;
    if (align && align->kind == ARGUMENT_CONSTANT && program->constants[align->slot].at[0])
        convert->align = (uint32_t)program->constants[align->slot].at[0];
    code->run = run;
    code->detail = convert;
    return convert->to || convert->from;
}

static bool prepare_stack(const PtxPrepare *about, PtxCode *code) {
    static const struct {
        const char *name;
        PtxRun *run;
    } rows[] = {{"alloca", run_alloca}, {"stacksave", run_stacksave}, {"stackrestore", run_stackrestore}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(code->form->row->name, rows[i].name))
            return prepare_convert(about, code, rows[i].run);
    return false;
}

bool addresses_prepare(const PtxPrepare *about, PtxCode *code) {
    switch (about->evaluator) {
    case PTX_EVALUATE_CVTA:
        return prepare_convert(about, code, run_cvta);
    case PTX_EVALUATE_CVTA_TO:
        return prepare_convert(about, code, run_cvta_to);
    case PTX_EVALUATE_ISSPACEP:
        return prepare_convert(about, code, run_isspacep);
    case PTX_EVALUATE_MAPA:
        return prepare_convert(about, code, run_mapa);
    case PTX_EVALUATE_GETCTARANK:
        return prepare_convert(about, code, run_getctarank);
    case PTX_EVALUATE_NONE:
        break;
    default:
        return false;
    }
    if (about->effect_count || prepare_stack(about, code))
        return !about->effect_count;
    code->run = run_nothing;
    return !code->form->writes && !code->form->row->control;
}
