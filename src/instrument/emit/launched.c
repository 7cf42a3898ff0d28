/* A module for the launches of one of its kernels with CTAs of one shape. A kernel that says how many threads its CTAs
 * have is recorded in far fewer records: what its threads access by their numbers is known from the text. */
#include "instrument/emit/straight.h"
#include "instrument/instrument.h"
#include "ptx/edit.h"
#include "ptx/reader.h"

/* Ifs in ifs in ifs; and copies of what branches lead around. */
enum { MOST_ROUNDS = 16, MOST_COPIES = 6 };
typedef bool LaunchedChange(PtxEdits *edits, const PtxModule *module, uint32_t function, const uint32_t block[3],
                            unsigned round);

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
            ptx_edit_take_out(edits, at); /* ptxas takes one of them alone */
    Text open = {0};
    text_addf(&open, ".reqntid %u, %u, %u {", block[0], block[1], block[2]);
    ptx_edit_replace(edits, at, (Str){open.data, open.size});
    text_free(&open);
}

/* Text of which a function is changed; false: it is not. What cannot be read stays. */
static bool change(Text *text, Str name, const uint32_t block[3], LaunchedChange *by, unsigned round) {
    PtxModule module;
    PtxEdits edits;
    Diagnostics diagnostics = {0};
    Text to = {0};
    Source *source = text->failed ? NULL : source_copy("module.ptx", text->data, text->size);
    bool read = source && ptx_read(&module, source, false, &diagnostics), any = false;
    if (read) {
        ptx_edits_init(&edits, &module);
        for (uint32_t i = 0; i < module.functions_count; i++)
            if (module.functions[i].entry && module.functions[i].body &&
                str_equal(ptx_name(&module, module.functions[i].name), name))
                any |= by(&edits, &module, i, block, round);
        if (any)
            ptx_edit_print(&edits, &to);
        ptx_edits_free(&edits);
    }
    if (source)
        ptx_free(&module);
    diagnostics_free(&diagnostics);
    source_free(source);
    if (any && !to.failed) {
        text_free(text);
        *text = to;
    } else {
        text_free(&to);
    }
    return any;
}

static bool can_be_read(const Text *text) {
    PtxModule module;
    Diagnostics diagnostics = {0};
    Source *source = text->failed ? NULL : source_copy("module.ptx", text->data, text->size);
    bool read = source && ptx_read(&module, source, false, &diagnostics);
    if (source)
        ptx_free(&module);
    diagnostics_free(&diagnostics);
    source_free(source);
    return read;
}

/* The text with the shape; `changes`: and with more straight code, which need not be possible. */
static void print_launched(const PtxModule *module, uint32_t kernel, const uint32_t block[3], bool changes, Text *to) {
    PtxEdits edits;
    bool keeps = has_debug_information(module);
    ptx_edits_init(&edits, module);
    for (uint32_t i = 0; i < module->functions_count; i++) {
        const PtxFunction *function = &module->functions[i];
        for (uint32_t at = function->begin; !keeps && i != kernel && function->entry && at < function->end; at++)
            ptx_edit_take_out(&edits, at);
    }
    require(&edits, &module->functions[kernel], block);
    /* Most kernels are done then, and need not be read again. */
    bool straight = changes && straighten_function(&edits, module, kernel, block, 0);
    bool copied = changes && !straight && whole_function(&edits, module, kernel, block, 0);
    Text shaped = {0};
    ptx_edit_print(&edits, &shaped);
    ptx_edits_free(&edits);
    Str name = ptx_name(module, module->functions[kernel].name);
    unsigned round = 1, copies = copied;
    for (bool more = straight || copied; more; copies += more) {
        while (round < MOST_ROUNDS && change(&shaped, name, block, straighten_function, round))
            round++;
        more = copies < MOST_COPIES && change(&shaped, name, block, whole_function, copies);
    }
    if ((straight || copied) && !can_be_read(&shaped))
        print_launched(module, kernel, block, false, to);
    else
        text_add(to, shaped.data, shaped.size);
    to->failed |= shaped.failed;
    text_free(&shaped);
}

void instrument_launched(const PtxModule *module, uint32_t kernel, const uint32_t block[3], Text *to) {
    print_launched(module, kernel, block, true, to);
}
