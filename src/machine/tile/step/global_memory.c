/* Areas as trees of pages, made where something is known or written.
 *
 * A page keeps which of its bytes are known and what they hold; of the others, what was written: in slots, each as wide
 * as the narrowest element of the page that was written with an unknown value. A slot has the identity of the element
 * and tells which of its bytes it is, so that how wide slots are never shows in what is read. */
#include "machine/tile/step/global_memory.h"

#include "base/number.h"

#include <assert.h>
#include <inttypes.h>

enum {
    PAGE_SHIFT = 12,
    PAGE_BYTES = 1 << PAGE_SHIFT,
    PAGE_WORDS = PAGE_BYTES / 64,
    /* A tree's nodes, from the root down: so small that one page far from all others costs about as much as itself. */
    NODE_SHIFT = 7,
    NODE_SIZE = 1 << NODE_SHIFT,
    LEVELS = (AREA_SHIFT - PAGE_SHIFT) / NODE_SHIFT,
    WIDEST = 8,      /* bytes of an element */
    NOT_WRITTEN = 0, /* a slot's part otherwise: byte_of_element */
};

typedef struct GlobalMemoryPage {
    uint64_t run; /* of `memory->run`: else it is from before a reset, and to be filled again */
    uint64_t known[PAGE_WORDS], written[PAGE_WORDS]; /* a bit for each byte */
    uint8_t *bytes;       /* NULL: none was ever known. There are WIDEST more, so that 8 can always be read */
    uint64_t *identities; /* of slots; NULL: there are none */
    uint8_t *parts;
    unsigned slot_shift;
} GlobalMemoryPage;

typedef struct GlobalMemoryNode {
    void *below[NODE_SIZE]; /* nodes, or pages */
} GlobalMemoryNode;

typedef struct Territory {
    Area area;
    const int64_t *data;
    size_t data_count;
    GlobalMemoryNode *root;
} Territory;

struct GlobalMemory {
    Arena *arena;
    Territory *territories;
    uint32_t count, capacity;
    bool many_devices;
    uint64_t run, version;
    /* Where the last access was. */
    uint64_t last_key;
    GlobalMemoryPage *last;
};

GlobalMemory *global_create(Arena *arena) {
    GlobalMemory *memory = ARENA_NEW(arena, GlobalMemory);
    memory->arena = arena;
    memory->run = 1;
    return memory;
}

uint32_t global_add(GlobalMemory *memory, const Area *area, const int64_t *data, size_t data_count) {
    assert(memory->count < MOST_AREAS && area->bytes <= AREA_HALF && area->before <= AREA_HALF);
    /* What elements of part of a byte hold is not told by their bytes' places. */
    bool whole = area->element_bits && area->element_bits % 8 == 0;
    *ARENA_PUSH(memory->arena, memory->territories, memory->count, memory->capacity) =
        (Territory){.area = *area, .data = whole ? data : NULL, .data_count = data && whole ? data_count : 0};
    memory->many_devices |= area->device != 0;
    return memory->count - 1;
}

static Territory *territory_of(const GlobalMemory *memory, int64_t address) {
    uint32_t number = global_area_number(address);
    return number < memory->count ? &memory->territories[number] : NULL;
}

static int64_t offset_in(const GlobalMemory *memory, const Territory *territory, int64_t address) {
    return address - global_address((uint32_t)(territory - memory->territories));
}

const Area *global_area(const GlobalMemory *memory, int64_t address, int64_t *offset) {
    const Territory *territory = territory_of(memory, address);
    if (!territory)
        return NULL;
    *offset = offset_in(memory, territory, address);
    return &territory->area;
}

uint32_t global_area_number(int64_t address) {
    return (uint32_t)(((uint64_t)address + AREA_HALF - AREA_ORIGIN) >> AREA_SHIFT);
}

uint32_t global_area_count(const GlobalMemory *memory) {
    return memory->count;
}

void global_reset(GlobalMemory *memory) {
    memory->run++;
    memory->version = 0;
    memory->last = NULL;
}

uint64_t global_version(const GlobalMemory *memory) {
    return memory->version;
}

/* ---- Bits of a page ----------------------------------------------------------------------------- */

