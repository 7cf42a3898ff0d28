/* Calls and returns: frames, what is handed over, and calls of functions by their addresses. */
#include "machine/simt/core/internal.h"

/* FRAME_BYTES: of the stack, for each call, beside its variables; what a thread can have at most. */
enum { MOST_DRIVER_ARGUMENTS = 8, FRAME_BYTES = 16, MOST_STACK = 512 << 10 };

typedef struct CoreCall {
    const PtxArgument *callee;
    const PtxArgument *results, *arguments; /* lists; NULL: none */
    const PtxFunction *prototype;           /* of what is called: the function's own, or that of an indirect call */
    DriverCall *driver;                     /* it comes with the driver */
} CoreCall;

uint32_t frame_top(const PtxFrame *frame) {
    uint32_t top = frame->local_at + frame->routine->local_bytes;
    for (unsigned i = 0; frame->stack && i < PTX_LANES; i++)
        if (frame->stack[i] > top)
            top = frame->stack[i];
    return (top + 15) / 16 * 16 + FRAME_BYTES;
}

/* ---- Handing over ---- */

static unsigned bytes_of(const PtxArgument *argument) {
    return argument->bits < 8 ? 1 : argument->bits / 8;
}

/* An argument of the group's frame, of one lane, as bytes. */
static void argument_read(PtxMachine *machine, PtxGroup *group, const PtxArgument *argument, uint32_t lane,
                          uint32_t count, uint8_t *bytes, uint8_t *states) {
    if (argument->kind == ARGUMENT_SYMBOL) {
        param_read(machine, group->warp, group->frame, argument->slot, (uint64_t)argument->offset, lane, count, bytes,
                   states);
        return;
    }
    memset(bytes, 0, count);
    for (unsigned half = 0; half < 2 && half * 8 < count; half++) {
        Lanes scratch;
        uint32_t unknown = 0;
        uint64_t value = ptx_fetch(machine, group, argument, half, &scratch, &unknown)->at[lane];
        uint32_t there = count - half * 8 < 8 ? count - half * 8 : 8;
        memcpy(bytes + half * 8, &value, there);
        memset(states + half * 8, unknown >> lane & 1 ? BYTE_UNKNOWN : BYTE_KNOWN, there);
    }
}

static void argument_write(PtxMachine *machine, PtxGroup *group, const PtxArgument *argument, uint32_t lane,
                           uint32_t count, const uint8_t *bytes, const uint8_t *states) {
    if (argument->kind == ARGUMENT_SYMBOL) {
        param_write(machine, group->warp, group->frame, argument->slot, (uint64_t)argument->offset, lane, count, bytes,
                    states);
        return;
    }
    for (unsigned half = 0; half < 2 && half * 8 < count; half++) {
        Lanes values;
        uint32_t there = count - half * 8 < 8 ? count - half * 8 : 8, unknown = 0;
        values.at[lane] = 0;
        memcpy(&values.at[lane], bytes + half * 8, there);
        for (uint32_t i = 0; i < there; i++)
            unknown |= states[half * 8 + i] != BYTE_KNOWN;
        ptx_put(machine, group, argument, half, &values, UINT32_C(1) << lane, unknown << lane);
    }
}

/* A formal parameter or result as an argument of its function's frames. */
static PtxArgument formal_argument(const PtxProgram *program, uint32_t variable) {
    const PtxSymbolSlot *seat = &program->seats[variable];
    PtxArgument formal = {.kind = ARGUMENT_SYMBOL, .slot = variable, .bits = seat->bits};
    if (seat->space == PTX_SPACE_UNKNOWN) {
        formal.kind = seat->bits == 1 ? ARGUMENT_PREDICATE : ARGUMENT_ROW;
        formal.slot = (uint32_t)seat->at;
    }
    return formal;
}

static uint32_t formal_bytes(const PtxProgram *program, uint32_t variable) {
    const PtxSymbolSlot *seat = &program->seats[variable];
    return seat->bits == 1 ? 1 : (uint32_t)seat->bytes;
}

/* Room for values that are large, which is kept. */
static void large_values(PtxMachine *machine, uint32_t count, uint8_t **bytes, uint8_t **states) {
    Pools *pools = pools_of(machine);
    if (count > pools->value_bytes) {
        pools->values = arena_alloc(&machine->arena, 2 * (size_t)count);
        pools->value_bytes = count;
    }
    *bytes = pools->values;
    *states = pools->values + count;
}

