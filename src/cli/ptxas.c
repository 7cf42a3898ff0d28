/* This command under the name of ptxas, for Triton: weir exec tells Triton to assemble with it (record.c). What it is
 * given is assembled as it is, by the real ptxas; and once more, at the same time and with the same arguments, with
 * what records it. The text and that image are kept by the hash of the former, by which the library finds them when it
 * is loaded (runtime/record/gpu_images.c). */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CANNOT_RUN = 127 };

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool is_ptxas(const char *name) {
    const char *folder = getenv("WEIR_RECORD_PTX");
    return folder && *folder && strncmp(base_name(name), "ptxas", 5) == 0;
}

/* ---- The real one -------------------------------------------------------------------------------- */

/* Beside the Triton that has started this: its library is in the memory of the process. */
static bool beside_triton(const char *name, char *path, size_t size) {
    char maps[64], line[PATH_MAX + 256];
    bool found = false;
    snprintf(maps, sizeof maps, "/proc/%ld/maps", (long)getppid());
    FILE *file = fopen(maps, "r");
    while (file && !found && fgets(line, sizeof line, file)) {
        char *begin = strchr(line, '/'), *end = strstr(line, "/_C/libtriton");
        if (!begin || !end)
            continue;
        *end = 0;
        found = snprintf(path, size, "%s/backends/nvidia/bin/%s", begin, name) < (int)size && access(path, X_OK) == 0;
    }
    if (file)
        fclose(file);
    return found;
}

/* As the environment had it before, beside Triton, or wherever PATH has one. */
static const char *real_ptxas(const char *name) {
    static char path[PATH_MAX];
    const char *given = getenv(strstr(name, "blackwell") ? "WEIR_PTXAS_BLACKWELL" : "WEIR_PTXAS");
    if (given && *given)
        return given;
    return beside_triton(name, path, sizeof path) || beside_triton("ptxas", path, sizeof path) ? path : "ptxas";
}

/* Starts it; the process. `quiet`: its output is dropped. */
static pid_t start(const char *real, char **arguments, bool quiet) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        int nowhere = quiet ? open("/dev/null", O_WRONLY) : -1;
        if (nowhere >= 0 && (dup2(nowhere, STDOUT_FILENO) < 0 || dup2(nowhere, STDERR_FILENO) < 0))
            _exit(CANNOT_RUN);
        arguments[0] = (char *)real;
        execvp(real, arguments);
        complain("%s: %s", real, strerror(errno));
        _exit(CANNOT_RUN);
    }
    return child;
}

static int status_of(pid_t child) {
    int status = 0;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status)
           : WIFSIGNALED(status)          ? 128 + WTERMSIG(status)
                                          : CANNOT_RUN;
}

/* ---- What is said -------------------------------------------------------------------------------- */

/* For people who look at the log: the library that sees it being loaded says what was not looked at. */
static void log_line(const char *path, const char *how) {
    char *log_path = NULL;
    const char *folder = getenv("WEIR_RECORD");
    FILE *log = folder && asprintf(&log_path, "%s/capture.log", folder) >= 0 ? fopen(log_path, "a") : NULL;
    if (log) {
        fprintf(log, "ptxas %s %s\n", path, how);
        fclose(log);
    }
    free(log_path);
}

/* ---- The instrumented text ----------------------------------------------------------------------- */

static int to_file(void *file, const char *data, size_t size) {
    return fwrite(data, 1, size, file) == size ? 0 : -1;
}

typedef struct PtxaText {
    weir_context *context;
    weir_file *file;
    weir_module *module;
    char path[PATH_MAX], image[PATH_MAX]; /* instrumented: its text, and what is assembled of that */
    const char *problem;                  /* NULL: none */
} PtxaText;

static void open_text(PtxaText *text, const char *path) {
    *text = (PtxaText){.context = weir_create()};
    text->file = text->context ? weir_open(text->context, path) : NULL;
    text->module = text->file ? weir_parse(text->file, 0, 0) : NULL;
    if (!text->module || !weir_module_ok(text->module))
        text->problem = "its PTX cannot be read";
}

static void close_text(PtxaText *text) {
    if (text->module)
        weir_module_free(text->module);
    if (text->file)
        weir_close(text->file);
    if (text->context)
        weir_destroy(text->context);
    if (*text->path)
        unlink(text->path);
    if (*text->image)
        unlink(text->image);
}

