/* Feeds files to a fuzz target without a fuzzer, so that inputs which once broke something stay
 * tests:
 *
 *     build/asan/tests/fuzz/NAME_fuzz FILE...
 *
 * Linked with one tests/fuzz/NAME_fuzz.c. A target speaks up by crashing; surviving every file is
 * success. */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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

int main(int count, char **arguments) {
    for (int i = 1; i < count; i++) {
        size_t size = 0;
        uint8_t *data = read_file(arguments[i], &size);
        if (!data) {
            perror(arguments[i]);
            return 2;
        }
        LLVMFuzzerTestOneInput(data, size);
        free(data);
    }
    return 0;
}