static void set_bits(uint64_t *bits, unsigned from, unsigned count, bool on) {
    while (count) {
        unsigned at = from % 64, some = 64 - at < count ? 64 - at : count;
        uint64_t mask = low_ones(some) << at;
        bits[from / 64] = on ? bits[from / 64] | mask : bits[from / 64] & ~mask;
        from += some;
        count -= some;
    }
}

/* At most 8 of them. */
static uint64_t get_bits(const uint64_t *bits, unsigned from, unsigned count) {
    unsigned at = from % 64;
    uint64_t found = bits[from / 64] >> at;
    if (at + count > 64)
        found |= bits[from / 64 + 1] << (64 - at);
    return found & ((UINT64_C(1) << count) - 1);
}

/* The first from `from` on, before `end`, that is `on`; `end` if there is none. */
static unsigned find_bit(const uint64_t *bits, unsigned from, unsigned end, bool on) {
    while (from < end) {
        uint64_t word = (on ? bits[from / 64] : ~bits[from / 64]) >> from % 64;
        if (word) {
            from += (unsigned)__builtin_ctzll(word);
            return from < end ? from : end;
        }
        from += 64 - from % 64;
    }
    return end;
}

/* ---- Pages -------------------------------------------------------------------------------------- */

/* Where an address is among all pages: pages never lie in two areas. */
static uint64_t key_of(int64_t address) {
    return ((uint64_t)address + AREA_HALF) >> PAGE_SHIFT;
}

static unsigned step_of(uint64_t key, unsigned level) {
    return (unsigned)(key >> NODE_SHIFT * (LEVELS - 1 - level)) & (NODE_SIZE - 1);
}

/* The page of a key, if there is one and it is of this run. Else *missing is how many pages from its own on are not
 * there, either. */
static GlobalMemoryPage *find_page(const GlobalMemory *memory, const Territory *territory, uint64_t key,
                                   uint64_t *missing) {
    void *at = territory->root;
    for (unsigned level = 0; level < LEVELS; level++) {
        if (!at) {
            uint64_t below = UINT64_C(1) << NODE_SHIFT * (LEVELS - level);
            *missing = below - (key & (below - 1));
            return NULL;
        }
        at = ((GlobalMemoryNode *)at)->below[step_of(key, level)];
    }
    GlobalMemoryPage *page = at;
    *missing = 1;
    return page && page->run == memory->run ? page : NULL;
}

static void need_bytes(GlobalMemory *memory, GlobalMemoryPage *page) {
    if (!page->bytes)
        page->bytes = arena_zalloc(memory->arena, PAGE_BYTES + WIDEST);
}

/* What the launch gave of a page that begins at `begin` in its area. */
static void fill_from_data(const Territory *territory, GlobalMemoryPage *page, int64_t begin) {
    int64_t size = territory->area.element_bits / 8, i = begin > 0 ? begin / size : 0;
    for (; (uint64_t)i < territory->data_count && i * size < begin + PAGE_BYTES; i++)
        for (int64_t k = 0; k < size; k++) {
            int64_t at = i * size + k - begin;
            if (at < 0 || at >= PAGE_BYTES)
                continue;
            page->bytes[at] = (uint8_t)(territory->data[i] >> (k < WIDEST ? 8 * k : 63));
            set_bits(page->known, (unsigned)at, 1, true);
        }
}

static bool has_data(const Territory *territory, int64_t begin) {
    int64_t end = begin + PAGE_BYTES, size = territory->area.element_bits / 8;
    return territory->data_count && end > 0 && begin < (int64_t)territory->data_count * size;
}

/* As it is before the run. */
static void fill(GlobalMemory *memory, const Territory *territory, GlobalMemoryPage *page, uint64_t key) {
    int64_t begin = offset_in(memory, territory, (int64_t)(key << PAGE_SHIFT) - AREA_HALF);
    page->run = memory->run;
    memset(page->written, 0, sizeof page->written);
    memset(page->known, territory->area.zero ? 0xff : 0, sizeof page->known);
    if (page->parts)
        memset(page->parts, NOT_WRITTEN, PAGE_BYTES >> page->slot_shift);
    bool data = has_data(territory, begin);
    if (data || territory->area.zero) {
        need_bytes(memory, page);
        memset(page->bytes, 0, PAGE_BYTES);
    }
    if (data)
        fill_from_data(territory, page, begin);
}

