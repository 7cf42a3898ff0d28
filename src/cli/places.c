/* weir exec without a GPU: order logs of CUDA programs say where in a file of machine code a call was made; the source
 * line is found by addr2line, where there is one, and takes the place of that. Without debug information (nvcc -g)
 * there is the function's name. */
#include "cli/cli.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LARGEST = 256 << 20, MOST = 1 << 16 };

/* A place that a log has, and what is to be there. */
typedef struct Place {
    char *text, *found;
    size_t file_size; /* of the name of the file in it */
} Place;

typedef struct PlaceList {
    Place *items;
    size_t count, capacity;
} PlaceList;

/* "/home/me/program+0x12f4" in quotes; 0: it is none. */
static size_t place_size(const char *at, const char *end, size_t *file_size) {
    const char *quote = memchr(at, '"', (size_t)(end - at)),
               *plus = quote ? memchr(at, '+', (size_t)(quote - at)) : NULL;
    if (!plus || *at != '/' || quote - plus < 4 || strncmp(plus, "+0x", 3) != 0 ||
        strspn(plus + 3, "0123456789abcdef") != (size_t)(quote - plus - 3))
        return 0;
    *file_size = (size_t)(plus - at);
    return (size_t)(quote - at);
}

static Place *find(PlaceList *list, const char *at, size_t size) {
    for (size_t i = 0; i < list->count; i++)
        if (strncmp(list->items[i].text, at, size) == 0 && !list->items[i].text[size])
            return &list->items[i];
    return NULL;
}

static void collect(PlaceList *list, const char *text, size_t size) {
    const char *end = text + size;
    for (const char *at = text; (at = memchr(at, '"', (size_t)(end - at))) && ++at < end;) {
        size_t file_size, length = place_size(at, end, &file_size);
        if (!length || list->count == MOST || find(list, at, length))
            continue;
        if (list->count == list->capacity) {
            size_t wanted = list->capacity ? 2 * list->capacity : 64;
            Place *more = realloc(list->items, wanted * sizeof *more);
            if (!more)
                return;
            list->items = more;
            list->capacity = wanted;
        }
        list->items[list->count++] = (Place){.text = strndup(at, length), .file_size = file_size};
    }
}

/* ---- addr2line ---- */

/* Its output for addresses, two lines each: the function, and FILE:LINE. */
static FILE *ask(const char *file, char **addresses, size_t count) {
    int ends[2];
    char **words = calloc(count + 6, sizeof *words);
    if (!words || pipe(ends) != 0) {
        free(words);
        return NULL;
    }
    char *first[] = {"addr2line", "-f", "-C", "-e", (char *)(uintptr_t)file};
    memcpy(words, first, sizeof first);
    memcpy(words + 5, addresses, count * sizeof *words);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
        dup2(ends[1], STDOUT_FILENO);
        dup2(nothing, STDERR_FILENO);
        dup2(nothing, STDIN_FILENO);
        execvp(words[0], words);
        _exit(127);
    }
    close(ends[1]);
    free(words);
    FILE *output = child > 0 ? fdopen(ends[0], "r") : NULL;
    if (!output)
        close(ends[0]);
    return output;
}

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* "main.cu:42", relative to where the program was started; else "main (program)"; else "program+0x12f4". */
static void answer(Place *place, char *function, char *line) {
    char here[PATH_MAX];
    function[strcspn(function, "\n")] = 0;
    line[strcspn(line, "\n")] = 0;
    char *more = strstr(line, " (discriminator"), *colon = strrchr(line, ':');
    if (more)
        *more = 0;
    bool known = colon && line[0] != '?' && colon[1] != '?' && strcmp(colon, ":0") != 0;
    size_t length = known && getcwd(here, sizeof here) ? strlen(here) : 0;
    if (length && strncmp(line, here, length) == 0 && line[length] == '/')
        line += length + 1;
    for (char *at = known ? line : function; *at; at++)
        *at = *at == '"' ? '\'' : *at;
    free(place->found);
    place->found = NULL;
    if (known)
        place->found = strdup(line);
    else if (function[0] != '?' && asprintf(&place->found, "%s (%.*s)", function,
                                            (int)(place->file_size - (size_t)(last_part(place->text) - place->text)),
                                            last_part(place->text)) < 0)
        place->found = NULL;
}

static void resolve_file(PlaceList *list, size_t first) {
    enum { AT_ONCE = 1024 };
    char *addresses[AT_ONCE], *function = NULL, *line = NULL;
    Place *asked[AT_ONCE];
    size_t count = 0, room = 0, other = 0, size = list->items[first].file_size;
    for (size_t i = first; i < list->count && count < AT_ONCE; i++) {
        Place *place = &list->items[i];
        if (place->found || place->file_size != size || memcmp(place->text, list->items[first].text, size) != 0)
            continue;
        asked[count] = place;
        addresses[count++] = place->text + size + 1;
        place->found = strdup(last_part(place->text));
    }
    char *file = strndup(list->items[first].text, size);
    FILE *output = file ? ask(file, addresses, count) : NULL;
    for (size_t i = 0;
         output && i < count && getline(&function, &room, output) > 0 && getline(&line, &other, output) > 0; i++)
        answer(asked[i], function, line);
    if (output)
        fclose(output);
    while (output && waitpid(-1, NULL, WNOHANG) > 0)
        ;
    free(function);
    free(line);
    free(file);
}

/* ---- Logs ---- */

static void write_log(FILE *to, PlaceList *list, const char *text, size_t size) {
    const char *end = text + size, *done = text;
    for (const char *at = text; (at = memchr(at, '"', (size_t)(end - at))) && ++at < end;) {
        size_t file_size, length = place_size(at, end, &file_size);
        const Place *place = length ? find(list, at, length) : NULL;
        if (!place || !place->found)
            continue;
        fwrite(done, 1, (size_t)(at - done), to);
        fputs(place->found, to);
        done = at += length;
    }
    fwrite(done, 1, (size_t)(end - done), to);
}

static void resolve_log(const char *path) {
    PlaceList list = {0};
    struct stat status;
    FILE *log = fopen(path, "r");
    char *text = log && fstat(fileno(log), &status) == 0 && status.st_size > 0 && status.st_size < LARGEST
                     ? malloc((size_t)status.st_size)
                     : NULL;
    size_t size = text ? fread(text, 1, (size_t)status.st_size, log) : 0;
    if (log)
        fclose(log);
    collect(&list, text, size);
    for (size_t i = 0; i < list.count; i++)
        if (!list.items[i].found)
            resolve_file(&list, i);
    FILE *to = list.count ? fopen(path, "w") : NULL;
    if (to) {
        write_log(to, &list, text, size);
        fclose(to);
    }
    for (size_t i = 0; i < list.count; i++) {
        free(list.items[i].text);
        free(list.items[i].found);
    }
    free(list.items);
    free(text);
}

void places_resolve(const char *folder) {
    DIR *directory = opendir(folder);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        char path[PATH_MAX];
        const char *dot = strrchr(entry->d_name, '.');
        if (dot && strcmp(dot, ORDER_LOGS_END) == 0 &&
            snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) < (int)sizeof path)
            resolve_log(path);
    }
    if (directory)
        closedir(directory);
}
