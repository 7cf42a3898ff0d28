/* Sites as the reader of records needs them. */
#include "instrument/shapes.h"

#include "ptx/effects.h"

static RecordSyncs meets(EffectVerb verb) {
    switch (verb) {
    case EFFECT_NAMED_SYNC:
    case EFFECT_CTA_BARRIER:
        return RECORD_SYNCS_NAMED;
    case EFFECT_NAMED_ARRIVE:
        return RECORD_SYNCS_NAMED_ARRIVE;
    case EFFECT_CLUSTER_ARRIVE:
        return RECORD_SYNCS_CLUSTER_ARRIVE;
    case EFFECT_CLUSTER_WAIT:
        return RECORD_SYNCS_CLUSTER_WAIT;
    case EFFECT_WARP_SYNC:
        return RECORD_SYNCS_LANES;
    default:
        return RECORD_SYNCS_NONE;
    }
}

/* Whether its value is not what it was before the shapes are bound to a launch. */
static bool needs_launch(const SitePart *part) {
    return (part->apart && part->apart->term_count) || (part->placed && part->placed->address != PTX_NONE);
}

/* In a register that the records do not have, it is in no part that they have, and so not known. */
static RecordNumber number_of(const PtxModule *module, const Site *site, const PtxOperand *operand) {
    RecordNumber number = {.given = operand != NULL};
    if (!operand || operand->kind == PTX_INTEGER) {
        number.value = operand ? (uint32_t)operand->value : 0;
        return number;
    }
    number.part = RECORD_PARTS + 1;
    for (uint8_t k = 0; k < site->part_count; k++)
        if (site->parts[k].operand == (uint32_t)(operand - module->operands) && !needs_launch(&site->parts[k])) {
            number.part = k + 1;
            number.uniform = site->parts[k].shape == PART_UNIFORM;
        }
    return number;
}

/* Whom threads meet there. bar.red d, id, p has no count: what is missing is in the middle. */
static void shape_meeting(const Site *site, const PtxModule *module, RecordShape *shape) {
    const PtxStatement *statement = &module->statements[site->statement];
    PtxEffect effects[PTX_EFFECTS_MOST];
    bool acts = !site->only_emits && !site->ends && statement->kind == PTX_INSTRUCTION;
    unsigned count = acts ? ptx_effects_of(module, statement, effects) : 0;
    for (unsigned i = 0; i < count && !shape->meets; i++) {
        shape->meets = meets(effects[i].effect.verb);
        if (!shape->meets)
            continue;
        uint32_t operands;
        const PtxOperand *threads = ptx_effect_operand(module, statement, effects[i].count);
        if (ptx_operands(module, statement, &operands) + operands - 1 == threads && operands == 3)
            threads = NULL;
        shape->meets_at = number_of(module, site, ptx_effect_operand(module, statement, effects[i].on));
        shape->meets_count = number_of(module, site, threads);
        shape->meets_by = effects[i].effect.relaxed ? 1 + statement->what : 0;
    }
}

/* Whether it writes nothing. */
static bool reads_alone(const PtxModule *module, const PtxStatement *statement) {
    PtxEffect effects[PTX_EFFECTS_MOST];
    unsigned count = statement->kind == PTX_INSTRUCTION ? ptx_effects_of(module, statement, effects) : 0;
    for (unsigned i = 0; i < count; i++)
        if (effects[i].effect.verb == EFFECT_WRITE || effects[i].effect.verb == EFFECT_UPDATE)
            return false;
    return count > 0;
}

/* What is told before a loop, and what goes on in it. */
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
    if (!placed || placed->address != PTX_NONE)
        return NULL;
    RecordPlaced *of = ARENA_NEW(arena, RecordPlaced);
    *of = (RecordPlaced){.warps = placed->warps};
    memcpy(of->ctaid, placed->ctaid, sizeof of->ctaid);
    if (placed->of_warp)
        of->of_warp = kept(arena, placed->of_warp, placed->warps * sizeof *placed->of_warp);
    return of;
}

static void shape_site(const Site *site, const PtxModule *module, RecordShape *shape, Arena *arena) {
    shape->parts = site->part_count;
    shape->strong = site->strong;
    shape->large = site->large;
    shape->polls = site->strong && reads_alone(module, &module->statements[site->statement]);
    const PtxStatement *statement = &module->statements[site->statement];
    shape->always = !site->ends && !site->waits && !site->only_emits && !(statement->flags & PTX_GUARDED);
    shape->ends = site->ends;
    shape->masked = site->masked;
    shape->all = site->all;
    if (site->of)
        shape->of = kept(arena, site->of, site->of_count * sizeof *site->of);
    shape->bare = site->bare;
    shape->run = site->run;
    shape_meeting(site, module, shape);
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

RecordShape *site_shapes(const Sites *sites, const PtxModule *module, Arena *arena) {
    RecordShape *shapes = ARENA_ARRAY(arena, RecordShape, sites->count + 1);
    for (uint32_t i = 0; i < sites->count; i++)
        shape_site(&sites->items[i], module, &shapes[i], arena);
    for (uint32_t i = 0; i < sites->count; i++)
        shape_run(shapes, i);
    return shapes;
}

/* ---- A launch ---------------------------------------------------------------------------------------------- */

static uint64_t terms_of(const PtxSum *apart, const SiteLaunch *launch) {
    uint64_t sum = 0;
    for (unsigned i = 0; apart && i < apart->term_count; i++) {
        const PtxTerm *term = &apart->terms[i];
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
    if (placed->address != PTX_NONE)
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