static bool hash_file(const char *path, uint64_t *hash) {
    FILE *file = fopen(path, "rb");
    long size = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    char *bytes = size > 0 && fseek(file, 0, SEEK_SET) == 0 ? malloc((size_t)size) : NULL;
    bool good = bytes && fread(bytes, 1, (size_t)size, file) == (size_t)size;
    if (good)
        *hash = weir_hash(bytes, (size_t)size);
    free(bytes);
    if (file)
        fclose(file);
    return good;
}

/* The text and what records, by the hash of the image; a process that is at the same one at once writes the same. */
static bool keep(const PtxaText *text, const char *folder, const char *image, bool records) {
    char path[PATH_MAX], part[PATH_MAX + 32];
    uint64_t hash;
    if (!hash_file(image, &hash))
        return false;
    snprintf(path, sizeof path, "%s/%016" PRIx64 ".cubin", folder, hash);
    if (records && rename(text->image, path) != 0)
        return false;
    snprintf(path, sizeof path, "%s/%016" PRIx64 ".ptx", folder, hash);
    snprintf(part, sizeof part, "%s.%ld", path, (long)getpid());
    FILE *file = fopen(part, "wb");
    bool good = file && weir_print(text->module, WEIR_AS_WRITTEN, to_file, file) == 0;
    if (file && fclose(file) != 0)
        good = false;
    return good && rename(part, path) == 0;
}

static bool write_instrumented(PtxaText *text, const char *folder, bool free_registers) {
    weir_instrument_options options = {.free_registers = free_registers, .beside = 1};
    const char *spaces = getenv("WEIR_RECORD_SPACES"), *shadow = getenv("WEIR_RECORD_SHADOW");
    options.spaces = spaces ? (unsigned)strtoul(spaces, NULL, 10) : 0;
    options.shadow = shadow && *shadow && *shadow != '0';
    options.seed_layout = options.shadow && *shadow == '2';
    snprintf(text->path, sizeof text->path, "%s/%ld.ptx", folder, (long)getpid());
    snprintf(text->image, sizeof text->image, "%s/%ld.cubin", folder, (long)getpid());
    FILE *file = fopen(text->path, "wb");
    bool good = file && weir_ptx_instrument(text->module, &options, to_file, file, &text->problem) == 0;
    if (file && fclose(file) != 0)
        good = false;
    if (!good && !text->problem)
        text->problem = "its instrumented text could not be written";
    return good;
}

/* ---- As ptxas ------------------------------------------------------------------------------------ */

/* The arguments that are the text, and where the image goes; NULL: there is none, it was asked for something else. */
static char **text_argument(int count, char **arguments, char ***output) {
    char **text = NULL;
    *output = NULL;
    for (int i = 1; i < count; i++) {
        size_t size = strlen(arguments[i]);
        if (strcmp(arguments[i], "-o") == 0 && i + 1 < count)
            *output = &arguments[++i];
        else if (*arguments[i] != '-' && size > 4 && strcmp(arguments[i] + size - 4, ".ptx") == 0)
            text = &arguments[i];
    }
    return text;
}

/* Starts the real one for what records; 0: it cannot be instrumented. */
static pid_t start_recording(PtxaText *text, const char *folder, const char *real, char **arguments, char **argument,
                             char **output, bool free_registers) {
    char *path = *argument, *image = *output;
    if (!write_instrumented(text, folder, free_registers))
        return 0;
    *argument = text->path;
    *output = text->image;
    pid_t child = start(real, arguments, true);
    *argument = path;
    *output = image;
    return child;
}

int run_ptxas(int count, char **arguments) {
    const char *real = real_ptxas(base_name(arguments[0])), *folder = getenv("WEIR_RECORD_PTX");
    char **output, **argument = text_argument(count, arguments, &output);
    if (!argument || !output) /* its version, for example, by which Triton finds what is in its cache */
        return status_of(start(real, arguments, false));
    PtxaText text;
    open_text(&text, *argument);
    pid_t recording = text.problem ? 0 : start_recording(&text, folder, real, arguments, argument, output, false);
    int status = status_of(start(real, arguments, false));
    bool records = recording > 0 && status_of(recording) == 0;
    if (!records && !text.problem && !status) {
        recording = start_recording(&text, folder, real, arguments, argument, output, true);
        records = recording > 0 && status_of(recording) == 0;
        if (records)
            log_line(*argument, "is recorded without setmaxnreg, since it needs more registers with what records it");
    }
    if (!status && !records)
        log_line(*argument, "is not assembled with what records it, since ptxas does not take it");
    if (!status && text.module && !keep(&text, folder, *output, records))
        log_line(*argument, "is not recorded, since its text could not be kept");
    close_text(&text);
    return status;
}
