/* weir exec in mode record: what a program is started with so that its kernels record what they do while they run
 * (src/runtime), and what its processes have said of it. */
#include "cli/cli.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Numbers ------------------------------------------------------------------------------------- */

typedef struct RecordUnit {
    const char *name;
    uint64_t times;
} RecordUnit;

/* A number with one of the units behind it; false if it is none. */
static bool read_amount(const char *text, const RecordUnit *units, uint64_t *amount) {
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (end == text || errno || *text == '-')
        return false;
    for (; units->name; units++)
        if (strcmp(units->name, end) == 0 && number <= UINT64_MAX / units->times) {
            *amount = number * units->times;
            return true;
        }
    return false;
}

static const RecordUnit of_time[] = {{"s", 1000000000}, {"ms", 1000000},  {"us", 1000},
                                     {"ns", 1},         {"", 1000000000}, {0}};
static const RecordUnit of_memory[] = {{"", 1}, {"K", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}, {0}};

bool bytes_read(const char *text, uint64_t *bytes) {
    return read_amount(text, of_memory, bytes);
}

/* --hang-after, --record-memory and --record-disk, which are wrong in every mode if they are. */
static void read_amounts(const Options *options, uint64_t *hang, uint64_t *memory, uint64_t *disk) {
    *hang = UINT64_C(10000000000);
    *memory = 0;
    *disk = UINT64_C(1) << 30;
    if (options->hang_after && !read_amount(options->hang_after, of_time, hang))
        wrong_usage(options, "--hang-after is a time, such as 2s or 500ms, or 0, not '%s'", options->hang_after);
    if (options->record_memory && !bytes_read(options->record_memory, memory))
        wrong_usage(options, "--record-memory is a number of bytes, such as 512M or 4G, not '%s'",
                    options->record_memory);
    if (options->record_disk && !bytes_read(options->record_disk, disk))
        wrong_usage(options, "--record-disk is a number of bytes, such as 512M or 4G, not '%s'", options->record_disk);
}

/* ---- Whether ------------------------------------------------------------------------------------- */

bool has_gpu(void) {
    static const char *const devices[] = {"/dev/nvidiactl", "/dev/nvidia0", "/dev/dxg"};
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
        if (access(devices[i], F_OK) == 0)
            return true;
    return false;
}

bool record_wanted(const Options *options) {
    uint64_t hang, memory, disk;
    read_amounts(options, &hang, &memory, &disk);
    if (options->mode == EXEC_AS_FITS)
        return !options->standin && has_gpu();
    if (options->mode != EXEC_CAPTURE && options->standin)
        wrong_usage(options,
                    "--target runs no kernel on a GPU, and modes record and shadow look at those that run there");
    return options->mode != EXEC_CAPTURE;
}

char *record_folder(const char *scratch) {
    char *folder = NULL;
    if (asprintf(&folder, "%s/kept", scratch) < 0)
        return NULL;
    if (mkdir(folder, 0777) == 0)
        return folder;
    complain("%s: %s", folder, strerror(errno));
    free(folder);
    return NULL;
}

/* ---- The environment ----------------------------------------------------------------------------- */

static bool set_number(const char *name, uint64_t number) {
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, number);
    return setenv(name, text, 1) == 0;
}

static bool set_options(const Options *options) {
    uint64_t hang, memory, disk;
    read_amounts(options, &hang, &memory, &disk);
    return set_number("WEIR_RECORD_HANG", hang) && set_number("WEIR_RECORD_MEMORY", memory) &&
           set_number("WEIR_RECORD_DISK", disk) &&
           (!options->launches_given || set_number("WEIR_RECORD_LAUNCHES", options->record_launches)) &&
           set_number("WEIR_RECORD_SHADOW", options->mode == EXEC_SHADOW) &&
           set_number("WEIR_RECORD_SAMPLE", options->sample) && set_number("WEIR_RECORD_HOST", 0) &&
           (!options->record_host || record_on_host()) &&
           setenv("WEIR_RECORD_ONLY", options->only ? options->only : "", 1) == 0 &&
           setenv("WEIR_RECORD_EXCLUDE", options->exclude ? options->exclude : "", 1) == 0;
}

/* A name for this command under which it is ptxas (ptxas.c), and the one that it stands for. */
static bool set_ptxas(const char *scratch, const char *name, const char *variable, const char *real) {
    char *path = NULL;
    const char *before = getenv(variable);
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0 || asprintf(&path, "%s/%s", scratch, name) < 0)
        return false;
    self[length] = 0;
    bool good = (!before || !*before || setenv(real, before, 1) == 0) && symlink(self, path) == 0 &&
                setenv(variable, path, 1) == 0;
    free(path);
    return good;
}

