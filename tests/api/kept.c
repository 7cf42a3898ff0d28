/* Results that are kept: they are given again while what they were made from is the same, and not when anything of it
 * is another; a file that is cut off or changed is none. */
#include <weir/weir.h>

#include "expect.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KERNEL                                                                     \
    "module attributes {\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = 4 : i32, " \
    "\"ttg.threads-per-warp\" = 32 : i32} {\n"                                     \
    "  tt.func public @kernel(%a: i32) {\n    tt.return loc(\"k.py\":3:1)\n  }\n}\n"

enum { MOST = 1 << 16 };

typedef struct Buffer {
    char data[MOST];
    size_t size;
} Buffer;

static int append(void *to, const char *data, size_t size) {
    Buffer *buffer = to;
    if (size > sizeof buffer->data - buffer->size)
        return -1;
    memcpy(buffer->data + buffer->size, data, size);
    buffer->size += size;
    return 0;
}

static void put(const char *path, const char *text, size_t size) {
    FILE *file = fopen(path, "wb");
    CHECK(file && fwrite(text, 1, size, file) == size);
    if (file)
        fclose(file);
}

static const weir_write_options as_json = {.format = WEIR_JSON};

/* What a writer of the whole has of the part, which is freed. */
static void whole(weir_writer *part, Buffer *to) {
    weir_writer *writer = weir_writer_begin(&as_json, append, to);
    weir_writer_join(writer, part);
    CHECK(weir_writer_end(writer) == 0);
}

/* Checks the kernel, and keeps that. */
static void check(weir_context *context, weir_kept *kept, const char *path, const char *data, Buffer *to) {
    weir_writer *part = weir_writer_part(&as_json);
    weir_kept_begin();
    weir_file *file = weir_open(context, path);
    weir_module *module = weir_parse(file, 0, 0);
    weir_result *result = weir_run(module, NULL);
    weir_writer_add(part, result);
    weir_result_free(result);
    weir_module_free(module);
    weir_close(file);
    CHECK(weir_kept_end(kept, &(weir_kept_input){.path = path}, &part, 1, data, strlen(data)) == 0);
    whole(part, to);
}

static int take(weir_kept *kept, const char *path, size_t launches, char first[2], Buffer *rest, Buffer *to) {
    weir_writer *part = weir_writer_part(&as_json);
    rest->size = 0;
    int found = weir_kept_take(kept, &(weir_kept_input){path, launches}, &part, 1, first, 2, append, rest);
    to->size = 0;
    whole(part, to);
    return found;
}

/* The only file below the folder. */
static void find(const char *folder, char *path, size_t size) {
    char below[600];
    DIR *all = opendir(folder);
    *path = 0;
    for (struct dirent *one; all && (one = readdir(all));) {
        snprintf(below, sizeof below, "%s/%s", folder, one->d_name);
        DIR *in = one->d_name[0] == '.' ? NULL : opendir(below);
        for (struct dirent *file; in && (file = readdir(in));)
            if (file->d_name[0] != '.')
                snprintf(path, size, "%s/%s", below, file->d_name);
        if (in)
            closedir(in);
    }
    if (all)
        closedir(all);
}

/* As another run does: what is there is looked at again. */
static weir_kept *reopen(weir_kept *kept, const char *cache) {
    weir_kept_close(kept);
    return weir_kept_open(cache, NULL, "options", 7);
}

static Buffer said, again, rest, kept_text;

int main(void) {
    char folder[] = "/tmp/weir-kept-XXXXXX", kernel[64], cache[64], path[1200], first[2] = "";
    CHECK(mkdtemp(folder) != NULL);
    snprintf(kernel, sizeof kernel, "%s/k.ttgir", folder);
    snprintf(cache, sizeof cache, "%s/cache/deep", folder);
    put(kernel, KERNEL, strlen(KERNEL));
    weir_context *context = weir_create();
    weir_kept *kept = weir_kept_open(cache, NULL, "options", 7);
    CHECK(kept != NULL);
    CHECK(!take(kept, kernel, 0, first, &rest, &again));
    check(context, kept, kernel, "ABmore", &said);
    CHECK(said.size > 0);

    /* The same again, with what was added. */
    CHECK(take(kept, kernel, 0, first, &rest, &again));
    CHECK(again.size == said.size && memcmp(again.data, said.data, said.size) == 0);
    CHECK(memcmp(first, "AB", 2) == 0 && rest.size == 4 && memcmp(rest.data, "more", 4) == 0);

    /* Another number of launch files, other options. */
    CHECK(!take(kept, kernel, 1, first, &rest, &again));
    weir_kept *other = weir_kept_open(cache, NULL, "Options", 7);
    CHECK(other && !take(other, kernel, 0, first, &rest, &again));
    weir_kept_close(other);

    /* A file of which a byte was changed, or that was cut off. */
    find(cache, path, sizeof path);
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL);
    kept_text.size = file ? fread(kept_text.data, 1, sizeof kept_text.data, file) : 0;
    if (file)
        fclose(file);
    CHECK(kept_text.size > 64 && kept_text.size < MOST);
    for (size_t i = 0; i < kept_text.size; i += i < 200 ? 1 : 37) {
        kept_text.data[i] ^= 0x20;
        put(path, kept_text.data, kept_text.size);
        CHECK(!take(kept, kernel, 0, first, &rest, &again));
        kept_text.data[i] ^= 0x20;
        put(path, kept_text.data, i);
        CHECK(!take(kept, kernel, 0, first, &rest, &again));
    }
    put(path, kept_text.data, kept_text.size);
    CHECK(take(kept, kernel, 0, first, &rest, &again));

    /* The kernel is another; it is not there; it is as it was. */
    put(kernel, KERNEL "\n", strlen(KERNEL) + 1);
    kept = reopen(kept, cache);
    CHECK(!take(kept, kernel, 0, first, &rest, &again));
    unlink(kernel);
    kept = reopen(kept, cache);
    CHECK(!take(kept, kernel, 0, first, &rest, &again));
    put(kernel, KERNEL, strlen(KERNEL));
    kept = reopen(kept, cache);
    CHECK(take(kept, kernel, 0, first, &rest, &again));

    weir_kept_close(kept);
    CHECK(weir_kept_open("/proc/none", NULL, "", 0) == NULL);
    weir_destroy(context);
    unlink(path);
    unlink(kernel);
    return failures != 0;
}
