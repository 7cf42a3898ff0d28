/* Standard output, or a file that appears under its name only when it is complete. */
#include "cli/cli.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* The process has one mask of permissions, and it can be read only by setting it. */
static pthread_mutex_t mask_lock = PTHREAD_MUTEX_INITIALIZER;

struct Output {
    FILE *stream;
    char *path;      /* NULL for standard output */
    char *temporary; /* NULL if it is written in place: standard output, a device, a pipe */
};

/* ---- Temporary files and folders, which a signal that ends the process removes ------------------------------- */

enum { TEMPORARIES = 16 };
static char temporaries[TEMPORARIES][PATH_MAX]; /* "": the place is free */
static pthread_mutex_t temporaries_lock = PTHREAD_MUTEX_INITIALIZER;

static void remove_temporaries(int number) {
    for (size_t i = 0; i < TEMPORARIES; i++)
        if (temporaries[i][0])
            unlink(temporaries[i]);
    for (size_t i = 0; i < TEMPORARIES; i++)
        if (temporaries[i][0])
            rmdir(temporaries[i]);
    signal(number, SIG_DFL);
    raise(number);
}

/* More than fit, and paths that are too long, stay behind if a signal comes. */
void temporary_note(const char *path) {
    static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
    static bool watching;
    pthread_mutex_lock(&temporaries_lock);
    for (size_t i = 0; i < sizeof ending / sizeof *ending && !watching; i++) {
        struct sigaction before;
        if (sigaction(ending[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(ending[i], &(struct sigaction){.sa_handler = remove_temporaries}, NULL);
    }
    watching = true;
    size_t place = 0;
    while (place < TEMPORARIES && temporaries[place][0])
        place++;
    if (place < TEMPORARIES && strlen(path) < PATH_MAX) {
        strcpy(temporaries[place] + 1, path + 1); /* its first letter makes it count */
        temporaries[place][0] = path[0];
    }
    pthread_mutex_unlock(&temporaries_lock);
}

void temporary_forget(const char *path) {
    pthread_mutex_lock(&temporaries_lock);
    for (size_t i = 0; i < TEMPORARIES; i++)
        if (strcmp(temporaries[i], path) == 0)
            temporaries[i][0] = 0;
    pthread_mutex_unlock(&temporaries_lock);
}

static void free_output(Output *output) {
    free(output->path);
    free(output->temporary);
    free(output);
}

/* A file of its own that takes the name later, with the mode of the file that has the name now. */
static FILE *open_temporary(Output *output, const struct stat *there) {
    if (asprintf(&output->temporary, "%s.XXXXXX", output->path) < 0) {
        output->temporary = NULL;
        return NULL;
    }
    int fd = mkstemp(output->temporary);
    if (fd < 0)
        return NULL;
    temporary_note(output->temporary);
    pthread_mutex_lock(&mask_lock);
    mode_t mask = umask(0); /* mkstemp makes it private; a result is an ordinary file */
    umask(mask);
    pthread_mutex_unlock(&mask_lock);
    fchmod(fd, there ? there->st_mode & 07777 : 0666 & ~mask);
    return fdopen(fd, "w");
}

/* A link stays, and what it leads to is written, also if that is not there yet; to be freed. */
static char *written_path(const char *path) {
    enum { MOST_LINKS = 40 };
    char *at = strdup(path), *real = realpath(path, NULL), target[PATH_MAX];
    ssize_t size;
    for (int i = 0; !real && at && i < MOST_LINKS && (size = readlink(at, target, sizeof target - 1)) > 0; i++) {
        const char *slash = strrchr(at, '/');
        char *next = NULL;
        target[size] = 0;
        if (asprintf(&next, "%.*s%s", *target == '/' || !slash ? 0 : (int)(slash - at + 1), at, target) < 0)
            next = NULL;
        free(at);
        at = next;
    }
    if (real)
        free(at);
    return real ? real : at;
}

Output *output_open(const char *path) {
    Output *output = calloc(1, sizeof *output);
    if (!output)
        return NULL;
    if (!path) {
        output->stream = stdout;
        return output;
    }
    output->path = written_path(path);
    struct stat status;
    bool there = stat(path, &status) == 0;
    if (there && !S_ISREG(status.st_mode)) /* what is no file must not become one */
        output->stream = fopen(path, "w");
    else if (output->path)
        output->stream = open_temporary(output, there ? &status : NULL);
    if (!output->stream || !output->path) {
        complain("%s: %s", path, strerror(errno));
        free_output(output);
        return NULL;
    }
    return output;
}

int output_write(void *to, const char *data, size_t size) {
    const Output *output = to;
    return stream_write(output->stream, data, size);
}

void output_printf(Output *output, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vfprintf(output->stream, format, arguments);
    va_end(arguments);
}

bool output_close(Output *output, bool keep) {
    bool good = fflush(output->stream) == 0 && !ferror(output->stream);
    int problem = errno;
    if (output->path)
        good &= fclose(output->stream) == 0;
    if (output->temporary) {
        if (good && keep && rename(output->temporary, output->path) != 0) {
            problem = errno;
            good = false;
        }
        if (!good || !keep)
            unlink(output->temporary);
        temporary_forget(output->temporary);
    }
    if (!good)
        complain("%s: %s", output->path ? output->path : "standard output", strerror(problem));
    free_output(output);
    return good;
}

bool color_wanted(const Options *options, int fd, const char *path) {
    const char *never = getenv("NO_COLOR"), *terminal = getenv("TERM");
    if (options->color != COLOR_AUTO)
        return options->color == COLOR_ALWAYS;
    return !path && isatty(fd) && !(never && *never) && !(terminal && strcmp(terminal, "dumb") == 0);
}

unsigned output_width(const char *path) {
    enum { USUAL_WIDTH = 80 };
    struct winsize size;
    if (path || !isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return USUAL_WIDTH;
    return size.ws_col < LEAST_WIDTH ? LEAST_WIDTH : size.ws_col;
}
