/* Launches are checked before they run, with the data that is in memory; what was found is written to a file for each
 * kernel, a line of JSON for each launch, which `weir check` reads (check/launches).
 *
 * As long as checks of a kernel have not taken long, each of its launches is checked; after that, the first of those
 * that are equal in shape and numbers, until there is no time left for it.
 *
 * Each kernel is proved once, and each launch asked whether the proof covers it (docs/proofs.md): of those that there
 * is no time to check races, deadlocks and barriers are proved. */
#include "cuda/cuda.h"

#include "base/hash.h"
#include "base/json.h"
#include "base/map.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { EQUAL_LAUNCHES = 3, MOST_DIFFERENT = 1000 };
static const double seconds_for_all = 10, seconds_for_any = 60; /* of a kernel, of processor time */

/* Launches that are equal. */
typedef struct CheckedKind {
    uint64_t key;
    unsigned checked;
    bool asked, covered; /* covered: by the proof */
} CheckedKind;

typedef struct CheckedKernel {
    CheckedKind *kinds;
    size_t count, capacity;
    int file;    /* -1: it has none yet */
    bool failed; /* and gets none */
    double spent;
    uint64_t checked, equal, left; /* launches: equal to checked ones; not looked at */
    weir_proof *proof;
    bool tried, wrong;        /* to prove it; wrong: a check has found something */
    uint64_t covered, proved; /* launches that the proof covers; proved: for which nothing else was looked at */
} CheckedKernel;

static double processor_seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* ---- Which launches are equal ---- */

/* Addresses count by the allocation that they are in, and where in it: by which of the others it is that of, and by how
 * large it is. */
uint64_t check_key(const CudaLaunch *launch) {
    enum { MOST = 64 };
    const Allocation *seen[MOST];
    size_t count = 0;
    const Kernel *kernel = launch->kernel;
    uint64_t key = hash_bytes(HASH_START, launch->grid, sizeof launch->grid);
    key = hash_bytes(key, launch->block, sizeof launch->block);
    key = hash_bytes(key, launch->cluster, sizeof launch->cluster);
    key = hash_bytes(key, &launch->shared, sizeof launch->shared);
    for (size_t i = 0; i < kernel->about.parameters; i++)
        for (size_t at = 0; at < kernel->sizes[i]; at += 8) {
            uint64_t word = 0;
            size_t rest = kernel->sizes[i] - at < 8 ? kernel->sizes[i] - at : 8;
            memcpy(&word, (const char *)launch->parameters[i] + at, rest);
            const Allocation *one = rest == 8 ? memory_of((void *)(uintptr_t)word) : NULL;
            size_t index = 0;
            while (one && index < count && seen[index] != one)
                index++;
            if (one && index == count && count < MOST)
                seen[count++] = one;
            uint64_t place[3] = {one ? word - one->at : word, one ? index + 1 : 0, one ? one->bytes : 0};
            key = hash_bytes(key, place, sizeof place);
        }
    return key;
}

static CheckedKind *kind_of(CheckedKernel *kernel, uint64_t key) {
    for (size_t i = 0; i < kernel->count; i++)
        if (kernel->kinds[i].key == key)
            return &kernel->kinds[i];
    if (kernel->count == MOST_DIFFERENT)
        return NULL;
    if (kernel->count == kernel->capacity) {
        size_t wanted = kernel->capacity ? 2 * kernel->capacity : 8;
        CheckedKind *more = realloc(kernel->kinds, wanted * sizeof *more);
        if (!more)
            return NULL;
        kernel->kinds = more;
        kernel->capacity = wanted;
    }
    kernel->kinds[kernel->count] = (CheckedKind){.key = key};
    return &kernel->kinds[kernel->count++];
}

/* ---- The file ---- */

/* It has the kernel's name, as far as files can. */
static void open_file(const Kernel *kernel, CheckedKernel *about) {
    enum { NAME = 60 };
    static unsigned count;
    char path[4096], name[NAME + 1];
    size_t length = 0;
    for (const char *at = kernel->plain; *at && length < NAME && (isalnum((unsigned char)*at) || strchr("_:<>, ", *at));
         at++)
        name[length++] = isalnum((unsigned char)*at) ? *at : '_';
    name[length] = 0;
    snprintf(path, sizeof path, "%s/%s-%ld-%u.weirchecks", cuda.folder, name, (long)getpid(), ++count);
    about->file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    about->failed = about->file < 0;
}

static int take(void *to, const char *data, size_t size) {
    Text *text = to;
    text_add(text, data, size);
    return text->failed ? -1 : 0;
}

/* In texts of JSON ends of lines are escaped: those that there are separate. Without a result it is a line of launches
 * that were not checked, since equal ones were. */