static GlobalMemoryPage *make_page(GlobalMemory *memory, Territory *territory, uint64_t key) {
    void **place = (void **)&territory->root;
    for (unsigned level = 0; level < LEVELS; level++) {
        if (!*place)
            *place = ARENA_NEW(memory->arena, GlobalMemoryNode);
        place = &((GlobalMemoryNode *)*place)->below[step_of(key, level)];
    }
    if (!*place)
        *place = ARENA_NEW(memory->arena, GlobalMemoryPage);
    GlobalMemoryPage *page = *place;
    if (page->run != memory->run)
        fill(memory, territory, page, key);
    return page;
}

/* For writing: NULL only outside of all areas. */
static inline GlobalMemoryPage *page_to_write(GlobalMemory *memory, int64_t address) {
    uint64_t key = key_of(address);
    if (memory->last && memory->last_key == key)
        return memory->last;
    Territory *territory = territory_of(memory, address);
    if (!territory)
        return NULL;
    memory->last = make_page(memory, territory, key);
    memory->last_key = key;
    return memory->last;
}

/* For reading: a page that nothing wrote and for which the launch has no data need not be there. */
static inline GlobalMemoryPage *page_to_read(GlobalMemory *memory, int64_t address) {
    uint64_t key = key_of(address), missing;
    if (memory->last && memory->last_key == key)
        return memory->last;
    Territory *territory = territory_of(memory, address);
    GlobalMemoryPage *page = territory ? find_page(memory, territory, key, &missing) : NULL;
    if (!page && territory && has_data(territory, offset_in(memory, territory, address) & -PAGE_BYTES))
        page = make_page(memory, territory, key);
    if (page) {
        memory->last = page;
        memory->last_key = key;
    }
    return page;
}

/* ---- Slots -------------------------------------------------------------------------------------- */

/* Byte `k` of an element of `size` bytes. */
static uint8_t byte_of_element(unsigned size, unsigned k) {
    return (uint8_t)(1 + (size - 1) * WIDEST + k);
}

/* Slots of at most 1 << shift bytes. Those that were there are taken apart. */
static void need_slots(GlobalMemory *memory, GlobalMemoryPage *page, unsigned shift) {
    if (page->identities && page->slot_shift <= shift)
        return;
    unsigned count = (unsigned)PAGE_BYTES >> shift;
    uint64_t *identities = ARENA_ARRAY(memory->arena, uint64_t, count);
    uint8_t *parts = ARENA_ARRAY(memory->arena, uint8_t, count);
    for (unsigned i = 0; page->identities && i < count; i++) {
        unsigned from = i << shift >> page->slot_shift, behind = (i << shift) - (from << page->slot_shift);
        identities[i] = page->identities[from];
        parts[i] = page->parts[from] == NOT_WRITTEN ? NOT_WRITTEN : (uint8_t)(page->parts[from] + behind);
    }
    page->identities = identities;
    page->parts = parts;
    page->slot_shift = shift;
}

/* ---- Reading ------------------------------------------------------------------------------------ */

/* Of `size` bytes that nothing has written. */
static uint64_t identity_of_place(int64_t address, unsigned size) {
    return identity_mix(identity_mix(0x6a09e667f3bcc908u, (uint64_t)address), size);
}

/* One byte: its value if it is known, else the identity of what was written and which part of that it is. */
typedef struct Byte {
    bool known;
    uint8_t value, part;
    uint64_t identity;
} Byte;

/* Whether it holds zero where there is no page. */
static bool is_zero(const GlobalMemory *memory, int64_t address) {
    const Territory *territory = territory_of(memory, address);
    return territory && territory->area.zero;
}

