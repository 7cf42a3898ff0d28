/* Where a value that is not known, and that decided something, came from.
 *
 * Backward from the instruction, by the registers of its routine, whatever the order of the code: which loads and which
 * clocks the value can be made of. A load that is known to have read bytes that nothing wrote comes first, then a
 * clock or the like, then any load. */
#include "machine/simt/core/internal.h"

typedef struct SourceSearch {
    const PtxMachine *machine;
    const PtxProgram *program;
    const PtxRoutine *routine;
    bool *rows, *masks; /* of the routine: something is made of it */
    bool *seen;         /* code of the routine */
    bool more;
    const PtxCode *unset, *clock, *load;
} SourceSearch;

static void want(SourceSearch *s, const PtxArgument *argument) {
    if (argument->kind == ARGUMENT_ROW)
        for (unsigned i = 0; i < (argument->bits > 64 ? 2u : 1u); i++)
            s->rows[argument->slot + i] = true;
    if (argument->kind == ARGUMENT_PREDICATE)
        s->masks[argument->slot] = true;
    for (uint32_t i = 0; i < argument->count; i++)
        want(s, argument_member(s->program, argument, i));
}

static bool is_wanted(const SourceSearch *s, const PtxArgument *argument) {
    if (argument->kind == ARGUMENT_ROW)
        return s->rows[argument->slot] || (argument->bits > 64 && s->rows[argument->slot + 1]);
    if (argument->kind == ARGUMENT_PREDICATE)
        return s->masks[argument->slot];
    for (uint32_t i = 0; i < argument->count; i++)
        if (is_wanted(s, argument_member(s->program, argument, i)))
            return true;
    return false;
}

static bool is_changing(const SourceSearch *s, const PtxArgument *argument) {
    if (argument->kind == ARGUMENT_READ_ONLY)
        return !ptx_special_at(argument->slot)->varies[0];
    for (uint32_t i = 0; i < argument->count; i++)
        if (is_changing(s, argument_member(s->program, argument, i)))
            return true;
    return false;
}

static bool read_unset(const PtxMachine *machine, const PtxCode *code) {
    for (uint32_t i = 0; i < machine->unset_count; i++)
        if (machine->unset[i].code == code)
            return true;
    return false;
}

/* What the instruction reads is wanted, too; unless it reads memory. */
static void look_behind(SourceSearch *s, const PtxCode *code) {
    if (read_unset(s->machine, code)) {
        s->unset = s->unset ? s->unset : code;
        return;
    }
    if (code->form->evaluator == PTX_EVALUATE_LOAD) {
        s->load = s->load ? s->load : code;
        return;
    }
    for (uint32_t i = 0; i < code->count; i++) {
        const PtxArgument *argument = code_argument(s->program, code, i);
        if (is_changing(s, argument))
            s->clock = s->clock ? s->clock : code;
        if (!(code->form->writes >> i & 1) || code->form->updates >> i & 1)
            want(s, argument);
    }
    if (code->guard != PTX_NONE)
        s->masks[code->guard] = true;
    s->more = true;
}

static bool writes_wanted(const SourceSearch *s, const PtxCode *code) {
    for (uint32_t i = 0; i < code->count; i++)
        if (code->form->writes >> i & 1 && is_wanted(s, code_argument(s->program, code, i)))
            return true;
    return false;
}

static const PtxRoutine *routine_of(const PtxProgram *program, uint32_t at) {
    for (uint32_t i = 0; i < program->module->functions_count; i++)
        if (program->routines[i].ready && at >= program->routines[i].begin && at < program->routines[i].end)
            return &program->routines[i];
    return NULL;
}

static const PtxCode *source_of(PtxMachine *machine, const PtxCode *code) {
    const PtxProgram *program = machine->program;
    SourceSearch s = {.machine = machine, .program = program};
    s.routine = routine_of(program, (uint32_t)(code - program->code));
    if (!s.routine)
        return NULL;
    s.rows = ARENA_ARRAY(&machine->arena, bool, s.routine->rows + 2);
    s.masks = ARENA_ARRAY(&machine->arena, bool, s.routine->masks + 1);
    s.seen = ARENA_ARRAY(&machine->arena, bool, s.routine->end - s.routine->begin);
    if (code->guard != PTX_NONE)
        s.masks[code->guard] = true;
    for (uint32_t i = 0; i < code->count; i++) {
        const PtxArgument *argument = code_argument(program, code, i);
        if (argument->kind == ARGUMENT_ADDRESS || code->form->evaluator == PTX_EVALUATE_TABLE)
            want(&s, argument);
    }
    do {
        s.more = false;
        for (uint32_t i = s.routine->end; i-- > s.routine->begin;) {
            const PtxCode *at = &program->code[i];
            if (s.seen[i - s.routine->begin] || !writes_wanted(&s, at))
                continue;
            s.seen[i - s.routine->begin] = true;
            look_behind(&s, at);
        }
    } while (s.more && !s.unset);
    return s.unset ? s.unset : s.clock ? s.clock : s.load;
}

void sources_find(PtxMachine *machine) {
    for (uint32_t i = 0; i < machine->havoc_count; i++)
        if (!machine->havocs[i].source)
            machine->havocs[i].source = source_of(machine, machine->havocs[i].code);
}