static void write_result(const Kernel *kernel, CheckedKernel *about, const weir_result *result) {
    Text text = {0};
    weir_write_options options = {.subject = WEIR_VERDICTS, .format = WEIR_JSON};
    text_addf(&text, "{\"kernel\": ");
    Json json = {.to = &text};
    json_text(&json, NULL, kernel->plain);
    text_addf(&text, result ? ", \"result\": " : ", \"equal\": %llu", (unsigned long long)about->equal);
    size_t begin = text.size;
    bool good = !result || weir_result_write(result, &options, take, &text) == 0;
    for (size_t i = begin; i < text.size; i++)
        if (text.data[i] == '\n')
            text.data[i] = ' ';
    text_addf(&text, "}\n");
    if (about->file < 0 && !about->failed)
        open_file(kernel, about);
    about->failed |= !good || text.failed || write(about->file, text.data, text.size) != (ssize_t)text.size;
    text_free(&text);
    if (about->failed)
        cuda_note("what checks of launches have found could not be written");
}

/* ---- Checks ---- */

static CheckedKernel *about_of(Kernel *kernel) {
    if (!kernel->checked && (kernel->checked = calloc(1, sizeof *kernel->checked)))
        kernel->checked->file = -1;
    return kernel->checked;
}

/* Whether the proof of the kernel covers the launch. One that a check disagrees with covers none. */
static bool is_covered(Kernel *kernel, CheckedKernel *about, CheckedKind *kind, const weir_device_launch *given) {
    weir_module *module = kernel->module->module;
    if (!about->tried && cuda.prove_time > 0)
        about->proof = weir_proof_make(module, kernel->name, cuda.prove_time);
    about->tried = true;
    if (!about->proof || about->wrong || given->dependent || weir_proof_scope(about->proof) == 0)
        return false;
    if (kind && kind->asked)
        return kind->covered;
    bool covered = weir_device_covers(cuda.device, module, given, about->proof, NULL) == 1;
    if (kind) {
        kind->asked = true;
        kind->covered = covered;
    }
    return covered;
}

bool check_launch(const CudaLaunch *launch, const weir_device_launch *given, bool anyway) {
    Kernel *kernel = launch->kernel;
    if (!cuda.checks)
        return false;
    CheckedKernel *about = about_of(kernel);
    CheckedKind *kind = about ? kind_of(about, check_key(launch)) : NULL;
    if (!about)
        return false;
    bool equal = kind && kind->checked, covered = is_covered(kernel, about, kind, given);
    about->covered += covered && !anyway;
    bool wanted =
        about->spent < seconds_for_all || (about->spent < seconds_for_any && kind && kind->checked < EQUAL_LAUNCHES);
    if (!anyway && !wanted) {
        about->equal += equal;
        about->proved += !equal && covered;
        about->left += !equal && !covered;
        return false;
    }
    double before = processor_seconds(), rest = seconds_for_any - about->spent;
    weir_run_options options = {.timeout = rest > 1 ? (unsigned)rest : 1, .volatile_races = cuda.volatile_races};
    weir_result *result = weir_device_check(cuda.device, kernel->module->module, given, &options);
    about->spent += processor_seconds() - before;
    about->checked++;
    if (kind)
        kind->checked++;
    about->wrong |= result && weir_result_verdict(result) == WEIR_VERDICT_FINDINGS;
    if (result)
        write_result(kernel, about, result);
    else
        cuda_note("kernel %s: there was not enough memory to check a launch", kernel->plain);
    weir_result_free(result);
    return true;
}

/* Of all kernels whose modules are unloaded. */
static struct {
    uint64_t equal, covered;
    unsigned proofs, whole; /* kernels: that were tried to be proved; that were */
} totals;

void check_forget(Kernel *kernel) {
    CheckedKernel *about = kernel->checked;
    if (!about)
        return;
    if (about->left)
        cuda_note("kernel %s: %llu launch%s that differ%s from those that were checked %s not checked: its checks "
                  "have taken %.0f s",
                  kernel->plain, (unsigned long long)about->left, about->left == 1 ? "" : "es",
                  about->left == 1 ? "s" : "", about->left == 1 ? "is" : "are", about->spent);
    if (about->equal)
        write_result(kernel, about, NULL);
    if (about->proved)
        cuda_note("kernel %s: of %llu launch%s races, deadlocks and barriers are proved, and nothing else was checked: "
                  "its checks have taken %.0f s",
                  kernel->plain, (unsigned long long)about->proved, about->proved == 1 ? "" : "es", about->spent);
    totals.equal += about->equal;
    totals.covered += about->covered;
    totals.proofs += about->proof != NULL;
    totals.whole += about->proof && weir_proof_scope(about->proof) == 2;
    if (about->proof)
        weir_proof_free(about->proof);
    if (about->file >= 0)
        close(about->file);
    free(about->kinds);
    free(about);
    kernel->checked = NULL;
}

void check_end(void) {
    for (CudaModule *module = module_first(); module; module = module->next)
        for (Kernel *kernel = module->kernels; kernel; kernel = kernel->next)
            check_forget(kernel);
    if (totals.equal)
        cuda_say("equal %llu", (unsigned long long)totals.equal);
    if (totals.proofs)
        cuda_say("proofs %ld %u %u %llu", (long)getpid(), totals.proofs, totals.whole,
                 (unsigned long long)totals.covered);
}
