/* Shadow memory of the engine for threads: pages of cells, and lists of accesses, each of which is kept once. */
#include "engine/hb/threads_internal.h"

#include <string.h>

enum { PAGE_CELLS = SHADOW_PAGE / 4, LEFT_TIMES = 16, PAGE_TIMES = 8 };

static uint32_t cell_count(const ShadowPage *page) {
    return SHADOW_PAGE >> page->shift;
}

/* ---- Pages ---- */

/* Neighbors are side by side: they are looked for one after the other. */
static uint32_t page_bucket(uint64_t number, uint32_t capacity) {
    return ((uint32_t)hashed(number >> 3) << 3 | (number & 7)) & (capacity - 1);
}

static void pages_grow(Threads *threads) {
    uint32_t capacity = threads->page_capacity * 2;
    ShadowPage **grown = gsan_pool_take(&threads->pool, capacity * sizeof *grown);
    for (uint32_t i = 0; i < threads->page_capacity; i++)
        for (ShadowPage *page = threads->pages[i], *next; page; page = next) {
            ShadowPage **bucket = &grown[page_bucket(page->number, capacity)];
            next = page->next;
            page->next = *bucket;
            *bucket = page;
        }
    gsan_pool_give(&threads->pool, threads->pages, threads->page_capacity * sizeof *grown);
    threads->pages = grown;
    threads->page_capacity = capacity;
}

static ShadowPage *page_new(Threads *threads, uint64_t address) {
    if (threads->page_count >= threads->page_capacity)
        pages_grow(threads);
    uint64_t number = address / SHADOW_PAGE;
    ShadowPage **bucket = &threads->pages[page_bucket(number, threads->page_capacity)];
    ShadowPage *page = POOL_NEW(&threads->pool, ShadowPage);
    page->number = number;
    page->next = *bucket;
    *bucket = page;
    threads->page_count++;
    if (address >> 62) {
        Cta *cta = threads_cta(threads, (uint32_t)(address >> 28));
        page->of_cta = cta->pages;
        cta->pages = page;
    }
    return page;
}

/* One that is not the latest. */
static ShadowPage *page_search(Threads *threads, uint64_t number, LatestPage *latest) {
    ShadowPage *page = threads->pages[page_bucket(number, threads->page_capacity)];
    while (page && page->number != number)
        page = page->next;
    if (page)
        *latest = (LatestPage){number, page};
    return page;
}

static inline ShadowPage *page_find(Threads *threads, uint64_t address) {
    uint64_t number = address / SHADOW_PAGE;
    LatestPage *latest = &threads->latest[hashed(number) % LATEST_PAGES];
    return latest->number == number && latest->page ? latest->page : page_search(threads, number, latest);
}

void threads_line_settle(Threads *threads, uint32_t *slot, uint8_t *shift) {
    if (*slot && *shift & LINE_ALONE)
        *slot = threads_node_alone(threads, *slot >> 5) << 5 | (*slot & 31);
    *shift &= (uint8_t)~LINE_ALONE;
}

static uint32_t slot_at(uint32_t slot, uint8_t shift, uint8_t flip, uint32_t byte) {
    return slot ? slot + (byte >> shift ^ flip) : 0;
}

static uint8_t least_shift(uint32_t slot, uint8_t shift, uint8_t least) {
    return slot && shift < least ? shift : least;
}

static uint8_t largest_shift(const Threads *threads) {
    return threads->shape.by_word ? 2 : CELL_SHIFT;
}

/* What its lines say, cell by cell: no cell has two lanes of an access. */
static void make_cells(Threads *threads, ShadowPage *page, uint8_t shift) {
    for (uint32_t i = 0; i < PAGE_LINES; i++) {
        ThreadsLine *line = &page->lines[i];
        threads_line_settle(threads, &line->writes, &line->write_shift);
        threads_line_settle(threads, &line->reads, &line->read_shift);
        shift = least_shift(line->writes, line->write_shift, shift);
        shift = least_shift(line->reads, line->read_shift, shift);
        shift = least_shift(page->line_nc ? page->line_nc[i] : 0, line->nc_shift, shift);
    }
    page->shift = shift;
    uint32_t count = cell_count(page);
    ThreadsCell *cells = gsan_pool_take(&threads->pool, count * sizeof(ThreadsCell));
    if (page->line_nc)
        page->nc = gsan_pool_take(&threads->pool, count * sizeof *page->nc);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = (i << shift) / SHADOW_LINE, byte = (i << shift) % SHADOW_LINE;
        const ThreadsLine *line = &page->lines[at];
        cells[i] = (ThreadsCell){slot_at(line->writes, line->write_shift, line->write_flip, byte),
                                 slot_at(line->reads, line->read_shift, line->read_flip, byte)};
        if (page->nc)
            page->nc[i] = slot_at(page->line_nc[at], line->nc_shift, line->nc_flip, byte);
    }
    page->cells = cells;
}

