/* A kernel as the machine has it, as text: where its variables lie, and each instruction with its arguments. */
#include "machine/simt/decode/internal.h"

static void print_name(const PtxProgram *program, uint32_t variable, Text *to) {
    text_add_plain(to, ptx_name(program->module, program->module->variables[variable].name));
}

static void print_argument(const PtxProgram *program, const PtxArgument *argument, Text *to);

static void print_members(const PtxProgram *program, const PtxArgument *argument, Text *to) {
    for (uint32_t i = 0; i < argument->count; i++) {
        text_addf(to, "%s", i ? ", " : "");
        print_argument(program, argument_member(program, argument, i), to);
    }
}

static void print_register(const PtxArgument *argument, Text *to) {
    if (argument->kind == ARGUMENT_PREDICATE)
        text_addf(to, "%smask %u", argument->negated ? "!" : "", argument->slot);
    else
        text_addf(to, "row %u%s", argument->slot, argument->bits > 64 ? " and the next" : "");
    if (argument->part)
        text_addf(to, ".%s", ptx_part_names[argument->part]);
}

static void print_offset(const PtxArgument *argument, Text *to) {
    if (argument->offset)
        text_addf(to, " %c %lld", argument->offset < 0 ? '-' : '+',
                  (long long)(argument->offset < 0 ? -argument->offset : argument->offset));
}

static void print_argument(const PtxProgram *program, const PtxArgument *argument, Text *to) {
    switch ((PtxArgumentKind)argument->kind) {
    case ARGUMENT_ROW:
    case ARGUMENT_PREDICATE:
        print_register(argument, to);
        break;
    case ARGUMENT_CONSTANT:
        text_addf(to, "0x%llx", (unsigned long long)program->constants[argument->slot].at[0]);
        break;
    case ARGUMENT_READ_ONLY:
        text_addf(to, "%s", ptx_special_at(argument->slot)->name);
        if (argument->part)
            text_addf(to, ".%s", ptx_part_names[argument->part]);
        break;
    case ARGUMENT_SYMBOL:
        print_name(program, argument->slot, to);
        print_offset(argument, to);
        break;
    case ARGUMENT_ADDRESS:
        text_addf(to, "[");
        print_members(program, argument, to);
        print_offset(argument, to);
        text_addf(to, "]");
        break;
    case ARGUMENT_MEMBERS:
        text_addf(to, "{");
        print_members(program, argument, to);
        text_addf(to, "}");
        break;
    case ARGUMENT_SINK:
        text_addf(to, "_");
        break;
    case ARGUMENT_JUMP:
        text_addf(to, "to %u", argument->slot);
        break;
    case ARGUMENT_ROUTINE:
        text_add_plain(to, ptx_name(program->module, program->module->functions[argument->slot].name));
        break;
    case ARGUMENT_WORD:
        text_addf(to, "...");
        break;
    }
}

static void print_code(const PtxProgram *program, uint32_t index, Text *to) {
    const PtxCode *code = &program->code[index];
    text_addf(to, "%6u  line %-5u ", index, code_line(program, code));
    if (code->guard != PTX_NONE)
        text_addf(to, "if %smask %u ", code->guard_negated ? "!" : "", code->guard);
    text_add_plain(to, code->form->text);
    for (uint32_t i = 0; i < code->count; i++) {
        text_addf(to, "%s", i ? ", " : " ");
        print_argument(program, code_argument(program, code, i), to);
    }
    if (code->meets != PTX_NONE)
        text_addf(to, "  meets at %u", code->meets);
    if (code->visible)
        text_addf(to, "  visible");
    if (code->run == ptx_run_unknown)
        text_addf(to, "  not modeled%s%s", code->detail ? ": " : "", code->detail ? (const char *)code->detail : "");
    text_addf(to, "\n");
}

static void print_variables(const PtxProgram *program, Text *to) {
    for (uint32_t i = 0; i < program->module->variables_count; i++) {
        const PtxSymbolSlot *seat = &program->seats[i];
        if (!program->used[i] || seat->space == PTX_SPACE_UNKNOWN)
            continue;
        text_addf(to, "  %s 0x%llx: ", ptx_space_name(seat->space), (unsigned long long)seat->at);
        print_name(program, i, to);
        text_addf(to, seat->bytes ? ", %llu bytes\n" : ", as many bytes as the launch says\n",
                  (unsigned long long)seat->bytes);
    }
}

void ptx_program_print(const PtxProgram *program, Text *to) {
    const PtxModule *module = program->module;
    text_addf(to, "kernel ");
    text_add_plain(to, ptx_name(module, module->functions[program->entry].name));
    text_addf(to, ": %u bytes of parameters, shared memory up to 0x%llx\n", program->parameter_bytes,
              (unsigned long long)program->shared_bytes);
    print_variables(program, to);
    for (uint32_t i = 0; i < module->functions_count; i++) {
        const PtxRoutine *routine = &program->routines[i];
        if (!routine->ready)
            continue;
        text_add_plain(to, ptx_name(module, module->functions[i].name));
        text_addf(to, ": %u rows, %u masks, %u bytes of .param, %u of .local\n", routine->rows, routine->masks,
                  routine->param_bytes, routine->local_bytes);
        for (uint32_t k = routine->begin; k < routine->end; k++)
            print_code(program, k, to);
    }
}
