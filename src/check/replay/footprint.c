/* Lines in pages, and these in a hash table. A line is a word: what it is, and by which warp and layout. */
#include "check/replay/footprint.h"

#include "base/table.h"

#include <string.h>

enum {
    PAGE_LINES = 512,
    RECENT = 64,
    MOST_PAGES = 1 << 19, /* 1 GiB of them, which is 32 GiB that are accessed */
    WORDS = FOOTPRINT_LINE / 4,
    QUARTER = WORDS / 4, /* of a line, in words */
    MOST_SPLIT = 1 << 20,
};

/* Above the key of who accesses it, + 1; 0: nothing does. */
enum {
    LINE_READ = 0,     /* by the threads of the key */
    LINE_READ_BY_MANY, /* no key */
    LINE_WRITTEN,      /* and read, by the threads of the key */
    LINE_SHARED,       /* no key; or that of its words, + 1 */
};
enum { LINE_STATE_AT = 30, LAYOUT_BITS = 8, LAYOUT_QUARTERS = 0xC0, LAYOUT_NONE = 0xFF };

typedef struct FootprintPage {
    uint64_t number;
    bool shared; /* some line of it is */
    uint32_t lines[PAGE_LINES];
} FootprintPage;

/* Of a line, each as a line is. Their layout is the lane of the thread, or none that is the same again. */
typedef struct FootprintWords {
    uint32_t at[WORDS];
} FootprintWords;

typedef TABLE_OF(FootprintPage *) FootprintPages;

struct Footprint {
    Arena *arena;
    FootprintWords *split; /* of lines that are kept by words */
    uint32_t split_count, split_capacity;
    FootprintPages pages;
    FootprintPage *recent[RECENT];
    uint32_t cluster_warps;
    uint32_t clusters; /* and one more: of which `shared` tells */
    uint8_t *shared;   /* of each cluster */
    bool all_shared;   /* of all of them, as it is not known whose a line is */
    bool full;
    bool only_writes;     /* are added, and make a line noisy */
    uint64_t added, loud; /* accesses to lines, and those to noisy ones */
    uint64_t least, most; /* noisy lines are from least on, to most */
};

Footprint *footprint_new(Arena *arena, uint32_t warps, uint32_t cluster_warps, bool only_writes) {
    if (warps >= FOOTPRINT_WARPS)
        return NULL;
    Footprint *footprint = ARENA_NEW(arena, Footprint);
    footprint->only_writes = only_writes;
    footprint->all_shared = only_writes; /* who reads is not known */
    footprint->arena = arena;
    footprint->cluster_warps = cluster_warps;
    footprint->clusters = warps / cluster_warps + 1;
    footprint->shared = ARENA_ARRAY(arena, uint8_t, warps / cluster_warps + 1);
    footprint->least = UINT64_MAX;
    return footprint;
}

/* ---- Pages ---------------------------------------------------------------------------------------- */

TABLE(pages, FootprintPages, FootprintPage *, uint64_t, 1024, *item, (*item)->number, table_hash(key),
      (*item)->number == key)

/* NULL: there is no room. */
static FootprintPage *page_of(Footprint *footprint, uint64_t number) {
    FootprintPage **recent = &footprint->recent[number % RECENT];
    if (*recent && (*recent)->number == number)
        return *recent;
    FootprintPage **place = pages_find(&footprint->pages, number);
    if (!place) {
        if (footprint->pages.count == MOST_PAGES) {
            footprint->full = true;
            return NULL;
        }
        FootprintPage *page = ARENA_NEW(footprint->arena, FootprintPage);
        page->number = number;
        place = pages_put(footprint->arena, &footprint->pages, number);
        *place = page;
    }
    return *recent = *place;
}

/* ---- Lines ---------------------------------------------------------------------------------------- */

static uint32_t state_of(uint32_t line) {
    return line >> LINE_STATE_AT;
}

static uint32_t key_of(uint32_t line) {
    return (line & ((1U << LINE_STATE_AT) - 1)) - 1;
}

static uint32_t made(uint32_t state, uint32_t key) {
    return state << LINE_STATE_AT | (key + 1);
}

static void note_cluster(Footprint *footprint, uint32_t warp) {
    footprint->shared[warp / footprint->cluster_warps] = 1;
}

/* What the line was says who has accessed it before. */
static uint32_t make_shared(Footprint *footprint, FootprintPage *page, uint64_t number, uint32_t line) {
    page->shared = true;
    if (state_of(line) == LINE_READ_BY_MANY)
        footprint->all_shared = true;
    else if (line && state_of(line) != LINE_SHARED)
        note_cluster(footprint, key_of(line) >> LAYOUT_BITS);
    footprint->least = number < footprint->least ? number : footprint->least;
    footprint->most = number > footprint->most ? number : footprint->most;
    return (uint32_t)LINE_SHARED << LINE_STATE_AT;
}

