/* The table of sites in a recording: numbers of any size, seven bits a byte, the lowest first. One function for each
 * part of it reads and writes. */
#include "trace/sites.h"

enum { MOST_SLOTS = 1 << 10, MOST_OVERLAP = 16, NUMBER_BYTES = 10 };

typedef struct Table {
    Text *to; /* NULL: it is read */
    const uint8_t *at, *end;
    const SiteText *text;
    Arena *arena;
    bool bad;
} Table;

static void put_number(Text *to, uint64_t value) {
    char bytes[NUMBER_BYTES];
    size_t count = 0;
    do
        bytes[count++] = (char)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
    while (value >>= 7);
    text_str(to, (Str){bytes, count});
}

static uint64_t take_number(Table *table) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && table->at < table->end; shift += 7) {
        uint8_t byte = *table->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
    table->bad = true;
    return 0;
}

/* The number that is written, or read: at most `most`. */
static uint64_t number(Table *table, uint64_t value, uint64_t most) {
    if (table->to)
        put_number(table->to, value);
    else if ((value = take_number(table)) > most)
        table->bad = true;
    return table->bad ? 0 : value;
}

static uint32_t word(Table *table, uint32_t value) {
    return (uint32_t)number(table, value, UINT32_MAX);
}

static bool flag(Table *table, bool value) {
    return number(table, value, 1);
}

/* Something of the PTX, which may be SITE_NONE: by its place in the text, + 1. */
static uint32_t reference(Table *table, SiteReference what, uint32_t value) {
    if (table->to) {
        uint64_t place = value == SITE_NONE ? SITE_NOWHERE
                         : table->text      ? table->text->place(table->text->module, what, value)
                                            : value;
        put_number(table->to, place + 1);
        return value;
    }
    uint64_t place = take_number(table) - 1;
    uint32_t found =
        table->bad || place == SITE_NOWHERE ? SITE_NONE : table->text->at_place(table->text->module, what, place);
    table->bad |= found == SITE_NONE && place != SITE_NOWHERE;
    return found;
}

/* How many items follow, each of a byte or more; when read, memory for them. */
#define ITEMS(table, items, count) items_of(table, (const void *)(items), &(count), sizeof *(items))
static void *items_of(Table *table, const void *items, uint32_t *count, size_t size) {
    *count = word(table, *count);
    if (table->to)
        return (void *)(uintptr_t)items;
    if (*count > (size_t)(table->end - table->at)) {
        table->bad = true;
        *count = 0;
    }
    return *count ? arena_zalloc(table->arena, *count * size) : NULL;
}

/* Each as its difference from the one before, the sign in the lowest bit. */
static const uint64_t *numbers(Table *table, const uint64_t *given, uint32_t *count) {
    uint64_t *items = ITEMS(table, given, *count), last = 0;
    for (uint32_t i = 0; i < *count; i++) {
        uint64_t apart = table->to ? items[i] - last : 0;
        apart = number(table, apart << 1 ^ (0 - (apart >> 63)), UINT64_MAX);
        last += apart >> 1 ^ (0 - (apart & 1));
        if (!table->to)
            items[i] = last;
    }
    return items;
}

static const SiteSum *sum(Table *table, const SiteSum *given) {
    if (!flag(table, given != NULL))
        return NULL;
    SiteSum *it = table->to ? (SiteSum *)(uintptr_t)given : ARENA_NEW(table->arena, SiteSum);
    it->width = (uint8_t)number(table, it->width, 64);
    it->term_count = (uint8_t)number(table, it->term_count, SITE_TERMS);
    for (unsigned i = 0; i < it->term_count; i++) {
        SiteTerm *term = &it->terms[i];
        term->variable = reference(table, SITE_VARIABLE, term->variable);
        term->offset = word(table, term->offset);
        term->subtracted = flag(table, term->subtracted);
        table->bad |= term->variable == SITE_NONE;
    }
    it->constant = number(table, it->constant, UINT64_MAX);
    return it;
}