static Byte byte_at(GlobalMemory *memory, int64_t address) {
    const GlobalMemoryPage *page = page_to_read(memory, address);
    if (!page)
        return (Byte){.known = is_zero(memory, address), .identity = identity_of_place(address, 1)};
    unsigned at = (unsigned)address % PAGE_BYTES;
    if (get_bits(page->known, at, 1))
        return (Byte){.known = true, .value = page->bytes[at]};
    unsigned slot = at >> page->slot_shift;
    if (!page->identities || page->parts[slot] == NOT_WRITTEN)
        return (Byte){.identity = identity_of_place(address, 1)};
    return (Byte){.part = (uint8_t)(page->parts[slot] + (at & ((1u << page->slot_shift) - 1))),
                  .identity = page->identities[slot]};
}

/* Byte by byte. */
static Word read_bytes(GlobalMemory *memory, int64_t address, unsigned size) {
    uint64_t value = 0, identity = identity_mix(0xbb67ae8584caa73bu, size);
    bool known = true, one = true, untouched = true;
    uint64_t first = 0;
    for (unsigned k = 0; k < size; k++) {
        Byte byte = byte_at(memory, (int64_t)((uint64_t)address + k));
        first = k ? first : byte.identity;
        known &= byte.known;
        untouched &= !byte.known && byte.part == NOT_WRITTEN;
        one &= !byte.known && byte.identity == first && byte.part == byte_of_element(size, k);
        value |= (uint64_t)byte.value << 8 * k;
        identity = identity_mix(identity, byte.known ? byte.value : identity_mix(byte.identity, byte.part));
    }
    if (known)
        return word_integer(integer_wrap((int64_t)value, 8 * size));
    return word_unknown(untouched ? identity_of_place(address, size) : one ? first : identity);
}

Word global_read(GlobalMemory *memory, int64_t address, unsigned width) {
    assert(width % 8 == 0 && width >= 8 && width <= 8 * WIDEST);
    unsigned size = width / 8, at = (unsigned)address % PAGE_BYTES;
    const GlobalMemoryPage *page = page_to_read(memory, address);
    if (at + size > PAGE_BYTES)
        return read_bytes(memory, address, size);
    if (!page)
        return is_zero(memory, address) ? word_integer(0) : word_unknown(identity_of_place(address, size));
    uint64_t known = get_bits(page->known, at, size);
    if (known == (UINT64_C(1) << size) - 1) {
        int64_t value;
        memcpy(&value, page->bytes + at, sizeof value);
        return word_integer(integer_wrap(value, width));
    }
    if (!known && !page->identities)
        return word_unknown(identity_of_place(address, size));
    unsigned slot = at >> page->slot_shift;
    if (!known && size == 1u << page->slot_shift && slot << page->slot_shift == at &&
        page->parts[slot] == byte_of_element(size, 0))
        return word_unknown(page->identities[slot]);
    return read_bytes(memory, address, size);
}

/* The bytes from..to - 1 of a page, piece by piece: what is known, what was written as one element, what nothing wrote.
 */
static uint64_t page_identity(const GlobalMemoryPage *page, unsigned from, unsigned to, uint64_t identity) {
    uint64_t before = 0;
    unsigned part = NOT_WRITTEN, slot_bytes = page->identities ? 1u << page->slot_shift : 0, size;
    bool untouched = false;
    for (unsigned at = from; at < to; at += size) {
        unsigned known = find_bit(page->known, at, to, true), slot = slot_bytes ? at >> page->slot_shift : 0;
        size = 1;
        if (known == at) {
            identity = identity_mix(identity, (uint64_t)at << 8 | page->bytes[at]);
            untouched = false;
            part = NOT_WRITTEN;
            continue;
        }
        if (!slot_bytes || page->parts[slot] == NOT_WRITTEN) {
            size = slot_bytes ? slot_bytes - at % slot_bytes : known - at;
            identity = untouched ? identity : identity_mix(identity, identity_of_place(at, 1));
            untouched = true;
            part = NOT_WRITTEN;
            continue;
        }
        unsigned now = page->parts[slot] + at % slot_bytes;
        bool goes_on = part != NOT_WRITTEN && now == part && page->identities[slot] == before;
        size = slot_bytes - at % slot_bytes;
        if (!goes_on)
            identity = identity_mix(identity, identity_mix(page->identities[slot], (uint64_t)at << 8 | now));
        before = page->identities[slot];
        part = now + size;
        untouched = false;
    }
    return identity;
}

