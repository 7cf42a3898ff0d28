/* A hash table of pages; none is ever removed. */
#include "engine/shadow/gsan_pages.h"

static uint32_t place_of(const Pages *pages, uint64_t number) {
    uint64_t hash = number * 0x9e3779b97f4a7c15u;
    uint32_t at = (uint32_t)(hash >> 32) & (pages->capacity - 1);
    while (pages->slots[at] && pages->slots[at]->number != number)
        at = (at + 1) & (pages->capacity - 1);
    return at;
}

static void grow(Pages *pages) {
    Pages larger = *pages;
    larger.capacity = pages->capacity ? 2 * pages->capacity : 256;
    larger.slots = gsan_pool_take(pages->pool, larger.capacity * sizeof(Page *));
    for (uint32_t i = 0; i < pages->capacity; i++)
        if (pages->slots[i])
            larger.slots[place_of(&larger, pages->slots[i]->number)] = pages->slots[i];
    gsan_pool_give(pages->pool, pages->slots, pages->capacity * sizeof(Page *));
    *pages = larger;
}

Page *gsan_page_find(Pages *pages, uint64_t number) {
    if (pages->latest && pages->latest->number == number)
        return pages->latest;
    Page *page = pages->capacity ? pages->slots[place_of(pages, number)] : NULL;
    return page ? pages->latest = page : NULL;
}

Page *gsan_page(Pages *pages, uint64_t number) {
    Page *page = gsan_page_find(pages, number);
    if (page)
        return page;
    if (pages->count >= pages->capacity / 2)
        grow(pages);
    page = POOL_NEW(pages->pool, Page);
    page->number = number;
    pages->slots[place_of(pages, number)] = page;
    pages->count++;
    return pages->latest = page;
}