static const SitePlaced *placed(Table *table, const SitePlaced *given) {
    if (!flag(table, given != NULL))
        return NULL;
    SitePlaced *it = table->to ? (SitePlaced *)(uintptr_t)given : ARENA_NEW(table->arena, SitePlaced);
    it->address = reference(table, SITE_VARIABLE, it->address);
    for (unsigned i = 0; i < 3; i++)
        it->ctaid[i] = word(table, it->ctaid[i]);
    it->of_warp = numbers(table, it->of_warp, &it->warps);
    return it;
}

static void part(Table *table, SitePart *it) {
    it->operand = reference(table, SITE_OPERAND, it->operand);
    it->bits = (uint8_t)number(table, it->bits, 64);
    it->generic = flag(table, it->generic);
    it->data = flag(table, it->data);
    it->shape = (uint8_t)number(table, it->shape, PART_BIT);
    it->stride = (int64_t)number(table, (uint64_t)it->stride, UINT64_MAX);
    it->least = word(table, it->least);
    it->offsets = numbers(table, it->offsets, &it->threads);
    it->from = (uint8_t)number(table, it->from, RECORD_FROM_BITS);
    it->reported = flag(table, it->reported);
    it->place = (uint16_t)number(table, it->place, UINT16_MAX);
    it->also = (uint16_t)number(table, it->also, UINT16_MAX);
    it->apart = sum(table, it->apart);
    it->placed = placed(table, it->placed);
    table->bad |= it->bits != 32 && it->bits != 64;
}

static void poll(Table *table, SitePoll *it) {
    it->bits = (uint8_t)number(table, it->bits, 64);
    if (!it->bits)
        return;
    it->compare = (uint8_t)number(table, it->compare, POLL_AT_LEAST);
    it->is_signed = flag(table, it->is_signed);
    it->reported = flag(table, it->reported);
    it->operand = reference(table, SITE_OPERAND, it->reported ? it->operand : SITE_NONE);
    it->with = number(table, it->with, UINT64_MAX);
}

static void sync(Table *table, Site *it) {
    RecordNumber *const given[] = {&it->syncs_at, &it->syncs_count};
    it->syncs = (uint8_t)number(table, it->syncs, RECORD_SYNCS_LANES);
    it->syncs_by = word(table, it->syncs_by);
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        given[i]->given = flag(table, given[i]->given);
        given[i]->part = (uint8_t)number(table, given[i]->part, RECORD_PARTS + 1);
        given[i]->uniform = flag(table, given[i]->uniform);
        given[i]->value = word(table, given[i]->value);
    }
}

static void slots(Table *table, Site *it) {
    SiteSlot *of = ITEMS(table, it->slots, it->slot_count);
    SiteAdvance *advances = ITEMS(table, it->advances, it->advance_count);
    for (uint32_t i = 0; i < it->slot_count; i++) {
        of[i].slot = (uint32_t)number(table, of[i].slot, MOST_SLOTS);
        of[i].bits = (uint8_t)number(table, of[i].bits, 64);
        of[i].corners = flag(table, of[i].corners);
    }
    for (uint32_t i = 0; i < it->advance_count; i++) {
        advances[i].slot = (uint32_t)number(table, advances[i].slot, MOST_SLOTS);
        advances[i].by = word(table, advances[i].by);
        advances[i].apart = sum(table, advances[i].apart);
        advances[i].placed = placed(table, advances[i].placed);
        advances[i].starts = flag(table, advances[i].starts);
    }
    it->slots = of;
    it->advances = advances;
}

static void lanes(Table *table, Site *it) {
    uint32_t *of = ITEMS(table, it->of, it->of_count);
    for (uint32_t i = 0; i < it->of_count; i++)
        of[i] = word(table, of[i]);
    it->of = of;
}

static void text(Table *table, const char **it) {
    uint32_t size = *it ? (uint32_t)strlen(*it) : 0;
    char *bytes = ITEMS(table, *it, size);
    for (uint32_t i = 0; i < size; i++) {
        uint64_t byte = number(table, (uint8_t)bytes[i], 0x7e);
        if (!table->to)
            bytes[i] = (char)byte;
    }
    if (!table->to)
        *it = size ? arena_copy(table->arena, bytes, size) : NULL;
}

