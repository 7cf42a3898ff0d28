/* Things are kept as attributes of the module that no text can name: their keys have zero bytes in them. */
#include "ir/memo.h"

#include <assert.h>

typedef struct MemoKept {
    Attr attr;
    uint64_t thing[]; /* aligned as all that an arena gives */
} MemoKept;

void *module_memo(Module *module, const char *what, const void *about, size_t size, bool *fresh) {
    enum { NAME = 8 };
    char key[NAME + sizeof about] = "";
    assert(strlen(what) < NAME);
    memcpy(key, what, strlen(what));
    memcpy(key + NAME, &about, sizeof about);
    const Attr *found = attr_find(module, (Str){key, sizeof key});
    *fresh = !found;
    if (found)
        return ((MemoKept *)found)->thing;
    MemoKept *kept = arena_zalloc(&module->arena, sizeof *kept + size);
    kept->attr.kind = ATTR_OTHER;
    kept->attr.text = (Str){arena_copy(&module->arena, key, sizeof key), sizeof key};
    attr_enter(module, kept->attr.text, &kept->attr);
    return kept->thing;
}
