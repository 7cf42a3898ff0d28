/* weir instrument: PTX with code in it that records what it does. */
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* "global,shared" as bits. */
static unsigned spaces_of(const Options *options) {
    static const char *const names[] = {"global", "shared", "tensor"};
    unsigned bits = 0;
    for (const char *at = options->spaces; at && *at;) {
        size_t size = strcspn(at, ",");
        unsigned found = 0;
        for (unsigned i = 0; i < 3; i++)
            if (strlen(names[i]) == size && !memcmp(names[i], at, size))
                found = 1u << i;
        if (!found)
            wrong_usage(options, "--spaces takes 'global', 'shared' and 'tensor', not '%.*s'", (int)size, at);
        bits |= found;
        at += size + (at[size] == ',');
    }
    return bits;
}

static bool instrument_module(const Options *options, weir_file *file, size_t index, Output *output) {
    weir_instrument_options wanted = options->instrument;
    const char *problem = NULL;
    weir_module *module = weir_parse(file, index, 0);
    bool good = module && weir_module_ok(module);
    wanted.spaces = spaces_of(options);
    if (!module)
        complain("%s: there is not enough memory", weir_file_name(file));
    else if (!good)
        weir_report(file, module, color_wanted(options, STDERR_FILENO, NULL), stream_write, stderr);
    else if (weir_ptx_instrument(module, &wanted, output_write, output, &problem) != 0) {
        complain("%s: cannot be instrumented: %s", weir_file_name(file), problem ? problem : "it could not be written");
        good = false;
    }
    weir_module_free(module);
    return good;
}

static bool instrument_file(const Options *options, weir_file *file, Output *output) {
    size_t picked = 0, index = 0;
    for (size_t i = 0; i < weir_module_count(file); i++)
        if (module_picked(file, i, options->module)) {
            index = i;
            picked++;
        }
    if (picked != 1) {
        complain(picked ? "%s: has several modules of PTX; --module picks one" : "%s: there is no PTX in it",
                 weir_file_name(file));
        return false;
    }
    return instrument_module(options, file, index, output);
}

int command_instrument(Options *options) {
    if (options->operands.count > 1 || options->inputs.count > 1)
        wrong_usage(options, "one FILE is instrumented at a time");
    spaces_of(options);
    for (size_t i = 0; i < options->unread.paths.count; i++)
        complain("%s: %s", options->unread.paths.items[i], options->unread.reasons.items[i]);
    weir_context *weir = weir_create();
    const char *path = options->inputs.count ? options->inputs.items[0] : NULL;
    weir_file *file = weir && path ? weir_open_ptx(weir, path) : NULL;
    if (path && !file)
        complain("%s: cannot be read: %s", path, weir ? weir_error(weir) : "there is not enough memory");
    Output *output = file ? output_open(options->output) : NULL;
    bool good = output && instrument_file(options, file, output);
    if (output)
        good &= output_close(output, good);
    weir_close(file);
    weir_destroy(weir);
    return good ? STATUS_OK : STATUS_ERROR;
}
