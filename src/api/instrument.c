/* PTX that is instrumented: options as the public header has them. */
#include "instrument/instrument.h"
#include "api/internal.h"

int weir_ptx_instrument(weir_module *module, const weir_instrument_options *options, weir_write *write, void *to,
                        const char **problem) {
    InstrumentOptions wanted = {.mode = options->shadow ? INSTRUMENT_SHADOW : INSTRUMENT_RECORD,
                                .spaces = options->spaces ? options->spaces : INSTRUMENT_EVERYWHERE,
                                .keep_registers = !options->free_registers,
                                .seed_layout = options->seed_layout};
    Text text = SINK_TEXT(write, to);
    *problem = NULL;
    if (!module->ok || !module->ptx) {
        *problem = module->ptx ? "it has errors" : "it is not PTX";
        return -1;
    }
    bool good = instrument(module->ptx, &wanted, &text, problem);
    return sink_finish(&text) == 0 && good ? 0 : -1;
}

uint64_t weir_ptx_hash(const weir_module *module) {
    const Source *source = module->ptx ? module->ptx->source : NULL;
    return source ? instrument_hash((Str){source->data, source->size}) : 0;
}
