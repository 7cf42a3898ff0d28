/* Comparing sets of bytes. */
#include "model/layout/bytes.h"

/* Whether one ends before the other begins. */
static bool lie_apart(const Bytes *a, const Bytes *b) {
    return !a->count || !b->count || a->runs[a->count - 1].end <= b->runs[0].begin ||
           b->runs[b->count - 1].end <= a->runs[0].begin;
}

bool bytes_overlap(const Bytes *a, const Bytes *b) {
    if (lie_apart(a, b))
        return false;
    for (uint32_t i = 0, k = 0; i < a->count && k < b->count;) {
        if (a->runs[i].end <= b->runs[k].begin)
            i++;
        else if (b->runs[k].end <= a->runs[i].begin)
            k++;
        else
            return true;
    }
    return false;
}

bool bytes_contain(const Bytes *outer, const Bytes *inner) {
    uint32_t i = 0;
    for (uint32_t k = 0; k < inner->count; k++) {
        while (i < outer->count && outer->runs[i].end <= inner->runs[k].begin)
            i++;
        if (i == outer->count || outer->runs[i].begin > inner->runs[k].begin || outer->runs[i].end < inner->runs[k].end)
            return false;
    }
    return true;
}

int64_t bytes_size(const Bytes *bytes) {
    int64_t size = 0;
    for (uint32_t i = 0; i < bytes->count; i++)
        size += bytes->runs[i].end - bytes->runs[i].begin;
    return size;
}
