/* What the records of a module's kernels are of: its sites, found once from its text, for those who watch a launch, and
 * as the table that each recording has. */
#include "instrument/emit/shadow.h"
#include "ptx/reader.h"
#include "runtime/record/gpu.h"
#include "trace/shapes.h"

#include <stdlib.h>
#include <string.h>

enum { SHAPES_BUDGET = 1 << 26 };

/* Of a kernel, for launches with such CTAs. */
typedef struct SiteTable {
    struct SiteTable *next;
    const GpuKernel *kernel;
    uint32_t block[3];
    Text bytes;
} SiteTable;

/* They stay as long as the module does. */
struct GpuSites {
    PtxModule ptx;
    Source *source;
    Sites sites; /* none: they could not be found, or the image is of another build of Weir */
    Arena arena;
    const RecordShape *shapes;
    SiteTable *tables;
};

static pthread_mutex_t sites_mutex = PTHREAD_MUTEX_INITIALIZER;

static void find(GpuSites *of, const GpuModule *module) {
    InstrumentOptions options = instrument_options_of(module->spaces, module->options);
    bool checks = options.mode == INSTRUMENT_SHADOW;
    Diagnostics diagnostics = {0};
    const char *problem;
    jmp_buf exhausted;
    arena_init(&of->arena, SHAPES_BUDGET);
    of->arena.exhausted = &exhausted;
    of->source = source_copy("module.ptx", module->ptx, module->ptx_bytes);
    bool found = of->source && ptx_read(&of->ptx, of->source, false, &diagnostics) &&
                 (checks ? shadow_as_sites(&of->sites, &of->ptx, &problem)
                         : instrument_sites(&of->sites, &of->ptx, &options, &problem));
    diagnostics_free(&diagnostics);
    if (found && !checks && instrument_fingerprint(&of->sites) != module->fingerprint)
        instrument_sites_free(&of->sites);
    else if (found && !checks && setjmp(exhausted) == 0)
        of->shapes = site_shapes(&of->sites, &of->arena);
}

static GpuSites *sites_of(GpuModule *module) {
    if (!module->sites && (module->sites = calloc(1, sizeof *module->sites)))
        find(module->sites, module);
    return module->sites;
}

const RecordShape *gpu_shapes(GpuModule *module, uint32_t *count) {
    pthread_mutex_lock(&sites_mutex);
    const GpuSites *of = sites_of(module);
    pthread_mutex_unlock(&sites_mutex);
    *count = of && of->shapes ? of->sites.count : 0;
    return of ? of->shapes : NULL;
}

static uint32_t find_entry(const PtxModule *ptx, const char *name) {
    for (uint32_t i = 0; i < ptx->functions_count; i++)
        if (ptx->functions[i].entry && ptx->functions[i].body && str_is(ptx_name(ptx, ptx->functions[i].name), name))
            return i;
    return PTX_NONE;
}

static Str make_table(GpuSites *of, const GpuKernel *kernel, const uint32_t block[3]) {
    uint32_t entry = find_entry(&of->ptx, kernel->name);
    SiteTable *table = entry == PTX_NONE ? NULL : calloc(1, sizeof *table);
    if (!table)
        return (Str){0};
    *table = (SiteTable){.next = of->tables, .kernel = kernel};
    memcpy(table->block, block, sizeof table->block);
    instrument_table(&of->ptx, entry, block, &of->sites, &table->bytes);
    if (table->bytes.failed)
        text_free(&table->bytes);
    of->tables = table;
    return (Str){table->bytes.data, table->bytes.size};
}

Str gpu_site_table(GpuModule *module, const GpuKernel *kernel, const uint32_t block[3]) {
    Str table = {0};
    pthread_mutex_lock(&sites_mutex);
    GpuSites *of = sites_of(module);
    SiteTable *at = of ? of->tables : NULL;
    while (at && (at->kernel != kernel || memcmp(at->block, block, sizeof at->block) != 0))
        at = at->next;
    if (at)
        table = (Str){at->bytes.data, at->bytes.size};
    else if (of && of->sites.items)
        table = make_table(of, kernel, block);
    pthread_mutex_unlock(&sites_mutex);
    return table;
}
