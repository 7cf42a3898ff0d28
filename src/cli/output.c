/* Standard output, or a file that appears under its name only when it is complete. */
#include "cli/cli.h"

#include <errno.h>
#include <pthread.h>
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

static void free_output(Output *output) {
    free(output->path);
    free(output->temporary);
    free(output);
}

Output *output_open(const char *path) {
    Output *output = calloc(1, sizeof *output);
    if (!output)
        return NULL;
    if (!path) {
        output->stream = stdout;
        return output;
    }
    output->path = strdup(path);
    struct stat status;
    bool in_place = stat(path, &status) == 0 && !S_ISREG(status.st_mode); /* what is no file must not become one */
    int fd = -1;
    if (in_place)
        output->stream = fopen(path, "w");
    else if (asprintf(&output->temporary, "%s.XXXXXX", path) > 0)
        fd = mkstemp(output->temporary);
    if (fd >= 0) {
        pthread_mutex_lock(&mask_lock);
        mode_t mask = umask(0); /* mkstemp makes it private; a result is an ordinary file */
        umask(mask);
        pthread_mutex_unlock(&mask_lock);
        fchmod(fd, 0666 & ~mask);
        output->stream = fdopen(fd, "w");
    }
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
    }
    if (!good)
        complain("%s: %s", output->path ? output->path : "standard output", strerror(problem));
    free_output(output);
    return good;
}

bool color_wanted(const Options *options, int fd, const char *path) {
    const char *never = getenv("NO_COLOR");
    if (options->color != COLOR_AUTO)
        return options->color == COLOR_ALWAYS;
    return !path && isatty(fd) && !(never && *never);
}

unsigned output_width(const char *path) {
    enum { USUAL_WIDTH = 80 };
    struct winsize size;
    if (path || !isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return USUAL_WIDTH;
    return size.ws_col < LEAST_WIDTH ? LEAST_WIDTH : size.ws_col;
}