/* Texts of what is in Triton's cache are found there (runtime/record/gpu_cached.c), or in the images themselves, unless
 * these have no line information: then everything is compiled again. */
static bool set_cache(const char *scratch) {
    const char *bare = getenv("TRITON_DISABLE_LINE_INFO");
    char *path = NULL;
    if (!bare || !*bare || strcmp(bare, "0") == 0)
        return true;
    bool good = asprintf(&path, "%s/triton", scratch) >= 0 && setenv("TRITON_CACHE_DIR", path, 1) == 0;
    free(path);
    return good;
}

bool record_environment(const Options *options, const char *folder, const char *scratch) {
    char library[PATH_MAX];
    if (!find_library(library, sizeof library)) {
        complain("libweir-gpu.so is not next to this command, where 'make install' and 'pip install' place it");
        return false;
    }
    set_python(); /* without it, what PyTorch's own kernels access is not known */
    return set_options(options) && setenv("WEIR_RECORD", folder, 1) == 0 &&
           setenv("WEIR_RECORD_PTX", scratch, 1) == 0 && unsetenv("WEIR_CAPTURE") == 0 && set_cache(scratch) &&
           set_ptxas(scratch, "ptxas", "TRITON_PTXAS_PATH", "WEIR_PTXAS") &&
           set_ptxas(scratch, "ptxas-blackwell", "TRITON_PTXAS_BLACKWELL_PATH", "WEIR_PTXAS_BLACKWELL");
}

/* ---- What was said ------------------------------------------------------------------------------- */

bool recorded_line(Recorded *recorded, const char *word, const char *rest) {
    uint64_t kernels, launches, written, repeated, excluded, libraries = 0;
    if (strcmp(word, "cuda") == 0) {
        recorded->begun++;
        return true;
    }
    if (strcmp(word, "launch-failed") == 0 && !recorded->failed) {
        recorded->failed = atoi(rest);
        const char *kernel = strchr(rest, ' ');
        recorded->failed_kernel = kernel && kernel[1] ? strdup(kernel + 1) : NULL;
        return true;
    }
    if (strcmp(word, "recorded") != 0)
        return false;
    if (sscanf(rest, "%*d %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, &kernels, &launches,
               &written, &repeated, &excluded, &libraries) == 6) {
        recorded->ended++;
        recorded->kernels += kernels;
        recorded->launches += launches;
        recorded->recorded += written;
        recorded->repeated += repeated;
        recorded->excluded += excluded;
        recorded->libraries += libraries;
    }
    return true;
}

void recorded_say(const Recorded *recorded, size_t files, const Options *options) {
    const char *how = options->mode == EXEC_SHADOW ? "checked" : "recorded", *trouble = driver_trouble();
    if (recorded->begun > recorded->ended)
        complain("%zu process%s before everything was written: launches at the end of %s are not checked",
                 recorded->begun - recorded->ended, recorded->begun - recorded->ended == 1 ? " ended" : "es ended",
                 recorded->begun - recorded->ended == 1 ? "it" : "them");
    else if (!files && !recorded->launches)
        complain("nothing was %s: the program launched no CUDA kernel%s%s", how, trouble ? "; " : "",
                 trouble     ? trouble
                 : has_gpu() ? ""
                             : ", and no GPU was found here");
    if (options->quiet || !recorded->launches)
        return;
    fprintf(stderr, "weir: %" PRIu64 " launch%s of %" PRIu64 " kernel%s: %" PRIu64 " %s", recorded->launches,
            recorded->launches == 1 ? "" : "es", recorded->kernels, recorded->kernels == 1 ? "" : "s",
            recorded->recorded, how);
    if (recorded->repeated)
        fprintf(stderr, ", %" PRIu64 " equal to these in shape and numbers", recorded->repeated);
    if (recorded->excluded)
        fprintf(stderr, ", %" PRIu64 " excluded", recorded->excluded);
    if (recorded->libraries)
        fprintf(stderr, ", %" PRIu64 " of kernels without PTX", recorded->libraries);
    uint64_t rest =
        recorded->launches - recorded->recorded - recorded->repeated - recorded->excluded - recorded->libraries;
    if (rest)
        fprintf(stderr, ", %" PRIu64 " not checked", rest);
    fputc('\n', stderr);
}