static bool are_apart(uint32_t key, uint32_t other) {
    const uint32_t layouts = (1U << LAYOUT_BITS) - 1;
    return key >> LAYOUT_BITS == other >> LAYOUT_BITS && (key & layouts) >= LAYOUT_QUARTERS &&
           (other & layouts) >= LAYOUT_QUARTERS && !(key & other & 15);
}

/* Whether bytes that both access are accessed by the same threads. */
static bool are_same(uint32_t key, uint32_t other) {
    return key == other && (key & ((1U << LAYOUT_BITS) - 1)) < LAYOUT_QUARTERS;
}

static bool is_split(uint32_t line) {
    return state_of(line) == LINE_SHARED && key_of(line) != UINT32_MAX;
}

/* What a line or word is, with one access more. */
static uint32_t added(Footprint *footprint, FootprintPage *page, uint64_t number, uint32_t line, uint32_t key,
                      bool writes) {
    uint32_t state = state_of(line), before = key_of(line);
    if (!line)
        return made(writes ? LINE_WRITTEN : LINE_READ, key);
    if (state == LINE_READ && !writes && before >> LAYOUT_BITS == key >> LAYOUT_BITS)
        return before == key ? line : made(LINE_READ, key | LAYOUT_QUARTERS | 15);
    if (state == LINE_READ && !writes)
        return (uint32_t)LINE_READ_BY_MANY << LINE_STATE_AT;
    if (state == LINE_READ_BY_MANY && !writes)
        return line;
    if ((state == LINE_READ || state == LINE_WRITTEN) && are_same(before, key))
        return made(writes ? LINE_WRITTEN : state, key);
    if (state == LINE_WRITTEN && are_apart(before, key))
        return made(LINE_WRITTEN, before | (key & 15));
    note_cluster(footprint, key >> LAYOUT_BITS);
    return make_shared(footprint, page, number, line);
}

/* Which quarters of a line the threads of a key access: all, unless its layout says which. */
static uint32_t quarters_of(uint32_t key) {
    uint32_t layout = key & ((1U << LAYOUT_BITS) - 1);
    return layout >= LAYOUT_QUARTERS ? layout & 15 : 15;
}

/* The words of a line, which are what it was where it was accessed; NULL: it is noisy, or there is no room. */
static uint32_t *split(Footprint *footprint, uint32_t *line) {
    if (is_split(*line))
        return footprint->split[key_of(*line)].at;
    if (state_of(*line) == LINE_SHARED || footprint->split_count == MOST_SPLIT)
        return NULL;
    bool keyed = *line && state_of(*line) != LINE_READ_BY_MANY;
    uint32_t now = keyed ? made(state_of(*line), key_of(*line) | LAYOUT_NONE) : *line;
    uint32_t *words =
        ARENA_PUSH(footprint->arena, footprint->split, footprint->split_count, footprint->split_capacity)->at;
    for (unsigned i = 0; i < WORDS; i++)
        words[i] = !keyed || quarters_of(key_of(*line)) >> i / QUARTER & 1 ? now : 0;
    *line = made(LINE_SHARED, footprint->split_count - 1);
    return words;
}

/* Whether one of two warps writes a line, and they access other quarters of it. */
static bool are_separated(uint32_t line, uint32_t key, bool writes) {
    uint32_t state = state_of(line), before = key_of(line);
    return line && (state == LINE_WRITTEN || (state == LINE_READ && writes)) &&
           before >> LAYOUT_BITS != key >> LAYOUT_BITS && !(quarters_of(before) & quarters_of(key));
}

static void add_line(Footprint *footprint, FootprintPage *page, uint64_t number, uint32_t key, bool writes) {
    uint32_t *at = &page->lines[number % PAGE_LINES];
    footprint->added++;
    if (!*at && !footprint->only_writes) {
        *at = made(writes ? LINE_WRITTEN : LINE_READ, key);
        return;
    }
    if (footprint->only_writes) {
        *at = make_shared(footprint, page, number, *at);
        return;
    }
    uint32_t *words = is_split(*at) || are_separated(*at, key, writes) ? split(footprint, at) : NULL;
    if (words) {
        for (unsigned i = 0; i < WORDS; i++)
            if (quarters_of(key) >> i / QUARTER & 1)
                words[i] = added(footprint, page, number, words[i], key | LAYOUT_NONE, writes);
        return;
    }
    *at = added(footprint, page, number, *at, key, writes);
    footprint->loud += state_of(*at) == LINE_SHARED;
}

void footprint_add(Footprint *footprint, uint32_t warp, bool writes, uint64_t line, FootprintLayout layout) {
    uint64_t number = line / FOOTPRINT_LINE;
    FootprintPage *page = writes || !footprint->only_writes ? page_of(footprint, number / PAGE_LINES) : NULL;
    if (page)
        add_line(footprint, page, number, warp << LAYOUT_BITS | layout, writes);
}

