/* Begins and ends with the process; the lock, the errors of threads, and lines for the summary of weir exec. */
#include "cuda/cuda.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

CudaState cuda;

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static _Thread_local Error last;
static _Thread_local unsigned depth; /* how often this thread holds the lock */
static _Thread_local const void *came_from;

/* ---- Begin and end ---- */

static void begin(void) {
    const char *target = getenv("WEIR_TARGET"), *jobs = getenv("WEIR_DEVICE_JOBS"), *run = getenv("WEIR_RUN");
    const char *folder = getenv("WEIR_CAPTURE"), *prove = getenv("WEIR_PROVE_TIME");
    cuda.process = getpid();
    cuda.folder = folder && *folder ? strdup(folder) : NULL;
    cuda.target = gpu_named(target && *target ? target : "sm_90");
    if (!cuda.target) {
        cuda_note("no GPU stands for %s: CUDA programs run as on one of sm_90", target);
        cuda.target = gpu_named("sm_90");
    }
    cuda.captures = cuda.folder && run && strcmp(run, "no") == 0;
    cuda.checks = cuda.folder && !cuda.captures;
    cuda.volatile_races = getenv("WEIR_VOLATILE_RACES");
    cuda.prove_time = prove ? strtod(prove, NULL) : 0;
    cuda.weir = weir_create();
    cuda.device = weir_device_create();
    if (cuda.device && jobs)
        weir_device_jobs(cuda.device, (unsigned)strtoul(jobs, NULL, 10));
    cuda_say("standin %s", cuda.target->name);
    if (cuda.checks) {
        cuda_say("runs here");
        log_begin();
    }
    __atomic_store_n(&cuda.begun, true, __ATOMIC_RELEASE);
}

