/* Programs that a watched program starts, and that Weir will not see: without the variables that weir exec has set, or
 * with other rights than this process has, with which the loader heeds none of them. The program is started as it is; a
 * line of the log says so, and the run is incomplete.
 *
 * The calls that start a program stand in front of the C library's. They may run in a child between fork and exec, so
 * what they need is found out before, and nothing is allocated. */
#include "base/code.h"
#include "runtime/capture/capture.h"
#include "runtime/hooks.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

enum { VARIABLES = 3, WORDS_MOST = 4096 };

/* The variables without which a program is not seen, with the part of their value that is weir exec's, as they were
 * when this process began; and where to say so. */
static struct ChildrenSeen {
    const char *name;
    char part[PATH_MAX];
} seen[VARIABLES] = {{"LD_PRELOAD", ""}, {"PYTHONPATH", ""}, {"WEIR_CAPTURE", ""}};
static char log_path[PATH_MAX];

/* Behind "NAME=" of an environment; NULL: it is not there. */
static const char *value_of(char *const *variables, const char *name) {
    size_t size = strlen(name);
    for (; variables && *variables; variables++)
        if (strncmp(*variables, name, size) == 0 && (*variables)[size] == '=')
            return *variables + size + 1;
    return NULL;
}

__attribute__((constructor)) static void remember(void) {
    const char *record = getenv("WEIR_RECORD"), *folder = record && *record ? record : getenv("WEIR_CAPTURE");
    if (!folder || !*folder || snprintf(log_path, sizeof log_path, "%s/capture.log", folder) >= (int)sizeof log_path) {
        log_path[0] = 0;
        return;
    }
    seen[2].name = record && *record ? "WEIR_RECORD" : "WEIR_CAPTURE";
    for (int i = 0; i < VARIABLES; i++) {
        const char *value = getenv(seen[i].name);
        /* weir exec puts its own in front. */
        bool ours = i != 1 || !record || !*record; /* in mode record, Python is given nothing to load */
        size_t size = value && ours ? i == 2 ? strlen(value) : strcspn(value, ":") : 0;
        if (size < sizeof seen[i].part)
            memcpy(seen[i].part, size ? value : "", size);
    }
}

/* The variable that weir exec has set and that the program will not have; NULL: it has them all. */
static const char *missing(char *const *variables) {
    for (int i = 0; i < VARIABLES; i++) {
        const char *value = value_of(variables, seen[i].name);
        if (seen[i].part[0] && (!value || !strstr(value, seen[i].part)))
            return seen[i].name;
    }
    return NULL;
}

/* Whether a program can launch kernels, or start one that can: interpreters, shells and what starts other programs by
 * their names; scripts; and what has kernels in it or is linked to the driver or the runtime. */
static bool may_launch(const char *path) {
    static const char *const starters[] = {"sh",    "bash",    "dash",   "zsh",     "ksh",  "busybox",  "env",
                                           "make",  "ninja",   "xargs",  "sudo",    "su",   "setpriv",  "runuser",
                                           "nohup", "timeout", "mpirun", "mpiexec", "srun", "torchrun", "pytest",
                                           "perl",  "ruby",    "node",   "julia"};
    static const char *const marks[] = {".nv_fatbin", "libcuda.so", "libcudart.so", "Py_BytesMain", "Py_Initialize"};
    const char *name = path_name(path);
    if (strncmp(name, "python", 6) == 0 || strncmp(name, "pypy", 4) == 0)
        return true;
    for (size_t i = 0; i < sizeof starters / sizeof *starters; i++)
        if (strcmp(name, starters[i]) == 0)
            return true;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    bool found = false;
    if (file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 2) {
        size_t size = (size_t)status.st_size;
        char *text = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
        if (text != MAP_FAILED) {
            found = text[0] == '#' && text[1] == '!';
            for (size_t i = 0; i < sizeof marks / sizeof *marks && !found; i++)
                found = memmem(text, size, marks[i], strlen(marks[i])) != NULL;
            munmap(text, size);
        }
    }
    if (file >= 0)
        close(file);
    return found;
}

/* A Python with an option that has it heed no variable. */
static bool is_isolated(const char *path, char *const *words) {
    if (strncmp(path_name(path), "python", 6) != 0)
        return false;
    for (words += words && *words; words && *words && (*words)[0] == '-' && (*words)[1] != '-'; words++) {
        size_t letters = strspn(*words + 1, "bBdEhiIOPqsSuvV");
        if (memchr(*words + 1, 'I', letters) || memchr(*words + 1, 'E', letters))
            return true;
        if ((*words)[1 + letters]) /* -c, -m, or an option with a value */
            return false;
    }
    return false;
}

