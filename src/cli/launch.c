/* weir launch: a launch file to be filled in, for a kernel that has none. */
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Where the kernel is that was meant. */
typedef struct LaunchWanted {
    const Options *options;
    Output *output;
    size_t kernels; /* that may be meant, */
    FILE *listed;   /* and what they are called, which goes to: */
    char *names;
    bool written;
} LaunchWanted;

static bool fail(const char *path, const char *sentence) {
    complain("%s: %s", path, sentence);
    return false;
}

/* As their source has them, and as --kernel takes them. */
static void add_name(LaunchWanted *wanted, weir_string name) {
    FILE *names = wanted->listed;
    if (names && ftell(names))
        fputs(", ", names);
    if (names)
        weir_demangle(name, 0, stream_write, names);
}

static bool template_of_module(LaunchWanted *wanted, weir_file *file, size_t index) {
    const char *kernel = wanted->options->run.kernel;
    weir_module *module = weir_parse(file, index, 0);
    bool good = module && weir_module_ok(module);
    if (!module)
        fail(weir_file_name(file), "there is not enough memory");
    else if (!good)
        weir_report(file, module, color_wanted(wanted->options, STDERR_FILENO, NULL), stream_write, stderr);
    size_t count = good ? weir_kernel_count(module) : 0;
    size_t meant = 0;
    for (size_t i = 0; i < count; i++) {
        if (kernel && !weir_name_meant(weir_kernel_name(module, i), kernel))
            continue;
        meant++;
        add_name(wanted, weir_kernel_name(module, i));
    }
    wanted->kernels += kernel ? 0 : count;
    if (good && !wanted->written && (kernel || count == 1)) {
        int status = weir_launch_template(module, kernel, output_write, wanted->output);
        wanted->written = status == 0;
        wanted->kernels += status == 0 ? kernel != NULL : status == 1 ? meant : 0; /* several instances of a template */
        good = status >= 0 || fail(weir_file_name(file), "the template could not be written");
    }
    weir_module_free(module);
    return good;
}

/* Of a pass log the module with most to report, unless one was named. */
static bool template_of_file(LaunchWanted *wanted, weir_file *file) {
    const Options *options = wanted->options;
    const char *why, *path = weir_file_name(file);
    bool good = true, log = weir_file_is_pass_log(file) && !options->module;
    size_t only = log ? weir_pick_module(file, &why) : 0;
    for (size_t i = 0; i < weir_module_count(file); i++)
        if (log ? i == only : module_picked(file, i, options->module))
            good &= template_of_module(wanted, file, i);
    if (wanted->listed)
        fflush(wanted->listed);
    if (good && wanted->kernels > 1) {
        complain("%s: a launch file is for one kernel; --kernel or --module picks one of these: %s", path,
                 wanted->names ? wanted->names : "");
        good = false;
    } else if (good && !wanted->written)
        good = fail(path, options->run.kernel ? "there is no such kernel in it" : "there is no kernel in it");
    return good;
}

int command_launch(Options *options) {
    if (options->operands.count > 1 || options->inputs.count > 1)
        wrong_usage(options, "a template is for one FILE");
    for (size_t i = 0; i < options->unread.paths.count; i++)
        fail(options->unread.paths.items[i], options->unread.reasons.items[i]);
    weir_context *weir = weir_create();
    const char *path = options->inputs.count ? options->inputs.items[0] : NULL;
    char *said = NULL, *why = NULL;
    weir_file *file = weir && path ? input_open(weir, options, path, &said, &why) : NULL;
    if (said)
        fputs(said, stderr);
    if (path && !file)
        complain("%s: %s", path, why ? why : "there is not enough memory");
    free(said);
    free(why);
    LaunchWanted wanted = {.options = options, .output = file ? output_open(options->output) : NULL};
    size_t size;
    wanted.listed = open_memstream(&wanted.names, &size);
    bool good = wanted.output && template_of_file(&wanted, file);
    if (wanted.output)
        good &= output_close(wanted.output, good);
    if (wanted.listed)
        fclose(wanted.listed);
    free(wanted.names);
    weir_close(file);
    weir_destroy(weir);
    return good ? STATUS_OK : STATUS_ERROR;
}
