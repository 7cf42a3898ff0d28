/* A kernel by the interpreter. */
#include "held.h"
#include "interpreter.h"

#include "ptx/reader.h"

#include <stdio.h>

void held_interpret(const char *text, Held *held) {
    Source *source = source_copy("held.ptx", text, strlen(text));
    PtxModule module;
    Diagnostics diagnostics = {0};
    held->problem[0] = 0;
    if (!ptx_read(&module, source, false, &diagnostics)) {
        snprintf(held->problem, sizeof held->problem, "not read: %s", diagnostics.items[0].message);
        return;
    }
    uint32_t kernel = 0;
    while (!module.functions[kernel].entry)
        kernel++;
    Machine *machine = machine_new(&module);
    uint64_t parameters[2] = {HELD_OUT, held->n | (uint64_t)held->more << 32};
    Launch launch = {.function = kernel,
                     .grid = {held->ctas, 1, 1},
                     .block = {held->threads, 1, 1},
                     .cluster = {1, 1, 1},
                     .parameters = (const uint8_t *)parameters,
                     .contents = CONTENTS_ZERO,
                     .steps = 10000000};
    End end = machine_run(machine, &launch, NULL);
    if (end.kind != END_REACHED)
        snprintf(held->problem, sizeof held->problem, "the interpreter ended with %d: %.*s", (int)end.kind,
                 STR_ARG(end.what));
    for (unsigned i = 0; i < HELD_BYTES; i += 8) {
        uint64_t word = machine_global(machine, HELD_OUT + i, 8);
        memcpy(held->bytes + i, &word, 8);
    }
    memset(held->known, true, sizeof held->known);
    machine_free(machine);
    ptx_free(&module);
    diagnostics_free(&diagnostics);
    source_free(source);
}
