/* Variables of a module in global and const memory: each holds what the launch before left in it, or the program wrote.
 */
#include "machine/simt/core/machine.h"
#include "machine/simt/host/host.h"

#include <stdlib.h>

/* Of a module whose variables have a place, those in global memory are the caller's. */
static bool is_placed(const PtxModule *module, const PtxHost *value) {
    return module->globals_at && (uintptr_t)value->bytes - module->globals_at < module->globals_bytes;
}

static void free_variables(HostVariables *variables) {
    for (uint32_t i = 0; i < variables->module->variables_count; i++) {
        if (!is_placed(variables->module, &variables->values[i]))
            free(variables->values[i].bytes);
        ptx_host_free(&variables->values[i]);
    }
    free(variables->values);
    free(variables);
}

HostVariables *host_variables(PtxDevice *device, const PtxModule *module) {
    HostVariables *variables = device->variables;
    while (variables && variables->module != module)
        variables = variables->next;
    if (variables || !(variables = calloc(1, sizeof *variables)))
        return variables;
    variables->module = module;
    variables->values = calloc(module->variables_count + 1, sizeof *variables->values);
    if (!variables->values) {
        free(variables);
        return NULL;
    }
    variables->next = device->variables;
    return device->variables = variables;
}

/* Its initial value. */
static bool make(PtxHost *value, const PtxProgram *program, uint32_t index) {
    enum { ROOM = 16 };
    const PtxSymbolSlot *seat = &program->seats[index];
    bool placed = program->module->globals_at && seat->space == PTX_SPACE_GLOBAL;
    uint8_t *bytes = placed ? (uint8_t *)(uintptr_t)seat->at : calloc(seat->bytes + ROOM, 1);
    if (!bytes)
        return false;
    if (program->images[index])
        memcpy(bytes, program->images[index], seat->bytes);
    *value = (PtxHost){.bytes = bytes, .size = seat->bytes};
    return true;
}

PtxHost *host_variable(HostVariables *variables, const PtxProgram *program, uint32_t index) {
    PtxHost *value = &variables->values[index];
    const PtxSymbolSlot *seat = &program->seats[index];
    bool there = seat->bytes && (seat->space == PTX_SPACE_GLOBAL || seat->space == PTX_SPACE_CONST);
    return there && (value->bytes || make(value, program, index)) ? value : NULL;
}

bool host_add_variables(HostVariables *variables, const PtxProgram *program, PtxLaunch *launch, Arena *arena) {
    const PtxModule *module = variables->module;
    launch->keeps_variables = true;
    for (uint32_t i = 0; i < module->variables_count; i++) {
        bool constant = ptx_program_holds(program, i, PTX_SPACE_CONST);
        if (!constant && !ptx_program_holds(program, i, PTX_SPACE_GLOBAL))
            continue;
        PtxHost *value = host_variable(variables, program, i);
        if (!value)
            return false;
        Str name = ptx_name(module, module->variables[i].name);
        launch->buffers[launch->buffer_count++] = (PtxBuffer){.name = arena_copy(arena, name.data, name.size),
                                                              .parameter = PTX_NONE,
                                                              .address = program->seats[i].at,
                                                              .bytes = value->size,
                                                              .data = value->bytes,
                                                              .data_bytes = value->size,
                                                              .host = value,
                                                              .variable = true,
                                                              .constant = constant,
                                                              .initial = program->images[i]};
    }
    return true;
}

size_t host_count_variables(const PtxDevice *device) {
    size_t count = 0;
    for (const HostVariables *variables = device->variables; variables; variables = variables->next)
        count += variables->module->variables_count;
    return count;
}

void host_add_others(PtxDevice *device, const PtxProgram *program, PtxLaunch *launch, Arena *arena) {
    for (const HostVariables *variables = device->variables; variables; variables = variables->next)
        for (uint32_t i = 0; i < variables->module->variables_count; i++) {
            PtxHost *value = &variables->values[i];
            bool named = variables->module == program->module && ptx_program_holds(program, i, PTX_SPACE_GLOBAL);
            if (!value->bytes || named || !is_placed(variables->module, value))
                continue;
            Str name = ptx_name(variables->module, variables->module->variables[i].name);
            launch->buffers[launch->buffer_count++] = (PtxBuffer){.name = arena_copy(arena, name.data, name.size),
                                                                  .parameter = PTX_NONE,
                                                                  .address = (uintptr_t)value->bytes,
                                                                  .bytes = value->size,
                                                                  .data = value->bytes,
                                                                  .data_bytes = value->size,
                                                                  .host = value};
        }
}

void host_forget_variables(PtxDevice *device, const PtxModule *module) {
    for (HostVariables **at = &device->variables, *variables; (variables = *at);) {
        if (variables->module == module) {
            *at = variables->next;
            free_variables(variables);
        } else {
            at = &variables->next;
        }
    }
}
