/* The list of kernels without PTX. */
#include "render/unseen.h"

#include "base/array.h"
#include "base/order.h"

#include <stdlib.h>
#include <string.h>

void unseen_add(Unseen *unseen, const UnseenKernel *kernel) {
    for (size_t i = 0; i < unseen->count; i++)
        if (strcmp(unseen->items[i].name, kernel->name) == 0) {
            unseen->items[i].launches += kernel->launches;
            return;
        }
    bool room = ARRAY_ROOM(unseen->items, unseen->count, unseen->capacity, 16);
    char *name = room ? strdup(kernel->name) : NULL;
    unseen->failed |= !name;
    if (name)
        unseen->items[unseen->count++] = (UnseenKernel){name, kernel->launches};
}

void unseen_join(Unseen *unseen, Unseen *part) {
    for (size_t i = 0; i < part->count; i++)
        unseen_add(unseen, &part->items[i]);
    unseen->recorded |= part->recorded;
    unseen->failed |= part->failed;
    unseen_free(part);
}

ORDER(by_launches, UnseenKernel, BY_MOST(launches) BY_TEXT(name))

void unseen_sort(Unseen *unseen) {
    if (unseen->count)
        qsort(unseen->items, unseen->count, sizeof *unseen->items, by_launches);
}

void unseen_json(const Unseen *unseen, Json *json) {
    static const JsonField fields[] = {JSON(UnseenKernel, name, launches), {0}};
    static const JsonField list[] = {JSON_LIST(0, 2, "unseen_kernels", Unseen, items, count, fields), {0}};
    json_members(json, list, unseen);
}

void unseen_free(Unseen *unseen) {
    for (size_t i = 0; i < unseen->count; i++)
        free((char *)(uintptr_t)unseen->items[i].name);
    free(unseen->items);
    *unseen = (Unseen){0};
}
