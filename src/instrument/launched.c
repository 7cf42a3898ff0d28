/* A module for the launches of one of its kernels with CTAs of one shape. A kernel that says how many threads its CTAs
 * have is recorded in far fewer records: what its threads access by their numbers is known from the text. */
#include "instrument/instrument.h"
#include "ptx/edit.h"

/* Takes a statement out, but for its line ends: lines keep their numbers. */
static void take_out(PtxEdits *edits, uint32_t statement) {
    const PtxModule *module = edits->module;
    Text ends = {0};
    for (uint32_t at = module->statements[statement].begin; at < module->statements[statement].end; at++)
        if (module->source->data[at] == '\n')
            text_char(&ends, '\n');
    ptx_edit_replace(edits, statement, (Str){ends.data, ends.size});
    text_free(&ends);
}

/* Debug information names labels of every kernel. */
static bool has_debug_information(const PtxModule *module) {
    for (uint32_t i = 0; i < module->statements_count; i++)
        if (module->statements[i].kind == PTX_DATA)
            for (uint32_t k = 0; k < module->statements[i].count; k++)
                if (module->operands[module->statements[i].first + k].kind == PTX_NAME)
                    return true;
    return false;
}

static void require(PtxEdits *edits, const PtxFunction *kernel, const uint32_t block[3]) {
    const PtxModule *module = edits->module;
    uint32_t at = kernel->begin;
    for (; at < kernel->end && module->statements[at].kind != PTX_OPEN; at++)
        if (module->statements[at].kind == PTX_DIRECTIVE &&
            (str_is(ptx_name(module, module->statements[at].what), ".maxntid") ||
             str_is(ptx_name(module, module->statements[at].what), ".reqntid")))
            take_out(edits, at); /* ptxas takes one of them alone */
    Text open = {0};
    text_addf(&open, ".reqntid %u, %u, %u {", block[0], block[1], block[2]);
    ptx_edit_replace(edits, at, (Str){open.data, open.size});
    text_free(&open);
}

void instrument_launched(const PtxModule *module, uint32_t kernel, const uint32_t block[3], Text *to) {
    PtxEdits edits;
    bool keeps = has_debug_information(module);
    ptx_edits_init(&edits, module);
    for (uint32_t i = 0; i < module->functions_count; i++) {
        const PtxFunction *function = &module->functions[i];
        for (uint32_t at = function->begin; !keeps && i != kernel && function->entry && at < function->end; at++)
            take_out(&edits, at);
    }
    require(&edits, &module->functions[kernel], block);
    ptx_edit_print(&edits, to);
    ptx_edits_free(&edits);
}
