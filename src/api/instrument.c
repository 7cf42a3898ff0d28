/* PTX that is instrumented: options as the public header has them. */
#include "instrument/instrument.h"
#include "api/internal.h"
#include "ptx/reader.h"
#include "weir/ptx.h"

/* For an image beside that of the module as it is. */
static bool put_beside(weir_module *module, const Text *with, Text *to, const char **problem) {
    PtxModule ptx;
    Diagnostics diagnostics = {0};
    Source *source = with->failed ? NULL : source_copy("module.ptx", with->data, with->size);
    bool good = source && ptx_read(&ptx, source, false, &diagnostics) &&
                instrument_beside(module->ptx, &ptx, (Str){"", 0}, to, problem);
    if (source)
        ptx_free(&ptx);
    diagnostics_free(&diagnostics);
    source_free(source);
    return good;
}

int weir_ptx_instrument(weir_module *module, const weir_instrument_options *options, weir_write *write, void *to,
                        const char **problem) {
    weir_instrument_options own;
    options_take(&own, sizeof own, options);
    options = &own;
    InstrumentOptions wanted = {.mode = options->shadow ? INSTRUMENT_SHADOW : INSTRUMENT_RECORD,
                                .spaces = options->spaces ? options->spaces : RECORDING_EVERYWHERE,
                                .keep_registers = !options->free_registers,
                                .seed_layout = options->seed_layout};
    Text text = SINK_TEXT(write, to);
    *problem = NULL;
    if (own.size == OPTIONS_UNKNOWN || !module->ok || !module->ptx) {
        *problem = own.size == OPTIONS_UNKNOWN ? OPTIONS_PROBLEM : module->ptx ? "it has errors" : "it is not PTX";
        return -1;
    }
    Text with = {0};
    bool good = instrument(module->ptx, &wanted, options->beside ? &with : &text, problem) &&
                (!options->beside || put_beside(module, &with, &text, problem));
    text_free(&with);
    return sink_finish(&text) == 0 && good ? 0 : -1;
}

uint64_t weir_hash(const void *bytes, size_t size) {
    return instrument_hash((Str){bytes, size});
}