__attribute__((destructor)) static void end(void) {
    if (!__atomic_load_n(&cuda.begun, __ATOMIC_ACQUIRE) || cuda.process != getpid())
        return;
    pthread_mutex_lock(&lock);
    if (!cuda.ended && cuda.checks) {
        check_end();
        memory_each(log_left);
        log_end();
    }
    if (cuda.folder)
        cuda_say("counts %ld 0 %llu 0", (long)getpid(), (unsigned long long)cuda.launches);
    __atomic_store_n(&cuda.ended, true, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
}

/* A thread that does not live on may have held it. */
static void after_fork(void) {
    static const pthread_mutex_t fresh = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    lock = fresh;
    depth = 0;
}

__attribute__((constructor)) static void watch_forks(void) {
    pthread_atfork(NULL, NULL, after_fork);
}

/* ---- Calls ---- */

/* Python programs run Triton's kernels and PyTorch by python/weir, which has a device of its own: to these there is no
 * driver, as without this library. */
static bool is_python(void) {
    static int known = -1;
    int is = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (is < 0) {
        is = dlsym(RTLD_DEFAULT, "Py_Initialize") && !getenv("WEIR_CAPTURE_CUDA");
        __atomic_store_n(&known, is, __ATOMIC_RELAXED);
    }
    return is;
}

Error cuda_closed(void) {
    if (is_python())
        return CUDA_NO_DRIVER;
    if (__atomic_load_n(&cuda.begun, __ATOMIC_ACQUIRE) && cuda.process != getpid())
        return CUDA_NOT_INITIALIZED;
    return __atomic_load_n(&cuda.ended, __ATOMIC_ACQUIRE) ? CUDA_UNLOADING : 0;
}

bool cuda_begin_call(const void *caller) {
    pthread_mutex_lock(&lock);
    if (!depth++)
        came_from = caller;
    if (!cuda.begun)
        begin();
    if (cuda.weir && cuda.device)
        return true;
    cuda_unlock();
    return false;
}

Error cuda_end_call(Error error) {
    if (cuda.sticky && !cuda.fresh)
        error = cuda.sticky;
    cuda.fresh = false;
    cuda_unlock();
    return error;
}

bool cuda_enter(const void *caller, Error *error) {
    *error = cuda_closed();
    if (!*error && !cuda_begin_call(caller))
        *error = CUDA_NO_MEMORY;
    if (*error)
        last = *error;
    else
        context_bind();
    return !*error;
}

Error cuda_leave(Error error) {
    error = cuda_end_call(error);
    last = error ? error : last;
    return error;
}

void cuda_unlock(void) {
    depth--;
    pthread_mutex_unlock(&lock);
}

void cuda_relock(void) {
    pthread_mutex_lock(&lock);
    depth++;
}

Error cuda_last(bool reset) {
    pthread_mutex_lock(&lock);
    Error was = cuda.sticky ? cuda.sticky : last;
    if (reset && !cuda.sticky)
        last = 0;
    pthread_mutex_unlock(&lock);
    return was;
}

void cuda_came_from(const void *caller) {
    came_from = caller;
}

static const char *program_path(void) {
    static char path[PATH_MAX];
    if (!*path && readlink("/proc/self/exe", path, sizeof path - 1) <= 0)
        snprintf(path, sizeof path, "program");
    return path;
}

const void *cuda_caller(void) {
    return came_from;
}

/* The file, and the address in it of the call: weir exec finds the line (cli/places.c). */
const char *cuda_where(void) {
    static _Thread_local char text[PATH_MAX + 32];
    static _Thread_local const void *known;
    struct link_map *object = NULL;
    Dl_info found;
    if (came_from == known && *text)
        return text;
    *text = 0;
    known = came_from;
    if (!came_from || !dladdr1(came_from, &found, (void **)&object, RTLD_DL_LINKMAP) || !object || !found.dli_fname)
        return text;
    const char *name = *object->l_name ? object->l_name : program_path();
    if (!strpbrk(name, "\"\n+"))
        snprintf(text, sizeof text, "%s+0x%lx", name, (unsigned long)((uintptr_t)came_from - 1 - object->l_addr));
    return text;
}

/* ---- What weir exec reads ---- */

static bool is_new(const char *line) {
    enum { MOST = 256 };
    static char *lines[MOST];
    static size_t count;
    for (size_t i = 0; i < count; i++)
        if (strcmp(lines[i], line) == 0)
            return false;
    if (count < MOST)
        lines[count++] = strdup(line);
    return true;
}

/* False: that was said before. */
static bool say(const char *first, const char *format, va_list arguments) {
    char line[1024], path[4096];
    const char *folder = getenv("WEIR_CAPTURE");
    int length = snprintf(line, sizeof line, "%s", first);
    length += vsnprintf(line + length, sizeof line - 2 - (size_t)length, format, arguments);
    length = length < (int)sizeof line - 2 ? length : (int)sizeof line - 2;
    for (int i = 0; i < length; i++)
        if (line[i] == '\n' || line[i] == '\r')
            line[i] = ' ';
    if (!is_new(line))
        return false;
    line[length++] = '\n';
    if (!folder || !*folder) {
        return !*first || write(STDERR_FILENO, line, (size_t)length) >= 0;
    }
    if (snprintf(path, sizeof path, "%s/capture.log", folder) >= (int)sizeof path)
        return true;
    int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file < 0)
        return true;
    if (write(file, line, (size_t)length) < 0)
        cuda.folder = NULL;
    close(file);
    return true;
}

/* The verdict of the program says so, too, in every format. */
static void log_missing(const char *format, va_list arguments) {
    char sentence[1024];
    vsnprintf(sentence, sizeof sentence, format, arguments);
    for (char *at = sentence; *at; at++)
        if (*at == '\n' || *at == '\r' || *at == '"' || *at == '\\')
            *at = *at == '"' || *at == '\\' ? '\'' : ' ';
    log_line("missing \"%s\"", sentence);
}

void cuda_note(const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    if (say("note ", format, arguments))
        log_missing(format, again);
    va_end(again);
    va_end(arguments);
}

void cuda_say(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say("", format, arguments);
    va_end(arguments);
}

Error cuda_not_modeled(const char *name) {
    cuda_note("%s is not there without a GPU: the program got error %d, and what it would have done is not checked",
              name, CUDA_NOT_SUPPORTED);
    return CUDA_NOT_SUPPORTED;
}