/* From arguments of one frame to those of another. */
static void hand_over(PtxMachine *machine, PtxGroup *group, PtxFrame *from, const PtxArgument *source, PtxFrame *to,
                      const PtxArgument *target, uint32_t count, uint32_t lanes) {
    uint8_t small[2][64], *bytes = small[0], *states = small[1];
    if (source->kind == ARGUMENT_SYMBOL && target->kind == ARGUMENT_SYMBOL && !source->offset &&
        param_copy(machine, from, source->slot, to, target->slot, count, lanes))
        return;
    if (count > sizeof small[0])
        large_values(machine, count, &bytes, &states);
    PtxFrame *own = group->frame;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        group->frame = from;
        argument_read(machine, group, source, lane, count, bytes, states);
        group->frame = to;
        argument_write(machine, group, target, lane, count, bytes, states);
    }
    group->frame = own;
}

/* ---- Calls ---- */

/* The lanes are all of the group. */
static PtxStep enter(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t function) {
    const CoreCall *call = code->detail;
    const PtxProgram *program = machine->program;
    const PtxFunction *callee = &program->module->functions[function];
    const PtxRoutine *routine = &program->routines[function];
    PtxFrame *caller = group->frame;
    if (frame_top(caller) + routine->local_bytes > MOST_STACK)
        return ptx_fault(machine, group, RULE_LOCAL_OUT_OF_RANGE, code, group->lanes,
                         "calls are nested so deeply that the stack is full");
    control_open(machine, group, group->pc + 1);
    PtxFrame *frame =
        new_frame(machine, routine, caller, group->pc + 1, group->lanes, group->warp->cta, group->warp->index);
    uint32_t given = call->arguments ? call->arguments->count : 0;
    for (uint32_t i = 0; i < given && i < callee->parameter_count; i++) {
        PtxArgument formal = formal_argument(program, callee->parameters + i);
        hand_over(machine, group, caller, argument_member(program, call->arguments, i), frame, &formal,
                  formal_bytes(program, callee->parameters + i), group->lanes);
    }
    group->frame = frame;
    release_frame(machine, caller); /* the new frame uses it */
    group->pc = routine->begin;
    control_set_meet(group);
    return PTX_STEP_MOVED;
}

/* The group that makes the call: those lanes whose guard holds. The others wait behind it. */
static PtxGroup *callers(PtxMachine *machine, PtxGroup *group, uint32_t lanes) {
    if (lanes == group->lanes)
        return group;
    control_open(machine, group, group->pc + 1);
    PtxGroup *other = control_split(machine, group, lanes);
    group->pc++;
    control_arrive(machine, group);
    return other;
}

static PtxStep run_call(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const CoreCall *call = code->detail;
    return enter(machine, callers(machine, group, lanes), code, call->callee->slot);
}

static PtxStep call_driver(PtxMachine *machine, PtxGroup *group, const PtxCode *code, const CoreCall *call,
                           DriverCall *driver, uint32_t lanes) {
    const PtxProgram *program = machine->program;
    uint64_t values[MOST_DRIVER_ARGUMENTS][PTX_LANES] = {{0}}, results[PTX_LANES] = {0};
    uint32_t unknown[MOST_DRIVER_ARGUMENTS] = {0};
    uint32_t given = call->arguments ? call->arguments->count : 0;
    for (uint32_t i = 0; i < given && i < MOST_DRIVER_ARGUMENTS; i++)
        for (uint32_t rest = lanes; rest; rest &= rest - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(rest);
            uint8_t bytes[8], states[8];
            const PtxArgument *argument = argument_member(program, call->arguments, i);
            uint32_t size =
                argument->kind == ARGUMENT_SYMBOL ? (uint32_t)program->seats[argument->slot].bytes : bytes_of(argument);
            argument_read(machine, group, argument, lane, size < 8 ? size : 8, bytes, states);
            memcpy(&values[i][lane], bytes, size < 8 ? size : 8);
            for (uint32_t k = 0; k < size && k < 8; k++)
                unknown[i] |= (uint32_t)(states[k] != BYTE_KNOWN) << lane;
        }
    PtxStep step = driver(machine, group, code, lanes, (const uint64_t(*)[PTX_LANES])values, unknown, results);
    if (step != PTX_STEP_NEXT || !call->results || !call->results->count)
        return step;
    const PtxArgument *result = argument_member(program, call->results, 0);
    uint32_t size = result->kind == ARGUMENT_SYMBOL ? (uint32_t)program->seats[result->slot].bytes : bytes_of(result);
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        uint8_t states[8];
        memset(states, BYTE_KNOWN, sizeof states);
        argument_write(machine, group, result, lane, size < 8 ? size : 8, (const uint8_t *)&results[lane], states);
    }
    return PTX_STEP_NEXT;
}