uint64_t global_identity(GlobalMemory *memory, int64_t begin, int64_t end) {
    uint64_t identity = identity_mix((uint64_t)begin, (uint64_t)end);
    while (begin < end) {
        unsigned from = (unsigned)begin % PAGE_BYTES;
        int64_t left = end - begin, here = PAGE_BYTES - from < left ? PAGE_BYTES - from : left;
        const GlobalMemoryPage *page = page_to_read(memory, begin);
        if (page)
            identity = page_identity(page, from, from + (unsigned)here, identity);
        begin += here;
    }
    return identity;
}

/* ---- Writing ------------------------------------------------------------------------------------ */

/* The bytes of an element that are in one page: `count` of them, from its byte `first` on. */
static void write_known(GlobalMemory *memory, GlobalMemoryPage *page, unsigned at, unsigned count, uint64_t value) {
    need_bytes(memory, page);
    uint8_t bytes[sizeof value];
    memcpy(bytes, &value, sizeof value);
    if (get_bits(page->known, at, count) != (UINT64_C(1) << count) - 1 || memcmp(page->bytes + at, bytes, count) != 0)
        memory->version++;
    memcpy(page->bytes + at, bytes, count);
    set_bits(page->known, at, count, true);
}

static void write_identity(GlobalMemory *memory, GlobalMemoryPage *page, unsigned at, unsigned count, uint64_t identity,
                           uint8_t part) {
    need_slots(memory, page, (unsigned)__builtin_ctz(at | count));
    if (get_bits(page->known, at, count))
        memory->version++;
    set_bits(page->known, at, count, false);
    for (unsigned k = 0; k < count; k += 1u << page->slot_shift) {
        unsigned slot = (at + k) >> page->slot_shift;
        page->identities[slot] = identity;
        page->parts[slot] = (uint8_t)(part + k);
    }
}

void global_write(GlobalMemory *memory, int64_t address, unsigned width, Word value) {
    assert(width % 8 == 0 && width >= 8 && width <= 8 * WIDEST);
    unsigned size = width / 8, done = 0;
    while (done < size) {
        int64_t from = (int64_t)((uint64_t)address + done);
        unsigned at = (unsigned)from % PAGE_BYTES;
        unsigned count = size - done < PAGE_BYTES - at ? size - done : PAGE_BYTES - at;
        GlobalMemoryPage *page = page_to_write(memory, from);
        if (page) {
            set_bits(page->written, at, count, true);
            if (word_is(value, WORD_INTEGER))
                write_known(memory, page, at, count, (uint64_t)value.bits >> 8 * done);
            else
                write_identity(memory, page, at, count, (uint64_t)value.bits, byte_of_element(size, done));
        }
        done += count;
    }
}

/* As many elements of a row as lie in the page as a whole. */
static uint64_t write_in_page(GlobalMemory *memory, int64_t address, unsigned size, uint64_t count, uint64_t identity,
                              uint64_t first) {
    unsigned at = (unsigned)address % PAGE_BYTES, fits = (PAGE_BYTES - at) / size;
    count = count < fits ? count : fits;
    GlobalMemoryPage *page = count ? page_to_write(memory, address) : NULL;
    if (!page)
        return count;
    unsigned bytes = (unsigned)count * size;
    set_bits(page->written, at, bytes, true);
    need_slots(memory, page, (unsigned)__builtin_ctz(at | size));
    if (find_bit(page->known, at, at + bytes, true) < at + bytes) {
        memory->version++;
        set_bits(page->known, at, bytes, false);
    }
    unsigned slot = at >> page->slot_shift, slots = size >> page->slot_shift;
    for (uint64_t i = 0; i < count; i++)
        for (unsigned k = 0; k < slots; k++, slot++) {
            page->identities[slot] = identity_mix(identity, first + i);
            page->parts[slot] = byte_of_element(size, k << page->slot_shift);
        }
    return count;
}

void global_write_row(GlobalMemory *memory, int64_t address, unsigned width, uint64_t count, uint64_t identity,
                      uint64_t first) {
    unsigned size = width / 8;
    while (count) {
        uint64_t done = write_in_page(memory, address, size, count, identity, first);
        if (!done) { /* across the end of a page */
            global_write(memory, address, width, word_unknown(identity_mix(identity, first)));
            done = 1;
        }
        address = (int64_t)((uint64_t)address + done * size);
        first += done;
        count -= done;
    }
}

