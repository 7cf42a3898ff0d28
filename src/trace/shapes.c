/* Sites as the reader of records needs them. */
#include "trace/shapes.h"

/* Slots that are recorded before a loop, and those that advance in it. */
static void shape_slots(const Site *site, RecordShape *shape, Arena *arena) {
    RecordEmit *reports = ARENA_ARRAY(arena, RecordEmit, site->slot_count + 1);
    shape->only_emits = site->only_emits;
    shape->reports = reports;
    shape->report_count = site->slot_count;
    for (uint32_t i = 0; i < site->slot_count; i++)
        reports[i] = (RecordEmit){site->slots[i].slot, site->slots[i].bits == 64, site->slots[i].corners};
    shape->advances = ARENA_ARRAY(arena, RecordAdvance, site->advance_count + 1);
    shape->advance_count = site->advance_count;
    for (uint32_t i = 0; i < site->advance_count; i++) {
        const SiteAdvance *advance = &site->advances[i];
        uint64_t plus = advance->apart ? advance->apart->constant : 0;
        shape->advances[i] = (RecordAdvance){advance->slot, advance->by, plus, NULL, advance->starts};
    }
}

/* A copy: shapes may outlive the sites. */
static const void *kept(Arena *arena, const void *items, size_t bytes) {
    return memcpy(arena_alloc(arena, bytes), items, bytes);
}

/* What the warp alone decides. */
static const RecordPlaced *placed_alone(const SitePlaced *placed, Arena *arena) {
    if (!placed || placed->address != SITE_NONE)
        return NULL;
    RecordPlaced *of = ARENA_NEW(arena, RecordPlaced);
    *of = (RecordPlaced){.warps = placed->warps};
    memcpy(of->ctaid, placed->ctaid, sizeof of->ctaid);
    if (placed->of_warp)
        of->of_warp = kept(arena, placed->of_warp, placed->warps * sizeof *placed->of_warp);
    return of;
}

static void shape_site(const Site *site, RecordShape *shape, Arena *arena) {
    shape->parts = site->part_count;
    shape->strong = site->strong;
    shape->large = site->large;
    shape->polls = site->polls;
    shape->always = site->always;
    shape->ends = site->ends;
    shape->masked = site->masked;
    shape->all = site->all;
    if (site->of)
        shape->of = kept(arena, site->of, site->of_count * sizeof *site->of);
    shape->bare = site->bare;
    shape->run = site->run;
    shape->meets = site->syncs;
    shape->meets_at = site->syncs_at;
    shape->meets_count = site->syncs_count;
    shape->meets_by = site->syncs_by;
    shape->from = ARENA_ARRAY(arena, RecordFrom, site->part_count + 1);
    for (unsigned k = 0; k < site->part_count; k++) {
        const SitePart *part = &site->parts[k];
        shape->corners |= (uint16_t)((part->shape == PART_CORNERS) << k);
        shape->every |= (uint16_t)((part->shape == PART_EVERY) << k);
        shape->wide |= (uint16_t)((part->bits == 64) << k);
        shape->reported |= (uint16_t)(part->reported << k);
        uint64_t plus = part->apart ? part->apart->constant : part->shape == PART_BIT ? part->least : 0;
        shape->from[k] =
            (RecordFrom){(RecordSource)part->from, part->place, part->also, plus, placed_alone(part->placed, arena)};
    }
    shape_slots(site, shape, arena);
}

/* The words of all sites of a run. */
static void shape_run(RecordShape *shapes, uint32_t first) {
    RecordShape *run = &shapes[first];
    for (uint32_t i = 0; i < run->run; i++) {
        const RecordShape *shape = &shapes[first + i];
        run->run_words += shape->masked;
        for (unsigned k = 0; k < shape->parts; k++) {
            bool reported = shape->reported >> k & 1, corners = shape->corners >> k & 1, every = shape->every >> k & 1;
            run->run_words += reported && !corners && !every ? 1 + (shape->wide >> k & 1) : 0;
            run->run_corners += reported && corners;
            run->run_every += reported && every;
        }
    }
    for (uint32_t k = 0; k < run->report_count; k++) {
        run->run_words += run->reports[k].corners ? 0 : 1 + run->reports[k].wide;
        run->run_corners += run->reports[k].corners;
    }
}

RecordShape *site_shapes(const Sites *sites, Arena *arena) {
    RecordShape *shapes = ARENA_ARRAY(arena, RecordShape, sites->count + 1);
    for (uint32_t i = 0; i < sites->count; i++)
        shape_site(&sites->items[i], &shapes[i], arena);
    for (uint32_t i = 0; i < sites->count; i++)
        shape_run(shapes, i);
    return shapes;
}

/* ---- A launch ---------------------------------------------------------------------------------------------- */