ShadowPage *threads_page_lines(Threads *threads, uint64_t address, bool make) {
    ShadowPage *page = page_find(threads, address);
    return page || !make ? page : page_new(threads, address);
}

ShadowPage *threads_page(Threads *threads, uint64_t address) {
    ShadowPage *page = page_find(threads, address);
    if (page && !page->cells)
        make_cells(threads, page, largest_shift(threads));
    return page;
}

static void split(Threads *threads, ShadowPage *page, uint8_t shift) {
    uint32_t old = cell_count(page), times = 1U << (page->shift - shift);
    ThreadsCell *cells = gsan_pool_take(&threads->pool, (size_t)old * times * sizeof(ThreadsCell));
    for (uint32_t i = 0; i < old * times; i++)
        cells[i] = page->cells[i / times];
    gsan_pool_give(&threads->pool, page->cells, old * sizeof(ThreadsCell));
    page->cells = cells;
    if (page->nc) {
        uint32_t *nc = gsan_pool_take(&threads->pool, (size_t)old * times * sizeof *nc);
        for (uint32_t i = 0; i < old * times; i++)
            nc[i] = page->nc[i / times];
        gsan_pool_give(&threads->pool, page->nc, old * sizeof *nc);
        page->nc = nc;
    }
    page->shift = shift;
}

void threads_page_cells(Threads *threads, ShadowPage *page, uint64_t edges) {
    uint8_t shift = (uint8_t)__builtin_ctzll(edges | 1U << largest_shift(threads));
    if (!page->cells)
        make_cells(threads, page, shift);
    if (shift < page->shift)
        split(threads, page, shift);
}

static void locations_drop(Threads *threads, ShadowPage *page) {
    for (uint32_t i = 0; page->locations && i < PAGE_CELLS; i++)
        while (page->locations[i]) {
            Location *location = page->locations[i];
            page->locations[i] = location->next;
            threads_location_drop(threads, location);
        }
    gsan_pool_give(&threads->pool, page->locations, PAGE_CELLS * sizeof(Location *));
    page->locations = NULL;
}

static void page_free(Threads *threads, ShadowPage *page) {
    ShadowPage **at = &threads->pages[page_bucket(page->number, threads->page_capacity)];
    while (*at != page)
        at = &(*at)->next;
    *at = page->next;
    threads->page_count--;
    if (threads->latest[hashed(page->number) % LATEST_PAGES].page == page)
        threads->latest[hashed(page->number) % LATEST_PAGES].page = NULL;
    locations_drop(threads, page);
    gsan_pool_give(&threads->pool, page->cells, cell_count(page) * sizeof(ThreadsCell));
    gsan_pool_give(&threads->pool, page->nc, cell_count(page) * sizeof(uint32_t));
    gsan_pool_give(&threads->pool, page->line_nc, PAGE_LINES * sizeof(uint32_t));
    gsan_pool_give(&threads->pool, page, sizeof *page);
}

void threads_pages_free(Threads *threads, ShadowPage *pages) {
    for (ShadowPage *page = pages, *next; page; page = next) {
        next = page->of_cta;
        page_free(threads, page);
    }
}

/* ---- Lists ---- */

static uint64_t node_hash(uint32_t record, NodeLanes lanes, uint32_t next) {
    return hashed((uint64_t)record << 32 | next) ^ hashed(lanes.lanes + lanes.turn + UINT64_C(0x51ED));
}

static uint64_t hash_of(const Node *node) {
    return node_hash(node->record, (NodeLanes){node->lanes, node->turn}, node->next);
}

static void nodes_grow(Threads *threads) {
    uint32_t capacity = threads->node_capacity * 2;
    uint32_t *grown = gsan_pool_take(&threads->pool, capacity * sizeof *grown);
    for (uint32_t i = 0; i < threads->node_capacity; i++)
        for (uint32_t index = threads->node_table[i], next; index; index = next) {
            Node *node = node_at(threads, index);
            uint32_t *bucket = &grown[hash_of(node) & (capacity - 1)];
            next = node->chain;
            node->chain = *bucket;
            *bucket = index;
        }
    gsan_pool_give(&threads->pool, threads->node_table, threads->node_capacity * sizeof *grown);
    threads->node_table = grown;
    threads->node_capacity = capacity;
}