static PtxStep run_driver(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const CoreCall *call = code->detail;
    return call_driver(machine, group, code, call, call->driver, lanes);
}

/* Each function that some lane calls, one after the other. */
static PtxStep run_indirect(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const PtxModule *module = machine->program->module;
    const CoreCall *call = code->detail;
    Lanes scratch;
    uint32_t unknown = 0, same = 0;
    const Lanes *addresses = ptx_fetch(machine, group, call->callee, 0, &scratch, &unknown);
    if (unknown & lanes)
        return ptx_stop(machine, code, "the function that it calls is not known");
    uint64_t address = addresses->at[__builtin_ctz(lanes)];
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        same |= addresses->at[__builtin_ctz(rest)] == address ? rest & -rest : 0;
    uint64_t function = (address - PTX_WINDOW_CODE) / 16;
    if (address < PTX_WINDOW_CODE || function >= module->functions_count || address % 16)
        return ptx_fault(machine, group, RULE_ACCESS_INVALID, code, same,
                         "it calls an address that is not that of a function");
    DriverCall *driver = driver_call(ptx_name(module, module->functions[function].name));
    if (!machine->program->routines[function].ready && !driver)
        return ptx_stop(machine, code, "it calls a function that is defined elsewhere");
    if (same != lanes) {
        control_open(machine, group, group->pc + 1);
        control_split(machine, group, group->lanes & ~same);
    }
    if (!driver)
        return enter(machine, callers(machine, group, same), code, (uint32_t)function);
    return call_driver(machine, group, code, call, driver, same);
}

/* ---- Returns ---- */

static void give_results(PtxMachine *machine, PtxGroup *group) {
    const PtxProgram *program = machine->program;
    PtxFrame *frame = group->frame;
    const PtxFunction *function = &program->module->functions[frame->routine->function];
    const CoreCall *call = program->code[frame->back - 1].detail;
    uint32_t wanted = call->results ? call->results->count : 0;
    for (uint32_t i = 0; i < wanted && i < function->return_count; i++) {
        PtxArgument formal = formal_argument(program, function->returns + i);
        hand_over(machine, group, frame, &formal, frame->caller, argument_member(program, call->results, i),
                  formal_bytes(program, function->returns + i), group->lanes);
    }
}

PtxStep calls_return(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    (void)code;
    PtxGroup *back = group;
    if (lanes != group->lanes) {
        back = control_split(machine, group, lanes);
        group->pc++;
    }
    PtxFrame *frame = back->frame, *caller = frame->caller;
    if (!caller) {
        ptx_exit(machine, back, lanes);
    } else {
        give_results(machine, back);
        back->frame = caller;
        back->pc = frame->back;
        caller->users++;
        release_frame(machine, frame);
        control_return(machine, back, frame);
    }
    if (back != group && group->lanes && group->status == PTX_IS_READY && group->pc == group->meet)
        control_arrive(machine, group);
    return PTX_STEP_MOVED;
}

/* ---- Which there are ---- */

static void find_operands(const PtxProgram *program, const PtxCode *code, CoreCall *call) {
    for (uint32_t i = 0; i < code->count; i++) {
        const PtxArgument *argument = code_argument(program, code, i);
        if (argument->kind == ARGUMENT_MEMBERS)
            *(call->callee ? &call->arguments : &call->results) = argument;
        else if (!call->callee)
            call->callee = argument;
    }
}

/* The function may be called. */
static void note_memory(PtxProgram *program, uint32_t function) {
    DriverCall *driver = driver_call(ptx_name(program->module, program->module->functions[function].name));
    program->takes_memory |= !program->routines[function].ready && driver_takes_memory(driver);
}

bool calls_prepare(const PtxPrepare *about, PtxCode *code) {
    const PtxProgram *program = about->program;
    CoreCall *call = ARENA_NEW(about->program->arena, CoreCall);
    find_operands(program, code, call);
    code->detail = call;
    code->visible = false;
    if (!call->callee)
        return false;
    if (call->callee->kind != ARGUMENT_ROUTINE) {
        code->run = run_indirect;
        for (uint32_t i = 0; i < program->module->functions_count; i++)
            note_memory(about->program, i);
        return call->callee->kind == ARGUMENT_ROW;
    }
    const PtxFunction *function = &program->module->functions[call->callee->slot];
    code->run = run_call;
    if (program->routines[call->callee->slot].ready)
        return true;
    call->driver = driver_call(ptx_name(program->module, function->name));
    note_memory(about->program, call->callee->slot);
    code->run = run_driver;
    return call->driver != NULL;
}