static uint64_t terms_of(const SiteSum *apart, const SiteLaunch *launch) {
    uint64_t sum = 0;
    for (unsigned i = 0; apart && i < apart->term_count; i++) {
        const SiteTerm *term = &apart->terms[i];
        uint64_t value = launch->parameter(launch->context, term->variable, term->offset, apart->width / 8);
        sum += term->subtracted ? -value : value;
    }
    return sum;
}

/* What depends on the warp; *plus: what does not is added to it. */
static const RecordPlaced *placed_of(const SitePlaced *placed, const SiteLaunch *launch, uint64_t *plus, Arena *arena) {
    if (!placed)
        return NULL;
    RecordPlaced *of = ARENA_NEW(arena, RecordPlaced);
    *of = (RecordPlaced){.warps = placed->warps, .of_warp = placed->of_warp};
    memcpy(of->ctaid, placed->ctaid, sizeof of->ctaid);
    if (placed->address != SITE_NONE)
        *plus += launch->address(launch->context, placed->address, &of->rank);
    return of;
}

void site_shapes_bind(RecordShape *shapes, const Sites *sites, uint32_t function, const SiteLaunch *launch,
                      Arena *arena) {
    for (uint32_t i = 0; i < sites->count; i++) {
        const Site *site = &sites->items[i];
        if (site->function != function)
            continue;
        for (unsigned k = 0; k < site->part_count; k++) {
            RecordFrom *from = &shapes[i].from[k];
            from->plus += terms_of(site->parts[k].apart, launch);
            from->placed = placed_of(site->parts[k].placed, launch, &from->plus, arena);
        }
        for (uint32_t k = 0; k < site->advance_count; k++) {
            RecordAdvance *advance = &shapes[i].advances[k];
            advance->plus += terms_of(site->advances[k].apart, launch);
            advance->placed = placed_of(site->advances[k].placed, launch, &advance->plus, arena);
        }
    }
}

uint64_t site_offset(const SitePart *part, uint32_t thread) {
    uint64_t offset = 0;
    if (part->shape == PART_STRIDE)
        offset = (uint64_t)part->stride * (thread % RECORD_LANES);
    else if (part->shape == PART_TABLE && part->threads == RECORD_LANES) /* it is the same in all warps */
        offset = part->offsets[thread % RECORD_LANES] - part->offsets[0];
    else if (part->shape == PART_TABLE && thread < part->threads)
        offset = part->offsets[thread] - part->offsets[thread - thread % RECORD_LANES];
    return part->bits == 32 ? (uint32_t)offset : offset;
}

/* ---- Of a file --------------------------------------------------------------------------------------------------- */

/* Whether what a run has is in it: a site of it tells nothing that is not there. */
static bool run_fits(const RecordShape *shapes, const RecordShape *head, uint32_t slot_count) {
    for (uint32_t i = 0; i < head->run; i++) {
        const RecordShape *shape = &shapes[i];
        for (unsigned k = 0; k < shape->parts; k++) {
            const RecordFrom *from = &shape->from[k];
            uint64_t words = from->source == RECORD_FROM_WORDS ? 1 + (shape->wide >> k & 1) : 1;
            const uint64_t most[] = {[RECORD_FROM_WORDS] = head->run_words,     [RECORD_FROM_BITS] = head->run_words,
                                     [RECORD_FROM_CORNERS] = head->run_corners, [RECORD_FROM_EVERY] = head->run_every,
                                     [RECORD_FROM_SLOT] = slot_count,           [RECORD_FROM_LAUNCH] = UINT64_MAX};
            if (from->place + words > most[from->source] || from->also > slot_count)
                return false;
        }
    }
    return true;
}

bool site_shapes_fit(const RecordShape *shapes, const Sites *sites, uint32_t warps) {
    uint32_t slot_count = 0;
    for (uint32_t i = 0; i < sites->count; i++) {
        for (uint32_t k = 0; k < shapes[i].report_count; k++)
            slot_count = shapes[i].reports[k].slot >= slot_count ? shapes[i].reports[k].slot + 1 : slot_count;
        for (uint32_t k = 0; k < shapes[i].advance_count; k++)
            slot_count = shapes[i].advances[k].slot >= slot_count ? shapes[i].advances[k].slot + 1 : slot_count;
    }
    for (uint32_t i = 0; i < sites->count; i++) {
        const RecordShape *shape = &shapes[i];
        if (!run_fits(shape, shape, slot_count) || (shape->of && sites->items[i].of_count < warps))
            return false;
        for (uint32_t k = 0; k < shape->advance_count; k++)
            if (shape->advances[k].by != SITE_NONE && shape->advances[k].by >= slot_count)
                return false;
    }
    return true;
}
