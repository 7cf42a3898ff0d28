/* Registers: an instrumented kernel has more of them, and must be launchable with as many threads as it is without, and
 * with as many CTAs at a time where these wait for each other. A limit does that. */
#include "ptx/edit.h"
#include "ptx/reader.h"
#include "runtime/record/gpu.h"

enum { REGISTERS = 65536, PARTS = 4, GRANULE = 256, MOST_REGISTERS = 255, LEAST_REGISTERS = 16, STEP = 8 };

unsigned gpu_registers_for(unsigned threads, unsigned ctas) {
    unsigned warps = (threads + RECORD_LANES - 1) / RECORD_LANES * ctas; /* they go to the four parts of an SM */
    unsigned of_warp = REGISTERS / PARTS / ((warps + PARTS - 1) / PARTS) / GRANULE * GRANULE;
    unsigned most = of_warp / RECORD_LANES / STEP * STEP;
    return most < LEAST_REGISTERS ? LEAST_REGISTERS : most > MOST_REGISTERS ? MOST_REGISTERS : most;
}

/* A limit that the header of the kernel has is taken away. */
static void limit(PtxEdits *edits, const PtxFunction *kernel, unsigned registers) {
    const PtxModule *module = edits->module;
    for (uint32_t i = kernel->begin; i < kernel->end && module->statements[i].kind != PTX_OPEN; i++)
        if (module->statements[i].kind == PTX_DIRECTIVE &&
            str_is(ptx_name(module, module->statements[i].what), ".maxnreg"))
            ptx_edit_replace(edits, i, (Str){"", 0});
    Text line = {0};
    text_addf(&line, ".maxnreg %u", registers);
    ptx_edit_after(edits, kernel->begin, (Str){line.data, line.size});
    text_free(&line);
}

bool gpu_limit(Text *text, const char *name, unsigned registers) {
    PtxModule ptx;
    PtxEdits edits;
    Diagnostics diagnostics = {0};
    Text limited = {0};
    Source *source = source_copy("module.ptx", text->data, text->size);
    bool good = source && ptx_read(&ptx, source, false, &diagnostics);
    if (good) {
        ptx_edits_init(&edits, &ptx);
        for (uint32_t i = 0; i < ptx.functions_count; i++)
            if (ptx.functions[i].entry && ptx.functions[i].body && str_is(ptx_name(&ptx, ptx.functions[i].name), name))
                limit(&edits, &ptx.functions[i], registers);
        ptx_edit_print(&edits, &limited);
        ptx_edits_free(&edits);
    }
    if (source)
        ptx_free(&ptx);
    diagnostics_free(&diagnostics);
    source_free(source);
    text_free(text);
    *text = limited;
    return good && !limited.failed;
}