/* Whether an access changes nothing of a line: it is as the same threads have made it, or is read as by many before. */
static inline bool is_nothing_new(uint32_t line, uint32_t key, bool writes) {
    if (writes || line != (uint32_t)LINE_READ_BY_MANY << LINE_STATE_AT)
        return (line == made(LINE_READ, key) && !writes) ||
               (line == made(LINE_WRITTEN, key) && (key & ((1U << LAYOUT_BITS) - 1)) < LAYOUT_QUARTERS);
    return true;
}

void footprint_add_beside(Footprint *footprint, uint32_t warp, bool writes, uint64_t first, uint32_t bytes,
                          bool alone) {
    const uint32_t shared = (uint32_t)LINE_SHARED << LINE_STATE_AT;
    uint64_t number = first / FOOTPRINT_LINE, last = (first + 32 * (uint64_t)bytes - 1) / FOOTPRINT_LINE;
    unsigned shift = (unsigned)__builtin_ctz(bytes);
    uint32_t lane = (uint32_t)((number * FOOTPRINT_LINE - first) >> shift), lanes = (uint32_t)FOOTPRINT_LINE >> shift;
    FootprintPage *page = NULL;
    if (footprint->only_writes && !writes)
        return;
    for (; number <= last; number++, lane += lanes) {
        if (!page || number % PAGE_LINES == 0)
            page = page_of(footprint, number / PAGE_LINES);
        if (!page)
            return;
        uint32_t *line = &page->lines[number % PAGE_LINES];
        uint32_t key = warp << LAYOUT_BITS | (alone ? footprint_beside(bytes, lane) : footprint_quarters(15));
        if (!*line && !footprint->only_writes) {
            *line = made(writes ? LINE_WRITTEN : LINE_READ, key);
        } else if (*line == shared) { /* it stays so */
            note_cluster(footprint, warp);
            footprint->loud += !footprint->only_writes;
        } else if (!is_nothing_new(*line, key, writes)) {
            add_line(footprint, page, number, key, writes);
            continue;
        }
        footprint->added++;
    }
}

void footprint_add_words(Footprint *footprint, uint32_t warp, uint32_t lane, bool alone, bool writes, uint64_t first,
                         uint64_t end) {
    uint64_t number = first / FOOTPRINT_LINE;
    FootprintPage *page = writes || !footprint->only_writes ? page_of(footprint, number / PAGE_LINES) : NULL;
    if (!page)
        return;
    uint32_t *words = footprint->only_writes ? NULL : split(footprint, &page->lines[number % PAGE_LINES]);
    if (!words) {
        footprint_add(footprint, warp, writes, first, footprint_quarters(15));
        return;
    }
    footprint->added++;
    for (uint64_t at = first / 4; at * 4 < end; at++)
        words[at % WORDS] = added(footprint, page, number, words[at % WORDS],
                                  warp << LAYOUT_BITS | (alone ? lane : LAYOUT_NONE), writes);
}

static uint32_t read_by_many(Footprint *footprint, FootprintPage *page, uint64_t number, uint32_t line) {
    if (state_of(line) == LINE_WRITTEN || state_of(line) == LINE_SHARED) {
        footprint->all_shared = true; /* those who read are not known */
        return make_shared(footprint, page, number, line);
    }
    return (uint32_t)LINE_READ_BY_MANY << LINE_STATE_AT;
}

void footprint_add_readers(Footprint *footprint, uint64_t first, uint64_t end) {
    if (footprint->only_writes)
        return;
    for (uint64_t number = first / FOOTPRINT_LINE; number * FOOTPRINT_LINE < end; number++) {
        FootprintPage *page = page_of(footprint, number / PAGE_LINES);
        if (!page)
            return;
        uint32_t *at = &page->lines[number % PAGE_LINES];
        uint32_t *words = is_split(*at) ? footprint->split[key_of(*at)].at : at;
        for (unsigned i = 0; i < (words == at ? 1 : WORDS); i++)
            words[i] = read_by_many(footprint, page, number, words[i]);
    }
}

/* ---- Two of them ---------------------------------------------------------------------------------- */

/* A line that is not split, or a word, with what another footprint has of it. */
static uint32_t merged(Footprint *footprint, FootprintPage *page, uint64_t number, uint32_t line, uint32_t other) {
    uint32_t state = state_of(other);
    if (!other)
        return line;
    if (state == LINE_SHARED)
        return make_shared(footprint, page, number, line);
    if (state == LINE_READ_BY_MANY)
        return read_by_many(footprint, page, number, line);
    return added(footprint, page, number, line, key_of(other), state == LINE_WRITTEN);
}

