/* The pages of global memory that something has touched, by their addresses. What a page's cells are is the mode's. */
#ifndef ENGINE_SHADOW_GSAN_PAGES_H
#define ENGINE_SHADOW_GSAN_PAGES_H

#include "base/table.h"
#include "engine/shadow/gsan_pool.h"

enum { PAGE_SHIFT = 12, PAGE_BYTES = 1 << PAGE_SHIFT };

typedef struct Page {
    uint64_t number; /* its address >> PAGE_SHIFT */
    void *cells;     /* NULL: all of it is `uniform` */
    void *uniform;
} Page;

typedef TABLE_OF(Page *) PageTable;

typedef struct Pages {
    Pool *pool;
    PageTable table;
    Page *latest;
} Pages;

/* NULL if nothing has touched it. */
Page *gsan_page_find(Pages *pages, uint64_t number);
/* Made if it is not there. */
Page *gsan_page(Pages *pages, uint64_t number);

#endif