/* A new one, with what is said of all of its list. `chain`: it is in the hash table, before that one; UINT32_MAX: it
 * is not. */
static uint32_t node_new(Threads *threads, uint32_t of, NodeLanes lanes, uint32_t behind, uint32_t pruned,
                         uint32_t chain) {
    uint32_t index = swept_take(threads, &threads->nodes);
    Node *node = node_at(threads, index);
    const ThreadsRecord *record = record_at(threads, of);
    bool generic = record->proxy == PROXY_GENERIC, strong = generic && record->order != ORDER_WEAK;
    node->record = of;
    node->lanes = lanes.lanes;
    node->turn = (uint8_t)lanes.turn;
    node->next = behind;
    node->stamp = *stamp_at(threads, of);
    node->chain = chain == UINT32_MAX ? 0 : chain;
    node->depth = 1;
    node->pruned = pruned;
    node->clusters = cluster_bit(threads, record->cta);
    node->least = node->most = record->cta;
    node->odd = strong ? 0 : index;
    node->level = strong ? record->level : LEVEL_NONE;
    node->element = record->element;
    node->plain = generic && !strong && !record->operation && !record->silent;
    node->cut = false;
    node->gives = record->gives;
    node->loose = record->loose;
    node->alone = chain == UINT32_MAX;
    if (behind) {
        const Node *next = node_at(threads, behind);
        node->depth = next->depth + 1;
        node->clusters |= next->clusters;
        node->least = next->least < node->least ? next->least : node->least;
        node->most = next->most > node->most ? next->most : node->most;
        node->gives |= next->gives;
        node->loose |= next->loose;
        node->plain &= next->plain && next->record != of;
        node->odd = strong ? next->odd : index;
        if (!strong)
            node->element = next->element;
        else if (next->level != LEVEL_NONE && next->element != node->element)
            node->level = 0;
        node->level = next->level < node->level ? next->level : node->level;
    }
    threads->node_count++;
    return index;
}

uint32_t threads_node_alone(Threads *threads, uint32_t record) {
    uint32_t *node = &record_at(threads, record)->node;
    if (!*node)
        *node = node_new(threads, record, (NodeLanes){0}, 0, 0, UINT32_MAX);
    return *node;
}

uint32_t threads_node(Threads *threads, uint32_t record, NodeLanes lanes, uint32_t next, uint32_t pruned) {
    if (!next && !lanes.lanes && !lanes.turn)
        return threads_node_alone(threads, record);
    uint32_t *bucket = &threads->node_table[node_hash(record, lanes, next) & (threads->node_capacity - 1)];
    for (uint32_t index = *bucket; index; index = node_at(threads, index)->chain) {
        const Node *node = node_at(threads, index);
        if (node->record == record && node->lanes == lanes.lanes && node->turn == lanes.turn && node->next == next)
            return index;
    }
    if (threads->node_count >= threads->node_capacity) {
        nodes_grow(threads);
        bucket = &threads->node_table[node_hash(record, lanes, next) & (threads->node_capacity - 1)];
    }
    return *bucket = node_new(threads, record, lanes, next, pruned, *bucket);
}

uint32_t threads_node_first(Threads *threads, uint32_t record, NodeLanes lanes, uint32_t next, uint32_t pruned) {
    if (!next && !lanes.lanes && !lanes.turn)
        return threads_node_alone(threads, record);
    return node_new(threads, record, lanes, next, pruned, UINT32_MAX);
}

/* ---- What nothing refers to ---- */

void threads_record_mark(Threads *threads, uint32_t index) {
    if (!index || !swept_mark(&threads->records, index))
        return;
    const ThreadsRecord *record = record_at(threads, index);
    if (record->operation)
        operation_at(threads, record->operation)->marked = true;
}

static void mark_list(Threads *threads, uint32_t slot) {
    for (uint32_t index = slot >> 5; index && swept_mark(&threads->nodes, index);) {
        const Node *node = node_at(threads, index);
        threads_record_mark(threads, node->record);
        index = node->next;
    }
}

static void mark_slot(Threads *threads, uint32_t slot, uint8_t shift) {
    if (shift & LINE_ALONE)
        threads_record_mark(threads, slot >> 5);
    else
        mark_list(threads, slot);
}

