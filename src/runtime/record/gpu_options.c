/* What `weir exec` wants recorded, as the environment says it. */
#include "runtime/record/gpu.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>

enum { EQUAL_LAUNCHES = 3 };

static GpuOptions options;

static void read_options(void) {
    const char *folder = getenv("WEIR_RECORD");
    options.folder = folder && *folder ? strdup(folder) : NULL;
    options.texts = getenv("WEIR_RECORD_PTX");
    options.texts = options.texts ? options.texts : "";
    options.launches = folder_number("WEIR_RECORD_LAUNCHES", EQUAL_LAUNCHES);
    options.sample = folder_number("WEIR_RECORD_SAMPLE", 0);
    options.memory = folder_number("WEIR_RECORD_MEMORY", 0);
    options.disk = folder_number("WEIR_RECORD_DISK", 0);
    options.hang_after = folder_number("WEIR_RECORD_HANG", 0);
    options.on_host = folder_number("WEIR_RECORD_HOST", 0) != 0;
    options.times = getenv("WEIR_RECORD_TIMES") != NULL;
    options.only = getenv("WEIR_RECORD_ONLY");
    options.exclude = getenv("WEIR_RECORD_EXCLUDE");
    uint64_t shadow = folder_number("WEIR_RECORD_SHADOW", 0); /* 2: in the layout of the seed */
    options.instrument =
        (InstrumentOptions){.mode = shadow ? INSTRUMENT_SHADOW : INSTRUMENT_RECORD,
                            .spaces = (uint32_t)folder_number("WEIR_RECORD_SPACES", RECORDING_EVERYWHERE),
                            .keep_registers = true,
                            .seed_layout = shadow == 2};
}

const GpuOptions *gpu_options(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_options);
    return &options;
}

bool gpu_on(void) {
    return gpu_options()->folder != NULL;
}

bool gpu_checks(void) {
    return gpu_on() && gpu_options()->instrument.mode == INSTRUMENT_SHADOW;
}

/* ---- Names --------------------------------------------------------------------------------------- */

static bool is_one_of(const char *kernel, const char *patterns) {
    Str plain = symbol_plain(kernel);
    bool found = false;
    char *list = strdup(patterns), *copy = strndup(plain.data, plain.size), *rest = list;
    for (char *word; list && copy && !found && (word = strsep(&rest, ","));)
        found = *word && (fnmatch(word, kernel, 0) == 0 || fnmatch(word, copy, 0) == 0);
    free(list);
    free(copy);
    return found;
}

bool gpu_wants(const char *kernel) {
    const GpuOptions *wanted = gpu_options();
    if (wanted->only && *wanted->only && !is_one_of(kernel, wanted->only))
        return false;
    return !wanted->exclude || !*wanted->exclude || !is_one_of(kernel, wanted->exclude);
}