/* ORDER: bits of a number in the file; new ones come last. */
#define FLAGS(FLAG)                                                                                                \
    FLAG(ends)                                                                                                     \
    FLAG(stops) FLAG(each) FLAG(strong) FLAG(shared) FLAG(large) FLAG(fetches) FLAG(waits) FLAG(tests) FLAG(meets) \
        FLAG(hands) FLAG(aligned) FLAG(map) FLAG(masked) FLAG(all) FLAG(bare) FLAG(only_emits) FLAG(polls)         \
            FLAG(always)

static void flags(Table *table, Site *it) {
    uint64_t bits = 0, at = 0;
#define PUT(name) bits |= (uint64_t)it->name << at++;
    FLAGS(PUT)
    bits = number(table, bits, (UINT64_C(1) << at) - 1);
    at = 0;
#define TAKE(name) it->name = bits >> at++ & 1;
    FLAGS(TAKE)
#undef PUT
#undef TAKE
}

static void site(Table *table, Site *it) {
    it->foreign = flag(table, it->foreign);
    if (it->foreign)
        return;
    it->function = reference(table, SITE_FUNCTION, it->function);
    it->statement = reference(table, SITE_STATEMENT, it->statement);
    flags(table, it);
    it->unnamed = word(table, it->unnamed);
    it->run = word(table, it->run);
    poll(table, &it->poll);
    sync(table, it);
    lanes(table, it);
    slots(table, it);
    it->part_count = (uint8_t)number(table, it->part_count, SITE_PARTS);
    for (unsigned i = 0; i < it->part_count; i++)
        part(table, &it->parts[i]);
    text(table, &it->why);
    table->bad |= it->function == SITE_NONE || it->statement == SITE_NONE;
}

static void variables(Table *table, uint32_t *items, uint32_t *count, uint32_t most) {
    *count = (uint32_t)number(table, *count, most);
    for (uint32_t i = 0; i < *count; i++)
        items[i] = reference(table, SITE_VARIABLE, items[i]);
}

/* ---- Reading and writing ----------------------------------------------------------------------------------------- */

void sites_write(Sites *sites, const SiteText *of, Text *to) {
    Table table = {.to = to, .text = of};
    put_number(to, SITES_VERSION);
    put_number(to, sites->count);
    put_number(to, sites->fits);
    variables(&table, sites->shared, &sites->shared_count, RECORD_VARIABLES);
    variables(&table, sites->globals, &sites->globals_count, RECORD_GLOBALS);
    for (uint32_t i = 0; i < sites->count; i++)
        site(&table, &sites->items[i]);
}

/* Runs end where the sites do, and do not lie in each other again and again. */
static bool runs_end(const Sites *sites) {
    uint64_t all = 0;
    for (uint32_t i = 0; i < sites->count; i++) {
        all += sites->items[i].run;
        if (sites->items[i].run > sites->count - i || all > (uint64_t)sites->count * MOST_OVERLAP)
            return false;
    }
    return true;
}

bool sites_read(Sites *sites, Str bytes, const SiteText *of, Arena *arena, const char **problem) {
    const uint8_t *at = (const uint8_t *)bytes.data;
    Table table = {.at = at, .end = at + bytes.size, .text = of, .arena = arena};
    *sites = (Sites){0};
    *problem = "the recording is of a newer Weir: its table of what is recorded is not known";
    if (take_number(&table) > SITES_VERSION)
        return false;
    *problem = "the recording is damaged: its table of what is recorded cannot be read";
    sites->count = (uint32_t)number(&table, 0, RECORD_SITES);
    if (sites->count > (size_t)(table.end - table.at)) /* each is a byte or more */
        return false;
    sites->fits = flag(&table, false);
    variables(&table, sites->shared, &sites->shared_count, RECORD_VARIABLES);
    variables(&table, sites->globals, &sites->globals_count, RECORD_GLOBALS);
    sites->items = ARENA_ARRAY(arena, Site, sites->count + 1);
    for (uint32_t i = 0; i < sites->count && !table.bad; i++) {
        sites->items[i].number = i;
        site(&table, &sites->items[i]);
    }
    if (table.bad || table.at != table.end || !runs_end(sites))
        return false;
    *problem = NULL;
    return true;
}
