/* Text about findings, put together so that each is told in full once. */
#include "render/told.h"

#include "base/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has_room(Told *told) {
    if (told->count < told->capacity)
        return true;
    size_t wanted = told->capacity ? 2 * told->capacity : 8;
    ToldFinding *more = realloc(told->items, wanted * sizeof *more);
    if (!more)
        return false;
    told->items = more;
    told->capacity = wanted;
    return true;
}

void told_add(Told *told, const Finding *finding, const Source *source, ToldFinding at) {
    if (!*finding->fingerprint || !has_room(told))
        return;
    if (!told->file) {
        told->file = strdup(source->name);
        told->hash = hash_bytes(HASH_START, source->data, source->size);
    }
    if (!told->file)
        return;
    ToldFinding *added = &told->items[told->count++];
    *added = at;
    snprintf(added->key, sizeof added->key, "%016" PRIx64 " %s %u", told->hash, finding->fingerprint,
             finding->place_count ? finding->places[0].ir_line : 0);
}

/* ---- Together ------------------------------------------------------------------------------------- */

static void add_range(Text *to, const Text *text, size_t begin, size_t end) {
    if (begin < end)
        text_add(to, text->data + begin, end - begin);
}

/* The file in which it was told; NULL: in none so far, but it is now. */
static const char *told_in(Told *told, const Told *part, const ToldFinding *finding) {
    void **file = map_put(&told->seen, str_of(finding->key));
    if (!file)
        return NULL;
    const char *before = *file;
    if (!before)
        *file = part->file;
    return before;
}

void told_join(Told *told, Told *part, const Text *text, Text *to) {
    size_t at = 0;
    Told *kept = part->count ? malloc(sizeof *kept) : NULL;
    if (kept)
        *kept = *part;
    for (size_t i = 0; kept && i < kept->count; i++) {
        const ToldFinding *finding = &kept->items[i];
        const char *before = told_in(told, kept, finding);
        if (!before || before == kept->file)
            continue;
        add_range(to, text, at, finding->rest);
        text_plainf(to, "  same as: %s\n", before);
        at = finding->launch;
    }
    add_range(to, text, at, text->size);
    if (!kept) {
        told_free(part);
        return;
    }
    kept->next = told->next;
    told->next = kept;
    *part = (Told){0};
}

void told_free(Told *told) {
    for (Told *next; told->next; told->next = next) {
        next = told->next->next;
        free(told->next->file);
        free(told->next->items);
        free(told->next);
    }
    map_free(&told->seen);
    free(told->file);
    free(told->items);
    *told = (Told){0};
}
