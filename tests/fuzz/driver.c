/* Feeds files to fuzz targets without a fuzzer, so that inputs which once broke something stay tests:
 *
 *     build/asan/tests/fuzz/NAME_fuzz FILE...
 *     build/asan/tests/fuzz/all NAME_fuzz FILE... [-- NAME_fuzz FILE...]...
 *
 * One program of all targets, as looking for leaks at its end may take seconds: each tests/fuzz/NAME_fuzz.c is compiled
 * with its function under the name NAME_fuzz, and the program is linked to all these names. targets.def has a row
 * TARGET(NAME_fuzz) for each. A target speaks up by crashing, and the last line of standard output says with which
 * file; surviving every file is success. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TARGET(name) int name(const uint8_t *data, size_t size);
#include "targets.def"
#undef TARGET

typedef int (*Run)(const uint8_t *data, size_t size);

static const struct {
    const char *name;
    Run run;
} targets[] = {
#define TARGET(name) {#name, name},
#include "targets.def"
#undef TARGET
};

static Run find_target(const char *name) {
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        if (strcmp(targets[i].name, name) == 0)
            return targets[i].run;
    return NULL;
}

/* The buffer is exactly as long as the file, so that the address sanitizer sees a read one byte
 * past its end. */
static uint8_t *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    uint8_t *data = NULL;
    if (fseek(file, 0, SEEK_END) == 0) {
        long end = ftell(file);
        rewind(file);
        if (end >= 0 && (data = malloc(end > 0 ? (size_t)end : 1)))
            *size = fread(data, 1, (size_t)end, file);
    }
    fclose(file);
    return data;
}

static void feed(Run run, const char *name, const char *path) {
    size_t size = 0;
    uint8_t *data = read_file(path, &size);
    if (!data) {
        perror(path);
        exit(2);
    }
    printf("%s %s\n", name, path);
    fflush(stdout);
    run(data, size);
    free(data);
}

int main(int count, char **arguments) {
    const char *slash = strrchr(arguments[0], '/'), *name = slash ? slash + 1 : arguments[0];
    Run run = find_target(name);
    for (int i = 1; i < count; i++) {
        bool separator = strcmp(arguments[i], "--") == 0;
        if (run && !separator) {
            feed(run, name, arguments[i]);
            continue;
        }
        i += separator;
        name = i < count ? arguments[i] : "";
        if (!(run = find_target(name))) {
            fprintf(stderr, "%s: there is no fuzz target of this name\n", name);
            return 2;
        }
    }
    return 0;
}
