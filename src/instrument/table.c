/* The table of a kernel's sites, as its recordings have it (trace/sites.h). */
#include "instrument/instrument.h"

#include "ptx/places.h"

void instrument_table(const PtxModule *module, uint32_t kernel, const uint32_t block[3], Sites *sites, Text *to) {
    SiteText text = ptx_site_text(module);
    sites->fits = instrument_fits(module, kernel, block);
    sites->shared_count = instrument_shared(module, kernel, sites->shared);
    sites->globals_count = instrument_globals(module, kernel, sites->globals);
    for (uint32_t i = 0; i < sites->count; i++)
        sites->items[i].foreign =
            sites->items[i].function != kernel && module->functions[sites->items[i].function].entry;
    sites_write(sites, &text, to);
}

uint64_t instrument_fingerprint(Sites *sites) {
    Text text = {0};
    sites_write(sites, NULL, &text);
    uint64_t hash = instrument_hash((Str){text.data, text.size}) ^ INSTRUMENT_RECORDS;
    text_free(&text);
    return hash ? hash : 1;
}
