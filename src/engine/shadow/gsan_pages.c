/* A hash table of pages; none is ever removed. */
#include "engine/shadow/gsan_pages.h"

TABLE_IN(pages, PageTable, Page *, uint64_t, Pool, gsan_pool_take, gsan_pool_give, 256, *item, (*item)->number,
         table_hash(key), (*item)->number == key)

Page *gsan_page_find(Pages *pages, uint64_t number) {
    if (pages->latest && pages->latest->number == number)
        return pages->latest;
    Page **place = pages_find(&pages->table, number);
    return place ? pages->latest = *place : NULL;
}

Page *gsan_page(Pages *pages, uint64_t number) {
    Page *page = gsan_page_find(pages, number);
    if (page)
        return page;
    page = POOL_NEW(pages->pool, Page);
    page->number = number;
    return pages->latest = *pages_put(pages->pool, &pages->table, number) = page;
}