static void merge_line(Footprint *footprint, const Footprint *from, uint64_t number, uint32_t other) {
    FootprintPage *page = other ? page_of(footprint, number / PAGE_LINES) : NULL;
    const uint32_t *others = is_split(other) ? from->split[key_of(other)].at : NULL;
    if (!page)
        return;
    uint32_t *at = &page->lines[number % PAGE_LINES];
    bool keyed = !others && state_of(other) != LINE_SHARED && state_of(other) != LINE_READ_BY_MANY;
    if (keyed) {
        add_line(footprint, page, number, key_of(other), state_of(other) == LINE_WRITTEN);
        return;
    }
    uint32_t *words = others || is_split(*at) ? split(footprint, at) : NULL;
    for (unsigned i = 0; i < (others || words ? WORDS : 1); i++) {
        uint32_t *to = words ? &words[i] : at;
        *to = merged(footprint, page, number, *to, others ? others[i] : other);
    }
}

void footprint_merge(Footprint *footprint, const Footprint *from) {
    uint64_t all = footprint->added + from->added, loud = footprint->loud + from->loud;
    for (uint32_t i = 0; i < from->pages.capacity; i++) {
        const FootprintPage *page = from->pages.items[i];
        for (uint32_t k = 0; page && k < PAGE_LINES; k++)
            merge_line(footprint, from, page->number * PAGE_LINES + k, page->lines[k]);
    }
    for (uint32_t i = 0; i < footprint->clusters; i++)
        footprint->shared[i] |= from->shared[i];
    footprint->all_shared |= from->all_shared;
    footprint->full |= from->full;
    footprint->added = all;
    footprint->loud = loud;
}

bool footprint_is_loud(const Footprint *footprint) {
    return 2 * footprint->loud > footprint->added;
}

bool footprint_is_full(const Footprint *footprint) {
    return footprint->full;
}

/* ---- What came of it ------------------------------------------------------------------------------ */

bool footprint_is_far(const Footprint *footprint, uint64_t first, uint64_t end) {
    return (end - 1) / FOOTPRINT_LINE < footprint->least || first / FOOTPRINT_LINE > footprint->most;
}

static const FootprintPage *find_page(const Footprint *footprint, uint64_t number) {
    const FootprintPage *recent = footprint->recent[number % RECENT];
    if (recent && recent->number == number)
        return recent;
    FootprintPage *const *place = pages_find(&footprint->pages, number);
    return place ? *place : NULL;
}

/* Of the line with that number, what is of these bytes. */
static bool is_shared(const Footprint *footprint, uint32_t line, uint64_t number, uint64_t first, uint64_t end) {
    if (!is_split(line))
        return state_of(line) == LINE_SHARED;
    const uint32_t *words = footprint->split[key_of(line)].at;
    for (uint64_t i = 0; i < WORDS; i++) {
        uint64_t at = number * FOOTPRINT_LINE + i * 4;
        if (at < end && at + 4 > first && state_of(words[i]) == LINE_SHARED)
            return true;
    }
    return false;
}

bool footprint_is_quiet(const Footprint *footprint, uint64_t first, uint64_t end) {
    uint64_t least = first / FOOTPRINT_LINE, most = (end - 1) / FOOTPRINT_LINE;
    if (footprint_is_far(footprint, first, end))
        return true;
    for (uint64_t number = least; number <= most;) {
        uint64_t behind = (number / PAGE_LINES + 1) * PAGE_LINES;
        const FootprintPage *page = find_page(footprint, number / PAGE_LINES);
        if (!page || !page->shared) {
            number = behind;
            continue;
        }
        for (; number <= most && number < behind; number++)
            if (is_shared(footprint, page->lines[number % PAGE_LINES], number, first, end))
                return false;
    }
    return true;
}

bool footprint_are_quiet(const Footprint *footprint, uint32_t lanes, const uint64_t addresses[32], uint32_t bytes) {
    uint64_t last = UINT64_MAX;
    const FootprintPage *page = NULL;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        uint64_t first = addresses[__builtin_ctz(rest)], number = first / FOOTPRINT_LINE / PAGE_LINES;
        if ((first + bytes - 1) / FOOTPRINT_LINE / PAGE_LINES != number) {
            if (!footprint_is_quiet(footprint, first, first + bytes))
                return false;
            continue;
        }
        if (number != last)
            page = find_page(footprint, number);
        last = number;
        for (uint64_t line = first / FOOTPRINT_LINE; page && page->shared && line * FOOTPRINT_LINE < first + bytes;
             line++)
            if (is_shared(footprint, page->lines[line % PAGE_LINES], line, first, first + bytes))
                return false;
    }
    return true;
}

bool footprint_cluster_is_quiet(const Footprint *footprint, uint32_t cluster) {
    return !footprint->all_shared && !footprint->shared[cluster];
}