/* Lines and cells side by side have the same, as a rule. */
static void mark_page(Threads *threads, const ShadowPage *page) {
    ThreadsCell last = {0};
    uint32_t last_seats = 0;
    for (uint32_t i = 0; !page->cells && i < PAGE_LINES; i++) {
        const ThreadsLine *line = &page->lines[i];
        bool alike = line->seats == last_seats;
        if (!alike || line->writes >> 5 != last.writes >> 5)
            mark_slot(threads, line->writes, line->write_shift);
        if (!alike || line->reads >> 5 != last.reads >> 5)
            mark_slot(threads, line->reads, line->read_shift);
        last = (ThreadsCell){line->writes, line->reads};
        last_seats = line->seats;
        if (page->line_nc)
            threads_record_mark(threads, page->line_nc[i] >> 5);
    }
    last = (ThreadsCell){0};
    for (uint32_t i = 0; page->cells && i < cell_count(page); i++) {
        if (page->cells[i].writes != last.writes)
            mark_list(threads, page->cells[i].writes);
        if (page->cells[i].reads != last.reads)
            mark_list(threads, page->cells[i].reads);
        last = page->cells[i];
        if (page->nc)
            threads_record_mark(threads, page->nc[i] >> 5);
    }
    for (uint32_t i = 0; page->locations && i < PAGE_CELLS; i++)
        for (const Location *location = page->locations[i]; location; location = location->next)
            threads_location_mark(threads, location);
}

static void unmark(Swept *swept) {
    for (uint32_t i = 0; i < swept->store.chunk_count; i++)
        memset(swept_bits(swept, i << CHUNK_SHIFT), 0, SWEPT_BITS);
}

/* What is not marked is free. How many are left. */
static uint32_t free_others(Swept *swept) {
    uint32_t marked = 0;
    if (!swept->store.next)
        return 0;
    swept_mark(swept, 0); /* which stands for none */
    for (uint32_t i = 0; i < swept->store.next; i += 64)
        marked += (uint32_t)__builtin_popcountll(*swept_bits(swept, i));
    swept->store.free_count = swept->store.next - marked;
    swept->at = 0;
    swept->free = ~*swept_bits(swept, 0);
    return marked - 1;
}

static bool is_marked(const Swept *swept, uint32_t index) {
    return *swept_bits(swept, index) >> index % 64 & 1;
}

static void nodes_sweep(Threads *threads) {
    memset(threads->node_table, 0, threads->node_capacity * sizeof *threads->node_table);
    threads->node_count = free_others(&threads->nodes);
    for (uint32_t at = 0; at < threads->nodes.store.next; at += 64)
        for (uint64_t rest = *swept_bits(&threads->nodes, at) & (at ? UINT64_MAX : ~UINT64_C(1)); rest;
             rest &= rest - 1) {
            uint32_t i = at + (uint32_t)__builtin_ctzll(rest);
            Node *node = node_at(threads, i);
            if (node->alone)
                continue;
            uint32_t *bucket = &threads->node_table[hash_of(node) & (threads->node_capacity - 1)];
            node->chain = *bucket;
            *bucket = i;
        }
}

static void records_sweep(Threads *threads) {
    threads->record_count = free_others(&threads->records);
    for (uint32_t at = 0; at < threads->records.store.next; at += 64)
        for (uint64_t rest = *swept_bits(&threads->records, at); rest; rest &= rest - 1) { /* 0 is in no list */
            ThreadsRecord *record = record_at(threads, at + (uint32_t)__builtin_ctzll(rest));
            if (record->node && !is_marked(&threads->nodes, record->node))
                record->node = 0;
        }
}

void threads_sweep(Threads *threads) {
    threads->sweeps++;
    unmark(&threads->records);
    unmark(&threads->nodes);
    for (uint32_t i = 0; i < threads->page_capacity; i++)
        for (const ShadowPage *page = threads->pages[i]; page; page = page->next)
            mark_page(threads, page);
    nodes_sweep(threads);
    records_sweep(threads);
    threads_operations_sweep(threads);
    uint32_t left = threads->record_count + threads->node_count;
    /* What is used again is near, and new memory has to be cleared; but to look takes longer the more is left, and the
     * more pages there are. */
    uint64_t soon = threads->sweep_first / SOONER,
             later = LEFT_TIMES * (uint64_t)left + PAGE_TIMES * threads->page_count;
    later = later < threads->sweep_first ? later : left < threads->sweep_first / 2 ? threads->sweep_first : 2 * left;
    threads->sweep_at = (uint32_t)(later > soon ? later : soon);
}
