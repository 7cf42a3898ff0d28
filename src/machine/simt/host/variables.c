/* Variables of a module in global memory: each holds what the launch before left in it. */
#include "machine/simt/core/machine.h"
#include "machine/simt/host/host.h"

#include <stdlib.h>

static void free_variables(HostVariables *variables) {
    for (uint32_t i = 0; i < variables->module->variables_count; i++) {
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
    uint64_t size = program->seats[index].bytes;
    uint8_t *bytes = calloc(size + ROOM, 1);
    if (!bytes)
        return false;
    if (program->images[index])
        memcpy(bytes, program->images[index], size);
    *value = (PtxHost){.bytes = bytes, .size = size};
    return true;
}

bool host_add_variables(HostVariables *variables, const PtxProgram *program, PtxLaunch *launch, Arena *arena) {
    const PtxModule *module = variables->module;
    launch->keeps_variables = true;
    for (uint32_t i = 0; i < module->variables_count; i++) {
        const PtxSymbolSlot *seat = &program->seats[i];
        PtxHost *value = &variables->values[i];
        if (!ptx_program_holds(program, i, PTX_SPACE_GLOBAL))
            continue;
        if (!value->bytes && !make(value, program, i))
            return false;
        Str name = ptx_name(module, module->variables[i].name);
        launch->buffers[launch->buffer_count++] = (PtxBuffer){.name = arena_copy(arena, name.data, name.size),
                                                              .parameter = PTX_NONE,
                                                              .address = seat->at,
                                                              .bytes = value->size,
                                                              .data = value->bytes,
                                                              .data_bytes = value->size,
                                                              .host = value,
                                                              .variable = true,
                                                              .initial = program->images[i]};
    }
    return true;
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