/* As elements as wide as their places allow. */
void global_write_unknown(GlobalMemory *memory, int64_t begin, int64_t end, uint64_t identity) {
    while (begin < end) {
        int64_t size = WIDEST;
        while (begin % size || size > end - begin)
            size /= 2;
        if (size == WIDEST) {
            uint64_t count = (uint64_t)(end - begin) / WIDEST;
            global_write_row(memory, begin, 8 * WIDEST, count, identity, (uint64_t)begin / WIDEST);
            begin += (int64_t)count * WIDEST;
            continue;
        }
        global_write(memory, begin, 8 * (unsigned)size, word_unknown(identity_mix(identity, (uint64_t)begin)));
        begin += size;
    }
}

bool global_holds(GlobalMemory *memory, int64_t begin, int64_t end, uint64_t identity) {
    while (begin < end) {
        int64_t size = WIDEST;
        while (begin % size || size > end - begin)
            size /= 2;
        Word found = global_read(memory, begin, 8 * (unsigned)size);
        uint64_t number = (uint64_t)(size == WIDEST ? begin / WIDEST : begin);
        if (!word_is(found, WORD_UNKNOWN) || (uint64_t)found.bits != identity_mix(identity, number))
            return false;
        begin += size;
    }
    return true;
}

/* ---- What was written --------------------------------------------------------------------------- */

static int64_t next_page(int64_t address, uint64_t pages) {
    return (int64_t)((key_of(address) + pages) << PAGE_SHIFT) - AREA_HALF;
}

/* Up to the end of the area in which `begin` lies. */
static int64_t cut_to_area(const GlobalMemory *memory, const Territory *territory, int64_t end) {
    int64_t last = global_address((uint32_t)(territory - memory->territories)) + AREA_HALF;
    return end < last ? end : last;
}

/* The first byte from `begin` on, before `end`, that was written, or that was not. */
static int64_t find_written(const GlobalMemory *memory, const Territory *territory, int64_t begin, int64_t end,
                            bool written) {
    while (begin < end) {
        uint64_t missing;
        const GlobalMemoryPage *page = find_page(memory, territory, key_of(begin), &missing);
        int64_t next = next_page(begin, page ? 1 : missing);
        if (!page && !written)
            return begin;
        if (page) {
            unsigned from = (unsigned)begin % PAGE_BYTES;
            unsigned to = next < end ? PAGE_BYTES : (unsigned)(end - begin) + from;
            unsigned found = find_bit(page->written, from, to, written);
            if (found < to)
                return begin + (found - from);
        }
        begin = next;
    }
    return end;
}

bool global_unwritten(const GlobalMemory *memory, int64_t begin, int64_t end, int64_t *from, int64_t *to) {
    const Territory *territory = territory_of(memory, begin);
    if (!territory || territory->area.written)
        return false;
    end = cut_to_area(memory, territory, end);
    *from = find_written(memory, territory, begin, end, false);
    if (*from >= end)
        return false;
    *to = find_written(memory, territory, *from, end, true);
    return true;
}

void global_mark_written(GlobalMemory *memory, int64_t begin, int64_t end) {
    const Territory *territory = territory_of(memory, begin);
    if (!territory || territory->area.written)
        return;
    end = cut_to_area(memory, territory, end);
    while (begin < end) {
        int64_t next = next_page(begin, 1) < end ? next_page(begin, 1) : end;
        set_bits(page_to_write(memory, begin)->written, (unsigned)begin % PAGE_BYTES, (unsigned)(next - begin), true);
        begin = next;
    }
}

/* ---- The tensor in an area ---------------------------------------------------------------------- */