static void say(const char *path, const char *why) {
    char line[WORDS_MOST];
    int length =
        snprintf(line, sizeof line, "note %.200s was started %s: what it launches is not checked\n", path, why);
    for (int i = 0; i < length - 1; i++)
        line[i] = iscntrl((unsigned char)line[i]) ? '?' : line[i];
    int log = open(log_path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (log < 0)
        return;
    if (write(log, line, (size_t)length) < 0)
        errno = 0;
    close(log);
}

/* Of a program that is about to be started. The C library looks for a name without a slash in PATH. */
static void look(const char *path, char *const *words, char *const *variables) {
    int before = errno;
    char found[PATH_MAX];
    struct stat status;
    if (!log_path[0] || !path)
        return;
    if (!strchr(path, '/')) {
        const char *folders = value_of(environ, "PATH");
        bool there = false;
        for (folders = folders ? folders : "/bin:/usr/bin"; *folders && !there; folders += folders[0] == ':') {
            int size = (int)strcspn(folders, ":");
            there = snprintf(found, sizeof found, "%.*s/%s", size, size ? folders : ".", path) < (int)sizeof found &&
                    access(found, X_OK) == 0;
            folders += size;
        }
        path = there ? found : path;
    }
    const char *lacks = missing(variables);
    char why[128];
    snprintf(why, sizeof why, "without %s as weir exec has set it", lacks ? lacks : "");
    if (stat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_mode & (S_ISUID | S_ISGID) && may_launch(path))
        say(path, "with the rights of another user");
    else if (lacks && access(path, X_OK) == 0 && may_launch(path))
        say(path, why);
    else if (!lacks && seen[1].part[0] && is_isolated(path, words))
        say(path, "with an option (-I, -E) that has Python heed no variable");
    errno = before;
}

/* ---- The calls ------------------------------------------------------------------------------------ */

#define NEXT_CALL(name, type)                           \
    static type *next;                                  \
    if (!next) {                                        \
        void *symbol = next_dlsym(NEXT_LIBRARY, #name); \
        next = *(type **)&symbol;                       \
    }

#define NEXT_LIBRARY ((void *)-1l) /* RTLD_NEXT */

typedef int System(const char *);
typedef FILE *Popen(const char *, const char *);
typedef int Execute(const char *, char *const *, char *const *);
typedef int Spawn(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const *,
                  char *const *);

EXPORTED int execve(const char *path, char *const words[], char *const variables[]) {
    NEXT_CALL(execve, Execute)
    look(path, words, variables);
    return next(path, words, variables);
}

EXPORTED int execv(const char *path, char *const words[]) {
    return execve(path, words, environ);
}

EXPORTED int execvpe(const char *file, char *const words[], char *const variables[]) {
    NEXT_CALL(execvpe, Execute)
    look(file, words, variables);
    return next(file, words, variables);
}

EXPORTED int execvp(const char *file, char *const words[]) {
    return execvpe(file, words, environ);
}

EXPORTED int posix_spawn(pid_t *child, const char *path, const posix_spawn_file_actions_t *actions,
                         const posix_spawnattr_t *attributes, char *const words[], char *const variables[]) {
    NEXT_CALL(posix_spawn, Spawn)
    look(path, words, variables);
    return next(child, path, actions, attributes, words, variables);
}

EXPORTED int posix_spawnp(pid_t *child, const char *file, const posix_spawn_file_actions_t *actions,
                          const posix_spawnattr_t *attributes, char *const words[], char *const variables[]) {
    NEXT_CALL(posix_spawnp, Spawn)
    look(file, words, variables);
    return next(child, file, actions, attributes, words, variables);
}

/* The words of a call that has them one by one, up to NULL; and, of execle, the variables behind it. */
#define WORDS(first)                               \
    char *words[WORDS_MOST] = {(char *)(first)};   \
    size_t count = 1;                              \
    va_list rest;                                  \
    va_start(rest, first);                         \
    while (words[count - 1] && count < WORDS_MOST) \
        words[count++] = va_arg(rest, char *);     \
    words[count - 1] = NULL;

EXPORTED int execl(const char *path, const char *first, ...) {
    WORDS(first)
    va_end(rest);
    return execv(path, words);
}

EXPORTED int execlp(const char *file, const char *first, ...) {
    WORDS(first)
    va_end(rest);
    return execvp(file, words);
}

EXPORTED int execle(const char *path, const char *first, ...) {
    WORDS(first)
    char *const *variables = va_arg(rest, char *const *);
    va_end(rest);
    return execve(path, words, variables);
}

EXPORTED int system(const char *command) {
    NEXT_CALL(system, System)
    if (command)
        look("/bin/sh", NULL, environ);
    return next(command);
}

EXPORTED FILE *popen(const char *command, const char *mode) {
    NEXT_CALL(popen, Popen)
    look("/bin/sh", NULL, environ);
    return next(command, mode);
}
