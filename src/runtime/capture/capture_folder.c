/* The folder that is written to, and its log: WEIR_RECORD names it in mode record, WEIR_CAPTURE in mode capture. */
#include "runtime/capture/capture.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_MOST = 512, LINES_MOST = 256 };

/* What Python programs compile with Triton is captured as Triton's own IR (python/weir), and PyTorch's kernels are
 * machine code: in a Python nothing is captured here, unless WEIR_CAPTURE_CUDA asks for it. */
static bool is_python(void) {
    static int known = -1;
    if (known < 0)
        known = next_dlsym(NULL, "Py_Initialize") && !getenv("WEIR_CAPTURE_CUDA");
    return known;
}

const char *folder_path(void) {
    const char *path = getenv("WEIR_RECORD");
    if (path && *path)
        return path;
    path = getenv("WEIR_CAPTURE");
    return path && *path && !is_python() ? path : NULL;
}

uint64_t folder_number(const char *variable, uint64_t otherwise) {
    const char *text = getenv(variable);
    char *end;
    if (!text || !*text)
        return otherwise;
    unsigned long long number = strtoull(text, &end, 10);
    return *end ? otherwise : number;
}

/* Whether a line was written before by this process. */
static bool is_new(const char *line) {
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static char *lines[LINES_MOST];
    static size_t count;
    bool found = false;
    pthread_mutex_lock(&mutex);
    for (size_t i = 0; i < count && !found; i++)
        found = strcmp(lines[i], line) == 0;
    if (!found && count < LINES_MOST)
        lines[count++] = strdup(line);
    pthread_mutex_unlock(&mutex);
    return !found;
}

void folder_log(const char *format, ...) {
    char line[LINE_MOST], path[4096];
    va_list arguments;
    const char *folder = folder_path();
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line - 1, format, arguments);
    va_end(arguments);
    if (!folder || length <= 0 || !is_new(line))
        return;
    length = length < LINE_MOST - 2 ? length : LINE_MOST - 2;
    line[length++] = '\n';
    if (snprintf(path, sizeof path, "%s/capture.log", folder) >= (int)sizeof path)
        return;
    int log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (log < 0)
        return;
    if (write(log, line, (size_t)length) < 0)
        unsetenv("WEIR_CAPTURE"); /* a folder that cannot be written to: nothing more is tried */
    close(log);
}