/* The dimensions that have more than one element and do not repeat them, the largest stride first. */
static unsigned sort_dimensions(const Area *area, unsigned order[ARGUMENT_MOST_DIMS]) {
    unsigned count = 0;
    for (unsigned i = 0; i < area->rank; i++) {
        if (area->shape[i] < 2 || area->strides[i] < 1)
            continue;
        unsigned at = count++;
        for (; at && area->strides[order[at - 1]] < area->strides[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    return count;
}

/* The indices of an element, by how many elements it is from the first. Returns how far behind the nearest one before
 * it is: 0 if there is one just there. */
static int64_t find_indices(const Area *area, int64_t element, int64_t indices[ARGUMENT_MOST_DIMS]) {
    unsigned order[ARGUMENT_MOST_DIMS], count = sort_dimensions(area, order);
    memset(indices, 0, sizeof *indices * ARGUMENT_MOST_DIMS);
    for (unsigned i = 0; i < count; i++) {
        int64_t index = element / area->strides[order[i]], last = area->shape[order[i]] - 1;
        indices[order[i]] = index < last ? index : last;
        element -= indices[order[i]] * area->strides[order[i]];
    }
    return element;
}

/* How many elements lie side by side before the first gap. */
static int64_t elements_without_gap(const Area *area) {
    unsigned order[ARGUMENT_MOST_DIMS];
    int64_t elements = 1;
    for (unsigned i = sort_dimensions(area, order); i-- > 0 && area->strides[order[i]] == elements;)
        elements *= area->shape[order[i]];
    return elements;
}

/* Where the elements end among which `offset` lies; `offset` itself if it is in a gap. */
static int64_t end_of_elements(const Area *area, int64_t offset) {
    int64_t indices[ARGUMENT_MOST_DIMS], size = area->element_bits / 8, together = elements_without_gap(area);
    Area rows = *area; /* an element for each run of elements without a gap: its first */
    for (unsigned i = 0; i < area->rank; i++)
        if (area->strides[i] < together)
            rows.shape[i] = 1;
    int64_t behind = find_indices(&rows, offset / size, indices);
    return behind < together ? (offset / size - behind + together) * size : offset;
}

bool global_outside(const GlobalMemory *memory, int64_t begin, int64_t end, int64_t *from) {
    const Territory *territory = territory_of(memory, begin);
    *from = begin;
    if (!territory || begin >= end)
        return begin < end;
    const Area *area = &territory->area;
    int64_t base = begin - offset_in(memory, territory, begin);
    if (area->bytes < 0)
        return false;
    if (begin < base - area->before || begin - base >= area->bytes)
        return true;
    *from = base + (area->sparse ? end_of_elements(area, begin - base) : area->bytes);
    return *from < end;
}

/* ---- Names -------------------------------------------------------------------------------------- */

static void add_bytes(Text *to, int64_t count) {
    text_addf(to, " + %" PRId64 " byte%s", count, plural(count));
}

/* The indices, if the address is inside of an element. */
static bool add_indices(const Area *area, int64_t offset, Text *to) {
    int64_t indices[ARGUMENT_MOST_DIMS], size = area->element_bits / 8;
    if (area->element_bits == 0 || area->element_bits % 8 || !area->rank ||
        find_indices(area, offset / size, indices) != 0)
        return false;
    for (unsigned i = 0; i < area->rank; i++)
        text_addf(to, "%s%" PRId64, i ? ", " : "[", indices[i]);
    text_char(to, ']');
    if (offset % size)
        add_bytes(to, offset % size);
    return true;
}

void global_name(const GlobalMemory *memory, int64_t address, Text *to) {
    int64_t offset;
    const Area *area = global_area(memory, address, &offset);
    if (!area) {
        text_addf(to, "address 0x%" PRIx64, (uint64_t)address);
        return;
    }
    if (offset < 0)
        text_addf(to, "%" PRId64 " byte%s before ", -offset, plural(-offset));
    text_add_plain(to, str_of(area->name));
    if (memory->many_devices)
        text_addf(to, "@%u", area->device);
    if (offset < 0)
        return;
    if (offset == area->bytes)
        text_addf(to, ", just past the end");
    else if (area->bytes >= 0 && offset > area->bytes)
        text_addf(to, " + %" PRId64 " byte%s past the end", offset - area->bytes, plural(offset - area->bytes));
    else if ((area->bytes < 0 || !add_indices(area, offset, to)) && offset)
        add_bytes(to, offset);
}
